/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "procstat.h"

static const char ordinary[] = "cpu  100 20 300 40000 50 60 70 8 5 1\n"
                               "cpu0 50 10 150 20000 25 30 35 4 2 0\n"
                               "cpu1 50 10 150 20000 25 30 35 4 3 1\n"
                               "cpu8 50 10 150 20000 25 30 35 4 3 1\n"
                               "intr 987654321 11 0 0 7\n"
                               "ctxt 5\n"
                               "btime 1764000000\n"
                               "processes 4242\n"
                               "procs_running 3\n"
                               "procs_blocked 2\n"
                               "softirq 9 1 2 3\n";

static void parse(struct procstat *s, const char *text, size_t len)
{
        char *copy = malloc(len ? len : 1);

        assert_non_null(copy);
        memcpy(copy, text, len);
        assert_int_equal(procstat_parse(s, copy, len), 0);
        free(copy);
}

static void assert_times(const struct procstat *s)
{
        assert_int_equal(s->user, 100);
        assert_int_equal(s->nice, 20);
        assert_int_equal(s->system, 300);
        assert_int_equal(s->idle, 40000);
        assert_int_equal(s->iowait, 50);
        assert_int_equal(s->irq, 60);
        assert_int_equal(s->softirq, 70);
        assert_int_equal(s->steal, 8);
        assert_int_equal(procstat_total(s), 40608); /* guest time is in user time already */
}

/* A14: the total is the first number of intr. B3: ids, not row numbers. */
static void rows_are_read_by_name_and_id(void **state)
{
        struct procstat s = {0};

        (void)state;
        parse(&s, ordinary, sizeof(ordinary) - 1);
        assert_int_equal(s.state, SOURCE_OK);
        assert_times(&s);
        assert_int_equal(s.n_cpus, 3);
        assert_int_equal(s.cpu[2], 8);
        assert_true(s.has_interrupts);
        assert_int_equal(s.interrupts_total, 987654321);
        assert_true(s.has_processes);
        assert_int_equal(s.processes, 4242);
        assert_true(s.has_blocked);
        assert_int_equal(s.blocked, 2);
        procstat_done(&s);
}

/* B1, B2: neither fails the file. */
static void impossible_numbers_do_not_fail_the_file(void **state)
{
        static const char text[] = "cpu  1 2 3 4 5 6 7 8\nprocesses -2045677862\n"
                                   "procs_blocked 18446744073709551615\nctxt -1\nintr -3 4\n";
        struct procstat s = {0};

        (void)state;
        parse(&s, text, sizeof(text) - 1);
        assert_int_equal(s.state, SOURCE_OK);
        assert_int_equal(procstat_total(&s), 36);
        assert_true(s.has_processes);
        assert_int_equal(s.processes, UINT32_C(2249289434)); /* modulo 2^32 */
        assert_true(s.has_blocked);
        assert_int_equal(s.blocked, 0);
        assert_false(s.has_interrupts);
        procstat_done(&s);
}

static void cut_anywhere_no_number_is_wrong(void **state)
{
        static const unsigned cpu[] = {0, 1, 8};

        (void)state;
        for (size_t len = 0; len < sizeof(ordinary) - 1; len++) {
                struct procstat s = {0};

                parse(&s, ordinary, len);
                if (len > 0 && ordinary[len - 1] == '\n') {
                        assert_int_equal(s.state, SOURCE_OK);
                        assert_times(&s);
                } else {
                        assert_int_equal(s.state, SOURCE_TRUNCATED);
                }
                if (s.state == SOURCE_OK && s.n_cpus > 0) {
                        assert_int_equal(s.n_cpus, 3);
                        assert_memory_equal(s.cpu, cpu, sizeof(cpu));
                }
                assert_true(!s.has_interrupts || s.interrupts_total == 987654321);
                assert_true(!s.has_processes || s.processes == 4242);
                assert_true(!s.has_blocked || s.blocked == 2);
                procstat_done(&s);
        }
}

static void times_that_are_not_understood_are_invalid(void **state)
{
        static const char *const bad[] = {
                "cpu  1 2 x 4 5 6 7 8\nintr 1\n", "cpu  1 2 3 4 5 6 -7 8\nintr 1\n",
                "cpu  1 2 3\nintr 1\n",           "cpu0 1 2 3 4\nintr 1\n",
                "nothing of the sort\n",
        };

        (void)state;
        for (size_t b = 0; b < ELEMENTSOF(bad); b++) {
                struct procstat s = {0};

                parse(&s, bad[b], strlen(bad[b]));
                assert_int_equal(s.state, SOURCE_INVALID);
                procstat_done(&s);
        }
}

static void old_kernels_have_fewer_columns(void **state)
{
        static const char text[] = "cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 10 1\n";
        struct procstat s = {0};

        (void)state;
        parse(&s, text, sizeof(text) - 1);
        assert_int_equal(s.state, SOURCE_OK);
        assert_int_equal(procstat_total(&s), 10);
        assert_int_equal(s.softirq, 0);
        procstat_done(&s);
}

/* A9: an intr row of 132 kB, and the rows behind it. */
static void rows_behind_a_very_long_one_are_seen(void **state)
{
        static char text[200000];
        struct procstat s = {0};
        size_t len;

        (void)state;
        len = (size_t)snprintf(text, sizeof(text),
                               "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\nintr 77");
        for (int i = 0; i < 65000; i++)
                len += (size_t)snprintf(text + len, sizeof(text) - len, " %d", i % 10);
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "\nprocesses 12\nprocs_blocked 0\n");
        assert_true(len > 130000);
        parse(&s, text, len);
        assert_int_equal(s.state, SOURCE_OK);
        assert_int_equal(s.interrupts_total, 77);
        assert_true(s.has_processes);
        assert_int_equal(s.processes, 12);
        assert_int_equal(s.n_cpus, 1);
        procstat_done(&s);
}

/* B5: more CPUs, then fewer, into the same structure. */
static void cpus_may_come_and_go_between_readings(void **state)
{
        static char text[400000];
        struct procstat s = {0};

        (void)state;
        for (unsigned round = 0; round < 4; round++) {
                unsigned n = round % 2 ? 3 : 8192;
                size_t len = (size_t)snprintf(text, sizeof(text), "cpu  1 2 3 4 5 6 7 8\n");

                for (unsigned cpu = 0; cpu < n; cpu++)
                        len += (size_t)snprintf(text + len, sizeof(text) - len, "cpu%u 1 2 3 4\n",
                                                cpu * 2);
                len += (size_t)snprintf(text + len, sizeof(text) - len, "intr 5\n");
                parse(&s, text, len);
                assert_int_equal(s.state, SOURCE_OK);
                assert_int_equal(s.n_cpus, n);
                assert_int_equal(s.cpu[n - 1], (n - 1) * 2);
        }
        parse(&s, "", 0);
        assert_int_equal(s.state, SOURCE_TRUNCATED);
        assert_int_equal(s.n_cpus, 0);
        procstat_done(&s);
}

static void newline_may_be_followed_by_nul(void **state)
{
        static const char text[] = "cpu  1 2 3 4 5 6 7 8\nintr 5\n\0";
        struct procstat s = {0};

        (void)state;
        parse(&s, text, sizeof(text));
        assert_int_equal(s.state, SOURCE_OK);
        procstat_done(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rows_are_read_by_name_and_id),
                cmocka_unit_test(impossible_numbers_do_not_fail_the_file),
                cmocka_unit_test(cut_anywhere_no_number_is_wrong),
                cmocka_unit_test(times_that_are_not_understood_are_invalid),
                cmocka_unit_test(old_kernels_have_fewer_columns),
                cmocka_unit_test(rows_behind_a_very_long_one_are_seen),
                cmocka_unit_test(cpus_may_come_and_go_between_readings),
                cmocka_unit_test(newline_may_be_followed_by_nul),
        };

        return cmocka_run_group_tests_name("procstat", tests, NULL, NULL);
}
