/* SPDX-License-Identifier: GPL-2.0-only */
/* The language in which views are written; ktau-view(1) describes it. */
#ifndef KTAU_TOOLS_VIEW_LANGUAGE_H
#define KTAU_TOOLS_VIEW_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

struct view_rules;

/* Read a view from a text. Return: false with a message that names @file, line and column. */
bool view_parse(struct view_rules *v, const char *file, const char *text, size_t bytes);

/* The same from a text that may also be XML as in xml_view.h, and is followed by a zero. */
bool view_parse_text(struct view_rules *v, const char *file, const char *text, size_t bytes);

/* The same from a file. */
bool view_read(struct view_rules *v, const char *file);

#endif
