// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node that several trees share has more than one reference and is never changed: the way down
 * to a change replaces each shared node by a copy.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "page_table.h"

enum { BITS = 6, WIDTH = 1 << BITS };

/**
 * struct page_node - a node; level 0 has values, the others have nodes
 * @refs: tables and nodes that refer to it
 * @used: entries that are not empty
 * @node: the nodes below
 * @value: the values
 */
struct page_node {
	size_t refs;
	unsigned int used;
	union {
		struct page_node *node[WIDTH];
		uint64_t value[WIDTH];
	};
};

static struct page_node *create_node(void)
{
	struct page_node *n = cli_alloc(NULL, 1, sizeof(*n));

	memset(n, 0, sizeof(*n));
	n->refs = 1;
	return n;
}

static void put_node(struct page_node *n, unsigned int level)
{
	unsigned int i;

	if (!n || --n->refs)
		return;
	for (i = 0; level && i < WIDTH; i++)
		put_node(n->node[i], level - 1);
	free(n);
}

/* Make the node at *@at one that only this table uses. */
static struct page_node *own_node(struct page_node **at, unsigned int level)
{
	struct page_node *old = *at, *n;
	unsigned int i;

	if (old->refs == 1)
		return old;
	n = cli_alloc(NULL, 1, sizeof(*n));
	*n = *old;
	n->refs = 1;
	for (i = 0; level && i < WIDTH; i++)
		if (n->node[i])
			n->node[i]->refs++;
	old->refs--;
	*at = n;
	return n;
}

static unsigned int index_at(uint64_t page, unsigned int level)
{
	return page >> level * BITS & (WIDTH - 1);
}

/* The last page of a table of this height. */
static uint64_t last_page(unsigned int levels)
{
	return (1ULL << levels * BITS) - 1;
}

uint64_t page_table_get(const struct page_table *t, uint64_t page)
{
	const struct page_node *n = t->root;
	unsigned int level = t->levels;

	if (!n || page > last_page(level))
		return 0;
	while (--level) {
		n = n->node[index_at(page, level)];
		if (!n)
			return 0;
	}
	return n->value[index_at(page, 0)];
}

static void grow(struct page_table *t, uint64_t page)
{
	struct page_node *n;

	if (!t->root) {
		t->root = create_node();
		t->levels = 1;
	}
	while (page > last_page(t->levels)) {
		n = create_node();
		n->node[0] = t->root;
		n->used = 1;
		t->root = n;
		t->levels++;
	}
}

void page_table_set(struct page_table *t, uint64_t page, uint64_t value)
{
	struct page_node **at = &t->root, *n;
	unsigned int level;

	grow(t, page);
	for (level = t->levels - 1; level; level--) {
		n = own_node(at, level);
		at = &n->node[index_at(page, level)];
		if (!*at) {
			*at = create_node();
			n->used++;
		}
	}
	n = own_node(at, 0);
	n->used += !n->value[index_at(page, 0)];
	n->value[index_at(page, 0)] = value;
}

static void note_value(void *arg, uint64_t page, uint64_t value)
{
	(void)page;
	(void)value;
	*(bool *)arg = true;
}

/* A part of a table: the node of @level whose first page is @base, and the pages meant. */
struct part {
	unsigned int level;
	uint64_t base, first, last;
};

/* The part below entry @i, cut to the pages that are meant. Return: whether there are any. */
static bool part_below(const struct part *p, unsigned int i, struct part *below)
{
	uint64_t pages = 1ULL << p->level * BITS;
	uint64_t from = p->base + i * pages, to = from + (pages - 1);

	*below = (struct part){ .level = p->level ? p->level - 1 : 0, .base = from };
	below->first = p->first > from ? p->first : from;
	below->last = p->last < to ? p->last : to;
	return below->first <= below->last;
}

static void visit_node(const struct page_node *n, const struct part *p,
		       void (*visit)(void *arg, uint64_t page, uint64_t value), void *arg)
{
	struct part below;
	unsigned int i;

	for (i = 0; i < WIDTH; i++) {
		if (!part_below(p, i, &below))
			continue;
		if (p->level && n->node[i])
			visit_node(n->node[i], &below, visit, arg);
		else if (!p->level && n->value[i])
			visit(arg, below.base, n->value[i]);
	}
}

void page_table_visit(const struct page_table *t, uint64_t first, uint64_t last,
		      void (*visit)(void *arg, uint64_t page, uint64_t value), void *arg)
{
	const struct part whole = { t->levels - 1, 0, first, last };

	if (t->root)
		visit_node(t->root, &whole, visit, arg);
}

/* Remove the values of a part of the node at *@at, which goes too if nothing remains. */
static void drop_node(struct page_node **at, const struct part *p)
{
	struct page_node *n = own_node(at, p->level);
	struct part below;
	unsigned int i;

	for (i = 0; i < WIDTH; i++) {
		if (!part_below(p, i, &below))
			continue;
		if (!p->level) {
			n->used -= !!n->value[i];
			n->value[i] = 0;
			continue;
		}
		if (!n->node[i])
			continue;
		if (below.last - below.first == last_page(p->level)) {
			put_node(n->node[i], p->level - 1);
			n->node[i] = NULL;
		} else {
			drop_node(&n->node[i], &below);
		}
		n->used -= !n->node[i];
	}
	if (n->used)
		return;
	put_node(n, p->level);
	*at = NULL;
}

void page_table_drop(struct page_table *t, uint64_t first, uint64_t last)
{
	const struct part whole = { t->levels - 1, 0, first, last };
	bool any = false;

	/* Without this, an unmap of empty pages would copy shared nodes. */
	page_table_visit(t, first, last, note_value, &any);
	if (any)
		drop_node(&t->root, &whole);
}

void page_table_copy(struct page_table *to, const struct page_table *from)
{
	*to = *from;
	if (to->root)
		to->root->refs++;
}

void page_table_deinit(struct page_table *t)
{
	put_node(t->root, t->levels - 1);
	*t = (struct page_table){ 0 };
}
