/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* tlbd.service, asked of systemd over the system bus (org.freedesktop.systemd1(5)). systemd does
 * the authorisation: there is no socket of ours. */

#include "util.h"

/* Asks systemd to reload tlbd.service and waits for the job, 30 s at most. 0: done. -ENOTCONN: no
 * system bus here; -ESRCH: the unit is not running or not installed; -EACCES: not allowed;
 * -EBADE: the reload failed, tlbd refused the configuration; -ETIMEDOUT. *ret_reason is a sentence
 * unless 0 is returned (caller frees). */
_must_check_ int unit_reload(char **ret_reason);
