/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What systemd's units pay: memory.stat and memory.pressure of cgroup v2
 * (Documentation/admin-guide/cgroup-v2.rst). A unit is a cgroup whose name ends in .service or
 * .scope; what is below it belongs to it, as memory.stat includes descendants. numa_pages_migrated,
 * numa_pte_updates and numa_hint_faults are in memory.stat from Linux 6.12 on.
 */

#include "metrics.h"

struct cgroup_unit {
        char *path;       /* below the cgroup root, "/system.slice/x.service". Owned. */
        const char *name; /* last part of path */
        uint64_t id;      /* inode: a unit that was stopped and started again is another cgroup */
        uint64_t current_bytes; /* memory.current */
        struct vmstat stat;     /* memory.stat */
        struct pressure pressure;
};

struct cgroup_units {
        /* ABSENT: no cgroup v2 with a memory controller here; OFF: not asked for. */
        enum source_state state;
        struct cgroup_unit *unit; /* by path */
        size_t n;
        size_t n_left_out; /* smaller units beyond the limit: part of "other" */
};

/* Directories looked at in one walk, and how deep; a tree beyond that is cut and what is cut is
 * part of "other". */
#define CGROUP_MAX_DIRECTORIES 20000
#define CGROUP_MAX_DEPTH 10

void cgroup_units_done(struct cgroup_units *u);

/* Walks root/sys/fs/cgroup and reads the max_units units with most memory. Units that go away
 * meanwhile are left out. -ENOMEM; else 0. */
_must_check_ int cgroup_units_read(const char *root, size_t max_units, struct cgroup_units *ret);

/* The same with another limit than CGROUP_MAX_DIRECTORIES. */
_must_check_ int cgroup_units_read_some(const char *root, size_t max_units, size_t max_directories,
                                        struct cgroup_units *ret);

/* One unit's part of the time between two readings. */
struct unit_metric {
        const char *path, *name; /* of the later reading; "other" has path "" */
        struct metric migrated_per_s, pte_updates_per_s, hint_faults_per_s, promoted_per_s,
                demoted_per_s, reclaimed_per_s, direct_reclaimed_per_s, refaults_per_s;
        struct metric migrated_share, reclaimed_share; /* of the whole machine */
        struct metric psi_some_avg10, psi_full_avg10;
};

struct unit_metrics {
        double interval_s;
        struct unit_metric
                *unit; /* most migrated plus reclaimed pages first, "other" last. Owned. */
        size_t n;
};

void unit_metrics_done(struct unit_metrics *m);

/* Differences of two readings, with the machine's counters read next to each: what no unit has is
 * "other", so that the shares add up to 1. The result borrows names from after. -ENOMEM. */
_must_check_ int unit_metrics_derive(const struct cgroup_units *before,
                                     const struct cgroup_units *after,
                                     const struct vmstat *machine_before,
                                     const struct vmstat *machine_after, double interval_s,
                                     struct unit_metrics *ret);
