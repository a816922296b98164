/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "knob-io.h"
#include "knobs.h"
#include "restore.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE_DEBUGFS "sys/kernel/debug/sched/numa_balancing/scan_size_mb"
#define SIZE_SYSCTL "proc/sys/kernel/numa_balancing_scan_size_mb"
#define MIN_DEBUGFS "sys/kernel/debug/sched/numa_balancing/scan_period_min_ms"
#define MAX_DEBUGFS "sys/kernel/debug/sched/numa_balancing/scan_period_max_ms"
#define BALANCING "proc/sys/kernel/numa_balancing"
#define MIGRATE "sys/kernel/mm/tlb_batch/migrate"
#define PAGEOUT "sys/kernel/mm/tlb_batch/pageout"
#define DEMOTION "sys/kernel/mm/numa/demotion_enabled"
#define LOCKDOWN "sys/kernel/security/lockdown"
#define RECORD "run/restore"

/* The kernel's part: open() and write() of this program stand before those of the C library, and
 * misbehave for the one file named here. */
static struct {
        const char *file;    /* end of the path; NULL: nothing is watched */
        int open_error;      /* of open for writing */
        int read_error;      /* of open for reading */
        int write_error;     /* errno of write(2) */
        size_t short_write;  /* bytes taken, if not 0 */
        const char *instead; /* what the kernel makes of any value */
        const char *record;  /* must exist before a write */
        int fd;
        unsigned opened, writes, writes_without_record;
        char written[256]; /* all values written, as they came */
} kernel;

static bool is_watched(const char *path)
{
        size_t len = strlen(path), n = kernel.file ? strlen(kernel.file) : 0;

        return kernel.file && len >= n && strcmp(path + len - n, kernel.file) == 0;
}

int open(const char *path, int flags, ...)
{
        bool writing = (flags & O_ACCMODE) != O_RDONLY;
        mode_t mode = 0;
        int fd, error;

        if (flags & O_CREAT) {
                va_list ap;

                va_start(ap, flags);
                mode = (mode_t)va_arg(ap, unsigned);
                va_end(ap);
        }
        error = is_watched(path) ? (writing ? kernel.open_error : kernel.read_error) : 0;
        if (error) {
                errno = error;
                return -1;
        }
        fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
        if (is_watched(path) && writing) {
                kernel.fd = fd;
                kernel.opened++;
        }
        return fd;
}

static ssize_t kernel_write(int fd, const void *data, size_t len)
{
        size_t used = strlen(kernel.written);

        kernel.writes++;
        if (kernel.record && access(kernel.record, F_OK) < 0)
                kernel.writes_without_record++;
        (void)snprintf(kernel.written + used, sizeof(kernel.written) - used, "%.*s|", (int)len,
                       (const char *)data);
        if (kernel.write_error) {
                errno = kernel.write_error;
                return -1;
        }
        if (kernel.instead) {
                (void)syscall(SYS_write, fd, kernel.instead, strlen(kernel.instead));
                return (ssize_t)len;
        }
        return syscall(SYS_write, fd, data, kernel.short_write ? kernel.short_write : len);
}

ssize_t write(int fd, const void *data, size_t len)
{
        char link[64], path[4096];
        ssize_t n;

        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof(path) - 1);
        if (n > 0) {
                path[n] = '\0';
                if (is_watched(path))
                        return kernel_write(fd, data, len);
        }
        return syscall(SYS_write, fd, data, len);
}

/* What was told */

static struct {
        unsigned n;
        struct knob_event last;
        char reason[512];
        enum knob_id order[32];
} events;

static void on_event(const struct knob_event *event, void *userdata)
{
        assert_ptr_equal(userdata, &events);
        assert_true(events.n < ELEMENTSOF(events.order));
        events.order[events.n++] = event->id;
        events.last = *event;
        (void)snprintf(events.reason, sizeof(events.reason), "%s",
                       event->reason ? event->reason : "");
}

static void assert_reason(const char *part)
{
        if (!strstr(events.reason, part))
                fail_msg("\"%s\" is not in \"%s\"", part, events.reason);
}

/* The machine */

static int setup(void **state)
{
        const char *root;

        memset(&kernel, 0, sizeof(kernel));
        memset(&events, 0, sizeof(events));
        if (unit_tmpdir_make(state) < 0)
                return -1;
        root = unit_tmpdir(state);
        unit_write(root, BALANCING, "1\n");
        unit_write(root, SIZE_DEBUGFS, "256\n");
        unit_write(root, MIN_DEBUGFS, "1000\n");
        unit_write(root, MAX_DEBUGFS, "60000\n");
        unit_write(root, "run/x", "");
        return 0;
}

static char *in_root(void **state, const char *path)
{
        return strf("%s/%s", unit_tmpdir(state), path);
}

static void start(void **state, struct knobs *k)
{
        char *run = in_root(state, "run");
        int r;

        assert_int_equal(knobs_init(k, unit_tmpdir(state), run), 0);
        r = knobs_adopt_record(k);
        assert_true(r == 0 || r == -ENOENT);
        knobs_probe(k);
        free(run);
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

static void assert_no_file(void **state, const char *path)
{
        char *full = in_root(state, path);

        assert_int_equal(access(full, F_OK), -1);
        assert_int_equal(errno, ENOENT);
        free(full);
}

/* A configuration where everything is kept but what is named: key, value, ..., KEY_COUNT. */
static struct config wanted(int key, ...)
{
        struct config c = {0};
        va_list ap;

        for (size_t i = 0; i < KEY_COUNT; i++)
                c.value[i].keep = true;
        va_start(ap, key);
        for (; key < KEY_COUNT; key = va_arg(ap, int)) {
                c.value[key].keep = false;
                c.value[key].number = va_arg(ap, int);
        }
        va_end(ap);
        return c;
}

static int apply(struct knobs *k, struct config c)
{
        return knobs_apply(k, &c, false, on_event, &events);
}

static int reload(struct knobs *k, struct config c)
{
        return knobs_apply(k, &c, true, on_event, &events);
}

#define SIZE(mb) wanted(KEY_NUMA_SCAN_SIZE_MB, mb, KEY_COUNT)
#define KEEP wanted(KEY_COUNT)

static struct knob *size_knob(struct knobs *k)
{
        return &k->knob[KNOB_NUMA_SCAN_SIZE_MB];
}

/* Reading */

static void test_parse(void **state)
{
        static const struct {
                enum knob_id id;
                const char *text;
                int r;
                uint64_t value;
        } row[] = {
                {KNOB_TLB_BATCH_MIGRATE, "always [auto]\n", 0, 1},
                {KNOB_TLB_BATCH_MIGRATE, "[always] auto\n", 0, 0},
                {KNOB_TLB_BATCH_MIGRATE, "auto\n", 0, 1},
                {KNOB_TLB_BATCH_MIGRATE, "always auto\n", -EBADMSG, 0},
                {KNOB_TLB_BATCH_MIGRATE, "always [never]\n", -EBADMSG, 0},
                {KNOB_TLB_BATCH_MIGRATE, "always [auto\n", -EBADMSG, 0},
                {KNOB_TLB_BATCH_MIGRATE, "", -EBADMSG, 0},
                {KNOB_DEMOTION_ENABLED, "true\n", 0, 1},
                {KNOB_DEMOTION_ENABLED, "false\n", 0, 0},
                {KNOB_DEMOTION_ENABLED, "1\n", 0, 1},
                {KNOB_DEMOTION_ENABLED, "0", 0, 0},
                {KNOB_DEMOTION_ENABLED, "yes\n", -EBADMSG, 0},
                {KNOB_NUMA_SCAN_SIZE_MB, "256\n", 0, 256},
                {KNOB_NUMA_SCAN_SIZE_MB, "0\n", 0, 0},
                {KNOB_NUMA_SCAN_SIZE_MB, "256\n junk", 0, 256},
                {KNOB_NUMA_SCAN_SIZE_MB, " 256\n", -EBADMSG, 0},
                {KNOB_NUMA_SCAN_SIZE_MB, "\n", -EBADMSG, 0},
                {KNOB_NUMA_SCAN_SIZE_MB, "-1\n", -EBADMSG, 0},
                {KNOB_NUMA_SCAN_SIZE_MB, "99999999999999999999\n", -EBADMSG, 0},
        };

        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(row); i++) {
                uint64_t value = 77;

                assert_int_equal(knob_parse(row[i].id, row[i].text, strlen(row[i].text), &value),
                                 row[i].r);
                if (row[i].r == 0)
                        assert_true(value == row[i].value);
        }
}

static void assert_probed(void **state, enum knob_id id, enum knob_state expected, const char *path,
                          uint64_t value, const char *reason)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(k.knob[id].state, expected);
        assert_int_equal(k.knob[id].known, path && !reason);
        if (path)
                assert_string_equal(k.knob[id].path + 1, path);
        else
                assert_null(k.knob[id].path);
        if (reason)
                assert_non_null(strstr(k.knob[id].reason, reason));
        else
                assert_true(k.knob[id].current == value && !k.knob[id].reason);
        knobs_done(&k);
}

static void test_probe_places(void **state)
{
        const char *root = unit_tmpdir(state);

        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_OBSERVED, SIZE_DEBUGFS, 256, NULL);
        unit_write(root, SIZE_SYSCTL, "128\n"); /* before 5.13, and with kernel-tlb */
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_OBSERVED, SIZE_SYSCTL, 128, NULL);
        unit_write(root, MIGRATE, "always [auto]\n");
        assert_probed(state, KNOB_TLB_BATCH_MIGRATE, KNOB_OBSERVED, MIGRATE, 1, NULL);
        unit_write(root, DEMOTION, "true\n");
        assert_probed(state, KNOB_DEMOTION_ENABLED, KNOB_OBSERVED, DEMOTION, 1, NULL);
        unit_write(root, SIZE_SYSCTL, "16777216\n"); /* read all the same */
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_OBSERVED, SIZE_SYSCTL, 16777216, NULL);
        unit_write(root, SIZE_SYSCTL, "many\n");
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_OBSERVED, SIZE_DEBUGFS, 256, NULL);
        unit_write(root, SIZE_DEBUGFS, "many\n");
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_REFUSED, SIZE_SYSCTL, 0, "its content");
}

static void test_balancing_is_a_mask(void **state)
{
        const char *root = unit_tmpdir(state);

        unit_write(root, BALANCING, "2\n");
        assert_probed(state, KNOB_NUMA_BALANCING, KNOB_OBSERVED, BALANCING, 2, NULL);
        unit_write(root, BALANCING, "3\n");
        assert_probed(state, KNOB_NUMA_BALANCING, KNOB_OBSERVED, BALANCING, 3, NULL);
}

static void test_probe_what_is_missing(void **state)
{
        char *balancing = in_root(state, BALANCING), *size = in_root(state, SIZE_DEBUGFS);
        char *debug = in_root(state, "sys/kernel/debug"), *aside = in_root(state, "aside");

        assert_probed(state, KNOB_TLB_BATCH_MIGRATE, KNOB_UNSUPPORTED, NULL, 0, "kernel-tlb");
        assert_probed(state, KNOB_DEMOTION_ENABLED, KNOB_UNSUPPORTED, NULL, 0,
                      "not on this kernel");
        assert_int_equal(unlink(size), 0);
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_UNSUPPORTED, NULL, 0, "neither");
        assert_int_equal(rename(debug, aside), 0);
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_UNSUPPORTED, NULL, 0, "mount debugfs");
        assert_int_equal(unlink(balancing), 0);
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_UNSUPPORTED, NULL, 0,
                      "CONFIG_NUMA_BALANCING");
        assert_probed(state, KNOB_NUMA_BALANCING, KNOB_UNSUPPORTED, NULL, 0,
                      "CONFIG_NUMA_BALANCING");
        free(balancing);
        free(size);
        free(debug);
        free(aside);
}

static void test_probe_closed_by_lockdown(void **state)
{
        unit_write(unit_tmpdir(state), LOCKDOWN, "none [integrity] confidentiality\n");
        kernel.file = SIZE_DEBUGFS;
        kernel.read_error = EPERM;
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_REFUSED, SIZE_DEBUGFS, 0,
                      "kernel lockdown (integrity)");
        kernel.read_error = EACCES;
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_REFUSED, SIZE_DEBUGFS, 0,
                      "permission denied");
        kernel.read_error = EIO;
        assert_probed(state, KNOB_NUMA_SCAN_SIZE_MB, KNOB_REFUSED, SIZE_DEBUGFS, 0,
                      "Input/output error");
}

/* Applying */

static void test_keep_touches_nothing(void **state)
{
        struct knobs k;

        start(state, &k);
        kernel.file = "";
        assert_int_equal(apply(&k, KEEP), 0);
        assert_int_equal(kernel.opened, 0);
        assert_int_equal(kernel.writes, 0);
        assert_int_equal(events.n, 0);
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_one_write_behind_the_record(void **state)
{
        char *record = in_root(state, RECORD);
        struct knobs k;

        start(state, &k);
        kernel.file = SIZE_DEBUGFS;
        kernel.record = record;
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_string_equal(kernel.written, "64\n|");
        assert_int_equal(kernel.opened, 1);
        assert_int_equal(kernel.writes_without_record, 0);
        assert_file(state, SIZE_DEBUGFS, "64\n");
        assert_int_equal(size_knob(&k)->state, KNOB_MANAGED);
        assert_true(size_knob(&k)->original == 256 && size_knob(&k)->ours == 64);
        assert_int_equal(events.n, 1);
        assert_int_equal(events.last.kind, KNOB_EVENT_APPLIED);
        assert_true(events.last.old_value == 256 && events.last.new_value == 64);
        assert_int_equal(apply(&k, SIZE(64)), 0); /* holds already */
        assert_int_equal(kernel.writes, 1);
        assert_int_equal(events.n, 1);
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_string_equal(kernel.written, "64\n|256\n|");
        assert_int_equal(kernel.writes_without_record, 0);
        assert_int_equal(events.last.kind, KNOB_EVENT_RESTORED);
        assert_no_file(state, RECORD);
        knobs_done(&k);
        free(record);
}

static void test_all_types_are_written(void **state)
{
        const char *root = unit_tmpdir(state);
        struct knobs k;

        unit_write(root, MIGRATE, "always [auto]\n");
        unit_write(root, PAGEOUT, "31\n");
        unit_write(root, DEMOTION, "false\n");
        start(state, &k);
        assert_int_equal(
                apply(&k, wanted(KEY_TLB_BATCH_MIGRATE, 0, KEY_TLB_BATCH_PAGEOUT, 1,
                                 KEY_DEMOTION_ENABLED, 1, KEY_NUMA_BALANCING, 0, KEY_COUNT)),
                0);
        assert_file(state, MIGRATE, "always\n");
        assert_file(state, PAGEOUT, "1\n");
        assert_file(state, DEMOTION, "1\n");
        assert_file(state, BALANCING, "0\n");
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_file(state, MIGRATE, "auto\n");
        assert_file(state, PAGEOUT, "31\n");
        assert_file(state, DEMOTION, "0\n");
        assert_file(state, BALANCING, "1\n");
        assert_int_equal(events.n, 8);
        knobs_done(&k);
}

static void test_value_already_there(void **state)
{
        struct knobs k;

        start(state, &k);
        kernel.file = SIZE_DEBUGFS;
        assert_int_equal(apply(&k, SIZE(256)), 0);
        assert_int_equal(kernel.opened, 0);
        assert_int_equal(size_knob(&k)->state, KNOB_MANAGED);
        assert_false(size_knob(&k)->recorded);
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_change_of_ours_keeps_the_first_original(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_int_equal(reload(&k, SIZE(128)), 0);
        assert_true(size_knob(&k)->original == 256 && size_knob(&k)->ours == 128);
        assert_false(size_knob(&k)->has_previous);
        assert_int_equal(reload(&k, KEEP), 0);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        assert_int_equal(size_knob(&k)->state, KNOB_OBSERVED);
        assert_int_equal(events.last.kind, KNOB_EVENT_RESTORED);
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_setting_the_original_ends_the_record(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_int_equal(reload(&k, SIZE(256)), 0);
        assert_int_equal(size_knob(&k)->state, KNOB_MANAGED);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_period_order(void **state)
{
        static const enum knob_id min = KNOB_NUMA_SCAN_PERIOD_MIN_MS,
                                  max = KNOB_NUMA_SCAN_PERIOD_MAX_MS;
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, wanted(KEY_NUMA_SCAN_PERIOD_MIN_MS, 70000,
                                          KEY_NUMA_SCAN_PERIOD_MAX_MS, 80000, KEY_COUNT)),
                         0);
        assert_true(events.n == 2 && events.order[0] == max && events.order[1] == min);
        assert_int_equal(reload(&k, wanted(KEY_NUMA_SCAN_PERIOD_MIN_MS, 50,
                                           KEY_NUMA_SCAN_PERIOD_MAX_MS, 60, KEY_COUNT)),
                         0);
        assert_true(events.n == 4 && events.order[2] == min && events.order[3] == max);
        assert_int_equal(knobs_restore(&k, on_event, &events), 0); /* to 1000 and 60000 */
        assert_true(events.n == 6 && events.order[4] == max && events.order[5] == min);
        knobs_done(&k);
}

static void test_period_must_not_cross_the_kernels(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, wanted(KEY_NUMA_SCAN_PERIOD_MIN_MS, 60001, KEY_COUNT)), 0);
        assert_reason("above the kernel's longest");
        assert_file(state, MIN_DEBUGFS, "1000\n");
        assert_int_equal(reload(&k, wanted(KEY_NUMA_SCAN_PERIOD_MAX_MS, 999, KEY_COUNT)), 0);
        assert_reason("below the kernel's shortest");
        assert_file(state, MAX_DEBUGFS, "60000\n");
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

/* What must never be written */

static void assert_untouched(void **state, const struct stat *before, const char *content)
{
        char *path = in_root(state, SIZE_DEBUGFS);
        struct stat now;

        assert_int_equal(stat(path, &now), 0);
        assert_memory_equal(&now.st_mtim, &before->st_mtim, sizeof(now.st_mtim));
        assert_memory_equal(&now.st_ctim, &before->st_ctim, sizeof(now.st_ctim));
        assert_file(state, SIZE_DEBUGFS, content);
        assert_int_equal(kernel.opened, 0);
        assert_int_equal(kernel.writes, 0);
        free(path);
}

static void watch_size(void **state, struct stat *ret)
{
        char *path = in_root(state, SIZE_DEBUGFS);

        kernel.file = SIZE_DEBUGFS;
        assert_int_equal(stat(path, ret), 0);
        free(path);
}

/* As the daemon does it: a configuration that does not load is never applied. */
static void test_bad_values_in_a_file(void **state)
{
        static const char *const bad[] = {
                "0",         "",    "-1",   "16777216", "33554432",
                "0x1000000", "1e3", " 5",   "5 ",       "99999999999999999999",
                "NaN",       "+5",  "5\n6", "65537",    "4294967297",
        };
        struct stat before;
        struct knobs k;

        start(state, &k);
        watch_size(state, &before);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                char *text = strf("[Tuning]\nNumaScanSizeMb=%s\n", bad[i]);
                struct config c;
                struct config_error e;
                int r;

                unit_write(unit_tmpdir(state), "etc/tlbd/tlbd.conf", text);
                r = config_load(unit_tmpdir(state), NULL, NULL, &c, &e);
                assert_true(r < 0);
                config_error_done(&e);
                free(text);
        }
        assert_untouched(state, &before, "256\n");
        knobs_done(&k);
}

/* Even if a bad number got past the configuration. */
static void test_bad_numbers_past_the_configuration(void **state)
{
        static const int bad[] = {0, 16777216, 33554432, 65537, -1};
        struct stat before;
        struct knobs k;

        start(state, &k);
        watch_size(state, &before);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                struct config c = SIZE(1);

                c.value[KEY_NUMA_SCAN_SIZE_MB].number = bad[i] < 0 ? 1e18 : bad[i];
                assert_int_equal(knobs_apply(&k, &c, true, on_event, &events), 0);
                assert_int_equal(events.n, i + 1);
                assert_int_equal(events.last.kind, KNOB_EVENT_REFUSED);
                assert_int_equal(size_knob(&k)->error, -ERANGE);
        }
        assert_untouched(state, &before, "256\n");
        assert_no_file(state, RECORD);
        for (uint64_t v = 1; v <= 300; v++)
                assert_int_equal(knob_write(unit_tmpdir(state), "/" SIZE_DEBUGFS,
                                            KNOB_NUMA_SCAN_SIZE_MB, v << 24),
                                 -ERANGE);
        assert_untouched(state, &before, "256\n");
        knobs_done(&k);
}

static void write_record(void **state, uint64_t original, uint64_t ours)
{
        char *path = in_root(state, RECORD), boot[37];
        struct restore_entry e = {.id = KNOB_NUMA_SCAN_SIZE_MB, .original = original, .ours = ours};

        assert_int_equal(boot_id_read(unit_tmpdir(state), boot), 0);
        assert_int_equal(restore_write(path, boot, &e, 1), 0);
        free(path);
}

static void test_bad_originals_in_a_record(void **state)
{
        static const uint64_t bad[] = {0, 16777216, 33554432, 65537, UINT64_MAX};
        struct stat before;
        struct knobs k;

        watch_size(state, &before);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                write_record(state, bad[i], 256);
                assert_int_equal(knobs_init(&k, unit_tmpdir(state), unit_tmpdir(state)), 0);
                free(k.record_path);
                k.record_path = in_root(state, RECORD);
                assert_int_equal(knobs_restore(&k, on_event, &events), -ERANGE);
                assert_int_equal(events.n, i + 1);
                assert_reason("never written");
                assert_no_file(state, RECORD);
                knobs_done(&k);
        }
        assert_untouched(state, &before, "256\n");
}

/* The same by way of "keep" after a restart. */
static void test_bad_original_adopted(void **state)
{
        struct stat before;
        struct knobs k;

        write_record(state, 16777216, 256);
        start(state, &k);
        watch_size(state, &before);
        assert_int_equal(apply(&k, KEEP), 0);
        assert_reason("never written");
        assert_untouched(state, &before, "256\n");
        knobs_done(&k);
}

static void test_bad_value_in_the_kernel_is_not_taken_over(void **state)
{
        struct stat before;
        struct knobs k;

        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "16777216\n");
        start(state, &k);
        watch_size(state, &before);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_reason("could not be put back");
        assert_untouched(state, &before, "16777216\n");
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

/* Refusals */

/* A refusal is one message and leaves value and record as they were. */
static void assert_refusal(void **state, struct knobs *k, int error, const char *reason)
{
        assert_int_equal(apply(k, SIZE(64)), 0);
        assert_int_equal(size_knob(k)->state, KNOB_REFUSED);
        assert_int_equal(size_knob(k)->error, error);
        assert_int_equal(events.n, 1);
        assert_int_equal(events.last.kind, KNOB_EVENT_REFUSED);
        assert_reason(reason);
        assert_int_equal(apply(k, SIZE(64)), 0);
        assert_int_equal(events.n, 1);
        knobs_check_drift(k, on_event, &events);
        assert_int_equal(events.n, 1);
        assert_int_equal(reload(k, SIZE(64)), 0); /* somebody wants to know again */
        assert_int_equal(events.n, 2);
        assert_no_file(state, RECORD);
        assert_false(size_knob(k)->recorded);
}

static void test_write_errors(void **state)
{
        static const struct {
                int open_error, write_error, error;
                const char *reason;
        } row[] = {
                {EPERM, 0, -EPERM, "not permitted"},
                {EACCES, 0, -EACCES, "permission denied"},
                {EROFS, 0, -EROFS, "read-only"},
                {ENOENT, 0, -ENOENT, "not on this kernel any more"},
                {0, EPERM, -EPERM, "not permitted"},
                {0, EINVAL, -EINVAL, "the kernel refuses the value"},
                {0, EIO, -EIO, "Input/output error"},
                {0, ENOSPC, -ENOSPC, "No space"},
        };

        for (size_t i = 0; i < ELEMENTSOF(row); i++) {
                struct knobs k;

                memset(&events, 0, sizeof(events));
                memset(&kernel, 0, sizeof(kernel));
                start(state, &k);
                kernel.file = SIZE_DEBUGFS;
                kernel.open_error = row[i].open_error;
                kernel.write_error = row[i].write_error;
                assert_refusal(state, &k, row[i].error, row[i].reason);
                assert_file(state, SIZE_DEBUGFS, "256\n");
                knobs_done(&k);
        }
}

static void test_lockdown_is_named(void **state)
{
        struct knobs k;

        unit_write(unit_tmpdir(state), LOCKDOWN, "none integrity [confidentiality]\n");
        start(state, &k);
        kernel.file = SIZE_DEBUGFS;
        kernel.open_error = EPERM;
        assert_refusal(state, &k, -EPERM, "kernel lockdown (confidentiality) closes debugfs");
        knobs_done(&k);
}

static void test_lockdown_not_in_force_is_not_blamed(void **state)
{
        struct knobs k;

        unit_write(unit_tmpdir(state), LOCKDOWN, "[none] integrity confidentiality\n");
        start(state, &k);
        kernel.file = SIZE_DEBUGFS;
        kernel.open_error = EPERM;
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_null(strstr(events.reason, "lockdown ("));
        knobs_done(&k);
}

static void test_other_knobs_go_on(void **state)
{
        struct knobs k;

        start(state, &k);
        kernel.file = MIN_DEBUGFS;
        kernel.open_error = EPERM;
        assert_int_equal(apply(&k, wanted(KEY_NUMA_SCAN_PERIOD_MIN_MS, 500, KEY_NUMA_SCAN_SIZE_MB,
                                          64, KEY_COUNT)),
                         0);
        assert_file(state, SIZE_DEBUGFS, "64\n");
        assert_int_equal(size_knob(&k)->state, KNOB_MANAGED);
        assert_int_equal(k.knob[KNOB_NUMA_SCAN_PERIOD_MIN_MS].state, KNOB_REFUSED);
        knobs_done(&k);
}

static void test_never_creates_a_file(void **state)
{
        char *path = in_root(state, SIZE_DEBUGFS);
        struct knobs k;

        start(state, &k);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_int_equal(size_knob(&k)->error, -ENOENT);
        assert_int_equal(
                knob_write(unit_tmpdir(state), "/" SIZE_DEBUGFS, KNOB_NUMA_SCAN_SIZE_MB, 64),
                -ENOENT);
        assert_no_file(state, SIZE_DEBUGFS);
        knobs_done(&k);
        free(path);
}

static void test_unsupported_is_told_once(void **state)
{
        struct knobs k;

        start(state, &k);
        for (int i = 0; i < 3; i++)
                assert_int_equal(apply(&k, wanted(KEY_TLB_BATCH_PAGEOUT, 8, KEY_COUNT)), 0);
        assert_int_equal(events.n, 1);
        assert_int_equal(events.last.kind, KNOB_EVENT_REFUSED);
        assert_int_equal(k.knob[KNOB_TLB_BATCH_PAGEOUT].state, KNOB_UNSUPPORTED);
        assert_no_file(state, PAGEOUT);
        knobs_done(&k);
}

static void test_short_write(void **state)
{
        struct knobs k;

        start(state, &k);
        kernel.file = SIZE_DEBUGFS;
        kernel.short_write = 1; /* "1" of "128\n": the kernel holds 156 */
        assert_int_equal(apply(&k, SIZE(128)), 0);
        assert_int_equal(size_knob(&k)->error, -ENODATA);
        assert_reason("a part of the value only");
        assert_string_equal(kernel.written, "128\n|256\n|"); /* no second write of the rest */
        knobs_done(&k);
}

/* A kernel that takes another value than it is given, and keeps doing so. */
static void test_read_back_mismatch(void **state)
{
        struct knobs k;

        start(state, &k);
        kernel.file = SIZE_DEBUGFS;
        kernel.instead = "100\n";
        assert_int_equal(apply(&k, SIZE(128)), 0);
        assert_int_equal(size_knob(&k)->state, KNOB_REFUSED);
        assert_int_equal(size_knob(&k)->error, -EBADE);
        assert_reason("holds 100 after 128 was written; the value before could not be put back");
        assert_string_equal(kernel.written, "128\n|256\n|");
        /* the kernel's 100 is our doing, so the original is still owed */
        assert_true(size_knob(&k)->recorded && size_knob(&k)->original == 256);
        kernel.instead = NULL;
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_value_ignored_by_the_kernel(void **state)
{
        struct knobs k;

        start(state, &k);
        kernel.file = SIZE_DEBUGFS;
        kernel.instead = "256\n";
        assert_refusal(state, &k, -EBADE, "holds 256 after 64 was written");
        knobs_done(&k);
}

static void test_no_record_no_write(void **state)
{
        char *blocker = in_root(state, "run/restore.new");
        struct stat before;
        struct knobs k;

        start(state, &k);
        assert_int_equal(mkdir(blocker, 0755), 0);
        watch_size(state, &before);
        assert_true(apply(&k, SIZE(64)) < 0);
        assert_reason("nothing was changed");
        assert_untouched(state, &before, "256\n");
        assert_false(size_knob(&k)->recorded);
        free(blocker);
        knobs_done(&k);
}

/* Yielding */

static void test_drift_yields_until_reload(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        knobs_check_drift(&k, on_event, &events);
        assert_int_equal(events.n, 1);
        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "500\n");
        knobs_check_drift(&k, on_event, &events);
        assert_int_equal(events.n, 2);
        assert_int_equal(events.last.kind, KNOB_EVENT_DRIFT);
        assert_true(events.last.old_value == 64 && events.last.new_value == 500);
        assert_int_equal(size_knob(&k)->state, KNOB_YIELDED);
        assert_no_file(state, RECORD);
        knobs_check_drift(&k, on_event, &events);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        knobs_probe(&k);
        assert_int_equal(size_knob(&k)->state, KNOB_YIELDED);
        assert_int_equal(events.n, 2);
        assert_file(state, SIZE_DEBUGFS, "500\n");
        assert_int_equal(reload(&k, SIZE(64)), 0); /* taken up again, from what is there now */
        assert_file(state, SIZE_DEBUGFS, "64\n");
        assert_true(size_knob(&k)->original == 500);
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_file(state, SIZE_DEBUGFS, "500\n");
        knobs_done(&k);
}

static void test_drift_of_a_knob_that_was_not_written(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(256)), 0);
        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "500\n");
        assert_int_equal(apply(&k, SIZE(256)), 0); /* seen here as well */
        assert_int_equal(size_knob(&k)->state, KNOB_YIELDED);
        assert_file(state, SIZE_DEBUGFS, "500\n");
        knobs_done(&k);
}

static void test_putting_the_original_back_is_drift_too(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "256\n");
        knobs_check_drift(&k, on_event, &events);
        assert_int_equal(size_knob(&k)->state, KNOB_YIELDED);
        knobs_done(&k);
}

static void test_vanished_while_managed(void **state)
{
        char *path = in_root(state, SIZE_DEBUGFS);
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_int_equal(unlink(path), 0);
        knobs_check_drift(&k, on_event, &events);
        knobs_check_drift(&k, on_event, &events);
        assert_int_equal(events.n, 2);
        assert_int_equal(size_knob(&k)->state, KNOB_REFUSED);
        assert_int_equal(knobs_restore(&k, on_event, &events), -ENOENT);
        assert_true(size_knob(&k)->recorded); /* still owed */
        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "64\n");
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        free(path);
        knobs_done(&k);
}

static void test_restore_leaves_foreign_values(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "500\n");
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_int_equal(events.last.kind, KNOB_EVENT_DRIFT);
        assert_file(state, SIZE_DEBUGFS, "500\n");
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_restore_that_is_refused_can_be_tried_again(void **state)
{
        struct knobs k, next;
        char *run = in_root(state, "run");

        start(state, &k);
        assert_int_equal(
                apply(&k, wanted(KEY_NUMA_SCAN_SIZE_MB, 64, KEY_NUMA_BALANCING, 0, KEY_COUNT)), 0);
        kernel.file = SIZE_DEBUGFS;
        kernel.open_error = EACCES;
        assert_int_equal(knobs_restore(&k, on_event, &events), -EACCES);
        assert_file(state, BALANCING, "1\n");
        assert_file(state, SIZE_DEBUGFS, "64\n");
        knobs_done(&k);
        kernel.open_error = 0;
        assert_int_equal(knobs_init(&next, unit_tmpdir(state), run), 0);
        assert_int_equal(knobs_restore(&next, on_event, &events), 0);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        assert_no_file(state, RECORD);
        knobs_done(&next);
        free(run);
}

/* After a crash */

static void test_adopt_keeps_the_first_original(void **state)
{
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        knobs_done(&k); /* as if killed */
        start(state, &k);
        assert_true(size_knob(&k)->recorded);
        assert_int_equal(apply(&k, SIZE(32)), 0);
        assert_true(size_knob(&k)->original == 256);
        knobs_done(&k);
        start(state, &k);
        assert_int_equal(apply(&k, KEEP), 0);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_adopt_when_the_write_never_happened(void **state)
{
        struct knobs k;

        write_record(state, 256, 64); /* the kernel holds 256 */
        start(state, &k);
        assert_int_equal(apply(&k, KEEP), 0);
        assert_int_equal(events.n, 0);
        assert_no_file(state, RECORD);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        knobs_done(&k);
}

static void test_adopt_when_somebody_changed_it_meanwhile(void **state)
{
        struct knobs k;

        write_record(state, 256, 64);
        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "500\n");
        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_int_equal(size_knob(&k)->state, KNOB_YIELDED);
        assert_file(state, SIZE_DEBUGFS, "500\n");
        assert_no_file(state, RECORD);
        knobs_done(&k);
}

static void test_adopt_with_both_values_open(void **state)
{
        static const char *const content[] = {"64\n", "32\n", "256\n", "500\n"};
        static const char *const expected[] = {"256\n", "256\n", "256\n", "500\n"};
        char *path = in_root(state, RECORD), boot[37];
        struct restore_entry e = {KNOB_NUMA_SCAN_SIZE_MB, 256, 32, true, 64};

        for (size_t i = 0; i < ELEMENTSOF(content); i++) {
                struct knobs k;

                assert_int_equal(boot_id_read(unit_tmpdir(state), boot), 0);
                assert_int_equal(restore_write(path, boot, &e, 1), 0);
                unit_write(unit_tmpdir(state), SIZE_DEBUGFS, content[i]);
                start(state, &k);
                assert_int_equal(knobs_restore(&k, on_event, &events), 0);
                assert_file(state, SIZE_DEBUGFS, expected[i]);
                assert_no_file(state, RECORD);
                knobs_done(&k);
        }
        free(path);
}

static void test_record_of_another_boot(void **state)
{
        struct knobs k;

        write_record(state, 256, 64);
        unit_write(unit_tmpdir(state), SIZE_DEBUGFS, "64\n");
        unit_write(unit_tmpdir(state), "proc/sys/kernel/random/boot_id",
                   "01234567-89ab-cdef-0123-456789abcdef\n");
        kernel.file = SIZE_DEBUGFS;
        start(state, &k);
        assert_false(size_knob(&k)->recorded);
        assert_no_file(state, RECORD);
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_int_equal(kernel.opened, 0);
        knobs_done(&k);
}

static void test_damaged_record(void **state)
{
        char *run = in_root(state, "run");
        struct knobs k;

        unit_write(unit_tmpdir(state), RECORD, "tlbd-restore 1\nNumaScanSizeMb 1 256\n");
        kernel.file = SIZE_DEBUGFS;
        assert_int_equal(knobs_init(&k, unit_tmpdir(state), run), 0);
        assert_int_equal(knobs_restore(&k, on_event, &events), -EBADMSG);
        assert_no_file(state, RECORD);
        assert_file(state, RECORD ".bad", "tlbd-restore 1\nNumaScanSizeMb 1 256\n");
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_int_equal(knobs_adopt_record(&k), -ENOENT);
        assert_int_equal(kernel.opened, 0);
        knobs_done(&k);
        free(run);
}

static void test_restore_survives_a_lost_record_file(void **state)
{
        char *path = in_root(state, RECORD);
        struct knobs k;

        start(state, &k);
        assert_int_equal(apply(&k, SIZE(64)), 0);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(knobs_restore(&k, on_event, &events), 0);
        assert_file(state, SIZE_DEBUGFS, "256\n");
        free(path);
        knobs_done(&k);
}

static void test_names(void **state)
{
        char *text;

        (void)state;
        assert_string_equal(knob_name(KNOB_NUMA_SCAN_SIZE_MB), "NumaScanSizeMb");
        assert_string_equal(knob_state_name(KNOB_OBSERVED), "observed");
        assert_string_equal(knob_state_name(KNOB_MANAGED), "managed");
        assert_string_equal(knob_state_name(KNOB_YIELDED), "yielded");
        assert_string_equal(knob_state_name(KNOB_UNSUPPORTED), "unsupported");
        assert_string_equal(knob_state_name(KNOB_REFUSED), "refused");
        text = knob_format(KNOB_DEMOTION_ENABLED, 1);
        assert_string_equal(text, "yes");
        free(text);
        text = knob_format(KNOB_TLB_BATCH_MIGRATE, 1);
        assert_string_equal(text, "auto");
        free(text);
        for (enum knob_id i = 0; i < KNOB_COUNT; i++)
                assert_true(key_table[knob_table[i].key].type >= KEY_TYPE_KNOB_UINT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, unit_tmpdir_remove)

int main(void)
{
        static const struct CMUnitTest tests[] = {
                TEST(test_parse),
                TEST(test_probe_places),
                TEST(test_balancing_is_a_mask),
                TEST(test_probe_what_is_missing),
                TEST(test_probe_closed_by_lockdown),
                TEST(test_keep_touches_nothing),
                TEST(test_one_write_behind_the_record),
                TEST(test_all_types_are_written),
                TEST(test_value_already_there),
                TEST(test_change_of_ours_keeps_the_first_original),
                TEST(test_setting_the_original_ends_the_record),
                TEST(test_period_order),
                TEST(test_period_must_not_cross_the_kernels),
                TEST(test_bad_values_in_a_file),
                TEST(test_bad_numbers_past_the_configuration),
                TEST(test_bad_originals_in_a_record),
                TEST(test_bad_original_adopted),
                TEST(test_bad_value_in_the_kernel_is_not_taken_over),
                TEST(test_write_errors),
                TEST(test_lockdown_is_named),
                TEST(test_lockdown_not_in_force_is_not_blamed),
                TEST(test_other_knobs_go_on),
                TEST(test_never_creates_a_file),
                TEST(test_unsupported_is_told_once),
                TEST(test_short_write),
                TEST(test_read_back_mismatch),
                TEST(test_value_ignored_by_the_kernel),
                TEST(test_no_record_no_write),
                TEST(test_drift_yields_until_reload),
                TEST(test_drift_of_a_knob_that_was_not_written),
                TEST(test_putting_the_original_back_is_drift_too),
                TEST(test_vanished_while_managed),
                TEST(test_restore_leaves_foreign_values),
                TEST(test_restore_that_is_refused_can_be_tried_again),
                TEST(test_adopt_keeps_the_first_original),
                TEST(test_adopt_when_the_write_never_happened),
                TEST(test_adopt_when_somebody_changed_it_meanwhile),
                TEST(test_adopt_with_both_values_open),
                TEST(test_record_of_another_boot),
                TEST(test_damaged_record),
                TEST(test_restore_survives_a_lost_record_file),
                TEST(test_names),
        };

        (void)umask(022);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
