/* SPDX-License-Identifier: GPL-2.0-only */
/* The parser of paths, values and conditions. */
#ifndef KTAU_TOOLS_VIEW_OPERAND_H
#define KTAU_TOOLS_VIEW_OPERAND_H

#include "lexer.h"
#include "rules.h"

/* Fields of an event of a program, at most. */
enum { PARSER_FIELDS = 32 };

/* @where of struct parser. */
enum parser_where { IN_HANDLER,
		    IN_ROW,
		    IN_LABEL,
		    IN_STAT };

/**
 * struct parser - reads a view
 * @lexer: the text
 * @view: the view
 * @where: what is being read, which decides what a path may have
 * @event: IN_HANDLER: its event
 * @fields: IN_HANDLER: names of the fields of an event of a program; a mark has one, its value
 * @nr_fields: length of @fields
 * @wildcards: IN_LABEL: number of wildcards of the row
 * @row: IN_STAT: the row statement, UINT32_MAX before the first path
 * @depth: paths and conditions around the current one
 * @parts: parts of the condition
 * @optional: the handler is left out if it uses what is not known
 * @unknown: it does
 */
struct parser {
	struct lexer lexer;
	struct view_rules *view;
	enum parser_where where;
	enum view_event event;
	const char *fields[PARSER_FIELDS];
	size_t nr_fields;
	uint32_t wildcards, row;
	unsigned int depth, parts;
	bool optional, unknown;
};

/* All return false or NULL with a message, or with @unknown set in an optional handler. */
bool parse_operand(struct parser *p, struct view_operand *operand);
struct view_path *parse_path(struct parser *p);
struct view_expression *parse_expression(struct parser *p);

/* What follows "{" or "[": a field, a wildcard or a path, and the closing bracket. */
bool parse_brace(struct parser *p, struct view_operand *operand);
bool parse_bracket(struct parser *p, struct view_operand *operand);

/* There is no @what of the name of the current token. Return: false. */
bool parse_unknown(struct parser *p, const char *what, const char *nearest);

#endif
