/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "delta.h"

const enum vmstat_id vmstat_steal_ids[VMSTAT_STEAL_COUNT] = {
        VM_PGSTEAL_KSWAPD, VM_PGSTEAL_DIRECT, VM_PGSTEAL_KHUGEPAGED, VM_PGSTEAL_PROACTIVE};
const enum vmstat_id vmstat_demote_ids[VMSTAT_DEMOTE_COUNT] = {
        VM_PGDEMOTE_KSWAPD, VM_PGDEMOTE_DIRECT, VM_PGDEMOTE_KHUGEPAGED, VM_PGDEMOTE_PROACTIVE};

bool delta_usable(struct delta d)
{
        return d.validity == VALIDITY_OK || d.validity == VALIDITY_HOTPLUG;
}

struct delta counter_delta(uint64_t before, uint64_t after, double limit)
{
        if (after < before || (double)(after - before) > limit)
                return (struct delta){.validity = VALIDITY_WRAPPED};
        return (struct delta){VALIDITY_OK, (double)(after - before)};
}

struct delta vmstat_delta(const struct vmstat *before, const struct vmstat *after,
                          enum vmstat_id id, double limit)
{
        /* A plain row in one and rows per zone in the other are not the same counter. */
        if (!vmstat_has(after, id) || before->origin[id] != after->origin[id])
                return (struct delta){.validity = VALIDITY_UNSUPPORTED};
        return counter_delta(before->value[id], after->value[id], limit);
}

/* Adds b to a: unknown parts are left out, a broken one spoils all. */
struct delta delta_add(struct delta a, struct delta b)
{
        if (a.validity == VALIDITY_WRAPPED || b.validity == VALIDITY_UNSUPPORTED)
                return a;
        if (b.validity == VALIDITY_WRAPPED || a.validity == VALIDITY_UNSUPPORTED)
                return b;
        a.value += b.value;
        return a;
}

/* The sum of counters, of which this kernel may lack some (all: of which it has all or none). Not
 * known if one of them came or went, or could be in a part of the file that was cut off. */
struct delta vmstat_sum_of(const struct vmstat *before, const struct vmstat *after,
                           const enum vmstat_id *id, size_t n, bool all, double limit)
{
        bool whole = before->state == SOURCE_OK && after->state == SOURCE_OK && !all;
        struct delta sum = {.validity = VALIDITY_UNSUPPORTED};
        bool known = true;

        for (size_t i = 0; i < n; i++) {
                sum = delta_add(sum, vmstat_delta(before, after, id[i], limit));
                known &= before->origin[id[i]] == after->origin[id[i]] &&
                         (whole || vmstat_has(after, id[i]));
        }
        if (sum.value > limit)
                sum.validity = VALIDITY_WRAPPED;
        if (!known && sum.validity != VALIDITY_WRAPPED)
                sum.validity = VALIDITY_UNSUPPORTED;
        return sum;
}

struct metric delta_rate(struct delta d, double interval_s)
{
        if (!delta_usable(d))
                return (struct metric){.validity = d.validity};
        if (interval_s <= 0)
                return (struct metric){.validity = VALIDITY_UNSUPPORTED};
        return (struct metric){.validity = d.validity, .value = d.value / interval_s};
}

struct metric delta_ratio(struct delta numerator, struct delta denominator)
{
        if (!delta_usable(numerator))
                return (struct metric){.validity = numerator.validity};
        if (!delta_usable(denominator))
                return (struct metric){.validity = denominator.validity};
        if (denominator.value <= 0)
                return (struct metric){.validity = VALIDITY_IDLE};
        return (struct metric){.validity = numerator.validity == VALIDITY_HOTPLUG
                                                   ? VALIDITY_HOTPLUG
                                                   : denominator.validity,
                               .value = numerator.value / denominator.value};
}

/* A share is at most 1; counters read one after the other may say a little more. */
struct metric delta_share(struct delta part, struct delta whole)
{
        struct metric m = delta_ratio(part, whole);

        if (metric_has_value(&m) && m.value > 1)
                m.value = 1;
        return m;
}
