// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: /proc/ktau/profile and /proc/ktau/trace.
 *
 * A descriptor holds a cursor and one record. read() hands out the record, then
 * goes on to the next owner: nothing is locked while the reader is away, and
 * what a stream needs does not grow with the number of tasks.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/ktau.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "stream.h"

static void restart(struct ktau_stream *stream)
{
	stream->phase = PHASE_BEGIN;
	stream->cursor = 0;
	stream->thread = 0;
	stream->reach = (struct ktau_reach) { };
	stream->len = 0;
	stream->pos = 0;
	stream->body_len = 0;
	bitmap_zero(stream->ids, KTAU_NR_IDS);
	stream->end = (struct ktau_rec_end) { };
}

/* A record is handed out once everything that it refers to has been. */
static void put_front_or_body(struct ktau_stream *stream, struct file *file)
{
	if (ktau_compose_front(stream, file))
		return;
	stream->out = stream->body;
	stream->len = stream->body_len;
	stream->body_len = 0;
}

/* Have a record to hand out, unless the stream is over. */
static int fill(struct ktau_stream *stream, struct file *file)
{
	const struct cred *saved = override_creds(file->f_cred);
	int err = 0;

	stream->pos = 0;
	stream->len = 0;
	while (!stream->len) {
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		if (stream->body_len)
			put_front_or_body(stream, file);
		else if (stream->phase != PHASE_OVER)
			ktau_stream_step(stream, file);
		else
			break;
		cond_resched();
	}
	revert_creds(saved);
	return err;
}

static ssize_t stream_read(struct file *file, char __user *to, size_t count,
			   loff_t *ppos)
{
	struct ktau_stream *stream = file->private_data;
	ssize_t done = 0, ret = 0;
	size_t n;

	if (mutex_lock_interruptible(&stream->lock))
		return -ERESTARTSYS;
	while (count) {
		if (stream->pos == stream->len) {
			ret = fill(stream, file);
			if (ret || !stream->len)
				break;
		}
		n = min(count, stream->len - stream->pos);
		if (copy_to_user(to + done, stream->out + stream->pos, n)) {
			ret = -EFAULT;
			break;
		}
		stream->pos += n;
		done += n;
		count -= n;
	}
	mutex_unlock(&stream->lock);
	if (done)
		*ppos += done;
	return done ?: ret;
}

static loff_t stream_lseek(struct file *file, loff_t offset, int whence)
{
	struct ktau_stream *stream = file->private_data;

	if (offset || whence != SEEK_SET)
		return -EINVAL;
	if (mutex_lock_interruptible(&stream->lock))
		return -EINTR;
	restart(stream);
	file->f_pos = 0;
	mutex_unlock(&stream->lock);
	return 0;
}

static int check_select(const struct ktau_select *select)
{
	u32 which = select->target &
		    (KTAU_TARGET_SELF | KTAU_TARGET_LIST | KTAU_TARGET_ALL |
		     KTAU_TARGET_CHANGED);
	bool list = select->target & KTAU_TARGET_LIST;

	if (!select->target ||
	    (select->target & ~KTAU_TARGET_VALID) ||
	    (select->flags & ~KTAU_SELECT_VALID) ||
	    (which & (which - 1)))
		return -EINVAL;
	if (select->nr_pids > KTAU_MAX_PIDS)
		return -E2BIG;
	if (list ? !select->nr_pids : select->nr_pids || select->pids)
		return -EINVAL;
	return 0;
}

static int read_pids(const struct ktau_select *select, s32 **pids)
{
	size_t bytes = array_size(select->nr_pids, sizeof(**pids));

	*pids = NULL;
	if (!select->nr_pids)
		return 0;
	*pids = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!*pids)
		return -ENOMEM;
	if (!copy_from_user(*pids, u64_to_user_ptr(select->pids), bytes))
		return 0;
	kvfree(*pids);
	return -EFAULT;
}

static int do_select(struct ktau_stream *stream, const void __user *arg)
{
	struct ktau_select select;
	s32 *pids;
	u32 size;
	int err;

	if (get_user(size, (const u32 __user *)arg))
		return -EFAULT;
	if (size < sizeof(select) || size > PAGE_SIZE)
		return -EINVAL;
	err = copy_struct_from_user(&select, sizeof(select), arg, size);
	if (!err)
		err = check_select(&select);
	if (!err)
		err = read_pids(&select, &pids);
	if (err)
		return err;
	if (mutex_lock_interruptible(&stream->lock)) {
		kvfree(pids);
		return -EINTR;
	}
	swap(stream->pids, pids);
	stream->select = select;
	restart(stream);
	mutex_unlock(&stream->lock);
	kvfree(pids);
	return 0;
}

static long stream_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (cmd != KTAU_IOC_SELECT)
		return -ENOTTY;
	return do_select(file->private_data, (const void __user *)arg);
}

/* A list of pids, which comes and goes, is charged to the control group only. */
#define STREAM_MEMORY	(sizeof(struct ktau_stream) + KTAU_BODY_BYTES)

static int open_stream(struct file *file, u32 content)
{
	struct ktau_stream *stream = kzalloc(sizeof(*stream), GFP_KERNEL_ACCOUNT);
	int err;

	if (!stream)
		return -ENOMEM;
	stream->user = ktau_user_open(STREAM_MEMORY);
	if (IS_ERR(stream->user)) {
		err = PTR_ERR(stream->user);
		goto free_stream;
	}
	stream->body = kvmalloc(KTAU_BODY_BYTES, GFP_KERNEL_ACCOUNT);
	if (!stream->body) {
		err = -ENOMEM;
		goto close_user;
	}
	mutex_init(&stream->lock);
	stream->ns = get_pid_ns(task_active_pid_ns(current));
	stream->content = content;
	stream->select.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED |
				KTAU_TARGET_EVICTED | KTAU_TARGET_CPU;
	restart(stream);
	file->private_data = stream;
	return 0;
close_user:
	ktau_user_close(stream->user, STREAM_MEMORY);
free_stream:
	kfree(stream);
	return err;
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
	struct ktau_stream *stream = file->private_data;

	put_pid_ns(stream->ns);
	kvfree(stream->pids);
	kvfree(stream->body);
	mutex_destroy(&stream->lock);
	ktau_user_close(stream->user, STREAM_MEMORY);
	kfree(stream);
	return 0;
}

static __poll_t trace_poll(struct file *file, poll_table *wait)
{
	const struct ktau_stream *stream = file->private_data;

	poll_wait(file, &ktau_trace_wait, wait);
	if (READ_ONCE(stream->fills) == atomic_read(&ktau_trace_fills))
		return 0;
	return EPOLLIN | EPOLLRDNORM;
}

const struct proc_ops ktau_profile_ops = {
	.proc_open	= profile_open,
	.proc_release	= stream_release,
	.proc_read	= stream_read,
	.proc_lseek	= stream_lseek,
	.proc_ioctl	= stream_ioctl,
	KTAU_COMPAT_IOCTL(stream_ioctl)
};

const struct proc_ops ktau_trace_ops = {
	.proc_open	= trace_open,
	.proc_release	= stream_release,
	.proc_read	= stream_read,
	.proc_lseek	= stream_lseek,
	.proc_poll	= trace_poll,
	.proc_ioctl	= stream_ioctl,
	KTAU_COMPAT_IOCTL(stream_ioctl)
};
