/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libeconf.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX (1024 * 1024)
#define LINE_LENGTH_MAX 4096
#define DROPIN_DIR "/tlbd/tlbd.conf.d"
#define MAIN_FILE "/tlbd/tlbd.conf"

/* Highest precedence first. */
static const char *const layer_table[] = {"/etc", "/run", "/usr/lib"};

const struct key_info key_table[] = {
#define KEY(id, section_, name_, type_, min_, max_, default_, unit_, text_)                        \
        [KEY_##id] = {.section = section_,                                                         \
                      .name = name_,                                                               \
                      .type = KEY_TYPE_##type_,                                                    \
                      .min = min_,                                                                 \
                      .max = max_,                                                                 \
                      .default_text = default_,                                                    \
                      .unit = unit_,                                                               \
                      .text = text_},
#include "keys.def"
#undef KEY
};
_Static_assert(ELEMENTSOF(key_table) == KEY_COUNT, "one key_table row for each key");

void config_done(struct config *c)
{
        for (size_t i = 0; i < KEY_COUNT; i++)
                free(c->value[i].file);
        *c = (struct config){0};
}

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

/* Fills *e and returns error, so that callers can "return config_fail(...)". */
static int config_fail(struct config_error *e, int error, const char *file, unsigned line,
                       const char *key, const char *format, ...) _printf_(6, 7);

static int config_fail(struct config_error *e, int error, const char *file, unsigned line,
                       const char *key, const char *format, ...)
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

int config_key_find(const char *name)
{
        for (int i = 0; i < KEY_COUNT; i++)
                if (strcmp(key_table[i].name, name) == 0)
                        return i;
        return -ENOENT;
}

/* Values */

static bool key_is_knob(enum config_key key)
{
        return key_table[key].type >= KEY_TYPE_KNOB_UINT;
}

/* What a value of this key may be, for messages. Caller frees. */
static char *allowed_format(enum config_key key)
{
        const struct key_info *info = &key_table[key];
        const char *blank = info->unit[0] ? " " : "";

        switch (info->type) {
        case KEY_TYPE_UINT:
                return strf("a whole number from %.0f to %.0f%s%s", info->min, info->max, blank,
                            info->unit);
        case KEY_TYPE_REAL:
                return strf("a number from %g to %.0f%s%s", info->min, info->max, blank,
                            info->unit);
        case KEY_TYPE_KNOB_UINT:
                return strf("keep, or a whole number from %.0f to %.0f%s%s", info->min, info->max,
                            blank, info->unit);
        case KEY_TYPE_BOOL:
                return strdup("yes or no");
        case KEY_TYPE_KNOB_BOOL:
                return strdup("keep, yes or no");
        case KEY_TYPE_KNOB_MIGRATE:
                return strdup("keep, always or auto");
        }
        return NULL;
}

/* Digits, or digits, a point and one to nine digits. No sign, exponent, blank or locale. */
static int parse_real(const char *text, double *ret)
{
        const char *point = strchr(text, '.');
        size_t len = point ? (size_t)(point - text) : strlen(text);
        uint64_t whole, fraction;
        double scale = 1;
        int r;

        r = parse_u64(text, len, &whole);
        if (r < 0)
                return r;
        *ret = (double)whole;
        if (!point)
                return 0;
        len = strlen(point + 1);
        if (len > 9)
                return -EINVAL;
        r = parse_u64(point + 1, len, &fraction);
        if (r < 0)
                return r;
        for (size_t i = 0; i < len; i++)
                scale *= 10;
        *ret += (double)fraction / scale;
        return 0;
}

/* Index of text in two words, or -EINVAL. */
static int parse_word(const char *text, const char *zero, const char *one, double *ret)
{
        if (strcmp(text, zero) != 0 && strcmp(text, one) != 0)
                return -EINVAL;
        *ret = strcmp(text, one) == 0 ? 1 : 0;
        return 0;
}

static int parse_number(const struct key_info *info, const char *text, double *ret)
{
        uint64_t u;
        int r;

        switch (info->type) {
        case KEY_TYPE_UINT:
        case KEY_TYPE_KNOB_UINT:
                r = parse_u64(text, strlen(text), &u);
                *ret = r < 0 ? 0 : (double)u;
                break;
        case KEY_TYPE_REAL:
                r = parse_real(text, ret);
                break;
        case KEY_TYPE_BOOL:
        case KEY_TYPE_KNOB_BOOL:
                return parse_word(text, "no", "yes", ret);
        case KEY_TYPE_KNOB_MIGRATE:
                return parse_word(text, "always", "auto", ret);
        default:
                return -EINVAL;
        }
        if (r < 0)
                return r;
        return *ret < info->min || *ret > info->max ? -ERANGE : 0;
}

int config_value_parse(enum config_key key, const char *text, struct config_value *ret,
                       char **ret_reason)
{
        _cleanup_(freep) char *allowed = NULL;
        double number = 0;
        int r;

        if (key_is_knob(key) && strcmp(text, "keep") == 0) {
                ret->keep = true;
                ret->number = 0;
                return 0;
        }
        r = parse_number(&key_table[key], text, &number);
        if (r == 0) {
                ret->keep = false;
                ret->number = number;
                return 0;
        }
        allowed = allowed_format(key);
        *ret_reason = strf("\"%.100s\" is %s: allowed is %s", text,
                           r == -ERANGE ? "out of range" : "not a valid value",
                           allowed ? allowed : "another value");
        return r;
}

/* Shortest decimal form with up to nine digits after the point, whatever the locale. */
static char *format_real(double number)
{
        uint64_t scaled = (uint64_t)(number * 1e9 + 0.5);
        char *text = strf("%" PRIu64 ".%09" PRIu64, scaled / 1000000000, scaled % 1000000000);
        size_t len;

        if (!text)
                return NULL;
        len = strlen(text);
        while (text[len - 1] == '0')
                text[--len] = '\0';
        if (text[len - 1] == '.')
                text[--len] = '\0';
        return text;
}

char *config_value_format(enum config_key key, const struct config_value *v)
{
        if (v->keep)
                return strdup("keep");
        switch (key_table[key].type) {
        case KEY_TYPE_UINT:
        case KEY_TYPE_KNOB_UINT:
                return strf("%" PRIu64, (uint64_t)v->number);
        case KEY_TYPE_REAL:
                return format_real(v->number);
        case KEY_TYPE_BOOL:
        case KEY_TYPE_KNOB_BOOL:
                return strdup(v->number != 0 ? "yes" : "no");
        case KEY_TYPE_KNOB_MIGRATE:
                return strdup(v->number != 0 ? "auto" : "always");
        }
        return NULL;
}

static int config_default(struct config *ret)
{
        *ret = (struct config){0};
        for (enum config_key i = 0; i < KEY_COUNT; i++) {
                _cleanup_(freep) char *reason = NULL;
                int r = config_value_parse(i, key_table[i].default_text, &ret->value[i], &reason);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* Files */

/* A file to read: its descriptor, its text, and the name it has in messages. */
struct source_file {
        const char *path;
        int fd;
        struct buffer text;
};

static void source_file_done(struct source_file *f)
{
        closep(&f->fd);
        buffer_done(&f->text);
}

static bool is_link_to_dev_null(const char *path)
{
        char target[sizeof("/dev/null") + 1];
        ssize_t n = readlink(path, target, sizeof(target));

        return n == sizeof("/dev/null") - 1 && memcmp(target, "/dev/null", (size_t)n) == 0;
}

enum { CHECK_MODE = 1, CHECK_OWNER = 2 };

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

/* Opens and reads f->path. 1: read; 0: a link to /dev/null, nothing to read; else negative errno.
 * O_NONBLOCK: opening a FIFO must not wait for a writer. */
static int source_file_open(struct source_file *f, unsigned checks, struct config_error *e)
{
        struct stat st;
        int r;

        f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (f->fd < 0 && errno == ELOOP) {
                if (is_link_to_dev_null(f->path))
                        return 0;
                return config_fail(e, -ELOOP, f->path, 0, NULL,
                                   "a symbolic link (only one to /dev/null is allowed, to mask)");
        }
        if (f->fd < 0)
                return config_fail(e, -errno, f->path, 0, NULL, "cannot open: %m");
        if (fstat(f->fd, &st) < 0)
                return config_fail(e, -errno, f->path, 0, NULL, "cannot stat: %m");
        r = check_stat(f->path, &st, checks, e);
        if (r < 0)
                return r;
        r = buffer_pread(&f->text, f->fd);
        if (r < 0)
                return config_fail(e, r, f->path, 0, NULL, "cannot read: %s", strerror(-r));
        if (f->text.len > FILE_SIZE_MAX)
                return config_fail(e, -EFBIG, f->path, 0, NULL, "larger than 1 MiB");
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
static int scan_text(struct scan *s, const struct buffer *b, struct config_error *e)
{
        const char *p = b->data, *end = b->data + b->len;

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

/* Reads one file over what *c holds. -ENOENT: it does not exist. */
static int config_read(struct config *c, const char *path, unsigned checks, struct config_error *e)
{
        _cleanup_(source_file_done) struct source_file f = {.path = path, .fd = -1};
        _cleanup_(econf_freep) econf_file *kf = NULL;
        _cleanup_(freep) char *fd_path = NULL;
        struct scan s = {.path = path};
        econf_err error;
        int r;

        r = source_file_open(&f, checks, e);
        if (r <= 0)
                return r;
        r = scan_text(&s, &f.text, e);
        if (r < 0 || s.n_found == 0)
                return r;
        /* The file that was checked, not whatever the name means by now. */
        fd_path = strf("/proc/self/fd/%d", f.fd);
        if (!fd_path)
                return config_fail(e, -ENOMEM, path, 0, NULL, "out of memory");
        error = econf_readFile(&kf, fd_path, "=", "#;");
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

/* What one key alone cannot show. */
static int config_check(const struct config *c, struct config_error *e)
{
        const struct config_value *min = &c->value[KEY_NUMA_SCAN_PERIOD_MIN_MS];
        const struct config_value *max = &c->value[KEY_NUMA_SCAN_PERIOD_MAX_MS];

        if (min->keep || max->keep || min->number <= max->number)
                return 0;
        return config_fail(e, -EINVAL, min->file, min->line,
                           key_table[KEY_NUMA_SCAN_PERIOD_MIN_MS].name,
                           "%.0f is above NumaScanPeriodMaxMs=%.0f (%s:%u)", min->number,
                           max->number, max->file ? max->file : "default", max->line);
}

/* Layers */

struct dropin {
        char *name;
        char *path;
};

struct dropins {
        struct dropin *item;
        size_t n;
};

static void dropins_done(struct dropins *d)
{
        for (size_t i = 0; i < d->n; i++) {
                free(d->item[i].name);
                free(d->item[i].path);
        }
        free(d->item);
}

static int dropins_add(struct dropins *d, const char *directory, const char *name)
{
        struct dropin *item, new;

        for (size_t i = 0; i < d->n; i++)
                if (strcmp(d->item[i].name, name) == 0)
                        return 0;
        item = reallocarray(d->item, d->n + 1, sizeof(*item));
        if (!item)
                return -ENOMEM;
        d->item = item;
        new = (struct dropin){strdup(name), strf("%s/%s", directory, name)};
        d->item[d->n++] = new;
        return new.name &&new.path ? 0 : -ENOMEM;
}

static void closedirp(DIR **d)
{
        if (*d)
                closedir(*d);
}

static bool is_dropin_name(const char *name)
{
        size_t len = strlen(name);

        return name[0] != '.' && len > 5 && strcmp(name + len - 5, ".conf") == 0;
}

/* Adds the *.conf names of one directory that are not there yet. */
static int dropins_scan(struct dropins *d, const char *directory, struct config_error *e)
{
        _cleanup_(closedirp) DIR *dir = opendir(directory);
        struct dirent *entry;

        if (!dir && errno == ENOENT)
                return 0;
        if (!dir)
                return config_fail(e, -errno, directory, 0, NULL, "cannot open: %m");
        while ((errno = 0, entry = readdir(dir)))
                if (is_dropin_name(entry->d_name) && dropins_add(d, directory, entry->d_name) < 0)
                        return config_fail(e, -ENOMEM, directory, 0, NULL, "out of memory");
        if (errno > 0)
                return config_fail(e, -errno, directory, 0, NULL, "cannot list: %m");
        return 0;
}

static int dropin_compare(const void *a, const void *b)
{
        return strcmp(((const struct dropin *)a)->name, ((const struct dropin *)b)->name);
}

/* The directory and name of path, if it is a drop-in of one of the layers below root. */
static int dropins_add_path(struct dropins *d, const char *root, const char *path)
{
        for (size_t i = 0; path && i < ELEMENTSOF(layer_table); i++) {
                _cleanup_(freep) char *directory = strf("%s%s" DROPIN_DIR, root, layer_table[i]);
                size_t len;

                if (!directory)
                        return -ENOMEM;
                len = strlen(directory);
                if (strncmp(path, directory, len) == 0 && path[len] == '/' &&
                    !strchr(path + len + 1, '/') && is_dropin_name(path + len + 1))
                        return dropins_add(d, directory, path + len + 1);
        }
        return 0;
}

static int config_load_main(struct config *c, const char *root, const char *extra, const char *skip,
                            unsigned checks, bool *ret_extra_read, struct config_error *e)
{
        for (size_t i = 0; i < ELEMENTSOF(layer_table); i++) {
                _cleanup_(freep) char *path = strf("%s%s" MAIN_FILE, root, layer_table[i]);
                int r;

                if (!path)
                        return config_fail(e, -ENOMEM, NULL, 0, NULL, "out of memory");
                if (skip && strcmp(path, skip) == 0) {
                        *ret_extra_read = extra;
                        if (extra)
                                return config_read(c, extra, 0, e);
                        continue;
                }
                r = config_read(c, path, checks, e);
                if (r != -ENOENT)
                        return r;
                config_error_done(e);
        }
        return 0;
}

/* Reads the drop-ins; extra stands in for skip where both are given and skip is one of them
 * (*ret_extra_read says so), whether skip exists yet or not. */
static int config_load_dropins(struct config *c, const char *root, const char *extra,
                               const char *skip, unsigned checks, bool *ret_extra_read,
                               struct config_error *e)
{
        _cleanup_(dropins_done) struct dropins d = {0};
        int r;

        for (size_t i = 0; i < ELEMENTSOF(layer_table); i++) {
                _cleanup_(freep) char *directory = strf("%s%s" DROPIN_DIR, root, layer_table[i]);

                if (!directory)
                        return config_fail(e, -ENOMEM, NULL, 0, NULL, "out of memory");
                r = dropins_scan(&d, directory, e);
                if (r < 0)
                        return r;
        }
        if (extra && dropins_add_path(&d, root, skip) < 0)
                return config_fail(e, -ENOMEM, NULL, 0, NULL, "out of memory");
        if (d.n > 0)
                qsort(d.item, d.n, sizeof(d.item[0]), dropin_compare);
        for (size_t i = 0; i < d.n; i++) {
                bool skipped = skip && strcmp(d.item[i].path, skip) == 0;

                if (skipped && !extra)
                        continue;
                r = config_read(c, skipped ? extra : d.item[i].path, skipped ? 0 : checks, e);
                if (r < 0 && r != -ENOENT)
                        return r;
                if (r == -ENOENT) /* removed since the directory was listed */
                        config_error_done(e);
                *ret_extra_read |= skipped;
        }
        return 0;
}

int config_load(const char *root, const char *extra_path, const char *skip_path, struct config *ret,
                struct config_error *ret_error)
{
        _cleanup_(config_done) struct config c = {0};
        bool extra_read = false;
        unsigned checks;
        int r;

        *ret_error = (struct config_error){0};
        if (!root)
                root = "";
        checks = CHECK_MODE | (root[0] == '\0' ? CHECK_OWNER : 0U);
        r = config_default(&c);
        if (r < 0)
                return config_fail(ret_error, r, NULL, 0, NULL, "built-in defaults are not valid");
        r = config_load_main(&c, root, extra_path, skip_path, checks, &extra_read, ret_error);
        if (r < 0)
                return r;
        r = config_load_dropins(&c, root, extra_path, skip_path, checks, &extra_read, ret_error);
        if (r < 0)
                return r;
        if (extra_path && !extra_read) {
                r = config_read(&c, extra_path, 0, ret_error);
                if (r < 0)
                        return r;
        }
        r = config_check(&c, ret_error);
        if (r < 0)
                return r;
        *ret = c;
        c = (struct config){0};
        return 0;
}

int config_load_file(const char *path, struct config *ret, struct config_error *ret_error)
{
        _cleanup_(config_done) struct config c = {0};
        int r;

        *ret_error = (struct config_error){0};
        r = config_default(&c);
        if (r < 0)
                return config_fail(ret_error, r, NULL, 0, NULL, "built-in defaults are not valid");
        r = config_read(&c, path, 0, ret_error);
        if (r < 0)
                return r;
        r = config_check(&c, ret_error);
        if (r < 0)
                return r;
        *ret = c;
        c = (struct config){0};
        return 0;
}
