// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write a stream of traces, as the kernel's /proc/ktau/trace would, from the BPF rings. */
#include <errno.h>
#include <stdio.h>

#include "compose_trace.h"

/**
 * struct ktau__stream_task - a task of a stream of traces
 * @state: its state
 * @seq: its number among the exited tasks; 0: it is alive
 * @described: it has an OWNER record
 */
struct ktau__stream_task {
	const struct kb_state *state;
	uint64_t seq;
	bool described;
};

static struct ktau__stream_task *task_at(const struct ktau__stream *s, size_t i)
{
	return (struct ktau__stream_task *)s->tasks.data + i;
}

static size_t nr_tasks(const struct ktau__stream *s)
{
	return s->tasks.size / sizeof(struct ktau__stream_task);
}

static struct ktau__stream_task *find(const struct ktau__stream *s, uint64_t serial)
{
	size_t at = ktau__map_get(&s->by_serial, serial);

	return at == KTAU__MAP_NONE ? NULL : task_at(s, at);
}

static int add(struct ktau__stream *s, const struct kb_state *state, uint64_t seq)
{
	const struct ktau__stream_task task = { .state = state, .seq = seq };
	int err = ktau__map_put(&s->by_serial, state->serial, nr_tasks(s));

	return err ? err : ktau__buffer_append(&s->tasks, &task, sizeof(task));
}

/* All tasks that are known. One that exits while it is read is found as an exited one. */
static int collect(struct ktau__stream *s)
{
	const struct ktau__buffer *live = &s->bpf->live;
	const struct ktau__exited_task *exited;
	struct ktau__bpf_task t;
	size_t at = 0, size;
	int err = 0;

	for (exited = s->bpf->exited.first; !err && exited; exited = exited->next)
		err = add(s, exited->state, exited->seq);
	while (!err && (size = ktau__bpf_next(live, at, &t))) {
		at += size;
		if (!find(s, t.state->serial))
			err = add(s, t.state, 0);
	}
	return err;
}

/* Describe a task that a slot names, once. */
static int put_named(struct ktau__stream *s, uint64_t serial)
{
	struct ktau__stream_task *task = find(s, serial);

	if (!task || task->described)
		return 0;
	task->described = true;
	return ktau__put_owner(s, task->state, task->seq, KTAU_OWNER_NAMED);
}

/* The leader of a process that is older than the programs is not known to them. */
static void fill_leader(const struct ktau__stream *s, struct ktau__slot *slot)
{
	const struct ktau__stream_task *task = find(s, slot->payload[0]);

	if (!slot->payload[1] && task)
		slot->payload[1] = ktau__leader_of(s, task->state->owner.tgid);
}

/* What must precede a slot. */
static int put_needed(struct ktau__stream *s, struct ktau__slot *slot)
{
	uint64_t cgroup;
	int err;

	switch (slot->slot.type) {
	case KTAU_TRACE_ENTER:
	case KTAU_TRACE_EXIT:
		return ktau__put_event(s, slot->slot.id, KTAU_KIND_TIMER);
	case KTAU_TRACE_COUNT:
		return ktau__put_event(s, slot->slot.id, KTAU_KIND_COUNTER);
	case KTAU_TRACE_SWITCH:
	case KTAU_TRACE_WAKING:
	case KTAU_TRACE_WOKEN:
		return put_named(s, slot->payload[0]);
	case KTAU_TRACE_FORK:
		fill_leader(s, slot);
		err = put_named(s, slot->payload[0]);
		return err ? err : put_named(s, slot->payload[1]);
	case KTAU_TRACE_CGROUP:
		cgroup = slot->payload[0];
		return ktau__put_cgroup(s, &cgroup);
	default:
		return 0;
	}
}

/* @groups: those of the task, 0 for one that has exited */
static int put_run(struct ktau__stream *s, const struct ktau__run *run, uint64_t serial,
		   uint32_t groups)
{
	struct ktau_rec_trace r = {
		.serial = serial,
		.first = run->first,
		.next = run->next,
		.lost = run->lost,
		.lost_from_ticks = run->lost_from_ticks,
		.lost_to_ticks = run->lost_to_ticks,
		.written = s->bpf->trace.written,
		.ring_slots = s->bpf->trace.ring_slots,
		.groups = groups,
		.nr_slots = run->nr,
	};
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < run->nr; i++) {
		r.slots_bytes += run->slots[i].slot.words * 8;
		err = put_needed(s, &run->slots[i]);
	}
	if (err)
		return err;
	if (run->lost_to_ticks > s->end.cut_ticks)
		s->end.cut_ticks = run->lost_to_ticks;
	s->end.nr_records++;
	r.rec = ktau__header(KTAU_REC_TRACE, sizeof(r), sizeof(r) + r.slots_bytes);
	err = ktau__put(s, &r, sizeof(r));
	for (i = 0; !err && i < run->nr; i++)
		err = ktau__put(s, &run->slots[i], run->slots[i].slot.words * 8);
	return err;
}

/* The runs that have been taken last. */
static int put_runs(struct ktau__stream *s, uint64_t serial, uint32_t groups)
{
	const struct ktau__buffer *runs = &s->bpf->trace.runs;
	size_t i, nr = runs->size / sizeof(struct ktau__run);
	int err = 0;

	for (i = 0; !err && i < nr; i++)
		err = put_run(s, (const struct ktau__run *)runs->data + i, serial, groups);
	return err;
}

static struct ktau__taking taking(const struct ktau__stream *s, uint64_t serial)
{
	return (struct ktau__taking){
		.serial = serial,
		.since_ticks = s->query->since_ticks,
		.now_ticks = s->clocks.monotonic_ns,
	};
}

static uint32_t groups_of_live(const struct ktau__stream *s)
{
	return s->bpf->groups | KTAU_MODE_PROFILE | KTAU_MODE_TRACE;
}

static bool selects_idle(const struct ktau_query *q)
{
	return q->target & (KTAU_TARGET_ALL | KTAU_TARGET_CHANGED) &&
	       !(q->flags & (KTAU_SELECT_UID | KTAU_SELECT_CGROUP));
}

/* An idle task has no state, and its count of slots may be ahead of them: losses show later. */
static int put_idle(struct ktau__stream *s, uint32_t cpu)
{
	struct ktau_rec_owner owner = {
		.rec = ktau__header(KTAU_REC_OWNER, sizeof(owner), sizeof(owner)),
		.serial = ktau__bpf_idle_serial(s->bpf, cpu),
		.flags = KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD,
		.cpu = cpu,
		.prio = 120,
		.nr_tasks = 1,
	};
	const struct ktau__taking t = taking(s, owner.serial);
	int err;

	if (!selects_idle(s->query)) {
		ktau__trace_drop(&s->bpf->trace, owner.serial, false);
		return 0;
	}
	snprintf(owner.comm, sizeof(owner.comm), "swapper/%u", cpu & 0xffffU);
	err = ktau__trace_take(&s->bpf->trace, &t);
	/* Other tasks' slots name it. */
	if (!err)
		err = ktau__put(s, &owner, sizeof(owner));
	return err ? err : put_runs(s, owner.serial, groups_of_live(s));
}

static bool is_selected(const struct ktau__stream *s, const struct ktau__stream_task *task)
{
	const struct ktau_query *q = s->query;

	if (!ktau__passes(s, &task->state->owner))
		return false;
	if (task->seq)
		return q->target & KTAU_TARGET_EXITED && task->seq >= q->exited_since;
	return q->target & (KTAU_TARGET_SELF | KTAU_TARGET_LIST | KTAU_TARGET_ALL |
			    KTAU_TARGET_CHANGED) &&
	       ktau__is_listed(s, &task->state->owner);
}

static int put_task(struct ktau__stream *s, struct ktau__stream_task *task)
{
	struct ktau__trace *trace = &s->bpf->trace;
	struct ktau__taking t = taking(s, task->state->serial);
	int err;

	t.final = task->seq;
	if (!is_selected(s, task)) {
		ktau__trace_drop(trace, t.serial, t.final);
		return 0;
	}
	t.traced = task->state->torn ? 0 : task->state->traced;
	err = ktau__trace_take(trace, &t);
	if (err || !trace->runs.size)
		return err;
	task->described = true;
	err = ktau__put_owner(s, task->state, task->seq, 0);
	return err ? err : put_runs(s, t.serial, t.final ? 0 : groups_of_live(s));
}

/* Live tasks are before the exited ones. */
static int put_tasks(struct ktau__stream *s, bool exited)
{
	struct ktau__stream_task *task;
	size_t i, nr = nr_tasks(s);
	int err = 0;

	for (i = 0; !err && i < nr; i++) {
		task = task_at(s, i);
		if (!!task->seq != exited || (exited && task->seq < s->bpf->trace_seq))
			continue;
		err = put_task(s, task);
	}
	return err;
}

int ktau__put_traces(struct ktau__stream *s)
{
	uint32_t cpu;
	int err = collect(s);

	if (!err)
		err = ktau__trace_pass(&s->bpf->trace);
	if (!err)
		err = ktau__trace_pass(&s->bpf->trace);
	for (cpu = 0; !err && cpu < s->bpf->nr_cpus; cpu++)
		err = put_idle(s, cpu);
	if (!err)
		err = put_tasks(s, false);
	if (!err)
		err = put_tasks(s, true);
	if (err)
		return err;
	s->bpf->trace_seq = s->bpf->exited.next_seq;
	return ktau__trace_end(&s->bpf->trace);
}
