// SPDX-License-Identifier: GPL-2.0-only
/* Attributes a path to the programs that ran. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "lib/hash.h"
#include "tree.h"

/*
 * A program that a process ran. @row is PATH_NONE until it has one; @inside: known to descend from
 * the root; @outside: known not to.
 */
struct run {
	uint32_t task;
	uint64_t from_ns, to_ns;
	uint32_t row;
	bool inside, outside;
	const char *name;
};

/**
 * struct builder - state of path_tree_make()
 * @g: the graph
 * @path: the path
 * @root: its task
 * @tree: the result
 * @runs: runs, task by task, and in time order for each task
 * @nr: length of @runs
 * @first: index of the first run of each task
 * @chain: scratch memory for the ancestors of a task
 * @rows: index of a row plus 1 by what find_row() compares
 * @last: the last row beside that of the root
 */
struct builder {
	const struct path_graph *g;
	const struct path *path;
	uint32_t root;
	struct path_tree *tree;
	struct run *runs;
	size_t nr;
	size_t *first;
	struct run **chain;
	struct hash rows;
	uint32_t last;
};

static uint64_t begin_of(const struct path_task *task)
{
	if (task->creator != PATH_NONE)
		return task->created_ns;
	return task->nr ? task->edges[0].from_ns : 0;
}

static uint64_t end_of(const struct path_task *task)
{
	return task->nr ? task->edges[task->nr - 1].to_ns : begin_of(task);
}

/* The task that leads the thread group of @task. */
static uint32_t leader_of(const struct path_graph *g, uint32_t task)
{
	uint32_t leader = g->tasks[task].leader;

	return leader == PATH_NONE ? task : leader;
}

static int by_task(const void *a, const void *b)
{
	const struct path_exec *const *x = a, *const *y = b;

	if ((*x)->task != (*y)->task)
		return (*x)->task < (*y)->task ? -1 : 1;
	return (*x)->ns < (*y)->ns ? -1 : (*x)->ns > (*y)->ns;
}

/*
 * Add the runs of @task. What it did until it first executed a program belongs to that program.
 * Return: the first exec of a later task.
 */
static const struct path_exec **add_runs(struct builder *b, uint32_t task,
					 const struct path_exec **exec,
					 const struct path_exec **end)
{
	const struct path_task *t = &b->g->tasks[task];
	struct run *run = &b->runs[b->nr];

	b->first[task] = b->nr++;
	*run = (struct run){ task, begin_of(t), end_of(t), PATH_NONE, .name = t->owner.comm };
	if (exec < end && (*exec)->task == task)
		run->name = (*exec++)->comm;
	for (; exec < end && (*exec)->task == task; exec++) {
		run->to_ns = (*exec)->ns;
		run = &b->runs[b->nr++];
		*run = (struct run){ task, (*exec)->ns, end_of(t), PATH_NONE,
				     .name = (*exec)->comm };
	}
	return exec;
}

static void make_runs(struct builder *b)
{
	const struct path_graph *g = b->g;
	const struct path_exec **execs = cli_alloc(NULL, g->nr_execs + 1, sizeof(*execs));
	const struct path_exec **exec = execs;
	size_t i;

	for (i = 0; i < g->nr_execs; i++)
		execs[i] = &g->execs[i];
	qsort(execs, g->nr_execs, sizeof(*execs), by_task);
	b->runs = cli_alloc(NULL, g->nr_tasks + g->nr_execs + 1, sizeof(*b->runs));
	b->first = cli_alloc(NULL, g->nr_tasks + 1, sizeof(*b->first));
	for (i = 0; i < g->nr_tasks; i++)
		exec = add_runs(b, (uint32_t)i, exec, execs + g->nr_execs);
	b->first[g->nr_tasks] = b->nr;
	free(execs);
}

static bool has_begun(const void *runs, size_t i, const void *ns)
{
	return ((const struct run *)runs)[i].from_ns <= *(const uint64_t *)ns;
}

/* The program that the process of @task ran at @ns: the first one if that was before all. */
static struct run *run_at(const struct builder *b, uint32_t task, uint64_t ns)
{
	uint32_t leader = leader_of(b->g, task);
	struct run *first = &b->runs[b->first[leader]];

	return first + bisect(first + 1, b->first[leader + 1] - b->first[leader] - 1, &ns,
			      has_begun);
}

static const char *host_of(const struct path_graph *g, uint32_t task)
{
	return g->nr_hosts ? g->hosts[g->tasks[task].machine] : NULL;
}

static bool is_row(const struct path_program *p, const struct path_program *row)
{
	return p->parent == row->parent && p->outside == row->outside && p->host == row->host &&
	       !strcmp(p->name, row->name);
}

static void append_row(struct builder *b, uint32_t parent, uint32_t row)
{
	struct path_program *programs = b->tree->programs;
	uint32_t *last = parent == PATH_NONE ? &b->last : &programs[parent].last;

	if (*last != PATH_NONE)
		programs[*last].next = row;
	else if (parent != PATH_NONE)
		programs[parent].child = row;
	*last = row;
}

/*
 * The row of the program of @run below @parent, which may be new. Tasks that do not descend from
 * the root have rows of their own beside it.
 */
static uint32_t find_row(struct builder *b, uint32_t parent, const struct run *run, bool outside)
{
	struct path_program new = {
		.parent = parent, .child = PATH_NONE, .last = PATH_NONE, .next = PATH_NONE,
		.outside = outside, .host = host_of(b->g, run->task),
	};
	struct path_tree *tree = b->tree;
	uintptr_t at;
	uint64_t key;

	snprintf(new.name, sizeof(new.name), "%s", run->name);
	key = hash_bytes(hash_text(new.name), &parent, sizeof(parent));
	for (; (at = hash_get(&b->rows, key)); key++)
		if (is_row(&tree->programs[at - 1], &new))
			return (uint32_t)(at - 1);
	if (parent != PATH_NONE)
		new.depth = tree->programs[parent].depth + 1;
	if (tree->nr == tree->room) {
		tree->room = tree->room ? 2 * tree->room : 64;
		tree->programs = cli_alloc(tree->programs, tree->room, sizeof(*tree->programs));
	}
	tree->programs[tree->nr++] = new;
	hash_put(&b->rows, key, tree->nr);
	append_row(b, parent, (uint32_t)(tree->nr - 1));
	return (uint32_t)(tree->nr - 1);
}

/* The run from which @run was created; NULL if there is none below the root. */
static struct run *parent_of(const struct builder *b, const struct run *run)
{
	const struct path_task *task = &b->g->tasks[run->task];

	if (run->task == b->root || task->creator == PATH_NONE)
		return NULL;
	return run_at(b, task->creator, task->created_ns);
}

/*
 * Give @run and its ancestors rows, or note that they do not descend from the root. Return: whether
 * they do.
 */
static bool give_rows(struct builder *b, struct run *run)
{
	size_t nr = 0;
	uint32_t row = PATH_NONE;
	struct run *at = run;

	while (at && !at->inside && !at->outside && nr < b->g->nr_tasks) {
		b->chain[nr++] = at;
		at = parent_of(b, at);
	}
	if (at && at->inside) {
		row = at->row;
	} else if (at || b->chain[nr - 1]->task != b->root) {
		while (nr--)
			b->chain[nr]->outside = true;
		return false;
	}
	while (nr--) {
		row = find_row(b, row, b->chain[nr], false);
		b->chain[nr]->row = row;
		b->chain[nr]->inside = true;
		b->tree->programs[row].runs++;
	}
	return true;
}

static uint64_t overlap(const struct path *path, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < path->from_ns)
		from_ns = path->from_ns;
	if (to_ns > path->to_ns)
		to_ns = path->to_ns;
	return from_ns < to_ns ? to_ns - from_ns : 0;
}

/* The end of the part of a time that belongs to @run. The last run of a task has no end. */
static uint64_t end_in(const struct builder *b, const struct run *run, uint64_t to_ns)
{
	bool last = run + 1 == b->runs + b->first[run->task + 1];

	return last || run->to_ns > to_ns ? to_ns : run->to_ns;
}

/* The path is that of the root and of what descends from it, and of others that it waited for. */
static void add_segment(struct builder *b, const struct path_segment *s)
{
	uint64_t ns = s->from_ns, end;
	struct run *run;

	for (; ns < s->to_ns; ns = end) {
		run = run_at(b, s->task, ns);
		end = end_in(b, run, s->to_ns);
		if (!give_rows(b, run) && run->row == PATH_NONE) {
			run->row = find_row(b, PATH_NONE, run, true);
			b->tree->programs[run->row].runs++;
		}
		b->tree->programs[run->row].path_ns += end - ns;
	}
}

static void add_running(struct builder *b, uint32_t task)
{
	const struct path_task *t = &b->g->tasks[task];
	const struct path_edge *e;
	uint64_t ns, end;
	struct run *run;

	for (e = t->edges; e < t->edges + t->nr; e++) {
		if (e->state != PATH_RUNNING)
			continue;
		for (ns = e->from_ns; ns < e->to_ns; ns = end) {
			run = run_at(b, task, ns);
			end = end_in(b, run, e->to_ns);
			if (run->row != PATH_NONE)
				b->tree->programs[run->row].cpu_ns += overlap(b->path, ns, end);
		}
	}
}

static void add_rows(struct builder *b)
{
	struct run *run = &b->runs[b->first[b->root]];
	size_t i;

	give_rows(b, run);
	for (run = b->runs; run < b->runs + b->nr; run++)
		if (leader_of(b->g, run->task) == run->task)
			give_rows(b, run);
	for (i = 0; i < b->path->nr; i++)
		add_segment(b, &b->path->segments[i]);
	for (run = b->runs; run < b->runs + b->nr; run++)
		if (run->row != PATH_NONE)
			b->tree->programs[run->row].wall_ns +=
				overlap(b->path, run->from_ns, run->to_ns);
	for (i = 0; i < b->g->nr_tasks; i++)
		add_running(b, (uint32_t)i);
}

void path_tree_make(const struct path_graph *g, const struct path *path, uint32_t task,
		    struct path_tree *tree)
{
	struct builder b = { .g = g, .path = path, .tree = tree, .last = PATH_NONE };

	b.root = leader_of(g, task);
	b.chain = cli_alloc(NULL, g->nr_tasks + 1, sizeof(struct run *));
	make_runs(&b);
	add_rows(&b);
	hash_deinit(&b.rows);
	free(b.chain);
	free(b.runs);
	free(b.first);
}

void path_tree_deinit(struct path_tree *tree)
{
	free(tree->programs);
	*tree = (struct path_tree){ 0 };
}

uint32_t path_tree_next(const struct path_tree *tree, uint32_t at)
{
	if (tree->programs[at].child != PATH_NONE)
		return tree->programs[at].child;
	while (tree->programs[at].next == PATH_NONE) {
		at = tree->programs[at].parent;
		if (at == PATH_NONE)
			return PATH_NONE;
	}
	return tree->programs[at].next;
}
