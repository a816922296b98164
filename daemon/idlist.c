/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "idlist.h"

#include <errno.h>
#include <string.h>

void idlist_done(struct idlist *l)
{
        free(l->id);
        *l = (struct idlist){0};
}

int idlist_append(struct idlist *l, unsigned id)
{
        if (id > IDLIST_ID_MAX || (l->n > 0 && l->id[l->n - 1] >= id))
                return -EINVAL;
        if (l->n == l->capacity) {
                size_t capacity = l->capacity ? l->capacity * 2 : 64;
                unsigned *ids = reallocarray(l->id, capacity, sizeof(*ids));

                if (!ids)
                        return -ENOMEM;
                l->id = ids;
                l->capacity = capacity;
        }
        l->id[l->n++] = id;
        return 0;
}

static void trim(const char **text, size_t *len)
{
        while (*len > 0 && (**text == ' ' || **text == '\t' || **text == '\n')) {
                (*text)++;
                (*len)--;
        }
        while (*len > 0 && strchr(" \t\n", (*text)[*len - 1])) /* matches NUL too */
                (*len)--;
}

static int parse_range(const char *text, size_t len, uint64_t *ret_first, uint64_t *ret_last)
{
        const char *dash = memchr(text, '-', len);
        size_t first_len = dash ? (size_t)(dash - text) : len;
        int r = parse_u64(text, first_len, ret_first);

        if (r < 0)
                return r;
        *ret_last = *ret_first;
        if (dash)
                r = parse_u64(dash + 1, len - first_len - 1, ret_last);
        if (r < 0)
                return r;
        return *ret_first <= *ret_last && *ret_last <= IDLIST_ID_MAX ? 0 : -EINVAL;
}

int idlist_parse_ranges(const char *text, size_t len, struct idlist *l)
{
        const char *end;

        l->n = 0;
        trim(&text, &len);
        if (len == 0)
                return 0;
        end = text + len;
        for (;;) {
                const char *comma = memchr(text, ',', (size_t)(end - text));
                const char *stop = comma ? comma : end;
                uint64_t first, last;
                int r = parse_range(text, (size_t)(stop - text), &first, &last);

                if (r < 0)
                        return -EINVAL;
                for (uint64_t id = first; id <= last; id++) {
                        r = idlist_append(l, (unsigned)id);
                        if (r < 0)
                                return r;
                }
                if (!comma)
                        return 0;
                text = comma + 1;
        }
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        if (c >= 'A' && c <= 'F')
                return c - 'A' + 10;
        return -1;
}

int idlist_parse_mask(const char *text, size_t len, struct idlist *l)
{
        unsigned bit = 0;

        l->n = 0;
        trim(&text, &len);
        if (len == 0)
                return -EINVAL;
        for (size_t i = len; i-- > 0;) {
                int digit;

                /* A comma after every 32 bits, and digits around it. */
                if (text[i] == ',' && bit % 32 == 0 && bit > 0 && i > 0 && text[i - 1] != ',')
                        continue;
                digit = hex_digit(text[i]);
                if (digit < 0 || bit > IDLIST_ID_MAX - 3)
                        return -EINVAL;
                for (unsigned k = 0; k < 4; k++)
                        if ((unsigned)digit & (1u << k)) {
                                int r = idlist_append(l, bit + k);

                                if (r < 0)
                                        return r;
                        }
                bit += 4;
        }
        return 0;
}

bool idlist_equal(const struct idlist *a, const struct idlist *b)
{
        return a->n == b->n && (a->n == 0 || memcmp(a->id, b->id, a->n * sizeof(*a->id)) == 0);
}

bool idlist_contains(const struct idlist *l, unsigned id)
{
        for (size_t i = 0; i < l->n && l->id[i] <= id; i++)
                if (l->id[i] == id)
                        return true;
        return false;
}
