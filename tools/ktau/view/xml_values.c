// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "xml_values.h"

bool xml_fail(const struct xml_parser *p, const struct xml_node *node, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	complain("%s:%lu: %s", p->file, node->line, text ? text : "out of memory");
	free(text);
	return false;
}

bool xml_refuse(const struct xml_parser *p, const struct xml_node *node)
{
	return xml_fail(p, node, "the element <%.60s> is not supported here", node->name);
}

/* The element of the provider with this name and this attribute, of several the last one. */
static const struct xml_node *find_definition(const struct xml_parser *p, const char *element,
					      const char *key, const char *value)
{
	const struct xml_node *node, *found = NULL;
	const char *other;

	for (node = p->provider ? p->provider->child : NULL; node; node = node->next) {
		other = xml_is(node, element) ? xml_attribute(node, key) : NULL;
		if (other && !strcmp(other, value))
			found = node;
	}
	return found;
}

const char *xml_required(const struct xml_parser *p, const struct xml_node *node, const char *name)
{
	const char *value = xml_attribute(node, name);
	const struct xml_node *definition;

	if (!value) {
		xml_fail(p, node, "<%.60s> has no attribute '%s'", node->name, name);
		return NULL;
	}
	if (*value != '$')
		return value;
	definition = find_definition(p, "definedValue", "name", value + 1);
	value = definition ? xml_attribute(definition, "value") : NULL;
	if (!value)
		xml_fail(p, node, "there is no <definedValue> '%.60s'",
			 xml_attribute(node, name) + 1);
	return value;
}

bool xml_number(const struct xml_parser *p, const struct xml_node *node, const char *text,
		int64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	if (end == text || *end || errno)
		return xml_fail(p, node, "'%.60s' is not a whole number", text);
	return true;
}

static bool real_of(const struct xml_parser *p, const struct xml_node *node, const char *text,
		    struct view_value *value)
{
	char *end;

	*value = view_number(strtod(text, &end));
	if (end == text || *end || value->kind == VALUE_NONE)
		return xml_fail(p, node, "'%.60s' is not a number", text);
	return true;
}

static struct view_value text_of(const struct xml_parser *p, const char *text)
{
	return (struct view_value){ VALUE_TEXT, strings_add(&p->view->texts, text) };
}

/*
 * Any other field of an event of a program is known by its name. Of a mark, which has one value,
 * the first such field is its name.
 */
static bool field_of(struct xml_parser *p, const struct xml_node *node, const char *name,
		     struct view_operand *operand)
{
	operand->source = FROM_FIELD;
	operand->field = xml_field(p->event, name);
	if (operand->field != VIEW_FIELDS)
		return true;
	if (p->event) {
		operand->source = FROM_CONSTANT;
		return strchr(p->pattern, '*') ||
		       xml_fail(p, node, "KTAU does not record the field '%.60s' of '%.60s'", name,
				p->pattern);
	}
	if (!p->field)
		p->field = name;
	operand->field = strcmp(p->field, name) ? FIELD_OTHER : FIELD_VALUE;
	operand->value = text_of(p, name);
	return true;
}

/* Of several events, the name of each one is known only when it happens. */
static void name_of_event(const struct xml_parser *p, struct view_operand *operand)
{
	if (strchr(p->pattern, '*')) {
		operand->source = FROM_FIELD;
		operand->field = FIELD_NAME;
	} else {
		operand->value = text_of(p, p->pattern);
	}
}

static bool query_of(struct xml_parser *p, const struct xml_node *node,
		     struct view_operand *operand)
{
	operand->source = FROM_PATH;
	operand->path = xml_path(p, node);
	return operand->path;
}

static bool add_attributes(struct xml_parser *p, const struct xml_node *node,
			   struct view_path *path);

static bool add_location(struct xml_parser *p, const struct xml_node *node, struct view_path *path)
{
	const char *id = xml_required(p, node, "value");
	const struct xml_node *location = id ? find_definition(p, "location", "id", id) : NULL;

	if (id && !location)
		xml_fail(p, node, "there is no <location> '%.60s'", id);
	return location && add_attributes(p, location, path);
}

static bool parse_attribute(struct xml_parser *p, const struct xml_node *node,
			    struct view_operand *element)
{
	const char *type = xml_required(p, node, "type"), *value;

	if (!type)
		return false;
	if (!strcmp(type, "query"))
		return query_of(p, node, element);
	if (!strcmp(type, "eventName")) {
		name_of_event(p, element);
		return true;
	}
	if (strcmp(type, "constant") && strcmp(type, "eventField"))
		return xml_fail(p, node, "a <stateAttribute> of type '%.60s' is not supported here",
				type);
	value = xml_required(p, node, "value");
	if (!value)
		return false;
	if (!strcmp(type, "eventField"))
		return field_of(p, node, value, element);
	element->value = text_of(p, value);
	return true;
}

static bool add_attribute(struct xml_parser *p, const struct xml_node *node, struct view_path *path)
{
	const char *type = xml_attribute(node, "type");

	if (type && !strcmp(type, "location"))
		return add_location(p, node, path);
	if (path->nr == VIEW_DEPTH)
		return xml_fail(p, node, "the path has more than %d names", VIEW_DEPTH);
	return parse_attribute(p, node, &path->elements[path->nr++]);
}

static bool add_attributes(struct xml_parser *p, const struct xml_node *node,
			   struct view_path *path)
{
	bool done = true;

	/* A location may contain itself. */
	if (p->depth == VIEW_DEPTH)
		return xml_fail(p, node, "more than %d levels", VIEW_DEPTH);
	p->depth++;
	for (node = node->child; done && node; node = node->next)
		if (xml_is(node, "stateAttribute"))
			done = add_attribute(p, node, path);
	p->depth--;
	return done;
}

struct view_path *xml_path(struct xml_parser *p, const struct xml_node *node)
{
	struct view_path *path = view_alloc(p->view, sizeof(*path));

	if (!add_attributes(p, node, path))
		return NULL;
	if (path->nr)
		return path;
	xml_fail(p, node, "<%.60s> has no <stateAttribute>", node->name);
	return NULL;
}

/* The pairs of a mapping group, whose values are constants. */
static const struct view_mapping *find_mapping(struct xml_parser *p, const struct xml_node *node,
					       const char *id)
{
	const struct xml_node *group = find_definition(p, "mappingGroup", "id", id), *entry;
	struct view_operand operands[2];
	struct view_mapping *mapping;
	size_t nr = 0;

	if (!group) {
		xml_fail(p, node, "there is no <mappingGroup> '%.60s'", id);
		return NULL;
	}
	for (entry = group->child; entry; entry = entry->next)
		nr++;
	mapping = view_alloc(p->view, sizeof(*mapping));
	mapping->pairs = view_alloc(p->view, (nr + 1) * sizeof(*mapping->pairs));
	for (entry = group->child; entry; entry = entry->next) {
		if (!entry->child || !entry->child->next) {
			xml_fail(p, entry, "an entry of a <mappingGroup> has two <stateValue>");
			return NULL;
		}
		memset(operands, 0, sizeof(operands));
		if (!xml_value(p, entry->child, &operands[0]) ||
		    !xml_value(p, entry->child->next, &operands[1]))
			return NULL;
		mapping->pairs[mapping->nr][0] = operands[0].value;
		mapping->pairs[mapping->nr++][1] = operands[1].value;
	}
	return mapping;
}

static bool force_type(const struct xml_parser *p, const struct xml_node *node,
		       struct view_operand *operand)
{
	const char *type = xml_attribute(node, "forcedType");

	if (!type)
		return true;
	if (!strcmp(type, "string"))
		operand->as = AS_TEXT;
	else if (!strcmp(type, "int") || !strcmp(type, "long"))
		operand->as = AS_NUMBER;
	else
		return xml_fail(p, node, "a forcedType '%.60s' is not supported", type);
	return true;
}

/* A value of @type with the attribute value. */
static bool parse_constant(struct xml_parser *p, const struct xml_node *node, const char *type,
			   struct view_operand *operand)
{
	const char *value = xml_required(p, node, "value");

	if (!value)
		return false;
	if (!strcmp(type, "eventField"))
		return field_of(p, node, value, operand);
	if (!strcmp(type, "string")) {
		operand->value = text_of(p, value);
		return true;
	}
	if (strcmp(type, "int") && strcmp(type, "long") && strcmp(type, "double"))
		return xml_fail(p, node, "a <stateValue> of type '%.60s' is not supported", type);
	if (!strcmp(type, "double"))
		return real_of(p, node, value, &operand->value);
	operand->value.kind = VALUE_NUMBER;
	return xml_number(p, node, value, &operand->value.number);
}

static bool parse_value(struct xml_parser *p, const struct xml_node *node,
			struct view_operand *operand)
{
	const char *type = xml_required(p, node, "type");
	const char *stack = xml_attribute(node, "stack");

	if (!type)
		return false;
	if (!strcmp(type, "null") || !strcmp(type, "delete"))
		return true;
	if (!strcmp(type, "eventName")) {
		name_of_event(p, operand);
		return true;
	}
	if (strcmp(type, "query"))
		return parse_constant(p, node, type, operand);
	if (!query_of(p, node, operand))
		return false;
	if (stack && !strcmp(stack, "peek"))
		operand->source = FROM_TOP;
	return true;
}

bool xml_value(struct xml_parser *p, const struct xml_node *node, struct view_operand *operand)
{
	const char *group = xml_attribute(node, "mappingGroup");

	if (!xml_is(node, "stateValue"))
		return xml_refuse(p, node);
	if (!parse_value(p, node, operand) || !force_type(p, node, operand))
		return false;
	if (!group)
		return true;
	if (p->depth == VIEW_DEPTH)
		return xml_fail(p, node, "more than %d levels", VIEW_DEPTH);
	p->depth++;
	operand->mapping = find_mapping(p, node, group);
	p->depth--;
	return operand->mapping;
}

static bool parse_operator(const struct xml_parser *p, const struct xml_node *node,
			   enum view_operator *op)
{
	static const char *const operators[] = {
		[OP_EQ] = "eq",
		[OP_NE] = "ne",
		[OP_LT] = "lt",
		[OP_LE] = "le",
		[OP_GT] = "gt",
		[OP_GE] = "ge",
	};
	const char *name = xml_attribute(node, "operator");
	size_t i = 0;

	while (name && i < OP_AND && strcmp(operators[i], name))
		i++;
	if (i == OP_AND)
		return xml_fail(p, node, "the operator '%.60s' is not supported", name);
	*op = (enum view_operator)i;
	return true;
}

/* A field, an attribute or a value is compared with a value. */
static struct view_expression *parse_comparison(struct xml_parser *p, const struct xml_node *node)
{
	struct view_expression *x = view_alloc(p->view, sizeof(*x));
	const struct xml_node *child;
	const char *name, *stack;
	bool path = false, done = parse_operator(p, node, &x->op);
	size_t nr = 0;

	for (child = node->child; done && child; child = child->next) {
		if (xml_is(child, "stateAttribute")) {
			done = path || (nr < 2 && query_of(p, node, &x->operands[nr++]));
			path = true;
		} else if (nr == 2) {
			done = xml_refuse(p, child);
		} else if (xml_is(child, "field")) {
			name = xml_required(p, child, "name");
			done = name && field_of(p, child, name, &x->operands[nr++]);
		} else {
			stack = xml_attribute(child, "stack");
			if (path && nr == 1 && stack && !strcmp(stack, "peek"))
				x->operands[0].source = FROM_TOP;
			done = xml_value(p, child, &x->operands[nr++]);
		}
	}
	if (done && nr < 2)
		done = xml_fail(p, node, "<condition> compares two values");
	return done ? x : NULL;
}

/* The conditions in @node, joined. */
static struct view_expression *parse_joined(struct xml_parser *p, const struct xml_node *node,
					    enum view_operator op)
{
	struct view_expression *left = NULL, *both;
	const struct xml_node *child;

	for (child = node->child; child; child = child->next) {
		both = view_alloc(p->view, sizeof(*both));
		both->op = op;
		both->parts[0] = left;
		both->parts[1] = xml_condition(p, child);
		if (!both->parts[1])
			return NULL;
		left = left ? both : both->parts[1];
	}
	if (!left)
		xml_fail(p, node, "<%s> has no condition", node->name);
	return left;
}

struct view_expression *xml_condition(struct xml_parser *p, const struct xml_node *node)
{
	struct view_expression *x;

	if (xml_is(node, "condition"))
		return parse_comparison(p, node);
	if (xml_is(node, "and") || xml_is(node, "if"))
		return parse_joined(p, node, OP_AND);
	if (xml_is(node, "or"))
		return parse_joined(p, node, OP_OR);
	if (!xml_is(node, "not")) {
		xml_refuse(p, node);
		return NULL;
	}
	x = view_alloc(p->view, sizeof(*x));
	x->op = OP_NOT;
	x->parts[0] = parse_joined(p, node, OP_AND);
	return x->parts[0] ? x : NULL;
}
