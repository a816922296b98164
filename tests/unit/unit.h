/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What every unit test needs: cmocka and a temporary directory of its own. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Setup and teardown: *state is the path of a fresh directory, removed afterwards. */
static inline int unit_tmpdir_make(void **state)
{
        char *dir = strdup("/tmp/tlbd-unit-XXXXXX");

        if (!dir || !mkdtemp(dir))
                return -1;
        *state = dir;
        return 0;
}

static inline int unit_remove_one(const char *path, const struct stat *st, int flag,
                                  struct FTW *ftw)
{
        (void)st;
        (void)flag;
        (void)ftw;
        return remove(path);
}

static inline int unit_tmpdir_remove(void **state)
{
        int r = nftw(*state, unit_remove_one, 16, FTW_DEPTH | FTW_PHYS);

        free(*state);
        return r;
}

static inline const char *unit_tmpdir(void **state)
{
        return *state;
}

/* Writes text to dir/path, making the directories on the way. */
static inline void unit_write(const char *dir, const char *path, const char *text)
{
        char name[4096];
        FILE *f;

        assert_true(snprintf(name, sizeof(name), "%s/%s", dir, path) < (int)sizeof(name));
        for (char *p = name + 1; (p = strchr(p, '/')); p++) {
                *p = '\0';
                (void)mkdir(name, 0755);
                *p = '/';
        }
        f = fopen(name, "w");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}
