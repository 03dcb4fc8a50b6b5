/* SPDX-License-Identifier: GPL-2.0-only */
/* Shell completion, generated from the subcommands' tables of options. */
#ifndef KTAU_TOOLS_COMPLETION_H
#define KTAU_TOOLS_COMPLETION_H

#include <stddef.h>
#include <stdio.h>

#include "subcommand.h"

/* @shell is "bash" or "zsh". Return: 0, or -1 for any other shell. */
int completion_print(const char *shell, const struct subcommand *const *subcommands, size_t nr,
		     FILE *out);

#endif
