/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * One reading of the kernel. The sources keep their files open and read each once a sample; the
 * sample holds what they said and when.
 */

#include "interrupts.h"
#include "machine.h"
#include "node.h"
#include "pressure.h"
#include "procstat.h"
#include "vmstat.h"

enum source_id {
        SOURCE_VMSTAT,
        SOURCE_STAT,
        SOURCE_PRESSURE_MEMORY,
        SOURCE_PRESSURE_CPU,
        SOURCE_PRESSURE_IRQ,
        SOURCE_INTERRUPTS,
        SOURCE_NODES,
        SOURCE_COUNT
};

/* Bit masks of sources for sources_read(). */
#define SOURCES_FAST                                                                               \
        (1u << SOURCE_VMSTAT | 1u << SOURCE_STAT | 1u << SOURCE_PRESSURE_MEMORY |                  \
         1u << SOURCE_PRESSURE_CPU | 1u << SOURCE_PRESSURE_IRQ)
#define SOURCES_ALL ((1u << SOURCE_COUNT) - 1)

struct sample {
        uint64_t time_ns;  /* CLOCK_BOOTTIME when reading began */
        uint64_t awake_ns; /* CLOCK_MONOTONIC then: behind time_ns by the time spent suspended */
        unsigned read;     /* mask of the sources read for this sample */
        struct vmstat vmstat;
        struct procstat stat;
        struct pressure pressure_memory, pressure_cpu, pressure_irq;
        struct interrupts interrupts; /* rows TLB, CAL, RES */
        struct nodes nodes;
        /* This process's CPU time, kernel and user side, for each source when it was last read. */
        uint64_t cost_ns[SOURCE_COUNT];
};

struct sources {
        char *root; /* owned */
        int fd[SOURCE_COUNT];
        struct buffer scratch;
        bool live;
};

const char *source_name(enum source_id id); /* "vmstat", "stat", ... */
const char *source_path(enum source_id id); /* "/proc/vmstat", ...; what an operator looks up */

/* root "" is the live system. */
_must_check_ int sources_init(struct sources *s, const char *root);
void sources_done(struct sources *s);

_must_check_ int sample_init(struct sample *s);
void sample_done(struct sample *s);

/* Reads the sources of mask into *ret, which sample_init() prepared. A source that cannot be read
 * is a state in *ret; its file is opened anew the next time. machine decides whether a TLB row of
 * zeros means that the hypervisor flushes (state PARAVIRT): a guest of two CPUs or more in which
 * function-call interrupts have happened. -ENOMEM. */
_must_check_ int sources_read(struct sources *s, unsigned mask, const struct machine *machine,
                              struct sample *ret);

/* Copies what was read of the sources of mask; the result has read exactly those. -ENOMEM. */
_must_check_ int sample_copy(struct sample *to, const struct sample *from, unsigned mask);

/* The state a source has in a sample. */
enum source_state sample_state(const struct sample *s, enum source_id id);

/* CPUs that are online: from /proc/interrupts or /proc/stat; 0 if neither was read. */
size_t sample_cpus(const struct sample *s);
