/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What every libFuzzer target needs: a check that aborts, and the input as a file. */

#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
        do {                                                                                       \
                if (!(x)) {                                                                        \
                        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                    \
                        abort();                                                                   \
                }                                                                                  \
        } while (0)

/* A file in memory that holds the input; its path in path. Close the descriptor. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[static 64])
{
        int fd = memfd_create("fuzz", MFD_CLOEXEC);

        CHECK(fd >= 0);
        CHECK(fd_write_all(fd, data, size) == 0);
        CHECK(snprintf(path, 64, "/proc/self/fd/%d", fd) < 64);
        return fd;
}
