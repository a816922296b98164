/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "status.h"

#include "metrics.h"
#include "status-read.h"
#include "text.h"

#include <ctype.h>

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

static char *report(struct json_object *status, unsigned width)
{
        char *text = NULL;
        size_t len;
        FILE *f = open_memstream(&text, &len);

        assert_non_null(f);
        report_print(f, status, width);
        assert_int_equal(fclose(f), 0);
        return text;
}

/* A difference is shown by the first line that differs; the whole of what was printed is left in
 * the working directory for diff(1), or to become the golden file once a person has read it. */
static void assert_golden(const char *name, const char *text)
{
        _cleanup_(freep) char *path = strf("%s/%s.txt", getenv("TLBD_GOLDEN"), name);
        _cleanup_(freep) char *actual = strf("%s.actual", name);
        _cleanup_(buffer_done) struct buffer b = {0};
        int r = buffer_read_path(&b, path);
        size_t at = 0, start = 0;

        if (r == 0 && strcmp(b.data, text) == 0)
                return;
        assert_int_equal(file_write_atomic(actual, text, strlen(text), 0644, false), 0);
        if (r < 0)
                fail_msg("%s cannot be read", path);
        for (; b.data[at] && b.data[at] == text[at]; at++)
                if (b.data[at] == '\n')
                        start = at + 1;
        fail_msg("%s differs, see %s:\n-%.*s\n+%.*s", path, actual,
                 (int)strcspn(b.data + start, "\n"), b.data + start,
                 (int)strcspn(text + start, "\n"), text + start);
}

static void assert_fits(const char *text, unsigned width)
{
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
                if (strcspn(line, "\n") > width)
                        fail_msg("wider than %u: %.*s", width, (int)strcspn(line, "\n"), line);
        for (const char *p = text; *p; p++)
                assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
}

static void check(const char *name, unsigned width, const char *golden)
{
        struct json_object *status = fixture(name);
        _cleanup_(freep) char *text = report(status, width);

        assert_fits(text, width);
        assert_golden(golden, text);
        json_object_put(status);
}

static void storm_on_a_large_server(void **state)
{
        (void)state;
        check("storm", 80, "report-storm");
}

static void wide_terminal_has_titles(void **state)
{
        (void)state;
        check("storm", 130, "report-storm-wide");
}

static void guest_without_visible_interrupts(void **state)
{
        (void)state;
        check("guest", 80, "report-guest");
}

static void idle_laptop(void **state)
{
        (void)state;
        check("laptop", 80, "report-laptop");
}

static void refused_under_lockdown(void **state)
{
        (void)state;
        check("lockdown", 80, "report-lockdown");
}

static void odd_types_and_control_characters(void **state)
{
        (void)state;
        check("odd", 80, "report-odd");
}

static void nothing_but_a_version(void **state)
{
        (void)state;
        check("empty", 80, "report-empty");
}

/* Whatever part is missing, the rest is reported. */
static void any_member_may_be_missing(void **state)
{
        struct json_object *status = fixture("storm");

        (void)state;
        json_object_object_foreach(status, key, value)
        {
                struct json_object *part = json_object_new_object();
                _cleanup_(freep) char *text = NULL;

                (void)value;
                json_object_object_foreach(status, other, kept) if (strcmp(other, key) != 0)
                        json_object_object_add(part, other, json_object_get(kept));
                text = report(part, 80);
                assert_fits(text, 80);
                assert_non_null(strstr(text, "WHAT IS LACKING HERE"));
                json_object_put(part);
        }
        json_object_put(status);
}

/* A null never reads as a number. */
static void every_null_metric_has_a_reason(void **state)
{
        static const char *const validity[] = {"unsupported", "idle",      "wrapped",
                                               "paravirt",    "broadcast", "of-tomorrow"};

        (void)state;
        for (size_t v = 0; v < ELEMENTSOF(validity); v++)
                for (size_t i = 0; i < METRIC_COUNT; i++) {
                        struct json_object *status = json_object_new_object();
                        struct json_object *m = json_object_new_object();
                        const char *why;

                        json_object_object_add(m, "value", NULL);
                        json_object_object_add(m, "validity", json_object_new_string(validity[v]));
                        why = status_why(status, metric_table[i].name, m);
                        assert_non_null(why);
                        assert_true(strlen(why) > 3 && isalpha((unsigned char)why[0]));
                        json_object_put(m);
                        json_object_put(status);
                }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(storm_on_a_large_server),
                cmocka_unit_test(wide_terminal_has_titles),
                cmocka_unit_test(guest_without_visible_interrupts),
                cmocka_unit_test(idle_laptop),
                cmocka_unit_test(refused_under_lockdown),
                cmocka_unit_test(odd_types_and_control_characters),
                cmocka_unit_test(nothing_but_a_version),
                cmocka_unit_test(any_member_may_be_missing),
                cmocka_unit_test(every_null_metric_has_a_reason),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
