/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "text.h"

#include <math.h>

static void number_is_readable_and_does_not_lie(void **state)
{
        static const struct {
                double value;
                const char *text;
        } row[] = {
                {0, "0"},
                {52, "52"},
                {-3, "-3"},
                {999, "999"},
                {1000, "1,000"},
                {1234567, "1,234,567"},
                {-1234567, "-1,234,567"},
                {123456, "123,456"},
                {12345.678, "12,346"},
                {999.6, "1,000"},
                {205.25, "205.2"},
                {76.8, "76.8"},
                {1.23456, "1.23"},
                {0.25, "0.25"},
                {0.004, "0.004"},
                {0.0042, "0.0042"},
                {0.00012345, "0.000123"},
                /* Rounded to three digits these would read as whole, or as nothing. */
                {0.9996, "0.9996"},
                {0.99999, "0.99999"},
                {9.9999, "9.9999"},
                {100.01, "100.01"},
                {0.00004, "4.00e-05"},
                {5e-324, "4.94e-324"},
                {1e15, "1.00e+15"},
                {1.7976931348623157e308, "1.80e+308"},
        };
        char buf[TEXT_NUMBER_MAX];

        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(row); i++)
                assert_string_equal(text_number(buf, row[i].value), row[i].text);
        assert_string_equal(text_number(buf, (double)NAN), "-");
        assert_string_equal(text_number(buf, (double)INFINITY), "-");
}

static void number_above_zero_never_reads_as_zero_or_whole(void **state)
{
        char buf[TEXT_NUMBER_MAX];

        (void)state;
        for (double v = 1e-12; v < 999; v *= 1.0137) {
                double read;

                (void)text_number(buf, v);
                assert_null(strchr(buf, ','));
                read = strtod(buf, NULL);
                assert_true(read > 0);
                assert_true(fabs(read - v) <= v * 0.006);
                assert_true(v == floor(v) || read != floor(read) || strchr(buf, 'e'));
        }
}

static void bytes_have_a_unit(void **state)
{
        char buf[TEXT_NUMBER_MAX];

        (void)state;
        assert_string_equal(text_bytes(buf, 0), "0 B");
        assert_string_equal(text_bytes(buf, 999), "999 B");
        assert_string_equal(text_bytes(buf, 1000), "1.0 KiB");
        assert_string_equal(text_bytes(buf, 3907584), "3.7 MiB");
        assert_string_equal(text_bytes(buf, 768.0 * (1 << 30)), "768 GiB");
        assert_string_equal(text_bytes(buf, 99.96 * (1 << 30)), "100 GiB");
        assert_string_equal(text_bytes(buf, 1e21), "867 EiB");
        assert_string_equal(text_bytes(buf, -1), "-");
        assert_string_equal(text_bytes(buf, (double)NAN), "-");
}

static void duration_has_units(void **state)
{
        char buf[TEXT_NUMBER_MAX];

        (void)state;
        assert_string_equal(text_duration(buf, 0), "0 s");
        assert_string_equal(text_duration(buf, 0.0000012), "0.0012 ms");
        assert_string_equal(text_duration(buf, 0.0055312), "5.5 ms");
        assert_string_equal(text_duration(buf, 0.1), "100 ms");
        assert_string_equal(text_duration(buf, 3.003), "3 s");
        assert_string_equal(text_duration(buf, 2.54), "2.5 s");
        assert_string_equal(text_duration(buf, 99.9), "99 s");
        assert_string_equal(text_duration(buf, 754.2), "12 min");
        assert_string_equal(text_duration(buf, 7200), "2 h 0 min");
        assert_string_equal(text_duration(buf, 86399), "23 h 59 min");
        assert_string_equal(text_duration(buf, 200000), "2 d 7 h");
        assert_string_equal(text_duration(buf, -0.1), "-");
        assert_string_equal(text_duration(buf, (double)NAN), "-");
        assert_string_equal(text_duration(buf, 1e300), "-");
}

static void text_cannot_drive_a_terminal(void **state)
{
        _cleanup_(freep) char *a = text_safe("a\033[2J\n\tb\x7f\xc3\xa4");
        _cleanup_(freep) char *none = text_safe(NULL);

        (void)state;
        assert_string_equal(a, "a?[2J??b???");
        assert_string_equal(none, "-");
}

static char *wrapped(unsigned column, unsigned indent, unsigned width, const char *s)
{
        char *text = NULL;
        size_t len;
        FILE *f = open_memstream(&text, &len);

        assert_non_null(f);
        text_wrap(f, column, indent, width, s);
        assert_int_equal(fclose(f), 0);
        return text;
}

static void sentence_is_broken_at_blanks(void **state)
{
        _cleanup_(freep) char *a = wrapped(0, 2, 10, "one two three four five");
        _cleanup_(freep) char *wide = wrapped(4, 4, 10, "incomprehensibilities a b");
        _cleanup_(freep) char *exact = wrapped(0, 0, 7, "one two");
        _cleanup_(freep) char *none = wrapped(0, 0, 7, "");

        (void)state;
        assert_string_equal(a, "one two\n  three\n  four\n  five\n");
        assert_string_equal(wide, "incomprehensibilities\n    a b\n");
        assert_string_equal(exact, "one two\n");
        assert_string_equal(none, "\n");
}

static void distance_counts_edits(void **state)
{
        (void)state;
        assert_int_equal(text_distance("", ""), 0);
        assert_int_equal(text_distance("abc", ""), 3);
        assert_int_equal(text_distance("abc", "ABC"), 0);
        assert_int_equal(text_distance("abc", "acb"), 1);
        assert_int_equal(text_distance("kitten", "sitting"), 3);
        assert_int_equal(text_distance("NumaScanSize", "NumaScanSizeMb"), 2);
        char longer[200];
        memset(longer, 'x', sizeof(longer) - 1);
        longer[sizeof(longer) - 1] = '\0';
        assert_int_equal(text_distance(longer, ""), 63);
}

static void what_is_not_utf8_is_spelt_out(void **state)
{
        static const struct {
                const char *from, *to;
        } text[] = {
                {"", ""},
                {"plain \\x2d \"quoted\"\n", "plain \\x2d \"quoted\"\n"},
                {"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80",
                 "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"},
                {"\xff", "\xef\xbf\xbd"
                         "ff"},
                {"a\x80z", "a\xef\xbf\xbd"
                           "80z"},
                {"\xc0\xaf", "\xef\xbf\xbd"
                             "c0\xef\xbf\xbd"
                             "af"}, /* longer than needed */
                {"\xe0\x9f\xbf", "\xef\xbf\xbd"
                                 "e0\xef\xbf\xbd"
                                 "9f\xef\xbf\xbd"
                                 "bf"},
                {"\xf0\x8f\xbf\xbf", "\xef\xbf\xbd"
                                     "f0\xef\xbf\xbd"
                                     "8f\xef\xbf\xbd"
                                     "bf\xef\xbf\xbd"
                                     "bf"},
                {"\xed\xa0\x80", "\xef\xbf\xbd"
                                 "ed\xef\xbf\xbd"
                                 "a0\xef\xbf\xbd"
                                 "80"}, /* surrogate */
                {"\xf4\x90\x80\x80", "\xef\xbf\xbd"
                                     "f4\xef\xbf\xbd"
                                     "90\xef\xbf\xbd"
                                     "80\xef\xbf\xbd"
                                     "80"},
                {"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"}, /* around them */
                {"\xe2\x82", "\xef\xbf\xbd"
                             "e2\xef\xbf\xbd"
                             "82"}, /* cut */
                {"\xef\xbf\xbd", "\xef\xbf\xbd"
                                 "ef\xef\xbf\xbd"
                                 "bf\xef\xbf\xbd"
                                 "bd"},
        };

        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(text); i++) {
                _cleanup_(freep) char *copy = strdup(text[i].from); /* ASan sees its end */
                _cleanup_(freep) char *got = text_utf8(copy);

                assert_non_null(got);
                assert_string_equal(got, text[i].to);
        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_not_utf8_is_spelt_out),
                cmocka_unit_test(number_is_readable_and_does_not_lie),
                cmocka_unit_test(number_above_zero_never_reads_as_zero_or_whole),
                cmocka_unit_test(bytes_have_a_unit),
                cmocka_unit_test(duration_has_units),
                cmocka_unit_test(text_cannot_drive_a_terminal),
                cmocka_unit_test(sentence_is_broken_at_blanks),
                cmocka_unit_test(distance_counts_edits),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
