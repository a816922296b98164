/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct key_info key_table[] = {
#define KEY(id, section_, name_, type_, min_, max_, default_, unit_, text_)                        \
        [KEY_##id] = {.section = section_,                                                         \
                      .name = name_,                                                               \
                      .type = KEY_TYPE_##type_,                                                    \
                      .min = min_,                                                                 \
                      .max = max_,                                                                 \
                      .default_text = default_,                                                    \
                      .unit = unit_,                                                               \
                      .text = text_},
#include "keys.def"
#undef KEY
};
_Static_assert(ELEMENTSOF(key_table) == KEY_COUNT, "one key_table row for each key");

int config_key_find(const char *name)
{
        for (int i = 0; i < KEY_COUNT; i++)
                if (strcmp(key_table[i].name, name) == 0)
                        return i;
        return -ENOENT;
}

static bool key_is_knob(enum config_key key)
{
        return key_table[key].type >= KEY_TYPE_KNOB_UINT;
}

char *config_value_allowed(enum config_key key)
{
        const struct key_info *info = &key_table[key];
        const char *open = info->unit[0] ? " (" : "", *close = info->unit[0] ? ")" : "";

        switch (info->type) {
        case KEY_TYPE_UINT:
                return strf("a whole number from %.0f to %.0f%s%s%s", info->min, info->max, open,
                            info->unit, close);
        case KEY_TYPE_REAL:
                return strf("a number from %g to %.0f%s%s%s", info->min, info->max, open,
                            info->unit, close);
        case KEY_TYPE_KNOB_UINT:
                return strf("keep, or a whole number from %.0f to %.0f%s%s%s", info->min, info->max,
                            open, info->unit, close);
        case KEY_TYPE_BOOL:
                return strdup("yes or no");
        case KEY_TYPE_KNOB_BOOL:
                return strdup("keep, yes or no");
        case KEY_TYPE_KNOB_MIGRATE:
                return strdup("keep, always or auto");
        }
        return NULL;
}

/* Digits, or digits, a point and one to nine digits. No sign, exponent, blank or locale. */
static int parse_real(const char *text, double *ret)
{
        const char *point = strchr(text, '.');
        size_t len = point ? (size_t)(point - text) : strlen(text);
        uint64_t whole, fraction;
        double scale = 1;
        int r;

        r = parse_u64(text, len, &whole);
        if (r < 0)
                return r;
        *ret = (double)whole;
        if (!point)
                return 0;
        len = strlen(point + 1);
        if (len > 9)
                return -EINVAL;
        r = parse_u64(point + 1, len, &fraction);
        if (r < 0)
                return r;
        for (size_t i = 0; i < len; i++)
                scale *= 10;
        *ret += (double)fraction / scale;
        return 0;
}

/* Index of text in two words, or -EINVAL. */
static int parse_word(const char *text, const char *zero, const char *one, double *ret)
{
        if (strcmp(text, zero) != 0 && strcmp(text, one) != 0)
                return -EINVAL;
        *ret = strcmp(text, one) == 0 ? 1 : 0;
        return 0;
}

static int parse_number(const struct key_info *info, const char *text, double *ret)
{
        uint64_t u;
        int r;

        switch (info->type) {
        case KEY_TYPE_UINT:
        case KEY_TYPE_KNOB_UINT:
                r = parse_u64(text, strlen(text), &u);
                *ret = r < 0 ? 0 : (double)u;
                break;
        case KEY_TYPE_REAL:
                r = parse_real(text, ret);
                break;
        case KEY_TYPE_BOOL:
        case KEY_TYPE_KNOB_BOOL:
                return parse_word(text, "no", "yes", ret);
        case KEY_TYPE_KNOB_MIGRATE:
                return parse_word(text, "always", "auto", ret);
        default:
                return -EINVAL;
        }
        if (r < 0)
                return r;
        return *ret < info->min || *ret > info->max ? -ERANGE : 0;
}

int config_value_parse(enum config_key key, const char *text, struct config_value *ret,
                       char **ret_reason)
{
        _cleanup_(freep) char *allowed = NULL;
        double number = 0;
        int r;

        if (key_is_knob(key) && strcmp(text, "keep") == 0) {
                ret->keep = true;
                ret->number = 0;
                return 0;
        }
        r = parse_number(&key_table[key], text, &number);
        if (r == 0) {
                ret->keep = false;
                ret->number = number;
                return 0;
        }
        allowed = config_value_allowed(key);
        *ret_reason = strf("\"%.100s\" is %s: allowed is %s", text,
                           r == -ERANGE ? "out of range" : "not a valid value",
                           allowed ? allowed : "another value");
        return r;
}

/* Shortest decimal form with up to nine digits after the point, whatever the locale. */
static char *format_real(double number)
{
        uint64_t scaled = (uint64_t)(number * 1e9 + 0.5);
        char *text = strf("%" PRIu64 ".%09" PRIu64, scaled / 1000000000, scaled % 1000000000);
        size_t len;

        if (!text)
                return NULL;
        len = strlen(text);
        while (text[len - 1] == '0')
                text[--len] = '\0';
        if (text[len - 1] == '.')
                text[--len] = '\0';
        return text;
}

char *config_value_format(enum config_key key, const struct config_value *v)
{
        if (v->keep)
                return strdup("keep");
        switch (key_table[key].type) {
        case KEY_TYPE_UINT:
        case KEY_TYPE_KNOB_UINT:
                return strf("%" PRIu64, (uint64_t)v->number);
        case KEY_TYPE_REAL:
                return format_real(v->number);
        case KEY_TYPE_BOOL:
        case KEY_TYPE_KNOB_BOOL:
                return strdup(v->number != 0 ? "yes" : "no");
        case KEY_TYPE_KNOB_MIGRATE:
                return strdup(v->number != 0 ? "auto" : "always");
        }
        return NULL;
}
