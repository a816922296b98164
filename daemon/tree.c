/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree.h"

#include "knobs.h"
#include "status.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SNAPSHOT_FILE "/tlbd-snapshot.json"

/* TLB, CAL and RES always; other architectures count function calls and reschedules in IPI rows. */
static const char *const row_label[] = {"TLB",   "CAL",   "RES",   "IPI0",  "IPI1", "IPI2", "IPI3",
                                        "IPI4",  "IPI5",  "IPI6",  "IPI7",  "IPI8", "IPI9", "IPI10",
                                        "IPI11", "IPI12", "IPI13", "IPI14", "IPI15"};
#define ROWS_ALWAYS 3

static void add(struct json_object *o, const char *key, struct json_object *v)
{
        if (json_object_object_add(o, key, v) < 0)
                json_object_put(v);
}

static struct json_object *count(uint64_t v)
{
        return json_object_new_uint64(v);
}

static struct json_object *state(enum source_state s)
{
        return json_object_new_string(source_state_name(s));
}

static struct json_object *ids(const unsigned *id, size_t n)
{
        struct json_object *a = json_object_new_array();

        for (size_t i = 0; i < n; i++)
                json_object_array_add(a, count(id[i]));
        return a;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* A tree in memory. */
struct tree {
        struct machine machine;
        struct sample sample;
        double uptime_s;   /* since boot when it was taken; NAN: not known */
        double realtime_s; /* NAN: not known */
};

static void tree_done(struct tree *t)
{
        sample_done(&t->sample);
}

/* proc/uptime (proc(5)): seconds since boot, suspend included. */
static double read_uptime(const char *root)
{
        _cleanup_(freep) char *path = path_join(root, "/proc/uptime");
        _cleanup_(buffer_done) struct buffer b = {0};
        char *end;
        double v;

        if (!path || buffer_read_path(&b, path) < 0)
                return NAN;
        v = strtod(b.data, &end);
        return end == b.data || !isfinite(v) || v < 0 ? NAN : v;
}

static double object_seconds(struct json_object *o, const char *key)
{
        struct json_object *v;

        if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_int))
                return NAN;
        return (double)json_object_get_uint64(v) / (double)NSEC_PER_SEC;
}

static void read_times(const char *root, struct tree *t)
{
        _cleanup_(freep) char *path = path_join(root, SNAPSHOT_FILE);
        struct json_object *o =
                path && access(path, R_OK) == 0 ? json_object_from_file(path) : NULL;

        t->uptime_s = object_seconds(o, "boottime_ns");
        t->realtime_s = object_seconds(o, "realtime_ns");
        json_object_put(o);
        if (isnan(t->uptime_s))
                t->uptime_s = read_uptime(root);
}

static int tree_load(const char *root, struct tree *t)
{
        struct sources s;
        int r = machine_read(root, &t->machine);

        *t = (struct tree){.machine = t->machine};
        if (r >= 0)
                r = sources_init(&s, root);
        if (r < 0)
                return r;
        r = interrupts_init(&t->sample.interrupts, row_label, ELEMENTSOF(row_label));
        if (r >= 0)
                r = sources_read(&s, SOURCES_ALL, &t->machine, &t->sample);
        sources_done(&s);
        read_times(root, t);
        return r;
}

/* Whether anything at all was read: a state other than "no such file". */
static bool tree_usable(const struct tree *t)
{
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                enum source_state s = sample_state(&t->sample, id);

                if (s == SOURCE_OK || s == SOURCE_TRUNCATED || s == SOURCE_INVALID)
                        return true;
        }
        return false;
}

static struct json_object *row_json(const struct interrupts *i, const struct interrupts_row *row)
{
        struct json_object *o = json_object_new_object(), *per_cpu = NULL;

        add(o, "state", state(row->state));
        add(o, "sum", row->state == SOURCE_OK ? count(row->sum) : NULL);
        if (row->state == SOURCE_OK) {
                per_cpu = json_object_new_object();
                for (size_t k = 0; k < i->n_cpus; k++) {
                        char id[16];

                        (void)snprintf(id, sizeof(id), "%u", i->cpu[k]);
                        add(per_cpu, id, count(row->count[k]));
                }
        }
        add(o, "per_cpu", per_cpu);
        return o;
}

static struct json_object *interrupts_json(const struct interrupts *i)
{
        struct json_object *o = json_object_new_object(), *rows = json_object_new_object();

        add(o, "state", state(i->state));
        add(o, "cpus", ids(i->cpu, i->n_cpus));
        for (size_t r = 0; r < i->n_rows; r++)
                if (r < ROWS_ALWAYS || i->row[r].state == SOURCE_OK)
                        add(rows, i->row[r].label, row_json(i, &i->row[r]));
        add(o, "rows", rows);
        return o;
}

static void add_counter(const char *name, size_t name_len, uint64_t value, bool complete,
                        void *userdata)
{
        _cleanup_(freep) char *key = strndup(name, name_len);

        /* The value of a row that was cut short is not known. */
        if (key)
                add(userdata, key, complete ? count(value) : NULL);
}

static int vmstat_json(const char *root, struct json_object **ret)
{
        _cleanup_(freep) char *path = path_join(root, "/proc/vmstat");
        _cleanup_(buffer_done) struct buffer b = {0};
        struct json_object *o, *counters;
        enum source_state s;
        int r;

        if (!path)
                return -ENOMEM;
        o = json_object_new_object();
        counters = json_object_new_object();
        r = buffer_read_path(&b, path);
        s = r < 0 ? source_state_from_errno(r) : vmstat_each(b.data, b.len, add_counter, counters);
        add(o, "state", state(s));
        add(o, "counters", counters);
        *ret = o;
        return 0;
}

static struct json_object *node_json(const struct nodes *nodes, const struct node *n)
{
        struct json_object *o = json_object_new_object(), *distance = NULL;
        struct json_object *counters = json_object_new_object();

        add(o, "id", count(n->id));
        add(o, "cpus", n->cpus_known ? ids(n->cpus.id, n->cpus.n) : NULL);
        if (n->distance) {
                distance = json_object_new_object();
                for (size_t i = 0; i < nodes->n; i++) {
                        char id[16];

                        (void)snprintf(id, sizeof(id), "%u", nodes->node[i].id);
                        add(distance, id, count(n->distance[i]));
                }
        }
        add(o, "distance", distance);
        add(o, "memory_total", n->memory_known ? count(n->total_bytes) : NULL);
        add(o, "memory_free", n->memory_known ? count(n->free_bytes) : NULL);
        if (n->memory_odd)
                add(o, "memory_odd", json_object_new_boolean(true));
        for (enum vmstat_id id = 0; id < VM_COUNT; id++)
                if (vmstat_has(&n->vmstat, id))
                        add(counters, vmstat_name(id), count(n->vmstat.value[id]));
        add(o, "counters", counters);
        return o;
}

static struct json_object *nodes_json(const struct nodes *nodes)
{
        struct json_object *a = json_object_new_array();

        for (size_t i = 0; i < nodes->n; i++)
                json_object_array_add(a, node_json(nodes, &nodes->node[i]));
        return a;
}

static struct json_object *pressure_row_json(const struct pressure_row *r)
{
        struct json_object *o;

        if (!r->present)
                return NULL;
        o = json_object_new_object();
        add(o, "avg10", json_object_new_double(r->avg10));
        add(o, "avg60", json_object_new_double(r->avg60));
        add(o, "avg300", json_object_new_double(r->avg300));
        add(o, "total", count(r->total_us));
        return o;
}

static struct json_object *pressure_json(const struct pressure *p)
{
        struct json_object *o = json_object_new_object();

        add(o, "state", state(p->state));
        add(o, "some", pressure_row_json(&p->some));
        add(o, "full", pressure_row_json(&p->full));
        return o;
}

static struct json_object *pressures_json(const struct sample *s)
{
        struct json_object *o = json_object_new_object();

        add(o, "memory", pressure_json(&s->pressure_memory));
        add(o, "cpu", pressure_json(&s->pressure_cpu));
        add(o, "irq", pressure_json(&s->pressure_irq));
        return o;
}

static struct json_object *stat_json(const struct procstat *s)
{
        struct json_object *o = json_object_new_object();
        bool ok = s->state == SOURCE_OK;

        add(o, "state", state(s->state));
        add(o, "cpus", ids(s->cpu, s->n_cpus));
        add(o, "total_jiffies", ok ? count(procstat_total(s)) : NULL);
        add(o, "system_jiffies", ok ? count(s->system) : NULL);
        add(o, "interrupts", s->has_interrupts ? count(s->interrupts_total) : NULL);
        add(o, "processes", s->has_processes ? count(s->processes) : NULL);
        add(o, "procs_blocked", s->has_blocked ? count(s->blocked) : NULL);
        return o;
}

static struct json_object *machine_json(const struct machine *m)
{
        struct json_object *o = json_object_new_object();

        add(o, "release", m->release[0] ? json_object_new_string(m->release) : NULL);
        add(o, "hypervisor", json_object_new_boolean(m->hypervisor));
        add(o, "broadcast", json_object_new_boolean(m->broadcast));
        add(o, "policy", json_object_new_boolean(m->policy));
        add(o, "numa_balancing", json_object_new_boolean(m->numa_balancing));
        return o;
}

static int knobs_json(const char *root, struct json_object **ret)
{
        struct knobs k = {0};
        int r = knobs_init(&k, root, root);

        if (r < 0)
                return r;
        knobs_probe(&k);
        *ret = json_object_new_object();
        for (enum knob_id id = 0; id < KNOB_COUNT; id++) {
                struct json_object *o = json_object_new_object();
                _cleanup_(freep) char *value =
                        k.knob[id].known ? knob_format(id, k.knob[id].current) : NULL;

                add(o, "value", value ? json_object_new_string(value) : NULL);
                add(o, "path", k.knob[id].path ? json_object_new_string(k.knob[id].path) : NULL);
                add(o, "state", json_object_new_string(knob_state_name(k.knob[id].state)));
                add(*ret, knob_name(id), o);
        }
        knobs_done(&k);
        return 0;
}

int tree_read(const char *root, struct json_object **ret)
{
        _cleanup_(tree_done) struct tree t = {0};
        struct json_object *o = NULL, *vmstat = NULL, *knobs = NULL;
        int r = tree_load(root, &t);

        if (r >= 0)
                r = vmstat_json(root, &vmstat);
        if (r >= 0)
                r = knobs_json(root, &knobs);
        if (r < 0) {
                json_object_put(vmstat);
                return r;
        }
        o = json_object_new_object();
        add(o, "machine", machine_json(&t.machine));
        add(o, "interrupts", interrupts_json(&t.sample.interrupts));
        add(o, "vmstat", vmstat);
        add(o, "nodes", nodes_json(&t.sample.nodes));
        add(o, "pressure", pressures_json(&t.sample));
        add(o, "stat", stat_json(&t.sample.stat));
        add(o, "knobs", knobs);
        *ret = o;
        return tree_usable(&t) ? 0 : -ENODATA;
}

/* ---- difference -------------------------------------------------------------------------------
 */

static bool boot_known(const struct machine *m)
{
        return m->boot_id[strspn(m->boot_id, "0-")] != '\0';
}

static bool boots_differ(const struct machine *a, const struct machine *b)
{
        return boot_known(a) && boot_known(b) && strcmp(a->boot_id, b->boot_id) != 0;
}

static int check_pair(const struct tree *before, const struct tree *after, double *interval_s,
                      char **ret_reason)
{
        double taken = after->uptime_s - before->uptime_s;

        if (!tree_usable(before) || !tree_usable(after)) {
                *ret_reason = strf("%s tree holds no file that can be read",
                                   tree_usable(before) ? "the second" : "the first");
                return -ENODATA;
        }
        if (boots_differ(&before->machine, &after->machine)) {
                *ret_reason =
                        strf("the trees are of different boots: counters began anew in between");
                return -ESTALE;
        }
        if (!isnan(taken) && taken <= 0) {
                *ret_reason = strf("the second tree was not taken later (%.3f s) in the same boot",
                                   taken);
                return -ESTALE;
        }
        if (*interval_s <= 0)
                *interval_s = isnan(taken) ? 0 : taken;
        return 0;
}

/* CPU ids of both, and of one only: of the interrupts, or where a tree has none of /proc/stat. */
static int cpus_json(const struct sample *b, const struct sample *a, struct json_object **ret)
{
        bool interrupts = b->interrupts.n_cpus > 0 && a->interrupts.n_cpus > 0;
        const unsigned *x = interrupts ? b->interrupts.cpu : b->stat.cpu;
        const unsigned *y = interrupts ? a->interrupts.cpu : a->stat.cpu;
        size_t nx = interrupts ? b->interrupts.n_cpus : b->stat.n_cpus;
        size_t ny = interrupts ? a->interrupts.n_cpus : a->stat.n_cpus;
        struct json_object *o = json_object_new_object();
        struct json_object *common = json_object_new_array();
        struct json_object *only_before = json_object_new_array();
        struct json_object *only_after = json_object_new_array();
        size_t i = 0, k = 0;

        while (i < nx || k < ny) {
                if (k == ny || (i < nx && x[i] < y[k])) {
                        json_object_array_add(only_before, count(x[i++]));
                } else if (i == nx || y[k] < x[i]) {
                        json_object_array_add(only_after, count(y[k++]));
                } else {
                        json_object_array_add(common, count(x[i++]));
                        k++;
                }
        }
        add(o, "common", common);
        add(o, "only_before", only_before);
        add(o, "only_after", only_after);
        *ret = o;
        return 0;
}

/* The differences themselves, of each row that both trees have. */
static int deltas_json(const struct sample *b, const struct sample *a, struct json_object **ret)
{
        *ret = json_object_new_object();
        for (size_t i = 0; i < ELEMENTSOF(row_label); i++) {
                struct interrupts_delta d;
                int r = interrupts_delta(&b->interrupts, &a->interrupts, row_label[i], &d);

                if (r == -ENOMEM)
                        return r;
                if (r == 0)
                        add(*ret, row_label[i], count(d.total));
                else if (i < ROWS_ALWAYS)
                        add(*ret, row_label[i], NULL);
        }
        return 0;
}

static struct json_object *metrics_json(const struct metrics *m)
{
        struct json_object *o = json_object_new_object();

        for (enum metric_id id = 0; id < METRIC_COUNT; id++)
                add(o, metric_table[id].name,
                    status_metric_json(&m->metric[id], metric_table[id].unit, 0));
        return o;
}

static struct json_object *node_metrics_json(const struct metrics *m)
{
        struct json_object *a = json_object_new_array();

        for (size_t i = 0; i < m->n_nodes; i++) {
                struct json_object *o = json_object_new_object();

                add(o, "id", count(m->node[i].id));
                status_add_node_metrics(o, &m->node[i]);
                json_object_array_add(a, o);
        }
        return a;
}

static int diff_json(const struct tree *before, const struct tree *after, double interval_s,
                     struct json_object **ret)
{
        _cleanup_(metrics_done) struct metrics m = {0};
        struct json_object *cpus = NULL, *deltas = NULL;
        int r = metrics_derive(&before->sample, &after->sample, &after->machine, interval_s, &m);

        if (r >= 0)
                r = cpus_json(&before->sample, &after->sample, &cpus);
        if (r >= 0)
                r = deltas_json(&before->sample, &after->sample, &deltas);
        if (r < 0) {
                json_object_put(cpus);
                json_object_put(deltas);
                return r;
        }
        *ret = json_object_new_object();
        add(*ret, "interval_s", interval_s > 0 ? json_object_new_double(interval_s) : NULL);
        add(*ret, "metrics", metrics_json(&m));
        add(*ret, "cpus", cpus);
        add(*ret, "interrupts", deltas);
        add(*ret, "nodes", node_metrics_json(&m));
        return 0;
}

int tree_diff(const char *before, const char *after, double interval_s, struct json_object **ret,
              char **ret_reason)
{
        _cleanup_(tree_done) struct tree b = {0};
        _cleanup_(tree_done) struct tree a = {0};
        int r = tree_load(before, &b);

        *ret_reason = NULL;
        if (r >= 0)
                r = tree_load(after, &a);
        if (r >= 0)
                r = check_pair(&b, &a, &interval_s, ret_reason);
        return r < 0 ? r : diff_json(&b, &a, interval_s, ret);
}

/* ---- snapshot ---------------------------------------------------------------------------------
 */

static const char *const snapshot_file[] = {
        "/proc/vmstat",
        "/proc/stat",
        "/proc/interrupts",
        "/proc/uptime",
        "/proc/cpuinfo",
        "/proc/pressure/memory",
        "/proc/pressure/cpu",
        "/proc/pressure/irq",
        "/proc/sys/kernel/osrelease",
        "/proc/sys/kernel/random/boot_id",
        "/sys/kernel/security/lockdown",
        "/sys/devices/system/node/online",
        "/sys/devices/system/node/possible",
        "/sys/devices/system/node/has_cpu",
        "/sys/devices/system/node/has_memory",
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/possible",
};
static const char *const snapshot_node_file[] = {"cpulist", "cpumap",   "distance",
                                                 "meminfo", "numastat", "vmstat"};

/* mkdir -p of everything in front of the last '/'. */
static int make_parents(char *path)
{
        for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
                int r;

                *p = '\0';
                r = mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
                *p = '/';
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Copies root/path to dir/path. A file that cannot be read is left out. */
static int copy_file(const char *root, const char *dir, const char *path, struct buffer *b,
                     char **ret_path)
{
        _cleanup_(freep) char *from = path_join(root, path);
        char *to = path_join(dir, path);
        int r;

        if (!from || !to) {
                free(to);
                return -ENOMEM;
        }
        r = buffer_read_path(b, from);
        if (r == 0)
                r = make_parents(to);
        else
                r = r == -ENOMEM ? r : 1; /* left out */
        if (r == 0)
                r = file_write_atomic(to, b->data, b->len, 0644, false);
        if (r < 0)
                *ret_path = to;
        else
                free(to);
        return r < 0 ? r : 0;
}

static int copy_nodes(const char *root, const char *dir, struct buffer *b, char **ret_path)
{
        struct nodes nodes = {0};
        int r = nodes_read(root, &nodes);

        for (size_t i = 0; i < nodes.n && r >= 0; i++)
                for (size_t k = 0; k < ELEMENTSOF(snapshot_node_file) && r >= 0; k++) {
                        _cleanup_(freep) char *path = strf("/sys/devices/system/node/node%u/%s",
                                                           nodes.node[i].id, snapshot_node_file[k]);

                        r = path ? copy_file(root, dir, path, b, ret_path) : -ENOMEM;
                }
        nodes_done(&nodes);
        return r;
}

static int copy_knobs(const char *root, const char *dir, struct buffer *b, char **ret_path)
{
        int r = 0;

        for (enum knob_id id = 0; id < KNOB_COUNT; id++)
                for (size_t i = 0; i < ELEMENTSOF(knob_table[id].path) && r >= 0; i++)
                        if (knob_table[id].path[i])
                                r = copy_file(root, dir, knob_table[id].path[i], b, ret_path);
        return r;
}

static int make_snapshot_dir(const char *dir)
{
        struct dirent **entry = NULL;
        int n;

        if (mkdir(dir, 0755) == 0)
                return 0;
        if (errno != EEXIST)
                return -errno;
        n = scandir(dir, &entry, NULL, NULL);
        if (n < 0)
                return -errno;
        for (int i = 0; i < n; i++)
                free(entry[i]);
        free(entry);
        return n > 2 ? -EEXIST : 0; /* "." and ".." */
}

static int write_times(const char *dir, uint64_t boottime_ns, uint64_t realtime_ns, char **ret_path)
{
        _cleanup_(freep) char *text = strf("{\"version\": 1, \"tlbd\": \"%s\", \"boottime_ns\": "
                                           "%llu, \"realtime_ns\": %llu}\n",
                                           TLBD_VERSION, (unsigned long long)boottime_ns,
                                           (unsigned long long)realtime_ns);
        char *path = path_join(dir, SNAPSHOT_FILE);
        int r;

        if (!text || !path) {
                free(path);
                return -ENOMEM;
        }
        r = file_write_atomic(path, text, strlen(text), 0644, false);
        if (r < 0)
                *ret_path = path;
        else
                free(path);
        return r;
}

int tree_snapshot(const char *root, const char *dir, char **ret_path)
{
        _cleanup_(buffer_done) struct buffer b = {0};
        uint64_t boottime_ns, realtime_ns;
        int r = make_snapshot_dir(dir);

        *ret_path = NULL;
        if (r < 0) {
                *ret_path = strdup(dir);
                return r;
        }
        boottime_ns = now_boottime_ns();
        realtime_ns = now_realtime_ns();
        for (size_t i = 0; i < ELEMENTSOF(snapshot_file) && r >= 0; i++)
                r = copy_file(root, dir, snapshot_file[i], &b, ret_path);
        if (r >= 0)
                r = copy_nodes(root, dir, &b, ret_path);
        if (r >= 0)
                r = copy_knobs(root, dir, &b, ret_path);
        return r < 0 ? r : write_times(dir, boottime_ns, realtime_ns, ret_path);
}
