/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sets of CPU or node ids in the kernel's text forms. Ids have holes; a position is not an id. */

#include "util.h"

#define IDLIST_ID_MAX 1048575u /* far above NR_CPUS and MAX_NUMNODES of any kernel */

struct idlist {
        unsigned *id; /* ascending, each once */
        size_t n, capacity;
};

void idlist_done(struct idlist *l);

/* Appends an id above all that are in the list. -EINVAL if it is not, or above IDLIST_ID_MAX. */
_must_check_ int idlist_append(struct idlist *l, unsigned id);

/* "0-3,8-11" as of bitmap_print_to_pagebuf(); blanks, newline and NUL at the ends are ignored and
 * an empty text is the empty set. -EINVAL: anything else, *l is void then. */
_must_check_ int idlist_parse_ranges(const char *text, size_t len, struct idlist *l);

/* "00000000,00ff00ff": hexadecimal, the highest ids first. -EINVAL as above. */
_must_check_ int idlist_parse_mask(const char *text, size_t len, struct idlist *l);

bool idlist_equal(const struct idlist *a, const struct idlist *b);
bool idlist_contains(const struct idlist *l, unsigned id);
