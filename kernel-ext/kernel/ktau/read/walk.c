// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the cursor of a stream, which walks over the owners one record at a time.
 *
 * Whether an owner gets a record is decided in admit.c.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "base/poll.h"
#include "measure/cpu.h"
#include "measure/state.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "tasks/snapshot_trace.h"
#include "admit.h"
#include "compose.h"
#include "look.h"
#include "record.h"
#include "stream.h"
#include "walk.h"

static void next_owner(struct ktau_stream *stream)
{
	stream->cursor++;
	stream->reach = (struct ktau_reach) { };
}

static void next_phase(struct ktau_stream *stream)
{
	stream->phase++;
	stream->cursor = 0;
	stream->reach = (struct ktau_reach) { };
	if (stream->phase == PHASE_EXITED) {
		stream->cursor = stream->select.exited_since;
		ktau_exited_wait_begin(&stream->wait);
	}
}

static int begin(struct ktau_stream *stream)
{
	if (stream->content == KTAU_REC_TRACE)
		WRITE_ONCE(stream->fills, atomic_read(&ktau_trace_fills));
	else
		ktau_admit_begin(stream);
	stream->number = ktau_look_number();
	return ktau_compose_begin(stream);
}

static int end(struct ktau_stream *stream)
{
	int err;

	/* With exited tasks, settle_exited() has set them. */
	if (!(stream->select.target & KTAU_TARGET_EXITED))
		ktau_exited_bounds(&stream->end.exited_first, &stream->end.exited_next);
	err = ktau_compose_end(stream);
	if (err)
		return err;
	if (stream->select.target & KTAU_TARGETS_ALL)
		stream->since = stream->number;
	if (ktau_admit_watched(stream))
		ktau_exited_settled(&stream->watch, &stream->settle);
	return 0;
}

static int step_idle(struct ktau_stream *stream)
{
	unsigned int cpu = cpumask_next((int)stream->cursor - 1,
					cpu_possible_mask);
	int ret = 0;

	if (!(stream->select.target & KTAU_TARGETS_ALL) ||
	    stream->ns != &init_pid_ns || cpu >= nr_cpu_ids) {
		next_phase(stream);
		return 0;
	}
	stream->cursor = cpu;
	if (stream->access & KTAU_ACCESS_ALL)
		ret = ktau_admit_task(stream, idle_task(cpu));
	else
		stream->end.denied++;
	if (!ret)
		next_owner(stream);
	return ret;
}

/* The first live task with a pid of at least @stream->cursor. */
static struct task_struct *find_all(struct ktau_stream *stream)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!task) {
		pid = find_ge_pid(max_t(u64, stream->cursor, 1), stream->ns);
		if (!pid)
			break;
		stream->cursor = pid_nr_ns(pid, stream->ns);
		task = get_pid_task(pid, PIDTYPE_PID);
		if (!task)
			stream->cursor++;
	}
	rcu_read_unlock();
	return task;
}

/**
 * ktau_stream_forget_threads() - forget the threads of the process at the cursor
 *
 * Context: May sleep.
 */
void ktau_stream_forget_threads(struct ktau_stream *stream)
{
	while (stream->nr_threads)
		put_pid(stream->threads[--stream->nr_threads]);
	kvfree(stream->threads);
	stream->threads = NULL;
	stream->thread = 0;
}

/* Remember the threads that the process of @task has now. Return: 0 or -ENOMEM. */
static int note_threads(struct ktau_stream *stream, struct task_struct *task)
{
	/* One more: a thread that exits is uncounted before it leaves the list. */
	unsigned int room = get_nr_threads(task) + 1;
	struct task_struct *thread;
	struct pid *pid;

	stream->threads = kvmalloc_array(room, sizeof(pid), GFP_KERNEL_ACCOUNT);
	if (!stream->threads)
		return -ENOMEM;
	rcu_read_lock();
	for_each_thread(task, thread) {
		if (stream->nr_threads == room)
			break;
		pid = get_task_pid(thread, PIDTYPE_PID);
		if (pid)
			stream->threads[stream->nr_threads++] = pid;
	}
	rcu_read_unlock();
	return 0;
}

/* The next of those threads that still lives, or NULL. */
static struct task_struct *find_thread(struct ktau_stream *stream)
{
	struct task_struct *task = NULL;

	while (!task && stream->thread < stream->nr_threads) {
		task = get_pid_task(stream->threads[stream->thread], PIDTYPE_PID);
		if (!task)
			stream->thread++;
	}
	return task;
}

static struct task_struct *get_listed(struct ktau_stream *stream)
{
	struct task_struct *task;
	struct pid *pid;

	rcu_read_lock();
	if (stream->select.target & KTAU_TARGET_SELF)
		pid = task_pid(current);
	else
		pid = stream->listed[stream->cursor].pid;
	task = get_pid_task(pid, PIDTYPE_PID);
	rcu_read_unlock();
	return task;
}

static struct task_struct *find_listed(struct ktau_stream *stream)
{
	bool self = stream->select.target & KTAU_TARGET_SELF;
	u32 nr = self ? 1 : stream->select.nr_pids;
	struct task_struct *task;
	int err;

	for (; stream->cursor < nr; stream->cursor++) {
		if (!stream->threads) {
			task = get_listed(stream);
			if (task && !(stream->select.flags & KTAU_SELECT_THREADS))
				return task;
			if (!task) {
				stream->end.vanished++;
				continue;
			}
			err = note_threads(stream, task);
			put_task_struct(task);
			if (err)
				return ERR_PTR(err);
		}
		task = find_thread(stream);
		if (task)
			return task;
		ktau_stream_forget_threads(stream);
	}
	return NULL;
}

static int step_live(struct ktau_stream *stream)
{
	u32 target = stream->select.target;
	struct task_struct *task = NULL;
	int ret;

	if (target & KTAU_TARGETS_LISTED)
		task = find_listed(stream);
	else if (target & KTAU_TARGETS_ALL)
		task = find_all(stream);
	if (IS_ERR(task))
		return PTR_ERR(task);
	if (!task) {
		next_phase(stream);
		return 0;
	}
	ret = ktau_admit_task(stream, task);
	put_task_struct(task);
	if (ret)
		return ret;
	if ((target & KTAU_TARGETS_LISTED) &&
	    (stream->select.flags & KTAU_SELECT_THREADS)) {
		stream->thread++;
		stream->reach = (struct ktau_reach) { };
	} else {
		next_owner(stream);
	}
	return 0;
}

/* Allocate buffers for the results of ktau_exited_settle(). */
static int make_room(struct ktau_stream *stream, u32 nr, size_t bytes)
{
	struct ktau_settle *settle = &stream->settle;
	int err = ktau_buffer_need(&stream->gone, nr * sizeof(*settle->gone));

	if (!err && ktau_admit_sum(stream))
		err = ktau_buffer_need(&stream->body, bytes);
	settle->gone = stream->gone.p;
	settle->room = stream->gone.bytes / sizeof(*settle->gone);
	settle->evicted = ktau_admit_sum(stream) ? stream->body.p : NULL;
	settle->bytes = stream->body.bytes;
	return err;
}

/*
 * No exited task is left: put the evicted sum, and note which tasks are gone. Return: 1
 * if there is an exited task by now, 0, -ENOMEM.
 */
static int settle_exited(struct ktau_stream *stream)
{
	struct ktau_settle *settle = &stream->settle;
	struct ktau_owner owner;
	size_t bytes = SZ_64K;
	int ret;

	*settle = (struct ktau_settle) {
		.exited = stream->select.target & KTAU_TARGET_EXITED,
		.next = stream->cursor,
		.watch = ktau_admit_watched(stream),
		.owner = &owner,
	};
	do {
		ret = make_room(stream, settle->nr, bytes);
		if (ret)
			return ret;
		ret = ktau_exited_settle(settle);
		bytes = 2 * stream->body.bytes;
	} while (ret == -ENOSPC);
	if (ret)
		return ret;
	if (settle->exited) {
		stream->end.exited_next = settle->next;
		stream->end.exited_first = settle->first;
		stream->end.busy += ktau_exited_late();
	}
	if (settle->evicted)
		ktau_record_put_body(stream, &owner, NULL);
	settle->owner = NULL;
	return 0;
}

static int step_exited(struct ktau_stream *stream)
{
	const bool wanted = stream->select.target & KTAU_TARGET_EXITED;
	const bool waits = wanted && ktau_exited_wait(&stream->wait);
	struct ktau_state *state = wanted ? ktau_exited_get(&stream->cursor) : NULL;
	int ret;

	if (!state && waits) {
		usleep_range(50, 200);
		return 0;
	}
	if (!state) {
		ret = settle_exited(stream);
		if (!ret)
			next_phase(stream);
		return min(ret, 0);
	}
	ret = ktau_admit_exited(stream, state);
	ktau_state_put(state);
	if (!ret)
		next_owner(stream);
	return ret;
}

static int step_gone(struct ktau_stream *stream)
{
	int err = ktau_compose_gone(stream);

	if (!err)
		next_phase(stream);
	return err;
}

static int step_cpu(struct ktau_stream *stream)
{
	unsigned int cpu = cpumask_next((int)stream->cursor - 1,
					cpu_possible_mask);
	struct ktau_owner owner = {
		.kind = KTAU_OWNER_CPU, .cpu = cpu, .nr_tasks = 0,
	};
	struct ktau_state *state;
	int ret = 0;

	if (!(stream->select.target & KTAU_TARGET_CPU) ||
	    stream->content != KTAU_REC_PROFILE ||
	    !(stream->access & KTAU_ACCESS_ALL) || cpu >= nr_cpu_ids) {
		next_phase(stream);
		return 0;
	}
	stream->cursor = cpu;
	snprintf(owner.comm, sizeof(owner.comm), "cpu%u", cpu);
	state = per_cpu(ktau_cpu, cpu).state;
	if (state) {
		owner.serial = state->serial;
		ret = ktau_record_put(stream, state, NULL, &owner);
	}
	if (!ret)
		next_owner(stream);
	return ret;
}

/**
 * ktau_stream_step() - put the next record, or advance the cursor
 * @stream: the stream, locked, its record read; the current credentials are those that
 *	opened it
 *
 * Context: May sleep.
 * Return: 0, or -ENOMEM. The same step can be tried again.
 */
int ktau_stream_step(struct ktau_stream *stream)
{
	int ret = 0;

	switch (stream->phase) {
	case PHASE_BEGIN:
		ret = begin(stream);
		if (!ret)
			next_phase(stream);
		break;
	case PHASE_IDLE:
		ret = step_idle(stream);
		break;
	case PHASE_LIVE:
		ret = step_live(stream);
		break;
	case PHASE_EXITED:
		ret = step_exited(stream);
		break;
	case PHASE_GONE:
		ret = step_gone(stream);
		break;
	case PHASE_CPU:
		ret = step_cpu(stream);
		break;
	case PHASE_END:
		ret = end(stream);
		if (!ret)
			next_phase(stream);
		break;
	case PHASE_OVER:
		break;
	}
	return min(ret, 0);
}
