// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the records of a stream except for the snapshots: those at its beginning and end, and those
 * that describe the ids and owners of a snapshot, as the reader's namespaces see them.
 *
 * A slot identifies a task by its serial. The kernel has no index from serials to tasks.
 * So a stream that meets a serial builds such a table, in a single pass over the live and
 * exited tasks. For serials newer than the table it is built again, at most
 * every TABLE_AGE; until then their owners are unknown.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/utsname.h>
#include <asm/sections.h>

#include "base/arch.h"
#include "base/cgroup.h"
#include "base/compat.h"
#include "base/core.h"
#include "base/event.h"
#include "base/origin.h"
#include "base/owner.h"
#include "measure/clock.h"
#include "measure/state.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "compose.h"
#include "select.h"
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

/* Set flags of a serial. Return: 0 or -ENOMEM. */
static int mark_serial(struct ktau_stream *stream, u64 serial, unsigned long bits)
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
		mark_serial(stream, serial, KTAU_SERIAL_HIDDEN);
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

/*
 * Describe the owner of @serial, and get the path of its program, NULL if unknown, for the caller
 * to free. Return: 0, or -ENOENT if the owner is unknown or the reader may not see it.
 */
static int named_describe(struct ktau_stream *stream, u64 serial,
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

/*
 * Create a zeroed record of @head bytes, followed by a string. Return: the record or
 * NULL.
 */
static void *new_record(struct ktau_stream *stream, u16 type, size_t head,
			size_t string_bytes)
{
	size_t bytes = ALIGN(head + string_bytes, 8);
	struct ktau_rec *rec;

	if (ktau_buffer_need(&stream->small, bytes))
		return NULL;
	rec = stream->small.p;
	memset(rec, 0, bytes);
	*rec = (struct ktau_rec) { bytes, type, head };
	stream->out = rec;
	stream->len = bytes;
	stream->pos = 0;
	return rec;
}

static void put_names(struct ktau_rec_stream *rec, const struct ktau_stream *stream)
{
	const struct new_utsname *uts = &stream->nsproxy->uts_ns->name;

	down_read(&uts_sem);
	strscpy(rec->nodename, uts->nodename, sizeof(rec->nodename));
	strscpy(rec->release, uts->release, sizeof(rec->release));
	strscpy(rec->machine, uts->machine, sizeof(rec->machine));
	up_read(&uts_sem);
	ktau_boot_id(rec->boot_id);
}

static void put_clocks(struct ktau_rec_stream *rec, const struct ktau_stream *stream)
{
	s64 monotonic = ktau_monotonic_offset(stream->nsproxy);
	struct ktau_clocks now;

	ktau_clock_read(&now);
	rec->clock_hz = ktau_clock_hz();
	rec->clock_flags = ktau_arch_stable() ? KTAU_CLOCK_STABLE : 0;
	rec->ticks = now.ticks;
	rec->realtime_ns = now.realtime_ns;
	rec->monotonic_ns = now.monotonic_ns + monotonic;
	rec->boottime_ns = now.boottime_ns + ktau_boottime_offset(stream->nsproxy);
	rec->tai_ns = now.tai_ns;
	rec->boot_ticks = ktau_clock_boot.ticks;
	rec->boot_realtime_ns = ktau_clock_boot.realtime_ns;
	rec->boot_monotonic_ns = ktau_clock_boot.monotonic_ns + monotonic;
}

/**
 * ktau_compose_begin() - put STREAM
 * @stream: the stream, locked
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int ktau_compose_begin(struct ktau_stream *stream)
{
	struct ktau_rec_stream *rec = new_record(stream, KTAU_REC_STREAM,
						 sizeof(*rec), 0);

	if (!rec)
		return -ENOMEM;
	rec->magic = KTAU_MAGIC;
	rec->version = KTAU_ABI_VERSION;
	rec->word_bits = BITS_PER_LONG;
	rec->origin = KTAU_ORIGIN_KERNEL;
	rec->content = stream->content;
	rec->target = stream->select.target;
	rec->flags = stream->select.flags;
	rec->access = stream->access;
	rec->groups = ktau_groups_enabled();
	rec->groups_built = ktau_groups_built;
	rec->modes = READ_ONCE(ktau_config.modes);
	rec->round_ns = stream->access & KTAU_ACCESS_EXACT ? 0 : NSEC_PER_USEC;
	rec->nr_cpus = num_possible_cpus();
	rec->since_ticks = stream->select.since_ticks;
	rec->exited_next = ktau_exited_next();
	rec->exited_since = stream->select.exited_since;
	if (stream->access & KTAU_ACCESS_ADDRESSES)
		rec->stext = (unsigned long)_stext;
	rec->profile_pair_mticks = ktau_profile_pair_mticks;
	rec->trace_pair_mticks = ktau_trace_pair_mticks;
	rec->cpu_pair_mticks = ktau_cpu_pair_mticks;
	rec->call_pair_mticks = ktau_call_pair_mticks;
	rec->switch_mticks = ktau_switch_mticks;
	put_names(rec, stream);
	put_clocks(rec, stream);
	return 0;
}

/* A reader in a container gets the losses of its own user only. */
static u64 loss(const struct ktau_stream *stream, enum ktau_loss reason)
{
	return stream->is_contained ?
	       atomic_long_read(&stream->user->losses[reason]) :
	       ktau_loss_total(reason);
}

static bool may_see_losses_of_all(const struct ktau_stream *stream)
{
	return !stream->is_contained && (stream->access & KTAU_ACCESS_ALL);
}

/**
 * ktau_compose_end() - put END
 * @stream: the stream, locked
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int ktau_compose_end(struct ktau_stream *stream)
{
	struct ktau_rec_end *rec = new_record(stream, KTAU_REC_END, sizeof(*rec), 0);

	if (!rec)
		return -ENOMEM;
	stream->end.rec = rec->rec;
	*rec = stream->end;
	rec->losses_own = stream->is_contained;
	rec->refused_memory_limit = loss(stream, KTAU_LOSS_MEMORY_LIMIT);
	rec->refused_user_limit = loss(stream, KTAU_LOSS_USER_LIMIT);
	rec->refused_no_memory = loss(stream, KTAU_LOSS_NO_MEMORY);
	rec->refused_no_chunk = loss(stream, KTAU_LOSS_NO_CHUNK);
	rec->refused_no_id = loss(stream, KTAU_LOSS_NO_ID);
	rec->refused_no_state = loss(stream, KTAU_LOSS_NO_STATE);
	rec->refused_descriptors = loss(stream, KTAU_LOSS_DESCRIPTORS);
	rec->lost_no_ring = loss(stream, KTAU_LOSS_NO_RING);
	rec->lost_no_room = loss(stream, KTAU_LOSS_NO_ROOM);
	rec->lost_resized = loss(stream, KTAU_LOSS_RESIZED);
	rec->lost_evicted = loss(stream, KTAU_LOSS_UNREAD);
	rec->clamped = loss(stream, KTAU_LOSS_CLAMPED);
	rec->internal_errors = loss(stream, KTAU_LOSS_INTERNAL);
	rec->evicted = loss(stream, KTAU_LOSS_EVICTED);
	rec->refused_regions = loss(stream, KTAU_LOSS_REGION);
	rec->refused_functions = loss(stream, KTAU_LOSS_FUNCTION);
	rec->refused_gone = stream->settle.unlisted;
	if (!stream->watch.wide || may_see_losses_of_all(stream))
		rec->missed = stream->settle.missed;
	return 0;
}

/**
 * ktau_compose_gone() - put GONE, if tasks have gone
 * @stream: the stream, locked
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int ktau_compose_gone(struct ktau_stream *stream)
{
	const struct ktau_settle *settle = &stream->settle;
	size_t bytes = settle->nr * sizeof(*settle->gone);
	struct ktau_rec_gone *rec;

	if (!settle->nr)
		return 0;
	rec = new_record(stream, KTAU_REC_GONE, sizeof(*rec), bytes);
	if (!rec)
		return -ENOMEM;
	rec->nr_serials = settle->nr;
	rec->serial_bytes = sizeof(*settle->gone);
	rec->nr_folded = settle->nr_folded;
	memcpy(rec + 1, settle->gone, bytes);
	return 0;
}

static int put_event(struct ktau_stream *stream, unsigned int id)
{
	const struct ktau_event *event = ktau_event_find(id);
	struct ktau_rec_event *rec;
	char name[KTAU_EVENT_NAME];
	bool is_number;

	ktau_event_format_name(id, name);
	rec = new_record(stream, KTAU_REC_EVENT, sizeof(*rec), strlen(name) + 1);
	if (!rec)
		return -ENOMEM;
	rec->id = id;
	rec->kind = event->kind;
	rec->source = event->source;
	rec->group = event->group;
	rec->name_bytes = strlen(name) + 1;
	memcpy(rec + 1, name, rec->name_bytes);
	is_number = rec->source == KTAU_SOURCE_SYSCALL ||
		    rec->source == KTAU_SOURCE_FOREIGN ||
		    rec->source == KTAU_SOURCE_IRQ;
	if (is_number || (stream->access & KTAU_ACCESS_ADDRESSES))
		rec->key = READ_ONCE(event->key);
	if (stream->access & KTAU_ACCESS_ADDRESSES)
		rec->address = is_number ? ktau_event_address(id) : rec->key;
	return 0;
}

/* Put EVENT of @id unless it has been put. Return: 1 if it was put now, 0, -ENOMEM. */
static int need_event(struct ktau_stream *stream, unsigned int id)
{
	int err;

	if (id >= KTAU_NR_IDS || test_bit(id, stream->ids) || !ktau_event_find(id))
		return 0;
	err = put_event(stream, id);
	if (err)
		return err;
	__set_bit(id, stream->ids);
	return 1;
}

static int put_cgroup(struct ktau_stream *stream, u64 id, const char *path)
{
	struct ktau_rec_cgroup *rec;
	size_t bytes = strlen(path) + 1;

	rec = new_record(stream, KTAU_REC_CGROUP, sizeof(*rec), bytes);
	if (!rec)
		return -ENOMEM;
	rec->id = id;
	rec->path_bytes = bytes;
	memcpy(rec + 1, path, bytes);
	return 0;
}

/* Put CGROUP of @id unless it has been put. Return: 1 if it was put now, 0, -ENOMEM. */
static int need_cgroup(struct ktau_stream *stream, u64 id)
{
	char *path;
	int err;

	if (!id || xa_load(&stream->cgroups, id))
		return 0;
	path = __getname();
	if (!path)
		return -ENOMEM;
	if (ktau_cgroup_format_path_in(stream->nsproxy->cgroup_ns, id, path, PATH_MAX))
		*path = '\0';
	err = xa_err(xa_store(&stream->cgroups, id, xa_mk_value(1), GFP_KERNEL_ACCOUNT));
	if (!err)
		err = put_cgroup(stream, id, path);
	if (err)
		xa_erase(&stream->cgroups, id);
	__putname(path);
	return err ?: 1;
}

static void fill_owner(struct ktau_rec_owner *rec, const struct ktau_owner *owner)
{
	rec->serial = owner->serial;
	rec->parent_serial = owner->parent_serial;
	rec->leader_serial = owner->leader_serial;
	rec->kind = owner->kind;
	rec->flags = owner->flags;
	rec->tid = owner->tid;
	rec->tgid = owner->tgid;
	rec->ppid = owner->ppid;
	rec->cpu = owner->cpu;
	rec->uid = owner->uid;
	rec->gid = owner->gid;
	rec->prio = owner->prio;
	rec->policy = owner->policy;
	rec->exit_code = owner->exit_code;
	rec->tag = owner->tag;
	rec->start_ns = owner->start_ns;
	rec->exec_ns = owner->exec_ns;
	rec->exit_ns = owner->exit_ns;
	rec->exited_seq = owner->exited_seq;
	rec->nr_tasks = owner->nr_tasks;
	rec->utime_ns = owner->utime_ns;
	rec->stime_ns = owner->stime_ns;
	rec->nvcsw = owner->nvcsw;
	rec->nivcsw = owner->nivcsw;
	rec->migrations = owner->migrations;
	rec->cgroup = owner->cgroup;
	rec->pid_ns = owner->pid_ns;
	rec->net_ns = owner->net_ns;
	memcpy(rec->comm, owner->comm, sizeof(rec->comm));
}

/* Put OWNER, preceded by the CGROUP that it refers to. Return: 1 or -ENOMEM. */
static int put_owner(struct ktau_stream *stream, const struct ktau_owner *owner,
		     const char *path)
{
	size_t bytes = path ? strlen(path) + 1 : 0;
	struct ktau_rec_owner *rec;
	unsigned long bits = KTAU_SERIAL_PUT;
	int ret = need_cgroup(stream, owner->cgroup);

	if (ret)
		return ret;
	rec = new_record(stream, KTAU_REC_OWNER, sizeof(*rec), bytes);
	if (!rec)
		return -ENOMEM;
	fill_owner(rec, owner);
	if (!owner->has_own_parent && !(stream->access & KTAU_ACCESS_ALL))
		rec->parent_serial = 0;
	rec->path_bytes = bytes;
	if (path)
		memcpy(rec + 1, path, bytes);
	if (!(owner->flags & KTAU_OWNER_NAMED))
		bits |= BIT(KTAU_SERIAL_RECORD + owner->kind);
	ret = mark_serial(stream, owner->serial, bits);
	if (ret)
		stream->len = 0;	/* discarded; the next read() puts it again */
	return ret ?: 1;
}

/*
 * Put OWNER of a record unless it has been put and cannot have changed. A profile is put
 * again if another one has been folded into it. Return: 1, 0 or -ENOMEM.
 */
static int need_owner(struct ktau_stream *stream, const struct ktau_owner *owner,
		      const char *path)
{
	if (stream->content == KTAU_REC_TRACE &&
	    (ktau_serial_bits(stream, owner->serial) &
	     BIT(KTAU_SERIAL_RECORD + owner->kind)))
		return 0;
	return put_owner(stream, owner, path);
}

/* Put OWNER of a serial in a slot unless one has been put. Return: 1, 0 or -ENOMEM. */
static int need_named(struct ktau_stream *stream, u64 serial)
{
	struct ktau_owner owner;
	char *path = NULL;
	int ret;

	if (!serial || ktau_serial_bits(stream, serial))
		return 0;
	if (named_describe(stream, serial, &owner, &path))
		return 0;
	ret = put_owner(stream, &owner, path);
	kfree(path);
	return ret;
}

/* Put what one slot refers to. */
static int need_for_slot(struct ktau_stream *stream, const struct ktau_slot *slot)
{
	const u64 *word = (const u64 *)(slot + 1);
	int ret = 0;

	if (slot->id < KTAU_NR_IDS)
		return need_event(stream, slot->id);
	switch (slot->type) {
	case KTAU_TRACE_SWITCH:
	case KTAU_TRACE_WAKING:
	case KTAU_TRACE_WOKEN:
		ret = need_named(stream, word[0]);
		break;
	case KTAU_TRACE_FORK:
		ret = need_named(stream, word[0]) ?: need_named(stream, word[1]);
		break;
	case KTAU_TRACE_EXEC:
		ret = need_named(stream, word[2]);
		break;
	case KTAU_TRACE_CGROUP:
		ret = need_cgroup(stream, word[0]);
		break;
	}
	return ret;
}

/* Put what the slots refer to. Return: 1 if something was put, 0, -ENOMEM. */
static int need_for_trace(struct ktau_stream *stream,
			  const struct ktau_rec_trace *rec)
{
	struct ktau_front *front = &stream->front;
	const unsigned long *const ids = stream->ids;
	const void *at = (const void *)rec + front->offset;
	const struct ktau_slot *slot;
	u32 left = rec->nr_slots - front->next;
	int ret = 0;

	for (; left; left--) {
		slot = at;
		/* Most are calls of events that have been put. */
		if (slot->id >= KTAU_NR_IDS || !test_bit(slot->id, ids))
			ret = need_for_slot(stream, slot);
		if (ret)
			break;
		at += slot->words * sizeof(u64);
	}
	front->next = rec->nr_slots - left;
	front->offset = at - (const void *)rec;
	return ret;
}

/* Put what the entries and open frames refer to. */
static int need_for_profile(struct ktau_stream *stream,
			    const struct ktau_rec_profile *rec)
{
	const struct ktau_entry *entry = (const void *)(rec + 1);
	const struct ktau_open *open = (const void *)(entry + rec->nr_entries);
	struct ktau_front *front = &stream->front;
	u32 i;
	int ret;

	for (; front->next < rec->nr_entries + rec->nr_open; front->next++) {
		i = front->next;
		ret = need_event(stream, i < rec->nr_entries ? entry[i].id :
				 open[i - rec->nr_entries].id);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ktau_compose_front() - put a record that must precede @stream->body
 * @stream: the stream, locked; the current credentials are those of its opener
 *
 * Context: May sleep.
 * Return: 1 if there was one, 0 if not, -ENOMEM.
 */
int ktau_compose_front(struct ktau_stream *stream)
{
	const struct ktau_rec *rec = stream->body.p;
	struct ktau_front *front = &stream->front;
	int ret;

	if (!front->offset) {
		ret = need_cgroup(stream, front->owner.cgroup);
		if (ret)
			return ret;
		ret = need_owner(stream, &front->owner, front->path);
		if (ret >= 0)
			front->offset = rec->head;
		if (ret)
			return ret;
	}
	return rec->type == KTAU_REC_TRACE ?
	       need_for_trace(stream, stream->body.p) :
	       need_for_profile(stream, stream->body.p);
}
