// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/cli.h"
#include "xml.h"

const char *xml_attribute(const struct xml_node *node, const char *name)
{
	const char **a;

	for (a = node->attributes; *a; a += 2)
		if (!strcmp(*a, name))
			return a[1];
	return NULL;
}

bool xml_is(const struct xml_node *node, const char *name)
{
	return !strcmp(node->name, name);
}

#ifdef KTAU_HAVE_EXPAT
#include <expat.h>

/* Elements in each other, and in all. */
enum { DEEPEST = 64,
       MOST_NODES = 100000 };

/**
 * struct reading - the state of the parser
 * @parser: expat's
 * @view: has the memory
 * @file: for messages
 * @root: the first element
 * @open: the innermost open one
 * @last: the last element in each open one
 * @depth: open elements
 * @nr: elements
 * @failed: a message was printed
 */
struct reading {
	XML_Parser parser;
	struct view_rules *view;
	const char *file;
	struct xml_node *root, *open, *last[DEEPEST + 1];
	size_t depth, nr;
	bool failed;
};

static unsigned long line_of(XML_Parser parser)
{
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 8	/* deprecates the other one */
	return (unsigned long)XML_GetCurrentLineNumber64(parser);
#else
	return XML_GetCurrentLineNumber(parser);
#endif
}

static void stop(struct reading *r, const char *reason)
{
	if (!r->failed)
		complain("%s:%lu: %s", r->file, line_of(r->parser), reason);
	r->failed = true;
	XML_StopParser(r->parser, XML_FALSE);
}

static const char **copy_attributes(struct view_rules *v, const char *const *from)
{
	size_t nr = 0, i;
	const char **copy;

	while (from[nr])
		nr++;
	copy = view_alloc(v, (nr + 1) * sizeof(*copy));
	for (i = 0; i < nr; i++)
		copy[i] = view_text(v, from[i], strlen(from[i]));
	return copy;
}

static void XMLCALL start(void *arg, const char *name, const char **attributes)
{
	struct reading *r = arg;
	struct xml_node *node;

	if (r->depth == DEEPEST) {
		stop(r, "more than 64 elements in each other");
		return;
	}
	if (r->nr++ == MOST_NODES) {
		stop(r, "more than 100000 elements");
		return;
	}
	node = view_alloc(r->view, sizeof(*node));
	node->name = view_text(r->view, name, strlen(name));
	node->attributes = copy_attributes(r->view, attributes);
	node->line = line_of(r->parser);
	node->parent = r->open;
	if (r->last[r->depth])
		r->last[r->depth]->next = node;
	else if (r->open)
		r->open->child = node;
	else
		r->root = node;
	r->last[r->depth++] = node;
	r->last[r->depth] = NULL;
	r->open = node;
}

static void XMLCALL end(void *arg, const char *name)
{
	struct reading *r = arg;

	(void)name;
	r->depth--;
	r->open = r->open->parent;
}

/* Entities could make a short text long, or name other files. */
static void XMLCALL doctype(void *arg, const char *name, const char *system, const char *public,
			    int subset)
{
	(void)name;
	(void)system;
	(void)public;
	(void)subset;
	stop(arg, "a DOCTYPE is not allowed");
}

struct xml_node *xml_read(struct view_rules *v, const char *file, const char *text, size_t bytes)
{
	struct reading r = { .view = v, .file = file };

	if (bytes > XML_MOST_BYTES) {
		complain("%s: longer than %d bytes", file, XML_MOST_BYTES);
		return NULL;
	}
	r.parser = XML_ParserCreate(NULL);
	if (!r.parser) {
		complain("out of memory");
		return NULL;
	}
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, start, end);
	XML_SetStartDoctypeDeclHandler(r.parser, doctype);
	if (XML_Parse(r.parser, text, (int)bytes, XML_TRUE) != XML_STATUS_OK)
		stop(&r, XML_ErrorString(XML_GetErrorCode(r.parser)));
	XML_ParserFree(r.parser);
	return r.failed ? NULL : r.root;
}

#else

struct xml_node *xml_read(struct view_rules *v, const char *file, const char *text, size_t bytes)
{
	(void)v;
	(void)text;
	(void)bytes;
	complain("%s: ktau was built without libexpat, which reads XML: install libexpat1-dev and "
		 "build it again",
		 file);
	return NULL;
}

#endif
