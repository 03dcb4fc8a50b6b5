/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion for shells, from the subcommands' tables of options. */
#ifndef KTAU_TOOLS_COMPLETION_H
#define KTAU_TOOLS_COMPLETION_H

#include <stddef.h>
#include <stdio.h>

#include "subcommand.h"

/* @shell is "bash" or "zsh". 0, or -1 for another one. */
int completion_print(const char *shell, const struct subcommand *const *subcommands, size_t nr,
		     FILE *out);

#endif
