/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "idlist.h"

#include <errno.h>

static void assert_ids(const struct idlist *l, const unsigned *id, size_t n)
{
        assert_int_equal(l->n, n);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(l->id[i], id[i]);
}

static void ranges_give_each_id(void **state)
{
        struct idlist l = {0};

        (void)state;
        assert_int_equal(idlist_parse_ranges("0-1,4-5,8,12-13\n", 16, &l), 0);
        assert_ids(&l, (const unsigned[]){0, 1, 4, 5, 8, 12, 13}, 7);
        assert_true(idlist_contains(&l, 12));
        assert_false(idlist_contains(&l, 2));
        assert_false(idlist_contains(&l, 99));
        /* As in captures: a trailing blank, a NUL behind the newline. */
        assert_int_equal(idlist_parse_ranges("0-3 \n\0", 6, &l), 0);
        assert_ids(&l, (const unsigned[]){0, 1, 2, 3}, 4);
        assert_int_equal(idlist_parse_ranges("1048575", 7, &l), 0);
        assert_ids(&l, (const unsigned[]){1048575}, 1);
        idlist_done(&l);
}

/* B11: a node without CPUs. */
static void empty_text_is_the_empty_set(void **state)
{
        struct idlist l = {0};

        (void)state;
        assert_int_equal(idlist_parse_ranges("3\n", 2, &l), 0);
        assert_int_equal(idlist_parse_ranges("\n", 1, &l), 0);
        assert_int_equal(l.n, 0);
        assert_int_equal(idlist_parse_ranges("", 0, &l), 0);
        assert_int_equal(l.n, 0);
        idlist_done(&l);
}

static void other_text_is_refused(void **state)
{
        static const char *const bad[] = {
                ",",     "1,",      ",1",           "1,,2",
                "2-1",   "1-",      "-1",           "a",
                "1 2",   "3,2",     "1,1",          "0-3,3",
                "0x1",   "1048576", "0-4294967295", "99999999999999999999",
                "1-2-3",
        };
        struct idlist l = {0};

        (void)state;
        for (size_t b = 0; b < ELEMENTSOF(bad); b++)
                assert_int_equal(idlist_parse_ranges(bad[b], strlen(bad[b]), &l), -EINVAL);
        idlist_done(&l);
}

static void mask_has_the_highest_ids_first(void **state)
{
        struct idlist l = {0};

        (void)state;
        assert_int_equal(idlist_parse_mask("1,80000001,0000000F\n", 20, &l), 0);
        assert_ids(&l, (const unsigned[]){0, 1, 2, 3, 32, 63, 64}, 7);
        assert_int_equal(idlist_parse_mask("00000000\n", 9, &l), 0);
        assert_int_equal(l.n, 0);
        idlist_done(&l);
}

static void other_masks_are_refused(void **state)
{
        static const char *const bad[] = {
                "",    "\n", ",",   "ff,",        ",ff", "ff,ff", "0,,00000001",
                "0x1", "g",  "1 2", "ff,0000000",
        };
        struct idlist l = {0};
        size_t len = IDLIST_ID_MAX / 4 + 2;
        char *huge = malloc(len);

        (void)state;
        for (size_t b = 0; b < ELEMENTSOF(bad); b++)
                assert_int_equal(idlist_parse_mask(bad[b], strlen(bad[b]), &l), -EINVAL);
        assert_non_null(huge);
        memset(huge, '0', len);
        assert_int_equal(idlist_parse_mask(huge, len, &l), -EINVAL);
        free(huge);
        idlist_done(&l);
}

/* Any set written both ways reads back the same both ways. */
static void both_forms_of_any_set_read_the_same(void **state)
{
        struct idlist from_ranges = {0}, from_mask = {0};

        (void)state;
        srand(17);
        for (int round = 0; round < 500; round++) {
                enum { BITS = 256 };
                bool bit[BITS];
                char ranges[BITS * 4 + 2] = "", mask[BITS / 4 + BITS / 32 + 1];
                size_t len = 0, n = 0, at = 0;
                int density = rand() % 8;

                for (size_t i = 0; i < BITS; i++) {
                        bit[i] = rand() % 8 <= density;
                        n += bit[i];
                }
                for (size_t i = 0; i < BITS; i++) {
                        size_t last = i;

                        if (!bit[i])
                                continue;
                        while (last + 1 < BITS && bit[last + 1])
                                last++;
                        len += (size_t)sprintf(ranges + len, last > i ? "%s%zu-%zu" : "%s%zu",
                                               len ? "," : "", i, last);
                        i = last;
                }
                for (size_t digit = BITS / 4; digit-- > 0;) {
                        unsigned v = 0;

                        for (size_t k = 0; k < 4; k++)
                                v |= (unsigned)bit[digit * 4 + k] << k;
                        mask[at++] = "0123456789abcdef"[v];
                        if (digit % 8 == 0 && digit > 0)
                                mask[at++] = ',';
                }
                assert_int_equal(idlist_parse_ranges(ranges, len, &from_ranges), 0);
                assert_int_equal(idlist_parse_mask(mask, at, &from_mask), 0);
                assert_int_equal(from_mask.n, n);
                assert_true(idlist_equal(&from_ranges, &from_mask));
                for (unsigned i = 0; i < BITS; i++)
                        assert_int_equal(idlist_contains(&from_mask, i), bit[i]);
        }
        idlist_done(&from_ranges);
        idlist_done(&from_mask);
}

static void append_keeps_the_order(void **state)
{
        struct idlist l = {0}, other = {0};

        (void)state;
        assert_int_equal(idlist_append(&l, 5), 0);
        assert_int_equal(idlist_append(&l, 5), -EINVAL);
        assert_int_equal(idlist_append(&l, 4), -EINVAL);
        assert_int_equal(idlist_append(&l, IDLIST_ID_MAX + 1), -EINVAL);
        assert_false(idlist_equal(&l, &other));
        assert_int_equal(idlist_append(&other, 6), 0);
        assert_false(idlist_equal(&l, &other));
        idlist_done(&l);
        idlist_done(&other);
        assert_true(idlist_equal(&l, &other));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ranges_give_each_id),
                cmocka_unit_test(empty_text_is_the_empty_set),
                cmocka_unit_test(other_text_is_refused),
                cmocka_unit_test(mask_has_the_highest_ids_first),
                cmocka_unit_test(other_masks_are_refused),
                cmocka_unit_test(both_forms_of_any_set_read_the_same),
                cmocka_unit_test(append_keeps_the_order),
        };

        return cmocka_run_group_tests_name("idlist", tests, NULL, NULL);
}
