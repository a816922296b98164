/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Trees of kernel files taken somewhere else: "tlbctl snapshot", "read" and "diff". A tree is a
 * directory with proc/ and sys/ below it, a support bundle for example; any file may be missing.
 * The JSON is an interface, documented in tlbctl(1).
 */

#include "metrics.h"

#include <json-c/json.h>

/* What one tree says. *ret is a new reference. -ENODATA: not one file of it can be used, *ret says
 * which were tried; -ENOMEM. root "" is the live system. */
_must_check_ int tree_read(const char *root, struct json_object **ret);

/*
 * The metrics between two trees of one machine and boot. interval_s <= 0: taken from the trees
 * (the times of a snapshot, or proc/uptime); rates are null where it is not known.
 * 0: *ret is a new reference. Otherwise *ret_reason is a sentence (caller frees):
 * -ESTALE: the difference is refused (different boots, or the second tree is not the later one);
 * -ENODATA: nothing can be read in one of them; -ENOMEM.
 */
_must_check_ int tree_diff(const char *before, const char *after, double interval_s,
                           struct json_object **ret, char **ret_reason);

/*
 * Copies every file tlbd reads from root to the new directory dir, with the time, so that
 * tree_read() and tree_diff() can be used elsewhere. Nothing about users, processes or the network
 * is copied. What is missing or unreadable is left out. Negative errno with the path at fault in
 * *ret_path (caller frees): -EEXIST: dir exists and is not empty.
 */
_must_check_ int tree_snapshot(const char *root, const char *dir, char **ret_path);
