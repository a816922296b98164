/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "top-draw.h"

#include "status-read.h"

#include <math.h>

static const char *const fixture_name[] = {"storm", "guest", "laptop", "lockdown", "odd", "empty"};

static struct json_object *fixture(const char *name)
{
        _cleanup_(freep) char *path = strf("%s/status/%s.json", getenv("TLBD_FIXTURES"), name);
        _cleanup_(freep) char *reason = NULL;
        struct json_object *status = NULL;

        assert_non_null(path);
        if (status_read(path, &status, &reason) < 0)
                fail_msg("%s", reason);
        return status;
}

static char *drawn(const struct top_view *v, unsigned rows, unsigned cols)
{
        _cleanup_(canvas_done) struct canvas c = {0};
        char *text = NULL;
        size_t len;
        FILE *f = open_memstream(&text, &len);

        assert_non_null(f);
        assert_int_equal(canvas_init(&c, rows, cols), 0);
        assert_int_equal(top_draw(&c, v), 0);
        canvas_print(f, &c);
        assert_int_equal(fclose(f), 0);
        return text;
}

static char *drawn_status(struct json_object *status, unsigned rows, unsigned cols)
{
        return drawn(&(struct top_view){.status = status, .age_s = 2.5}, rows, cols);
}

/* n CPUs with the ids first, first + step, ...; CPU number k of them has k interrupts a second. */
static struct json_object *status_of_cpus(unsigned n, unsigned first, unsigned step)
{
        struct json_object *status = fixture("laptop"), *cpus = json_object_new_object();
        struct json_object *id = json_object_new_array(), *rate = json_object_new_array();

        for (unsigned k = 0; k < n; k++) {
                json_object_array_add(id, json_object_new_int((int)(first + k * step)));
                json_object_array_add(rate, json_object_new_double(k));
        }
        json_object_object_add(cpus, "id", id);
        json_object_object_add(cpus, "tlb_per_s", rate);
        json_object_object_add(status, "cpus", cpus);
        return status;
}

static void any_size_is_drawn(void **state)
{
        static const unsigned large[] = {100, 250, 1000};

        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(fixture_name); i++) {
                struct json_object *status = fixture(fixture_name[i]);

                for (unsigned rows = 0; rows <= 45; rows++)
                        for (unsigned cols = 0; cols <= 130; cols += cols < 12 ? 1 : 7) {
                                _cleanup_(freep) char *text = drawn_status(status, rows, cols);
                                unsigned lines = 0;

                                for (const char *p = text; *p; p++, lines++) {
                                        assert_true(strcspn(p, "\n") <= cols);
                                        p += strcspn(p, "\n");
                                }
                                assert_true(lines <= rows);
                        }
                for (size_t k = 0; k < ELEMENTSOF(large); k++) {
                        _cleanup_(freep) char *text = drawn_status(status, large[k], large[k]);

                        assert_true(strlen(text) > 500);
                }
                json_object_put(status);
        }
}

static void any_number_of_cpus_is_drawn(void **state)
{
        static const struct {
                unsigned n, first, step;
        } machine[] = {{1, 0, 1},    {2, 0, 1},    {2, 0, 8191}, {8, 4, 1},   {64, 0, 8},
                       {512, 3, 16}, {4096, 0, 1}, {4096, 0, 2}, {8192, 0, 1}};

        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(machine); i++) {
                struct json_object *status =
                        status_of_cpus(machine[i].n, machine[i].first, machine[i].step);

                for (unsigned rows = 0; rows < 80; rows += 3)
                        for (unsigned cols = 0; cols < 200; cols += 11) {
                                _cleanup_(freep) char *text = drawn_status(status, rows, cols);

                                assert_non_null(text);
                        }
                json_object_put(status);
        }
}

/* Digits and dots of the rows below "CPUs:", labels left out. */
static size_t count_cells(const char *text)
{
        const char *line = strstr(text, "\nCPUs:");
        size_t n = 0;

        assert_non_null(line);
        while ((line = strchr(line + 1, '\n')) && strspn(line + 1, " 0123456789") >= 6) {
                size_t end = strcspn(line + 1, "\n");

                if (end < 8)
                        continue;
                for (const char *p = line + 8; p <= line + end; p++)
                        n += *p == '.' || (*p >= '1' && *p <= '8');
        }
        return n;
}

static void every_cpu_has_a_cell_or_a_share_of_one(void **state)
{
        struct json_object *two = status_of_cpus(2, 0, 1), *many = status_of_cpus(4096, 0, 1);
        struct json_object *odd = status_of_cpus(300, 0, 2);
        _cleanup_(freep) char *a = drawn_status(two, 40, 80);
        _cleanup_(freep) char *b = drawn_status(many, 40, 80);
        _cleanup_(freep) char *c = drawn_status(many, 120, 80);
        _cleanup_(freep) char *d = drawn_status(odd, 60, 80);

        (void)state;
        assert_int_equal(count_cells(a), 2);
        assert_non_null(strstr(a, "\n     0 .8\n"));
        assert_non_null(strstr(b, "CPUs: TLB interrupts/s, busiest: CPU 4095 with 4,095, a cell is "
                                  "the busiest of 4\n"));
        assert_int_equal(count_cells(b), 4096 / 4);
        assert_int_equal(count_cells(c), 4096);
        assert_non_null(strstr(c, "\n     0 .1111"));
        assert_non_null(strstr(c, "\n  4032 8888"));
        assert_int_equal(count_cells(d), 300);
        json_object_put(two);
        json_object_put(many);
        json_object_put(odd);
}

static void hole_in_the_ids_is_a_blank(void **state)
{
        struct json_object *status = fixture("laptop");
        _cleanup_(freep) char *text = drawn_status(status, 40, 80);

        (void)state;
        /* CPU 6 is not there, CPU 7 is there and its rate is not known. */
        assert_non_null(strstr(text, "\n     0 844444 ?\n"));
        json_object_put(status);
}

static void quiet_cpu_differs_from_one_interrupt(void **state)
{
        struct json_object *status = fixture("storm");
        _cleanup_(freep) char *text = drawn_status(status, 40, 80);

        (void)state;
        assert_non_null(strstr(text, "\n     0 8777"
                                     "7.14\n"));
        json_object_put(status);
}

static void raised_condition_and_warning_are_on_top(void **state)
{
        struct json_object *status = fixture("storm");
        _cleanup_(freep) char *text = drawn_status(status, 3, 100);
        _cleanup_(freep) char *stale =
                drawn(&(struct top_view){.status = status, .age_s = 90, .warning = "tlbd is gone"},
                      24, 80);

        (void)state;
        assert_non_null(strstr(text, "\nRAISED balancing-flush-storm, 12 min: "
                                     "tlb_per_migrated_page 205.2, limit 76.8\n"));
        assert_non_null(strstr(stale, "90 s ago\ntlbd is gone\n"));
        assert_null(strstr(stale, "RAISED"));
        json_object_put(status);
}

static void null_is_never_a_number(void **state)
{
        struct json_object *status = fixture("guest");
        _cleanup_(freep) char *text = drawn_status(status, 40, 80);

        (void)state;
        assert_non_null(strstr(text, "TLB interrupts/s            paravirt"));
        assert_non_null(strstr(text, "  NUMA scanning          unsupported"));
        json_object_put(status);
}

static void nodes_that_do_not_fit_are_counted(void **state)
{
        struct json_object *status = fixture("storm"), *nodes = json_object_new_array();

        (void)state;
        for (int i = 0; i < 40; i++) {
                struct json_object *n = json_object_new_object();

                json_object_object_add(n, "id", json_object_new_int(2 * i));
                json_object_array_add(nodes, n);
        }
        json_object_object_add(status, "nodes", nodes);
        {
                _cleanup_(freep) char *few = drawn_status(status, 40, 80);
                _cleanup_(freep) char *all = drawn_status(status, 200, 80);

                assert_non_null(strstr(few, " more nodes\n"));
                assert_null(strstr(all, " more nodes\n"));
                assert_non_null(strstr(all, "\n    78      -"));
        }
        json_object_put(status);
}

static void text_cannot_drive_a_terminal(void **state)
{
        struct json_object *status = fixture("odd");
        _cleanup_(freep) char *text = drawn_status(status, 40, 200);

        (void)state;
        for (const char *p = text; *p; p++)
                assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
        assert_non_null(strstr(text, "observe?[31m"));
        json_object_put(status);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(any_size_is_drawn),
                cmocka_unit_test(any_number_of_cpus_is_drawn),
                cmocka_unit_test(every_cpu_has_a_cell_or_a_share_of_one),
                cmocka_unit_test(hole_in_the_ids_is_a_blank),
                cmocka_unit_test(quiet_cpu_differs_from_one_interrupt),
                cmocka_unit_test(raised_condition_and_warning_are_on_top),
                cmocka_unit_test(null_is_never_a_number),
                cmocka_unit_test(nodes_that_do_not_fit_are_counted),
                cmocka_unit_test(text_cannot_drive_a_terminal),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
