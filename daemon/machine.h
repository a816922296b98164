/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What does not change while the machine is up: which kernel and which CPUs. */

#include "util.h"

struct machine {
        char release[65]; /* uname -r; "" if unknown (a tree without it) */
        char boot_id[37]; /* zeros if unknown */
        bool hypervisor;  /* "hypervisor" in the flags of /proc/cpuinfo: a guest */
        bool broadcast;   /* INVLPGB: TLB entries of others are invalidated without interrupts, by
                           * kernels from 6.15 on */
        bool policy;      /* /sys/kernel/mm/tlb_batch exists: kernel-tlb */
        bool numa_balancing; /* /proc/sys/kernel/numa_balancing exists */
};

/* Whether a kernel uses INVLPGB where the CPU has it: Linux from 6.15 on (CPUs had it years
 * before), unless told "tlbi=ipi" (arch/x86/kernel/cpu/common.c). release as of uname -r; cmdline
 * as of /proc/cmdline. */
bool machine_kernel_broadcasts(const char *release, const char *cmdline);

/* Reads the facts below root ("" for the live system, where INVLPGB is asked of the CPU: Linux 7.3
 * does not list it in /proc/cpuinfo). What cannot be read is false or empty. -ENOMEM. */
_must_check_ int machine_read(const char *root, struct machine *ret);
