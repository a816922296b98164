/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "vmstat.h"

/* Per zone as up to 4.7, above 2^32, trailing blanks, unknown rows, a row of text. */
static const char old_kernel[] = "nr_free_pages 123\n"
                                 "pgsteal_kswapd_dma 1\n"
                                 "pgsteal_kswapd_dma32 20\n"
                                 "pgsteal_kswapd_normal 300\n"
                                 "pgsteal_kswapd_movable 4000\n"
                                 "pgscan_direct_high 7\n"
                                 "pgscan_direct_throttle 1000000\n"
                                 "numa_pte_updates 12336622550   \t\n"
                                 "numa_hint_faults\t5\n"
                                 "some words that are no row\n"
                                 "numa_foreign x\n"
                                 "numa_pages_migrated -5\n"
                                 "allocstall_normal 9\n"
                                 "pswpout 715924\n";

static struct vmstat parse(const char *text, size_t len)
{
        char *copy = malloc(len ? len : 1);
        struct vmstat v;

        assert_non_null(copy);
        memcpy(copy, text, len);
        vmstat_parse(copy, len, &v);
        free(copy);
        return v;
}

static void assert_counter(const struct vmstat *v, enum vmstat_id id, enum vmstat_origin origin,
                           uint64_t value)
{
        assert_int_equal(v->origin[id], origin);
        assert_true(v->value[id] == value);
        assert_int_equal(vmstat_has(v, id), origin != VMSTAT_MISSING);
}

/* B13: the counter is the sum of its zones where it has no row, and says which it was. */
static void zones_are_added_up_where_the_row_is_missing(void **state)
{
        struct vmstat v = parse(old_kernel, sizeof(old_kernel) - 1);

        (void)state;
        assert_int_equal(v.state, SOURCE_OK);
        assert_int_equal(v.n_rows, 11);
        assert_counter(&v, VM_PGSTEAL_KSWAPD, VMSTAT_PER_ZONE, 4321);
        assert_counter(&v, VM_PGSCAN_DIRECT, VMSTAT_PER_ZONE, 7);
        assert_counter(&v, VM_ALLOCSTALL, VMSTAT_PER_ZONE, 9);
        assert_counter(&v, VM_NUMA_PTE_UPDATES, VMSTAT_PLAIN, UINT64_C(12336622550));
        assert_counter(&v, VM_NUMA_HINT_FAULTS, VMSTAT_PLAIN, 5);
        assert_counter(&v, VM_PSWPOUT, VMSTAT_PLAIN, 715924);
        /* Neither a number of this sort nor there at all: missing, not 0. */
        assert_counter(&v, VM_NUMA_FOREIGN, VMSTAT_MISSING, 0);
        assert_counter(&v, VM_NUMA_PAGES_MIGRATED, VMSTAT_MISSING, 0);
        assert_counter(&v, VM_PGSTEAL_DIRECT, VMSTAT_MISSING, 0);
        assert_counter(&v, VM_TLB_SHOOTDOWN_OTHER, VMSTAT_MISSING, 0);
}

static void row_of_its_own_goes_before_zones(void **state)
{
        static const char text[] =
                "allocstall_normal 9\nallocstall 100\nallocstall_movable 1\npswpin 3\n";
        struct vmstat v = parse(text, sizeof(text) - 1);

        (void)state;
        assert_counter(&v, VM_ALLOCSTALL, VMSTAT_PLAIN, 100);
}

static void similar_names_are_not_mixed_up(void **state)
{
        static const char text[] = "workingset_refault_anon 1\nworkingset_refault_file 2\n"
                                   "numa_hint_faults_local 3\nnuma_hit 4\npgsteal_anon 5\n"
                                   "pgpromote_success_nrl 6\npswpin 7\n";
        struct vmstat v = parse(text, sizeof(text) - 1);

        (void)state;
        assert_counter(&v, VM_WORKINGSET_REFAULT, VMSTAT_MISSING, 0);
        assert_counter(&v, VM_WORKINGSET_REFAULT_ANON, VMSTAT_PLAIN, 1);
        assert_counter(&v, VM_WORKINGSET_REFAULT_FILE, VMSTAT_PLAIN, 2);
        assert_counter(&v, VM_NUMA_HINT_FAULTS, VMSTAT_MISSING, 0);
        assert_counter(&v, VM_NUMA_HINT_FAULTS_LOCAL, VMSTAT_PLAIN, 3);
        assert_counter(&v, VM_NUMA_HIT, VMSTAT_PLAIN, 4);
        assert_counter(&v, VM_PGPROMOTE_SUCCESS, VMSTAT_MISSING, 0);
}

static void every_counter_is_found_by_its_name(void **state)
{
        (void)state;
        for (enum vmstat_id id = 0; id < VM_COUNT; id++) {
                char text[128];
                int len = snprintf(text, sizeof(text), "before 1\n%s 18446744073709551615\n",
                                   vmstat_name(id));
                struct vmstat v = parse(text, (size_t)len);

                for (enum vmstat_id other = 0; other < VM_COUNT; other++)
                        assert_counter(&v, other, other == id ? VMSTAT_PLAIN : VMSTAT_MISSING,
                                       other == id ? UINT64_MAX : 0);
        }
}

/* Wherever the text ends a counter has its true value or is missing. */
static void cut_anywhere_no_counter_is_wrong(void **state)
{
        struct vmstat truth = parse(old_kernel, sizeof(old_kernel) - 1);

        (void)state;
        for (size_t len = 0; len < sizeof(old_kernel) - 1; len++) {
                struct vmstat v = parse(old_kernel, len);

                assert_int_equal(v.state, len > 0 && old_kernel[len - 1] == '\n'
                                                  ? SOURCE_OK
                                                  : SOURCE_TRUNCATED);
                for (enum vmstat_id id = 0; id < VM_COUNT; id++)
                        if (vmstat_has(&v, id))
                                assert_counter(&v, id, truth.origin[id], truth.value[id]);
        }
}

/* telegraf's captures: rows are counted, the value of the last is not taken. */
static void last_row_without_newline_is_not_trusted(void **state)
{
        static const char text[] = "pswpin 5\npswpout 123";
        struct vmstat v = parse(text, sizeof(text) - 1);

        (void)state;
        assert_int_equal(v.state, SOURCE_TRUNCATED);
        assert_int_equal(v.n_rows, 2);
        assert_counter(&v, VM_PSWPIN, VMSTAT_PLAIN, 5);
        assert_counter(&v, VM_PSWPOUT, VMSTAT_MISSING, 0);
}

static void newline_may_be_followed_by_nul(void **state)
{
        static const char text[] = "pswpin 5\n\0";
        struct vmstat v = parse(text, sizeof(text));

        (void)state;
        assert_int_equal(v.state, SOURCE_OK);
        assert_int_equal(v.n_rows, 1);
        assert_int_equal(parse("\0\0", 2).state, SOURCE_TRUNCATED);
        assert_int_equal(parse("", 0).state, SOURCE_TRUNCATED);
}

static void text_of_another_kind_is_invalid(void **state)
{
        (void)state;
        assert_int_equal(parse("Permission denied\n", 18).state, SOURCE_INVALID);
        assert_int_equal(parse("\n", 1).state, SOURCE_INVALID);
        assert_int_equal(parse(" 5\n", 3).state, SOURCE_INVALID);
}

/* C5, D7: a kernel without NUMA. */
static void rows_of_numa_may_all_be_missing(void **state)
{
        static const char text[] = "nr_free_pages 1\npswpin 2\npswpout 715924\npgfault 9\n";
        struct vmstat v = parse(text, sizeof(text) - 1);

        (void)state;
        assert_int_equal(v.state, SOURCE_OK);
        for (enum vmstat_id id = VM_NUMA_PTE_UPDATES; id <= VM_NUMA_PAGES_MIGRATED; id++)
                assert_false(vmstat_has(&v, id));
        assert_counter(&v, VM_PSWPOUT, VMSTAT_PLAIN, 715924);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(zones_are_added_up_where_the_row_is_missing),
                cmocka_unit_test(row_of_its_own_goes_before_zones),
                cmocka_unit_test(similar_names_are_not_mixed_up),
                cmocka_unit_test(every_counter_is_found_by_its_name),
                cmocka_unit_test(cut_anywhere_no_counter_is_wrong),
                cmocka_unit_test(last_row_without_newline_is_not_trusted),
                cmocka_unit_test(newline_may_be_followed_by_nul),
                cmocka_unit_test(text_of_another_kind_is_invalid),
                cmocka_unit_test(rows_of_numa_may_all_be_missing),
        };

        return cmocka_run_group_tests_name("vmstat", tests, NULL, NULL);
}
