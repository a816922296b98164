// SPDX-License-Identifier: GPL-2.0-or-later
#include "toy.h"

#include <stdio.h>

int main(void)
{
        return printf("%d\n", toy_double(21)) < 0;
}
