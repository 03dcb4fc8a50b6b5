// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "operand.h"

enum { DEEPEST = 32,
       MOST_PARTS = 256 };

bool parse_unknown(struct parser *p, const char *what, const char *nearest)
{
	struct lexer *l = &p->lexer;
	const int bytes = (int)(l->bytes < 60 ? l->bytes : 60);

	if (p->optional)
		p->unknown = true;
	else if (nearest)
		lexer_fail(l, "unknown %s '%.*s'; did you mean '%s'?", what, bytes, l->text,
			   nearest);
	else
		lexer_fail(l, "unknown %s '%.*s'", what, bytes, l->text);
	return false;
}

static bool enter(struct parser *p)
{
	if (p->depth == DEEPEST)
		return lexer_fail(&p->lexer, "more than %d levels", DEEPEST);
	p->depth++;
	return true;
}

/* The name of the current token; "" if it is too long to be a known one. */
static const char *word_of(const struct lexer *l, char word[64])
{
	const size_t bytes = l->bytes < 64 ? l->bytes : 0;

	memcpy(word, l->text, bytes);
	word[bytes] = 0;
	return word;
}

static bool parse_wildcard(struct parser *p, struct view_operand *operand)
{
	char word[64];
	uint64_t number;

	if (cli_number(word_of(&p->lexer, word), p->wildcards, &number) || !number)
		return lexer_fail(&p->lexer, "a label has {1} to {%u}, the names that * stands for",
				  p->wildcards);
	*operand = (struct view_operand){ .source = FROM_WILDCARD,
					  .wildcard = (uint32_t)number };
	return true;
}

/*
 * The field of the event with this name. Of a mark, the first declared field is the value. Return:
 * false if there is none, in which case *nearest is the most similar name.
 */
static bool field_of(struct parser *p, const char *name, struct view_operand *operand,
		     const char **nearest)
{
	unsigned int best = UINT32_MAX, distance;
	const char *similar = NULL;
	size_t i;

	operand->source = FROM_FIELD;
	for (i = 0; i < p->nr_fields; i++) {
		distance = view_distance(name, p->fields[i]);
		if (distance < best) {
			best = distance;
			similar = p->fields[i];
		}
		if (distance)
			continue;
		operand->field = i ? FIELD_OTHER : FIELD_VALUE;
		operand->value.kind = VALUE_TEXT;
		operand->value.number = strings_add(&p->view->texts, name);
		return true;
	}
	operand->field = view_field_find(p->event, name, nearest);
	if (similar)
		*nearest = similar;
	return operand->field != VIEW_FIELDS;
}

static bool find_field(struct parser *p, struct view_operand *operand)
{
	const char *nearest = NULL;
	char word[64];

	*operand = (struct view_operand){ 0 };
	return field_of(p, word_of(&p->lexer, word), operand, &nearest) ||
	       parse_unknown(p, "field", nearest);
}

bool parse_brace(struct parser *p, struct view_operand *operand)
{
	struct lexer *l = &p->lexer;

	if (p->where == IN_ROW)
		return lexer_fail(l, "the path of a row has no fields: use *");
	if (p->where == IN_STAT)
		return lexer_fail(l, "a stat has no fields");
	if (p->where == IN_LABEL ? !parse_wildcard(p, operand) : !find_field(p, operand))
		return false;
	lexer_next(l);
	return lexer_take(l, "}") || lexer_expected(l, "}");
}

bool parse_bracket(struct parser *p, struct view_operand *operand)
{
	if (p->where == IN_ROW)
		return lexer_fail(&p->lexer, "the path of a row has no other paths: use *");
	if (p->where == IN_STAT)
		return lexer_fail(&p->lexer, "a stat has no values of other paths");
	*operand = (struct view_operand){ .source = FROM_PATH, .path = parse_path(p) };
	if (!operand->path)
		return false;
	return lexer_take(&p->lexer, "]") || lexer_expected(&p->lexer, "]");
}

static bool parse_element(struct parser *p, struct view_operand *element)
{
	struct lexer *l = &p->lexer;

	if (lexer_take(l, "{"))
		return parse_brace(p, element);
	if (lexer_take(l, "["))
		return parse_bracket(p, element);
	if (p->where == IN_ROW && lexer_take(l, "*")) {
		*element = (struct view_operand){ .source = FROM_WILDCARD };
		return true;
	}
	if (l->token != TOKEN_WORD && l->token != TOKEN_NUMBER && l->token != TOKEN_STRING)
		return lexer_expected(l, "the name of an attribute");
	*element = (struct view_operand){
		.value = { VALUE_TEXT, strings_add_bytes(&p->view->texts, l->text, l->bytes) },
	};
	lexer_next(l);
	return true;
}

struct view_path *parse_path(struct parser *p)
{
	struct view_path *path;

	if (!enter(p))
		return NULL;
	path = view_alloc(p->view, sizeof(*path));
	do {
		if (path->nr == VIEW_DEPTH) {
			lexer_fail(&p->lexer, "the path has more than %d names", VIEW_DEPTH);
			return NULL;
		}
		if (!parse_element(p, &path->elements[path->nr]))
			return NULL;
		path->nr++;
	} while (lexer_take(&p->lexer, "/"));
	p->depth--;
	return path;
}

static bool find_state(const struct parser *p, struct view_operand *operand)
{
	const struct lexer *l = &p->lexer;
	size_t i;

	for (i = 0; i < p->view->nr_states; i++)
		if (strlen(p->view->states[i].name) == l->bytes &&
		    !strncmp(p->view->states[i].name, l->text, l->bytes)) {
			operand->value = (struct view_value){ VALUE_STATE, (int64_t)i };
			return true;
		}
	return false;
}

/* The state or field of this kind of event whose name is the most similar. */
static bool unknown_word(struct parser *p, const char *nearest)
{
	unsigned int best = UINT32_MAX, distance;
	char word[64];
	size_t i;

	word_of(&p->lexer, word);
	if (nearest)
		best = view_distance(word, nearest);
	for (i = 0; i < p->view->nr_states; i++) {
		distance = view_distance(word, p->view->states[i].name);
		if (distance <= best) {
			best = distance;
			nearest = p->view->states[i].name;
		}
	}
	return parse_unknown(p, p->where == IN_STAT ? "state" : "state or field", nearest);
}

static bool parse_word(struct parser *p, struct view_operand *operand)
{
	const char *nearest = NULL;
	char word[64];

	*operand = (struct view_operand){ .source = FROM_CONSTANT };
	if (lexer_take(&p->lexer, "none"))
		return true;
	if (!find_state(p, operand) && p->where == IN_STAT)
		return unknown_word(p, NULL);
	if (operand->value.kind != VALUE_STATE &&
	    !field_of(p, word_of(&p->lexer, word), operand, &nearest))
		return unknown_word(p, nearest);
	lexer_next(&p->lexer);
	return true;
}

static bool parse_number(struct parser *p, struct view_operand *operand)
{
	struct lexer *l = &p->lexer;
	const bool negative = *l->text == '-';
	char word[64];
	uint64_t number;

	if (cli_number(word_of(l, word) + negative, INT64_MAX, &number))
		return lexer_fail(l, "the number is too large");
	*operand = (struct view_operand){
		.value = { VALUE_NUMBER, negative ? -(int64_t)number : (int64_t)number },
	};
	lexer_next(l);
	return true;
}

bool parse_operand(struct parser *p, struct view_operand *operand)
{
	struct lexer *l = &p->lexer;

	if (lexer_take(l, "{"))
		return parse_brace(p, operand);
	if (lexer_take(l, "["))
		return parse_bracket(p, operand);
	if (l->token == TOKEN_NUMBER)
		return parse_number(p, operand);
	if (l->token == TOKEN_WORD)
		return parse_word(p, operand);
	if (l->token != TOKEN_STRING)
		return lexer_expected(l, "a state, a number, a string, {field}, [path] or none");
	*operand = (struct view_operand){
		.value = { VALUE_TEXT, strings_add_bytes(&p->view->texts, l->text, l->bytes) },
	};
	lexer_next(l);
	return true;
}

static struct view_expression *new_part(struct parser *p, enum view_operator op)
{
	struct view_expression *part;

	if (p->parts == MOST_PARTS) {
		lexer_fail(&p->lexer, "the condition has more than %d parts", MOST_PARTS);
		return NULL;
	}
	p->parts++;
	part = view_alloc(p->view, sizeof(*part));
	part->op = op;
	return part;
}

static bool same_path(const struct view_path *a, const struct view_path *b)
{
	size_t i;

	for (i = 0; i < a->nr && i < b->nr; i++)
		if (a->elements[i].source != b->elements[i].source ||
		    a->elements[i].value.number != b->elements[i].value.number)
			return false;
	return a->nr == b->nr;
}

/* The left side of a comparison in a stat: the path of a row, the same one in all of the stat. */
static bool parse_row_path(struct parser *p, struct view_operand *operand)
{
	const struct lexer begin = p->lexer;
	const struct view_rules *v = p->view;
	struct view_path *path;
	uint32_t i;

	p->where = IN_ROW;
	path = parse_path(p);
	p->where = IN_STAT;
	if (!path)
		return false;
	for (i = 0; i < v->nr_rows && !same_path(v->rows[i].path, path);)
		i++;
	if (i == v->nr_rows || (p->row != UINT32_MAX && p->row != i)) {
		if (!p->lexer.failed)
			p->lexer = begin;
		return lexer_fail(&p->lexer, i == v->nr_rows ? "no row above has this path" :
							       "a stat is about one row");
	}
	p->row = i;
	*operand = (struct view_operand){ .source = FROM_ROW };
	return true;
}

static struct view_expression *parse_comparison(struct parser *p)
{
	static const char *const signs[] = {
		[OP_EQ] = "==",
		[OP_NE] = "!=",
		[OP_LT] = "<",
		[OP_LE] = "<=",
		[OP_GT] = ">",
		[OP_GE] = ">=",
	};
	struct view_expression *part = new_part(p, OP_EQ);
	size_t i;

	if (!part)
		return NULL;
	if (p->where == IN_STAT && lexer_take(&p->lexer, "oncpu")) {
		part->op = OP_ONCPU;
		p->view->on_cpu = true;
		return part;
	}
	if (p->where == IN_STAT ? !parse_row_path(p, &part->operands[0]) :
				  !parse_operand(p, &part->operands[0]))
		return NULL;
	for (i = 0; i < OP_AND && !lexer_take(&p->lexer, signs[i]);)
		i++;
	if (i == OP_AND) {
		lexer_expected(&p->lexer, "== != < <= > or >=");
		return NULL;
	}
	part->op = (enum view_operator)i;
	return parse_operand(p, &part->operands[1]) ? part : NULL;
}

static struct view_expression *parse_not(struct parser *p)
{
	struct view_expression *part;

	if (!enter(p))
		return NULL;
	if (lexer_take(&p->lexer, "not")) {
		part = new_part(p, OP_NOT);
		if (part)
			part->parts[0] = parse_not(p);
		part = part && part->parts[0] ? part : NULL;
	} else if (lexer_take(&p->lexer, "(")) {
		part = parse_expression(p);
		if (part && !lexer_take(&p->lexer, ")")) {
			lexer_expected(&p->lexer, ")");
			part = NULL;
		}
	} else {
		part = parse_comparison(p);
	}
	p->depth--;
	return part;
}

/* Parts joined by "and", which binds more tightly, or by "or". */
static struct view_expression *parse_joined(struct parser *p, enum view_operator op)
{
	struct view_expression *left = op == OP_OR ? parse_joined(p, OP_AND) : parse_not(p);
	struct view_expression *both;

	while (left && lexer_take(&p->lexer, op == OP_OR ? "or" : "and")) {
		both = new_part(p, op);
		if (!both)
			return NULL;
		both->parts[0] = left;
		both->parts[1] = op == OP_OR ? parse_joined(p, OP_AND) : parse_not(p);
		left = both->parts[1] ? both : NULL;
	}
	return left;
}

struct view_expression *parse_expression(struct parser *p)
{
	return parse_joined(p, OP_OR);
}
