/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config-edit.h"
#include "config-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX 1048576 /* 1 MiB */
#define HEADING "# Made by tlbctl set; tlbctl unset takes a setting back.\n"

/* One drop-in: what it holds, and what it shall hold. */
struct edit {
        char *path;
        struct buffer old; /* data is NULL where there is no file */
        char *text;        /* NULL: no file */
};

static void edit_done(struct edit *e)
{
        free(e->path);
        buffer_done(&e->old);
        free(e->text);
}

void config_edit_result_done(struct config_edit_result *r)
{
        free(r->file);
        *r = (struct config_edit_result){0};
}

static int fail_nomem(struct config_error *e)
{
        return config_fail(e, -ENOMEM, NULL, 0, NULL, "out of memory");
}

/* Reads the drop-in at root + path, which need not exist. */
static int edit_open(struct edit *ed, const char *root, const char *path, struct config_error *e)
{
        _cleanup_(closep) int fd = -1;
        struct stat st;
        int r;

        ed->path = path_join(root, path);
        if (!ed->path)
                return fail_nomem(e);
        fd = open(ed->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
                return 0;
        if (fd < 0 && errno == ELOOP)
                return config_fail(e, -ELOOP, ed->path, 0, NULL,
                                   "a symbolic link, which tlbctl does not edit");
        if (fd < 0)
                return config_fail(e, -errno, ed->path, 0, NULL, "cannot open: %m");
        if (fstat(fd, &st) < 0)
                return config_fail(e, -errno, ed->path, 0, NULL, "cannot stat: %m");
        if (!S_ISREG(st.st_mode) || st.st_size > FILE_SIZE_MAX)
                return config_fail(e, -EINVAL, ed->path, 0, NULL,
                                   "no regular file of 1 MiB at most");
        r = buffer_pread(&ed->old, fd);
        if (r < 0)
                return config_fail(e, r, ed->path, 0, NULL, "cannot read: %s", strerror(-r));
        if (memchr(ed->old.data, '\0', ed->old.len))
                return config_fail(e, -EINVAL, ed->path, 0, NULL, "NUL byte");
        return 0;
}

/* Lines */

struct line {
        const char *text;
        size_t len; /* with the newline */
};

/* Takes the next line off *p. */
static bool line_next(const char **p, struct line *ret)
{
        const char *newline = strchr(*p, '\n');

        ret->text = *p;
        ret->len = newline ? (size_t)(newline - *p) + 1 : strlen(*p);
        *p += ret->len;
        return ret->len > 0;
}

static bool line_is_blank(const struct line *l)
{
        size_t n = strspn(l->text, " \t\n");

        return n >= l->len;
}

static bool line_sets(const struct line *l, const char *key)
{
        size_t n = strlen(key);

        if (l->len <= n || memcmp(l->text, key, n) != 0)
                return false;
        n += strspn(l->text + n, " \t");
        return n < l->len && l->text[n] == '=';
}

static bool line_is_section(const struct line *l, const char *section)
{
        size_t n = strlen(section);

        return l->len >= n + 2 && l->text[0] == '[' && memcmp(l->text + 1, section, n) == 0 &&
               l->text[n + 1] == ']';
}

/* Whether a file with this text is of any use: a setting, or a comment of somebody. */
static bool text_matters(const char *text)
{
        struct line l;

        while (line_next(&text, &l)) {
                bool heading = l.len == strlen(HEADING) && memcmp(l.text, HEADING, l.len) == 0;

                if (!heading && !line_is_blank(&l) && l.text[0] != '[')
                        return true;
        }
        return false;
}

/* Where a new setting of section goes: behind the section's last line that is not blank. NULL:
 * there is no such section. */
static const char *section_end(const char *text, const char *section)
{
        const char *end = NULL;
        bool inside = false;
        struct line l;

        while (line_next(&text, &l)) {
                if (l.text[0] == '[')
                        inside = line_is_section(&l, section);
                if (inside && !line_is_blank(&l))
                        end = l.text + l.len;
        }
        return end;
}

/* Writes a piece, ended by a newline also where it is the last line of a file without one. */
static int put(FILE *f, const char *text, size_t len)
{
        if (len > 0 && fwrite(text, 1, len, f) != len)
                return -EIO;
        if (len > 0 && text[len - 1] != '\n' && fputc('\n', f) == EOF)
                return -EIO;
        return 0;
}

static int put_setting(FILE *f, const struct key_info *info, const char *value)
{
        return fprintf(f, "%s=%s\n", info->name, value) < 0 ? -EIO : 0;
}

static bool text_sets(const char *text, const char *key)
{
        struct line l;

        while (line_next(&text, &l))
                if (line_sets(&l, key))
                        return true;
        return false;
}

/* Replaces the first line that sets the key (leaves it out where value is NULL), and leaves out the
 * others. */
static int put_replaced(FILE *f, const char *text, const struct key_info *info, const char *value)
{
        bool done = !value;
        struct line l;
        int r = 0;

        while (r == 0 && line_next(&text, &l)) {
                if (!line_sets(&l, info->name)) {
                        r = put(f, l.text, l.len);
                } else if (!done) {
                        r = put_setting(f, info, value);
                        done = true;
                }
        }
        return r;
}

/* Adds a setting that the text does not have. */
static int put_added(FILE *f, const char *text, const struct key_info *info, const char *value)
{
        const char *at = section_end(text, info->section);
        int r;

        if (at) {
                r = put(f, text, (size_t)(at - text));
                if (r == 0)
                        r = put_setting(f, info, value);
                return r < 0 ? r : put(f, at, strlen(at));
        }
        r = put(f, text, strlen(text));
        if (r == 0 && fprintf(f, "%s[%s]\n", text[0] ? "\n" : HEADING "\n", info->section) < 0)
                r = -EIO;
        return r < 0 ? r : put_setting(f, info, value);
}

static int edit_keep(struct edit *ed)
{
        ed->text = ed->old.data ? strdup(ed->old.data) : NULL;
        return ed->old.data && !ed->text ? -ENOMEM : 0;
}

/* Fills ed->text with the old text in which key has value, or (NULL) is not set. */
static int edit_change(struct edit *ed, enum config_key key, const char *value)
{
        const struct key_info *info = &key_table[key];
        const char *old = ed->old.data ? ed->old.data : "";
        bool found = text_sets(old, info->name);
        size_t len;
        FILE *f;
        int r;

        if (!value && !found)
                return edit_keep(ed);
        f = open_memstream(&ed->text, &len);
        if (!f)
                return -errno;
        r = found ? put_replaced(f, old, info, value) : put_added(f, old, info, value);
        if (fclose(f) == EOF && r == 0)
                r = -ENOMEM;
        if (r == 0 && !text_matters(ed->text)) {
                free(ed->text);
                ed->text = NULL;
        }
        return r;
}

static bool edit_is_change(const struct edit *ed)
{
        if (!ed->old.data || !ed->text)
                return ed->old.data != ed->text;
        return strcmp(ed->old.data, ed->text) != 0;
}

/* Writing */

/* Makes the directories above path that are not there, down from root. */
static int make_directories(const char *root, const char *path)
{
        _cleanup_(freep) char *name = strdup(path);

        if (!name)
                return -ENOMEM;
        for (char *p = name + strlen(root) + 1; (p = strchr(p, '/')); p++) {
                *p = '\0';
                if (mkdir(name, 0755) == 0) {
                        if (chmod(name, 0755) < 0) /* whatever the umask */
                                return -errno;
                } else if (errno != EEXIST) {
                        return -errno;
                }
                *p = '/';
        }
        return 0;
}

static int edit_write(const struct edit *ed, const char *root, struct config_error *e)
{
        int r;

        if (!edit_is_change(ed))
                return 0;
        if (!ed->text) {
                r = unlink(ed->path) < 0 ? -errno : 0;
                return r < 0 ? config_fail(e, r, ed->path, 0, NULL, "cannot remove: %m") : 0;
        }
        r = make_directories(root, ed->path);
        if (r == 0)
                r = file_write_atomic(ed->path, ed->text, strlen(ed->text), 0644, true);
        return r < 0 ? config_fail(e, r, ed->path, 0, NULL, "cannot write: %s", strerror(-r)) : 0;
}

/* Reads the configuration as it would be, then writes both drop-ins. */
static int edits_commit(const char *root, enum config_key key, const struct edit *persistent,
                        const struct edit *runtime, struct config_edit_result *ret,
                        struct config_error *e)
{
        const struct config_override override[] = {
                {.path = persistent->path, .text = persistent->text},
                {.path = runtime->path, .text = runtime->text},
        };
        _cleanup_(config_done) struct config c = {0};
        int r;

        r = config_load_with(root, override, ELEMENTSOF(override), &c, e);
        if (r < 0)
                return r;
        r = edit_write(persistent, root, e);
        if (r == 0)
                r = edit_write(runtime, root, e);
        if (r < 0)
                return r;
        ret->changed = edit_is_change(persistent) || edit_is_change(runtime);
        ret->line = c.value[key].line;
        ret->file = c.value[key].file;
        c.value[key].file = NULL;
        return 0;
}

static int edit_prepare(struct edit *ed, const char *root, const char *path, enum config_key key,
                        const char *value, bool keep, struct config_error *e)
{
        int r = edit_open(ed, root, path, e);

        if (r < 0)
                return r;
        r = keep ? edit_keep(ed) : edit_change(ed, key, value);
        return r < 0 ? config_fail(e, r, ed->path, 0, NULL, "cannot edit: %s", strerror(-r)) : 0;
}

/* A value of NULL takes the key out. */
static int edit_both(const char *root, enum config_key key, const char *persistent_value,
                     bool keep_persistent, const char *runtime_value,
                     struct config_edit_result *ret, struct config_error *e)
{
        _cleanup_(edit_done) struct edit persistent = {0}, runtime = {0};
        int r;

        r = edit_prepare(&persistent, root, CONFIG_EDIT_PERSISTENT, key, persistent_value,
                         keep_persistent, e);
        if (r == 0)
                r = edit_prepare(&runtime, root, CONFIG_EDIT_RUNTIME, key, runtime_value, false, e);
        return r < 0 ? r : edits_commit(root, key, &persistent, &runtime, ret, e);
}

int config_edit_set(const char *root, enum config_key key, const char *value, bool runtime,
                    struct config_edit_result *ret_result, struct config_error *ret_error)
{
        _cleanup_(freep) char *reason = NULL;
        struct config_value v;
        int r;

        *ret_result = (struct config_edit_result){0};
        *ret_error = (struct config_error){0};
        root = root ? root : "";
        r = config_value_parse(key, value, &v, &reason);
        if (r < 0)
                return config_fail(ret_error, r, NULL, 0, key_table[key].name, "%s",
                                   reason ? reason : "out of memory");
        if (runtime)
                return edit_both(root, key, NULL, true, value, ret_result, ret_error);
        return edit_both(root, key, value, false, NULL, ret_result, ret_error);
}

int config_edit_unset(const char *root, enum config_key key, struct config_edit_result *ret_result,
                      struct config_error *ret_error)
{
        *ret_result = (struct config_edit_result){0};
        *ret_error = (struct config_error){0};
        return edit_both(root ? root : "", key, NULL, false, NULL, ret_result, ret_error);
}
