/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "knob-driver.h"

#include "knob-io.h"
#include "knobs.h"
#include "restore.h"

#include <string.h>

struct setting {
        enum config_key key;
        double number;
};

static const struct setting first[] = {
        {KEY_NUMA_SCAN_PERIOD_MIN_MS, 70000},
        {KEY_NUMA_SCAN_PERIOD_MAX_MS, 80000},
        {KEY_NUMA_SCAN_SIZE_MB, 64},
};

static const struct setting second[] = {
        {KEY_NUMA_SCAN_PERIOD_MIN_MS, 90},
        {KEY_NUMA_SCAN_PERIOD_MAX_MS, 100},
        {KEY_NUMA_SCAN_SIZE_MB, 4096},
};

static int start(struct knobs *k, const char *root)
{
        char *run = strf("%s/run", root);
        int r = run ? knobs_init(k, root, run) : -1;

        free(run);
        return r;
}

static void apply(const char *root, const struct setting *s, size_t n)
{
        struct config c = {0};
        struct knobs k;

        if (start(&k, root) < 0)
                return;
        for (size_t i = 0; i < KEY_COUNT; i++)
                c.value[i].keep = true;
        for (size_t i = 0; i < n; i++)
                c.value[s[i].key] = (struct config_value){.number = s[i].number};
        knobs_probe(&k);
        if (knobs_apply(&k, &c, false, NULL, NULL) == 0)
                knobs_check_drift(&k, NULL, NULL);
        knobs_done(&k);
}

static void restore(const char *root)
{
        struct knobs k;

        if (start(&k, root) < 0)
                return;
        if (knobs_restore(&k, NULL, NULL) < 0)
                (void)fprintf(stderr, "restore: not complete\n");
        knobs_done(&k);
}

/* The three wrong ways, with one knob. */

static void kernel_first(const char *root, const char *record, const char *boot)
{
        const struct restore_entry e = {KNOB_NUMA_SCAN_SIZE_MB, 256, 64, false, 0};

        if (knob_write(root, DRIVER_SIZE, KNOB_NUMA_SCAN_SIZE_MB, 64) < 0 ||
            restore_write(record, boot, &e, 1) < 0)
                (void)fprintf(stderr, "kernel-first: failed\n");
}

static void record_first(const char *root, const char *record, const char *boot)
{
        if (restore_write(record, boot, NULL, 0) < 0 ||
            knob_write(root, DRIVER_SIZE, KNOB_NUMA_SCAN_SIZE_MB, 256) < 0)
                (void)fprintf(stderr, "record-first: failed\n");
}

static void previous_lost(const char *root, const char *record, const char *boot)
{
        const struct restore_entry e = {KNOB_NUMA_SCAN_SIZE_MB, 256, 4096, false, 0};

        if (restore_write(record, boot, &e, 1) < 0 ||
            knob_write(root, DRIVER_SIZE, KNOB_NUMA_SCAN_SIZE_MB, 4096) < 0)
                (void)fprintf(stderr, "previous-lost: failed\n");
}

static int run_wrong(const char *step, const char *root)
{
        _cleanup_(freep) char *record = strf("%s/run/restore", root);
        char boot[37];

        if (!record || boot_id_read(root, boot) < 0)
                return 0;
        if (strcmp(step, "kernel-first") == 0)
                kernel_first(root, record, boot);
        else if (strcmp(step, "record-first") == 0)
                record_first(root, record, boot);
        else if (strcmp(step, "previous-lost") == 0)
                previous_lost(root, record, boot);
        else
                return 2;
        return 0;
}

int driver_run(const char *step, const char *root)
{
        if (strcmp(step, "first") == 0)
                apply(root, first, ELEMENTSOF(first));
        else if (strcmp(step, "second") == 0)
                apply(root, second, ELEMENTSOF(second));
        else if (strcmp(step, "keep") == 0)
                apply(root, NULL, 0);
        else if (strcmp(step, "restore") == 0)
                restore(root);
        else
                return run_wrong(step, root);
        return 0;
}
