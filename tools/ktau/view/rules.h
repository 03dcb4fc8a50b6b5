/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view: rules that say how events change attributes, and which attributes are rows.
 *
 * Attributes are a tree, like files in folders. An attribute has a value, which is its state until
 * the value changes. A row shows the states of one attribute over time.
 */
#ifndef KTAU_TOOLS_VIEW_RULES_H
#define KTAU_TOOLS_VIEW_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strings.h"
#include "vocabulary.h"

/* Names in a path, at most. */
enum { VIEW_DEPTH = 32 };

/* @kind of struct view_value. */
enum view_kind {
	VALUE_NONE,
	VALUE_LOST,  /* slots of the task that set it were lost */
	VALUE_STATE, /* @number is the index of a state of the view */
	VALUE_NUMBER,
	VALUE_REAL, /* @number has the bits of a double that is finite and not a whole number */
	VALUE_TEXT, /* @number is the number of a string */
};

/* The value of an attribute or of a field. */
struct view_value {
	enum view_kind kind;
	int64_t number;
};

/* A number, which is VALUE_NUMBER if it is whole; VALUE_NONE if it is not finite. */
struct view_value view_number(double number);
/* The number that VALUE_NUMBER or VALUE_REAL has. */
double view_double(struct view_value value);
/* The number without its fraction; VALUE_NONE if it is too large. */
struct view_value view_whole(struct view_value value);
/* The text of such a number. */
void view_print_number(struct view_value value, char text[32]);

struct view_path;

/* @kind of struct view_operand. */
enum view_source { FROM_CONSTANT,
		   FROM_FIELD,
		   FROM_PATH,
		   FROM_WILDCARD,
		   FROM_ROW,
		   FROM_TOP };

/* @as of struct view_operand. */
enum view_type { AS_IT_IS,
		 AS_NUMBER,
		 AS_TEXT };

/* Values that stand for others: @nr pairs of constants. Any other value stands for none. */
struct view_mapping {
	struct view_value (*pairs)[2];
	size_t nr;
};

/**
 * struct view_operand - where a value comes from
 * @source: which of the following members applies
 * @value: a constant
 * @field: a field of the event. FIELD_VALUE and FIELD_OTHER of an event of a program with fields
 *	are the one whose name is the string @value
 * @path: an attribute, whose value is taken
 * @wildcard: number of a name in the path of the row, from 1; only in labels
 *
 * @as: the value is made this
 * @mapping: and then mapped; or NULL
 *
 * FROM_ROW is the state of the row, only in stats. FROM_TOP is the last value that VERB_STACK has
 * put below @path.
 */
struct view_operand {
	enum view_source source;
	struct view_value value;
	enum view_field field;
	struct view_path *path;
	uint32_t wildcard;
	enum view_type as;
	const struct view_mapping *mapping;
};

/**
 * struct view_path - the path of an attribute
 * @elements: its names, outermost first; of a row, FROM_WILDCARD stands for any name
 * @nr: length of @elements
 */
struct view_path {
	struct view_operand elements[VIEW_DEPTH];
	size_t nr;
};

enum view_operator { OP_EQ,
		     OP_NE,
		     OP_LT,
		     OP_LE,
		     OP_GT,
		     OP_GE,
		     OP_AND,
		     OP_OR,
		     OP_NOT,
		     OP_ONCPU };

/**
 * struct view_expression - a condition
 * @op: operator
 * @operands: of a comparison
 * @parts: of and, or, not
 */
struct view_expression {
	enum view_operator op;
	struct view_operand operands[2];
	struct view_expression *parts[2];
};

/* VERB_STACK and the following are those of XML: values are kept in attributes 1, 2, ... below. */
enum view_verb { VERB_SET,
		 VERB_ADD,
		 VERB_PUSH,
		 VERB_UPDATE,
		 VERB_POP,
		 VERB_NONE,
		 VERB_STACK,
		 VERB_UNSTACK,
		 VERB_CLEAR,
		 VERB_BRANCH };

struct view_branch;

/* VERB_BRANCH has only @branch, all others have no @branch. */
struct view_action {
	enum view_verb verb;
	struct view_path *path;
	struct view_operand operand;
	struct view_branch *branch;
};

/**
 * struct view_branch - actions that may depend on a condition
 * @guard: condition, or NULL
 * @actions: in this order
 * @nr: length of @actions
 * @otherwise: actions if the guard is false
 * @nr_otherwise: length of @otherwise
 */
struct view_branch {
	struct view_expression *guard;
	struct view_action *actions;
	size_t nr;
	struct view_action *otherwise;
	size_t nr_otherwise;
};

/**
 * struct view_handler - what happens at an event
 * @event: its kind
 * @name: USER, ENTER and EXIT: its name
 * @prefix: @name is the begin of the name
 * @base: USER: the name of an event with fields; NULL: none
 * @base_prefix: @base is the begin of the name
 * @branch: what it does
 * @matched: an event of the recording has this kind and name
 */
struct view_handler {
	enum view_event event;
	const char *name;
	bool prefix;
	const char *base;
	bool base_prefix;
	struct view_branch *branch;
	bool matched;
};

/**
 * struct view_row - which attributes are rows
 * @path: paths of these attributes
 * @label: parts of the label, one after the other
 * @nr: length of @label
 * @below: the attributes that count what happens in the states of the rows, one for each row;
 *	or NULL
 * @rate: the last name of @below
 */
struct view_row {
	struct view_path *path;
	struct view_operand *label;
	size_t nr;
	struct view_path *below;
	const char *rate;
};

/**
 * struct view_stat - a figure for each row: the time in which a condition holds
 * @name: its name
 * @row: index of the row statement
 * @time: the condition
 * @whole: the figure is the part of the time in which this holds; or NULL
 */
struct view_stat {
	const char *name;
	size_t row;
	struct view_expression *time, *whole;
};

/* A named state; @colour is "#rrggbb" or empty. If @is_number, it is that of this number. */
struct view_state {
	const char *name;
	char colour[8];
	bool is_number;
	int64_t number;
};

/**
 * struct view_rules - a view; all zero: an empty one
 * @title: what it shows
 * @states: states
 * @handlers: handlers in the order of the file
 * @branches: those of the handlers, and those inside of others
 * @rows: row statements
 * @stats: stat statements
 * @on_cpu: a stat asks for the time on a CPU
 * @texts: all strings, also those of a recording
 * @blocks: memory of the view
 */
struct view_rules {
	const char *title;
	struct view_state *states;
	size_t nr_states;
	struct view_handler *handlers;
	size_t nr_handlers;
	struct view_branch **branches;
	size_t nr_branches;
	struct view_row *rows;
	size_t nr_rows;
	struct view_stat *stats;
	size_t nr_stats;
	bool on_cpu;
	struct strings texts;
	void **blocks;
	size_t nr_blocks;
};

void view_deinit(struct view_rules *v);

/* Zeroed memory that is freed with @v. */
void *view_alloc(struct view_rules *v, size_t bytes);

/* An empty branch, which is freed with @v. */
struct view_branch *view_branch(struct view_rules *v);

/* Copy @bytes of @text. */
const char *view_text(struct view_rules *v, const char *text, size_t bytes);

#endif
