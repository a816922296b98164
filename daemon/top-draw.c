/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-draw.h"

#include "metrics.h"
#include "status-read.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define HEAT_LEVELS 8
#define ITEM_COLUMNS 38 /* one metric: label, value, two blanks */
#define LABEL_COLUMNS 22
#define VALUE_COLUMNS 13
#define STRIP_LABEL 7 /* "  1023 ": the first CPU of a row of cells */

/* Canvas */

int canvas_init(struct canvas *c, unsigned rows, unsigned cols)
{
        size_t n = (size_t)rows * cols;

        *c = (struct canvas){
                .rows = rows, .cols = cols, .cell = calloc(n ? n : 1, sizeof(struct cell))};
        if (!c->cell)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                c->cell[i].ch = ' ';
        return 0;
}

void canvas_done(struct canvas *c)
{
        free(c->cell);
        *c = (struct canvas){0};
}

static void put_char(struct canvas *c, unsigned row, unsigned col, enum canvas_style style, char ch)
{
        if (ch < ' ' || ch > '~')
                ch = '?';
        if (row < c->rows && col < c->cols)
                c->cell[(size_t)row * c->cols + col] = (struct cell){ch, (unsigned char)style};
}

static void put(struct canvas *c, unsigned row, unsigned col, enum canvas_style style,
                const char *text)
{
        for (; text && *text && col < c->cols; text++, col++)
                put_char(c, row, col, style, *text);
}

void canvas_print(FILE *f, const struct canvas *c)
{
        unsigned empty = 0;

        for (unsigned row = 0; row < c->rows; row++) {
                const struct cell *line = c->cell + (size_t)row * c->cols;
                unsigned used = c->cols;

                while (used > 0 && line[used - 1].ch == ' ')
                        used--;
                if (used == 0) {
                        empty++;
                        continue;
                }
                for (; empty > 0; empty--)
                        (void)fputc('\n', f);
                for (unsigned col = 0; col < used; col++)
                        (void)fputc(line[col].style == CANVAS_HEAT && line[col].ch == '0'
                                            ? '.'
                                            : line[col].ch,
                                    f);
                (void)fputc('\n', f);
        }
}

/* Head: what this is, and what is wrong */

static unsigned draw_title(struct canvas *c, const struct top_view *v)
{
        struct json_object *machine = status_object(v->status, "machine");
        const char *version = status_text(v->status, "tlbd"),
                   *mode = status_text(v->status, "mode");
        const char *release = status_text(machine, "release");
        char interval[TEXT_NUMBER_MAX], cpus[TEXT_NUMBER_MAX], age[TEXT_NUMBER_MAX];
        _cleanup_(freep) char *line =
                strf("tlbd %s (%s)  Linux %s  %s CPUs  every %s  %s ago", version ? version : "-",
                     mode ? mode : "-", release ? release : "-",
                     text_number(cpus, status_number(machine, "cpus")),
                     text_duration(interval, status_number(v->status, "interval_s")),
                     text_duration(age, floor(v->age_s)));

        put(c, 0, 0, CANVAS_BOLD, line);
        return 1;
}

static unsigned draw_condition(struct canvas *c, unsigned row, struct json_object *condition)
{
        const char *name = status_text(condition, "name"),
                   *metric = status_text(condition, "metric");
        double value = status_number(condition, "value");
        char since[TEXT_NUMBER_MAX], number[TEXT_NUMBER_MAX], threshold[TEXT_NUMBER_MAX];
        _cleanup_(freep) char *figures = NULL;
        _cleanup_(freep) char *line = NULL;

        if (metric && !isnan(value))
                figures = strf(": %s %s, limit %s", metric, text_number(number, value),
                               text_number(threshold, status_number(condition, "threshold")));
        line = strf("RAISED %s, %s%s", name ? name : "-",
                    text_duration(since, status_number(condition, "since_s")),
                    figures ? figures : "");
        put(c, row, 0, CANVAS_ALARM, line);
        return row + 1;
}

static unsigned draw_conditions(struct canvas *c, unsigned row, const struct top_view *v)
{
        struct json_object *all = status_array(v->status, "conditions");
        unsigned first = row;

        if (v->warning) {
                put(c, row, 0, CANVAS_ALARM, v->warning);
                return row + 1;
        }
        for (size_t i = 0; i < status_length(all); i++) {
                struct json_object *condition = json_object_array_get_idx(all, i);

                if (status_true(condition, "raised"))
                        row = draw_condition(c, row, condition);
        }
        if (row > first)
                return row;
        put(c, row, 0, CANVAS_PLAIN, "No condition is raised.");
        return row + 1;
}

/* Metrics, in as many columns as fit */

static const struct {
        enum metric_id id;
        const char *label;
} item[] = {
        {METRIC_TLB, "TLB interrupts/s"},
        {METRIC_TLB_NUMA_SCAN, "  NUMA scanning"},
        {METRIC_TLB_NUMA_MIGRATE, "  NUMA migration"},
        {METRIC_TLB_RECLAIM, "  reclaim"},
        {METRIC_TLB_COMPACTION, "  compaction"},
        {METRIC_TLB_OTHER, "  other"},
        {METRIC_TLB_PER_MIGRATED, "per migrated page"},
        {METRIC_TLB_PER_RECLAIMED, "per reclaimed page"},
        {METRIC_PENDING_FLUSH, "full flushes per table"},
        {METRIC_IRQ_SHARE, "CPU time in interrupts"},
        {METRIC_STEAL_SHARE, "CPU time stolen"},
        {METRIC_PAGES_MIGRATED, "pages migrated/s"},
        {METRIC_HINT_FAULTS, "hinting faults/s"},
        {METRIC_LOCALITY, "  local share"},
        {METRIC_PAGES_PROMOTED, "pages promoted/s"},
        {METRIC_PAGES_DEMOTED, "pages demoted/s"},
        {METRIC_PAGES_RECLAIMED, "pages reclaimed/s"},
        {METRIC_DIRECT_SHARE, "  by waiting tasks"},
        {METRIC_SWAP_OUT, "swapped out/s"},
        {METRIC_REFAULTS, "refaults/s"},
        {METRIC_PSI_SOME, "memory stalls, some %"},
        {METRIC_PSI_FULL, "memory stalls, all %"},
};

static const char *mark_of(struct json_object *m)
{
        const char *validity = status_text(m, "validity");

        if (validity && strcmp(validity, "hotplug") == 0)
                return "~";
        return status_text(m, "scope") ? "*" : "";
}

static void draw_item(struct canvas *c, unsigned row, unsigned col, const char *label,
                      struct json_object *m)
{
        double value = status_number(m, "value");
        const char *validity = status_text(m, "validity");
        char number[TEXT_NUMBER_MAX];
        _cleanup_(freep) char *text = NULL;

        if (isnan(value))
                text = strf("%-*s %*.*s", LABEL_COLUMNS, label, VALUE_COLUMNS, VALUE_COLUMNS,
                            validity ? validity : "-");
        else
                text = strf("%-*s %*s%s", LABEL_COLUMNS, label,
                            VALUE_COLUMNS - (int)strlen(mark_of(m)), text_number(number, value),
                            mark_of(m));
        put(c, row, col, isnan(value) ? CANVAS_DIM : CANVAS_PLAIN, text);
}

static unsigned draw_items(struct canvas *c, unsigned row, const struct top_view *v)
{
        struct json_object *metrics = status_object(v->status, "metrics");
        unsigned n = ELEMENTSOF(item), columns = (c->cols + 2) / ITEM_COLUMNS, lines;

        columns = columns < 1 ? 1 : columns > 4 ? 4 : columns;
        lines = (n + columns - 1) / columns;
        for (unsigned i = 0; i < n; i++)
                draw_item(c, row + i % lines, i / lines * ITEM_COLUMNS, item[i].label,
                          status_object(metrics, metric_table[item[i].id].name));
        return row + lines;
}

/* CPUs, one cell for each or for several */

struct cpu {
        unsigned id;
        double rate; /* NAN: unknown */
};

struct strip {
        struct cpu *cpu; /* sorted by id. Owned. */
        size_t n;
        double max;
        unsigned max_id;
        size_t per_cell; /* CPUs a cell stands for */
        bool gaps;       /* a blank cell where ids are missing */
};

static int cpu_compare(const void *a, const void *b)
{
        const struct cpu *x = a, *y = b;

        return (x->id > y->id) - (x->id < y->id);
}

/* The next member: a number, or NAN. */
static double number_at(struct json_object *array, size_t i)
{
        struct json_object *v =
                i < status_length(array) ? json_object_array_get_idx(array, i) : NULL;

        return json_object_is_type(v, json_type_double) || json_object_is_type(v, json_type_int)
                       ? json_object_get_double(v)
                       : (double)NAN;
}

static int strip_init(struct strip *s, struct json_object *status)
{
        struct json_object *cpus = status_object(status, "cpus");
        struct json_object *id = status_array(cpus, "id"), *rate = status_array(cpus, "tlb_per_s");

        *s = (struct strip){.max = NAN};
        s->cpu = calloc(status_length(id) + 1, sizeof(*s->cpu));
        if (!s->cpu)
                return -ENOMEM;
        for (size_t i = 0; i < status_length(id); i++) {
                double number = number_at(id, i);

                if (!(number >= 0 && number <= INT32_MAX))
                        continue;
                s->cpu[s->n] = (struct cpu){(unsigned)number, number_at(rate, i)};
                if (isnan(s->max) || s->cpu[s->n].rate > s->max) {
                        s->max = s->cpu[s->n].rate;
                        s->max_id = s->cpu[s->n].id;
                }
                s->n++;
        }
        qsort(s->cpu, s->n, sizeof(*s->cpu), cpu_compare);
        return 0;
}

static void strip_done(struct strip *s)
{
        free(s->cpu);
}

static bool gap_before(const struct strip *s, size_t i)
{
        return i > 0 && s->cpu[i].id > s->cpu[i - 1].id + 1;
}

static size_t strip_cells(const struct strip *s)
{
        size_t n = (s->n + s->per_cell - 1) / s->per_cell;

        for (size_t i = 0; s->gaps && i < s->n; i++)
                n += gap_before(s, i);
        return n;
}

/* Chooses how much a cell stands for, so that all fits into room cells. */
static void strip_fit(struct strip *s, size_t room)
{
        s->per_cell = 1;
        s->gaps = true;
        if (strip_cells(s) <= room)
                return;
        s->gaps = false;
        while (strip_cells(s) > room && s->per_cell < s->n)
                s->per_cell *= 2;
}

/* The busiest of CPUs i, i + 1, ... of one cell, as '0' to '8'; '?': none of them is known. */
static char heat(const struct strip *s, size_t i)
{
        double max = NAN;
        int level;

        for (size_t k = i; k < i + s->per_cell && k < s->n; k++)
                if (isnan(max) || s->cpu[k].rate > max)
                        max = s->cpu[k].rate;
        if (isnan(max))
                return '?';
        if (!(max > 0) || !(s->max > 0))
                return '0';
        level = (int)ceil(max / s->max * HEAT_LEVELS);
        return (char)('0' + (level > HEAT_LEVELS ? HEAT_LEVELS : level));
}

/* What follows the label of a row: a multiple of 16 cells if that many fit. */
static unsigned strip_columns(const struct canvas *c)
{
        unsigned room = c->cols > STRIP_LABEL ? c->cols - STRIP_LABEL : 0;

        return room >= 16 ? room - room % 16 : room;
}

static unsigned draw_strip_rows(struct canvas *c, unsigned row, unsigned end, const struct strip *s)
{
        unsigned columns = strip_columns(c), col = columns;

        row--; /* the first cell starts a row */
        for (size_t i = 0; i < s->n; i += s->per_cell) {
                char label[16], level = heat(s, i);

                if (s->gaps && gap_before(s, i) && col < columns)
                        col++;
                if (col >= columns) {
                        if (++row >= end)
                                break;
                        (void)snprintf(label, sizeof(label), "%*u", STRIP_LABEL - 1, s->cpu[i].id);
                        put(c, row, 0, CANVAS_DIM, label);
                        col = 0;
                }
                put_char(c, row, STRIP_LABEL + col++, level == '?' ? CANVAS_DIM : CANVAS_HEAT,
                         level);
        }
        return row + 1;
}

static unsigned draw_strip(struct canvas *c, unsigned row, unsigned end, struct strip *s)
{
        char number[TEXT_NUMBER_MAX];
        _cleanup_(freep) char *line = NULL;
        _cleanup_(freep) char *each = NULL;

        if (row >= end)
                return row;
        if (s->n == 0) {
                put(c, row, 0, CANVAS_DIM, "CPUs: /proc/interrupts not read twice yet");
                return row + 1;
        }
        strip_fit(s, (size_t)strip_columns(c) * (end - row - 1));
        each = s->per_cell > 1 ? strf(", a cell is the busiest of %zu", s->per_cell) : strdup("");
        line = strf("CPUs: TLB interrupts/s, busiest: CPU %u with %s%s", s->max_id,
                    text_number(number, s->max), each ? each : "");
        put(c, row, 0, CANVAS_BOLD, line);
        return strip_columns(c) ? draw_strip_rows(c, row + 1, end, s) : row + 1;
}

/* Nodes */

static void draw_node(struct canvas *c, unsigned row, struct json_object *node)
{
        char id[TEXT_NUMBER_MAX], cpus[TEXT_NUMBER_MAX], a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
        char rate[3][TEXT_NUMBER_MAX];
        static const char *const key[] = {"promoted_per_s", "demoted_per_s", "reclaimed_per_s"};
        _cleanup_(freep) char *line = NULL;

        for (size_t i = 0; i < ELEMENTSOF(key); i++)
                (void)text_number(rate[i], status_number(status_object(node, key[i]), "value"));
        line = strf("%6s %6s %10s %10s %11s %11s %11s", text_number(id, status_number(node, "id")),
                    text_number(cpus, status_number(node, "cpus")),
                    text_bytes(a, status_number(node, "memory_total")),
                    text_bytes(b, status_number(node, "memory_free")), rate[0], rate[1], rate[2]);
        put(c, row, 0, CANVAS_PLAIN, line);
}

static unsigned draw_nodes(struct canvas *c, unsigned row, unsigned end, const struct top_view *v)
{
        struct json_object *nodes = status_array(v->status, "nodes");
        size_t n = status_length(nodes);

        if (n == 0 || row >= end)
                return row;
        put(c, row++, 0, CANVAS_BOLD,
            "  node   CPUs     memory       free  promoted/s   demoted/s reclaimed/s");
        for (size_t i = 0; i < n && row < end; i++, row++) {
                if (row + 1 == end && i + 1 < n) {
                        _cleanup_(freep) char *more = strf("  ... and %zu more nodes", n - i);

                        put(c, row, 0, CANVAS_DIM, more);
                } else {
                        draw_node(c, row, json_object_array_get_idx(nodes, i));
                }
        }
        return row;
}

static void draw_footer(struct canvas *c, unsigned row, const struct top_view *v)
{
        put(c, row, 0, CANVAS_DIM,
            v->keys ? "q quit   * counts all causes   ~ CPUs changed"
                    : "* counts all causes   ~ CPUs changed");
}

/* Rows below the metrics go to the CPUs, of which there may be thousands, but for what the nodes
 * need, up to a third. *row is where to begin, and then the row after the last one. */
static int draw_rest(struct canvas *c, unsigned *row, unsigned end, const struct top_view *v)
{
        _cleanup_(strip_done) struct strip s = {0};
        size_t n = status_length(status_array(v->status, "nodes"));
        unsigned left = end > *row ? end - *row : 0, nodes, blank = left >= 8;
        int r = strip_init(&s, v->status);

        if (r < 0)
                return r;
        nodes = n + 1 + blank < left / 3 ? (unsigned)(n + 1 + blank) : left / 3;
        *row = draw_strip(c, *row, end - nodes, &s);
        *row = draw_nodes(c, *row + blank, end, v);
        return 0;
}

int top_draw(struct canvas *c, const struct top_view *v)
{
        unsigned row, footer = c->rows >= 8, blank = c->rows >= 22;
        int r;

        row = draw_title(c, v);
        row = draw_conditions(c, row, v) + blank;
        row = draw_items(c, row, v) + blank;
        r = draw_rest(c, &row, c->rows - footer, v);
        /* Text ends where its content ends, a screen at its lower edge. */
        if (footer)
                draw_footer(c, v->keys || row + 1 >= c->rows ? c->rows - 1 : row + 1, v);
        return r;
}
