/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Metrics from two samples. Pure arithmetic: no I/O, no state. A value is there only if it can be
 * trusted; validity says why it is not.
 */

#include "sample.h"

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "metrics.def"
#undef METRIC
        METRIC_COUNT
};

enum validity {
        VALIDITY_UNSUPPORTED, /* not on this kernel, or not read: value null */
        VALIDITY_OK,
        VALIDITY_IDLE,      /* nothing happened that it could be related to: value null */
        VALIDITY_HOTPLUG,   /* CPUs came or went: the value is over those seen in both samples */
        VALIDITY_WRAPPED,   /* a counter went backwards or moved impossibly far: value null */
        VALIDITY_PARAVIRT,  /* the hypervisor flushes, it is not visible here: value null */
        VALIDITY_BROADCAST, /* the CPU invalidates without interrupts (INVLPGB): value null */
};

struct metric {
        enum validity validity;
        double value;    /* with OK and HOTPLUG; never NaN, infinite or negative */
        bool all_causes; /* scope "all causes": not this cause alone */
};

struct metric_info {
        const char *name, *unit, *title, *text;
};

extern const struct metric_info metric_table[]; /* METRIC_COUNT entries */

/* What one node did between the samples. */
struct node_metric {
        unsigned id;
        struct metric promoted_per_s, demoted_per_s, reclaimed_per_s, foreign_per_s;
        struct metric promoted_share, demoted_share, reclaimed_share; /* of all nodes */
};

struct metrics {
        double interval_s; /* the two samples' distance; 0: unknown, rates are then unsupported */
        struct metric metric[METRIC_COUNT];
        struct node_metric *node; /* nodes of the later sample. Owned. */
        size_t n_nodes;
};

const char *validity_name(enum validity v);
int metric_find(const char *name); /* enum metric_id, or -ENOENT */

static inline bool metric_has_value(const struct metric *m)
{
        return m->validity == VALIDITY_OK || m->validity == VALIDITY_HOTPLUG;
}

void metrics_done(struct metrics *m);

/* Most events of one kind that one CPU can have in a second; more is a broken counter. */
#define METRICS_MAX_PER_CPU_AND_SECOND 1e8

/*
 * Derives every metric for the time between two samples of one machine and boot. What a sample has
 * not read is unsupported. interval_s is the distance of the samples, > 0, or 0 where it is not
 * known: then ratios are computed and rates are unsupported. -ENOMEM.
 */
_must_check_ int metrics_derive(const struct sample *before, const struct sample *after,
                                const struct machine *machine, double interval_s,
                                struct metrics *ret);
