/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The configuration: tlbd.conf and its drop-ins, read in systemd's order of precedence
 * (tlbd.conf(5)), checked as a whole. A configuration is valid or it is refused; there is no
 * half of one.
 */

#include "util.h"

enum config_key {
#define KEY(id, ...) KEY_##id,
#include "keys.def"
#undef KEY
        KEY_COUNT
};

enum key_type {
        KEY_TYPE_UINT,
        KEY_TYPE_REAL,
        KEY_TYPE_BOOL,
        KEY_TYPE_KNOB_UINT,
        KEY_TYPE_KNOB_BOOL,
        KEY_TYPE_KNOB_MIGRATE
};

struct key_info {
        const char *section;
        const char *name;
        enum key_type type;
        double min, max; /* inclusive */
        const char *default_text;
        const char *unit; /* "" where there is none */
        const char *text; /* what it does, as in tlbd.conf(5) */
};

/* KEY_COUNT entries, indexed by enum config_key. */
extern const struct key_info key_table[];

struct config_value {
        bool keep;     /* a knob that is left alone */
        double number; /* UINT, REAL, KNOB_UINT: the value; BOOL, KNOB_BOOL: 0 or 1;
                        * KNOB_MIGRATE: 0 always, 1 auto */
        char *file;    /* where it was set; NULL: built-in default. Owned. */
        unsigned line; /* 1 is the first line; 0 with the built-in default */
};

struct config {
        struct config_value value[KEY_COUNT];
};

/* What was wrong with a configuration, for a person: which file, line, key, and why. */
struct config_error {
        char *file; /* owned; NULL where it is not about one file */
        unsigned line;
        char *key;    /* owned; NULL where it is not about one key */
        char *reason; /* owned; one sentence that says what is wrong and what is allowed */
};

void config_done(struct config *c);
void config_error_done(struct config_error *e);

/* Index of the key with this exact name, or -ENOENT. */
int config_key_find(const char *name);

/* Parses text (no surrounding blanks allowed, "keep" for knobs) as a value of key into *ret
 * (keep and number only). -EINVAL or -ERANGE, with the reason in *ret_reason (caller frees). */
_must_check_ int config_value_parse(enum config_key key, const char *text, struct config_value *ret,
                                    char **ret_reason);

/* What a value of this key may be: "keep, or a whole number from 1 to 31 (folios)". Caller frees;
 * NULL: out of memory. */
char *config_value_allowed(enum config_key key);

/* The value as it would stand in a file. Caller frees; NULL: out of memory. */
char *config_value_format(enum config_key key, const struct config_value *v);

/*
 * Reads the configuration below root ("" for the live system):
 *   the main file: the first that exists of /etc/tlbd/tlbd.conf, /run/tlbd/tlbd.conf and
 *   /usr/lib/tlbd/tlbd.conf, then every *.conf of {/etc,/run,/usr/lib}/tlbd/tlbd.conf.d sorted by
 *   file name, a name in /etc hiding the same in /run and /usr/lib; an empty file or a link to
 *   /dev/null masks. A later setting wins. None of them need exist.
 * extra_path, if not NULL, is read after all of them ("check what this file would do"), and
 * skip_path, if not NULL, is left out (it is about to be replaced). With both, where skip_path is
 * one of the files above, extra_path is read in its place. extra_path must be a regular file of 1
 * MiB at most; its owner and mode are not looked at. A file that is not a regular file, is writable
 * by group or others, or (for root "") is not owned by root is refused, as are an unknown section
 * or key, a key in the wrong section or twice in one file, a bad or out-of-range value, a line that
 * is neither Key=value (or Key = value), [Section], comment (# or ; in the first column) nor blank,
 * an inline comment, quotes, a NUL or carriage return, a line above 4096 bytes, a file above 1 MiB,
 * and NumaScanPeriodMinMs above NumaScanPeriodMaxMs. 0: *ret is filled, config_done() it. Negative
 * errno: *ret is untouched and *ret_error says why, config_error_done() it.
 */
_must_check_ int config_load(const char *root, const char *extra_path, const char *skip_path,
                             struct config *ret, struct config_error *ret_error);

/* What to take instead of a file, for config_load_with(). */
struct config_override {
        const char *path; /* the file it stands for (root included), whether that exists or not;
                           * NULL: it is read after all others */
        const char *file; /* this file is read instead, or */
        const char *text; /* this is its content; both NULL: as if path did not exist */
};

/* config_load() with several files replaced. n is 32 at most. An override of a path that is none
 * of the files above is read after all of them. */
_must_check_ int config_load_with(const char *root, const struct config_override *override,
                                  size_t n, struct config *ret, struct config_error *ret_error);

/* Reads one file over the built-in defaults (tlbctl check-config FILE); as extra_path above. */
_must_check_ int config_load_file(const char *path, struct config *ret,
                                  struct config_error *ret_error);

/* "file:line: key: reason" without the parts that are unknown. Caller frees. */
char *config_error_format(const struct config_error *e);
