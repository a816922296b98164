/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Turns metrics into conditions with hysteresis: raised after WindowCount readings in a row above
 * the threshold, cleared after as many below the lower mark. A reading that cannot be judged
 * (unsupported, wrapped, paravirt) leaves a condition as it is; an idle one counts as below.
 */

#include "config.h"
#include "metrics.h"

enum condition_id {
#define CONDITION(id, ...) CONDITION_##id,
#include "conditions.def"
#undef CONDITION
        CONDITION_COUNT
};

/* The first JUDGED_COUNT kinds have a state that metrics decide; the others are reported by what
 * causes them. */
#define JUDGED_COUNT (CONDITION_DIRECT_RECLAIM + 1)

struct condition_info {
        const char *name, *message_id;
        int priority; /* of syslog(3), when raised */
        const char *title, *text;
};

extern const struct condition_info condition_table[]; /* CONDITION_COUNT entries */

struct judgement {
        bool raised;
        uint64_t since_ns; /* CLOCK_MONOTONIC when it was raised */
        enum metric_id metric;
        double value, threshold; /* of the last reading that could be judged */
        bool known;              /* value and threshold are valid */
        unsigned above, below;   /* readings in a row */
        bool streak;             /* balancing-not-converging: locality is low since ... */
        double locality_start;   /* ... it had this value */
};

struct judge {
        struct judgement of[JUDGED_COUNT];
        bool stolen; /* the last reading was not judged: too much CPU time is stolen */
};

/* Called when a condition changes its state. */
typedef void (*judge_fn)(enum condition_id id, const struct judgement *j, void *userdata);

/* cpus: online CPUs, the storms' thresholds are relative to them. now_ns: CLOCK_MONOTONIC. */
void judge_update(struct judge *j, const struct config *c, const struct metrics *m, size_t cpus,
                  uint64_t now_ns, judge_fn fn, void *userdata);
