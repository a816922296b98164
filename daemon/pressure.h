/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * /proc/pressure/{memory,cpu,irq,io} and cgroup v2 *.pressure (Documentation/accounting/psi.rst).
 * cpu has no "full" row before 5.13, irq has only "full". A kernel booted with psi=0 has the files,
 * but reading fails with EOPNOTSUPP: state OFF.
 */

#include "source.h"
#include "util.h"

struct pressure_row {
        bool present;
        double avg10, avg60, avg300; /* % of time, 0..100 */
        uint64_t total_us;           /* since boot */
};

struct pressure {
        enum source_state state; /* INVALID: neither row */
        struct pressure_row some, full;
};

void pressure_parse(const char *data, size_t len, struct pressure *ret);
