/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl.h"

#include "status-read.h"
#include "text.h"
#include "tree.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *state_of(struct json_object *o)
{
        const char *s = status_text(o, "state");

        return s ? s : "unread";
}

static void print_rows(struct json_object *interrupts)
{
        json_object_object_foreach(status_object(interrupts, "rows"), label, row)
        {
                char buf[TEXT_NUMBER_MAX];
                double sum = status_number(row, "sum");

                if (isnan(sum))
                        printf("  %-6s %s\n", label, state_of(row));
                else
                        printf("  %-6s %s\n", label, text_number(buf, sum));
        }
}

static void print_counters(struct json_object *vmstat)
{
        struct json_object *counters = status_object(vmstat, "counters");

        for (enum vmstat_id id = 0; id < VM_COUNT; id++) {
                char buf[TEXT_NUMBER_MAX];
                double v = counters ? status_number(counters, vmstat_name(id)) : NAN;

                if (!isnan(v))
                        printf("  %-30s %s\n", vmstat_name(id), text_number(buf, v));
        }
}

static void print_nodes(struct json_object *nodes)
{
        for (size_t i = 0; i < status_length(nodes); i++) {
                struct json_object *n = json_object_array_get_idx(nodes, i);
                struct json_object *cpus = status_array(n, "cpus");
                char id[TEXT_NUMBER_MAX], total[TEXT_NUMBER_MAX], free_text[TEXT_NUMBER_MAX];

                printf("  node %s: ", text_number(id, status_number(n, "id")));
                if (cpus)
                        printf("%zu CPUs", status_length(cpus));
                else
                        printf("CPUs unknown");
                printf(", memory %s, free %s\n",
                       text_bytes(total, status_number(n, "memory_total")),
                       text_bytes(free_text, status_number(n, "memory_free")));
        }
}

static void print_knobs(struct json_object *knobs)
{
        json_object_object_foreach(knobs, key, knob)
        {
                const char *value = status_text(knob, "value"), *path = status_text(knob, "path");

                printf("  %-26s %s%s%s\n", key, value ? value : state_of(knob), path ? "  " : "",
                       path ? path : "");
        }
}

static void print_tree(struct json_object *o)
{
        struct json_object *interrupts = status_object(o, "interrupts");
        struct json_object *vmstat = status_object(o, "vmstat");

        printf("/proc/interrupts: %s, %zu CPUs\n", state_of(interrupts),
               status_length(status_array(interrupts, "cpus")));
        print_rows(interrupts);
        printf("/proc/vmstat: %s\n", state_of(vmstat));
        print_counters(vmstat);
        printf("Nodes:\n");
        print_nodes(status_array(o, "nodes"));
        printf("Settings:\n");
        print_knobs(status_object(o, "knobs"));
}

int ctl_read(const struct ctl *c, int argc, char **argv)
{
        struct json_object *o = NULL;
        int status, r;

        (void)argv;
        if (argc > 0) {
                ctl_error("read takes its tree as --root DIR");
                return EXIT_USAGE;
        }
        r = tree_read(c->root, &o);
        if (r < 0 && !o) {
                ctl_error("%s: %s", *c->root ? c->root : "/", strerror(-r));
                return EXIT_CANNOT_READ;
        }
        status = EXIT_FINE;
        if (c->json)
                status = ctl_print_json(o);
        else
                print_tree(o);
        json_object_put(o);
        if (r == -ENODATA) {
                ctl_error("%s: no file of /proc or /sys in it can be read; is it the top of the "
                          "tree?",
                          *c->root ? c->root : "/");
                status = EXIT_CANNOT_READ;
        }
        return status;
}

static void print_metrics(struct json_object *metrics)
{
        json_object_object_foreach(metrics, name, m)
        {
                const char *validity = status_text(m, "validity"), *unit = status_text(m, "unit");
                const char *scope = status_text(m, "scope");
                double v = status_number(m, "value");
                char buf[TEXT_NUMBER_MAX];

                if (isnan(v))
                        printf("%-34s %12s\n", name, validity ? validity : "-");
                else
                        printf("%-34s %12s %s%s%s%s\n", name, text_number(buf, v), unit ? unit : "",
                               validity && strcmp(validity, "ok") != 0 ? ", " : "",
                               validity && strcmp(validity, "ok") != 0 ? validity : "",
                               scope ? " (all causes)" : "");
        }
}

int ctl_diff(const struct ctl *c, int argc, char **argv)
{
        _cleanup_(freep) char *reason = NULL;
        struct json_object *o = NULL;
        int status = EXIT_FINE, r;

        if (argc != 2) {
                ctl_error("diff takes two directories, the earlier one first");
                return EXIT_USAGE;
        }
        r = tree_diff(argv[0], argv[1], c->interval_s, &o, &reason);
        if (r < 0) {
                ctl_error("%s, %s: %s", argv[0], argv[1], reason ? reason : strerror(-r));
                return r == -ESTALE ? EXIT_CONDITION : EXIT_CANNOT_READ;
        }
        if (isnan(status_number(o, "interval_s")))
                ctl_error("the time between the trees is not known, so rates are left out; "
                          "--interval-sec gives it");
        if (c->json)
                status = ctl_print_json(o);
        else
                print_metrics(status_object(o, "metrics"));
        json_object_put(o);
        return status;
}

int ctl_snapshot(const struct ctl *c, int argc, char **argv)
{
        _cleanup_(freep) char *path = NULL;
        int r;

        if (argc != 1) {
                ctl_error("snapshot takes the directory to make");
                return EXIT_USAGE;
        }
        r = tree_snapshot(c->root, argv[0], &path);
        if (r < 0) {
                ctl_error("%s: %s", path ? path : argv[0],
                          r == -EEXIST ? "exists and is not empty" : strerror(-r));
                return EXIT_CANNOT_READ;
        }
        return EXIT_FINE;
}
