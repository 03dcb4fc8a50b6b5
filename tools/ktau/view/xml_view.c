// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "xml_values.h"
#include "xml_view.h"

/* Handlers, states and rows of a view. */
enum { MOST = 65536 };

/* Room for one more, if the list is full when its length is a power of 2. */
static void *grow(void *list, size_t nr, size_t size)
{
	return nr & (nr - 1) ? list : cli_alloc(list, nr ? 2 * nr : 1, size);
}

/* Handlers */

static bool is_set(const struct xml_node *node, const char *attribute)
{
	const char *value = xml_attribute(node, attribute);

	return value && !strcmp(value, "true");
}

static bool choose_verb(const struct xml_parser *p, const struct xml_node *value,
			enum view_verb *verb)
{
	const char *type = xml_attribute(value, "type"), *stack = xml_attribute(value, "stack");

	*verb = VERB_SET;
	if (is_set(value, "increment"))
		*verb = VERB_ADD;
	else if (is_set(value, "update"))
		*verb = VERB_UPDATE;
	else if (type && !strcmp(type, "delete"))
		*verb = VERB_CLEAR;
	if (!stack || (type && !strcmp(type, "query") && !strcmp(stack, "peek")))
		return true;
	if (!strcmp(stack, "push"))
		*verb = VERB_STACK;
	else if (!strcmp(stack, "pop"))
		*verb = VERB_UNSTACK;
	else if (!strcmp(stack, "popAll"))
		*verb = VERB_CLEAR;
	else
		return xml_fail(p, value, "stack '%.60s' is not supported here", stack);
	return true;
}

/* The attributes and their value, which is the last element. */
static bool parse_change(struct xml_parser *p, const struct xml_node *node,
			 struct view_action **actions, size_t *nr)
{
	struct view_action action = { 0 };
	const struct xml_node *child, *value = NULL;

	for (child = node->child; child; child = child->next) {
		if (xml_is(child, "stateAttribute"))
			continue;
		if (value || !xml_is(child, "stateValue"))
			return xml_refuse(p, child);
		value = child;
	}
	if (!value)
		return xml_fail(p, node, "<%s> has no <stateValue>", node->name);
	if (!choose_verb(p, value, &action.verb) || !xml_value(p, value, &action.operand))
		return false;
	action.path = xml_path(p, node);
	if (!action.path)
		return false;
	*actions = grow(*actions, *nr, sizeof(action));
	(*actions)[(*nr)++] = action;
	return true;
}

/* Either a change, or a condition and one or two changes. */
static bool parse_actions(struct xml_parser *p, const struct xml_node *node,
			  struct view_branch *b);

/* What is in <then> or <else> may have a condition, too. The recursion is as deep as elements. */
static bool parse_inner(struct xml_parser *p, const struct xml_node *node,
			struct view_action **actions, size_t *nr)
{
	struct view_action action = { .verb = VERB_BRANCH };

	if (!node->child || !xml_is(node->child, "if"))
		return parse_change(p, node, actions, nr);
	action.branch = view_branch(p->view);
	if (!parse_actions(p, node, action.branch))
		return false;
	*actions = grow(*actions, *nr, sizeof(action));
	(*actions)[(*nr)++] = action;
	return true;
}

static bool parse_actions(struct xml_parser *p, const struct xml_node *node, struct view_branch *b)
{
	const struct xml_node *child = node->child;

	if (!child || !xml_is(child, "if"))
		return parse_change(p, node, &b->actions, &b->nr);
	b->guard = xml_condition(p, child);
	if (!b->guard)
		return false;
	for (child = child->next; child; child = child->next) {
		if (xml_is(child, "then")) {
			if (!parse_inner(p, child, &b->actions, &b->nr))
				return false;
		} else if (!xml_is(child, "else")) {
			return xml_refuse(p, child);
		} else if (!parse_inner(p, child, &b->otherwise, &b->nr_otherwise)) {
			return false;
		}
	}
	return true;
}

static const char *joined(const struct xml_parser *p, const char *a, const char *b, const char *c)
{
	char *text;
	const char *copy;

	if (asprintf(&text, "%s%s%s", a, b, c) < 0) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	copy = view_text(p->view, text, strlen(text));
	free(text);
	return copy;
}

static void add_handler(struct xml_parser *p, const struct view_handler *h)
{
	struct view_rules *v = p->view;

	v->handlers = grow(v->handlers, v->nr_handlers, sizeof(*v->handlers));
	v->handlers[v->nr_handlers++] = *h;
}

/*
 * The marks of a program have the name of the value in parentheses. Messages have a value without
 * a name, the number of bytes.
 */
static void add_user_handler(struct xml_parser *p, struct view_handler *h)
{
	const bool plain = !p->field || !strcmp(p->field, "value") || !strcmp(p->field, "bytes");
	struct view_handler other;

	h->base = h->name;
	h->base_prefix = h->prefix;
	other = *h;
	if (p->field && !h->prefix)
		other.name = joined(p, h->name, "(", joined(p, p->field, ")", ""));
	if (h->prefix || !plain) {
		add_handler(p, &other);
		return;
	}
	if (!p->field) {
		other.prefix = true;
		other.name = joined(p, h->name, "(", "");
	}
	add_handler(p, h);
	/* An event with fields is one of @h. */
	other.base = NULL;
	add_handler(p, &other);
}

/* The name of the routines of a kernel's event, which are ENTER and EXIT. */
static void name_frames(const struct xml_parser *p, struct view_handler *h)
{
	const size_t bytes = strlen(p->event->name);

	if (!p->event->frame)
		return;
	h->name = p->event->frame;
	h->prefix = true;
	if (!p->event->call || strlen(p->pattern) <= bytes)
		return;
	h->name = joined(p, p->event->frame, p->pattern + bytes, "");
	h->prefix = strchr(h->name, '*');
	if (h->prefix)
		*strchr(h->name, '*') = 0;
}

static bool parse_state_change(struct xml_parser *p, const struct xml_node *node)
{
	struct view_handler h = { .event = p->event ? p->event->event : VIEW_USER };
	const char *star = strchr(p->pattern, '*');

	if (p->view->nr_handlers > MOST)
		return xml_fail(p, node, "more than %d changes", MOST);
	p->field = NULL;
	h.branch = view_branch(p->view);
	if (!parse_actions(p, node, h.branch))
		return false;
	if (p->event) {
		name_frames(p, &h);
		add_handler(p, &h);
		return true;
	}
	h.prefix = star;
	h.name = view_text(p->view, p->pattern,
			   star ? (size_t)(star - p->pattern) : strlen(p->pattern));
	add_user_handler(p, &h);
	return true;
}

static bool parse_changes(struct xml_parser *p, const struct xml_node *handler)
{
	const struct xml_node *node;

	for (node = handler->child; node; node = node->next) {
		if (!xml_is(node, "stateChange"))
			return xml_refuse(p, node);
		if (!parse_state_change(p, node))
			return false;
	}
	return true;
}

/* A pattern may mean events of the kernel and of programs. */
static bool parse_handler(struct xml_parser *p, const struct xml_node *node)
{
	bool kernel = false;
	const char *star;
	size_t i;

	p->pattern = xml_required(p, node, "eventName");
	if (!p->pattern)
		return false;
	star = strchr(p->pattern, '*');
	if (star && star[1])
		return xml_fail(p, node, "only the end of the name of an event may be *");
	for (i = 0; i < nr_xml_events; i++) {
		if (!xml_event_matches(&xml_events[i], p->pattern))
			continue;
		kernel = true;
		p->event = &xml_events[i];
		if (!parse_changes(p, node))
			return false;
	}
	p->event = NULL;
	return (kernel && (!star || !strncmp(p->pattern, "syscall_", 8))) || parse_changes(p, node);
}

static bool parse_provider(struct xml_parser *p, const struct xml_node *provider)
{
	const struct xml_node *node;

	p->provider = provider;
	for (node = provider->child; node; node = node->next) {
		if (xml_is(node, "eventHandler")) {
			if (!parse_handler(p, node))
				return false;
		} else if (!xml_is(node, "head") && !xml_is(node, "definedValue") &&
			   !xml_is(node, "location") && !xml_is(node, "mappingGroup")) {
			return xml_refuse(p, node);
		}
	}
	return true;
}

/* Views */

/* The names of a state belong to its number. */
static bool parse_state(struct xml_parser *p, const struct xml_node *node)
{
	const char *name = xml_required(p, node, "name"), *value = xml_required(p, node, "value");
	const char *colour = xml_attribute(node, "color");
	struct view_rules *v = p->view;
	struct view_state state = { .is_number = true };
	size_t i;

	if (!name || !value || !xml_number(p, node, value, &state.number))
		return false;
	state.name = name;
	if (colour && strlen(colour) == 7)
		memcpy(state.colour, colour, 7);
	for (i = 0; i < v->nr_states && strcmp(v->states[i].name, name);)
		i++;
	if (i < v->nr_states) {
		complain("%s:%lu: a second <definedValue> '%s' replaces the first one", p->file,
			 node->line, name);
		v->states[i] = state;
		return true;
	}
	if (i == MOST)
		return xml_fail(p, node, "more than %d states", MOST);
	v->states = grow(v->states, v->nr_states, sizeof(*v->states));
	v->states[v->nr_states++] = state;
	return true;
}

/* Add the names of a path such as CPUs / * to another one. */
static bool add_names(const struct xml_parser *p, const struct xml_node *node, const char *names,
		      struct view_path *path)
{
	struct view_operand *element;
	size_t bytes;

	for (; *names; names += bytes + (names[bytes] == '/')) {
		bytes = strcspn(names, "/");
		if (path->nr == VIEW_DEPTH)
			return xml_fail(p, node, "the path has more than %d names", VIEW_DEPTH);
		element = &path->elements[path->nr++];
		*element = (struct view_operand){ .source = FROM_WILDCARD };
		if (bytes == 1 && *names == '*')
			continue;
		element->source = FROM_CONSTANT;
		element->value.kind = VALUE_TEXT;
		element->value.number = strings_add_bytes(&p->view->texts, names, bytes);
	}
	return true;
}

/* The path of the attribute that an element names below that of the entry. */
static struct view_path *path_below(const struct xml_parser *p, const struct xml_node *node,
				    const struct view_path *entry)
{
	const char *type = xml_attribute(node, "type"), *value = xml_attribute(node, "value");
	struct view_path *path = view_alloc(p->view, sizeof(*path));

	*path = *entry;
	if (!type || !strcmp(type, "self"))
		return path;
	if (strcmp(type, "constant") || !value) {
		xml_fail(p, node, "<%.60s> is self or constant", node->name);
		return NULL;
	}
	return add_names(p, node, value, path) ? path : NULL;
}

static void add_part(struct view_row *row, const struct view_operand *part)
{
	row->label = grow(row->label, row->nr, sizeof(*row->label));
	row->label[row->nr++] = *part;
}

/* In a label, the names for which * stands have numbers. */
static void number_wildcards(struct view_path *path)
{
	uint32_t number = 0;
	size_t i;

	for (i = 0; i < path->nr; i++)
		if (path->elements[i].source == FROM_WILDCARD)
			path->elements[i].wildcard = ++number;
}

/* The last name of each entry around this one, or what <name> says. */
static bool make_label(const struct xml_parser *p, struct view_row *row,
		       const struct view_path *entry, const struct xml_node *name)
{
	struct view_operand part = { .source = FROM_PATH };

	part.path = path_below(p, name, entry);
	if (!part.path)
		return false;
	number_wildcards(part.path);
	if (part.path->nr == entry->nr)
		part = part.path->elements[part.path->nr - 1];
	add_part(row, &part);
	return true;
}

static bool add_row(struct xml_parser *p, const struct xml_node *node,
		    const struct view_path *entry, const struct xml_node *display,
		    const struct xml_node *name)
{
	struct view_rules *v = p->view;
	struct view_row row = { .path = path_below(p, display, entry) };

	if (!row.path)
		return false;
	if (v->nr_rows == MOST)
		return xml_fail(p, node, "more than %d entries", MOST);
	if (name && !make_label(p, &row, entry, name))
		return false;
	v->rows = grow(v->rows, v->nr_rows, sizeof(*v->rows));
	v->rows[v->nr_rows++] = row;
	return true;
}

/* The recursion is as deep as the elements of a file. */
static bool parse_entry(struct xml_parser *p, const struct xml_node *node,
			const struct view_path *parent)
{
	const char *names = xml_required(p, node, "path");
	const struct xml_node *child, *display = NULL, *name = NULL;
	struct view_path *path = view_alloc(p->view, sizeof(*path));

	*path = *parent;
	if (!names || !add_names(p, node, names, path))
		return false;
	if (!path->nr)
		return xml_fail(p, node, "the path is empty");
	for (child = node->child; child; child = child->next) {
		if (xml_is(child, "display"))
			display = child;
		else if (xml_is(child, "name"))
			name = child;
		else if (!xml_is(child, "entry") && !xml_is(child, "parent") &&
			 !xml_is(child, "id"))
			return xml_refuse(p, child);
	}
	if (display && !add_row(p, node, path, display, name))
		return false;
	for (child = node->child; child; child = child->next)
		if (xml_is(child, "entry") && !parse_entry(p, child, path))
			return false;
	return true;
}

static void parse_head(struct xml_parser *p, const struct xml_node *head)
{
	const struct xml_node *node;

	for (node = head->child; node; node = node->next)
		if (xml_is(node, "label") && !p->view->title)
			p->view->title = xml_attribute(node, "value");
}

static bool parse_view(struct xml_parser *p, const struct xml_node *view)
{
	const struct view_path none = { 0 };
	const struct xml_node *node;
	bool done = true;

	p->provider = view;
	for (node = view->child; done && node; node = node->next) {
		if (xml_is(node, "head"))
			parse_head(p, node);
		else if (xml_is(node, "definedValue"))
			done = parse_state(p, node);
		else if (xml_is(node, "entry"))
			done = parse_entry(p, node, &none);
		else
			done = xml_refuse(p, node);
	}
	return done;
}

static bool parse_root(struct xml_parser *p, const struct xml_node *root)
{
	const struct xml_node *node;
	bool done = true;

	if (!xml_is(root, "tmfxml"))
		return xml_fail(p, root, "the root is not <tmfxml>");
	for (node = root->child; done && node; node = node->next) {
		if (xml_is(node, "stateProvider"))
			done = parse_provider(p, node);
		else if (xml_is(node, "timeGraphView") || xml_is(node, "xyView"))
			done = parse_view(p, node);
		else
			done = xml_refuse(p, node);
	}
	return done;
}

bool view_parse_xml(struct view_rules *v, const char *file, const char *text, size_t bytes)
{
	struct xml_parser p = { .file = file, .view = v };
	const struct xml_node *root = xml_read(v, file, text, bytes);

	if (!root || !parse_root(&p, root))
		return false;
	if (!v->nr_handlers || !v->nr_rows)
		return xml_fail(&p, root, "the view has no %s",
				v->nr_rows ? "<eventHandler>" : "<entry> with a <display>");
	if (!v->title)
		v->title = "without a title";
	return true;
}
