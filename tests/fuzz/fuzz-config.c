/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "config-file.h"

#include <math.h>
#include <string.h>

/* A configuration that is taken holds values within their ranges, each of which reads back as it is
 * written; one that is refused says why. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct config c = {0};
        struct config_error error = {0};
        char *text = malloc(size + 1);
        int r;

        CHECK(text);
        memcpy(text, data, size);
        text[size] = '\0';
        r = config_file_parse(&c, "fuzz.conf", text, size, &error);
        if (r < 0) {
                _cleanup_(freep) char *why = config_error_format(&error);

                CHECK(r == -ENOMEM || (error.reason && why));
        }
        for (enum config_key k = 0; r == 0 && k < KEY_COUNT; k++) {
                struct config_value again = {0};
                _cleanup_(freep) char *value = NULL;
                _cleanup_(freep) char *reason = NULL;

                if (!c.value[k].file)
                        continue;
                value = config_value_format(k, &c.value[k]);
                CHECK(value && config_value_parse(k, value, &again, &reason) == 0);
                CHECK(again.keep == c.value[k].keep);
                CHECK(again.keep || fabs(again.number - c.value[k].number) <= 1e-9 * again.number);
        }
        config_done(&c);
        config_error_done(&error);
        free(text);
        return 0;
}
