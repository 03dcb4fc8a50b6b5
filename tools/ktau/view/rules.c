// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "rules.h"

void view_deinit(struct view_rules *v)
{
	size_t i;

	for (i = 0; i < v->nr_handlers; i++) {
		free(v->handlers[i].actions);
		free(v->handlers[i].otherwise);
	}
	for (i = 0; i < v->nr_rows; i++)
		free(v->rows[i].label);
	for (i = 0; i < v->nr_blocks; i++)
		free(v->blocks[i]);
	free(v->states);
	free(v->handlers);
	free(v->rows);
	free(v->stats);
	free(v->blocks);
	strings_deinit(&v->texts);
	*v = (struct view_rules){ 0 };
}

void *view_alloc(struct view_rules *v, size_t bytes)
{
	void *block = cli_alloc(NULL, 1, bytes);

	/* The number of blocks is a power of 2 when the list is full. */
	if (!(v->nr_blocks & (v->nr_blocks - 1)))
		v->blocks = cli_alloc(v->blocks, v->nr_blocks ? 2 * v->nr_blocks : 1,
				      sizeof(*v->blocks));
	v->blocks[v->nr_blocks++] = block;
	memset(block, 0, bytes);
	return block;
}

const char *view_text(struct view_rules *v, const char *text, size_t bytes)
{
	char *copy = view_alloc(v, bytes + 1);

	memcpy(copy, text, bytes);
	return copy;
}
