/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "util.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void number_is_all_digits_or_refused(void **state)
{
        uint64_t v = 42;

        (void)state;
        assert_int_equal(parse_u64("0", 1, &v), 0);
        assert_int_equal(v, 0);
        assert_int_equal(parse_u64("18446744073709551615", 20, &v), 0);
        assert_true(v == UINT64_MAX);
        v = 42;
        assert_int_equal(parse_u64("18446744073709551616", 20, &v), -ERANGE);
        assert_int_equal(parse_u64("99999999999999999999x", 21, &v), -EINVAL);
        static const char *const bad[] = {"", " 5", "5 ", "-1", "+1", "0x10", "1e3", "NaN", "5\n"};
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(parse_u64(bad[i], strlen(bad[i]), &v), -EINVAL);
        assert_int_equal(v, 42);
}

static void large_file_is_read_whole(void **state)
{
        _cleanup_(freep) char *path = strf("%s/big", unit_tmpdir(state));
        _cleanup_(buffer_done) struct buffer b = {0};
        size_t len = 200003;
        _cleanup_(freep) char *data = malloc(len);

        assert_non_null(data);
        for (size_t i = 0; i < len; i++)
                data[i] = (char)('a' + i % 23);
        assert_int_equal(file_write_atomic(path, data, len, 0644, true), 0);
        assert_int_equal(buffer_read_path(&b, path), 0);
        assert_int_equal(b.len, len);
        assert_memory_equal(b.data, data, len);
        assert_int_equal(b.data[len], '\0');
        /* Used again for a shorter file nothing of the longer one is left. */
        assert_int_equal(file_write_atomic(path, "x\n", 2, 0600, false), 0);
        assert_int_equal(buffer_read_path(&b, path), 0);
        assert_string_equal(b.data, "x\n");
        assert_int_equal(buffer_read_path(&b, "/nowhere/at/all"), -ENOENT);
}

static void atomic_write_does_not_follow_a_planted_link(void **state)
{
        _cleanup_(freep) char *path = strf("%s/status", unit_tmpdir(state));
        _cleanup_(freep) char *planted = strf("%s.new", path);
        _cleanup_(freep) char *victim = strf("%s/victim", unit_tmpdir(state));
        _cleanup_(buffer_done) struct buffer b = {0};
        struct stat st;

        assert_int_equal(file_write_atomic(victim, "v", 1, 0644, false), 0);
        assert_int_equal(symlink(victim, planted), 0);
        assert_int_equal(file_write_atomic(path, "s", 1, 0640, false), 0);
        assert_int_equal(buffer_read_path(&b, victim), 0);
        assert_string_equal(b.data, "v");
        assert_int_equal(lstat(path, &st), 0);
        assert_true(S_ISREG(st.st_mode));
        assert_int_equal(st.st_mode & 07777, 0640);
        assert_int_equal(file_write_atomic("/nowhere/x", "s", 1, 0644, false), -ENOENT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(number_is_all_digits_or_refused),
                cmocka_unit_test_setup_teardown(large_file_is_read_whole, unit_tmpdir_make,
                                                unit_tmpdir_remove),
                cmocka_unit_test_setup_teardown(atomic_write_does_not_follow_a_planted_link,
                                                unit_tmpdir_make, unit_tmpdir_remove),
        };

        return cmocka_run_group_tests_name("util", tests, NULL, NULL);
}
