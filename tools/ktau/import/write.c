// SPDX-License-Identifier: GPL-2.0-only
/* Writes the records of an import: streams of slots, and a stream of profiles at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "import.h"

enum { TARGET = KTAU_TARGET_ALL | KTAU_TARGET_EXITED };

static int put(struct import *im, const void *record)
{
	return ktau_writer_put(im->writer, record);
}

static uint32_t aligned(size_t bytes)
{
	return (uint32_t)((bytes + 7) & ~(size_t)7);
}

/* The groups whose events the trace has. The account needs switches and system calls. */
static uint32_t groups_of(const struct import *im)
{
	uint32_t groups = 0;

	if (im->seen & IMPORT_SEEN_SWITCH)
		groups |= KTAU_GROUP_SCHED;
	if (im->seen & IMPORT_SEEN_SYSCALL)
		groups |= KTAU_GROUP_SYSCALL;
	if (im->seen & IMPORT_SEEN_IRQ)
		groups |= KTAU_GROUP_IRQ;
	if (im->seen & IMPORT_SEEN_SOFTIRQ)
		groups |= KTAU_GROUP_BH;
	if (im->seen & IMPORT_SEEN_KVM)
		groups |= KTAU_GROUP_KVM;
	if (groups & KTAU_GROUP_SCHED && groups & KTAU_GROUP_SYSCALL)
		groups |= KTAU_GROUP_ACCOUNT;
	return groups;
}

static int put_info(struct import *im)
{
	size_t command = strlen(im->command) + 1, size = aligned(sizeof(struct ktau_rec_info) +
								 command + 2);
	struct ktau_rec_info *info = cli_alloc(NULL, 1, size);
	int err;

	memset(info, 0, size);
	*info = (struct ktau_rec_info){
		.rec = { (uint32_t)size, KTAU_REC_INFO, sizeof(*info) },
		.created_ns = im->begin_ns + (uint64_t)im->host.offset_ns,
		.command_bytes = (uint32_t)command,
		.symbols_bytes = 1,
		.job_bytes = 1,
	};
	memcpy(info->hostname, im->host.nodename, sizeof(info->hostname));
	memcpy(info->release, im->host.release, sizeof(info->release));
	memcpy(info + 1, im->command, command);
	err = put(im, info);
	free(info);
	return err;
}

static int put_stream(struct import *im, uint32_t content)
{
	struct ktau_rec_stream s = {
		.rec = { sizeof(s), KTAU_REC_STREAM, sizeof(s) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = 64,
		.origin = im->ftrace ? KTAU_ORIGIN_FTRACE : KTAU_ORIGIN_LTTNG,
		.content = content,
		.target = TARGET,
		.flags = content == KTAU_REC_TRACE ? KTAU_SELECT_CONSUME : 0,
		.access = KTAU_ACCESS_PROFILE | KTAU_ACCESS_EXACT | KTAU_ACCESS_TRACE |
			  KTAU_ACCESS_SERIALS | KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME |
			  KTAU_ACCESS_ADDRESSES,
		.groups = groups_of(im),
		.groups_built = groups_of(im),
		.modes = KTAU_MODE_PROFILE | KTAU_MODE_TRACE,
		.clock_hz = 1000000000,
		.clock_flags = KTAU_CLOCK_STABLE,
		.nr_cpus = im->nr_cpus ? im->nr_cpus : 1,
		.ticks = im->ns,
		.realtime_ns = im->ns + (uint64_t)im->host.offset_ns,
		.monotonic_ns = im->ns,
		.boottime_ns = im->ns,
		.tai_ns = im->ns + (uint64_t)im->host.offset_ns,
		.boot_ticks = im->begin_ns,
		.boot_monotonic_ns = im->begin_ns,
		.boot_realtime_ns = im->begin_ns + (uint64_t)im->host.offset_ns,
		.exited_next = im->exited + 1,
	};

	memcpy(s.boot_id, im->host.boot_id, sizeof(s.boot_id));
	memcpy(s.nodename, im->host.nodename, sizeof(s.nodename));
	memcpy(s.release, im->host.release, sizeof(s.release));
	return put(im, &s);
}

static int put_end(struct import *im, uint64_t nr_records, uint64_t cut_ticks)
{
	const struct ktau_rec_end end = {
		.rec = { sizeof(end), KTAU_REC_END, sizeof(end) },
		.nr_records = nr_records,
		.cut_ticks = cut_ticks,
		.exited_next = im->exited + 1,
		.exited_first = 1,
	};

	return put(im, &end);
}

static int put_events(struct import *im)
{
	struct {
		struct ktau_rec_event head;
		char name[536];
	} r;
	const struct import_point *point;
	size_t i, bytes;
	int err = 0;

	for (i = 0; !err && i < im->nr_points; i++) {
		point = im->points[i];
		bytes = strlen(point->name) + 1;
		memset(&r, 0, sizeof(r));
		r.head = (struct ktau_rec_event){
			.rec = { aligned(sizeof(r.head) + bytes), KTAU_REC_EVENT, sizeof(r.head) },
			.id = point->id,
			.source = point->source,
			.group = point->group,
			.key = point->key,
			.name_bytes = (uint32_t)bytes,
		};
		if (point->kind == IMPORT_COUNTER)
			r.head.kind = KTAU_KIND_COUNTER;
		if (point->kind == IMPORT_PROGRAM)
			r.head.kind = KTAU_KIND_FIELDS;
		if (point->source == KTAU_SOURCE_SYSCALL)
			r.head.key = point->id;
		if (point->source == KTAU_SOURCE_TIMER || point->source == KTAU_SOURCE_HRTIMER)
			r.head.address = point->key;
		memcpy(r.name, point->name, bytes);
		err = put(im, &r);
	}
	return err;
}

static uint64_t serial_of(struct import *im, int32_t pid)
{
	uintptr_t at = pid > 0 ? hash_get(&im->by_tid, (uint64_t)(uint32_t)pid) : 0;

	return at ? im->tasks[at - 1]->owner.serial : 0;
}

static int put_owner(struct import *im, struct import_task *task, uint32_t flags)
{
	struct ktau_rec_owner owner = task->owner;

	owner.flags |= flags;
	owner.leader_serial = owner.tgid == owner.tid ? owner.serial : serial_of(im, owner.tgid);
	owner.parent_serial = serial_of(im, owner.ppid);
	/* Which part of its time was in user mode is as uncertain as in the account. */
	owner.utime_ns = task->user_ns;
	owner.stime_ns = task->kernel_ns + task->irq_ns + task->unsure_ns;
	task->dirty = false;
	return put(im, &owner);
}

static int put_run(struct import *im, const struct import_task *task, const struct import_run *run,
		   const uint8_t *slots)
{
	size_t size = sizeof(struct ktau_rec_trace) + run->bytes;
	struct ktau_rec_trace *trace = cli_alloc(NULL, 1, size);
	int err;

	*trace = (struct ktau_rec_trace){
		.rec = { (uint32_t)size, KTAU_REC_TRACE, sizeof(*trace) },
		.serial = task->owner.serial,
		.first = run->first,
		.next = run->next,
		.lost = run->lost,
		.lost_from_ticks = run->lost_from_ns,
		.lost_to_ticks = run->lost_to_ns,
		.written = task->position,
		.ring_slots = 64,
		.groups = task->ended ? 0 : groups_of(im) | KTAU_MODE_TRACE,
		.nr_slots = run->nr_slots,
		.slots_bytes = (uint32_t)run->bytes,
	};
	while (trace->ring_slots < run->next - run->first)
		trace->ring_slots *= 2;
	memcpy(trace + 1, slots, run->bytes);
	err = put(im, trace);
	free(trace);
	return err;
}

/* Write the slots of a task, and forget them. */
static int put_runs(struct import *im, struct import_task *task, uint64_t *nr, uint64_t *cut)
{
	const uint8_t *slots = task->slots;
	struct import_run *run;
	int err = put_owner(im, task, 0);

	for (run = task->runs; !err && run < task->runs + task->nr_runs; run++) {
		err = put_run(im, task, run, slots);
		slots += run->bytes;
		++*nr;
		if (run->lost_to_ns > *cut)
			*cut = run->lost_to_ns;
	}
	task->nr_runs = task->slots_bytes = 0;
	if (task->ended) {
		free(task->slots);
		free(task->runs);
		task->slots = NULL;
		task->runs = NULL;
		task->slots_room = task->runs_room = 0;
	}
	return err;
}

static int place(const struct import_task *task)
{
	return task->owner.flags & KTAU_OWNER_IDLE ? 0 : task->ended ? 2 : 1;
}

static int by_place(const void *a, const void *b)
{
	const struct import_task *x = *(struct import_task *const *)a;
	const struct import_task *y = *(struct import_task *const *)b;

	if (place(x) != place(y))
		return place(x) - place(y);
	if (x->ended)
		return x->owner.exited_seq < y->owner.exited_seq ? -1 : 1;
	return x->owner.serial < y->owner.serial ? -1 : 1;
}

/* The tasks as streams have them: idle ones, live ones, exited ones in the order of their ends. */
static struct import_task **in_order(const struct import *im)
{
	struct import_task **tasks = cli_alloc(NULL, im->nr_tasks, sizeof(*tasks));

	if (im->nr_tasks) {
		memcpy(tasks, im->tasks, im->nr_tasks * sizeof(*tasks));
		qsort(tasks, im->nr_tasks, sizeof(*tasks), by_place);
	}
	return tasks;
}

/* Slots name tasks by their serials, so every task that is new or has changed is described. */
static int put_traces(struct import *im)
{
	uint64_t nr = 0, cut = im->begin_ns;
	struct import_task *task, **tasks = in_order(im);
	int err = put_stream(im, KTAU_REC_TRACE);
	size_t i;

	if (!err)
		err = put_events(im);
	if (!err)
		err = import_put_cgroups(im);
	for (i = 0; !err && i < im->nr_tasks; i++) {
		task = tasks[i];
		if (task->nr_runs)
			err = put_runs(im, task, &nr, &cut);
		else if (task->dirty)
			err = put_owner(im, task, task->begun ? 0 : KTAU_OWNER_NAMED);
	}
	free(tasks);
	im->buffered = 0;
	return err ? err : put_end(im, nr, cut);
}

/* Profiles */

static int by_id(const void *a, const void *b)
{
	const struct import_figures *x = a, *y = b;

	return (int)x->entry.id - (int)y->entry.id;
}

/* Entries of events that have ended at least once, in the order of their ids. */
static uint32_t collect(struct import_task *task, struct ktau_entry *entries)
{
	uint32_t nr = 0;
	size_t i;

	if (task->nr_figures)
		qsort(task->figures, task->nr_figures, sizeof(*task->figures), by_id);
	for (i = 0; i < task->nr_figures; i++)
		if (task->figures[i].entry.count)
			entries[nr++] = task->figures[i].entry;
	return nr;
}

static void put_open(const struct import_task *task, struct ktau_rec_profile *p,
		     struct ktau_open *open)
{
	uint32_t i;

	for (i = 0; i < task->depth; i++) {
		open[i] = (struct ktau_open){
			.id = task->frames[task->depth - 1 - i].point->id,
			.start_ticks = task->frames[task->depth - 1 - i].start_ns,
			.child_ticks = task->frames[task->depth - 1 - i].child_ns,
		};
		p->open_child_ticks += open[i].child_ticks;
	}
	p->nr_open = p->depth = task->depth;
}

static uint32_t throughout(const struct import *im, const struct import_task *task)
{
	uint32_t groups = groups_of(im);

	if (task->gap)
		return 0;
	return task->sure || task->owner.flags & KTAU_OWNER_KTHREAD ?
		       groups :
		       groups & ~KTAU_GROUP_ACCOUNT;
}

static int put_profile(struct import *im, struct import_task *task)
{
	size_t size = sizeof(struct ktau_rec_profile) +
		      task->nr_figures * sizeof(struct ktau_entry) +
		      task->depth * sizeof(struct ktau_open);
	struct ktau_rec_profile *p = cli_alloc(NULL, 1, size);
	struct ktau_entry *entries = (struct ktau_entry *)(p + 1);
	int err;

	memset(p, 0, size);
	if (!task->ended)
		import_charge(im, task);
	*p = (struct ktau_rec_profile){
		.rec = { 0, KTAU_REC_PROFILE, sizeof(*p) },
		.serial = task->owner.serial,
		.ticks = task->ended ? task->owner.exit_ns : im->ns,
		.start_ticks = task->start_ns,
		.outer_ticks = task->outer_ns,
		.groups = task->ended ? 0 : groups_of(im) | KTAU_MODE_PROFILE | KTAU_MODE_TRACE,
		.groups_throughout = throughout(im, task),
		.entry_size = sizeof(struct ktau_entry),
		.open_size = sizeof(struct ktau_open),
		.user_ticks = task->user_ns,
		.kernel_ticks = task->kernel_ns + task->unsure_ns,
		.irq_ticks = task->irq_ns,
		.runq_ticks = task->runq_ns,
		.asleep_ticks = task->asleep_ns,
	};
	p->nr_entries = collect(task, entries);
	put_open(task, p, (struct ktau_open *)(entries + p->nr_entries));
	p->rec.size = (uint32_t)(sizeof(*p) + p->nr_entries * sizeof(*entries) +
				 p->nr_open * sizeof(struct ktau_open));
	err = put_owner(im, task, 0);
	if (!err)
		err = put(im, p);
	free(p);
	return err;
}

static int put_profiles(struct import *im)
{
	struct import_task **tasks = in_order(im);
	int err = put_stream(im, KTAU_REC_PROFILE);
	uint64_t nr = 0;
	size_t i;

	if (!err)
		err = put_events(im);
	if (!err)
		err = import_put_cgroups(im);
	for (i = 0; !err && i < im->nr_tasks; i++) {
		if (!tasks[i]->begun)
			continue;
		err = put_profile(im, tasks[i]);
		nr++;
	}
	free(tasks);
	return err ? err : put_end(im, nr, 0);
}

int import_write(struct import *im, bool last)
{
	int err = 0;

	if (!im->opened) {
		err = ktau_writer_open(im->writer, im->output, KTAU_WRITER_COMPACT,
				       im->host.boot_id);
		im->opened = !err;
		if (!err)
			err = put_info(im);
	}
	if (!err)
		err = put_traces(im);
	return err || !last ? err : put_profiles(im);
}

void import_flush(struct import *im)
{
	if (im->buffered >= IMPORT_BUFFER && !im->err)
		im->err = import_write(im, false);
}
