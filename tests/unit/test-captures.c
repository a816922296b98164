/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Reads every file of a folder with texts of real machines (TLBD_CAPTURES) and compares with what
 * its README says is the right reading. The figures are here, the files are not ours to give away.
 * Each file is a case; a file of the table that is not there is skipped, and a file that is not in
 * the table is a failure.
 */
#include "unit.h"

#include "interrupts.h"
#include "node.h"
#include "pressure.h"
#include "procstat.h"
#include "vmstat.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#define NOT_GIVEN UINT64_MAX
#define NO_ROW UINT64_MAX

static const char *captures; /* the folder */

static void skip_because(const char *reason)
{
        print_message("# skip: %s\n", reason);
        skip();
}

/* Skips the case if there is no such file. Call it with nothing to free. */
static void need_capture(const char *folder, const char *file)
{
        char path[4096];

        assert_true(snprintf(path, sizeof(path), "%s/%s/%s", captures, folder, file) <
                    (int)sizeof(path));
        if (access(path, F_OK) < 0)
                skip_because("the README names it, but it is not in the folder");
}

static void read_capture(const char *folder, const char *file, struct buffer *b)
{
        _cleanup_(freep) char *path = strf("%s/%s/%s", captures, folder, file);

        assert_non_null(path);
        assert_int_equal(buffer_read_path(b, path), 0);
}

static void assert_ids(const unsigned *id, size_t n, const char *expected)
{
        struct idlist l = {0};

        assert_int_equal(idlist_parse_ranges(expected, strlen(expected), &l), 0);
        assert_int_equal(n, l.n);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(id[i], l.id[i]);
        idlist_done(&l);
}

/* interrupts */

struct interrupts_figure {
        const char *file, *cpus;
        uint64_t tlb, cal, res; /* sums */
        bool invalid;           /* no header */
        struct {
                const char *label;
                uint64_t sum;
        } ipi[2];
        const char *short_rows[2]; /* with fewer counts than CPUs */
};

static const struct interrupts_figure interrupts_figures[] = {
#define INTERRUPTS(...) {.file = __VA_ARGS__},
#include "captures.def"
};

static const char *const labels[] = {"TLB",  "CAL",  "RES",  "IPI0", "IPI1", "IPI2", "IPI3",
                                     "IPI4", "IPI5", "IPI6", "IPI7", "ERR",  "MIS",  "Err"};

static void read_interrupts(const char *file, struct interrupts *ret)
{
        _cleanup_(buffer_done) struct buffer b = {0};
        struct interrupts_parser p;

        read_capture("interrupts", file, &b);
        assert_int_equal(interrupts_init(ret, labels, ELEMENTSOF(labels)), 0);
        interrupts_parse_start(&p, ret);
        assert_int_equal(interrupts_parse_feed(&p, b.data, b.len), 0);
        interrupts_parse_finish(&p);
}

static void assert_row(const struct interrupts *i, const char *label, uint64_t sum)
{
        const struct interrupts_row *row = interrupts_row(i, label);

        assert_int_equal(row->state, sum == NO_ROW ? SOURCE_ABSENT : SOURCE_OK);
        if (sum != NO_ROW)
                assert_true(row->sum == sum);
}

static void check_interrupts(void **state)
{
        const struct interrupts_figure *f = *state;
        struct interrupts i = {0};

        need_capture("interrupts", f->file);
        read_interrupts(f->file, &i);
        if (f->invalid) {
                assert_int_equal(i.state, SOURCE_INVALID);
                assert_int_equal(interrupts_row(&i, "TLB")->state, SOURCE_INVALID);
                interrupts_done(&i);
                return;
        }
        assert_int_equal(i.state, SOURCE_OK);
        assert_ids(i.cpu, i.n_cpus, f->cpus);
        assert_row(&i, "TLB", f->tlb);
        assert_row(&i, "CAL", f->cal);
        assert_row(&i, "RES", f->res);
        for (size_t k = 0; k < ELEMENTSOF(f->ipi) && f->ipi[k].label; k++)
                assert_row(&i, f->ipi[k].label, f->ipi[k].sum);
        for (size_t k = 0; k < ELEMENTSOF(f->short_rows) && f->short_rows[k]; k++)
                assert_int_equal(interrupts_row(&i, f->short_rows[k])->state, SOURCE_TRUNCATED);
        interrupts_done(&i);
}

/* A1: the label ends at its ':', not at a blank; a sum of 32-bit counts. */
static void check_touching_label(void **state)
{
        struct interrupts i = {0};
        const struct interrupts_row *row;

        (void)state;
        need_capture("interrupts", "arm64-4cpu-raspi-touching.txt");
        read_interrupts("arm64-4cpu-raspi-touching.txt", &i);
        row = interrupts_row(&i, "IPI5");
        assert_int_equal(row->state, SOURCE_OK);
        assert_int_equal(row->count[0], 1832994294);
        interrupts_done(&i);
}

/* A3, in a file that not every copy of the folder has. */
static void check_large_sum(void **state)
{
        struct interrupts i = {0};

        (void)state;
        need_capture("interrupts", "arm64-8cpu-node-exporter.txt");
        read_interrupts("arm64-8cpu-node-exporter.txt", &i);
        assert_row(&i, "IPI0", 22166462124);
        interrupts_done(&i);
}

struct delta_figure {
        const char *file, *after;
        uint64_t total[3]; /* TLB, CAL, RES */
        const char *only_before, *only_after;
};

static const struct delta_figure delta_figures[] = {
#define DELTA(...) {.file = __VA_ARGS__},
#include "captures.def"
};

static void ids_of_one(const struct interrupts *of, const struct interrupts *other,
                       struct idlist *ret)
{
        for (size_t x = 0; x < of->n_cpus; x++) {
                bool common = false;

                for (size_t y = 0; y < other->n_cpus; y++)
                        common |= of->cpu[x] == other->cpu[y];
                if (!common)
                        assert_int_equal(idlist_append(ret, of->cpu[x]), 0);
        }
}

static void check_delta(void **state)
{
        const struct delta_figure *f = *state;
        struct interrupts before = {0}, after = {0};
        struct idlist only_before = {0}, only_after = {0};
        struct interrupts_delta d;

        need_capture("interrupts", f->file);
        need_capture("interrupts", f->after);
        read_interrupts(f->file, &before);
        read_interrupts(f->after, &after);
        ids_of_one(&before, &after, &only_before);
        ids_of_one(&after, &before, &only_after);
        assert_ids(only_before.id, only_before.n, f->only_before);
        assert_ids(only_after.id, only_after.n, f->only_after);
        for (size_t k = 0; k < ELEMENTSOF(f->total); k++) {
                assert_int_equal(interrupts_delta(&before, &after, labels[k], &d), 0);
                assert_true(d.total == f->total[k]);
                assert_int_equal(d.n_only_before, only_before.n);
                assert_int_equal(d.n_only_after, only_after.n);
                assert_int_equal(d.n_common, before.n_cpus - only_before.n);
        }
        idlist_done(&only_before);
        idlist_done(&only_after);
        interrupts_done(&before);
        interrupts_done(&after);
}

/* vmstat */

struct vmstat_figure {
        const char *file;
        size_t rows;
        bool truncated; /* no newline at the end */
        bool no_balancing, no_numa;
        struct {
                const char *name;
                uint64_t value;
                bool per_zone;
        } counter[9];
};

static const struct vmstat_figure vmstat_figures[] = {
#define VMSTAT(...) {.file = __VA_ARGS__},
#include "captures.def"
};

struct search {
        const char *name;
        size_t prefix; /* compare this much of the name, or 0: all of it */
        size_t hits;
        uint64_t value;
};

static void find_row(const char *name, size_t name_len, uint64_t value, bool complete,
                     void *userdata)
{
        struct search *s = userdata;
        size_t len = s->prefix ? s->prefix : strlen(s->name);

        (void)complete;
        if (name_len < len || (!s->prefix && name_len != len) || memcmp(name, s->name, len) != 0)
                return;
        s->hits++;
        s->value = value;
}

/* The counter of this name that metrics are made from, or VM_COUNT. */
static enum vmstat_id id_of(const char *name)
{
        enum vmstat_id id = 0;

        while (id < VM_COUNT && strcmp(vmstat_name(id), name) != 0)
                id++;
        return id;
}

static void check_vmstat(void **state)
{
        const struct vmstat_figure *f = *state;
        _cleanup_(buffer_done) struct buffer b = {0};
        enum source_state expected = f->truncated ? SOURCE_TRUNCATED : SOURCE_OK;
        struct vmstat v;

        need_capture("vmstat", f->file);
        read_capture("vmstat", f->file, &b);
        vmstat_parse(b.data, b.len, &v);
        assert_int_equal(v.state, expected);
        assert_int_equal(v.n_rows, f->rows);
        for (size_t k = 0; k < ELEMENTSOF(f->counter) && f->counter[k].name; k++) {
                struct search s = {.name = f->counter[k].name};
                enum vmstat_id id = id_of(s.name);

                assert_int_equal(vmstat_each(b.data, b.len, find_row, &s), expected);
                assert_int_equal(s.hits, f->counter[k].per_zone ? 0 : 1);
                assert_true(s.hits == 0 || s.value == f->counter[k].value);
                assert_true(id < VM_COUNT || !f->counter[k].per_zone);
                if (id == VM_COUNT)
                        continue;
                assert_int_equal(v.origin[id],
                                 f->counter[k].per_zone ? VMSTAT_PER_ZONE : VMSTAT_PLAIN);
                assert_true(v.value[id] == f->counter[k].value);
        }
        for (enum vmstat_id id = VM_NUMA_PTE_UPDATES; id <= VM_NUMA_PAGES_MIGRATED; id++)
                if (f->no_balancing)
                        assert_false(vmstat_has(&v, id));
        if (f->no_numa) {
                struct search s = {.name = "numa_", .prefix = 5};

                assert_int_equal(vmstat_each(b.data, b.len, find_row, &s), expected);
                assert_int_equal(s.hits, 0);
        }
}

/* node */

struct node_figure {
        const char *file, *ids;
        unsigned cpus; /* in all nodes; 0: no CPU list in the file */
        const char *without_cpus, *online, *cpu_online;
        unsigned distances, largest; /* numbers in a row; 0: none */
        unsigned vmstats, numastats;
        uint64_t hit, foreign;
};

static const struct node_figure node_figures[] = {
#define NODE(...) {.file = __VA_ARGS__},
#include "captures.def"
};

/* Whether a line of a bundle names the file that follows. */
static bool is_file_line(const char *line, size_t len)
{
        return len > 10 && memcmp(line, "==> /", 5) == 0 &&
               memcmp(line + len - 5, " <==\n", 5) == 0;
}

/* Writes the files of a bundle, each behind its line "==> PATH <==", below dir. */
static void unbundle(const struct buffer *b, const char *dir)
{
        const char *end = b->data + b->len;
        FILE *f = NULL;

        for (const char *line = b->data; line < end;) {
                const char *newline = memchr(line, '\n', (size_t)(end - line));
                size_t len = newline ? (size_t)(newline - line) + 1 : (size_t)(end - line);

                if (is_file_line(line, len)) {
                        _cleanup_(freep) char *path = strndup(line + 5, len - 10);
                        _cleanup_(freep) char *full = strf("%s/%s", dir, path);

                        if (f)
                                assert_int_equal(fclose(f), 0);
                        unit_write(dir, path, "");
                        f = fopen(full, "w");
                        assert_non_null(f);
                } else if (f) {
                        assert_int_equal(fwrite(line, 1, len, f), len);
                }
                line += len;
        }
        assert_non_null(f);
        assert_int_equal(fclose(f), 0);
}

static bool node_has_file(const char *dir, unsigned id, const char *name)
{
        _cleanup_(freep) char *path = strf("%s/sys/devices/system/node/node%u/%s", dir, id, name);

        return access(path, F_OK) == 0;
}

static void assert_list_file(const char *dir, const char *path, const char *expected)
{
        _cleanup_(freep) char *full = strf("%s%s", dir, path);
        _cleanup_(buffer_done) struct buffer b = {0};
        struct idlist l = {0};

        assert_int_equal(buffer_read_path(&b, full), 0);
        assert_int_equal(idlist_parse_ranges(b.data, b.len, &l), 0);
        assert_ids(l.id, l.n, expected);
        idlist_done(&l);
}

static void check_one_node(const struct node_figure *f, const struct nodes *nodes,
                           const struct node *n, const struct idlist *without_cpus,
                           unsigned *largest)
{
        assert_int_equal(n->cpus_known, f->cpus > 0);
        if (f->cpus > 0)
                assert_int_equal(n->cpus.n == 0, idlist_contains(without_cpus, n->id));
        assert_int_equal(n->distance != NULL, f->distances > 0);
        if (!n->distance)
                return;
        assert_int_equal(nodes->n, f->distances);
        assert_int_equal(n->distance[n - nodes->node], 10); /* to itself */
        for (size_t k = 0; k < nodes->n; k++)
                if (n->distance[k] > *largest)
                        *largest = n->distance[k];
}

static void check_nodes(const char *dir, const struct node_figure *f)
{
        size_t cpus = 0, vmstats = 0, numastats = 0;
        uint64_t hit = 0, foreign = 0;
        struct idlist ids = {0}, without_cpus = {0};
        unsigned largest = 0;
        struct nodes nodes = {0};

        if (f->without_cpus)
                assert_int_equal(idlist_parse_ranges(f->without_cpus, strlen(f->without_cpus),
                                                     &without_cpus),
                                 0);
        assert_int_equal(nodes_read(dir, &nodes), 0);
        assert_int_equal(nodes.state, SOURCE_OK);
        for (size_t i = 0; i < nodes.n; i++) {
                const struct node *n = &nodes.node[i];

                assert_int_equal(idlist_append(&ids, n->id), 0);
                check_one_node(f, &nodes, n, &without_cpus, &largest);
                cpus += n->cpus.n;
                vmstats += node_has_file(dir, n->id, "vmstat");
                numastats += node_has_file(dir, n->id, "numastat");
                assert_int_equal(vmstat_has(&n->vmstat, VM_NUMA_HIT), f->numastats > 0);
                hit += n->vmstat.value[VM_NUMA_HIT];
                foreign += n->vmstat.value[VM_NUMA_FOREIGN];
        }
        assert_ids(ids.id, ids.n, f->ids);
        assert_int_equal(cpus, f->cpus);
        assert_int_equal(largest, f->largest);
        assert_int_equal(vmstats, f->vmstats);
        assert_int_equal(numastats, f->numastats);
        assert_true(hit == f->hit);
        assert_true(foreign == f->foreign);
        nodes_done(&nodes);
        idlist_done(&ids);
        idlist_done(&without_cpus);
}

static void check_node_bundle(void **state)
{
        const struct node_figure *f = *state;
        _cleanup_(buffer_done) struct buffer b = {0};
        void *dir = NULL;

        need_capture("node", f->file);
        read_capture("node", f->file, &b);
        assert_int_equal(unit_tmpdir_make(&dir), 0);
        unbundle(&b, dir);
        check_nodes(dir, f);
        if (f->online)
                assert_list_file(dir, "/sys/devices/system/node/online", f->online);
        if (f->cpu_online)
                assert_list_file(dir, "/sys/devices/system/cpu/online", f->cpu_online);
        assert_int_equal(unit_tmpdir_remove(&dir), 0);
}

/* B7: what "numactl -H" said of a machine without nodes 0 to 3, written as the kernel shows it. */
static void check_nodes_4_to_7(void **state)
{
        static const struct node_figure figure = {
                .ids = "4-7", .cpus = 40, .distances = 4, .largest = 20};
        _cleanup_(buffer_done) struct buffer b = {0};
        struct nodes nodes = {0};
        void *dir = NULL;
        unsigned id;
        char *line, *rest;

        (void)state;
        need_capture("node", "mail-power-nodes-4to7.txt");
        read_capture("node", "mail-power-nodes-4to7.txt", &b);
        assert_int_equal(unit_tmpdir_make(&dir), 0);
        for (line = strtok_r(b.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                _cleanup_(freep) char *path = NULL, *text = NULL;
                int at = 0;

                if (sscanf(line, "node %u cpus: %n", &id, &at) == 1 && at > 0) {
                        path = strf("sys/devices/system/node/node%u/cpulist", id);
                        for (char *p = line + at; (p = strchr(p, ' ')); p++)
                                *p = p[1] ? ',' : '\0';
                } else if (sscanf(line, " %u: %n", &id, &at) == 1 && at > 0) {
                        path = strf("sys/devices/system/node/node%u/distance", id);
                } else {
                        continue;
                }
                text = strf("%s\n", line + at);
                unit_write(dir, path, text);
        }
        check_nodes(dir, &figure);
        assert_int_equal(nodes_read(dir, &nodes), 0);
        assert_non_null(nodes_find(&nodes, 7));
        assert_null(nodes_find(&nodes, 0));
        assert_ids(nodes_find(&nodes, 7)->cpus.id, nodes_find(&nodes, 7)->cpus.n, "32-39");
        nodes_done(&nodes);
        assert_int_equal(unit_tmpdir_remove(&dir), 0);
}

/* pressure */

struct pressure_figure {
        const char *file;
        bool truncated; /* no newline at the end */
        struct pressure_row some, full;
};

static const struct pressure_figure pressure_figures[] = {
#define PRESSURE(...) {.file = __VA_ARGS__},
#include "captures.def"
};

static void assert_pressure_row(const struct pressure_row *row, const struct pressure_row *expected)
{
        assert_int_equal(row->present, expected->present);
        assert_float_equal(row->avg10, expected->avg10, 1e-9);
        assert_float_equal(row->avg60, expected->avg60, 1e-9);
        assert_float_equal(row->avg300, expected->avg300, 1e-9);
        assert_int_equal(row->total_us, expected->total_us);
}

static void check_pressure(void **state)
{
        const struct pressure_figure *f = *state;
        _cleanup_(buffer_done) struct buffer b = {0};
        struct pressure p;

        need_capture("pressure", f->file);
        read_capture("pressure", f->file, &b);
        pressure_parse(b.data, b.len, &p);
        assert_int_equal(p.state, f->truncated ? SOURCE_TRUNCATED : SOURCE_OK);
        assert_pressure_row(&p.some, &f->some);
        assert_pressure_row(&p.full, &f->full);
}

/* stat */

struct stat_figure {
        const char *file, *cpus;
        uint64_t total, system;
        uint32_t processes;
        uint64_t blocked;
        uint64_t interrupts; /* first number of the intr row */
};

static const struct stat_figure stat_figures[] = {
#define STAT(...) {.file = __VA_ARGS__},
#include "captures.def"
};

static void check_stat(void **state)
{
        const struct stat_figure *f = *state;
        _cleanup_(buffer_done) struct buffer b = {0};
        struct procstat s = {0};

        need_capture("stat", f->file);
        read_capture("stat", f->file, &b);
        assert_int_equal(procstat_parse(&s, b.data, b.len), 0);
        assert_int_equal(s.state, SOURCE_OK);
        assert_ids(s.cpu, s.n_cpus, f->cpus);
        assert_true(procstat_total(&s) == f->total);
        assert_int_equal(s.system, f->system);
        assert_true(s.has_processes);
        assert_int_equal(s.processes, f->processes);
        assert_true(s.has_blocked);
        assert_int_equal(s.blocked, f->blocked);
        if (f->interrupts != NOT_GIVEN) {
                assert_true(s.has_interrupts);
                assert_int_equal(s.interrupts_total, f->interrupts);
        }
        procstat_done(&s);
}

/* sysfs */

struct cpulist_figure {
        const char *file, *online, *offline, *possible, *present;
};

static const struct cpulist_figure cpulist_figures[] = {
        {"cpulists-power7-1023off.txt", "0-15", "16-1023", "0-15", "0-15"},
        {"cpulists-vmware.txt", "0-15", "16-31", "0-31", "0-15"},
        {"cpulists-s390-drawer.txt", "0-7", "8-140", "0-140", "0-7"},
};

static void check_cpulists(void **state)
{
        const struct cpulist_figure *f = *state;
        _cleanup_(buffer_done) struct buffer b = {0};
        void *dir = NULL;

        need_capture("sysfs", f->file);
        read_capture("sysfs", f->file, &b);
        assert_int_equal(unit_tmpdir_make(&dir), 0);
        unbundle(&b, dir);
        assert_list_file(dir, "/sys/devices/system/cpu/online", f->online);
        assert_list_file(dir, "/sys/devices/system/cpu/offline", f->offline);
        assert_list_file(dir, "/sys/devices/system/cpu/possible", f->possible);
        assert_list_file(dir, "/sys/devices/system/cpu/present", f->present);
        assert_int_equal(unit_tmpdir_remove(&dir), 0);
}

/* Settings of other tools' form, which tlbd does not read. */
static const char *const not_for_us[] = {"debugfs-sched-listing.txt", "sysctl-adl.txt",
                                         "sysctl-knl.txt", NULL};

/* The table is whole */

struct folder {
        const char *name;
        const void *first; /* entries whose first member is the file's name */
        size_t n, size;
        const char *const *others; /* ended by NULL */
};

/* others: more files, which cases of their own read, or which are none of ours */
#define FOLDER(folder, table, files)                                                               \
        {                                                                                          \
                .name = (folder), .first = (table), .n = ELEMENTSOF(table),                        \
                .size = sizeof((table)[0]), .others = (files)                                      \
        }

static const char *const other_interrupts[] = {"arm64-8cpu-node-exporter.txt", NULL};
static const char *const other_nodes[] = {"mail-power-nodes-4to7.txt", NULL};

static const struct folder folders[] = {
        FOLDER("interrupts", interrupts_figures, other_interrupts),
        FOLDER("vmstat", vmstat_figures, NULL),
        FOLDER("node", node_figures, other_nodes),
        FOLDER("pressure", pressure_figures, NULL),
        FOLDER("stat", stat_figures, NULL),
        FOLDER("sysfs", cpulist_figures, not_for_us),
};

static bool in_table(const struct folder *f, const char *file)
{
        const char *entry = f->first;

        for (size_t i = 0; i < f->n; i++) {
                const char *name;

                memcpy(&name, entry + i * f->size, sizeof(name));
                if (strcmp(name, file) == 0)
                        return true;
        }
        for (const char *const *other = f->others; other && *other; other++)
                if (strcmp(*other, file) == 0)
                        return true;
        return false;
}

static void check_folder(void **state)
{
        const struct folder *f = *state;
        _cleanup_(freep) char *path = strf("%s/%s", captures, f->name);
        DIR *d = opendir(path);
        size_t n = 0;

        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                n++;
                if (!in_table(f, e->d_name))
                        fail_msg("%s/%s has no figures in test-captures.c", f->name, e->d_name);
        }
        closedir(d);
        assert_true(n > 0);
}

static void check_folders_are_known(void **state)
{
        DIR *d = opendir(captures);

        (void)state;
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));) {
                bool known = e->d_name[0] == '.' || e->d_type != DT_DIR;

                for (size_t i = 0; i < ELEMENTSOF(folders); i++)
                        known |= strcmp(folders[i].name, e->d_name) == 0;
                if (!known)
                        fail_msg("%s/ is a folder test-captures.c does not know", e->d_name);
        }
        closedir(d);
}

static void captures_are_read_as_their_readme_says(void **state)
{
        (void)state;
        skip_because("the folder of captures is not beside this checkout");
}

/* The cases: one for each entry of each table. */
static struct CMUnitTest cases[512];
static size_t n_cases;

static void add_case(char *name, CMUnitTestFunction fn, const void *entry)
{
        assert_true(name && n_cases < ELEMENTSOF(cases));
        cases[n_cases++] = (struct CMUnitTest){
                .name = name, .test_func = fn, .initial_state = (void *)(uintptr_t)entry};
}

#define ADD_TABLE(folder, table, fn)                                                               \
        for (size_t i = 0; i < ELEMENTSOF(table); i++)                                             \
        add_case(strf("%s/%s", folder, (table)[i].file), fn, &(table)[i])

static void add_cases(void)
{
        ADD_TABLE("interrupts", interrupts_figures, check_interrupts);
        ADD_TABLE("vmstat", vmstat_figures, check_vmstat);
        ADD_TABLE("node", node_figures, check_node_bundle);
        ADD_TABLE("pressure", pressure_figures, check_pressure);
        ADD_TABLE("stat", stat_figures, check_stat);
        ADD_TABLE("sysfs", cpulist_figures, check_cpulists);
        for (size_t i = 0; i < ELEMENTSOF(delta_figures); i++)
                add_case(strf("delta %s to %s", delta_figures[i].file, delta_figures[i].after),
                         check_delta, &delta_figures[i]);
        add_case(strdup("a count that touches its label"), check_touching_label, NULL);
        add_case(strdup("a sum above 32 bits"), check_large_sum, NULL);
        add_case(strdup("node/mail-power-nodes-4to7.txt"), check_nodes_4_to_7, NULL);
        for (size_t i = 0; i < ELEMENTSOF(folders); i++)
                add_case(strf("every file of %s/ has figures", folders[i].name), check_folder,
                         &folders[i]);
        add_case(strdup("every folder is known"), check_folders_are_known, NULL);
}

int main(void)
{
        const struct CMUnitTest none[] = {cmocka_unit_test(captures_are_read_as_their_readme_says)};
        int r;

        captures = getenv("TLBD_CAPTURES");
        if (!captures || access(captures, F_OK) < 0)
                return cmocka_run_group_tests_name("captures", none, NULL, NULL);
        add_cases();
        r = _cmocka_run_group_tests("captures", cases, n_cases, NULL, NULL);
        for (size_t i = 0; i < n_cases; i++)
                free((void *)(uintptr_t)cases[i].name);
        return r;
}
