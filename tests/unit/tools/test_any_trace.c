// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces of random slots, most of which no kernel writes. Whatever they say, the segments of a path
 * add up to its time, and so do the programs and the waits.
 *
 *	test_any_trace [TRACES [FIRST]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "path_rings.h"
#include "path/blame.h"
#include "path/read.h"
#include "path/region.h"
#include "path/tree.h"

enum { TASKS = 6, SLOTS = 23, LATEST = 120 };

static unsigned long nr_traces = 200, first_trace;
static uint64_t seed;

static uint32_t random_below(uint32_t end)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % end;
}

/* That of a task, of one without a ring, or none. */
static uint64_t random_serial(void)
{
	return random_below(TASKS + 2);
}

static struct given random_slot(uint64_t ticks)
{
	static const uint8_t types[] = {
		KTAU_TRACE_SWITCH, KTAU_TRACE_WAKING, KTAU_TRACE_WOKEN, KTAU_TRACE_FORK,
		KTAU_TRACE_EXEC, KTAU_TRACE_TASK_EXIT, KTAU_TRACE_GROUPS, KTAU_TRACE_NET_SEND,
		KTAU_TRACE_NET_RECV, KTAU_TRACE_WOKEN, KTAU_TRACE_WAKING,
	};
	struct given g = { .ticks = ticks, .ctx = (uint8_t)random_below(3) };

	if (random_below(2)) {
		g.type = random_below(2) ? KTAU_TRACE_ENTER : KTAU_TRACE_EXIT;
		g.id = (uint16_t)(1 + random_below(OTHER_REGION));
		return g;
	}
	g.type = types[random_below(sizeof(types))];
	g.id = KTAU_ID_NONE;
	g.words[0] = random_serial();
	g.words[1] = random_below(4) ? random_below(LATEST) : random_serial();
	g.words[2] = random_below(2) ? random_serial() : (uint64_t)random_below(3) << 32;
	return g;
}

static void fill(struct ring *ring, uint64_t serial)
{
	uint64_t ticks = 1 + random_below(LATEST / 2);
	unsigned int i, nr = random_below(SLOTS);

	*ring = (struct ring){ .serial = serial, .parent = random_serial() };
	for (i = 0; i < nr; i++) {
		ring->slots[i] = random_slot(ticks);
		ticks += random_below(8);
	}
	if (random_below(2))
		ring->exit_ns = ticks + random_below(20);
	if (!random_below(4)) {
		ring->first = ring->lost = 1 + random_below(9);
		ring->lost_to = ring->slots[0].type ? ring->slots[0].ticks : LATEST;
		ring->lost_from = random_below((uint32_t)ring->lost_to);
	}
}

static void check_path(const struct path_graph *g, enum path_mode mode, uint32_t task)
{
	struct path path = path_life(g, task);
	struct path_tree tree = { 0 };
	uint64_t sum_ns = 0;
	size_t i;

	path_walk(g, mode, task, &path);
	assert_true(path_is_exact(&path));
	path_tree_make(g, &path, graph_first_life(g, task), &tree);
	for (i = 0; i < tree.nr; i++)
		sum_ns += tree.programs[i].path_ns;
	assert_int_equal(sum_ns, path.to_ns - path.from_ns);
	path_tree_deinit(&tree);
	path_deinit(&path);
}

static void check_trace(struct path_graph *g)
{
	struct region_paths regions = { 0 };
	struct blame blame = { 0 };
	uint32_t task;

	for (task = 0; task < g->nr_tasks; task++) {
		if (!g->tasks[task].nr)
			continue;
		check_path(g, PATH_BOUNDED, task);
		check_path(g, PATH_FULL, task);
	}
	assert_true(blame_make(g, "*", 0, g->end_ns, &blame));
	assert_true(region_make(g, PATH_BOUNDED, PATH_NONE, &regions));
	region_deinit(&regions);
	blame_deinit(&blame);
}

static void any_trace(void **state)
{
	struct ring rings[TASKS];
	struct timeline_sink sink;
	struct reading r;
	unsigned long i;
	uint64_t serial;

	(void)state;
	for (i = first_trace; i < first_trace + nr_traces; i++) {
		seed = i;
		for (serial = 1; serial <= TASKS; serial++)
			fill(&rings[serial - 1], serial);
		GIVEN(rings);
		give_command(random_serial());
		read_given(&r, &sink, "request");
		check_trace(r.g);
		free_given(&r);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(any_trace) };

	if (argc > 1)
		nr_traces = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		first_trace = strtoul(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
