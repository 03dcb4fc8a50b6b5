// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: how events get their ids.
 *
 * An id is the index of an event in the table of each owner. Each source of events has a
 * range of ids of its own (ktau_id_ranges), so no source can use up the ids of another:
 *
 *  - System calls, native and foreign, and interrupt lines: the first id of the range
 *    plus the number. Numbers beyond the range share the "other" event of their source.
 *  - Static events, known at build time: enum ktau_static_id.
 *  - Points (KTAU_SCOPE() and similar macros): the next free id at first execution, so
 *    events that occur together share chunks of the tables. Each point in vmlinux has an
 *    id reserved; the remaining ids are for points in modules. A point without an id is
 *    not measured, and is counted as refused.
 *  - Events of modules: the next free id when a module asks for one by name. The id of
 *    a name stays, so a module that is loaded again gets the same one.
 *  - Functions hooked at run time: the next free id when a function is first hooked.
 *  - Callbacks: the next free id of their kind, looked up by a hash of the function. When
 *    the ids of a kind are used up, new functions share its "other" event.
 *
 * Lookups take no lock. Assigning an id, once for each event, takes id_lock. The loser of
 * a race adopts the winner's id, so no id is lost.
 */
#include <linux/hash.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kallsyms.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "core.h"
#include "event.h"
#include "ids.h"

static DEFINE_RAW_SPINLOCK(id_lock);

/**
 * struct share - ids that are assigned in order
 * @next: the next id to assign; written under id_lock
 * @end: one past the last id
 */
struct share {
	unsigned int next;
	unsigned int end;
};

static struct share vmlinux_points, module_points, modules, functions;
static struct share calls[KTAU_NR_CALLS];

/*
 * Hash table of the ids of callbacks. 0 is a free entry; FORGOTTEN is not the id of any
 * callback. Written under id_lock. There are twice as many entries as ids, and ids are
 * never returned, so the table is at most half full.
 */
#define CALL_HASH_BITS	12
#define FORGOTTEN	KTAU_ID_OTHER_TASKLET
static u16 call_ids[1 << CALL_HASH_BITS];
static_assert(ARRAY_SIZE(call_ids) >= 2 * KTAU_NR_CALLS * KTAU_NR_CALL_IDS);

static bool is_used_up(const struct share *share)
{
	return READ_ONCE(share->next) == share->end;
}

/* Take the next id. Return: the id or KTAU_ID_NONE. id_lock held. */
static unsigned int take_id(struct share *share)
{
	unsigned int id = share->next;

	if (id == share->end)
		return KTAU_ID_NONE;
	WRITE_ONCE(share->next, id + 1);
	return id;
}

static bool is_in_vmlinux(const struct ktau_point *point)
{
	return point >= __start_ktau_points && point < __stop_ktau_points;
}

/* id_lock held. */
static unsigned int point_define(struct ktau_point *point, struct share *share)
{
	const struct ktau_event event = {
		.key = point->address,
		.name = point->name,
		.group = point->group,
		.kind = point->kind & ~KTAU_POINT_IN_TASK,
		.in_task = point->kind & KTAU_POINT_IN_TASK,
		.source = KTAU_SOURCE_POINT,
	};
	unsigned int id = take_id(share);

	if (id == KTAU_ID_NONE)
		return id;
	/* The name of a point in a module is unloaded with the module. */
	ktau_event_define(id, &event, is_in_vmlinux(point) ? NULL : point->name);
	/* A CPU that reads the id must find the event filled in. */
	smp_store_release(&point->id, id);
	return id;
}

static noinline unsigned int point_assign(struct ktau_point *point)
{
	struct share *share = is_in_vmlinux(point) ? &vmlinux_points :
						     &module_points;
	unsigned int id = KTAU_ID_NONE;
	unsigned long flags;

	if (in_nmi())
		return id;
	if (!is_used_up(share)) {
		raw_spin_lock_irqsave(&id_lock, flags);
		id = point->id;
		if (id == KTAU_ID_NONE)
			id = point_define(point, share);
		raw_spin_unlock_irqrestore(&id_lock, flags);
	}
	if (id == KTAU_ID_NONE)
		ktau_loss(KTAU_LOSS_NO_ID);
	return id;
}

/**
 * ktau_point_id() - the id of a point, assigned at first execution
 *
 * Context: Any, but no id is assigned in NMI.
 * Return: The id or KTAU_ID_NONE.
 */
unsigned int ktau_point_id(struct ktau_point *point)
{
	unsigned int id = READ_ONCE(point->id);

	return likely(id != KTAU_ID_NONE) ? id : point_assign(point);
}

/* Find the id of @fn. Return: the id, or 0 and in @entry the entry for its id. */
static unsigned int call_find(enum ktau_call call, unsigned long fn, u16 **entry)
{
	unsigned int i = hash_long(fn ^ call, CALL_HASH_BITS), id;

	while ((id = READ_ONCE(call_ids[i]))) {
		if (ktau_events[id].key == fn &&
		    ktau_events[id].source == KTAU_SOURCE_TASKLET + call)
			return id;
		i = (i + 1) & (ARRAY_SIZE(call_ids) - 1);
	}
	*entry = &call_ids[i];
	return 0;
}

static u32 call_group(enum ktau_call call)
{
	if (call == KTAU_CALL_KTHREAD || call == KTAU_CALL_TASK_WORK)
		return KTAU_GROUP_ACCOUNT;
	return KTAU_GROUP_BH;
}

/* id_lock held. */
static unsigned int call_define(enum ktau_call call, unsigned long fn,
				const char *name, u16 *entry)
{
	const struct ktau_event event = {
		.key = fn,
		.group = call_group(call),
		.kind = KTAU_KIND_TIMER,
		.source = KTAU_SOURCE_TASKLET + call,
	};
	unsigned int id = take_id(&calls[call]);

	if (id == KTAU_ID_NONE)
		return KTAU_ID_OTHER_TASKLET + call;
	ktau_event_define(id, &event, *name ? name : NULL);
	/* Pairs with the address dependency in call_find(). */
	smp_store_release(entry, id);
	return id;
}

static noinline unsigned int call_assign(enum ktau_call call, unsigned long fn)
{
	char symbol[KSYM_NAME_LEN], name[KTAU_NAME_BYTES] = "";
	unsigned long flags;
	unsigned int id;
	u16 *entry;

	if (is_used_up(&calls[call]) || in_nmi())
		return KTAU_ID_OTHER_TASKLET + call;
	if (!lookup_symbol_name(fn, symbol))
		snprintf(name, sizeof(name), "%s:%s",
			 ktau_source_names[KTAU_SOURCE_TASKLET + call], symbol);
	raw_spin_lock_irqsave(&id_lock, flags);
	id = call_find(call, fn, &entry);
	if (!id)
		id = call_define(call, fn, name, entry);
	raw_spin_unlock_irqrestore(&id_lock, flags);
	return id;
}

/**
 * ktau_call_id() - the id of a callback
 *
 * Context: Any.
 * Return: The id; that of the kind's "other" event if none is left.
 */
unsigned int ktau_call_id(enum ktau_call call, void *fn)
{
	u16 *entry;

	return call_find(call, (unsigned long)fn, &entry) ?:
	       call_assign(call, (unsigned long)fn);
}

/**
 * ktau_call_lookup() - find the id of a callback, without assigning one
 *
 * Context: Any.
 * Return: The id, or 0 if the function has none.
 */
unsigned int ktau_call_lookup(enum ktau_call call, void *fn)
{
	u16 *entry;

	return call_find(call, (unsigned long)fn, &entry);
}

/**
 * ktau_ids_forget() - let new functions at old addresses get new ids
 * @gone: whether the function at @fn has been unloaded
 * @data: argument for @gone
 *
 * The ids of unloaded callbacks keep their names and are not used again. Those of hooked
 * functions keep their names, and have no address until the function is hooked again.
 *
 * Context: Task.
 */
void ktau_ids_forget(bool (*gone)(unsigned long fn, const void *data),
		     const void *data)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&id_lock, flags);
	for (i = 0; i < ARRAY_SIZE(call_ids); i++)
		if (call_ids[i] >= KTAU_ID_CALL &&
		    gone(ktau_events[call_ids[i]].key, data))
			WRITE_ONCE(call_ids[i], FORGOTTEN);
	for (i = KTAU_ID_FUNCTION; i < functions.next; i++)
		if (gone(ktau_events[i].key, data))
			WRITE_ONCE(ktau_events[i].key, 0);
	raw_spin_unlock_irqrestore(&id_lock, flags);
}

/* Append ":" and the names of a line's handlers, separated by commas. */
static void add_handlers(char *name, size_t len, unsigned int irq)
{
	struct irq_desc *desc = irq_to_desc(irq);
	const struct irqaction *action;
	unsigned long flags;
	char before = ':';

	if (!desc)
		return;
	/* The lock keeps the handlers from being freed. */
	raw_spin_lock_irqsave(&desc->lock, flags);
	for (action = desc->action; action; action = action->next) {
		if (!action->name)
			continue;
		len += scnprintf(name + len, KTAU_NAME_BYTES - len, "%c%s", before,
				 action->name);
		before = ',';
	}
	raw_spin_unlock_irqrestore(&desc->lock, flags);
}

static noinline void irq_assign(unsigned int irq)
{
	const struct ktau_event event = {
		.key = irq,
		.group = KTAU_GROUP_IRQ,
		.kind = KTAU_KIND_TIMER,
		.source = KTAU_SOURCE_IRQ,
	};
	char name[KTAU_NAME_BYTES];
	unsigned long flags;

	add_handlers(name, scnprintf(name, sizeof(name), "irq:%u", irq), irq);
	raw_spin_lock_irqsave(&id_lock, flags);
	if (!ktau_events[KTAU_ID_IRQ + irq].group)
		ktau_event_define(KTAU_ID_IRQ + irq, &event, name);
	raw_spin_unlock_irqrestore(&id_lock, flags);
}

/**
 * ktau_irq_id() - the id of a device interrupt
 *
 * Context: Any but NMI, not under the lock of the interrupt line.
 * Return: The id; that of irq:other for lines beyond the range.
 */
unsigned int ktau_irq_id(unsigned int irq)
{
	if (unlikely(irq >= KTAU_NR_LINES))
		return KTAU_ID_OTHER_IRQ;
	if (unlikely(!READ_ONCE(ktau_events[KTAU_ID_IRQ + irq].group)))
		irq_assign(irq);
	return KTAU_ID_IRQ + irq;
}

static noinline void compat_assign(unsigned int nr)
{
	const struct ktau_event event = {
		.key = nr,
		.group = KTAU_GROUP_SYSCALL,
		.kind = KTAU_KIND_TIMER,
		.source = KTAU_SOURCE_FOREIGN,
	};
	unsigned long flags;

	raw_spin_lock_irqsave(&id_lock, flags);
	if (!ktau_events[KTAU_ID_FOREIGN + nr].group)
		ktau_event_define(KTAU_ID_FOREIGN + nr, &event, NULL);
	raw_spin_unlock_irqrestore(&id_lock, flags);
}

/**
 * ktau_compat_id() - the id of a system call of another ABI
 * @nr: its number in that ABI
 *
 * Context: Any but NMI.
 * Return: The id; that of compat:other for numbers beyond the range.
 */
unsigned int ktau_compat_id(unsigned int nr)
{
	if (unlikely(nr >= KTAU_NR_FOREIGN))
		return KTAU_ID_OTHER_COMPAT;
	if (unlikely(!READ_ONCE(ktau_events[KTAU_ID_FOREIGN + nr].group)))
		compat_assign(nr);
	return KTAU_ID_FOREIGN + nr;
}

/* The id of the module event called @name, or KTAU_ID_NONE. id_lock held. */
static unsigned int module_find(const char *name)
{
	unsigned int id;

	for (id = KTAU_ID_MODULE; id < modules.next; id++)
		if (!strcmp(ktau_events[id].name, name))
			return id;
	return KTAU_ID_NONE;
}

/* id_lock held. */
static int module_define(u32 group, unsigned int kind, const char *name)
{
	const struct ktau_event event = {
		.group = group,
		.kind = kind,
		.source = KTAU_SOURCE_MODULE,
	};
	unsigned int id;

	if (!ktau_event_has_room())
		return -ENOSPC;
	id = take_id(&modules);
	if (id == KTAU_ID_NONE)
		return -ENOSPC;
	ktau_event_define(id, &event, name);
	return id;
}

/**
 * ktau_module_id() - the id of an event that a module registers
 * @kind: KTAU_KIND_*
 * @name: its name, printable and shorter than KTAU_NAME_BYTES; copied
 *
 * Context: Any but NMI.
 * Return: The id; the same one for the same name. -EEXIST if an event of that name has
 * another group or kind, -ENOSPC if no id or no room for the name is left.
 */
int ktau_module_id(u32 group, unsigned int kind, const char *name)
{
	unsigned long flags;
	int id;

	raw_spin_lock_irqsave(&id_lock, flags);
	id = module_find(name);
	if (id == KTAU_ID_NONE)
		id = module_define(group, kind, name);
	else if (ktau_events[id].group != group || ktau_events[id].kind != kind)
		id = -EEXIST;
	raw_spin_unlock_irqrestore(&id_lock, flags);
	return id;
}

/* The id of the hooked function @fn, or KTAU_ID_NONE. id_lock held. */
static unsigned int function_find(unsigned long fn)
{
	unsigned int id;

	for (id = KTAU_ID_FUNCTION; id < functions.next; id++)
		if (ktau_events[id].key == fn)
			return id;
	return KTAU_ID_NONE;
}

/* The id of an unloaded function called @name, now for @fn, or KTAU_ID_NONE. id_lock held. */
static unsigned int function_again(unsigned long fn, const char *name)
{
	unsigned int id;

	for (id = KTAU_ID_FUNCTION; id < functions.next; id++) {
		if (!ktau_events[id].key && !strcmp(ktau_events[id].name, name)) {
			WRITE_ONCE(ktau_events[id].key, fn);
			return id;
		}
	}
	return KTAU_ID_NONE;
}

/* id_lock held. */
static unsigned int function_define(unsigned long fn, const char *name)
{
	const struct ktau_event event = {
		.key = fn,
		.group = KTAU_GROUP_FUNC,
		.kind = KTAU_KIND_TIMER,
		.source = KTAU_SOURCE_FUNCTION,
	};
	unsigned int id = KTAU_ID_NONE;

	if (ktau_event_has_room())
		id = take_id(&functions);
	if (id != KTAU_ID_NONE)
		ktau_event_define(id, &event, name);
	return id;
}

/**
 * ktau_function_id() - the id of a function that is to be hooked
 *
 * The name of the event has a prefix: many functions also have a hook in the source, or are
 * system calls.
 *
 * Context: Any but NMI.
 * Return: The id; the same one for the same function, and for a function that has the name of
 * an unloaded one. KTAU_ID_NONE if no id or no room for the name is left.
 */
unsigned int ktau_function_id(unsigned long fn, const char *function)
{
	char name[KTAU_NAME_BYTES];
	unsigned long flags;
	unsigned int id;

	snprintf(name, sizeof(name), "%s:%s", ktau_source_names[KTAU_SOURCE_FUNCTION],
		 function);
	raw_spin_lock_irqsave(&id_lock, flags);
	id = function_find(fn);
	if (id == KTAU_ID_NONE)
		id = function_again(fn, name);
	if (id == KTAU_ID_NONE)
		id = function_define(fn, name);
	raw_spin_unlock_irqrestore(&id_lock, flags);
	return id;
}

/**
 * ktau_ids_init() - divide the ids between the sources
 *
 * Context: Boot.
 */
void __init ktau_ids_init(void)
{
	unsigned int nr = __stop_ktau_points - __start_ktau_points;
	unsigned int i;

	if (nr > KTAU_NR_POINTS) {
		pr_warn("ktau: %u points and only %u ids for them\n", nr,
			KTAU_NR_POINTS);
		nr = KTAU_NR_POINTS;
	}
	vmlinux_points = (struct share) { KTAU_ID_POINT, KTAU_ID_POINT + nr };
	module_points = (struct share) { KTAU_ID_POINT + nr, KTAU_ID_FOREIGN };
	modules = (struct share) { KTAU_ID_MODULE, KTAU_ID_FUNCTION };
	functions = (struct share) { KTAU_ID_FUNCTION, KTAU_NR_IDS };
	for (i = 0; i < KTAU_NR_CALLS; i++) {
		calls[i].next = KTAU_ID_CALL + i * KTAU_NR_CALL_IDS;
		calls[i].end = calls[i].next + KTAU_NR_CALL_IDS;
	}
}
