/* SPDX-License-Identifier: GPL-2.0-or-later */

/* tlbctl(1): command line. */

#include "ctl.h"

#include "explain.h"
#include "status-read.h"
#include "status.h"
#include "top.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char usage_text[] =
        "Usage: tlbctl [OPTION...] VERB [OPERAND...]\n"
        "What NUMA balancing and page reclaim cost in TLB shootdowns, and how to tune it.\n\n"
        "  status                  what tlbd sees: conditions, metrics, settings\n"
        "  top                     the same, live (q quits)\n"
        "  tasks                   which processes wait for memory\n"
        "  explain [NAME]          what a metric, condition or key means\n"
        "  get [KEY]               configuration and kernel values\n"
        "  set KEY=VALUE           change the configuration and reload tlbd\n"
        "  unset KEY               take that back\n"
        "  check-config [FILE...]  check without applying\n"
        "  restore                 put back kernel settings after a crash of tlbd\n"
        "  read                    what this machine, or the tree --root DIR, says\n"
        "  snapshot DIR            copy the kernel files tlbd reads\n"
        "  diff DIR1 DIR2          the metrics between two such trees\n\n"
        "  --json                  status, tasks, get, read, diff: machine-readable output\n"
        "  --runtime               set: until the next boot only\n"
        "  --units                 status: each unit of systemd, and nothing else\n"
        "  --unit NAME             tasks: of this unit only\n"
        "  -n N                    tasks: so many lines (20)\n"
        "  --interval-sec N        diff: seconds between the trees; top: between updates\n"
        "  --root DIR              use DIR/proc, DIR/sys, DIR/etc, DIR/run and DIR/usr/lib\n"
        "  --help, --version\n";

void ctl_error(const char *format, ...)
{
        va_list args;

        fputs("tlbctl: ", stderr);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
}

int ctl_print_json(struct json_object *o)
{
        const char *text = json_object_to_json_string_ext(
                o,
                JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);

        if (!text) {
                ctl_error("%s", strerror(ENOMEM));
                return EXIT_CANNOT_READ;
        }
        puts(text);
        return EXIT_FINE;
}

int ctl_finish(int status)
{
        if (fflush(stdout) == 0 && !ferror(stdout))
                return status;
        if (errno == EPIPE) /* the reader has seen enough */
                return status;
        ctl_error("cannot write the output: %s", strerror(errno));
        return EXIT_CANNOT_READ;
}

static char *status_path(const struct ctl *c)
{
        return path_join(c->root, "/run/tlbd/status.json");
}

static unsigned terminal_width(void)
{
        struct winsize ws;

        return ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 80 ? ws.ws_col : 80;
}

static bool any_raised(struct json_object *status)
{
        struct json_object *conditions = status_array(status, "conditions");

        for (size_t i = 0; i < status_length(conditions); i++)
                if (status_true(json_object_array_get_idx(conditions, i), "raised"))
                        return true;
        return false;
}

int ctl_open_status(const struct ctl *c, struct json_object **ret)
{
        _cleanup_(freep) char *path = status_path(c);
        _cleanup_(freep) char *reason = NULL;
        int r = path ? status_read(path, ret, &reason) : -ENOMEM;

        if (r == 0) {
                r = status_fresh(*ret, now_monotonic_ns(), &reason);
                if (r < 0)
                        json_object_put(*ret);
        }
        if (r < 0)
                ctl_error("%s", reason ? reason : strerror(-r));
        return r < 0 ? EXIT_CANNOT_READ : EXIT_FINE;
}

static int ctl_status(const struct ctl *c, int argc, char **argv)
{
        struct json_object *status = NULL;
        int code;

        (void)argv;
        if (argc > 0) {
                ctl_error("status takes no operand");
                return EXIT_USAGE;
        }
        code = ctl_open_status(c, &status);
        if (code != EXIT_FINE)
                return code;
        if (c->json)
                code = ctl_print_json(c->units ? status_object(status, "units") : status);
        else if (c->units)
                report_print_units(stdout, status, terminal_width());
        else
                report_print(stdout, status, terminal_width());
        if (code == EXIT_FINE && any_raised(status))
                code = EXIT_CONDITION;
        json_object_put(status);
        return code;
}

static int ctl_top(const struct ctl *c, int argc, char **argv)
{
        _cleanup_(freep) char *path = status_path(c);
        /* A pipe gets one reading, unless it was said how often. */
        bool once = !isatty(STDOUT_FILENO) && c->interval_s <= 0;

        (void)argv;
        if (argc > 0 || !path) {
                ctl_error("top takes no operand");
                return EXIT_USAGE;
        }
        return top_run(path, c->interval_s > 0 ? c->interval_s : 1, once) < 0 ? EXIT_CANNOT_READ
                                                                              : EXIT_FINE;
}

static int ctl_explain(const struct ctl *c, int argc, char **argv)
{
        (void)c;
        if (argc > 1) {
                ctl_error("explain takes one name at most");
                return EXIT_USAGE;
        }
        return explain_print(stdout, argc == 1 ? argv[0] : NULL) < 0 ? EXIT_USAGE : EXIT_FINE;
}

static const struct {
        const char *name;
        ctl_verb run;
} verb_table[] = {
        {"status", ctl_status},
        {"top", ctl_top},
        {"explain", ctl_explain},
        {"get", ctl_get},
        {"set", ctl_set},
        {"unset", ctl_unset},
        {"check-config", ctl_check_config},
        {"restore", ctl_restore},
        {"tasks", ctl_tasks},
        {"read", ctl_read},
        {"snapshot", ctl_snapshot},
        {"diff", ctl_diff},
};

static int run_verb(const struct ctl *c, int argc, char **argv)
{
        for (size_t i = 0; i < ELEMENTSOF(verb_table); i++)
                if (strcmp(argv[0], verb_table[i].name) == 0)
                        return verb_table[i].run(c, argc - 1, argv + 1);
        ctl_error("%s: no such verb\nTry: tlbctl --help", argv[0]);
        return EXIT_USAGE;
}

static int parse_lines(const char *text, unsigned *ret)
{
        uint64_t n;

        if (parse_u64(text, strlen(text), &n) < 0 || n < 1 || n > 100000) {
                ctl_error("-n: not a number of lines from 1 to 100000");
                return -EINVAL;
        }
        *ret = (unsigned)n;
        return 0;
}

static int parse_interval(const char *text, double *ret)
{
        char *end;
        double v = strtod(text, &end);

        if (end == text || *end || !isfinite(v) || v <= 0 || v > 1e9) {
                ctl_error("--interval-sec: not a number of seconds above 0");
                return -EINVAL;
        }
        *ret = v;
        return 0;
}

int main(int argc, char **argv)
{
        enum { JSON = 256, RUNTIME, UNITS, UNIT, INTERVAL, ROOT, HELP, VERSION };
        static const struct option option[] = {
                {"json", no_argument, NULL, JSON},
                {"runtime", no_argument, NULL, RUNTIME},
                {"units", no_argument, NULL, UNITS},
                {"unit", required_argument, NULL, UNIT},
                {"interval-sec", required_argument, NULL, INTERVAL},
                {"root", required_argument, NULL, ROOT},
                {"help", no_argument, NULL, HELP},
                {"version", no_argument, NULL, VERSION},
                {0},
        };
        struct ctl c = {.root = "", .lines = 20};
        int o;

        while ((o = getopt_long(argc, argv, "n:", option, NULL)) != -1)
                switch (o) {
                case JSON:
                        c.json = true;
                        break;
                case RUNTIME:
                        c.runtime = true;
                        break;
                case UNITS:
                        c.units = true;
                        break;
                case UNIT:
                        c.unit = optarg;
                        break;
                case 'n':
                        if (parse_lines(optarg, &c.lines) < 0)
                                return EXIT_USAGE;
                        break;
                case INTERVAL:
                        if (parse_interval(optarg, &c.interval_s) < 0)
                                return EXIT_USAGE;
                        break;
                case ROOT:
                        c.root = strcmp(optarg, "/") == 0 ? "" : optarg;
                        break;
                case HELP:
                        fputs(usage_text, stdout);
                        return ctl_finish(EXIT_FINE);
                case VERSION:
                        puts("tlbctl " TLBD_VERSION);
                        return ctl_finish(EXIT_FINE);
                default:
                        return EXIT_USAGE; /* getopt_long(3) has said why */
                }
        if (optind == argc) {
                fputs(usage_text, stderr);
                return EXIT_USAGE;
        }
        return ctl_finish(run_verb(&c, argc - optind, argv + optind));
}
