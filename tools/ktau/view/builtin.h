/* SPDX-License-Identifier: GPL-2.0-only */
/* The built-in views: the files *.view of this folder, included unchanged. */
#ifndef KTAU_TOOLS_VIEW_BUILTIN_H
#define KTAU_TOOLS_VIEW_BUILTIN_H

#include <stddef.h>

struct view_builtin {
	const char *name;
	const char *text;
};

/* The views by name; the last one has no name. */
extern const struct view_builtin view_builtins[];

#endif
