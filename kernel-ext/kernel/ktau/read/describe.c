// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: describing owners as a reader's namespaces see them, and finding owners by
 * serial.
 *
 * A slot identifies a task by its serial. The kernel has no index from serials to tasks.
 * So a stream that meets a serial builds such a table, in a single pass over the live and
 * exited tasks. For serials newer than the table it is built again, at most
 * every TABLE_AGE; until then their owners are unknown.
 */
#include <linux/jiffies.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "base/compat.h"
#include "base/origin.h"
#include "base/owner.h"
#include "measure/state.h"
#include "tasks/exited.h"
#include "describe.h"
#include "permission.h"
#include "stream.h"

#define TABLE_AGE	(HZ / 10)

/* How to find the owner of a serial: what the number stored for it is. */
enum where {
	AT_TASK,	/* tid in the stream's pid namespace */
	AT_EXITED,	/* exited_seq, from @where_exited of the stream on */
	AT_IDLE,	/* CPU */
	AT_BITS = 2
};

/* The largest number that can be stored. */
#define WHERE_MAX	(LONG_MAX >> AT_BITS)

/* Convert times to the reader's time namespace. */
static void offset_times(const struct ktau_stream *stream,
			 struct ktau_owner *owner)
{
	s64 offset = ktau_boottime_offset(stream->nsproxy);

	owner->start_ns += offset;
	if (owner->exec_ns)
		owner->exec_ns += offset;
	if (owner->exit_ns)
		owner->exit_ns += offset;
}

/* Convert ids to the reader's pid namespace. */
static void translate(const struct ktau_stream *stream, struct ktau_owner *owner,
		      struct pid *pid, struct pid *tgid, struct pid *parent)
{
	if (stream->ns == &init_pid_ns)
		return;
	owner->tid = pid_nr_ns(pid, stream->ns);
	owner->tgid = pid_nr_ns(tgid, stream->ns);
	owner->ppid = pid_nr_ns(parent, stream->ns);
}

/**
 * ktau_describe_task() - describe a live task as the reader sees it
 * @stream: the stream; the current credentials are those of its opener
 * @owner: receives the description
 * @task: the task, held by the caller
 *
 * Context: Task.
 */
void ktau_describe_task(const struct ktau_stream *stream, struct ktau_owner *owner,
			struct task_struct *task)
{
	struct pid *parent = NULL;

	*owner = (struct ktau_owner) { .net_ns = ktau_net_ns_of(task) };
	ktau_task_identify(owner, task);
	rcu_read_lock();
	owner->uid = from_kuid_munged(current_user_ns(), task_uid(task));
	owner->gid = from_kgid_munged(current_user_ns(), __task_cred(task)->gid);
	if (!(owner->flags & KTAU_OWNER_IDLE)) {
		if (pid_alive(task))
			parent = task_tgid(rcu_dereference(task->real_parent));
		translate(stream, owner, task_pid(task), task_tgid(task), parent);
	}
	rcu_read_unlock();
	offset_times(stream, owner);
}

/**
 * ktau_describe_exited() - describe an exited task as the reader sees it
 * @stream: the stream; the current credentials are those of its opener
 * @owner: receives the description
 *
 * Context: Task.
 */
void ktau_describe_exited(const struct ktau_stream *stream,
			  struct ktau_owner *owner, const struct ktau_state *state)
{
	ktau_exited_owner(owner, state);
	owner->uid = from_kuid_munged(current_user_ns(), state->rights.uid);
	owner->gid = from_kgid_munged(current_user_ns(), state->rights.gid);
	if (stream->ns != &init_pid_ns)
		ktau_origin_ids(owner, state, &stream->ns_id);
	offset_times(stream, owner);
}

/**
 * ktau_is_in_reach() - whether an exited task was in the reader's pid namespace
 *
 * Context: Any.
 * Return: Whether it was.
 */
bool ktau_is_in_reach(const struct ktau_stream *stream,
		      const struct ktau_state *state)
{
	return stream->ns == &init_pid_ns ||
	       ktau_origin_ids(NULL, state, &stream->ns_id);
}

/**
 * ktau_serial_bits() - the flags of a serial in a stream
 *
 * Context: Task.
 * Return: KTAU_SERIAL_*.
 */
unsigned long ktau_serial_bits(struct ktau_stream *stream, u64 serial)
{
	void *entry = xa_load(&stream->owners, serial);

	return entry ? xa_to_value(entry) : 0;
}

/**
 * ktau_serial_mark() - set flags of a serial in a stream
 * @bits: KTAU_SERIAL_* to set
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int ktau_serial_mark(struct ktau_stream *stream, u64 serial, unsigned long bits)
{
	bits |= ktau_serial_bits(stream, serial);
	return xa_err(xa_store(&stream->owners, serial, xa_mk_value(bits),
			       GFP_KERNEL_ACCOUNT));
}

static void note_where(struct ktau_stream *stream, u64 serial, enum where where,
		       u64 nr)
{
	if (!serial)
		return;
	stream->where_until = max(stream->where_until, serial);
	/* Without memory or with too large a number, the owner is unknown. */
	if (nr > WHERE_MAX)
		return;
	xa_store(&stream->where, serial, xa_mk_value(nr << AT_BITS | where),
		 GFP_KERNEL_ACCOUNT);
}

static void note_live(struct ktau_stream *stream)
{
	struct task_struct *task;
	int nr = 1, cpu;
	u64 serial;

	for_each_possible_cpu(cpu)
		note_where(stream, READ_ONCE(idle_task(cpu)->ktau.serial),
			   AT_IDLE, cpu);
	for (; !fatal_signal_pending(current); nr++) {
		struct pid *pid;

		rcu_read_lock();
		pid = find_ge_pid(nr, stream->ns);
		if (pid)
			nr = pid_nr_ns(pid, stream->ns);
		task = pid_task(pid, PIDTYPE_PID);
		serial = task ? READ_ONCE(task->ktau.serial) : 0;
		rcu_read_unlock();
		if (!pid)
			return;
		note_where(stream, serial, AT_TASK, nr);
		cond_resched();
	}
}

static void note_exited(struct ktau_stream *stream)
{
	struct ktau_state *state;
	u64 seq, next;

	if (!stream->where_at)
		ktau_exited_bounds(&stream->where_exited, &next);
	for (seq = stream->where_exited; (state = ktau_exited_get(&seq)); seq++) {
		note_where(stream, state->serial, AT_EXITED, seq - stream->where_exited);
		ktau_state_put(state);
		cond_resched();
	}
}

static void *find_where(struct ktau_stream *stream, u64 serial)
{
	void *entry = xa_load(&stream->where, serial);

	if (entry || serial <= stream->where_until ||
	    (stream->where_at &&
	     time_before(jiffies, stream->where_at + TABLE_AGE)))
		return entry;
	note_live(stream);
	note_exited(stream);
	stream->where_at = jiffies | 1;
	return xa_load(&stream->where, serial);
}

/**
 * struct named - the owner of a serial, with a reference
 * @task: the task, if it lives
 * @state: its state, if it has exited
 */
struct named {
	struct task_struct *task;
	struct ktau_state *state;
};

static bool named_get(struct ktau_stream *stream, u64 serial, struct named *named)
{
	void *entry = find_where(stream, serial);
	unsigned long value = entry ? xa_to_value(entry) : 0;
	u64 nr = value >> AT_BITS;
	struct pid *pid;

	*named = (struct named) { };
	if (!entry)
		return false;
	switch (value & (BIT(AT_BITS) - 1)) {
	case AT_TASK:
		rcu_read_lock();
		pid = find_pid_ns(nr, stream->ns);
		named->task = get_pid_task(pid, PIDTYPE_PID);
		rcu_read_unlock();
		break;
	case AT_IDLE:
		named->task = get_task_struct(idle_task(nr));
		break;
	case AT_EXITED:
		nr += stream->where_exited;
		named->state = ktau_exited_get(&nr);
		break;
	}
	/* The tid or the position in the queue may belong to another owner by now. */
	if (named->task && READ_ONCE(named->task->ktau.serial) == serial)
		return true;
	return named->state && named->state->serial == serial;
}

static void named_put(struct named *named)
{
	if (named->task)
		put_task_struct(named->task);
	ktau_state_put(named->state);
}

static bool may_read(struct ktau_stream *stream, struct named *named)
{
	if (stream->access & KTAU_ACCESS_ALL)
		return named->task || ktau_is_in_reach(stream, named->state);
	if (named->state)
		return ktau_is_in_reach(stream, named->state) &&
		       ktau_may_read_exited(named->state);
	return !ktau_task_check(named->task, stream->access);
}

/*
 * Remember that the reader may not see the owner of @serial, or that it has none. A serial
 * newer than the table is not marked: its owner may still be found.
 */
static void mark_hidden(struct ktau_stream *stream, u64 serial)
{
	if (serial <= stream->where_until)
		ktau_serial_mark(stream, serial, KTAU_SERIAL_HIDDEN);
}

/**
 * ktau_named_visible() - whether the reader may see the owner of a serial
 * @stream: the stream; the current credentials are those of its opener
 *
 * Context: May sleep.
 * Return: Whether it may, and the owner is known.
 */
bool ktau_named_visible(struct ktau_stream *stream, u64 serial)
{
	unsigned long bits = ktau_serial_bits(stream, serial);
	struct named named;
	bool visible;

	if (bits)
		return !(bits & KTAU_SERIAL_HIDDEN);
	visible = named_get(stream, serial, &named) && may_read(stream, &named);
	named_put(&named);
	if (!visible)
		mark_hidden(stream, serial);
	return visible;
}

/**
 * ktau_describe_path() - get the path of an owner's program
 * @task: the task, held by the caller; NULL if the owner is no task or has exited
 * @state: its state, if it has exited
 *
 * Context: May sleep.
 * Return: The path, for the caller to free; NULL if it is unknown or there is no memory.
 */
char *ktau_describe_path(struct task_struct *task, const struct ktau_state *state)
{
	char *buffer, *path;

	if (!task)
		return state->path ?
		       kstrdup(state->path, GFP_KERNEL_ACCOUNT) : NULL;
	buffer = __getname();
	if (!buffer)
		return NULL;
	path = ktau_path_of(task, buffer);
	if (path)
		path = kstrdup(path, GFP_KERNEL_ACCOUNT);
	__putname(buffer);
	return path;
}

/**
 * ktau_named_describe() - describe the owner of a serial
 * @stream: the stream; the current credentials are those of its opener
 * @owner: receives the description
 * @path: receives the path of its program, NULL if unknown; the caller frees it
 *
 * Context: May sleep.
 * Return: 0, or -ENOENT if the owner is unknown or the reader may not see it.
 */
int ktau_named_describe(struct ktau_stream *stream, u64 serial,
			struct ktau_owner *owner, char **path)
{
	struct named named;
	int err = -ENOENT;

	if (named_get(stream, serial, &named) && may_read(stream, &named)) {
		if (named.task)
			ktau_describe_task(stream, owner, named.task);
		else
			ktau_describe_exited(stream, owner, named.state);
		owner->serial = serial;
		owner->flags |= KTAU_OWNER_NAMED;
		*path = ktau_describe_path(named.task, named.state);
		err = 0;
	}
	named_put(&named);
	if (err)
		mark_hidden(stream, serial);
	return err;
}
