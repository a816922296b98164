/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

static const struct machine metal, guest = {.hypervisor = true}, amd = {.broadcast = true};

/* Two samples made of texts, and what is derived from them. */
struct pair {
        struct sample before, after;
        struct metrics m;
};

static void setup_pair(struct pair *p)
{
        *p = (struct pair){0};
        assert_int_equal(sample_init(&p->before), 0);
        assert_int_equal(sample_init(&p->after), 0);
}

static void pair_done(struct pair *p)
{
        metrics_done(&p->m);
        sample_done(&p->before);
        sample_done(&p->after);
}

static void set_vmstat(struct sample *s, const char *text)
{
        vmstat_parse(text, strlen(text), &s->vmstat);
        s->read |= 1u << SOURCE_VMSTAT;
}

static void set_stat(struct sample *s, const char *text)
{
        assert_int_equal(procstat_parse(&s->stat, text, strlen(text)), 0);
        s->read |= 1u << SOURCE_STAT;
}

static void set_interrupts(struct sample *s, const char *text)
{
        struct interrupts_parser p;

        interrupts_parse_start(&p, &s->interrupts);
        assert_int_equal(interrupts_parse_feed(&p, text, strlen(text)), 0);
        interrupts_parse_finish(&p);
        s->read |= 1u << SOURCE_INTERRUPTS;
}

static void set_pressure(struct sample *s, const char *text)
{
        pressure_parse(text, strlen(text), &s->pressure_memory);
        s->read |= 1u << SOURCE_PRESSURE_MEMORY;
}

/* A node with the given counters, added behind those there are. */
static void add_node(struct sample *s, unsigned id, const char *vmstat)
{
        struct node *node = calloc(s->nodes.n + 1, sizeof(*node));

        assert_non_null(node);
        for (size_t i = 0; i < s->nodes.n; i++)
                node[i] = s->nodes.node[i];
        free(s->nodes.node);
        s->nodes.node = node;
        node[s->nodes.n].id = id;
        vmstat_parse(vmstat, strlen(vmstat), &node[s->nodes.n].vmstat);
        s->nodes.n++;
        s->nodes.state = SOURCE_OK;
        s->read |= 1u << SOURCE_NODES;
}

static void derive(struct pair *p, const struct machine *machine, double interval_s)
{
        metrics_done(&p->m);
        assert_int_equal(metrics_derive(&p->before, &p->after, machine, interval_s, &p->m), 0);
}

static void assert_metric(const struct metric *m, enum validity validity, double value)
{
        assert_string_equal(validity_name(m->validity), validity_name(validity));
        if (metric_has_value(m))
                assert_true(fabs(m->value - value) <= 1e-9 * (1 + fabs(value)));
}

static void assert_ok(const struct pair *p, enum metric_id id, double value)
{
        assert_metric(&p->m.metric[id], VALIDITY_OK, value);
}

static void assert_null_value(const struct pair *p, enum metric_id id, enum validity validity)
{
        assert_metric(&p->m.metric[id], validity, 0);
        assert_false(metric_has_value(&p->m.metric[id]));
}

static const char ours_before[] =
        "numa_pte_updates 1000\nnuma_hint_faults 100\nnuma_hint_faults_local 50\n"
        "numa_pages_migrated 10\npgpromote_success 7\npgdemote_kswapd 5\npgdemote_direct 0\n"
        "pgdemote_khugepaged 0\npgdemote_proactive 0\npgsteal_kswapd 1\npgsteal_direct 2\n"
        "pgsteal_khugepaged 3\npgsteal_proactive 4\npgscan_kswapd 5\npgscan_direct 6\n"
        "pgscan_khugepaged 7\npgscan_proactive 8\nallocstall_normal 11\nallocstall_movable 12\n"
        "pswpin 13\npswpout 14\nworkingset_refault_anon 15\nworkingset_refault_file 16\n"
        "nr_tlb_remote_flush_received 1\ntlb_shootdown_other 21\ntlb_shootdown_numa_scan 22\n"
        "tlb_shootdown_numa_migrate 23\ntlb_shootdown_reclaim 24\ntlb_shootdown_compaction 25\n"
        "tlb_batch_pending_flush 26\nnuma_foreign 27\n";
static const char ours_after[] =
        "numa_pte_updates 52200\nnuma_hint_faults 4100\nnuma_hint_faults_local 3050\n"
        "numa_pages_migrated 1010\npgpromote_success 207\npgdemote_kswapd 105\npgdemote_direct 50\n"
        "pgdemote_khugepaged 30\npgdemote_proactive 20\npgsteal_kswapd 601\npgsteal_direct 202\n"
        "pgsteal_khugepaged 103\npgsteal_proactive 104\npgscan_kswapd 1505\npgscan_direct 306\n"
        "pgscan_khugepaged 107\npgscan_proactive 108\nallocstall_normal 41\nallocstall_movable 32\n"
        "pswpin 83\npswpout 104\nworkingset_refault_anon 55\nworkingset_refault_file 76\n"
        "nr_tlb_remote_flush_received 9999\ntlb_shootdown_other 121\ntlb_shootdown_numa_scan 322\n"
        "tlb_shootdown_numa_migrate 723\ntlb_shootdown_reclaim 524\ntlb_shootdown_compaction 425\n"
        "tlb_batch_pending_flush 76\nnuma_foreign 27\n";
static const char stat_before[] = "cpu  1000 0 200 5000 0 10 20 0\nintr 1\n";
static const char stat_after[] = "cpu  1900 0 500 5700 0 30 60 40\nintr 2\n";
static const char rows_before[] = " CPU0 CPU1\nCAL: 1 1 x\nTLB: 100 200 x\n";
static const char rows_after[] = " CPU0 CPU1\nCAL: 1 1 x\nTLB: 1600 700 x\n";

static void make_ours(struct pair *p)
{
        setup_pair(p);
        set_vmstat(&p->before, ours_before);
        set_vmstat(&p->after, ours_after);
        set_stat(&p->before, stat_before);
        set_stat(&p->after, stat_after);
        set_interrupts(&p->before, rows_before);
        set_interrupts(&p->after, rows_after);
        set_pressure(&p->after, "some avg10=1.50 avg60=0.00 avg300=0.00 total=1\n"
                                "full avg10=0.25 avg60=0.00 avg300=0.00 total=1\n");
}

/* Each metric of 10 s on two CPUs, computed by hand from the differences. */
static const struct {
        enum metric_id id;
        double value;
        bool is_rate;
} by_hand[] = {
        {METRIC_TLB, 200, true}, /* 100 + 300 + 700 + 500 + 400 */
        {METRIC_TLB_MAX_CPU, 150, true},
        {METRIC_TLB_MEDIAN_CPU, 100, true},
        {METRIC_TLB_NUMA_SCAN, 30, true},
        {METRIC_TLB_NUMA_MIGRATE, 70, true},
        {METRIC_TLB_RECLAIM, 50, true},
        {METRIC_TLB_COMPACTION, 40, true},
        {METRIC_TLB_OTHER, 10, true},
        {METRIC_TLB_PER_MIGRATED, 1.0, false},  /* (300 + 700) / 1000 */
        {METRIC_TLB_PER_RECLAIMED, 0.5, false}, /* 500 / (600 + 200 + 100 + 100) */
        {METRIC_LOCALITY, 0.75, false},         /* 3000 / 4000 */
        {METRIC_PAGES_MIGRATED, 100, true},
        {METRIC_PAGES_PROMOTED, 20, true},
        {METRIC_PAGES_DEMOTED, 20, true}, /* 100 + 50 + 30 + 20 */
        {METRIC_PTE_UPDATES, 5120, true},
        {METRIC_HINT_FAULTS, 400, true},
        {METRIC_PENDING_FLUSH, 0.5, false}, /* 50 / (51200 / 512) */
        {METRIC_KERNEL_NS, 70312.5, false}, /* (300 + 20 + 40) jiffies of 10 ms / 51200 */
        {METRIC_PAGES_RECLAIMED, 100, true},
        {METRIC_RECLAIM_EFFICIENCY, 0.5, false}, /* 1000 / (1500 + 300 + 100 + 100) */
        {METRIC_DIRECT_SHARE, 0.2, false},
        {METRIC_PROACTIVE_SHARE, 0.1, false},
        {METRIC_ALLOCSTALLS, 5, true}, /* 30 + 20 */
        {METRIC_SWAP_IN, 7, true},
        {METRIC_SWAP_OUT, 9, true},
        {METRIC_REFAULTS, 10, true}, /* 40 + 60 */
        {METRIC_PSI_SOME, 1.5, false},
        {METRIC_PSI_FULL, 0.25, false},
        {METRIC_IRQ_SHARE, 0.03, false}, /* (20 + 40) / 2000 */
        {METRIC_STEAL_SHARE, 0.02, false},
};

static void every_metric_as_computed_by_hand(void **state)
{
        bool seen[METRIC_COUNT] = {0};
        struct pair p;

        (void)state;
        make_ours(&p);
        derive(&p, &metal, 10);
        assert_true(p.m.interval_s >= 10 && p.m.interval_s <= 10);
        for (size_t i = 0; i < ELEMENTSOF(by_hand); i++) {
                assert_ok(&p, by_hand[i].id, by_hand[i].value);
                assert_false(p.m.metric[by_hand[i].id].all_causes);
                seen[by_hand[i].id] = true;
        }
        for (size_t id = 0; id < METRIC_COUNT; id++)
                if (!seen[id])
                        fail_msg("%s has no value computed by hand", metric_table[id].name);
        pair_done(&p);
}

static void names_are_found_and_complete(void **state)
{
        (void)state;
        for (int id = 0; id < METRIC_COUNT; id++) {
                assert_int_equal(metric_find(metric_table[id].name), id);
                assert_true(strlen(metric_table[id].unit) > 0);
                assert_true(strlen(metric_table[id].title) > 0);
                assert_true(strlen(metric_table[id].text) > 20);
        }
        assert_int_equal(metric_find("tlb_interrupts"), -ENOENT);
        assert_int_equal(metric_find(""), -ENOENT);
        assert_string_equal(validity_name(VALIDITY_HOTPLUG), "hotplug");
        assert_string_equal(validity_name(VALIDITY_BROADCAST), "broadcast");
}

static void without_an_interval_only_ratios_are_known(void **state)
{
        static const double unknown[] = {0, -5, NAN, INFINITY};
        struct pair p;

        (void)state;
        make_ours(&p);
        for (size_t k = 0; k < ELEMENTSOF(unknown); k++) {
                derive(&p, &metal, unknown[k]);
                assert_true(p.m.interval_s >= 0 && p.m.interval_s <= 0);
                for (size_t i = 0; i < ELEMENTSOF(by_hand); i++)
                        if (by_hand[i].is_rate)
                                assert_null_value(&p, by_hand[i].id, VALIDITY_UNSUPPORTED);
                        else
                                assert_ok(&p, by_hand[i].id, by_hand[i].value);
        }
        pair_done(&p);
}

static void what_was_not_read_is_unsupported(void **state)
{
        struct pair p;

        (void)state;
        make_ours(&p);
        for (int k = 0; k < 2; k++) {
                p.before.read = k ? SOURCES_ALL : 0;
                p.after.read = 0;
                derive(&p, &metal, 10);
                for (enum metric_id id = 0; id < METRIC_COUNT; id++)
                        assert_null_value(&p, id, VALIDITY_UNSUPPORTED);
        }
        pair_done(&p);
        setup_pair(&p);
        p.before.read = p.after.read = SOURCES_ALL; /* read, and nothing was there */
        derive(&p, &metal, 10);
        for (enum metric_id id = 0; id < METRIC_COUNT; id++)
                assert_null_value(&p, id, VALIDITY_UNSUPPORTED);
        pair_done(&p);
}

/* Nothing happened: rates are a true 0, ratios have nothing to be a share of. */
static void quiet_machine_is_idle_not_zero(void **state)
{
        struct pair p;

        (void)state;
        make_ours(&p);
        set_vmstat(&p.after, ours_before);
        set_stat(&p.after, stat_before);
        set_interrupts(&p.after, rows_before);
        derive(&p, &metal, 10);
        for (size_t i = 0; i < ELEMENTSOF(by_hand); i++)
                if (by_hand[i].is_rate)
                        assert_ok(&p, by_hand[i].id, 0);
                else if (by_hand[i].id != METRIC_PSI_SOME && by_hand[i].id != METRIC_PSI_FULL)
                        assert_null_value(&p, by_hand[i].id, VALIDITY_IDLE);
        pair_done(&p);
}

/* A kernel without our counters: the row of all causes, and the ratio says so. */
static void stock_kernel_counts_all_causes(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "numa_pages_migrated 10\npgsteal_kswapd 0\npgsteal_direct 0\n");
        set_vmstat(&p.after, "numa_pages_migrated 1010\npgsteal_kswapd 400\npgsteal_direct 100\n");
        set_interrupts(&p.before, rows_before);
        set_interrupts(&p.after, rows_after);
        derive(&p, &metal, 10);
        assert_ok(&p, METRIC_TLB, 200);
        assert_ok(&p, METRIC_TLB_PER_MIGRATED, 2);
        assert_true(p.m.metric[METRIC_TLB_PER_MIGRATED].all_causes);
        assert_ok(&p, METRIC_TLB_PER_RECLAIMED, 4);
        assert_true(p.m.metric[METRIC_TLB_PER_RECLAIMED].all_causes);
        assert_null_value(&p, METRIC_TLB_NUMA_SCAN, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_TLB_RECLAIM, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_PENDING_FLUSH, VALIDITY_UNSUPPORTED);
        pair_done(&p);
}

/* D2: the mail says 29.7 million interrupts for 11.5 million migrations, in rows with blanks
 * behind the value. */
static void published_cost_per_page_is_met(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "numa_pages_migrated 0\nnr_tlb_remote_flush 0\n"
                              "nr_tlb_remote_flush_received 0\n");
        set_vmstat(&p.after, "numa_pages_migrated 11476195   \nnr_tlb_remote_flush 2151945\t\n"
                             "nr_tlb_remote_flush_received 29672808 \n");
        derive(&p, &metal, 0);
        assert_true(fabs(p.m.metric[METRIC_TLB_PER_MIGRATED].value - 2.59) < 0.005);
        assert_ok(&p, METRIC_TLB_PER_MIGRATED, 29672808.0 / 11476195.0);
        assert_true(p.m.metric[METRIC_TLB_PER_MIGRATED].all_causes);
        /* Within 600 s, by 16 CPUs. */
        set_stat(&p.after, "cpu  1 1 1 1\ncpu0 1\nintr 1\n");
        derive(&p, &metal, 600);
        assert_ok(&p, METRIC_TLB, 29672808.0 / 600);
        pair_done(&p);
}

/* A5, B5: the sample is marked, its values are over the CPUs seen twice. */
static void hotplug_marks_the_sample(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "numa_pages_migrated 0\n");
        set_vmstat(&p.after, "numa_pages_migrated 10\n");
        set_interrupts(&p.before, " CPU0 CPU1 CPU2\nTLB: 10 20 4000000000 x\n");
        set_interrupts(&p.after, " CPU0 CPU2 CPU3\nTLB: 30 4000000060 77777 x\n");
        derive(&p, &metal, 2);
        assert_metric(&p.m.metric[METRIC_TLB], VALIDITY_HOTPLUG, 40);
        assert_metric(&p.m.metric[METRIC_TLB_MAX_CPU], VALIDITY_HOTPLUG, 30);
        assert_metric(&p.m.metric[METRIC_TLB_MEDIAN_CPU], VALIDITY_HOTPLUG, 20);
        assert_metric(&p.m.metric[METRIC_TLB_PER_MIGRATED], VALIDITY_HOTPLUG, 8);
        assert_ok(&p, METRIC_PAGES_MIGRATED, 5);
        /* Only a CPU more: not the 77777 it had before it was seen. */
        set_interrupts(&p.before, " CPU0\nTLB: 10 x\n");
        set_interrupts(&p.after, " CPU0 CPU3\nTLB: 10 77777 x\n");
        derive(&p, &metal, 2);
        assert_metric(&p.m.metric[METRIC_TLB], VALIDITY_HOTPLUG, 0);
        /* All of them others. */
        set_interrupts(&p.after, " CPU3\nTLB: 77777 x\n");
        derive(&p, &metal, 2);
        assert_null_value(&p, METRIC_TLB, VALIDITY_UNSUPPORTED);
        pair_done(&p);
}

/* A11: a count passes 2^32 and is right; a count that falls is not taken for one. */
static void interrupt_counts_wrap_but_do_not_fall(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_interrupts(&p.before, " CPU0 CPU1\nTLB: 4294967290 100 x\n");
        set_interrupts(&p.after, " CPU0 CPU1\nTLB: 4 100 x\n");
        derive(&p, &metal, 1);
        assert_ok(&p, METRIC_TLB, 10);
        assert_ok(&p, METRIC_TLB_MAX_CPU, 10);
        for (int k = 0; k < 3; k++) {
                /* In one second, in ten minutes, in a time that is not known. */
                static const double interval_s[] = {1, 600, 0};

                set_interrupts(&p.before, " CPU0 CPU1\nTLB: 1000 100 x\n");
                set_interrupts(&p.after, " CPU0 CPU1\nTLB: 900 100 x\n");
                derive(&p, &metal, interval_s[k]);
                assert_null_value(&p, METRIC_TLB, VALIDITY_WRAPPED);
                assert_null_value(&p, METRIC_TLB_MAX_CPU, VALIDITY_WRAPPED);
                assert_null_value(&p, METRIC_TLB_MEDIAN_CPU, VALIDITY_WRAPPED);
        }
        /* Faster than any CPU: 1e8 in a second is the mark. */
        set_interrupts(&p.after, " CPU0 CPU1\nTLB: 100001000 100 x\n");
        derive(&p, &metal, 1);
        assert_ok(&p, METRIC_TLB, 1e8);
        set_interrupts(&p.after, " CPU0 CPU1\nTLB: 100001001 100 x\n");
        derive(&p, &metal, 1);
        assert_null_value(&p, METRIC_TLB, VALIDITY_WRAPPED);
        pair_done(&p);
}

/* Every counter in turn goes backwards by one: what is made of it is null, the rest stays. */
static void counter_that_falls_makes_no_value(void **state)
{
        struct pair p;

        (void)state;
        for (enum vmstat_id id = 0; id < VM_COUNT; id++) {
                unsigned gone = 0;

                make_ours(&p);
                if (!vmstat_has(&p.before.vmstat, id)) {
                        pair_done(&p);
                        continue;
                }
                p.before.vmstat.value[id] = p.after.vmstat.value[id] + 1;
                derive(&p, &metal, 10);
                for (size_t i = 0; i < ELEMENTSOF(by_hand); i++) {
                        const struct metric *m = &p.m.metric[by_hand[i].id];

                        if (m->validity == VALIDITY_WRAPPED)
                                gone++;
                        else
                                assert_metric(m, VALIDITY_OK, by_hand[i].value);
                }
                assert_int_equal(gone > 0,
                                 id != VM_NR_TLB_REMOTE_FLUSH_RECEIVED && id != VM_NUMA_FOREIGN);
                pair_done(&p);
        }
}

/* B14: lkp's 2.192e17 and 4.7e17 remote flushes of a four-socket machine. */
static void impossible_counts_are_dropped(void **state)
{
        static const char *const garbage[] = {
                "numa_pages_migrated 10\nnr_tlb_remote_flush_received 219200000000000000\n",
                "numa_pages_migrated 10\nnr_tlb_remote_flush_received 470000000000000000\n",
                "numa_pages_migrated 10\nnr_tlb_remote_flush_received 18446744073709551615\n",
                "numa_pages_migrated 10\nnr_tlb_remote_flush_received 499\n",
        };
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "numa_pages_migrated 0\nnr_tlb_remote_flush_received 500\n");
        for (size_t g = 0; g < ELEMENTSOF(garbage); g++) {
                char stat[8192] = "cpu  1 1 1 1\n";

                for (int cpu = 0; cpu < 60; cpu++)
                        (void)sprintf(stat + strlen(stat), "cpu%d 1 1 1 1\n", cpu);
                strcat(stat, "intr 1\n");
                set_stat(&p.after, stat);
                set_vmstat(&p.after, garbage[g]);
                derive(&p, &metal, 300);
                assert_null_value(&p, METRIC_TLB, VALIDITY_WRAPPED);
                assert_null_value(&p, METRIC_TLB_PER_MIGRATED, VALIDITY_WRAPPED);
                assert_ok(&p, METRIC_PAGES_MIGRATED, 10.0 / 300);
        }
        pair_done(&p);
}

/* Causes that are each possible, but not together. */
static void sum_of_causes_has_the_same_limit(void **state)
{
        struct pair p;

        (void)state;
        make_ours(&p);
        for (enum vmstat_id id = VM_TLB_SHOOTDOWN_OTHER; id <= VM_TLB_SHOOTDOWN_COMPACTION; id++)
                p.after.vmstat.value[id] = p.before.vmstat.value[id] + 150000000; /* 2 CPUs, 1 s */
        derive(&p, &metal, 1);
        assert_ok(&p, METRIC_TLB_RECLAIM, 1.5e8);
        assert_null_value(&p, METRIC_TLB, VALIDITY_WRAPPED);
        pair_done(&p);
}

static void paravirtual_flushes_are_not_a_zero(void **state)
{
        struct pair p;

        (void)state;
        /* The row, as sources_read() marks it. */
        setup_pair(&p);
        set_vmstat(&p.before, "numa_pages_migrated 0\nnr_tlb_remote_flush_received 0\n");
        set_vmstat(&p.after, "numa_pages_migrated 10\nnr_tlb_remote_flush_received 0\n");
        set_interrupts(&p.before, " CPU0 CPU1\nTLB: 0 0 x\n");
        set_interrupts(&p.after, " CPU0 CPU1\nTLB: 0 0 x\n");
        p.before.interrupts.row[0].state = p.after.interrupts.row[0].state = SOURCE_PARAVIRT;
        derive(&p, &guest, 1);
        assert_null_value(&p, METRIC_TLB, VALIDITY_PARAVIRT);
        assert_null_value(&p, METRIC_TLB_MAX_CPU, VALIDITY_PARAVIRT);
        assert_null_value(&p, METRIC_TLB_PER_MIGRATED, VALIDITY_PARAVIRT);
        assert_ok(&p, METRIC_PAGES_MIGRATED, 10);
        /* Between two readings of /proc/interrupts the last one is remembered. */
        p.before.read = p.after.read = 1u << SOURCE_VMSTAT;
        derive(&p, &guest, 1);
        assert_null_value(&p, METRIC_TLB, VALIDITY_PARAVIRT);
        pair_done(&p);

        /* The first interrupt ever. */
        setup_pair(&p);
        set_interrupts(&p.before, " CPU0 CPU1\nTLB: 0 0 x\n");
        set_interrupts(&p.after, " CPU0 CPU1\nTLB: 0 5 x\n");
        p.before.interrupts.row[0].state = SOURCE_PARAVIRT;
        derive(&p, &guest, 1);
        assert_null_value(&p, METRIC_TLB, VALIDITY_PARAVIRT);
        pair_done(&p);
}

/* Our own kernel as a guest: its counters say 0, and mean nothing. */
static void paravirtual_flushes_hide_our_counters_too(void **state)
{
        struct pair p;

        (void)state;
        make_ours(&p);
        for (enum vmstat_id id = VM_TLB_SHOOTDOWN_OTHER; id <= VM_TLB_SHOOTDOWN_COMPACTION; id++)
                p.before.vmstat.value[id] = p.after.vmstat.value[id] = 0;
        set_stat(&p.after, "cpu  1900 0 500 5700 0 30 60 40\ncpu0 1\ncpu1 1\nintr 2\n");
        p.before.read = p.after.read = 1u << SOURCE_VMSTAT | 1u << SOURCE_STAT;
        derive(&p, &guest, 10);
        for (enum metric_id id = METRIC_TLB_NUMA_SCAN; id <= METRIC_TLB_PER_RECLAIMED; id++)
                assert_null_value(&p, id, VALIDITY_PARAVIRT);
        assert_null_value(&p, METRIC_TLB, VALIDITY_PARAVIRT);
        derive(&p, &metal, 10);
        assert_ok(&p, METRIC_TLB, 0);
        /* A single CPU has nobody to interrupt. */
        set_stat(&p.after, "cpu  1900 0 500 5700 0 30 60 40\ncpu0 1\nintr 2\n");
        derive(&p, &guest, 10);
        assert_ok(&p, METRIC_TLB, 0);
        set_stat(&p.after, "cpu  1900 0 500 5700 0 30 60 40\ncpu0 1\ncpu1 1\nintr 2\n");
        /* One interrupt since boot: they are visible. */
        p.before.vmstat.value[VM_TLB_SHOOTDOWN_OTHER] = 1;
        p.after.vmstat.value[VM_TLB_SHOOTDOWN_OTHER] = 1;
        derive(&p, &guest, 10);
        assert_ok(&p, METRIC_TLB, 0);
        pair_done(&p);
}

static void broadcast_hardware_has_no_interrupts_to_count(void **state)
{
        struct pair p;

        (void)state;
        make_ours(&p);
        derive(&p, &amd, 10);
        for (size_t i = 0; i < ELEMENTSOF(by_hand); i++)
                if (by_hand[i].id <= METRIC_TLB_PER_RECLAIMED)
                        assert_null_value(&p, by_hand[i].id, VALIDITY_BROADCAST);
                else
                        assert_ok(&p, by_hand[i].id, by_hand[i].value);
        pair_done(&p);
}

/* B13: the same counter in another form is not the same counter. */
static void change_of_form_makes_no_difference(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "pgsteal_kswapd_normal 10\npgsteal_direct_normal 0\npswpin 1\n");
        set_vmstat(&p.after, "pgsteal_kswapd_normal 20\npgsteal_direct_normal 30\npswpin 1\n");
        derive(&p, &metal, 1);
        assert_ok(&p, METRIC_PAGES_RECLAIMED, 40);
        assert_ok(&p, METRIC_DIRECT_SHARE, 0.75);
        set_vmstat(&p.after, "pgsteal_kswapd 20\npgsteal_direct 30\npswpin 1\n");
        derive(&p, &metal, 1);
        assert_null_value(&p, METRIC_PAGES_RECLAIMED, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_DIRECT_SHARE, VALIDITY_UNSUPPORTED);
        pair_done(&p);
}

/* A sum of which a part may be cut off, or came only now, is not known. */
static void sums_need_all_their_parts(void **state)
{
        struct pair p;
        char cut[sizeof(ours_after)];
        char *end;

        (void)state;
        make_ours(&p);
        strcpy(cut, ours_after);
        end = strstr(cut, "tlb_shootdown_reclaim");
        assert_non_null(end);
        for (int newline = 0; newline < 2; newline++) {
                /* In the middle of a row, and at the end of one, which cannot be seen. */
                end[newline ? 0 : 5] = '\0';
                set_vmstat(&p.after, cut);
                derive(&p, &metal, 10);
                assert_ok(&p, METRIC_TLB, 200); /* from /proc/interrupts, not 3 causes of 5 */
                assert_ok(&p, METRIC_TLB_NUMA_SCAN, 30);
                assert_null_value(&p, METRIC_TLB_RECLAIM, VALIDITY_UNSUPPORTED);
        }
        /* Both cut alike: what is missing may have been cut off. */
        set_vmstat(&p.before, "pgsteal_kswapd 1\npgsteal_direct 2\npgst");
        set_vmstat(&p.after, "pgsteal_kswapd 11\npgsteal_direct 12\npgst");
        derive(&p, &metal, 10);
        assert_null_value(&p, METRIC_PAGES_RECLAIMED, VALIDITY_UNSUPPORTED);
        /* One more from now on, as after a live patch. */
        set_vmstat(&p.before, "pgsteal_kswapd 1\npgsteal_direct 2\n");
        set_vmstat(&p.after, "pgsteal_kswapd 11\npgsteal_direct 12\npgsteal_proactive 900\n");
        derive(&p, &metal, 10);
        assert_null_value(&p, METRIC_PAGES_RECLAIMED, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_PROACTIVE_SHARE, VALIDITY_UNSUPPORTED);
        set_vmstat(&p.before, "pgsteal_kswapd 1\npgsteal_direct 2\npgsteal_proactive 900\n");
        derive(&p, &metal, 10);
        assert_ok(&p, METRIC_PAGES_RECLAIMED, 2);
        pair_done(&p);
}

/* C5, D7: swap of a machine without NUMA is seen, NUMA is not on this kernel. */
static void kernel_without_numa_has_reclaim_only(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "pswpin 1\npswpout 715924\npgsteal_kswapd 5\npgscan_kswapd 5\n");
        set_vmstat(&p.after, "pswpin 1\npswpout 716024\npgsteal_kswapd 105\npgscan_kswapd 105\n");
        derive(&p, &metal, 10);
        assert_ok(&p, METRIC_SWAP_OUT, 10);
        assert_ok(&p, METRIC_RECLAIM_EFFICIENCY, 1);
        assert_null_value(&p, METRIC_PAGES_MIGRATED, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_LOCALITY, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_TLB_PER_MIGRATED, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_KERNEL_NS, VALIDITY_UNSUPPORTED);
        pair_done(&p);
}

/* D3: an MSR reader's function calls are no TLB cost. */
static void function_calls_are_not_shootdowns(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "numa_pages_migrated 3\n");
        set_vmstat(&p.after, "numa_pages_migrated 3\n");
        set_interrupts(&p.before, " CPU0 CPU1\nCAL: 0 0 x\nTLB: 0 1 x\n");
        set_interrupts(&p.after, " CPU0 CPU1\nCAL: 100000 118734 x\nTLB: 4 5 x\n");
        derive(&p, &metal, 1);
        assert_ok(&p, METRIC_TLB, 8);
        assert_null_value(&p, METRIC_TLB_PER_MIGRATED, VALIDITY_IDLE);
        pair_done(&p);
}

/* B10: sizes that leak upwards are in no metric. */
static void gauges_are_not_used(void **state)
{
        _cleanup_(freep) char *leaky = strf(
                "nr_inactive_file 18446744073709551615\nnr_free_pages 99999999999\n%s", ours_after);
        struct pair p;

        (void)state;
        make_ours(&p);
        set_vmstat(&p.after, leaky);
        derive(&p, &metal, 10);
        for (size_t i = 0; i < ELEMENTSOF(by_hand); i++)
                assert_ok(&p, by_hand[i].id, by_hand[i].value);
        pair_done(&p);
}

static void old_refault_counter_serves_old_kernels(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "workingset_refault 10\n");
        set_vmstat(&p.after, "workingset_refault 110\n");
        derive(&p, &metal, 10);
        assert_ok(&p, METRIC_REFAULTS, 10);
        pair_done(&p);
}

static void part_above_its_whole_is_all_of_it(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        set_vmstat(&p.before, "numa_hint_faults 0\nnuma_hint_faults_local 0\n");
        set_vmstat(&p.after, "numa_hint_faults 1000\nnuma_hint_faults_local 1003\n");
        derive(&p, &metal, 1);
        assert_ok(&p, METRIC_LOCALITY, 1);
        pair_done(&p);
}

static void times_of_stat_that_fall_or_are_not_read_make_no_value(void **state)
{
        struct pair p;

        (void)state;
        make_ours(&p);
        /* irq falls while softirq grows by more. */
        set_stat(&p.after, "cpu  1900 0 500 5700 0 5 600 40\nintr 2\n");
        derive(&p, &metal, 10);
        assert_null_value(&p, METRIC_IRQ_SHARE, VALIDITY_WRAPPED);
        assert_null_value(&p, METRIC_KERNEL_NS, VALIDITY_WRAPPED);
        set_stat(&p.after, "cpu  1900 0 500 57");
        derive(&p, &metal, 10);
        assert_null_value(&p, METRIC_IRQ_SHARE, VALIDITY_UNSUPPORTED);
        assert_null_value(&p, METRIC_STEAL_SHARE, VALIDITY_UNSUPPORTED);
        /* iowait may fall a little (proc(5)). */
        set_stat(&p.before, "cpu  0 0 0 0 50 0 0 0\nintr 2\n");
        set_stat(&p.after, "cpu  0 0 0 60 40 25 25 0\nintr 2\n");
        derive(&p, &metal, 10);
        assert_ok(&p, METRIC_IRQ_SHARE, 0.5);
        pair_done(&p);
}

/* B12: PSI off, or a row that is not there. */
static void pressure_that_is_off_is_unsupported(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        p.after.read = 1u << SOURCE_PRESSURE_MEMORY;
        p.after.pressure_memory = (struct pressure){.state = SOURCE_OFF};
        derive(&p, &metal, 1);
        assert_null_value(&p, METRIC_PSI_SOME, VALIDITY_UNSUPPORTED);
        set_pressure(&p.after, "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
        derive(&p, &metal, 1);
        assert_ok(&p, METRIC_PSI_SOME, 0);
        assert_null_value(&p, METRIC_PSI_FULL, VALIDITY_UNSUPPORTED);
        pair_done(&p);
}

static const struct node_metric *node_of(const struct pair *p, unsigned id)
{
        for (size_t i = 0; i < p->m.n_nodes; i++)
                if (p->m.node[i].id == id)
                        return &p->m.node[i];
        fail_msg("no node %u", id);
        return NULL;
}

static void nodes_have_rates_and_shares(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        add_node(&p.before, 0,
                 "pgpromote_success 5\npgdemote_kswapd 0\npgdemote_direct 0\nnuma_foreign 1\n");
        add_node(&p.before, 4,
                 "pgpromote_success 0\npgdemote_kswapd 0\npgdemote_direct 0\nnuma_foreign 0\n");
        add_node(&p.after, 0,
                 "pgpromote_success 35\npgdemote_kswapd 60\npgdemote_direct 20\nnuma_foreign 11\n");
        add_node(&p.after, 4,
                 "pgpromote_success 10\npgdemote_kswapd 0\npgdemote_direct 0\nnuma_foreign 0\n");
        derive(&p, &metal, 10);
        assert_int_equal(p.m.n_nodes, 2);
        assert_metric(&node_of(&p, 0)->promoted_per_s, VALIDITY_OK, 3);
        assert_metric(&node_of(&p, 0)->demoted_per_s, VALIDITY_OK, 8);
        assert_metric(&node_of(&p, 0)->foreign_per_s, VALIDITY_OK, 1);
        assert_metric(&node_of(&p, 0)->promoted_share, VALIDITY_OK, 0.75);
        assert_metric(&node_of(&p, 4)->promoted_share, VALIDITY_OK, 0.25);
        assert_metric(&node_of(&p, 0)->demoted_share, VALIDITY_OK, 1);
        assert_metric(&node_of(&p, 4)->demoted_share, VALIDITY_OK, 0);
        assert_metric(&node_of(&p, 4)->reclaimed_per_s, VALIDITY_UNSUPPORTED, 0);
        assert_metric(&node_of(&p, 4)->reclaimed_share, VALIDITY_UNSUPPORTED, 0);
        pair_done(&p);
}

/* B8: what a new node had counted before its first sight is nobody's. */
static void node_that_appears_is_counted_from_then_on(void **state)
{
        struct pair p;

        (void)state;
        setup_pair(&p);
        add_node(&p.before, 0, "pgpromote_success 0\n");
        add_node(&p.before, 1, "pgpromote_success 7\n");
        add_node(&p.after, 0, "pgpromote_success 10\n");
        add_node(&p.after, 9, "pgpromote_success 5000\n");
        derive(&p, &metal, 10);
        assert_int_equal(p.m.n_nodes, 2);
        assert_metric(&node_of(&p, 0)->promoted_share, VALIDITY_OK, 1);
        assert_metric(&node_of(&p, 9)->promoted_per_s, VALIDITY_UNSUPPORTED, 0);
        assert_metric(&node_of(&p, 9)->promoted_share, VALIDITY_UNSUPPORTED, 0);
        pair_done(&p);
        /* One that went and came back may start anew. */
        setup_pair(&p);
        add_node(&p.before, 0, "pgpromote_success 0\n");
        add_node(&p.before, 9, "pgpromote_success 5000\n");
        add_node(&p.after, 0, "pgpromote_success 10\n");
        add_node(&p.after, 9, "pgpromote_success 3\n");
        derive(&p, &metal, 10);
        assert_metric(&node_of(&p, 9)->promoted_per_s, VALIDITY_WRAPPED, 0);
        assert_metric(&node_of(&p, 0)->promoted_per_s, VALIDITY_OK, 1);
        assert_metric(&node_of(&p, 0)->promoted_share, VALIDITY_WRAPPED, 0);
        pair_done(&p);
}

/* ---- any history ------------------------------------------------------------------------------
 */

/* A machine that lives through hotplug, counters that wrap, fall, jump, vanish and come back. */
enum { MODEL_CPUS = 8 };

struct model {
        bool online[MODEL_CPUS], has_row, has_causes;
        uint32_t tlb[MODEL_CPUS];
        uint64_t causes[5], migrated, steal[2];
        bool has_migrated;
        uint64_t times[8];
};

static uint64_t some(uint64_t below)
{
        return ((uint64_t)rand() << 31 | (uint64_t)rand()) % below;
}

static bool chance(unsigned percent)
{
        return (unsigned)rand() % 100 < percent;
}

/* Mostly a little more, now and then nothing, much more, less, or anything. */
static uint64_t next_count(uint64_t v)
{
        switch (some(40)) {
        case 0:
                return 0;
        case 1:
                return v - some(v / 2 + 1);
        case 2:
                return v + some(UINT64_C(1) << 30);
        case 3:
                return some(UINT64_C(1) << 62);
        case 4 ... 9:
                return v;
        default:
                return v + some(100000);
        }
}

static void model_step(struct model *m)
{
        for (size_t cpu = 0; cpu < MODEL_CPUS; cpu++) {
                if (chance(5))
                        m->online[cpu] = !m->online[cpu];
                m->tlb[cpu] = (uint32_t)next_count(m->tlb[cpu]);
        }
        if (chance(3))
                m->has_row = !m->has_row;
        if (chance(3))
                m->has_causes = !m->has_causes;
        if (chance(3))
                m->has_migrated = !m->has_migrated;
        for (size_t i = 0; i < ELEMENTSOF(m->causes); i++)
                m->causes[i] = next_count(m->causes[i]);
        for (size_t i = 0; i < ELEMENTSOF(m->steal); i++)
                m->steal[i] = next_count(m->steal[i]);
        for (size_t i = 0; i < ELEMENTSOF(m->times); i++)
                m->times[i] = chance(2) ? next_count(m->times[i]) : m->times[i] + some(100);
        m->migrated = next_count(m->migrated);
}

static void model_sample(const struct model *m, struct sample *s)
{
        char text[4096];
        size_t len = 0;

        for (size_t cpu = 0; cpu < MODEL_CPUS; cpu++)
                if (m->online[cpu])
                        len += (size_t)snprintf(text + len, sizeof(text) - len, " CPU%zu", cpu * 3);
        len += (size_t)snprintf(text + len, sizeof(text) - len, m->has_row ? "\nTLB:" : "\nRES:");
        for (size_t cpu = 0; cpu < MODEL_CPUS; cpu++)
                if (m->online[cpu])
                        len += (size_t)snprintf(text + len, sizeof(text) - len, " %" PRIu32,
                                                m->tlb[cpu]);
        (void)snprintf(text + len, sizeof(text) - len, "  text\n");
        set_interrupts(s, text);

        len = (size_t)snprintf(text, sizeof(text),
                               "pgsteal_kswapd %" PRIu64 "\npgsteal_direct %" PRIu64 "\n",
                               m->steal[0], m->steal[1]);
        if (m->has_migrated)
                len += (size_t)snprintf(text + len, sizeof(text) - len,
                                        "numa_pages_migrated %" PRIu64 "\n", m->migrated);
        for (size_t i = 0; i < 5 && m->has_causes; i++)
                len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %" PRIu64 "\n",
                                        vmstat_name(VM_TLB_SHOOTDOWN_OTHER + (enum vmstat_id)i),
                                        m->causes[i]);
        set_vmstat(s, text);

        len = (size_t)snprintf(text, sizeof(text), "cpu ");
        for (size_t i = 0; i < ELEMENTSOF(m->times); i++)
                len += (size_t)snprintf(text + len, sizeof(text) - len, " %" PRIu64, m->times[i]);
        (void)snprintf(text + len, sizeof(text) - len, "\nintr 1\n");
        set_stat(s, text);
}

static size_t model_cpus(const struct model *m)
{
        size_t n = 0;

        for (size_t cpu = 0; cpu < MODEL_CPUS; cpu++)
                n += m->online[cpu];
        return n;
}

/* A difference, slowly: NAN if it cannot be one. */
static double slow_delta(uint64_t before, uint64_t after, double limit)
{
        double d = after >= before ? (double)(after - before) : NAN;

        return d <= limit ? d : NAN;
}

static void check_row(const struct pair *p, const struct model *b, const struct model *a,
                      double interval_s)
{
        const struct metric *max = &p->m.metric[METRIC_TLB_MAX_CPU];
        const struct metric *median = &p->m.metric[METRIC_TLB_MEDIAN_CPU];
        double d[MODEL_CPUS], limit = fmin(1e8 * interval_s, 2147483647.0);
        size_t n = 0, other = 0;

        for (size_t cpu = 0; cpu < MODEL_CPUS; cpu++) {
                size_t at = n;
                double v;

                other += b->online[cpu] != a->online[cpu];
                if (!b->online[cpu] || !a->online[cpu])
                        continue;
                v = (double)a->tlb[cpu] - (double)b->tlb[cpu];
                if (v < 0)
                        v += 4294967296.0;
                for (; at > 0 && d[at - 1] > v; at--)
                        d[at] = d[at - 1];
                d[at] = v;
                n++;
        }
        if (!b->has_row || !a->has_row || n == 0) {
                assert_metric(max, VALIDITY_UNSUPPORTED, 0);
        } else if (d[n - 1] > limit) {
                assert_metric(max, VALIDITY_WRAPPED, 0);
                assert_metric(median, VALIDITY_WRAPPED, 0);
        } else {
                enum validity v = other ? VALIDITY_HOTPLUG : VALIDITY_OK;

                assert_metric(max, v, d[n - 1] / interval_s);
                assert_metric(median, v, (d[(n - 1) / 2] + d[n / 2]) / 2 / interval_s);
        }
}

static void check_counters(const struct pair *p, const struct model *b, const struct model *a,
                           double interval_s)
{
        size_t cpus = model_cpus(a);
        double limit = 1e8 * interval_s * (double)(cpus ? cpus : 1);
        double migrated = slow_delta(b->migrated, a->migrated, limit), total = 0;
        double steal[2] = {slow_delta(b->steal[0], a->steal[0], limit),
                           slow_delta(b->steal[1], a->steal[1], limit)};

        if (!b->has_migrated || !a->has_migrated)
                assert_metric(&p->m.metric[METRIC_PAGES_MIGRATED], VALIDITY_UNSUPPORTED, 0);
        else
                assert_metric(&p->m.metric[METRIC_PAGES_MIGRATED],
                              isnan(migrated) ? VALIDITY_WRAPPED : VALIDITY_OK,
                              migrated / interval_s);
        if (!(steal[0] + steal[1] <= limit))
                assert_metric(&p->m.metric[METRIC_DIRECT_SHARE], VALIDITY_WRAPPED, 0);
        else if (steal[0] + steal[1] > 0)
                assert_metric(&p->m.metric[METRIC_DIRECT_SHARE], VALIDITY_OK,
                              steal[1] / (steal[0] + steal[1]));
        else
                assert_metric(&p->m.metric[METRIC_DIRECT_SHARE], VALIDITY_IDLE, 0);
        if (!b->has_causes || !a->has_causes)
                return;
        for (size_t i = 0; i < 5; i++)
                total += slow_delta(b->causes[i], a->causes[i], limit);
        assert_metric(&p->m.metric[METRIC_TLB], total <= limit ? VALIDITY_OK : VALIDITY_WRAPPED,
                      total / interval_s);
}

static void check_bounds(const struct pair *p, const struct model *a)
{
        double cpus = (double)model_cpus(a) > 0 ? (double)model_cpus(a) : 1;

        for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
                const struct metric *m = &p->m.metric[id];

                if (!metric_has_value(m))
                        continue;
                assert_true(isfinite(m->value) && m->value >= 0);
                if (strstr(metric_table[id].unit, "/s"))
                        assert_true(m->value <= 1e8 * cpus * (1 + 1e-12));
                if (strcmp(metric_table[id].unit, "ratio") == 0)
                        assert_true(m->value <= 1);
        }
}

static void any_history_gives_true_values_or_none(void **state)
{
        static const double intervals[] = {0.25, 1, 10, 60, 3600};
        struct model before = {.online = {true, true, true}, .has_row = true, .has_causes = true};
        unsigned with_value = 0, wrapped = 0, hotplug = 0;

        (void)state;
        srand(20261130);
        for (int round = 0; round < 20000; round++) {
                double interval_s = intervals[some(ELEMENTSOF(intervals))];
                struct model after = before;
                struct pair p;

                model_step(&after);
                setup_pair(&p);
                model_sample(&before, &p.before);
                model_sample(&after, &p.after);
                derive(&p, &metal, interval_s);
                check_row(&p, &before, &after, interval_s);
                check_counters(&p, &before, &after, interval_s);
                check_bounds(&p, &after);
                with_value += p.m.metric[METRIC_TLB].validity == VALIDITY_OK;
                wrapped += p.m.metric[METRIC_TLB].validity == VALIDITY_WRAPPED;
                hotplug += p.m.metric[METRIC_TLB_MAX_CPU].validity == VALIDITY_HOTPLUG;
                pair_done(&p);
                before = after;
        }
        /* The histories are of all sorts. */
        assert_true(with_value > 1000 && wrapped > 1000 && hotplug > 1000);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_metric_as_computed_by_hand),
                cmocka_unit_test(names_are_found_and_complete),
                cmocka_unit_test(without_an_interval_only_ratios_are_known),
                cmocka_unit_test(what_was_not_read_is_unsupported),
                cmocka_unit_test(quiet_machine_is_idle_not_zero),
                cmocka_unit_test(stock_kernel_counts_all_causes),
                cmocka_unit_test(published_cost_per_page_is_met),
                cmocka_unit_test(hotplug_marks_the_sample),
                cmocka_unit_test(interrupt_counts_wrap_but_do_not_fall),
                cmocka_unit_test(counter_that_falls_makes_no_value),
                cmocka_unit_test(impossible_counts_are_dropped),
                cmocka_unit_test(sum_of_causes_has_the_same_limit),
                cmocka_unit_test(paravirtual_flushes_are_not_a_zero),
                cmocka_unit_test(paravirtual_flushes_hide_our_counters_too),
                cmocka_unit_test(broadcast_hardware_has_no_interrupts_to_count),
                cmocka_unit_test(change_of_form_makes_no_difference),
                cmocka_unit_test(sums_need_all_their_parts),
                cmocka_unit_test(kernel_without_numa_has_reclaim_only),
                cmocka_unit_test(function_calls_are_not_shootdowns),
                cmocka_unit_test(gauges_are_not_used),
                cmocka_unit_test(old_refault_counter_serves_old_kernels),
                cmocka_unit_test(part_above_its_whole_is_all_of_it),
                cmocka_unit_test(times_of_stat_that_fall_or_are_not_read_make_no_value),
                cmocka_unit_test(pressure_that_is_off_is_unsupported),
                cmocka_unit_test(nodes_have_rates_and_shares),
                cmocka_unit_test(node_that_appears_is_counted_from_then_on),
                cmocka_unit_test(any_history_gives_true_values_or_none),
        };

        return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
