/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "config.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TUNING "[Tuning]\n"

static char *in_root(void **state, const char *path)
{
        return strf("%s/%s", unit_tmpdir(state), path);
}

/* The value of key below the root; keep and numbers alike as text. Fails unless it loads. */
static void assert_value(void **state, enum config_key key, const char *expected)
{
        struct config c;
        struct config_error e;
        char *text;

        assert_int_equal(config_load(unit_tmpdir(state), NULL, NULL, &c, &e), 0);
        text = config_value_format(key, &c.value[key]);
        assert_string_equal(text, expected);
        free(text);
        config_done(&c);
}

/* Fails unless the root is refused with error at path:line, naming key, with reason in the text. */
static void assert_refused(void **state, int error, const char *path, unsigned line,
                           const char *key, const char *reason)
{
        struct config c = {.value[0].number = 42};
        struct config_error e;
        char *full = in_root(state, path), *text;

        assert_int_equal(config_load(unit_tmpdir(state), NULL, NULL, &c, &e), error);
        assert_true(c.value[0].number == 42);
        assert_string_equal(e.file, full);
        assert_int_equal(e.line, line);
        if (key)
                assert_string_equal(e.key, key);
        else
                assert_null(e.key);
        if (!strstr(e.reason, reason))
                fail_msg("\"%s\" is not in \"%s\"", reason, e.reason);
        text = config_error_format(&e);
        assert_int_equal(strncmp(text, full, strlen(full)), 0);
        assert_non_null(strstr(text, reason));
        free(text);
        free(full);
        config_error_done(&e);
}

static void write_bytes(void **state, const char *path, const void *data, size_t len)
{
        char *full = in_root(state, path);
        FILE *f;

        unit_write(unit_tmpdir(state), path, "");
        f = fopen(full, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, len, f), len);
        assert_int_equal(fclose(f), 0);
        free(full);
}

/* Layers */

static void test_defaults(void **state)
{
        struct config c;
        struct config_error e;

        assert_int_equal(config_load(unit_tmpdir(state), NULL, NULL, &c, &e), 0);
        for (enum config_key i = 0; i < KEY_COUNT; i++) {
                char *text = config_value_format(i, &c.value[i]);

                assert_string_equal(text, key_table[i].default_text);
                assert_null(c.value[i].file);
                assert_int_equal(c.value[i].line, 0);
                free(text);
        }
        config_done(&c);
}

static void test_main_file_precedence(void **state)
{
        const char *root = unit_tmpdir(state);

        unit_write(root, "usr/lib/tlbd/tlbd.conf", "[Monitor]\nIntervalSec=1\nWindowCount=9\n");
        assert_refused(state, -EINVAL, "usr/lib/tlbd/tlbd.conf", 3, "WindowCount",
                       "belongs to [Conditions]");
        unit_write(root, "usr/lib/tlbd/tlbd.conf", "[Monitor]\nIntervalSec=1\nSummarySec=7\n");
        assert_value(state, KEY_INTERVAL_SEC, "1");
        unit_write(root, "run/tlbd/tlbd.conf", "[Monitor]\nIntervalSec=2\n");
        assert_value(state, KEY_INTERVAL_SEC, "2");
        unit_write(root, "etc/tlbd/tlbd.conf", "[Monitor]\nIntervalSec=3.25\n");
        assert_value(state, KEY_INTERVAL_SEC, "3.25");
        assert_value(state, KEY_SUMMARY_SEC, "3600"); /* the others are not read at all */
}

static void test_dropins_sort_by_name_over_all_layers(void **state)
{
        const char *root = unit_tmpdir(state);

        unit_write(root, "etc/tlbd/tlbd.conf", "[Monitor]\nIntervalSec=1\n");
        unit_write(root, "etc/tlbd/tlbd.conf.d/10-a.conf", "[Monitor]\nIntervalSec=2\n");
        assert_value(state, KEY_INTERVAL_SEC, "2");
        unit_write(root, "run/tlbd/tlbd.conf.d/20-b.conf", "[Monitor]\nIntervalSec=3\n");
        assert_value(state, KEY_INTERVAL_SEC, "3");
        unit_write(root, "usr/lib/tlbd/tlbd.conf.d/30-c.conf", "[Monitor]\nIntervalSec=4\n");
        assert_value(state, KEY_INTERVAL_SEC, "4");
        unit_write(root, "etc/tlbd/tlbd.conf.d/05-z.conf", "[Monitor]\nIntervalSec=5\n");
        assert_value(state, KEY_INTERVAL_SEC, "4");
}

static void test_same_name_hides_lower_layers(void **state)
{
        const char *root = unit_tmpdir(state);

        unit_write(root, "usr/lib/tlbd/tlbd.conf.d/50.conf",
                   "[Monitor]\nIntervalSec=1\nSummarySec=1\n");
        unit_write(root, "run/tlbd/tlbd.conf.d/50.conf", "[Monitor]\nIntervalSec=2\n");
        assert_value(state, KEY_INTERVAL_SEC, "2");
        assert_value(state, KEY_SUMMARY_SEC, "3600");
        unit_write(root, "etc/tlbd/tlbd.conf.d/50.conf", "[Monitor]\nIntervalSec=3\n");
        assert_value(state, KEY_INTERVAL_SEC, "3");
        /* what is hidden is not judged either */
        unit_write(root, "run/tlbd/tlbd.conf.d/50.conf", "nonsense\n");
        assert_value(state, KEY_INTERVAL_SEC, "3");
}

static void test_empty_file_and_null_link_mask(void **state)
{
        const char *root = unit_tmpdir(state);
        char *link = in_root(state, "etc/tlbd/tlbd.conf.d/60.conf");

        unit_write(root, "usr/lib/tlbd/tlbd.conf.d/50.conf", "[Monitor]\nIntervalSec=1\n");
        unit_write(root, "usr/lib/tlbd/tlbd.conf.d/60.conf", "[Monitor]\nSummarySec=1\n");
        assert_value(state, KEY_INTERVAL_SEC, "1");
        assert_value(state, KEY_SUMMARY_SEC, "1");
        unit_write(root, "etc/tlbd/tlbd.conf.d/50.conf", "");
        assert_int_equal(symlink("/dev/null", link), 0);
        assert_value(state, KEY_INTERVAL_SEC, "10");
        assert_value(state, KEY_SUMMARY_SEC, "3600");
        free(link);
}

static void test_masked_main_file(void **state)
{
        unit_write(unit_tmpdir(state), "usr/lib/tlbd/tlbd.conf", "[Monitor]\nIntervalSec=1\n");
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf", "");
        assert_value(state, KEY_INTERVAL_SEC, "10");
}

static void test_other_names_are_ignored(void **state)
{
        const char *root = unit_tmpdir(state);

        unit_write(root, "etc/tlbd/tlbd.conf.d/50.conf.rpmnew", "nonsense\n");
        unit_write(root, "etc/tlbd/tlbd.conf.d/.50.conf", "nonsense\n");
        unit_write(root, "etc/tlbd/tlbd.conf.d/README", "nonsense\n");
        unit_write(root, "etc/tlbd/tlbd.conf.d/.conf", "nonsense\n");
        assert_value(state, KEY_INTERVAL_SEC, "10");
}

static void test_file_and_line_of_a_value(void **state)
{
        struct config c;
        struct config_error e;
        char *path = in_root(state, "etc/tlbd/tlbd.conf.d/50.conf");

        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf.d/50.conf",
                   "# note\n\n[Monitor]\n; note\nIntervalSec = 5\n[Tuning]\n\nNumaScanSizeMb=64\n");
        assert_int_equal(config_load(unit_tmpdir(state), NULL, NULL, &c, &e), 0);
        assert_string_equal(c.value[KEY_INTERVAL_SEC].file, path);
        assert_int_equal(c.value[KEY_INTERVAL_SEC].line, 5);
        assert_int_equal(c.value[KEY_NUMA_SCAN_SIZE_MB].line, 8);
        assert_false(c.value[KEY_NUMA_SCAN_SIZE_MB].keep);
        assert_true(c.value[KEY_NUMA_SCAN_SIZE_MB].number == 64);
        assert_true(c.value[KEY_NUMA_BALANCING].keep);
        config_done(&c);
        free(path);
}

static void test_keep_in_a_later_file_takes_back(void **state)
{
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf", TUNING "NumaScanSizeMb=64\n");
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf.d/1.conf",
                   TUNING "NumaScanSizeMb=keep\n");
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "keep");
}

/* Extra and skipped files */

static void load_number(void **state, const char *extra, const char *skip, double expected)
{
        struct config c;
        struct config_error e;

        assert_int_equal(config_load(unit_tmpdir(state), extra, skip, &c, &e), 0);
        assert_true(c.value[KEY_SUMMARY_SEC].number == expected);
        config_done(&c);
}

static void test_extra_and_skip(void **state)
{
        const char *root = unit_tmpdir(state);
        char *extra = in_root(state, "candidate"),
             *dropin = in_root(state, "etc/tlbd/tlbd.conf.d/50.conf");
        char *new = in_root(state, "etc/tlbd/tlbd.conf.d/40.conf"),
             *main_file = in_root(state, "etc/tlbd/tlbd.conf");

        unit_write(root, "etc/tlbd/tlbd.conf", "[Monitor]\nSummarySec=1\n");
        unit_write(root, "usr/lib/tlbd/tlbd.conf", "[Monitor]\nSummarySec=2\n");
        load_number(state, NULL, main_file, 2);
        unit_write(root, "etc/tlbd/tlbd.conf.d/50.conf", "[Monitor]\nSummarySec=50\n");
        unit_write(root, "candidate", "[Monitor]\nSummarySec=99\n");
        load_number(state, extra, NULL, 99);
        load_number(state, NULL, dropin, 1);
        load_number(state, extra, dropin, 99);
        load_number(state, extra, new, 50);       /* read at the place of 40, before 50 */
        load_number(state, extra, main_file, 50); /* likewise */
        unit_write(root, "run/tlbd/tlbd.conf.d/50.conf", "[Monitor]\nSummarySec=51\n");
        load_number(state, NULL, dropin, 51); /* hides the one in /run no more */
        free(extra);
        free(dropin);
        free(new);
        free(main_file);
}

static void test_missing_extra_is_an_error(void **state)
{
        char *extra = in_root(state, "candidate"),
             *skip = in_root(state, "etc/tlbd/tlbd.conf.d/1.conf");
        struct config c;
        struct config_error e;

        assert_int_equal(config_load(unit_tmpdir(state), extra, NULL, &c, &e), -ENOENT);
        assert_string_equal(e.file, extra);
        config_error_done(&e);
        assert_int_equal(config_load(unit_tmpdir(state), extra, skip, &c, &e), -ENOENT);
        assert_string_equal(e.file, extra);
        config_error_done(&e);
        assert_int_equal(config_load_file(extra, &c, &e), -ENOENT);
        assert_string_equal(e.file, extra);
        config_error_done(&e);
        free(extra);
        free(skip);
}

static void test_load_file(void **state)
{
        struct config c;
        struct config_error e;
        char *path = in_root(state, "x");

        unit_write(unit_tmpdir(state), "x", TUNING "DemotionEnabled=yes\n");
        assert_int_equal(config_load_file(path, &c, &e), 0);
        assert_true(c.value[KEY_DEMOTION_ENABLED].number == 1);
        config_done(&c);
        unit_write(unit_tmpdir(state), "x", TUNING "DemotionEnabled=on\n");
        assert_int_equal(config_load_file(path, &c, &e), -EINVAL);
        assert_int_equal(e.line, 2);
        assert_string_equal(e.key, "DemotionEnabled");
        config_error_done(&e);
        free(path);
}

static void test_override_by_text(void **state)
{
        char *path = in_root(state, "etc/tlbd/tlbd.conf.d/50.conf");
        struct config_override o = {.path = path, .text = TUNING "NumaBalancing=7\n"};
        struct config c;
        struct config_error e;

        assert_int_equal(config_load_with(unit_tmpdir(state), &o, 1, &c, &e), -ERANGE);
        assert_string_equal(e.file, path);
        assert_int_equal(e.line, 2);
        config_error_done(&e);
        o.text = TUNING "NumaBalancing=2\n";
        assert_int_equal(config_load_with(unit_tmpdir(state), &o, 1, &c, &e), 0);
        assert_true(c.value[KEY_NUMA_BALANCING].number == 2);
        config_done(&c);
        assert_int_equal(access(path, F_OK), -1);
        free(path);
}

/* What is refused */

#define CONF "etc/tlbd/tlbd.conf"

static void refuse_text(void **state, const char *text, int error, unsigned line, const char *key,
                        const char *reason)
{
        unit_write(unit_tmpdir(state), CONF, text);
        assert_refused(state, error, CONF, line, key, reason);
}

static void test_typos_are_named(void **state)
{
        refuse_text(state, TUNING "\nNumaScanSizeMB=64\n", -EINVAL, 3, "NumaScanSizeMB",
                    "did you mean NumaScanSizeMb?");
        refuse_text(state, "[Monitor]\nIntervallSec=1\n", -EINVAL, 2, "IntervallSec",
                    "did you mean IntervalSec?");
        refuse_text(state, "[Monitor]\nElephants=1\n", -EINVAL, 2, "Elephants", "no such key");
        refuse_text(state, "# x\n[Tunning]\nNumaScanSizeMb=64\n", -EINVAL, 2, NULL,
                    "no section of this file");
        refuse_text(state, "[Monitor]\nNumaScanSizeMb=64\n", -EINVAL, 2, "NumaScanSizeMb",
                    "belongs to [Tuning]");
        refuse_text(state, "NumaScanSizeMb=64\n", -EINVAL, 1, NULL, "before the first [Section]");
        refuse_text(state, TUNING "=64\n", -EINVAL, 2, NULL, "no key");
        refuse_text(state, TUNING "NumaScanSizeMb\n", -EINVAL, 2, NULL, "neither Key=value");
        refuse_text(state, TUNING "NumaScanSizeMb=64\n65\n", -EINVAL, 3, NULL, "neither Key=value");
        refuse_text(state, "[Tuning\nNumaScanSizeMb=64\n", -EINVAL, 1, NULL, "no section");
        refuse_text(state, "[Tuning] x\nNumaScanSizeMb=64\n", -EINVAL, 1, NULL, "no section");
        refuse_text(state, "[]\n", -EINVAL, 1, NULL, "no section");
}

static void test_ambiguous_lines_are_refused(void **state)
{
        refuse_text(state, TUNING "NumaScanSizeMb=64\nNumaScanSizeMb=65\n", -EINVAL, 3,
                    "NumaScanSizeMb", "already set in line 2");
        refuse_text(state, TUNING "NumaScanSizeMb=64\n[Monitor]\n[Tuning]\nNumaScanSizeMb=64\n",
                    -EINVAL, 5, "NumaScanSizeMb", "already set in line 2");
        refuse_text(state, TUNING " NumaScanSizeMb=64\n", -EINVAL, 2, NULL, "start of the line");
        refuse_text(state, TUNING "NumaScanSizeMb=64\n  65\n", -EINVAL, 3, NULL,
                    "start of the line");
        refuse_text(state, TUNING "NumaScanSizeMb=64 # x\n", -EINVAL, 2, "NumaScanSizeMb",
                    "comment");
        refuse_text(state, TUNING "NumaScanSizeMb=64;x\n", -EINVAL, 2, "NumaScanSizeMb", "comment");
        refuse_text(state, TUNING "NumaScanSizeMb=\"64\"\n", -EINVAL, 2, "NumaScanSizeMb",
                    "quotes");
        refuse_text(state, TUNING "NumaScanSizeMb='64'\n", -EINVAL, 2, "NumaScanSizeMb", "quotes");
        refuse_text(state, TUNING "NumaScanSizeMb=6\\\n4\n", -EINVAL, 2, "NumaScanSizeMb",
                    "quotes");
        refuse_text(state, TUNING "NumaScanSizeMb= 64\n", -EINVAL, 2, "NumaScanSizeMb", "blank");
        refuse_text(state, TUNING "NumaScanSizeMb =64\n", -EINVAL, 2, "NumaScanSizeMb", "blank");
        refuse_text(state, TUNING "NumaScanSizeMb=64 \n", -EINVAL, 2, "NumaScanSizeMb", "blank");
        refuse_text(state, TUNING "NumaScanSizeMb = 64\t\n", -EINVAL, 2, "NumaScanSizeMb", "blank");
        refuse_text(state, TUNING "NumaScanSizeMb=64\r\n", -EINVAL, 2, NULL, "carriage return");
        refuse_text(state, "[Tuning]\r\nNumaScanSizeMb=64\n", -EINVAL, 1, NULL, "carriage return");
        refuse_text(state, "\xef\xbb\xbf[Tuning]\nNumaScanSizeMb=64\n", -EINVAL, 1, NULL,
                    "neither");
}

static void test_nul_bytes_are_refused(void **state)
{
        static const char in_value[] = TUNING "NumaScanSizeMb=64\0junk\n";
        static const char in_comment[] = "# x\0y\n" TUNING;
        static const char at_end[] = TUNING "NumaScanSizeMb=64\n\0";

        write_bytes(state, CONF, in_value, sizeof(in_value) - 1);
        assert_refused(state, -EINVAL, CONF, 2, NULL, "NUL");
        write_bytes(state, CONF, in_comment, sizeof(in_comment) - 1);
        assert_refused(state, -EINVAL, CONF, 1, NULL, "NUL");
        write_bytes(state, CONF, at_end, sizeof(at_end) - 1);
        assert_refused(state, -EINVAL, CONF, 3, NULL, "NUL");
}

static void test_end_of_file(void **state)
{
        unit_write(unit_tmpdir(state), CONF, TUNING "NumaScanSizeMb=64");
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "64");
        unit_write(unit_tmpdir(state), CONF, "");
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "keep");
        unit_write(unit_tmpdir(state), CONF, "\n \t\n# only a comment");
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "keep");
        unit_write(unit_tmpdir(state), CONF, "[Monitor]\n[Conditions]\n[Tuning]");
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "keep");
}

static void test_long_lines(void **state)
{
        char text[9000];

        /* libeconf would read what is behind 8191 bytes of a comment as a line of its own */
        memset(text, '#', sizeof(text));
        memcpy(text + 8191, "NumaScanSizeMb=64\n", 19);
        write_bytes(state, CONF, text, 8191 + 18);
        assert_refused(state, -E2BIG, CONF, 1, NULL, "longer than 4096 bytes");
        memset(text, '#', sizeof(text));
        memcpy(text + 4096, "\n" TUNING "NumaScanSizeMb=64\n", 29);
        write_bytes(state, CONF, text, 4096 + 28);
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "64");
}

static void test_huge_file(void **state)
{
        size_t len = 1024 * 1024;
        char *text = malloc(len + 1);

        assert_non_null(text);
        memset(text, '\n', len + 1);
        write_bytes(state, CONF, text, len);
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "keep");
        write_bytes(state, CONF, text, len + 1);
        assert_refused(state, -EFBIG, CONF, 0, NULL, "1 MiB");
        free(text);
}

static void test_min_above_max(void **state)
{
        const char *root = unit_tmpdir(state);

        unit_write(root, CONF, TUNING "NumaScanPeriodMinMs=500\nNumaScanPeriodMaxMs=500\n");
        assert_value(state, KEY_NUMA_SCAN_PERIOD_MIN_MS, "500");
        unit_write(root, CONF, TUNING "NumaScanPeriodMaxMs=499\nNumaScanPeriodMinMs=500\n");
        assert_refused(state, -EINVAL, CONF, 3, "NumaScanPeriodMinMs", "above NumaScanPeriodMaxMs");
        unit_write(root, "etc/tlbd/tlbd.conf.d/1.conf", TUNING "NumaScanPeriodMaxMs=keep\n");
        assert_value(state, KEY_NUMA_SCAN_PERIOD_MIN_MS, "500");
}

/* Who may have written the file */

static void test_modes(void **state)
{
        char *path = in_root(state, CONF);

        unit_write(unit_tmpdir(state), CONF, TUNING "NumaScanSizeMb=64\n");
        assert_int_equal(chmod(path, 0664), 0);
        assert_refused(state, -EPERM, CONF, 0, NULL, "writable by group or others");
        assert_int_equal(chmod(path, 0646), 0);
        assert_refused(state, -EPERM, CONF, 0, NULL, "writable by group or others");
        assert_int_equal(chmod(path, 0600), 0);
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "64");
        free(path);
}

static void test_kinds_of_file(void **state)
{
        char *path = in_root(state, CONF), *target = in_root(state, "target");

        unit_write(unit_tmpdir(state), CONF, "");
        unit_write(unit_tmpdir(state), "target", TUNING "NumaScanSizeMb=64\n");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(target, path), 0);
        assert_refused(state, -ELOOP, CONF, 0, NULL, "symbolic link");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/dev/nul", path), 0); /* shorter and longer than /dev/null */
        assert_refused(state, -ELOOP, CONF, 0, NULL, "symbolic link");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/dev/null/x", path), 0);
        assert_refused(state, -ELOOP, CONF, 0, NULL, "symbolic link");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_refused(state, -EINVAL, CONF, 0, NULL, "not a regular file");
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(mkfifo(path, 0644), 0);
        assert_refused(state, -EINVAL, CONF, 0, NULL, "not a regular file");
        free(path);
        free(target);
}

static void test_dropin_directory_is_a_file(void **state)
{
        unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf.d", "");
        assert_refused(state, -ENOTDIR, "etc/tlbd/tlbd.conf.d", 0, NULL, "cannot open");
}

/* Only for the live root is the owner looked at: needs root, changes the root directory. */
static void test_owner(void **state)
{
        struct config c;
        struct config_error e;
        pid_t pid;
        char *path = in_root(state, CONF);
        int status;

        if (geteuid() != 0)
                skip();
        unit_write(unit_tmpdir(state), CONF, TUNING "NumaScanSizeMb=64\n");
        assert_int_equal(chown(path, 1234, 0), 0);
        assert_value(state, KEY_NUMA_SCAN_SIZE_MB, "64");
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                if (chroot(unit_tmpdir(state)) < 0 || config_load("", NULL, NULL, &c, &e) != -EPERM)
                        _exit(1);
                _exit(strstr(e.reason, "owned by user 1234") && strcmp(e.file, "/" CONF) == 0 ? 0
                                                                                              : 2);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        free(path);
}

/* Values */

static int parse(enum config_key key, const char *text, double expected)
{
        struct config_value v = {.number = -1};
        char *reason = NULL;
        int r = config_value_parse(key, text, &v, &reason);

        if (r == 0) {
                assert_true(v.number == expected);
        } else {
                assert_non_null(reason);
                assert_true(v.number == -1);
                free(reason);
        }
        return r;
}

/* clang-format off */
static const char *const bad_numbers[] = {
        "", "-1", "0x1000000", "1e3", " 5", "5 ", "NaN", "nan", "inf", "+5", "5\n6", "5.0", "5,0",
        "1_000", "\u0665", "five", "\"5\"", "5k", "5M", "0x5", "--5", "5 6", "yes", "KEEP", "keep ",
};
/* clang-format on */

static const char *const out_of_range[] = {
        "0",          "00",
        "16777216",   "33554432",
        "65537",      "99999999999999999999",
        "4294967296", "18446744073709551616",
};

static void test_scan_size_values(void **state)
{
        enum config_key key = KEY_NUMA_SCAN_SIZE_MB;

        char *path = in_root(state, CONF);

        for (size_t i = 0; i < ELEMENTSOF(bad_numbers); i++) {
                char *text = strf(TUNING "NumaScanSizeMb=%s\n", bad_numbers[i]);
                struct config c;
                struct config_error e;

                assert_int_equal(parse(key, bad_numbers[i], 0), -EINVAL);
                unit_write(unit_tmpdir(state), CONF, text);
                assert_int_equal(config_load_file(path, &c, &e), -EINVAL);
                assert_true(e.line == 2 || e.line == 3);
                config_error_done(&e);
                free(text);
        }
        free(path);
        assert_int_equal(parse(key, "5\n", 0), -EINVAL);
        for (size_t i = 0; i < ELEMENTSOF(out_of_range); i++) {
                char *line = strf(TUNING "NumaScanSizeMb=%s\n", out_of_range[i]);

                assert_int_equal(parse(key, out_of_range[i], 0), -ERANGE);
                refuse_text(
                        state, line, -ERANGE, 2, "NumaScanSizeMb",
                        "out of range: allowed is keep, or a whole number from 1 to 65536 (MiB)");
                free(line);
        }
        assert_int_equal(parse(key, "1", 1), 0);
        assert_int_equal(parse(key, "65536", 65536), 0);
}

static void test_real_values(void **state)
{
        static const char *const bad[] = {"",    ".",     "1.",  ".5",           "-1",
                                          "1e1", "1.2.3", " 1",  "1 ",           "0x1",
                                          "1,5", "nan",   "inf", "1.0000000001", "keep"};

        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(parse(KEY_INTERVAL_SEC, bad[i], 0), -EINVAL);
        assert_int_equal(parse(KEY_INTERVAL_SEC, "0.1", 0.1), 0);
        assert_int_equal(parse(KEY_INTERVAL_SEC, "3600", 3600), 0);
        assert_int_equal(parse(KEY_INTERVAL_SEC, "2.5", 2.5), 0);
        assert_int_equal(parse(KEY_INTERVAL_SEC, "0.099999999", 0), -ERANGE);
        assert_int_equal(parse(KEY_INTERVAL_SEC, "3600.000000001", 0), -ERANGE);
        assert_int_equal(parse(KEY_CPU_BUDGET_PERCENT, "0.001", 0.001), 0);
}

static void test_word_values(void **state)
{
        (void)state;
        assert_int_equal(parse(KEY_RESTORE_ON_STOP, "yes", 1), 0);
        assert_int_equal(parse(KEY_RESTORE_ON_STOP, "no", 0), 0);
        assert_int_equal(parse(KEY_RESTORE_ON_STOP, "keep", 0), -EINVAL);
        assert_int_equal(parse(KEY_RESTORE_ON_STOP, "Yes", 0), -EINVAL);
        assert_int_equal(parse(KEY_DEMOTION_ENABLED, "true", 0), -EINVAL);
        assert_int_equal(parse(KEY_DEMOTION_ENABLED, "no", 0), 0);
        assert_int_equal(parse(KEY_TLB_BATCH_MIGRATE, "always", 0), 0);
        assert_int_equal(parse(KEY_TLB_BATCH_MIGRATE, "auto", 1), 0);
        assert_int_equal(parse(KEY_TLB_BATCH_MIGRATE, "[auto]", 0), -EINVAL);
        assert_int_equal(parse(KEY_TLB_BATCH_PAGEOUT, "0", 0), -ERANGE);
        assert_int_equal(parse(KEY_TLB_BATCH_PAGEOUT, "32", 0), -ERANGE);
        assert_int_equal(parse(KEY_TLB_BATCH_PAGEOUT, "31", 31), 0);
        assert_int_equal(parse(KEY_NUMA_BALANCING, "4", 0), -ERANGE);
}

static void test_format_round_trip(void **state)
{
        static const struct {
                enum config_key key;
                const char *text;
        } row[] = {
                {KEY_INTERVAL_SEC, "0.1"},
                {KEY_INTERVAL_SEC, "3599.999999999"},
                {KEY_MIN_PAGES_PER_SEC, "1000000000"},
                {KEY_NOT_CONVERGING_LOCALITY, "0"},
                {KEY_NUMA_SCAN_SIZE_MB, "keep"},
                {KEY_NUMA_SCAN_SIZE_MB, "256"},
                {KEY_DEMOTION_ENABLED, "yes"},
                {KEY_TLB_BATCH_MIGRATE, "always"},
        };

        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(row); i++) {
                struct config_value v;
                char *reason = NULL, *text;

                assert_int_equal(config_value_parse(row[i].key, row[i].text, &v, &reason), 0);
                text = config_value_format(row[i].key, &v);
                assert_string_equal(text, row[i].text);
                free(text);
        }
}

/* The shipped file */

/* Appends the text of the comment block above a setting, blanks for line ends. */
static void comment_append(char *comment, size_t size, const char *line)
{
        size_t len = strlen(comment);

        assert_true(len + strlen(line) + 2 < size);
        (void)snprintf(comment + len, size - len, "%s%.*s", len > 0 ? " " : "",
                       (int)strcspn(line + 2, "\n"), line + 2);
}

static void assert_shipped_key(enum config_key key, const char *section, const char *comment,
                               const char *line)
{
        char *allowed = config_value_allowed(key), *setting, *text;

        setting = strf("#%s=%s\n", key_table[key].name, key_table[key].default_text);
        text = strf("%s Takes %s.", key_table[key].text, allowed);
        assert_string_equal(line, setting);
        assert_string_equal(section, key_table[key].section);
        assert_string_equal(comment, text);
        free(allowed);
        free(setting);
        free(text);
}

static void test_shipped_file_says_what_the_table_says(void **state)
{
        char *path = strf("%s/../../daemon/tlbd.conf", getenv("TLBD_FIXTURES"));
        char line[256], section[32] = "", comment[1024] = "";
        unsigned key = 0;
        struct config c;
        struct config_error e;
        FILE *f = fopen(path, "r");

        (void)state;
        assert_non_null(f);
        while (fgets(line, sizeof(line), f)) {
                if (line[0] == '[')
                        assert_int_equal(sscanf(line, "[%31[A-Za-z]]", section), 1);
                if (line[0] != '#')
                        comment[0] = '\0';
                else if (line[1] == ' ')
                        comment_append(comment, sizeof(comment), line);
                else if (line[1] != '\n') {
                        assert_true(key < KEY_COUNT);
                        assert_shipped_key(key++, section, comment, line);
                }
        }
        assert_int_equal(key, KEY_COUNT);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(config_load_file(path, &c, &e), 0);
        config_done(&c);
        free(path);
}

static void test_shipped_file_is_valid_uncommented(void **state)
{
        char *path = strf("%s/../../daemon/tlbd.conf", getenv("TLBD_FIXTURES"));
        char *copy = in_root(state, "copy"), line[256];
        FILE *in = fopen(path, "r"), *out = fopen(copy, "w");
        struct config c;
        struct config_error e;

        assert_non_null(in);
        assert_non_null(out);
        while (fgets(line, sizeof(line), in))
                assert_true(fputs(line[0] == '#' && line[1] != ' ' ? line + 1 : line, out) >= 0);
        assert_int_equal(fclose(in), 0);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(config_load_file(copy, &c, &e), 0);
        for (size_t i = 0; i < KEY_COUNT; i++)
                assert_non_null(c.value[i].file);
        config_done(&c);
        free(path);
        free(copy);
}

static void test_knob_ranges_stay_safe(void **state)
{
        const struct key_info *size = &key_table[KEY_NUMA_SCAN_SIZE_MB];

        (void)state;
        assert_true(size->min == 1 && size->max == 65536);
        assert_int_equal(config_key_find("NumaScanSizeMb"), KEY_NUMA_SCAN_SIZE_MB);
        assert_int_equal(config_key_find("numascansizemb"), -ENOENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)

int main(void)
{
        static const struct CMUnitTest tests[] = {
                TEST(test_defaults),
                TEST(test_main_file_precedence),
                TEST(test_dropins_sort_by_name_over_all_layers),
                TEST(test_same_name_hides_lower_layers),
                TEST(test_empty_file_and_null_link_mask),
                TEST(test_masked_main_file),
                TEST(test_other_names_are_ignored),
                TEST(test_file_and_line_of_a_value),
                TEST(test_keep_in_a_later_file_takes_back),
                TEST(test_extra_and_skip),
                TEST(test_missing_extra_is_an_error),
                TEST(test_load_file),
                TEST(test_override_by_text),
                TEST(test_typos_are_named),
                TEST(test_ambiguous_lines_are_refused),
                TEST(test_nul_bytes_are_refused),
                TEST(test_end_of_file),
                TEST(test_long_lines),
                TEST(test_huge_file),
                TEST(test_min_above_max),
                TEST(test_modes),
                TEST(test_kinds_of_file),
                TEST(test_dropin_directory_is_a_file),
                TEST(test_owner),
                TEST(test_scan_size_values),
                TEST(test_real_values),
                TEST(test_word_values),
                TEST(test_format_round_trip),
                TEST(test_shipped_file_says_what_the_table_says),
                TEST(test_shipped_file_is_valid_uncommented),
                TEST(test_knob_ranges_stay_safe),
        };

        (void)umask(022);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
