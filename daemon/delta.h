/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Differences of counters, and the metrics made from them. Shared by the machine's metrics and
 * those of single nodes and units. */

#include "metrics.h"

/* A sum of counter differences: what it is, or why it is not known. */
struct delta {
        enum validity validity; /* OK, UNSUPPORTED, WRAPPED, HOTPLUG, PARAVIRT or BROADCAST */
        double value;
};

/* The parts of all reclaimed, and of all demoted pages. */
#define VMSTAT_STEAL_COUNT 4
#define VMSTAT_DEMOTE_COUNT 4
extern const enum vmstat_id vmstat_steal_ids[VMSTAT_STEAL_COUNT];
extern const enum vmstat_id vmstat_demote_ids[VMSTAT_DEMOTE_COUNT];

bool delta_usable(struct delta d); /* value is valid */

/* WRAPPED if the counter fell, or moved by more than limit. */
struct delta counter_delta(uint64_t before, uint64_t after, double limit);
struct delta vmstat_delta(const struct vmstat *before, const struct vmstat *after,
                          enum vmstat_id id, double limit);

/* Adds b to a: unknown parts are left out, a broken one spoils all. */
struct delta delta_add(struct delta a, struct delta b);

/* The sum of counters, of which this kernel may lack some (all: of which it has all or none). Not
 * known if one of them came or went, or could be in a part of the file that was cut off. */
struct delta vmstat_sum_of(const struct vmstat *before, const struct vmstat *after,
                           const enum vmstat_id *id, size_t n, bool all, double limit);

/* interval_s <= 0: not known, UNSUPPORTED. */
struct metric delta_rate(struct delta d, double interval_s);
struct metric delta_ratio(struct delta numerator, struct delta denominator); /* IDLE over 0 */
struct metric delta_share(struct delta part, struct delta whole);            /* 0..1 */
