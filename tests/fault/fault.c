/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The functions below are those of the C library by name and stand before them; they go to the
 * kernel directly. The names that _FORTIFY_SOURCE and large files give them are served too. */

static struct {
        enum fault_mode mode;
        unsigned n, calls, writes;
        int error;
} fault;

void fault_arm(enum fault_mode mode, unsigned n, int error)
{
        fault.mode = mode;
        fault.n = n;
        fault.error = error;
        fault.calls = 0;
        fault.writes = 0;
}

unsigned fault_calls(void)
{
        return fault.mode == FAULT_SHORT ? fault.writes : fault.calls;
}

/* "N" or "N:ERRNO". */
static bool parse(const char *value, unsigned *ret_n, int *ret_error)
{
        char *end;
        unsigned long n = strtoul(value, &end, 10), error = 0;

        if (*end == ':')
                error = strtoul(end + 1, &end, 10);
        *ret_n = (unsigned)n;
        *ret_error = (int)error;
        return *end == '\0' && n > 0 && n <= UINT_MAX && error <= INT_MAX;
}

static bool arm_from(const char *name, enum fault_mode mode)
{
        const char *value = getenv(name);
        unsigned n;
        int error = 0;

        if (!value)
                return false;
        if (!parse(value, &n, &error) || (mode == FAULT_FAIL) != (error > 0)) {
                (void)fprintf(stderr, "fault: %s=%s is not understood\n", name, value);
                _exit(2);
        }
        fault_arm(mode, n, error);
        return true;
}

__attribute__((constructor)) static void fault_init(void)
{
        if (!arm_from("FAULT_KILL_BEFORE", FAULT_KILL_BEFORE) &&
            !arm_from("FAULT_KILL_AFTER", FAULT_KILL_AFTER) && !arm_from("FAULT_FAIL", FAULT_FAIL))
                (void)arm_from("FAULT_SHORT", FAULT_SHORT);
}

static void die(void)
{
        (void)syscall(SYS_kill, getpid(), SIGKILL);
        for (;;)
                pause();
}

/* Counts a call. The mode if it is the one to be disturbed and is still to be made. */
static enum fault_mode enter(void)
{
        fault.calls++;
        if (fault.mode == FAULT_NONE || fault.mode == FAULT_SHORT || fault.calls != fault.n)
                return FAULT_NONE;
        if (fault.mode == FAULT_KILL_BEFORE)
                die();
        return fault.mode;
}

static long leave(enum fault_mode mode, long result)
{
        if (mode == FAULT_KILL_AFTER)
                die();
        return result;
}

static long failure(void)
{
        errno = fault.error;
        return -1;
}

/* A call that is made unless it is to fail. */
#define CALL(...)                                                                                  \
        ({                                                                                         \
                enum fault_mode mode_ = enter();                                                   \
                mode_ == FAULT_FAIL ? failure() : leave(mode_, syscall(__VA_ARGS__));              \
        })

/* The prototypes of what has no header. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
ssize_t __read_chk(int fd, void *data, size_t len, size_t size);
ssize_t __pread_chk(int fd, void *data, size_t len, off_t offset, size_t size);
ssize_t __pread64_chk(int fd, void *data, size_t len, off_t offset, size_t size);

#define OPEN_BODY                                                                                  \
        unsigned create_mode = 0;                                                                  \
                                                                                                   \
        if (flags & O_CREAT) {                                                                     \
                va_list ap;                                                                        \
                                                                                                   \
                va_start(ap, flags);                                                               \
                create_mode = va_arg(ap, unsigned);                                                \
                va_end(ap);                                                                        \
        }                                                                                          \
        return (int)CALL(SYS_openat, AT_FDCWD, path, flags, create_mode);

int open(const char *path, int flags, ...)
{
        OPEN_BODY
}

int open64(const char *path, int flags, ...)
{
        OPEN_BODY
}

int __open_2(const char *path, int flags)
{
        return (int)CALL(SYS_openat, AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
        return (int)CALL(SYS_openat, AT_FDCWD, path, flags, 0);
}

int close(int fd)
{
        enum fault_mode mode = enter();
        long r = leave(mode, syscall(SYS_close, fd));

        return (int)(mode == FAULT_FAIL ? failure() : r);
}

ssize_t read(int fd, void *data, size_t len)
{
        return CALL(SYS_read, fd, data, len);
}

ssize_t __read_chk(int fd, void *data, size_t len, size_t size)
{
        return CALL(SYS_read, fd, data, len < size ? len : size);
}

ssize_t pread(int fd, void *data, size_t len, off_t offset)
{
        return CALL(SYS_pread64, fd, data, len, offset);
}

ssize_t pread64(int fd, void *data, size_t len, off_t offset)
{
        return CALL(SYS_pread64, fd, data, len, offset);
}

ssize_t __pread_chk(int fd, void *data, size_t len, off_t offset, size_t size)
{
        return CALL(SYS_pread64, fd, data, len < size ? len : size, offset);
}

ssize_t __pread64_chk(int fd, void *data, size_t len, off_t offset, size_t size)
{
        return CALL(SYS_pread64, fd, data, len < size ? len : size, offset);
}

ssize_t write(int fd, const void *data, size_t len)
{
        enum fault_mode mode = enter();

        if (mode == FAULT_FAIL)
                return failure();
        fault.writes++;
        if (fault.mode == FAULT_SHORT && fault.writes == fault.n && len > 1)
                len /= 2;
        return leave(mode, syscall(SYS_write, fd, data, len));
}

int fsync(int fd)
{
        return (int)CALL(SYS_fsync, fd);
}

int fdatasync(int fd)
{
        return (int)CALL(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t len)
{
        return (int)CALL(SYS_ftruncate, fd, len);
}

int ftruncate64(int fd, off_t len)
{
        return (int)CALL(SYS_ftruncate, fd, len);
}

int rename(const char *from, const char *to)
{
        return (int)CALL(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
        return (int)CALL(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode)
{
        return (int)CALL(SYS_mkdirat, AT_FDCWD, path, mode);
}
