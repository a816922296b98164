/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * LD_PRELOAD: once the file named by TLBD_CLOCK_JUMP exists, the wall clock is a year ahead and
 * CLOCK_BOOTTIME eight hours, as after a suspend; CLOCK_MONOTONIC, which stands still then, is not.
 */

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ts)
{
        static int (*real)(clockid_t, struct timespec *);
        const char *marker = getenv("TLBD_CLOCK_JUMP");
        int r;

        if (!real)
                *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
        r = real(clock, ts);
        if (r == 0 && marker && access(marker, F_OK) == 0) {
                if (clock == CLOCK_REALTIME)
                        ts->tv_sec += 365L * 86400;
                else if (clock == CLOCK_BOOTTIME)
                        ts->tv_sec += 8L * 3600;
        }
        return r;
}
