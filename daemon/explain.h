/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What each metric, condition and configuration key means, made from the tables metrics.def,
 * conditions.def and keys.def. "tlbctl explain", the man pages, the journal's catalog and the
 * shell's completion all say what this says.
 */

#include "util.h"

#include <stdio.h>

enum topic_kind { TOPIC_METRIC, TOPIC_CONDITION, TOPIC_KEY };

/* A line below the text: "Unit: interrupts/s". */
struct fact {
        const char *label; /* NULL: no further fact */
        char *value;       /* owned */
};

struct topic {
        enum topic_kind kind;
        const char *name;  /* as it is typed */
        const char *title; /* a few words */
        const char *text;  /* sentences */
        struct fact fact[5];
};

/* Topics are numbered: metrics, then conditions, then keys. */
size_t topic_count(void);

/* Fills *ret for number i < topic_count(). topic_done() it. -ENOMEM. */
_must_check_ int topic_get(size_t i, struct topic *ret);
void topic_done(struct topic *t);

/* "metric", "condition", "key". */
const char *topic_kind_name(enum topic_kind kind);

/* Number of the topic with this name (letter case aside), or -ENOENT. */
int topic_find(const char *name);

/* Numbers of the topics whose names are like name, the nearest first, at most max. Returns how
 * many. */
size_t topic_near(const char *name, size_t *ret, size_t max);

/*
 * Prints what name means to f; NULL: a list of all names. -ENOENT: unknown; then nothing is
 * printed to f, and stderr says which names are near.
 */
_must_check_ int explain_print(FILE *f, const char *name);
