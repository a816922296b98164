/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Several pages, so that a small file takes one read and one more that returns 0. */
#define BUFFER_START ((size_t)16 * 1024)
#define BUFFER_LIMIT ((size_t)256 * 1024 * 1024)

void freep(void *p)
{
        free(*(void **)p);
}

void closep(int *fd)
{
        int saved = errno;

        if (*fd >= 0)
                (void)close(*fd); /* only for descriptors whose writes were checked already */
        errno = saved;
}

void fclosep(FILE **f)
{
        if (*f)
                (void)fclose(*f);
}

void buffer_done(struct buffer *b)
{
        free(b->data);
        *b = (struct buffer){0};
}

static int buffer_reserve(struct buffer *b, size_t capacity)
{
        char *data;

        if (capacity <= b->capacity)
                return 0;
        if (capacity > BUFFER_LIMIT)
                return -EFBIG;
        data = realloc(b->data, capacity);
        if (!data)
                return -ENOMEM;
        b->data = data;
        b->capacity = capacity;
        return 0;
}

int buffer_pread(struct buffer *b, int fd)
{
        b->len = 0;
        for (;;) {
                ssize_t n;
                int r;

                /* One byte is kept for the NUL. */
                if (b->capacity - b->len < BUFFER_START / 2) {
                        r = buffer_reserve(b, b->capacity ? b->capacity * 2 : BUFFER_START);
                        if (r < 0)
                                return r;
                }
                n = pread(fd, b->data + b->len, b->capacity - b->len - 1, (off_t)b->len);
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (n == 0)
                        break;
                b->len += (size_t)n;
        }
        b->data[b->len] = '\0';
        return 0;
}

int buffer_read_path(struct buffer *b, const char *path)
{
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return -errno;
        return buffer_pread(b, fd);
}

char *path_join(const char *root, const char *path)
{
        return strf("%s%s", root ? root : "", path);
}

int parse_u64(const char *text, size_t len, uint64_t *ret)
{
        uint64_t value = 0;

        if (len == 0)
                return -EINVAL;
        for (size_t i = 0; i < len; i++) {
                unsigned digit;

                if (text[i] < '0' || text[i] > '9')
                        return -EINVAL;
                digit = (unsigned)(text[i] - '0');
                if (value > (UINT64_MAX - digit) / 10) {
                        /* Junk behind an overlong number is still junk. */
                        for (; i < len; i++)
                                if (text[i] < '0' || text[i] > '9')
                                        return -EINVAL;
                        return -ERANGE;
                }
                value = value * 10 + digit;
        }
        *ret = value;
        return 0;
}

int fd_write_all(int fd, const void *data, size_t len)
{
        const char *p = data;

        while (len > 0) {
                ssize_t n = write(fd, p, len);

                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                if (n == 0)
                        return -EIO;
                p += n;
                len -= (size_t)n;
        }
        return 0;
}

static int directory_sync(const char *path)
{
        _cleanup_(freep) char *dir = strdup(path);
        _cleanup_(closep) int fd = -1;
        char *slash;

        if (!dir)
                return -ENOMEM;
        slash = strrchr(dir, '/');
        if (slash == dir)
                slash[1] = '\0';
        else if (slash)
                *slash = '\0';
        fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return fsync(fd) < 0 ? -errno : 0;
}

static int temporary_write(const char *path, const void *data, size_t len, unsigned mode,
                           bool durable)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        int r;

        if (fd < 0)
                return -errno;
        r = fd_write_all(fd, data, len);
        if (r >= 0 && fchmod(fd, mode) < 0) /* whatever the umask */
                r = -errno;
        if (r >= 0 && durable && fsync(fd) < 0)
                r = -errno;
        if (close(fd) < 0 && r >= 0)
                r = -errno;
        return r;
}

int file_write_atomic(const char *path, const void *data, size_t len, unsigned mode, bool durable)
{
        _cleanup_(freep) char *temporary = strf("%s.new", path);
        int r;

        if (!temporary)
                return -ENOMEM;
        /* One left behind by a process that was killed; the directory is ours alone. */
        if (unlink(temporary) < 0 && errno != ENOENT)
                return -errno;
        r = temporary_write(temporary, data, len, mode, durable);
        if (r >= 0 && rename(temporary, path) < 0)
                r = -errno;
        if (r < 0) {
                if (r != -EEXIST)
                        (void)unlink(temporary);
                return r;
        }
        return durable ? directory_sync(path) : 0;
}

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec ts;

        if (clock_gettime(clock, &ts) < 0)
                return 0;
        return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t now_boottime_ns(void)
{
        return clock_ns(CLOCK_BOOTTIME);
}

uint64_t now_monotonic_ns(void)
{
        return clock_ns(CLOCK_MONOTONIC);
}

uint64_t now_realtime_ns(void)
{
        return clock_ns(CLOCK_REALTIME);
}

uint64_t now_cputime_ns(void)
{
        return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

char *strf(const char *format, ...)
{
        va_list args;
        char *s;
        int n;

        va_start(args, format);
        n = vasprintf(&s, format, args);
        va_end(args);
        return n < 0 ? NULL : s;
}
