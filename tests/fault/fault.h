/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Counts the file system calls of a process (open, read, pread, write, fsync, fdatasync, ftruncate,
 * rename, unlink, mkdir, close) and lets one of them end the process or fail. By environment, for
 * any program (LD_PRELOAD=libfault.so):
 *   FAULT_KILL_BEFORE=N  SIGKILL instead of the N-th call (the first is 1)
 *   FAULT_KILL_AFTER=N   SIGKILL when the N-th call is done, before it returns
 *   FAULT_FAIL=N:ERRNO   the N-th call fails with this errno (a number) and does nothing; a close
 *                        closes all the same
 *   FAULT_SHORT=N        the N-th write, if it is of more than one byte, takes half of it
 * or by these functions, for a test that links the library and forks.
 */

enum fault_mode { FAULT_NONE, FAULT_KILL_BEFORE, FAULT_KILL_AFTER, FAULT_FAIL, FAULT_SHORT };

/* Starts to count from 0. error: for FAULT_FAIL. */
void fault_arm(enum fault_mode mode, unsigned n, int error);

/* Calls (for FAULT_SHORT: writes) since fault_arm() or the start. */
unsigned fault_calls(void);
