/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The kernel settings tlbd can change: where each is, what it may hold, how it is read and written.
 * Writing goes through knobs_apply() only, which keeps the restore record in front of every write.
 */

#include "config.h"

enum knob_id {
        KNOB_TLB_BATCH_MIGRATE,
        KNOB_TLB_BATCH_PAGEOUT,
        KNOB_NUMA_BALANCING,
        KNOB_NUMA_SCAN_DELAY_MS,
        KNOB_NUMA_SCAN_PERIOD_MIN_MS,
        KNOB_NUMA_SCAN_PERIOD_MAX_MS,
        KNOB_NUMA_SCAN_SIZE_MB,
        KNOB_NUMA_HOT_THRESHOLD_MS,
        KNOB_NUMA_PROMOTE_RATE_LIMIT,
        KNOB_DEMOTION_ENABLED,
        KNOB_TASK_DELAY_ACCOUNTING,
        KNOB_COUNT
};

enum knob_state {
        KNOB_OBSERVED,    /* readable, configured "keep" */
        KNOB_MANAGED,     /* holds the configured value */
        KNOB_YIELDED,     /* somebody else changed it: left alone until the next reload */
        KNOB_UNSUPPORTED, /* no candidate path exists on this kernel */
        KNOB_REFUSED,     /* exists, but cannot be read or written (reason says why) */
};

struct knob_info {
        enum config_key key;
        const char *path[2]; /* candidates, the preferred one first; NULL: none */
};

extern const struct knob_info knob_table[]; /* KNOB_COUNT entries, indexed by enum knob_id */

struct knob {
        enum knob_state state;
        const char *path;  /* the candidate in use, without root; NULL: none */
        bool known;        /* current is valid */
        uint64_t current;  /* last value read */
        bool recorded;     /* original and ours are valid: we changed it */
        uint64_t original; /* value before our first write */
        uint64_t ours;     /* what we wrote last */
        bool has_previous; /* a write of ours that was not confirmed: the kernel holds ours or */
        uint64_t previous; /* what we wrote before */
        bool has_wanted;   /* configured, not "keep" */
        uint64_t wanted;   /* the configured value */
        int error;         /* negative errno of the last failure (-EBADE: the kernel holds another
                            * value than was written), 0: none */
        char *reason;      /* one sentence for a person, or NULL. Owned. */
        bool told;         /* reason was given to a knob_event_fn */
};

struct knobs {
        char *root;        /* owned; "" for the live system */
        char *record_path; /* owned; the restore record, root included */
        char boot_id[37];
        bool adopted; /* the record of an earlier process is taken over, or there is none */
        struct knob knob[KNOB_COUNT];
};

/* What happened to one knob, for the journal (tunable-applied, -refused, -drift). */
struct knob_event {
        enum knob_id id;
        enum { KNOB_EVENT_APPLIED, KNOB_EVENT_REFUSED, KNOB_EVENT_DRIFT, KNOB_EVENT_RESTORED } kind;
        bool has_old, has_new;
        uint64_t old_value, new_value;
        const char *reason; /* points into the knob, valid during the call */
};

typedef void (*knob_event_fn)(const struct knob_event *event, void *userdata);

const char *knob_state_name(enum knob_state s); /* observed|managed|yielded|unsupported|refused */
const char *knob_name(enum knob_id id);         /* the configuration key's name */

/* A kernel value as text ("auto", "yes", "31"). Caller frees. */
char *knob_format(enum knob_id id, uint64_t value);

/* root: prefix of /sys and /proc; state_dir: directory of the restore record, root included. */
_must_check_ int knobs_init(struct knobs *k, const char *root, const char *state_dir);
void knobs_done(struct knobs *k);

/* Finds each knob's file and reads it; may be called again. Never writes. Failures become knob
 * states. A kernel file holding a value outside the knob's range is still read: known is true. */
void knobs_probe(struct knobs *k);

/*
 * Makes the kernel hold what c asks for. In turn, for each knob with a value that differs from the
 * kernel's: check the range again, write the restore record durably, one write(2) of value and
 * newline to a file opened without O_CREAT, read back, compare. A knob set back to "keep" is
 * restored to its original. A knob that holds a value outside its range is refused: it could not
 * be put back. A refusal (EPERM, EACCES, EROFS, ENOENT, EINVAL, short write, read-back
 * mismatch) concerns its knob only. A knob whose value already is what is asked for is managed
 * without a write. period_min and period_max are written in the order that keeps min <= max.
 * If the restore record cannot be written nothing is written to the kernel: negative errno.
 * reset_yield: a reload; yielded knobs are taken up again, and a refusal is told again. Without it
 * a refusal is told once.
 */
_must_check_ int knobs_apply(struct knobs *k, const struct config *c, bool reset_yield,
                             knob_event_fn fn, void *userdata);

/* Reads every managed knob again; one that holds neither ours nor what is configured was changed by
 * somebody else: it becomes yielded, is dropped from the restore record, and fn is told once. */
void knobs_check_drift(struct knobs *k, knob_event_fn fn, void *userdata);

/* Puts back every recorded knob whose kernel value is still ours, then removes the record. What is
 * recorded is taken from k, or from the file if k has nothing recorded.
 * A record of another boot is dropped without a write. Values are range-checked first: an original
 * outside the range is refused and dropped. A knob whose file cannot be read or written stays in
 * the record for another try, and the negative errno is returned when the others are done.
 * A record that is damaged is refused whole: -EBADMSG, the file is kept aside as restore.bad. */
_must_check_ int knobs_restore(struct knobs *k, knob_event_fn fn, void *userdata);

/* Takes over the record of an earlier process of this boot: recorded, original and ours are set
 * from it, so that originals survive a crash. Call it between knobs_init() and the first
 * knobs_apply(), which does it itself otherwise, and writes nothing while the record cannot be
 * read. -ENOENT: there is none. -EBADMSG as above. */
_must_check_ int knobs_adopt_record(struct knobs *k);
