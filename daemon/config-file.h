/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One configuration file: whether it may be read, its lines, and its values. Internal to config. */

#include "config.h"

/* CHECK_MODE: not writable by group or others; CHECK_OWNER: owned by root. */
enum { CHECK_MODE = 1, CHECK_OWNER = 2 };

/* Reads the file over what *c holds. -ENOENT: it does not exist. A link to /dev/null is empty. */
_must_check_ int config_file_read(struct config *c, const char *path, unsigned checks,
                                  struct config_error *e);

/* Takes text for the content of the file at path, over what *c holds. */
_must_check_ int config_file_parse(struct config *c, const char *path, const char *text, size_t len,
                                   struct config_error *e);

/* Fills *e (what was in it is lost) and returns error, so that a caller can return it at once. */
int config_fail(struct config_error *e, int error, const char *file, unsigned line, const char *key,
                const char *format, ...) _printf_(6, 7);
