/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Build-time tool: writes what metrics.def, conditions.def and keys.def say in the forms that are
 * installed, so that man pages, journal catalog and completion cannot differ from the program.
 *
 *   gendoc fill TEMPLATE   copies TEMPLATE to stdout; a line that is only @topics metric@,
 *                          @topics condition@, @topics key SECTION@, @validities@, @words KIND@ or
 *                          @messages@ (blanks in front aside) is replaced by what it stands for,
 *                          and @VERSION@ anywhere by the version
 *   gendoc catalog         the journal's message catalog
 */

#include "explain.h"
#include "journal.h"
#include "judge.h"
#include "status-read.h"
#include "text.h"

#include <errno.h>
#include <string.h>

#define CATALOG_WIDTH 78

/* scdoc(5) gives these a meaning. */
static void put_scdoc(const char *text)
{
        for (bool start = true; *text; text++, start = false) {
                if (strchr("_*\\+~`", *text) || (start && strchr("#-.;|[]:!", *text)))
                        putchar('\\');
                putchar(*text);
        }
}

static void put_topic(const struct topic *t)
{
        putchar('*');
        put_scdoc(t->name);
        putchar(t->kind == TOPIC_KEY ? '=' : '*');
        fputs(t->kind == TOPIC_KEY ? "*" : ": ", stdout);
        if (t->kind != TOPIC_KEY)
                put_scdoc(t->title);
        fputs("\n\t", stdout);
        put_scdoc(t->text);
        fputs("\n\n\t", stdout);
        for (size_t i = 0; i < ELEMENTSOF(t->fact) && t->fact[i].label; i++) {
                /* After "++" the line goes on without an indent of its own. */
                printf("%s%s: ", i ? "++\n" : "", t->fact[i].label);
                put_scdoc(t->fact[i].value);
        }
        fputs("\n\n", stdout);
}

/* kind is a word of topic_kind_name(); section, of a key, may be NULL: all. words: names only. */
static int put_topics(const char *kind, const char *section, bool words)
{
        size_t n = 0;

        for (size_t i = 0; i < topic_count(); i++) {
                _cleanup_(topic_done) struct topic t = {0};
                int r = topic_get(i, &t);

                if (r < 0)
                        return r;
                if (strcmp(topic_kind_name(t.kind), kind) != 0 ||
                    (section && strcmp(t.title, section) != 0))
                        continue;
                if (words)
                        puts(t.name);
                else
                        put_topic(&t);
                n++;
        }
        return n > 0 ? 0 : -ENOENT;
}

static void put_validities(void)
{
        for (const struct validity_text *v = validity_texts; v->name; v++) {
                printf("*%s*\n\t", v->name);
                put_scdoc(v->text);
                fputs("\n\n", stdout);
        }
}

static void put_messages(void)
{
        for (size_t i = 0; i < CONDITION_COUNT; i++)
                printf("\t%s  %s%s\n", condition_table[i].message_id, condition_table[i].name,
                       i < JUDGED_COUNT ? "" : " (not a condition that lasts)");
        printf("\t" JOURNAL_SUMMARY_ID "  overhead summary\n");
}

/* The directive a line consists of, without its marks and the blanks in front, or NULL. Changes
 * line. */
static char *directive_of(char *line)
{
        size_t len;

        line += strspn(line, " \t");
        len = strlen(line);
        if (len < 3 || line[0] != '@' || line[len - 1] != '@' || strncmp(line, "@VERSION@", 9) == 0)
                return NULL;
        line[len - 1] = '\0';
        return line + 1;
}

static int put_directive(char *directive)
{
        char *rest = NULL;
        const char *verb = strtok_r(directive, " ", &rest);
        const char *kind = strtok_r(NULL, " ", &rest), *section = strtok_r(NULL, " ", &rest);

        if (!verb)
                return -EINVAL;
        if (strcmp(verb, "validities") == 0)
                put_validities();
        else if (strcmp(verb, "messages") == 0)
                put_messages();
        else if (kind && strcmp(verb, "topics") == 0)
                return put_topics(kind, section, false);
        else if (kind && strcmp(verb, "words") == 0)
                return put_topics(kind, section, true);
        else
                return -EINVAL;
        return 0;
}

static void put_line(const char *line)
{
        static const char mark[] = "@VERSION@";
        const char *at;

        while ((at = strstr(line, mark))) {
                printf("%.*s" TLBD_VERSION, (int)(at - line), line);
                line = at + strlen(mark);
        }
        puts(line);
}

static int fill(const char *template)
{
        _cleanup_(buffer_done) struct buffer b = {0};
        char *line, *rest;
        int r = buffer_read_path(&b, template);

        if (r < 0) {
                fprintf(stderr, "gendoc: %s: %s\n", template, strerror(-r));
                return r;
        }
        for (rest = b.data; (line = strsep(&rest, "\n")) && (rest || *line);) {
                char *directive = directive_of(line);

                if (!directive) {
                        put_line(line);
                        continue;
                }
                r = put_directive(directive);
                if (r < 0) {
                        fprintf(stderr, "gendoc: %s: bad directive \"%s\"\n", template, directive);
                        return r;
                }
        }
        return 0;
}

/* Which of an entry's fields say what it is about. */
static const char *catalog_fields(enum condition_id id)
{
        if (id < JUDGED_COUNT)
                return "State: @TLBD_STATE@. @TLBD_METRIC@ was @TLBD_VALUE@, the threshold is "
                       "@TLBD_THRESHOLD@, judged over @TLBD_WINDOW_SEC@ s.";
        switch (id) {
        case CONDITION_TUNABLE_APPLIED:
        case CONDITION_TUNABLE_DRIFT:
                return "Setting @TLBD_KNOB@: from @TLBD_OLD@ to @TLBD_NEW@.";
        case CONDITION_TUNABLE_REFUSED:
                return "Reason: @TLBD_REASON@";
        case CONDITION_SOURCE_LOST:
                return "File: @TLBD_SOURCE@. State: @TLBD_REASON@.";
        case CONDITION_CPU_BUDGET:
                return "State: @TLBD_STATE@. @TLBD_KNOB@ went from @TLBD_OLD@ to @TLBD_NEW@ s.";
        default:
                return NULL;
        }
}

static void put_catalog_entry(const char *id, const char *title, const char *text,
                              const char *fields)
{
        printf("-- %s\nSubject: %s\nDefined-By: tlbd\nDocumentation: man:tlbd(8)\n\n", id, title);
        text_wrap(stdout, 0, 0, CATALOG_WIDTH, text);
        if (fields) {
                putchar('\n');
                text_wrap(stdout, 0, 0, CATALOG_WIDTH, fields);
        }
        putchar('\n');
}

static void put_catalog(void)
{
        puts("# Journal message catalog of tlbd, see journalctl(1), option --catalog.\n");
        for (enum condition_id id = 0; id < CONDITION_COUNT; id++)
                put_catalog_entry(condition_table[id].message_id, condition_table[id].title,
                                  condition_table[id].text, catalog_fields(id));
        put_catalog_entry(JOURNAL_SUMMARY_ID, "What balancing and reclaim cost",
                          "What NUMA balancing and page reclaim cost in TLB shootdowns since the "
                          "last summary. Each metric of tlbd(8) is a field TLBD_<NAME> with its "
                          "validity beside it in TLBD_<NAME>_VALIDITY; \"journalctl -o json\" has "
                          "them all. SummarySec in tlbd.conf(5) sets how often this is written.",
                          "Time covered: @TLBD_WINDOW_SEC@ s.");
}

int main(int argc, char **argv)
{
        int r = 0;

        if (argc == 3 && strcmp(argv[1], "fill") == 0) {
                r = fill(argv[2]);
        } else if (argc == 2 && strcmp(argv[1], "catalog") == 0) {
                put_catalog();
        } else {
                fputs("usage: gendoc fill TEMPLATE | gendoc catalog\n", stderr);
                return 2;
        }
        if (fflush(stdout) != 0) {
                perror("gendoc");
                return EXIT_FAILURE;
        }
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
