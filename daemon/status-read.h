/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The readers' side of status.json (status.h): loads it, says whether it is fresh, takes it apart.
 * Every getter copes with a member that is missing or of another type: it is unknown then. */

#include "util.h"

#include <json-c/json.h>

/*
 * Loads status.json. 0: *ret is a new reference. Negative errno, with a sentence for a person in
 * *ret_reason (caller frees): -ENOENT: there is none; -EBADMSG: not JSON, cut short or not ours;
 * -EPROTO: of another version; or what open or read said.
 */
_must_check_ int status_read(const char *path, struct json_object **ret, char **ret_reason);

/*
 * 0: written by a process that is there, no longer than three intervals and 2 s before now_ns
 * (CLOCK_MONOTONIC). Else -ESTALE, with a sentence in *ret_reason (caller frees).
 */
_must_check_ int status_fresh(struct json_object *status, uint64_t now_ns, char **ret_reason);

/* A number; NAN: unknown or null. */
double status_number(struct json_object *object, const char *key);
/* A string; NULL: unknown or null. Lives as long as object. */
const char *status_text(struct json_object *object, const char *key);
bool status_true(struct json_object *object, const char *key);
/* An object or array; NULL: unknown or null. Lives as long as object. */
struct json_object *status_object(struct json_object *object, const char *key);
struct json_object *status_array(struct json_object *object, const char *key);
/* Elements of an array; 0 for NULL. */
size_t status_length(struct json_object *array);

/*
 * Why a metric of status (by its name) is null, or what is to be kept in mind with its value, in
 * a few plain words; NULL: nothing. metric is what status.metrics has under that name. Static.
 */
const char *status_why(struct json_object *status, const char *name, struct json_object *metric);

/* What a validity means, one row for each; used by tlbd(8) too. The last row's name is NULL. */
struct validity_text {
        const char *name, *text;
};
extern const struct validity_text validity_texts[];
