/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup.h"

#include "delta.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

static void unit_done(struct cgroup_unit *u)
{
        free(u->path);
}

void cgroup_units_done(struct cgroup_units *u)
{
        for (size_t i = 0; i < u->n; i++)
                unit_done(&u->unit[i]);
        free(u->unit);
        *u = (struct cgroup_units){0};
}

static bool ends_with(const char *s, const char *end)
{
        size_t n = strlen(s), m = strlen(end);

        return n > m && strcmp(s + n - m, end) == 0;
}

static bool is_unit(const char *name)
{
        return ends_with(name, ".service") || ends_with(name, ".scope");
}

/* ---- walking ----------------------------------------------------------------------------------
 */

struct walk {
        struct cgroup_units *out;
        size_t capacity, directories, max_directories;
        struct buffer buffer;
};

/* Reads directory/name. */
static int read_at(int directory, const char *name, struct buffer *b)
{
        _cleanup_(closep) int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

        return fd < 0 ? -errno : buffer_pread(b, fd);
}

static int add_unit(struct walk *w, int fd, const char *path)
{
        struct cgroup_units *out = w->out;
        struct cgroup_unit u = {0};
        struct stat st;
        int r = read_at(fd, "memory.current", &w->buffer);

        if (r == -ENOMEM)
                return r;
        /* Gone, or without the memory controller. */
        if (r < 0 || !w->buffer.data || fstat(fd, &st) < 0 ||
            parse_u64(w->buffer.data, strcspn(w->buffer.data, "\n"), &u.current_bytes) < 0)
                return 0;
        u.id = st.st_ino;
        if (out->n == w->capacity) {
                size_t capacity = w->capacity ? w->capacity * 2 : 64;
                struct cgroup_unit *grown = reallocarray(out->unit, capacity, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                out->unit = grown;
                w->capacity = capacity;
        }
        u.path = strdup(path);
        if (!u.path)
                return -ENOMEM;
        u.name = strrchr(u.path, '/') + 1;
        out->unit[out->n++] = u;
        return 0;
}

static int walk_directory(struct walk *w, DIR *dir, const char *path, unsigned depth);

static int walk_child(struct walk *w, DIR *dir, const char *path, const char *name, unsigned depth)
{
        _cleanup_(freep) char *child_path = strf("%s/%s", path, name);
        int fd = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *child;
        int r;

        if (!child_path) {
                closep(&fd);
                return -ENOMEM;
        }
        if (fd < 0)
                return 0; /* it went away */
        if (is_unit(name)) {
                r = add_unit(w, fd, child_path);
                closep(&fd);
                return r;
        }
        child = fdopendir(fd);
        if (!child) {
                r = errno == ENOMEM ? -ENOMEM : 0;
                closep(&fd);
                return r;
        }
        r = walk_directory(w, child, child_path, depth + 1);
        (void)closedir(child);
        return r;
}

static int walk_directory(struct walk *w, DIR *dir, const char *path, unsigned depth)
{
        struct dirent *entry;
        int r = 0;

        while (r >= 0 && (entry = readdir(dir))) {
                if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
                        continue;
                if (depth >= CGROUP_MAX_DEPTH || w->directories >= w->max_directories)
                        break;
                w->directories++;
                r = walk_child(w, dir, path, entry->d_name, depth);
        }
        return r;
}

static int compare_size(const void *a, const void *b)
{
        const struct cgroup_unit *x = a, *y = b;

        return (x->current_bytes < y->current_bytes) - (x->current_bytes > y->current_bytes);
}

static int compare_path(const void *a, const void *b)
{
        const struct cgroup_unit *x = a, *y = b;

        return strcmp(x->path, y->path);
}

static void keep_biggest(struct cgroup_units *u, size_t max_units)
{
        if (u->n <= max_units)
                return;
        qsort(u->unit, u->n, sizeof(*u->unit), compare_size);
        u->n_left_out = u->n - max_units;
        while (u->n > max_units)
                unit_done(&u->unit[--u->n]);
}

/* A unit that went away since the walk stays UNREAD. One that was started again meanwhile is the
 * new cgroup. */
static int read_unit(const char *root, struct cgroup_unit *u, struct buffer *b)
{
        _cleanup_(freep) char *path = strf("%s%s", root, u->path);
        _cleanup_(closep) int fd = -1;
        struct stat st;
        int r;

        if (!path)
                return -ENOMEM;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                return 0;
        u->id = st.st_ino;
        r = read_at(fd, "memory.stat", b);
        if (r == 0)
                vmstat_parse(b->data, b->len, &u->stat);
        if (r != -ENOMEM)
                r = read_at(fd, "memory.pressure", b);
        if (r == 0)
                pressure_parse(b->data, b->len, &u->pressure);
        return r == -ENOMEM ? r : 0;
}

/* Units that are known, by path. */
static int read_units(const char *top, struct cgroup_units *u, struct buffer *b)
{
        size_t kept = 0;
        int r = 0;

        for (size_t i = 0; i < u->n && r >= 0; i++)
                r = read_unit(top, &u->unit[i], b);
        for (size_t i = 0; i < u->n; i++)
                if (u->unit[i].stat.state == SOURCE_UNREAD)
                        unit_done(&u->unit[i]);
                else
                        u->unit[kept++] = u->unit[i];
        u->n = kept;
        if (u->n > 0)
                qsort(u->unit, u->n, sizeof(*u->unit), compare_path);
        return r;
}

/* Whether a word stands in a line of words. */
static bool has_word(const char *line, const char *word)
{
        size_t n = strlen(word);

        for (const char *p = line; (p = strstr(p, word)); p += n)
                if ((p == line || p[-1] == ' ') && strchr(" \n", p[n]))
                        return true;
        return false;
}

/* cgroup v2 has cgroup.controllers at its root, v1 has not. */
static enum source_state controller_state(const char *top, struct buffer *b)
{
        _cleanup_(freep) char *path = path_join(top, "/cgroup.controllers");
        int r = path ? buffer_read_path(b, path) : -ENOMEM;

        if (r < 0)
                return source_state_from_errno(r);
        return has_word(b->data, "memory") ? SOURCE_OK : SOURCE_ABSENT;
}

int cgroup_units_read(const char *root, size_t max_units, struct cgroup_units *ret)
{
        return cgroup_units_read_some(root, max_units, CGROUP_MAX_DIRECTORIES, ret);
}

int cgroup_units_read_some(const char *root, size_t max_units, size_t max_directories,
                           struct cgroup_units *ret)
{
        _cleanup_(freep) char *top = path_join(root, CGROUP_ROOT);
        struct cgroup_units out = {0};
        struct walk w = {.out = &out, .max_directories = max_directories};
        DIR *dir = NULL;
        int r = 0;

        if (!top)
                return -ENOMEM;
        out.state = controller_state(top, &w.buffer);
        if (out.state == SOURCE_OK && !(dir = opendir(top)))
                out.state = source_state_from_errno(-errno);
        if (dir) {
                r = walk_directory(&w, dir, "", 0);
                (void)closedir(dir);
        }
        if (r >= 0) {
                keep_biggest(&out, max_units);
                r = read_units(top, &out, &w.buffer);
        }
        buffer_done(&w.buffer);
        if (r < 0)
                cgroup_units_done(&out);
        else
                *ret = out;
        return r;
}

/* ---- differences ------------------------------------------------------------------------------
 */

/* What is counted for each unit and for the machine. */
enum part {
        PART_MIGRATED,
        PART_PTES,
        PART_FAULTS,
        PART_PROMOTED,
        PART_DEMOTED,
        PART_RECLAIMED,
        PART_DIRECT,
        PART_REFAULTS,
        PART_COUNT
};

struct parts {
        struct delta of[PART_COUNT];
};

/* Counters of one unit, or of the machine, between two readings. */
static struct parts parts_between(const struct vmstat *b, const struct vmstat *a, double limit)
{
        static const enum vmstat_id refaults[] = {VM_WORKINGSET_REFAULT_ANON,
                                                  VM_WORKINGSET_REFAULT_FILE};
        struct parts p = {0};

        p.of[PART_MIGRATED] = vmstat_delta(b, a, VM_NUMA_PAGES_MIGRATED, limit);
        p.of[PART_PTES] = vmstat_delta(b, a, VM_NUMA_PTE_UPDATES, limit);
        p.of[PART_FAULTS] = vmstat_delta(b, a, VM_NUMA_HINT_FAULTS, limit);
        p.of[PART_PROMOTED] = vmstat_delta(b, a, VM_PGPROMOTE_SUCCESS, limit);
        p.of[PART_DEMOTED] =
                vmstat_sum_of(b, a, vmstat_demote_ids, VMSTAT_DEMOTE_COUNT, false, limit);
        p.of[PART_RECLAIMED] =
                vmstat_sum_of(b, a, vmstat_steal_ids, VMSTAT_STEAL_COUNT, false, limit);
        p.of[PART_DIRECT] = vmstat_delta(b, a, VM_PGSTEAL_DIRECT, limit);
        p.of[PART_REFAULTS] = vmstat_sum_of(b, a, refaults, ELEMENTSOF(refaults), true, limit);
        return p;
}

static const struct cgroup_unit *find_unit(const struct cgroup_units *u,
                                           const struct cgroup_unit *wanted)
{
        struct cgroup_unit key = {.path = wanted->path};
        const struct cgroup_unit *found =
                u->n > 0 ? bsearch(&key, u->unit, u->n, sizeof(*u->unit), compare_path) : NULL;

        return found && found->id == wanted->id ? found : NULL;
}

/* A unit that is seen for the first time, or that was another one, has no difference yet: what it
 * did is in "other". */
static struct parts unit_parts(const struct cgroup_units *before, const struct cgroup_unit *after,
                               double limit)
{
        const struct cgroup_unit *b = find_unit(before, after);

        if (!b || b->stat.state != SOURCE_OK || after->stat.state != SOURCE_OK)
                return (struct parts){0};
        return parts_between(&b->stat, &after->stat, limit);
}

static struct metric psi_metric(const struct pressure_row *row)
{
        if (!row->present)
                return (struct metric){.validity = VALIDITY_UNSUPPORTED};
        return (struct metric){.validity = VALIDITY_OK, .value = row->avg10};
}

static void fill(struct unit_metric *m, const struct parts *p, const struct parts *all,
                 double interval_s)
{
        m->migrated_per_s = delta_rate(p->of[PART_MIGRATED], interval_s);
        m->pte_updates_per_s = delta_rate(p->of[PART_PTES], interval_s);
        m->hint_faults_per_s = delta_rate(p->of[PART_FAULTS], interval_s);
        m->promoted_per_s = delta_rate(p->of[PART_PROMOTED], interval_s);
        m->demoted_per_s = delta_rate(p->of[PART_DEMOTED], interval_s);
        m->reclaimed_per_s = delta_rate(p->of[PART_RECLAIMED], interval_s);
        m->direct_reclaimed_per_s = delta_rate(p->of[PART_DIRECT], interval_s);
        m->refaults_per_s = delta_rate(p->of[PART_REFAULTS], interval_s);
        m->migrated_share = delta_share(p->of[PART_MIGRATED], all->of[PART_MIGRATED]);
        m->reclaimed_share = delta_share(p->of[PART_RECLAIMED], all->of[PART_RECLAIMED]);
}

/* Adds what is known of a unit. What is not (a counter that fell) is part of "other", and does not
 * spoil the shares of the rest; but no unit at all with a counter is not the same as none moving.
 */
static void sum_parts(struct parts *sum, const struct parts *p, const struct cgroup_unit *unit,
                      double limit)
{
        const struct parts nothing = parts_between(&unit->stat, &unit->stat, limit);

        for (enum part k = 0; k < PART_COUNT; k++)
                sum->of[k] =
                        delta_add(sum->of[k], delta_usable(p->of[k]) ? p->of[k] : nothing.of[k]);
}

/* all becomes the larger of the machine's and the units' sum: they are not read at one time, and
 * /proc/vmstat of older kernels leaves out reclaim below a cgroup's limit. other is what is left. A
 * counter that cgroups do not have stays unknown for units and other. */
static void split_other(struct parts *all, const struct parts *sum, struct parts *other)
{
        for (enum part i = 0; i < PART_COUNT; i++) {
                if (!delta_usable(sum->of[i]) || !delta_usable(all->of[i])) {
                        other->of[i] = (struct delta){.validity = VALIDITY_UNSUPPORTED};
                        all->of[i] = sum->of[i];
                        continue;
                }
                if (all->of[i].value < sum->of[i].value)
                        all->of[i].value = sum->of[i].value;
                other->of[i] = (struct delta){VALIDITY_OK, all->of[i].value - sum->of[i].value};
        }
}

static double weight(const struct unit_metric *m)
{
        double w = 0;

        if (metric_has_value(&m->migrated_per_s))
                w += m->migrated_per_s.value;
        if (metric_has_value(&m->reclaimed_per_s))
                w += m->reclaimed_per_s.value;
        return w;
}

static int compare_weight(const void *a, const void *b)
{
        const struct unit_metric *m = a, *n = b;
        double x = weight(m), y = weight(n);

        return x != y ? (x < y) - (x > y) : strcmp(m->path, n->path);
}

void unit_metrics_done(struct unit_metrics *m)
{
        free(m->unit);
        *m = (struct unit_metrics){0};
}

int unit_metrics_derive(const struct cgroup_units *before, const struct cgroup_units *after,
                        const struct vmstat *machine_before, const struct vmstat *machine_after,
                        double interval_s, struct unit_metrics *ret)
{
        /* No machine has more than a few thousand CPUs that could count at once. */
        double limit = METRICS_MAX_PER_CPU_AND_SECOND * interval_s * 8192;
        struct parts all = parts_between(machine_before, machine_after, limit), sum = {0}, other;
        struct unit_metric *m = calloc(after->n + 1, sizeof(*m));
        struct parts *part = calloc(after->n + 1, sizeof(*part));

        if (!m || !part) {
                free(m);
                free(part);
                return -ENOMEM;
        }
        for (size_t i = 0; i < after->n; i++) {
                part[i] = unit_parts(before, &after->unit[i], limit);
                sum_parts(&sum, &part[i], &after->unit[i], limit);
        }
        split_other(&all, &sum, &other);
        for (size_t i = 0; i < after->n; i++) {
                m[i] = (struct unit_metric){
                        .path = after->unit[i].path,
                        .name = after->unit[i].name,
                        .psi_some_avg10 = psi_metric(&after->unit[i].pressure.some),
                        .psi_full_avg10 = psi_metric(&after->unit[i].pressure.full),
                };
                fill(&m[i], &part[i], &all, interval_s);
        }
        qsort(m, after->n, sizeof(*m), compare_weight);
        m[after->n] = (struct unit_metric){.path = "", .name = "other"};
        fill(&m[after->n], &other, &all, interval_s);
        free(part);
        *ret = (struct unit_metrics){.interval_s = interval_s, .unit = m, .n = after->n + 1};
        return 0;
}
