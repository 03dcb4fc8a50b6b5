// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the events that ids stand for: ranges, sources, names.
 *
 * An id's event is filled in before the id is published, and an id is never given to
 * another event. So counts keep the name that the event had when its id was assigned,
 * even if a module loaded later has another function at the same address. ids.c describes
 * how ids are assigned.
 */
#include <linux/interrupt.h>
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "arch.h"
#include "event.h"

#define CALL_RANGE(call)						\
	{ KTAU_SOURCE_##call,						\
	  KTAU_ID_CALL + KTAU_CALL_##call * KTAU_NR_CALL_IDS,		\
	  KTAU_NR_CALL_IDS }

/* In the order of their ids, and of KTAU_SOURCE_*. */
const struct ktau_id_range ktau_id_ranges[KTAU_NR_SOURCES] = {
	{ KTAU_SOURCE_SYSCALL, KTAU_ID_SYSCALL, KTAU_ID_STATIC },
	{ KTAU_SOURCE_STATIC, KTAU_ID_STATIC, KTAU_NR_STATIC },
	{ KTAU_SOURCE_POINT, KTAU_ID_POINT, KTAU_NR_POINTS },
	{ KTAU_SOURCE_FOREIGN, KTAU_ID_FOREIGN, KTAU_NR_FOREIGN },
	{ KTAU_SOURCE_IRQ, KTAU_ID_IRQ, KTAU_NR_LINES },
	CALL_RANGE(TASKLET),
	CALL_RANGE(WORK),
	CALL_RANGE(TIMER),
	CALL_RANGE(HRTIMER),
	CALL_RANGE(KTHREAD),
	CALL_RANGE(TASK_WORK),
	CALL_RANGE(NAPI),
	CALL_RANGE(RCU),
	{ KTAU_SOURCE_MODULE, KTAU_ID_MODULE, KTAU_NR_MODULE_IDS },
	{ KTAU_SOURCE_FUNCTION, KTAU_ID_FUNCTION, KTAU_NR_FUNCTION_IDS },
};

static_assert(KTAU_ID_CALL + KTAU_NR_CALLS * KTAU_NR_CALL_IDS == KTAU_ID_MODULE);
static_assert(KTAU_NR_IDS <= KTAU_ID_NONE);
static_assert(KTAU_ID_SOFTIRQ + NR_SOFTIRQS <= KTAU_ID_POINT);
static_assert(KTAU_NR_SYSCALLS <= KTAU_ID_STATIC);
static_assert(KTAU_SOURCE_RCU - KTAU_SOURCE_TASKLET == KTAU_CALL_RCU);
static_assert(KTAU_ID_OTHER_RCU - KTAU_ID_OTHER_TASKLET == KTAU_CALL_RCU);

const char * const ktau_source_names[KTAU_NR_SOURCES] = {
	[KTAU_SOURCE_POINT] = "point",
	[KTAU_SOURCE_FOREIGN] = "compat",
	[KTAU_SOURCE_IRQ] = "irq",
	[KTAU_SOURCE_TASKLET] = "tasklet",
	[KTAU_SOURCE_WORK] = "work",
	[KTAU_SOURCE_TIMER] = "timer",
	[KTAU_SOURCE_HRTIMER] = "hrtimer",
	[KTAU_SOURCE_KTHREAD] = "kthread",
	[KTAU_SOURCE_TASK_WORK] = "task_work",
	[KTAU_SOURCE_NAPI] = "napi",
	[KTAU_SOURCE_RCU] = "rcu",
	[KTAU_SOURCE_MODULE] = "module",
	[KTAU_SOURCE_FUNCTION] = "func",
};

static const struct {
	unsigned int id;
	u32 group;
	const char *name;
} static_events[] = {
	{ KTAU_ID_PAGE_FAULT_USER, KTAU_GROUP_EXCEPTION, "page_fault_user" },
	{ KTAU_ID_PAGE_FAULT_KERNEL, KTAU_GROUP_EXCEPTION, "page_fault_kernel" },
	{ KTAU_ID_DEBUG, KTAU_GROUP_EXCEPTION, "exc_debug" },
	{ KTAU_ID_SCHEDULE, KTAU_GROUP_SCHED, "schedule" },
	{ KTAU_ID_SCHEDULE_VOL_IO, KTAU_GROUP_SCHED, "schedule_vol_io" },
	{ KTAU_ID_SCHEDULE_VOL_INTERRUPTIBLE, KTAU_GROUP_SCHED,
	  "schedule_vol_interruptible" },
	{ KTAU_ID_SCHEDULE_VOL_UNINTERRUPTIBLE, KTAU_GROUP_SCHED,
	  "schedule_vol_uninterruptible" },
	{ KTAU_ID_SCHEDULE_VOL_IDLE, KTAU_GROUP_SCHED, "schedule_vol_idle" },
	{ KTAU_ID_SCHEDULE_VOL_STOPPED, KTAU_GROUP_SCHED,
	  "schedule_vol_stopped" },
	{ KTAU_ID_SCHEDULE_YLD, KTAU_GROUP_SCHED, "schedule_yld" },
	{ KTAU_ID_SCHEDULE_WAIT, KTAU_GROUP_SCHED, "schedule_wait" },
	{ KTAU_ID_OTHER_TASKLET, KTAU_GROUP_BH, "tasklet:other" },
	{ KTAU_ID_OTHER_WORK, KTAU_GROUP_BH, "work:other" },
	{ KTAU_ID_OTHER_TIMER, KTAU_GROUP_BH, "timer:other" },
	{ KTAU_ID_OTHER_HRTIMER, KTAU_GROUP_BH, "hrtimer:other" },
	{ KTAU_ID_OTHER_KTHREAD, KTAU_GROUP_ACCOUNT, "kthread:other" },
	{ KTAU_ID_OTHER_TASK_WORK, KTAU_GROUP_ACCOUNT, "task_work:other" },
	{ KTAU_ID_OTHER_NAPI, KTAU_GROUP_BH, "napi:other" },
	{ KTAU_ID_OTHER_RCU, KTAU_GROUP_BH, "rcu:other" },
	{ KTAU_ID_OTHER_IRQ, KTAU_GROUP_IRQ, "irq:other" },
	{ KTAU_ID_OTHER_COMPAT, KTAU_GROUP_SYSCALL, "compat:other" },
	{ KTAU_ID_INTERRUPTS, KTAU_GROUP_IRQ, "interrupts" },
	{ KTAU_ID_KERNEL, KTAU_GROUP_ACCOUNT, "kernel" },
	{ KTAU_ID_INTERRUPT_USER, KTAU_GROUP_IRQ, "interrupt_user" },
	{ KTAU_ID_RET_FROM_FORK, KTAU_GROUP_ACCOUNT, "ret_from_fork" },
	{ KTAU_ID_USER_WORKER, KTAU_GROUP_ACCOUNT, "user_worker" },
	{ KTAU_ID_IDLE, KTAU_GROUP_ACCOUNT, "idle" },
	{ KTAU_ID_GUEST, KTAU_GROUP_KVM, "guest" },
	{ KTAU_ID_NMI, KTAU_GROUP_IRQ, "nmi" },
};

/*
 * Each entry is written once, under the lock of ids.c, @group last; only the address of a
 * function that is unloaded changes later.
 */
struct ktau_event ktau_events[KTAU_NR_IDS];

/*
 * Names that were resolved when an id was assigned, stored back to back. Ids are assigned
 * in contexts that cannot allocate memory, such as under the lock of a run queue. With
 * the usual length of kernel function names there is room for 1,500 or more; events
 * beyond that are named by number. Written under the lock of ids.c.
 */
static char names[48 * 1024];
static unsigned int names_used;

/**
 * ktau_event_has_room() - whether one more name can be stored
 *
 * Context: Under the lock of ids.c.
 * Return: Whether ktau_event_define() will copy the name of an event.
 */
bool ktau_event_has_room(void)
{
	return names_used <= sizeof(names) - KTAU_NAME_BYTES;
}

/* Return: the copy, or NULL if there is no room. */
static const char *keep_name(const char *name)
{
	char *kept = names + names_used, *c;

	if (!ktau_event_has_room())
		return NULL;
	strscpy(kept, name, KTAU_NAME_BYTES);
	for (c = kept; *c; c++)
		if (*c <= ' ' || *c > '~')
			*c = '_';
	names_used = c + 1 - names;
	return kept;
}

/**
 * ktau_event_define() - fill in the event of an id that is not in use yet
 * @id: below KTAU_NR_IDS
 * @event: what it stands for
 * @name: a name to copy instead of that of @event, or NULL
 *
 * Context: Any but NMI; under the lock of ids.c, or at boot.
 */
void ktau_event_define(unsigned int id, const struct ktau_event *event,
		       const char *name)
{
	ktau_events[id].key = event->key;
	ktau_events[id].name = name ? keep_name(name) : event->name;
	ktau_events[id].kind = event->kind;
	ktau_events[id].in_task = event->in_task;
	ktau_events[id].source = event->source;
	/* An id without a group is not in use; pairs with ktau_event_find(). */
	smp_store_release(&ktau_events[id].group, event->group);
}

/**
 * ktau_event_find() - look up an event
 * @id: event
 *
 * Context: Any.
 * Return: The event, of which only @key may change, or NULL if the id is not in use.
 */
const struct ktau_event *ktau_event_find(unsigned int id)
{
	/* Pairs with ktau_event_define(). */
	if (id >= KTAU_NR_IDS || !smp_load_acquire(&ktau_events[id].group))
		return NULL;
	return &ktau_events[id];
}

/**
 * ktau_event_kind() - whether an event is a timer or a counter
 * @id: event, below KTAU_NR_IDS
 *
 * Context: Any.
 * Return: KTAU_KIND_*.
 */
unsigned int ktau_event_kind(unsigned int id)
{
	return READ_ONCE(ktau_events[id].kind);
}

/**
 * ktau_module_group() - the group of an event that a module has registered
 * @fid: its id, or the error that the module got instead
 * @kind: KTAU_KIND_*
 *
 * Context: Any.
 * Return: The group; 0 if there is no such event of this kind.
 */
u32 ktau_module_group(int fid, unsigned int kind)
{
	const struct ktau_event *event = ktau_event_find(fid);

	if (!event || event->source != KTAU_SOURCE_MODULE || event->kind != kind)
		return 0;
	return event->group;
}

/**
 * ktau_event_address() - the function of an event
 * @id: event in use
 *
 * Context: Any.
 * Return: Its address, 0 if the event is not a function.
 */
unsigned long ktau_event_address(unsigned int id)
{
	const struct ktau_event *event = &ktau_events[id];

	switch (event->source) {
	case KTAU_SOURCE_SYSCALL:
		return ktau_syscall_address(event->key);
	case KTAU_SOURCE_STATIC:
	case KTAU_SOURCE_FOREIGN:
	case KTAU_SOURCE_IRQ:
		return 0;
	default:
		return READ_ONCE(event->key);
	}
}

/* Native system calls never change, so they are named when shown. */
static void syscall_name(unsigned int nr, char name[KTAU_EVENT_NAME])
{
	char symbol[KSYM_NAME_LEN];

	if (!lookup_symbol_name(ktau_syscall_address(nr), symbol))
		strscpy(name, symbol, KTAU_EVENT_NAME);
	else
		snprintf(name, KTAU_EVENT_NAME, "sys_%u", nr);
}

/**
 * ktau_event_format_name() - the name of an event, without white space
 * @id: event in use
 * @name: receives the name
 *
 * Context: Any.
 */
void ktau_event_format_name(unsigned int id, char name[KTAU_EVENT_NAME])
{
	const struct ktau_event *event = &ktau_events[id];
	const char *prefix = ktau_source_names[event->source];

	if (event->source == KTAU_SOURCE_SYSCALL)
		syscall_name(id, name);
	else if (event->name)
		strscpy(name, event->name, KTAU_EVENT_NAME);
	else if (event->source == KTAU_SOURCE_IRQ ||
		 event->source == KTAU_SOURCE_FOREIGN)
		snprintf(name, KTAU_EVENT_NAME, "%s:%lu", prefix, event->key);
	else
		snprintf(name, KTAU_EVENT_NAME, "%s:id%u", prefix, id);
}

/**
 * ktau_ids_used() - count the ids of a range that are in use
 * @range: one of ktau_id_ranges
 *
 * Context: Any.
 * Return: The number.
 */
unsigned int ktau_ids_used(const struct ktau_id_range *range)
{
	unsigned int i, used = 0;

	for (i = 0; i < range->count; i++)
		used += !!ktau_event_find(range->first + i);
	return used;
}

static void __init init_static_events(void)
{
	static char softirqs[NR_SOFTIRQS][24];
	struct ktau_event event = { .source = KTAU_SOURCE_STATIC };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(static_events); i++) {
		event.name = static_events[i].name;
		event.group = static_events[i].group;
		ktau_event_define(static_events[i].id, &event, NULL);
	}
	for (i = 0; i < NR_SOFTIRQS; i++) {
		snprintf(softirqs[i], sizeof(softirqs[i]), "softirq:%s",
			 softirq_to_name[i]);
		event.name = softirqs[i];
		event.group = KTAU_GROUP_BH;
		ktau_event_define(KTAU_ID_SOFTIRQ + i, &event, NULL);
	}
}

/**
 * ktau_event_init() - fill in the events whose ids are fixed
 *
 * Context: Boot.
 */
void __init ktau_event_init(void)
{
	struct ktau_event event = {
		.group = KTAU_GROUP_SYSCALL,
		.source = KTAU_SOURCE_SYSCALL,
	};
	unsigned int i;

	for (i = 0; i < KTAU_NR_SYSCALLS; i++) {
		event.key = i;
		ktau_event_define(i, &event, NULL);
	}
	init_static_events();
}
