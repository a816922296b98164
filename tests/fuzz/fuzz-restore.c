/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "restore.h"

/* A record that is taken names each knob once at most. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char boot_id[] = "11111111-2222-3333-4444-555555555555";
        struct restore_entry entry[KNOB_COUNT];
        size_t n = 0;
        char path[64];
        int fd = fuzz_file(data, size, path);

        if (restore_read(path, boot_id, entry, &n) == 0) {
                CHECK(n <= KNOB_COUNT);
                for (size_t i = 0; i < n; i++) {
                        CHECK(entry[i].id < KNOB_COUNT);
                        for (size_t k = 0; k < i; k++)
                                CHECK(entry[k].id != entry[i].id);
                }
        }
        (void)close(fd);
        return 0;
}
