/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "idlist.h"
#include "pressure.h"
#include "procstat.h"
#include "vmstat.h"

#include <math.h>

/* vmstat (and memory.stat), stat, pressure and CPU lists: all take any text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;
        struct procstat stat = {0};
        struct pressure pressure;
        struct vmstat vmstat;
        struct idlist list = {0};

        vmstat_parse(text, size, &vmstat);
        for (enum vmstat_id id = 0; id < VM_COUNT; id++)
                CHECK(vmstat_has(&vmstat, id) || vmstat.value[id] == 0 ||
                      vmstat.state != SOURCE_OK);
        CHECK(procstat_parse(&stat, text, size) == 0);
        CHECK(stat.state != SOURCE_OK || stat.blocked <= INT64_MAX);
        procstat_done(&stat);
        pressure_parse(text, size, &pressure);
        if (pressure.some.present)
                CHECK(pressure.some.avg10 >= 0 && pressure.some.avg10 <= 101);
        if (idlist_parse_ranges(text, size, &list) == 0)
                for (size_t i = 1; i < list.n; i++)
                        CHECK(list.id[i - 1] < list.id[i]);
        if (idlist_parse_mask(text, size, &list) == 0)
                for (size_t i = 1; i < list.n; i++)
                        CHECK(list.id[i - 1] < list.id[i]);
        idlist_done(&list);
        return 0;
}
