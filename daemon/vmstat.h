/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * /proc/vmstat: "name value" rows, 64-bit on 64-bit kernels. Also the form of
 * /sys/devices/system/node/node*\/vmstat and of cgroup v2 memory.stat.
 */

#include "source.h"
#include "util.h"

enum vmstat_id {
#define VM(id, name) VM_##id,
#include "vmstat.def"
#undef VM
        VM_COUNT
};

enum vmstat_origin {
        VMSTAT_MISSING,  /* not on this kernel */
        VMSTAT_PLAIN,    /* a row of its own */
        VMSTAT_PER_ZONE, /* the sum of name_dma, name_normal, ... */
};

struct vmstat {
        enum source_state state;
        size_t n_rows; /* rows in the file */
        uint64_t value[VM_COUNT];
        enum vmstat_origin origin[VM_COUNT];
};

const char *vmstat_name(enum vmstat_id id);

/* Called for each row in order; complete is false for a last row without its newline, whose value
 * may be cut short. */
typedef void (*vmstat_row_fn)(const char *name, size_t name_len, uint64_t value, bool complete,
                              void *userdata);

/* Calls fn for each "name value" row; others are passed over. OK, TRUNCATED: empty, or without a
 * newline at the end, or INVALID: no row at all. NUL bytes at the end are ignored. */
enum source_state vmstat_each(const char *data, size_t len, vmstat_row_fn fn, void *userdata);

/* Fills *ret from the text of a vmstat file. Where a counter has no row of its own the rows of its
 * zones are added up (kernels up to 4.7 have pgsteal_kswapd_normal and so on, allocstall is per
 * zone from 4.8 on). A row that is cut short counts as missing, and so does such a sum when no
 * other row follows it: zones may have been cut off. */
void vmstat_parse(const char *data, size_t len, struct vmstat *ret);

static inline bool vmstat_has(const struct vmstat *v, enum vmstat_id id)
{
        return v->origin[id] != VMSTAT_MISSING;
}
