/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One kernel file: its text, reading it, writing it, and why that failed. Knows no record. */

#include "knobs.h"

/* Whether a value may be written to the kernel: the range of the knob's key. */
bool knob_in_range(enum knob_id id, uint64_t value);

/* Value in the text of a kernel file: its first line. Numbers: decimal digits; DemotionEnabled:
 * true, false, 1 or 0; TlbBatchMigrate: the word in brackets, or the only word. -EBADMSG: other. */
_must_check_ int knob_parse(enum knob_id id, const char *text, size_t len, uint64_t *ret);

_must_check_ int knob_read(const char *root, const char *path, enum knob_id id, uint64_t *ret);

/* One write(2) of value and newline, to a file that exists: 7838 and 8121 of systemd's tracker show
 * what a second write(2) for the newline does to a sysctl. -ERANGE: outside the knob's range,
 * nothing was opened; -ENODATA: short write. */
_must_check_ int knob_write(const char *root, const char *path, enum knob_id id, uint64_t value);

/* One sentence: what could not be done to path, why, and where it helps what to do. action: "read"
 * or "write". Caller frees; NULL: out of memory. */
char *knob_explain(const char *root, const char *path, const char *action, int error);

/* Why none of the knob's files is there. Caller frees; NULL: out of memory. */
char *knob_explain_missing(const char *root, enum knob_id id);
