/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge.h"

#include <syslog.h>

const struct condition_info condition_table[CONDITION_COUNT] = {
#define CONDITION(id, name, message_id, priority, title, text)                                     \
        [CONDITION_##id] = {name, message_id, priority, title, text},
#include "conditions.def"
#undef CONDITION
};

/* A locality that rises by less than this in a streak is flat. */
#define LOCALITY_RISE 0.01

enum verdict { VERDICT_UNKNOWN, VERDICT_BELOW, VERDICT_BETWEEN, VERDICT_ABOVE };

static double number(const struct config *c, enum config_key key)
{
        return c->value[key].number;
}

static enum verdict compare(double value, double raise_above, double clear_below)
{
        return value > raise_above   ? VERDICT_ABOVE
               : value < clear_below ? VERDICT_BELOW
                                     : VERDICT_BETWEEN;
}

/* A cost or share that is judged only while its work goes on at a certain rate. */
static enum verdict judge_ratio(struct judgement *j, const struct config *c,
                                const struct metrics *m, enum metric_id ratio, enum metric_id rate,
                                double threshold)
{
        const struct metric *value = &m->metric[ratio], *work = &m->metric[rate];

        j->metric = ratio;
        j->threshold = threshold;
        if (value->validity == VALIDITY_IDLE)
                return VERDICT_BELOW;
        if (!metric_has_value(value) || !metric_has_value(work))
                return VERDICT_UNKNOWN;
        j->value = value->value;
        j->known = true;
        if (work->value < number(c, KEY_MIN_PAGES_PER_SEC))
                return VERDICT_BELOW;
        return compare(value->value, threshold, threshold / 2);
}

static enum verdict judge_convergence(struct judgement *j, const struct config *c,
                                      const struct metrics *m)
{
        double threshold = number(c, KEY_NOT_CONVERGING_LOCALITY);
        const struct metric *locality = &m->metric[METRIC_LOCALITY];
        enum verdict v = judge_ratio(j, c, m, METRIC_LOCALITY, METRIC_PAGES_MIGRATED, threshold);

        if (v == VERDICT_UNKNOWN)
                return v;
        if (!metric_has_value(locality) || locality->value >= threshold ||
            m->metric[METRIC_PAGES_MIGRATED].value < number(c, KEY_MIN_PAGES_PER_SEC)) {
                j->streak = false;
                return VERDICT_BELOW;
        }
        if (!j->streak) {
                j->streak = true;
                j->locality_start = locality->value;
        } else if (locality->value > j->locality_start + LOCALITY_RISE) {
                /* It rises: balancing gets somewhere, and a new streak begins here. */
                j->locality_start = locality->value;
                return VERDICT_BELOW;
        }
        return VERDICT_ABOVE;
}

static void settle(struct judgement *j, enum condition_id id, enum verdict v, unsigned windows,
                   uint64_t now_ns, judge_fn fn, void *userdata)
{
        if (v == VERDICT_UNKNOWN)
                return;
        j->above = v == VERDICT_ABOVE ? j->above + 1 : 0;
        j->below = v == VERDICT_BELOW ? j->below + 1 : 0;
        if (!j->raised && j->above >= windows) {
                j->raised = true;
                j->since_ns = now_ns;
        } else if (j->raised && j->below >= windows) {
                j->raised = false;
        } else {
                return;
        }
        fn(id, j, userdata);
}

void judge_update(struct judge *j, const struct config *c, const struct metrics *m, size_t cpus,
                  uint64_t now_ns, judge_fn fn, void *userdata)
{
        const struct metric *steal = &m->metric[METRIC_STEAL_SHARE];
        unsigned windows = (unsigned)number(c, KEY_WINDOW_COUNT);
        double percent_of_cpus = (double)cpus / 100;
        enum verdict v[JUDGED_COUNT];

        j->stolen =
                metric_has_value(steal) && steal->value * 100 > number(c, KEY_MAX_STEAL_PERCENT);
        if (j->stolen || cpus == 0)
                return;
        v[CONDITION_BALANCING_FLUSH_STORM] = judge_ratio(
                &j->of[CONDITION_BALANCING_FLUSH_STORM], c, m, METRIC_TLB_PER_MIGRATED,
                METRIC_PAGES_MIGRATED, number(c, KEY_BALANCING_STORM_PERCENT) * percent_of_cpus);
        v[CONDITION_BALANCING_NOT_CONVERGING] =
                judge_convergence(&j->of[CONDITION_BALANCING_NOT_CONVERGING], c, m);
        v[CONDITION_RECLAIM_FLUSH_STORM] = judge_ratio(
                &j->of[CONDITION_RECLAIM_FLUSH_STORM], c, m, METRIC_TLB_PER_RECLAIMED,
                METRIC_PAGES_RECLAIMED, number(c, KEY_RECLAIM_STORM_PERCENT) * percent_of_cpus);
        v[CONDITION_DIRECT_RECLAIM] =
                judge_ratio(&j->of[CONDITION_DIRECT_RECLAIM], c, m, METRIC_DIRECT_SHARE,
                            METRIC_PAGES_RECLAIMED, number(c, KEY_DIRECT_RECLAIM_SHARE));
        for (enum condition_id id = 0; id < JUDGED_COUNT; id++)
                settle(&j->of[id], id, v[id], windows, now_ns, fn, userdata);
}
