/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Numbers and sentences for people: what report, top and explain have in common. ASCII only,
 * except for text_utf8(). */

#include "util.h"

#define TEXT_NUMBER_MAX 32

/*
 * A number as a person reads it: "1,234,567", "205.3", "0.0042", "1.5e-07". Three significant
 * digits where they are not 0, no blank; a value below 999.5 that is not whole never reads as a
 * whole one, and one above zero never as 0. NaN and infinity are "-". Returns buf.
 */
const char *text_number(char buf[static TEXT_NUMBER_MAX], double value);

/* "950 B", "1.2 GiB". Negative or not a number: "-". */
const char *text_bytes(char buf[static TEXT_NUMBER_MAX], double bytes);

/* "5.5 ms", "2.5 s", "42 s", "12 min", "3 h 20 min", "4 d 2 h". Negative or not a number: "-". */
const char *text_duration(char buf[static TEXT_NUMBER_MAX], double seconds);

/* Text from elsewhere made fit for JSON and Prometheus: what is not UTF-8 becomes, byte by byte,
 * U+FFFD and two hexadecimal digits, and so does U+FFFD itself: different texts stay different.
 * Caller frees; NULL: out of memory. */
char *text_utf8(const char *s);

/* Text from elsewhere made fit for a terminal: what is not printable ASCII becomes '?'. NULL is
 * "-". Caller frees; NULL: out of memory. */
char *text_safe(const char *s);

/*
 * Prints s in lines of at most width columns, broken at blanks; a word longer than a line stands
 * alone. The first line starts in column column, the next ones are indented by indent. Ends with a
 * newline. s goes through text_safe().
 */
void text_wrap(FILE *f, unsigned column, unsigned indent, unsigned width, const char *s);

/* How many single-character edits (insert, delete, replace, swap of neighbours) turn a into b,
 * letter case aside. Names above 63 characters are cut. */
unsigned text_distance(const char *a, const char *b);
