/* SPDX-License-Identifier: GPL-2.0-only */
/* The attributes of a view: a tree of named values. */
#ifndef KTAU_TOOLS_VIEW_TREE_H
#define KTAU_TOOLS_VIEW_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"
#include "rules.h"

/* Attributes and values on stacks, at most of each. */
enum { TREE_MOST = 1000000 };

/**
 * struct tree_node - an attribute
 * @parent: its parent; 0: the root
 * @name: number of its name
 * @value: its value now
 * @stack: values below @value, as an index in @cells of the tree; 0: none
 * @row: index of its row plus 1; 0: it is none
 * @child: its newest child; 0: none
 * @sibling: the next older child of its parent; 0: none
 * @counts: index of the row for which it counts plus 1; 0: none
 */
struct tree_node {
	uint32_t parent, name;
	struct view_value value;
	uint32_t stack, row, counts, child, sibling;
};

/* A value on a stack, and the one below it. */
struct tree_cell {
	struct view_value value;
	uint32_t below;
};

/**
 * struct tree - the attributes; all zero: empty
 * @nodes: the attributes; the root is the first one
 * @nr: length of @nodes
 * @by_name: index of a node by the index of its parent and its name
 * @cells: the values on stacks, from 1
 * @nr_cells: length of @cells
 * @free: the first unused cell
 * @full: there was no room for an attribute or a value
 */
struct tree {
	struct tree_node *nodes;
	size_t nr, room;
	struct hash by_name;
	struct tree_cell *cells;
	size_t nr_cells, cells_room;
	uint32_t free;
	bool full;
};

void tree_deinit(struct tree *t);

/* Return: the index of a child; 0 if it does not exist, or if there is no room for a new one. */
uint32_t tree_find(const struct tree *t, uint32_t parent, uint32_t name);
uint32_t tree_add(struct tree *t, uint32_t parent, uint32_t name);

/* Keep @value below that of a node. */
void tree_push(struct tree *t, uint32_t node, struct view_value value);

/* Take the value below that of a node; none if there is none. */
struct view_value tree_pop(struct tree *t, uint32_t node);

/* The names of the path of a node, outermost first. Return: their number. */
size_t tree_path(const struct tree *t, uint32_t node, uint32_t names[VIEW_DEPTH]);

#endif
