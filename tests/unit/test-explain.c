/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "explain.h"

#include "config.h"
#include "judge.h"
#include "metrics.h"

#include <errno.h>

static int explained(const char *name, char **ret)
{
        size_t len;
        FILE *f = open_memstream(ret, &len);
        int r;

        assert_non_null(f);
        r = explain_print(f, name);
        assert_int_equal(fclose(f), 0);
        return r;
}

/* Every word of text stands in explanation, in this order and close together: only line breaks may
 * be between them. */
static void assert_says(const char *explanation, const char *text)
{
        const char *at = strstr(explanation, "\n\n");

        assert_non_null(at);
        at += strspn(at, " \n");
        while (*text) {
                size_t n = strcspn(text, " ");

                assert_memory_equal(at, text, n);
                at += n;
                at += strspn(at, " \n");
                text += n;
                text += strspn(text, " ");
        }
}

static void every_metric_is_explained(void **state)
{
        (void)state;
        for (size_t i = 0; i < METRIC_COUNT; i++) {
                _cleanup_(freep) char *text = NULL;

                assert_int_equal(explained(metric_table[i].name, &text), 0);
                assert_says(text, metric_table[i].text);
                assert_non_null(strstr(text, metric_table[i].title));
                assert_non_null(strstr(text, metric_table[i].unit));
                assert_non_null(strstr(text, "TLBD_"));
        }
}

static void every_condition_is_explained(void **state)
{
        (void)state;
        for (size_t i = 0; i < CONDITION_COUNT; i++) {
                _cleanup_(freep) char *text = NULL;

                assert_int_equal(explained(condition_table[i].name, &text), 0);
                assert_says(text, condition_table[i].text);
                assert_non_null(strstr(text, condition_table[i].message_id));
        }
}

static void every_key_is_explained(void **state)
{
        (void)state;
        for (size_t i = 0; i < KEY_COUNT; i++) {
                _cleanup_(freep) char *text = NULL;
                _cleanup_(freep) char *fallback = strf("Default: %s\n", key_table[i].default_text);

                assert_int_equal(explained(key_table[i].name, &text), 0);
                assert_says(text, key_table[i].text);
                assert_non_null(strstr(text, fallback));
                assert_non_null(strstr(text, key_table[i].section));
        }
}

static void key_says_range_and_kernel_file(void **state)
{
        _cleanup_(freep) char *text = NULL;

        (void)state;
        assert_int_equal(explained("numascansizemb", &text), 0);
        assert_non_null(strstr(text, "Values: keep, or whole number, 1 to 65536 MiB\n"));
        assert_non_null(strstr(text, "/proc/sys/kernel/numa_balancing_scan_size_mb or"));
        assert_non_null(strstr(text, "/sys/kernel/debug/sched/numa_balancing/scan_size_mb\n"));
}

static void no_line_is_wider_than_80(void **state)
{
        (void)state;
        for (size_t i = 0; i < topic_count(); i++) {
                _cleanup_(topic_done) struct topic t = {0};
                _cleanup_(freep) char *text = NULL;

                assert_int_equal(topic_get(i, &t), 0);
                assert_int_equal(explained(t.name, &text), 0);
                for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
                        assert_true(strcspn(line, "\n") <= 80);
        }
}

static void names_are_unique(void **state)
{
        (void)state;
        for (size_t i = 0; i < topic_count(); i++) {
                _cleanup_(topic_done) struct topic t = {0};

                assert_int_equal(topic_get(i, &t), 0);
                assert_int_equal(topic_find(t.name), i);
        }
}

static void list_has_every_name(void **state)
{
        _cleanup_(freep) char *text = NULL;

        (void)state;
        assert_int_equal(explained(NULL, &text), 0);
        for (size_t i = 0; i < topic_count(); i++) {
                _cleanup_(topic_done) struct topic t = {0};
                _cleanup_(freep) char *line = NULL;

                assert_int_equal(topic_get(i, &t), 0);
                line = strf("\n  %s ", t.name);
                assert_non_null(strstr(text, line));
        }
}

static bool suggests(const char *wrong, const char *right)
{
        size_t near[5], n = topic_near(wrong, near, ELEMENTSOF(near));

        for (size_t i = 0; i < n; i++)
                if ((int)near[i] == topic_find(right))
                        return true;
        return false;
}

static void unknown_name_gets_suggestions(void **state)
{
        _cleanup_(freep) char *text = NULL;
        size_t near[5];

        (void)state;
        assert_int_equal(explained("NumaScanSize", &text), -ENOENT);
        assert_string_equal(text, "");
        assert_true(suggests("NumaScanSize", "NumaScanSizeMb"));
        assert_true(suggests("NumaScanDealyMs", "NumaScanDelayMs"));
        assert_true(suggests("tlb_per_migrated_pages", "tlb_per_migrated_page"));
        assert_true(suggests("flush-storm", "balancing-flush-storm"));
        assert_true(suggests("locality", "hint_fault_locality"));
        assert_int_equal(topic_near("xyzzy", near, ELEMENTSOF(near)), 0);
        assert_int_equal(topic_near("tlb_interrupts_per_s_", near, 2), 2);
        assert_int_equal(near[0], topic_find("tlb_interrupts_per_s"));
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_metric_is_explained),
                cmocka_unit_test(every_condition_is_explained),
                cmocka_unit_test(every_key_is_explained),
                cmocka_unit_test(key_says_range_and_kernel_file),
                cmocka_unit_test(no_line_is_wider_than_80),
                cmocka_unit_test(names_are_unique),
                cmocka_unit_test(list_has_every_name),
                cmocka_unit_test(unknown_name_gets_suggestions),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
