/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"
#include "config-file.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#define DROPIN_DIR "/tlbd/tlbd.conf.d"
#define MAIN_FILE "/tlbd/tlbd.conf"

/* Highest precedence first. */
static const char *const layer_table[] = {"/etc", "/run", "/usr/lib"};

void config_done(struct config *c)
{
        for (size_t i = 0; i < KEY_COUNT; i++)
                free(c->value[i].file);
        *c = (struct config){0};
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

/* What a load works on. */
struct load {
        struct config *c;
        const char *root;
        unsigned checks;
        const struct config_override *override;
        size_t n_override;
        unsigned used; /* bit i: override i was read in its place */
        struct config_error *e;
};

static int load_nomem(const struct load *l)
{
        return config_fail(l->e, -ENOMEM, NULL, 0, NULL, "out of memory");
}

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

static const struct config_override *override_find(const struct load *l, const char *path)
{
        for (size_t i = 0; i < l->n_override; i++)
                if (l->override[i].path && strcmp(l->override[i].path, path) == 0)
                        return &l->override[i];
        return NULL;
}

static bool override_is_absent(const struct config_override *o)
{
        return o && !o->file && !o->text;
}

/* Adds the overrides that would be files of this directory. */
static int dropins_add_overrides(struct dropins *d, const struct load *l, const char *directory)
{
        size_t len = strlen(directory);

        for (size_t i = 0; i < l->n_override; i++) {
                const char *path = l->override[i].path;
                int r = 0;

                if (!path || override_is_absent(&l->override[i]))
                        continue;
                if (strncmp(path, directory, len) == 0 && path[len] == '/' &&
                    !strchr(path + len + 1, '/') && is_dropin_name(path + len + 1))
                        r = dropins_add(d, directory, path + len + 1);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Adds one name of a directory, unless an override says that it is not there. */
static int dropins_add_listed(struct dropins *d, const struct load *l, const char *directory,
                              const char *name)
{
        _cleanup_(freep) char *path = NULL;

        if (!is_dropin_name(name))
                return 0;
        path = strf("%s/%s", directory, name);
        if (!path)
                return -ENOMEM;
        return override_is_absent(override_find(l, path)) ? 0 : dropins_add(d, directory, name);
}

/* Adds the *.conf names of one directory that are not there yet. */
static int dropins_scan(struct dropins *d, const struct load *l, const char *directory)
{
        _cleanup_(closedirp) DIR *dir = NULL;
        struct dirent *entry;

        if (dropins_add_overrides(d, l, directory) < 0)
                return load_nomem(l);
        dir = opendir(directory);
        if (!dir && errno == ENOENT)
                return 0;
        if (!dir)
                return config_fail(l->e, -errno, directory, 0, NULL, "cannot open: %m");
        while ((errno = 0, entry = readdir(dir)))
                if (dropins_add_listed(d, l, directory, entry->d_name) < 0)
                        return load_nomem(l);
        if (errno > 0)
                return config_fail(l->e, -errno, directory, 0, NULL, "cannot list: %m");
        return 0;
}

static int dropin_compare(const void *a, const void *b)
{
        return strcmp(((const struct dropin *)a)->name, ((const struct dropin *)b)->name);
}

/* Reads what stands for a file. -ENOENT with no reason in *l->e: nothing does. */
static int load_override(struct load *l, const struct config_override *o)
{
        if (o->text)
                return config_file_parse(l->c, o->path, o->text, strlen(o->text), l->e);
        return o->file ? config_file_read(l->c, o->file, 0, l->e) : -ENOENT;
}

/* Reads one file of a layer. -ENOENT with no reason in *l->e: it is not there. */
static int load_file(struct load *l, const char *path)
{
        const struct config_override *o = override_find(l, path);
        int r;

        if (o) {
                l->used |= 1U << (o - l->override);
                return load_override(l, o);
        }
        r = config_file_read(l->c, path, l->checks, l->e);
        if (r == -ENOENT)
                config_error_done(l->e);
        return r;
}

static int load_main(struct load *l)
{
        for (size_t i = 0; i < ELEMENTSOF(layer_table); i++) {
                _cleanup_(freep) char *path = strf("%s%s" MAIN_FILE, l->root, layer_table[i]);
                int r;

                if (!path)
                        return load_nomem(l);
                r = load_file(l, path);
                if (r != -ENOENT || l->e->reason)
                        return r;
        }
        return 0;
}

static int load_dropins(struct load *l)
{
        _cleanup_(dropins_done) struct dropins d = {0};
        int r;

        for (size_t i = 0; i < ELEMENTSOF(layer_table); i++) {
                _cleanup_(freep) char *directory = strf("%s%s" DROPIN_DIR, l->root, layer_table[i]);

                if (!directory)
                        return load_nomem(l);
                r = dropins_scan(&d, l, directory);
                if (r < 0)
                        return r;
        }
        if (d.n > 0)
                qsort(d.item, d.n, sizeof(d.item[0]), dropin_compare);
        for (size_t i = 0; i < d.n; i++) {
                r = load_file(l, d.item[i].path);
                if (r < 0 && (r != -ENOENT || l->e->reason))
                        return r;
        }
        return 0;
}

/* The files that stand for none of a layer. */
static int load_extra(struct load *l)
{
        for (size_t i = 0; i < l->n_override; i++) {
                const struct config_override *o = &l->override[i];
                int r = 0;

                if (!(l->used & 1U << i) && (o->file || o->text))
                        r = load_override(l, o);
                if (r < 0)
                        return r;
        }
        return 0;
}

int config_load_with(const char *root, const struct config_override *override, size_t n,
                     struct config *ret, struct config_error *ret_error)
{
        _cleanup_(config_done) struct config c = {0};
        struct load l = {&c, root ? root : "", CHECK_MODE, override, n, 0, ret_error};
        int r;

        *ret_error = (struct config_error){0};
        if (l.root[0] == '\0')
                l.checks |= CHECK_OWNER;
        r = config_default(&c);
        if (r < 0)
                return config_fail(ret_error, r, NULL, 0, NULL, "built-in defaults are not valid");
        r = load_main(&l);
        if (r >= 0)
                r = load_dropins(&l);
        if (r >= 0)
                r = load_extra(&l);
        if (r >= 0)
                r = config_check(&c, ret_error);
        if (r < 0)
                return r;
        *ret = c;
        c = (struct config){0};
        return 0;
}

int config_load(const char *root, const char *extra_path, const char *skip_path, struct config *ret,
                struct config_error *ret_error)
{
        const struct config_override o = {.path = skip_path, .file = extra_path};

        return config_load_with(root, &o, extra_path || skip_path ? 1 : 0, ret, ret_error);
}

int config_load_file(const char *path, struct config *ret, struct config_error *ret_error)
{
        _cleanup_(config_done) struct config c = {0};
        int r;

        *ret_error = (struct config_error){0};
        r = config_default(&c);
        if (r < 0)
                return config_fail(ret_error, r, NULL, 0, NULL, "built-in defaults are not valid");
        r = config_file_read(&c, path, 0, ret_error);
        if (r < 0)
                return r;
        r = config_check(&c, ret_error);
        if (r < 0)
                return r;
        *ret = c;
        c = (struct config){0};
        return 0;
}
