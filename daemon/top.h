/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* "tlbctl top": shows status.json as it changes. */

#include <stdbool.h>

/*
 * Shows the readings in status_path: with ncurses when stdin and stdout are a terminal that can do
 * it, until q, SIGINT or SIGTERM; else as text, each new reading below the one before. The file is
 * looked at every interval_s (0: every second). once: one reading as text, and no more.
 * 0, or a negative errno after a line on stderr: no status, or an old one, when it starts. Later a
 * status that is gone or old is shown as such.
 */
int top_run(const char *status_path, double interval_s, bool once);
