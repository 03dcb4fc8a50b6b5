// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "likes.h"

static int by_name(const void *a, const void *b, void *g)
{
	return strcmp(graph_task_name(g, *(const uint32_t *)a),
		      graph_task_name(g, *(const uint32_t *)b));
}

/* Tasks of one name have one number. */
void likes_init(struct likes *likes, const struct path_graph *g)
{
	uint32_t *order = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*order)), nr = 0;
	size_t i;

	*likes = (struct likes){ .g = g };
	likes->names = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*likes->names));
	for (i = 0; i < g->nr_tasks; i++)
		order[i] = (uint32_t)i;
	if (g->nr_tasks)
		qsort_r(order, g->nr_tasks, sizeof(*order), by_name, (void *)g);
	for (i = 0; i < g->nr_tasks; i++) {
		if (i && by_name(&order[i - 1], &order[i], (void *)g))
			nr++;
		likes->names[order[i]] = nr;
	}
	free(order);
}

void likes_deinit(struct likes *likes)
{
	hash_deinit(&likes->by_key);
	hash_deinit(&likes->causes);
	free(likes->names);
	free(likes->all);
	*likes = (struct likes){ 0 };
}

/* The number of @pair, which may be new. */
static uint64_t number_of(struct hash *numbers, uint64_t pair)
{
	uintptr_t number = hash_get(numbers, pair);

	if (!number) {
		number = numbers->nr + 1;
		hash_put(numbers, pair, number);
	}
	return number;
}

static uint64_t key_of(struct likes *likes, const struct path_segment *s)
{
	uint64_t cause;

	if (s->state == PATH_RUN_QUEUE)
		cause = s->cpu;
	else if (s->state == PATH_UNKNOWN)
		cause = s->unknown;
	else
		cause = number_of(&likes->causes, (uint64_t)s->wait << 16 | s->cause);
	return (uint64_t)likes->names[s->task] << 32 | (uint64_t)s->state << 28 |
	       (cause & 0xfffffff);
}

uint32_t likes_number(struct likes *likes, const struct path_segment *s)
{
	uint64_t key = key_of(likes, s);
	uintptr_t number = hash_get(&likes->by_key, key);

	if (number)
		return (uint32_t)(number - 1);
	if (likes->nr == likes->room) {
		likes->room = likes->room ? 2 * likes->room : 64;
		likes->all = cli_alloc(likes->all, likes->room, sizeof(*likes->all));
	}
	likes->all[likes->nr++] = *s;
	hash_put(&likes->by_key, key, likes->nr);
	return (uint32_t)(likes->nr - 1);
}
