/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "status-read.h"
#include "status.h"

/* Whatever a status file holds, it is refused with a reason or can be shown. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static FILE *nowhere;
        struct json_object *status = NULL;
        _cleanup_(freep) char *reason = NULL;
        char path[64];
        int fd = fuzz_file(data, size, path);

        if (!nowhere)
                CHECK((nowhere = fopen("/dev/null", "w")));
        if (status_read(path, &status, &reason) < 0) {
                CHECK(reason);
        } else {
                _cleanup_(freep) char *stale = NULL;

                if (status_fresh(status, now_monotonic_ns(), &stale) < 0)
                        CHECK(stale);
                report_print(nowhere, status, 80);
                json_object_put(status);
        }
        (void)close(fd);
        return 0;
}
