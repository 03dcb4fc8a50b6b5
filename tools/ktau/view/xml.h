/* SPDX-License-Identifier: GPL-2.0-only */
/* The elements of an XML file. */
#ifndef KTAU_TOOLS_VIEW_XML_H
#define KTAU_TOOLS_VIEW_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "rules.h"

/* The largest file. */
enum { XML_MOST_BYTES = 16 << 20 };

/**
 * struct xml_node - an element
 * @name: its name
 * @attributes: name, value, name, value, ..., NULL
 * @line: its line
 * @parent: the element that contains it; NULL: the root
 * @child: the first element in it
 * @next: the next element of the same parent
 */
struct xml_node {
	const char *name;
	const char **attributes;
	unsigned long line;
	struct xml_node *parent, *child, *next;
};

/*
 * Read all elements; their memory is that of @v. Return: the root; NULL with a message that names
 * the line.
 */
struct xml_node *xml_read(struct view_rules *v, const char *file, const char *text, size_t bytes);

/* The value of an attribute; NULL if it has none. */
const char *xml_attribute(const struct xml_node *node, const char *name);

bool xml_is(const struct xml_node *node, const char *name);

#endif
