/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What the journal is told, entry by entry: fields, sentence, priority, and how often. Each kind
 * and key (a setting, a file) may speak ENTRIES_BURST times in ENTRIES_PERIOD_SEC; what is beyond
 * that is counted, and the count goes with the next entry that is let through (TLBD_SUPPRESSED).
 */

#include "cgroup.h"
#include "journal.h"
#include "knobs.h"

#define ENTRIES_BURST 10
#define ENTRIES_PERIOD_SEC 600
#define ENTRIES_KEYS 16 /* settings, or files, or 0 for kinds without a key */

struct entries {
        struct journal journal;
        struct {
                uint64_t since_ns; /* CLOCK_MONOTONIC, beginning of the period */
                unsigned sent, suppressed;
        } limit[CONDITION_COUNT][ENTRIES_KEYS];
};

_must_check_ int entries_init(struct entries *e, enum journal_target target);

/* A condition was raised or cleared. window_s: the time it took to be sure; unit: who has most of
 * it, or NULL. */
void entries_condition(struct entries *e, enum condition_id id, const struct judgement *j,
                       double window_s, bool all_causes, const struct unit_metric *unit);
void entries_knob(struct entries *e, const struct knob_event *event);
/* key: the configuration key at fault, or NULL. */
void entries_config_refused(struct entries *e, const char *reason, const char *key);
void entries_without_policy(struct entries *e, const char *release);
/* A source was lost (state is not OK) or is back (OK). */
void entries_source(struct entries *e, enum source_id id, enum source_state state);
/* The interval of a source was stretched from configured_s to interval_s, or is configured_s again.
 */
void entries_budget(struct entries *e, enum config_key key, bool stretched, double configured_s,
                    double interval_s, double cost_s, double budget);
/* The overhead in the time that s is about; nothing is said while balancing and reclaim are idle.
 */
void entries_summary(struct entries *e, const struct metrics *s);
