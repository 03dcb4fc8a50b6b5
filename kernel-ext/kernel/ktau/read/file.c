// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: /proc/ktau/profile and /proc/ktau/trace.
 *
 * A descriptor holds a cursor and one record. read() hands out the record and then
 * continues with the next owner. Nothing is locked between reads. The memory of a stream
 * does not grow with the number of tasks, except for the serials of those that have been
 * described or shown.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ktau.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/user_namespace.h>

#include "base/access.h"
#include "base/args.h"
#include "base/compat.h"
#include "base/origin.h"
#include "base/poll.h"
#include "base/user.h"
#include "measure/cpu.h"
#include "measure/ring.h"
#include "measure/state.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "tasks/snapshot_trace.h"
#include "regions/attach.h"
#include "compose.h"
#include "file.h"
#include "record.h"
#include "select.h"
#include "stream.h"

#define QUIET_MAX	64	/* tasks that are passed over at once */

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

/*
 * Whether the stream consumes traces and @task, found under RCU, has nothing for it. Nobody counts
 * such a task unless the reader may not see it.
 */
static bool is_quiet(const struct ktau_stream *stream, const struct task_struct *task)
{
	const struct ktau_state *state;

	if (!(stream->select.flags & KTAU_SELECT_CONSUME) || !(stream->access & KTAU_ACCESS_ALL))
		return false;
	state = READ_ONCE(task->ktau.state);
	return !state || !ktau_ring_has_unread(state);
}

/*
 * The first live task with a pid of at least @stream->cursor. Quiet ones are passed over, but not
 * so many that others would wait for the end of RCU's critical section.
 */
static struct task_struct *find_all(struct ktau_stream *stream)
{
	struct task_struct *task = NULL;
	unsigned int quiet = 0;
	struct pid *pid;

	rcu_read_lock();
	while (!task) {
		pid = find_ge_pid(max_t(u64, stream->cursor, 1), stream->ns);
		if (!pid)
			break;
		stream->cursor = pid_nr_ns(pid, stream->ns);
		task = pid_task(pid, PIDTYPE_PID);
		if (task && quiet < QUIET_MAX && is_quiet(stream, task)) {
			quiet++;
			task = NULL;
		}
		if (task)
			get_task_struct(task);
		else
			next_owner(stream);
	}
	rcu_read_unlock();
	return task;
}

/* Forget the threads of the process at the cursor. */
static void forget_threads(struct ktau_stream *stream)
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
		forget_threads(stream);
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

/*
 * Put the next record, or advance the cursor. The record of @stream has been read; the current
 * credentials are those that opened it. Return: 0, or -ENOMEM; the step can be tried again.
 */
static int advance(struct ktau_stream *stream)
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

/* The access that a stream with this content needs. */
static u32 needed(u32 content)
{
	return content == KTAU_REC_TRACE ? KTAU_ACCESS_TRACE : KTAU_ACCESS_PROFILE;
}

static void forget_read(struct ktau_stream *stream)
{
	struct ktau_reach *reach;
	unsigned long serial;

	xa_for_each(&stream->read, serial, reach)
		kfree(reach);
	xa_destroy(&stream->read);
}

static void restart(struct ktau_stream *stream)
{
	forget_read(stream);
	stream->phase = PHASE_BEGIN;
	stream->cursor = 0;
	forget_threads(stream);
	stream->reach = (struct ktau_reach) { };
	stream->len = 0;
	stream->pos = 0;
	stream->body_len = 0;
	stream->end = (struct ktau_rec_end) { };
	stream->settle = (struct ktau_settle) { };
	stream->access = ktau_stream_access(stream);
	kfree(stream->front.path);
	stream->front = (struct ktau_front) { };
	bitmap_zero(stream->ids, KTAU_NR_IDS);
	xa_destroy(&stream->cgroups);
	xa_destroy(&stream->owners);
	xa_destroy(&stream->where);
	stream->where_until = 0;
	stream->where_at = 0;
}

/* A record is handed out after everything that it refers to. */
static int put_front_or_body(struct ktau_stream *stream)
{
	int ret = ktau_compose_front(stream);

	if (ret)
		return min(ret, 0);
	stream->out = stream->body.p;
	stream->len = stream->body_len;
	stream->body_len = 0;
	kfree(stream->front.path);
	stream->front.path = NULL;
	return 0;
}

/* Whether the stream began with access that the current level forbids. */
static bool is_forbidden(const struct ktau_stream *stream)
{
	u32 access = ktau_stream_access(stream);

	return !(access & needed(stream->content)) || (stream->access & ~access);
}

/* Make one step towards the next record. */
static int step(struct ktau_stream *stream)
{
	if (is_forbidden(stream))
		return -EACCES;
	if (signal_pending(current))
		return -EINTR;
	cond_resched();
	return stream->body_len ? put_front_or_body(stream) :
				  advance(stream);
}

/* Get the next record to hand out, unless the stream is over. */
static int fill(struct ktau_stream *stream, struct file *file)
{
	const struct cred *saved = override_creds(file->f_cred);
	int err = 0;

	stream->pos = 0;
	stream->len = 0;
	while (!err && !stream->len &&
	       (stream->body_len || stream->phase != PHASE_OVER))
		err = step(stream);
	revert_creds(saved);
	return err;
}

/* Go to @offset: the current position or the beginning. */
static int go_to(struct ktau_stream *stream, loff_t offset)
{
	if (offset == stream->offset)
		return 0;
	if (offset)
		return -EINVAL;
	restart(stream);
	stream->offset = 0;
	return 0;
}

static ssize_t copy_out(struct ktau_stream *stream, struct file *file,
			struct iov_iter *to)
{
	ssize_t done = 0;
	size_t n;
	int err;

	while (iov_iter_count(to)) {
		if (stream->pos == stream->len) {
			err = fill(stream, file);
			if (err || !stream->len)
				return done ?: err;
		} else if (is_forbidden(stream)) {
			return done ?: -EACCES;
		}
		n = copy_to_iter(stream->out + stream->pos,
				 stream->len - stream->pos, to);
		if (!n)
			return done ?: -EFAULT;
		stream->pos += n;
		stream->offset += n;
		done += n;
	}
	return done;
}

static ssize_t stream_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct ktau_stream *stream = iocb->ki_filp->private_data;
	ssize_t ret;

	if (iocb->ki_flags & IOCB_NOWAIT)
		return -EAGAIN;
	if (mutex_lock_interruptible(&stream->lock))
		return -ERESTARTSYS;
	ret = go_to(stream, iocb->ki_pos);
	if (!ret)
		ret = copy_out(stream, iocb->ki_filp, to);
	if (ret > 0)
		iocb->ki_pos = stream->offset;
	mutex_unlock(&stream->lock);
	return ret;
}

static loff_t stream_lseek(struct file *file, loff_t offset, int whence)
{
	struct ktau_stream *stream = file->private_data;
	loff_t ret;

	if (whence == SEEK_CUR)
		offset += file->f_pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (mutex_lock_interruptible(&stream->lock))
		return -EINTR;
	ret = offset;
	if (!offset && whence == SEEK_SET)
		stream->offset = -1;	/* restart, whatever the current position */
	if (go_to(stream, offset))
		ret = -EINVAL;
	else
		file->f_pos = offset;
	mutex_unlock(&stream->lock);
	return ret;
}

static int may_select(const struct ktau_stream *stream,
		      const struct ktau_select *select)
{
	u32 access = ktau_stream_access(stream);

	/* kernel.ktau_paranoid must be at most 0 for traces, at most 2 for profiles. */
	if (!(access & needed(stream->content)))
		return -EACCES;
	if ((select->flags & KTAU_SELECT_CONSUME) &&
	    !(access & KTAU_ACCESS_CONSUME))
		return -EPERM;
	return 0;
}

/* Replace the request of a stream, locked. @select and @listed receive the old one. */
static void replace_request(struct ktau_stream *stream, struct ktau_select *select,
			    struct ktau_listed **listed)
{
	ktau_select_bind(stream, *listed, select->nr_pids);
	swap(stream->listed, *listed);
	swap(stream->select, *select);
	restart(stream);
}

static int do_select(struct ktau_stream *stream, struct file *file,
		     const void __user *arg)
{
	const struct cred *saved;
	struct ktau_select select;
	struct ktau_listed *listed;
	int err = ktau_args_read(&select, sizeof(select), KTAU_SELECT_SIZE_VER0, arg);

	if (err)
		return err;
	saved = override_creds(file->f_cred);
	err = ktau_select_check(&select, stream->content);
	revert_creds(saved);
	if (!err)
		err = may_select(stream, &select);
	if (!err)
		err = ktau_select_tids(&select, &listed);
	if (err)
		return err;
	err = mutex_lock_interruptible(&stream->lock);
	if (!err) {
		err = ktau_consume(stream, select.flags & KTAU_SELECT_CONSUME);
		if (!err)
			replace_request(stream, &select, &listed);
		mutex_unlock(&stream->lock);
	}
	ktau_select_free(listed, select.nr_pids);
	return err;
}

static long stream_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case KTAU_IOC_SELECT:
		return do_select(file->private_data, file,
				 (const void __user *)arg);
	case KTAU_IOC_INFO:
		return ktau_info_write(file->private_data, (void __user *)arg);
	case KTAU_IOC_REGIONS:
		return ktau_attach_ioctl(ktau_stream_access(file->private_data),
					 (void __user *)arg);
	}
	return -ENOTTY;
}

/* Memory beyond that, such as a list of pids, is charged to the control group only. */
#define STREAM_MEMORY	(sizeof(struct ktau_stream) + SZ_64K)

/**
 * ktau_stream_create() - create a stream
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @needs: KTAU_ACCESS_* that the current credentials must have
 *
 * Context: May sleep.
 * Return: The stream, or -EACCES, -EMFILE or -ENOMEM.
 */
struct ktau_stream *ktau_stream_create(u32 content, u32 needs)
{
	u32 allowed = ktau_access();
	struct ktau_stream *stream;
	struct ktau_user *user;

	/* kernel.ktau_paranoid must be at most 0 for traces, at most 2 for profiles. */
	if (!(allowed & needs))
		return ERR_PTR(-EACCES);
	stream = kzalloc(sizeof(*stream), GFP_KERNEL_ACCOUNT);
	if (!stream)
		return ERR_PTR(-ENOMEM);
	user = ktau_user_open(STREAM_MEMORY);
	if (IS_ERR(user)) {
		kfree(stream);
		return ERR_CAST(user);
	}
	stream->user = user;
	mutex_init(&stream->lock);
	xa_init(&stream->cgroups);
	xa_init(&stream->owners);
	xa_init(&stream->where);
	xa_init(&stream->read);
	stream->watch.user = stream->user;
	xa_init(&stream->watch.known);
	INIT_LIST_HEAD(&stream->watch.node);
	stream->ns = get_pid_ns(task_active_pid_ns(current));
	stream->ns_id = ktau_ns_id(stream->ns);
	get_nsproxy(current->nsproxy);
	stream->nsproxy = current->nsproxy;
	stream->is_contained = stream->ns != &init_pid_ns ||
			       current_user_ns() != &init_user_ns;
	stream->privileged = ktau_privileged();
	stream->content = content;
	stream->allowed = allowed;
	restart(stream);
	return stream;
}

/**
 * ktau_stream_destroy() - undo ktau_stream_create()
 *
 * Context: May sleep.
 */
void ktau_stream_destroy(struct ktau_stream *stream)
{
	restart(stream);
	ktau_consume(stream, false);
	ktau_exited_unwatch(&stream->watch);
	put_nsproxy(stream->nsproxy);
	put_pid_ns(stream->ns);
	ktau_select_free(stream->listed, stream->select.nr_pids);
	kvfree(stream->body.p);
	kvfree(stream->small.p);
	kvfree(stream->regions.p);
	kvfree(stream->gone.p);
	mutex_destroy(&stream->lock);
	ktau_user_close(stream->user, STREAM_MEMORY);
	kfree(stream);
}

static int open_stream(struct file *file, u32 content)
{
	struct ktau_stream *stream = ktau_stream_create(content, needed(content));

	if (IS_ERR(stream))
		return PTR_ERR(stream);
	stream->select.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED |
				KTAU_TARGET_EVICTED | KTAU_TARGET_CPU;
	file->private_data = stream;
	return 0;
}

static int profile_open(struct inode *inode, struct file *file)
{
	return open_stream(file, KTAU_REC_PROFILE);
}

static int trace_open(struct inode *inode, struct file *file)
{
	return open_stream(file, KTAU_REC_TRACE);
}

static int stream_release(struct inode *inode, struct file *file)
{
	ktau_stream_destroy(file->private_data);
	return 0;
}

/* Only readers that consume may wait for rings to fill. */
static __poll_t trace_poll(struct file *file, poll_table *wait)
{
	const struct ktau_stream *stream = file->private_data;

	if (!(ktau_stream_access(stream) & KTAU_ACCESS_CONSUME))
		return EPOLLERR;
	poll_wait(file, &ktau_trace_wait, wait);
	if (READ_ONCE(stream->fills) == atomic_read(&ktau_trace_fills))
		return 0;
	return EPOLLIN | EPOLLRDNORM;
}

const struct proc_ops ktau_profile_ops = {
	.proc_open	= profile_open,
	.proc_release	= stream_release,
	.proc_read_iter	= stream_read_iter,
	.proc_lseek	= stream_lseek,
	.proc_ioctl	= stream_ioctl,
	KTAU_COMPAT_IOCTL(stream_ioctl)
};

const struct proc_ops ktau_trace_ops = {
	.proc_open	= trace_open,
	.proc_release	= stream_release,
	.proc_read_iter	= stream_read_iter,
	.proc_lseek	= stream_lseek,
	.proc_poll	= trace_poll,
	.proc_ioctl	= stream_ioctl,
	KTAU_COMPAT_IOCTL(stream_ioctl)
};
