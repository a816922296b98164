/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * How long tasks waited, from the kernel's delay accounting over generic netlink
 * (Documentation/accounting/taskstats.rst and delay-accounting.rst; struct taskstats of
 * include/uapi/linux/taskstats.h). Needs CONFIG_TASK_DELAY_ACCT, the sysctl kernel.task_delayacct
 * and CAP_NET_ADMIN.
 */

#include "util.h"

#include <sys/types.h>

enum delay_kind {
        DELAY_FREEPAGES, /* direct reclaim; taskstats version 8 */
        DELAY_THRASHING, /* waiting for pages that were reclaimed only recently; version 9 */
        DELAY_SWAPIN,    /* version 1 */
        DELAY_COMPACT,   /* direct compaction; version 11 */
        DELAY_IRQ,       /* time in interrupts, taken from the task; version 14 */
        DELAY_COUNT
};

struct delay {
        bool known; /* this kernel's taskstats has it */
        uint64_t count;
        uint64_t total_ns;
};

struct task_delays {
        uint16_t version;
        uint32_t pid; /* 0 in the sums of a thread group */
        uint32_t ppid;
        char comm[33]; /* may hold any byte but NUL; "" in the sums of a thread group */
        struct delay delay[DELAY_COUNT];
};

/* freepages, thrashing, swapin, compact, irq. */
const char *delay_name(enum delay_kind kind);

/*
 * Takes struct taskstats apart by its length and version: fields beyond its end are not known.
 * Version 15 (Linux 6.14) had other offsets, which 16 took back. -EBADMSG: shorter than version 1,
 * or a version of 0.
 */
_must_check_ int taskstats_parse(const void *data, size_t len, struct task_delays *ret);

/* A connection: one socket to ask on, and if asked for one that hears of every exit. */
struct taskstats_client;

struct taskstats_exits {
        uint64_t seen; /* tasks that ended */
        uint64_t lost; /* times the kernel had to drop messages (ENOBUFS); sums are too low then */
};

/* Called for each task that ends, while taskstats_dispatch() runs. group: the sums of a whole
 * process, sent after its last thread. */
typedef void (*taskstats_exit_fn)(const struct task_delays *task, bool group, void *userdata);

/* -EOPNOTSUPP: not in this kernel; -EPERM: no CAP_NET_ADMIN. */
_must_check_ int taskstats_open(struct taskstats_client **ret);
void taskstats_close(struct taskstats_client **t);

/* Sums of all threads of a process, those that ended included. Never waits. -ESRCH: it is gone;
 * -EBADMSG: an answer we cannot take apart; -EAGAIN: no answer. */
_must_check_ int taskstats_get_process(struct taskstats_client *t, pid_t tgid,
                                       struct task_delays *ret);

/* Begins to hear of exits on the CPUs given as a list ("0-383"). */
_must_check_ int taskstats_watch_exits(struct taskstats_client *t, const char *cpus,
                                       taskstats_exit_fn fn, void *userdata);

/* Readable when taskstats_dispatch() has work; -1: exits are not watched. */
int taskstats_exit_fd(const struct taskstats_client *t);

/* Handles what has come in, without waiting. Counts lost messages and goes on. */
_must_check_ int taskstats_dispatch(struct taskstats_client *t, struct taskstats_exits *counts);
