/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "knob-io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define SYSCTL "/proc/sys/kernel/numa_balancing"
#define DEBUGFS "/sys/kernel/debug/sched"
#define TLB_BATCH "/sys/kernel/mm/tlb_batch"

/* The scan settings were sysctls up to 5.12, are below debugfs since 5.13 (kernel/sched/debug.c),
 * and are sysctls again with kernel-tlb, as debugfs is closed under lockdown. */
const struct knob_info knob_table[] = {
        [KNOB_TLB_BATCH_MIGRATE] = {KEY_TLB_BATCH_MIGRATE, {TLB_BATCH "/migrate"}},
        [KNOB_TLB_BATCH_PAGEOUT] = {KEY_TLB_BATCH_PAGEOUT, {TLB_BATCH "/pageout"}},
        [KNOB_NUMA_BALANCING] = {KEY_NUMA_BALANCING, {SYSCTL}},
        [KNOB_NUMA_SCAN_DELAY_MS] = {KEY_NUMA_SCAN_DELAY_MS,
                                     {SYSCTL "_scan_delay_ms",
                                      DEBUGFS "/numa_balancing/scan_delay_ms"}},
        [KNOB_NUMA_SCAN_PERIOD_MIN_MS] = {KEY_NUMA_SCAN_PERIOD_MIN_MS,
                                          {SYSCTL "_scan_period_min_ms",
                                           DEBUGFS "/numa_balancing/scan_period_min_ms"}},
        [KNOB_NUMA_SCAN_PERIOD_MAX_MS] = {KEY_NUMA_SCAN_PERIOD_MAX_MS,
                                          {SYSCTL "_scan_period_max_ms",
                                           DEBUGFS "/numa_balancing/scan_period_max_ms"}},
        [KNOB_NUMA_SCAN_SIZE_MB] = {KEY_NUMA_SCAN_SIZE_MB,
                                    {SYSCTL "_scan_size_mb",
                                     DEBUGFS "/numa_balancing/scan_size_mb"}},
        [KNOB_NUMA_HOT_THRESHOLD_MS] = {KEY_NUMA_HOT_THRESHOLD_MS,
                                        {SYSCTL "_hot_threshold_ms",
                                         DEBUGFS "/numa_balancing/hot_threshold_ms"}},
        [KNOB_NUMA_PROMOTE_RATE_LIMIT] = {KEY_NUMA_PROMOTE_RATE_LIMIT,
                                          {SYSCTL "_promote_rate_limit_MBps"}},
        [KNOB_DEMOTION_ENABLED] = {KEY_DEMOTION_ENABLED, {"/sys/kernel/mm/numa/demotion_enabled"}},
        [KNOB_TASK_DELAY_ACCOUNTING] = {KEY_TASK_DELAY_ACCOUNTING,
                                        {"/proc/sys/kernel/task_delayacct"}},
};
_Static_assert(ELEMENTSOF(knob_table) == KNOB_COUNT, "one knob_table row for each knob");

static enum key_type knob_type(enum knob_id id)
{
        return key_table[knob_table[id].key].type;
}

const char *knob_name(enum knob_id id)
{
        return key_table[knob_table[id].key].name;
}

bool knob_in_range(enum knob_id id, uint64_t value)
{
        const struct key_info *info = &key_table[knob_table[id].key];

        if (info->type != KEY_TYPE_KNOB_UINT)
                return value <= 1;
        return value >= (uint64_t)info->min && value <= (uint64_t)info->max;
}

/* 0 or 1, the index of the word that fills text; -EBADMSG: neither. */
static int parse_word(const char *text, size_t len, const char *zero, const char *one,
                      uint64_t *ret)
{
        bool is_zero = len == strlen(zero) && memcmp(text, zero, len) == 0;
        bool is_one = len == strlen(one) && memcmp(text, one, len) == 0;

        if (!is_zero && !is_one)
                return -EBADMSG;
        *ret = is_one;
        return 0;
}

static int parse_migrate(const char *text, size_t len, uint64_t *ret)
{
        const char *open = memchr(text, '[', len);
        const char *close = open ? memchr(open, ']', len - (size_t)(open - text)) : NULL;

        if (close)
                return parse_word(open + 1, (size_t)(close - open) - 1, "always", "auto", ret);
        return parse_word(text, len, "always", "auto", ret);
}

int knob_parse(enum knob_id id, const char *text, size_t len, uint64_t *ret)
{
        const char *newline = memchr(text, '\n', len);

        if (newline)
                len = (size_t)(newline - text);
        switch (knob_type(id)) {
        case KEY_TYPE_KNOB_MIGRATE:
                return parse_migrate(text, len, ret);
        case KEY_TYPE_KNOB_BOOL:
                if (parse_word(text, len, "0", "1", ret) == 0)
                        return 0;
                return parse_word(text, len, "false", "true", ret);
        default:
                return parse_u64(text, len, ret) < 0 ? -EBADMSG : 0;
        }
}

/* The value in the kernel's words (kernel true) or in those of tlbd.conf. */
static char *format_value(enum knob_id id, uint64_t value, bool kernel)
{
        switch (knob_type(id)) {
        case KEY_TYPE_KNOB_MIGRATE:
                return strdup(value ? "auto" : "always");
        case KEY_TYPE_KNOB_BOOL:
                if (kernel)
                        return strdup(value ? "1" : "0"); /* kstrtobool() takes it too */
                return strdup(value ? "yes" : "no");
        default:
                return strf("%" PRIu64, value);
        }
}

char *knob_format(enum knob_id id, uint64_t value)
{
        return format_value(id, value, false);
}

int knob_read(const char *root, const char *path, enum knob_id id, uint64_t *ret)
{
        _cleanup_(freep) char *full = path_join(root, path);
        _cleanup_(closep) int fd = -1;
        char text[128];
        ssize_t n;

        if (!full)
                return -ENOMEM;
        fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return -errno;
        n = read(fd, text, sizeof(text));
        if (n < 0)
                return -errno;
        if ((size_t)n == sizeof(text))
                return -EBADMSG;
        return knob_parse(id, text, (size_t)n, ret);
}

int knob_write(const char *root, const char *path, enum knob_id id, uint64_t value)
{
        _cleanup_(freep) char *full = path_join(root, path), *word = NULL, *text = NULL;
        size_t len;
        ssize_t n;
        int fd, r = 0;

        if (!knob_in_range(id, value))
                return -ERANGE;
        word = format_value(id, value, true);
        text = word ? strf("%s\n", word) : NULL;
        if (!full || !text)
                return -ENOMEM;
        len = strlen(text);
        fd = open(full, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return -errno;
        n = write(fd, text, len);
        if (n < 0)
                r = -errno;
        else if ((size_t)n < len)
                r = -ENODATA;
        /* Below a root of plain files a longer old value would stick out behind the new one. */
        if (r == 0 && root[0] != '\0' && ftruncate(fd, (off_t)len) < 0)
                r = -errno;
        if (close(fd) < 0 && r == 0)
                r = -errno;
        return r;
}

/* The lockdown mode in force, as a new string, or NULL: none, or not known. */
static char *lockdown_mode(const char *root)
{
        _cleanup_(freep) char *path = path_join(root, "/sys/kernel/security/lockdown");
        _cleanup_(buffer_done) struct buffer b = {0};
        char *open, *close;

        if (!path || buffer_read_path(&b, path) < 0)
                return NULL;
        open = strchr(b.data, '[');
        close = open ? strchr(open, ']') : NULL;
        if (!close)
                return NULL;
        *close = '\0';
        return strcmp(open + 1, "none") == 0 ? NULL : strdup(open + 1);
}

static char *explain_eperm(const char *root, const char *path, const char *action)
{
        _cleanup_(freep) char *mode = lockdown_mode(root);

        if (mode && strncmp(path, DEBUGFS, strlen(DEBUGFS)) == 0)
                return strf("cannot %s %s: kernel lockdown (%s) closes debugfs; kernel-tlb offers "
                            "this setting as a sysctl",
                            action, path, mode);
        if (mode)
                return strf("cannot %s %s: not permitted, kernel lockdown (%s) is in force", action,
                            path, mode);
        return strf("cannot %s %s: not permitted (kernel lockdown, a missing capability or a "
                    "sandbox)",
                    action, path);
}

char *knob_explain(const char *root, const char *path, const char *action, int error)
{
        switch (error) {
        case -EPERM:
                return explain_eperm(root, path, action);
        case -EACCES:
                return strf("cannot %s %s: permission denied; it takes root, and ReadWritePaths= "
                            "of the unit must name it",
                            action, path);
        case -EROFS:
                return strf("cannot %s %s: the file system is read-only here (container or "
                            "sandbox)",
                            action, path);
        case -ENOENT:
                return strf("cannot %s %s: it is not on this kernel any more", action, path);
        case -EINVAL:
                return strf("cannot %s %s: the kernel refuses the value", action, path);
        case -ENODATA:
                return strf("cannot %s %s: the kernel took a part of the value only", action, path);
        case -EBADMSG:
                return strf("cannot %s %s: its content is not what this setting holds", action,
                            path);
        default:
                return strf("cannot %s %s: %s", action, path, strerror(-error));
        }
}

static bool exists(const char *root, const char *path)
{
        _cleanup_(freep) char *full = path_join(root, path);

        return full && access(full, F_OK) == 0;
}

char *knob_explain_missing(const char *root, enum knob_id id)
{
        switch (id) {
        case KNOB_TLB_BATCH_MIGRATE:
        case KNOB_TLB_BATCH_PAGEOUT:
                return strf("not on this kernel: %s comes with kernel-tlb", knob_table[id].path[0]);
        case KNOB_DEMOTION_ENABLED:
                return strdup("not on this kernel: it cannot demote pages between memory tiers");
        default:
                break;
        }
        if (!exists(root, SYSCTL))
                return strdup("NUMA balancing is not in this kernel (CONFIG_NUMA_BALANCING)");
        if (!knob_table[id].path[1])
                return strdup("not on this kernel: memory tiering came with 6.1");
        if (!exists(root, DEBUGFS))
                return strdup("not a sysctl on this kernel, and " DEBUGFS " is not there: mount "
                              "debugfs on /sys/kernel/debug");
        return strf("not on this kernel: neither %s nor %s exists", knob_table[id].path[0],
                    knob_table[id].path[1]);
}
