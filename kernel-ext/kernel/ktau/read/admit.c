// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: whether the record of an owner is put into a stream: whether the reader may see
 * the owner, asked for it, and has not had it already.
 *
 * Permission is decided for each task when it is copied: the credentials that the file was
 * opened with are compared with those that the task has then.
 */
#include <linux/capability.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>

#include "base/arch.h"
#include "measure/state.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "admit.h"
#include "describe.h"
#include "look.h"
#include "permission.h"
#include "record.h"
#include "select.h"
#include "stream.h"

/**
 * ktau_admit_sum() - whether a stream contains the evicted sum
 *
 * Context: Any.
 * Return: Whether it was asked for and the reader may see it.
 */
bool ktau_admit_sum(const struct ktau_stream *stream)
{
	return (stream->select.target & KTAU_TARGET_EVICTED) &&
	       stream->content == KTAU_REC_PROFILE &&
	       (stream->access & KTAU_ACCESS_ALL);
}

/**
 * ktau_admit_begin() - start watching for folding and eviction of the tasks of a stream
 * @stream: the stream, locked; the current credentials are those of its opener
 *
 * Context: Task.
 */
void ktau_admit_begin(struct ktau_stream *stream)
{
	/* A reader that may trace any task may see tasks of other users. */
	bool wide = stream->privileged ||
		    ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE);

	ktau_exited_watch(&stream->watch, wide ? NULL : stream->user,
			  ktau_admit_sum(stream));
}

/**
 * ktau_admit_watched() - the watch of a stream that reports folded and evicted tasks
 *
 * Context: Any.
 * Return: The watch, or NULL if the stream does not report them.
 */
struct ktau_watch *ktau_admit_watched(struct ktau_stream *stream)
{
	return stream->content == KTAU_REC_PROFILE &&
	       (stream->select.target & KTAU_TARGET_EXITED) ?
	       &stream->watch : NULL;
}

/* The same for one owner; also NULL if the stream may not watch the tasks of its user. */
static struct ktau_watch *watched_for(struct ktau_stream *stream,
				      const struct ktau_state *state)
{
	return stream->watch.wide || state->user == stream->user ?
	       ktau_admit_watched(stream) : NULL;
}

/* Whether the stream must contain the profile of a live task. */
static bool is_due(struct ktau_stream *stream, struct ktau_state *state,
		   struct task_struct *task)
{
	u32 target = stream->select.target;

	/* A list may name several threads of one process. */
	if ((target & KTAU_TARGETS_LISTED) && !stream->reach.ring)
		return !(ktau_serial_bits(stream, state->serial) &
			 BIT(KTAU_SERIAL_RECORD + KTAU_OWNER_TASK));
	if (stream->content != KTAU_REC_PROFILE || !(target & KTAU_TARGETS_ALL))
		return true;
	return ktau_look(state, task, stream->number,
			 target & KTAU_TARGET_CHANGED ? stream->since : 0);
}

/*
 * Note that @task is being shown. Return: 0, 1 if it has exited since @state was looked
 * up, or -ENOMEM.
 */
static int know(struct ktau_stream *stream, const struct ktau_state *state,
		const struct task_struct *task)
{
	struct ktau_watch *watch = watched_for(stream, state);
	int err;

	if (!watch)
		return 0;
	err = ktau_gone_know(watch, state->serial);
	smp_mb();	/* pairs with the barrier of an exit before it is queued */
	return err ?: READ_ONCE(task->ktau.state) != state;
}

/* Count a live task that the reader does not get. @err: -EBUSY or -EACCES. */
static void count_left_out(struct ktau_stream *stream, struct ktau_state *state, int err)
{
	if (err == -EBUSY) {
		stream->end.busy++;
		ktau_look_again(state);
	} else {
		stream->end.denied++;
	}
}

/* Put the record of a live task that the reader may see and has selected. */
static int put_visible(struct ktau_stream *stream, struct task_struct *task,
		       struct ktau_state *state)
{
	struct ktau_owner owner;
	int err, ret;

	if (is_due(stream, state, task))
		ret = know(stream, state, task);
	else
		ret = 1;
	if (!ret) {
		ktau_describe_task(stream, &owner, task);
		owner.serial = state->serial;
		owner.exec_ns = state->exec_ns;
		ret = ktau_record_put(stream, state, task, &owner);
	} else if (ret > 0) {
		ret = 0;
	}
	err = stream->body_len ? ktau_task_recheck(task, state, stream->access) : 0;
	if (err) {
		ktau_record_drop(stream);
		count_left_out(stream, state, err);
		ret = 0;
	}
	return ret;
}

/**
 * ktau_admit_task() - put the record of a live task if the reader may have it
 * @stream: the stream, locked; the current credentials are those of its opener
 * @task: the task, held by the caller
 *
 * An exec may change access to the task while it is copied, so access is checked again
 * afterwards.
 *
 * Context: May sleep.
 * Return: As ktau_record_put(); 0 if the reader does not get the task.
 */
int ktau_admit_task(struct ktau_stream *stream, struct task_struct *task)
{
	struct ktau_state *state;
	int ret;

	if (!ktau_select_task(&stream->select, task))
		return 0;
	state = ktau_state_get(task);
	/* A state that is about to be used for the first time is not a profile yet. */
	if (state && !ktau_read(&state->start_ticks)) {
		ktau_state_put(state);
		state = NULL;
	}
	ret = ktau_task_check(task, stream->access);
	if (!state) {
		/* A task without a profile is not counted as denied: there is none to see. */
		if (!ret && (stream->select.target & KTAU_TARGETS_LISTED))
			stream->end.stateless++;
		return 0;
	}
	if (!ret) {
		ret = put_visible(stream, task, state);
	} else {
		count_left_out(stream, state, ret);
		ret = 0;
	}
	ktau_state_put(state);
	return ret;
}

/**
 * ktau_admit_exited() - put the record of an exited task if the reader may have it
 * @stream: the stream, locked; the current credentials are those of its opener
 * @state: the task's state, held by the caller
 *
 * Context: May sleep.
 * Return: As ktau_record_put(); 0 if the reader does not get the task.
 */
int ktau_admit_exited(struct ktau_stream *stream, struct ktau_state *state)
{
	struct ktau_owner owner;

	if (!ktau_is_in_reach(stream, state) ||
	    !ktau_select_exited(&stream->select, state))
		return 0;
	if (!(stream->access & KTAU_ACCESS_ALL) && !ktau_may_read_exited(state)) {
		stream->end.denied++;
		return 0;
	}
	/* Once folded or evicted, it is part of a record that is still to come. */
	if (stream->content == KTAU_REC_PROFILE &&
	    !ktau_exited_show(watched_for(stream, state), state))
		return 0;
	ktau_describe_exited(stream, &owner, state);
	return ktau_record_put(stream, state, NULL, &owner);
}
