// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the walk of a stream over the owners, one record at a step.
 *
 * Who may read is decided for each task when it is copied, with the credentials
 * that the file was opened with against those that the task has then.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>
#include <asm/sections.h>

#include "stream.h"

#define MAX_SLOTS	((KTAU_STREAM_BYTES - sizeof(struct ktau_rec_trace)) / \
			 sizeof(struct ktau_slot))

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
		stream->cursor = stream->select.dead_since;
}

static void put_begin(struct ktau_stream *stream, struct file *file)
{
	struct ktau_rec_stream *rec = stream->buffer;
	struct ktau_clock now;

	if (stream->content == KTAU_REC_TRACE)
		WRITE_ONCE(stream->fills, atomic_read(&ktau_trace_fills));
	stream->number = ktau_look_number();
	ktau_clock_read(&now);
	*rec = (struct ktau_rec_stream) {
		.rec = { sizeof(*rec), KTAU_REC_STREAM, sizeof(*rec) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = BITS_PER_LONG,
		.content = stream->content,
		.target = stream->select.target,
		.groups = READ_ONCE(ktau_config.groups),
		.modes = READ_ONCE(ktau_config.modes),
		.clock_hz = ktau_clock_hz(),
		.clock_flags = ktau_arch_stable() ? KTAU_CLOCK_STABLE : 0,
		.nr_cpus = num_possible_cpus(),
		.ticks = now.ticks,
		.realtime_ns = now.realtime_ns,
		.monotonic_ns = now.monotonic_ns,
		.boot_ticks = ktau_clock_boot.ticks,
		.boot_realtime_ns = ktau_clock_boot.realtime_ns,
		.boot_monotonic_ns = ktau_clock_boot.monotonic_ns,
		.profile_pair_mticks = ktau_profile_pair_mticks,
		.trace_pair_mticks = ktau_trace_pair_mticks,
		.dead_next = ktau_exited_next(),
	};
	if (kallsyms_show_value(file->f_cred))
		rec->stext = (unsigned long)_stext;
	stream->len = rec->rec.size;
}

static void put_end(struct ktau_stream *stream)
{
	stream->end.rec = (struct ktau_rec) {
		sizeof(stream->end), KTAU_REC_END, sizeof(stream->end)
	};
	stream->end.lost_reaped = ktau_loss_total(KTAU_LOSS_UNREAD);
	/* What died while the tasks were read has been read with the dead. */
	if (!(stream->select.target & KTAU_TARGET_DEAD))
		stream->end.dead_next = ktau_exited_next();
	if (stream->select.target & KTAU_TARGETS_ALL)
		stream->since = stream->number;
	memcpy(stream->buffer, &stream->end, sizeof(stream->end));
	stream->len = sizeof(stream->end);
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

static u32 tid_in(const struct ktau_stream *stream, u32 tid)
{
	struct pid *pid;
	u32 nr = 0;

	rcu_read_lock();
	pid = find_pid_ns(tid, &init_pid_ns);
	if (pid)
		nr = pid_nr_ns(pid, stream->ns);
	rcu_read_unlock();
	return nr;
}

/* Tids in slots are global ones; a reader elsewhere gets its own, or 0. */
static void translate_slots(struct ktau_rec_trace *rec,
			    const struct ktau_stream *stream)
{
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	u32 i;

	if (stream->ns == &init_pid_ns)
		return;
	for (i = 0; i < rec->nr_slots; i++) {
		u64 high;

		if (slot[i].type != KTAU_TRACE_SWITCH &&
		    slot[i].type != KTAU_TRACE_WAKEUP &&
		    slot[i].type != KTAU_TRACE_FORK)
			continue;
		high = slot[i].arg >> 32;
		if (slot[i].type == KTAU_TRACE_FORK)
			high = tid_in(stream, high);
		slot[i].arg = tid_in(stream, slot[i].arg) | high << 32;
	}
}

/*
 * The softirq of whatever task it hits takes the segments of all: who may not see
 * all tasks is not told whose, nor where in a connection that is.
 */
static void hide_segments(struct ktau_rec_trace *rec)
{
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	bool hide = false;
	u32 i;

	for (i = 0; i < rec->nr_slots; i++) {
		struct ktau_slot_more *more = (void *)&slot[i];

		if (slot[i].type != KTAU_TRACE_MORE) {
			hide = slot[i].ctx != KTAU_CTX_TASK &&
			       (slot[i].type == KTAU_TRACE_NET_SEND ||
				slot[i].type == KTAU_TRACE_NET_RECV);
			if (hide)
				slot[i].arg = 0;
		} else if (hide) {
			*more = (struct ktau_slot_more) {
				.type = KTAU_TRACE_MORE, .index = more->index,
			};
		}
	}
}

/*
 * Put the record of one owner. Returns whether the same owner has more.
 */
static bool put_state(struct ktau_stream *stream, struct ktau_task *state,
		      struct task_struct *task, const struct ktau_owner *owner)
{
	struct ktau_rec_profile *profile = stream->buffer;
	struct ktau_rec_trace *trace = stream->buffer;
	bool peek = stream->select.flags & KTAU_SELECT_PEEK;
	int ret;

	if (stream->content == KTAU_REC_PROFILE) {
		ret = ktau_snapshot(profile, state, task);
		profile->owner = *owner;
	} else {
		/* Of the dead each reader gets the rest; who exits just now still lives. */
		stream->reach.peek = peek || !task;
		ret = ktau_snapshot_trace(trace, MAX_SLOTS, state, task,
					  &stream->reach);
		trace->owner = *owner;
		translate_slots(trace, stream);
		if (!perfmon_capable())
			hide_segments(trace);
		if (ret >= 0 && trace->lost)
			stream->end.cut_ticks = max(stream->end.cut_ticks,
						    trace->lost_to_ticks);
		if (!ret && !task && !peek)
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
	stream->len = profile->rec.size;
	stream->end.nr_records++;
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
		stream->end.refused++;
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
		stream->end.refused++;
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

	if (stream->select.target & KTAU_TARGET_DEAD)
		state = ktau_exited_get(&stream->cursor);
	if (!state) {
		if (stream->select.target & KTAU_TARGET_DEAD)
			stream->end.dead_next = min(stream->cursor,
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
		stream->end.refused++;
	}
	ktau_task_put(state);
	if (!more) {
		stream->cursor++;
		stream->reach = (struct ktau_reach) { };
	}
}

static void step_evicted(struct ktau_stream *stream)
{
	struct ktau_rec_profile *rec = stream->buffer;

	if ((stream->select.target & KTAU_TARGET_REAPED) &&
	    stream->content == KTAU_REC_PROFILE && perfmon_capable() &&
	    !ktau_evicted_snapshot(rec)) {
		stream->len = rec->rec.size;
		stream->end.nr_records++;
	}
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
		put_begin(stream, file);
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
		put_end(stream);
		next_phase(stream);
		break;
	case PHASE_OVER:
		break;
	}
}
