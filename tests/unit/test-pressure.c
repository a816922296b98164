/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "pressure.h"

#include <errno.h>

static const char both[] = "some avg10=12.34 avg60=2.00 avg300=100.00 total=168828\n"
                           "full avg10=0.20 avg60=3.05 avg300=4.95 total=18446744073709551615\n";

static struct pressure parse(const char *text, size_t len)
{
        char *copy = malloc(len ? len : 1);
        struct pressure p;

        assert_non_null(copy);
        memcpy(copy, text, len);
        pressure_parse(copy, len, &p);
        free(copy);
        return p;
}

static struct pressure parse_text(const char *text)
{
        return parse(text, strlen(text));
}

static void rows_have_three_averages_and_a_total(void **state)
{
        struct pressure p = parse_text(both);

        (void)state;
        assert_int_equal(p.state, SOURCE_OK);
        assert_true(p.some.present);
        assert_float_equal(p.some.avg10, 12.34, 1e-9);
        assert_float_equal(p.some.avg60, 2, 0);
        assert_float_equal(p.some.avg300, 100, 0);
        assert_int_equal(p.some.total_us, 168828);
        assert_true(p.full.present);
        assert_float_equal(p.full.avg10, 0.20, 1e-9);
        assert_float_equal(p.full.avg60, 3.05, 1e-9);
        assert_float_equal(p.full.avg300, 4.95, 1e-9);
        assert_true(p.full.total_us == UINT64_MAX);
}

/* B12: cpu had no full row before 5.13, irq has only full. */
static void either_row_may_be_missing(void **state)
{
        struct pressure p = parse_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");

        (void)state;
        assert_int_equal(p.state, SOURCE_OK);
        assert_true(p.some.present);
        assert_false(p.full.present);
        p = parse_text("full avg10=0.00 avg60=0.00 avg300=0.00 total=8494\n");
        assert_int_equal(p.state, SOURCE_OK);
        assert_false(p.some.present);
        assert_int_equal(p.full.total_us, 8494);
}

/* B12: psi=0 at boot: the file is there, reading says EOPNOTSUPP. */
static void switched_off_is_a_state_of_its_own(void **state)
{
        (void)state;
        assert_int_equal(source_state_from_errno(-EOPNOTSUPP), SOURCE_OFF);
        assert_int_equal(source_state_from_errno(-ENOENT), SOURCE_ABSENT);
        assert_int_equal(source_state_from_errno(-ENOTDIR), SOURCE_ABSENT);
        assert_int_equal(source_state_from_errno(-ENODEV), SOURCE_ABSENT);
        assert_int_equal(source_state_from_errno(-EACCES), SOURCE_DENIED);
        assert_int_equal(source_state_from_errno(-EPERM), SOURCE_DENIED);
        assert_int_equal(source_state_from_errno(-EIO), SOURCE_ERROR);
        assert_string_equal(source_state_name(SOURCE_OFF), "off");
}

static void cut_anywhere_no_average_is_wrong(void **state)
{
        struct pressure truth = parse_text(both);

        (void)state;
        for (size_t len = 0; len < sizeof(both) - 1; len++) {
                struct pressure p = parse(both, len);

                assert_int_equal(p.state,
                                 len > 0 && both[len - 1] == '\n' ? SOURCE_OK : SOURCE_TRUNCATED);
                if (p.some.present) {
                        assert_float_equal(p.some.avg10, truth.some.avg10, 0);
                        assert_float_equal(p.some.avg60, truth.some.avg60, 0);
                        assert_float_equal(p.some.avg300, truth.some.avg300, 0);
                }
                if (p.full.present) {
                        assert_float_equal(p.full.avg10, truth.full.avg10, 0);
                        assert_float_equal(p.full.avg300, truth.full.avg300, 0);
                }
                if (p.state == SOURCE_OK)
                        assert_int_equal(p.some.total_us, 168828);
        }
        /* Only the newline is missing: the averages are whole. */
        assert_true(parse(both, sizeof(both) - 2).full.present);
}

static void text_of_another_kind_is_invalid(void **state)
{
        static const char *const bad[] = {
                "\n",
                "some\n",
                "some \n",
                "someavg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=0.00 avg60=0.00 total=1\n",
                "some avg10=nan avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=-1.00 avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=101.00 avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=100.01 avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=1e1 avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=1.5 avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=1,50 avg60=0.00 avg300=0.00 total=1\n",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=\n",
                "some avg10 avg60=0.00 avg300=0.00 total=1\n",
        };

        (void)state;
        for (size_t b = 0; b < ELEMENTSOF(bad); b++) {
                struct pressure p = parse_text(bad[b]);

                assert_int_equal(p.state, SOURCE_INVALID);
                assert_false(p.some.present || p.full.present);
        }
        assert_int_equal(parse("", 0).state, SOURCE_TRUNCATED);
}

static void fields_of_later_kernels_are_passed_over(void **state)
{
        struct pressure p = parse_text(
                "some avg10=1.00 avg60=0.00 avg300=0.00 avg900=9.00 total=1\nmost avg10=2.00\n");

        (void)state;
        assert_int_equal(p.state, SOURCE_OK);
        assert_float_equal(p.some.avg10, 1, 0);
        assert_false(p.full.present);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rows_have_three_averages_and_a_total),
                cmocka_unit_test(either_row_may_be_missing),
                cmocka_unit_test(switched_off_is_a_state_of_its_own),
                cmocka_unit_test(cut_anywhere_no_average_is_wrong),
                cmocka_unit_test(text_of_another_kind_is_invalid),
                cmocka_unit_test(fields_of_later_kernels_are_passed_over),
        };

        return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
