// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/text.h"
#include "language.h"
#include "operand.h"
#include "xml.h"
#include "xml_view.h"

/* The longest file, handlers and states of a view. */
enum { MOST_BYTES = 256 << 10,
       MOST = 65536,
       MOST_FIGURES = 16 };

static const char *const statements[] = { "view", "state", "on", "row", "stat", "optional" };

static const char *const verbs[] = {
	[VERB_SET] = "set",
	[VERB_ADD] = "add",
	[VERB_PUSH] = "push",
	[VERB_UPDATE] = "update",
	[VERB_POP] = "pop",
	[VERB_NONE] = "none",
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))

/* Room for one more, if the list is full when its length is a power of 2. */
static void *grow(void *list, size_t nr, size_t size)
{
	return nr & (nr - 1) ? list : cli_alloc(list, nr ? 2 * nr : 1, size);
}

static bool parse_title(struct parser *p)
{
	if (p->lexer.token != TOKEN_STRING)
		return lexer_expected(&p->lexer, "a title in quotes");
	if (p->view->title)
		return lexer_fail(&p->lexer, "the view has a title already");
	p->view->title = view_text(p->view, p->lexer.text, p->lexer.bytes);
	lexer_next(&p->lexer);
	return true;
}

/* A colour follows the name directly, so that its # does not begin a comment. */
static bool parse_colour(struct parser *p, struct view_state *state)
{
	struct lexer *l = &p->lexer;
	const char *at = l->at;

	while (at < l->end && (*at == ' ' || *at == '\t'))
		at++;
	if (at == l->end || *at != '#' || at + 1 == l->end || strchr(" \t\n", at[1]))
		return true;
	l->at = l->text = at;
	l->token = TOKEN_WORD;
	lexer_name(l);
	if (l->bytes != 7 || strspn(l->text + 1, "0123456789abcdefABCDEF") < 6)
		return lexer_fail(l, "'%.*s' is not a colour such as #66FF33",
				  (int)(l->bytes < 60 ? l->bytes : 60), l->text);
	memcpy(state->colour, l->text, 7);
	return true;
}

static bool parse_state(struct parser *p)
{
	struct view_rules *v = p->view;
	struct view_state state = { 0 };
	size_t i;

	if (p->lexer.token != TOKEN_WORD)
		return lexer_expected(&p->lexer, "the name of a state");
	state.name = view_text(v, p->lexer.text, p->lexer.bytes);
	for (i = 0; i < v->nr_states; i++)
		if (!strcmp(v->states[i].name, state.name))
			return lexer_fail(&p->lexer, "the state '%s' exists already", state.name);
	if (v->nr_states == MOST)
		return lexer_fail(&p->lexer, "more than %d states", MOST);
	if (!parse_colour(p, &state))
		return false;
	v->states = grow(v->states, v->nr_states, sizeof(*v->states));
	v->states[v->nr_states++] = state;
	lexer_next(&p->lexer);
	return true;
}

/*
 * "name(field)" names the value of a mark, which is part of the mark's own name, and
 * "name(field,...)" fields of an event with fields.
 */
static bool find_user_fields(struct parser *p, struct view_handler *handler)
{
	const char *name = handler->name, *open = strrchr(name, '('), *at;
	size_t bytes = open ? (size_t)(open - name) : strlen(name), part;

	handler->base_prefix = open ? bytes && name[bytes - 1] == '*' : handler->prefix;
	handler->base = view_text(p->view, name, bytes - (open && handler->base_prefix));
	if (!open || name[strlen(name) - 1] != ')')
		return true;
	for (at = open + 1; *at && *at != ')'; at += part + (at[part] == ',')) {
		part = strcspn(at, ",)");
		if (p->nr_fields == PARSER_FIELDS)
			return lexer_fail(&p->lexer, "more than %d fields", PARSER_FIELDS);
		p->fields[p->nr_fields++] = view_text(p->view, at, part);
	}
	return true;
}

static bool parse_event(struct parser *p, struct view_handler *handler)
{
	struct lexer *l = &p->lexer;
	const char *nearest = NULL;
	char *name;

	if (l->token != TOKEN_WORD)
		return lexer_expected(l, "the kind of an event");
	name = view_alloc(p->view, l->bytes + 1);
	memcpy(name, l->text, l->bytes);
	handler->event = p->event = view_event_find(name, &nearest);
	if (handler->event == VIEW_EVENTS)
		return parse_unknown(p, "event", nearest);
	lexer_next(l);
	if (handler->event >= VIEW_NAMED)
		return true;
	lexer_name(l);
	if ((l->token != TOKEN_WORD && l->token != TOKEN_STRING) || !l->bytes)
		return lexer_expected(l, "the name of an event");
	name = view_alloc(p->view, l->bytes + 1);
	memcpy(name, l->text, l->bytes);
	if (name[l->bytes - 1] == '*') {
		handler->prefix = true;
		name[l->bytes - 1] = 0;
	}
	handler->name = name;
	if (handler->event == VIEW_USER && !find_user_fields(p, handler))
		return false;
	lexer_next(l);
	return true;
}

static bool parse_action(struct parser *p, struct view_branch *branch)
{
	struct view_action action = { 0 };
	struct lexer *l = &p->lexer;
	size_t verb = 0;

	while (verb < VERBS && !lexer_is(l, verbs[verb]))
		verb++;
	if (verb == VERBS)
		return lexer_expected(l, "set, add, push, update, pop or none");
	action.verb = (enum view_verb)verb;
	lexer_next(l);
	action.path = parse_path(p);
	if (!action.path)
		return false;
	if ((action.verb == VERB_SET || action.verb == VERB_UPDATE) && !lexer_take(l, "="))
		return lexer_expected(l, "=");
	if (action.verb <= VERB_UPDATE && !parse_operand(p, &action.operand))
		return false;
	branch->actions = grow(branch->actions, branch->nr, sizeof(action));
	branch->actions[branch->nr++] = action;
	return true;
}

static bool is_verb(const struct lexer *l)
{
	size_t i;

	for (i = 0; i < VERBS; i++)
		if (lexer_is(l, verbs[i]))
			return true;
	return false;
}

/* The event, the condition and the first action. */
static bool parse_handler(struct parser *p, struct view_handler *handler)
{
	handler->branch = view_branch(p->view);
	if (!parse_event(p, handler))
		return false;
	if (lexer_take(&p->lexer, "if")) {
		handler->branch->guard = parse_expression(p);
		if (!handler->branch->guard)
			return false;
	}
	return parse_action(p, handler->branch);
}

/* The last handler is left out if it is optional and uses what is not known. */
static bool end_handler(struct parser *p, bool parsed)
{
	if (parsed || !p->unknown)
		return parsed;
	p->view->nr_handlers--;
	lexer_skip_line(&p->lexer);
	return true;
}

static bool parse_on(struct parser *p)
{
	struct view_rules *v = p->view;

	if (v->nr_handlers == MOST)
		return lexer_fail(&p->lexer, "more than %d lines with on", MOST);
	p->where = IN_HANDLER;
	p->nr_fields = 0;
	p->parts = 0;
	p->unknown = false;
	v->handlers = grow(v->handlers, v->nr_handlers, sizeof(*v->handlers));
	v->handlers[v->nr_handlers] = (struct view_handler){ 0 };
	v->nr_handlers++;
	return end_handler(p, parse_handler(p, &v->handlers[v->nr_handlers - 1]));
}

static void add_part(struct view_row *row, const struct view_operand *part)
{
	row->label = grow(row->label, row->nr, sizeof(*row->label));
	row->label[row->nr++] = *part;
}

/* The bracket that closes the one at @at; @end if there is none. */
static const char *closing(const char *at, const char *end)
{
	int open = 0;

	for (; at < end; at++) {
		open += *at == '[' || *at == '{';
		open -= *at == ']' || *at == '}';
		if (!open)
			return at;
	}
	return end;
}

/* A part in brackets, which is all that the lexer reads. */
static bool parse_bracketed(struct parser *p, struct view_row *row)
{
	struct view_operand part = { 0 };
	const bool brace = *p->lexer.at++ == '{';

	p->lexer.token = TOKEN_WORD;
	lexer_next(&p->lexer);
	if (!(brace ? parse_brace(p, &part) : parse_bracket(p, &part)))
		return false;
	add_part(row, &part);
	return true;
}

/* The lexer is at the string. */
static bool parse_label(struct parser *p, struct view_row *row)
{
	struct lexer *l = &p->lexer, string = *l;
	const char *at = l->text, *end = at + l->bytes, *from;
	struct view_operand part = { .value.kind = VALUE_TEXT };

	while (!l->failed && at < end) {
		for (from = at; at < end && *at != '{' && *at != '[';)
			at++;
		part.value.number = strings_add_bytes(&p->view->texts, from, (size_t)(at - from));
		add_part(row, &part);
		if (at == end)
			break;
		l->at = at;
		at = closing(at, end);
		l->end = at < end ? at + 1 : end;
		if (!parse_bracketed(p, row))
			return false;
		at++;
	}
	*l = string;
	lexer_next(l);
	return true;
}

/* The counter has a path with as many * as the row. */
static bool parse_rate(struct parser *p, struct view_row *row)
{
	struct lexer *l = &p->lexer;
	const struct lexer begin = *l;
	const struct view_operand *last;
	uint32_t wildcards = 0;
	size_t i;

	p->where = IN_ROW;
	row->below = parse_path(p);
	if (!row->below)
		return false;
	for (i = 0; i < row->below->nr; i++)
		wildcards += row->below->elements[i].source == FROM_WILDCARD;
	last = &row->below->elements[row->below->nr - 1];
	if (wildcards != p->wildcards || last->source == FROM_WILDCARD) {
		*l = begin;
		return lexer_fail(l, "the path of a rate has each * of the row, and then a name");
	}
	row->rate = p->view->texts.texts[last->value.number];
	if (!lexer_take(l, "as") || !lexer_take(l, "rate"))
		return lexer_expected(l, "as rate");
	return true;
}

static bool parse_row(struct parser *p)
{
	struct view_rules *v = p->view;
	struct view_row *row;
	size_t i;

	p->where = IN_ROW;
	v->rows = grow(v->rows, v->nr_rows, sizeof(*v->rows));
	row = &v->rows[v->nr_rows];
	*row = (struct view_row){ .path = parse_path(p) };
	if (!row->path)
		return false;
	v->nr_rows++;
	p->where = IN_LABEL;
	for (i = p->wildcards = 0; i < row->path->nr; i++)
		p->wildcards += row->path->elements[i].source == FROM_WILDCARD;
	if (lexer_take(&p->lexer, "label")) {
		if (p->lexer.token != TOKEN_STRING)
			return lexer_expected(&p->lexer, "a label in quotes");
		if (!parse_label(p, row))
			return false;
	}
	return !lexer_take(&p->lexer, "below") || parse_rate(p, row);
}

/* "time(CONDITION)". */
static struct view_expression *parse_time(struct parser *p)
{
	struct lexer *l = &p->lexer;
	struct view_expression *time;

	if (!lexer_take(l, "time") || !lexer_take(l, "(")) {
		lexer_expected(l, "time(");
		return NULL;
	}
	time = parse_expression(p);
	if (time && !lexer_take(l, ")")) {
		lexer_expected(l, ")");
		return NULL;
	}
	return time;
}

static bool parse_stat(struct parser *p)
{
	struct view_rules *v = p->view;
	struct view_stat stat = { 0 };
	struct lexer *l = &p->lexer;

	if (l->token != TOKEN_WORD)
		return lexer_expected(l, "the name of a figure");
	if (v->nr_stats == MOST_FIGURES)
		return lexer_fail(l, "more than %d lines with stat", MOST_FIGURES);
	stat.name = view_text(v, l->text, l->bytes);
	lexer_next(l);
	if (!lexer_take(l, "="))
		return lexer_expected(l, "=");
	p->where = IN_STAT;
	p->row = UINT32_MAX;
	p->parts = 0;
	stat.time = parse_time(p);
	if (stat.time && lexer_take(l, "/"))
		stat.whole = parse_time(p);
	if (l->failed)
		return false;
	if (p->row == UINT32_MAX)
		return lexer_fail(l, "the stat is about no row");
	stat.row = p->row;
	v->stats = grow(v->stats, v->nr_stats, sizeof(*v->stats));
	v->stats[v->nr_stats++] = stat;
	return true;
}

static bool unknown_statement(struct parser *p)
{
	const size_t nr = sizeof(statements) / sizeof(*statements);
	unsigned int best = UINT32_MAX, distance;
	const char *nearest = NULL, *word;
	size_t i;

	if (p->lexer.token != TOKEN_WORD)
		return lexer_expected(&p->lexer, "a statement");
	word = view_text(p->view, p->lexer.text, p->lexer.bytes);
	for (i = 0; i < nr; i++) {
		distance = view_distance(word, statements[i]);
		if (distance < best) {
			best = distance;
			nearest = statements[i];
		}
	}
	p->optional = false;
	return parse_unknown(p, "statement", nearest);
}

static bool parse_statement(struct parser *p)
{
	struct lexer *l = &p->lexer;

	p->depth = 0;
	p->optional = lexer_take(l, "optional");
	if (p->optional && !lexer_is(l, "on"))
		return lexer_expected(l, "on");
	if (lexer_take(l, "view"))
		return parse_title(p);
	if (lexer_take(l, "state"))
		return parse_state(p);
	if (lexer_take(l, "on"))
		return parse_on(p);
	if (lexer_take(l, "row"))
		return parse_row(p);
	if (lexer_take(l, "stat"))
		return parse_stat(p);
	return unknown_statement(p);
}

/* A further action of the last handler. */
static bool next_action(struct parser *p)
{
	return end_handler(p, parse_action(p, p->view->handlers[p->view->nr_handlers - 1].branch));
}

/* A semicolon separates statements, and the actions of one that begins with "on". */
static bool parse_statements(struct parser *p)
{
	struct lexer *l = &p->lexer;
	bool action = false, done = true;

	while (done && l->token != TOKEN_END) {
		if (l->token == TOKEN_LINE || l->token == TOKEN_SEMICOLON) {
			action &= l->token == TOKEN_SEMICOLON;
			lexer_next(l);
			continue;
		}
		if (action && is_verb(l)) {
			p->depth = 0;
			done = next_action(p);
		} else {
			action = lexer_is(l, "on") || lexer_is(l, "optional");
			done = parse_statement(p);
		}
		if (done && l->token != TOKEN_LINE && l->token != TOKEN_SEMICOLON &&
		    l->token != TOKEN_END)
			done = lexer_expected(l, "; or the end of the line");
	}
	return done;
}

/* Is the text UTF-8 without zeros? Otherwise the lexer is at the first byte that is not. */
static bool is_text(struct lexer *l)
{
	int bytes;

	for (; l->text < l->end; l->text += bytes) {
		bytes = *l->text ? utf8_bytes((const unsigned char *)l->text) : 0;
		if (!bytes)
			return false;
		if (*l->text == '\n') {
			l->nr_lines++;
			l->line = l->text + 1;
		}
	}
	return true;
}

bool view_parse(struct view_rules *v, const char *file, const char *text, size_t bytes)
{
	const struct lexer begin = {
		.file = file,
		.at = text,
		.end = text + bytes,
		.line = text,
		.nr_lines = 1,
		.text = text,
	};
	struct parser p = { .lexer = begin, .view = v };

	if (bytes > MOST_BYTES)
		return lexer_fail(&p.lexer, "longer than %d bytes", MOST_BYTES);
	if (!is_text(&p.lexer))
		return lexer_fail(&p.lexer, "a byte that is not UTF-8 text");
	p.lexer = begin;
	lexer_next(&p.lexer);
	if (!parse_statements(&p))
		return false;
	if (!v->nr_handlers || !v->nr_rows)
		return lexer_fail(&p.lexer, "the view has no %s",
				  v->nr_rows ? "line with on" : "row");
	if (!v->title)
		v->title = "without a title";
	return true;
}

/* XML begins with "<", which the language does not. */
static bool is_xml(const char *text, size_t bytes)
{
	size_t i = bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (i < bytes && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	return i < bytes && text[i] == '<';
}

bool view_parse_text(struct view_rules *v, const char *file, const char *text, size_t bytes)
{
	return is_xml(text, bytes) ? view_parse_xml(v, file, text, bytes) :
				     view_parse(v, file, text, bytes);
}

bool view_read(struct view_rules *v, const char *file)
{
	char *text = cli_alloc(NULL, XML_MOST_BYTES + 2, 1);
	FILE *f = fopen(file, "re");
	size_t bytes = 0;
	bool done = false;

	if (f)
		bytes = fread(text, 1, XML_MOST_BYTES + 1, f);
	if (!f || ferror(f)) {
		complain("cannot read %s: %s", file, strerror(errno));
	} else {
		/* The text is followed by a zero. */
		text[bytes] = 0;
		done = view_parse_text(v, file, text, bytes);
	}
	if (f)
		fclose(f);
	free(text);
	return done;
}
