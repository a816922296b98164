/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Memory tiers and what stops memory from moving between them.
 * /sys/devices/virtual/memory_tiering/memory_tierN/nodelist (since Linux 6.1; a higher N is slower
 * memory, Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers), and of /proc/zoneinfo each
 * node's free pages, its low watermarks and node_unreclaimable: kswapd has given up after 16 runs
 * that freed nothing (MAX_RECLAIM_RETRIES of mm/internal.h).
 */

#include "idlist.h"
#include "node.h"
#include "source.h"

struct memory_tier {
        unsigned id;
        struct idlist nodes;
};

struct node_reclaim {
        unsigned id;
        uint64_t free_pages, low_pages; /* of all zones; reserves for lower zones are not in low */
        bool gave_up;                   /* kswapd is off until somebody else frees memory */
};

struct tiers {
        enum source_state state;  /* ABSENT: this kernel has no memory tiers, or does not say */
        struct memory_tier *tier; /* fastest first. Owned. */
        size_t n;
        bool promotion; /* kernel.numa_balancing has bit 2 */
        bool demotion;  /* /sys/kernel/mm/numa/demotion_enabled */
        enum source_state zone_state;
        struct node_reclaim *node; /* as zoneinfo has them. Owned. */
        size_t n_nodes;
};

void tiers_done(struct tiers *t);

/* Reads all of it below root. What cannot be read is a state. -ENOMEM; else 0. */
_must_check_ int tiers_read(const char *root, struct tiers *ret);

/* Fills the nodes of *ret from the text of /proc/zoneinfo. -ENOMEM; else 0. */
_must_check_ int tiers_parse_zoneinfo(const char *data, size_t len, struct tiers *ret);

/* The tier a node is in, or NULL. */
const struct memory_tier *tiers_find(const struct tiers *t, unsigned node);
const struct node_reclaim *tiers_find_node(const struct tiers *t, unsigned node);

/* Promotion or demotion is on, and all memory is in one tier. */
bool tiers_cannot_move(const struct tiers *t);

/* kswapd of the node has given up and its memory is short. Memory that others freed since does no
 * harm: kswapd is not needed then. */
bool tiers_node_stuck(const struct node_reclaim *n);

/* Where the kernel demotes a node's pages to: the nearest nodes of the next slower tier
 * (establish_demotion_targets() of mm/memory-tiers.c; the kernel does not show it). Empty: it
 * swaps. -ENOMEM. */
_must_check_ int tiers_demotion_targets(const struct tiers *t, const struct nodes *nodes,
                                        unsigned node, struct idlist *ret);
