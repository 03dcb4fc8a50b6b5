/* SPDX-License-Identifier: GPL-2.0-only */
/* The built-in views: the files *.view of this folder, included unchanged. */
#ifndef KTAU_TOOLS_VIEW_BUILTIN_H
#define KTAU_TOOLS_VIEW_BUILTIN_H

#include <stdbool.h>

struct view_rules;

struct view_builtin {
	const char *name;
	const char *text;
};

/* Read a built-in view, or else the file of this name. Return: false with a message on errors. */
bool view_open(struct view_rules *view, const char *name);

/* The views by name; the last one has no name. */
extern const struct view_builtin view_builtins[];

#endif
