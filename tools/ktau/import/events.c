// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each event of LTTng's kernel tracer says about tasks, except system calls (calls.c). A trace
 * that ktau export has written has its own frames and wakeups as well, which are used in place of
 * what LTTng's events imply.
 */
#include <stdio.h>
#include <string.h>

#include "lib/cli.h"
#include "import.h"

enum { STATE_SLEEP = 1,
       STATE_WAIT = 2,
       STATE_STOPPED = 4 | 8,
       STATE_DEAD = 16 | 32 | 64,
       STATE_IDLE = 128,
       LTTNG_IDLE = 0x402,
       LTTNG_REPORT = 0x7f,
       LTTNG_PRIO = 100 };

/* Classes keep the key and the parameters of their point in static tables. */
static const struct import_point *sched_point(struct import *im, uint32_t state)
{
	struct import_point_key key = {
		"schedule",
		IMPORT_SLEEP,
		KTAU_SOURCE_STATIC,
		KTAU_GROUP_SCHED,
		0,
	};

	if (!state || state & STATE_DEAD)
		key.kind = IMPORT_PREEMPT;
	else if (state & STATE_IDLE)
		key.name = "schedule_vol_idle";
	else if (state & STATE_STOPPED)
		key.name = "schedule_vol_stopped";
	else if (state & STATE_WAIT)
		key.name = "schedule_vol_uninterruptible";
	else
		key.name = "schedule_vol_interruptible";
	return import_point(im, &key);
}

/* The bits of /proc/PID/stat, as in a SWITCH slot. A preempted task has only a bit above them. */
static uint32_t state_of(int64_t reported)
{
	if ((reported & LTTNG_IDLE) == LTTNG_IDLE)
		return STATE_IDLE;
	return (uint32_t)reported & (LTTNG_REPORT | STATE_IDLE);
}

static const char *text(const struct import_event *e, const char *name)
{
	return e->text(e->fields, name);
}

static int64_t number(const struct import_event *e, const char *name, int64_t none)
{
	return e->number(e->fields, name, none);
}

static int16_t prio(const struct import *im, int64_t value)
{
	if (!im->native && !im->ftrace)
		value += LTTNG_PRIO;
	return value < -1 || value > 1000 ? -1 : (int16_t)value;
}

/* Switches */

static void put_switch_slot(struct import *im, struct import_task *prev, struct import_task *next,
			    const struct import_event *e)
{
	const struct ktau_slot_switch to = {
		.next_serial = next ? next->owner.serial : 0,
		.state = state_of(number(e, "prev_state", 0)),
		.prio = prio(im, number(e, "prev_prio", -1)),
		.next_prio = prio(im, number(e, "next_prio", -1)),
	};

	import_slot(im, prev, KTAU_TRACE_SWITCH, &to, sizeof(to));
}

/* The task that the CPU was thought to run has left it in a switch that was not recorded. */
static void lose_current(struct import *im, struct import_task *prev)
{
	struct import_cpu *cpu = &im->cpus[im->cpu];

	if (cpu->now && cpu->now != prev && !cpu->now->ended && cpu->now->known && !cpu->now->off)
		import_lose(im, cpu->now, cpu->ns, 1);
	if (prev && prev->off)
		import_lose(im, prev, prev->since_ns, 1);
}

static void leave(struct import *im, struct import_task *prev, struct import_task *next,
		  const struct import_event *e)
{
	uint32_t state = state_of(number(e, "prev_state", 0));
	const struct import_point *point = sched_point(im, state);

	import_known(im, prev);
	import_end_interrupts(im, prev);
	if (point)
		import_enter(im, prev, point);
	put_switch_slot(im, prev, next, e);
	if (state & STATE_DEAD)
		import_gone(im, prev);
}

/* The task continues where it has left the CPU, in the innermost frame. */
static void resume(struct import *im, struct import_task *next)
{
	const struct import_point *point = NULL;

	if (next->woken)
		import_slot(im, next, KTAU_TRACE_WOKEN, &next->woken_by, sizeof(next->woken_by));
	if (next->off && next->depth)
		point = next->frames[next->depth - 1].point;
	else if (!next->off && next->known && !next->woken)
		import_lose(im, next, next->since_ns, 1);
	if (!point)
		point = sched_point(im, 0);
	if (point)
		import_exit(im, next, point);
	import_moved(im, next);
	next->owner.cpu = im->cpu;
}

/* The exporter adds switches where another task shows itself on the CPU of @prev. */
static void put_native_switch(struct import *im, struct import_task *prev,
			      struct import_task *next, const struct import_event *e)
{
	if (!prev || prev->ended)
		return;
	if (prev->off)
		put_switch_slot(im, prev, next, e);
	else
		import_unknown(im, prev);
}

static void put_switch(struct import *im, const struct import_class *class,
		       const struct import_event *e)
{
	struct import_task *prev = import_task(im, number(e, "prev_tid", -1), im->cpu);
	struct import_task *next = import_task(im, number(e, "next_tid", -1), im->cpu);

	(void)class;
	if (prev)
		import_name(prev, text(e, "prev_comm"));
	if (next)
		import_name(next, text(e, "next_comm"));
	if (im->native) {
		put_native_switch(im, prev, next, e);
		return;
	}
	lose_current(im, prev);
	if (prev && prev != next)
		leave(im, prev, next, e);
	if (next && prev != next)
		resume(im, next);
	im->cpus[im->cpu].now = next;
}

/* Wakeups */

/* An idle task wakes nobody itself; an interrupt without an event of its own does. */
static uint8_t waker_context(const struct import_task *waker)
{
	uint8_t context = import_context(waker);

	return context == KTAU_CTX_TASK && waker->owner.flags & KTAU_OWNER_IDLE ?
		       KTAU_CTX_HARDIRQ :
		       context;
}

/*
 * The target was waiting, or is new. sched_wakeup follows sched_waking, on the CPU of the target
 * perhaps, and says nothing new then.
 */
static void note_wakeup(struct import *im, const struct import_task *waker,
			struct import_task *target, const struct ktau_slot_waking *waking)
{
	if (target->woken || (target->known && !target->off))
		return;
	if (!target->known) {
		import_known(im, target);
		target->off = true;
		target->preempted = false;
	}
	target->woken = true;
	target->woken_by = (struct ktau_slot_woken){
		.waking_ticks = im->ns,
		.target_cpu = waking->target_cpu,
	};
	if (waker) {
		target->woken_by.waker_serial = waker->owner.serial;
		target->woken_by.waker_ctx = waker_context(waker);
	}
}

static void put_waking(struct import *im, const struct import_class *class,
		       const struct import_event *e)
{
	int64_t tid = number(e, "tid", -1);
	struct import_task *waker = import_current(im, e);
	struct import_task *target = tid ? import_task(im, tid, im->cpu) : NULL;
	struct ktau_slot_waking waking = {
		.serial = target ? target->owner.serial : 0,
		.target_cpu = (uint32_t)number(e, "target_cpu", im->cpu),
		.prio = prio(im, number(e, "prio", -1)),
	};
	bool was_woken = target && (target->woken || (target->known && !target->off));

	if (class->exits && (im->native || was_woken))
		return;
	if (target)
		import_name(target, text(e, "comm"));
	if (waker) {
		import_known(im, waker);
		import_slot(im, waker, KTAU_TRACE_WAKING, &waking, sizeof(waking));
	}
	if (target && !im->native)
		note_wakeup(im, waker, target, &waking);
}

/* Tasks */

static void describe(struct import_task *task, int64_t pid, int64_t ppid)
{
	if (pid >= 0 && pid <= INT32_MAX && task->owner.tgid != pid) {
		task->owner.tgid = (int32_t)pid;
		task->dirty = true;
	}
	if (ppid >= 0 && ppid <= INT32_MAX)
		task->owner.ppid = (int32_t)ppid;
}

static void put_fork(struct import *im, const struct import_class *class,
		     const struct import_event *e)
{
	struct import_task *parent = import_task(im, number(e, "parent_tid", -1), im->cpu);
	struct import_task *child = import_fork(im, number(e, "child_tid", -1)), *leader;
	struct ktau_slot_fork fork;

	(void)class;
	if (!child)
		return;
	import_name(child, text(e, "child_comm"));
	describe(child, number(e, "child_pid", -1), -1);
	if (!parent || parent == child)
		return;
	describe(child, -1, parent->owner.tgid);
	child->owner.cgroup = parent->owner.cgroup;
	leader = import_task(im, child->owner.tgid, im->cpu);
	fork = (struct ktau_slot_fork){
		.serial = child->owner.serial,
		.leader_serial = leader ? leader->owner.serial : child->owner.serial,
	};
	import_known(im, parent);
	import_slot(im, parent, KTAU_TRACE_FORK, &fork, sizeof(fork));
}

static void put_exec(struct import *im, const struct import_class *class,
		     const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	const char *path = text(e, "filename"), *slash = strrchr(path, '/');
	struct {
		char comm[16];
		uint64_t serial;
	} payload = { "", 0 };

	(void)class;
	if (!task)
		return;
	path = slash ? slash + 1 : path;
	memcpy(payload.comm, path, strnlen(path, sizeof(payload.comm) - 1));
	import_name(task, path);
	import_known(im, task);
	task->owner.exec_ns = im->ns;
	import_slot(im, task, KTAU_TRACE_EXEC, &payload, sizeof(payload));
}

static void put_task_exit(struct import *im, const struct import_class *class,
			  const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	uint64_t code = 0;

	(void)class;
	if (!task || task->owner.flags & KTAU_OWNER_IDLE)
		return;
	import_known(im, task);
	import_slot(im, task, KTAU_TRACE_TASK_EXIT, &code, sizeof(code));
}

static void put_free(struct import *im, const struct import_class *class,
		     const struct import_event *e)
{
	int64_t tid = number(e, "tid", -1);
	struct import_task *task = tid ? import_last(im, tid, im->cpu) : NULL;

	(void)class;
	if (task)
		import_gone(im, task);
}

/* LTTng's type of a kernel thread is 1, and so is the exporter's. */
static void put_state(struct import *im, const struct import_class *class,
		      const struct import_event *e)
{
	struct import_task *task = import_task(im, number(e, "tid", -1), im->cpu);

	(void)class;
	if (!task || task->owner.flags & KTAU_OWNER_IDLE)
		return;
	import_name(task, text(e, "name"));
	describe(task, number(e, "pid", -1), number(e, "ppid", -1));
	if (number(e, "type", 0) == 1)
		task->owner.flags |= KTAU_OWNER_KTHREAD;
	task->dirty = true;
}

/* Frames */

static void put_frame(struct import *im, const struct import_class *class,
		      const struct import_event *e)
{
	import_put_frame(im, class->point, class->exits, e);
}

static void put_irq(struct import *im, const struct import_class *class,
		    const struct import_event *e)
{
	int64_t irq = number(e, "irq", 0);
	struct import_task *task = import_current(im, e);
	char name[300];
	struct import_point_key key = {
		name,
		IMPORT_HARDIRQ,
		KTAU_SOURCE_IRQ,
		KTAU_GROUP_IRQ,
		(uint64_t)irq,
	};
	uint32_t i = task ? task->depth : 0;

	if (!class->exits) {
		snprintf(name, sizeof(name), "irq:%lld:%s", (long long)irq, text(e, "name"));
		import_put_frame(im, import_point(im, &key), false, e);
		return;
	}
	/* The exit does not have the name. */
	while (i--)
		if (task->frames[i].point->source == KTAU_SOURCE_IRQ &&
		    task->frames[i].point->key == (uint64_t)irq) {
			import_put_frame(im, task->frames[i].point, true, e);
			return;
		}
	im->unmatched++;
}

static void put_softirq(struct import *im, const struct import_class *class,
			const struct import_event *e)
{
	static const char *const names[] = {
		"HI",
		"TIMER",
		"NET_TX",
		"NET_RX",
		"BLOCK",
		"IRQ_POLL",
		"TASKLET",
		"SCHED",
		"HRTIMER",
		"RCU",
	};
	uint64_t vec = (uint64_t)number(e, "vec", -1);
	char name[64];
	const struct import_point_key key = {
		name,
		IMPORT_SOFTIRQ,
		KTAU_SOURCE_STATIC,
		KTAU_GROUP_BH,
		0,
	};

	if (vec < sizeof(names) / sizeof(*names))
		snprintf(name, sizeof(name), "softirq:%s", names[vec]);
	else
		snprintf(name, sizeof(name), "softirq:%llu", (unsigned long long)vec);
	import_put_frame(im, import_point(im, &key), class->exits, e);
}

/* Timers are known by the address of their function; the exporter adds its name. */
static void put_timer(struct import *im, const struct import_class *class,
		      const struct import_event *e)
{
	bool is_high = class->point->kind == IMPORT_HRTIMER;
	uint64_t function = (uint64_t)number(e, "function", 0);
	struct import_task *task = import_current(im, e);
	char name[300], address[32];
	const struct import_point_key key = {
		name,
		class->point->kind,
		is_high ? KTAU_SOURCE_HRTIMER : KTAU_SOURCE_TIMER,
		KTAU_GROUP_BH,
		function,
	};
	uint32_t i = task ? task->depth : 0;

	if (!class->exits) {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)function);
		snprintf(name, sizeof(name), "%s:%s", is_high ? "hrtimer" : "timer",
			 *text(e, "name") ? text(e, "name") : address);
		import_put_frame(im, import_point(im, &key), false, e);
		return;
	}
	/* The exit has only the timer, and timers do not nest in each other. */
	while (i--)
		if (task->frames[i].point->kind == key.kind) {
			import_put_frame(im, task->frames[i].point, true, e);
			return;
		}
	im->unmatched++;
}

/* Events of ktau export */

static const struct {
	const char *name;
	uint32_t bit;
} groups[] = {
#define KTAU_GROUP(symbol, name, bit) { #name, 1U << (bit) },
#include <linux/ktau_groups.h>
};

static uint32_t group_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (!strcmp(groups[i].name, name))
			return groups[i].bit;
	return KTAU_GROUP_MODULE;
}

static enum import_kind kind_of(const char *name, uint32_t group)
{
	if (group == KTAU_GROUP_SCHED && strcmp(name, "schedule_wait"))
		return strcmp(name, "schedule") && strcmp(name, "schedule_yld") ? IMPORT_SLEEP :
										  IMPORT_PREEMPT;
	if (!strncmp(name, "softirq:", 8))
		return IMPORT_SOFTIRQ;
	if (group == KTAU_GROUP_IRQ && (!strncmp(name, "irq:", 4) || !strncmp(name, "sysvec_", 7)))
		return IMPORT_HARDIRQ;
	if (!strncmp(name, "timer:", 6))
		return IMPORT_TIMER;
	return group == KTAU_GROUP_SYSCALL ? IMPORT_SYSCALL : IMPORT_TASK;
}

/* An exit has no group, but its frame has been entered. */
static void put_native(struct import *im, const struct import_class *class,
		       const struct import_event *e)
{
	uint32_t group = group_of(text(e, "group"));
	const struct import_point_key key = {
		text(e, "name"),
		kind_of(text(e, "name"), group),
		KTAU_SOURCE_STATIC,
		group,
		0,
	};

	import_put_frame(im, import_point(im, &key), class->exits, e);
}

static void put_value(struct import *im, const struct import_class *class,
		      const struct import_event *e)
{
	const struct import_point_key key = {
		text(e, "name"),
		IMPORT_COUNTER,
		KTAU_SOURCE_STATIC,
		KTAU_GROUP_MODULE,
		0,
	};
	const struct import_point *point = import_point(im, &key);
	struct import_task *task = import_current(im, e);

	(void)class;
	if (task && point && point->kind == IMPORT_COUNTER)
		import_count(im, task, point, (uint64_t)number(e, "value", 0));
}

static void put_lost(struct import *im, const struct import_class *class,
		     const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	uint64_t nr = (uint64_t)number(e, "slots", 1);

	(void)class;
	if (task)
		import_lose(im, task, (uint64_t)number(e, "from", 0),
			    nr && nr < UINT32_MAX ? nr : 1);
}

static void put_woken(struct import *im, const struct import_class *class,
		      const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	struct import_task *waker = import_last(im, number(e, "waker_tid", -1),
						(uint32_t)number(e, "waker_cpu", 0));

	(void)class;
	if (!task)
		return;
	task->woken_by = (struct ktau_slot_woken){
		.waker_serial = waker ? waker->owner.serial : 0,
		.waking_ticks = (uint64_t)number(e, "waking", 0),
		.target_cpu = (uint32_t)number(e, "target_cpu", 0),
		.waker_ctx = (uint8_t)(number(e, "context", 0) & 3),
	};
	if (task->woken_by.waking_ticks > im->ns)
		task->woken_by.waking_ticks = im->ns;
	task->woken = true;
	import_slot(im, task, KTAU_TRACE_WOKEN, &task->woken_by, sizeof(task->woken_by));
}

static void put_segment(struct import *im, const struct import_class *class,
			const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	const struct ktau_slot_net net = import_segment(e);

	if (!task)
		return;
	import_known(im, task);
	import_slot(im, task, class->exits ? KTAU_TRACE_NET_RECV : KTAU_TRACE_NET_SEND, &net,
		    sizeof(net));
}

static void put_comm(struct import *im, const struct import_class *class,
		     const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	char comm[16] = "";

	(void)class;
	if (!task)
		return;
	snprintf(comm, sizeof(comm), "%s", text(e, "newcomm"));
	import_known(im, task);
	import_slot(im, task, KTAU_TRACE_COMM, comm, sizeof(comm));
	import_name(task, comm);
}

/* Virtual CPUs. Old kernels do not say which one was left. */

static void put_kvm(struct import *im, const struct import_class *class,
		    const struct import_event *e)
{
	struct import_task *task = import_current(im, e);
	struct ktau_slot_kvm kvm = { 0 };

	if (!task || task->owner.flags & KTAU_OWNER_IDLE)
		return;
	task->vcpu = (uint32_t)number(e, "vcpu_id", task->vcpu);
	kvm.vcpu = task->vcpu;
	if (class->exits)
		kvm.reason = (uint32_t)number(e, "exit_reason", 0);
	import_known(im, task);
	import_slot(im, task, class->exits ? KTAU_TRACE_KVM_EXIT : KTAU_TRACE_KVM_ENTER, &kvm,
		    sizeof(kvm));
}

/* Classes */

typedef void (*put_fn)(struct import *im, const struct import_class *class,
		       const struct import_event *e);

static const struct import_point timer = { .kind = IMPORT_TIMER };
static const struct import_point hrtimer = { .kind = IMPORT_HRTIMER };

static const struct {
	const char *name;
	put_fn put;
	bool exits;
	unsigned int seen;
	const struct import_point *point;
} classes[] = {
	{ "sched_switch", put_switch, false, IMPORT_SEEN_SWITCH, NULL },
	{ "sched_waking", put_waking, false, IMPORT_SEEN_WAKEUP, NULL },
	{ "sched_wakeup", put_waking, true, IMPORT_SEEN_WAKEUP, NULL },
	{ "sched_wakeup_new", put_waking, true, IMPORT_SEEN_WAKEUP, NULL },
	{ "sched_process_fork", put_fork, false, IMPORT_SEEN_FORK, NULL },
	{ "sched_process_exec", put_exec, false, IMPORT_SEEN_EXEC, NULL },
	{ "sched_process_exit", put_task_exit, false, 0, NULL },
	{ "sched_process_free", put_free, false, 0, NULL },
	{ "lttng_statedump_process_state", put_state, false, IMPORT_SEEN_STATE, NULL },
	{ "irq_handler_entry", put_irq, false, IMPORT_SEEN_IRQ, NULL },
	{ "irq_handler_exit", put_irq, true, IMPORT_SEEN_IRQ, NULL },
	{ "irq_softirq_entry", put_softirq, false, IMPORT_SEEN_SOFTIRQ, NULL },
	{ "irq_softirq_exit", put_softirq, true, IMPORT_SEEN_SOFTIRQ, NULL },
	{ "softirq_entry", put_softirq, false, IMPORT_SEEN_SOFTIRQ, NULL },
	{ "softirq_exit", put_softirq, true, IMPORT_SEEN_SOFTIRQ, NULL },
	{ "timer_expire_entry", put_timer, false, 0, &timer },
	{ "timer_expire_exit", put_timer, true, 0, &timer },
	{ "hrtimer_expire_entry", put_timer, false, 0, &hrtimer },
	{ "hrtimer_expire_exit", put_timer, true, 0, &hrtimer },
	{ "timer_hrtimer_expire_entry", put_timer, false, 0, &hrtimer },
	{ "timer_hrtimer_expire_exit", put_timer, true, 0, &hrtimer },
	{ "inet_sock_local_out", put_segment, false, 0, NULL },
	{ "inet_sock_local_in", put_segment, true, 0, NULL },
	{ "task_rename", put_comm, false, 0, NULL },
	{ "cgroup_attach_task", import_attach, false, 0, NULL },
	{ "kvm_entry", put_kvm, false, IMPORT_SEEN_KVM, NULL },
	{ "kvm_exit", put_kvm, true, IMPORT_SEEN_KVM, NULL },
	{ "kvm_x86_entry", put_kvm, false, IMPORT_SEEN_KVM, NULL },
	{ "kvm_x86_exit", put_kvm, true, IMPORT_SEEN_KVM, NULL },
	{ "ktau_enter", put_native, false, 0, NULL },
	{ "ktau_exit", put_native, true, 0, NULL },
	{ "ktau_count", put_value, false, 0, NULL },
	{ "ktau_lost", put_lost, false, 0, NULL },
	{ "ktau_woken", put_woken, false, 0, NULL },
};

/* Interrupts of the processor itself: x86_irq_vectors_reschedule_entry */
static void classify_vector(struct import *im, const char *name, struct import_class *class)
{
	static const char prefix[] = "x86_irq_vectors_";
	char full[300];
	struct import_point_key key = {
		full,
		IMPORT_HARDIRQ,
		KTAU_SOURCE_STATIC,
		KTAU_GROUP_IRQ,
		0,
	};
	size_t bytes = strlen(name), nr;

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return;
	name += sizeof(prefix) - 1;
	bytes -= sizeof(prefix) - 1;
	if (bytes > 5 && !strcmp(name + bytes - 5, "_exit"))
		class->exits = true;
	else if (bytes <= 6 || strcmp(name + bytes - 6, "_entry"))
		return;
	nr = bytes - (class->exits ? 5 : 6);
	if (nr == 11 && !strncmp(name, "local_timer", nr))
		name = "apic_timer_interrupt", nr = 20;
	snprintf(full, sizeof(full), "sysvec_%.*s", (int)(nr < 200 ? nr : 200), name);
	class->point = import_point(im, &key);
	class->put = put_frame;
}

void import_classify(struct import *im, const char *name, struct import_class *class)
{
	size_t i;

	*class = (struct import_class){ 0 };
	im->native |= !strcmp(name, "ktau_enter");
	for (i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		if (strcmp(name, classes[i].name))
			continue;
		class->put = classes[i].put;
		class->exits = classes[i].exits;
		class->point = classes[i].point;
		im->seen |= classes[i].seen;
		return;
	}
	if (!import_classify_call(im, name, class))
		classify_vector(im, name, class);
}

void import_event(struct import *im, const struct import_class *class,
		  const struct import_event *e)
{
	if (!im->events++)
		im->begin_ns = im->ns;
	if (class->put)
		class->put(im, class, e);
	else
		im->skipped++;
	im->cpus[im->cpu].ns = im->ns;
	if (im->cpu >= im->nr_cpus)
		im->nr_cpus = im->cpu + 1;
	import_flush(im);
}

/*
 * The tasks that ran meanwhile on the CPU are found by what contradicts it later. ktau export
 * counts what was lost, but also has an event for each loss.
 */
void import_discarded(struct import *im, uint64_t nr)
{
	struct import_cpu *cpu = &im->cpus[im->cpu];

	if (im->native)
		return;
	im->discarded += nr;
	if (cpu->now && !cpu->now->ended)
		import_lose(im, cpu->now, cpu->ns, nr && nr < UINT32_MAX ? nr : 1);
	cpu->now = NULL;
}
