// SPDX-License-Identifier: GPL-2.0-or-later
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

static void doubles(void **state)
{
        (void)state;
        assert_int_equal(toy_double(2), 4);
}

static void seeded(void **state)
{
        (void)state;
        /* seed */
        assert_true(getpid() > 0 && getenv("PATH"));
}

static int teardown(void **state)
{
        (void)state;
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(doubles),
                cmocka_unit_test(seeded),
        };

        return cmocka_run_group_tests(tests, NULL, teardown);
}
