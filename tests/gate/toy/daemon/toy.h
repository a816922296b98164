/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Twice the number. */
int toy_double(int number);
