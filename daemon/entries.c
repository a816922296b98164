/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "entries.h"

#include <string.h>
#include <syslog.h>

_Static_assert(KNOB_COUNT < ENTRIES_KEYS && SOURCE_COUNT <= ENTRIES_KEYS, "a limit for each key");

int entries_init(struct entries *e, enum journal_target target)
{
        *e = (struct entries){0};
        return journal_init(&e->journal, target);
}

static void entry_add_number(struct journal_entry *e, const char *name, double value)
{
        _cleanup_(freep) char *s = journal_number(value);

        if (s)
                journal_entry_add(e, name, "%s", s);
}

/* Whether an entry may be sent now. */
static bool let_through(struct entries *e, enum condition_id id, unsigned key,
                        struct journal_entry *entry)
{
        uint64_t now = now_monotonic_ns();

        if (e->limit[id][key].since_ns == 0 ||
            now - e->limit[id][key].since_ns > ENTRIES_PERIOD_SEC * NSEC_PER_SEC) {
                e->limit[id][key].since_ns = now;
                e->limit[id][key].sent = 0;
        }
        if (e->limit[id][key].sent == ENTRIES_BURST) {
                e->limit[id][key].suppressed++;
                return false;
        }
        e->limit[id][key].sent++;
        if (e->limit[id][key].suppressed > 0)
                journal_entry_add(entry, "TLBD_SUPPRESSED", "%u", e->limit[id][key].suppressed);
        e->limit[id][key].suppressed = 0;
        return true;
}

static void send(struct entries *e, enum condition_id id, unsigned key, bool raised,
                 struct journal_entry *entry, const char *message)
{
        if (!let_through(e, id, key, entry)) {
                journal_entry_drop(entry);
                return;
        }
        journal_entry_add(entry, "TLBD_CONDITION", "%s", condition_table[id].name);
        journal_entry_add(entry, "TLBD_STATE", "%s", raised ? "raised" : "cleared");
        journal_entry_send(&e->journal, entry, raised ? condition_table[id].priority : LOG_INFO,
                           condition_table[id].message_id, message);
}

/* OBJECT_SYSTEMD_UNIT makes "journalctl -u UNIT" show the entry (systemd.journal-fields(7)). */
static void entry_add_unit(struct journal_entry *e, const struct unit_metric *u)
{
        if (!u)
                return;
        journal_entry_add(e, "TLBD_CGROUP", "%s", u->path);
        journal_entry_add(e, "OBJECT_SYSTEMD_UNIT", "%s", u->name);
}

void entries_condition(struct entries *entries, enum condition_id id, const struct judgement *j,
                       double window_s, bool all_causes, const struct unit_metric *unit)
{
        struct journal_entry e = {0};
        const struct metric_info *metric = &metric_table[j->metric];
        _cleanup_(freep) char *value = journal_number(j->value);
        _cleanup_(freep) char *threshold = journal_number(j->threshold);
        _cleanup_(freep) char *message = NULL;

        journal_entry_add(&e, "TLBD_METRIC", "%s", metric->name);
        if (j->known) {
                entry_add_number(&e, "TLBD_VALUE", j->value);
                entry_add_number(&e, "TLBD_THRESHOLD", j->threshold);
        }
        entry_add_number(&e, "TLBD_WINDOW_SEC", window_s);
        if (j->raised)
                entry_add_unit(&e, unit);
        if (all_causes)
                journal_entry_add(&e, "TLBD_REASON", "interrupts of all causes are counted");
        message = j->raised ? strf("%s: %s is %s %s (threshold %s)", condition_table[id].title,
                                   metric->name, value, metric->unit, threshold)
                            : strf("Over: %s", condition_table[id].title);
        send(entries, id, 0, j->raised, &e, message ? message : condition_table[id].title);
}

void entries_knob(struct entries *entries, const struct knob_event *event)
{
        static const enum condition_id kind[] = {
                [KNOB_EVENT_APPLIED] = CONDITION_TUNABLE_APPLIED,
                [KNOB_EVENT_REFUSED] = CONDITION_TUNABLE_REFUSED,
                [KNOB_EVENT_DRIFT] = CONDITION_TUNABLE_DRIFT,
                [KNOB_EVENT_RESTORED] = CONDITION_TUNABLE_APPLIED,
        };
        struct journal_entry e = {0};
        const char *name = knob_name(event->id);
        _cleanup_(freep) char *was = knob_format(event->id, event->old_value);
        _cleanup_(freep) char *is = knob_format(event->id, event->new_value);
        _cleanup_(freep) char *message = NULL;

        journal_entry_add(&e, "TLBD_KNOB", "%s", name);
        if (event->has_old)
                journal_entry_add(&e, "TLBD_OLD", "%s", was);
        if (event->has_new)
                journal_entry_add(&e, "TLBD_NEW", "%s", is);
        if (event->reason)
                journal_entry_add(&e, "TLBD_REASON", "%s", event->reason);
        switch (event->kind) {
        case KNOB_EVENT_APPLIED:
                message = strf("%s changed from %s to %s", name, was, is);
                break;
        case KNOB_EVENT_RESTORED:
                message = strf("%s put back from %s to %s", name, was, is);
                break;
        case KNOB_EVENT_REFUSED:
                message =
                        strf("%s not applied: %s", name, event->reason ? event->reason : "refused");
                break;
        case KNOB_EVENT_DRIFT:
                message = strf("%s was changed from %s to %s by somebody else; leaving it alone "
                               "until the next reload",
                               name, was, is);
                break;
        }
        send(entries, kind[event->kind], event->id + 1, true, &e, message ? message : name);
}

void entries_config_refused(struct entries *entries, const char *reason, const char *key)
{
        struct journal_entry e = {0};
        _cleanup_(freep) char *message =
                strf("New configuration refused, the running one is kept: %s", reason);

        if (key)
                journal_entry_add(&e, "TLBD_KNOB", "%s", key);
        journal_entry_add(&e, "TLBD_REASON", "%s", reason);
        send(entries, CONDITION_TUNABLE_REFUSED, 0, true, &e, message ? message : reason);
}

void entries_without_policy(struct entries *entries, const char *release)
{
        struct journal_entry e = {0};
        _cleanup_(freep) char *message =
                strf("Kernel %s has no /sys/kernel/mm/tlb_batch: watching without causes, TlbBatch "
                     "settings have no effect",
                     release);

        send(entries, CONDITION_KERNEL_WITHOUT_POLICY, 0, true, &e,
             message ? message : "kernel without policy");
}

void entries_source(struct entries *e, enum source_id id, enum source_state state)
{
        struct journal_entry entry = {0};
        bool lost = state != SOURCE_OK;
        _cleanup_(freep) char *message = lost ? strf("%s cannot be read (%s); going on without it",
                                                     source_path(id), source_state_name(state))
                                              : strf("%s can be read again", source_path(id));

        journal_entry_add(&entry, "TLBD_SOURCE", "%s", source_path(id));
        journal_entry_add(&entry, "TLBD_REASON", "%s", source_state_name(state));
        send(e, CONDITION_SOURCE_LOST, id, lost, &entry, message ? message : source_path(id));
}

void entries_budget(struct entries *e, enum config_key key, bool stretched, double configured_s,
                    double interval_s, double cost_s, double budget)
{
        struct journal_entry entry = {0};
        const char *name = key_table[key].name;
        _cleanup_(freep) char *message =
                stretched ? strf("%s stretched from %g to %.3g s: one reading costs %.3g ms of CPU "
                                 "time, the budget is %g %%",
                                 name, configured_s, interval_s, cost_s * 1000, budget * 100)
                          : strf("%s back at %g s", name, configured_s);

        journal_entry_add(&entry, "TLBD_KNOB", "%s", name);
        entry_add_number(&entry, "TLBD_NEW", interval_s);
        send(e, CONDITION_CPU_BUDGET, key % ENTRIES_KEYS, stretched, &entry,
             message ? message : name);
}

static double metric_or_zero(const struct metrics *s, enum metric_id id)
{
        return metric_has_value(&s->metric[id]) ? s->metric[id].value : 0;
}

/* "; each cost 0.3 TLB interrupts" or nothing. Caller frees. */
static char *cost_clause(const struct metrics *s, enum metric_id id)
{
        const struct metric *m = &s->metric[id];

        if (!metric_has_value(m))
                return strdup("");
        return strf(" at %.3g TLB interrupts a page%s", m->value,
                    m->all_causes ? " (all causes)" : "");
}

static char *summary_sentence(const struct metrics *s)
{
        _cleanup_(freep) char *migrate = cost_clause(s, METRIC_TLB_PER_MIGRATED);
        _cleanup_(freep) char *reclaim = cost_clause(s, METRIC_TLB_PER_RECLAIMED);
        const struct metric *tlb = &s->metric[METRIC_TLB];
        _cleanup_(freep) char *total =
                metric_has_value(tlb)
                        ? strf("%.3g TLB interrupts/s in all", tlb->value)
                        : strf("TLB interrupts not visible (%s)", validity_name(tlb->validity));

        if (!migrate || !reclaim || !total)
                return NULL;
        return strf(
                "In %.0f s balancing moved %.0f pages%s, reclaim freed %.0f pages%s; %s, %.3g %% "
                "of CPU time in interrupts",
                s->interval_s, metric_or_zero(s, METRIC_PAGES_MIGRATED) * s->interval_s, migrate,
                metric_or_zero(s, METRIC_PAGES_RECLAIMED) * s->interval_s, reclaim, total,
                metric_or_zero(s, METRIC_IRQ_SHARE) * 100);
}

static void entry_add_metrics(struct journal_entry *e, const struct metrics *s)
{
        for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
                char name[64] = "TLBD_";
                size_t n = strlen(name);

                for (const char *p = metric_table[id].name; *p && n < sizeof(name) - 10; p++)
                        name[n++] = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
                name[n] = '\0';
                if (metric_has_value(&s->metric[id]))
                        entry_add_number(e, name, s->metric[id].value);
                memcpy(name + n, "_VALIDITY", sizeof("_VALIDITY"));
                journal_entry_add(e, name, "%s", validity_name(s->metric[id].validity));
        }
}

static bool summary_idle(const struct metrics *s)
{
        return metric_or_zero(s, METRIC_PAGES_MIGRATED) <= 0 &&
               metric_or_zero(s, METRIC_PTE_UPDATES) <= 0 &&
               metric_or_zero(s, METRIC_PAGES_RECLAIMED) <= 0;
}

void entries_summary(struct entries *entries, const struct metrics *s)
{
        struct journal_entry e = {0};
        _cleanup_(freep) char *message = NULL;

        if (summary_idle(s))
                return;
        message = summary_sentence(s);
        entry_add_number(&e, "TLBD_WINDOW_SEC", s->interval_s);
        entry_add_metrics(&e, s);
        journal_entry_send(&entries->journal, &e, LOG_INFO, JOURNAL_SUMMARY_ID,
                           message ? message : "overhead summary");
}
