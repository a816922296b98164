/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctl.h"

#include "config-edit.h"
#include "knobs.h"
#include "manager.h"
#include "status-read.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

/* The key of this name, or -ENOENT after a message. */
static int find_key(const char *name)
{
        int key = config_key_find(name);

        if (key < 0)
                ctl_error("%s: no such key; \"tlbctl get\" lists them", name);
        return key;
}

static int refuse(int r, const struct config_error *error)
{
        _cleanup_(freep) char *text = config_error_format(error);

        ctl_error("%s", text && *text ? text : strerror(-r));
        return r == -ENOMEM || r == -EACCES || r == -EROFS || r == -ENOSPC ? EXIT_CANNOT_READ
                                                                           : EXIT_CONDITION;
}

static const struct knob *knob_of(const struct knobs *k, enum config_key key)
{
        for (enum knob_id id = 0; id < KNOB_COUNT; id++)
                if (knob_table[id].key == key)
                        return &k->knob[id];
        return NULL;
}

static char *kernel_value(const struct knobs *k, enum config_key key)
{
        const struct knob *knob = knob_of(k, key);

        if (!knob || !knob->known)
                return NULL;
        return knob_format((enum knob_id)(knob - k->knob), knob->current);
}

static int print_key(const struct config *c, const struct knobs *k, enum config_key key)
{
        const struct config_value *v = &c->value[key];
        const struct knob *knob = knob_of(k, key);
        _cleanup_(freep) char *value = config_value_format(key, v);
        _cleanup_(freep) char *kernel = kernel_value(k, key);

        if (!value)
                return -ENOMEM;
        printf("%s=%s\t# ", key_table[key].name, value);
        if (v->file)
                printf("%s:%u", v->file, v->line);
        else
                printf("default");
        if (kernel)
                printf("; kernel: %s (%s)", kernel, knob->path);
        else if (knob)
                printf("; kernel: %s", knob_state_name(knob->state));
        printf("\n");
        return 0;
}

static int key_json(const struct config *c, const struct knobs *k, enum config_key key,
                    struct json_object *all)
{
        const struct config_value *v = &c->value[key];
        _cleanup_(freep) char *value = config_value_format(key, v);
        _cleanup_(freep) char *kernel = kernel_value(k, key);
        _cleanup_(freep) char *source =
                v->file ? strf("%s:%u", v->file, v->line) : strdup("default");
        struct json_object *o = json_object_new_object();

        if (!value || !source || !o)
                return -ENOMEM;
        json_object_object_add(o, "value", json_object_new_string(value));
        json_object_object_add(o, "source", json_object_new_string(source));
        json_object_object_add(o, "default", json_object_new_string(key_table[key].default_text));
        json_object_object_add(o, "unit", json_object_new_string(key_table[key].unit));
        if (knob_of(k, key))
                json_object_object_add(o, "kernel", kernel ? json_object_new_string(kernel) : NULL);
        return json_object_object_add(all, key_table[key].name, o) < 0 ? -ENOMEM : 0;
}

int ctl_get(const struct ctl *c, int argc, char **argv)
{
        _cleanup_(config_error_done) struct config_error error = {0};
        _cleanup_(config_done) struct config config = {0};
        _cleanup_(knobs_done) struct knobs knobs = {0};
        struct json_object *all = NULL;
        int first = 0, last = KEY_COUNT - 1, status = EXIT_FINE;
        int r;

        if (argc > 1) {
                ctl_error("get takes one key at most");
                return EXIT_USAGE;
        }
        if (argc == 1) {
                first = last = find_key(argv[0]);
                if (first < 0)
                        return EXIT_USAGE;
        }
        r = config_load(c->root, NULL, NULL, &config, &error);
        if (r < 0)
                return refuse(r, &error);
        r = knobs_init(&knobs, c->root, c->root);
        if (r >= 0) {
                knobs_probe(&knobs);
                all = c->json ? json_object_new_object() : NULL;
        }
        for (int key = first; key <= last && r >= 0; key++)
                r = c->json ? key_json(&config, &knobs, (enum config_key)key, all)
                            : print_key(&config, &knobs, (enum config_key)key);
        if (r < 0) {
                ctl_error("%s", strerror(-r));
                status = EXIT_CANNOT_READ;
        } else if (c->json) {
                status = ctl_print_json(all);
        }
        json_object_put(all);
        return status;
}

/* What the running tlbd says of the configuration it was last given. Caller frees; may be NULL. */
static char *running_error(const char *root)
{
        _cleanup_(freep) char *path = path_join(root, "/run/tlbd/status.json");
        _cleanup_(freep) char *reason = NULL;
        struct json_object *status;
        const char *error;
        char *copy;

        if (!path || status_read(path, &status, &reason) < 0)
                return NULL;
        error = status_text(status_object(status, "config"), "error");
        copy = error ? strdup(error) : NULL;
        json_object_put(status);
        return copy;
}

/* Makes the running tlbd take over what was saved. */
static int reload(const struct ctl *c)
{
        _cleanup_(freep) char *reason = NULL;
        _cleanup_(freep) char *error = NULL;
        int r;

        if (*c->root) {
                printf("Saved. No tlbd is told, as --root is given.\n");
                return EXIT_FINE;
        }
        r = unit_reload(&reason);
        if (r == 0) {
                printf("In force.\n");
                return EXIT_FINE;
        }
        if (r == -ENOTCONN || r == -ESRCH) {
                printf("Saved. It takes effect when tlbd starts: %s.\n",
                       reason ? reason : "not running");
                return EXIT_FINE;
        }
        error = running_error(c->root);
        ctl_error("saved, but not in force: %s%s%s", reason ? reason : strerror(-r),
                  error ? ": " : "", error ? error : "");
        return EXIT_CONDITION;
}

static int edited(const struct ctl *c, enum config_key key, const struct config_edit_result *result)
{
        if (!result->changed) {
                printf("%s: nothing to change.\n", key_table[key].name);
                return EXIT_FINE;
        }
        if (result->file)
                printf("%s is set in %s, line %u.\n", key_table[key].name, result->file,
                       result->line);
        else
                printf("%s has its default, %s.\n", key_table[key].name,
                       key_table[key].default_text);
        return reload(c);
}

int ctl_set(const struct ctl *c, int argc, char **argv)
{
        _cleanup_(config_error_done) struct config_error error = {0};
        _cleanup_(config_edit_result_done) struct config_edit_result result = {0};
        char *equals;
        int key, r;

        if (argc != 1 || !(equals = strchr(argv[0], '='))) {
                ctl_error("set takes one KEY=VALUE");
                return EXIT_USAGE;
        }
        *equals = '\0';
        key = find_key(argv[0]);
        if (key < 0)
                return EXIT_USAGE;
        r = config_edit_set(c->root, (enum config_key)key, equals + 1, c->runtime, &result, &error);
        return r < 0 ? refuse(r, &error) : edited(c, (enum config_key)key, &result);
}

int ctl_unset(const struct ctl *c, int argc, char **argv)
{
        _cleanup_(config_error_done) struct config_error error = {0};
        _cleanup_(config_edit_result_done) struct config_edit_result result = {0};
        int key, r;

        if (argc != 1) {
                ctl_error("unset takes one KEY");
                return EXIT_USAGE;
        }
        key = find_key(argv[0]);
        if (key < 0)
                return EXIT_USAGE;
        r = config_edit_unset(c->root, (enum config_key)key, &result, &error);
        return r < 0 ? refuse(r, &error) : edited(c, (enum config_key)key, &result);
}

static int check_one(const struct ctl *c, const char *path)
{
        _cleanup_(config_error_done) struct config_error error = {0};
        struct config config;
        int r = path ? config_load_file(path, &config, &error)
                     : config_load(c->root, NULL, NULL, &config, &error);

        if (r < 0)
                return refuse(r, &error);
        config_done(&config);
        printf("%s: fine\n", path ? path : "the configuration");
        return EXIT_FINE;
}

int ctl_check_config(const struct ctl *c, int argc, char **argv)
{
        int status = argc == 0 ? check_one(c, NULL) : EXIT_FINE;

        for (int i = 0; i < argc; i++) {
                int s = check_one(c, argv[i]);

                if (s > status)
                        status = s;
        }
        return status;
}

int ctl_restore(const struct ctl *c, int argc, char **argv)
{
        _cleanup_(freep) char *path = path_join(c->root, "/run/tlbd/status.json");
        _cleanup_(freep) char *reason = NULL;
        struct json_object *status = NULL;
        bool running;

        (void)argv;
        if (argc > 0) {
                ctl_error("restore takes no operand");
                return EXIT_USAGE;
        }
        running = path && status_read(path, &status, &reason) == 0 &&
                  status_fresh(status, now_monotonic_ns(), &reason) == 0;
        json_object_put(status);
        if (running) {
                ctl_error("tlbd is running and would take this for somebody else's change; "
                          "\"systemctl stop tlbd\" puts everything back");
                return EXIT_CONDITION;
        }
        return manager_restore(c->root, true, JOURNAL_STDERR) < 0 ? EXIT_CANNOT_READ : EXIT_FINE;
}
