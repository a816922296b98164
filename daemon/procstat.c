/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "procstat.h"

#include <errno.h>
#include <string.h>

struct cursor {
        const char *p, *end;
};

/* The next blank-separated word of a line; false at its end. */
static bool next_word(struct cursor *c, const char **ret, size_t *ret_len)
{
        while (c->p < c->end && *c->p == ' ')
                c->p++;
        *ret = c->p;
        while (c->p < c->end && *c->p != ' ')
                c->p++;
        *ret_len = (size_t)(c->p - *ret);
        return *ret_len > 0;
}

static bool next_number(struct cursor *c, uint64_t *ret)
{
        const char *word;
        size_t len;

        return next_word(c, &word, &len) && parse_u64(word, len, ret) == 0;
}

static bool word_is(const char *word, size_t len, const char *text)
{
        return strlen(text) == len && memcmp(word, text, len) == 0;
}

static int add_cpu(struct procstat *s, uint64_t id)
{
        if (id > UINT32_MAX)
                return 0;
        if (s->n_cpus == s->capacity) {
                size_t capacity = s->capacity ? s->capacity * 2 : 64;
                unsigned *cpu = reallocarray(s->cpu, capacity, sizeof(*cpu));

                if (!cpu)
                        return -ENOMEM;
                s->cpu = cpu;
                s->capacity = capacity;
        }
        s->cpu[s->n_cpus++] = (unsigned)id;
        return 0;
}

/* A row that is not understood leaves the state as it is: no time in it can be trusted. */
static void take_times(struct procstat *s, struct cursor *c)
{
        uint64_t *const column[] = {&s->user,   &s->nice, &s->system,  &s->idle,
                                    &s->iowait, &s->irq,  &s->softirq, &s->steal};
        const char *word;
        size_t n = 0, len;

        for (; n < ELEMENTSOF(column) && next_word(c, &word, &len); n++)
                if (parse_u64(word, len, column[n]) < 0)
                        return;
        if (n < 4) /* Linux 2.4 has four */
                return;
        s->state = SOURCE_OK;
}

/* "processes": printed as a signed 32-bit number by some kernels, so modulo 2^32. */
static void take_processes(struct procstat *s, struct cursor *c)
{
        const char *word;
        size_t len;
        uint64_t n;
        bool negative;

        if (!next_word(c, &word, &len))
                return;
        negative = word[0] == '-';
        if (parse_u64(word + negative, len - negative, &n) < 0)
                return;
        s->processes = negative ? (uint32_t)(0 - n) : (uint32_t)n;
        s->has_processes = true;
}

static int take_line(struct procstat *s, struct cursor c, bool *ret_is_cpu)
{
        const char *word;
        size_t len;
        uint64_t n;

        *ret_is_cpu = false;
        if (!next_word(&c, &word, &len))
                return 0;
        if (word_is(word, len, "cpu")) {
                take_times(s, &c);
        } else if (len > 3 && memcmp(word, "cpu", 3) == 0) {
                *ret_is_cpu = true;
                if (parse_u64(word + 3, len - 3, &n) == 0)
                        return add_cpu(s, n);
        } else if (word_is(word, len, "intr")) {
                s->has_interrupts = next_number(&c, &s->interrupts_total);
        } else if (word_is(word, len, "processes")) {
                take_processes(s, &c);
        } else if (word_is(word, len, "procs_blocked") && next_number(&c, &n)) {
                s->has_blocked = true;
                s->blocked = n > INT64_MAX ? 0 : n;
        }
        return 0;
}

uint64_t procstat_total(const struct procstat *s)
{
        return s->user + s->nice + s->system + s->idle + s->iowait + s->irq + s->softirq + s->steal;
}

void procstat_done(struct procstat *s)
{
        free(s->cpu);
        *s = (struct procstat){0};
}

int procstat_parse(struct procstat *s, const char *data, size_t len)
{
        const char *end = data + len;
        unsigned *cpu = s->cpu;
        size_t capacity = s->capacity;

        bool is_cpu = false;

        *s = (struct procstat){.cpu = cpu, .capacity = capacity, .state = SOURCE_INVALID};
        while (end > data && end[-1] == '\0')
                end--;
        if (data == end)
                s->state = SOURCE_TRUNCATED;
        while (data < end) {
                const char *newline = memchr(data, '\n', (size_t)(end - data));
                int r;

                if (!newline) {
                        /* The row may be cut short, and so are those behind it. */
                        s->state = SOURCE_TRUNCATED;
                        break;
                }
                r = take_line(s, (struct cursor){data, newline}, &is_cpu);
                if (r < 0)
                        return r;
                data = newline + 1;
        }
        /* Other rows stand behind those of the CPUs, unless some were cut off. */
        if (is_cpu)
                s->n_cpus = 0;
        return 0;
}
