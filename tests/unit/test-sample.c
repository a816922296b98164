/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "sample.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char two_cpus[] = " CPU0 CPU1\n"
                               "RES: 1 2 Rescheduling interrupts\n"
                               "CAL: 500 600 Function call interrupts\n"
                               "TLB: 10 20 TLB shootdowns\n";
static const char two_cpus_no_shootdowns[] = " CPU0 CPU1\n"
                                             "CAL: 500 600 Function call interrupts\n"
                                             "TLB: 0 0 TLB shootdowns\n";

static const struct machine metal, guest = {.hypervisor = true};

static void write_tree(const char *dir)
{
        unit_write(dir, "proc/vmstat", "pswpin 5\nnuma_pte_updates 7\n");
        unit_write(dir, "proc/stat", "cpu  1 2 3 4 5 6 7 8\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 9\n");
        unit_write(dir, "proc/pressure/memory",
                   "some avg10=1.00 avg60=0.00 avg300=0.00 total=1\n"
                   "full avg10=0.50 avg60=0.00 avg300=0.00 total=1\n");
        unit_write(dir, "proc/pressure/cpu", "some avg10=2.00 avg60=0.00 avg300=0.00 total=1\n");
        unit_write(dir, "proc/pressure/irq", "full avg10=3.00 avg60=0.00 avg300=0.00 total=1\n");
        unit_write(dir, "proc/interrupts", two_cpus);
        unit_write(dir, "sys/devices/system/node/node0/cpulist", "0-1\n");
        unit_write(dir, "sys/devices/system/node/node0/numastat", "numa_foreign 4\n");
}

struct fixture {
        struct sources sources;
        struct sample sample;
};

static void fixture_make(struct fixture *f, const char *root)
{
        assert_int_equal(sources_init(&f->sources, root), 0);
        assert_int_equal(sample_init(&f->sample), 0);
}

static void fixture_done(struct fixture *f)
{
        sample_done(&f->sample);
        sources_done(&f->sources);
}

static void read_all(struct fixture *f, const struct machine *machine)
{
        assert_int_equal(sources_read(&f->sources, SOURCES_ALL, machine, &f->sample), 0);
}

static void every_source_is_read_below_the_root(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct fixture f;

        write_tree(dir);
        fixture_make(&f, dir);
        read_all(&f, &metal);
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                assert_int_equal(sample_state(&f.sample, id), SOURCE_OK);
                assert_int_equal(source_path(id)[0], '/');
                assert_true(strlen(source_name(id)) > 0);
        }
        assert_int_equal(f.sample.vmstat.value[VM_PSWPIN], 5);
        assert_int_equal(f.sample.stat.system, 3);
        assert_float_equal(f.sample.pressure_memory.full.avg10, 0.5, 1e-9);
        assert_float_equal(f.sample.pressure_cpu.some.avg10, 2, 1e-9);
        assert_float_equal(f.sample.pressure_irq.full.avg10, 3, 1e-9);
        assert_int_equal(interrupts_row(&f.sample.interrupts, "TLB")->sum, 30);
        assert_int_equal(f.sample.nodes.n, 1);
        assert_int_equal(sample_cpus(&f.sample), 2);
        fixture_done(&f);
}

/* Nothing is OK in an empty tree, and nothing fails. */
static void missing_files_are_absent(void **state)
{
        struct fixture f;

        fixture_make(&f, unit_tmpdir(state));
        read_all(&f, &metal);
        for (enum source_id id = 0; id < SOURCE_COUNT; id++)
                assert_int_equal(sample_state(&f.sample, id), SOURCE_ABSENT);
        assert_int_equal(interrupts_row(&f.sample.interrupts, "TLB")->state, SOURCE_ABSENT);
        assert_int_equal(sample_cpus(&f.sample), 0);
        fixture_done(&f);
}

/* A file whose read fails (here: a folder of that name, EISDIR), then comes right. */
static void failing_reads_are_states_until_they_work(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct fixture f;

        for (enum source_id id = 0; id < SOURCE_NODES; id++) {
                _cleanup_(freep) char *inside = strf("%s/file", source_path(id));

                unit_write(dir, inside, "");
        }
        unit_write(dir, "sys/devices/system/node", "a file, not a folder\n");
        fixture_make(&f, dir);
        read_all(&f, &metal);
        for (enum source_id id = 0; id < SOURCE_NODES; id++)
                assert_int_equal(sample_state(&f.sample, id), SOURCE_ERROR);
        assert_int_equal(sample_state(&f.sample, SOURCE_NODES), SOURCE_ABSENT); /* ENOTDIR */
        assert_int_equal(interrupts_row(&f.sample.interrupts, "CAL")->state, SOURCE_ERROR);
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                _cleanup_(freep) char *path = strf("%s%s", dir, source_path(id));

                assert_int_equal(nftw(path, unit_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
        }
        write_tree(dir);
        read_all(&f, &metal);
        for (enum source_id id = 0; id < SOURCE_COUNT; id++)
                assert_int_equal(sample_state(&f.sample, id), SOURCE_OK);
        fixture_done(&f);
}

/* EACCES, as in a sandbox: seen by a child without privileges where we are root. */
static void unreadable_files_are_denied(void **state)
{
        const char *dir = unit_tmpdir(state);
        pid_t child;
        int status;

        write_tree(dir);
        assert_int_equal(chmod(dir, 0755), 0);
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                _cleanup_(freep) char *path = strf("%s%s", dir, source_path(id));

                assert_int_equal(chmod(path, 0), 0);
        }
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
                struct fixture f;
                int wrong = 0;

                if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
                        _exit(100);
                if (sources_init(&f.sources, dir) < 0 || sample_init(&f.sample) < 0 ||
                    sources_read(&f.sources, SOURCES_ALL, &metal, &f.sample) < 0)
                        _exit(101);
                for (enum source_id id = 0; id < SOURCE_COUNT; id++)
                        wrong += sample_state(&f.sample, id) != SOURCE_DENIED;
                fixture_done(&f);
                _exit(wrong);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                _cleanup_(freep) char *path = strf("%s%s", dir, source_path(id));

                assert_int_equal(chmod(path, 0700), 0);
        }
}

static void what_was_not_asked_for_is_unread(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct fixture f;

        write_tree(dir);
        fixture_make(&f, dir);
        read_all(&f, &metal);
        assert_int_equal(sources_read(&f.sources, 1u << SOURCE_VMSTAT, &metal, &f.sample), 0);
        assert_int_equal(sample_state(&f.sample, SOURCE_VMSTAT), SOURCE_OK);
        for (enum source_id id = SOURCE_VMSTAT + 1; id < SOURCE_COUNT; id++) {
                assert_int_equal(sample_state(&f.sample, id), SOURCE_UNREAD);
        }
        /* CPUs of an earlier reading are not this sample's. */
        assert_int_equal(sample_cpus(&f.sample), 0);
        fixture_done(&f);
}

/* B16: each file is opened once and then kept. Found by the descriptors that are new. */
static unsigned open_descriptors(void)
{
        DIR *d = opendir("/proc/self/fd");
        unsigned n = 0;

        assert_non_null(d);
        while (readdir(d))
                n++;
        closedir(d);
        return n;
}

static void files_are_kept_open_and_read_anew(void **state)
{
        const char *dir = unit_tmpdir(state);
        unsigned before = open_descriptors();
        struct fixture f;

        write_tree(dir);
        fixture_make(&f, dir);
        read_all(&f, &metal);
        assert_int_equal(open_descriptors(), before + SOURCE_NODES);
        unit_write(dir, "proc/vmstat", "pswpin 6\n"); /* the same inode */
        for (int i = 0; i < 100; i++)
                read_all(&f, &metal);
        assert_int_equal(open_descriptors(), before + SOURCE_NODES);
        assert_int_equal(f.sample.vmstat.value[VM_PSWPIN], 6);
        assert_false(vmstat_has(&f.sample.vmstat, VM_NUMA_PTE_UPDATES));
        fixture_done(&f);
        assert_int_equal(open_descriptors(), before);
}

static enum source_state tlb_state(const char *dir, const char *interrupts, const char *vmstat,
                                   const struct machine *machine)
{
        enum source_state s;
        struct fixture f;

        unit_write(dir, "proc/interrupts", interrupts);
        unit_write(dir, "proc/vmstat", vmstat);
        fixture_make(&f, dir);
        read_all(&f, machine);
        assert_int_not_equal(interrupts_row(&f.sample.interrupts, "CAL")->state, SOURCE_PARAVIRT);
        s = interrupts_row(&f.sample.interrupts, "TLB")->state;
        fixture_done(&f);
        return s;
}

static void guest_without_shootdowns_is_flushed_by_its_hypervisor(void **state)
{
        static const char plain[] = "pswpin 1\n";
        /* A debug kernel on Hyper-V: the counter is there and never moves. */
        static const char debug[] = "nr_tlb_remote_flush_received 0\n";
        const char *dir = unit_tmpdir(state);

        assert_int_equal(tlb_state(dir, two_cpus_no_shootdowns, plain, &guest), SOURCE_PARAVIRT);
        assert_int_equal(tlb_state(dir, two_cpus_no_shootdowns, debug, &guest), SOURCE_PARAVIRT);
        assert_int_equal(tlb_state(dir, two_cpus_no_shootdowns, plain, &metal), SOURCE_OK);
        assert_int_equal(tlb_state(dir, two_cpus, plain, &guest), SOURCE_OK);
        /* One CPU has nobody to interrupt; two that never called each other have not begun. */
        assert_int_equal(tlb_state(dir, " CPU0\nCAL: 3 x\nTLB: 0 x\n", plain, &guest), SOURCE_OK);
        assert_int_equal(tlb_state(dir, " CPU0 CPU1\nCAL: 0 0 x\nTLB: 0 0 x\n", plain, &guest),
                         SOURCE_OK);
        assert_int_equal(tlb_state(dir, " CPU0 CPU1\nCAL: 3 4 x\n", plain, &guest), SOURCE_ABSENT);
}

/* A5, B5, B8: CPUs and nodes come and go between readings into the same sample. */
static void hotplug_between_readings(void **state)
{
        static const char *const sets[] = {
                " CPU0 CPU1\nTLB: 1 2 x\n",
                " CPU0 CPU1 CPU2 CPU7\nTLB: 1 2 3 4 x\n",
                " CPU1\nTLB: 2 x\n",
        };
        static const size_t cpus[] = {2, 4, 1};
        const char *dir = unit_tmpdir(state);
        struct fixture f;

        write_tree(dir);
        fixture_make(&f, dir);
        for (size_t round = 0; round < 9; round++) {
                unit_write(dir, "proc/interrupts", sets[round % 3]);
                if (round == 4)
                        unit_write(dir, "sys/devices/system/node/node3/cpulist", "\n");
                read_all(&f, &metal);
                assert_int_equal(sample_cpus(&f.sample), cpus[round % 3]);
                assert_int_equal(f.sample.nodes.n, round < 4 ? 1 : 2);
        }
        fixture_done(&f);
}

static void copy_has_what_was_asked_for(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct sample copy;
        struct fixture f;

        write_tree(dir);
        fixture_make(&f, dir);
        read_all(&f, &metal);
        assert_int_equal(sample_init(&copy), 0);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(sample_copy(&copy, &f.sample, SOURCES_ALL), 0);
                assert_int_equal(copy.read, SOURCES_ALL);
                assert_int_equal(copy.time_ns, f.sample.time_ns);
                assert_int_equal(copy.vmstat.value[VM_PSWPIN], 5);
                assert_int_equal(copy.stat.system, 3);
                assert_int_equal(copy.stat.n_cpus, 2);
                assert_int_equal(interrupts_row(&copy.interrupts, "TLB")->count[1], 20);
                assert_int_equal(copy.nodes.n, 1);
                assert_int_equal(copy.nodes.node[0].vmstat.value[VM_NUMA_FOREIGN], 4);
        }
        /* Only what the original has read. */
        assert_int_equal(sources_read(&f.sources, SOURCES_FAST, &metal, &f.sample), 0);
        assert_int_equal(sample_copy(&copy, &f.sample, SOURCES_ALL), 0);
        assert_int_equal(copy.read, SOURCES_FAST);
        assert_int_equal(sample_copy(&copy, &f.sample, 1u << SOURCE_STAT), 0);
        assert_int_equal(copy.read, 1u << SOURCE_STAT);
        assert_int_equal(sample_state(&copy, SOURCE_VMSTAT), SOURCE_UNREAD);
        fixture_done(&f);
        assert_int_equal(copy.stat.cpu[1], 1);
        sample_done(&copy);
}

/* This machine: what must be there is, time goes forward, reading costs something. */
static void this_machine_can_be_read(void **state)
{
        struct machine machine;
        struct fixture f;
        uint64_t time_ns;

        (void)state;
        assert_int_equal(machine_read("", &machine), 0);
        fixture_make(&f, "");
        read_all(&f, &machine);
        time_ns = f.sample.time_ns;
        assert_int_equal(sample_state(&f.sample, SOURCE_VMSTAT), SOURCE_OK);
        assert_int_equal(sample_state(&f.sample, SOURCE_STAT), SOURCE_OK);
        assert_int_equal(sample_state(&f.sample, SOURCE_INTERRUPTS), SOURCE_OK);
        assert_true(f.sample.vmstat.n_rows > 30);
        assert_true(sample_cpus(&f.sample) > 0);
        assert_int_equal(sample_cpus(&f.sample), f.sample.stat.n_cpus);
        assert_true(f.sample.time_ns >= f.sample.awake_ns);
        assert_true(f.sample.cost_ns[SOURCE_VMSTAT] > 0);
        read_all(&f, &machine);
        assert_true(f.sample.time_ns > time_ns);
        fixture_done(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)
                CASE(every_source_is_read_below_the_root),
                CASE(missing_files_are_absent),
                CASE(failing_reads_are_states_until_they_work),
                CASE(unreadable_files_are_denied),
                CASE(what_was_not_asked_for_is_unread),
                CASE(files_are_kept_open_and_read_anew),
                CASE(guest_without_shootdowns_is_flushed_by_its_hypervisor),
                CASE(hotplug_between_readings),
                CASE(copy_has_what_was_asked_for),
                cmocka_unit_test(this_machine_can_be_read),
        };

        return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
