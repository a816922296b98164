/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain.h"

#include "config.h"
#include "judge.h"
#include "knobs.h"
#include "metrics.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define TOPIC_TOTAL ((size_t)METRIC_COUNT + CONDITION_COUNT + KEY_COUNT)
#define WIDTH 80

size_t topic_count(void)
{
        return TOPIC_TOTAL;
}

const char *topic_kind_name(enum topic_kind kind)
{
        static const char *const name[] = {
                [TOPIC_METRIC] = "metric", [TOPIC_CONDITION] = "condition", [TOPIC_KEY] = "key"};

        return name[kind];
}

/* Adds "label: value"; takes over value. -ENOMEM: there is none; -ENOBUFS: a row too many. */
static int add_fact(struct topic *t, const char *label, char *value)
{
        if (!value)
                return -ENOMEM;
        for (size_t i = 0; i < ELEMENTSOF(t->fact); i++) {
                if (t->fact[i].label)
                        continue;
                t->fact[i] = (struct fact){label, value};
                return 0;
        }
        free(value);
        return -ENOBUFS;
}

static char *journal_field(const char *metric)
{
        char *field = strf("TLBD_%s", metric);

        for (char *p = field; p && *p; p++)
                *p = (char)toupper((unsigned char)*p);
        return field;
}

static int metric_topic(enum metric_id id, struct topic *t)
{
        const struct metric_info *m = &metric_table[id];
        int r;

        *t = (struct topic){
                .kind = TOPIC_METRIC, .name = m->name, .title = m->title, .text = m->text};
        r = add_fact(t, "Unit", strdup(m->unit));
        if (r == 0)
                r = add_fact(t, "Journal field", journal_field(m->name));
        return r;
}

static const char *priority_name(int priority)
{
        static const char *const name[] = {"emerg",   "alert",  "crit", "err",
                                           "warning", "notice", "info", "debug"};

        return priority >= 0 && priority < (int)ELEMENTSOF(name) ? name[priority] : "info";
}

static int condition_topic(enum condition_id id, struct topic *t)
{
        const struct condition_info *c = &condition_table[id];
        int r;

        *t = (struct topic){
                .kind = TOPIC_CONDITION, .name = c->name, .title = c->title, .text = c->text};
        r = add_fact(t, "Kind",
                     strdup(id < JUDGED_COUNT ? "raised and cleared, by metrics" : "one entry"));
        if (r == 0)
                r = add_fact(t, "Priority", strdup(priority_name(c->priority)));
        if (r == 0)
                r = add_fact(t, "Journal", strf("journalctl MESSAGE_ID=%s", c->message_id));
        return r;
}

static char *key_values(const struct key_info *k)
{
        const char *blank = *k->unit ? " " : "";

        switch (k->type) {
        case KEY_TYPE_UINT:
                return strf("whole number, %.0f to %.0f%s%s", k->min, k->max, blank, k->unit);
        case KEY_TYPE_REAL:
                return strf("number, %.10g to %.10g%s%s", k->min, k->max, blank, k->unit);
        case KEY_TYPE_BOOL:
                return strdup("yes or no");
        case KEY_TYPE_KNOB_UINT:
                return strf("keep, or whole number, %.0f to %.0f%s%s", k->min, k->max, blank,
                            k->unit);
        case KEY_TYPE_KNOB_BOOL:
                return strdup("keep, yes or no");
        case KEY_TYPE_KNOB_MIGRATE:
                return strdup("keep, always or auto");
        }
        return NULL;
}

/* The kernel's files behind a key, or NULL. */
static const struct knob_info *key_knob(enum config_key key)
{
        for (size_t i = 0; i < KNOB_COUNT; i++)
                if (knob_table[i].key == key)
                        return &knob_table[i];
        return NULL;
}

static int key_topic(enum config_key key, struct topic *t)
{
        const struct key_info *k = &key_table[key];
        const struct knob_info *knob = key_knob(key);
        int r;

        *t = (struct topic){
                .kind = TOPIC_KEY, .name = k->name, .title = k->section, .text = k->text};
        r = add_fact(t, "Section", strf("[%s]", k->section));
        if (r == 0)
                r = add_fact(t, "Values", key_values(k));
        if (r == 0)
                r = add_fact(t, "Default", strdup(k->default_text));
        if (r == 0 && knob)
                r = add_fact(t, "Kernel file",
                             strf("%s%s%s", knob->path[0], knob->path[1] ? " or " : "",
                                  knob->path[1] ? knob->path[1] : ""));
        return r;
}

int topic_get(size_t i, struct topic *ret)
{
        int r;

        if (i < METRIC_COUNT)
                r = metric_topic((enum metric_id)i, ret);
        else if (i < (size_t)METRIC_COUNT + CONDITION_COUNT)
                r = condition_topic((enum condition_id)(i - METRIC_COUNT), ret);
        else
                r = key_topic((enum config_key)(i - METRIC_COUNT - CONDITION_COUNT), ret);
        if (r < 0)
                topic_done(ret);
        return r;
}

void topic_done(struct topic *t)
{
        for (size_t i = 0; i < ELEMENTSOF(t->fact); i++)
                free(t->fact[i].value);
        *t = (struct topic){0};
}

static const char *topic_name(size_t i)
{
        if (i < METRIC_COUNT)
                return metric_table[i].name;
        if (i < (size_t)METRIC_COUNT + CONDITION_COUNT)
                return condition_table[i - METRIC_COUNT].name;
        return key_table[i - METRIC_COUNT - CONDITION_COUNT].name;
}

int topic_find(const char *name)
{
        for (size_t i = 0; i < TOPIC_TOTAL; i++)
                if (strcasecmp(topic_name(i), name) == 0)
                        return (int)i;
        return -ENOENT;
}

/* A part of a name counts as near as two edits. */
static unsigned nearness(const char *name, const char *topic)
{
        unsigned distance = text_distance(name, topic);

        return distance > 2 && strlen(name) >= 3 && strcasestr(topic, name) ? 2 : distance;
}

size_t topic_near(const char *name, size_t *ret, size_t max)
{
        unsigned limit = (unsigned)(2 + strlen(name) / 6);
        size_t n = 0;

        for (unsigned distance = 0; distance <= limit; distance++)
                for (size_t i = 0; i < TOPIC_TOTAL && n < max; i++)
                        if (nearness(name, topic_name(i)) == distance)
                                ret[n++] = i;
        return n;
}

static void say_unknown(const char *name)
{
        _cleanup_(freep) char *safe = text_safe(name);
        size_t near[5], n = topic_near(name, near, ELEMENTSOF(near));

        (void)fprintf(stderr, "tlbctl: no metric, condition or key is called \"%s\"",
                      safe ? safe : "");
        for (size_t i = 0; i < n; i++)
                (void)fprintf(stderr, "%s%s", i ? ", " : "; near: ", topic_name(near[i]));
        (void)fputs(n ? "\n" : "; \"tlbctl explain\" lists them\n", stderr);
}

/* "label" and value, which goes on in the next lines indented by indent. */
static void print_led(FILE *f, const char *lead, unsigned indent, const char *value)
{
        int column = fprintf(f, "%s", lead);

        text_wrap(f, column > 0 ? (unsigned)column : 0, indent, WIDTH, value);
}

static int print_topic(FILE *f, size_t i)
{
        _cleanup_(topic_done) struct topic t = {0};
        _cleanup_(freep) char *head = NULL;
        int r = topic_get(i, &t);

        if (r < 0)
                return r;
        head = strf("%s%s (%s): ", t.name, t.kind == TOPIC_KEY ? "=" : "", topic_kind_name(t.kind));
        if (!head)
                return -ENOMEM;
        print_led(f, head, 4, t.kind == TOPIC_KEY ? "setting of tlbd.conf" : t.title);
        (void)fputc('\n', f);
        print_led(f, "    ", 4, t.text);
        (void)fputc('\n', f);
        for (size_t k = 0; k < ELEMENTSOF(t.fact) && t.fact[k].label; k++) {
                _cleanup_(freep) char *label = strf("    %s: ", t.fact[k].label);

                if (!label)
                        return -ENOMEM;
                print_led(f, label, 8, t.fact[k].value);
        }
        return 0;
}

static int print_list(FILE *f)
{
        static const char *const heading[] = {"Metrics", "Conditions", "Keys of tlbd.conf"};
        int kind = -1;

        for (size_t i = 0; i < TOPIC_TOTAL; i++) {
                _cleanup_(topic_done) struct topic t = {0};
                int r = topic_get(i, &t);

                if (r < 0)
                        return r;
                if (kind != (int)t.kind)
                        (void)fprintf(f, "%s%s\n", i ? "\n" : "", heading[t.kind]);
                kind = (int)t.kind;
                (void)fprintf(f, "  %-33s ", t.name);
                text_wrap(f, 36, 36, WIDTH, t.kind == TOPIC_KEY ? t.fact[0].value : t.title);
        }
        return 0;
}

int explain_print(FILE *f, const char *name)
{
        int i;

        if (!name)
                return print_list(f);
        i = topic_find(name);
        if (i < 0) {
                say_unknown(name);
                return i;
        }
        return print_topic(f, (size_t)i);
}
