/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef KTAU_H
#define KTAU_H

#include <linux/ktau.h>

int ktau_open(const char *path);

#endif /* KTAU_H */
