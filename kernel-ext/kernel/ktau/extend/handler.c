// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: calling the handlers of modules.
 *
 * A handler is called for every hit for which a trace has a slot: the entry and the exit
 * of each frame of a task, and each value of a counter. Without handlers this costs nothing,
 * because hits take the paths of traced tasks. While there is a handler:
 *
 *  - Each task that is measured has KTAU_MASK_HANDLED in its mask. The tests that divert
 *    a traced task test several bits of the mask at once, this one among them.
 *  - A frame opened meanwhile has KTAU_FRAME_HANDLED above its id, so its exit is diverted
 *    by the test for unusual frames.
 *  - Where the diverted paths must distinguish a handler from a trace, they end in a
 *    static call. Its target is the function for traces; while there are handlers, it is
 *    one of this file, which does the same and calls the handlers.
 *
 * An exit is only reported if the entry was, and frames may outlive the handler that saw
 * them open: then they end in the usual functions, as if they were not handled.
 *
 * A hit is reported by a static call too. While there is one handler, its target is the
 * function of that handler; a second one makes it a function that calls them all.
 */
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>

#include "base/arch.h"
#include "base/core.h"
#include "base/event.h"
#include "measure/close.h"
#include "measure/frame.h"
#include "measure/off.h"
#include "measure/ring.h"
#include "measure/root.h"
#include "measure/table.h"
#include "measure/trace.h"
#include "handler.h"

DEFINE_STATIC_KEY_FALSE(ktau_handlers_key);

/* Written under ktau_mutex; read with preemption disabled. */
static struct ktau_handler __rcu *handlers[KTAU_NR_HANDLERS];

/*
 * The groups that any handler listens to, by type of hit. A CPU that reads a group here,
 * with preemption disabled, finds @only and the target of the static call as they were
 * set before. Written under ktau_mutex.
 */
static u32 wanted[KTAU_HIT_EVENT + 1];

/* The handler whose function is the target of the static call, if there is one. */
static struct ktau_handler *only;

/* The contexts, BIT(KTAU_CTX_*), in which a handler runs on this CPU. */
static DEFINE_PER_CPU(unsigned long, handling);
/* Hits caused by handlers, which are accounted but not reported. */
static DEFINE_PER_CPU(unsigned long, nested);

static void call_all(struct ktau_handler *unused, const struct ktau_hit *hit)
{
	struct ktau_handler *handler;
	unsigned int i;

	for (i = 0; i < KTAU_NR_HANDLERS; i++) {
		handler = rcu_dereference_sched(handlers[i]);
		if (handler && (handler->groups & hit->group) &&
		    (handler->types & BIT(hit->type)))
			handler->fn(handler, hit);
	}
}

DEFINE_STATIC_CALL(call_handler, call_all);

/*
 * The contexts of a hit in which the handler runs. Its own is the last one. When an
 * interrupt has ended, and the softirqs at its end begin or end, preempt_count() is that
 * of the interrupted code, which may be a handler: but the frame around them, the only
 * point of the group BH, is not caused by that. What the handler of such a hit causes is
 * in the context of the interrupted code too.
 */
static __always_inline unsigned long contexts_of(struct ktau_hit *hit,
						 const struct ktau_event *event)
{
	const unsigned int ctx = ktau_context(preempt_count());

	hit->ctx = ctx;
	if (ctx == KTAU_CTX_TASK && unlikely(event->group == KTAU_GROUP_BH) &&
	    event->source == KTAU_SOURCE_POINT) {
		hit->ctx = KTAU_CTX_SOFTIRQ;
		return BIT(KTAU_CTX_TASK) | BIT(KTAU_CTX_SOFTIRQ);
	}
	return BIT(ctx);
}

/* Whether a handler listens to hits of @type of event @id; preemption disabled. */
static __always_inline bool is_wanted(unsigned int id, enum ktau_hit_type type)
{
	/* pairs with set_wanted() */
	return smp_load_acquire(&wanted[type]) & ktau_events[id].group;
}

/* Report @hit, whose event and context are not set yet. Preemption disabled. */
static __always_inline void deliver(struct ktau_hit *hit, unsigned int id)
{
	const struct ktau_event *event = &ktau_events[id];
	/* an interrupt leaves it as it was */
	const unsigned long before = __this_cpu_read(handling);
	unsigned long contexts;

	hit->fid = id;
	hit->group = event->group;
	contexts = contexts_of(hit, event);
	if (unlikely(before & BIT(hit->ctx))) {
		this_cpu_inc(nested);
		return;
	}
	__this_cpu_write(handling, before | contexts);
	barrier();	/* before what the handler causes */
	static_call(call_handler)(READ_ONCE(only), hit);
	barrier();
	__this_cpu_write(handling, before);
}

static noinline void deliver_start(unsigned int id, u64 ticks, u64 data)
{
	struct ktau_hit hit = {
		.type = KTAU_HIT_START, .ticks = ticks, .data = data,
	};

	deliver(&hit, id);
}

static noinline void deliver_stop(unsigned int id, u64 ticks, u64 incl, u64 excl)
{
	struct ktau_hit hit = {
		.type = KTAU_HIT_STOP, .ticks = ticks, .incl = incl, .excl = excl,
	};

	deliver(&hit, id);
}

static __always_inline void report_start(unsigned int id, u64 ticks, u64 data)
{
	preempt_disable_notrace();
	if (is_wanted(id, KTAU_HIT_START))
		deliver_start(id, ticks, data);
	preempt_enable_no_resched_notrace();
}

static __always_inline void report_stop(unsigned int id, u64 ticks, u64 incl, u64 excl)
{
	preempt_disable_notrace();
	if (is_wanted(id, KTAU_HIT_STOP))
		deliver_stop(id, ticks, incl, excl);
	preempt_enable_no_resched_notrace();
}

static bool is_handled(const struct task_struct *tsk)
{
	return data_race(tsk->ktau.mask) & KTAU_MASK_HANDLED; /* one bit */
}

/* Mark a frame that has been opened, and report that. */
static void entered(struct ktau_frame *frame, u64 address)
{
	frame->info |= KTAU_FRAME_HANDLED;
	report_start(ktau_frame_id(frame), frame->start, address);
}

/* The task has a trace, or there are no handlers any more. */
static noinline void enter_other(struct task_struct *tsk, struct ktau_frame *frame)
{
	if (ktau_is_traced(tsk))
		ktau_enter_traced(tsk, frame);
	else
		ktau_open_untraced(tsk, frame);
	if (is_handled(tsk))
		entered(frame, 0);
}

/**
 * ktau_handled_enter() - open a frame, and report that to handlers
 * @tsk: the current task
 * @frame: as for ktau_enter_traced()
 *
 * Context: As __ktau_enter_frame().
 */
void ktau_handled_enter(struct task_struct *tsk, struct ktau_frame *frame)
{
	const unsigned int id = frame->info;

	if (unlikely(ktau_is_traced(tsk) || !is_handled(tsk))) {
		enter_other(tsk, frame);
		return;
	}
	frame->info = id | KTAU_FRAME_HANDLED;
	ktau_open_untraced(tsk, frame);
	report_start(id, frame->start, 0);
}

/**
 * ktau_handled_fault() - the same for a page fault
 * @tsk: the current task
 * @frame: as for ktau_enter_traced()
 * @address: the faulting address
 *
 * Context: As __ktau_enter_frame().
 */
void ktau_handled_fault(struct task_struct *tsk, struct ktau_frame *frame,
			unsigned long address)
{
	if (ktau_is_traced(tsk))
		ktau_enter_traced_fault(tsk, frame, address);
	else
		ktau_open_untraced(tsk, frame);
	if (is_handled(tsk))
		entered(frame, address);
}

/**
 * ktau_handled_root() - name the root frame, and report the event that it has become
 * @tsk: the current task, whose innermost frame is the unnamed root frame
 * @frame: uninitialised frame on the kernel stack, except for its id
 * @flag: KTAU_WHAT_ARG if @arg goes into the slot, else 0
 * @arg: address of a page fault
 *
 * The event gets a frame of its own, as in a trace: neither traced nor profiled, if there
 * is no trace.
 *
 * Context: Task.
 */
void ktau_handled_root(struct task_struct *tsk, struct ktau_frame *frame, u32 flag,
		       u64 arg)
{
	struct ktau_frame *root = tsk->ktau.top;

	if (ktau_is_traced(tsk)) {
		ktau_root_trace(tsk, frame, flag, arg);
	} else {
		WRITE_ONCE(root->info, frame->info);
		frame->prev = root;
		frame->start = 0;
		frame->child = 0;
		frame->info |= KTAU_FRAME_TRACE_ONLY;
		ktau_open_untraced(tsk, frame);
	}
	if (is_handled(tsk))
		entered(frame, flag ? arg : 0);
}

/**
 * ktau_handled_leave() - close a frame, and report that to handlers
 * @frame: the innermost frame of @tsk
 * @tsk: the current task
 *
 * Context: As its entry.
 * Return: Its times.
 */
struct ktau_ended ktau_handled_leave(struct ktau_frame *frame, struct task_struct *tsk)
{
	const u32 unusual = KTAU_FRAME_TRACED | KTAU_FRAME_TRACE_ONLY |
			    KTAU_FRAME_REGION;
	const u64 start = frame->start;
	struct ktau_cell *cell = ktau_cell_here(tsk->ktau.state, ktau_frame_id(frame));
	struct ktau_ended e;
	u64 incl, excl;

	if (likely(!(frame->info & unusual) && !ktau_cell_is_missing(cell)))
		e = ktau_close_fast(frame, tsk, cell, NULL);
	else
		e = ktau_leave(frame, tsk);
	incl = e.incl;
	excl = e.excl;
	if (unlikely(!(frame->info & KTAU_FRAME_HANDLED)))
		return e;
	if (unlikely(frame->info & KTAU_FRAME_TRACE_ONLY)) {
		incl = max(ktau_ticks() - start, e.inside);
		excl = incl - e.inside;
	}
	report_stop(ktau_frame_id(frame), start + incl, incl, excl);
	return e;
}

/**
 * ktau_handled_count() - report a value of a counter to handlers
 * @state: state of the current task
 * @ticks: as for ktau_trace()
 * @type: KTAU_TRACE_COUNT
 * @id: event id of the counter
 * @value: added to the counter
 *
 * Context: As ktau_event().
 */
void ktau_handled_count(struct ktau_state *state, u64 ticks, unsigned int type,
			unsigned int id, u64 value)
{
	struct ktau_hit hit = { .type = KTAU_HIT_EVENT, .data = value };

	if (READ_ONCE(current->ktau.mask) & KTAU_MODE_TRACE)
		ktau_trace(state, ticks, type, id, value);
	if (!is_handled(current))
		return;
	hit.ticks = ktau_ticks();
	preempt_disable_notrace();
	if (is_wanted(id, KTAU_HIT_EVENT))
		deliver(&hit, id);
	preempt_enable_no_resched_notrace();
}

/**
 * ktau_handled_switch() - report to handlers that the current task loses the CPU
 * @vol: whether the kernel counts the switch as voluntary, in nvcsw
 * @prev: the current task
 * @next: the task that gets the CPU
 * @prev_state: the state in which @prev waits, 0 if it is runnable
 *
 * The frame is reported as soon as it is known why the task leaves the CPU; its time
 * begins at the end of the switch. It is unlinked meanwhile, because frames of the handler
 * would be inside it.
 *
 * Context: Under the lock of the run queue.
 */
void ktau_handled_switch(bool vol, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	struct ktau_ref *ref = &prev->ktau;
	struct ktau_frame *frame = &ref->state->sched;

	__ktau_sched_switch(vol, prev, next, prev_state);
	if (ref->top != frame || !is_handled(prev))
		return;
	WRITE_ONCE(ref->top, frame->prev);
	barrier();
	report_start(ktau_frame_id(frame), ktau_ticks(), 0);
	frame->info |= KTAU_FRAME_HANDLED;
	ktau_wmb();	/* complete before a reader finds it */
	WRITE_ONCE(ref->top, frame);
}

static void report_wait(u64 wait, u64 now)
{
	report_start(KTAU_ID_SCHEDULE_WAIT, now - wait, 0);
	report_stop(KTAU_ID_SCHEDULE_WAIT, now, wait, wait);
}

/* The task runs for the first time. */
static void handled_first(struct ktau_ref *ref, u64 now)
{
	const bool waited = (ref->flags & KTAU_REF_NEW) && ref->wake_ticks &&
			    (ref->mask & KTAU_GROUP_SCHED);
	const u64 wait = waited ? ktau_ticks_between(ref->wake_ticks, now) : 0;

	__ktau_sched_resume();
	if (waited)
		report_wait(wait, now);
}

/**
 * ktau_handled_resume() - report to handlers that the current task is back on a CPU
 *
 * Context: As __ktau_sched_resume().
 */
void ktau_handled_resume(void)
{
	struct ktau_ref *ref = &current->ktau;
	struct ktau_state *state = ref->state;
	u64 now, since, wait, incl;

	if (!state || !is_handled(current)) {
		__ktau_sched_resume();
		return;
	}
	now = state->switched_ticks;
	if (!ktau_is_off(state, ref->top)) {
		handled_first(ref, now);
		return;
	}
	since = ktau_runnable_since(state, ktau_frame_id(&state->sched), ref->wake_ticks);
	__ktau_sched_resume();
	if (!(state->sched.info & KTAU_FRAME_HANDLED))
		return;
	wait = since ? ktau_ticks_between(since, now) : 0;
	incl = max(ktau_ticks_between(ktau_read(&state->sched.start), now), wait);
	if (since)
		report_wait(wait, now);
	report_stop(ktau_frame_id(&state->sched), now, incl, incl - wait);
}

/* Under ktau_mutex. */
static struct ktau_handler *handler_at(unsigned int i)
{
	return rcu_dereference_protected(handlers[i], lockdep_is_held(&ktau_mutex));
}

static void set_wanted(void)
{
	const struct ktau_handler *handler;
	unsigned int type, i;
	u32 groups;

	for (type = 0; type < ARRAY_SIZE(wanted); type++) {
		groups = 0;
		for (i = 0; i < KTAU_NR_HANDLERS; i++) {
			handler = handler_at(i);
			if (handler && (handler->types & BIT(type)))
				groups |= handler->groups;
		}
		/* pairs with is_wanted() */
		smp_store_release(&wanted[type], groups);
	}
}

/**
 * ktau_handler_add() - add a handler
 *
 * Context: May sleep; ktau_mutex held.
 * Return: 0; -EEXIST if it is there already, -ENOSPC if there are too many.
 */
int ktau_handler_add(struct ktau_handler *handler)
{
	const bool first = !ktau_handler_groups();
	int i, room = -1;

	for (i = 0; i < KTAU_NR_HANDLERS; i++) {
		if (handler_at(i) == handler)
			return -EEXIST;
		if (!handler_at(i))
			room = i;
	}
	if (room < 0)
		return -ENOSPC;
	if (first)
		WRITE_ONCE(only, handler);
	static_call_update(call_handler, first ? handler->fn : call_all);
	rcu_assign_pointer(handlers[room], handler);
	set_wanted();
	return 0;
}

/**
 * ktau_handler_remove() - remove a handler
 *
 * Once this returns, the handler is not running on any CPU. Only then may the
 * static call have another target: a CPU that has found its group wanted may be about to
 * execute it.
 *
 * Context: May sleep; ktau_mutex held.
 * Return: Whether it was there.
 */
bool ktau_handler_remove(struct ktau_handler *handler)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_HANDLERS && handler_at(i) != handler; i++)
		;
	if (i == KTAU_NR_HANDLERS)
		return false;
	rcu_assign_pointer(handlers[i], NULL);
	set_wanted();
	synchronize_rcu();
	static_call_update(call_handler, call_all);
	return true;
}

/**
 * ktau_handler_find() - find a handler that will be freed, or whose function will be
 * @gone: whether the memory at an address will be freed
 * @data: argument for @gone
 *
 * Context: ktau_mutex held.
 * Return: The handler, or NULL.
 */
struct ktau_handler *
ktau_handler_find(bool (*gone)(unsigned long address, const void *data),
		  const void *data)
{
	struct ktau_handler *handler;
	unsigned int i;

	for (i = 0; i < KTAU_NR_HANDLERS; i++) {
		handler = handler_at(i);
		if (handler && (gone((unsigned long)handler->fn, data) ||
				gone((unsigned long)handler, data)))
			return handler;
	}
	return NULL;
}

/**
 * ktau_handler_groups() - the groups that handlers listen to
 *
 * Context: ktau_mutex held.
 * Return: The groups of all handlers; 0 if there are none.
 */
u32 ktau_handler_groups(void)
{
	const struct ktau_handler *handler;
	u32 groups = 0;
	unsigned int i;

	for (i = 0; i < KTAU_NR_HANDLERS; i++) {
		handler = handler_at(i);
		groups |= handler ? handler->groups : 0;
	}
	return groups;
}

/**
 * ktau_handler_nested() - count the hits that handlers have caused
 *
 * Context: Any.
 * Return: Their number since boot.
 */
u64 ktau_handler_nested(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(nested, cpu));
	return sum;
}
