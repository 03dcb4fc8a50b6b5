// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the walk of a stream over the owners, one record at a step.
 *
 * Who may read is decided for each task when it is copied, with the credentials
 * that the file was opened with against those that the task has then.
 */
#include <linux/capability.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "stream.h"

#define TRACE_BYTES_MIN	SZ_16K
#define TRACE_BYTES_MAX	SZ_64K

/* For ktau_redact_profile(), which makes one row more than there were. */
#define REDACT_BYTES	(2 * sizeof(struct ktau_entry))

static void next_owner(struct ktau_stream *stream)
{
	stream->cursor++;
	stream->reach = (struct ktau_reach) { };
}

static void next_phase(struct ktau_stream *stream)
{
	stream->phase++;
	stream->cursor = 0;
	stream->thread = 0;
	stream->reach = (struct ktau_reach) { };
	if (stream->phase == PHASE_EXITED)
		stream->cursor = stream->select.exited_since;
}

static bool has_sum(const struct ktau_stream *stream)
{
	return (stream->select.target & KTAU_TARGET_EVICTED) &&
	       stream->content == KTAU_REC_PROFILE &&
	       (stream->access & KTAU_ACCESS_ALL);
}

static void watch(struct ktau_stream *stream)
{
	/* The same may see tasks of other users. */
	bool wide = stream->privileged ||
		    ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE);

	ktau_exited_watch(&stream->watch, wide ? NULL : stream->user,
			  has_sum(stream));
}

static int begin(struct ktau_stream *stream)
{
	if (stream->content == KTAU_REC_TRACE)
		WRITE_ONCE(stream->fills, atomic_read(&ktau_trace_fills));
	else
		watch(stream);
	stream->number = ktau_look_number();
	return ktau_compose_begin(stream);
}

/* What the stream has shown, if it is to say what is folded or evicted; or NULL. */
static struct ktau_watch *watched(struct ktau_stream *stream)
{
	return stream->content == KTAU_REC_PROFILE &&
	       (stream->select.target & KTAU_TARGET_EXITED) ?
	       &stream->watch : NULL;
}

/* The same for a task with @state: it may be of a user whose tasks are not watched. */
static struct ktau_watch *watched_for(struct ktau_stream *stream,
				      const struct ktau_task *state)
{
	return stream->watch.wide || state->user == stream->user ?
	       watched(stream) : NULL;
}

static int end(struct ktau_stream *stream)
{
	int err;

	/* What exited while the tasks were read has been read with the exited. */
	if (!(stream->select.target & KTAU_TARGET_EXITED))
		stream->end.exited_next = ktau_exited_next();
	err = ktau_compose_end(stream);
	if (err)
		return err;
	if (stream->select.target & KTAU_TARGETS_ALL)
		stream->since = stream->number;
	if (watched(stream))
		ktau_exited_settled(&stream->watch, &stream->settle);
	return 0;
}

/* @stream->body has a record of @owner now; @path is the stream's to free. */
static void put_body(struct ktau_stream *stream, const struct ktau_owner *owner,
		     char *path)
{
	const struct ktau_rec *rec = stream->body.p;

	stream->body_len = rec->size;
	stream->front = (struct ktau_front) { .owner = *owner, .path = path };
	stream->end.nr_records++;
}

/* Copy a profile to @stream->body, with as much memory as it takes. */
static int copy_profile(struct ktau_stream *stream, struct ktau_task *state,
			struct task_struct *task)
{
	size_t bytes = ktau_snapshot_bytes(state);
	struct ktau_rec_profile *rec;
	int err;

	do {
		err = ktau_buffer_need(&stream->body, bytes + REDACT_BYTES);
		if (err)
			return err;
		err = ktau_snapshot_into(stream->body.p,
					 stream->body.bytes - REDACT_BYTES,
					 state, task);
		bytes = 2 * stream->body.bytes;
	} while (err == -ENOSPC);
	if (err)
		return err;
	rec = stream->body.p;
	rec->start_ticks = ktau_read(&state->start_ticks);
	rec->groups_throughout =
		ktau_groups_throughout(state, U32_MAX,
				       stream->select.since_ticks);
	if (!(stream->access & KTAU_ACCESS_EXACT))
		ktau_redact_profile(rec, ktau_clock_hz());
	return 0;
}

/* Copy slots to @stream->body. Return: 1 if there are more, 0, -errno. */
static int copy_trace(struct ktau_stream *stream, struct ktau_task *state,
		      struct task_struct *task)
{
	size_t bytes = clamp_t(size_t, ktau_snapshot_trace_bytes(state),
			       TRACE_BYTES_MIN, TRACE_BYTES_MAX);
	struct ktau_rec_trace *rec;
	int ret;

	ret = ktau_buffer_need(&stream->body, bytes);
	if (ret)
		return ret;
	rec = stream->body.p;
	stream->reach.consume = stream->select.flags & KTAU_SELECT_CONSUME;
	stream->reach.since_ticks = stream->select.since_ticks;
	ret = ktau_snapshot_trace(rec, stream->body.bytes - sizeof(*rec), state,
				  task, &stream->reach);
	if (ret < 0)
		return ret;
	ktau_redact_trace(stream);
	if (rec->lost)
		stream->end.cut_ticks = max(stream->end.cut_ticks,
					    rec->lost_to_ticks);
	if (!ret && !task && stream->reach.consume)
		WRITE_ONCE(state->taken, true);
	return ret;
}

/* Nothing new. */
static bool is_empty(const struct ktau_stream *stream)
{
	const struct ktau_rec_trace *rec = stream->body.p;

	return stream->content == KTAU_REC_TRACE && !rec->nr_slots && !rec->lost;
}

/*
 * Put the record of one owner. Return: 1 if the same owner has more, 0 if not,
 * -ENOMEM. One without a ring, or that never held still, has none.
 */
static int put_state(struct ktau_stream *stream, struct ktau_task *state,
		     struct task_struct *task, const struct ktau_owner *owner)
{
	int ret = stream->content == KTAU_REC_PROFILE ?
		  copy_profile(stream, state, task) :
		  copy_trace(stream, state, task);

	switch (ret) {
	case -EAGAIN:
		stream->end.torn++;
		ktau_look_again(state);
		return 0;
	case -ENODATA:
		if (stream->select.target & KTAU_TARGETS_LISTED)
			stream->end.stateless++;
		return 0;
	}
	if (ret >= 0 && !is_empty(stream))
		put_body(stream, owner, ktau_describe_path(task, state));
	return ret;
}

/* Is the profile of a live task one to put? */
static bool is_due(struct ktau_stream *stream, struct ktau_task *state,
		   struct task_struct *task)
{
	u32 target = stream->select.target;

	/* A process may be listed by several of its threads. */
	if ((target & KTAU_TARGETS_LISTED) && !stream->reach.ring)
		return !(ktau_serial_bits(stream, state->serial) &
			 BIT(KTAU_SERIAL_RECORD + KTAU_OWNER_TASK));
	if (stream->content != KTAU_REC_PROFILE || !(target & KTAU_TARGETS_ALL))
		return true;
	return ktau_look(state, task, stream->number,
			 target & KTAU_TARGET_CHANGED ? stream->since : 0);
}

/* Note that @task is shown. 0; 1 if it has exited since @state was looked up; -ENOMEM. */
static int know(struct ktau_stream *stream, const struct ktau_task *state,
		const struct task_struct *task)
{
	struct ktau_watch *watch = watched_for(stream, state);
	int err;

	if (!watch)
		return 0;
	err = ktau_gone_know(watch, state->serial);
	smp_mb();	/* known, then the look; exits have one before they queue up */
	return err ?: READ_ONCE(task->ktau.state) != state;
}

/* Put the record of a live task that the reader may see, and that passes filters. */
static int put_visible(struct ktau_stream *stream, struct task_struct *task)
{
	struct ktau_task *state = ktau_task_get(task);
	struct ktau_owner owner;
	int ret = 0;

	if (!state) {
		if (stream->select.target & KTAU_TARGETS_LISTED)
			stream->end.stateless++;
		return 0;
	}
	if (is_due(stream, state, task))
		ret = know(stream, state, task);
	else
		ret = 1;
	if (!ret) {
		ktau_describe_task(stream, &owner, task);
		owner.serial = state->serial;
		owner.exec_ns = state->exec_ns;
		ret = put_state(stream, state, task, &owner);
	} else if (ret > 0) {
		ret = 0;
	}
	ktau_task_put(state);
	return ret;
}

/*
 * Put the record of a live task, if the reader may see it. Its state is looked up
 * with execs kept out: an exec that changes who may see the task changes that too.
 */
static int put_task(struct ktau_stream *stream, struct task_struct *task)
{
	struct ktau_task *state;
	int ret;

	if (!ktau_select_task(&stream->select, task))
		return 0;
	ret = ktau_task_lock(task, stream->access);
	if (!ret) {
		ret = put_visible(stream, task);
		ktau_task_unlock(task, stream->access);
		return ret;
	}
	/* Of a task without a profile there is nothing to see. */
	state = ktau_task_get(task);
	if (state && ret == -EBUSY) {
		stream->end.busy++;
		ktau_look_again(state);
	} else if (state) {
		stream->end.denied++;
	}
	ktau_task_put(state);
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
		ret = put_task(stream, idle_task(cpu));
	else
		stream->end.denied++;
	if (!ret)
		next_owner(stream);
	return ret;
}

/* The first live task with an id not below @stream->cursor. */
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

/* The first thread of @leader's process with an id not below @stream->thread. */
static struct task_struct *find_thread(struct ktau_stream *stream,
				       struct task_struct *leader)
{
	struct task_struct *task, *found = NULL;
	pid_t best = 0;

	rcu_read_lock();
	for_each_thread(leader, task) {
		pid_t tid = task_pid_nr_ns(task, stream->ns);

		if (tid >= stream->thread && (!found || tid < best)) {
			found = task;
			best = tid;
		}
	}
	if (found)
		get_task_struct(found);
	rcu_read_unlock();
	stream->thread = best;
	return found;
}

static struct task_struct *find_listed(struct ktau_stream *stream)
{
	bool self = stream->select.target & KTAU_TARGET_SELF;
	u32 nr = self ? 1 : stream->select.nr_pids;
	struct task_struct *task, *thread;
	struct pid *pid;

	while (stream->cursor < nr) {
		rcu_read_lock();
		pid = self ? task_pid(current) :
			     find_pid_ns(stream->pids[stream->cursor], stream->ns);
		task = get_pid_task(pid, PIDTYPE_PID);
		rcu_read_unlock();
		if (task && !(stream->select.flags & KTAU_SELECT_THREADS))
			return task;
		if (task) {
			thread = find_thread(stream, task);
			put_task_struct(task);
			if (thread)
				return thread;
		} else {
			stream->end.vanished++;
		}
		stream->cursor++;
		stream->thread = 0;
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
	if (!task) {
		next_phase(stream);
		return 0;
	}
	ret = put_task(stream, task);
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

static int put_exited(struct ktau_stream *stream, struct ktau_task *state)
{
	struct ktau_owner owner;

	if (!ktau_is_in_reach(stream, state) ||
	    !ktau_select_exited(&stream->select, state))
		return 0;
	if (!(stream->access & KTAU_ACCESS_ALL) && !ktau_may_read_exited(state)) {
		stream->end.denied++;
		return 0;
	}
	/* Folded or evicted meanwhile: it is part of what is still to come. */
	if (stream->content == KTAU_REC_PROFILE &&
	    !ktau_exited_show(watched_for(stream, state), state))
		return 0;
	ktau_describe_exited(stream, &owner, state);
	return put_state(stream, state, NULL, &owner);
}

/* Have memory for what ktau_exited_settle() gives. */
static int make_room(struct ktau_stream *stream, u32 nr, size_t bytes)
{
	struct ktau_settle *settle = &stream->settle;
	int err = ktau_buffer_need(&stream->gone, nr * sizeof(*settle->gone));

	if (!err && has_sum(stream))
		err = ktau_buffer_need(&stream->body, bytes);
	settle->gone = stream->gone.p;
	settle->room = stream->gone.bytes / sizeof(*settle->gone);
	settle->evicted = has_sum(stream) ? stream->body.p : NULL;
	settle->bytes = stream->body.bytes;
	return err;
}

/*
 * No exited task is left: put the evicted sum, and note what is gone. Return: 1 if there
 * is an exited task by now, 0, -ENOMEM.
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
		.watch = watched(stream),
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
	if (settle->exited)
		stream->end.exited_next = settle->next;
	if (settle->evicted)
		put_body(stream, &owner, NULL);
	settle->owner = NULL;
	return 0;
}

static int step_exited(struct ktau_stream *stream)
{
	struct ktau_task *state = NULL;
	int ret;

	if (stream->select.target & KTAU_TARGET_EXITED)
		state = ktau_exited_get(&stream->cursor);
	if (!state) {
		ret = settle_exited(stream);
		if (!ret)
			next_phase(stream);
		return min(ret, 0);
	}
	ret = put_exited(stream, state);
	ktau_task_put(state);
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
	struct ktau_task *state;
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
		ret = put_state(stream, state, NULL, &owner);
	}
	if (!ret)
		next_owner(stream);
	return ret;
}

/**
 * ktau_stream_step() - put the next record, or find that there is none here
 * @stream: the stream, locked, its record read; the current credentials are those
 *	that opened it
 *
 * Context: May sleep.
 * Return: 0, or -ENOMEM: the same step can be tried again.
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
