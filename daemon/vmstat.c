/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmstat.h"

#include <string.h>

static const struct {
        const char *name;
        size_t len;
} wanted[VM_COUNT] = {
#define VM(id, text) [VM_##id] = {text, sizeof(text) - 1},
#include "vmstat.def"
#undef VM
};

const char *vmstat_name(enum vmstat_id id)
{
        return wanted[id].name;
}

static size_t strip_nuls(const char *data, size_t len)
{
        while (len > 0 && data[len - 1] == '\0')
                len--;
        return len;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

/* Splits "name value" with blanks between and behind. */
static bool split_row(const char *line, size_t len, size_t *ret_name_len, uint64_t *ret_value)
{
        size_t name_end = 0, from, to = len;

        while (name_end < len && !is_blank(line[name_end]))
                name_end++;
        from = name_end;
        while (from < len && is_blank(line[from]))
                from++;
        while (to > from && is_blank(line[to - 1]))
                to--;
        *ret_name_len = name_end;
        return name_end > 0 && parse_u64(line + from, to - from, ret_value) == 0;
}

enum source_state vmstat_each(const char *data, size_t len, vmstat_row_fn fn, void *userdata)
{
        const char *end;
        bool any = false;

        len = strip_nuls(data, len);
        end = data + len;
        if (len == 0)
                return SOURCE_TRUNCATED;
        while (data < end) {
                const char *newline = memchr(data, '\n', (size_t)(end - data));
                const char *stop = newline ? newline : end;
                size_t name_len;
                uint64_t value;

                if (split_row(data, (size_t)(stop - data), &name_len, &value)) {
                        fn(data, name_len, value, newline != NULL, userdata);
                        any = true;
                }
                data = stop + 1;
        }
        if (end[-1] != '\n')
                return SOURCE_TRUNCATED;
        return any ? SOURCE_OK : SOURCE_INVALID;
}

/* "pgsteal_kswapd_dma32" for "pgsteal_kswapd": the names of enum zone_type. */
static bool is_zone_of(const char *name, size_t name_len, size_t i)
{
        static const char *const zone[] = {"_dma",  "_dma32",   "_normal",
                                           "_high", "_movable", "_device"};

        if (name_len <= wanted[i].len || memcmp(name, wanted[i].name, wanted[i].len) != 0)
                return false;
        name += wanted[i].len;
        name_len -= wanted[i].len;
        for (size_t z = 0; z < ELEMENTSOF(zone); z++)
                if (strlen(zone[z]) == name_len && memcmp(zone[z], name, name_len) == 0)
                        return true;
        return false;
}

struct parse {
        struct vmstat *v;
        size_t last_zone_of; /* counter the last row is a zone of, or VM_COUNT */
};

static void take_row(const char *name, size_t name_len, uint64_t value, bool complete,
                     void *userdata)
{
        struct parse *p = userdata;
        struct vmstat *v = p->v;

        v->n_rows++;
        if (!complete)
                return;
        p->last_zone_of = VM_COUNT;
        for (size_t i = 0; i < VM_COUNT; i++) {
                if (name[0] != wanted[i].name[0] || name_len < wanted[i].len)
                        continue;
                if (name_len == wanted[i].len && memcmp(name, wanted[i].name, name_len) == 0) {
                        v->value[i] = value;
                        v->origin[i] = VMSTAT_PLAIN;
                        return;
                }
                if (v->origin[i] != VMSTAT_PLAIN && is_zone_of(name, name_len, i)) {
                        v->value[i] += value;
                        v->origin[i] = VMSTAT_PER_ZONE;
                        p->last_zone_of = i;
                        return;
                }
        }
}

void vmstat_parse(const char *data, size_t len, struct vmstat *ret)
{
        struct parse p = {.v = ret, .last_zone_of = VM_COUNT};

        *ret = (struct vmstat){0};
        ret->state = vmstat_each(data, len, take_row, &p);
        /* The kernel puts other rows behind the zones of every counter. */
        if (p.last_zone_of < VM_COUNT) {
                ret->value[p.last_zone_of] = 0;
                ret->origin[p.last_zone_of] = VMSTAT_MISSING;
        }
}
