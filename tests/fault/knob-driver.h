/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What tlbd does to knobs and their record, one step at a time, below a fake root. */

#define DRIVER_SIZE "/sys/kernel/debug/sched/numa_balancing/scan_size_mb"
#define DRIVER_MIN "/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms"
#define DRIVER_MAX "/sys/kernel/debug/sched/numa_balancing/scan_period_max_ms"

/*
 * Steps: "first" and "second" start tlbd with two different configurations, "keep" starts it with
 * none, "restore" is tlbd --restore. The others are wrong on purpose, for a checker to find:
 * "kernel-first" writes the kernel before the record, "record-first" removes the record before it
 * restores, "previous-lost" changes a knob of ours with a record that forgets what it held.
 * Returns 0 when it ran to its end, whatever became of it; 2: unknown step.
 */
int driver_run(const char *step, const char *root);
