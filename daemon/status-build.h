/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Builds the object of status.json (status.h) from what the manager knows. */

#include "cgroup.h"
#include "judge.h"
#include "knobs.h"
#include "metrics.h"
#include "status.h"
#include "tasks.h"
#include "tier.h"

struct status_input {
        bool observe;
        double interval_s; /* effective */
        uint64_t n_samples;
        const struct machine *machine;
        const struct config *config;
        unsigned generation;
        const char *config_error;    /* NULL: the last configuration was accepted */
        const struct sample *sample; /* the latest reading of each source */
        const struct metrics *metrics;
        const double *window_s;    /* METRIC_COUNT, what each metric's value was taken over */
        const uint32_t *cpu_delta; /* TLB interrupts for each CPU of cpu_id over cpu_window_s */
        const unsigned *cpu_id;
        size_t n_cpu_delta;
        double cpu_window_s;
        bool tlb_seen;      /* tlb_total is known */
        uint64_t tlb_total; /* interrupts of the TLB row since tlbd started, all CPUs */
        const struct judge *judge;
        const struct knobs *knobs;
        const double *source_interval_s;         /* SOURCE_COUNT */
        const struct cgroup_units *units;        /* latest reading */
        const struct tiers *tiers;               /* latest reading */
        const struct unit_metrics *unit_metrics; /* NULL: no two readings yet */
        const struct tasks *tasks;
        double cpu_s, cpu_percent;
        uint64_t rss_bytes;
};

/* A new reference, or NULL: out of memory. */
struct json_object *status_build(const struct status_input *in);
