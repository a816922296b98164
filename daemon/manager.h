/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The event loop, and the only module that knows all others: reads the sources when they are due,
 * derives, judges, reports, applies the configuration and restores it.
 */

#include "journal.h"
#include "util.h"

struct manager_options {
        const char *root;  /* prefix of every path; "" for the live system */
        bool observe;      /* never write to the kernel */
        bool live;         /* a table on stdout while it runs, a report at the end */
        double duration_s; /* stop after this time; 0: run until told */
        double interval_s; /* instead of IntervalSec and its siblings; 0: as configured */
        enum journal_target log;
};

/* Runs until SIGTERM, SIGINT or the end of duration_s. 0, or a negative errno after one line on
 * stderr. */
_must_check_ int manager_run(const struct manager_options *options);

/* What "tlbd --restore" does: puts back what a tlbd that is gone has changed, unless RestoreOnStop
 * is off and force is not set. 0 also if there is nothing to do. */
_must_check_ int manager_restore(const char *root, bool force, enum journal_target log);

/* What "tlbd --reload" does: sends SIGHUP to pid and waits until status.json says that the new
 * configuration is in force (0) or was refused (-EINVAL, the reason on stderr). -ETIMEDOUT after
 * 10 s. */
_must_check_ int manager_reload(const char *root, int pid);
