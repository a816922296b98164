/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Which processes wait: delays (taskstats.h) of the leading processes of the leading units, and of
 * tasks that ended in between, so that short-lived ones count.
 */

#include "cgroup.h"
#include "taskstats.h"

/* Processes asked about in one pass; each costs a netlink round trip. */
#define TASKS_MAX_UNITS 8
#define TASKS_MAX_PROCESSES 512
/* Directories below one unit that are looked at for its processes. */
#define TASKS_MAX_DIRECTORIES 128
/* Kinds of ended tasks (unit and command) told apart in one pass; further ones are only counted. */
#define TASKS_MAX_ENDED 256

struct task_entry {
        uint32_t pid;   /* 0: tasks of this unit and command that ended since the last pass */
        uint32_t ended; /* how many */
        char comm[33];
        char *unit;     /* path of its cgroup unit; "" if it was not found out. Owned. */
        uint64_t start; /* when it began (proc_pid_stat(5)); a pid is used again */
        struct delay total[DELAY_COUNT]; /* since the process began */
        /* Since the last pass; not known at first sight. Of tasks that ended: in all their life. */
        struct delay delta[DELAY_COUNT];
};

struct tasks {
        /* OK; OFF: kernel.task_delayacct is 0; DENIED: no CAP_NET_ADMIN; ABSENT: not in this kernel
         */
        enum source_state state;
        struct task_entry *entry; /* running ones by pid, then ended ones. Owned. */
        size_t n, n_running;
        size_t n_left_out; /* processes of these units beyond the limit */
        double interval_s; /* of the deltas; 0: first pass */
        struct taskstats_exits exits;
        struct taskstats_client *client; /* NULL unless OK */
        struct task_entry *ended;        /* being collected, TASKS_MAX_ENDED at most. Owned. */
        size_t n_ended;
        uint64_t awake_ns; /* of the last pass */
        char *root;        /* owned */
        bool live;         /* root is the live system: netlink speaks of no other */
};

_must_check_ int tasks_init(struct tasks *t, const char *root);
void tasks_done(struct tasks *t);

/*
 * One pass. Opens or closes the connection as delay accounting is on or off: nothing is heard, and
 * nothing costs, while it is off. Asks about the processes of the first TASKS_MAX_UNITS of units
 * (those with most pages). A root other than "" is ABSENT: netlink speaks of the live system only.
 * now_ns: CLOCK_MONOTONIC. -ENOMEM; everything else is a state.
 */
_must_check_ int tasks_update(struct tasks *t, const struct unit_metrics *units, uint64_t now_ns);

/* Readable when tasks_dispatch() has work; -1: not connected. Changes with tasks_update(). */
int tasks_fd(const struct tasks *t);
void tasks_dispatch(struct tasks *t);
