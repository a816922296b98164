/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The verbs of tlbctl(1). Each returns its exit status after saying on stderr what went wrong. */

#include "util.h"

#include <json-c/json.h>

enum exit_status {
        EXIT_FINE = 0,
        EXIT_CONDITION =
                1, /* a condition is raised, or a difference, value or reload was refused */
        EXIT_USAGE = 2,
        EXIT_CANNOT_READ = 3, /* or write */
};

struct ctl {
        const char *root; /* "" for the live system */
        bool json;
        bool runtime;      /* set --runtime */
        bool units;        /* status --units */
        const char *unit;  /* tasks --unit; NULL: not given */
        unsigned lines;    /* tasks -n */
        double interval_s; /* diff --interval-sec; 0: not given */
};

/* argv holds argc operands of the verb. */
typedef int (*ctl_verb)(const struct ctl *c, int argc, char **argv);

int ctl_get(const struct ctl *c, int argc, char **argv);
int ctl_set(const struct ctl *c, int argc, char **argv);
int ctl_unset(const struct ctl *c, int argc, char **argv);
int ctl_check_config(const struct ctl *c, int argc, char **argv);
int ctl_restore(const struct ctl *c, int argc, char **argv);
int ctl_tasks(const struct ctl *c, int argc, char **argv);
int ctl_read(const struct ctl *c, int argc, char **argv);
int ctl_diff(const struct ctl *c, int argc, char **argv);
int ctl_snapshot(const struct ctl *c, int argc, char **argv);

/* "tlbctl: " and a line on stderr. */
void ctl_error(const char *format, ...) _printf_(1, 2);

/* Prints o as JSON, or says why it could not. */
int ctl_print_json(struct json_object *o);

/* Opens status.json. 0, or an exit status after a message. *ret is a new reference. */
int ctl_open_status(const struct ctl *c, struct json_object **ret);

/* Checks that stdout took everything. */
int ctl_finish(int status);
