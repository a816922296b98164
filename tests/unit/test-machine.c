/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "machine.h"

#include <sys/utsname.h>
#include <unistd.h>

static void facts_are_read_below_a_root(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct machine m;

        unit_write(dir, "proc/cpuinfo",
                   "processor\t: 0\nflags\t\t: fpu hypervisor invlpgb\nbugs\t\t: x\n\n"
                   "processor\t: 1\nflags\t\t: fpu\n");
        unit_write(dir, "proc/sys/kernel/osrelease", "7.3.4-1.tlb.x86_64\n");
        unit_write(dir, "proc/sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n");
        unit_write(dir, "proc/sys/kernel/numa_balancing", "2\n");
        unit_write(dir, "sys/kernel/mm/tlb_batch/migrate", "always [auto]\n");
        assert_int_equal(machine_read(dir, &m), 0);
        assert_string_equal(m.release, "7.3.4-1.tlb.x86_64");
        assert_string_equal(m.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
        assert_true(m.hypervisor);
        assert_true(m.broadcast);
        assert_true(m.policy);
        assert_true(m.numa_balancing);
}

/* C5: a kernel without NUMA balancing; a tree of which most is missing. */
static void what_is_missing_is_false_or_empty(void **state)
{
        struct machine m;

        assert_int_equal(machine_read(unit_tmpdir(state), &m), 0);
        assert_string_equal(m.release, "");
        assert_string_equal(m.boot_id, "000000000000000000000000000000000000");
        assert_false(m.hypervisor || m.broadcast || m.policy || m.numa_balancing);
}

static void flags_are_whole_words_of_the_flags_line(void **state)
{
        static const char *const none[] = {
                "processor\t: 0\nflags\t\t: fpu hypervisor_x xhypervisor\n",
                "model name\t: hypervisor inside\nflags\t\t: fpu\n",
                "Features\t: fp hypervisor\n",
                "flags",
                "\nflags",
                "",
        };
        const char *dir = unit_tmpdir(state);
        struct machine m;

        for (size_t i = 0; i < ELEMENTSOF(none); i++) {
                unit_write(dir, "proc/cpuinfo", none[i]);
                assert_int_equal(machine_read(dir, &m), 0);
                assert_false(m.hypervisor);
        }
        unit_write(dir, "proc/cpuinfo", "processor: 0\nflags\t\t: hypervisor"); /* cut behind it */
        assert_int_equal(machine_read(dir, &m), 0);
        assert_true(m.hypervisor);
}

static void overlong_release_is_cut(void **state)
{
        const char *dir = unit_tmpdir(state);
        char text[200];
        struct machine m;

        memset(text, '7', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        unit_write(dir, "proc/sys/kernel/osrelease", text);
        assert_int_equal(machine_read(dir, &m), 0);
        assert_int_equal(strlen(m.release), sizeof(m.release) - 1);
}

/* AMD CPUs from 2020 on have INVLPGB, yet an older kernel there pays with interrupts. */
static void only_new_kernels_broadcast(void **state)
{
        (void)state;
        assert_true(machine_kernel_broadcasts("7.3.4-1.tlb.x86_64", "root=/dev/sda1 quiet\n"));
        assert_true(machine_kernel_broadcasts("6.15.0", ""));
        assert_true(machine_kernel_broadcasts("10.0-rc1", "xtlbi=ipi tlbi=ipix\n"));
        assert_false(machine_kernel_broadcasts("6.14.11-300.fc42", ""));
        assert_false(machine_kernel_broadcasts("6.13.0-rc6", ""));
        assert_false(machine_kernel_broadcasts("5.14.0-503.el9", ""));
        assert_false(machine_kernel_broadcasts("", ""));
        assert_false(machine_kernel_broadcasts("7.3.4", "tlbi=ipi quiet\n"));
        assert_false(machine_kernel_broadcasts("7.3.4", "quiet tlbi=ipi\n"));
        assert_false(machine_kernel_broadcasts("7.3.4", "quiet tlbi=ipi"));
}

static void this_machine_says_what_uname_says(void **state)
{
        struct utsname u;
        struct machine m;

        (void)state;
        assert_int_equal(uname(&u), 0);
        assert_int_equal(machine_read("", &m), 0);
        assert_string_equal(m.release, u.release);
        assert_int_equal(strlen(m.boot_id), 36);
        assert_int_equal(m.numa_balancing, access("/proc/sys/kernel/numa_balancing", F_OK) == 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)
                CASE(facts_are_read_below_a_root),
                CASE(what_is_missing_is_false_or_empty),
                CASE(flags_are_whole_words_of_the_flags_line),
                CASE(overlong_release_is_cut),
                cmocka_unit_test(only_new_kernels_broadcast),
                cmocka_unit_test(this_machine_says_what_uname_says),
        };

        return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
