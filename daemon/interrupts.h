/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The rows we want of /proc/interrupts, by CPU id.
 *
 * The file (proc(5); kernel/irq/proc.c and arch/x86/kernel/irq.c) is a header of the CPUs that are
 * online, then a row for each interrupt: a label that ends at the first ':', a count for each CPU
 * of the header, and text. A machine with many CPUs and devices has megabytes of it, so the parser
 * takes the text in pieces of any size, keeps only the rows asked for, and passes over the others
 * with memchr(3): its memory depends on the number of CPUs alone.
 *
 * From Linux 4.8 on the CAL row includes the TLB row; the two are never added up here. Counters are
 * 32 bits wide on x86 up to 7.3 at least, so a difference is taken per CPU and modulo 2^32.
 */

#include "source.h"
#include "util.h"

#define INTERRUPTS_LABEL_MAX 15 /* longer labels are never asked for */

struct interrupts_row {
        const char *label;       /* as asked for; not owned */
        enum source_state state; /* OK, ABSENT, TRUNCATED, PARAVIRT, or INVALID: no count at all, or
                                  * more than CPUs, as when one came up during the reading */
        uint64_t *count;         /* n_cpus counts in the order of cpu[]; valid with OK */
        uint64_t sum;            /* of count[]; valid with OK */
};

struct interrupts {
        enum source_state state;
        unsigned *cpu; /* ids of the header, ascending, n_cpus of them */
        size_t n_cpus, capacity;
        struct interrupts_row *row;
        size_t n_rows;
};

struct interrupts_parser {
        struct interrupts *out;
        enum {
                INTERRUPTS_LABEL,  /* from the start of a line to its ':' */
                INTERRUPTS_HEADER, /* within the CPUn words */
                INTERRUPTS_COUNTS, /* within the counts of a wanted row */
                INTERRUPTS_BEHIND, /* at the first word behind them */
                INTERRUPTS_SKIP,   /* to the end of the line */
                INTERRUPTS_STOP,   /* a second header: another snapshot, not ours */
        } phase;
        char word[INTERRUPTS_LABEL_MAX + 1]; /* label, or the letters of CPUn */
        size_t word_len;
        bool have_header, in_number;
        uint64_t number;
        size_t column;
        struct interrupts_row *row; /* being filled */
        bool line_done;             /* the last byte so far, but for NULs, was a newline */
        bool failed;
};

/* Prepares for n labels (string literals or longer-lived). -ENOMEM. */
_must_check_ int interrupts_init(struct interrupts *i, const char *const *label, size_t n);
void interrupts_done(struct interrupts *i);

/* Parses text in pieces: start, feed any number of times, finish. Results are in *out; a file that
 * cannot be used has state INVALID (no CPU header, ids not ascending) or TRUNCATED (it is empty or
 * does not end in a newline; NUL bytes behind it are ignored). Complete rows of a truncated file
 * stay OK; rows not seen are TRUNCATED too. -ENOMEM from feed: the result is void. */
void interrupts_parse_start(struct interrupts_parser *p, struct interrupts *out);
_must_check_ int interrupts_parse_feed(struct interrupts_parser *p, const char *data, size_t len);
void interrupts_parse_finish(struct interrupts_parser *p);

/* Reads an open /proc/interrupts from its start through scratch (any capacity). A failed read is
 * i->state, not an error; -ENOMEM otherwise. */
_must_check_ int interrupts_read_fd(struct interrupts *i, int fd, struct buffer *scratch);

/* The row with this label, or NULL if it was not asked for. */
const struct interrupts_row *interrupts_row(const struct interrupts *i, const char *label);

/* Copies the CPU ids and rows of one set into another that was initialised with the same labels. */
_must_check_ int interrupts_copy(struct interrupts *to, const struct interrupts *from);

struct interrupts_delta {
        size_t n_common, n_only_before, n_only_after; /* CPUs */
        uint64_t total;                               /* over the common CPUs */
        uint64_t max_cpu;                             /* the largest of them */
        double median_cpu;
        unsigned max_cpu_id;
};

/* Interrupts of one row between two readings: per CPU id present in both, modulo 2^32.
 * -ENODATA: the row is not OK in both, or no CPU is common. -ENOMEM. */
_must_check_ int interrupts_delta(const struct interrupts *before, const struct interrupts *after,
                                  const char *label, struct interrupts_delta *ret);
