/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The restore record: which knobs were changed, from what, to what, in which boot. Text, one knob a
 * line, closed by a checksum line, replaced as a whole by rename(2) and fsync'ed before the kernel
 * is written to.
 */

#include "knobs.h"

struct restore_entry {
        enum knob_id id;
        uint64_t original, ours;
        /* The record is written before the kernel is: until the write is confirmed, a knob of ours
         * that is changed once more holds either value. */
        bool has_previous;
        uint64_t previous;
};

/* Writes the record, or removes it when n is 0. Negative errno: the old record is still there. */
_must_check_ int restore_write(const char *path, const char *boot_id, const struct restore_entry *e,
                               size_t n);

/* Reads the record, a regular file that is not a symbolic link. -ENOENT: none; -ESTALE: of another
 * boot; -EBADMSG: damaged (unknown knob, bad number, wrong checksum, cut short, a knob twice),
 * nothing of it is returned. ret holds KNOB_COUNT at most. Values are not range-checked here: a
 * kernel may have held anything. */
_must_check_ int restore_read(const char *path, const char *boot_id,
                              struct restore_entry ret[static KNOB_COUNT], size_t *ret_n);

/* /proc/sys/kernel/random/boot_id below root, 36 characters; a root without it: all zeros. */
_must_check_ int boot_id_read(const char *root, char ret[static 37]);
