/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "interrupts.h"

#include <string.h>

static const char *const labels[] = {"TLB", "CAL", "RES", "IPI0"};

static void parse(struct interrupts *i, const char *data, size_t size, size_t piece)
{
        struct interrupts_parser p;

        CHECK(interrupts_init(i, labels, ELEMENTSOF(labels)) == 0);
        interrupts_parse_start(&p, i);
        for (size_t at = 0; at < size; at += piece)
                CHECK(interrupts_parse_feed(&p, data + at, at + piece < size ? piece : size - at) ==
                      0);
        interrupts_parse_finish(&p);
}

/* Read whole and in pieces the text says the same; a sum is that of its counts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct interrupts whole, pieces;
        struct interrupts_delta d;

        parse(&whole, (const char *)data, size, size ? size : 1);
        parse(&pieces, (const char *)data, size, size % 7 + 1);
        CHECK(whole.state == pieces.state && whole.n_cpus == pieces.n_cpus);
        for (size_t r = 0; r < ELEMENTSOF(labels); r++) {
                uint64_t sum = 0;

                CHECK(whole.row[r].state == pieces.row[r].state);
                if (whole.row[r].state != SOURCE_OK)
                        continue;
                for (size_t k = 0; k < whole.n_cpus; k++) {
                        CHECK(whole.row[r].count[k] == pieces.row[r].count[k]);
                        sum += whole.row[r].count[k];
                }
                CHECK(sum == whole.row[r].sum);
        }
        if (interrupts_delta(&whole, &pieces, "TLB", &d) == 0)
                CHECK(d.total == 0 && d.n_common == whole.n_cpus);
        interrupts_done(&whole);
        interrupts_done(&pieces);
        return 0;
}
