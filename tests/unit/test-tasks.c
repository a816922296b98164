/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "tasks.h"

#include <errno.h>
#include <unistd.h>

/*
 * In the place of taskstats.c: a kernel that knows the processes of this table, in which exits
 * happen when the test says so. tasks.c is linked with these functions.
 */
static struct {
        int open_error, watch_error, dispatch_error;
        bool open;
        char cpus[64]; /* asked to watch */
        taskstats_exit_fn fn;
        void *userdata;
        struct task_delays process[1200];
        size_t n_processes, asked;
        struct {
                struct task_delays task;
                bool group;
        } exit[1000];
        size_t n_exits;
        uint64_t lost; /* at the next dispatch */
} kernel;

struct taskstats_client {
        int nothing;
};

static struct taskstats_client the_client;

const char *delay_name(enum delay_kind kind)
{
        return kind == DELAY_IRQ ? "irq" : "memory";
}

int taskstats_open(struct taskstats_client **ret)
{
        if (kernel.open_error < 0)
                return kernel.open_error;
        assert_false(kernel.open); /* never twice */
        kernel.open = true;
        *ret = &the_client;
        return 0;
}

void taskstats_close(struct taskstats_client **t)
{
        if (!*t)
                return;
        assert_ptr_equal(*t, &the_client);
        assert_true(kernel.open);
        kernel.open = false;
        kernel.fn = NULL;
        *t = NULL;
}

int taskstats_get_process(struct taskstats_client *t, pid_t tgid, struct task_delays *ret)
{
        assert_ptr_equal(t, &the_client);
        kernel.asked++;
        for (size_t i = 0; i < kernel.n_processes; i++)
                if (kernel.process[i].pid == (uint32_t)tgid) {
                        *ret = kernel.process[i];
                        ret->pid = 0; /* as in sums of a thread group */
                        return 0;
                }
        return -ESRCH;
}

int taskstats_watch_exits(struct taskstats_client *t, const char *cpus, taskstats_exit_fn fn,
                          void *userdata)
{
        assert_ptr_equal(t, &the_client);
        if (kernel.watch_error < 0)
                return kernel.watch_error;
        (void)snprintf(kernel.cpus, sizeof(kernel.cpus), "%s", cpus);
        kernel.fn = fn;
        kernel.userdata = userdata;
        return 0;
}

int taskstats_exit_fd(const struct taskstats_client *t)
{
        assert_ptr_equal(t, &the_client);
        return kernel.fn ? 42 : -1;
}

int taskstats_dispatch(struct taskstats_client *t, struct taskstats_exits *counts)
{
        assert_ptr_equal(t, &the_client);
        for (size_t i = 0; kernel.fn && i < kernel.n_exits; i++) {
                counts->seen += !kernel.exit[i].group;
                kernel.fn(&kernel.exit[i].task, kernel.exit[i].group, kernel.userdata);
        }
        kernel.n_exits = 0;
        counts->lost += kernel.lost;
        kernel.lost = 0;
        return kernel.dispatch_error;
}

/* ---- a machine --------------------------------------------------------------------------------
 */

struct fixture {
        char *dir;
        struct tasks tasks;
        struct unit_metric unit[12];
        struct unit_metrics units;
        uint64_t now_ns;
};

static void put(struct fixture *f, const char *text, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static void put(struct fixture *f, const char *text, const char *format, ...)
{
        char path[1024];
        va_list args;

        va_start(args, format);
        (void)vsnprintf(path, sizeof(path), format, args);
        va_end(args);
        unit_write(f->dir, path, text);
}

static void add_unit(struct fixture *f, const char *path)
{
        const char *slash = strrchr(path, '/');

        assert_true(f->units.n < ELEMENTSOF(f->unit));
        f->unit[f->units.n++] =
                (struct unit_metric){.path = path, .name = slash ? slash + 1 : "other"};
}

/* A process in /proc and in the kernel's accounting, which waited so many ms for free pages. */
static void add_process(struct fixture *f, uint32_t pid, const char *comm, unsigned start,
                        uint64_t waited_ms)
{
        struct task_delays *p = NULL;
        char text[256];

        for (size_t i = 0; i < kernel.n_processes; i++)
                if (kernel.process[i].pid == pid)
                        p = &kernel.process[i];
        if (!p) {
                assert_true(kernel.n_processes < ELEMENTSOF(kernel.process));
                p = &kernel.process[kernel.n_processes++];
        }
        *p = (struct task_delays){.version = 17, .pid = pid};
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++)
                p->delay[k] = (struct delay){.known = true};
        p->delay[DELAY_FREEPAGES].count = waited_ms;
        p->delay[DELAY_FREEPAGES].total_ns = waited_ms * 1000000;
        (void)snprintf(text, sizeof(text),
                       "%u (%s) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %u 9 9\n", pid, comm,
                       start);
        put(f, text, "proc/%u/stat", pid);
}

static void add_exit(uint32_t pid, uint32_t ppid, const char *comm, uint64_t waited_ms, bool group)
{
        struct task_delays *t = &kernel.exit[kernel.n_exits].task;

        assert_true(kernel.n_exits < ELEMENTSOF(kernel.exit));
        kernel.exit[kernel.n_exits++].group = group;
        *t = (struct task_delays){.version = 17, .pid = pid, .ppid = ppid};
        (void)snprintf(t->comm, sizeof(t->comm), "%s", comm);
        t->delay[DELAY_FREEPAGES] = (struct delay){true, 1, waited_ms * 1000000};
        t->delay[DELAY_IRQ] = (struct delay){true, 5, 12345};
}

static void pass(struct fixture *f)
{
        f->now_ns += 10 * NSEC_PER_SEC;
        assert_int_equal(tasks_update(&f->tasks, &f->units, f->now_ns), 0);
}

static const struct task_entry *by_pid(const struct fixture *f, uint32_t pid)
{
        for (size_t i = 0; i < f->tasks.n_running; i++)
                if (f->tasks.entry[i].pid == pid)
                        return &f->tasks.entry[i];
        return NULL;
}

static const struct task_entry *by_comm(const struct fixture *f, const char *unit, const char *comm)
{
        for (size_t i = f->tasks.n_running; i < f->tasks.n; i++)
                if (strcmp(f->tasks.entry[i].comm, comm) == 0 &&
                    strcmp(f->tasks.entry[i].unit, unit) == 0)
                        return &f->tasks.entry[i];
        return NULL;
}

static void waited_ms(const struct delay *d, uint64_t ms)
{
        assert_true(d->known);
        assert_int_equal(d->total_ns, ms * 1000000);
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        if (!f || unit_tmpdir_make((void **)&f->dir) < 0)
                return -1;
        memset(&kernel, 0, sizeof(kernel));
        f->units.unit = f->unit;
        if (tasks_init(&f->tasks, f->dir) < 0)
                return -1;
        f->tasks.live = true; /* the fake kernel answers */
        put(f, "1\n", "proc/sys/kernel/task_delayacct");
        put(f, "0-7\n", "sys/devices/system/cpu/possible");
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;
        int r;

        tasks_done(&f->tasks);
        r = kernel.open ? -1 : unit_tmpdir_remove((void **)&f->dir);
        free(f);
        return r;
}

/* ---- states -----------------------------------------------------------------------------------
 */

static void off_denied_and_absent_are_states(void **state)
{
        struct fixture *f = *state;

        put(f, "0\n", "proc/sys/kernel/task_delayacct");
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_OFF);
        assert_int_equal(tasks_fd(&f->tasks), -1);
        put(f, "1\n", "proc/sys/kernel/task_delayacct");
        kernel.open_error = -EPERM;
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_DENIED);
        kernel.open_error = -EOPNOTSUPP;
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_ABSENT);
        assert_int_equal(f->tasks.n, 0);
        kernel.open_error = -ENOMEM;
        assert_int_equal(tasks_update(&f->tasks, &f->units, 1), -ENOMEM);
        kernel.open_error = 0;
        f->tasks.live = false; /* a tree of files */
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_ABSENT);
        assert_false(kernel.open);
}

static void switched_off_while_running_it_lets_go(void **state)
{
        struct fixture *f = *state;

        add_unit(f, "/a.service");
        put(f, "10\n", "sys/fs/cgroup/a.service/cgroup.procs");
        add_process(f, 10, "x", 5, 100);
        pass(f);
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_OK);
        assert_int_equal(tasks_fd(&f->tasks), 42);
        assert_string_equal(kernel.cpus, "0-7");
        put(f, "0\n", "proc/sys/kernel/task_delayacct");
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_OFF);
        assert_int_equal(f->tasks.n, 0);
        assert_int_equal(tasks_fd(&f->tasks), -1);
        assert_false(kernel.open);
        /* and begins anew: no difference over the time it was off */
        put(f, "1\n", "proc/sys/kernel/task_delayacct");
        add_process(f, 10, "x", 5, 900);
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_OK);
        assert_false(by_pid(f, 10)->delta[DELAY_FREEPAGES].known);
        assert_true(f->tasks.interval_s == 0);
}

/* Kernels before 5.14 have no such sysctl and decide at boot. */
static void kernel_without_the_switch_is_asked(void **state)
{
        struct fixture *f = *state;
        char path[256];

        (void)snprintf(path, sizeof(path), "%s/proc/sys/kernel/task_delayacct", f->dir);
        assert_int_equal(unlink(path), 0);
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_OK);
}

static void exits_that_cannot_be_heard_cost_only_themselves(void **state)
{
        struct fixture *f = *state;

        kernel.watch_error = -EINVAL; /* inside a pid namespace */
        add_unit(f, "/a.service");
        put(f, "10\n", "sys/fs/cgroup/a.service/cgroup.procs");
        add_process(f, 10, "x", 5, 100);
        pass(f);
        assert_int_equal(f->tasks.state, SOURCE_OK);
        assert_int_equal(tasks_fd(&f->tasks), -1);
        waited_ms(&by_pid(f, 10)->total[DELAY_FREEPAGES], 100);
}

static void broken_connection_is_made_anew(void **state)
{
        struct fixture *f = *state;

        pass(f);
        kernel.dispatch_error = -EIO;
        tasks_dispatch(&f->tasks);
        assert_false(kernel.open);
        assert_int_equal(tasks_fd(&f->tasks), -1);
        kernel.dispatch_error = 0;
        pass(f);
        assert_true(kernel.open);
        assert_int_equal(f->tasks.state, SOURCE_OK);
}

/* ---- running processes ------------------------------------------------------------------------
 */

static void deltas_are_of_the_same_process(void **state)
{
        struct fixture *f = *state;

        add_unit(f, "/s.slice/a.service");
        add_unit(f, "");
        put(f, "30\n10\n20\n", "sys/fs/cgroup/s.slice/a.service/cgroup.procs");
        add_process(f, 10, "worker", 5, 100);
        add_process(f, 20, "again", 5, 100);
        add_process(f, 30, "odd ) (name", 5, 100);
        pass(f);
        assert_int_equal(f->tasks.n_running, 3);
        assert_false(by_pid(f, 10)->delta[DELAY_FREEPAGES].known);
        assert_string_equal(by_pid(f, 10)->unit, "/s.slice/a.service");
        assert_string_equal(by_pid(f, 10)->comm, "worker");
        add_process(f, 10, "renamed", 5, 175);    /* still itself */
        add_process(f, 20, "again", 700, 300);    /* another with its number, name and more time */
        add_process(f, 30, "odd ) (name", 5, 90); /* fell: a kernel that lies */
        pass(f);
        waited_ms(&by_pid(f, 10)->delta[DELAY_FREEPAGES], 75);
        waited_ms(&by_pid(f, 10)->total[DELAY_FREEPAGES], 175);
        assert_int_equal(by_pid(f, 10)->delta[DELAY_FREEPAGES].count, 75);
        assert_false(by_pid(f, 20)->delta[DELAY_FREEPAGES].known);
        assert_false(by_pid(f, 30)->delta[DELAY_FREEPAGES].known);
        assert_string_equal(by_pid(f, 30)->comm, "odd ) (name");
        assert_true(f->tasks.interval_s == 10);
}

static void processes_below_a_delegated_unit_are_its_own(void **state)
{
        struct fixture *f = *state;

        add_unit(f, "/user.slice/user@1000.service");
        put(f, "", "sys/fs/cgroup/user.slice/user@1000.service/cgroup.procs");
        put(f, "11\n", "sys/fs/cgroup/user.slice/user@1000.service/init.scope/cgroup.procs");
        put(f, "12\nnonsense\n-3\n0\n99999999999\n",
            "sys/fs/cgroup/user.slice/user@1000.service/app.slice/a.service/cgroup.procs");
        add_process(f, 11, "systemd", 1, 1);
        add_process(f, 12, "app", 2, 2);
        pass(f);
        assert_int_equal(f->tasks.n_running, 2);
        assert_string_equal(by_pid(f, 12)->unit, "/user.slice/user@1000.service");
        assert_int_equal(f->tasks.n_left_out, 0);
}

static void processes_that_are_gone_are_left_out(void **state)
{
        struct fixture *f = *state;

        add_unit(f, "/a.service");
        add_unit(f, "/gone.service");
        put(f, "10\n11\n", "sys/fs/cgroup/a.service/cgroup.procs");
        add_process(f, 10, "x", 5, 1);
        pass(f);
        assert_int_equal(f->tasks.n, 1);
        assert_int_equal(kernel.asked, 2);
}

/* 900 processes in the first unit do not take the places of the second. */
static void places_are_shared_between_units(void **state)
{
        struct fixture *f = *state;
        char procs[16384];
        size_t n = 0, second = 0;

        add_unit(f, "/a.service");
        add_unit(f, "");
        add_unit(f, "/b.service");
        for (uint32_t pid = 1000; pid < 1900; pid++) {
                add_process(f, pid, "many", 1, 1);
                n += (size_t)snprintf(procs + n, sizeof(procs) - n, "%u\n", pid);
        }
        put(f, procs, "sys/fs/cgroup/a.service/cgroup.procs");
        put(f, "10\n11\n12\n", "sys/fs/cgroup/b.service/cgroup.procs");
        for (uint32_t pid = 10; pid < 13; pid++)
                add_process(f, pid, "few", 1, 1);
        pass(f);
        for (size_t i = 0; i < f->tasks.n_running; i++)
                second += strcmp(f->tasks.entry[i].unit, "/b.service") == 0;
        assert_int_equal(second, 3);
        assert_int_equal(f->tasks.n_running, TASKS_MAX_PROCESSES / 2 + 3);
        assert_int_equal(f->tasks.n_left_out, 900 - TASKS_MAX_PROCESSES / 2);
        assert_true(kernel.asked <= TASKS_MAX_PROCESSES);
}

static void only_leading_units_are_asked_about(void **state)
{
        struct fixture *f = *state;
        static char path[11][32];

        for (unsigned i = 0; i < ELEMENTSOF(path); i++) {
                char pid[16];

                (void)snprintf(path[i], sizeof(path[i]), "/u%u.service", i);
                (void)snprintf(pid, sizeof(pid), "%u\n", 100 + i);
                add_unit(f, path[i]);
                put(f, pid, "sys/fs/cgroup%s/cgroup.procs", path[i]);
                add_process(f, 100 + i, "x", 1, 1);
        }
        pass(f);
        assert_int_equal(f->tasks.n_running, TASKS_MAX_UNITS);
        assert_non_null(by_pid(f, 100));
        assert_null(by_pid(f, 100 + TASKS_MAX_UNITS));
}

/* ---- tasks that end ---------------------------------------------------------------------------
 */

static void unit_of_a_task_is_the_first_in_its_path(void **state)
{
        static const struct {
                const char *cgroup, *unit;
        } line[] = {
                {"0::/system.slice/db.service\n", "/system.slice/db.service"},
                {"0::/user.slice/user@1.service/app.slice/x.service\n",
                 "/user.slice/user@1.service"},
                {"0::/system.slice/db.service (deleted)\n", "/system.slice/db.service"},
                {"0::/x.service/sub (deleted)\n", "/x.service"},
                {"0::/init.scope\n", "/init.scope"},
                {"0::/\n", ""},
                {"0::/a.slice/.service\n", ""},
                {"0::/a.service.d/b\n", ""},
                {"0::/odd \"\\x2d\xff.service\n", "/odd \"\\x2d\xff.service"},
                {"4:memory:/old.service\n0::/new.service\n", "/new.service"},
                {"4:memory:/old.service\n", ""}, /* cgroup v1 only */
                {"0::/no-newline.service", "/no-newline.service"},
                {"", ""},
        };
        struct fixture *f = *state;

        for (size_t i = 0; i < ELEMENTSOF(line); i++) {
                char comm[16];

                put(f, line[i].cgroup, "proc/%zu/cgroup", 500 + i);
                (void)snprintf(comm, sizeof(comm), "c%zu", i);
                add_exit((uint32_t)(500 + i), 1, comm, 1, false);
        }
        pass(f);
        for (size_t i = 0; i < ELEMENTSOF(line); i++) {
                char comm[16];

                (void)snprintf(comm, sizeof(comm), "c%zu", i);
                assert_non_null(by_comm(f, line[i].unit, comm));
        }
}

static void ended_tasks_are_summed_up_by_unit_and_command(void **state)
{
        struct fixture *f = *state;
        const struct task_entry *e;

        for (uint32_t pid = 100; pid < 103; pid++)
                put(f, "0::/a.service\n", "proc/%u/cgroup", pid);
        put(f, "0::/b.service\n", "proc/200/cgroup");
        pass(f);
        add_exit(100, 1, "cc1", 5, false);
        add_exit(101, 1, "cc1", 7, false);
        add_exit(102, 1, "cc1", 100, true); /* sums of a group: its threads have come already */
        add_exit(200, 1, "cc1", 11, false);
        add_exit(100, 1, "ld", 1, false);
        add_exit(101, 1, "idle", 0, false); /* has never waited */
        kernel.lost = 2;
        tasks_dispatch(&f->tasks);
        pass(f);
        e = by_comm(f, "/a.service", "cc1");
        assert_non_null(e);
        assert_int_equal(e->pid, 0);
        assert_int_equal(e->ended, 2);
        waited_ms(&e->delta[DELAY_FREEPAGES], 12);
        assert_int_equal(e->delta[DELAY_FREEPAGES].count, 2);
        assert_int_equal(e->delta[DELAY_IRQ].total_ns, 2 * 12345);
        assert_false(e->delta[DELAY_COMPACT].known);
        waited_ms(&by_comm(f, "/b.service", "cc1")->delta[DELAY_FREEPAGES], 11);
        assert_int_equal(by_comm(f, "/a.service", "ld")->ended, 1);
        assert_null(by_comm(f, "/a.service", "idle"));
        assert_int_equal(f->tasks.exits.seen, 5);
        assert_int_equal(f->tasks.exits.lost, 2);
        /* The next pass has its own. */
        pass(f);
        assert_int_equal(f->tasks.n, 0);
        assert_int_equal(f->tasks.exits.seen, 5);
}

static void unit_of_a_task_that_is_gone(void **state)
{
        struct fixture *f = *state;

        add_unit(f, "/a.service");
        put(f, "10\n", "sys/fs/cgroup/a.service/cgroup.procs");
        add_process(f, 10, "main", 5, 1);
        put(f, "0::/p.service\n", "proc/77/cgroup");
        put(f, "0::/init.scope\n", "proc/1/cgroup");
        put(f, "0::/\n", "proc/2/cgroup");
        pass(f);
        add_exit(10, 1, "known", 1, false);  /* by the last pass */
        add_exit(11, 77, "child", 1, false); /* by its parent */
        add_exit(12, 1, "orphan", 1, false); /* init adopts from anywhere */
        add_exit(13, 999, "nobody", 1, false);
        pass(f);
        assert_non_null(by_comm(f, "/a.service", "known"));
        assert_non_null(by_comm(f, "/p.service", "child"));
        assert_non_null(by_comm(f, "", "orphan"));
        assert_non_null(by_comm(f, "", "nobody"));
}

static void kinds_of_ended_tasks_are_limited(void **state)
{
        struct fixture *f = *state;

        pass(f);
        for (uint32_t i = 0; i < TASKS_MAX_ENDED + 50; i++) {
                char comm[16];

                (void)snprintf(comm, sizeof(comm), "c%u", i);
                add_exit(5000 + i, 1, comm, 1, false);
        }
        tasks_dispatch(&f->tasks);
        pass(f);
        assert_int_equal(f->tasks.n, TASKS_MAX_ENDED);
        assert_int_equal(f->tasks.exits.seen, TASKS_MAX_ENDED + 50);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                CASE(off_denied_and_absent_are_states),
                CASE(switched_off_while_running_it_lets_go),
                CASE(kernel_without_the_switch_is_asked),
                CASE(exits_that_cannot_be_heard_cost_only_themselves),
                CASE(broken_connection_is_made_anew),
                CASE(deltas_are_of_the_same_process),
                CASE(processes_below_a_delegated_unit_are_its_own),
                CASE(processes_that_are_gone_are_left_out),
                CASE(places_are_shared_between_units),
                CASE(only_leading_units_are_asked_about),
                CASE(unit_of_a_task_is_the_first_in_its_path),
                CASE(ended_tasks_are_summed_up_by_unit_and_command),
                CASE(unit_of_a_task_that_is_gone),
                CASE(kinds_of_ended_tasks_are_limited),
        };

        return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
