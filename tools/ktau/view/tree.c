// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "lib/cli.h"
#include "tree.h"

void tree_deinit(struct tree *t)
{
	free(t->nodes);
	free(t->cells);
	hash_deinit(&t->by_name);
	*t = (struct tree){ 0 };
}

static uint64_t key_of(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

uint32_t tree_find(const struct tree *t, uint32_t parent, uint32_t name)
{
	return (uint32_t)hash_get(&t->by_name, key_of(parent, name));
}

uint32_t tree_add(struct tree *t, uint32_t parent, uint32_t name)
{
	const uint32_t found = tree_find(t, parent, name);

	if (found)
		return found;
	if (t->nr > TREE_MOST) {
		t->full = true;
		return 0;
	}
	if (t->nr == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->nodes = cli_alloc(t->nodes, t->room, sizeof(*t->nodes));
	}
	if (!t->nr)
		t->nodes[t->nr++] = (struct tree_node){ 0 };
	t->nodes[t->nr] = (struct tree_node){ .parent = parent, .name = name };
	t->nodes[t->nr].sibling = t->nodes[parent].child;
	t->nodes[parent].child = (uint32_t)t->nr;
	hash_put(&t->by_name, key_of(parent, name), t->nr);
	return (uint32_t)t->nr++;
}

void tree_push(struct tree *t, uint32_t node, struct view_value value)
{
	uint32_t cell = t->free;

	if (cell) {
		t->free = t->cells[cell].below;
	} else if (t->nr_cells > TREE_MOST) {
		t->full = true;
		return;
	} else {
		if (t->nr_cells == t->cells_room) {
			t->cells_room = t->cells_room ? 2 * t->cells_room : 64;
			t->cells = cli_alloc(t->cells, t->cells_room, sizeof(*t->cells));
		}
		/* The first cell is not used, because 0 is no cell. */
		t->nr_cells += !t->nr_cells;
		cell = (uint32_t)t->nr_cells++;
	}
	t->cells[cell] = (struct tree_cell){ value, t->nodes[node].stack };
	t->nodes[node].stack = cell;
}

struct view_value tree_pop(struct tree *t, uint32_t node)
{
	const uint32_t cell = t->nodes[node].stack;

	if (!cell)
		return (struct view_value){ VALUE_NONE, 0 };
	t->nodes[node].stack = t->cells[cell].below;
	t->cells[cell].below = t->free;
	t->free = cell;
	return t->cells[cell].value;
}

size_t tree_path(const struct tree *t, uint32_t node, uint32_t names[VIEW_DEPTH])
{
	size_t depth = 0, i;
	uint32_t at;

	for (at = node; at; at = t->nodes[at].parent)
		depth++;
	for (at = node, i = depth; at; at = t->nodes[at].parent)
		names[--i] = t->nodes[at].name;
	return depth;
}
