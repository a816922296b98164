/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "status-build.h"

#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static struct json_object *number(double v)
{
        return isfinite(v) ? json_object_new_double(v) : NULL;
}

static struct json_object *count(uint64_t v)
{
        return json_object_new_uint64(v);
}

/* Names of commands and cgroups hold any byte; JSON must be UTF-8. */
static struct json_object *text(const char *s)
{
        _cleanup_(freep) char *utf8 = s ? text_utf8(s) : NULL;

        return utf8 ? json_object_new_string(utf8) : NULL;
}

static void add(struct json_object *o, const char *key, struct json_object *v)
{
        /* Fails on lack of memory only; the member is missing then, and readers take that as null.
         */
        if (json_object_object_add(o, key, v) < 0)
                json_object_put(v);
}

static void add_text(struct json_object *o, const char *key, char *owned)
{
        add(o, key, text(owned));
        free(owned);
}

struct json_object *status_metric_json(const struct metric *m, const char *unit, double window_s)
{
        struct json_object *o = json_object_new_object();

        add(o, "value", metric_has_value(m) ? number(m->value) : NULL);
        add(o, "unit", text(unit));
        add(o, "validity", text(validity_name(m->validity)));
        if (m->all_causes)
                add(o, "scope", text("all causes"));
        if (window_s > 0)
                add(o, "window_s", number(window_s));
        return o;
}

static struct json_object *build_machine(const struct status_input *in)
{
        struct json_object *o = json_object_new_object();

        add(o, "release", text(in->machine->release));
        add(o, "cpus", count(sample_cpus(in->sample)));
        add(o, "hypervisor", json_object_new_boolean(in->machine->hypervisor));
        add(o, "broadcast", json_object_new_boolean(in->machine->broadcast));
        add(o, "policy", json_object_new_boolean(in->machine->policy));
        add(o, "numa_balancing", json_object_new_boolean(in->machine->numa_balancing));
        return o;
}

static struct json_object *build_condition(enum condition_id id, const struct judgement *j,
                                           bool stolen)
{
        struct json_object *o = json_object_new_object();
        uint64_t now = now_monotonic_ns();

        add(o, "name", text(condition_table[id].name));
        add(o, "raised", json_object_new_boolean(j->raised));
        add(o, "since_s",
            j->raised && now >= j->since_ns ? number((double)(now - j->since_ns) / NSEC_PER_SEC)
                                            : NULL);
        add(o, "metric", text(metric_table[j->metric].name));
        add(o, "value", j->known ? number(j->value) : NULL);
        add(o, "threshold", j->known ? number(j->threshold) : NULL);
        add(o, "reason",
            text(stolen      ? "not judged: the hypervisor takes too much CPU time"
                 : j->raised ? condition_table[id].title
                             : ""));
        return o;
}

static struct json_object *build_conditions(const struct status_input *in)
{
        struct json_object *a = json_object_new_array();

        for (int raised = 1; raised >= 0; raised--)
                for (enum condition_id id = 0; id < JUDGED_COUNT; id++)
                        if (in->judge->of[id].raised == (bool)raised)
                                json_object_array_add(a, build_condition(id, &in->judge->of[id],
                                                                         in->judge->stolen));
        return a;
}

static struct json_object *build_metrics(const struct status_input *in)
{
        struct json_object *o = json_object_new_object();

        for (enum metric_id id = 0; id < METRIC_COUNT; id++)
                add(o, metric_table[id].name,
                    status_metric_json(&in->metrics->metric[id], metric_table[id].unit,
                                       in->window_s[id]));
        return o;
}

static struct json_object *build_distance(const struct nodes *nodes, const struct node *n)
{
        struct json_object *o = json_object_new_object();

        for (size_t i = 0; n->distance && i < nodes->n; i++) {
                char id[16];

                (void)snprintf(id, sizeof(id), "%u", nodes->node[i].id);
                add(o, id, count(n->distance[i]));
        }
        return o;
}

void status_add_node_metrics(struct json_object *o, const struct node_metric *m)
{
        add(o, "promoted_per_s", status_metric_json(&m->promoted_per_s, "pages/s", 0));
        add(o, "demoted_per_s", status_metric_json(&m->demoted_per_s, "pages/s", 0));
        add(o, "reclaimed_per_s", status_metric_json(&m->reclaimed_per_s, "pages/s", 0));
        add(o, "foreign_per_s", status_metric_json(&m->foreign_per_s, "pages/s", 0));
        add(o, "promoted_share", status_metric_json(&m->promoted_share, "ratio", 0));
        add(o, "demoted_share", status_metric_json(&m->demoted_share, "ratio", 0));
        add(o, "reclaimed_share", status_metric_json(&m->reclaimed_share, "ratio", 0));
}

static void add_tier(struct json_object *o, const struct status_input *in, unsigned node)
{
        const struct memory_tier *tier = tiers_find(in->tiers, node);
        const struct node_reclaim *reclaim = tiers_find_node(in->tiers, node);
        struct json_object *targets = json_object_new_array();
        struct idlist to = {0};

        if (tiers_demotion_targets(in->tiers, &in->sample->nodes, node, &to) >= 0)
                for (size_t i = 0; i < to.n; i++)
                        json_object_array_add(targets, count(to.id[i]));
        idlist_done(&to);
        add(o, "tier", tier ? count(tier->id) : NULL);
        add(o, "demotes_to", targets);
        add(o, "below_low_watermark",
            reclaim ? json_object_new_boolean(reclaim->free_pages < reclaim->low_pages) : NULL);
        add(o, "kswapd_gave_up", reclaim ? json_object_new_boolean(reclaim->gave_up) : NULL);
}

static struct json_object *build_nodes(const struct status_input *in)
{
        const struct nodes *nodes = &in->sample->nodes;
        struct json_object *a = json_object_new_array();

        for (size_t i = 0; i < nodes->n; i++) {
                const struct node *n = &nodes->node[i];
                struct json_object *o = json_object_new_object();

                add(o, "id", count(n->id));
                add(o, "cpus", n->cpus_known ? count(n->cpus.n) : NULL);
                add(o, "memory_total", n->memory_known ? count(n->total_bytes) : NULL);
                add(o, "memory_free", n->memory_known ? count(n->free_bytes) : NULL);
                add(o, "distance", build_distance(nodes, n));
                add_tier(o, in, n->id);
                for (size_t k = 0; k < in->metrics->n_nodes; k++)
                        if (in->metrics->node[k].id == n->id)
                                status_add_node_metrics(o, &in->metrics->node[k]);
                json_object_array_add(a, o);
        }
        return a;
}

static struct json_object *build_cpus(const struct status_input *in)
{
        struct json_object *o = json_object_new_object();
        struct json_object *id = json_object_new_array(), *rate = json_object_new_array();

        for (size_t i = 0; i < in->n_cpu_delta && in->cpu_window_s > 0; i++) {
                json_object_array_add(id, count(in->cpu_id[i]));
                json_object_array_add(rate, number(in->cpu_delta[i] / in->cpu_window_s));
        }
        add(o, "id", id);
        add(o, "tlb_per_s", rate);
        return o;
}

static struct json_object *build_counters(const struct vmstat *v)
{
        struct json_object *o = json_object_new_object();

        for (enum vmstat_id id = 0; id < VM_COUNT; id++)
                if (vmstat_has(v, id))
                        add(o, vmstat_name(id), count(v->value[id]));
        return o;
}

static struct json_object *build_sources(const struct status_input *in)
{
        struct json_object *all = json_object_new_object();

        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                struct json_object *o = json_object_new_object();

                add(o, "path", text(source_path(id)));
                add(o, "state", text(source_state_name(sample_state(in->sample, id))));
                add(o, "cost_us", number((double)in->sample->cost_ns[id] / 1000));
                add(o, "interval_s", number(in->source_interval_s[id]));
                add(all, source_name(id), o);
        }
        return all;
}

static struct json_object *build_knob(enum knob_id id, const struct knob *k,
                                      const struct config_value *wanted)
{
        struct json_object *o = json_object_new_object();

        if (k->known)
                add_text(o, "value", knob_format(id, k->current));
        else
                add(o, "value", NULL);
        add_text(o, "wanted", config_value_format(knob_table[id].key, wanted));
        if (k->recorded)
                add_text(o, "original", knob_format(id, k->original));
        else
                add(o, "original", NULL);
        add(o, "path", text(k->path));
        add_text(o, "source",
                 wanted->file ? strf("%s:%u", wanted->file, wanted->line) : strf("default"));
        add(o, "state", text(knob_state_name(k->state)));
        add(o, "reason", text(k->reason));
        return o;
}

static struct json_object *build_knobs(const struct status_input *in)
{
        struct json_object *o = json_object_new_object();

        for (enum knob_id id = 0; id < KNOB_COUNT; id++)
                add(o, knob_name(id),
                    build_knob(id, &in->knobs->knob[id], &in->config->value[knob_table[id].key]));
        return o;
}

static void note(struct json_object *a, const char *s)
{
        json_object_array_add(a, text(s));
}

static void note_machine(struct json_object *a, const struct status_input *in)
{
        const struct interrupts_row *tlb = interrupts_row(&in->sample->interrupts, "TLB");

        if (!in->machine->policy)
                note(a, "This kernel has no /sys/kernel/mm/tlb_batch (it is not kernel-tlb): TLB "
                        "interrupts are not told apart by cause, so costs per page count every "
                        "cause, and the TlbBatch settings have no effect.");
        if (in->machine->broadcast)
                note(a, "This CPU can invalidate the TLBs of other CPUs without interrupts "
                        "(INVLPGB): interrupt counts are not the cost here, so they are left out.");
        if (tlb && tlb->state == SOURCE_PARAVIRT)
                note(a, "The hypervisor flushes TLBs for this guest: the TLB row of "
                        "/proc/interrupts stays 0 and the cost is not visible here. Measure on the "
                        "host.");
        if (tlb && tlb->state == SOURCE_ABSENT && in->sample->interrupts.state == SOURCE_OK)
                note(a, "/proc/interrupts has no TLB row: this architecture flushes without an "
                        "interrupt of its own, so the cost is not visible here.");
        if (in->judge->stolen)
                note(a, "The hypervisor takes more CPU time than MaxStealPercent: interrupt rates "
                        "say little about cost, and no condition is judged.");
}

static void note_kernel(struct json_object *a, const struct status_input *in)
{
        enum source_state psi = in->sample->pressure_memory.state;

        if (!in->machine->numa_balancing)
                note(a,
                     "NUMA balancing is not in this kernel (no /proc/sys/kernel/numa_balancing): "
                     "its metrics are unsupported and its settings have no effect.");
        else if (in->sample->nodes.state == SOURCE_OK && in->sample->nodes.n == 1)
                note(a, "This machine has one NUMA node: balancing has nothing to move.");
        if (psi == SOURCE_OFF)
                note(a, "Pressure stall information is switched off (boot with psi=1): how long "
                        "tasks wait for memory is not known.");
        else if (psi == SOURCE_ABSENT)
                note(a, "Pressure stall information is not in this kernel: how long tasks wait for "
                        "memory is not known.");
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                enum source_state s = sample_state(in->sample, id);
                _cleanup_(freep) char *line = NULL;

                if (s == SOURCE_UNREAD || s == SOURCE_OK || s == SOURCE_ABSENT || s == SOURCE_OFF)
                        continue;
                line = strf("%s cannot be read (%s): what is made from it is left out.",
                            source_path(id), source_state_name(s));
                if (line)
                        note(a, line);
        }
}

static void note_tiers(struct json_object *a, const struct status_input *in)
{
        const struct tiers *t = in->tiers;

        if (tiers_cannot_move(t)) {
                _cleanup_(freep) char *line =
                        strf("Memory tiering is on (%s%s%s), but all memory is in one tier, "
                             "memory_tier%u: nothing can be promoted or demoted.",
                             t->promotion ? "NumaBalancing has 2" : "",
                             t->promotion && t->demotion ? ", " : "",
                             t->demotion ? "DemotionEnabled" : "", t->tier[0].id);

                if (line)
                        note(a, line);
        }
        for (size_t i = 0; i < t->n_nodes; i++) {
                const struct node_reclaim *n = &t->node[i];
                _cleanup_(freep) char *line = NULL;

                if (!tiers_node_stuck(n))
                        continue;
                line = strf("kswapd of node %u has given up (node_unreclaimable of /proc/zoneinfo) "
                            "with %" PRIu64 " pages free, below its low watermark of %" PRIu64
                            ": the node's memory is neither reclaimed nor demoted in the "
                            "background. Do not scan faster; free memory there, or add swap or a "
                            "slower tier.",
                            n->id, n->free_pages, n->low_pages);
                if (line)
                        note(a, line);
        }
}

static void note_knobs(struct json_object *a, const struct status_input *in)
{
        bool scan_absent = in->knobs->knob[KNOB_NUMA_SCAN_SIZE_MB].state == KNOB_UNSUPPORTED;

        if (in->machine->numa_balancing && scan_absent)
                note(a, "The NUMA scan settings were not found, neither as sysctls (kernel-tlb, or "
                        "before 5.13) nor in debugfs (not mounted, no permission, or not in this "
                        "kernel): scanning cannot be tuned here.");
        for (enum knob_id id = 0; id < KNOB_COUNT; id++) {
                const struct knob *k = &in->knobs->knob[id];
                _cleanup_(freep) char *line = NULL;

                if (k->state != KNOB_REFUSED)
                        continue;
                line = strf("%s: %s", knob_name(id), k->reason ? k->reason : "not usable");
                if (line)
                        note(a, line);
        }
}

static struct json_object *build_notes(const struct status_input *in)
{
        struct json_object *a = json_object_new_array();

        note_machine(a, in);
        note_kernel(a, in);
        note_tiers(a, in);
        note_knobs(a, in);
        return a;
}

static void add_unit_metric(struct json_object *o, const char *key, const struct metric *m,
                            const char *unit)
{
        add(o, key, status_metric_json(m, unit, 0));
}

static struct json_object *build_unit(const struct unit_metric *u)
{
        struct json_object *o = json_object_new_object();

        add(o, "name", text(u->name));
        add(o, "path", text(u->path));
        add_unit_metric(o, "migrated_per_s", &u->migrated_per_s, "pages/s");
        add_unit_metric(o, "pte_updates_per_s", &u->pte_updates_per_s, "PTEs/s");
        add_unit_metric(o, "hint_faults_per_s", &u->hint_faults_per_s, "faults/s");
        add_unit_metric(o, "promoted_per_s", &u->promoted_per_s, "pages/s");
        add_unit_metric(o, "demoted_per_s", &u->demoted_per_s, "pages/s");
        add_unit_metric(o, "reclaimed_per_s", &u->reclaimed_per_s, "pages/s");
        add_unit_metric(o, "direct_reclaimed_per_s", &u->direct_reclaimed_per_s, "pages/s");
        add_unit_metric(o, "refaults_per_s", &u->refaults_per_s, "pages/s");
        add_unit_metric(o, "migrated_share", &u->migrated_share, "ratio");
        add_unit_metric(o, "reclaimed_share", &u->reclaimed_share, "ratio");
        add_unit_metric(o, "psi_memory_some_avg10", &u->psi_some_avg10, "%");
        add_unit_metric(o, "psi_memory_full_avg10", &u->psi_full_avg10, "%");
        return o;
}

static struct json_object *build_units(const struct status_input *in)
{
        struct json_object *o = json_object_new_object(), *list = json_object_new_array();

        add(o, "state", text(source_state_name(in->units->state)));
        add(o, "left_out", count(in->units->n_left_out));
        add(o, "window_s", in->unit_metrics ? number(in->unit_metrics->interval_s) : NULL);
        for (size_t i = 0; in->unit_metrics && i < in->unit_metrics->n; i++)
                json_object_array_add(list, build_unit(&in->unit_metrics->unit[i]));
        add(o, "list", list);
        return o;
}

static struct json_object *build_delays(const struct task_entry *e)
{
        struct json_object *o = json_object_new_object();

        for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                struct json_object *d = json_object_new_object();

                add(d, "total_ms",
                    e->total[k].known ? number((double)e->total[k].total_ns / 1e6) : NULL);
                add(d, "window_ms",
                    e->delta[k].known ? number((double)e->delta[k].total_ns / 1e6) : NULL);
                add(d, "window_count", e->delta[k].known ? count(e->delta[k].count) : NULL);
                add(o, delay_name(k), d);
        }
        return o;
}

static struct json_object *build_task(const struct task_entry *e)
{
        struct json_object *o = json_object_new_object();

        add(o, "pid", e->pid ? count(e->pid) : NULL);
        add(o, "ended", count(e->ended));
        add(o, "comm", text(e->comm));
        add(o, "unit", text(e->unit));
        add(o, "delays", build_delays(e));
        return o;
}

static struct json_object *build_tasks(const struct status_input *in)
{
        struct json_object *o = json_object_new_object(), *list = json_object_new_array();
        const struct tasks *t = in->tasks;

        add(o, "state", text(source_state_name(t->state)));
        add(o, "window_s", t->interval_s > 0 ? number(t->interval_s) : NULL);
        add(o, "left_out", count(t->n_left_out));
        add(o, "exits_seen", count(t->exits.seen));
        add(o, "exits_lost", count(t->exits.lost));
        for (size_t i = 0; i < t->n; i++)
                json_object_array_add(list, build_task(&t->entry[i]));
        add(o, "list", list);
        return o;
}

static struct json_object *build_config(const struct status_input *in)
{
        struct json_object *o = json_object_new_object();

        add(o, "generation", count(in->generation));
        add(o, "state", text(in->config_error ? "refused" : "ok"));
        add(o, "error", text(in->config_error));
        return o;
}

static struct json_object *build_self(const struct status_input *in)
{
        struct json_object *o = json_object_new_object();

        add(o, "cpu_s", number(in->cpu_s));
        add(o, "cpu_percent", number(in->cpu_percent));
        add(o, "budget_percent", number(in->config->value[KEY_CPU_BUDGET_PERCENT].number));
        add(o, "rss_bytes", count(in->rss_bytes));
        return o;
}

struct json_object *status_build(const struct status_input *in)
{
        struct json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        add(o, "version", json_object_new_int(STATUS_VERSION));
        add(o, "tlbd", text(TLBD_VERSION));
        add(o, "pid", json_object_new_int(getpid()));
        add(o, "boot_id", text(in->machine->boot_id));
        add(o, "mode", text(in->observe ? "observe" : "manage"));
        add(o, "realtime_ns", count(now_realtime_ns()));
        add(o, "monotonic_ns", count(now_monotonic_ns()));
        add(o, "interval_s", number(in->interval_s));
        add(o, "samples", count(in->n_samples));
        add(o, "machine", build_machine(in));
        add(o, "conditions", build_conditions(in));
        add(o, "metrics", build_metrics(in));
        add(o, "nodes", build_nodes(in));
        add(o, "units", build_units(in));
        add(o, "tasks", build_tasks(in));
        add(o, "cpus", build_cpus(in));
        add(o, "counters", build_counters(&in->sample->vmstat));
        add(o, "sources", build_sources(in));
        add(o, "knobs", build_knobs(in));
        add(o, "config", build_config(in));
        add(o, "self", build_self(in));
        add(o, "notes", build_notes(in));
        return o;
}
