/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kills tlbd's knob code at every file system call, fails every call, and cuts every write, one at
 * a time. (To be killed before a call is to be killed after the one before it: nothing in between
 * leaves a trace.) Afterwards a clean restore must find every knob at its original
 * value. The steps that are wrong on purpose must be found out by the same check.
 *
 *   fault-knobs             all scenarios
 *   fault-knobs STEP ROOT   one step below a root, to be run with FAULT_... in the environment
 */
#include "fault.h"
#include "knob-driver.h"

#include "knobs.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct scenario {
        const char *name;
        const char *before; /* step that prepares, NULL: none */
        const char *step;   /* the one that is disturbed */
        const char *after;  /* step between it and the restore, NULL: none */
        bool wrong;         /* the check must fail at least once */
};

static const struct scenario scenario_table[] = {
        {"first change", NULL, "first", NULL, false},
        {"first change, then a restart", NULL, "first", "first", false},
        {"change of our own value", "first", "second", NULL, false},
        {"change of our own value, then a restart", "first", "second", "second", false},
        {"change of our own value, then back to the first", "first", "second", "first", false},
        {"back to keep", "first", "keep", NULL, false},
        {"restore", "first", "restore", NULL, false},
        {"restore, then a restart", "first", "restore", "second", false},
        {"wrong: kernel before record", NULL, "kernel-first", NULL, true},
        {"wrong: record removed before the restore", "first", "record-first", NULL, true},
        {"wrong: record forgets what the knob holds", "first", "previous-lost", NULL, true},
};

static const struct {
        enum fault_mode mode;
        int error;
        const char *name;
} disturbance[] = {
        {FAULT_KILL_AFTER, 0, "killed after"},
        {FAULT_FAIL, EIO, "EIO"},
        {FAULT_SHORT, 0, "short write"},
};

static const struct {
        const char *path, *original;
} machine[] = {
        {DRIVER_SIZE, "256\n"},
        {DRIVER_MIN, "1000\n"},
        {DRIVER_MAX, "60000\n"},
        {"/proc/sys/kernel/numa_balancing", "1\n"},
};

_Noreturn static void die(const char *what)
{
        (void)fprintf(stderr, "fault-knobs: %s: %s\n", what, strerror(errno));
        exit(2);
}

static void write_file(const char *root, const char *path, const char *text)
{
        char *full = path_join(root, path);
        FILE *f;

        if (!full)
                die("memory");
        for (char *p = full + 1; (p = strchr(p, '/')); p++) {
                *p = '\0';
                if (mkdir(full, 0755) < 0 && errno != EEXIST)
                        die(full);
                *p = '/';
        }
        f = fopen(full, "w");
        if (!f || fputs(text, f) == EOF || fclose(f) == EOF)
                die(full);
        free(full);
}

static const char *const record_files[] = {"/run/restore", "/run/restore.new", "/run/restore.bad"};

static void remove_file(const char *root, const char *path)
{
        char *full = path_join(root, path);

        if (!full || (unlink(full) < 0 && errno != ENOENT))
                die("cannot remove");
        free(full);
}

/* The machine without tlbd. */
static void machine_reset(const char *root)
{
        for (size_t i = 0; i < ELEMENTSOF(machine); i++)
                write_file(root, machine[i].path, machine[i].original);
        write_file(root, "/run/x", "");
        for (size_t i = 0; i < ELEMENTSOF(record_files); i++)
                remove_file(root, record_files[i]);
}

/* The machine as a scenario starts: the knobs and the record (no data: none). */
struct snapshot {
        struct buffer knob[ELEMENTSOF(machine)];
        struct buffer record;
};

static void snapshot_take(const char *root, struct snapshot *ret)
{
        char *record = path_join(root, record_files[0]);

        for (size_t i = 0; i < ELEMENTSOF(machine); i++) {
                char *full = path_join(root, machine[i].path);

                if (!full || buffer_read_path(&ret->knob[i], full) < 0)
                        die("cannot read a knob");
                free(full);
        }
        if (!record || (access(record, F_OK) == 0 && buffer_read_path(&ret->record, record) < 0))
                die("cannot read the record");
        free(record);
}

static void snapshot_put(const char *root, const struct snapshot *s)
{
        machine_reset(root);
        for (size_t i = 0; i < ELEMENTSOF(machine); i++)
                write_file(root, machine[i].path, s->knob[i].data);
        if (s->record.data)
                write_file(root, record_files[0], s->record.data);
}

static void snapshot_done(struct snapshot *s)
{
        for (size_t i = 0; i < ELEMENTSOF(machine); i++)
                buffer_done(&s->knob[i]);
        buffer_done(&s->record);
}

/* Runs a step in a child. The child's wait status. */
static int run(const char *step, const char *root, enum fault_mode mode, unsigned n, int error)
{
        pid_t pid;
        int status;

        (void)fflush(NULL);
        pid = fork();
        if (pid < 0)
                die("fork");
        if (pid == 0) {
                int r;

                if (!freopen("/dev/null", "w", stderr))
                        _exit(3);
                fault_arm(mode, n, error);
                r = driver_run(step, root);
                /* 9: the call to be disturbed never came */
                _exit(r == 0 && mode != FAULT_NONE && fault_calls() < n ? 9 : r);
        }
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        die("waitpid");
        return status;
}

/* A step that is not disturbed needs no child. */
static void run_clean(const char *step, const char *root)
{
        if (driver_run(step, root) != 0)
                die("a clean step failed");
}

/* Whether every knob reads as before tlbd came. As in the kernel, the first line counts: a kill
 * leaves the rest of a longer old value in the plain files that stand for knobs here. */
static bool is_original(const char *root)
{
        bool good = true;

        for (size_t i = 0; i < ELEMENTSOF(machine); i++) {
                _cleanup_(freep) char *full = path_join(root, machine[i].path);
                _cleanup_(buffer_done) struct buffer b = {0};

                if (!full || buffer_read_path(&b, full) < 0)
                        die("cannot read a knob");
                good = good &&
                       strncmp(b.data, machine[i].original, strlen(machine[i].original)) == 0;
        }
        return good;
}

static bool state_is_empty(const char *root)
{
        _cleanup_(freep) char *record = path_join(root, record_files[0]);
        _cleanup_(freep) char *bad = path_join(root, record_files[2]);

        return record && bad && access(record, F_OK) < 0 && access(bad, F_OK) < 0;
}

struct tally {
        unsigned runs, calls, killed, lost, lost_killed, crashed;
};

static bool ended_as_expected(int status, enum fault_mode mode)
{
        if (mode == FAULT_KILL_AFTER)
                return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        return status == 0;
}

/* Disturbs one call. False: the step has fewer calls. */
static bool disturb(const struct scenario *s, const char *root, const struct snapshot *start,
                    size_t d, unsigned n, struct tally *t)
{
        enum fault_mode mode = disturbance[d].mode;
        int status;

        snapshot_put(root, start);
        status = run(s->step, root, mode, n, disturbance[d].error);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 9)
                return false;
        t->runs++;
        t->killed += mode == FAULT_KILL_AFTER;
        if (n > t->calls)
                t->calls = n;
        if (!ended_as_expected(status, mode)) {
                (void)printf("  %s, call %u %s: ended with status %#x\n", s->name, n,
                             disturbance[d].name, (unsigned)status);
                t->crashed++;
                return true;
        }
        if (s->after)
                run_clean(s->after, root);
        run_clean("restore", root);
        if (!is_original(root) || !state_is_empty(root)) {
                if (!s->wrong)
                        (void)printf("  %s, call %u %s: original lost\n", s->name, n,
                                     disturbance[d].name);
                t->lost++;
                t->lost_killed += mode == FAULT_KILL_AFTER;
        }
        return true;
}

/* A scenario passes when nothing was lost; a wrong one when something was. */
static bool scenario_run(const struct scenario *s, const char *root)
{
        struct snapshot start = {0};
        struct tally t = {0};
        bool good;

        machine_reset(root);
        if (s->before)
                run_clean(s->before, root);
        snapshot_take(root, &start);
        for (size_t d = 0; d < ELEMENTSOF(disturbance); d++)
                for (unsigned n = 1; disturb(s, root, &start, d, n, &t); n++)
                        ;
        snapshot_done(&start);
        /* even the shortest step opens, writes and closes a record and a knob */
        good = t.calls >= 9 && t.killed == t.calls && t.crashed == 0 &&
               (s->wrong ? t.lost_killed > 0 : t.lost == 0);
        (void)printf("%s: %s: %u calls, %u runs, original lost in %u, %u of them killed%s\n",
                     good ? "ok" : "FAILED", s->name, t.calls, t.runs, t.lost, t.lost_killed,
                     s->wrong ? " (more than 0: the check sees a wrong order)" : "");
        return good;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
        (void)st;
        (void)flag;
        (void)ftw;
        return remove(path);
}

int main(int argc, char **argv)
{
        /* fsync(2) costs nothing on tmpfs, and here the order of calls is tested, not a disk */
        char root[64] = "/dev/shm/tlbd-fault-XXXXXX";
        unsigned failed = 0;

        if (argc == 3)
                return driver_run(argv[1], argv[2]);
        if (argc != 1) {
                (void)fprintf(stderr, "usage: fault-knobs [STEP ROOT]\n");
                return 2;
        }
        if (!mkdtemp(root)) {
                (void)strcpy(root, "/tmp/tlbd-fault-XXXXXX");
                if (!mkdtemp(root))
                        die(root);
        }
        for (size_t i = 0; i < ELEMENTSOF(scenario_table); i++)
                failed += !scenario_run(&scenario_table[i], root);
        if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
                die(root);
        (void)printf("%zu scenarios, %u failed\n", ELEMENTSOF(scenario_table), failed);
        return failed ? 1 : 0;
}
