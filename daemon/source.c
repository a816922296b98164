/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source.h"

#include <errno.h>

const char *source_state_name(enum source_state s)
{
        switch (s) {
        case SOURCE_UNREAD:
                return "unread";
        case SOURCE_OK:
                return "ok";
        case SOURCE_ABSENT:
                return "absent";
        case SOURCE_DENIED:
                return "denied";
        case SOURCE_OFF:
                return "off";
        case SOURCE_TRUNCATED:
                return "truncated";
        case SOURCE_INVALID:
                return "invalid";
        case SOURCE_ERROR:
                return "error";
        case SOURCE_PARAVIRT:
                return "paravirt";
        }
        return "unread";
}

enum source_state source_state_from_errno(int error)
{
        switch (-error) {
        case ENOENT:
        case ENOTDIR:
        case ENODEV:
                return SOURCE_ABSENT;
        case EACCES:
        case EPERM:
                return SOURCE_DENIED;
        case EOPNOTSUPP:
                return SOURCE_OFF;
        default:
                return SOURCE_ERROR;
        }
}
