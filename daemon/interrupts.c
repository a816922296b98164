/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interrupts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Room for the largest row of any machine seen (13 kB), many times; a cache's worth. */
#define READ_CHUNK ((size_t)64 * 1024)

static bool is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

int interrupts_init(struct interrupts *i, const char *const *label, size_t n)
{
        *i = (struct interrupts){.state = SOURCE_UNREAD};
        i->row = calloc(n, sizeof(*i->row));
        if (!i->row)
                return -ENOMEM;
        i->n_rows = n;
        for (size_t r = 0; r < n; r++)
                i->row[r].label = label[r];
        return 0;
}

void interrupts_done(struct interrupts *i)
{
        for (size_t r = 0; r < i->n_rows; r++)
                free(i->row[r].count);
        free(i->row);
        free(i->cpu);
        *i = (struct interrupts){0};
}

static int reserve_cpus(struct interrupts *i, size_t n)
{
        size_t capacity = i->capacity ? i->capacity : 64;
        unsigned *cpu;

        if (n <= i->capacity)
                return 0;
        while (capacity < n)
                capacity *= 2;
        for (size_t r = 0; r < i->n_rows; r++) {
                uint64_t *count = reallocarray(i->row[r].count, capacity, sizeof(*count));

                if (!count)
                        return -ENOMEM;
                i->row[r].count = count;
        }
        cpu = reallocarray(i->cpu, capacity, sizeof(*cpu));
        if (!cpu)
                return -ENOMEM;
        i->cpu = cpu;
        i->capacity = capacity;
        return 0;
}

void interrupts_parse_start(struct interrupts_parser *p, struct interrupts *out)
{
        *p = (struct interrupts_parser){.out = out, .phase = INTERRUPTS_LABEL};
        out->state = SOURCE_UNREAD;
        out->n_cpus = 0;
        for (size_t r = 0; r < out->n_rows; r++) {
                out->row[r].state = SOURCE_ABSENT;
                out->row[r].sum = 0;
        }
}

/* The row of this label if it is wanted and has not been seen yet. */
static struct interrupts_row *find_wanted(struct interrupts *i, const char *label, size_t len)
{
        for (size_t r = 0; r < i->n_rows; r++)
                if (strncmp(i->row[r].label, label, len) == 0 && i->row[r].label[len] == '\0')
                        return i->row[r].state == SOURCE_ABSENT ? &i->row[r] : NULL;
        return NULL;
}

static void begin_line(struct interrupts_parser *p)
{
        p->phase = INTERRUPTS_LABEL;
        p->word_len = 0;
        p->in_number = false;
        p->row = NULL;
}

/* One character of a label; the label is "CPU" if this line is the header. */
static void feed_label(struct interrupts_parser *p, char c)
{
        if (c == '\n') {
                begin_line(p);
        } else if (c == ':') {
                /* A header that was refused may have left no room for counts. */
                p->row = p->have_header && !p->failed ? find_wanted(p->out, p->word, p->word_len)
                                                      : NULL;
                p->phase = p->row ? INTERRUPTS_COUNTS : INTERRUPTS_SKIP;
                p->column = 0;
                p->number = 0;
        } else if (is_blank(c)) {
                /* Leading blanks; no label holds one. */
                if (p->word_len > 0)
                        p->phase = INTERRUPTS_SKIP;
        } else if (is_digit(c) && p->word_len == 3 && memcmp(p->word, "CPU", 3) == 0) {
                p->phase = p->have_header ? INTERRUPTS_STOP : INTERRUPTS_HEADER;
                p->in_number = true;
                p->number = (uint64_t)(c - '0');
        } else if (p->word_len < INTERRUPTS_LABEL_MAX) {
                p->word[p->word_len++] = c;
        } else {
                p->phase = INTERRUPTS_SKIP;
        }
}

static int header_add_cpu(struct interrupts_parser *p)
{
        struct interrupts *i = p->out;
        int r;

        /* The kernel prints for_each_online_cpu(): ascending, each once. */
        if (p->number > UINT32_MAX || (i->n_cpus > 0 && i->cpu[i->n_cpus - 1] >= p->number)) {
                p->failed = true;
                return 0;
        }
        r = reserve_cpus(i, i->n_cpus + 1);
        if (r < 0)
                return r;
        i->cpu[i->n_cpus++] = (unsigned)p->number;
        return 0;
}

static int feed_header(struct interrupts_parser *p, char c)
{
        int r = 0;

        if (p->in_number) {
                if (is_digit(c)) {
                        if (p->number <= UINT32_MAX)
                                p->number = p->number * 10 + (uint64_t)(c - '0');
                        return 0;
                }
                r = header_add_cpu(p);
                p->in_number = false;
                p->word_len = 0;
                if (!is_blank(c) && c != '\n')
                        p->failed = true;
        } else if (is_digit(c) && p->word_len == 3) {
                p->in_number = true;
                p->number = (uint64_t)(c - '0');
        } else if (!is_blank(c) && c != '\n') {
                if (p->word_len >= 3 || c != "CPU"[p->word_len])
                        p->failed = true;
                else
                        p->word_len++;
        } else if (p->word_len != 0) {
                p->failed = true;
        }
        if (c == '\n') {
                p->have_header = true;
                begin_line(p);
        }
        return r;
}

/* The counts of the row are over, at the end of the line, of the text or of the columns. */
static void finish_counts(struct interrupts_parser *p, bool cut)
{
        struct interrupts_row *row = p->row;

        if (cut || (p->column > 0 && p->column < p->out->n_cpus)) {
                row->state = SOURCE_TRUNCATED;
        } else if (p->column == 0) {
                row->state = SOURCE_INVALID;
        } else {
                row->state = SOURCE_OK;
                row->sum = 0;
                for (size_t k = 0; k < p->out->n_cpus; k++)
                        row->sum += row->count[k];
        }
        p->row = NULL;
}

static void feed_counts(struct interrupts_parser *p, char c)
{
        if (is_digit(c) && p->number <= (UINT64_MAX - 9) / 10) {
                p->number = p->number * 10 + (uint64_t)(c - '0');
                p->in_number = true;
                return;
        }
        if (is_blank(c) || c == '\n') {
                if (p->in_number) {
                        p->row->count[p->column++] = p->number;
                        p->number = 0;
                        p->in_number = false;
                }
                if (c != '\n' && p->column < p->out->n_cpus)
                        return;
                if (c != '\n') {
                        p->phase = INTERRUPTS_BEHIND;
                        return;
                }
        }
        /* End of line, or the first word that is not all digits. */
        finish_counts(p, false);
        if (c == '\n')
                begin_line(p);
        else
                p->phase = INTERRUPTS_SKIP;
}

/* Behind the counts is text, or nothing. One more number means that the row has another CPU than
 * the header: it came up between the two, and no column can be trusted. */
static void feed_behind(struct interrupts_parser *p, char c)
{
        struct interrupts_row *row = p->row;

        if (is_digit(c)) {
                p->in_number = true;
                return;
        }
        if (is_blank(c) && !p->in_number)
                return;
        finish_counts(p, false);
        if (p->in_number && (is_blank(c) || c == '\n'))
                row->state = SOURCE_INVALID;
        if (c == '\n')
                begin_line(p);
        else
                p->phase = INTERRUPTS_SKIP;
}

int interrupts_parse_feed(struct interrupts_parser *p, const char *data, size_t len)
{
        const char *end = data + len;

        for (size_t k = len; k-- > 0;)
                if (data[k] != '\0') {
                        p->line_done = data[k] == '\n';
                        break;
                }
        while (data < end) {
                int r = 0;

                switch (p->phase) {
                case INTERRUPTS_SKIP:
                        data = memchr(data, '\n', (size_t)(end - data));
                        if (!data)
                                return 0;
                        data++;
                        begin_line(p);
                        continue;
                case INTERRUPTS_LABEL:
                        feed_label(p, *data++);
                        break;
                case INTERRUPTS_HEADER:
                        r = feed_header(p, *data++);
                        break;
                case INTERRUPTS_COUNTS:
                        feed_counts(p, *data++);
                        break;
                case INTERRUPTS_BEHIND:
                        feed_behind(p, *data++);
                        break;
                case INTERRUPTS_STOP:
                        return 0;
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

void interrupts_parse_finish(struct interrupts_parser *p)
{
        struct interrupts *i = p->out;
        bool cut = !p->line_done && p->phase != INTERRUPTS_STOP;

        if (p->row)
                finish_counts(p, true);
        if (p->failed || (!p->have_header && !cut))
                i->state = SOURCE_INVALID;
        else
                i->state = cut ? SOURCE_TRUNCATED : SOURCE_OK;
        if (p->failed || !p->have_header)
                i->n_cpus = 0;
        for (size_t r = 0; r < i->n_rows; r++) {
                if (i->state == SOURCE_INVALID)
                        i->row[r].state = SOURCE_INVALID;
                else if (i->state == SOURCE_TRUNCATED && i->row[r].state == SOURCE_ABSENT)
                        i->row[r].state = SOURCE_TRUNCATED;
        }
}

int interrupts_read_fd(struct interrupts *i, int fd, struct buffer *scratch)
{
        struct interrupts_parser parser;
        off_t offset = 0;

        if (scratch->capacity < READ_CHUNK) {
                char *data = realloc(scratch->data, READ_CHUNK);

                if (!data)
                        return -ENOMEM;
                scratch->data = data;
                scratch->capacity = READ_CHUNK;
        }
        interrupts_parse_start(&parser, i);
        for (;;) {
                ssize_t n = pread(fd, scratch->data, scratch->capacity, offset);
                int r;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        i->state = source_state_from_errno(-errno);
                        i->n_cpus = 0;
                        for (size_t k = 0; k < i->n_rows; k++)
                                i->row[k].state = i->state;
                        return 0;
                }
                if (n == 0)
                        break;
                offset += n;
                r = interrupts_parse_feed(&parser, scratch->data, (size_t)n);
                if (r < 0)
                        return r;
        }
        interrupts_parse_finish(&parser);
        return 0;
}

const struct interrupts_row *interrupts_row(const struct interrupts *i, const char *label)
{
        for (size_t r = 0; r < i->n_rows; r++)
                if (strcmp(i->row[r].label, label) == 0)
                        return &i->row[r];
        return NULL;
}

int interrupts_copy(struct interrupts *to, const struct interrupts *from)
{
        int r = reserve_cpus(to, from->n_cpus);

        if (r < 0)
                return r;
        to->state = from->state;
        to->n_cpus = from->n_cpus;
        if (from->n_cpus > 0)
                memcpy(to->cpu, from->cpu, from->n_cpus * sizeof(*to->cpu));
        for (size_t k = 0; k < to->n_rows && k < from->n_rows; k++) {
                to->row[k].state = from->row[k].state;
                to->row[k].sum = from->row[k].sum;
                if (from->row[k].state == SOURCE_OK)
                        memcpy(to->row[k].count, from->row[k].count,
                               from->n_cpus * sizeof(*to->row[k].count));
        }
        return 0;
}

static int compare_u32(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

int interrupts_delta(const struct interrupts *before, const struct interrupts *after,
                     const char *label, struct interrupts_delta *ret)
{
        const struct interrupts_row *b = interrupts_row(before, label);
        const struct interrupts_row *a = interrupts_row(after, label);
        struct interrupts_delta d = {0};
        _cleanup_(freep) uint32_t *delta = NULL;
        size_t x = 0, y = 0, middle;

        if (!b || !a || b->state != SOURCE_OK || a->state != SOURCE_OK)
                return -ENODATA;
        delta = calloc(after->n_cpus + 1, sizeof(*delta));
        if (!delta)
                return -ENOMEM;
        while (x < before->n_cpus || y < after->n_cpus) {
                if (y == after->n_cpus || (x < before->n_cpus && before->cpu[x] < after->cpu[y])) {
                        d.n_only_before++;
                        x++;
                } else if (x == before->n_cpus || after->cpu[y] < before->cpu[x]) {
                        d.n_only_after++;
                        y++;
                } else {
                        uint32_t n = (uint32_t)(a->count[y] - b->count[x]);

                        delta[d.n_common++] = n;
                        d.total += n;
                        if (n >= d.max_cpu) {
                                d.max_cpu_id = after->cpu[y];
                                d.max_cpu = n;
                        }
                        x++;
                        y++;
                }
        }
        if (d.n_common == 0)
                return -ENODATA;
        qsort(delta, d.n_common, sizeof(*delta), compare_u32);
        middle = d.n_common / 2;
        d.median_cpu = delta[middle];
        if (d.n_common % 2 == 0)
                d.median_cpu = (delta[middle - 1] + d.median_cpu) / 2;
        *ret = d;
        return 0;
}
