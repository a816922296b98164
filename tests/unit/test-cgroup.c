/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define TOP "sys/fs/cgroup"

/* The memory controller is there. */
static void make_root(const char *dir)
{
        unit_write(dir, TOP "/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
        unit_write(dir, TOP "/memory.stat", "pgsteal_kswapd 1\n");
}

static void unit_file(const char *dir, const char *unit, const char *file, const char *text)
{
        char path[4096];

        assert_true(snprintf(path, sizeof(path), TOP "/%s/%s", unit, file) < (int)sizeof(path));
        unit_write(dir, path, text);
}

/* A unit of so many bytes with its counters. */
static void make_unit(const char *dir, const char *unit, unsigned long bytes,
                      unsigned long migrated, unsigned long stolen)
{
        char text[512];

        (void)snprintf(text, sizeof(text), "%lu\n", bytes);
        unit_file(dir, unit, "memory.current", text);
        (void)snprintf(text, sizeof(text),
                       "anon 4096\npgscan_kswapd 0\npgsteal_kswapd %lu\npgsteal_direct 0\n"
                       "pgsteal_khugepaged 0\npgsteal_proactive 0\nworkingset_refault_anon 0\n"
                       "workingset_refault_file 0\nnuma_pages_migrated %lu\nnuma_pte_updates 0\n"
                       "numa_hint_faults 0\npgdemote_kswapd 0\npgdemote_direct 0\n"
                       "pgdemote_khugepaged 0\npgdemote_proactive 0\npgpromote_success 0\n",
                       stolen, migrated);
        unit_file(dir, unit, "memory.stat", text);
        unit_file(dir, unit, "memory.pressure",
                  "some avg10=1.50 avg60=0.00 avg300=0.00 total=9\n"
                  "full avg10=0.50 avg60=0.00 avg300=0.00 total=3\n");
}

static void remove_unit(const char *dir, const char *unit)
{
        static const char *const file[] = {"memory.current", "memory.stat", "memory.pressure"};
        char path[4096];

        for (size_t i = 0; i < ELEMENTSOF(file); i++) {
                (void)snprintf(path, sizeof(path), "%s/" TOP "/%s/%s", dir, unit, file[i]);
                assert_int_equal(unlink(path), 0);
        }
        (void)snprintf(path, sizeof(path), "%s/" TOP "/%s", dir, unit);
        assert_int_equal(rmdir(path), 0);
}

static void machine_vmstat(struct vmstat *v, unsigned long migrated, unsigned long stolen)
{
        char text[512];
        int n = snprintf(text, sizeof(text),
                         "numa_pages_migrated %lu\nnuma_pte_updates 0\nnuma_hint_faults 0\n"
                         "pgpromote_success 0\npgdemote_kswapd 0\npgdemote_direct 0\n"
                         "pgdemote_khugepaged 0\npgdemote_proactive 0\npgsteal_kswapd %lu\n"
                         "pgsteal_direct 0\npgsteal_khugepaged 0\npgsteal_proactive 0\n"
                         "workingset_refault_anon 0\nworkingset_refault_file 0\n",
                         migrated, stolen);

        *v = (struct vmstat){0};
        vmstat_parse(text, (size_t)n, v);
        assert_int_equal(v->state, SOURCE_OK);
}

static void read_ok(const char *dir, size_t max_units, struct cgroup_units *u)
{
        assert_int_equal(cgroup_units_read(dir, max_units, u), 0);
        assert_int_equal(u->state, SOURCE_OK);
}

static const struct unit_metric *find(const struct unit_metrics *m, const char *path)
{
        for (size_t i = 0; i < m->n; i++)
                if (strcmp(m->unit[i].path, path) == 0)
                        return &m->unit[i];
        return NULL;
}

static void close_to(double a, double b)
{
        assert_true(fabs(a - b) < 1e-9);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void units_are_found_below_slices_and_only_there(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units u;

        make_root(dir);
        make_unit(dir, "init.scope", 10, 1, 2);
        make_unit(dir, "system.slice/db.service", 30, 3, 4);
        make_unit(dir, "system.slice/system-getty.slice/getty@tty1.service", 20, 5, 6);
        /* What is below a unit belongs to it. */
        make_unit(dir, "user.slice/user-1000.slice/user@1000.service", 40, 7, 8);
        make_unit(dir, "user.slice/user-1000.slice/user@1000.service/app.slice/app.service", 15, 7,
                  8);
        make_unit(dir, "system.slice/cron.service.d", 50, 9, 9); /* not a unit's name */
        make_unit(dir, "system.slice/.service", 50, 9, 9);
        read_ok(dir, 100, &u);
        assert_int_equal(u.n, 4);
        assert_string_equal(u.unit[0].path, "/init.scope");
        assert_string_equal(u.unit[1].path, "/system.slice/db.service");
        assert_string_equal(u.unit[1].name, "db.service");
        assert_int_equal(u.unit[1].current_bytes, 30);
        assert_int_equal(u.unit[1].stat.value[VM_NUMA_PAGES_MIGRATED], 3);
        assert_true(u.unit[1].pressure.some.present);
        assert_string_equal(u.unit[2].path, "/system.slice/system-getty.slice/getty@tty1.service");
        assert_string_equal(u.unit[3].path, "/user.slice/user-1000.slice/user@1000.service");
        assert_int_equal(u.n_left_out, 0);
        cgroup_units_done(&u);
}

static void any_byte_may_be_in_a_name(void **state)
{
        static const char *const name[] = {
                "a b.service",
                "back\\slash.service",
                "dev-disk-by\\x2dlabel-x.scope",
                "quo\"te'.service",
                "new\nline.service",
                "tab\t\x01.service",
                "not\xff\xc0utf8.service",
                "\xc3\xbcmlaut.service",
                "%s%n.service",
                "service.service",
                "-dash.service",
                "$(x)`y`;&|.scope",
        };
        const char *dir = unit_tmpdir(state);
        struct cgroup_units u;

        make_root(dir);
        for (size_t i = 0; i < ELEMENTSOF(name); i++)
                make_unit(dir, name[i], 100 + i, i, i);
        read_ok(dir, 100, &u);
        assert_int_equal(u.n, ELEMENTSOF(name));
        for (size_t i = 0; i < ELEMENTSOF(name); i++) {
                size_t found = 0;

                for (size_t k = 0; k < u.n; k++)
                        if (strcmp(u.unit[k].name, name[i]) == 0) {
                                found++;
                                assert_int_equal(u.unit[k].stat.value[VM_NUMA_PAGES_MIGRATED], i);
                        }
                assert_int_equal(found, 1);
        }
        cgroup_units_done(&u);
}

static void without_cgroup_v2_or_memory_there_is_a_state_and_no_unit(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units u;

        assert_int_equal(cgroup_units_read(dir, 10, &u), 0); /* nothing at all */
        assert_int_equal(u.state, SOURCE_ABSENT);
        cgroup_units_done(&u);
        /* v1, with a hierarchy for each controller, as on systems before 2021 */
        unit_write(dir, TOP "/memory/system.slice/db.service/memory.stat", "pgfault 1\n");
        unit_write(dir, TOP "/memory/system.slice/db.service/memory.current", "1\n");
        unit_write(dir, TOP "/unified/cgroup.controllers", "\n");
        assert_int_equal(cgroup_units_read(dir, 10, &u), 0);
        assert_int_equal(u.state, SOURCE_ABSENT);
        assert_int_equal(u.n, 0);
        cgroup_units_done(&u);
        /* v2 with cgroup_disable=memory; memory_x is no memory */
        unit_write(dir, TOP "/cgroup.controllers", "cpuset cpu memory_x xmemory pids\n");
        assert_int_equal(cgroup_units_read(dir, 10, &u), 0);
        assert_int_equal(u.state, SOURCE_ABSENT);
        cgroup_units_done(&u);
        unit_write(dir, TOP "/cgroup.controllers", "memory\n");
        read_ok(dir, 10, &u);
        cgroup_units_done(&u);
}

/* Delegation or Memory accounting may be off for a part of the tree. */
static void unit_without_memory_files_is_left_out(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units u;

        make_root(dir);
        make_unit(dir, "a.service", 1, 1, 1);
        unit_file(dir, "b.service", "cgroup.procs", "1\n");
        unit_file(dir, "c.service", "memory.current", "not a number\n");
        unit_file(dir, "d.service", "memory.current", "");
        unit_file(dir, "e.service", "memory.current", "5\n"); /* and no memory.stat */
        read_ok(dir, 10, &u);
        assert_int_equal(u.n, 1);
        assert_string_equal(u.unit[0].name, "a.service");
        cgroup_units_done(&u);
}

static void symlinks_are_not_followed(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units u;
        char path[4096];

        make_root(dir);
        make_unit(dir, "a.service", 1, 1, 1);
        make_unit(dir, "../outside/b.service", 2, 2, 2);
        (void)snprintf(path, sizeof(path), "%s/" TOP "/link.service", dir);
        assert_int_equal(symlink("../outside/b.service", path), 0);
        (void)snprintf(path, sizeof(path), "%s/" TOP "/loop.slice", dir);
        assert_int_equal(symlink(".", path), 0);
        /* nor one in the place of a file */
        unit_file(dir, "c.service", "memory.current", "9\n");
        (void)snprintf(path, sizeof(path), "%s/" TOP "/c.service/memory.stat", dir);
        assert_int_equal(symlink("../a.service/memory.stat", path), 0);
        read_ok(dir, 10, &u);
        assert_int_equal(u.n, 1);
        assert_string_equal(u.unit[0].path, "/a.service");
        cgroup_units_done(&u);
}

static void biggest_are_kept(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units u;

        make_root(dir);
        for (unsigned i = 0; i < 20; i++) {
                char name[32];

                (void)snprintf(name, sizeof(name), "s.slice/u%02u.service", i);
                make_unit(dir, name, (i * 7) % 20 * 1000, 0, 0);
        }
        read_ok(dir, 5, &u);
        assert_int_equal(u.n, 5);
        assert_int_equal(u.n_left_out, 15);
        for (size_t i = 0; i < u.n; i++) {
                assert_true(u.unit[i].current_bytes >= 15000);
                assert_true(i == 0 || strcmp(u.unit[i - 1].path, u.unit[i].path) < 0);
        }
        cgroup_units_done(&u);
        read_ok(dir, 0, &u);
        assert_int_equal(u.n, 0);
        assert_int_equal(u.n_left_out, 20);
        cgroup_units_done(&u);
        read_ok(dir, 20, &u);
        assert_int_equal(u.n, 20);
        assert_int_equal(u.n_left_out, 0);
        cgroup_units_done(&u);
}

static void depth_is_limited(void **state)
{
        const char *dir = unit_tmpdir(state);
        char path[1024] = "";
        struct cgroup_units u;

        make_root(dir);
        /* A unit in each depth: x0.service at the top, x1.service in one slice, ... */
        for (unsigned i = 0; i < CGROUP_MAX_DEPTH + 5; i++) {
                char unit[1100];

                (void)snprintf(unit, sizeof(unit), "%sx%u.service", path, i);
                make_unit(dir, unit, 1, 0, 0);
                strcat(path, "d.slice/");
        }
        read_ok(dir, 1000, &u);
        assert_int_equal(u.n, CGROUP_MAX_DEPTH);
        cgroup_units_done(&u);
}

static void number_of_directories_is_limited(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units u;

        make_root(dir);
        for (unsigned i = 0; i < 60; i++) {
                char name[32];

                (void)snprintf(name, sizeof(name), "s%u.slice/u%u.service", i % 3, i);
                make_unit(dir, name, 1, 0, 0);
        }
        assert_int_equal(cgroup_units_read_some(dir, 10, 63, &u), 0);
        assert_int_equal(u.n + u.n_left_out, 60);
        cgroup_units_done(&u);
        /* 40 directories, of which at least one is a slice, and at most three. */
        assert_int_equal(cgroup_units_read_some(dir, 10, 40, &u), 0);
        assert_int_equal(u.n, 10);
        assert_true(u.n + u.n_left_out >= 37 && u.n + u.n_left_out <= 39);
        cgroup_units_done(&u);
}

/* Kernels before 6.12 have no numa_* in memory.stat, older ones no pgdemote_* either. */
static void counters_a_kernel_lacks_are_unsupported(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units before, after;
        struct vmstat mb, ma;
        struct unit_metrics m;
        const struct unit_metric *unit, *other;

        make_root(dir);
        unit_file(dir, "a.service", "memory.current", "1\n");
        unit_file(dir, "a.service", "memory.stat",
                  "pgsteal_kswapd 10\npgsteal_direct 0\npgfault 1\n");
        read_ok(dir, 10, &before);
        unit_file(dir, "a.service", "memory.stat",
                  "pgsteal_kswapd 40\npgsteal_direct 10\npgfault 1\n");
        read_ok(dir, 10, &after);
        machine_vmstat(&mb, 1000, 100);
        machine_vmstat(&ma, 3000, 200);
        assert_int_equal(unit_metrics_derive(&before, &after, &mb, &ma, 10, &m), 0);
        unit = find(&m, "/a.service");
        other = find(&m, "");
        assert_int_equal(unit->migrated_per_s.validity, VALIDITY_UNSUPPORTED);
        assert_int_equal(unit->migrated_share.validity, VALIDITY_UNSUPPORTED);
        assert_int_equal(unit->hint_faults_per_s.validity, VALIDITY_UNSUPPORTED);
        assert_int_equal(unit->demoted_per_s.validity, VALIDITY_UNSUPPORTED);
        /* "other" would be all of it: as unknown as the unit's. */
        assert_int_equal(other->migrated_per_s.validity, VALIDITY_UNSUPPORTED);
        close_to(unit->reclaimed_per_s.value, 4);
        close_to(unit->direct_reclaimed_per_s.value, 1);
        close_to(unit->reclaimed_share.value, 0.4);
        close_to(other->reclaimed_share.value, 0.6);
        assert_int_equal(unit->psi_some_avg10.validity, VALIDITY_UNSUPPORTED);
        unit_metrics_done(&m);
        cgroup_units_done(&before);
        cgroup_units_done(&after);
}

/* ---- between readings -------------------------------------------------------------------------
 */

static void units_come_and_go_between_readings(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units before, after;
        struct vmstat mb, ma;
        struct unit_metrics m;

        make_root(dir);
        make_unit(dir, "stays.service", 1, 100, 0);
        make_unit(dir, "goes.service", 1, 500, 0);
        make_unit(dir, "again.service", 1, 1000, 0);
        read_ok(dir, 10, &before);
        make_unit(dir, "stays.service", 1, 150, 0);
        remove_unit(dir, "goes.service");
        make_unit(dir, "comes.service", 1, 30, 0);
        /* Stopped and started again, and its count is higher already: no difference all the same.
         * The first one is kept open, so that its inode is not used again. */
        {
                char path[4096];
                int held;

                (void)snprintf(path, sizeof(path), "%s/" TOP "/again.service", dir);
                held = open(path, O_RDONLY | O_DIRECTORY);
                assert_true(held >= 0);
                remove_unit(dir, "again.service");
                make_unit(dir, "again.service", 1, 1010, 0);
                assert_int_equal(close(held), 0);
        }
        read_ok(dir, 10, &after);
        machine_vmstat(&mb, 0, 0);
        machine_vmstat(&ma, 200, 0);
        assert_int_equal(unit_metrics_derive(&before, &after, &mb, &ma, 10, &m), 0);
        assert_int_equal(m.n, 4);
        close_to(find(&m, "/stays.service")->migrated_per_s.value, 5);
        close_to(find(&m, "/stays.service")->migrated_share.value, 0.25);
        assert_int_equal(find(&m, "/comes.service")->migrated_per_s.validity, VALIDITY_UNSUPPORTED);
        assert_int_equal(find(&m, "/again.service")->migrated_per_s.validity, VALIDITY_UNSUPPORTED);
        assert_null(find(&m, "/goes.service"));
        close_to(find(&m, "")->migrated_per_s.value, 15);
        close_to(find(&m, "")->migrated_share.value, 0.75);
        assert_string_equal(m.unit[m.n - 1].name, "other");
        unit_metrics_done(&m);
        cgroup_units_done(&before);
        cgroup_units_done(&after);
}

static void new_units_only_make_everything_other(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units before = {.state = SOURCE_OK}, after;
        struct vmstat mb, ma;
        struct unit_metrics m;

        make_root(dir);
        make_unit(dir, "new.service", 1, 100, 7);
        read_ok(dir, 10, &after);
        machine_vmstat(&mb, 0, 0);
        machine_vmstat(&ma, 200, 0);
        assert_int_equal(unit_metrics_derive(&before, &after, &mb, &ma, 10, &m), 0);
        close_to(find(&m, "")->migrated_per_s.value, 20);
        close_to(find(&m, "")->migrated_share.value, 1);
        /* nothing reclaimed: nothing to have a share of */
        assert_int_equal(find(&m, "")->reclaimed_share.validity, VALIDITY_IDLE);
        unit_metrics_done(&m);
        cgroup_units_done(&after);
}

static void broken_counter_of_one_unit_does_not_spoil_the_others(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct cgroup_units before, after;
        struct vmstat mb, ma;
        struct unit_metrics m;

        make_root(dir);
        make_unit(dir, "a.service", 1, 1000, 0);
        make_unit(dir, "b.service", 1, 1000, 0);
        read_ok(dir, 10, &before);
        make_unit(dir, "a.service", 1, 999, 0); /* fell */
        make_unit(dir, "b.service", 1, 1050, 0);
        read_ok(dir, 10, &after);
        machine_vmstat(&mb, 0, 0);
        machine_vmstat(&ma, 100, 0);
        assert_int_equal(unit_metrics_derive(&before, &after, &mb, &ma, 10, &m), 0);
        assert_int_equal(find(&m, "/a.service")->migrated_per_s.validity, VALIDITY_WRAPPED);
        close_to(find(&m, "/b.service")->migrated_share.value, 0.5);
        close_to(find(&m, "")->migrated_share.value, 0.5);
        unit_metrics_done(&m);
        cgroup_units_done(&before);
        cgroup_units_done(&after);
}

static void busiest_come_first_and_equal_ones_by_name(void **state)
{
        static const struct {
                const char *name;
                unsigned long migrated, stolen;
        } unit[] = {{"d", 0, 0}, {"a", 10, 0}, {"c", 0, 0}, {"b", 5, 30}};
        const char *dir = unit_tmpdir(state);
        struct cgroup_units before, after;
        struct vmstat mb, ma;
        struct unit_metrics m;
        char name[32];

        make_root(dir);
        for (size_t i = 0; i < ELEMENTSOF(unit); i++) {
                (void)snprintf(name, sizeof(name), "%s.service", unit[i].name);
                make_unit(dir, name, 1, 0, 0);
        }
        read_ok(dir, 10, &before);
        for (size_t i = 0; i < ELEMENTSOF(unit); i++) {
                (void)snprintf(name, sizeof(name), "%s.service", unit[i].name);
                make_unit(dir, name, 1, unit[i].migrated, unit[i].stolen);
        }
        read_ok(dir, 10, &after);
        machine_vmstat(&mb, 0, 0);
        machine_vmstat(&ma, 1000, 1000);
        assert_int_equal(unit_metrics_derive(&before, &after, &mb, &ma, 1, &m), 0);
        assert_string_equal(m.unit[0].name, "b.service");
        assert_string_equal(m.unit[1].name, "a.service");
        assert_string_equal(m.unit[2].name, "c.service");
        assert_string_equal(m.unit[3].name, "d.service");
        assert_string_equal(m.unit[4].name, "other");
        unit_metrics_done(&m);
        cgroup_units_done(&before);
        cgroup_units_done(&after);
}

/* ---- properties -------------------------------------------------------------------------------
 */

static uint64_t seed = 0x9e3779b97f4a7c15;

static unsigned long random_below(unsigned long n)
{
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        return (unsigned long)(seed % n);
}

static void random_units(const char *dir, bool exists[static 30], unsigned long base)
{
        for (unsigned i = 0; i < 30; i++) {
                char name[64];

                (void)snprintf(name, sizeof(name), "%s%s%u.%s", i % 3 ? "s.slice/" : "",
                               i % 5 ? "" : "t.slice/", i, i % 2 ? "service" : "scope");
                if (exists[i] && random_below(6) == 0) {
                        remove_unit(dir, name);
                        exists[i] = false;
                } else if (random_below(5) > 0) {
                        exists[i] = true;
                        make_unit(dir, name, random_below(1000000), base + random_below(5000),
                                  base + random_below(3) * random_below(100000));
                }
        }
}

static void check_shares(const struct unit_metrics *m, size_t offset)
{
        double sum = 0;
        size_t known = 0;

        for (size_t i = 0; i < m->n; i++) {
                const struct metric *share =
                        (const struct metric *)(const void *)((const char *)&m->unit[i] + offset);

                if (!metric_has_value(share))
                        continue;
                known++;
                assert_true(share->value >= 0 && share->value <= 1);
                sum += share->value;
        }
        assert_true(known == 0 || fabs(sum - 1) < 1e-9);
}

static void shares_add_up_to_one_whatever_happens(void **state)
{
        const char *dir = unit_tmpdir(state);
        bool exists[30] = {false};
        struct cgroup_units before = {0};
        unsigned checked = 0;

        make_root(dir);
        for (unsigned round = 0; round < 60; round++) {
                struct cgroup_units after;
                struct unit_metrics m;
                struct vmstat mb, ma;

                random_units(dir, exists, round * 1000);
                read_ok(dir, random_below(35), &after);
                machine_vmstat(&mb, 500, 500);
                /* now and then less than the units say themselves */
                machine_vmstat(&ma, 500 + random_below(200000), 500 + random_below(3000000));
                if (before.state == SOURCE_OK) {
                        assert_int_equal(unit_metrics_derive(&before, &after, &mb, &ma, 10, &m), 0);
                        assert_int_equal(m.n, after.n + 1);
                        check_shares(&m, offsetof(struct unit_metric, migrated_share));
                        check_shares(&m, offsetof(struct unit_metric, reclaimed_share));
                        if (after.n > 0)
                                assert_true(metric_has_value(&find(&m, "")->migrated_share));
                        checked++;
                        unit_metrics_done(&m);
                }
                cgroup_units_done(&before);
                before = after;
        }
        assert_int_equal(checked, 59);
        cgroup_units_done(&before);
}

struct churn {
        const char *dir;
        atomic_bool stop;
        atomic_uint rounds;
};

static void *churn(void *p)
{
        struct churn *c = p;

        for (unsigned i = 0; !atomic_load(&c->stop); i++) {
                char name[64];

                (void)snprintf(name, sizeof(name), "s.slice/t%u.slice/u%u.service", i % 3, i % 7);
                make_unit(c->dir, name, 100, i, i);
                remove_unit(c->dir, name);
                atomic_fetch_add(&c->rounds, 1);
        }
        return NULL;
}

static void units_come_and_go_during_a_walk(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct churn c = {.dir = dir};
        pthread_t thread;
        struct cgroup_units u;

        make_root(dir);
        make_unit(dir, "stays.service", 1, 1, 1);
        assert_int_equal(pthread_create(&thread, NULL, churn, &c), 0);
        for (unsigned i = 0; i < 2000 && (i < 200 || atomic_load(&c.rounds) < 200); i++) {
                read_ok(dir, 10, &u);
                assert_true(u.n >= 1);
                assert_string_equal(u.unit[u.n - 1].name, "stays.service");
                for (size_t k = 0; k < u.n; k++)
                        assert_true(u.unit[k].stat.state != SOURCE_UNREAD);
                cgroup_units_done(&u);
        }
        atomic_store(&c.stop, true);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(atomic_load(&c.rounds) > 0);
}

/* 500 units of which MaxUnits (200) are read whole, on files of a file system in memory or on disk.
 * The budget's part for units is CpuBudgetPercent (0.1 %) of UnitIntervalSec (60 s), shared by four
 * paces: 15 ms. With sanitizers the figure is shown and not judged. */
static void cost_of_one_pass_with_500_cgroups(void **state)
{
        const char *dir = unit_tmpdir(state);
        double best_ms = 1e9;

        make_root(dir);
        for (unsigned i = 0; i < 500; i++) {
                char name[64];

                (void)snprintf(name, sizeof(name), "g%u.slice/u%u.service", i % 20, i);
                make_unit(dir, name, 1000 + i, i, i);
        }
        for (unsigned i = 0; i < 8; i++) {
                uint64_t start = now_cputime_ns();
                struct cgroup_units u;
                struct unit_metrics m;
                struct vmstat v;
                double ms;

                read_ok(dir, 200, &u);
                machine_vmstat(&v, 0, 0);
                assert_int_equal(unit_metrics_derive(&u, &u, &v, &v, 60, &m), 0);
                ms = (double)(now_cputime_ns() - start) / 1e6;
                best_ms = ms < best_ms ? ms : best_ms;
                assert_int_equal(u.n, 200);
                assert_int_equal(u.n_left_out, 300);
                unit_metrics_done(&m);
                cgroup_units_done(&u);
        }
        print_message("# one pass with 500 cgroups, 200 of them read whole: %.2f ms of CPU time\n",
                      best_ms);
#if !defined(__SANITIZE_ADDRESS__)
        assert_true(best_ms < 15);
#endif
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                CASE(units_are_found_below_slices_and_only_there),
                CASE(any_byte_may_be_in_a_name),
                CASE(without_cgroup_v2_or_memory_there_is_a_state_and_no_unit),
                CASE(unit_without_memory_files_is_left_out),
                CASE(symlinks_are_not_followed),
                CASE(biggest_are_kept),
                CASE(depth_is_limited),
                CASE(number_of_directories_is_limited),
                CASE(counters_a_kernel_lacks_are_unsupported),
                CASE(units_come_and_go_between_readings),
                CASE(new_units_only_make_everything_other),
                CASE(broken_counter_of_one_unit_does_not_spoil_the_others),
                CASE(busiest_come_first_and_equal_ones_by_name),
                CASE(shares_add_up_to_one_whatever_happens),
                CASE(units_come_and_go_during_a_walk),
                CASE(cost_of_one_pass_with_500_cgroups),
        };

        return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
