/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *unknown(char buf[static TEXT_NUMBER_MAX])
{
        (void)snprintf(buf, TEXT_NUMBER_MAX, "-");
        return buf;
}

/* Puts a comma between groups of three digits of a whole number below 1e15. */
static const char *with_commas(char buf[static TEXT_NUMBER_MAX], double value)
{
        char digits[TEXT_NUMBER_MAX];
        int n = snprintf(digits, sizeof(digits), "%.0f", value);
        char *out = buf;

        for (int i = 0; i < n; i++) {
                if (i > 0 && digits[i - 1] != '-' && (n - i) % 3 == 0)
                        *out++ = ',';
                *out++ = digits[i];
        }
        *out = '\0';
        return buf;
}

static bool reads_whole(const char *text)
{
        double v = strtod(text, NULL);

        return v == floor(v);
}

/* "0.2500" says no more than "0.25" to a person. */
static void trim_zeros(char *text)
{
        char *end = text + strlen(text);

        if (!strchr(text, '.'))
                return;
        while (end[-1] == '0')
                *--end = '\0';
        if (end[-1] == '.')
                end[-1] = '\0';
}

const char *text_number(char buf[static TEXT_NUMBER_MAX], double value)
{
        double size = fabs(value);
        int decimals;

        if (!isfinite(value))
                return unknown(buf);
        if (size < 1e15 && (value == floor(value) || size >= 999.5))
                return with_commas(buf, round(value));
        if (size >= 1e15 || size < 1e-4) {
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.2e", value);
                return buf;
        }
        decimals = size >= 100 ? 1 : 2 - (int)floor(log10(size));
        do {
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.*f", decimals, value);
        } while (reads_whole(buf) && ++decimals <= 12);
        trim_zeros(buf);
        return buf;
}

const char *text_bytes(char buf[static TEXT_NUMBER_MAX], double bytes)
{
        static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
        size_t u = 0;

        if (!isfinite(bytes) || bytes < 0)
                return unknown(buf);
        while (bytes >= 1000 && u + 1 < ELEMENTSOF(unit)) {
                bytes /= 1024;
                u++;
        }
        if (u == 0 || bytes >= 99.95)
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.0f %s", bytes, unit[u]);
        else
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.1f %s", bytes, unit[u]);
        return buf;
}

const char *text_duration(char buf[static TEXT_NUMBER_MAX], double seconds)
{
        char number[TEXT_NUMBER_MAX];
        double s = floor(seconds);

        if (!isfinite(seconds) || seconds < 0 || seconds > 1e11)
                return unknown(buf);
        if (seconds > 0 && seconds < 1)
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.20s ms",
                               text_number(number, seconds < 1e-3 ? seconds * 1e3
                                                                  : round(seconds * 1e4) / 10));
        else if (seconds < 10)
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.20s s",
                               text_number(number, round(seconds * 10) / 10));
        else if (s < 100)
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.0f s", s);
        else if (s < 7200)
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.0f min", floor(s / 60));
        else if (s < 172800)
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.0f h %.0f min", floor(s / 3600),
                               floor(fmod(s, 3600) / 60));
        else
                (void)snprintf(buf, TEXT_NUMBER_MAX, "%.0f d %.0f h", floor(s / 86400),
                               floor(fmod(s, 86400) / 3600));
        return buf;
}

/* Bytes of the UTF-8 character at s, which ends with a NUL; 0: it is none (RFC 3629: nothing longer
 * than needed, no surrogates, nothing above U+10FFFF), or is U+FFFD. */
static size_t utf8_char(const unsigned char *s)
{
        size_t n = *s < 0x80                 ? 1
                   : *s >= 0xc2 && *s < 0xe0 ? 2
                   : *s >= 0xe0 && *s < 0xf0 ? 3
                   : *s >= 0xf0 && *s < 0xf5 ? 4
                                             : 0;

        for (size_t i = 1; i < n; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
            (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90) ||
            (n == 3 && memcmp(s, "\xef\xbf\xbd", 3) == 0))
                return 0;
        return n;
}

char *text_utf8(const char *s)
{
        char *out = malloc(strlen(s) * 5 + 1), *end = out;

        if (!out)
                return NULL;
        while (*s) {
                size_t n = utf8_char((const unsigned char *)s);

                if (n > 0) {
                        memcpy(end, s, n);
                        end += n;
                        s += n;
                } else {
                        end += sprintf(end, "\xef\xbf\xbd%02x", (unsigned char)*s++);
                }
        }
        *end = '\0';
        return out;
}

char *text_safe(const char *s)
{
        char *copy = strdup(s ? s : "-");

        for (char *p = copy; p && *p; p++)
                if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
                        *p = '?';
        return copy;
}

void text_wrap(FILE *f, unsigned column, unsigned indent, unsigned width, const char *s)
{
        _cleanup_(freep) char *copy = text_safe(s);
        unsigned at = column, start = column;
        char *word, *rest = NULL;

        for (word = copy ? strtok_r(copy, " ", &rest) : NULL; word;
             word = strtok_r(NULL, " ", &rest)) {
                unsigned len = (unsigned)strlen(word);

                if (at > start && at + 1 + len > width) {
                        (void)fprintf(f, "\n%*s", (int)indent, "");
                        at = start = indent;
                }
                if (at > start) {
                        (void)fputc(' ', f);
                        at++;
                }
                (void)fputs(word, f);
                at += len;
        }
        (void)fputc('\n', f);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
        unsigned ab = a < b ? a : b;

        return ab < c ? ab : c;
}

static bool same_letter(char a, char b)
{
        return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned text_distance(const char *a, const char *b)
{
        size_t n = strnlen(a, 63), m = strnlen(b, 63);
        unsigned cost[64][64]; /* of turning the first i of a into the first j of b */

        for (unsigned i = 0; i <= n; i++)
                cost[i][0] = i;
        for (unsigned j = 0; j <= m; j++)
                cost[0][j] = j;
        for (size_t i = 1; i <= n; i++) {
                for (size_t j = 1; j <= m; j++) {
                        bool same = same_letter(a[i - 1], b[j - 1]);

                        cost[i][j] = min3(cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                                          cost[i - 1][j - 1] + !same);
                        if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                            same_letter(a[i - 2], b[j - 1]) && cost[i - 2][j - 2] + 1 < cost[i][j])
                                cost[i][j] = cost[i - 2][j - 2] + 1;
                }
        }
        return cost[n][m];
}
