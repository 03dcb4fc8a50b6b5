/* SPDX-License-Identifier: GPL-2.0-only */
/* Values, paths and conditions of an XML view. */
#ifndef KTAU_TOOLS_VIEW_XML_VALUES_H
#define KTAU_TOOLS_VIEW_XML_VALUES_H

#include "xml.h"
#include "xml_names.h"

/**
 * struct xml_parser - reads a view
 * @file: for messages
 * @view: the view
 * @provider: the state provider with the definitions that apply
 * @pattern: name of the event of the handler, which may end in "*"
 * @event: what it is in a recording; NULL: an event of a program
 * @field: the name of the value of an event of a program, once it was used
 * @depth: locations and queries around the current one
 */
struct xml_parser {
	const char *file;
	struct view_rules *view;
	const struct xml_node *provider;
	const char *pattern;
	const struct xml_event *event;
	const char *field;
	unsigned int depth;
};

/* Print a message with the line of @node. Return: false. */
bool xml_fail(const struct xml_parser *p, const struct xml_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The element is not one of those that are supported. Return: false. */
bool xml_refuse(const struct xml_parser *p, const struct xml_node *node);

/* An attribute that must exist, with "$NAME" replaced by a defined value; NULL with a message. */
const char *xml_required(const struct xml_parser *p, const struct xml_node *node, const char *name);

/* A whole number. */
bool xml_number(const struct xml_parser *p, const struct xml_node *node, const char *text,
		int64_t *number);

/* All return false or NULL with a message. The path is that of all <stateAttribute> in @node. */
bool xml_value(struct xml_parser *p, const struct xml_node *node, struct view_operand *operand);
struct view_path *xml_path(struct xml_parser *p, const struct xml_node *node);
struct view_expression *xml_condition(struct xml_parser *p, const struct xml_node *node);

#endif
