/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top.h"

#include "status-read.h"
#include "top-draw.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PLAIN_ROWS 60
#define PLAIN_COLUMNS 80
#define KEY_WAIT_MS 200
#define CELLS_MAX 1000 /* rows or columns; a terminal that says more is not believed */

enum pair { PAIR_ALARM = 1, PAIR_LOW, PAIR_MIDDLE, PAIR_HIGH };

struct top {
        const char *path;
        double interval_s;
        struct json_object *status; /* the last one that could be read */
        struct stat seen;           /* the file it came from */
        uint64_t looked_ns;         /* when the file was looked at last */
        char *warning;              /* owned; why status is not the present; NULL: it is */
        bool utf8, colour;
};

static volatile sig_atomic_t stop_requested;

static void request_stop(int sig)
{
        (void)sig;
        stop_requested = 1;
}

static void top_done(struct top *t)
{
        json_object_put(t->status);
        free(t->warning);
}

/* Reads the file if it is another one than last time. Negative errno: t->warning says why what is
 * there is old. */
static int top_look(struct top *t)
{
        struct json_object *status;
        struct stat st;
        int r;

        t->looked_ns = now_monotonic_ns();
        free(t->warning);
        t->warning = NULL;
        if (!t->status || stat(t->path, &st) < 0 || st.st_ino != t->seen.st_ino ||
            st.st_mtim.tv_sec != t->seen.st_mtim.tv_sec ||
            st.st_mtim.tv_nsec != t->seen.st_mtim.tv_nsec) {
                t->seen = (struct stat){0};
                (void)stat(t->path, &t->seen);
                r = status_read(t->path, &status, &t->warning);
                if (r < 0)
                        return r;
                json_object_put(t->status);
                t->status = status;
        }
        return status_fresh(t->status, t->looked_ns, &t->warning);
}

static int top_picture(const struct top *t, unsigned rows, unsigned cols, bool keys,
                       struct canvas *ret)
{
        double age = ((double)now_monotonic_ns() - status_number(t->status, "monotonic_ns")) /
                     NSEC_PER_SEC;
        struct top_view v = {.status = t->status,
                             .age_s = age < 0 ? 0 : age,
                             .warning = t->warning,
                             .keys = keys};
        int r = canvas_init(ret, rows, cols);

        if (r == 0)
                r = top_draw(ret, &v);
        if (r < 0)
                canvas_done(ret);
        return r;
}

/* As text */

static unsigned plain_columns(void)
{
        const char *text = getenv("COLUMNS");
        struct winsize w;
        uint64_t n;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
                return w.ws_col < CELLS_MAX ? w.ws_col : CELLS_MAX;
        if (text && parse_u64(text, strlen(text), &n) == 0 && n > 0 && n <= CELLS_MAX)
                return (unsigned)n;
        return PLAIN_COLUMNS;
}

static int plain_print(const struct top *t)
{
        _cleanup_(canvas_done) struct canvas c = {0};
        int r = top_picture(t, PLAIN_ROWS, plain_columns(), false, &c);

        if (r < 0)
                return r;
        canvas_print(stdout, &c);
        if (fflush(stdout) != 0)
                return -errno;
        return 0;
}

static void wait_interval(double seconds)
{
        struct timespec ts = {.tv_sec = (time_t)seconds,
                              .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};

        (void)nanosleep(&ts, NULL);
}

/* Ends with the reader of our output, or when there is nothing new to come. */
static int run_plain(struct top *t)
{
        int r = plain_print(t);

        while (r == 0) {
                double shown = status_number(t->status, "samples");
                int looked;

                wait_interval(t->interval_s);
                looked = top_look(t);
                if (looked == -ESTALE || looked == -ENOENT) {
                        (void)fprintf(stderr, "tlbctl: %s\n", t->warning ? t->warning : "stale");
                        return looked;
                }
                if (looked < 0 || status_number(t->status, "samples") == shown)
                        continue;
                (void)fputc('\n', stdout);
                r = plain_print(t);
        }
        return r;
}

/* On a terminal */

static void show_heat(const struct top *t, int row, int col, int level)
{
        static const char *const block[] = {"\u00b7", "\u2581", "\u2582", "\u2583", "\u2584",
                                            "\u2585", "\u2586", "\u2587", "\u2588"};
        int pair = level <= 0 ? 0 : level <= 3 ? PAIR_LOW : level <= 6 ? PAIR_MIDDLE : PAIR_HIGH;
        attr_t attributes = level <= 0 ? A_DIM : A_NORMAL;

        if (t->colour && pair)
                attributes |= (attr_t)COLOR_PAIR(pair);
        (void)attrset((int)attributes);
        if (t->utf8)
                (void)mvaddstr(row, col, block[level]);
        else
                (void)mvaddch(row, col, (chtype)(level ? '0' + level : '.'));
}

static void show_cell(const struct top *t, int row, int col, struct cell cell)
{
        int attributes = A_NORMAL;

        if (cell.style == CANVAS_HEAT && cell.ch >= '0' && cell.ch <= '8') {
                show_heat(t, row, col, cell.ch - '0');
                return;
        }
        if (cell.style == CANVAS_BOLD || cell.style == CANVAS_ALARM)
                attributes |= (int)A_BOLD;
        if (cell.style == CANVAS_DIM)
                attributes |= (int)A_DIM;
        if (cell.style == CANVAS_ALARM && t->colour)
                attributes |= (int)COLOR_PAIR(PAIR_ALARM);
        (void)attrset(attributes);
        (void)mvaddch(row, col, (unsigned char)cell.ch);
}

static int show(const struct top *t)
{
        _cleanup_(canvas_done) struct canvas c = {0};
        int rows, cols, r;

        getmaxyx(stdscr, rows, cols);
        rows = rows < 0 ? 0 : rows > CELLS_MAX ? CELLS_MAX : rows;
        cols = cols < 0 ? 0 : cols > CELLS_MAX ? CELLS_MAX : cols;
        r = top_picture(t, (unsigned)rows, (unsigned)cols, true, &c);
        if (r < 0)
                return r;
        (void)erase();
        for (int row = 0; row < rows; row++)
                for (int col = 0; col < cols; col++) {
                        struct cell cell = c.cell[(size_t)row * c.cols + (size_t)col];

                        if (cell.ch != ' ')
                                show_cell(t, row, col, cell);
                }
        (void)refresh();
        return 0;
}

/* 'q', another key, KEY_RESIZE, or ERR after a moment without one. -ENODEV: the terminal is gone.
 */
static int wait_key(void)
{
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        int n = poll(&p, 1, KEY_WAIT_MS);

        if (n > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL))
                return -ENODEV;
        return getch(); /* after a signal too: that is how a new size comes */
}

static int loop_terminal(struct top *t)
{
        int r = show(t);

        while (r == 0 && !stop_requested) {
                int key = wait_key();
                bool due =
                        (double)(now_monotonic_ns() - t->looked_ns) >= t->interval_s * NSEC_PER_SEC;

                if (key == 'q' || key == 'Q' || key == -ENODEV)
                        break;
                if (due)
                        (void)top_look(t); /* what is wrong is in t->warning, and shown */
                if (due || key != ERR)
                        r = show(t);
        }
        return r;
}

static void setup_terminal(struct top *t)
{
        (void)cbreak();
        (void)noecho();
        (void)curs_set(0);
        (void)keypad(stdscr, TRUE);
        (void)nodelay(stdscr, TRUE);
        t->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
        t->colour = !getenv("NO_COLOR") && has_colors() && start_color() == OK &&
                    use_default_colors() == OK;
        if (t->colour) {
                (void)init_pair(PAIR_ALARM, COLOR_RED, -1);
                /* No red: the busiest CPU of an idle machine is no alarm. */
                (void)init_pair(PAIR_LOW, COLOR_BLUE, -1);
                (void)init_pair(PAIR_MIDDLE, COLOR_CYAN, -1);
                (void)init_pair(PAIR_HIGH, COLOR_YELLOW, -1);
        }
}

static int run_terminal(struct top *t)
{
        struct sigaction stop = {.sa_handler = request_stop}; /* interrupts poll(2) */
        SCREEN *screen;
        int r;

        (void)setlocale(LC_CTYPE, "");
        screen = newterm(NULL, stdout, stdin);
        if (!screen) {
                (void)fprintf(stderr, "tlbctl: terminal type \"%s\" is not known, plain text\n",
                              getenv("TERM") ? getenv("TERM") : "");
                return run_plain(t);
        }
        (void)sigaction(SIGINT, &stop, NULL);
        (void)sigaction(SIGTERM, &stop, NULL);
        (void)sigaction(SIGHUP, &stop, NULL);
        setup_terminal(t);
        r = loop_terminal(t);
        (void)endwin();
        delscreen(screen);
        return r;
}

int top_run(const char *status_path, double interval_s, bool once)
{
        _cleanup_(top_done) struct top t = {.path = status_path,
                                            .interval_s = interval_s > 0 ? interval_s : 1};
        int r = top_look(&t);

        if (r < 0) {
                (void)fprintf(stderr, "tlbctl: %s\n", t.warning ? t.warning : strerror(-r));
                return r;
        }
        if (once)
                return plain_print(&t);
        if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
                return run_terminal(&t);
        return run_plain(&t);
}
