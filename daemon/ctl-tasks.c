/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl.h"

#include "source.h"
#include "status-read.h"
#include "taskstats.h"
#include "text.h"

#include <math.h>
#include <string.h>

static double delay_ms(struct json_object *task, const char *kind)
{
        struct json_object *delays = status_object(task, "delays");
        struct json_object *d = delays ? status_object(delays, kind) : NULL;

        return d ? status_number(d, "window_ms") : NAN;
}

/* What a task waited for memory: everything but interrupts. */
static double waited_ms(struct json_object *task)
{
        double sum = 0;

        for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                double ms = delay_ms(task, delay_name(k));

                if (k != DELAY_IRQ && !isnan(ms))
                        sum += ms;
        }
        return sum;
}

static int compare_waited(const void *a, const void *b)
{
        double x = waited_ms(*(struct json_object *const *)a);
        double y = waited_ms(*(struct json_object *const *)b);

        return (x < y) - (x > y);
}

/* --unit takes the name of a unit or the path of its cgroup. */
static bool wanted(const struct ctl *c, struct json_object *task)
{
        const char *unit = status_text(task, "unit");
        const char *name = unit ? strrchr(unit, '/') : NULL;

        return !c->unit || (unit && strcmp(unit, c->unit) == 0) ||
               (name && strcmp(name + 1, c->unit) == 0);
}

/* The wanted tasks, those that waited longest first, -n of them. A new reference. */
static struct json_object *pick(const struct ctl *c, struct json_object *list)
{
        struct json_object *picked = json_object_new_array(), *first = json_object_new_array();

        for (size_t i = 0; i < status_length(list); i++) {
                struct json_object *task = json_object_array_get_idx(list, i);

                if (wanted(c, task))
                        json_object_array_add(picked, json_object_get(task));
        }
        json_object_array_sort(picked, compare_waited);
        for (size_t i = 0; i < status_length(picked) && i < c->lines; i++)
                json_object_array_add(first, json_object_get(json_object_array_get_idx(picked, i)));
        json_object_put(picked);
        return first;
}

static void print_task(struct json_object *task)
{
        _cleanup_(freep) char *comm = text_safe(status_text(task, "comm"));
        _cleanup_(freep) char *unit = text_safe(status_text(task, "unit"));
        double pid = status_number(task, "pid");

        if (isnan(pid))
                printf("%8s %-15.15s", "ended", comm ? comm : "-");
        else
                printf("%8.0f %-15.15s", pid, comm ? comm : "-");
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                double ms = delay_ms(task, delay_name(k));
                char buf[TEXT_NUMBER_MAX];

                printf(" %10s", isnan(ms) ? "-" : text_number(buf, ms));
        }
        printf("  %s\n", unit && *unit ? unit : "-");
}

static void print_tasks(struct json_object *list)
{
        printf("%8s %-15s", "PID", "COMMAND");
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++)
                printf(" %10s", delay_name(k));
        printf("  UNIT\n");
        for (size_t i = 0; i < status_length(list); i++)
                print_task(json_object_array_get_idx(list, i));
}

static const char *why_not(const char *state)
{
        if (strcmp(state, source_state_name(SOURCE_OFF)) == 0)
                return "delay accounting is off (kernel.task_delayacct is 0); "
                       "\"tlbctl set TaskDelayAccounting=yes\" turns it on";
        if (strcmp(state, source_state_name(SOURCE_DENIED)) == 0)
                return "tlbd lacks CAP_NET_ADMIN";
        if (strcmp(state, source_state_name(SOURCE_ABSENT)) == 0)
                return "this kernel has no taskstats (CONFIG_TASKSTATS, CONFIG_TASK_DELAY_ACCT)";
        if (strcmp(state, source_state_name(SOURCE_UNREAD)) == 0)
                return "tlbd has not asked for delays yet (UnitIntervalSec)";
        return "tlbd does not say whether it knows delays";
}

int ctl_tasks(const struct ctl *c, int argc, char **argv)
{
        struct json_object *status = NULL, *tasks, *list;
        const char *state;
        int code;

        (void)argv;
        if (argc > 0) {
                ctl_error("tasks takes no operand; --unit NAME picks a unit");
                return EXIT_USAGE;
        }
        code = ctl_open_status(c, &status);
        if (code != EXIT_FINE)
                return code;
        tasks = status_object(status, "tasks");
        state = tasks ? status_text(tasks, "state") : NULL;
        if (!state || strcmp(state, source_state_name(SOURCE_OK)) != 0) {
                ctl_error("unsupported: %s", why_not(state ? state : ""));
                json_object_put(status);
                return EXIT_CANNOT_READ;
        }
        list = pick(c, status_array(tasks, "list"));
        if (c->json)
                code = ctl_print_json(list);
        else
                print_tasks(list);
        if (status_number(tasks, "left_out") > 0)
                ctl_error("%.0f more processes of these units were not asked about",
                          status_number(tasks, "left_out"));
        if (status_number(tasks, "exits_lost") > 0)
                ctl_error("some tasks that ended were not heard of (%.0f times)",
                          status_number(tasks, "exits_lost"));
        json_object_put(list);
        json_object_put(status);
        return code;
}
