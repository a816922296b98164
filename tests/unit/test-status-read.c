/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "status-read.h"

#include <errno.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static int read_text(void **state, const char *text, struct json_object **ret, char **ret_reason)
{
        _cleanup_(freep) char *path = strf("%s/status.json", unit_tmpdir(state));

        unit_write(unit_tmpdir(state), "status.json", text);
        return status_read(path, ret, ret_reason);
}

static void missing_status_says_what_to_do(void **state)
{
        _cleanup_(freep) char *path = strf("%s/none.json", unit_tmpdir(state));
        _cleanup_(freep) char *reason = NULL;
        struct json_object *status = NULL;

        assert_int_equal(status_read(path, &status, &reason), -ENOENT);
        assert_non_null(strstr(reason, "tlbd is not running"));
        assert_null(status);
}

static void status_that_is_cut_short_is_refused(void **state)
{
        static const char whole[] = "{\"version\": 1, \"samples\": 3, \"notes\": [\"a\"]}";
        struct json_object *status = NULL;

        for (size_t n = 0; n < sizeof(whole) - 1; n++) {
                _cleanup_(freep) char *text = strndup(whole, n);
                _cleanup_(freep) char *reason = NULL;

                assert_int_equal(read_text(state, text, &status, &reason), -EBADMSG);
                assert_non_null(strstr(reason, "not a whole status"));
        }
        _cleanup_(freep) char *none = NULL;
        assert_int_equal(read_text(state, whole, &status, &none), 0);
        assert_null(none);
        assert_true(status_number(status, "samples") == 3);
        json_object_put(status);
}

static void other_version_and_other_json_are_refused(void **state)
{
        struct json_object *status = NULL;
        _cleanup_(freep) char *a = NULL;
        _cleanup_(freep) char *b = NULL;
        _cleanup_(freep) char *c = NULL;

        assert_int_equal(read_text(state, "{\"version\": 2}", &status, &a), -EPROTO);
        assert_non_null(strstr(a, "version 2"));
        assert_int_equal(read_text(state, "[1]", &status, &b), -EBADMSG);
        assert_int_equal(read_text(state, "{\"version\": \"1\"}", &status, &c), -EBADMSG);
}

static struct json_object *written(int pid, double monotonic_ns, double interval_s)
{
        struct json_object *o = json_object_new_object();

        json_object_object_add(o, "pid", json_object_new_int(pid));
        json_object_object_add(o, "monotonic_ns", json_object_new_double(monotonic_ns));
        json_object_object_add(o, "interval_s", json_object_new_double(interval_s));
        return o;
}

static void assert_fresh(int expected, int pid, double age_s, double interval_s, const char *says)
{
        double now = 1e15;
        struct json_object *o = written(pid, now - age_s * 1e9, interval_s);
        _cleanup_(freep) char *reason = NULL;

        assert_int_equal(status_fresh(o, (uint64_t)now, &reason), expected);
        if (says)
                assert_non_null(strstr(reason, says));
        else
                assert_null(reason);
        json_object_put(o);
}

static void status_is_fresh_for_three_intervals(void **state)
{
        int self = getpid();

        (void)state;
        assert_fresh(0, self, 0, 10, NULL);
        assert_fresh(0, self, 31.9, 10, NULL);
        assert_fresh(-ESTALE, self, 32.1, 10, "wrote 32 s ago");
        assert_fresh(0, self, 2.2, 0.1, NULL);
        assert_fresh(-ESTALE, self, 3, 0.1, "out of date");
        assert_fresh(-ESTALE, self, -100, 10, "out of date");
        assert_fresh(-ESTALE, self, (double)NAN, 10, "out of date");
        assert_fresh(-ESTALE, self, 1, (double)NAN, "out of date");
        assert_fresh(-ESTALE, 0, 0, 10, "is gone");
        assert_fresh(-ESTALE, -1, 0, 10, "is gone");
}

static void status_of_a_process_that_is_gone_is_stale(void **state)
{
        pid_t pid = fork();

        (void)state;
        assert_true(pid >= 0);
        if (pid == 0)
                _exit(0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_fresh(-ESTALE, pid, 0, 10, "is gone");
        assert_fresh(0, 1, 0, 10, NULL); /* there, and not ours: EPERM is an answer too */
}

static void getters_cope_with_anything(void **state)
{
        struct json_object *o =
                json_tokener_parse("{\"n\":1,\"x\":1.5,\"s\":\"t\",\"b\":true,\"z\":null,"
                                   "\"a\":[1],\"o\":{}}");

        (void)state;
        assert_true(status_number(o, "n") == 1 && status_number(o, "x") == 1.5);
        assert_true(isnan(status_number(o, "s")) && isnan(status_number(o, "z")));
        assert_true(isnan(status_number(o, "none")) && isnan(status_number(NULL, "n")));
        assert_true(isnan(status_number(status_array(o, "a"), "n")));
        assert_string_equal(status_text(o, "s"), "t");
        assert_null(status_text(o, "n"));
        assert_true(status_true(o, "b"));
        assert_false(status_true(o, "n"));
        assert_non_null(status_object(o, "o"));
        assert_null(status_object(o, "a"));
        assert_int_equal(status_length(status_array(o, "a")), 1);
        assert_int_equal(status_length(status_array(o, "o")), 0);
        json_object_put(o);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(missing_status_says_what_to_do, unit_tmpdir_make,
                                                unit_tmpdir_remove),
                cmocka_unit_test_setup_teardown(status_that_is_cut_short_is_refused,
                                                unit_tmpdir_make, unit_tmpdir_remove),
                cmocka_unit_test_setup_teardown(other_version_and_other_json_are_refused,
                                                unit_tmpdir_make, unit_tmpdir_remove),
                cmocka_unit_test(status_is_fresh_for_three_intervals),
                cmocka_unit_test(status_of_a_process_that_is_gone_is_stale),
                cmocka_unit_test(getters_cope_with_anything),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
