/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KTAU_TOOLS_VIEW_FILE_H
#define KTAU_TOOLS_VIEW_FILE_H

#include <stddef.h>
#include <string.h>

#include "view/builtin.h"

/* The file that --view=@view reads; NULL if it is a built-in view, or @view is NULL. */
static inline const char *view_file(const char *view)
{
	const struct view_builtin *b;

	for (b = view_builtins; view && b->name; b++)
		if (!strcmp(b->name, view))
			return NULL;
	return view;
}

#endif
