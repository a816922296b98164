/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "openmetrics.h"

#include "delta.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void family(FILE *f, const char *name, const char *type, const char *help)
{
        fprintf(f, "# HELP tlbd_%s %s\n# TYPE tlbd_%s %s\n", name, help, name, type);
}

/* A label value: backslash, quote and newline are escaped. */
static void label_value(FILE *f, const char *s)
{
        _cleanup_(freep) char *text = text_utf8(s);

        for (const char *p = text; p && *p; p++) {
                if (*p == '"' || *p == '\\')
                        (void)fputc('\\', f);
                if (*p == '\n')
                        (void)fputs("\\n", f);
                else
                        (void)fputc(*p, f);
        }
}

/* name{label="value"} and a number. label NULL: no label. */
static void sample_count(FILE *f, const char *name, const char *label, const char *value,
                         uint64_t n)
{
        fprintf(f, "tlbd_%s", name);
        if (label) {
                fprintf(f, "{%s=\"", label);
                label_value(f, value);
                fputs("\"}", f);
        }
        fprintf(f, " %" PRIu64 "\n", n);
}

static void sample_real(FILE *f, const char *name, const char *label, const char *value, double n)
{
        fprintf(f, "tlbd_%s", name);
        if (label) {
                fprintf(f, "{%s=\"", label);
                label_value(f, value);
                fputs("\"}", f);
        }
        fprintf(f, " %.15g\n", n);
}

/* A counter of the kernel, perhaps one of several kinds. */
struct counter {
        enum vmstat_id id;
        const char *kind; /* value of the label; NULL: no label */
};

static void counters(FILE *f, const struct vmstat *v, const char *name, const char *label,
                     const struct counter *c, size_t n, const char *help)
{
        bool any = false;

        for (size_t i = 0; i < n; i++)
                any |= vmstat_has(v, c[i].id);
        if (!any)
                return;
        family(f, name, "counter", help);
        for (size_t i = 0; i < n; i++)
                if (vmstat_has(v, c[i].id))
                        sample_count(f, name, label, c[i].kind, v->value[c[i].id]);
}

#define COUNTERS(f, v, name, label, help, ...)                                                     \
        counters(f, v, name, label, (const struct counter[]){__VA_ARGS__},                         \
                 ELEMENTSOF(((const struct counter[]){__VA_ARGS__})), help)

static void kernel_counters(FILE *f, const struct vmstat *v)
{
        COUNTERS(f, v, "numa_pte_updates_total", NULL,
                 "Page table entries marked by NUMA balancing.", {VM_NUMA_PTE_UPDATES, NULL});
        COUNTERS(f, v, "numa_hint_faults_total", NULL, "NUMA hinting faults.",
                 {VM_NUMA_HINT_FAULTS, NULL});
        COUNTERS(f, v, "numa_hint_faults_local_total", NULL,
                 "NUMA hinting faults that found their page on the local node.",
                 {VM_NUMA_HINT_FAULTS_LOCAL, NULL});
        COUNTERS(f, v, "numa_pages_migrated_total", NULL, "Pages moved by NUMA balancing.",
                 {VM_NUMA_PAGES_MIGRATED, NULL});
        COUNTERS(f, v, "pages_promoted_total", NULL, "Pages promoted to a faster memory tier.",
                 {VM_PGPROMOTE_SUCCESS, NULL});
        COUNTERS(f, v, "pages_demoted_total", "by", "Pages demoted to a slower memory tier.",
                 {VM_PGDEMOTE_KSWAPD, "kswapd"}, {VM_PGDEMOTE_DIRECT, "direct"},
                 {VM_PGDEMOTE_KHUGEPAGED, "khugepaged"}, {VM_PGDEMOTE_PROACTIVE, "proactive"});
        COUNTERS(f, v, "pages_scanned_total", "by", "Pages scanned by reclaim.",
                 {VM_PGSCAN_KSWAPD, "kswapd"}, {VM_PGSCAN_DIRECT, "direct"},
                 {VM_PGSCAN_KHUGEPAGED, "khugepaged"}, {VM_PGSCAN_PROACTIVE, "proactive"});
        COUNTERS(f, v, "pages_reclaimed_total", "by", "Pages reclaimed.",
                 {VM_PGSTEAL_KSWAPD, "kswapd"}, {VM_PGSTEAL_DIRECT, "direct"},
                 {VM_PGSTEAL_KHUGEPAGED, "khugepaged"}, {VM_PGSTEAL_PROACTIVE, "proactive"});
        COUNTERS(f, v, "allocstalls_total", NULL, "Allocations that entered direct reclaim.",
                 {VM_ALLOCSTALL, NULL});
        COUNTERS(f, v, "swapped_pages_total", "direction", "Pages swapped.", {VM_PSWPIN, "in"},
                 {VM_PSWPOUT, "out"});
        COUNTERS(f, v, "refaulted_pages_total", "kind",
                 "Faults on pages that were reclaimed only recently.",
                 {VM_WORKINGSET_REFAULT_ANON, "anon"}, {VM_WORKINGSET_REFAULT_FILE, "file"},
                 {VM_WORKINGSET_REFAULT, "any"});
        COUNTERS(f, v, "tlb_batch_pending_flushes_total", NULL,
                 "Full TLB flushes paid for batched flushes still pending.",
                 {VM_TLB_BATCH_PENDING_FLUSH, NULL});
}

/* By cause on kernel-tlb; elsewhere what tlbd has added up itself, as the kernel's counters are 32
 * bits wide and those of an offline CPU are not shown. */
static void tlb_interrupts(FILE *f, const struct status_input *in)
{
        static const struct counter cause[] = {
                {VM_TLB_SHOOTDOWN_OTHER, "other"},
                {VM_TLB_SHOOTDOWN_NUMA_SCAN, "numa_scan"},
                {VM_TLB_SHOOTDOWN_NUMA_MIGRATE, "numa_migrate"},
                {VM_TLB_SHOOTDOWN_RECLAIM, "reclaim"},
                {VM_TLB_SHOOTDOWN_COMPACTION, "compaction"},
        };
        const char *name = "tlb_interrupts_total";
        const char *help = "TLB shootdown interrupts received, by the cause of the flush.";

        if (vmstat_has(&in->sample->vmstat, cause[0].id)) {
                counters(f, &in->sample->vmstat, name, "cause", cause, ELEMENTSOF(cause), help);
        } else if (in->tlb_seen) {
                family(f, name, "counter", help);
                sample_count(f, name, "cause", "all", in->tlb_total);
        }
}

/* Prometheus spells units out, and has seconds only. Returns what the value is to be multiplied
 * with. */
static double metric_name(const struct metric_info *info, char *buf, size_t size)
{
        static const struct {
                const char *ours, *theirs;
                double factor;
        } word[] = {{"_per_s", "_per_second", 1}, {"_ns_", "_seconds_", 1e-9}};
        const char *suffix = strcmp(info->unit, "ratio") == 0 ? "_ratio"
                             : strcmp(info->unit, "%") == 0   ? "_percent"
                                                              : "";

        for (size_t i = 0; i < ELEMENTSOF(word); i++) {
                const char *at = strstr(info->name, word[i].ours);

                if (!at)
                        continue;
                (void)snprintf(buf, size, "%.*s%s%s%s", (int)(at - info->name), info->name,
                               word[i].theirs, at + strlen(word[i].ours), suffix);
                return word[i].factor;
        }
        (void)snprintf(buf, size, "%s%s", info->name, suffix);
        return 1;
}

static void metrics(FILE *f, const struct status_input *in)
{
        for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
                const struct metric_info *info = &metric_table[id];
                double factor;
                char name[96];

                if (!metric_has_value(&in->metrics->metric[id]))
                        continue;
                factor = metric_name(info, name, sizeof(name));
                family(f, name, "gauge", info->title);
                sample_real(f, name, NULL, NULL, in->metrics->metric[id].value * factor);
        }
        family(f, "metric_valid", "gauge",
               "Whether the metric of this name has a value (1), or cannot be known or related "
               "(0).");
        for (enum metric_id id = 0; id < METRIC_COUNT; id++)
                sample_count(f, "metric_valid", "metric", metric_table[id].name,
                             metric_has_value(&in->metrics->metric[id]));
}

static void conditions(FILE *f, const struct status_input *in)
{
        family(f, "condition_raised", "gauge", "Whether a condition is raised (1) or not (0).");
        for (enum condition_id id = 0; id < JUDGED_COUNT; id++)
                sample_count(f, "condition_raised", "condition", condition_table[id].name,
                             in->judge->of[id].raised);
}

/* The counters of id that are there, added up; false: none is. */
static bool sum_of(const struct vmstat *v, const enum vmstat_id *id, size_t n, uint64_t *ret)
{
        bool has = false;

        *ret = 0;
        for (size_t i = 0; i < n; i++)
                if (vmstat_has(v, id[i])) {
                        *ret += v->value[id[i]];
                        has = true;
                }
        return has;
}

static void nodes(FILE *f, const struct status_input *in)
{
        static const struct {
                const char *name, *help;
                size_t n;
                enum vmstat_id id[VMSTAT_STEAL_COUNT];
        } kind[] = {
                {"node_pages_promoted_total",
                 "Pages promoted from this node.",
                 1,
                 {VM_PGPROMOTE_SUCCESS}},
                {"node_pages_demoted_total",
                 "Pages demoted from this node.",
                 4,
                 {VM_PGDEMOTE_KSWAPD, VM_PGDEMOTE_DIRECT, VM_PGDEMOTE_KHUGEPAGED,
                  VM_PGDEMOTE_PROACTIVE}},
                {"node_pages_reclaimed_total",
                 "Pages reclaimed on this node.",
                 4,
                 {VM_PGSTEAL_KSWAPD, VM_PGSTEAL_DIRECT, VM_PGSTEAL_KHUGEPAGED,
                  VM_PGSTEAL_PROACTIVE}},
                {"node_foreign_allocations_total",
                 "Pages meant for this node that were allocated on another.",
                 1,
                 {VM_NUMA_FOREIGN}},
        };

        for (size_t k = 0; k < ELEMENTSOF(kind); k++) {
                bool named = false;

                for (size_t i = 0; i < in->sample->nodes.n; i++) {
                        const struct node *node = &in->sample->nodes.node[i];
                        uint64_t sum;
                        char id[16];

                        if (!sum_of(&node->vmstat, kind[k].id, kind[k].n, &sum))
                                continue;
                        if (!named)
                                family(f, kind[k].name, "counter", kind[k].help);
                        named = true;
                        (void)snprintf(id, sizeof(id), "%u", node->id);
                        sample_count(f, kind[k].name, "node", id, sum);
                }
        }
}

/* One sample of a node; the family's lines in front of the first one. */
static void node_sample(FILE *f, const char *name, const char *help, bool first, unsigned node,
                        uint64_t value)
{
        char id[16];

        if (first)
                family(f, name, "gauge", help);
        (void)snprintf(id, sizeof(id), "%u", node);
        sample_count(f, name, "node", id, value);
}

static void node_memory(FILE *f, const struct status_input *in)
{
        const struct nodes *all = &in->sample->nodes;
        const struct tiers *t = in->tiers;

        for (size_t i = 0, n = 0; i < all->n; i++)
                if (all->node[i].memory_known)
                        node_sample(f, "node_memory_bytes", "Memory of this node.", n++ == 0,
                                    all->node[i].id, all->node[i].total_bytes);
        for (size_t i = 0, n = 0; i < all->n; i++)
                if (all->node[i].memory_known)
                        node_sample(f, "node_memory_free_bytes", "Free memory of this node.",
                                    n++ == 0, all->node[i].id, all->node[i].free_bytes);
        for (size_t i = 0; i < t->n_nodes; i++)
                node_sample(f, "node_below_low_watermark",
                            "Whether this node has fewer free pages than its low watermark (1).",
                            i == 0, t->node[i].id, t->node[i].free_pages < t->node[i].low_pages);
        for (size_t i = 0; i < t->n_nodes; i++)
                node_sample(f, "node_kswapd_gave_up",
                            "Whether kswapd of this node is off, as it freed nothing (1).", i == 0,
                            t->node[i].id, t->node[i].gave_up);
}

/* The tier of each node, a higher number being slower memory. */
static void memory_tiers(FILE *f, const struct status_input *in)
{
        const struct tiers *t = in->tiers;
        bool first = true;

        for (size_t i = 0; i < t->n; i++)
                for (size_t k = 0; k < t->tier[i].nodes.n; k++) {
                        node_sample(f, "node_memory_tier",
                                    "Memory tier of this node; higher is slower.", first,
                                    t->tier[i].nodes.id[k], t->tier[i].id);
                        first = false;
                }
        if (t->n == 0)
                return;
        family(f, "tiering_single_tier", "gauge",
               "Whether memory tiering is on while all memory is in one tier (1).");
        sample_count(f, "tiering_single_tier", NULL, NULL, tiers_cannot_move(t));
}

/* How long a unit's tasks were stalled on memory. */
static void unit_stalls(FILE *f, const struct status_input *in)
{
        static const char *const name[] = {"unit_memory_stalled_seconds_total",
                                           "unit_memory_all_stalled_seconds_total"};
        static const char *const help[] = {
                "Time in which some task of this unit waited for memory.",
                "Time in which all tasks of this unit waited for memory."};

        for (size_t k = 0; k < ELEMENTSOF(name); k++) {
                bool first = true;

                for (size_t i = 0; i < in->units->n; i++) {
                        const struct cgroup_unit *u = &in->units->unit[i];
                        const struct pressure_row *row =
                                k == 0 ? &u->pressure.some : &u->pressure.full;

                        if (!row->present)
                                continue;
                        if (first)
                                family(f, name[k], "counter", help[k]);
                        first = false;
                        sample_real(f, name[k], "cgroup", u->path, (double)row->total_us / 1e6);
                }
        }
}

static void units(FILE *f, const struct status_input *in)
{
        static const struct {
                const char *name, *help;
                enum vmstat_id id[VMSTAT_STEAL_COUNT];
                size_t n;
        } kind[] = {
                {"unit_pages_migrated_total",
                 "Pages of this unit moved by NUMA balancing.",
                 {VM_NUMA_PAGES_MIGRATED},
                 1},
                {"unit_hint_faults_total",
                 "NUMA hinting faults of this unit.",
                 {VM_NUMA_HINT_FAULTS},
                 1},
                {"unit_pages_reclaimed_total",
                 "Pages reclaimed from this unit.",
                 {VM_PGSTEAL_KSWAPD, VM_PGSTEAL_DIRECT, VM_PGSTEAL_KHUGEPAGED,
                  VM_PGSTEAL_PROACTIVE},
                 4},
                {"unit_pages_direct_reclaimed_total",
                 "Pages of this unit that tasks had to reclaim themselves.",
                 {VM_PGSTEAL_DIRECT},
                 1},
        };

        for (size_t k = 0; k < ELEMENTSOF(kind); k++) {
                bool named = false;

                for (size_t i = 0; i < in->units->n; i++) {
                        const struct cgroup_unit *u = &in->units->unit[i];
                        uint64_t sum;

                        if (!sum_of(&u->stat, kind[k].id, kind[k].n, &sum))
                                continue;
                        if (!named)
                                family(f, kind[k].name, "counter", kind[k].help);
                        named = true;
                        sample_count(f, kind[k].name, "cgroup", u->path, sum);
                }
        }
}

static void tasks(FILE *f, const struct status_input *in)
{
        if (in->tasks->state != SOURCE_OK)
                return;
        family(f, "task_exits_total", "counter", "Tasks whose end tlbd heard of.");
        sample_count(f, "task_exits_total", NULL, NULL, in->tasks->exits.seen);
        family(f, "task_exits_lost_total", "counter",
               "Times the kernel had to drop messages about tasks that ended.");
        sample_count(f, "task_exits_lost_total", NULL, NULL, in->tasks->exits.lost);
}

static void per_cpu(FILE *f, const struct status_input *in)
{
        const struct interrupts *i = &in->sample->interrupts;
        const struct interrupts_row *row = interrupts_row(i, "TLB");

        if (in->config->value[KEY_PER_CPU_SERIES].number <= 0 || !row || row->state != SOURCE_OK)
                return;
        family(f, "cpu_tlb_interrupts_total", "counter",
               "TLB shootdown interrupts received by this CPU; wraps at 2^32.");
        for (size_t k = 0; k < i->n_cpus; k++) {
                char id[16];

                (void)snprintf(id, sizeof(id), "%u", i->cpu[k]);
                sample_count(f, "cpu_tlb_interrupts_total", "cpu", id, row->count[k]);
        }
}

static void self(FILE *f, const struct status_input *in)
{
        family(f, "build_info", "gauge", "Version of tlbd and release of the kernel.");
        fputs("tlbd_build_info{version=\"" TLBD_VERSION "\",kernel=\"", f);
        label_value(f, in->machine->release);
        fprintf(f, "\",policy=\"%s\"} 1\n", in->machine->policy ? "yes" : "no");
        family(f, "status_timestamp_seconds", "gauge", "When this was written (Unix time).");
        sample_count(f, "status_timestamp_seconds", NULL, NULL, now_realtime_ns() / NSEC_PER_SEC);
        family(f, "interval_seconds", "gauge", "Time between two readings, after any lengthening.");
        sample_real(f, "interval_seconds", NULL, NULL, in->interval_s);
        family(f, "cpus_online", "gauge", "CPUs that are online.");
        sample_count(f, "cpus_online", NULL, NULL, sample_cpus(in->sample));
        family(f, "cpu_seconds_total", "counter", "CPU time used by tlbd itself.");
        sample_real(f, "cpu_seconds_total", NULL, NULL, in->cpu_s);
        family(f, "resident_bytes", "gauge", "Resident size of tlbd itself.");
        sample_count(f, "resident_bytes", NULL, NULL, in->rss_bytes);
        family(f, "config_refused", "gauge", "Whether the last configuration was refused (1).");
        sample_count(f, "config_refused", NULL, NULL, in->config_error != NULL);
        family(f, "knob_yielded", "gauge",
               "Whether a managed setting was changed by somebody else and is left alone (1).");
        for (enum knob_id id = 0; id < KNOB_COUNT; id++)
                sample_count(f, "knob_yielded", "knob", knob_name(id),
                             in->knobs->knob[id].state == KNOB_YIELDED);
}

char *openmetrics_build(const struct status_input *in, size_t *ret_len)
{
        char *text = NULL;
        FILE *f = open_memstream(&text, ret_len);
        bool failed;

        if (!f)
                return NULL;
        self(f, in);
        tlb_interrupts(f, in);
        kernel_counters(f, &in->sample->vmstat);
        metrics(f, in);
        conditions(f, in);
        nodes(f, in);
        node_memory(f, in);
        memory_tiers(f, in);
        units(f, in);
        unit_stalls(f, in);
        tasks(f, in);
        per_cpu(f, in);
        failed = ferror(f);
        if (fclose(f) != 0 || failed) {
                free(text);
                return NULL;
        }
        return text;
}
