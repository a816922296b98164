/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "metrics.h"
#include "status-read.h"
#include "status.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WIDTH_MIN 80
#define WIDTH_MAX 160
/* Columns of a metric's line. */
#define NAME_COLUMNS 33
#define VALUE_COLUMNS 11
#define UNIT_COLUMNS 15
#define EXTRA_COLUMN (2u + NAME_COLUMNS + 1 + VALUE_COLUMNS + 1 + UNIT_COLUMNS + 1)
/* From this width on what a metric means stands beside it. */
#define WIDTH_TITLES 116
#define TITLE_COLUMN (EXTRA_COLUMN + 13)

struct report {
        FILE *f;
        struct json_object *status;
        unsigned width;
        double window_s; /* most metrics' values are over this time; NAN: unknown */
        bool all_units;  /* idle ones too */
        bool bold;
};

static void heading(const struct report *r, const char *text)
{
        (void)fprintf(r->f, "\n%s%s%s\n", r->bold ? "\033[1m" : "", text, r->bold ? "\033[0m" : "");
}

/* One paragraph, its first line led in by mark. */
static void paragraph(const struct report *r, const char *mark, unsigned indent, const char *text)
{
        (void)fprintf(r->f, "%-*s", (int)indent, mark);
        text_wrap(r->f, indent, indent, r->width, text);
}

static void print_time(const struct report *r)
{
        double written = status_number(r->status, "realtime_ns");
        time_t t = (time_t)(written / NSEC_PER_SEC);
        char text[64];
        struct tm tm;

        if (written > 0 && written < 4e18 && gmtime_r(&t, &tm) &&
            strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
                (void)fprintf(r->f, ", %s", text);
}

static void print_header(const struct report *r)
{
        struct json_object *machine = status_object(r->status, "machine");
        _cleanup_(freep) char *version = text_safe(status_text(r->status, "tlbd"));
        _cleanup_(freep) char *mode = text_safe(status_text(r->status, "mode"));
        _cleanup_(freep) char *release = text_safe(status_text(machine, "release"));
        double cpus = status_number(machine, "cpus"), samples = status_number(r->status, "samples");
        char interval[TEXT_NUMBER_MAX], number[TEXT_NUMBER_MAX];

        (void)fprintf(r->f, "tlbd %s (%s)", version ? version : "-", mode ? mode : "-");
        print_time(r);
        (void)fprintf(r->f, "\nLinux %s%s", release && *release ? release : "of unknown release",
                      status_true(machine, "policy") ? "" : " (not kernel-tlb)");
        if (cpus > 0)
                (void)fprintf(r->f, ", %s CPU%s", text_number(number, cpus), cpus > 1 ? "s" : "");
        if (status_true(machine, "hypervisor"))
                (void)fputs(", guest", r->f);
        (void)fprintf(r->f, "\n%s reading%s, one every %s", text_number(number, samples),
                      samples == 1 ? "" : "s",
                      text_duration(interval, status_number(r->status, "interval_s")));
        if (!isnan(r->window_s))
                (void)fprintf(r->f, "; figures are over %s", text_duration(interval, r->window_s));
        (void)fputc('\n', r->f);
}

static void print_config_error(const struct report *r)
{
        struct json_object *config = status_object(r->status, "config");
        const char *state = status_text(config, "state");

        if (!state || strcmp(state, "refused") != 0)
                return;
        heading(r, "CONFIGURATION REFUSED, the one before is kept");
        paragraph(r, "", 2, status_text(config, "error"));
}

/* Conditions */

/* "tlb_per_migrated_page is 205, threshold 76.8", or NULL. */
static char *condition_figures(struct json_object *c)
{
        const char *metric = status_text(c, "metric");
        double value = status_number(c, "value"), threshold = status_number(c, "threshold");
        char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
        bool beyond;

        if (!metric || isnan(value))
                return NULL;
        if (isnan(threshold))
                return strf("%s is %s", metric, text_number(a, value));
        /* Locality is the one that is bad when it is low. */
        beyond = strcmp(metric, metric_table[METRIC_LOCALITY].name) == 0 ? value < threshold
                                                                         : value > threshold;
        return strf("%s is %s, threshold %s%s", metric, text_number(a, value),
                    text_number(b, threshold),
                    beyond && !status_true(c, "raised") ? " (too few pages, or not for long enough)"
                                                        : "");
}

static void print_raised(const struct report *r, struct json_object *c)
{
        _cleanup_(freep) char *name = text_safe(status_text(c, "name"));
        _cleanup_(freep) char *figures = condition_figures(c);
        _cleanup_(freep) char *hint = strf("What to do: tlbctl explain %s", name ? name : "NAME");
        const char *reason = status_text(c, "reason");
        double since = status_number(c, "since_s");
        char duration[TEXT_NUMBER_MAX];

        (void)fprintf(r->f, "  RAISED  %s", name ? name : "-");
        if (since >= 0)
                (void)fprintf(r->f, ", for %s", text_duration(duration, since));
        (void)fputc('\n', r->f);
        if (reason && *reason)
                paragraph(r, "", 10, reason);
        if (figures)
                paragraph(r, "", 10, figures);
        if (hint)
                paragraph(r, "", 10, hint);
}

/* Why a condition that is not raised could not be judged, or NULL: it could. */
static const char *why_not_judged(const struct report *r, struct json_object *c)
{
        const char *reason = status_text(c, "reason"), *metric = status_text(c, "metric");
        struct json_object *m =
                metric ? status_object(status_object(r->status, "metrics"), metric) : NULL;
        const char *validity = status_text(m, "validity");

        if (reason && *reason)
                return reason;
        if (!validity || strcmp(validity, "ok") == 0 || strcmp(validity, "hotplug") == 0 ||
            strcmp(validity, "idle") == 0)
                return NULL;
        return status_why(r->status, metric, m);
}

static void print_quiet(const struct report *r, struct json_object *c)
{
        _cleanup_(freep) char *name = text_safe(status_text(c, "name"));
        _cleanup_(freep) char *figures = condition_figures(c);
        const char *why = why_not_judged(r, c);

        (void)fprintf(r->f, "  %-7s %-25s ", why ? "?" : "ok", name ? name : "-");
        text_wrap(r->f, 36, 36, r->width, why ? why : figures ? figures : "nothing to judge");
}

static void print_conditions(const struct report *r)
{
        struct json_object *all = status_array(r->status, "conditions");

        heading(r, "CONDITIONS");
        if (status_length(all) == 0)
                (void)fputs("  none known\n", r->f);
        for (int raised = 1; raised >= 0; raised--) {
                for (size_t i = 0; i < status_length(all); i++) {
                        struct json_object *c = json_object_array_get_idx(all, i);

                        if (status_true(c, "raised") != (bool)raised)
                                continue;
                        if (raised)
                                print_raised(r, c);
                        else
                                print_quiet(r, c);
                }
        }
}

/* Metrics */

/* A cause's share of all TLB interrupts, "41 %"; "" where it is no cause or not known. */
static const char *cause_share(const struct report *r, int id, double value,
                               char buf[static TEXT_NUMBER_MAX])
{
        struct json_object *total =
                status_object(status_object(r->status, "metrics"), metric_table[METRIC_TLB].name);
        double all = status_number(total, "value");
        char number[TEXT_NUMBER_MAX];

        *buf = '\0';
        if (id >= METRIC_TLB_NUMA_SCAN && id <= METRIC_TLB_OTHER && all > 0 && value <= all)
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.20s %%",
                               text_number(number, 100 * value / all));
        return buf;
}

/* Adds part to the list in *list, which it owns. */
static void list_add(char **list, const char *part)
{
        char *longer;

        if (!part || !*part)
                return;
        longer = strf("%s%s%s", *list ? *list : "", *list ? ", " : "", part);
        free(*list);
        *list = longer;
}

/* What stands behind value and unit: the share, the scope, a warning, the time. NULL: nothing.
 * Caller frees. */
static char *metric_extra(const struct report *r, const char *name, int id, struct json_object *m)
{
        double window_s = status_number(m, "window_s");
        char buf[TEXT_NUMBER_MAX];
        char *list = NULL;

        list_add(&list, cause_share(r, id, status_number(m, "value"), buf));
        list_add(&list, status_text(m, "scope"));
        list_add(&list, status_why(r->status, name, m));
        if (fabs(window_s - r->window_s) > r->window_s / 5) {
                _cleanup_(freep) char *over = strf("over %s", text_duration(buf, window_s));

                list_add(&list, over);
        }
        return list;
}

static void print_value(const struct report *r, const char *name, int id, struct json_object *m)
{
        _cleanup_(freep) char *unit = text_safe(status_text(m, "unit"));
        _cleanup_(freep) char *extra = metric_extra(r, name, id, m);
        char number[TEXT_NUMBER_MAX];
        size_t used = extra ? strlen(extra) : 0;
        bool titles = r->width >= WIDTH_TITLES && id >= 0;

        (void)fprintf(r->f, "%*s ", VALUE_COLUMNS, text_number(number, status_number(m, "value")));
        if (!used && !titles)
                (void)fputs(unit ? unit : "-", r->f);
        else if (EXTRA_COLUMN + used > r->width)
                (void)fprintf(r->f, "%s\n    (%s)", unit ? unit : "-", extra);
        else
                (void)fprintf(r->f, "%-*s %s", UNIT_COLUMNS, unit ? unit : "-", used ? extra : "");
        if (titles && EXTRA_COLUMN + used < TITLE_COLUMN)
                (void)fprintf(r->f, "%*s%s", (int)(TITLE_COLUMN - EXTRA_COLUMN - used), "",
                              metric_table[id].title);
        (void)fputc('\n', r->f);
}

static void print_metric(const struct report *r, const char *name, int id, struct json_object *m)
{
        _cleanup_(freep) char *safe = text_safe(name);
        const char *why = status_why(r->status, name, m);

        (void)fprintf(r->f, "  %-*s ", NAME_COLUMNS, safe ? safe : "-");
        if (!isnan(status_number(m, "value"))) {
                print_value(r, name, id, m);
                return;
        }
        (void)fprintf(r->f, "%*s ", VALUE_COLUMNS, "-");
        text_wrap(r->f, 2 + NAME_COLUMNS + 1 + VALUE_COLUMNS + 1,
                  2 + NAME_COLUMNS + 1 + VALUE_COLUMNS + 1, r->width, why ? why : "not a number");
}

/* The metrics this program does not know: of a tlbd that is newer. */
static void print_other_metrics(const struct report *r, struct json_object *metrics)
{
        bool first = true;

        json_object_object_foreach(metrics, name, m)
        {
                if (metric_find(name) >= 0)
                        continue;
                if (first)
                        heading(r, "OTHER");
                first = false;
                print_metric(r, name, -1, m);
        }
}

static void print_metrics(const struct report *r)
{
        static const struct {
                const char *heading;
                enum metric_id first, last;
        } group[] = {
                {"TLB SHOOTDOWNS BY CAUSE", METRIC_TLB, METRIC_TLB_PER_RECLAIMED},
                {"NUMA BALANCING AND TIERING", METRIC_LOCALITY, METRIC_KERNEL_NS},
                {"RECLAIM", METRIC_PAGES_RECLAIMED, METRIC_REFAULTS},
                {"PRESSURE AND TIME", METRIC_PSI_SOME, METRIC_STEAL_SHARE},
        };
        struct json_object *metrics = status_object(r->status, "metrics");

        for (size_t g = 0; g < ELEMENTSOF(group); g++) {
                heading(r, group[g].heading);
                for (enum metric_id id = group[g].first; id <= group[g].last; id++)
                        print_metric(r, metric_table[id].name, (int)id,
                                     status_object(metrics, metric_table[id].name));
        }
        if (metrics)
                print_other_metrics(r, metrics);
}

/* Nodes */

static const struct {
        const char *key, *title;
} node_column[] = {
        {"promoted_per_s", "promoted/s"},
        {"demoted_per_s", "demoted/s"},
        {"reclaimed_per_s", "reclaimed/s"},
        {"foreign_per_s", "foreign/s"},
};

static void print_node(const struct report *r, struct json_object *n)
{
        char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];

        (void)fprintf(r->f, "  %4s", text_number(a, status_number(n, "id")));
        (void)fprintf(r->f, " %5s", text_number(a, status_number(n, "cpus")));
        (void)fprintf(r->f, " %9s %9s", text_bytes(a, status_number(n, "memory_total")),
                      text_bytes(b, status_number(n, "memory_free")));
        for (size_t i = 0; i < ELEMENTSOF(node_column); i++) {
                struct json_object *m = status_object(n, node_column[i].key);

                (void)fprintf(r->f, " %11s", text_number(a, status_number(m, "value")));
        }
        (void)fputc('\n', r->f);
}

/* Distances to the other nodes; not for machines where the lines would be longer than the rest. */
static void print_distance(const struct report *r, struct json_object *n)
{
        struct json_object *distance = status_object(n, "distance");

        if (!distance || json_object_object_length(distance) == 0)
                return;
        (void)fprintf(r->f, "  distance from %.0f:", status_number(n, "id"));
        json_object_object_foreach(distance, id, d)
        {
                _cleanup_(freep) char *safe = text_safe(id);

                (void)fprintf(r->f, " %s=%" PRId64, safe ? safe : "-", json_object_get_int64(d));
        }
        (void)fputc('\n', r->f);
}

/* Why there are dashes in the table: the words of the first one of each column. */
static void print_node_gaps(const struct report *r, struct json_object *nodes)
{
        for (size_t i = 0; i < ELEMENTSOF(node_column); i++) {
                for (size_t k = 0; k < status_length(nodes); k++) {
                        struct json_object *n = json_object_array_get_idx(nodes, k);
                        struct json_object *m = status_object(n, node_column[i].key);
                        const char *validity = status_text(m, "validity");
                        _cleanup_(freep) char *line = NULL;

                        if (!isnan(status_number(m, "value")))
                                continue;
                        if (!m)
                                line = strf("%s: needs a second reading", node_column[i].title);
                        else if (validity && strcmp(validity, "unsupported") == 0)
                                line = strf("%s: this kernel does not count it for each node",
                                            node_column[i].title);
                        else
                                line = strf("%s: %s", node_column[i].title,
                                            status_why(r->status, "", m));
                        if (line)
                                paragraph(r, "  -", 4, line);
                        break;
                }
        }
}

static void print_nodes(const struct report *r)
{
        struct json_object *nodes = status_array(r->status, "nodes");
        size_t n = status_length(nodes);

        heading(r, "NODES");
        if (n == 0) {
                (void)fputs("  not known: no NUMA nodes in this kernel, or not readable\n", r->f);
                return;
        }
        (void)fprintf(r->f, "  %4s %5s %9s %9s", "node", "CPUs", "memory", "free");
        for (size_t i = 0; i < ELEMENTSOF(node_column); i++)
                (void)fprintf(r->f, " %11s", node_column[i].title);
        (void)fputc('\n', r->f);
        for (size_t i = 0; i < n; i++)
                print_node(r, json_object_array_get_idx(nodes, i));
        for (size_t i = 0; n > 1 && n <= 8 && i < n; i++)
                print_distance(r, json_object_array_get_idx(nodes, i));
        print_node_gaps(r, nodes);
}

/* Units */

#define UNITS_MAX 10 /* in the report; status.json has all */
#define UNIT_COLUMNS_NAME 30

static double unit_value(struct json_object *unit, const char *key)
{
        return status_number(status_object(unit, key), "value");
}

static bool unit_is_busy(struct json_object *unit)
{
        return unit_value(unit, "migrated_per_s") > 0 || unit_value(unit, "reclaimed_per_s") > 0 ||
               unit_value(unit, "psi_memory_some_avg10") > 0;
}

static void print_unit(const struct report *r, struct json_object *unit)
{
        static const struct {
                const char *key;
                int columns;
                double scale; /* shares are shown in % */
        } column[] = {
                {"migrated_per_s", 11, 1},       {"migrated_share", 6, 100},
                {"reclaimed_per_s", 11, 1},      {"reclaimed_share", 6, 100},
                {"psi_memory_some_avg10", 8, 1},
        };
        _cleanup_(freep) char *name = text_safe(status_text(unit, "name"));
        char number[TEXT_NUMBER_MAX];

        (void)fprintf(r->f, "  %-*s", UNIT_COLUMNS_NAME, name ? name : "-");
        if (name && strlen(name) > UNIT_COLUMNS_NAME)
                (void)fprintf(r->f, "\n%*s", 2 + UNIT_COLUMNS_NAME, "");
        for (size_t i = 0; i < ELEMENTSOF(column); i++)
                (void)fprintf(
                        r->f, " %*s", column[i].columns,
                        text_number(number, unit_value(unit, column[i].key) * column[i].scale));
        (void)fputc('\n', r->f);
}

static bool unit_is_known(struct json_object *unit)
{
        return !isnan(unit_value(unit, "migrated_per_s")) ||
               !isnan(unit_value(unit, "reclaimed_per_s"));
}

/* The busiest units; the others are counted only. */
static void print_unit_list(const struct report *r, struct json_object *list)
{
        size_t shown = 0, known = 0, n = status_length(list);

        for (size_t i = 0; i < n; i++) {
                struct json_object *unit = json_object_array_get_idx(list, i);

                known += unit_is_known(unit);
                if (!r->all_units && (shown == UNITS_MAX || !unit_is_busy(unit)))
                        continue;
                if (shown == 0)
                        (void)fprintf(r->f, "  %-*s %11s %6s %11s %6s %8s\n", UNIT_COLUMNS_NAME,
                                      "unit", "migrated/s", "%", "reclaimed/s", "%", "stalls %");
                print_unit(r, unit);
                shown++;
        }
        if (!r->all_units && known > shown)
                (void)fprintf(r->f, "  %zu %s with fewer pages, or none\n", known - shown,
                              shown > 0    ? "more"
                              : known == 1 ? "unit"
                                           : "units");
        if (!r->all_units && known < n && known <= shown)
                (void)fprintf(r->f, "  %zu of which these counters are not known\n", n - known);
}

static void print_units(const struct report *r)
{
        struct json_object *units = status_object(r->status, "units");
        struct json_object *list = status_array(units, "list");
        _cleanup_(freep) char *state = text_safe(status_text(units, "state"));

        if (!units) /* of a tlbd that does not know them */
                return;
        heading(r, "UNITS (of systemd, by cgroup)");
        if (state && strcmp(state, "off") == 0)
                (void)fputs("  not read: MaxUnits is 0\n", r->f);
        else if (state && strcmp(state, "ok") != 0)
                (void)fprintf(r->f, "  not known: no cgroup v2 in /sys/fs/cgroup (%s)\n", state);
        else if (status_length(list) == 0)
                (void)fputs("  needs a second reading\n", r->f);
        else
                print_unit_list(r, list);
}

/* Knobs */

static void print_cell(const struct report *r, int columns, const char *text)
{
        _cleanup_(freep) char *safe = text_safe(text);

        (void)fprintf(r->f, " %-*s", columns, safe ? safe : "-");
}

/* The reasons in the table, each once; a row refers to its own by number. */
struct reasons {
        const char *text[16];
        size_t n;
};

/* Number of this reason, from 1 on; 0: there is no room for it. */
static size_t reasons_find(struct reasons *all, const char *text)
{
        for (size_t i = 0; i < all->n; i++)
                if (strcmp(all->text[i], text) == 0)
                        return i + 1;
        if (all->n == ELEMENTSOF(all->text))
                return 0;
        all->text[all->n] = text;
        return ++all->n;
}

static void print_knob(const struct report *r, const char *key, struct json_object *knob,
                       struct reasons *reasons)
{
        const char *source = status_text(knob, "source"), *path = status_text(knob, "path");
        const char *reason = status_text(knob, "reason"), *state = status_text(knob, "state");
        const char *original = status_text(knob, "original");
        size_t number = reason && *reason ? reasons_find(reasons, reason) : 0;
        char *detail = NULL;

        (void)fputc(' ', r->f);
        print_cell(r, 24, key);
        print_cell(r, 10, status_text(knob, "value"));
        print_cell(r, 10, status_text(knob, "wanted"));
        /* Before a change of ours the default is what the kernel has. */
        print_cell(r, 10, original ? original : status_text(knob, "value"));
        print_cell(r, 0, state);
        if (number > 0)
                (void)fprintf(r->f, " [%zu]", number);
        (void)fputc('\n', r->f);
        list_add(&detail, path);
        if (source && strcmp(source, "default") != 0) {
                _cleanup_(freep) char *by = strf("set by %s", source);

                list_add(&detail, by);
        }
        if (reason && *reason && number == 0)
                list_add(&detail, reason);
        if (detail)
                paragraph(r, "", 6, detail);
        free(detail);
}

static void print_knobs(const struct report *r)
{
        struct json_object *knobs = status_object(r->status, "knobs");
        struct reasons reasons = {.n = 0};

        heading(r, "SETTINGS (default: what the kernel held before tlbd)");
        if (!knobs || json_object_object_length(knobs) == 0) {
                (void)fputs("  none known\n", r->f);
                return;
        }
        (void)fprintf(r->f, "  %-24s %-10s %-10s %-10s %s\n", "key", "value", "wanted", "default",
                      "state");
        json_object_object_foreach(knobs, key, knob) print_knob(r, key, knob, &reasons);
        for (size_t i = 0; i < reasons.n; i++) {
                char mark[32];

                (void)snprintf(mark, sizeof(mark), "  [%zu]", i + 1);
                paragraph(r, mark, 6, reasons.text[i]);
        }
}

/* Own cost, and what is lacking */

static void print_self(const struct report *r)
{
        struct json_object *self = status_object(r->status, "self");
        char cpu[TEXT_NUMBER_MAX], percent[TEXT_NUMBER_MAX], budget[TEXT_NUMBER_MAX],
                rss[TEXT_NUMBER_MAX];
        _cleanup_(freep) char *line =
                strf("%s of CPU time, %s %% of one CPU (budget %s %%), %s resident",
                     text_duration(cpu, status_number(self, "cpu_s")),
                     text_number(percent, status_number(self, "cpu_percent")),
                     text_number(budget, status_number(self, "budget_percent")),
                     text_bytes(rss, status_number(self, "rss_bytes")));

        heading(r, "COST OF TLBD ITSELF");
        if (line)
                paragraph(r, "", 2, line);
}

static void print_sources(const struct report *r)
{
        struct json_object *sources = status_object(r->status, "sources");
        char cost[TEXT_NUMBER_MAX], interval[TEXT_NUMBER_MAX];

        if (!sources || json_object_object_length(sources) == 0)
                return;
        (void)fprintf(r->f, "  %-10s %12s %12s  %s\n", "state", "CPU us", "every", "file");
        json_object_object_foreach(sources, name, s)
        {
                (void)name;
                (void)fputc(' ', r->f);
                print_cell(r, 10, status_text(s, "state"));
                (void)fprintf(r->f, " %12s %12s  ",
                              text_number(cost, round(status_number(s, "cost_us") * 10) / 10),
                              text_duration(interval, status_number(s, "interval_s")));
                text_wrap(r->f, 40, 40, r->width, status_text(s, "path"));
        }
}

static void print_notes(const struct report *r)
{
        struct json_object *notes = status_array(r->status, "notes");

        heading(r, "WHAT IS LACKING HERE, AND WHY IT MATTERS");
        if (status_length(notes) == 0)
                (void)fputs("  nothing\n", r->f);
        for (size_t i = 0; i < status_length(notes); i++)
                paragraph(r, "  -", 4, json_object_get_string(json_object_array_get_idx(notes, i)));
}

static struct report report_of(FILE *f, struct json_object *status, unsigned width)
{
        struct json_object *tlb =
                status_object(status_object(status, "metrics"), metric_table[METRIC_TLB].name);

        return (struct report){
                .f = f,
                .status = status,
                .width = width < WIDTH_MIN   ? WIDTH_MIN
                         : width > WIDTH_MAX ? WIDTH_MAX
                                             : width,
                .window_s = status_number(tlb, "window_s"),
                .bold = fileno(f) >= 0 && isatty(fileno(f)),
        };
}

void report_print_units(FILE *f, struct json_object *status, unsigned width)
{
        struct json_object *units = status_object(status, "units");
        struct report r = report_of(f, status, width);
        double left_out = status_number(units, "left_out");
        double window_s = status_number(units, "window_s");
        char duration[TEXT_NUMBER_MAX];

        r.all_units = true;
        print_header(&r);
        if (!units)
                (void)fputs("this tlbd does not know units\n", f);
        print_units(&r);
        if (left_out > 0)
                (void)fprintf(f, "  \"other\" has %.0f smaller units too (MaxUnits)\n", left_out);
        if (window_s > 0)
                (void)fprintf(f, "  over %s; a dash: not counted by this kernel, or new\n",
                              text_duration(duration, window_s));
}

void report_print(FILE *f, struct json_object *status, unsigned width)
{
        struct report r = report_of(f, status, width);

        print_header(&r);
        print_config_error(&r);
        print_conditions(&r);
        print_metrics(&r);
        print_nodes(&r);
        print_units(&r);
        print_knobs(&r);
        print_self(&r);
        print_sources(&r);
        print_notes(&r);
}
