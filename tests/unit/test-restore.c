/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "restore.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER_BOOT "11234567-89ab-cdef-0123-456789abcdef"

static const struct restore_entry sample[] = {
        {KNOB_NUMA_SCAN_SIZE_MB, 256, 64, false, 0},
        {KNOB_TLB_BATCH_MIGRATE, 1, 0, true, 1},
        {KNOB_NUMA_SCAN_DELAY_MS, UINT64_MAX, 0, false, 0},
};

static char *record_path(void **state)
{
        return strf("%s/restore", unit_tmpdir(state));
}

static void write_sample(const char *path)
{
        assert_int_equal(restore_write(path, BOOT, sample, ELEMENTSOF(sample)), 0);
}

static int read_record(const char *path, size_t *ret_n)
{
        struct restore_entry e[KNOB_COUNT];

        *ret_n = 99;
        return restore_read(path, BOOT, e, ret_n);
}

/* The record as text, freed by the caller. */
static struct buffer record_text(const char *path)
{
        struct buffer b = {0};

        assert_int_equal(buffer_read_path(&b, path), 0);
        return b;
}

static void replace_record(const char *path, const char *data, size_t len)
{
        FILE *f = fopen(path, "w");

        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, len, f), len);
        assert_int_equal(fclose(f), 0);
}

static void test_round_trip(void **state)
{
        char *path = record_path(state);
        struct restore_entry e[KNOB_COUNT];
        struct stat st;
        size_t n = 0;

        write_sample(path);
        assert_int_equal(restore_read(path, BOOT, e, &n), 0);
        assert_int_equal(n, ELEMENTSOF(sample));
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(e[i].id, sample[i].id);
                assert_true(e[i].original == sample[i].original);
                assert_true(e[i].ours == sample[i].ours);
                assert_true(e[i].has_previous == sample[i].has_previous);
                assert_true(!e[i].has_previous || e[i].previous == sample[i].previous);
        }
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        free(path);
}

static void test_all_knobs_fit(void **state)
{
        char *path = record_path(state);
        struct restore_entry e[KNOB_COUNT] = {0};
        size_t n;

        for (enum knob_id i = 0; i < KNOB_COUNT; i++)
                e[i] = (struct restore_entry){i, UINT64_MAX, UINT64_MAX, true, UINT64_MAX};
        assert_int_equal(restore_write(path, BOOT, e, KNOB_COUNT), 0);
        assert_int_equal(read_record(path, &n), 0);
        assert_int_equal(n, KNOB_COUNT);
        free(path);
}

static void test_none_and_other_boot(void **state)
{
        char *path = record_path(state);
        struct restore_entry e[KNOB_COUNT];
        size_t n;

        assert_int_equal(read_record(path, &n), -ENOENT);
        write_sample(path);
        assert_int_equal(restore_read(path, OTHER_BOOT, e, &n), -ESTALE);
        assert_int_equal(restore_write(path, BOOT, NULL, 0), 0);
        assert_int_equal(read_record(path, &n), -ENOENT);
        assert_int_equal(restore_write(path, BOOT, NULL, 0), 0);
        free(path);
}

/* Every cut and every changed byte must be found. */
static void test_any_damage_is_found(void **state)
{
        char *path = record_path(state);
        struct buffer b;
        size_t n;

        write_sample(path);
        b = record_text(path);
        for (size_t len = 0; len < b.len; len++) {
                replace_record(path, b.data, len);
                assert_int_equal(read_record(path, &n), -EBADMSG);
                assert_int_equal(n, 99);
        }
        for (size_t i = 0; i < b.len; i++) {
                b.data[i] ^= 1;
                replace_record(path, b.data, b.len);
                assert_int_equal(read_record(path, &n), -EBADMSG);
                b.data[i] ^= 1;
        }
        replace_record(path, b.data, b.len);
        assert_int_equal(read_record(path, &n), 0);
        buffer_done(&b);
        free(path);
}

/* Writes a record with this body and its right checksum, computed by hand. */
static void write_body(const char *path, const char *body)
{
        uint64_t hash = UINT64_C(14695981039346656037);
        char *text;

        for (const char *p = body; *p; p++)
                hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
        text = strf("%schecksum %016llx\n", body, (unsigned long long)hash);
        assert_non_null(text);
        replace_record(path, text, strlen(text));
        free(text);
}

#define HEAD "tlbd-restore 1\nboot " BOOT "\n"

static void test_wrong_content_with_a_right_checksum(void **state)
{
        static const char *const bad[] = {
                "",
                "tlbd-restore 1\n",
                "tlbd-restore 2\nboot " BOOT "\nNumaScanSizeMb 256 64\n",
                "tlbd-restore 1\nboot 0123\nNumaScanSizeMb 256 64\n",
                HEAD "NumaScanSizeMb 256\n",
                HEAD "NumaScanSizeMb\n",
                HEAD "NumaScanSizeMb 256 64 1 2\n",
                HEAD "NumaScanSizeMb 256  64\n",
                HEAD " NumaScanSizeMb 256 64\n",
                HEAD "NumaScanSizeMb 256 64 \n",
                HEAD "NumaScanSizeMb -1 64\n",
                HEAD "NumaScanSizeMb 0x10 64\n",
                HEAD "NumaScanSizeMb 99999999999999999999 64\n",
                HEAD "NumaScanSizeMb 256 64\nNumaScanSizeMb 128 64\n",
                HEAD "IntervalSec 1 2\n",
                HEAD "NumaScanSize 256 64\n",
        };
        char *path = record_path(state);
        size_t n;

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                write_body(path, bad[i]);
                assert_int_equal(read_record(path, &n), -EBADMSG);
                assert_int_equal(n, 99);
        }
        write_body(path, HEAD "NumaScanSizeMb 256 64\n");
        assert_int_equal(read_record(path, &n), 0);
        assert_int_equal(n, 1);
        free(path);
}

static void test_other_files_are_no_record(void **state)
{
        char *path = record_path(state), *target = strf("%s/target", unit_tmpdir(state));
        size_t n;

        write_sample(target);
        assert_int_equal(symlink(target, path), 0);
        assert_int_equal(read_record(path, &n), -EBADMSG);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_int_equal(read_record(path, &n), -EBADMSG);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_int_equal(read_record(path, &n), -EBADMSG);
        free(path);
        free(target);
}

static void test_failed_write_keeps_the_old_record(void **state)
{
        char *path = record_path(state), *blocker = strf("%s/restore.new", unit_tmpdir(state));
        size_t n;

        write_sample(path);
        assert_int_equal(mkdir(blocker, 0755), 0); /* where the temporary file goes */
        assert_true(restore_write(path, BOOT, sample, 1) < 0);
        assert_int_equal(read_record(path, &n), 0);
        assert_int_equal(n, ELEMENTSOF(sample));
        free(path);
        free(blocker);
}

static void test_boot_id(void **state)
{
        const char *root = unit_tmpdir(state), *file = "proc/sys/kernel/random/boot_id";
        char id[37];

        assert_int_equal(boot_id_read(root, id), 0);
        assert_string_equal(id, "000000000000000000000000000000000000");
        unit_write(root, file, BOOT "\n");
        assert_int_equal(boot_id_read(root, id), 0);
        assert_string_equal(id, BOOT);
        unit_write(root, file, BOOT);
        assert_int_equal(boot_id_read(root, id), 0);
        assert_string_equal(id, BOOT);
        unit_write(root, file, BOOT "x\n");
        assert_int_equal(boot_id_read(root, id), -EBADMSG);
        unit_write(root, file, "\n");
        assert_int_equal(boot_id_read(root, id), -EBADMSG);
        unit_write(root, file, "01234567-89ab-cdef-0123-456789abcd\nf\n");
        assert_int_equal(boot_id_read(root, id), -EBADMSG);
        assert_int_equal(boot_id_read("", id), 0);
        assert_int_equal(strlen(id), 36);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)

int main(void)
{
        static const struct CMUnitTest tests[] = {
                TEST(test_round_trip),
                TEST(test_all_knobs_fit),
                TEST(test_none_and_other_boot),
                TEST(test_any_damage_is_found),
                TEST(test_wrong_content_with_a_right_checksum),
                TEST(test_other_files_are_no_record),
                TEST(test_failed_write_keeps_the_old_record),
                TEST(test_boot_id),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
