/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Structured entries for journald (sd_journal_sendv(3)), or their sentence on stderr. Two sorts
 * only: state changes (conditions.def) and the overhead summary.
 */

#include "judge.h"

#include <sys/uio.h>

#define JOURNAL_SUMMARY_ID "8165b3cebfbf4fc58bbabb371bf86c69"

enum journal_target {
        JOURNAL_AUTO, /* journald if its socket is there and stderr goes to it or to no terminal */
        JOURNAL_SOCKET, /* journald */
        JOURNAL_STDERR,
};

struct journal {
        bool structured;    /* to journald */
        bool syslog_prefix; /* "<5>" in front of lines: stderr is read by systemd (sd-daemon(3)) */
        unsigned long entries;
};

/* One entry under construction. */
struct journal_entry {
        char *field[96]; /* "NAME=value". Owned. */
        size_t n;
        bool failed; /* out of memory or of room: the entry is sent without what is missing */
};

/* JOURNAL_SOCKET without journald is -ENOENT. */
_must_check_ int journal_init(struct journal *j, enum journal_target target);

/* Adds "name=" and the formatted value. */
void journal_entry_add(struct journal_entry *e, const char *name, const char *format, ...)
        _printf_(3, 4);

/* Sends the entry with MESSAGE, PRIORITY, MESSAGE_ID and SYSLOG_IDENTIFIER, and frees it. */
void journal_entry_send(struct journal *j, struct journal_entry *e, int priority,
                        const char *message_id, const char *message);

/* Frees the fields of an entry that is not sent. */
void journal_entry_drop(struct journal_entry *e);

/* A number as it stands in a field and in JSON: up to 17 digits, no exponent where it can be. */
char *journal_number(double value);
