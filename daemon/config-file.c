/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config-file.h"

#include <errno.h>
#include <fcntl.h>
#include <libeconf.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX 1048576 /* 1 MiB */
#define LINE_LENGTH_MAX 4096

void config_error_done(struct config_error *e)
{
        free(e->file);
        free(e->key);
        free(e->reason);
        *e = (struct config_error){0};
}

char *config_error_format(const struct config_error *e)
{
        const char *reason = e->reason ? e->reason : "out of memory";
        const char *key = e->key ? e->key : "", *colon = e->key ? ": " : "";

        if (!e->file)
                return strf("%s%s%s", key, colon, reason);
        if (e->line == 0)
                return strf("%s: %s%s%s", e->file, key, colon, reason);
        return strf("%s:%u: %s%s%s", e->file, e->line, key, colon, reason);
}

int config_fail(struct config_error *e, int error, const char *file, unsigned line, const char *key,
                const char *format, ...)
{
        va_list ap;

        *e = (struct config_error){
                .file = file ? strdup(file) : NULL,
                .line = line,
                .key = key ? strdup(key) : NULL,
        };
        va_start(ap, format);
        if (vasprintf(&e->reason, format, ap) < 0)
                e->reason = NULL;
        va_end(ap);
        return error;
}

static bool is_link_to_dev_null(const char *path)
{
        char target[sizeof("/dev/null") + 1];
        ssize_t n = readlink(path, target, sizeof(target));

        return n == sizeof("/dev/null") - 1 && memcmp(target, "/dev/null", (size_t)n) == 0;
}

static int check_stat(const char *path, const struct stat *st, unsigned checks,
                      struct config_error *e)
{
        if (!S_ISREG(st->st_mode))
                return config_fail(e, -EINVAL, path, 0, NULL, "not a regular file");
        if ((checks & CHECK_MODE) && (st->st_mode & (S_IWGRP | S_IWOTH)))
                return config_fail(e, -EPERM, path, 0, NULL,
                                   "writable by group or others (mode %04o): anybody there could "
                                   "tune this machine; chmod go-w it",
                                   (unsigned)st->st_mode & 07777);
        if ((checks & CHECK_OWNER) && st->st_uid != 0)
                return config_fail(e, -EPERM, path, 0, NULL,
                                   "owned by user %u instead of root; chown root it",
                                   (unsigned)st->st_uid);
        if (st->st_size > FILE_SIZE_MAX)
                return config_fail(e, -EFBIG, path, 0, NULL, "larger than 1 MiB");
        return 0;
}

/* 1: read; 0: a link to /dev/null, nothing to read; else negative errno. O_NONBLOCK: opening a FIFO
 * must not wait for a writer. */
static int text_read(const char *path, unsigned checks, struct buffer *ret, struct config_error *e)
{
        _cleanup_(closep) int fd = -1;
        struct stat st;
        int r;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && errno == ELOOP) {
                if (is_link_to_dev_null(path))
                        return 0;
                return config_fail(e, -ELOOP, path, 0, NULL,
                                   "a symbolic link (only one to /dev/null is allowed, to mask)");
        }
        if (fd < 0)
                return config_fail(e, -errno, path, 0, NULL, "cannot open: %m");
        if (fstat(fd, &st) < 0)
                return config_fail(e, -errno, path, 0, NULL, "cannot stat: %m");
        r = check_stat(path, &st, checks, e);
        if (r < 0)
                return r;
        r = buffer_pread(ret, fd);
        if (r < 0)
                return config_fail(e, r, path, 0, NULL, "cannot read: %s", strerror(-r));
        if (ret->len > FILE_SIZE_MAX)
                return config_fail(e, -EFBIG, path, 0, NULL, "larger than 1 MiB");
        return 1;
}

/* Lines */

struct assignment {
        enum config_key key;
        unsigned line;
};

struct scan {
        const char *path;
        unsigned line;
        bool in_section;
        struct assignment found[KEY_COUNT];
        size_t n_found;
};

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

/* Number of single-character insertions, deletions and replacements between two short names. */
static size_t edit_distance(const char *a, const char *b)
{
        size_t row[64], n = strlen(b);

        if (n >= ELEMENTSOF(row) || strlen(a) >= ELEMENTSOF(row))
                return SIZE_MAX;
        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 1; a[i - 1]; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        size_t best = diagonal + (a[i - 1] != b[j - 1]);

                        diagonal = row[j];
                        if (row[j - 1] + 1 < best)
                                best = row[j - 1] + 1;
                        if (row[j] + 1 < best)
                                best = row[j] + 1;
                        row[j] = best;
                }
        }
        return row[n];
}

/* The key that was probably meant, or NULL. */
static const char *key_suggest(const char *name)
{
        size_t best = 4;
        const char *found = NULL;

        for (size_t i = 0; i < KEY_COUNT; i++) {
                size_t d = edit_distance(name, key_table[i].name);

                if (strcasecmp(name, key_table[i].name) == 0)
                        return key_table[i].name;
                if (d < best) {
                        best = d;
                        found = key_table[i].name;
                }
        }
        return found;
}

static int fail_unknown_key(const struct scan *s, const char *name, struct config_error *e)
{
        const char *meant = key_suggest(name);

        return config_fail(e, -EINVAL, s->path, s->line, name, "no such key%s%s%s",
                           meant ? "; did you mean " : " (tlbd.conf(5) lists them)",
                           meant ? meant : "", meant ? "?" : "");
}

static int scan_section(struct scan *s, const char *text, struct config_error *e)
{
        size_t len = strlen(text);

        for (size_t i = 0; i < KEY_COUNT; i++) {
                const char *name = key_table[i].section;

                if (len == strlen(name) + 2 && text[len - 1] == ']' &&
                    memcmp(text + 1, name, len - 2) == 0) {
                        s->in_section = true;
                        return 0;
                }
        }
        return config_fail(e, -EINVAL, s->path, s->line, NULL,
                           "\"%.100s\" is no section of this file: [Monitor], [Conditions] and "
                           "[Tuning] are",
                           text);
}

/* Refuses what libeconf would take off the value, or read as its continuation. */
static int scan_value(const struct scan *s, const char *key, bool spaced, const char *value,
                      struct config_error *e)
{
        size_t len = strlen(value);

        if (spaced != is_blank(value[0]))
                return config_fail(e, -EINVAL, s->path, s->line, key,
                                   "blank on one side of \"=\" only: write %s=value or %s = value",
                                   key, key);
        if (len > 0 && is_blank(value[len - 1]))
                return config_fail(e, -EINVAL, s->path, s->line, key,
                                   "blank after the value \"%.100s\"", value);
        if (strpbrk(value, "#;"))
                return config_fail(e, -EINVAL, s->path, s->line, key,
                                   "a comment must be on a line of its own");
        if (strpbrk(value, "\"'\\"))
                return config_fail(e, -EINVAL, s->path, s->line, key,
                                   "quotes and backslashes are not allowed");
        return 0;
}

static int scan_assignment(struct scan *s, char *text, char *equals, struct config_error *e)
{
        char *end = equals;
        int key;

        if (!s->in_section)
                return config_fail(e, -EINVAL, s->path, s->line, NULL,
                                   "setting before the first [Section] line");
        while (end > text && is_blank(end[-1]))
                end--;
        if (end == text)
                return config_fail(e, -EINVAL, s->path, s->line, NULL, "no key before \"=\"");
        *end = '\0';
        key = config_key_find(text);
        if (key < 0)
                return fail_unknown_key(s, text, e);
        for (size_t i = 0; i < s->n_found; i++)
                if (s->found[i].key == (enum config_key)key)
                        return config_fail(e, -EINVAL, s->path, s->line, text,
                                           "already set in line %u of this file", s->found[i].line);
        s->found[s->n_found++] = (struct assignment){(enum config_key)key, s->line};
        return scan_value(s, text, end != equals, equals + 1, e);
}

static int scan_line(struct scan *s, char *text, struct config_error *e)
{
        char *equals = strchr(text, '=');

        if (text[strspn(text, " \t")] == '\0' || text[0] == '#' || text[0] == ';')
                return 0;
        if (is_blank(text[0]))
                return config_fail(e, -EINVAL, s->path, s->line, NULL,
                                   "blank at the start of the line (lines are not continued)");
        if (text[0] == '[')
                return scan_section(s, text, e);
        if (!equals)
                return config_fail(e, -EINVAL, s->path, s->line, NULL,
                                   "\"%.100s\" is neither Key=value, [Section] nor a comment",
                                   text);
        return scan_assignment(s, text, equals, e);
}

/*
 * Walks all lines before libeconf does. libeconf (measured with 0.5.1) accepts more than we want
 * and does not say which line a value came from: it joins a line without "=" to the value of the
 * line before, takes off quotes, inline comments and blanks, drops "=value", stops a line at a NUL,
 * cuts lines at 8 KiB and reads the rest as a new line, and returns the first of two settings of
 * one key where systemd would take the last. All of these are refused here, by line; what is left
 * has one reading.
 */
static int scan_text(struct scan *s, const char *p, size_t text_len, struct config_error *e)
{
        const char *end = p + text_len;

        while (p < end) {
                const char *newline = memchr(p, '\n', (size_t)(end - p));
                size_t len = (size_t)((newline ? newline : end) - p);
                char line[LINE_LENGTH_MAX + 1];
                int r;

                s->line++;
                if (len > LINE_LENGTH_MAX)
                        return config_fail(e, -E2BIG, s->path, s->line, NULL,
                                           "line longer than %d bytes", LINE_LENGTH_MAX);
                if (memchr(p, '\0', len))
                        return config_fail(e, -EINVAL, s->path, s->line, NULL, "NUL byte");
                if (memchr(p, '\r', len))
                        return config_fail(e, -EINVAL, s->path, s->line, NULL,
                                           "carriage return: lines end with a newline only");
                memcpy(line, p, len);
                line[len] = '\0';
                r = scan_line(s, line, e);
                if (r < 0)
                        return r;
                p += len + (newline ? 1 : 0);
        }
        return 0;
}

/* One value, from libeconf, over what *c holds. */
static int config_take(struct config *c, econf_file *kf, const char *path,
                       const struct assignment *a, struct config_error *e)
{
        const struct key_info *info = &key_table[a->key];
        struct config_value v = {.line = a->line};
        _cleanup_(freep) char *text = NULL, *reason = NULL;
        econf_err error = econf_getStringValue(kf, info->section, info->name, &text);
        int r;

        if (error == ECONF_NOKEY || error == ECONF_NOGROUP)
                return config_fail(e, -EINVAL, path, a->line, info->name,
                                   "in the wrong section, it belongs to [%s]", info->section);
        if (error != ECONF_SUCCESS)
                return config_fail(e, -EINVAL, path, a->line, info->name, "%s",
                                   econf_errString(error));
        r = config_value_parse(a->key, text ? text : "", &v, &reason);
        if (r < 0)
                return config_fail(e, r, path, a->line, info->name, "%s",
                                   reason ? reason : "out of memory");
        v.file = strdup(path);
        if (!v.file)
                return config_fail(e, -ENOMEM, path, a->line, info->name, "out of memory");
        free(c->value[a->key].file);
        c->value[a->key] = v;
        return 0;
}

static void econf_freep(econf_file **kf)
{
        econf_freeFile(*kf);
}

/* libeconf reads files only. It is given the very text that was scanned. */
static econf_err econf_read_text(econf_file **ret, const char *text, size_t len)
{
        _cleanup_(closep) int fd = memfd_create("tlbd.conf", MFD_CLOEXEC);
        _cleanup_(freep) char *path = strf("/proc/self/fd/%d", fd);

        if (!path)
                return ECONF_NOMEM;
        if (fd < 0 || fd_write_all(fd, text, len) < 0)
                return ECONF_ERROR;
        return econf_readFile(ret, path, "=", "#;");
}

int config_file_parse(struct config *c, const char *path, const char *text, size_t len,
                      struct config_error *e)
{
        _cleanup_(econf_freep) econf_file *kf = NULL;
        struct scan s = {.path = path};
        econf_err error;
        int r;

        r = scan_text(&s, text, len, e);
        if (r < 0 || s.n_found == 0)
                return r;
        error = econf_read_text(&kf, text, len);
        if (error != ECONF_SUCCESS)
                return config_fail(e, error == ECONF_NOMEM ? -ENOMEM : -EINVAL, path, 0, NULL, "%s",
                                   econf_errString(error));
        for (size_t i = 0; i < s.n_found; i++) {
                r = config_take(c, kf, path, &s.found[i], e);
                if (r < 0)
                        return r;
        }
        return 0;
}

int config_file_read(struct config *c, const char *path, unsigned checks, struct config_error *e)
{
        _cleanup_(buffer_done) struct buffer b = {0};
        int r = text_read(path, checks, &b, e);

        return r <= 0 ? r : config_file_parse(c, path, b.data, b.len, e);
}
