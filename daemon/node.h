/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * NUMA nodes: /sys/devices/system/node/node*\/ (Documentation/ABI/stable/sysfs-devices-node).
 * Node ids have holes, a node may have no CPUs (memory-only) or no memory, and nodes come and go
 * with memory hotplug and CXL.
 */

#include "idlist.h"
#include "source.h"
#include "vmstat.h"

struct node {
        unsigned id;
        bool cpus_known;
        struct idlist cpus;
        unsigned *distance; /* to the node at the same index of struct nodes, or NULL. Owned. */
        bool memory_known, memory_odd; /* odd: more free than total, free was capped */
        uint64_t total_bytes, free_bytes;
        struct vmstat vmstat; /* of the node's vmstat; numa_* of its numastat */
};

struct nodes {
        enum source_state state; /* ABSENT: no NUMA in this kernel, or not in this tree */
        struct node *node;       /* ascending ids */
        size_t n;
};

void nodes_done(struct nodes *n);

/* Reads every node below root ("" for the live system, where CPU lists and distances come from
 * libnuma as long as it knows the same nodes; libnuma looks once, when it is loaded). A file of a
 * node that is missing, cut short or not understood leaves its fields unknown. -ENOMEM; else 0. */
_must_check_ int nodes_read(const char *root, struct nodes *ret);

/* The node with this id, or NULL. */
const struct node *nodes_find(const struct nodes *n, unsigned id);
