/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * /run/tlbd/tlbd.prom, for the textfile collector of a node exporter: the Prometheus text format,
 * with HELP and TYPE for each family, counters ending in _total, units spelt out in names. The
 * number of series is bounded: causes, kinds, conditions, nodes, at most MaxUnits units, and CPUs
 * only with PerCpuSeries=yes. What is not known has no sample, never a 0.
 */

#include "status-build.h"

/* The whole file. Caller frees; NULL: out of memory. */
char *openmetrics_build(const struct status_input *in, size_t *ret_len);
