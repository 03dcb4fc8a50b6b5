// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the file /proc/ktau/references. A descriptor is a session; it ends when the
 * descriptor is closed, so it never outlives its reader.
 *
 * read() waits for slots. Requests do not wait for a read, so they have a mutex of their own.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "base/access.h"
#include "base/args.h"
#include "base/cgroup.h"
#include "base/compat.h"
#include "read/compose.h"
#include "read/file.h"
#include "read/stream.h"
#include "descriptor.h"
#include "slots.h"
#include "space.h"

/* A record has at most this size. */
#define RECORD_BYTES	SZ_64K

/* How long read() waits for more slots. */
#define READ_INTERVAL	(HZ / 10)

#define FLAGS_VALID	(KTAU_REFERENCES_ON_EXEC | KTAU_REFERENCES_READS_ONLY | \
			 KTAU_REFERENCES_EVICTIONS | KTAU_REFERENCES_ALL | \
			 KTAU_REFERENCES_COUNT)

/* How often a search for processes that have started meanwhile is repeated. */
#define PASSES_MAX	100

/**
 * struct descriptor - an open /proc/ktau/references
 * @stream: what is read; its @lock guards it
 * @control: serialises requests
 * @session: NULL before START, then it does not change
 */
struct descriptor {
	struct ktau_stream	*stream;
	struct mutex		control;	/* START, ARM, DISARM, STOP */
	struct ktau_session	*session;
};

static struct ktau_session *session_of(const struct descriptor *d)
{
	return smp_load_acquire(&d->session);	/* pairs with start_with() */
}

static bool is_forbidden(const struct descriptor *d)
{
	return !(ktau_stream_access(d->stream) & KTAU_ACCESS_PROFILE);
}

static int put_end(struct ktau_stream *stream)
{
	struct ktau_rec_end *end;
	int err = ktau_compose_end(stream);

	if (err)
		return err;
	/* That of the rings of tasks; what this session has lost is in its TRACE records. */
	end = stream->small.p;
	end->lost_no_ring = 0;
	end->lost_no_room = 0;
	stream->phase = PHASE_OVER;
	return 0;
}

static int put_slots(struct ktau_stream *stream, struct ktau_session *session)
{
	bool ended = READ_ONCE(session->queue.ended);
	struct ktau_rec_trace *rec;
	int err = ktau_buffer_need(&stream->body, RECORD_BYTES);

	if (err)
		return err;
	rec = stream->body.p;
	stream->len = ktau_queue_read(&session->queue, rec, RECORD_BYTES);
	stream->out = rec;
	if (stream->len) {
		rec->serial = session->serial;
		stream->end.nr_records++;
	} else if (ended) {
		return put_end(stream);
	}
	return 0;
}

/* Get the next record, unless there is none yet. */
static int fill(struct ktau_stream *stream, struct ktau_session *session)
{
	int err = 0;

	stream->pos = 0;
	stream->len = 0;
	if (stream->phase == PHASE_BEGIN) {
		err = ktau_compose_begin(stream);
		if (!err)
			stream->phase = PHASE_LIVE;
	} else if (stream->phase == PHASE_LIVE) {
		err = put_slots(stream, session);
	}
	return err;
}

static ssize_t copy_out(struct descriptor *d, struct ktau_session *session, struct iov_iter *to)
{
	struct ktau_stream *stream = d->stream;
	ssize_t done = 0;
	size_t n;
	int err;

	while (iov_iter_count(to)) {
		if (is_forbidden(d))
			return done ?: -EACCES;
		if (stream->pos == stream->len) {
			err = fill(stream, session);
			if (err || !stream->len)
				return done ?: err;
		}
		n = copy_to_iter(stream->out + stream->pos, stream->len - stream->pos, to);
		if (!n)
			return done ?: -EFAULT;
		stream->pos += n;
		done += n;
	}
	return done;
}

/* Wait for something to read. Return: 0 or -errno. */
static int wait_for_slots(struct ktau_queue *queue, const struct kiocb *iocb)
{
	long left;

	if ((iocb->ki_flags & IOCB_NOWAIT) || (iocb->ki_filp->f_flags & O_NONBLOCK))
		return ktau_queue_is_empty(queue) && !READ_ONCE(queue->ended) ? -EAGAIN : 0;
	do {
		left = wait_event_interruptible_timeout(queue->readers,
							ktau_queue_is_worth_reading(queue),
							READ_INTERVAL);
	} while (!left && ktau_queue_is_empty(queue));
	return min(left, 0L);
}

static ssize_t read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct descriptor *d = iocb->ki_filp->private_data;
	struct ktau_session *session = session_of(d);
	bool begun;
	ssize_t ret;

	if (!session)
		return -EINVAL;
	do {
		begun = d->stream->phase != PHASE_BEGIN;
		ret = begun ? wait_for_slots(&session->queue, iocb) : 0;
		if (ret)
			return ret;
		if (mutex_lock_interruptible(&d->stream->lock))
			return -ERESTARTSYS;
		ret = copy_out(d, session, to);
		begun = d->stream->phase != PHASE_OVER;
		mutex_unlock(&d->stream->lock);
	} while (!ret && begun && iov_iter_count(to));
	return ret;
}

static __poll_t references_poll(struct file *file, poll_table *wait)
{
	struct ktau_session *session = session_of(file->private_data);
	__poll_t events = 0;

	if (!session)
		return EPOLLERR;
	poll_wait(file, &session->queue.readers, wait);
	if (ktau_queue_is_worth_reading(&session->queue))
		events |= EPOLLIN | EPOLLRDNORM;
	if (!READ_ONCE(session->nr_spaces))
		events |= EPOLLHUP;
	return events;
}

static void fill_in_defaults(struct ktau_references *request)
{
	if (!request->window)
		request->window = request->flags & KTAU_REFERENCES_COUNT ?
				  KTAU_REFERENCES_WINDOW_MAX : 512;
	if (!request->first)
		request->first = KTAU_REFERENCES_FIRST_MIN;
	if (!request->ring_slots)
		request->ring_slots = SZ_1M;
}

static bool is_in(u32 value, u32 min, u32 max)
{
	return value >= min && value <= max;
}

/* Whether more is requested than a list of processes. */
static bool is_wide(const struct ktau_references *request)
{
	return request->cgroup || (request->flags & KTAU_REFERENCES_ALL);
}

/* Whether one of the three ways of naming processes is used. */
static bool names_processes(const struct ktau_references *request)
{
	if (!is_wide(request))
		return is_in(request->nr_pids, 1, KTAU_REFERENCES_PIDS_MAX);
	return !request->nr_pids && !(request->flags & KTAU_REFERENCES_ON_EXEC) &&
	       !(request->cgroup && (request->flags & KTAU_REFERENCES_ALL));
}

static bool are_flags_valid(u32 flags)
{
	const u32 both = KTAU_REFERENCES_COUNT | KTAU_REFERENCES_EVICTIONS;

	return !(flags & ~FLAGS_VALID) && (flags & both) != both;
}

static bool is_valid(const struct ktau_references *request)
{
	return are_flags_valid(request->flags) && !request->reserved &&
	       request->policy <= KTAU_REFERENCES_CLOCK &&
	       request->when_full <= KTAU_REFERENCES_LOSE &&
	       is_in(request->window, KTAU_REFERENCES_WINDOW_MIN, KTAU_REFERENCES_WINDOW_MAX) &&
	       is_in(request->first, KTAU_REFERENCES_FIRST_MIN, request->window / 2) &&
	       is_in(request->ring_slots, KTAU_REFERENCES_RING_MIN, KTAU_REFERENCES_RING_MAX) &&
	       names_processes(request) &&
	       PAGE_ALIGNED(request->lo) && PAGE_ALIGNED(request->hi) &&
	       (request->hi > request->lo || (!request->hi && !request->lo));
}

/* The address space of a process that the current credentials may trace, or -errno. */
static struct mm_struct *mm_of(s32 nr, struct pid_namespace *ns)
{
	struct task_struct *task;
	struct mm_struct *mm;

	rcu_read_lock();
	task = pid_task(find_pid_ns(nr, ns), PIDTYPE_TGID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (!task)
		return ERR_PTR(-ESRCH);
	mm = mm_access(task, PTRACE_MODE_ATTACH_REALCREDS);
	put_task_struct(task);
	if (!mm)
		return ERR_PTR(-ESRCH);
	if (mm == ERR_PTR(-EACCES))
		return ERR_PTR(-EPERM);
	return mm;
}

static int attach(struct ktau_session *session, s32 nr)
{
	const struct ktau_origin origin = { .reason = KTAU_SPACE_START };
	struct mm_struct *mm = mm_of(nr, session->ns);
	int err;

	if (IS_ERR(mm))
		return PTR_ERR(mm);
	/* The reader would wait for itself. */
	err = mm == current->mm ? -EINVAL : mmap_write_lock_killable(mm);
	if (!err) {
		err = ktau_space_attach(mm, session, &origin);
		mmap_write_unlock(mm);
	}
	mmput(mm);
	return err;
}

static int attach_all(struct ktau_session *session, const s32 *pids)
{
	u32 i;
	int err;

	for (i = 0; i < session->request.nr_pids; i++) {
		err = attach(session, pids[i]);
		if (err)
			return err;
	}
	return 0;
}

/* The next process from number @nr on, with a reference; @nr becomes the number after it. */
static struct task_struct *next_process(int *nr, struct pid_namespace *ns)
{
	struct task_struct *task = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!task && (pid = find_ge_pid(*nr, ns))) {
		*nr = pid_nr_ns(pid, ns) + 1;
		task = pid_task(pid, PIDTYPE_TGID);
	}
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

/* Return: 1 if @mm is traced from now on, 0 if it was already, or -errno. */
static int attach_found(struct ktau_session *session, struct mm_struct *mm)
{
	const struct ktau_origin origin = { .reason = KTAU_SPACE_START };
	struct ktau_space *space;
	int err;

	/* The reader would wait for itself. */
	if (mm == current->mm)
		return 0;
	if (mmap_write_lock_killable(mm))
		return -EINTR;
	space = ktau_space_locked(mm);
	if (space && space->session == session)
		err = 0;
	else
		err = ktau_space_attach(mm, session, &origin) ?: 1;
	mmap_write_unlock(mm);
	return err;
}

/* Return: as attach_found(), 0 also for a process that is not one of the session's. */
static int attach_process(struct ktau_session *session, struct task_struct *task)
{
	u64 cgroup = session->request.cgroup;
	struct mm_struct *mm;
	int err;

	if ((task->flags & PF_KTHREAD) || (cgroup && !ktau_cgroup_contains(cgroup, task)))
		return 0;
	mm = get_task_mm(task);
	if (!mm)
		return 0;
	err = attach_found(session, mm);
	mmput(mm);
	return err;
}

/* Trace all processes. Return: how many are new, or -errno. */
static int attach_pass(struct ktau_session *session, int *nr_refused)
{
	struct task_struct *task;
	int nr = 1, err = 0, nr_new = 0;

	*nr_refused = 0;
	while (err >= 0 && (task = next_process(&nr, session->ns))) {
		err = attach_process(session, task);
		put_task_struct(task);
		if (err == -EBUSY) {
			++*nr_refused;
			err = 0;
		}
		nr_new += err;
	}
	return err < 0 ? err : nr_new;
}

/*
 * Trace all processes of the control group, or all. A child is traced if its parent was when it
 * was forked, so only few are found by another pass. Return: the number of processes that
 * cannot be traced, or -errno.
 */
static int attach_wide(struct ktau_session *session)
{
	int pass, nr_refused = 0, err = 1;

	for (pass = 0; pass < PASSES_MAX && err > 0; pass++)
		err = attach_pass(session, &nr_refused);
	if (err < 0)
		return err;
	return session->nr_spaces ? nr_refused : -ESRCH;
}

static void end(struct ktau_session *session)
{
	ktau_spaces_end(session);
	ktau_queue_end(&session->queue);
}

static int start_with(struct descriptor *d, const struct ktau_references *request,
		      const s32 *pids)
{
	struct ktau_session *session = ktau_session_create(request, d->stream->ns,
							   d->stream->privileged);
	int err;

	if (!session)
		return -ENOMEM;
	ktau_slot_phase(session, false);
	err = is_wide(request) ? attach_wide(session) : attach_all(session, pids);
	if (err < 0) {
		end(session);
		ktau_session_put(session);
		return err;
	}
	smp_store_release(&d->session, session);	/* pairs with session_of() */
	return err;
}

static int start(struct descriptor *d, struct file *file, struct ktau_references *request)
{
	const struct cred *saved;
	s32 *pids;
	int err;

	if (d->session)
		return -EINVAL;
	fill_in_defaults(request);
	if (!is_valid(request))
		return -EINVAL;
	if (is_wide(request) && !d->stream->privileged)
		return -EPERM;
	pids = memdup_user(u64_to_user_ptr(request->pids), request->nr_pids * sizeof(*pids));
	if (IS_ERR(pids))
		return PTR_ERR(pids);
	ktau_spaces_enable();
	saved = override_creds(file->f_cred);
	err = start_with(d, request, pids);
	revert_creds(saved);
	kfree(pids);
	return err;
}

static int do_request(struct descriptor *d, struct file *file, struct ktau_references *request)
{
	if (is_forbidden(d))
		return -EACCES;
	if (request->op == KTAU_REFERENCES_START)
		return start(d, file, request);
	if (!d->session || d->session->ended)
		return -EINVAL;
	switch (request->op) {
	case KTAU_REFERENCES_ARM:
	case KTAU_REFERENCES_DISARM:
		ktau_spaces_arm(d->session, request->op == KTAU_REFERENCES_ARM);
		return 0;
	case KTAU_REFERENCES_STOP:
		end(d->session);
		return 0;
	}
	return -EINVAL;
}

static long references_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct descriptor *d = file->private_data;
	struct ktau_references request;
	int err;

	if (cmd != KTAU_IOC_REFERENCES)
		return -ENOTTY;
	err = ktau_args_read(&request, sizeof(request), KTAU_REFERENCES_SIZE_VER0,
			     (const void __user *)arg);
	if (err)
		return err;
	err = mutex_lock_interruptible(&d->control);
	if (err)
		return err;
	err = do_request(d, file, &request);
	mutex_unlock(&d->control);
	return err;
}

static int references_open(struct inode *inode, struct file *file)
{
	struct descriptor *d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);

	if (!d)
		return -ENOMEM;
	d->stream = ktau_stream_create(KTAU_REC_TRACE, KTAU_ACCESS_PROFILE);
	if (IS_ERR(d->stream)) {
		int err = PTR_ERR(d->stream);

		kfree(d);
		return err;
	}
	mutex_init(&d->control);
	file->private_data = d;
	return nonseekable_open(inode, file);
}

static int references_release(struct inode *inode, struct file *file)
{
	struct descriptor *d = file->private_data;

	if (d->session) {
		end(d->session);
		ktau_session_put(d->session);
	}
	ktau_stream_destroy(d->stream);
	mutex_destroy(&d->control);
	kfree(d);
	return 0;
}

static const struct proc_ops references_ops = {
	.proc_open	= references_open,
	.proc_release	= references_release,
	.proc_read_iter	= read_iter,
	.proc_poll	= references_poll,
	.proc_ioctl	= references_ioctl,
	KTAU_COMPAT_IOCTL(references_ioctl)
};

/**
 * ktau_references_create() - create the file
 * @dir: /proc/ktau
 *
 * Context: Boot.
 * Return: Whether there was memory.
 */
bool __init ktau_references_create(struct proc_dir_entry *dir)
{
	return proc_create("references", 0444, dir, &references_ops);
}
