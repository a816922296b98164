/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "status-read.h"

#include "metrics.h"
#include "status.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

const struct validity_text validity_texts[] = {
        {"ok", "The value can be trusted."},
        {"idle",
         "Nothing happened that the value could be related to: no page was migrated, so there "
         "is no cost per migrated page. The value is null."},
        {"unsupported",
         "This kernel does not have what the value is made from, it cannot be read, or "
         "it was read only once so far. The value is null."},
        {"hotplug",
         "CPUs came or went between the two readings. The value is over the CPUs seen in "
         "both."},
        {"wrapped",
         "A counter went backwards or moved further than a machine can. The value is null."},
        {"paravirt", "The hypervisor flushes TLBs for this guest, so that the TLB row of "
                     "/proc/interrupts stays 0. The value is null."},
        {"broadcast",
         "The CPUs invalidate each other's TLBs without interrupts (INVLPGB): interrupts "
         "are not the cost here. The value is null."},
        {NULL, NULL},
};

static struct json_object *get(struct json_object *object, const char *key, enum json_type type)
{
        struct json_object *v;

        if (!json_object_is_type(object, json_type_object) ||
            !json_object_object_get_ex(object, key, &v) || !json_object_is_type(v, type))
                return NULL;
        return v;
}

double status_number(struct json_object *object, const char *key)
{
        struct json_object *v = get(object, key, json_type_double);

        if (!v)
                v = get(object, key, json_type_int);
        return v ? json_object_get_double(v) : (double)NAN;
}

const char *status_text(struct json_object *object, const char *key)
{
        struct json_object *v = get(object, key, json_type_string);

        return v ? json_object_get_string(v) : NULL;
}

bool status_true(struct json_object *object, const char *key)
{
        struct json_object *v = get(object, key, json_type_boolean);

        return v && json_object_get_boolean(v);
}

struct json_object *status_object(struct json_object *object, const char *key)
{
        return get(object, key, json_type_object);
}

struct json_object *status_array(struct json_object *object, const char *key)
{
        return get(object, key, json_type_array);
}

size_t status_length(struct json_object *array)
{
        return array ? json_object_array_length(array) : 0;
}

static char *reason_not_read(const char *path, int error)
{
        if (error == -ENOENT)
                return strf(
                        "%s is not there: tlbd is not running (\"systemctl start tlbd\", or run "
                        "\"tlbd --observe\")",
                        path);
        return strf("%s cannot be read: %s", path, strerror(-error));
}

int status_read(const char *path, struct json_object **ret, char **ret_reason)
{
        _cleanup_(buffer_done) struct buffer b = {0};
        struct json_object *o;
        int r = buffer_read_path(&b, path);

        *ret_reason = NULL;
        if (r < 0) {
                *ret_reason = reason_not_read(path, r);
                return r;
        }
        o = json_tokener_parse(b.data);
        if (!json_object_is_type(o, json_type_object) || isnan(status_number(o, "version"))) {
                *ret_reason = strf("%s is not a whole status of tlbd", path);
                json_object_put(o);
                return -EBADMSG;
        }
        if (status_number(o, "version") != STATUS_VERSION) {
                *ret_reason = strf("%s is of version %.0f, this program reads version %d: tlbd and "
                                   "tlbctl are of different releases",
                                   path, status_number(o, "version"), STATUS_VERSION);
                json_object_put(o);
                return -EPROTO;
        }
        *ret = o;
        return 0;
}

int status_fresh(struct json_object *status, uint64_t now_ns, char **ret_reason)
{
        double pid = status_number(status, "pid");
        double age = ((double)now_ns - status_number(status, "monotonic_ns")) / NSEC_PER_SEC;
        double limit = 3 * status_number(status, "interval_s") + 2;
        char text[TEXT_NUMBER_MAX];

        *ret_reason = NULL;
        /* A pid of another user answers with EPERM. */
        if (!(pid >= 1 && pid <= INT32_MAX) || (kill((pid_t)pid, 0) < 0 && errno == ESRCH)) {
                *ret_reason = strf("tlbd (pid %.0f) is gone, this is the last it said",
                                   pid >= 1 ? pid : 0);
                return -ESTALE;
        }
        if (!(age >= -2)) { /* the clock starts anew with each boot */
                *ret_reason = strf(
                        "tlbd (pid %.0f) wrote this in an earlier boot, it is out of date", pid);
                return -ESTALE;
        }
        if (!(age <= limit)) {
                *ret_reason = strf("tlbd (pid %.0f) last wrote %s ago, this is out of date", pid,
                                   text_duration(text, age));
                return -ESTALE;
        }
        return 0;
}

/* Why a metric is not known */

enum origin { FROM_VMSTAT, FROM_CAUSE, FROM_BALANCING, FROM_INTERRUPTS, FROM_STAT, FROM_PRESSURE };

/* Where a metric comes from, and what has not happened when it is idle. */
static const struct {
        enum origin origin;
        const char *idle;
} origin_of[METRIC_COUNT] = {
        [METRIC_TLB_MAX_CPU] = {FROM_INTERRUPTS, NULL},
        [METRIC_TLB_MEDIAN_CPU] = {FROM_INTERRUPTS, NULL},
        [METRIC_TLB_NUMA_SCAN] = {FROM_CAUSE, NULL},
        [METRIC_TLB_NUMA_MIGRATE] = {FROM_CAUSE, NULL},
        [METRIC_TLB_RECLAIM] = {FROM_CAUSE, NULL},
        [METRIC_TLB_COMPACTION] = {FROM_CAUSE, NULL},
        [METRIC_TLB_OTHER] = {FROM_CAUSE, NULL},
        [METRIC_TLB_PER_MIGRATED] = {FROM_BALANCING, "no page was migrated"},
        [METRIC_TLB_PER_RECLAIMED] = {FROM_VMSTAT, "no page was reclaimed"},
        [METRIC_LOCALITY] = {FROM_BALANCING, "no hinting fault was taken"},
        [METRIC_PAGES_MIGRATED] = {FROM_BALANCING, NULL},
        [METRIC_PTE_UPDATES] = {FROM_BALANCING, NULL},
        [METRIC_HINT_FAULTS] = {FROM_BALANCING, NULL},
        [METRIC_PENDING_FLUSH] = {FROM_CAUSE, "no entry was marked"},
        [METRIC_KERNEL_NS] = {FROM_BALANCING, "no entry was marked"},
        [METRIC_RECLAIM_EFFICIENCY] = {FROM_VMSTAT, "no page was scanned"},
        [METRIC_DIRECT_SHARE] = {FROM_VMSTAT, "no page was reclaimed"},
        [METRIC_PROACTIVE_SHARE] = {FROM_VMSTAT, "no page was reclaimed"},
        [METRIC_PSI_SOME] = {FROM_PRESSURE, NULL},
        [METRIC_PSI_FULL] = {FROM_PRESSURE, NULL},
        [METRIC_IRQ_SHARE] = {FROM_STAT, NULL},
        [METRIC_STEAL_SHARE] = {FROM_STAT, NULL},
};

static const char *const source_of[] = {
        [FROM_VMSTAT] = "vmstat",    [FROM_CAUSE] = "vmstat",
        [FROM_BALANCING] = "vmstat", [FROM_INTERRUPTS] = "interrupts",
        [FROM_STAT] = "stat",        [FROM_PRESSURE] = "pressure_memory",
};

/* The state of the file itself, where that is the reason. */
static const char *why_source(struct json_object *status, enum origin origin)
{
        struct json_object *source =
                status_object(status_object(status, "sources"), source_of[origin]);
        const char *state = status_text(source, "state");

        if (!state || strcmp(state, "ok") == 0)
                return NULL;
        if (strcmp(state, "off") == 0)
                return "off (boot with psi=1)";
        if (strcmp(state, "denied") == 0)
                return "no permission to read it";
        if (strcmp(state, "unread") == 0)
                return "not read yet";
        if (strcmp(state, "absent") == 0)
                return "not in this kernel";
        return "its file cannot be read";
}

static const char *why_unsupported(struct json_object *status, int id, struct json_object *metric)
{
        enum origin origin = id < 0 ? FROM_VMSTAT : origin_of[id].origin;
        struct json_object *machine = status_object(status, "machine");
        const char *why = why_source(status, origin);

        if (why)
                return why;
        if (origin == FROM_CAUSE && !status_true(machine, "policy"))
                return "needs kernel-tlb";
        if (origin == FROM_BALANCING && machine && !status_true(machine, "numa_balancing"))
                return "no NUMA balancing in this kernel";
        if (origin != FROM_PRESSURE && isnan(status_number(metric, "window_s")))
                return "needs a second reading";
        return origin == FROM_INTERRUPTS ? "no TLB row in /proc/interrupts"
                                         : "this kernel does not count it";
}

const char *status_why(struct json_object *status, const char *name, struct json_object *metric)
{
        const char *validity = status_text(metric, "validity");
        int id = metric_find(name);

        if (!validity)
                return "not said by tlbd";
        if (strcmp(validity, "ok") == 0)
                return NULL;
        if (strcmp(validity, "hotplug") == 0)
                return "CPUs changed";
        if (strcmp(validity, "idle") == 0)
                return id >= 0 && origin_of[id].idle ? origin_of[id].idle : "nothing happened";
        if (strcmp(validity, "wrapped") == 0)
                return "a counter jumped: left out";
        if (strcmp(validity, "paravirt") == 0)
                return "hypervisor flushes: not visible";
        if (strcmp(validity, "broadcast") == 0)
                return "no interrupts needed (INVLPGB)";
        if (strcmp(validity, "unsupported") == 0)
                return why_unsupported(status, id, metric);
        return "not known";
}
