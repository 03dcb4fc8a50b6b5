// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the walk of a stream over the owners, one record at a step.
 *
 * Who may read is decided for each task when it is copied, with the credentials
 * that the file was opened with against those that the task has then.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

#include "stream.h"

#define MAX_PLACES	((KTAU_BODY_BYTES - sizeof(struct ktau_rec_trace)) / \
			 sizeof(struct ktau_place))

/* As it would have been while it lived. */
static bool may_read_exited(const struct ktau_task *state)
{
	if (perfmon_capable() ||
	    ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE))
		return true;
	return state->dumpable && ktau_may_read(&state->rights);
}

static void next_phase(struct ktau_stream *stream)
{
	stream->phase++;
	stream->cursor = 0;
	stream->thread = 0;
	stream->reach = (struct ktau_reach) { };
	if (stream->phase == PHASE_DEAD)
		stream->cursor = stream->select.exited_since;
}

static void begin(struct ktau_stream *stream, struct file *file)
{
	if (stream->content == KTAU_REC_TRACE)
		WRITE_ONCE(stream->fills, atomic_read(&ktau_trace_fills));
	stream->number = ktau_look_number();
	ktau_compose_begin(stream, file);
}

static void end(struct ktau_stream *stream)
{
	/* What exited while the tasks were read has been read with the exited. */
	if (!(stream->select.target & KTAU_TARGET_EXITED))
		stream->end.exited_next = ktau_exited_next();
	if (stream->select.target & KTAU_TARGETS_ALL)
		stream->since = stream->number;
	ktau_compose_end(stream);
}

/* The ids of @owner as the reader's pid namespace has them. */
static void translate(struct ktau_owner *owner, struct pid_namespace *ns,
		      struct pid *pid, struct pid *tgid, struct pid *parent)
{
	if (ns == &init_pid_ns)
		return;
	owner->tid = pid_nr_ns(pid, ns);
	owner->tgid = pid_nr_ns(tgid, ns);
	owner->ppid = pid_nr_ns(parent, ns);
}

/* Likewise for a live task, and its user as the reader's namespace has him. */
static void identify(struct ktau_owner *owner, struct pid_namespace *ns,
		     struct task_struct *task)
{
	struct pid *parent = NULL;

	ktau_task_identify(owner, task);
	owner->uid = from_kuid_munged(current_user_ns(), task_uid(task));
	if (owner->flags & KTAU_OWNER_IDLE)
		return;
	rcu_read_lock();
	if (pid_alive(task))
		parent = task_tgid(rcu_dereference(task->real_parent));
	translate(owner, ns, task_pid(task), task_tgid(task), parent);
	rcu_read_unlock();
}

/*
 * The softirq of whatever task it hits takes the segments of all: a reader that may
 * not see all tasks is not told whose, nor where in a connection that is.
 */
static void hide_slots(struct ktau_rec_trace *rec)
{
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	u32 i;

	for (i = 0; i < rec->nr_slots; i++) {
		if (slot->ctx != KTAU_CTX_TASK &&
		    (slot->type == KTAU_TRACE_NET_SEND ||
		     slot->type == KTAU_TRACE_NET_RECV))
			memset(slot + 1, 0, slot->words * sizeof(u64) -
			       sizeof(*slot));
		slot = (void *)slot + slot->words * sizeof(u64);
	}
}

/* @stream->body has a record of @owner now. */
static void put_body(struct ktau_stream *stream, const struct ktau_owner *owner)
{
	const struct ktau_rec *rec = stream->body;

	stream->body_len = rec->size;
	stream->front = (struct ktau_front) { .owner = *owner };
	stream->end.nr_records++;
}

/*
 * Put the record of one owner. Returns whether the same owner has more.
 */
static bool put_state(struct ktau_stream *stream, struct ktau_task *state,
		      struct task_struct *task, const struct ktau_owner *owner)
{
	struct ktau_rec_profile *profile = stream->body;
	struct ktau_rec_trace *trace = stream->body;
	int ret;

	if (stream->content == KTAU_REC_PROFILE) {
		ret = ktau_snapshot(profile, state, task);
	} else {
		stream->reach.consume = stream->select.flags & KTAU_SELECT_CONSUME;
		ret = ktau_snapshot_trace(trace, MAX_PLACES, state, task,
					  &stream->reach);
		if (!perfmon_capable())
			hide_slots(trace);
		if (ret >= 0 && trace->lost)
			stream->end.cut_ticks = max(stream->end.cut_ticks,
						    trace->lost_to_ticks);
		if (!ret && !task && stream->reach.consume)
			WRITE_ONCE(state->taken, true);
		if (!ret && !trace->nr_slots && !trace->lost)
			return false;	/* nothing new */
	}
	if (ret == -EAGAIN) {
		stream->end.torn++;
		ktau_look_again(state);
	}
	if (ret < 0)
		return false;
	put_body(stream, owner);
	return ret;
}

/* Is the profile of a live task one to put? */
static bool is_due(struct ktau_stream *stream, struct ktau_task *state,
		   struct task_struct *task)
{
	u32 target = stream->select.target;

	if (stream->content != KTAU_REC_PROFILE || !(target & KTAU_TARGETS_ALL))
		return true;
	return ktau_look(state, task, stream->number,
			 target & KTAU_TARGET_CHANGED ? stream->since : 0);
}

/*
 * Put the record of a live task, if the reader may see it. An exec changes what
 * a reader may see: it is kept out until the copy is made. Nobody waits for it.
 */
static bool put_task(struct ktau_stream *stream, struct task_struct *task)
{
	struct ktau_task *state = ktau_task_get(task);
	bool privileged = perfmon_capable(), more = false;
	struct ktau_owner owner;

	if (!state)
		return false;
	if (!privileged && !down_read_trylock(&task->signal->exec_update_lock)) {
		stream->end.busy++;
		ktau_look_again(state);
		goto out;
	}
	if (!privileged && !ktau_may_read_task(task)) {
		stream->end.denied++;
	} else if (is_due(stream, state, task)) {
		identify(&owner, stream->ns, task);
		owner.serial = state->serial;
		more = put_state(stream, state, task, &owner);
	}
	if (!privileged)
		up_read(&task->signal->exec_update_lock);
out:
	ktau_task_put(state);
	return more;
}

static void step_idle(struct ktau_stream *stream)
{
	unsigned int cpu = cpumask_next((int)stream->cursor - 1,
					cpu_possible_mask);

	if (!(stream->select.target & KTAU_TARGETS_ALL) ||
	    stream->ns != &init_pid_ns || cpu >= nr_cpu_ids) {
		next_phase(stream);
		return;
	}
	if (!perfmon_capable())
		stream->end.denied++;
	else if (put_task(stream, idle_task(cpu)))
		return;
	stream->cursor = cpu + 1;
	stream->reach = (struct ktau_reach) { };
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

static void step_live(struct ktau_stream *stream)
{
	const u32 listed = KTAU_TARGET_SELF | KTAU_TARGET_LIST;
	u32 target = stream->select.target;
	struct task_struct *task = NULL;
	bool more;

	if (target & listed)
		task = find_listed(stream);
	else if (target & KTAU_TARGETS_ALL)
		task = find_all(stream);
	if (!task) {
		next_phase(stream);
		return;
	}
	more = put_task(stream, task);
	put_task_struct(task);
	if (more)
		return;
	stream->reach = (struct ktau_reach) { };
	if ((target & listed) && (stream->select.flags & KTAU_SELECT_THREADS))
		stream->thread++;
	else
		stream->cursor++;
}

static void step_exited(struct ktau_stream *stream)
{
	struct ktau_task *state = NULL;
	struct ktau_owner owner;
	bool more = false;

	if (stream->select.target & KTAU_TARGET_EXITED)
		state = ktau_exited_get(&stream->cursor);
	if (!state) {
		if (stream->select.target & KTAU_TARGET_EXITED)
			stream->end.exited_next = min(stream->cursor,
						    ktau_exited_next());
		next_phase(stream);
		return;
	}
	if (stream->ns != &init_pid_ns && !pid_nr_ns(state->pid, stream->ns)) {
		; /* of another namespace */
	} else if (may_read_exited(state)) {
		owner = state->owner;
		owner.uid = from_kuid_munged(current_user_ns(),
					     state->rights.uid);
		translate(&owner, stream->ns, state->pid, state->tgid,
			  state->parent);
		more = put_state(stream, state, NULL, &owner);
	} else {
		stream->end.denied++;
	}
	ktau_task_put(state);
	if (!more) {
		stream->cursor++;
		stream->reach = (struct ktau_reach) { };
	}
}

static void step_evicted(struct ktau_stream *stream)
{
	struct ktau_owner owner;

	if ((stream->select.target & KTAU_TARGET_EVICTED) &&
	    stream->content == KTAU_REC_PROFILE && perfmon_capable() &&
	    !ktau_evicted_snapshot(stream->body, &owner))
		put_body(stream, &owner);
	next_phase(stream);
}

static void step_cpu(struct ktau_stream *stream)
{
	unsigned int cpu = cpumask_next((int)stream->cursor - 1,
					cpu_possible_mask);
	struct ktau_owner owner = { .kind = KTAU_OWNER_CPU, .cpu = cpu };
	struct ktau_task *state;

	if (!(stream->select.target & KTAU_TARGET_CPU) ||
	    stream->content != KTAU_REC_PROFILE || !perfmon_capable() ||
	    cpu >= nr_cpu_ids) {
		next_phase(stream);
		return;
	}
	snprintf(owner.comm, sizeof(owner.comm), "cpu%u", cpu);
	state = per_cpu(ktau_cpu, cpu).state;
	if (state)
		put_state(stream, state, NULL, &owner);
	stream->cursor = cpu + 1;
}

/**
 * ktau_stream_step() - put the next record, or find that there is none here
 * @stream: the stream, locked, its record read
 * @file: its descriptor; the current credentials are those that opened it
 *
 * Context: May sleep.
 */
void ktau_stream_step(struct ktau_stream *stream, struct file *file)
{
	switch (stream->phase) {
	case PHASE_BEGIN:
		begin(stream, file);
		next_phase(stream);
		break;
	case PHASE_IDLE:
		step_idle(stream);
		break;
	case PHASE_LIVE:
		step_live(stream);
		break;
	case PHASE_DEAD:
		step_exited(stream);
		break;
	case PHASE_REAPED:
		step_evicted(stream);
		break;
	case PHASE_CPU:
		step_cpu(stream);
		break;
	case PHASE_END:
		end(stream);
		next_phase(stream);
		break;
	case PHASE_OVER:
		break;
	}
}
