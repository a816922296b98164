/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The picture "tlbctl top" shows, drawn from a status object into memory: no terminal is needed,
 * any size will do, what does not fit is left out.
 */

#include "util.h"

#include <json-c/json.h>

enum canvas_style {
        CANVAS_PLAIN,
        CANVAS_BOLD,
        CANVAS_ALARM, /* a raised condition, a warning */
        CANVAS_DIM,
        CANVAS_HEAT, /* ch is '0' (no interrupt) to '8' (as many as the busiest CPU) */
};

struct cell {
        char ch; /* printable ASCII */
        unsigned char style;
};

struct canvas {
        unsigned rows, cols;
        struct cell *cell; /* rows * cols, row by row. Owned. */
};

/* A blank canvas; rows and cols may be 0. -ENOMEM. */
_must_check_ int canvas_init(struct canvas *c, unsigned rows, unsigned cols);
void canvas_done(struct canvas *c);

struct top_view {
        struct json_object *status;
        double age_s;        /* since the reading was written; NAN: unknown */
        const char *warning; /* shown instead of conditions that may be out of date; NULL: none */
        bool keys;           /* a keyboard is there: say which keys do what */
};

/* -ENOMEM: the picture is not complete. */
_must_check_ int top_draw(struct canvas *c, const struct top_view *v);

/* As text: lines without trailing blanks, and no empty lines at the end. No interrupt is '.'. */
void canvas_print(FILE *f, const struct canvas *c);
