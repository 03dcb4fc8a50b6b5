// SPDX-License-Identifier: GPL-2.0-only
/* The state of each task: its frames, its account, its profile, and the slots to write. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "import.h"

enum { NAME_BYTES = 528,
       FIRST_ID = 1024,
       FIRST_RUN_BYTES = 4 << 20 };

/* Events */

/* The name of an event is printable ASCII without blanks. */
static void clean(const char *name, char text[NAME_BYTES])
{
	size_t i;

	for (i = 0; i < NAME_BYTES - 1 && name[i]; i++)
		text[i] = isascii(name[i]) && isgraph(name[i]) ? name[i] : '_';
	text[i] = '\0';
}

/* Ids of system calls are in order of appearance, because a trace does not have their numbers. */
static uint16_t next_id(struct import *im, uint8_t source)
{
	if (source == KTAU_SOURCE_SYSCALL)
		return (uint16_t)im->nr_syscalls++;
	return (uint16_t)(FIRST_ID + im->nr_points - im->nr_syscalls);
}

static bool has_room(const struct import *im, uint8_t source)
{
	if (source == KTAU_SOURCE_SYSCALL)
		return im->nr_syscalls < FIRST_ID;
	return im->nr_points < 60000;
}

const struct import_point *import_point(struct import *im, const struct import_point_key *key)
{
	char text[NAME_BYTES];
	struct import_point *point;
	uint64_t hash;
	uintptr_t at;

	clean(key->name, text);
	for (hash = hash_text(text); (at = hash_get(&im->by_name, hash)); hash++)
		if (!strcmp(im->points[at - 1]->name, text))
			return im->points[at - 1];
	if (!*text || !has_room(im, key->source)) {
		im->refused++;
		return NULL;
	}
	point = cli_alloc(NULL, 1, sizeof(*point));
	*point = (struct import_point){
		.id = next_id(im, key->source),
		.kind = key->kind,
		.source = key->source,
		.group = key->group,
		.key = key->key,
		.name = cli_alloc(NULL, 1, strlen(text) + 1),
	};
	strcpy(point->name, text);
	if (im->nr_points == im->points_room) {
		im->points_room = im->points_room ? 2 * im->points_room : 64;
		im->points = cli_alloc(im->points, im->points_room, sizeof(*im->points));
	}
	im->points[im->nr_points++] = point;
	hash_put(&im->by_name, hash, im->nr_points);
	return point;
}

/* Tasks */

static uint64_t tid_key(int64_t tid, uint32_t cpu)
{
	return tid ? (uint64_t)(uint32_t)tid : UINT64_C(1) << 32 | cpu;
}

static struct import_task *add_task(struct import *im, int64_t tid, uint32_t cpu)
{
	struct import_task *task = cli_alloc(NULL, 1, sizeof(*task));

	memset(task, 0, sizeof(*task));
	if (im->nr_tasks == im->tasks_room) {
		im->tasks_room = im->tasks_room ? 2 * im->tasks_room : 64;
		im->tasks = cli_alloc(im->tasks, im->tasks_room, sizeof(*im->tasks));
	}
	im->tasks[im->nr_tasks++] = task;
	task->owner = (struct ktau_rec_owner){
		.rec = { sizeof(task->owner), KTAU_REC_OWNER, sizeof(task->owner) },
		.serial = im->nr_tasks,
		.tid = (int32_t)tid,
		.tgid = (int32_t)tid,
		.prio = 120,
		.nr_tasks = 1,
		.cpu = cpu,
	};
	if (!tid) {
		task->owner.flags = KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD;
		import_name(task, "swapper");
	}
	/* What it did before the trace has no slots. */
	task->position = 1;
	hash_put(&im->by_tid, tid_key(tid, cpu), im->nr_tasks);
	return task;
}

struct import_task *import_last(struct import *im, int64_t tid, uint32_t cpu)
{
	uintptr_t at;

	if (tid < 0 || tid > IMPORT_MOST_TID)
		return NULL;
	at = hash_get(&im->by_tid, tid_key(tid, cpu));
	return at ? im->tasks[at - 1] : add_task(im, tid, cpu);
}

struct import_task *import_task(struct import *im, int64_t tid, uint32_t cpu)
{
	struct import_task *task = import_last(im, tid, cpu);

	return task && task->ended ? add_task(im, tid, cpu) : task;
}

/* Its first event may have the same time, and come before the one of its creator. */
struct import_task *import_fork(struct import *im, int64_t tid)
{
	struct import_task *task = import_task(im, tid, im->cpu);

	if (!task || !tid)
		return NULL;
	if (task->begun && task->start_ns < im->ns) {
		import_gone(im, task);
		task = import_task(im, tid, im->cpu);
	}
	task->owner.start_ns = im->ns;
	task->born = true;
	if (task->position == 1 && !task->nr_runs)
		task->position = 0;
	return task;
}

void import_name(struct import_task *task, const char *comm)
{
	char text[sizeof(task->owner.comm)] = "";

	if (!*comm || (task->owner.flags & KTAU_OWNER_IDLE && !strcmp(comm, "unknown")))
		return;
	memcpy(text, comm, strnlen(comm, sizeof(text) - 1));
	if (!memcmp(text, task->owner.comm, sizeof(text)))
		return;
	memcpy(task->owner.comm, text, sizeof(text));
	task->dirty = true;
}

/* The account */

static bool is_interrupt(enum import_kind kind)
{
	return kind >= IMPORT_SOFTIRQ && kind <= IMPORT_HRTIMER;
}

static bool in_interrupt(const struct import_task *task)
{
	uint32_t i = task->depth;

	while (i--)
		if (is_interrupt(task->frames[i].point->kind))
			return true;
	return false;
}

/* The time off the CPU is divided by the wakeup, if there was one. */
static void charge_off(struct import_task *task, uint64_t ns)
{
	uint64_t woken_ns = task->preempted ? task->since_ns : ns;

	if (task->woken && !task->preempted && task->woken_by.waking_ticks < ns)
		woken_ns = task->woken_by.waking_ticks;
	if (woken_ns < task->since_ns)
		woken_ns = task->since_ns;
	task->asleep_ns += woken_ns - task->since_ns;
	task->runq_ns += ns - woken_ns;
}

static void charge_until(struct import_task *task, uint64_t ns)
{
	uint64_t added;

	if (!task->known || ns <= task->since_ns)
		return;
	added = ns - task->since_ns;
	if (task->off)
		charge_off(task, ns);
	else if (in_interrupt(task))
		task->irq_ns += added;
	else if (task->depth || task->owner.flags & KTAU_OWNER_KTHREAD)
		task->kernel_ns += added;
	else if (task->sure)
		task->user_ns += added;
	else
		task->unsure_ns += added;
	task->since_ns = ns;
}

void import_charge(struct import *im, struct import_task *task)
{
	charge_until(task, im->ns);
}

void import_known(struct import *im, struct import_task *task)
{
	if (task->known)
		return;
	task->known = true;
	task->off = task->woken = false;
	task->since_ns = im->ns;
	if (!task->begun)
		task->start_ns = im->ns;
	task->begun = true;
	if (!task->owner.start_ns)
		task->owner.start_ns = im->ns;
}

void import_unknown(struct import *im, struct import_task *task)
{
	import_charge(im, task);
	task->known = task->off = task->woken = false;
	task->gap |= task->begun;
}

/* The first event of a system call says where the task was before. */
static void make_sure(struct import_task *task, bool was_inside)
{
	if (was_inside)
		task->kernel_ns += task->unsure_ns;
	else
		task->user_ns += task->unsure_ns;
	task->unsure_ns = 0;
	task->sure = true;
}

/* Slots */

uint8_t import_context(const struct import_task *task)
{
	uint8_t context = KTAU_CTX_TASK;
	uint32_t i = task->depth;

	while (i--) {
		switch (task->frames[i].point->kind) {
		case IMPORT_HARDIRQ:
			return KTAU_CTX_HARDIRQ;
		case IMPORT_SOFTIRQ:
			return KTAU_CTX_SOFTIRQ;
		case IMPORT_HRTIMER:
			context = KTAU_CTX_HARDIRQ;
			break;
		case IMPORT_TIMER:
			context = KTAU_CTX_SOFTIRQ;
			break;
		default:
			break;
		}
	}
	return context;
}

static struct import_run *add_run(struct import_task *task)
{
	if (task->nr_runs == task->runs_room) {
		task->runs_room = task->runs_room ? 2 * task->runs_room : 2;
		task->runs = cli_alloc(task->runs, task->runs_room, sizeof(*task->runs));
	}
	task->runs[task->nr_runs] = (struct import_run){
		.first = task->position,
		.next = task->position,
	};
	return &task->runs[task->nr_runs++];
}

/* The run for a slot; a new one if the last is as long as a record should be. */
static struct import_run *current_run(struct import_task *task)
{
	struct import_run *run = task->nr_runs ? &task->runs[task->nr_runs - 1] : NULL;

	return run && run->bytes < FIRST_RUN_BYTES ? run : add_run(task);
}

static void put_slot(struct import *im, struct import_task *task, struct ktau_slot slot,
		     const void *payload, size_t bytes)
{
	struct import_run *run = current_run(task);
	size_t size = sizeof(slot) + bytes;

	if (task->slots_room - task->slots_bytes < size) {
		task->slots_room = 2 * task->slots_room + size + 256;
		task->slots = cli_alloc(task->slots, task->slots_room, 1);
	}
	slot.ticks = im->ns;
	slot.words = (uint8_t)(size / 8);
	slot.cpu = (uint16_t)im->cpu;
	memcpy(task->slots + task->slots_bytes, &slot, sizeof(slot));
	if (bytes)
		memcpy(task->slots + task->slots_bytes + sizeof(slot), payload, bytes);
	task->slots_bytes += size;
	run->bytes += size;
	run->nr_slots++;
	task->position += (size + 31) / 32;
	run->next = task->position;
	im->buffered += size;
}

void import_slot(struct import *im, struct import_task *task, uint8_t type, const void *payload,
		 size_t bytes)
{
	const struct ktau_slot slot = {
		.id = KTAU_ID_NONE,
		.type = type,
		.ctx = import_context(task),
	};

	put_slot(im, task, slot, payload, bytes);
}

void import_fields(struct import *im, struct import_task *task, const struct import_noted *noted)
{
	const struct ktau_slot slot = {
		.id = noted->point->id,
		.type = KTAU_TRACE_FIELDS,
		.ctx = KTAU_CTX_TASK,
	};

	put_slot(im, task, slot, noted->payload, noted->words * sizeof(*noted->payload));
}

static void put_frame(struct import *im, struct import_task *task, uint8_t type,
		      const struct import_point *point)
{
	const struct ktau_slot slot = {
		.id = point->id,
		.type = type,
		.ctx = import_context(task),
	};

	put_slot(im, task, slot, NULL, 0);
}

/* Frames */

static struct import_figures *figures_of(struct import_task *task, const struct import_point *point)
{
	uintptr_t at = hash_get(&task->by_id, point->id);
	struct import_figures *figures;

	if (at)
		return &task->figures[at - 1];
	if (task->nr_figures == task->figures_room) {
		task->figures_room = task->figures_room ? 2 * task->figures_room : 8;
		task->figures = cli_alloc(task->figures, task->figures_room,
					  sizeof(*task->figures));
	}
	figures = &task->figures[task->nr_figures++];
	*figures = (struct import_figures){ .entry.id = point->id };
	figures->entry.flags = KTAU_ENTRY_LONGEST;
	if (point->kind == IMPORT_COUNTER) {
		figures->entry.kind = KTAU_KIND_COUNTER;
		figures->entry.flags = 0;
	}
	hash_put(&task->by_id, point->id, task->nr_figures);
	return figures;
}

/* End the innermost frame at @ns. */
static void end_frame(struct import_task *task, uint64_t ns)
{
	struct import_frame *frame = &task->frames[--task->depth];
	struct import_figures *figures = figures_of(task, frame->point);
	uint64_t duration = ns > frame->start_ns ? ns - frame->start_ns : 0;

	/* The frames inside have not ended later than at their own end. */
	if (duration < frame->child_ns)
		duration = frame->child_ns;
	figures->entry.count++;
	figures->entry.excl += duration - frame->child_ns;
	if (!--figures->open) {
		figures->entry.incl += duration;
		if (duration > figures->entry.longest)
			figures->entry.longest = duration;
	}
	if (task->depth)
		frame[-1].child_ns += duration;
	else
		task->outer_ns += duration;
}

static void resize_frames(struct import_task *task, uint32_t room)
{
	task->frames_room = room;
	task->frames = cli_alloc(task->frames, room, sizeof(*task->frames));
}

void import_enter(struct import *im, struct import_task *task, const struct import_point *point)
{
	if (task->depth == IMPORT_DEPTH)
		import_lose(im, task, task->since_ns, 1);
	import_known(im, task);
	import_charge(im, task);
	if (point->kind == IMPORT_SYSCALL && !task->sure)
		make_sure(task, false);
	if (task->depth == task->frames_room)
		resize_frames(task, task->frames_room ? 2 * task->frames_room : 4);
	task->frames[task->depth++] = (struct import_frame){ .point = point, .start_ns = im->ns };
	figures_of(task, point)->open++;
	put_frame(im, task, KTAU_TRACE_ENTER, point);
	if (point->kind != IMPORT_SLEEP && point->kind != IMPORT_PREEMPT)
		return;
	task->off = true;
	task->woken = false;
	task->preempted = point->kind == IMPORT_PREEMPT;
	if (task->preempted)
		task->owner.nivcsw++;
	else
		task->owner.nvcsw++;
}

/* Exits of the frames inside were not recorded; they end with the one around them. */
static void end_inner(struct import *im, struct import_task *task, uint32_t depth)
{
	const struct import_point *point;

	while (task->depth > depth) {
		point = task->frames[task->depth - 1].point;
		put_frame(im, task, KTAU_TRACE_EXIT, point);
		end_frame(task, im->ns);
		im->unmatched++;
	}
}

static uint32_t depth_of(const struct import_task *task, const struct import_point *point)
{
	uint32_t depth = task->depth;

	while (depth && task->frames[depth - 1].point != point)
		depth--;
	return depth;
}

void import_exit(struct import *im, struct import_task *task, const struct import_point *point)
{
	bool off = point->kind == IMPORT_SLEEP || point->kind == IMPORT_PREEMPT;
	uint32_t depth = depth_of(task, point);

	import_known(im, task);
	import_charge(im, task);
	if (point->kind == IMPORT_SYSCALL && !task->sure)
		make_sure(task, true);
	if (depth) {
		end_inner(im, task, depth);
		put_frame(im, task, KTAU_TRACE_EXIT, point);
		end_frame(task, im->ns);
	} else {
		im->unmatched++;
		/* The first return of a new task has no call. */
		if (!task->depth && !task->born)
			put_frame(im, task, KTAU_TRACE_EXIT, point);
	}
	if (off)
		task->off = task->woken = false;
}

void import_count(struct import *im, struct import_task *task, const struct import_point *point,
		  uint64_t value)
{
	const struct ktau_slot slot = {
		.id = point->id,
		.type = KTAU_TRACE_COUNT,
		.ctx = import_context(task),
	};
	struct ktau_entry *entry = &figures_of(task, point)->entry;

	import_known(im, task);
	if (!entry->count++ || value < entry->min)
		entry->min = value;
	if (value > entry->max)
		entry->max = value;
	entry->sum += value;
	put_slot(im, task, slot, &value, sizeof(value));
}

const struct import_point *import_syscall(const struct import_task *task)
{
	uint32_t i = task->depth;

	while (i--)
		if (task->frames[i].point->kind == IMPORT_SYSCALL)
			return task->frames[i].point;
	return NULL;
}

void import_end_interrupts(struct import *im, struct import_task *task)
{
	uint32_t depth = task->depth, i;

	for (i = 0; i < task->depth && depth == task->depth; i++)
		if (is_interrupt(task->frames[i].point->kind))
			depth = i;
	import_charge(im, task);
	end_inner(im, task, depth);
}

void import_lose(struct import *im, struct import_task *task, uint64_t from_ns, uint64_t nr)
{
	struct import_run *run = task->nr_runs ? &task->runs[task->nr_runs - 1] : NULL;

	if (from_ns < task->since_ns)
		from_ns = task->since_ns;
	if (from_ns > im->ns)
		from_ns = im->ns;
	charge_until(task, from_ns);
	while (task->depth)
		end_frame(task, from_ns);
	task->known = task->off = task->woken = task->sure = false;
	task->gap = true;
	if (!run || run->nr_slots || !run->lost) {
		run = add_run(task);
		run->lost_from_ns = from_ns;
	}
	task->position += nr;
	run->lost += nr;
	run->first = run->next = task->position;
	run->lost_to_ns = im->ns;
}

void import_gone(struct import *im, struct import_task *task)
{
	if (task->ended || task->owner.flags & KTAU_OWNER_IDLE)
		return;
	import_charge(im, task);
	while (task->depth)
		end_frame(task, im->ns);
	task->ended = task->dirty = true;
	task->owner.kind = KTAU_OWNER_EXITED;
	task->owner.exit_ns = im->ns;
	task->owner.exited_seq = ++im->exited;
	/* There may be many such tasks, and they have no more events. */
	resize_frames(task, 1);
	hash_deinit(&task->by_id);
	task->figures_room = task->nr_figures;
	if (task->nr_figures)
		task->figures = cli_alloc(task->figures, task->nr_figures, sizeof(*task->figures));
}

/* The task of an event */

struct import_task *import_current(struct import *im, const struct import_event *e)
{
	struct import_cpu *cpu = &im->cpus[im->cpu];
	struct import_task *task;

	if (e->tid >= 0) {
		task = import_task(im, e->tid, im->cpu);
		if (!im->native && task)
			cpu->now = task;
		return task;
	}
	return cpu->now && !cpu->now->ended ? cpu->now : NULL;
}

void import_put_frame(struct import *im, const struct import_point *point, bool exits,
		      const struct import_event *e)
{
	struct import_task *task = import_current(im, e);

	if (!task || !point)
		return;
	/* How a frame ended that did not exit: the trace lost it, or ended. */
	if (exits && e->number(e->fields, "ended", 0))
		return;
	if (exits)
		import_exit(im, task, point);
	else
		import_enter(im, task, point);
}

void import_deinit(struct import *im)
{
	size_t i;

	for (i = 0; i < im->nr_tasks; i++) {
		hash_deinit(&im->tasks[i]->by_id);
		free(im->tasks[i]->figures);
		free(im->tasks[i]->frames);
		free(im->tasks[i]->slots);
		free(im->tasks[i]->runs);
		free(im->tasks[i]);
	}
	for (i = 0; i < im->nr_points; i++) {
		free(im->points[i]->name);
		free(im->points[i]);
	}
	for (i = 0; i < IMPORT_TRACES; i++)
		free(im->noters[i].tasks);
	for (i = 0; i < im->nr_cgroups; i++)
		free(im->cgroups[i].path);
	free(im->cgroups);
	hash_deinit(&im->by_cgroup);
	hash_deinit(&im->by_tid);
	hash_deinit(&im->by_name);
	free(im->tasks);
	free(im->points);
}
