/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The maps of the BPF programs, and the tables and open frames of tasks in them. */
#ifndef KTAU_BPF_TABLE_H
#define KTAU_BPF_TABLE_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "slots.h"
#include "state.h"

#define PF_KTHREAD		0x00200000

/* Set by load.c before the programs are loaded. */
const volatile __u64 first_serial = 1;
const volatile __u32 nr_cpus = 1;
const volatile __u32 slot_shift = 31;	/* 32 - log2(number of slots) */
const volatile __u32 time_faults = 0;	/* the end of a page fault has a program */
const volatile __u32 has_calls = 0;	/* the group syscall is measured */
const volatile __u32 has_switches = 0;	/* the group sched is measured */

/* Changed by the programs with atomic instructions, read by compose.c. */
struct kb_losses losses = {};
__u64 serials = 0;
/* Set by compose.c before it reads the iterator: a process, or 0 for all. */
__u32 only_tgid = 0;
/* enum kb_phase, set by load.c */
__u32 phase = KB_ATTACHING;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kb_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kb_more);
} more SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct kb_state);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kb_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} exited SEC(".maps");

/* A copy of the task that the iterator is at. There is one reader at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kb_state);
} copy SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kb_more);
} copy_more SEC(".maps");

#define count_loss(name) __sync_fetch_and_add(&losses.name, 1)

static __always_inline void update_begin(__u64 *seq, int context)
{
	seq[context]++;
	barrier();
}

static __always_inline void update_end(__u64 *seq, int context)
{
	barrier();
	seq[context]++;
}

/* From Linux 6.10 on */
extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

/*
 * An update of a task's state in its own context, which may be preempted there: programs of
 * functions, and from Linux 7.0 on those of tracepoints. A switch in between would change the
 * frames that are being changed.
 */
static __always_inline void task_begin(struct kb_state *st)
{
	if (bpf_preempt_disable)
		bpf_preempt_disable();
	update_begin(st->seq, KB_TASK);
}

static __always_inline void task_end(struct kb_state *st)
{
	update_end(st->seq, KB_TASK);
	if (bpf_preempt_enable)
		bpf_preempt_enable();
}

/*
 * A number that only this task has, until it is freed. The verifier allows no arithmetic on
 * pointers except their difference, so it is the distance of the task from a fixed address.
 */
static __always_inline u64 key_of(const struct task_struct *task)
{
	u64 key = (u64)task;

	asm("%0 -= %1" : "+r"(key) : "r"(&slots));
	return key;
}

/* The first of two slots for a task. The other one is its neighbour. */
static __always_inline u32 slot_of(u64 key)
{
	return (u32)key * 0x61c88647U >> slot_shift;
}

static __always_inline struct kb_state *get_slot(u32 slot)
{
	return bpf_map_lookup_elem(&slots, &slot);
}

static __always_inline struct kb_state *find_in_slots(u64 key)
{
	u32 slot = slot_of(key);
	struct kb_state *st = get_slot(slot);

	if (st && st->task == key)
		return st;
	st = get_slot(slot ^ 1);
	return st && st->task == key ? st : NULL;
}

static __noinline struct kb_state *find_elsewhere(struct task_struct *task)
{
	u64 key = key_of(task);
	struct kb_state *st = get_slot(slot_of(key) ^ 1);

	if (st && st->task == key)
		return st;
	return bpf_task_storage_get(&tasks, task, NULL, 0);
}

static __always_inline struct kb_state *find(struct task_struct *task)
{
	u64 key = key_of(task);
	struct kb_state *st = get_slot(slot_of(key));

	return st && st->task == key ? st : find_elsewhere(task);
}

/*
 * Fill in the new state of a task. @id: KB_ID_BEFORE, KB_ID_BEFORE_KERNEL, or KB_ID_NEW for a task
 * that has not run yet. Once it can be found it is read, so all that decides how its time is
 * counted is there before.
 */
static __noinline struct kb_state *init_state(struct kb_state *st, u64 key, u32 id)
{
	if (!st)
		return NULL;
	st->start = bpf_ktime_get_ns();
	if (id == KB_ID_NEW) {
		id = KB_ID_BEFORE_KERNEL;
		st->off_since = has_switches ? st->start : KB_ON_UNKNOWN;
	}
	st->frames[0].start = st->start;
	st->frames[0].own_start = st->start;
	st->off_own = st->start;
	st->frames[0].id = id;
	st->depth = 1;
	st->unsettled = id == KB_ID_BEFORE;
	st->serial = first_serial + __sync_fetch_and_add(&serials, 1);
	barrier();
	/* Now it can be found. */
	st->task = key;
	return st;
}

/* Claim a slot for a task that has no state; NULL if both are taken. */
static __noinline struct kb_state *claim_slot(struct task_struct *task, u32 id)
{
	u64 key = key_of(task);
	u32 slot = slot_of(key);
	struct kb_state *st = get_slot(slot);

	if (st && __sync_val_compare_and_swap(&st->task, KB_SLOT_FREE, KB_SLOT_BUSY) ==
			  KB_SLOT_FREE)
		return init_state(st, key, id);
	st = get_slot(slot ^ 1);
	if (st && __sync_val_compare_and_swap(&st->task, KB_SLOT_FREE, KB_SLOT_BUSY) ==
			  KB_SLOT_FREE)
		return init_state(st, key, id);
	return NULL;
}

#define NR_WORDS	(sizeof(struct kb_state) / 8)
#define TASK_WORD	(__builtin_offsetof(struct kb_state, task) / 8)
#define WORDS_AT_ONCE	16
KB_ASSERT((NR_WORDS - TASK_WORD - 1) % WORDS_AT_ONCE == 0);

/* Clear a slot, for the next task. A reader finds the change of @task after its copy. */
static __noinline int release_slot(struct kb_state *st)
{
	volatile u64 *words = (u64 *)st;
	u32 i, j;

	if (!st)
		return 0;
	st->task = KB_SLOT_BUSY;
	barrier();
#pragma unroll
	for (i = 0; i < TASK_WORD; i++)
		words[i] = 0;
	for (i = TASK_WORD + 1; i < NR_WORDS; i += WORDS_AT_ONCE) {
#pragma unroll
		for (j = 0; j < WORDS_AT_ONCE; j++)
			words[i + j] = 0;
	}
	barrier();
	st->task = KB_SLOT_FREE;
	return 0;
}

/* The allocator's reserve for this CPU may be empty; the interrupt that it raises fills it. */
#define CREATE_TRIES 3

/* No other program creates a state for this task at the same time. */
static __always_inline struct kb_state *try_create(struct task_struct *task, u32 id)
{
	struct kb_state *st = NULL;
	int i;

	for (i = 0; !st && i < CREATE_TRIES; i++)
		st = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (st && !st->serial)
		init_state(st, key_of(task), id);
	return st;
}

/* The state of the task that runs here. */
static __always_inline struct kb_state *create(struct task_struct *task)
{
	struct kb_state *st;

	if (phase != KB_MEASURING)
		return NULL;
	if (bpf_preempt_disable)
		bpf_preempt_disable();
	st = try_create(task, task->flags & PF_KTHREAD ? KB_ID_BEFORE_KERNEL : KB_ID_BEFORE);
	if (bpf_preempt_enable)
		bpf_preempt_enable();
	if (!st)
		count_loss(no_state);
	return st;
}

static __always_inline struct kb_state *find_or_create(struct task_struct *task)
{
	struct kb_state *st = find(task);

	return st ? st : create(task);
}

/* The first event on a CPU. Return: whether it is measured. */
static __noinline int begin_cpu(struct kb_cpu *c)
{
	if (!c || phase != KB_MEASURING)
		return 0;
	c->start = bpf_ktime_get_ns();
	c->since = c->start;
	c->idle = !bpf_get_current_task_btf()->pid;
	return 1;
}

static __always_inline struct kb_cpu *this_cpu(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct kb_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);

	return c && (c->start || begin_cpu(c)) ? c : NULL;
}

/*
 * The clock, and that of the task's context. If an interrupt came in between, try once more: a
 * second one at the same place only shifts its own duration from one frame to the next.
 */
struct moment {
	u64 clock;
	u64 own;
};

static __always_inline void read_clock(const struct kb_state *st, struct moment *now)
{
	const volatile u64 *sum = &st->stolen_ns;
	u64 stolen = *sum;

	now->clock = bpf_ktime_get_ns();
	if (*sum != stolen) {
		stolen = *sum;
		now->clock = bpf_ktime_get_ns();
	}
	now->own = now->clock - stolen;
}

/* The cell of an event, or NULL if the table is full. @id is below KB_NR_TASK_IDS. */
static __noinline struct kb_cell *more_cell(struct kb_state *st, u32 number)
{
	struct kb_more *next;

	if (number < KB_NR_FIRST || number >= KB_NR_FIRST + KB_NR_MORE)
		return NULL;
	next = bpf_task_storage_get(&more, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!next)
		return NULL;
	number -= KB_NR_FIRST;
	if (number >= KB_NR_MORE)
		return NULL;
	next->type = KB_RECORD_MORE;
	next->serial = st->serial;
	return &next->cells[number];
}

/* The cell of a switch, when it is used for the first time. */
static __always_inline struct kb_cell *fixed_cell(struct kb_state *st, u64 at)
{
	u64 number = at - KB_ID_SCHEDULE;

	asm volatile("" : "+r"(number));
	if (number >= KB_NR_FIXED)
		return NULL;
	st->cells[number].id = KB_ID_SCHEDULE + number;
	if (st->nr_cells < KB_NR_FIXED)
		st->nr_cells = KB_NR_FIXED;
	st->index[KB_ID_SCHEDULE + number] = number + 1;
	return &st->cells[number];
}

/* The cell of an event that has none in the first chunk. @id is below KB_NR_TASK_IDS. */
static __noinline struct kb_cell *other_cell(struct kb_state *st, u32 id)
{
	struct kb_cell *cell;
	u64 at = id;
	u32 number;

	if (!st)
		return NULL;
	/* The verifier must see that the number compared is the one used. */
	asm volatile("" : "+r"(at));
	if (at >= KB_NR_TASK_IDS)
		return NULL;
	number = st->index[at];
	if (number)
		return more_cell(st, number - 1);
	number = st->nr_cells < KB_NR_FIXED ? KB_NR_FIXED : st->nr_cells;
	if (at - KB_ID_SCHEDULE < KB_NR_FIXED)
		return fixed_cell(st, at);
	if (number < KB_NR_FIRST)
		cell = &st->cells[number];
	else
		cell = more_cell(st, number);
	if (!cell)
		return NULL;
	cell->id = id;
	barrier();
	st->nr_cells = number + 1;
	st->index[at] = number + 1;
	return cell;
}

static __always_inline struct kb_cell *get_cell(struct kb_state *st, u32 id)
{
	u64 at = id;
	u32 number;

	asm volatile("" : "+r"(at));
	if (at >= KB_NR_TASK_IDS)
		return NULL;
	number = st->index[at] - 1;
	return number < KB_NR_FIRST ? &st->cells[number] : other_cell(st, id);
}

static __noinline int count_value(struct kb_state *st, u32 id, u64 value)
{
	struct kb_cell *cell;

	if (!st)
		return 0;
	task_begin(st);
	cell = get_cell(st, id);
	if (cell) {
		cell->counter = 1;
		if (!cell->count || value < cell->excl)
			cell->excl = value;
		if (value > cell->longest)
			cell->longest = value;
		cell->incl += value;
		cell->count++;
	} else {
		st->refused++;
		count_loss(no_cell);
	}
	if (tracing)
		trace_slot(st, bpf_ktime_get_ns(), KB_SLOT(KB_SLOT_COUNT, id, 0, 0), value, 0);
	task_end(st);
	return 0;
}

/* These functions are called between update_begin() and update_end(). */

/* Add time off the CPU to a frame. */
static __always_inline void add_off(struct kb_frame *f, u64 asleep, u64 runq)
{
	if (!f->was_off)
		f->asleep = f->runq = 0;
	f->asleep += asleep;
	f->runq += runq;
	f->was_off = 1;
}

/* Fill in a frame, number @depth, as far as possible before the clock is read. */
static __always_inline void prepare(struct kb_state *st, u32 depth, u32 id)
{
	struct kb_frame *f = &st->frames[depth & (KB_NR_FRAMES - 1)];

	f->id = id;
	f->was_off = 0;
	f->child = 0;
}

static __always_inline void push_prepared(struct kb_state *st, u32 depth, const struct moment *now)
{
	struct kb_frame *f = &st->frames[depth & (KB_NR_FRAMES - 1)];

	f->start = now->clock;
	f->own_start = now->own;
	st->depth = depth + 1;
}

static __always_inline void push(struct kb_state *st, const struct moment *now, u32 id)
{
	u32 depth = st->depth;

	if (depth >= KB_NR_FRAMES) {
		st->refused++;
		count_loss(no_cell);
		return;
	}
	prepare(st, depth, id);
	push_prepared(st, depth, now);
}

static __always_inline void add_to_cell(const struct kb_frame *f, struct kb_cell *cell, u64 wall,
					u64 own, u64 excl)
{
	cell->count++;
	cell->incl += wall;
	cell->excl += excl;
	if (wall > cell->longest)
		cell->longest = wall;
	if (wall != own)
		cell->irq += wall - own;
	if (f->was_off) {
		cell->asleep += f->asleep;
		cell->runq += f->runq;
	}
}

/* End the innermost frame, number @last, of the event @id. */
static __always_inline void pop_id(struct kb_state *st, const struct moment *now, u32 last, u32 id)
{
	struct kb_frame *f = &st->frames[last & (KB_NR_FRAMES - 1)];
	u64 wall = now->clock - f->start, own = now->own - f->own_start;
	u64 excl = own - f->child;
	struct kb_frame *outer;
	struct kb_cell *cell;

	if ((s64)excl < 0 || (s64)(wall - own) < 0) {
		if ((s64)excl < 0) {
			own = f->child;
			excl = 0;
		}
		wall = (s64)(wall - own) < 0 ? own : wall;
		st->clamped++;
		count_loss(clamped);
	}
	cell = get_cell(st, id);
	if (cell) {
		add_to_cell(f, cell, wall, own, excl);
	} else {
		st->refused++;
		st->refused_ns += excl;
		count_loss(no_cell);
	}
	if (last) {
		outer = &st->frames[(last - 1) & (KB_NR_FRAMES - 1)];
		outer->child += own;
		if (f->was_off)
			add_off(outer, f->asleep, f->runq);
	} else {
		st->outer_ns += own;
	}
	st->depth = last;
}

static __always_inline void pop(struct kb_state *st, const struct moment *now, u32 last)
{
	pop_id(st, now, last, st->frames[last & (KB_NR_FRAMES - 1)].id);
}

static __always_inline bool is_before(const struct kb_state *st)
{
	return st->frames[0].id == KB_ID_BEFORE || st->frames[0].id == KB_ID_BEFORE_KERNEL;
}

/*
 * End the frame of the time before the first event, the only one that is open. @kernel: the task
 * was in the kernel, otherwise in user mode. Frames that were inside are outermost ones now.
 */
static __noinline int end_before(struct kb_state *st, u64 own, bool kernel)
{
	u64 took;

	if (!st)
		return 0;
	took = own - st->frames[0].own_start - st->frames[0].child;
	if (kernel && (s64)took > 0)
		st->before_ns += took;
	st->outer_ns += st->frames[0].child;
	st->depth = 0;
	st->unsettled = 0;
	return 0;
}

/* A task that exits does not return from its last call. */
static __always_inline void pop_missing(struct kb_state *st, const struct moment *now, u32 last)
{
	u32 id = st->frames[last & (KB_NR_FRAMES - 1)].id;

	pop(st, now, last);
	if (tracing && !st->exited)
		trace_slot(st, now->clock, KB_SLOT(KB_SLOT_EXIT, id, 0, 0), 0, 0);
}

/* End all frames, which have missed their exits unless the task exits. */
static __noinline int pop_all(struct kb_state *st, u64 clock, u64 own)
{
	struct moment now = { clock, own };
	u32 i, depth;

	if (!st)
		return 0;
	for (i = 0; i < KB_NR_FRAMES; i++) {
		depth = st->depth;
		if (!depth)
			break;
		if (depth == 1 && is_before(st))
			end_before(st, own, st->frames[0].id == KB_ID_BEFORE_KERNEL);
		else
			pop_missing(st, &now, depth - 1);
	}
	return 0;
}

#endif /* KTAU_BPF_TABLE_H */
