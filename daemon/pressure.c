/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pressure.h"

#include <string.h>

/* "12.34" without locale, sign or exponent. */
static bool parse_percent(const char *text, size_t len, double *ret)
{
        const char *dot = memchr(text, '.', len);
        uint64_t whole, hundredths = 0;
        size_t whole_len = dot ? (size_t)(dot - text) : len;

        if (parse_u64(text, whole_len, &whole) < 0)
                return false;
        if (dot && (len - whole_len != 3 || parse_u64(dot + 1, 2, &hundredths) < 0))
                return false;
        *ret = (double)whole + (double)hundredths / 100;
        return *ret <= 100;
}

/* What a row must have; a row without one of them was cut short. */
enum {
        FIELD_AVG10 = 1 << 0,
        FIELD_AVG60 = 1 << 1,
        FIELD_AVG300 = 1 << 2,
        FIELD_TOTAL = 1 << 3,
        FIELDS_ALL = (1 << 4) - 1,
};

static bool take_field(const char *word, size_t len, struct pressure_row *row, unsigned *fields)
{
        const char *equals = memchr(word, '=', len);
        const char *value;
        size_t name_len, value_len;

        if (!equals)
                return false;
        name_len = (size_t)(equals - word);
        value = equals + 1;
        value_len = len - name_len - 1;
        if (name_len == 5 && memcmp(word, "avg10", 5) == 0) {
                *fields |= FIELD_AVG10;
                return parse_percent(value, value_len, &row->avg10);
        }
        if (name_len == 5 && memcmp(word, "avg60", 5) == 0) {
                *fields |= FIELD_AVG60;
                return parse_percent(value, value_len, &row->avg60);
        }
        if (name_len == 6 && memcmp(word, "avg300", 6) == 0) {
                *fields |= FIELD_AVG300;
                return parse_percent(value, value_len, &row->avg300);
        }
        if (name_len == 5 && memcmp(word, "total", 5) == 0) {
                *fields |= FIELD_TOTAL;
                return parse_u64(value, value_len, &row->total_us) == 0;
        }
        return true; /* a field of a later kernel */
}

static void take_line(const char *line, size_t len, struct pressure *p)
{
        struct pressure_row row = {.present = true};
        struct pressure_row *to;
        const char *end = line + len;
        unsigned fields = 0;

        if (len < 5 || line[4] != ' ')
                return;
        if (memcmp(line, "some", 4) == 0)
                to = &p->some;
        else if (memcmp(line, "full", 4) == 0)
                to = &p->full;
        else
                return;
        line += 5;
        while (line < end) {
                const char *blank = memchr(line, ' ', (size_t)(end - line));
                const char *stop = blank ? blank : end;

                if (stop > line && !take_field(line, (size_t)(stop - line), &row, &fields))
                        return;
                line = stop + 1;
        }
        if (fields == FIELDS_ALL)
                *to = row;
}

void pressure_parse(const char *data, size_t len, struct pressure *ret)
{
        const char *end = data + len;

        *ret = (struct pressure){0};
        while (end > data && end[-1] == '\0')
                end--;
        /* Without its newline the last total may be cut short. No metric is made from totals, so
         * the row is kept and the state says so. */
        ret->state = end > data && end[-1] == '\n' ? SOURCE_OK : SOURCE_TRUNCATED;
        while (data < end) {
                const char *newline = memchr(data, '\n', (size_t)(end - data));
                const char *stop = newline ? newline : end;

                take_line(data, (size_t)(stop - data), ret);
                data = stop + 1;
        }
        if (ret->state == SOURCE_OK && !ret->some.present && !ret->full.present)
                ret->state = SOURCE_INVALID;
}
