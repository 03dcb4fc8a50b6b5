// SPDX-License-Identifier: GPL-2.0-only
/* Walks through the execution graph; walk.h describes the modes. */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "walk.h"

enum {
	/* Steps from task to task at the same time, before these are taken for a cycle. */
	MAX_STANDSTILL = 1000,
	/* Jumps that may be taken back, because they led to a task without a past. */
	MAX_REWINDS = 100,
};

/* A wait at whose end the walk continued with the task that ended it, or a skip with such waits. */
struct jump {
	size_t nr;	/* segments before it */
	uint32_t task;
	uint32_t skip;	/* or SKIP_NONE */
	size_t edge;
	uint64_t ns;
};

/**
 * struct walk - a walk backwards
 * @g: the graph
 * @skips: sums of parts of walks, or NULL
 * @max_level: longer skips are not used
 * @path: receives the segments, latest first
 * @first: number of segments before the walk
 * @bound: the walk ends at this time
 * @task: index of the current task
 * @ns: current time; everything after it has segments
 * @standstill: steps since @ns has changed
 * @settled: the task of the last segment
 * @jumps: jumps that can be taken back
 * @nr_jumps: length of @jumps
 * @room: allocated length of @jumps
 * @rewinds: jumps taken back
 */
struct walk {
	const struct path_graph *g;
	struct path_skips *skips;
	unsigned int max_level;
	struct path *path;
	size_t first;
	uint64_t bound;
	uint32_t task;
	uint64_t ns;
	unsigned int standstill;
	uint32_t settled;
	struct jump *jumps;
	size_t nr_jumps, room;
	unsigned int rewinds;
};

void path_deinit(struct path *path)
{
	free(path->segments);
	*path = (struct path){ 0 };
}

bool path_is_exact(const struct path *path)
{
	uint64_t ns = path->from_ns;
	size_t i;

	for (i = 0; i < path->nr; i++) {
		if (path->segments[i].from_ns != ns || path->segments[i].to_ns <= ns)
			return false;
		ns = path->segments[i].to_ns;
	}
	return ns == path->to_ns;
}

static struct path_segment *add_segment(struct path *path)
{
	if (path->nr == path->room) {
		path->room += path->room / 4 + 64;
		path->segments = cli_alloc(path->segments, path->room, sizeof(*path->segments));
	}
	return &path->segments[path->nr++];
}

/* Add a segment at the end, or to the last one. */
static void append(struct path *path, struct path_segment s)
{
	struct path_segment *last = path->nr ? &path->segments[path->nr - 1] : NULL;

	if (last && segment_continues(last, &s))
		last->to_ns = s.to_ns;
	else
		*add_segment(path) = s;
}

/* A segment like @edge, which may be NULL. */
static struct path_segment segment(const struct path_edge *edge, uint32_t task, uint64_t from_ns,
				   uint64_t to_ns)
{
	struct path_segment s = {
		.from_ns = from_ns, .to_ns = to_ns, .task = task, .wait = KTAU_ID_NONE,
		.cause = KTAU_ID_NONE, .state = PATH_UNKNOWN,
	};

	if (edge) {
		s.cpu = edge->cpu;
		s.wait = edge->wait;
		s.cause = edge->cause;
		s.state = edge->state;
		s.unknown = edge->unknown;
	}
	return s;
}

/* The last segment must not change, because a jump may be taken back to its start. */
static bool is_kept(const struct walk *w)
{
	return w->nr_jumps && w->jumps[w->nr_jumps - 1].nr == w->path->nr;
}

/* Go back to @ns in the state of @s. */
static void go_back(struct walk *w, uint64_t ns, struct path_segment s)
{
	struct path_segment *last;

	if (ns < w->bound)
		ns = w->bound;
	if (ns >= w->ns)
		return;
	s.from_ns = ns;
	s.to_ns = w->ns;
	s.task = w->task;
	last = w->path->nr > w->first ? &w->path->segments[w->path->nr - 1] : NULL;
	if (last && segment_continues(&s, last) && !is_kept(w))
		last->from_ns = s.from_ns;
	else
		*add_segment(w->path) = s;
	w->ns = ns;
	w->standstill = 0;
	w->settled = w->task;
}

static void go_back_unknown(struct walk *w, uint64_t ns, enum path_unknown why)
{
	struct path_segment s = segment(NULL, w->task, 0, 0);

	s.unknown = (uint8_t)why;
	go_back(w, ns, s);
}

static void step(struct walk *w);

/* Walk through a skip again, with shorter ones. */
static void redo(struct walk *w, const struct jump *jump)
{
	const struct path_skip skip = w->skips->all[jump->skip];
	unsigned int max_level = w->max_level;

	w->path->nr = jump->nr;
	w->task = jump->task;
	w->ns = jump->ns;
	w->standstill = 0;
	w->max_level = skip.level - 1;
	while (w->task != skip.task || w->ns != skip.ns)
		step(w);
	w->max_level = max_level;
}

/*
 * Take back jumps up to the last one from a task that is known to have existed before @ns. Return:
 * whether there is one.
 */
static bool take_back(struct walk *w, uint64_t ns, struct jump *jump)
{
	if (w->rewinds++ >= MAX_REWINDS)
		return false;
	while (w->nr_jumps) {
		*jump = w->jumps[--w->nr_jumps];
		if (jump->skip == SKIP_NONE && w->g->tasks[jump->task].edges[0].from_ns < ns)
			return true;
		if (jump->skip != SKIP_NONE && w->skips->all[jump->skip].first_ns < ns)
			redo(w, jump);
	}
	return false;
}

/*
 * The task has no earlier edge: it was created then, or it was already there when the recording
 * began, or it was not traced. Unless it was created, the last wait that led here is not followed:
 * of that time it is only known that the other task waited.
 */
static void go_before_first(struct walk *w)
{
	const struct path_task *task = &w->g->tasks[w->task];
	const struct path_edge *edge;
	struct path_segment s;
	struct jump jump;

	if (task->nr && task->creator != PATH_NONE) {
		s = segment(NULL, w->task, 0, 0);
		s.state = task->before == task->creator ? PATH_RUNNING : PATH_RUN_QUEUE;
		s.cpu = task->edges[0].cpu;
		go_back(w, task->created_ns, s);
		w->task = task->creator;
		return;
	}
	if (!take_back(w, w->ns, &jump)) {
		go_back_unknown(w, w->bound, UNKNOWN_BEFORE);
		return;
	}
	w->path->nr = jump.nr;
	w->task = jump.task;
	w->ns = jump.ns;
	edge = &w->g->tasks[w->task].edges[jump.edge];
	go_back(w, edge->from_ns, segment(edge, w->task, 0, 0));
}

/* After its last slot an exited task was still running: it wakes its parent after that. */
static void go_after(struct walk *w, size_t index)
{
	const struct path_task *task = &w->g->tasks[w->task];
	bool ran = task->exited && index + 1 == task->nr;
	struct path_segment s = segment(NULL, w->task, 0, 0);

	s.state = ran ? PATH_RUNNING : PATH_UNKNOWN;
	s.unknown = ran ? 0 : UNKNOWN_AFTER;
	go_back(w, task->edges[index].to_ns, s);
}

static void note_jump(struct walk *w, size_t index, uint32_t skip)
{
	if (w->nr_jumps == w->room) {
		w->room = w->room ? 2 * w->room : 64;
		w->jumps = cli_alloc(w->jumps, w->room, sizeof(*w->jumps));
	}
	w->jumps[w->nr_jumps++] = (struct jump){ w->path->nr, w->task, skip, index, w->ns };
}

/* Continue with the task that ended the wait, or that sent a packet, when it did. */
static void jump(struct walk *w, size_t index)
{
	const struct path_edge *edge = &w->g->tasks[w->task].edges[index];

	note_jump(w, index, SKIP_NONE);
	if (edge->packet != PATH_NONE)
		go_back(w, w->g->sent_ns[edge->packet], segment(edge, w->task, 0, 0));
	w->task = edge->waker;
}

/* Skips */

/* True if a skip of @level ends here: where another one begins, or before a walk would end. */
static bool ends_skip(const struct walk *w, unsigned int level)
{
	const struct path_task *task = &w->g->tasks[w->task];
	ptrdiff_t index = graph_edge_before(task, w->ns);

	if (!w->ns || w->standstill == MAX_STANDSTILL)
		return true;
	if (index < 0)
		return !task->nr || task->creator == PATH_NONE;
	return task->edges[index].to_ns == w->ns &&
	       skips_level(w->skips, w->task, (size_t)index) >= level;
}

static uint64_t first_of(const struct walk *w, const struct jump *jump)
{
	return jump->skip == SKIP_NONE ? w->g->tasks[jump->task].edges[0].from_ns :
					 w->skips->all[jump->skip].first_ns;
}

/* The skip of @level from where @from is, of shorter ones. */
static uint32_t find_skip(const struct walk *from, size_t index, unsigned int level)
{
	uint32_t number = skips_find(from->skips, from->task, index, level);
	struct path path = { 0 };
	struct walk w = { .g = from->g, .skips = from->skips, .max_level = level - 1,
			  .path = &path, .task = from->task, .ns = from->ns };
	struct path_skip skip = { .level = level, .first_ns = UINT64_MAX };
	size_t i;

	if (number != SKIP_NONE)
		return number;
	do {
		step(&w);
	} while (!ends_skip(&w, level));
	for (i = 0; i < w.nr_jumps; i++)
		if (first_of(&w, &w.jumps[i]) < skip.first_ns)
			skip.first_ns = first_of(&w, &w.jumps[i]);
	skip.task = w.task;
	skip.settled = w.settled;
	skip.standstill = w.standstill;
	skip.ns = w.ns;
	number = skips_add(from->skips, from->task, index, skip,
			   (struct path_part){ path.segments, path.nr });
	free(w.jumps);
	path_deinit(&path);
	return number;
}

/* Take the longest skip from the end of an edge. Return: whether there is one. */
static bool take_skip(struct walk *w, size_t index)
{
	unsigned int level = skips_level(w->skips, w->task, index);
	const struct path_skip *skip;
	uint32_t number;

	for (level = level < w->max_level ? level : w->max_level; level; level--) {
		number = find_skip(w, index, level);
		skip = &w->skips->all[number];
		if (skip->ns < w->bound || skip->ns >= w->ns)
			continue;
		note_jump(w, index, number);
		*add_segment(w->path) = (struct path_segment){
			.from_ns = skip->ns, .to_ns = w->ns, .row = number, .state = PATH_SKIPPED,
		};
		w->task = skip->task;
		w->ns = skip->ns;
		w->standstill = skip->standstill;
		w->settled = skip->settled;
		return true;
	}
	return false;
}

static void step(struct walk *w)
{
	const struct path_task *task = &w->g->tasks[w->task];
	ptrdiff_t index = graph_edge_before(task, w->ns);
	const struct path_edge *edge;

	if (++w->standstill > MAX_STANDSTILL) {
		w->task = w->settled;
		go_back_unknown(w, w->bound, UNKNOWN_CYCLE);
		return;
	}
	if (index < 0) {
		go_before_first(w);
		return;
	}
	edge = &task->edges[index];
	if (w->max_level && edge->to_ns == w->ns && take_skip(w, (size_t)index))
		return;
	if (edge->to_ns < w->ns)
		go_after(w, (size_t)index);
	else if (edge->waker != PATH_NONE && edge->to_ns == w->ns)
		jump(w, (size_t)index);
	else
		go_back(w, edge->from_ns, segment(edge, w->task, 0, 0));
}

static void reverse(struct path_segment *s, size_t nr)
{
	struct path_segment swap;
	size_t i;

	for (i = 0; i < nr / 2; i++) {
		swap = s[i];
		s[i] = s[nr - 1 - i];
		s[nr - 1 - i] = swap;
	}
}

/* Add the segments from @bound to @ns, of which the last one is of @task. */
static void walk_back(struct walk *w, uint32_t task, uint64_t bound, uint64_t ns)
{
	w->first = w->path->nr;
	w->task = w->settled = task;
	w->bound = bound;
	w->ns = ns;
	w->standstill = w->rewinds = 0;
	w->nr_jumps = 0;
	while (w->ns > bound)
		step(w);
	reverse(w->path->segments + w->first, w->path->nr - w->first);
}

static void walk_bounded(struct walk *w, uint32_t index, uint64_t from_ns, uint64_t to_ns)
{
	const struct path_task *task = &w->g->tasks[index];
	ptrdiff_t first = graph_edge_before(task, from_ns + 1);
	size_t i = first < 0 ? 0 : (size_t)first;
	uint64_t ns = from_ns, end;
	const struct path_edge *edge;

	for (; i < task->nr && ns < to_ns; i++) {
		edge = &task->edges[i];
		/* Before the first slot, and after the last one, a walk knows what to do. */
		if (edge->from_ns > ns)
			walk_back(w, index, ns, edge->from_ns < to_ns ? edge->from_ns : to_ns);
		ns = edge->from_ns > ns ? edge->from_ns : ns;
		end = edge->to_ns < to_ns ? edge->to_ns : to_ns;
		if (end <= ns)
			continue;
		if (edge->waker != PATH_NONE && edge->to_ns <= to_ns)
			walk_back(w, index, ns, end);
		else
			append(w->path, segment(edge, index, ns, end));
		ns = end;
	}
	if (ns < to_ns)
		walk_back(w, index, ns, to_ns);
}

/*
 * The lives that @task continues, the latest first, of which the last one is that of @from_ns. To
 * be freed. Return: their number.
 */
static size_t find_lives(const struct path_graph *g, uint32_t task, uint64_t from_ns,
			 uint32_t **lives)
{
	size_t nr = 0, room = 0;

	*lives = NULL;
	for (;;) {
		if (nr == room) {
			room = room ? 2 * room : 4;
			*lives = cli_alloc(*lives, room, sizeof(**lives));
		}
		(*lives)[nr++] = task;
		if (g->tasks[task].before == PATH_NONE || g->tasks[task].before_ns <= from_ns)
			return nr;
		task = g->tasks[task].before;
	}
}

/* Each life until the next one. */
static void walk_lives(struct walk *w, uint32_t task, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = from_ns, end;
	uint32_t *lives;
	size_t i;

	for (i = find_lives(w->g, task, from_ns, &lives); i-- && ns < to_ns; ns = end) {
		end = i ? w->g->tasks[lives[i - 1]].before_ns : to_ns;
		end = end < to_ns ? end : to_ns;
		walk_bounded(w, lives[i], ns, end);
	}
	free(lives);
}

void path_walk(const struct path_graph *g, enum path_mode mode, uint32_t task, struct path *path)
{
	struct walk w = { .g = g, .path = path };

	if (mode == PATH_FULL)
		walk_back(&w, task, path->from_ns, path->to_ns);
	else
		walk_lives(&w, task, path->from_ns, path->to_ns);
	free(w.jumps);
}

void path_walk_skipping(struct path_skips *skips, uint32_t task, struct path *path)
{
	struct walk w = { .g = skips->likes->g, .skips = skips, .max_level = SKIP_LEVELS,
			  .path = path };

	walk_bounded(&w, task, path->from_ns, path->to_ns);
	free(w.jumps);
}
