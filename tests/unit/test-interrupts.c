/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "interrupts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* x86 as of 7.3, with what trips readers: blanks before labels, a row with text instead of counts,
 * rows shorter than the header, a chip name that starts with digits. */
static const char ordinary[] =
        "            CPU0       CPU1       CPU5       CPU12      \n"
        "   0:         41          0          0          0  IR-IO-APIC    2-edge  timer\n"
        "  31:          1          2          3          4  512000-edge 7 8 9\n"
        " FIQ:   usb_fiq\n"
        " RES:         10         20         30         40   Rescheduling interrupts\n"
        " CAL:        500        600        700        800   Function call interrupts\n"
        " TLB: 4294967295          0          7 4294967290   TLB shootdowns\n"
        "VPMI:          1          1          1          1   Perf\n"
        " ERR:          3\n";

static const char *const labels[] = {"TLB", "CAL", "RES", "ERR", "FIQ", "HYP"};

struct reading {
        struct interrupts i;
        struct interrupts_parser p;
};

static void read_begin(struct reading *r)
{
        assert_int_equal(interrupts_init(&r->i, labels, ELEMENTSOF(labels)), 0);
        interrupts_parse_start(&r->p, &r->i);
}

/* Parses text in pieces of a size, each in memory of its own so that a sanitizer sees any reach. */
static void read_pieces(struct reading *r, const char *text, size_t len, size_t piece)
{
        read_begin(r);
        for (size_t at = 0; at < len; at += piece) {
                size_t n = len - at < piece ? len - at : piece;
                char *copy = malloc(n);

                assert_non_null(copy);
                memcpy(copy, text + at, n);
                assert_int_equal(interrupts_parse_feed(&r->p, copy, n), 0);
                free(copy);
        }
        interrupts_parse_finish(&r->p);
}

static void read_text(struct reading *r, const char *text)
{
        read_pieces(r, text, strlen(text), strlen(text) + 1);
}

static enum source_state row_state(const struct reading *r, const char *label)
{
        const struct interrupts_row *row = interrupts_row(&r->i, label);

        assert_non_null(row);
        return row->state;
}

static void assert_row(const struct reading *r, const char *label, const uint64_t *count, size_t n)
{
        const struct interrupts_row *row = interrupts_row(&r->i, label);
        uint64_t sum = 0;

        assert_non_null(row);
        assert_int_equal(row->state, SOURCE_OK);
        assert_int_equal(r->i.n_cpus, n);
        for (size_t k = 0; k < n; k++) {
                assert_true(row->count[k] == count[k]);
                sum += count[k];
        }
        assert_true(row->sum == sum);
}

static void assert_ordinary(const struct reading *r)
{
        static const unsigned cpu[] = {0, 1, 5, 12};

        assert_int_equal(r->i.state, SOURCE_OK);
        assert_int_equal(r->i.n_cpus, 4);
        assert_memory_equal(r->i.cpu, cpu, sizeof(cpu));
        assert_row(r, "TLB", (const uint64_t[]){4294967295, 0, 7, 4294967290}, 4);
        assert_row(r, "CAL", (const uint64_t[]){500, 600, 700, 800}, 4);
        assert_row(r, "RES", (const uint64_t[]){10, 20, 30, 40}, 4);
        assert_int_equal(row_state(r, "ERR"), SOURCE_TRUNCATED);
        assert_int_equal(row_state(r, "FIQ"), SOURCE_INVALID);
        assert_int_equal(row_state(r, "HYP"), SOURCE_ABSENT);
}

static void columns_are_the_ids_of_the_header(void **state)
{
        struct reading r;

        (void)state;
        read_text(&r, ordinary);
        assert_ordinary(&r);
        assert_null(interrupts_row(&r.i, "NMI"));
        interrupts_done(&r.i);
}

static void pieces_of_any_size_give_the_same(void **state)
{
        (void)state;
        for (size_t piece = 1; piece < sizeof(ordinary); piece++) {
                struct reading r;

                read_pieces(&r, ordinary, sizeof(ordinary) - 1, piece);
                assert_ordinary(&r);
                interrupts_done(&r.i);
        }
}

/* A row is exact or it is not OK, and the file says that it was cut. */
static void cut_anywhere_no_wrong_number_is_ok(void **state)
{
        static const struct {
                const char *label;
                uint64_t sum;
        } truth[] = {{"TLB", 8589934592}, {"CAL", 2600}, {"RES", 100}};

        (void)state;
        for (size_t len = 0; len < sizeof(ordinary) - 1; len++) {
                bool line_end = len > 0 && ordinary[len - 1] == '\n';
                struct reading r;

                read_pieces(&r, ordinary, len, 64);
                assert_int_equal(r.i.state, line_end ? SOURCE_OK : SOURCE_TRUNCATED);
                assert_true(r.i.n_cpus == 0 || r.i.n_cpus == 4);
                for (size_t t = 0; t < ELEMENTSOF(truth); t++) {
                        const struct interrupts_row *row = interrupts_row(&r.i, truth[t].label);

                        if (row->state == SOURCE_OK)
                                assert_true(row->sum == truth[t].sum);
                        else
                                assert_int_equal(row->state,
                                                 line_end ? SOURCE_ABSENT : SOURCE_TRUNCATED);
                }
                interrupts_done(&r.i);
        }
}

static void cut_file_keeps_the_rows_it_has(void **state)
{
        struct reading r;

        (void)state;
        read_text(&r, "  CPU0  CPU1\nRES: 1 2 x\nCAL: 3 4 x\nTLB: 5 6");
        assert_int_equal(r.i.state, SOURCE_TRUNCATED);
        assert_row(&r, "RES", (const uint64_t[]){1, 2}, 2);
        assert_row(&r, "CAL", (const uint64_t[]){3, 4}, 2);
        assert_int_equal(row_state(&r, "TLB"), SOURCE_TRUNCATED);
        assert_int_equal(row_state(&r, "HYP"), SOURCE_TRUNCATED);
        interrupts_done(&r.i);
        /* Only the blanks of the next row's label field. */
        read_text(&r, "  CPU0  CPU1\nRES: 1 2 x\n  ");
        assert_int_equal(r.i.state, SOURCE_TRUNCATED);
        assert_int_equal(row_state(&r, "TLB"), SOURCE_TRUNCATED);
        interrupts_done(&r.i);
        read_text(&r, "      ");
        assert_int_equal(r.i.state, SOURCE_TRUNCATED);
        interrupts_done(&r.i);
}

/* Any damage: whole and in pieces the same is read, and rows that are OK have a count a CPU. */
static void damaged_text_reads_the_same_in_pieces(void **state)
{
        static const char alphabet[] = "0123456789 CPUTLBRES:\n\t\r\0x";

        (void)state;
        srand(73);
        for (int round = 0; round < 3000; round++) {
                char text[sizeof(ordinary)];
                struct reading whole, pieces;
                size_t len = sizeof(ordinary) - 1 - (size_t)rand() % 40;

                memcpy(text, ordinary, sizeof(text));
                for (int k = rand() % 6; k >= 0; k--)
                        text[(size_t)rand() % len] = alphabet[(size_t)rand() % sizeof(alphabet)];
                read_pieces(&whole, text, len, len);
                read_pieces(&pieces, text, len, (size_t)(1 + rand() % 20));
                assert_int_equal(whole.i.state, pieces.i.state);
                assert_int_equal(whole.i.n_cpus, pieces.i.n_cpus);
                for (size_t k = 0; k < whole.i.n_rows; k++) {
                        const struct interrupts_row *w = &whole.i.row[k], *p = &pieces.i.row[k];
                        uint64_t sum = 0;

                        assert_int_equal(w->state, p->state);
                        if (w->state != SOURCE_OK)
                                continue;
                        assert_true(whole.i.n_cpus > 0);
                        for (size_t cpu = 0; cpu < whole.i.n_cpus; cpu++) {
                                assert_true(w->count[cpu] == p->count[cpu]);
                                sum += w->count[cpu];
                        }
                        assert_true(w->sum == sum && p->sum == sum);
                }
                interrupts_done(&whole.i);
                interrupts_done(&pieces.i);
        }
}

/* A1, A3: arm64 rows whose count touches the label; sums above 2^32. */
static void count_may_touch_the_label(void **state)
{
        static const char *const ipi[] = {"IPI0", "IPI5"};
        static const char text[] =
                "           CPU0       CPU1       CPU2       CPU3\n"
                "  3: 3491437221 1482323420 1476887876 1359922900     GICv2  30 Level     "
                "arch_timer\n"
                "IPI0:4294967290 4294967291 4294967292 4294967293       Rescheduling interrupts\n"
                "IPI5:1832994294  356298973  370391406  307321362       IRQ work interrupts\n"
                "Err:          0\n";
        struct interrupts i;
        struct interrupts_parser p;

        (void)state;
        assert_int_equal(interrupts_init(&i, ipi, ELEMENTSOF(ipi)), 0);
        interrupts_parse_start(&p, &i);
        assert_int_equal(interrupts_parse_feed(&p, text, sizeof(text) - 1), 0);
        interrupts_parse_finish(&p);
        assert_int_equal(i.state, SOURCE_OK);
        assert_true(interrupts_row(&i, "IPI0")->sum == UINT64_C(17179869166));
        assert_int_equal(interrupts_row(&i, "IPI5")->count[0], 1832994294);
        assert_true(interrupts_row(&i, "IPI5")->sum == UINT64_C(2867006035));
        interrupts_done(&i);
}

static void text_behind_the_counts_is_not_counted(void **state)
{
        struct reading r;

        (void)state;
        read_text(&r, " CPU0 CPU1\nTLB: 1 2 9030000.pl061\nCAL:\t3\t4\r\nRES: 5 6abc 7\n");
        assert_row(&r, "TLB", (const uint64_t[]){1, 2}, 2);
        assert_row(&r, "CAL", (const uint64_t[]){3, 4}, 2);
        assert_int_equal(row_state(&r, "RES"), SOURCE_TRUNCATED);
        interrupts_done(&r.i);
        read_text(&r, " CPU0 CPU1\nTLB: 99999999999999999999 2 x\nCAL: 18446744073709551615 0\n");
        assert_int_equal(row_state(&r, "TLB"), SOURCE_INVALID);
        assert_int_not_equal(row_state(&r, "CAL"), SOURCE_ABSENT);
        interrupts_done(&r.i);
}

/* A CPU that comes up between the header and a row (each is a walk over the online CPUs) puts a
 * count between others. One that goes leaves a count out. */
static void hotplug_during_the_reading_spoils_the_row(void **state)
{
        struct reading r;

        (void)state;
        read_text(&r, " CPU0 CPU2\nRES: 1 2 Rescheduling\nCAL: 1 7 2 Function\nTLB: 1 7 2\n");
        assert_int_equal(r.i.state, SOURCE_OK);
        assert_row(&r, "RES", (const uint64_t[]){1, 2}, 2);
        assert_int_equal(row_state(&r, "CAL"), SOURCE_INVALID);
        assert_int_equal(row_state(&r, "TLB"), SOURCE_INVALID);
        interrupts_done(&r.i);
        read_text(&r, " CPU0 CPU2\nTLB: 1 TLB shootdowns\n");
        assert_int_equal(row_state(&r, "TLB"), SOURCE_TRUNCATED);
        interrupts_done(&r.i);
}

static void file_without_a_usable_header_is_invalid(void **state)
{
        static const char *const bad[] = {
                "TLB: 1 2 TLB shootdowns\n",
                "\n",
                "Not found\n",
                " CPU0 CPU2 CPU1\nTLB: 1 2 3 x\n",
                " CPU0 CPU0\nTLB: 1 2 x\n",
                " CPU99999999999\nTLB:1 x\n",
                " CPU4294967296 CPU1\nTLB: 1 2 x\n",
                " CPU0 CPUX\nTLB: 1 2 x\n",
                " CPU0CPU1\nTLB: 1 2 x\n",
                " CPU0 CP\nTLB: 1 2 x\n",
                " CPU0 1\nTLB: 1 2 x\n",
        };

        (void)state;
        for (size_t b = 0; b < ELEMENTSOF(bad); b++) {
                struct reading r;

                read_text(&r, bad[b]);
                assert_int_equal(r.i.state, SOURCE_INVALID);
                assert_int_equal(r.i.n_cpus, 0);
                for (size_t k = 0; k < r.i.n_rows; k++)
                        assert_int_equal(r.i.row[k].state, SOURCE_INVALID);
                interrupts_done(&r.i);
        }
}

static void only_the_first_snapshot_of_a_file_is_read(void **state)
{
        struct reading r;

        (void)state;
        read_text(&r, "Timestamp: 17\n CPU0 CPU1\nTLB: 1 2 x\nTimestamp: 18\n CPU0 CPU1\nTLB: 9 9 "
                      "x\nCAL: 1 2 x\n");
        assert_int_equal(r.i.state, SOURCE_OK);
        assert_row(&r, "TLB", (const uint64_t[]){1, 2}, 2);
        assert_int_equal(row_state(&r, "CAL"), SOURCE_ABSENT);
        interrupts_done(&r.i);
}

static void newline_may_be_followed_by_nul(void **state)
{
        static const char text[] = " CPU0\nTLB: 5 x\n\0";
        struct reading r;

        (void)state;
        read_pieces(&r, text, sizeof(text), 3);
        assert_int_equal(r.i.state, SOURCE_OK);
        assert_row(&r, "TLB", (const uint64_t[]){5}, 1);
        interrupts_done(&r.i);
}

/* No row of an earlier reading is left when the parser is used again. */
static void reading_again_forgets_the_last(void **state)
{
        static const char second[] = " CPU3\nCAL: 8 x\n";
        struct reading r;

        (void)state;
        read_text(&r, ordinary);
        interrupts_parse_start(&r.p, &r.i);
        assert_int_equal(interrupts_parse_feed(&r.p, second, sizeof(second) - 1), 0);
        interrupts_parse_finish(&r.p);
        assert_int_equal(row_state(&r, "TLB"), SOURCE_ABSENT);
        assert_int_equal(r.i.cpu[0], 3);
        assert_row(&r, "CAL", (const uint64_t[]){8}, 1);
        interrupts_done(&r.i);
}

/* A8: 8192 CPUs and 1200 rows, 100 MB of text, read from a file. The rows wanted come last. */
static void largest_machine_fits_without_a_row_buffer(void **state)
{
        enum { CPUS = 8192, ROWS = 1200 };
        _cleanup_(freep) char *path = strf("%s/interrupts", unit_tmpdir(state));
        _cleanup_(buffer_done) struct buffer scratch = {0};
        _cleanup_(closep) int fd = -1;
        struct interrupts i;
        FILE *f = fopen(path, "w");
        char *row;
        size_t len = 0;

        assert_non_null(f);
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
                fprintf(f, "%sCPU%-8u", cpu ? "" : "           ", cpu);
        row = malloc((size_t)CPUS * 11 + 1);
        assert_non_null(row);
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
                len += (size_t)snprintf(row + len, 12, "%10u ", 4000000000u + cpu);
        for (unsigned k = 0; k < ROWS; k++)
                fprintf(f, "\n%4u: %s  PCI-MSI-0000:00:14.0 %u-edge nvme", k, row, k);
        fprintf(f, "\n TLB: %s  TLB shootdowns\n", row);
        free(row);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(interrupts_init(&i, labels, ELEMENTSOF(labels)), 0);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(interrupts_read_fd(&i, fd, &scratch), 0);
        assert_int_equal(i.state, SOURCE_OK);
        assert_int_equal(i.n_cpus, CPUS);
        assert_int_equal(i.cpu[CPUS - 1], CPUS - 1);
        assert_int_equal(interrupts_row(&i, "TLB")->state, SOURCE_OK);
        assert_true(interrupts_row(&i, "TLB")->sum ==
                    (uint64_t)CPUS * 4000000000u + (uint64_t)CPUS * (CPUS - 1) / 2);
        assert_true(scratch.capacity <= (size_t)1024 * 1024);
        interrupts_done(&i);
}

static void unreadable_file_is_a_state(void **state)
{
        _cleanup_(buffer_done) struct buffer scratch = {0};
        _cleanup_(closep) int fd = open(unit_tmpdir(state), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct reading r;

        read_text(&r, ordinary);
        assert_true(fd >= 0);
        assert_int_equal(interrupts_read_fd(&r.i, fd, &scratch), 0); /* EISDIR */
        assert_int_equal(r.i.state, SOURCE_ERROR);
        assert_int_equal(r.i.n_cpus, 0);
        assert_int_equal(row_state(&r, "TLB"), SOURCE_ERROR);
        interrupts_done(&r.i);
}

static void copy_is_independent(void **state)
{
        struct interrupts copy;
        struct reading r;

        (void)state;
        read_text(&r, ordinary);
        assert_int_equal(interrupts_init(&copy, labels, ELEMENTSOF(labels)), 0);
        assert_int_equal(interrupts_copy(&copy, &r.i), 0);
        interrupts_done(&r.i);
        r.i = copy;
        assert_ordinary(&r);
        interrupts_done(&r.i);
        /* Of nothing at all. */
        read_text(&r, "");
        assert_int_equal(interrupts_init(&copy, labels, ELEMENTSOF(labels)), 0);
        assert_int_equal(interrupts_copy(&copy, &r.i), 0);
        assert_int_equal(copy.state, SOURCE_TRUNCATED);
        assert_int_equal(copy.n_cpus, 0);
        interrupts_done(&copy);
        interrupts_done(&r.i);
}

static int delta_of(const char *before, const char *after, struct interrupts_delta *ret)
{
        struct reading b, a;
        int r;

        read_text(&b, before);
        read_text(&a, after);
        r = interrupts_delta(&b.i, &a.i, "TLB", ret);
        interrupts_done(&b.i);
        interrupts_done(&a.i);
        return r;
}

static void delta_is_per_cpu_and_modulo_32_bits(void **state)
{
        struct interrupts_delta d;

        (void)state;
        /* A11: CPU 1 passes 2^32, the sums even fall. */
        assert_int_equal(delta_of(" CPU0 CPU1 CPU2\nTLB: 100 4294967290 7 x\n",
                                  " CPU0 CPU1 CPU2\nTLB: 105 10 7 x\n", &d),
                         0);
        assert_int_equal(d.total, 5 + 16);
        assert_int_equal(d.max_cpu, 16);
        assert_int_equal(d.max_cpu_id, 1);
        assert_float_equal(d.median_cpu, 5, 0);
        assert_int_equal(d.n_common, 3);
        assert_int_equal(d.n_only_before + d.n_only_after, 0);
        /* Counters wider than 32 bits. */
        assert_int_equal(delta_of(" CPU0 CPU1\nTLB: 8589934592 1 x\n",
                                  " CPU0 CPU1\nTLB: 8589934602 1 x\n", &d),
                         0);
        assert_int_equal(d.total, 10);
        assert_float_equal(d.median_cpu, 5, 0);
        /* The total needs more than 32 bits. */
        assert_int_equal(delta_of(" CPU0 CPU1\nTLB: 0 0 x\n",
                                  " CPU0 CPU1\nTLB: 4294967295 4294967295 x\n", &d),
                         0);
        assert_true(d.total == UINT64_C(8589934590));
        assert_float_equal(d.median_cpu, 4294967295.0, 0);
}

/* A4, A5, B5: ids, not columns; only the CPUs of both readings. */
static void delta_leaves_out_cpus_seen_once(void **state)
{
        struct interrupts_delta d;

        (void)state;
        assert_int_equal(delta_of(" CPU0 CPU1 CPU2\nTLB: 10 1000 30 x\n",
                                  " CPU0 CPU2 CPU3\nTLB: 11 32 5000 x\n", &d),
                         0);
        assert_int_equal(d.total, 3);
        assert_int_equal(d.n_common, 2);
        assert_int_equal(d.n_only_before, 1);
        assert_int_equal(d.n_only_after, 1);
        /* CPU 1 goes and comes back: counted again between its second and third sight, where it
         * goes on from its old value. */
        assert_int_equal(
                delta_of(" CPU0 CPU2\nTLB: 11 32 x\n", " CPU0 CPU1 CPU2\nTLB: 12 1000 33 x\n", &d),
                0);
        assert_int_equal(d.total, 2);
        assert_int_equal(d.n_only_after, 1);
        assert_int_equal(delta_of(" CPU0 CPU1 CPU2\nTLB: 12 1000 33 x\n",
                                  " CPU0 CPU1 CPU2\nTLB: 12 1004 33 x\n", &d),
                         0);
        assert_int_equal(d.total, 4);
        assert_int_equal(d.max_cpu_id, 1);
        assert_int_equal(delta_of(" CPU0\nTLB: 1 x\n", " CPU1\nTLB: 1 x\n", &d), -ENODATA);
        assert_int_equal(delta_of(" CPU0\nTLB: 1 x\n", " CPU0\nCAL: 1 x\n", &d), -ENODATA);
        assert_int_equal(delta_of("", " CPU0\nTLB: 1 x\n", &d), -ENODATA);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(columns_are_the_ids_of_the_header),
                cmocka_unit_test(pieces_of_any_size_give_the_same),
                cmocka_unit_test(cut_anywhere_no_wrong_number_is_ok),
                cmocka_unit_test(cut_file_keeps_the_rows_it_has),
                cmocka_unit_test(damaged_text_reads_the_same_in_pieces),
                cmocka_unit_test(count_may_touch_the_label),
                cmocka_unit_test(text_behind_the_counts_is_not_counted),
                cmocka_unit_test(hotplug_during_the_reading_spoils_the_row),
                cmocka_unit_test(file_without_a_usable_header_is_invalid),
                cmocka_unit_test(only_the_first_snapshot_of_a_file_is_read),
                cmocka_unit_test(newline_may_be_followed_by_nul),
                cmocka_unit_test(reading_again_forgets_the_last),
                cmocka_unit_test_setup_teardown(largest_machine_fits_without_a_row_buffer,
                                                unit_tmpdir_make, unit_tmpdir_remove),
                cmocka_unit_test_setup_teardown(unreadable_file_is_a_state, unit_tmpdir_make,
                                                unit_tmpdir_remove),
                cmocka_unit_test(copy_is_independent),
                cmocka_unit_test(delta_is_per_cpu_and_modulo_32_bits),
                cmocka_unit_test(delta_leaves_out_cpus_seen_once),
        };

        return cmocka_run_group_tests_name("interrupts", tests, NULL, NULL);
}
