/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "config-edit.h"

#include <errno.h>
#include <unistd.h>

#define PERSISTENT "etc/tlbd/tlbd.conf.d/90-tlbctl.conf"
#define RUNTIME "run/tlbd/tlbd.conf.d/95-tlbctl-runtime.conf"
#define HEADING "# Made by tlbctl set; tlbctl unset takes a setting back.\n"

static char *in_root(void **state, const char *path)
{
        return strf("%s/%s", unit_tmpdir(state), path);
}

static void assert_file(void **state, const char *path, const char *expected)
{
        struct buffer b = {0};
        char *full = in_root(state, path);

        assert_int_equal(buffer_read_path(&b, full), 0);
        assert_string_equal(b.data, expected);
        buffer_done(&b);
        free(full);
}

static bool exists(void **state, const char *path)
{
        char *full = in_root(state, path);
        struct stat st;
        bool found = lstat(full, &st) == 0;

        free(full);
        return found;
}

/* Sets, and says in which file (below the root) the key is set then. */
static void set(void **state, enum config_key key, const char *value, bool runtime,
                const char *expected_file)
{
        struct config_edit_result result;
        struct config_error e;
        char *full = in_root(state, expected_file);

        assert_int_equal(config_edit_set(unit_tmpdir(state), key, value, runtime, &result, &e), 0);
        assert_string_equal(result.file, full);
        assert_true(result.line > 0);
        config_edit_result_done(&result);
        free(full);
}

static bool unset(void **state, enum config_key key)
{
        struct config_edit_result result;
        struct config_error e;
        bool changed;

        assert_int_equal(config_edit_unset(unit_tmpdir(state), key, &result, &e), 0);
        changed = result.changed;
        config_edit_result_done(&result);
        return changed;
}

static void assert_refused(void **state, enum config_key key, const char *value, int error,
                           const char *reason)
{
        struct config_edit_result result;
        struct config_error e;

        assert_int_equal(config_edit_set(unit_tmpdir(state), key, value, false, &result, &e),
                         error);
        if (!strstr(e.reason, reason))
                fail_msg("\"%s\" is not in \"%s\"", reason, e.reason);
        config_error_done(&e);
        assert_null(result.file);
}

static void assert_mode(void **state, const char *path, mode_t mode)
{
        char *full = in_root(state, path);
        struct stat st;

        assert_int_equal(lstat(full, &st), 0);
        assert_int_equal(st.st_mode & 07777, mode);
        free(full);
}

static void test_first_setting(void **state)
{
        mode_t old = umask(077);

        set(state, KEY_NUMA_SCAN_SIZE_MB, "64", false, PERSISTENT);
        (void)umask(old);
        assert_file(state, PERSISTENT, HEADING "\n[Tuning]\nNumaScanSizeMb=64\n");
        assert_mode(state, PERSISTENT, 0644);
        assert_mode(state, "etc", 0755);
        assert_mode(state, "etc/tlbd", 0755);
        assert_mode(state, "etc/tlbd/tlbd.conf.d", 0755);
        assert_false(exists(state, PERSISTENT ".new"));
        assert_false(exists(state, RUNTIME));
        assert_false(exists(state, "run"));
}

static void test_runtime_wins_and_persistent_ends_it(void **state)
{
        set(state, KEY_NUMA_SCAN_SIZE_MB, "64", false, PERSISTENT);
        set(state, KEY_NUMA_SCAN_SIZE_MB, "32", true, RUNTIME);
        assert_file(state, PERSISTENT, HEADING "\n[Tuning]\nNumaScanSizeMb=64\n");
        assert_file(state, RUNTIME, HEADING "\n[Tuning]\nNumaScanSizeMb=32\n");
        set(state, KEY_NUMA_SCAN_SIZE_MB, "16", false, PERSISTENT);
        assert_false(exists(state, RUNTIME));
}

static void test_other_lines_stay(void **state)
{
        unit_write(
                unit_tmpdir(state), PERSISTENT,
                "; mine\n[Monitor]\n# every second\nIntervalSec = 1\n\n[Tuning]\nNumaBalancing=0\n"
                "\n# tail");
        set(state, KEY_SUMMARY_SEC, "60", false, PERSISTENT);
        set(state, KEY_NUMA_BALANCING, "1", false, PERSISTENT);
        set(state, KEY_WINDOW_COUNT, "5", false, PERSISTENT);
        set(state, KEY_INTERVAL_SEC, "2.5", false, PERSISTENT);
        assert_file(
                state, PERSISTENT,
                "; mine\n[Monitor]\n# every second\nIntervalSec=2.5\nSummarySec=60\n\n[Tuning]\n"
                "NumaBalancing=1\n\n# tail\n\n[Conditions]\nWindowCount=5\n");
        assert_true(unset(state, KEY_INTERVAL_SEC));
        assert_true(unset(state, KEY_SUMMARY_SEC));
        assert_file(state, PERSISTENT,
                    "; mine\n[Monitor]\n# every second\n\n[Tuning]\nNumaBalancing=1\n\n# tail\n\n"
                    "[Conditions]\nWindowCount=5\n");
}

static void test_a_commented_or_longer_key_is_another(void **state)
{
        unit_write(unit_tmpdir(state), PERSISTENT,
                   "[Tuning]\n#NumaScanSizeMb=1\nNumaScanPeriodMinMs=100\n");
        set(state, KEY_NUMA_SCAN_SIZE_MB, "64", false, PERSISTENT);
        assert_file(state, PERSISTENT,
                    "[Tuning]\n#NumaScanSizeMb=1\nNumaScanPeriodMinMs=100\nNumaScanSizeMb=64\n");
}

static void test_unset(void **state)
{
        assert_false(unset(state, KEY_NUMA_SCAN_SIZE_MB));
        assert_false(exists(state, "etc"));
        set(state, KEY_NUMA_SCAN_SIZE_MB, "64", false, PERSISTENT);
        set(state, KEY_NUMA_BALANCING, "0", true, RUNTIME);
        assert_false(unset(state, KEY_SUMMARY_SEC));
        assert_true(unset(state, KEY_NUMA_SCAN_SIZE_MB));
        assert_false(exists(state, PERSISTENT));
        assert_true(exists(state, RUNTIME));
        assert_true(unset(state, KEY_NUMA_BALANCING));
        assert_false(exists(state, RUNTIME));
}

static void test_unset_keeps_somebodys_comment(void **state)
{
        unit_write(unit_tmpdir(state), PERSISTENT, "# ask Rita\n[Tuning]\nNumaScanSizeMb=64\n");
        assert_true(unset(state, KEY_NUMA_SCAN_SIZE_MB));
        assert_file(state, PERSISTENT, "# ask Rita\n[Tuning]\n");
}

static void test_unset_reports_where_it_is_set_still(void **state)
{
        struct config_edit_result result;
        struct config_error e;
        char *path = in_root(state, "etc/tlbd/tlbd.conf");

        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf", "[Tuning]\nNumaScanSizeMb=1\n");
        assert_int_equal(config_edit_unset(unit_tmpdir(state), KEY_NUMA_SCAN_SIZE_MB, &result, &e),
                         0);
        assert_false(result.changed);
        assert_string_equal(result.file, path);
        assert_int_equal(result.line, 2);
        config_edit_result_done(&result);
        free(path);
}

static void test_hidden_by_a_later_file(void **state)
{
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf.d/99-site.conf",
                   "[Tuning]\nNumaScanSizeMb=1\n");
        set(state, KEY_NUMA_SCAN_SIZE_MB, "64", false, "etc/tlbd/tlbd.conf.d/99-site.conf");
        assert_file(state, PERSISTENT, HEADING "\n[Tuning]\nNumaScanSizeMb=64\n");
}

static void test_same_value_again_changes_nothing(void **state)
{
        struct config_edit_result result;
        struct config_error e;

        set(state, KEY_NUMA_SCAN_SIZE_MB, "64", false, PERSISTENT);
        assert_int_equal(config_edit_set(unit_tmpdir(state), KEY_NUMA_SCAN_SIZE_MB, "64", false,
                                         &result, &e),
                         0);
        assert_false(result.changed);
        config_edit_result_done(&result);
}

static void test_bad_values(void **state)
{
        static const char *const bad[] = {"",
                                          "-1",
                                          "1e3",
                                          " 5",
                                          "5 ",
                                          "NaN",
                                          "+5",
                                          "5\n6",
                                          "5\n",
                                          "0x1000000",
                                          "64\nNumaBalancing=0"};
        static const char *const range[] = {"0", "16777216", "33554432", "99999999999999999999"};

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_refused(state, KEY_NUMA_SCAN_SIZE_MB, bad[i], -EINVAL, "not a valid value");
        for (size_t i = 0; i < ELEMENTSOF(range); i++)
                assert_refused(state, KEY_NUMA_SCAN_SIZE_MB, range[i], -ERANGE, "out of range");
        assert_false(exists(state, "etc"));
}

/* The setting is fine by itself, but the whole would not be. */
static void test_the_whole_is_judged(void **state)
{
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf", "[Tuning]\nNumaScanPeriodMaxMs=500\n");
        assert_refused(state, KEY_NUMA_SCAN_PERIOD_MIN_MS, "501", -EINVAL,
                       "above NumaScanPeriodMaxMs");
        assert_false(exists(state, "etc/tlbd/tlbd.conf.d"));
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf.d/10.conf", "[Tuning]\nTypo=1\n");
        assert_refused(state, KEY_NUMA_SCAN_PERIOD_MIN_MS, "400", -EINVAL, "no such key");
        assert_false(exists(state, PERSISTENT));
}

static void test_a_refused_edit_keeps_the_old_file(void **state)
{
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf", "[Tuning]\nNumaScanPeriodMaxMs=500\n");
        set(state, KEY_NUMA_SCAN_PERIOD_MIN_MS, "400", false, PERSISTENT);
        assert_refused(state, KEY_NUMA_SCAN_PERIOD_MIN_MS, "501", -EINVAL, "above");
        assert_file(state, PERSISTENT, HEADING "\n[Tuning]\nNumaScanPeriodMinMs=400\n");
}

static void test_unset_repairs(void **state)
{
        unit_write(unit_tmpdir(state), PERSISTENT,
                   "[Tuning]\nNumaScanSizeMb=64\nNumaScanSizeMb=0\nNumaBalancing=0\n");
        assert_refused(state, KEY_NUMA_BALANCING, "1", -EINVAL, "already set");
        assert_true(unset(state, KEY_NUMA_SCAN_SIZE_MB));
        assert_file(state, PERSISTENT, "[Tuning]\nNumaBalancing=0\n");
}

static void test_other_kinds_of_file_are_refused(void **state)
{
        char *path = in_root(state, PERSISTENT), *target = in_root(state, "target");

        unit_write(unit_tmpdir(state), "target", "[Tuning]\n");
        unit_write(unit_tmpdir(state), PERSISTENT, "");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(target, path), 0);
        assert_refused(state, KEY_NUMA_BALANCING, "1", -ELOOP, "symbolic link");
        assert_file(state, "target", "[Tuning]\n");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/dev/null", path), 0);
        assert_refused(state, KEY_NUMA_BALANCING, "1", -ELOOP, "symbolic link");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_refused(state, KEY_NUMA_BALANCING, "1", -EINVAL, "no regular file");
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(mkfifo(path, 0644), 0);
        assert_refused(state, KEY_NUMA_BALANCING, "1", -EINVAL, "no regular file");
        free(path);
        free(target);
}

static void test_directory_that_cannot_be_made(void **state)
{
        unit_write(unit_tmpdir(state), "etc", "a file");
        assert_refused(state, KEY_NUMA_BALANCING, "1", -ENOTDIR, "Not a directory");
        assert_file(state, "etc", "a file");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)

int main(void)
{
        static const struct CMUnitTest tests[] = {
                TEST(test_first_setting),
                TEST(test_runtime_wins_and_persistent_ends_it),
                TEST(test_other_lines_stay),
                TEST(test_a_commented_or_longer_key_is_another),
                TEST(test_unset),
                TEST(test_unset_keeps_somebodys_comment),
                TEST(test_unset_reports_where_it_is_set_still),
                TEST(test_hidden_by_a_later_file),
                TEST(test_same_value_again_changes_nothing),
                TEST(test_bad_values),
                TEST(test_the_whole_is_judged),
                TEST(test_a_refused_edit_keeps_the_old_file),
                TEST(test_unset_repairs),
                TEST(test_other_kinds_of_file_are_refused),
                TEST(test_directory_that_cannot_be_made),
        };

        (void)umask(022);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
