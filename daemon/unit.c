/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define SYSTEMD "org.freedesktop.systemd1"
#define UNIT "tlbd.service"
#define TIMEOUT_USEC (UINT64_C(30) * 1000 * 1000)

struct job {
        char path[256];
        char result[32]; /* done, failed, canceled, ...; "" while it runs */
};

static int on_job_removed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        struct job *job = userdata;
        const char *path, *unit, *result;
        uint32_t id;

        (void)error;
        if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0)
                return 0;
        /* The answer that names our job may come after its end: match the unit until then. */
        if (job->path[0] ? strcmp(path, job->path) == 0 : strcmp(unit, UNIT) == 0)
                (void)snprintf(job->result, sizeof(job->result), "%s", result);
        return 0;
}

static int explain_error(const sd_bus_error *error, int r, char **ret_reason)
{
        if (sd_bus_error_has_name(error, SYSTEMD ".NoSuchUnit") ||
            sd_bus_error_has_name(error, SYSTEMD ".JobTypeNotApplicable")) {
                *ret_reason = strf("%s is not running", UNIT);
                return -ESRCH;
        }
        if (sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED) ||
            sd_bus_error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED)) {
                *ret_reason = strf("systemd does not allow you to reload %s", UNIT);
                return -EACCES;
        }
        *ret_reason = strf("systemd: %s", error->message ? error->message : strerror(-r));
        return r;
}

static int start_reload(sd_bus *bus, struct job *job, char **ret_reason)
{
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        const char *path;
        int r = sd_bus_match_signal(bus, NULL, SYSTEMD, "/org/freedesktop/systemd1",
                                    SYSTEMD ".Manager", "JobRemoved", on_job_removed, job);

        if (r >= 0)
                r = sd_bus_call_method(bus, SYSTEMD, "/org/freedesktop/systemd1",
                                       SYSTEMD ".Manager", "Subscribe", &error, NULL, NULL);
        if (r >= 0)
                r = sd_bus_call_method(bus, SYSTEMD, "/org/freedesktop/systemd1",
                                       SYSTEMD ".Manager", "ReloadUnit", &error, &reply, "ss", UNIT,
                                       "replace");
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        if (r >= 0)
                (void)snprintf(job->path, sizeof(job->path), "%s", path);
        else
                r = explain_error(&error, r, ret_reason);
        sd_bus_message_unref(reply);
        sd_bus_error_free(&error);
        return r;
}

static int wait_for_job(sd_bus *bus, const struct job *job, char **ret_reason)
{
        uint64_t end_ns = now_monotonic_ns() + TIMEOUT_USEC * 1000;

        while (!job->result[0]) {
                int r = sd_bus_process(bus, NULL);

                if (r == 0)
                        r = sd_bus_wait(bus, TIMEOUT_USEC / 30);
                if (r < 0 && r != -EINTR) {
                        *ret_reason = strf("the connection to systemd broke: %s", strerror(-r));
                        return r;
                }
                if (now_monotonic_ns() > end_ns) {
                        *ret_reason = strf("systemd did not finish the reload of %s in time", UNIT);
                        return -ETIMEDOUT;
                }
        }
        if (strcmp(job->result, "done") == 0)
                return 0;
        *ret_reason = strf("the reload of %s ended with \"%s\"", UNIT, job->result);
        return -EBADE;
}

int unit_reload(char **ret_reason)
{
        struct job job = {0};
        sd_bus *bus = NULL;
        int r = sd_bus_open_system(&bus);

        *ret_reason = NULL;
        if (r < 0) {
                *ret_reason = strf("no systemd to ask (%s)", strerror(-r));
                return -ENOTCONN;
        }
        r = start_reload(bus, &job, ret_reason);
        if (r >= 0)
                r = wait_for_job(bus, &job, ret_reason);
        sd_bus_flush_close_unref(bus);
        return r;
}
