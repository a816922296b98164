/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_ROOT "/sys/fs/cgroup"

static void entries_free(struct task_entry *e, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(e[i].unit);
        free(e);
}

int tasks_init(struct tasks *t, const char *root)
{
        *t = (struct tasks){
                .state = SOURCE_UNREAD,
                .root = path_join(root, ""),
                .live = !root || !*root,
        };
        return t->root ? 0 : -ENOMEM;
}

static void disconnect(struct tasks *t)
{
        taskstats_close(&t->client);
        entries_free(t->entry, t->n);
        entries_free(t->ended, t->n_ended);
        t->entry = t->ended = NULL;
        t->n = t->n_running = t->n_ended = t->n_left_out = 0;
        t->awake_ns = 0;
        t->interval_s = 0;
}

void tasks_done(struct tasks *t)
{
        disconnect(t);
        free(t->root);
        *t = (struct tasks){0};
}

/* ---- who belongs where ------------------------------------------------------------------------
 */

/* The path up to and including the first unit in it, as cgroup.h counts. */
static char *unit_of_path(const char *path, size_t len)
{
        static const char *const end[] = {".service", ".scope"};

        for (size_t i = 1; i <= len; i++) {
                if (i < len && path[i] != '/')
                        continue;
                for (size_t k = 0; k < ELEMENTSOF(end); k++) {
                        size_t n = strlen(end[k]);

                        /* A name of its own in front of the ending. */
                        if (i > n && path[i - n - 1] != '/' && memcmp(path + i - n, end[k], n) == 0)
                                return strndup(path, i);
                }
        }
        return strdup("");
}

/* The unit of a process by /proc/PID/cgroup ("0::/path" is cgroup v2, with " (deleted)" behind it
 * if it was removed under its last, ending process); NULL if it is gone. */
static char *unit_of_process(const struct tasks *t, uint32_t pid, struct buffer *b)
{
        _cleanup_(freep) char *path = strf("%s/proc/%u/cgroup", t->root, pid);
        static const char deleted[] = " (deleted)";
        const char *line;
        size_t len;

        if (!path || buffer_read_path(b, path) < 0)
                return NULL;
        line = strncmp(b->data, "0::", 3) == 0 ? b->data : strstr(b->data, "\n0::");
        if (!line)
                return strdup("");
        line = strstr(line, "0::") + 3;
        len = strcspn(line, "\n");
        if (len >= strlen(deleted) &&
            memcmp(line + len - strlen(deleted), deleted, strlen(deleted)) == 0)
                len -= strlen(deleted);
        return unit_of_path(line, len);
}

/* ---- ended tasks ------------------------------------------------------------------------------
 */

static struct task_entry *ended_entry(struct tasks *t, const char *unit, const char *comm)
{
        struct task_entry *e;

        for (size_t i = 0; i < t->n_ended; i++)
                if (strcmp(t->ended[i].unit, unit) == 0 && strcmp(t->ended[i].comm, comm) == 0)
                        return &t->ended[i];
        if (t->n_ended == TASKS_MAX_ENDED)
                return NULL;
        if (!t->ended)
                t->ended = calloc(TASKS_MAX_ENDED, sizeof(*t->ended));
        if (!t->ended)
                return NULL;
        e = &t->ended[t->n_ended];
        e->unit = strdup(unit);
        if (!e->unit)
                return NULL;
        (void)snprintf(e->comm, sizeof(e->comm), "%s", comm);
        t->n_ended++;
        return e;
}

static bool waited(const struct task_delays *task)
{
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++)
                if (k != DELAY_IRQ && task->delay[k].total_ns > 0)
                        return true;
        return false;
}

static int compare_pid(const void *a, const void *b)
{
        const struct task_entry *x = a, *y = b;

        return (x->pid > y->pid) - (x->pid < y->pid);
}

static const struct task_entry *entry_of(const struct task_entry *entry, size_t n, uint32_t pid)
{
        const struct task_entry key = {.pid = pid};

        return n > 0 ? bsearch(&key, entry, n, sizeof(key), compare_pid) : NULL;
}

/* A task that has ended may be gone from /proc already: then by the last pass, or by its parent,
 * unless that is init or kthreadd, which adopt from anywhere. */
static char *unit_of_ended(const struct tasks *t, const struct task_delays *task, struct buffer *b)
{
        char *unit = unit_of_process(t, task->pid, b);
        const struct task_entry *last = entry_of(t->entry, t->n_running, task->pid);

        if (!unit && last)
                unit = strdup(last->unit);
        if (!unit && task->ppid > 2)
                unit = unit_of_process(t, task->ppid, b);
        return unit;
}

/* Threads come one by one; the sums of their group would count them again. */
static void on_exit_message(const struct task_delays *task, bool group, void *userdata)
{
        struct tasks *t = userdata;
        _cleanup_(buffer_done) struct buffer b = {0};
        _cleanup_(freep) char *unit = NULL;
        struct task_entry *e;

        /* Most tasks that end have never waited for memory: nothing is looked up for them. */
        if (group || !waited(task))
                return;
        unit = unit_of_ended(t, task, &b);
        e = ended_entry(t, unit ? unit : "", task->comm);
        if (!e)
                return;
        e->ended++;
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                e->delta[k].known = task->delay[k].known;
                e->delta[k].count += task->delay[k].count;
                e->delta[k].total_ns += task->delay[k].total_ns;
        }
}

int tasks_fd(const struct tasks *t)
{
        return t->client ? taskstats_exit_fd(t->client) : -1;
}

void tasks_dispatch(struct tasks *t)
{
        if (t->client && taskstats_dispatch(t->client, &t->exits) < 0)
                disconnect(t);
}

/* ---- running processes ------------------------------------------------------------------------
 */

/* Differences to the last pass, if it was the same process then. */
static void take_deltas(struct task_entry *e, const struct task_entry *last, size_t n_last)
{
        const struct task_entry *l = entry_of(last, n_last, e->pid);

        if (!l || l->start != e->start)
                return;
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                const struct delay *was = &l->total[k], *is = &e->total[k];

                if (was->known && is->known && is->total_ns >= was->total_ns &&
                    is->count >= was->count)
                        e->delta[k] = (struct delay){true, is->count - was->count,
                                                     is->total_ns - was->total_ns};
        }
}

/* Command and start time of /proc/PID/stat: "PID (COMM) STATE ...", where COMM may hold blanks and
 * parentheses, and the start is the 20th field behind it. */
static void read_stat(const struct tasks *t, struct buffer *b, struct task_entry *e)
{
        _cleanup_(freep) char *path = strf("%s/proc/%u/stat", t->root, e->pid);
        char *comm, *end, *field;

        if (!path || buffer_read_path(b, path) < 0)
                return;
        comm = strchr(b->data, '(');
        end = strrchr(b->data, ')');
        if (!comm || !end || end < comm)
                return;
        (void)snprintf(e->comm, sizeof(e->comm), "%.*s", (int)(end - comm - 1), comm + 1);
        field = end;
        for (int i = 0; i < 20 && field; i++)
                field = strchr(field + 1, ' ');
        if (field && parse_u64(field + 1, strcspn(field + 1, " \n"), &e->start) < 0)
                e->start = 0;
}

/* Adds one process; one that is gone is left out. */
static int add_process(struct tasks *t, const char *unit, uint32_t pid, struct task_entry *entry,
                       size_t *n, struct buffer *b)
{
        struct task_delays delays;
        struct task_entry *e = &entry[*n];
        int r = taskstats_get_process(t->client, (pid_t)pid, &delays);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        *e = (struct task_entry){.pid = pid, .unit = strdup(unit)};
        if (!e->unit)
                return -ENOMEM;
        read_stat(t, b, e);
        memcpy(e->total, delays.delay, sizeof(e->total));
        (*n)++;
        return 0;
}

struct unit_walk {
        struct tasks *t;
        const char *unit;
        struct task_entry *entry;
        size_t *n, limit;
        unsigned directories;
        struct buffer procs, scratch;
};

/* The processes in cgroup.procs of a directory. */
static int add_directory(struct unit_walk *w, int directory)
{
        _cleanup_(closep) int fd = openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
        int r = fd < 0 ? -errno : buffer_pread(&w->procs, fd);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        for (const char *p = w->procs.data; *p && r >= 0;) {
                size_t len = strcspn(p, "\n");
                uint64_t pid;

                if (parse_u64(p, len, &pid) == 0 && pid > 0 && pid <= INT32_MAX) {
                        if (*w->n < w->limit)
                                r = add_process(w->t, w->unit, (uint32_t)pid, w->entry, w->n,
                                                &w->scratch);
                        else
                                w->t->n_left_out++;
                }
                p += len + (p[len] == '\n');
        }
        return r;
}

/* A unit that delegates (user@1000.service, containers) has its processes further below. */
static int walk_unit(struct unit_walk *w, int fd, unsigned depth)
{
        DIR *dir = fdopendir(fd);
        struct dirent *entry;
        int r;

        if (!dir) {
                closep(&fd);
                return 0;
        }
        r = add_directory(w, dirfd(dir));
        while (r >= 0 && depth < CGROUP_MAX_DEPTH && w->directories < TASKS_MAX_DIRECTORIES &&
               (entry = readdir(dir))) {
                int child;

                if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
                        continue;
                w->directories++;
                child = openat(dirfd(dir), entry->d_name,
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (child >= 0)
                        r = walk_unit(w, child, depth + 1);
        }
        (void)closedir(dir);
        return r;
}

/* At most limit entries are in use afterwards. */
static int add_unit(struct tasks *t, const char *unit, struct task_entry *entry, size_t *n,
                    size_t limit)
{
        _cleanup_(freep) char *path = strf("%s" CGROUP_ROOT "%s", t->root, unit);
        struct unit_walk w = {.t = t, .unit = unit, .entry = entry, .n = n, .limit = limit};
        int fd, r;

        if (!path)
                return -ENOMEM;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        r = fd < 0 ? 0 : walk_unit(&w, fd, 0);
        buffer_done(&w.procs);
        buffer_done(&w.scratch);
        return r;
}

/* Each unit may have an even part of the places that those before it left. */
static int ask_about_units(struct tasks *t, const struct unit_metrics *units,
                           struct task_entry *entry, size_t *n)
{
        size_t left = 0;
        int r = 0;

        t->n_left_out = 0;
        for (size_t i = 0; i < units->n && left < TASKS_MAX_UNITS; i++)
                left += units->unit[i].path[0] != '\0'; /* "other" has none */
        for (size_t i = 0; left > 0 && r >= 0; i++) {
                if (!units->unit[i].path[0])
                        continue;
                r = add_unit(t, units->unit[i].path, entry, n,
                             *n + (TASKS_MAX_PROCESSES - *n) / left);
                left--;
        }
        return r;
}

/* The new list: running processes, then what ended since the last pass. */
static int collect(struct tasks *t, const struct unit_metrics *units)
{
        size_t capacity = TASKS_MAX_PROCESSES + TASKS_MAX_ENDED, n = 0;
        struct task_entry *entry = calloc(capacity, sizeof(*entry));
        int r;

        if (!entry)
                return -ENOMEM;
        r = ask_about_units(t, units, entry, &n);
        if (r < 0) {
                entries_free(entry, n);
                return r;
        }
        if (n > 0)
                qsort(entry, n, sizeof(*entry), compare_pid);
        for (size_t i = 0; i < n; i++)
                take_deltas(&entry[i], t->entry, t->n_running);
        entries_free(t->entry, t->n);
        if (t->n_ended > 0)
                memcpy(entry + n, t->ended, t->n_ended * sizeof(*entry));
        t->entry = entry;
        t->n_running = n;
        t->n = n + t->n_ended;
        free(t->ended); /* its units have moved to entry */
        t->ended = NULL;
        t->n_ended = 0;
        return 0;
}

/* ---- connection -------------------------------------------------------------------------------
 */

/* Whether the kernel accounts delays now (kernel.task_delayacct, since 5.14; a kernel without the
 * sysctl decides at boot, and is asked). */
static bool accounting_off(const struct tasks *t)
{
        _cleanup_(freep) char *path = path_join(t->root, "/proc/sys/kernel/task_delayacct");
        _cleanup_(buffer_done) struct buffer b = {0};

        return path && buffer_read_path(&b, path) == 0 && b.data[0] == '0';
}

static int connect_client(struct tasks *t)
{
        _cleanup_(freep) char *path = path_join(t->root, "/sys/devices/system/cpu/possible");
        _cleanup_(buffer_done) struct buffer b = {0};
        int r;

        if (!path)
                return -ENOMEM;
        r = taskstats_open(&t->client);
        if (r == -EPERM)
                t->state = SOURCE_DENIED;
        else if (r < 0)
                t->state = SOURCE_ABSENT;
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        t->state = SOURCE_OK;
        if (buffer_read_path(&b, path) < 0)
                return 0; /* exits are not heard then */
        b.data[strcspn(b.data, "\n")] = '\0';
        r = taskstats_watch_exits(t->client, b.data, on_exit_message, t);
        return r == -ENOMEM ? r : 0;
}

int tasks_update(struct tasks *t, const struct unit_metrics *units, uint64_t now_ns)
{
        int r;

        if (!t->live) { /* a tree of files cannot be asked */
                t->state = SOURCE_ABSENT;
                return 0;
        }
        if (accounting_off(t)) {
                disconnect(t);
                t->state = SOURCE_OFF;
                return 0;
        }
        if (!t->client) {
                r = connect_client(t);
                if (r < 0 || !t->client)
                        return r;
        }
        tasks_dispatch(t);
        if (!t->client)
                return 0;
        t->interval_s = t->awake_ns ? (double)(now_ns - t->awake_ns) / (double)NSEC_PER_SEC : 0;
        t->awake_ns = now_ns;
        return collect(t, units);
}
