/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * "tlbctl set" and "tlbctl unset": the two drop-ins that tlbctl owns. Nothing else is ever edited.
 * The runtime one sorts behind the persistent one and has another name, as a file in /etc would
 * hide one of the same name in /run.
 */

#include "config.h"

#define CONFIG_EDIT_PERSISTENT "/etc/tlbd/tlbd.conf.d/90-tlbctl.conf"
#define CONFIG_EDIT_RUNTIME "/run/tlbd/tlbd.conf.d/95-tlbctl-runtime.conf"

struct config_edit_result {
        bool changed;  /* a file was written or removed */
        char *file;    /* owned; where the key is set now (root included); NULL: built-in default */
        unsigned line; /* in file */
};

void config_edit_result_done(struct config_edit_result *r);

/*
 * Sets key to value (as text) in one of the drop-ins below root; other keys and comments stay.
 * A persistent setting takes the key out of the runtime drop-in, which would win otherwise. The
 * whole configuration is read as it would be first, and if it is not valid nothing is written:
 * negative errno with *ret_error, config_error_done() it. A drop-in that is a symbolic link or no
 * regular file is refused. Directories are made with mode 0755, the file is replaced at once with
 * mode 0644. *ret_result->file names another file than the drop-in if a later one sets the key too
 * and wins. Two edits at the same time: the later one wins.
 */
_must_check_ int config_edit_set(const char *root, enum config_key key, const char *value,
                                 bool runtime, struct config_edit_result *ret_result,
                                 struct config_error *ret_error);

/* Takes key out of both drop-ins. One without any setting left, and without a comment of somebody,
 * is removed. */
_must_check_ int config_edit_unset(const char *root, enum config_key key,
                                   struct config_edit_result *ret_result,
                                   struct config_error *ret_error);
