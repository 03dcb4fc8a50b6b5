/* SPDX-License-Identifier: GPL-2.0-only */
/* Views of Trace Compass, which are XML with the root <tmfxml>; ktau-view(1) has the elements. */
#ifndef KTAU_TOOLS_VIEW_XML_VIEW_H
#define KTAU_TOOLS_VIEW_XML_VIEW_H

#include <stdbool.h>
#include <stddef.h>

struct view_rules;

/* Read a view from a text. Return: false with a message that names @file and the line. */
bool view_parse_xml(struct view_rules *v, const char *file, const char *text, size_t bytes);

#endif
