// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: removing from a record what its reader may not see.
 *
 * A rounded profile shows what its task did itself. Interrupts of the task may do work
 * for other users, so all of them are merged into one row. That accounts for their time,
 * but does not show when other users received network traffic or disk data.
 */
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/uaccess.h>

#include "base/event.h"
#include "describe.h"
#include "redact.h"
#include "stream.h"

/*
 * Events that only occur in task context, although their groups also have events in
 * interrupts. A new event counts as an interrupt until it is added here.
 */
static const char * const task_only[] = {
	"tcp_close", "tcp_recvmsg", "tcp_sendmsg",
	"tcp_v4_connect", "tcp_v6_connect",
	"collect_signal", "handle_signal",
};

/**
 * ktau_is_interrupt() - whether an event may occur in an interrupt
 * @id: event
 *
 * A table does not contain the context in which a function ran.
 *
 * Context: Task.
 * Return: Whether it is an interrupt, or may be called by one.
 */
bool ktau_is_interrupt(unsigned int id)
{
	const u32 in_tasks = KTAU_GROUP_SYSCALL | KTAU_GROUP_SCHED |
				KTAU_GROUP_EXCEPTION | KTAU_GROUP_SOCKET |
				KTAU_GROUP_WAIT | KTAU_GROUP_KVM |
				KTAU_GROUP_ACCOUNT;
	const struct ktau_event *event = ktau_event_find(id);
	unsigned int i;

	if (!event || (event->group & in_tasks))
		return false;
	if (event->group & (KTAU_GROUP_IRQ | KTAU_GROUP_BH))
		return event->source != KTAU_SOURCE_WORK;
	for (i = 0; event->name && i < ARRAY_SIZE(task_only); i++)
		if (!strcmp(event->name, task_only[i]))
			return false;
	return true;
}

/* Round to whole microseconds, in ticks. */
static u64 round_us(u64 ticks, u64 hz)
{
	u64 us = mul_u64_u64_div_u64(ticks, USEC_PER_SEC, max(hz, 1ULL));

	return mul_u64_u64_div_u64(us, hz, USEC_PER_SEC);
}

static void round_entry(struct ktau_entry *entry, u64 hz)
{
	if (entry->kind != KTAU_KIND_TIMER)
		return;
	entry->incl = round_us(entry->incl, hz);
	entry->excl = round_us(entry->excl, hz);
	entry->longest = round_us(entry->longest, hz);
	entry->asleep = round_us(entry->asleep, hz);
	entry->runq = round_us(entry->runq, hz);
	entry->irq = 0;
	entry->flags &= ~KTAU_ENTRY_IRQ;
}

/*
 * Merge all interrupts into one entry, in the order of ids. Counters in interrupts have
 * no time and are dropped. The sum of the exclusive times is all the time that interrupts
 * took. Return: the number of entries, which does not increase.
 */
static u32 merge_interrupts(struct ktau_entry *entry, u32 nr)
{
	struct ktau_entry all = { .id = KTAU_ID_INTERRUPTS };
	u32 from, to = 0, at;

	for (from = 0; from < nr; from++) {
		if (!ktau_is_interrupt(entry[from].id)) {
			entry[to++] = entry[from];
		} else if (entry[from].kind == KTAU_KIND_TIMER) {
			all.count += entry[from].count;
			all.excl += entry[from].excl;
		}
	}
	if (!all.count)
		return to;
	all.incl = all.excl;
	for (at = to; at && entry[at - 1].id > all.id; at--)
		entry[at] = entry[at - 1];
	entry[at] = all;
	return to + 1;
}

/* Remove an open interrupt, and the frames inside it. */
static void cut_open(struct ktau_rec_profile *rec, struct ktau_open *open)
{
	u32 cut;

	for (cut = rec->nr_open; cut; cut--)
		if (ktau_is_interrupt(open[cut - 1].id))
			break;
	rec->nr_open -= cut;
	rec->depth -= cut;
	memmove(open, open + cut, rec->nr_open * sizeof(*open));
}

/*
 * Round the open frames. Their children cannot have taken more than @left, the sum of all
 * entries.
 */
static void round_open(struct ktau_rec_profile *rec, struct ktau_open *open,
		       u64 left, u64 hz)
{
	u64 children = 0;
	u32 i;

	for (i = 0; i < rec->nr_open; i++) {
		open[i].start_ticks = round_us(open[i].start_ticks, hz);
		open[i].child_ticks = min(round_us(open[i].child_ticks, hz),
					  left - children);
		children += open[i].child_ticks;
		open[i].asleep_ticks = round_us(open[i].asleep_ticks, hz);
		open[i].runq_ticks = round_us(open[i].runq_ticks, hz);
		open[i].irq_ticks = 0;
	}
	/* Frames beyond those listed are left out. */
	rec->open_child_ticks = children;
}

static void round_account(struct ktau_rec_profile *rec, u64 hz)
{
	rec->user_ticks = round_us(rec->user_ticks, hz);
	rec->kernel_ticks = round_us(rec->kernel_ticks, hz);
	rec->irq_ticks = round_us(rec->irq_ticks, hz);
	rec->runq_ticks = round_us(rec->runq_ticks, hz);
	rec->asleep_ticks = round_us(rec->asleep_ticks, hz);
	rec->guest_ticks = round_us(rec->guest_ticks, hz);
}

/**
 * ktau_redact_profile() - round a profile to 1 us, and merge its interrupts into one row
 * @rec: the profile, followed by room for two more open frames
 * @hz: ticks per second
 *
 * The result still satisfies: sum of excl + refused_ticks = outer_ticks +
 * open_child_ticks.
 *
 * Context: Task.
 */
void ktau_redact_profile(struct ktau_rec_profile *rec, u64 hz)
{
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);
	struct ktau_open *open = (struct ktau_open *)(entry + rec->nr_entries);
	u64 sum;
	u32 i;

	/* Move the frames out of the way of the entries, and later back to their end. */
	memmove(open + 2, open, rec->nr_open * sizeof(*open));
	static_assert(2 * sizeof(*open) >= sizeof(*entry));
	open += 2;
	rec->nr_entries = merge_interrupts(entry, rec->nr_entries);
	cut_open(rec, open);
	memmove(entry + rec->nr_entries, open, rec->nr_open * sizeof(*open));
	open = (struct ktau_open *)(entry + rec->nr_entries);

	rec->refused_ticks = round_us(rec->refused_ticks, hz);
	sum = rec->refused_ticks;
	for (i = 0; i < rec->nr_entries; i++) {
		round_entry(&entry[i], hz);
		if (entry[i].kind == KTAU_KIND_TIMER)
			sum += entry[i].excl;
	}
	round_open(rec, open, sum, hz);
	rec->outer_ticks = sum - rec->open_child_ticks;
	rec->ticks = round_us(rec->ticks, hz);
	rec->start_ticks = round_us(rec->start_ticks, hz);
	round_account(rec, hz);
	rec->rec.size = sizeof(*rec) + rec->nr_entries * sizeof(*entry) +
			rec->nr_open * sizeof(*open);
}

/**
 * ktau_redact_region() - round a region's part of a profile, and merge its interrupts
 * @rec: the region, which does not become larger
 * @hz: ticks per second
 *
 * Context: Task.
 */
void ktau_redact_region(struct ktau_rec_region *rec, u64 hz)
{
	struct ktau_entry *entry = (struct ktau_entry *)(rec + 1);
	u32 i;

	rec->nr_entries = merge_interrupts(entry, rec->nr_entries);
	for (i = 0; i < rec->nr_entries; i++)
		round_entry(&entry[i], hz);
	rec->rec.size = sizeof(*rec) + rec->nr_entries * sizeof(*entry);
}

/* Whether @serial belongs to another user and must not be shown to this reader. */
static bool is_hidden(struct ktau_stream *stream, u64 serial)
{
	return serial && !(stream->access & KTAU_ACCESS_SERIALS) &&
	       !ktau_named_visible(stream, serial);
}

/* Addresses of page faults in the kernel reveal its memory layout. */
static void redact_fault(const struct ktau_stream *stream, struct ktau_slot *slot)
{
	u64 *address = (u64 *)(slot + 1);

	if (slot->words * sizeof(u64) > sizeof(*slot) &&
	    *address >= TASK_SIZE_MAX && !(stream->access & KTAU_ACCESS_ADDRESSES))
		*address = 0;
}

static void redact_others(struct ktau_stream *stream, struct ktau_slot *slot)
{
	struct ktau_slot_switch *to = (void *)(slot + 1);
	struct ktau_slot_waking *waking = (void *)(slot + 1);
	struct ktau_slot_woken *woken = (void *)(slot + 1);

	switch (slot->type) {
	case KTAU_TRACE_SWITCH:
		if (is_hidden(stream, to->next_serial)) {
			to->next_serial = 0;
			to->next_prio = -1;
		}
		break;
	case KTAU_TRACE_WAKING:
		if (is_hidden(stream, waking->serial)) {
			waking->serial = 0;
			waking->prio = -1;
		}
		break;
	case KTAU_TRACE_WOKEN:
		if (is_hidden(stream, woken->waker_serial))
			woken->waker_serial = 0;
		break;
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		/*
		 * A softirq handles segments of all users, whatever task it interrupts.
		 */
		if (slot->ctx != KTAU_CTX_TASK)
			memset(slot + 1, 0, slot->words * sizeof(u64) -
			       sizeof(*slot));
		break;
	}
}

/**
 * ktau_redact_trace() - remove from a trace what the reader may not see
 * @stream: the stream, whose body is the trace
 *
 * This is what belongs to other users, and kernel addresses.
 *
 * Context: May sleep.
 */
void ktau_redact_trace(struct ktau_stream *stream)
{
	struct ktau_rec_trace *rec = stream->body.p;
	struct ktau_slot *slot = (struct ktau_slot *)(rec + 1);
	u32 i;

	for (i = 0; i < rec->nr_slots; i++) {
		if (slot->type == KTAU_TRACE_ENTER)
			redact_fault(stream, slot);
		else if (!(stream->access & KTAU_ACCESS_ALL))
			redact_others(stream, slot);
		slot = (void *)slot + slot->words * sizeof(u64);
	}
}
