/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "taskstats.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct task_delays t;

        if (taskstats_parse(data, size, &t) == 0)
                CHECK(t.version > 0 && strlen(t.comm) < sizeof(t.comm));
        return 0;
}
