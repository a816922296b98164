/* SPDX-License-Identifier: GPL-2.0-or-later */

/* tlbd(8): command line of the daemon. */

#include "manager.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
        "Usage: tlbd [OPTION...]\n"
        "Watch what NUMA balancing and page reclaim cost in TLB shootdowns, and apply "
        "tlbd.conf(5).\n\n"
        "  --observe         never change a kernel setting\n"
        "  --live            print a table while running and a report at the end\n"
        "  --duration SEC    stop after SEC seconds\n"
        "  --interval SEC    read everything every SEC seconds, whatever is configured\n"
        "  --log WHERE       auto, journal or stderr\n"
        "  --root DIR        use DIR/proc, DIR/sys, DIR/etc, DIR/run and DIR/usr/lib\n"
        "  --restore         put back what a tlbd that is gone has changed, and exit\n"
        "  --reload PID      make process PID read its configuration again, wait for the result\n"
        "  --help, --version\n";

enum action { ACTION_RUN, ACTION_RESTORE, ACTION_RELOAD };

struct arguments {
        struct manager_options options;
        enum action action;
        int pid;
};

static int usage_error(const char *what, const char *value)
{
        fprintf(stderr, "tlbd: %s: %s\nTry: tlbd --help\n", what, value);
        return -EINVAL;
}

/* Seconds in (0, 1e6], or a negative errno after a message. */
static int parse_seconds(const char *option, const char *text, double *ret)
{
        char *end;
        double v = strtod(text, &end);

        if (end == text || *end || !isfinite(v) || v < 0.01 || v > 1e6)
                return usage_error(option, "not a number of seconds from 0.01 to 1000000");
        *ret = v;
        return 0;
}

static int parse_log(const char *text, enum journal_target *ret)
{
        static const char *const name[] = {"auto", "journal", "stderr"};

        for (size_t i = 0; i < ELEMENTSOF(name); i++)
                if (strcmp(text, name[i]) == 0) {
                        *ret = (enum journal_target)i;
                        return 0;
                }
        return usage_error("--log", "not auto, journal or stderr");
}

static int parse_pid(const char *text, int *ret)
{
        uint64_t pid;

        if (parse_u64(text, strlen(text), &pid) < 0 || pid < 2 || pid > INT32_MAX)
                return usage_error("--reload", "not a process id");
        *ret = (int)pid;
        return 0;
}

/* 0: go on; 1: done (help, version); negative: a wrong command line. */
static int parse_arguments(int argc, char **argv, struct arguments *a)
{
        enum { OBSERVE = 256, LIVE, DURATION, INTERVAL, LOG, ROOT, RESTORE, RELOAD, HELP, VERSION };
        static const struct option option[] = {
                {"observe", no_argument, NULL, OBSERVE},
                {"live", no_argument, NULL, LIVE},
                {"duration", required_argument, NULL, DURATION},
                {"interval", required_argument, NULL, INTERVAL},
                {"log", required_argument, NULL, LOG},
                {"root", required_argument, NULL, ROOT},
                {"restore", no_argument, NULL, RESTORE},
                {"reload", required_argument, NULL, RELOAD},
                {"help", no_argument, NULL, HELP},
                {"version", no_argument, NULL, VERSION},
                {0},
        };
        int c, r = 0;

        while (r == 0 && (c = getopt_long(argc, argv, "", option, NULL)) != -1)
                switch (c) {
                case OBSERVE:
                        a->options.observe = true;
                        break;
                case LIVE:
                        a->options.live = true;
                        break;
                case DURATION:
                        r = parse_seconds("--duration", optarg, &a->options.duration_s);
                        break;
                case INTERVAL:
                        r = parse_seconds("--interval", optarg, &a->options.interval_s);
                        break;
                case LOG:
                        r = parse_log(optarg, &a->options.log);
                        break;
                case ROOT:
                        a->options.root = strcmp(optarg, "/") == 0 ? "" : optarg;
                        break;
                case RESTORE:
                        a->action = ACTION_RESTORE;
                        break;
                case RELOAD:
                        a->action = ACTION_RELOAD;
                        r = parse_pid(optarg, &a->pid);
                        break;
                case HELP:
                        fputs(usage_text, stdout);
                        return 1;
                case VERSION:
                        puts("tlbd " TLBD_VERSION);
                        return 1;
                default:
                        return -EINVAL; /* getopt_long(3) has said why */
                }
        if (r == 0 && optind < argc)
                r = usage_error("unexpected argument", argv[optind]);
        return r;
}

int main(int argc, char **argv)
{
        struct arguments a = {.options = {.root = ""}};
        int r = parse_arguments(argc, argv, &a);

        if (r != 0)
                return r < 0 ? 2 : EXIT_SUCCESS;
        switch (a.action) {
        case ACTION_RUN:
                r = manager_run(&a.options);
                break;
        case ACTION_RESTORE:
                r = manager_restore(a.options.root, false, a.options.log);
                break;
        case ACTION_RELOAD:
                r = manager_reload(a.options.root, a.pid);
                break;
        }
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
