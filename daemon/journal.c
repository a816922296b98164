/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "journal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#define JOURNAL_SOCKET_PATH "/run/systemd/journal/socket"

/* systemd sets JOURNAL_STREAM to "device:inode" of the stderr it made (systemd.exec(5)). */
static bool stderr_is_journal(void)
{
        const char *stream = getenv("JOURNAL_STREAM");
        _cleanup_(freep) char *mine = NULL;
        struct stat st;

        if (!stream || fstat(STDERR_FILENO, &st) < 0)
                return false;
        mine = strf("%lu:%lu", (unsigned long)st.st_dev, (unsigned long)st.st_ino);
        return mine && strcmp(mine, stream) == 0;
}

int journal_init(struct journal *j, enum journal_target target)
{
        bool socket = access(JOURNAL_SOCKET_PATH, W_OK) == 0;

        *j = (struct journal){0};
        if (target == JOURNAL_SOCKET && !socket)
                return -ENOENT;
        j->structured = target == JOURNAL_SOCKET ||
                        (target == JOURNAL_AUTO && socket && stderr_is_journal());
        j->syslog_prefix = stderr_is_journal();
        return 0;
}

void journal_entry_add(struct journal_entry *e, const char *name, const char *format, ...)
{
        _cleanup_(freep) char *value = NULL;
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(&value, format, args);
        va_end(args);
        if (n < 0 || e->n == ELEMENTSOF(e->field)) {
                e->failed = true;
                return;
        }
        e->field[e->n] = strf("%s=%s", name, value);
        if (e->field[e->n])
                e->n++;
        else
                e->failed = true;
}

/* -errno if journald did not take it. */
static int send_structured(const struct journal_entry *e)
{
        struct iovec vector[ELEMENTSOF(e->field)];

        for (size_t i = 0; i < e->n; i++)
                vector[i] = (struct iovec){e->field[i], strlen(e->field[i])};
        return sd_journal_sendv(vector, (int)e->n);
}

void journal_entry_send(struct journal *j, struct journal_entry *e, int priority,
                        const char *message_id, const char *message)
{
        journal_entry_add(e, "MESSAGE", "%s", message);
        journal_entry_add(e, "PRIORITY", "%d", priority);
        journal_entry_add(e, "MESSAGE_ID", "%s", message_id);
        journal_entry_add(e, "SYSLOG_IDENTIFIER", "tlbd");
        j->entries++;
        if (!j->structured || send_structured(e) < 0) {
                if (j->syslog_prefix)
                        fprintf(stderr, "<%d>%s\n", priority, message);
                else
                        fprintf(stderr, "tlbd: %s\n", message);
        }
        journal_entry_drop(e);
}

void journal_entry_drop(struct journal_entry *e)
{
        for (size_t i = 0; i < e->n; i++)
                free(e->field[i]);
        *e = (struct journal_entry){0};
}

char *journal_number(double value)
{
        /* Six significant digits; large counts in full. */
        if (fabs(value) >= 1e6)
                return strf("%.0f", value);
        return strf("%.6g", value);
}
