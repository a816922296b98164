/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * status.json, the one interface between tlbd and everything that shows it: built by tlbd after
 * every reading, replaced by rename(2), read by tlbctl. Numbers a reader must not trust are null.
 *
 * {
 *   "version": 1,                         schema; a reader refuses another
 *   "tlbd": "0.1.0", "pid": 1, "boot_id": "...", "mode": "observe" | "manage",
 *   "realtime_ns": N, "monotonic_ns": N,  when it was written
 *   "interval_s": 10.0,                   effective, after stretching
 *   "samples": N,
 *   "machine": {"release": "...", "cpus": N, "hypervisor": b, "broadcast": b, "policy": b,
 *               "numa_balancing": b},
 *   "conditions": [                       raised ones first
 *     {"name": "...", "raised": b, "since_s": N | null, "metric": "..." | null,
 *      "value": x | null, "threshold": x | null, "reason": "..."}],
 *   "metrics": {NAME: {"value": x | null, "unit": "...", "validity": "...", "window_s": x,
 *                      "scope": "all causes"}},       scope only where it applies
 *   "nodes": [{"id": N, "cpus": N | null, "memory_total": bytes | null, "memory_free": ...,
 *              "distance": {"ID": N}, "tier": N | null, "demotes_to": [ID],
 *              "below_low_watermark": b | null, "kswapd_gave_up": b | null, "promoted_per_s":
 * METRIC, "demoted_per_s": METRIC, "reclaimed_per_s": METRIC, "foreign_per_s": METRIC,
 * "promoted_share": METRIC, "demoted_share": METRIC, "reclaimed_share": METRIC}], "units":
 * {"state": "...", "left_out": N, "window_s": x,    of systemd, from cgroup v2 "list": [{"name":
 * "...", "path": "...", "migrated_per_s": METRIC, "pte_updates_per_s": METRIC, "hint_faults_per_s":
 * METRIC, "promoted_per_s": METRIC, "demoted_per_s": METRIC, "reclaimed_per_s": METRIC,
 * "direct_reclaimed_per_s": METRIC, "refaults_per_s": METRIC, "migrated_share": METRIC,
 * "reclaimed_share": METRIC, "psi_memory_some_avg10": METRIC, "psi_memory_full_avg10": METRIC}]},
 * most pages first, "other" last: shares add up to 1 "tasks": {"state": "...", "window_s": x |
 * null, "left_out": N, "exits_seen": N, "exits_lost": N, "list": [{"pid": N | null, "ended": N,
 * "comm": "...", "unit": "PATH", "delays": {"freepages" | "thrashing" | "swapin" | "compact" |
 * "irq": {"total_ms": x | null, "window_ms": x | null, "window_count": N | null}}}]},   pid null:
 * tasks that ended "cpus": {"id": [N], "tlb_per_s": [x]}, of the last reading of /proc/interrupts
 *   "counters": {NAME: N},                 those of /proc/vmstat that metrics are made from
 *   "sources": {NAME: {"path": "...", "state": "...", "cost_us": x, "interval_s": x}},
 *   "knobs": {KEY: {"value": "..." | null, "wanted": "..." ("keep" too), "original": "..." | null,
 *                   "path": "..." | null, "source": "FILE:LINE" | "default", "state": "...",
 *                   "reason": "..." | null}},
 *   "config": {"generation": N, "state": "ok" | "refused", "error": "..." | null},
 *   "self": {"cpu_s": x, "cpu_percent": x, "budget_percent": x, "rss_bytes": N},
 *   "notes": ["..."]                       what this kernel or machine lacks, and why it matters
 * }
 */

#include <json-c/json.h>
#include <stdio.h>

#define STATUS_VERSION 1

/* {"value", "unit", "validity", ...} of one metric. NULL: out of memory. */
struct metric;
struct json_object *status_metric_json(const struct metric *m, const char *unit, double window_s);

/* Adds promoted_per_s and so on of one node to its object. */
struct node_metric;
void status_add_node_metrics(struct json_object *o, const struct node_metric *m);

/* Human-readable report of a status object: conditions, metrics, nodes, knobs, what is lacking.
 * Used by "tlbctl status" and at the end of "tlbd --live". width: columns of the terminal, 80 at
 * least. */
void report_print(FILE *f, struct json_object *status, unsigned width);

/* The same of units only, of each one. */
void report_print_units(FILE *f, struct json_object *status, unsigned width);
