/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What can be said of a file, or of a row, that we read from the kernel. A thing that is missing is
 * a state, never a zero.
 */
enum source_state {
        SOURCE_UNREAD,    /* not read yet */
        SOURCE_OK,        /* read whole */
        SOURCE_ABSENT,    /* no such file, row or counter on this kernel */
        SOURCE_DENIED,    /* EACCES or EPERM: permissions, lockdown or sandbox */
        SOURCE_OFF,       /* EOPNOTSUPP: compiled in, but switched off (PSI at boot) */
        SOURCE_TRUNCATED, /* ends before it should: cut short on the way to us */
        SOURCE_INVALID,   /* not of the form the kernel writes */
        SOURCE_ERROR,     /* any other failure of open(2) or read(2) */
        SOURCE_PARAVIRT,  /* a TLB row that stays 0 since the hypervisor flushes for the guest */
};

/* ok, absent, denied, ...: the same word in JSON and in messages. */
const char *source_state_name(enum source_state s);

/* The state that a failed open or read stands for. error is a negative errno. */
enum source_state source_state_from_errno(int error);
