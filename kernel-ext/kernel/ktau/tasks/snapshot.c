// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: taking a consistent copy of one owner's profile.
 *
 * The owner may run on another CPU while it is copied. A copy is consistent if no update
 * was in progress when it began and none began before it ended. Most tasks are asleep, so
 * this is the usual case. The profile of a task that keeps running is copied by the CPU
 * that runs it, in an interrupt, during which no update can begin.
 *
 * An update is noticed in one of two ways. Most count @begin before it and @end after it.
 * The frames of interrupts (cpu.c) and of tasks off the CPU (sched.c), which are closed
 * with interrupts disabled, do not:
 *
 *  1. They add to the sum outside: the child sum of the enclosing frame or outer_ticks.
 *  2. They add everything else, and unlink the frame.
 *  3. They add the exclusive time.
 *
 * From 1 to 3 the identity (profile.c) does not hold. If 1 to 3 are all between the begin
 * and the end of a copy, the innermost frame is another one, even if it is in the same
 * place, because it began later; or its child sum has changed. A copy reads in the opposite
 * order, the exclusive times first and the sums outside last: if it includes 3, it includes
 * 2, and if it includes a part of 2, it includes 1. An update that takes less than a tick
 * adds only to counts, so the identity holds between any two of its steps.
 *
 * A copy has the time of its beginning. The owner reads the clock too, and a virtual CPU may lose
 * its processor before it stores what it has read: what a copy made meanwhile counted as user time,
 * for instance, would be missing in the next one. So whatever moves time from one part of the
 * account to another shows first that it is about to: an update by @begin, a root frame by
 * KTAU_FRAME_OPENING, a switch by the current task, an interrupt by what the CPU is in, a wakeup by
 * the lock.
 *
 * Write barriers separate the steps, and @begin and @end from the rest; read barriers
 * separate the reads. x86 keeps these orders anyway, and there each barrier is one for the
 * compiler only. tests/unit/kernel/order.py goes through all executions that the barriers
 * allow.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>

#include "base/arch.h"
#include "base/event.h"
#include "measure/account.h"
#include "measure/cpu.h"
#include "measure/frame.h"
#include "measure/off.h"
#include "measure/table.h"
#include "measure/times.h"
#include "region_copy.h"
#include "snapshot.h"

#define QUICK_TRIES	3
#define SLOW_TRIES	100
#define MAX_IPIS	10

/**
 * struct copy - destination of a copy
 * @rec: the record
 * @max_entries: room for entries
 * @outermost: the outermost open frame
 * @open_ticks: how long it has lasted
 * @woken: the task's @wake_ticks
 * @now: the owner's times, including the wait in progress
 * @base: the times before the first wait or interrupt inside the frames copied so far
 * @excl_ticks: sum of the exclusive times in the entries
 * @is_full: there were more entries
 * @regions: where the regions go, or NULL
 */
struct copy {
	struct ktau_rec_profile *rec;
	u32 max_entries;
	const struct ktau_frame *outermost;
	u64 open_ticks;
	u64 woken;
	struct ktau_times now;
	struct ktau_times base;
	u64 excl_ticks;
	bool is_full;
	struct ktau_region_copy *regions;
};

static void copy_cells(struct copy *copy, const struct ktau_chunk *chunk,
		       unsigned int first_id)
{
	struct ktau_entry *entry = (struct ktau_entry *)(copy->rec + 1);
	unsigned int i;

	for (i = 0; i < KTAU_CHUNK_CELLS; i++) {
		const struct ktau_cell *cell = &chunk->cell[i];
		const u64 excl = ktau_read(&cell->v[1]);
		unsigned int kind;

		smp_rmb();	/* it is written last */
		if (!READ_ONCE(cell->count))
			continue;
		if (copy->rec->nr_entries == copy->max_entries) {
			copy->is_full = true;
			return;
		}
		kind = ktau_event_kind(first_id + i);
		entry[copy->rec->nr_entries++] = (struct ktau_entry) {
			.id = first_id + i,
			.kind = kind,
			.count = READ_ONCE(cell->count),
			.incl = READ_ONCE(cell->v[0]),
			.excl = excl,
			.max = READ_ONCE(cell->v[2]),
		};
		if (kind == KTAU_KIND_TIMER)
			copy->excl_ticks += excl;
	}
}

static void copy_table(struct copy *copy, const struct ktau_state *state)
{
	struct ktau_rec_profile *rec = copy->rec;
	const struct ktau_chunk *chunk;
	unsigned int next = 0;

	rec->nr_entries = 0;
	copy->excl_ticks = 0;
	rec->refused = READ_ONCE(state->refused);
	rec->refused_ticks = READ_ONCE(state->refused_ticks);
	rec->clamped = READ_ONCE(state->clamped);
	/* Readers rely on ascending ids. */
	while ((chunk = ktau_chunk_next(state, &next)))
		copy_cells(copy, chunk, (next - 1) << KTAU_CHUNK_SHIFT);
	ktau_times_copy(rec, state);
}

static bool is_in_state(const struct ktau_frame *frame,
			const struct ktau_state *state)
{
	return frame == &state->sched || frame == &state->root ||
	       frame == &state->guest;
}

/* The frames of a sleeping task are on its stack or in its state. */
static bool frame_is_valid(const struct ktau_frame *frame,
			   const struct ktau_state *state,
			   unsigned long low, unsigned long high)
{
	unsigned long p = (unsigned long)frame;

	if (is_in_state(frame, state))
		return true;
	return IS_ALIGNED(p, sizeof(long)) && p >= low &&
	       p + sizeof(*frame) <= high;
}

/* Time inside a frame is also inside the enclosing frames, so the oldest base counts. */
static __always_inline void take_base(struct ktau_times *base,
				      const struct ktau_frame *frame)
{
	if (!(READ_ONCE(frame->child) & KTAU_CHILD_TIMED))
		return;
	smp_rmb();	/* pairs with the barrier in ktau_times_note() */
	base->asleep = min(base->asleep, READ_ONCE(frame->base.asleep));
	base->runq = min(base->runq, READ_ONCE(frame->base.runq));
	base->irq = min(base->irq, READ_ONCE(frame->base.irq));
}

/* The times inside a frame, limited to @left in case the clocks of CPUs differ. */
static void fill_open(struct ktau_open *open, const struct copy *copy, u64 left)
{
	open->asleep_ticks = min(copy->now.asleep - copy->base.asleep, left);
	left -= open->asleep_ticks;
	open->runq_ticks = min(copy->now.runq - copy->base.runq, left);
	left -= open->runq_ticks;
	open->irq_ticks = min(copy->now.irq - copy->base.irq, left);
}

/*
 * The wait of a woken task for a CPU ends as an activation of schedule_wait inside the frame of the
 * switch, and that of a new task outside all frames. Until then it has no frame, but a reader finds
 * one. Return: how long it has lasted; 0 if there is none.
 */
static u64 copy_wait(struct copy *copy, const struct ktau_state *state,
		     const struct ktau_frame *top, struct ktau_open *open)
{
	/* Of one reading of the time of the wakeup, because a waker may be writing it. */
	const u64 wait = copy->now.runq - copy->base.runq;

	if (!wait || (top && !(ktau_is_off(state, top) &&
			       ktau_is_voluntary(ktau_frame_id(&state->sched)))))
		return 0;
	*open = (struct ktau_open) {
		.id = KTAU_ID_SCHEDULE_WAIT,
		.start_ticks = copy->rec->ticks - wait,
		.runq_ticks = wait,
	};
	copy->rec->nr_open++;
	copy->rec->depth++;
	return wait;
}

/*
 * Copy the open frames, innermost first. @stack is the stack that must contain them; NULL
 * if the list cannot change. A list that changes is detected afterwards; until then it
 * must only be safe to follow, so each frame must be at a higher address than the one
 * before.
 */
static __no_kasan_or_inline bool
copy_frames(struct copy *copy, const struct ktau_state *state,
	    const struct ktau_frame *frame, void *stack)
{
	struct ktau_rec_profile *rec = copy->rec;
	struct ktau_open *open = (struct ktau_open *)
		((struct ktau_entry *)(rec + 1) + rec->nr_entries);
	unsigned long low = (unsigned long)stack;
	unsigned long high = low + THREAD_SIZE;
	u64 inner;	/* how long the next inner frame has lasted */

	rec->nr_open = 0;
	rec->depth = 0;
	rec->guest_ticks = 0;
	copy->outermost = NULL;
	rec->open_child_ticks = 0;
	inner = copy_wait(copy, state, frame, open);
	for (; frame; frame = READ_ONCE(frame->prev)) {
		u64 start, child, lasted;

		if (stack && !frame_is_valid(frame, state, low, high))
			return false;
		start = READ_ONCE(frame->start);
		child = ktau_child_ticks(READ_ONCE(frame->child));
		if (!start)
			return false;	/* not complete yet */
		lasted = ktau_frame_lasted(frame, inner, rec->ticks);
		if (frame == &state->guest)
			rec->guest_ticks = max_t(s64, lasted - inner - child, 0);
		inner = lasted;
		copy->outermost = frame;
		rec->depth++;
		rec->open_child_ticks += child;
		take_base(&copy->base, frame);
		if (rec->nr_open < KTAU_SNAPSHOT_OPEN) {
			open[rec->nr_open] = (struct ktau_open) {
				.id = ktau_frame_id(frame),
				.start_ticks = ktau_is_unmeasured(frame) ?
					       rec->ticks - lasted : start,
				.child_ticks = child,
			};
			fill_open(&open[rec->nr_open++], copy, lasted);
		}
		/* An interrupt in progress is inside the enclosing frames. */
		if (ktau_is_irq_time(ktau_frame_id(frame)))
			copy->now.irq = copy->base.irq + lasted;
		if (!is_in_state(frame, state))
			low = (unsigned long)(frame + 1);
	}
	copy->open_ticks = inner;
	rec->irq_ticks = copy->now.irq;
	return true;
}

/* Whether @top is safe to read, which the task may be changing on another CPU. */
static bool top_is_valid(const struct ktau_frame *top,
			 const struct ktau_state *state, void *stack)
{
	if (top == KTAU_FRAME_OPENING)
		return false;
	return !top || !stack ||
	       frame_is_valid(top, state, (unsigned long)stack,
			      (unsigned long)stack + THREAD_SIZE);
}

/*
 * What distinguishes one activation of the innermost frame from the next, and the sum to
 * which the next update without @begin and @end will add.
 */
struct innermost {
	u64 start;
	u64 sum;
};

static __no_kasan_or_inline struct innermost
innermost(const struct ktau_state *state, const struct ktau_frame *top)
{
	return (struct innermost) {
		.start = top ? ktau_read(&top->start) : 0,
		.sum = ktau_read(top ? &top->child : &state->outer_ticks),
	};
}

/*
 * All updates of an exited task and of the evicted sum are counted, so theirs need not be
 * tested. If it were wrong there, it would stay wrong, and a reader would retry in vain.
 */
static bool identity_holds(const struct copy *copy, const struct ktau_state *state,
			   const struct task_struct *task)
{
	const struct ktau_rec_profile *rec = copy->rec;

	return copy->is_full || (!task && !state->is_cpu) ||
	       copy->excl_ticks + rec->refused_ticks ==
			rec->outer_ticks + rec->open_child_ticks;
}

/*
 * Whether the task has got a CPU, but has not ended its wait yet. It becomes the current task
 * before the clock is read for the end of its wait. What a copy made in between counts as wait
 * would be missing in the next one, and a virtual CPU may lose its processor there for long.
 */
static bool is_resuming(const struct ktau_state *state, struct task_struct *task,
			const struct ktau_frame *top)
{
	return ktau_is_off(state, top) && task != current && task_curr(task);
}

/*
 * Copy the times before the sums outside: then the copy includes what steps 2 and 3 of an
 * update have added only if it includes step 1.
 */
static bool copy_rest(struct copy *copy, const struct ktau_state *state,
		      struct task_struct *task, const struct ktau_frame *top,
		      void *stack)
{
	struct ktau_rec_profile *rec = copy->rec;

	copy->woken = task ? ktau_read(&task->ktau.wake_ticks) : 0;
	rec->start_ticks = ktau_start_at(state, task, copy->woken, rec->ticks);
	copy->now = ktau_times_at(state, task, copy->woken, rec->ticks);
	copy->base = ktau_times(state);
	rec->runq_ticks = copy->now.runq;
	rec->asleep_ticks = copy->now.asleep;
	smp_rmb();	/* see above */
	rec->outer_ticks = READ_ONCE(state->outer_ticks);
	return copy_frames(copy, state, top, stack) &&
	       ktau_account_copy(rec, state, copy->outermost, copy->open_ticks);
}

/*
 * Whether the task is being woken, which its waker does under this lock, or has been woken since
 * the wait in progress was copied.
 */
static bool is_waking(const struct copy *copy, struct task_struct *task)
{
	return ktau_read(&task->ktau.wake_ticks) != copy->woken ||
	       (!copy->woken && raw_spin_is_locked(&task->pi_lock));
}

/*
 * Whether a CPU is in an interrupt, unless it is the one in which the copy is made. Its time
 * is not known to other CPUs, and would be that of the interrupted task for now.
 */
static bool is_interrupted(unsigned int cpu)
{
	return !in_hardirq() && READ_ONCE(per_cpu(ktau_cpu, cpu).irq);
}

/*
 * Whether the frames of the task have ended, but it has not been switched out for the last time.
 * The time in between is added to a frame that has ended; see ktau_sched_dying().
 */
static bool is_dying(const struct ktau_state *state, const struct task_struct *task)
{
	return (READ_ONCE(task->ktau.flags) & KTAU_REF_DYING) && !ktau_read(&state->end_ticks);
}

/*
 * Whether a task is in a transition from one part of its account to another. Its @top was found
 * twice.
 */
static bool is_between(const struct copy *copy, const struct ktau_state *state,
		       struct task_struct *task, const struct ktau_frame *top)
{
	if (is_dying(state, task) || is_resuming(state, task, top))
		return true;
	if (task == current)
		return false;
	return task_curr(task) ? is_interrupted(task_cpu(task)) : is_waking(copy, task);
}

/* Try once. Return: whether the copy is consistent. */
static bool copy_once(struct copy *copy, struct ktau_state *state,
		      struct task_struct *task, void *stack)
{
	const struct ktau_frame *top = task ? READ_ONCE(task->ktau.top) : NULL;
	u64 end = ktau_read(&state->end);
	struct innermost before, after;

	if (!top_is_valid(top, state, stack))
		return false;
	before = innermost(state, top);
	if (top && !before.start)
		return false;	/* not complete yet */
	smp_rmb();	/* these before the rest, the rest before @begin */
	copy->rec->ticks = ktau_read(&state->end_ticks) ?: ktau_ticks();
	copy->is_full = false;
	copy_table(copy, state);
	if (!copy_rest(copy, state, task, top, stack))
		return false;
	if (copy->regions)
		ktau_regions_copy(copy->regions, state);
	smp_rmb();	/* see above */
	if (task && (READ_ONCE(task->ktau.top) != top || is_between(copy, state, task, top)))
		return false;
	if (state->is_cpu &&
	    (is_interrupted(state->owner.cpu) || ktau_account_switching(state)))
		return false;
	smp_rmb();	/* another frame in the same place has another start */
	after = innermost(state, top);
	return ktau_read(&state->begin) == end &&
	       after.start == before.start && after.sum == before.sum &&
	       identity_holds(copy, state, task);
}

struct remote {
	struct copy *copy;
	struct ktau_state *state;
	struct task_struct *task;
	bool done;
};

/* Runs on the CPU that ran the task when the copy was requested. */
static void copy_here(void *data)
{
	struct remote *remote = data;

	if (!remote->task || current == remote->task)
		remote->done = copy_once(remote->copy, remote->state,
					 remote->task, NULL);
}

/*
 * Let the CPU that runs the task copy it. If the task has been preempted, perhaps in the
 * middle of an update, its last CPU cannot help.
 */
static bool copy_there(struct remote *remote)
{
	if (!task_curr(remote->task))
		return false;
	smp_call_function_single(task_cpu(remote->task), copy_here, remote, 1);
	return remote->done;
}

static bool copy_task(struct copy *copy, struct ktau_state *state,
		      struct task_struct *task)
{
	struct remote remote = { copy, state, task };
	void *stack = try_get_task_stack(task);
	unsigned int i;
	bool done = false;

	if (!stack)
		return false;
	for (i = 0; i < SLOW_TRIES && !done; i++) {
		/* The frames of a task that copies itself cannot change. */
		done = copy_once(copy, state, task,
				 task == current ? NULL : stack);
		if (done || i < QUICK_TRIES)
			continue;
		if (i < QUICK_TRIES + MAX_IPIS)
			done = copy_there(&remote);
		if (!done)
			usleep_range(20, 100);
	}
	put_task_stack(task);
	return done;
}

static bool copy_untasked(struct copy *copy, struct ktau_state *state)
{
	struct remote remote = { copy, state };
	unsigned int i;

	for (i = 0; i < SLOW_TRIES && !remote.done; i++) {
		if (copy_once(copy, state, NULL, NULL))
			return true;
		if (state->is_cpu && i >= QUICK_TRIES)
			smp_call_function_single(state->owner.cpu, copy_here, &remote, 1);
		cpu_relax();
	}
	return remote.done;
}

/**
 * ktau_snapshot_bytes() - size of the snapshot of a profile
 *
 * Context: Any.
 * Return: Bytes for the current table, which may grow.
 */
size_t ktau_snapshot_bytes(const struct ktau_state *state)
{
	unsigned int cells = ktau_table_cells(state) + KTAU_CHUNK_CELLS;

	return sizeof(struct ktau_rec_profile) +
	       cells * sizeof(struct ktau_entry) +
	       KTAU_SNAPSHOT_OPEN * sizeof(struct ktau_open);
}

/**
 * ktau_snapshot_regions() - copy a profile, and the regions of a task at the same moment
 * @rec: receives the copy
 * @bytes: size of @rec, at least ktau_snapshot_bytes() of an empty table
 * @task: the live task that it belongs to, held by the caller; NULL for a CPU or an
 *	exited task
 * @regions: where the regions go, or NULL
 *
 * Context: Task. May sleep if @task is not NULL.
 * Return: 0, -EAGAIN if no consistent copy could be made, or -ENOSPC.
 */
int ktau_snapshot_regions(struct ktau_rec_profile *rec, size_t bytes,
			  struct ktau_state *state, struct task_struct *task,
			  struct ktau_region_copy *regions)
{
	struct copy copy = {
		.rec = rec,
		.regions = regions,
		.max_entries = (bytes - sizeof(*rec) -
				KTAU_SNAPSHOT_OPEN * sizeof(struct ktau_open)) /
			       sizeof(struct ktau_entry),
	};

	memset(rec, 0, sizeof(*rec));
	if (!(task ? copy_task(&copy, state, task) : copy_untasked(&copy, state)))
		return -EAGAIN;
	if (copy.is_full || (regions && regions->is_full))
		return -ENOSPC;

	rec->serial = state->serial;
	rec->rec.type = KTAU_REC_PROFILE;
	rec->rec.head = sizeof(*rec);
	rec->rec.size = sizeof(*rec) +
			rec->nr_entries * sizeof(struct ktau_entry) +
			rec->nr_open * sizeof(struct ktau_open);
	rec->entry_size = sizeof(struct ktau_entry);
	rec->open_size = sizeof(struct ktau_open);
	if (task)
		rec->groups = READ_ONCE(task->ktau.mask) & KTAU_MASK_PUBLIC;
	return 0;
}
