/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "metrics.h"

#include "delta.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const struct metric_info metric_table[METRIC_COUNT] = {
#define METRIC(id, name, unit, title, text) [METRIC_##id] = {name, unit, title, text},
#include "metrics.def"
#undef METRIC
};

/* USER_HZ, the unit of /proc/stat: 100 on every Linux architecture that is built today. */
#define JIFFY_NS 1e7
#define PTES_PER_TABLE 512.0

struct pair {
        const struct sample *before, *after;
        const struct machine *machine;
        double interval_s;
        double limit; /* largest credible delta of one counter */
        struct metrics *out;
};

const char *validity_name(enum validity v)
{
        switch (v) {
        case VALIDITY_UNSUPPORTED:
                return "unsupported";
        case VALIDITY_OK:
                return "ok";
        case VALIDITY_IDLE:
                return "idle";
        case VALIDITY_HOTPLUG:
                return "hotplug";
        case VALIDITY_WRAPPED:
                return "wrapped";
        case VALIDITY_PARAVIRT:
                return "paravirt";
        case VALIDITY_BROADCAST:
                return "broadcast";
        }
        return "unsupported";
}

int metric_find(const char *name)
{
        for (int i = 0; i < METRIC_COUNT; i++)
                if (strcmp(metric_table[i].name, name) == 0)
                        return i;
        return -ENOENT;
}

void metrics_done(struct metrics *m)
{
        free(m->node);
        *m = (struct metrics){0};
}

/* Whether both samples have read a source. */
static bool both_read(const struct pair *p, enum source_id id)
{
        return p->before->read & p->after->read & 1u << id;
}

static struct delta vm(const struct pair *p, enum vmstat_id id)
{
        if (!both_read(p, SOURCE_VMSTAT))
                return (struct delta){.validity = VALIDITY_UNSUPPORTED};
        return vmstat_delta(&p->before->vmstat, &p->after->vmstat, id, p->limit);
}

static struct delta vm_sum(const struct pair *p, const enum vmstat_id *id, size_t n, bool all)
{
        if (!both_read(p, SOURCE_VMSTAT))
                return (struct delta){.validity = VALIDITY_UNSUPPORTED};
        return vmstat_sum_of(&p->before->vmstat, &p->after->vmstat, id, n, all, p->limit);
}

/* Of counters that a kernel has all or none of. */
#define VM_SUM(p, ...)                                                                             \
        vm_sum((p), (const enum vmstat_id[]){__VA_ARGS__},                                         \
               ELEMENTSOF(((const enum vmstat_id[]){__VA_ARGS__})), true)

static const enum vmstat_id scan_ids[] = {VM_PGSCAN_KSWAPD, VM_PGSCAN_DIRECT, VM_PGSCAN_KHUGEPAGED,
                                          VM_PGSCAN_PROACTIVE};

static struct delta vm_list(const struct pair *p, const enum vmstat_id *id, size_t n)
{
        return vm_sum(p, id, n, false);
}

/* Pages are counted by who reclaimed them and by what they were. Before 7.0 or so, those of a
 * cgroup's own reclaim (memory.max) are missing from the first (shrink_inactive_list() and
 * evict_folios() of mm/vmscan.c), so the larger of the two is the whole. */
static struct delta larger(struct delta by_whom, struct delta by_what)
{
        if (!delta_usable(by_whom) || !delta_usable(by_what))
                return by_whom.validity == VALIDITY_UNSUPPORTED ? by_what : by_whom;
        return by_what.value > by_whom.value ? by_what : by_whom;
}

static struct delta reclaimed(const struct pair *p)
{
        return larger(vm_list(p, vmstat_steal_ids, VMSTAT_STEAL_COUNT),
                      VM_SUM(p, VM_PGSTEAL_ANON, VM_PGSTEAL_FILE));
}

static struct delta scanned(const struct pair *p)
{
        return larger(vm_list(p, scan_ids, ELEMENTSOF(scan_ids)),
                      VM_SUM(p, VM_PGSCAN_ANON, VM_PGSCAN_FILE));
}

static struct metric rate(const struct pair *p, struct delta d)
{
        return delta_rate(d, p->interval_s);
}

static void set(const struct pair *p, enum metric_id id, struct metric m)
{
        p->out->metric[id] = m;
}

/* The difference of a 32-bit counter: more than half its range is a counter that fell. */
static bool row_delta_credible(const struct pair *p, const struct interrupts_delta *d)
{
        double limit = (double)(UINT32_MAX / 2);

        if (p->interval_s > 0)
                limit = fmin(limit, METRICS_MAX_PER_CPU_AND_SECOND * p->interval_s);
        return (double)d->max_cpu <= limit;
}

/* The interrupts of the TLB row, per CPU. */
static int row_delta(const struct pair *p, struct delta *ret, struct interrupts_delta *ret_detail)
{
        const struct interrupts_row *before = interrupts_row(&p->before->interrupts, "TLB");
        const struct interrupts_row *after = interrupts_row(&p->after->interrupts, "TLB");
        int r;

        *ret = (struct delta){.validity = VALIDITY_UNSUPPORTED};
        if (!both_read(p, SOURCE_INTERRUPTS) || !before || !after)
                return 0;
        if (before->state == SOURCE_PARAVIRT || after->state == SOURCE_PARAVIRT) {
                ret->validity = VALIDITY_PARAVIRT;
                return 0;
        }
        r = interrupts_delta(&p->before->interrupts, &p->after->interrupts, "TLB", ret_detail);
        if (r == -ENODATA)
                return 0;
        if (r < 0)
                return r;
        if (!row_delta_credible(p, ret_detail))
                ret->validity = VALIDITY_WRAPPED;
        else
                *ret = (struct delta){ret_detail->n_only_before || ret_detail->n_only_after
                                              ? VALIDITY_HOTPLUG
                                              : VALIDITY_OK,
                                      (double)ret_detail->total};
        return 0;
}

static const enum vmstat_id cause_ids[] = {VM_TLB_SHOOTDOWN_OTHER, VM_TLB_SHOOTDOWN_NUMA_SCAN,
                                           VM_TLB_SHOOTDOWN_NUMA_MIGRATE, VM_TLB_SHOOTDOWN_RECLAIM,
                                           VM_TLB_SHOOTDOWN_COMPACTION};

/* Whether the hypervisor flushes, so that no counter of ours moves: the TLB row said so when it was
 * last read, or a guest of several CPUs has not counted one interrupt since it booted. */
static bool hypervisor_flushes(const struct pair *p)
{
        const struct interrupts_row *row = interrupts_row(&p->after->interrupts, "TLB");

        if (row && row->state == SOURCE_PARAVIRT)
                return true;
        if (!p->machine->hypervisor || sample_cpus(p->after) < 2)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(cause_ids); i++)
                if (!vmstat_has(&p->after->vmstat, cause_ids[i]) ||
                    p->after->vmstat.value[cause_ids[i]] > 0)
                        return false;
        return true;
}

/* A number of interrupts, unless interrupts are not what flushing costs on this machine. */
static struct delta if_visible(const struct pair *p, struct delta d)
{
        if (delta_usable(d) && hypervisor_flushes(p))
                d.validity = VALIDITY_PARAVIRT;
        else if (delta_usable(d) && p->machine->broadcast)
                d.validity = VALIDITY_BROADCAST;
        return d;
}

/* Every interrupt, by the source that says it best. */
static struct delta tlb_total(const struct pair *p, struct delta row)
{
        struct delta causes = vm_sum(p, cause_ids, ELEMENTSOF(cause_ids), true);

        if (causes.validity != VALIDITY_UNSUPPORTED)
                return causes;
        if (row.validity != VALIDITY_UNSUPPORTED)
                return row;
        return vm(p, VM_NR_TLB_REMOTE_FLUSH_RECEIVED);
}

/* Cost per page: of its own causes where the kernel tells them apart, else of all. */
static struct metric per_page(struct delta own, struct delta all, struct delta pages)
{
        bool exact = own.validity != VALIDITY_UNSUPPORTED;
        struct metric m = delta_ratio(exact ? own : all, pages);

        m.all_causes = !exact;
        return m;
}

static int derive_tlb(const struct pair *p)
{
        static const struct {
                enum metric_id metric;
                enum vmstat_id counter;
        } cause[] = {
                {METRIC_TLB_NUMA_SCAN, VM_TLB_SHOOTDOWN_NUMA_SCAN},
                {METRIC_TLB_NUMA_MIGRATE, VM_TLB_SHOOTDOWN_NUMA_MIGRATE},
                {METRIC_TLB_RECLAIM, VM_TLB_SHOOTDOWN_RECLAIM},
                {METRIC_TLB_COMPACTION, VM_TLB_SHOOTDOWN_COMPACTION},
                {METRIC_TLB_OTHER, VM_TLB_SHOOTDOWN_OTHER},
        };
        struct interrupts_delta detail = {0};
        struct delta row, total, numa, reclaim;
        int r = row_delta(p, &row, &detail);

        if (r < 0)
                return r;
        row = if_visible(p, row);
        total = if_visible(p, tlb_total(p, row));
        set(p, METRIC_TLB, rate(p, total));
        set(p, METRIC_TLB_MAX_CPU, rate(p, (struct delta){row.validity, (double)detail.max_cpu}));
        set(p, METRIC_TLB_MEDIAN_CPU, rate(p, (struct delta){row.validity, detail.median_cpu}));
        for (size_t i = 0; i < ELEMENTSOF(cause); i++)
                set(p, cause[i].metric, rate(p, if_visible(p, vm(p, cause[i].counter))));
        numa = if_visible(p, VM_SUM(p, VM_TLB_SHOOTDOWN_NUMA_SCAN, VM_TLB_SHOOTDOWN_NUMA_MIGRATE));
        reclaim = if_visible(p, vm(p, VM_TLB_SHOOTDOWN_RECLAIM));
        set(p, METRIC_TLB_PER_MIGRATED, per_page(numa, total, vm(p, VM_NUMA_PAGES_MIGRATED)));
        set(p, METRIC_TLB_PER_RECLAIMED, per_page(reclaim, total, reclaimed(p)));
        return 0;
}

static void derive_balancing(const struct pair *p)
{
        struct delta ptes = vm(p, VM_NUMA_PTE_UPDATES);
        struct delta tables = ptes;

        tables.value /= PTES_PER_TABLE;
        set(p, METRIC_LOCALITY,
            delta_share(vm(p, VM_NUMA_HINT_FAULTS_LOCAL), vm(p, VM_NUMA_HINT_FAULTS)));
        set(p, METRIC_PAGES_MIGRATED, rate(p, vm(p, VM_NUMA_PAGES_MIGRATED)));
        set(p, METRIC_PAGES_PROMOTED, rate(p, vm(p, VM_PGPROMOTE_SUCCESS)));
        set(p, METRIC_PAGES_DEMOTED, rate(p, vm_list(p, vmstat_demote_ids, VMSTAT_DEMOTE_COUNT)));
        set(p, METRIC_PTE_UPDATES, rate(p, ptes));
        set(p, METRIC_HINT_FAULTS, rate(p, vm(p, VM_NUMA_HINT_FAULTS)));
        set(p, METRIC_PENDING_FLUSH, delta_ratio(vm(p, VM_TLB_BATCH_PENDING_FLUSH), tables));
}

static void derive_reclaim(const struct pair *p)
{
        struct delta steal = reclaimed(p);
        struct delta by_whom = vm_list(p, vmstat_steal_ids, VMSTAT_STEAL_COUNT);
        struct delta refaults = VM_SUM(p, VM_WORKINGSET_REFAULT_ANON, VM_WORKINGSET_REFAULT_FILE);

        if (refaults.validity == VALIDITY_UNSUPPORTED)
                refaults = vm(p, VM_WORKINGSET_REFAULT); /* before 5.9 */
        set(p, METRIC_PAGES_RECLAIMED, rate(p, steal));
        set(p, METRIC_RECLAIM_EFFICIENCY, delta_share(steal, scanned(p)));
        set(p, METRIC_DIRECT_SHARE, delta_share(vm(p, VM_PGSTEAL_DIRECT), by_whom));
        set(p, METRIC_PROACTIVE_SHARE, delta_share(vm(p, VM_PGSTEAL_PROACTIVE), by_whom));
        set(p, METRIC_ALLOCSTALLS, rate(p, vm(p, VM_ALLOCSTALL)));
        set(p, METRIC_SWAP_IN, rate(p, vm(p, VM_PSWPIN)));
        set(p, METRIC_SWAP_OUT, rate(p, vm(p, VM_PSWPOUT)));
        set(p, METRIC_REFAULTS, rate(p, refaults));
}

static struct delta jiffies(const struct pair *p, uint64_t before, uint64_t after)
{
        if (!both_read(p, SOURCE_STAT) || p->before->stat.state != SOURCE_OK ||
            p->after->stat.state != SOURCE_OK)
                return (struct delta){.validity = VALIDITY_UNSUPPORTED};
        return counter_delta(before, after, p->limit);
}

static void derive_time(const struct pair *p)
{
        const struct procstat *b = &p->before->stat, *a = &p->after->stat;
        /* Idle and iowait may fall a little (proc(5)), which the total makes up for. */
        struct delta total = jiffies(p, procstat_total(b), procstat_total(a));
        struct delta irq =
                delta_add(jiffies(p, b->irq, a->irq), jiffies(p, b->softirq, a->softirq));
        struct delta kernel = delta_add(jiffies(p, b->system, a->system), irq);

        kernel.value *= JIFFY_NS;
        set(p, METRIC_IRQ_SHARE, delta_share(irq, total));
        set(p, METRIC_STEAL_SHARE, delta_share(jiffies(p, b->steal, a->steal), total));
        set(p, METRIC_KERNEL_NS, delta_ratio(kernel, vm(p, VM_NUMA_PTE_UPDATES)));
}

static struct metric psi(const struct pair *p, const struct pressure_row *row)
{
        if (!(p->after->read & 1u << SOURCE_PRESSURE_MEMORY) || !row->present)
                return (struct metric){.validity = VALIDITY_UNSUPPORTED};
        return (struct metric){.validity = VALIDITY_OK, .value = row->avg10};
}

struct node_deltas {
        struct delta promoted, demoted, reclaimed, foreign;
};

static struct node_deltas node_deltas_of(const struct pair *p, const struct node *after)
{
        const struct node *before = nodes_find(&p->before->nodes, after->id);
        const struct vmstat *b, *a = &after->vmstat;
        struct node_deltas d;

        if (!before) /* it came between the samples: counted from its first sight on */
                return (struct node_deltas){0};
        b = &before->vmstat;
        d.promoted = vmstat_delta(b, a, VM_PGPROMOTE_SUCCESS, p->limit);
        d.foreign = vmstat_delta(b, a, VM_NUMA_FOREIGN, p->limit);
        d.demoted = vmstat_sum_of(b, a, vmstat_demote_ids, VMSTAT_DEMOTE_COUNT, false, p->limit);
        d.reclaimed = vmstat_sum_of(b, a, vmstat_steal_ids, VMSTAT_STEAL_COUNT, false, p->limit);
        return d;
}

static int derive_nodes(const struct pair *p)
{
        const struct nodes *nodes = &p->after->nodes;
        _cleanup_(freep) struct node_deltas *d = NULL;
        struct node_deltas all = {0};

        if (!both_read(p, SOURCE_NODES) || nodes->n == 0)
                return 0;
        d = calloc(nodes->n, sizeof(*d));
        p->out->node = calloc(nodes->n, sizeof(*p->out->node));
        if (!d || !p->out->node)
                return -ENOMEM;
        p->out->n_nodes = nodes->n;
        for (size_t i = 0; i < nodes->n; i++) {
                d[i] = node_deltas_of(p, &nodes->node[i]);
                all.promoted = delta_add(all.promoted, d[i].promoted);
                all.demoted = delta_add(all.demoted, d[i].demoted);
                all.reclaimed = delta_add(all.reclaimed, d[i].reclaimed);
        }
        for (size_t i = 0; i < nodes->n; i++)
                p->out->node[i] = (struct node_metric){
                        .id = nodes->node[i].id,
                        .promoted_per_s = rate(p, d[i].promoted),
                        .demoted_per_s = rate(p, d[i].demoted),
                        .reclaimed_per_s = rate(p, d[i].reclaimed),
                        .foreign_per_s = rate(p, d[i].foreign),
                        .promoted_share = delta_share(d[i].promoted, all.promoted),
                        .demoted_share = delta_share(d[i].demoted, all.demoted),
                        .reclaimed_share = delta_share(d[i].reclaimed, all.reclaimed),
                };
        return 0;
}

int metrics_derive(const struct sample *before, const struct sample *after,
                   const struct machine *machine, double interval_s, struct metrics *ret)
{
        size_t cpus = sample_cpus(after);
        struct pair p = {.before = before,
                         .after = after,
                         .machine = machine,
                         .interval_s = interval_s,
                         .out = ret};
        int r;

        if (!isfinite(interval_s) || interval_s < 0)
                p.interval_s = interval_s = 0;
        *ret = (struct metrics){.interval_s = interval_s};
        if (cpus == 0)
                cpus = 1;
        /* Without a time only a counter that goes backwards can be told. */
        p.limit = interval_s > 0 ? METRICS_MAX_PER_CPU_AND_SECOND * interval_s * (double)cpus
                                 : (double)INT64_MAX;
        r = derive_tlb(&p);
        if (r < 0)
                return r;
        derive_balancing(&p);
        derive_reclaim(&p);
        derive_time(&p);
        set(&p, METRIC_PSI_SOME, psi(&p, &after->pressure_memory.some));
        set(&p, METRIC_PSI_FULL, psi(&p, &after->pressure_memory.full));
        r = derive_nodes(&p);
        if (r < 0)
                metrics_done(ret);
        return r;
}
