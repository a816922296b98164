/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "knobs.h"
#include "knob-io.h"
#include "restore.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct listener {
        knob_event_fn fn;
        void *userdata;
};

const char *knob_state_name(enum knob_state s)
{
        switch (s) {
        case KNOB_OBSERVED:
                return "observed";
        case KNOB_MANAGED:
                return "managed";
        case KNOB_YIELDED:
                return "yielded";
        case KNOB_UNSUPPORTED:
                return "unsupported";
        case KNOB_REFUSED:
                return "refused";
        }
        return "unknown";
}

int knobs_init(struct knobs *k, const char *root, const char *state_dir)
{
        int r;

        *k = (struct knobs){.root = strdup(root ? root : ""),
                            .record_path = strf("%s/restore", state_dir)};
        if (!k->root || !k->record_path) {
                knobs_done(k);
                return -ENOMEM;
        }
        r = boot_id_read(k->root, k->boot_id);
        if (r < 0)
                knobs_done(k);
        return r;
}

void knobs_done(struct knobs *k)
{
        for (size_t i = 0; i < KNOB_COUNT; i++)
                free(k->knob[i].reason);
        free(k->root);
        free(k->record_path);
        *k = (struct knobs){0};
}

/* Reasons and events */

/* Takes over reason. The same reason again counts as told. */
static void knob_set_reason(struct knob *b, int error, char *reason)
{
        if (!b->reason || !reason || strcmp(b->reason, reason) != 0)
                b->told = false;
        free(b->reason);
        b->reason = reason;
        b->error = error;
}

static void knob_clear_reason(struct knob *b)
{
        knob_set_reason(b, 0, NULL);
}

static void emit(const struct listener *l, const struct knob_event *event)
{
        if (l->fn)
                l->fn(event, l->userdata);
}

/* Says once that the configured (or original) value could not be set. */
static void tell_refused(struct knob *b, enum knob_id id, uint64_t value, const struct listener *l)
{
        if (b->told)
                return;
        b->told = true;
        emit(l, &(struct knob_event){.id = id,
                                     .kind = KNOB_EVENT_REFUSED,
                                     .has_old = b->known,
                                     .old_value = b->current,
                                     .has_new = true,
                                     .new_value = value,
                                     .reason = b->reason});
}

static void knob_refuse(struct knob *b, enum knob_id id, uint64_t value, int error, char *reason,
                        const struct listener *l)
{
        b->state = KNOB_REFUSED;
        knob_set_reason(b, error, reason);
        tell_refused(b, id, value, l);
}

/* Reading */

static int knob_refresh(const struct knobs *k, struct knob *b, enum knob_id id)
{
        int r = knob_read(k->root, b->path, id, &b->current);

        b->known = r == 0;
        if (r < 0) {
                b->state = KNOB_REFUSED;
                knob_set_reason(b, r, knob_explain(k->root, b->path, "read", r));
        }
        return r;
}

/* Finds the file: the first candidate that can be read, else the first that is there at all. */
static void knob_probe(const struct knobs *k, struct knob *b, enum knob_id id)
{
        const struct knob_info *info = &knob_table[id];
        const char *unreadable = NULL;
        int error = 0;

        b->path = NULL;
        b->known = false;
        for (size_t i = 0; i < ELEMENTSOF(info->path) && info->path[i]; i++) {
                int r = knob_read(k->root, info->path[i], id, &b->current);

                if (r == 0) {
                        b->path = info->path[i];
                        b->known = true;
                        if (b->state == KNOB_UNSUPPORTED || b->state == KNOB_REFUSED) {
                                b->state = KNOB_OBSERVED;
                                knob_clear_reason(b);
                        }
                        return;
                }
                if (r != -ENOENT && r != -ENOTDIR && !unreadable) {
                        unreadable = info->path[i];
                        error = r;
                }
        }
        b->path = unreadable;
        b->state = unreadable ? KNOB_REFUSED : KNOB_UNSUPPORTED;
        knob_set_reason(b, unreadable ? error : -ENOENT,
                        unreadable ? knob_explain(k->root, unreadable, "read", error)
                                   : knob_explain_missing(k->root, id));
}

void knobs_probe(struct knobs *k)
{
        for (enum knob_id i = 0; i < KNOB_COUNT; i++)
                knob_probe(k, &k->knob[i], i);
}

/* The record */

static int record_save(const struct knobs *k)
{
        struct restore_entry entry[KNOB_COUNT];
        size_t n = 0;

        for (enum knob_id i = 0; i < KNOB_COUNT; i++) {
                const struct knob *b = &k->knob[i];

                if (b->recorded)
                        entry[n++] = (struct restore_entry){i, b->original, b->ours,
                                                            b->has_previous, b->previous};
        }
        return restore_write(k->record_path, k->boot_id, entry, n);
}

static bool record_any(const struct knobs *k)
{
        for (size_t i = 0; i < KNOB_COUNT; i++)
                if (k->knob[i].recorded)
                        return true;
        return false;
}

static void record_drop(struct knob *b)
{
        b->recorded = false;
        b->has_previous = false;
}

/* Compares a record taken over from an earlier process with the kernel: a process that was killed
 * between its record and its write left the value from before that write. */
static void record_settle(struct knob *b)
{
        if (b->recorded && b->has_previous && b->current == b->previous)
                b->ours = b->previous;
        b->has_previous = false;
        if (b->recorded && b->state != KNOB_MANAGED && b->current == b->original &&
            b->current != b->ours)
                record_drop(b);
}

static int record_keep_aside(const char *path)
{
        _cleanup_(freep) char *aside = strf("%s.bad", path);

        if (!aside)
                return -ENOMEM;
        return rename(path, aside) < 0 ? -errno : -EBADMSG;
}

static void record_take(struct knobs *k, const struct restore_entry *e)
{
        struct knob *b = &k->knob[e->id];

        b->recorded = true;
        b->original = e->original;
        b->ours = e->ours;
        b->has_previous = e->has_previous;
        b->previous = e->previous;
}

int knobs_adopt_record(struct knobs *k)
{
        struct restore_entry entry[KNOB_COUNT];
        size_t n = 0;
        int r = restore_read(k->record_path, k->boot_id, entry, &n);

        if (r == -EBADMSG)
                r = record_keep_aside(k->record_path);
        if (r == -ESTALE) {
                r = restore_write(k->record_path, k->boot_id, NULL, 0);
                r = r < 0 ? r : -ENOENT;
        }
        k->adopted = r == 0 || r == -ENOENT || r == -EBADMSG;
        for (size_t i = 0; r == 0 && i < n; i++)
                record_take(k, &entry[i]);
        return r;
}

/* Writing */

/* What went wrong with a write, in one sentence, and *ret_error for it. NULL: nothing did. */
static char *explain_write(const struct knobs *k, const struct knob *b, enum knob_id id,
                           uint64_t value, int written, int *ret_error)
{
        _cleanup_(freep) char *now = NULL, *wrote = NULL;

        *ret_error = written;
        if (written < 0)
                return knob_explain(k->root, b->path, "write", written);
        *ret_error = b->error;
        if (!b->known)
                return knob_explain(k->root, b->path, "read back", b->error);
        now = knob_format(id, b->current);
        wrote = knob_format(id, value);
        *ret_error = -EBADE;
        return strf("%s holds %s after %s was written", b->path, now ? now : "something else",
                    wrote ? wrote : "a value");
}

/* One attempt to undo a write that did something else than it should. Adds to the reason. */
static void write_undo(const struct knobs *k, struct knob *b, enum knob_id id, uint64_t before,
                       char **reason)
{
        bool written = knob_write(k->root, b->path, id, before) == 0;
        char *longer;

        b->known = knob_read(k->root, b->path, id, &b->current) == 0;
        longer = strf("%s; the value before %s", *reason ? *reason : "failed",
                      written && b->known && b->current == before ? "is back"
                                                                  : "could not be put back");
        free(*reason);
        *reason = longer;
}

/* Writes value and reads it back. If the kernel then holds neither it nor what it held before, that
 * is put back once. Returns 0, or the error with b->reason set. */
static int write_verified(const struct knobs *k, struct knob *b, enum knob_id id, uint64_t value)
{
        uint64_t before = b->current;
        int written = knob_write(k->root, b->path, id, value), r;
        char *reason;

        b->error = knob_read(k->root, b->path, id, &b->current);
        b->known = b->error == 0;
        if (written == 0 && b->known && b->current == value)
                return 0;
        reason = explain_write(k, b, id, value, written, &r);
        if (!b->known || b->current != before)
                write_undo(k, b, id, before, &reason);
        knob_set_reason(b, r, reason);
        return r;
}

/* The scan period's two ends must not cross, whichever is written first. */
static char *explain_crossing(const struct knobs *k, enum knob_id id, uint64_t value)
{
        const struct knob *min = &k->knob[KNOB_NUMA_SCAN_PERIOD_MIN_MS];
        const struct knob *max = &k->knob[KNOB_NUMA_SCAN_PERIOD_MAX_MS];

        if (id == KNOB_NUMA_SCAN_PERIOD_MIN_MS && max->known && value > max->current)
                return strf("%" PRIu64 " is above the kernel's longest scan period of %" PRIu64
                            " ms: set NumaScanPeriodMaxMs too",
                            value, max->current);
        if (id == KNOB_NUMA_SCAN_PERIOD_MAX_MS && min->known && value < min->current)
                return strf("%" PRIu64 " is below the kernel's shortest scan period of %" PRIu64
                            " ms: set NumaScanPeriodMinMs too",
                            value, min->current);
        return NULL;
}

/* Whether the knob may be changed to value; if not, it is refused. */
static bool change_allowed(struct knobs *k, enum knob_id id, uint64_t value,
                           const struct listener *l)
{
        struct knob *b = &k->knob[id];
        char *reason = NULL;

        if (!knob_in_range(id, value))
                reason = strf("%" PRIu64 " is out of range", value);
        else if (!b->recorded && !knob_in_range(id, b->current))
                reason = strf("%s holds %" PRIu64 ", which is out of range and could not be put "
                              "back",
                              b->path, b->current);
        else
                reason = explain_crossing(k, id, value);
        if (!reason)
                return true;
        knob_refuse(b, id, value, -ERANGE, reason, l);
        return false;
}

/* After a failed write: the record must say what the kernel holds because of us, if anything. */
static void record_after_failure(struct knob *b, const struct knob *old)
{
        if (b->known && b->current == old->current) {
                b->recorded = old->recorded;
                b->original = old->original;
                b->ours = old->ours;
                b->has_previous = false;
        } else if (b->known) {
                b->ours = b->current;
                b->has_previous = false;
        }
}

/* Record, write, verify, and the record once more where the write settled what it left open.
 * Negative errno: the record could not be written. */
static int knob_change(struct knobs *k, enum knob_id id, uint64_t value, const struct listener *l)
{
        struct knob *b = &k->knob[id];
        const struct knob old = *b;
        int r;

        if (!change_allowed(k, id, value, l))
                return 0;
        b->has_previous = b->recorded;
        b->previous = b->ours;
        if (!b->recorded)
                b->original = b->current;
        b->recorded = true;
        b->ours = value;
        r = record_save(k);
        if (r < 0) {
                *b = old;
                knob_refuse(b, id, value, r,
                            strf("nothing was changed: cannot write %s: %s", k->record_path,
                                 strerror(-r)),
                            l);
                return r;
        }
        if (write_verified(k, b, id, value) < 0) {
                record_after_failure(b, &old);
                b->state = KNOB_REFUSED;
                tell_refused(b, id, value, l);
                return record_save(k);
        }
        b->state = KNOB_MANAGED;
        knob_clear_reason(b);
        if (value == b->original)
                record_drop(b);
        b->has_previous = false;
        if (old.recorded)
                r = record_save(k);
        emit(l, &(struct knob_event){id, KNOB_EVENT_APPLIED, true, true, old.current, value, NULL});
        return r;
}

/* Writes the original over ours, which the kernel holds. The caller saves the record. */
static int knob_put_back(struct knobs *k, enum knob_id id, const struct listener *l)
{
        struct knob *b = &k->knob[id];
        uint64_t before = b->current;
        int r;

        if (!knob_in_range(id, b->original)) {
                record_drop(b);
                knob_refuse(b, id, b->original, -ERANGE,
                            strf("the recorded original %" PRIu64 " is out of range and is never "
                                 "written",
                                 b->original),
                            l);
                return -ERANGE;
        }
        r = write_verified(k, b, id, b->original);
        if (r < 0) {
                b->state = KNOB_REFUSED;
                tell_refused(b, id, b->original, l);
                return r;
        }
        record_drop(b);
        b->state = KNOB_OBSERVED;
        knob_clear_reason(b);
        emit(l,
             &(struct knob_event){id, KNOB_EVENT_RESTORED, true, true, before, b->original, NULL});
        return 0;
}

/* Somebody else changed the knob. The caller saves the record. */
static void knob_yield(struct knob *b, enum knob_id id, uint64_t expected, const struct listener *l)
{
        _cleanup_(freep) char *from = knob_format(id, expected), *to = knob_format(id, b->current);

        record_drop(b);
        b->state = KNOB_YIELDED;
        knob_set_reason(b, 0,
                        strf("somebody else changed it from %s to %s: left alone until the next "
                             "reload",
                             from ? from : "ours", to ? to : "another value"));
        b->told = true;
        emit(l, &(struct knob_event){id, KNOB_EVENT_DRIFT, true, true, expected, b->current,
                                     b->reason});
}

/* Applying */

/* One that holds what neither we nor the configuration put there. *ret_expected: what was. */
static bool is_foreign(const struct knob *b, uint64_t *ret_expected)
{
        if (!b->recorded && b->state != KNOB_MANAGED)
                return false;
        *ret_expected = b->recorded ? b->ours : b->wanted;
        return b->current != *ret_expected;
}

static void knob_want(struct knob *b, const struct config_value *v)
{
        b->has_wanted = !v->keep;
        b->wanted = v->keep ? 0 : (uint64_t)v->number;
}

static int apply_keep(struct knobs *k, enum knob_id id, const struct listener *l)
{
        struct knob *b = &k->knob[id];

        if (b->recorded) {
                (void)knob_put_back(k, id, l); /* a refusal is a state of this knob */
                return record_save(k);
        }
        b->state = KNOB_OBSERVED;
        knob_clear_reason(b);
        return 0;
}

/* Brings one knob that can be read to what is wanted. */
static int apply_readable(struct knobs *k, enum knob_id id, const struct config_value *v,
                          bool reset_yield, const struct listener *l)
{
        struct knob *b = &k->knob[id];
        uint64_t expected = 0;
        bool foreign, was_recorded = b->recorded;

        record_settle(b);
        foreign = is_foreign(b, &expected);
        knob_want(b, v);
        if (foreign) {
                if (!reset_yield) {
                        knob_yield(b, id, expected, l);
                        return record_save(k);
                }
                record_drop(b);
        }
        if (!b->has_wanted || b->current != b->wanted) {
                int r = b->has_wanted ? knob_change(k, id, b->wanted, l) : apply_keep(k, id, l);

                if (r < 0)
                        return r;
        } else {
                b->state = KNOB_MANAGED;
                knob_clear_reason(b);
        }
        return was_recorded && !b->recorded ? record_save(k) : 0;
}

static int apply_one(struct knobs *k, enum knob_id id, const struct config_value *v,
                     bool reset_yield, const struct listener *l)
{
        struct knob *b = &k->knob[id];

        if (reset_yield)
                b->told = false;
        if (b->state == KNOB_YIELDED) {
                if (!reset_yield) {
                        knob_want(b, v);
                        return 0;
                }
                b->state = KNOB_OBSERVED;
        }
        if (!b->path || knob_refresh(k, b, id) < 0) {
                knob_want(b, v);
                if (b->has_wanted || b->recorded)
                        tell_refused(b, id, b->has_wanted ? b->wanted : b->original, l);
                return 0;
        }
        return apply_readable(k, id, v, reset_yield, l);
}

/* Table order, but the longest scan period before the shortest where it is raised. */
static void write_order(const struct knobs *k, bool has_target, uint64_t max_target,
                        enum knob_id ret[static KNOB_COUNT])
{
        const struct knob *max = &k->knob[KNOB_NUMA_SCAN_PERIOD_MAX_MS];

        for (enum knob_id i = 0; i < KNOB_COUNT; i++)
                ret[i] = i;
        if (has_target && max->known && max_target > max->current) {
                ret[KNOB_NUMA_SCAN_PERIOD_MIN_MS] = KNOB_NUMA_SCAN_PERIOD_MAX_MS;
                ret[KNOB_NUMA_SCAN_PERIOD_MAX_MS] = KNOB_NUMA_SCAN_PERIOD_MIN_MS;
        }
}

int knobs_apply(struct knobs *k, const struct config *c, bool reset_yield, knob_event_fn fn,
                void *userdata)
{
        const struct listener l = {fn, userdata};
        const struct config_value *max = &c->value[KEY_NUMA_SCAN_PERIOD_MAX_MS];
        const struct knob *b = &k->knob[KNOB_NUMA_SCAN_PERIOD_MAX_MS];
        enum knob_id order[KNOB_COUNT];
        int result = 0;

        if (!k->adopted) {
                int r = knobs_adopt_record(k);

                if (!k->adopted)
                        return r;
        }
        write_order(k, !max->keep || b->recorded, max->keep ? b->original : (uint64_t)max->number,
                    order);
        for (size_t i = 0; i < KNOB_COUNT; i++) {
                enum knob_id id = order[i];
                int r = apply_one(k, id, &c->value[knob_table[id].key], reset_yield, &l);

                if (r < 0 && result == 0)
                        result = r;
        }
        return result;
}

void knobs_check_drift(struct knobs *k, knob_event_fn fn, void *userdata)
{
        const struct listener l = {fn, userdata};
        bool yielded = false;

        for (enum knob_id i = 0; i < KNOB_COUNT; i++) {
                struct knob *b = &k->knob[i];

                if (b->state != KNOB_MANAGED)
                        continue;
                if (knob_refresh(k, b, i) < 0) {
                        tell_refused(b, i, b->wanted, &l);
                        continue;
                }
                if (b->current == b->wanted || (b->recorded && b->current == b->ours))
                        continue;
                yielded |= b->recorded;
                knob_yield(b, i, b->wanted, &l);
        }
        /* If this fails the file lists a knob that is not ours any more, and a restore leaves it
         * alone as it does not hold our value. */
        if (yielded)
                (void)record_save(k);
}

/* Restoring */

static int restore_one(struct knobs *k, enum knob_id id, const struct listener *l)
{
        struct knob *b = &k->knob[id];

        if (!b->path)
                knob_probe(k, b, id);
        if (!b->path || knob_refresh(k, b, id) < 0) {
                tell_refused(b, id, b->original, l);
                return b->error;
        }
        record_settle(b);
        if (!b->recorded)
                return 0;
        if (b->current != b->ours) {
                knob_yield(b, id, b->ours, l);
                return 0;
        }
        return knob_put_back(k, id, l);
}

int knobs_restore(struct knobs *k, knob_event_fn fn, void *userdata)
{
        const struct listener l = {fn, userdata};
        const struct knob *max = &k->knob[KNOB_NUMA_SCAN_PERIOD_MAX_MS];
        enum knob_id order[KNOB_COUNT];
        int r, result = 0;

        if (!record_any(k)) {
                r = knobs_adopt_record(k);
                if (r < 0)
                        return r == -ENOENT ? 0 : r;
        }
        if (max->recorded && !max->path)
                knob_probe(k, &k->knob[KNOB_NUMA_SCAN_PERIOD_MAX_MS], KNOB_NUMA_SCAN_PERIOD_MAX_MS);
        write_order(k, max->recorded, max->original, order);
        for (size_t i = 0; i < KNOB_COUNT; i++) {
                if (!k->knob[order[i]].recorded)
                        continue;
                r = restore_one(k, order[i], &l);
                if (r < 0 && result == 0)
                        result = r;
        }
        r = record_save(k);
        return result < 0 ? result : r;
}
