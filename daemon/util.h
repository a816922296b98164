/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Small helpers shared by tlbd and tlbctl. Nothing here logs.
 * Unless said otherwise a function returns 0 (or a count) or a negative errno.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _must_check_ __attribute__((warn_unused_result))
#define _printf_(a, b) __attribute__((format(printf, a, b)))

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))
#define NSEC_PER_SEC UINT64_C(1000000000)

void freep(void *p);  /* for _cleanup_: free(*(void **)p) */
void closep(int *fd); /* closes a descriptor >= 0, keeps errno */
void fclosep(FILE **f);

/* A byte buffer that is reused between reads. Zero-initialise; free with buffer_done(). */
struct buffer {
        char *data;      /* NUL-terminated after a read; the NUL is not counted in len */
        size_t len;      /* bytes read */
        size_t capacity; /* bytes allocated */
};

void buffer_done(struct buffer *b);

/* Reads all of fd from offset 0 with pread(2) until end of file, growing the buffer as needed
 * (procfs files have no size to ask for). EINTR is retried. Limit: 256 MiB, then -EFBIG. */
_must_check_ int buffer_pread(struct buffer *b, int fd);

/* Opens path read-only (O_CLOEXEC) and reads all of it. */
_must_check_ int buffer_read_path(struct buffer *b, const char *path);

/* root + path in a new string ("" or NULL root: the live system). Caller frees. NULL: out of
 * memory. */
char *path_join(const char *root, const char *path);

/* Parses an unsigned decimal number that fills exactly text[0..len): digits only, no sign, no
 * blank, no base prefix. -EINVAL: not such a number; -ERANGE: above UINT64_MAX. */
_must_check_ int parse_u64(const char *text, size_t len, uint64_t *ret);

/* Writes data to path by a temporary file in the same directory, fsync(2), rename(2) and an
 * fsync of the directory: a reader sees the old or the new content, never a part. The temporary
 * file is opened O_EXCL|O_NOFOLLOW with the given mode and removed on failure.
 * With durable false the two fsync calls are left out (tmpfs status files). */
_must_check_ int file_write_atomic(const char *path, const void *data, size_t len, unsigned mode,
                                   bool durable);

/* Writes all of data to fd, retrying short writes and EINTR. */
_must_check_ int fd_write_all(int fd, const void *data, size_t len);

/* Nanoseconds of CLOCK_BOOTTIME (goes on in suspend), CLOCK_MONOTONIC, CLOCK_REALTIME, and of
 * this process's CPU time. */
uint64_t now_boottime_ns(void);
uint64_t now_monotonic_ns(void);
uint64_t now_realtime_ns(void);
uint64_t now_cputime_ns(void);

/* printf into a new string; NULL on failure. Caller frees. */
char *strf(const char *format, ...) _printf_(1, 2);
