// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "engine.h"

/* Names and values that are strings. */
enum { MOST_TEXTS = 4 * TREE_MOST };

static void add_to(struct engine_list *list, uint32_t handler)
{
	/* The list is full when its length is a power of 2. */
	if (!(list->nr & (list->nr - 1)))
		list->handlers = cli_alloc(list->handlers, list->nr ? 2 * list->nr : 1,
					   sizeof(*list->handlers));
	list->handlers[list->nr++] = handler;
}

struct engine *engine_create(struct view_rules *view, struct symbolizer *names)
{
	struct engine *g = cli_alloc(NULL, 1, sizeof(*g));
	uint32_t i;

	memset(g, 0, sizeof(*g));
	g->view = view;
	g->fields.names = names;
	g->fields.texts = &view->texts;
	g->times.to_ns = UINT64_MAX;
	g->times.most = TREE_MOST;
	for (i = 0; i < view->nr_handlers; i++)
		if (view->handlers[i].event >= VIEW_NAMED)
			add_to(&g->lists[view->handlers[i].event], i);
	return g;
}

void engine_destroy(struct engine *g)
{
	size_t i;

	for (i = 0; i < VIEW_EVENTS; i++)
		free(g->lists[i].handlers);
	for (i = 0; i < g->nr_named; i++)
		free(g->named[i].handlers);
	free(g->named);
	tree_deinit(&g->tree);
	times_deinit(&g->times);
	free(g);
}

/* Values */

static uint32_t find_node(struct engine *g, const struct view_path *path, bool create);
static bool name_of(struct engine *g, struct view_value value, uint32_t *name);

static struct view_value wildcard(struct engine *g, uint32_t number)
{
	const struct view_path *path = g->view->rows[g->row->pattern].path;
	uint32_t names[VIEW_DEPTH];
	const size_t nr = tree_path(&g->tree, g->row->node, names);
	size_t i;

	for (i = 0; i < nr; i++)
		if (path->elements[i].source == FROM_WILDCARD && !--number)
			return (struct view_value){ VALUE_TEXT, names[i] };
	return (struct view_value){ VALUE_NONE, 0 };
}

static uint32_t stack_cell(struct engine *g, uint32_t node, bool create);

static struct view_value source_of(struct engine *g, const struct view_operand *operand)
{
	uint32_t node;

	switch (operand->source) {
	case FROM_FIELD:
		return fields_value(&g->fields, g->event, operand->field, operand->value);
	case FROM_PATH:
		node = find_node(g, operand->path, false);
		if (node)
			return g->tree.nodes[node].value;
		return (struct view_value){ VALUE_NONE, 0 };
	case FROM_TOP:
		node = find_node(g, operand->path, false);
		node = node ? stack_cell(g, node, false) : 0;
		if (node)
			return g->tree.nodes[node].value;
		return (struct view_value){ VALUE_NONE, 0 };
	case FROM_WILDCARD:
		return wildcard(g, operand->wildcard);
	default:
		return operand->value;
	}
}

static struct view_value mapped(const struct view_mapping *m, struct view_value value)
{
	size_t i;

	for (i = 0; i < m->nr; i++)
		if (view_value_equal(m->pairs[i][0], value))
			return m->pairs[i][1];
	return (struct view_value){ VALUE_NONE, 0 };
}

static bool is_number(struct view_value value)
{
	return value.kind == VALUE_NUMBER || value.kind == VALUE_REAL;
}

static struct view_value value_of(struct engine *g, const struct view_operand *operand)
{
	struct view_value value = source_of(g, operand);
	const char *text;
	uint32_t name;
	char *end;

	if (operand->as == AS_TEXT && is_number(value)) {
		name_of(g, value, &name);
		value = (struct view_value){ VALUE_TEXT, name };
	} else if (operand->as == AS_NUMBER && value.kind == VALUE_REAL) {
		value = view_whole(value);
	} else if (operand->as == AS_NUMBER && value.kind == VALUE_TEXT) {
		text = g->view->texts.texts[value.number];
		value = (struct view_value){ VALUE_NUMBER, strtoll(text, &end, 10) };
		if (end == text || *end)
			value = (struct view_value){ VALUE_NONE, 0 };
	}
	return operand->mapping ? mapped(operand->mapping, value) : value;
}

/* A value as a name. Return: false if it is not known. */
static bool name_of(struct engine *g, struct view_value value, uint32_t *name)
{
	char number[32];

	switch (value.kind) {
	case VALUE_TEXT:
		*name = (uint32_t)value.number;
		return true;
	case VALUE_STATE:
		*name = strings_add(&g->view->texts, g->view->states[value.number].name);
		return true;
	case VALUE_NUMBER:
	case VALUE_REAL:
		view_print_number(value, number);
		*name = strings_add(&g->view->texts, number);
		return true;
	default:
		return false;
	}
}

/* Attributes */

static bool matches(const struct view_path *path, const uint32_t *names, size_t nr)
{
	size_t i;

	if (path->nr != nr)
		return false;
	for (i = 0; i < nr; i++)
		if (path->elements[i].source != FROM_WILDCARD &&
		    path->elements[i].value.number != names[i])
			return false;
	return true;
}

/* The attribute at @to that has for each * the same name as @names have in @from; 0 if none. */
static uint32_t find_other(const struct engine *g, const struct view_path *from,
			   const struct view_path *to, const uint32_t *names)
{
	uint32_t node = 0, name;
	size_t i, at = 0;

	for (i = 0; i < to->nr; i++) {
		name = (uint32_t)to->elements[i].value.number;
		if (to->elements[i].source == FROM_WILDCARD) {
			while (from->elements[at].source != FROM_WILDCARD)
				at++;
			name = names[at++];
		}
		node = tree_find(&g->tree, node, name);
		if (!node)
			break;
	}
	return node;
}

/* Either may not exist yet, which is 0, or be no row. */
static void link_counter(struct engine *g, uint32_t counter, uint32_t node)
{
	const struct tree_node *n = &g->tree.nodes[node];

	if (!counter || !node || !n->row)
		return;
	g->tree.nodes[counter].counts = n->row;
	if (g->tree.nodes[counter].value.kind == VALUE_NUMBER)
		times_count(&g->times, n->row - 1, g->tree.nodes[counter].value.number, 0);
}

/* Make a new attribute a row if the view says so. */
static void find_row(struct engine *g, uint32_t node)
{
	uint32_t names[VIEW_DEPTH], i;
	const size_t nr = tree_path(&g->tree, node, names);
	const struct view_row *row;

	for (i = 0; i < g->view->nr_rows; i++) {
		row = &g->view->rows[i];
		if (row->below && matches(row->below, names, nr))
			link_counter(g, node, find_other(g, row->below, row->path, names));
		if (g->tree.nodes[node].row || !matches(row->path, names, nr))
			continue;
		g->tree.nodes[node].row = times_add_row(&g->times, node, i) + 1;
		if (row->below)
			link_counter(g, find_other(g, row->path, row->below, names), node);
	}
}

/* The attribute with this path; 0 if it does not exist, or a part of the path is not known. */
static uint32_t find_node(struct engine *g, const struct view_path *path, bool create)
{
	uint32_t node = 0, name;
	size_t i, nr;

	for (i = 0; i < path->nr; i++) {
		if (!name_of(g, value_of(g, &path->elements[i]), &name))
			return 0;
		nr = g->tree.nr;
		node = create ? tree_add(&g->tree, node, name) : tree_find(&g->tree, node, name);
		if (!node)
			return 0;
		if (g->tree.nr != nr)
			find_row(g, node);
	}
	return node;
}

/* The events and the regions of programs have a trace of their own. */
static struct times_owner owner_of(const struct engine *g)
{
	const struct timeline_event *e = g->event;
	struct times_owner owner = { e->track->serial, e->type != TIMELINE_MARK };

	if (e->type == KTAU_TRACE_ENTER || e->type == KTAU_TRACE_EXIT)
		owner.kernel = symbolize_group_bit(g->fields.names, e->id) != SYMBOLIZE_USER;
	return owner;
}

static void set(struct engine *g, uint32_t node, struct view_value value)
{
	const struct tree_node *n = &g->tree.nodes[node];

	g->applied++;
	g->tree.nodes[node].value = value;
	if (n->row)
		times_set(&g->times, n->row - 1, value, g->event->ns, owner_of(g));
	if (n->counts && value.kind == VALUE_NUMBER)
		times_count(&g->times, n->counts - 1, value.number, g->event->ns);
}

/* The state that a row is in has been this one since it began. */
static void update(struct engine *g, uint32_t node, struct view_value value)
{
	const uint32_t row = g->tree.nodes[node].row;

	if (row)
		times_update(&g->times, row - 1, value);
	set(g, node, value);
}

static struct view_value sum(struct view_value a, struct view_value b)
{
	struct view_value both = { VALUE_NUMBER, 0 };

	if (!is_number(b))
		return a;
	if (a.kind == VALUE_REAL || b.kind == VALUE_REAL)
		return view_number((is_number(a) ? view_double(a) : 0) + view_double(b));
	if (a.kind == VALUE_NUMBER)
		both.number = a.number;
	/* A counter does not wrap around. */
	if (__builtin_add_overflow(both.number, b.number, &both.number))
		both.number = b.number < 0 ? INT64_MIN : INT64_MAX;
	return both;
}

/* The attribute below @node that has the last value of its stack; 0 if there is none. */
static uint32_t stack_cell(struct engine *g, uint32_t node, bool create)
{
	const struct view_value depth = g->tree.nodes[node].value;
	uint32_t name, cell;
	size_t nr;

	if (depth.kind != VALUE_NUMBER || depth.number < 1 || !name_of(g, depth, &name))
		return 0;
	if (!create)
		return tree_find(&g->tree, node, name);
	nr = g->tree.nr;
	cell = tree_add(&g->tree, node, name);
	if (cell && g->tree.nr != nr)
		find_row(g, cell);
	return cell;
}

static void stack(struct engine *g, uint32_t node, struct view_value value)
{
	uint32_t cell;

	set(g, node, sum(g->tree.nodes[node].value, (struct view_value){ VALUE_NUMBER, 1 }));
	cell = stack_cell(g, node, true);
	if (cell)
		set(g, cell, value);
}

static void unstack(struct engine *g, uint32_t node)
{
	const struct view_value none = { VALUE_NONE, 0 };
	const uint32_t cell = stack_cell(g, node, false);
	struct view_value depth = g->tree.nodes[node].value;

	if (!cell)
		return;
	set(g, cell, none);
	depth.number--;
	set(g, node, depth.number ? depth : none);
}

/* Neither the attribute nor one below it has a value. The recursion is as deep as a path. */
static void clear(struct engine *g, uint32_t node)
{
	uint32_t child;

	set(g, node, (struct view_value){ VALUE_NONE, 0 });
	for (child = g->tree.nodes[node].child; child; child = g->tree.nodes[child].sibling)
		clear(g, child);
}

static void branch(struct engine *g, const struct view_branch *b);

static void apply(struct engine *g, const struct view_action *action)
{
	const struct view_value none = { VALUE_NONE, 0 };
	const bool valued = action->verb <= VERB_UPDATE || action->verb == VERB_STACK;
	const struct view_value value = valued ? value_of(g, &action->operand) : none;
	uint32_t node;

	if (action->verb == VERB_BRANCH) {
		branch(g, action->branch);
		return;
	}
	node = find_node(g, action->path, true);
	if (!node)
		return;
	switch (action->verb) {
	case VERB_ADD:
		set(g, node, sum(g->tree.nodes[node].value, value));
		return;
	case VERB_PUSH:
		tree_push(&g->tree, node, g->tree.nodes[node].value);
		set(g, node, value);
		return;
	case VERB_UPDATE:
		update(g, node, value);
		return;
	case VERB_POP:
		set(g, node, tree_pop(&g->tree, node));
		return;
	case VERB_STACK:
		stack(g, node, value);
		return;
	case VERB_UNSTACK:
		unstack(g, node);
		return;
	case VERB_CLEAR:
		clear(g, node);
		return;
	default:
		set(g, node, value);
	}
}

/* Conditions */

static int order_of(const struct engine *g, struct view_value a, struct view_value b)
{
	if (a.kind == VALUE_TEXT)
		return strcmp(g->view->texts.texts[a.number], g->view->texts.texts[b.number]);
	if (a.kind == VALUE_REAL || b.kind == VALUE_REAL)
		return view_double(a) < view_double(b) ? -1 : view_double(a) > view_double(b);
	return a.number < b.number ? -1 : a.number > b.number;
}

/* Only numbers, and strings, have an order. */
bool engine_compare(const struct engine *g, enum view_operator op, struct view_value a,
		    struct view_value b)
{
	const bool ordered = (is_number(a) && is_number(b)) ||
			     (a.kind == VALUE_TEXT && b.kind == VALUE_TEXT);

	switch (op) {
	case OP_EQ:
		return view_value_equal(a, b);
	case OP_NE:
		return !view_value_equal(a, b);
	case OP_LT:
		return ordered && order_of(g, a, b) < 0;
	case OP_LE:
		return ordered && order_of(g, a, b) <= 0;
	case OP_GT:
		return ordered && order_of(g, a, b) > 0;
	default:
		return ordered && order_of(g, a, b) >= 0;
	}
}

static bool is_true(struct engine *g, const struct view_expression *x)
{
	switch (x->op) {
	case OP_AND:
		return is_true(g, x->parts[0]) && is_true(g, x->parts[1]);
	case OP_OR:
		return is_true(g, x->parts[0]) || is_true(g, x->parts[1]);
	case OP_NOT:
		return !is_true(g, x->parts[0]);
	default:
		return engine_compare(g, x->op, value_of(g, &x->operands[0]),
				      value_of(g, &x->operands[1]));
	}
}

/* The recursion is as deep as the elements of a file. */
static void branch(struct engine *g, const struct view_branch *b)
{
	const bool otherwise = b->guard && !is_true(g, b->guard);
	const struct view_action *actions = otherwise ? b->otherwise : b->actions;
	const size_t nr = otherwise ? b->nr_otherwise : b->nr;
	size_t i;

	for (i = 0; i < nr; i++)
		apply(g, &actions[i]);
}

/* Events */

static bool has_name(const char *wanted, bool prefix, const char *name)
{
	return prefix ? !strncmp(wanted, name, strlen(wanted)) : !strcmp(wanted, name);
}

/* The handlers of an event with a name, which are the same for all events with this id. */
static const struct engine_list *find_named(struct engine *g, enum view_event event, uint32_t id)
{
	const bool has_fields = event == VIEW_USER && symbolize_fields(g->fields.names, id);
	const char *name = symbolize_event(g->fields.names, id);
	struct engine_list list = { 0 };
	struct view_handler *h;
	uint32_t i;

	for (i = 0; i < g->view->nr_handlers; i++) {
		h = &g->view->handlers[i];
		if (h->event != event ||
		    (has_fields ? !h->base || !has_name(h->base, h->base_prefix, name) :
				  !has_name(h->name, h->prefix, name)))
			continue;
		h->matched = true;
		add_to(&list, i);
	}
	if (!(g->nr_named & (g->nr_named - 1)))
		g->named = cli_alloc(g->named, g->nr_named ? 2 * g->nr_named : 1,
				     sizeof(*g->named));
	g->named[g->nr_named++] = list;
	g->by_id[event][id] = (uint32_t)g->nr_named;
	return &g->named[g->nr_named - 1];
}

static const struct engine_list *find_list(struct engine *g, const struct timeline_event *e)
{
	static const struct engine_list none;
	const enum view_event event = fields_event(e);
	uint32_t at;

	if (event == VIEW_EVENTS)
		return &none;
	if (event >= VIEW_NAMED)
		return &g->lists[event];
	if (e->id >= 65536)
		return &none;
	at = g->by_id[event][e->id];
	return at ? &g->named[at - 1] : find_named(g, event, e->id);
}

static void handle(struct engine *g, struct view_handler *handler)
{
	handler->matched = true;
	branch(g, handler->branch);
}

/* What the attribute of the row has is not known either. */
static void lose(void *engine, const struct times_row *row)
{
	struct engine *g = engine;

	g->tree.nodes[row->node].value = row->value;
}

int engine_event(void *engine, const struct timeline_event *e)
{
	struct engine *g = engine;
	const struct engine_list *list;
	struct times_owner owner;
	size_t i;

	/* The trace of a task that the reader may not see. */
	if (!e->track->serial)
		return 0;
	g->event = e;
	g->events++;
	if (e->ns > g->end_ns)
		g->end_ns = e->ns;
	if (e->type == TIMELINE_LOST || e->type == TIMELINE_MARKS_LOST) {
		owner = (struct times_owner){ e->track->serial, e->type == TIMELINE_LOST };
		times_lose(&g->times, owner, e->ns, lose, g);
	}
	if (g->view->on_cpu && (e->type == TIMELINE_ON || e->type == TIMELINE_OFF))
		times_run(&g->times, e->track->serial, e->type == TIMELINE_ON, e->ns);
	list = find_list(g, e);
	for (i = 0; i < list->nr; i++)
		handle(g, &g->view->handlers[list->handlers[i]]);
	return g->tree.full || g->times.full || g->view->texts.nr > MOST_TEXTS ? -ENOSPC : 0;
}

/* Labels */

static void print_path(const struct engine *g, uint32_t node, FILE *out)
{
	uint32_t names[VIEW_DEPTH];
	const size_t nr = tree_path(&g->tree, node, names);
	size_t i;

	for (i = 0; i < nr; i++)
		fprintf(out, "%s%s", i ? "/" : "", g->view->texts.texts[names[i]]);
}

uint32_t engine_label(struct engine *g, const struct times_row *row)
{
	const struct view_row *pattern = &g->view->rows[row->pattern];
	uint32_t name, label;
	char *text = NULL;
	size_t bytes, i;
	FILE *out = open_memstream(&text, &bytes);

	g->row = row;
	for (i = 0; out && i < pattern->nr; i++)
		fputs(name_of(g, value_of(g, &pattern->label[i]), &name) ?
			      g->view->texts.texts[name] :
			      "?",
		      out);
	if (out && !pattern->nr)
		print_path(g, row->node, out);
	if (!out || fclose(out)) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	label = strings_add(&g->view->texts, text);
	free(text);
	return label;
}
