// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: ids.
 *
 * A table of KTAU_NR_IDS, indexed by id. Native system calls have their number;
 * what is known when the kernel is built follows; everything else gets the next
 * id when it first runs and keeps it until reboot:
 *
 *  - static points (KTAU_SCOPE() and its like) remember their id themselves;
 *  - callbacks, interrupt lines and system calls of another ABI have no place
 *    of their own and are found by a hash of what they are. When the ids have run
 *    out they share the "other" of their kind, so no time is lost.
 *
 * No locks: an id is filled in first and then published by one compare-and-
 * exchange. Who loses that race uses the winner's id; his own stays unused.
 */
#include <linux/hash.h>
#include <linux/interrupt.h>
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "ktau.h"

enum ktau_source {
	SOURCE_TASKLET = KTAU_CALL_TASKLET,
	SOURCE_WORK = KTAU_CALL_WORK,
	SOURCE_TIMER = KTAU_CALL_TIMER,
	SOURCE_HRTIMER = KTAU_CALL_HRTIMER,
	SOURCE_IRQ,
	SOURCE_COMPAT,
	NR_KEYED_SOURCES,
	SOURCE_SYSCALL = NR_KEYED_SOURCES,
	SOURCE_POINT,
};

static const struct {
	const char *prefix;
	u16 group;
	u16 other_id;
} sources[NR_KEYED_SOURCES] = {
	[SOURCE_TASKLET] = { "tasklet", KTAU_GROUP_BH, KTAU_ID_OTHER_TASKLET },
	[SOURCE_WORK] = { "work", KTAU_GROUP_BH, KTAU_ID_OTHER_WORK },
	[SOURCE_TIMER] = { "timer", KTAU_GROUP_BH, KTAU_ID_OTHER_TIMER },
	[SOURCE_HRTIMER] = { "hrtimer", KTAU_GROUP_BH, KTAU_ID_OTHER_HRTIMER },
	[SOURCE_IRQ] = { "irq", KTAU_GROUP_IRQ, KTAU_ID_OTHER_IRQ },
	[SOURCE_COMPAT] = { "compat", KTAU_GROUP_SYSCALL, KTAU_ID_OTHER_COMPAT },
};

static const struct {
	unsigned int id;
	u16 group;
	const char *name;
} static_events[] = {
	{ KTAU_ID_PAGE_FAULT_USER, KTAU_GROUP_EXCEPTION, "page_fault_user" },
	{ KTAU_ID_PAGE_FAULT_KERNEL, KTAU_GROUP_EXCEPTION, "page_fault_kernel" },
	{ KTAU_ID_DEBUG, KTAU_GROUP_EXCEPTION, "exc_debug" },
	{ KTAU_ID_SCHEDULE, KTAU_GROUP_SCHED, "schedule" },
	{ KTAU_ID_SCHEDULE_VOL, KTAU_GROUP_SCHED, "schedule_vol" },
	{ KTAU_ID_SCHEDULE_YLD, KTAU_GROUP_SCHED, "schedule_yld" },
	{ KTAU_ID_SCHEDULE_WAIT, KTAU_GROUP_SCHED, "schedule_wait" },
	{ KTAU_ID_OTHER_TASKLET, KTAU_GROUP_BH, "tasklet:other" },
	{ KTAU_ID_OTHER_WORK, KTAU_GROUP_BH, "work:other" },
	{ KTAU_ID_OTHER_TIMER, KTAU_GROUP_BH, "timer:other" },
	{ KTAU_ID_OTHER_HRTIMER, KTAU_GROUP_BH, "hrtimer:other" },
	{ KTAU_ID_OTHER_IRQ, KTAU_GROUP_IRQ, "irq:other" },
	{ KTAU_ID_OTHER_COMPAT, KTAU_GROUP_SYSCALL, "compat:other" },
	{ KTAU_ID_INTERRUPTS, KTAU_GROUP_IRQ, "interrupts" },
};

static_assert(KTAU_ID_SOFTIRQ + NR_SOFTIRQS <= KTAU_ID_DYNAMIC);
static_assert(KTAU_NR_SYSCALLS <= KTAU_ID_STATIC);

#define NR_DYNAMIC	(KTAU_NR_IDS - KTAU_ID_DYNAMIC)
#define HASH_BITS_IDS	10
#define DYNAMIC_NAME	48

static struct ktau_event events[KTAU_NR_IDS];
/* Copies, for a point may lie in a module. */
static char dynamic_names[NR_DYNAMIC][DYNAMIC_NAME];
static atomic_t next_id = ATOMIC_INIT(KTAU_ID_DYNAMIC);
/* Ids, found by hash; 0 is free: system call 0 never gets here. */
static u32 keyed[1 << HASH_BITS_IDS];

/* A fresh id, filled in but not yet published; KTAU_ID_NONE if there is none. */
static unsigned int new_id(unsigned long key, const char *name, u16 group,
			   u8 kind, u8 source)
{
	int id = atomic_fetch_add_unless(&next_id, 1, KTAU_NR_IDS);
	struct ktau_event *event;

	if (id == KTAU_NR_IDS) {
		ktau_loss(KTAU_LOSS_NO_ID);
		return KTAU_ID_NONE;
	}
	event = &events[id];
	if (name) {
		event->name = dynamic_names[id - KTAU_ID_DYNAMIC];
		strscpy(dynamic_names[id - KTAU_ID_DYNAMIC], name, DYNAMIC_NAME);
	}
	event->key = key;
	event->kind = kind;
	event->source = source;
	/* What has no group is not in use: see ktau_event(). */
	smp_store_release(&event->group, group);
	return id;
}

static void drop_id(unsigned int id)
{
	WRITE_ONCE(events[id].group, 0);
}

static noinline unsigned int point_assign(struct ktau_point *point)
{
	unsigned int id = new_id(point->address, point->name, point->group,
				 point->kind, SOURCE_POINT);
	u32 old;

	if (id == KTAU_ID_NONE)
		return id;
	old = cmpxchg(&point->id, KTAU_ID_NONE, id);
	if (old == KTAU_ID_NONE)
		return id;
	drop_id(id);
	return old;
}

/**
 * ktau_point_id() - the id of a static point, assigned at its first execution
 * @point: the point
 *
 * Context: Any.
 * Return: The id, or KTAU_ID_NONE if none was left.
 */
unsigned int ktau_point_id(struct ktau_point *point)
{
	unsigned int id = READ_ONCE(point->id);

	return likely(id != KTAU_ID_NONE) ? id : point_assign(point);
}

static noinline unsigned int keyed_assign(u32 *place, unsigned long key,
					  enum ktau_source source)
{
	unsigned int id = new_id(key, NULL, sources[source].group,
				 KTAU_KIND_TIMER, source);
	u32 old;

	if (id == KTAU_ID_NONE)
		return sources[source].other_id;
	old = cmpxchg(place, 0, id);
	if (!old)
		return id;
	drop_id(id);
	if (events[old].key == key && events[old].source == source)
		return old;
	/* Another key got the place between the look and the exchange. */
	return sources[source].other_id;
}

static unsigned int keyed_id(unsigned long key, enum ktau_source source)
{
	unsigned int i = hash_long(key ^ source, HASH_BITS_IDS);
	u32 id;

	/* Never full: it has more places than there are dynamic ids. */
	static_assert(ARRAY_SIZE(keyed) > NR_DYNAMIC);

	while ((id = READ_ONCE(keyed[i]))) {
		if (events[id].key == key && events[id].source == source)
			return id;
		i = (i + 1) & (ARRAY_SIZE(keyed) - 1);
	}
	return keyed_assign(&keyed[i], key, source);
}

/**
 * ktau_call_id() - the id of a callback
 * @call: what it is
 * @fn: its function
 *
 * Context: Any.
 * Return: The id; that of the kind's "other" if none was left.
 */
unsigned int ktau_call_id(enum ktau_call call, void *fn)
{
	return keyed_id((unsigned long)fn, (enum ktau_source)call);
}

/**
 * ktau_irq_id() - the id of a device interrupt
 * @irq: its line
 *
 * Context: Any.
 * Return: The id; that of irq:other if none was left.
 */
unsigned int ktau_irq_id(unsigned int irq)
{
	return keyed_id(irq, SOURCE_IRQ);
}

/**
 * ktau_compat_id() - the id of a system call that is not of the native ABI
 * @nr: its number in that ABI
 *
 * Context: Any.
 * Return: The id; that of compat:other if none was left.
 */
unsigned int ktau_compat_id(unsigned int nr)
{
	return keyed_id(nr, SOURCE_COMPAT);
}

/**
 * ktau_event() - what an id stands for
 * @id: event, below KTAU_NR_IDS
 *
 * Context: Any.
 * Return: The event, or NULL if the id is not in use.
 */
const struct ktau_event *ktau_event(unsigned int id)
{
	/* Pairs with new_id(). */
	return smp_load_acquire(&events[id].group) ? &events[id] : NULL;
}

/**
 * ktau_event_source() - where an event comes from
 * @id: event in use
 *
 * Context: Any.
 * Return: KTAU_SOURCE_*.
 */
unsigned int ktau_event_source(unsigned int id)
{
	static const u8 abi[] = {
		[SOURCE_TASKLET] = KTAU_SOURCE_TASKLET,
		[SOURCE_WORK] = KTAU_SOURCE_WORK,
		[SOURCE_TIMER] = KTAU_SOURCE_TIMER,
		[SOURCE_HRTIMER] = KTAU_SOURCE_HRTIMER,
		[SOURCE_IRQ] = KTAU_SOURCE_IRQ,
		[SOURCE_COMPAT] = KTAU_SOURCE_FOREIGN,
		[SOURCE_SYSCALL] = KTAU_SOURCE_SYSCALL,
		[SOURCE_POINT] = KTAU_SOURCE_POINT,
	};

	if (id >= KTAU_ID_STATIC && id < KTAU_ID_DYNAMIC)
		return KTAU_SOURCE_STATIC;
	return abi[events[id].source];
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
	return READ_ONCE(events[id].kind);
}

/**
 * ktau_event_address() - the function that an event is about
 * @id: event in use
 *
 * Context: Any.
 * Return: Its address; 0 where the event is no function.
 */
unsigned long ktau_event_address(unsigned int id)
{
	const struct ktau_event *event = &events[id];

	if (event->source == SOURCE_IRQ || event->source == SOURCE_COMPAT)
		return 0;
	return event->key;
}

/**
 * ktau_event_name() - the name of an event, without blanks
 * @id: event in use
 * @name: where it goes
 *
 * Context: Any.
 */
void ktau_event_name(unsigned int id, char name[KTAU_EVENT_NAME])
{
	const struct ktau_event *event = &events[id];
	char symbol[KSYM_NAME_LEN];
	bool named;

	if (event->name) {
		strscpy(name, event->name, KTAU_EVENT_NAME);
		return;
	}
	named = ktau_event_address(id) &&
		!lookup_symbol_name(event->key, symbol);
	if (event->source == SOURCE_SYSCALL && named)
		strscpy(name, symbol, KTAU_EVENT_NAME);
	else if (event->source == SOURCE_SYSCALL)
		snprintf(name, KTAU_EVENT_NAME, "sys_%u", id);
	else if (named)
		snprintf(name, KTAU_EVENT_NAME, "%s:%s",
			 sources[event->source].prefix, symbol);
	else if (ktau_event_address(id))
		snprintf(name, KTAU_EVENT_NAME, "%s:id%u",
			 sources[event->source].prefix, id);
	else
		snprintf(name, KTAU_EVENT_NAME, "%s:%lu",
			 sources[event->source].prefix, event->key);
}

/**
 * ktau_event_init() - fill in the ids that are known beforehand
 *
 * Context: Boot.
 */
void __init ktau_event_init(void)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_SYSCALLS; i++)
		events[i] = (struct ktau_event) {
			.key = ktau_syscall_address(i),
			.group = KTAU_GROUP_SYSCALL,
			.source = SOURCE_SYSCALL,
		};
	for (i = 0; i < ARRAY_SIZE(static_events); i++)
		events[static_events[i].id] = (struct ktau_event) {
			.name = static_events[i].name,
			.group = static_events[i].group,
			.source = SOURCE_POINT,
		};
	for (i = 0; i < NR_SOFTIRQS; i++) {
		static char names[NR_SOFTIRQS][24];

		snprintf(names[i], sizeof(names[i]), "softirq:%s",
			 softirq_to_name[i]);
		events[KTAU_ID_SOFTIRQ + i] = (struct ktau_event) {
			.name = names[i],
			.group = KTAU_GROUP_BH,
			.source = SOURCE_POINT,
		};
	}
}
