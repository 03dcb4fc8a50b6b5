// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the original's read_data() read, as its list of tasks. */
#include <limits.h>
#include <stdlib.h>

#include <ktau_legacy.h>

#include "internal.h"

/* The list as it grows. */
struct list {
	ktau_output *task;
	int nr;
	int room;
};

void ktau_legacy_unpack_free(ktau_output *list, int nr)
{
	int i;

	for (i = 0; list && i < nr; i++) {
		free(list[i].ent_lst);
		free(list[i].trace_lst);
	}
	free(list);
}

static ktau_output *add_task(struct list *list, pid_t pid)
{
	int room = list->room ? list->room * 2 : 64;
	ktau_output *task;

	if (list->nr == list->room) {
		if (list->nr > INT_MAX / 2)
			return NULL;
		task = reallocarray(list->task, room, sizeof(*task));
		if (!task)
			return NULL;
		list->task = task;
		list->room = room;
	}
	task = &list->task[list->nr++];
	*task = (ktau_output){ .pid = pid };
	return task;
}

static unsigned long long address_of(const struct ktau_events *events, uint32_t id)
{
	const struct ktau_event *event = ktau_events_find(events, id);

	return event ? event->address : 0;
}

static unsigned int saturate(uint64_t count)
{
	return ktau__min(count, UINT_MAX);
}

static void fill_entry(o_ent *to, const struct ktau_entry *from,
		       const struct ktau_rec_profile *p, const struct ktau_events *events)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint32_t i;

	*to = (o_ent){ .index = from->id };
	to->entry.addr = address_of(events, from->id);
	if (from->kind == KTAU_KIND_COUNTER) {
		to->entry.type = KTAU_TYPE_EVENT;
		to->entry.data.event.count = saturate(from->count);
		return;
	}
	to->entry.data.timer.count = saturate(from->count);
	to->entry.data.timer.incl = from->incl;
	to->entry.data.timer.excl = from->excl;
	for (i = 0; i < p->nr_open; i++) {
		if (open[i].id != from->id)
			continue;
		to->entry.nestingLevel++;
		to->entry.data.timer.start = open[i].start_ticks;
	}
}

static int unpack_profile(struct list *list, const struct ktau_rec_profile *p,
			  const struct ktau_events *events)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	ktau_output *task = add_task(list, p->owner.tid);
	uint32_t i;

	if (!task)
		return -ENOMEM;
	task->ent_lst = calloc(p->nr_entries + 1ULL, sizeof(*task->ent_lst));
	if (!task->ent_lst)
		return -ENOMEM;
	task->size = p->nr_entries;
	for (i = 0; i < p->nr_entries; i++)
		fill_entry(&task->ent_lst[i], &entries[i], p, events);
	return 0;
}

static void add_record(ktau_output *task, uint64_t tsc, uint64_t addr, unsigned int type)
{
	task->trace_lst[task->size++] = (ktau_trace){ .tsc = tsc, .addr = addr, .type = type };
}

static int unpack_trace(struct list *list, const struct ktau_rec_trace *t,
			const struct ktau_events *events)
{
	ktau_output *task = add_task(list, t->owner.tid);
	const struct ktau_slot *slot = NULL;

	if (!task)
		return -ENOMEM;
	task->trace_lst = calloc(t->nr_slots + 2ULL, sizeof(*task->trace_lst));
	if (!task->trace_lst)
		return -ENOMEM;
	if (t->lost) {
		add_record(task, t->lost_from_ticks, 0, KTAU_TRACE_START);
		add_record(task, t->lost_to_ticks, 0, KTAU_TRACE_STOP);
	}
	while ((slot = ktau_trace_next(t, slot))) {
		if (slot->type == KTAU_TRACE_ENTER)
			add_record(task, slot->ticks, address_of(events, slot->id),
				   KTAU_TRACE_START);
		else if (slot->type == KTAU_TRACE_EXIT)
			add_record(task, slot->ticks, address_of(events, slot->id),
				   KTAU_TRACE_STOP);
	}
	return 0;
}

static int unpack(struct ktau_reader *reader, int type, struct list *list)
{
	const struct ktau_events *events = ktau_reader_events(reader);
	union ktau_record record;
	bool whole = false;
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		whole = record.rec->type == KTAU_REC_END;
		if (record.rec->type == KTAU_REC_PROFILE && type == KTAU_PROFILE)
			err = unpack_profile(list, record.profile, events);
		else if (record.rec->type == KTAU_REC_TRACE && type == KTAU_TRACE)
			err = unpack_trace(list, record.trace, events);
		else
			err = 0;
		if (err)
			return err;
	}
	/* Behind the last END lies what the buffer had before. */
	return whole && err == -EBADMSG ? 0 : err;
}

int ktau_legacy_unpack(int type, const char *buffer, unsigned long size, ktau_output **plist)
{
	struct list list = { 0 };
	struct ktau_reader *reader;
	int err;

	*plist = NULL;
	if (type != KTAU_PROFILE && type != KTAU_TRACE)
		return -EINVAL;
	err = ktau_reader_create(&reader);
	if (err)
		return err;
	err = ktau_reader_open_memory(reader, buffer, size);
	if (!err)
		err = unpack(reader, type, &list);
	ktau_reader_destroy(reader);
	if (err) {
		ktau_legacy_unpack_free(list.task, list.nr);
		return err;
	}
	*plist = list.task;
	return list.nr;
}
