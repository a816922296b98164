/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* /proc/stat (proc(5), fs/proc/stat.c): where CPU time went. Its "intr" row can be 100 kB long. */

#include "source.h"
#include "util.h"

struct procstat {
        enum source_state state; /* INVALID: no cpu row, or not understood */
        /* Jiffies (1/sysconf(_SC_CLK_TCK) s) since boot, all CPUs. user includes guest, nice
         * includes guest_nice. Columns an old kernel does not have are 0. */
        uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
        /* Ids of the CPUs with a row (the online ones), as in the file. None if the file ends with
         * such a row: others may have been cut off. Owned. */
        unsigned *cpu;
        size_t n_cpus, capacity;
        bool has_interrupts;
        uint64_t interrupts_total; /* first number of the intr row */
        bool has_processes;
        uint32_t processes; /* forks since boot; the counter is 32 bits wide and printed signed */
        bool has_blocked;
        uint64_t blocked; /* procs_blocked; 0 where the kernel's racy sum went below 0 */
};

/* user + ... + steal. */
uint64_t procstat_total(const struct procstat *s);

void procstat_done(struct procstat *s);

/* Parses text into *s, which is zero-initialised or from an earlier call. Rows that cannot be read
 * are left out and never fail the file. -ENOMEM. */
_must_check_ int procstat_parse(struct procstat *s, const char *data, size_t len);
