/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "entries.h"

#include <unistd.h>

/* Sends n refused configurations and returns how many lines went to stderr. */
static unsigned lines_of(struct entries *e, const char *dir, unsigned n, unsigned n_knobs)
{
        char path[256];
        unsigned lines = 0;
        int saved = dup(STDERR_FILENO);
        FILE *f;

        assert_true(snprintf(path, sizeof(path), "%s/stderr", dir) < (int)sizeof(path));
        assert_true(saved >= 0);
        assert_non_null(freopen(path, "w", stderr));
        for (unsigned i = 0; i < n; i++)
                entries_config_refused(e, "because", NULL);
        for (unsigned i = 0; i < n_knobs; i++)
                entries_knob(e, &(struct knob_event){.id = KNOB_NUMA_BALANCING,
                                                     .kind = KNOB_EVENT_REFUSED});
        assert_int_equal(fflush(stderr), 0);
        assert_true(dup2(saved, STDERR_FILENO) >= 0);
        (void)close(saved);
        f = fopen(path, "r");
        assert_non_null(f);
        for (int c; (c = fgetc(f)) != EOF;)
                lines += c == '\n';
        assert_int_equal(fclose(f), 0);
        return lines;
}

static void one_kind_cannot_flood(void **state)
{
        struct entries e;

        assert_int_equal(entries_init(&e, JOURNAL_STDERR), 0);
        assert_int_equal(lines_of(&e, unit_tmpdir(state), 1000, 0), ENTRIES_BURST);
        assert_int_equal(e.limit[CONDITION_TUNABLE_REFUSED][0].suppressed, 1000 - ENTRIES_BURST);
        /* Another key of the same kind still speaks. */
        assert_int_equal(lines_of(&e, unit_tmpdir(state), 5, 3), 3);
}

static void a_new_period_begins_anew(void **state)
{
        struct entries e;

        assert_int_equal(entries_init(&e, JOURNAL_STDERR), 0);
        assert_int_equal(lines_of(&e, unit_tmpdir(state), 11, 0), ENTRIES_BURST);
        e.limit[CONDITION_TUNABLE_REFUSED][0].since_ns = 1;
        assert_int_equal(lines_of(&e, unit_tmpdir(state), 1, 0), 1);
        assert_int_equal(e.limit[CONDITION_TUNABLE_REFUSED][0].suppressed, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(one_kind_cannot_flood, unit_tmpdir_make,
                                                unit_tmpdir_remove),
                cmocka_unit_test_setup_teardown(a_new_period_begins_anew, unit_tmpdir_make,
                                                unit_tmpdir_remove),
        };

        return cmocka_run_group_tests_name("entries", tests, NULL, NULL);
}
