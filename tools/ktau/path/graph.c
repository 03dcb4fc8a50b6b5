// SPDX-License-Identifier: GPL-2.0-only
/* Builds the execution graph from a timeline; graph.h describes it. */
#include <stdlib.h>
#include <string.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "graph.h"
#include "lib/report/registry.h"
#include "analyse/timeline.h"

struct path_graph *graph_create(const struct registry *registry)
{
	struct path_graph *g = cli_alloc(NULL, 1, sizeof(*g));

	*g = (struct path_graph){ .registry = registry };
	return g;
}

void graph_destroy(struct path_graph *g)
{
	size_t i;

	if (!g)
		return;
	for (i = 0; i < g->nr_tasks; i++) {
		free(g->tasks[i].edges);
		free(g->tasks[i].label);
	}
	hash_deinit(&g->by_serial);
	free(g->tasks);
	free(g->execs);
	free(g->passes);
	free(g->sent_ns);
	free(g->arrivals);
	for (i = 0; i < g->nr_hosts; i++)
		free(g->hosts[i]);
	free(g->hosts);
	free(g->thieves);
	packets_deinit(&g->packets);
	free(g);
}

unsigned int graph_class(struct path_graph *g, uint32_t id)
{
	if (id >= KTAU_ID_NONE)
		return CLASS_OTHER;
	if (g->classes[id] == CLASS_UNSEEN)
		g->classes[id] = (uint8_t)cause_classify(
			ktau_events_find(registry_events(g->registry), id));
	return g->classes[id];
}

uint32_t graph_find(const struct path_graph *g, uint64_t serial)
{
	uintptr_t index = hash_get(&g->by_serial, serial);

	return index ? (uint32_t)(index - 1) : PATH_NONE;
}

/* The index of a task, which may be new. A serial of 0 is a task that the reader may not see. */
static uint32_t add_task(struct path_graph *g, uint64_t serial)
{
	uint32_t index = serial ? graph_find(g, serial) : PATH_NONE;

	if (index != PATH_NONE || !serial)
		return index;
	if (g->nr_tasks == g->room) {
		g->room = g->room ? 2 * g->room : 64;
		g->tasks = cli_alloc(g->tasks, g->room, sizeof(*g->tasks));
	}
	g->tasks[g->nr_tasks] = (struct path_task){
		.serial = serial, .owner.serial = serial, .creator = PATH_NONE,
		.leader = PATH_NONE, .before = PATH_NONE, .next = PATH_NONE,
		.received = PATH_NO_ORIGIN, .waking.origin = PATH_NO_ORIGIN,
	};
	hash_put(&g->by_serial, serial, ++g->nr_tasks);
	return (uint32_t)(g->nr_tasks - 1);
}

uint32_t graph_first_life(const struct path_graph *g, uint32_t task)
{
	uint32_t before;

	while ((before = g->tasks[task].before) != PATH_NONE)
		task = before;
	return task;
}

const char *graph_task_name(const struct path_graph *g, uint32_t task)
{
	const struct path_task *t = &g->tasks[task];

	if (t->label)
		return t->label;
	return t->owner.rec.type ? t->owner.comm : "(unknown)";
}

uint32_t graph_sent_at(struct path_graph *g, uint64_t ns)
{
	if (g->nr_sent == g->sent_room) {
		g->sent_room += g->sent_room / 4 + 64;
		g->sent_ns = cli_alloc(g->sent_ns, g->sent_room, sizeof(*g->sent_ns));
	}
	g->sent_ns[g->nr_sent] = ns;
	return (uint32_t)g->nr_sent++;
}

/* Edges */

/* Grow by a quarter, because a trace may have millions of edges. */
static struct path_edge *add_edge(struct path_task *task)
{
	if (task->nr == task->room) {
		task->room += task->room / 4 + 16;
		task->edges = cli_alloc(task->edges, task->room, sizeof(*task->edges));
	}
	return &task->edges[task->nr++];
}

/* The state that has lasted until now is not known. */
static bool is_unknown(const struct path_task *task)
{
	return task->now == NOW_LOST || task->now == NOW_UNTRACED;
}

/*
 * The task was in @state from @since_ns to @to_ns; that of a wait is changed by the caller. Return:
 * the edge, or NULL if it is empty. Two edges in a row of running time are one.
 */
static struct path_edge *end_state(struct path_task *task, uint64_t to_ns, enum path_state state)
{
	struct path_edge *e = task->nr ? &task->edges[task->nr - 1] : NULL;
	uint64_t from_ns = task->since_ns;

	if (to_ns <= from_ns)
		return NULL;
	task->since_ns = to_ns;
	if (e && state == PATH_RUNNING && e->state == state && e->to_ns == from_ns) {
		e->to_ns = to_ns;
		return e;
	}
	e = add_edge(task);
	*e = (struct path_edge){
		.from_ns = from_ns, .to_ns = to_ns, .waker = PATH_NONE, .packet = PATH_NONE,
		.wait = KTAU_ID_NONE, .cause = KTAU_ID_NONE, .state = (uint8_t)state,
		.unknown = task->now == NOW_UNTRACED ? UNKNOWN_UNTRACED : UNKNOWN_LOST,
	};
	return e;
}

static void begin(struct path_task *task, enum path_now now, uint64_t ns)
{
	task->now = now;
	if (!task->nr || ns > task->since_ns)
		task->since_ns = ns;
}

static void queue_until(struct path_task *task, uint64_t ns, uint32_t cpu)
{
	struct path_edge *edge = end_state(task, ns, PATH_RUN_QUEUE);

	if (edge)
		edge->cpu = (uint16_t)cpu;
}

/* The state of a wait whose end is not in the trace, by the frames around it. */
static enum path_state state_of_wait(struct path_graph *g, const struct track *track,
				     unsigned int off)
{
	size_t i = track->depth;

	if (off == CLASS_WAIT_IO)
		return PATH_DISK;
	while (i--) {
		if (graph_class(g, track->frames[i].id) == CLASS_SLEEP)
			return PATH_TIMER;
		if (graph_class(g, track->frames[i].id) == CLASS_RECEIVE)
			return PATH_NETWORK;
	}
	return PATH_BLOCKED;
}

/* The outermost frame of the kernel, usually the system call. */
static uint16_t outermost(struct path_graph *g, const struct track *track)
{
	unsigned int class;
	size_t i;

	for (i = 0; i < track->depth; i++) {
		class = graph_class(g, track->frames[i].id);
		if (class != CLASS_REGION && class != CLASS_THREAD && class != CLASS_WAIT &&
		    class != CLASS_WAIT_IO)
			return (uint16_t)track->frames[i].id;
	}
	return KTAU_ID_NONE;
}

/* A packet of a task has ended the wait. That of another machine is named when all are read. */
static void name_sender(struct path_graph *g, const struct path_task *task,
			struct path_edge *edge, struct path_origin origin)
{
	if (origin.task != PATH_NONE && origin.ns <= edge->to_ns) {
		edge->waker = origin.task;
		edge->packet = graph_sent_at(g, origin.ns);
	}
	if (!origin.received)
		return;
	if (g->nr_arrivals == g->arrivals_room) {
		g->arrivals_room += g->arrivals_room / 4 + 64;
		g->arrivals = cli_alloc(g->arrivals, g->arrivals_room, sizeof(*g->arrivals));
	}
	g->arrivals[g->nr_arrivals++] = (struct path_arrival){
		(uint32_t)(task - g->tasks), origin.received, (size_t)(edge - task->edges),
	};
}

/* An interrupt has ended the wait. */
static void name_cause(struct path_graph *g, struct path_task *task, struct path_edge *edge)
{
	const struct ktau_slot_woken *woken = &task->woken_by;
	const struct path_waking *waking = &task->waking;

	if (waking->ticks != woken->waking_ticks || waking->serial != woken->waker_serial) {
		g->missing++;
	} else {
		edge->cause = waking->cause;
		if (waking->state != PATH_STATES)
			edge->state = (uint8_t)waking->state;
		if (waking->state == PATH_DEVICE && task->off == CLASS_WAIT_IO)
			edge->state = PATH_DISK;
		if (waking->state == PATH_NETWORK)
			name_sender(g, task, edge, waking->origin);
	}
	if (edge->state == PATH_BLOCKED)
		edge->state = PATH_INTERRUPT;
}

static void end_wait(struct path_graph *g, struct path_task *task, const struct track *track,
		     uint64_t ns)
{
	struct path_edge *edge = end_state(task, ns, state_of_wait(g, track, task->off));

	if (!edge)
		return;
	edge->wait = outermost(g, track);
	if (!task->woken)
		return;
	g->wakeups++;
	if (task->woken_by.waker_ctx != KTAU_CTX_TASK)
		name_cause(g, task, edge);
	else
		edge->waker = graph_find(g, task->woken_by.waker_serial);
}

/* The task was off the CPU until @ns. A task that was woken before it slept never waited. */
static void end_off(struct path_graph *g, struct path_task *task, const struct track *track,
		    uint64_t ns)
{
	uint64_t woken_ns = ns;

	if (task->woken)
		woken_ns = ktau_clock_boottime_ns(timeline_clock(g->timeline),
						  task->woken_by.waking_ticks);
	if (task->off != CLASS_PREEMPT && (task->woken || !task->runnable))
		end_wait(g, task, track, woken_ns < ns ? woken_ns : ns);
	queue_until(task, ns, track->cpu);
}

/* Events */

static void switch_out(struct path_graph *g, struct path_task *task, unsigned int class,
		       const struct timeline_event *e)
{
	if (task->now == NOW_OFF)
		end_off(g, task, e->track, e->ns);
	else if (task->now != NOW_NOTHING)
		end_state(task, e->ns, is_unknown(task) ? PATH_UNKNOWN : PATH_RUNNING);
	begin(task, NOW_OFF, e->ns);
	task->off = class;
	task->runnable = task->woken = false;
}

/* The task runs. A new one was in the run queue from its first wakeup on. */
static void run(struct path_task *task, uint64_t ns)
{
	if (task->untraced)
		return;
	if (is_unknown(task))
		end_state(task, ns, PATH_UNKNOWN);
	if (task->now == NOW_NOTHING || is_unknown(task))
		begin(task, NOW_RUNNING, ns);
}

static void take_woken(struct path_graph *g, struct path_task *task,
		       const struct timeline_event *e)
{
	struct ktau_slot_woken woken;
	uint64_t ns;

	if (!ktau_slot_woken(e->slot, &woken))
		return;
	if (task->now == NOW_OFF) {
		task->woken = true;
		task->woken_by = woken;
		/* A waker without a ring may still be named in other slots. */
		add_task(g, woken.waker_serial);
		return;
	}
	if (task->now == NOW_NOTHING) {
		ns = ktau_clock_boottime_ns(timeline_clock(g->timeline), woken.waking_ticks);
		begin(task, NOW_RUNNING, ns < e->ns ? ns : e->ns);
		queue_until(task, e->ns, e->track->cpu);
	}
	run(task, e->ns);
}

/* Keep the interrupt around a wakeup until the woken task says that this wakeup ended its wait. */
static void take_waking(struct path_graph *g, const struct timeline_event *e)
{
	const struct track *track = e->track;
	struct ktau_slot_waking waking;
	struct path_waking *w;
	uint32_t target;
	size_t i;

	if (!ktau_slot_waking(e->slot, &waking))
		return;
	target = add_task(g, waking.serial);
	if (target == PATH_NONE)
		return;
	w = &g->tasks[target].waking;
	*w = (struct path_waking){
		.ticks = e->slot->ticks, .serial = track->serial, .state = PATH_STATES,
		.cause = KTAU_ID_NONE,
		.origin = g->tasks[graph_find(g, track->serial)].received,
	};
	if (e->slot->ctx == KTAU_CTX_TASK)
		return;
	for (i = track->depth; i-- && w->state == PATH_STATES;) {
		w->state = cause_state(graph_class(g, track->frames[i].id));
		if (w->state != PATH_STATES)
			w->cause = (uint16_t)track->frames[i].id;
	}
}

/*
 * What a softirq sends is the consequence of what it has received, as when an acknowledgement
 * releases data. If it has received nothing, a timer has sent it.
 */
static void take_net(struct path_graph *g, struct path_task *task, const struct timeline_event *e)
{
	const struct path_origin self = { (uint32_t)(task - g->tasks), 0, e->ns };
	struct ktau_slot_net net;

	if (!ktau_slot_net(e->slot, &net))
		return;
	if (e->type == KTAU_TRACE_NET_RECV)
		task->received = packets_receive(&g->packets, &net, e->ns);
	else
		packets_send(&g->packets, &net, e->ns,
			     e->slot->ctx == KTAU_CTX_TASK ? self : task->received);
}

static void take_fork(struct path_graph *g, const struct timeline_event *e, uint32_t creator)
{
	struct ktau_slot_fork fork;
	struct path_task *child;
	uint32_t index;

	if (!ktau_slot_fork(e->slot, &fork))
		return;
	index = add_task(g, fork.serial);
	if (index == PATH_NONE || index == creator)
		return;
	child = &g->tasks[index];
	child->creator = creator;
	child->created_ns = e->ns;
	child->leader_serial = fork.leader_serial;
}

static void continue_life(struct path_graph *g, uint32_t before, uint32_t next, uint64_t ns)
{
	if (before == PATH_NONE || before == next || g->tasks[next].before != PATH_NONE)
		return;
	g->tasks[next].before = before;
	g->tasks[next].before_ns = ns;
}

/*
 * A task that more readers may see from now on has a new serial. If a thread other than the leader
 * executes a program, the leader ends.
 */
static void take_exec(struct path_graph *g, const struct timeline_event *e, uint32_t task)
{
	struct path_exec *exec;
	uint64_t serial;
	uint32_t next;

	if (g->tasks[task].leader_serial)
		continue_life(g, graph_find(g, g->tasks[task].leader_serial), task, e->ns);
	if (ktau_slot_exec(e->slot, &serial) && serial) {
		next = add_task(g, serial);
		if (next != task) {
			g->tasks[next].creator = task;
			g->tasks[next].created_ns = e->ns;
			g->tasks[next].leader_serial = serial;
			continue_life(g, task, next, e->ns);
			task = next;
		}
	}
	if (g->nr_execs == g->execs_room) {
		g->execs_room = g->execs_room ? 2 * g->execs_room : 64;
		g->execs = cli_alloc(g->execs, g->execs_room, sizeof(*g->execs));
	}
	exec = &g->execs[g->nr_execs++];
	*exec = (struct path_exec){ .task = task, .ns = e->ns };
	ktau_slot_comm(e->slot, exec->comm);
}

/* What was not known before the loss, or had not ended, is not known until the loss ends. */
static void take_lost(struct path_task *task, const struct timeline_event *e)
{
	bool open = task->now == NOW_OFF || is_unknown(task);

	task->lost += e->lost;
	task->untraced = false;
	if (task->now == NOW_RUNNING)
		end_state(task, e->ns, PATH_RUNNING);
	begin(task, NOW_LOST, open ? task->since_ns : e->ns);
}

/* What the task did until now lasted until @ns. */
static void end_now(struct path_graph *g, struct path_task *task, const struct track *track,
		    uint64_t ns)
{
	if (task->now == NOW_OFF)
		end_off(g, task, track, ns);
	else if (task->now != NOW_NOTHING && task->now != NOW_GONE)
		end_state(task, ns, is_unknown(task) ? PATH_UNKNOWN : PATH_RUNNING);
}

static void take_groups(struct path_graph *g, struct path_task *task,
			const struct timeline_event *e)
{
	uint32_t groups;

	ktau_slot_groups(e->slot, &groups);
	task->untraced = !(groups & KTAU_GROUP_SCHED);
	if (!task->untraced)
		return;
	end_now(g, task, e->track, e->ns);
	begin(task, NOW_UNTRACED, e->ns);
}

static void take_end(struct path_graph *g, struct path_task *task, const struct track *track,
		     uint64_t ns)
{
	end_now(g, task, track, ns);
	task->now = NOW_GONE;
}

/* The end of a region of a program. */
static void take_region(struct path_graph *g, const struct path_task *task,
			const struct timeline_event *e)
{
	const struct ktau_rec_event *event;

	if (!g->region || e->type != KTAU_TRACE_EXIT || e->ended != ENDED_BY_EXIT || e->nested ||
	    e->ns <= e->from_ns)
		return;
	event = ktau_events_find(registry_events(g->registry), e->id);
	if (!event || strcmp(ktau_event_name(event), g->region))
		return;
	if (g->nr_passes == g->passes_room) {
		g->passes_room = g->passes_room ? 2 * g->passes_room : 64;
		g->passes = cli_alloc(g->passes, g->passes_room, sizeof(*g->passes));
	}
	g->passes[g->nr_passes++] = (struct path_pass){ (uint32_t)(task - g->tasks), e->from_ns,
							e->ns };
}

static void take_frame(struct path_graph *g, struct path_task *task,
		       const struct timeline_event *e)
{
	unsigned int class = graph_class(g, e->id);

	if (class == CLASS_RX)
		task->received = PATH_NO_ORIGIN;
	if (class == CLASS_REGION)
		take_region(g, task, e);
	if (class == CLASS_QUEUED || e->ended != ENDED_BY_EXIT)
		return;
	if (class != CLASS_WAIT && class != CLASS_WAIT_IO && class != CLASS_PREEMPT) {
		run(task, e->ns);
	} else if (e->type == KTAU_TRACE_ENTER) {
		switch_out(g, task, class, e);
	} else if (task->now == NOW_OFF) {
		end_off(g, task, e->track, e->ns);
		begin(task, NOW_RUNNING, e->ns);
	} else {
		run(task, e->ns);
	}
}

static void take_other(struct path_graph *g, struct path_task *task,
		       const struct timeline_event *e)
{
	struct ktau_slot_switch to;
	uint32_t index = (uint32_t)(task - g->tasks);

	switch (e->type) {
	case KTAU_TRACE_SWITCH:
		if (ktau_slot_switch(e->slot, &to))
			task->runnable = !to.state;
		return;
	case KTAU_TRACE_WAKING:
		run(task, e->ns);
		take_waking(g, e);
		return;
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		run(task, e->ns);
		take_net(g, task, e);
		return;
	case KTAU_TRACE_FORK:
		run(task, e->ns);
		take_fork(g, e, index);
		return;
	case KTAU_TRACE_EXEC:
		run(task, e->ns);
		take_exec(g, e, index);
		return;
	case KTAU_TRACE_TASK_EXIT:
		task->has_code = ktau_slot_exit_code(e->slot, &task->exit_code);
		run(task, e->ns);
		return;
	case KTAU_TRACE_COUNT:
	case KTAU_TRACE_COMM:
		run(task, e->ns);
		return;
	case KTAU_TRACE_GROUPS:
		take_groups(g, task, e);
		return;
	case KTAU_TRACE_KVM_ENTER:
		g->runs_guests = true;
		return;
	}
}

int graph_event(void *graph, const struct timeline_event *e)
{
	struct path_graph *g = graph;
	struct path_task *task;

	/* The trace of a task that the reader may not see. */
	if (!e->track->serial)
		return 0;
	g->events++;
	if (!e->track->writer)
		e->track->writer = add_task(g, e->track->serial) + 1;
	task = &g->tasks[e->track->writer - 1];
	switch (e->type) {
	case KTAU_TRACE_ENTER:
	case KTAU_TRACE_EXIT:
		take_frame(g, task, e);
		return 0;
	case KTAU_TRACE_WOKEN:
		take_woken(g, task, e);
		return 0;
	case TIMELINE_LOST:
		take_lost(task, e);
		return 0;
	case TIMELINE_GONE:
		task->exited = true;
		take_end(g, task, e->track, e->ns);
		return 0;
	}
	take_other(g, task, e);
	return 0;
}

void graph_record(struct path_graph *g, const union ktau_record *record)
{
	uint32_t index;

	if (record->rec->type == KTAU_REC_INFO && record->info->command_serial)
		g->command_serial = record->info->command_serial;
	if (record->rec->type == KTAU_REC_STREAM && record->stream->content == KTAU_REC_TRACE)
		g->end_ticks = record->stream->ticks;
	if (record->rec->type != KTAU_REC_TRACE)
		return;
	index = add_task(g, record->trace->serial);
	if (index == PATH_NONE)
		return;
	g->tasks[index].ring_slots = record->trace->ring_slots;
	g->tasks[index].written = record->trace->written;
}

/* Whether the life of @task continues that of @before; damaged traces may say anything. */
static bool continues(const struct path_task *task, const struct path_task *before)
{
	if (!task->nr || !before->nr || before->edges[0].from_ns >= task->before_ns ||
	    task->edges[task->nr - 1].to_ns <= task->before_ns)
		return false;
	/* So there is no circle. */
	return before->before == PATH_NONE || before->before_ns < task->before_ns;
}

static void join_lives(struct path_graph *g)
{
	struct path_task *task, *before;

	for (task = g->tasks; task < g->tasks + g->nr_tasks; task++) {
		if (task->before == PATH_NONE)
			continue;
		before = &g->tasks[task->before];
		if (continues(task, before))
			before->next = (uint32_t)(task - g->tasks);
		else
			task->before = PATH_NONE;
	}
}

/* The first program that a task has executed; UINT64_MAX: none. */
static uint64_t first_exec_ns(const struct path_graph *g, uint32_t task)
{
	uint32_t next = g->tasks[task].next;
	uint64_t ns = next == PATH_NONE ? UINT64_MAX : g->tasks[next].before_ns;
	size_t i;

	for (i = 0; i < g->nr_execs; i++)
		if (g->execs[i].task == task && g->execs[i].ns < ns)
			ns = g->execs[i].ns;
	return ns;
}

/*
 * Before the task executes the command, it waits for the recorder. Reading the command's file is
 * part of the command.
 */
static void find_release(struct path_graph *g)
{
	uint32_t task = graph_find(g, g->command_serial), recorder;
	const struct path_edge *e;
	struct path_task *t;
	uint64_t exec_ns;

	if (task == PATH_NONE || !g->tasks[task].nr)
		return;
	t = &g->tasks[task];
	exec_ns = first_exec_ns(g, task);
	recorder = graph_find(g, t->owner.parent_serial);
	if (exec_ns == UINT64_MAX || recorder == PATH_NONE)
		return;
	t->released_ns = t->edges[0].from_ns;
	for (e = t->edges; e < t->edges + t->nr && e->to_ns <= exec_ns; e++)
		if (e->waker == recorder)
			t->released_ns = e->to_ns;
}

void graph_finish(struct path_graph *g)
{
	const struct ktau_rec_stream *stream = timeline_stream(g->timeline);
	const struct ktau_rec_owner *owner;
	struct path_task *task;
	struct track *track;

	if (!stream)
		return;
	g->end_ns = ktau_clock_boottime_ns(timeline_clock(g->timeline), g->end_ticks);
	for (task = g->tasks; task < g->tasks + g->nr_tasks; task++) {
		owner = timeline_owner(g->timeline, task->serial);
		if (owner)
			task->owner = *owner;
		if (task->leader_serial)
			task->leader = graph_find(g, task->leader_serial);
		track = timeline_track(g->timeline, task->serial);
		if (track && task->now != NOW_GONE)
			take_end(g, task, track, g->end_ns);
		if (task->nr && task->edges[task->nr - 1].to_ns > g->end_ns)
			g->end_ns = task->edges[task->nr - 1].to_ns;
	}
	join_lives(g);
	if (g->command_serial)
		find_release(g);
}

static bool begins_before(const void *edges, size_t i, const void *ns)
{
	return ((const struct path_edge *)edges)[i].from_ns < *(const uint64_t *)ns;
}

ptrdiff_t graph_edge_before(const struct path_task *task, uint64_t ns)
{
	return (ptrdiff_t)bisect(task->edges, task->nr, &ns, begins_before) - 1;
}
