// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The slots of the rings, sorted by task, as a kernel with KTAU would have written them.
 *
 * The slots of a task are in the rings of the CPUs that it was on, and numbered. A number that is
 * missing is either lost, because its place was overwritten, or not read yet. The rings are read
 * twice: a slot that the first pass has found was written after all slots with lower numbers, so
 * the second pass finds those too, unless they are lost. A gap before a slot of the second pass is
 * left for the next stream.
 *
 * The numbers are in the order in which slots were written. That is not always the order of their
 * times: an interrupt may write its slots between the moment at which the interrupted program read
 * the clock and its own slot. So the slots of a run are sorted by their times.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

/* Streams of all tasks that do not find a task that has slots, until it must have exited. */
#define MAX_ABSENT 3

/* A slot of a ring. */
struct raw {
	uint64_t number;
	uint64_t ticks;
	uint64_t what;
	uint64_t arg[2];
	uint32_t cpu;
	uint32_t pass; /* which has found it */
};

/**
 * struct ktau__traced - a task's slots that have not been in a stream
 * @serial: the task's
 * @next: number of the next slot
 * @position: of the next slot, in a record
 * @ticks: of the last slot
 * @lost: slots lost before the next one
 * @open: the interrupt in progress in each context: the cell's number plus one, or 0
 * @absent: streams of all tasks since it was seen
 * @gone: it has exited, and been in a stream
 * @raws: struct raw of each slot
 */
struct ktau__traced {
	uint64_t serial;
	uint64_t next;
	uint64_t position;
	uint64_t ticks;
	uint64_t lost;
	uint32_t open[KB_NR_CONTEXTS];
	uint32_t absent;
	bool gone;
	struct ktau__buffer raws;
};

uint32_t ktau__ring_size(uint32_t slots)
{
	uint32_t size = KTAU__MIN_RING;

	while (size < slots && size < KTAU__MAX_RING)
		size *= 2;
	return size;
}

int ktau__trace_init(struct ktau__trace *trace)
{
	trace->next = calloc(trace->nr_cpus, sizeof(*trace->next));
	return trace->next ? 0 : -ENOMEM;
}

static struct ktau__traced *task_at(const struct ktau__trace *trace, size_t i)
{
	return (struct ktau__traced *)trace->tasks.data + i;
}

static size_t nr_tasks(const struct ktau__trace *trace)
{
	return trace->tasks.size / sizeof(struct ktau__traced);
}

void ktau__trace_free(struct ktau__trace *trace)
{
	size_t i;

	for (i = 0; i < nr_tasks(trace); i++)
		ktau__buffer_free(&task_at(trace, i)->raws);
	ktau__buffer_free(&trace->tasks);
	ktau__buffer_free(&trace->events);
	ktau__buffer_free(&trace->slots_out);
	ktau__buffer_free(&trace->runs);
	ktau__map_free(&trace->index);
	free(trace->next);
	trace->next = NULL;
}

static struct ktau__traced *find(const struct ktau__trace *trace, uint64_t serial)
{
	size_t at = ktau__map_get(&trace->index, serial);

	return at == KTAU__MAP_NONE ? NULL : task_at(trace, at);
}

static int find_or_add(struct ktau__trace *trace, uint64_t serial, struct ktau__traced **task)
{
	const struct ktau__traced new = { .serial = serial };
	int err;

	*task = find(trace, serial);
	if (*task)
		return 0;
	err = ktau__map_put(&trace->index, serial, nr_tasks(trace));
	if (!err)
		err = ktau__buffer_append(&trace->tasks, &new, sizeof(new));
	*task = find(trace, serial);
	return err;
}

/*
 * Reading the rings
 */

static int add(struct ktau__trace *trace, const struct kb_slot *slot, uint32_t cpu)
{
	const struct raw raw = {
		.number = slot->number,
		.ticks = slot->ticks,
		.what = slot->what,
		.arg = { slot->arg[0], slot->arg[1] },
		.cpu = cpu,
		.pass = trace->pass,
	};
	struct ktau__traced *task;
	int err = find_or_add(trace, slot->serial, &task);

	return err ? err : ktau__buffer_append(&task->raws, &raw, sizeof(raw));
}

/* Copy the slot at a position. Return: false if it is not complete, or has been overwritten. */
static bool copy_slot(const struct kb_slot *slot, uint64_t position, struct kb_slot *copy)
{
	if (__atomic_load_n(&slot->commit, __ATOMIC_ACQUIRE) != position + 1)
		return false;
	memcpy(copy, slot, sizeof(*copy));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&slot->commit, __ATOMIC_RELAXED) == position + 1;
}

static uint64_t head_of(const struct ktau__trace *trace, uint32_t cpu)
{
	return __atomic_load_n(&trace->rings[cpu].head, __ATOMIC_ACQUIRE);
}

/* Read as many slots as a ring has, at most, so that a fast writer does not keep it running. */
static int read_ring(struct ktau__trace *trace, uint32_t cpu)
{
	uint64_t head = head_of(trace, cpu), *next = &trace->next[cpu], size = trace->ring_slots;
	const struct kb_slot *ring = trace->slots + cpu * size;
	uint64_t left = size;
	struct kb_slot copy;
	int err = 0;

	while (!err && *next != head && left) {
		/* Some more are about to be overwritten. */
		if (head - *next > size)
			*next = head - size + size / 16;
		if (copy_slot(&ring[*next & (size - 1)], *next, &copy)) {
			err = add(trace, &copy, cpu);
			++*next;
			left--;
			continue;
		}
		head = head_of(trace, cpu);
		if (head - *next <= size)
			break;
	}
	return err;
}

int ktau__trace_pass(struct ktau__trace *trace)
{
	uint32_t cpu;
	int err = 0;

	trace->pass++;
	for (cpu = 0; !err && cpu < trace->nr_cpus; cpu++)
		err = read_ring(trace, cpu);
	return err;
}

/*
 * From slots of the rings to those of a stream
 */

/* The state as /proc shows it: the highest of its bits that are shown; see task_state_index(). */
static uint32_t shown_state(uint32_t state)
{
	const uint32_t idle = 0x402, shown = state & 0x7f;

	if ((state & idle) == idle)
		return 128;
	return shown ? 1U << (31 - __builtin_clz(shown)) : 0;
}

uint32_t ktau__irq_id(uint32_t cell)
{
	if (cell < KB_NR_SOFTIRQS)
		return KB_ID_SOFTIRQ + cell;
	cell -= KB_NR_SOFTIRQS;
	if (cell < KB_NR_VECTORS)
		return KB_ID_VECTOR + cell;
	cell -= KB_NR_VECTORS;
	return cell < KB_NR_CPU_LINES ? KB_ID_IRQ + cell : KB_ID_OTHER_IRQ;
}

/* A new slot of the run that is made from @raw. */
static int put(struct ktau__trace *trace, const struct raw *raw, struct ktau__slot slot,
	       unsigned int payload_words)
{
	slot.slot.cpu = raw->cpu;
	slot.slot.ctx = KB_SLOT_CONTEXT(raw->what);
	slot.slot.words = 2 + payload_words;
	if (!slot.slot.ticks)
		slot.slot.ticks = raw->ticks;
	return ktau__buffer_append(&trace->events, &slot, sizeof(slot));
}

#define EVENT(what, name, ...)                      \
	(struct ktau__slot)                         \
	{                                           \
		.slot = {.type = KTAU_TRACE_##name, \
			 .id = what,                \
			 __VA_ARGS__ }              \
	}

static int put_off(struct ktau__trace *trace, const struct raw *raw)
{
	const struct ktau_slot_switch payload = {
		.next_serial = raw->arg[0],
		.state = shown_state(KB_SLOT_MORE(raw->what)),
		.prio = (int16_t)raw->arg[1],
		.next_prio = (int16_t)(raw->arg[1] >> 32),
	};
	struct ktau__slot slot = EVENT(KTAU_ID_NONE, SWITCH);
	int err = put(trace, raw, EVENT(KB_SLOT_ID(raw->what), ENTER), 0);

	memcpy(slot.payload, &payload, sizeof(payload));
	return err ? err : put(trace, raw, slot, 2);
}

/* The time from the wakeup on is an activation of schedule_wait inside. */
static int put_back(struct ktau__trace *trace, const struct raw *raw)
{
	const struct ktau_slot_woken payload = {
		.waker_serial = raw->arg[1],
		.waking_ticks = raw->arg[0],
		.target_cpu = raw->cpu,
		.waker_ctx = KB_SLOT_MORE(raw->what),
	};
	struct ktau__slot slot = EVENT(KTAU_ID_NONE, WOKEN);
	int err = 0;

	memcpy(slot.payload, &payload, sizeof(payload));
	if (raw->arg[0]) {
		err = put(trace, raw, EVENT(KB_ID_SCHEDULE_WAIT, ENTER, .ticks = raw->arg[0]), 0);
		if (!err)
			err = put(trace, raw, EVENT(KB_ID_SCHEDULE_WAIT, EXIT), 0);
		if (!err)
			err = put(trace, raw, slot, 3);
	}
	return err ? err : put(trace, raw, EVENT(KB_SLOT_ID(raw->what), EXIT), 0);
}

static int put_waking(struct ktau__trace *trace, const struct raw *raw)
{
	const struct ktau_slot_waking payload = {
		.serial = raw->arg[0],
		.target_cpu = KB_SLOT_MORE(raw->what),
		.prio = (int32_t)raw->arg[1],
	};
	struct ktau__slot slot = EVENT(KTAU_ID_NONE, WAKING);

	memcpy(slot.payload, &payload, sizeof(payload));
	return put(trace, raw, slot, 2);
}

static int put_kvm_clock(struct ktau__trace *trace, const struct raw *raw)
{
	const struct ktau_slot_kvm_clock payload = {
		.vcpu = KB_SLOT_MORE(raw->what),
		.frac_bits = KB_KVM_FRAC_BITS,
		.tsc_offset = raw->arg[0],
		.tsc_ratio = raw->arg[1],
	};
	struct ktau__slot slot = EVENT(KTAU_ID_NONE, KVM_CLOCK);

	memcpy(slot.payload, &payload, sizeof(payload));
	return put(trace, raw, slot, 3);
}

/* A slot whose payload is the argument, or both. */
static int put_plain(struct ktau__trace *trace, const struct raw *raw, uint8_t type,
		     unsigned int nr)
{
	struct ktau__slot slot = { .slot = { .type = type, .id = KB_SLOT_ID(raw->what) } };

	memcpy(slot.payload, raw->arg, sizeof(raw->arg));
	if (KB_SLOT_TYPE(raw->what) == KB_SLOT_ENTER && KB_SLOT_MORE(raw->what) == KB_OFF_CPU)
		slot.slot.flags = KTAU_SLOT_OFF_CPU;
	return put(trace, raw, slot, nr);
}

static int put_raw(struct ktau__trace *trace, const struct raw *raw)
{
	switch (KB_SLOT_TYPE(raw->what)) {
	case KB_SLOT_ENTER:
	case KB_SLOT_IRQ_ENTER:
		return put_plain(trace, raw, KTAU_TRACE_ENTER, 0);
	case KB_SLOT_ENTER_ADDRESS:
		return put_plain(trace, raw, KTAU_TRACE_ENTER, 1);
	case KB_SLOT_EXIT:
	case KB_SLOT_IRQ_EXIT:
		return put_plain(trace, raw, KTAU_TRACE_EXIT, 0);
	case KB_SLOT_EXIT_RESULT:
		return put_plain(trace, raw, KTAU_TRACE_EXIT, 1);
	case KB_SLOT_COUNT:
		return put_plain(trace, raw, KTAU_TRACE_COUNT, 1);
	case KB_SLOT_OFF:
		return put_off(trace, raw);
	case KB_SLOT_BACK:
		return put_back(trace, raw);
	case KB_SLOT_WAKING:
		return put_waking(trace, raw);
	case KB_SLOT_FORK:
		return put_plain(trace, raw, KTAU_TRACE_FORK, 2);
	case KB_SLOT_EXEC:
		/* The third word: the profile goes on. */
		return put_plain(trace, raw, KTAU_TRACE_EXEC, 3);
	case KB_SLOT_TASK_EXIT:
		return put_plain(trace, raw, KTAU_TRACE_TASK_EXIT, 1);
	case KB_SLOT_KVM_ENTER:
		return put_plain(trace, raw, KTAU_TRACE_KVM_ENTER, 1);
	case KB_SLOT_KVM_EXIT:
		return put_plain(trace, raw, KTAU_TRACE_KVM_EXIT, 1);
	case KB_SLOT_KVM_CLOCK:
		return put_kvm_clock(trace, raw);
	case KB_SLOT_COMM:
		return put_plain(trace, raw, KTAU_TRACE_COMM, 2);
	case KB_SLOT_CGROUP:
		return put_plain(trace, raw, KTAU_TRACE_CGROUP, 1);
	default:
		return 0;
	}
}

static unsigned int units_of(const struct ktau_slot *slot)
{
	return slot->type == KTAU_TRACE_WOKEN || slot->type == KTAU_TRACE_FORK ||
			       slot->type == KTAU_TRACE_EXEC || slot->type == KTAU_TRACE_COMM ||
			       slot->type == KTAU_TRACE_KVM_CLOCK ?
		       2 :
		       1;
}

/* Almost all slots are in order. */
static void sort(struct ktau__slot *slots, size_t nr)
{
	struct ktau__slot slot;
	size_t i, j;

	for (i = 1; i < nr; i++) {
		slot = slots[i];
		for (j = i; j && slots[j - 1].slot.ticks > slot.slot.ticks; j--)
			slots[j] = slots[j - 1];
		slots[j] = slot;
	}
}

static int append(struct ktau__trace *trace, const struct ktau__slot *slot)
{
	return ktau__buffer_append(&trace->slots_out, slot, sizeof(*slot));
}

/*
 * Interrupts have no frames that would pair their slots: an entry whose exit was missed ends at the
 * next entry, and an exit without an entry is left out. Return: -ENOMEM, or whether the slot
 * belongs into the stream.
 */
static int pair_irq(struct ktau__trace *trace, struct ktau__traced *task, struct ktau__slot *slot)
{
	uint32_t *open = &task->open[slot->slot.ctx % KB_NR_CONTEXTS];
	uint32_t cell = slot->slot.id + 1;
	struct ktau__slot missed = *slot;
	int err = 0;

	slot->slot.id = ktau__irq_id(slot->slot.id);
	if (slot->slot.type == KTAU_TRACE_ENTER) {
		missed.slot.type = KTAU_TRACE_EXIT;
		missed.slot.id = ktau__irq_id(*open - 1);
		if (*open)
			err = append(trace, &missed);
		*open = cell;
		return err ? err : 1;
	}
	if (*open != cell)
		return 0;
	*open = 0;
	return 1;
}

static bool is_irq(const struct ktau_slot *slot)
{
	return slot->ctx && (slot->type == KTAU_TRACE_ENTER || slot->type == KTAU_TRACE_EXIT);
}

static int put_run(struct ktau__trace *trace, const struct ktau__run *run)
{
	return ktau__buffer_append(&trace->runs, run, sizeof(*run));
}

/* Append the events from @from on as runs, of at most so many units that each fits a record. */
static int put_runs(struct ktau__trace *trace, struct ktau__traced *task, struct ktau__run *run,
		    size_t from)
{
	const size_t nr = trace->slots_out.size / sizeof(struct ktau__slot);
	const struct ktau__slot *slots = (const struct ktau__slot *)trace->slots_out.data;
	unsigned int units;
	size_t i;
	int err;

	for (i = from; i < nr; i++) {
		units = units_of(&slots[i].slot);
		if (run->next - run->first + units > KTAU__RECORD_UNITS) {
			err = put_run(trace, run);
			if (err)
				return err;
			*run = (struct ktau__run){ .first = run->next, .next = run->next };
		}
		run->next += units;
		run->nr++;
	}
	task->position = run->next;
	return run->nr || run->lost ? put_run(trace, run) : 0;
}

/* Make runs of the events: all slots since the last loss. */
static int end_run(struct ktau__trace *trace, struct ktau__traced *task,
		   const struct ktau__taking *taking)
{
	struct ktau__slot *events = (struct ktau__slot *)trace->events.data;
	size_t nr = trace->events.size / sizeof(*events), from, i;
	struct ktau__run run = { .lost = task->lost };
	int err = 0, wanted;

	from = trace->slots_out.size / sizeof(*events);
	sort(events, nr);
	if (task->lost) {
		task->position += task->lost;
		memset(task->open, 0, sizeof(task->open));
		run.lost_from_ticks = ktau__max(task->ticks, trace->start);
		run.lost_to_ticks = ktau__max(nr ? events[0].slot.ticks : taking->now_ticks,
					      run.lost_from_ticks);
		task->ticks = run.lost_to_ticks;
		task->lost = 0;
	}
	run.first = run.next = task->position;
	for (i = 0; !err && i < nr; i++) {
		events[i].slot.ticks = ktau__max(events[i].slot.ticks, task->ticks);
		task->ticks = events[i].slot.ticks;
		wanted = is_irq(&events[i].slot) ? pair_irq(trace, task, &events[i]) : 1;
		if (wanted < 0)
			return wanted;
		if (wanted && events[i].slot.ticks >= taking->since_ticks)
			err = append(trace, &events[i]);
	}
	trace->events.size = 0;
	return err ? err : put_runs(trace, task, &run, from);
}

static int by_number(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* The slots before number @next are lost. */
static int lose(struct ktau__trace *trace, struct ktau__traced *task,
		const struct ktau__taking *taking, uint64_t next)
{
	int err = 0;

	if (next <= task->next)
		return 0;
	if (trace->events.size)
		err = end_run(trace, task, taking);
	task->lost += next - task->next;
	task->next = next;
	return err;
}

/* Below this number, what has not been found before @raw is lost. */
static uint64_t complete_until(const struct ktau__trace *trace, const struct raw *raw,
			       const struct ktau__taking *taking)
{
	if (taking->final || raw->pass != trace->pass)
		return raw->number;
	return ktau__min(raw->number, taking->traced);
}

/* How many of the slots, in order, come before the first gap that is not a loss. */
static size_t nr_known(const struct ktau__trace *trace, const struct ktau__traced *task,
		       const struct ktau__taking *taking)
{
	const struct raw *raws = (const struct raw *)task->raws.data;
	size_t nr = task->raws.size / sizeof(*raws), i;
	uint64_t next = task->next;

	for (i = 0; i < nr; i++) {
		if (raws[i].number < next)
			continue;
		next = ktau__max(next, complete_until(trace, &raws[i], taking));
		if (raws[i].number > next)
			break;
		next++;
	}
	return i;
}

/*
 * The slots of an interrupt that has not ended are left for the next stream, because what it has
 * interrupted may still write a slot that precedes them. Return: how many of the first @nr come
 * before them.
 */
static size_t nr_ended(const struct ktau__traced *task, size_t nr)
{
	const struct raw *raws = (const struct raw *)task->raws.data;
	size_t began[KB_NR_CONTEXTS] = { nr, nr, nr }, i;

	for (i = 0; i < nr; i++) {
		if (KB_SLOT_TYPE(raws[i].what) == KB_SLOT_IRQ_ENTER)
			began[KB_SLOT_CONTEXT(raws[i].what) % KB_NR_CONTEXTS] = i;
		else if (KB_SLOT_TYPE(raws[i].what) == KB_SLOT_IRQ_EXIT)
			began[KB_SLOT_CONTEXT(raws[i].what) % KB_NR_CONTEXTS] = nr;
	}
	return ktau__min(began[KB_SOFT], began[KB_HARD]);
}

/* Convert the first @nr slots, and the losses among them. 0, -ENOMEM. */
static int convert(struct ktau__trace *trace, struct ktau__traced *task,
		   const struct ktau__taking *taking, size_t nr)
{
	const struct raw *raws = (const struct raw *)task->raws.data;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < nr; i++) {
		/* It has been counted as lost. */
		if (raws[i].number < task->next)
			continue;
		err = lose(trace, task, taking, raws[i].number);
		if (!err)
			err = put_raw(trace, &raws[i]);
		task->next++;
	}
	return err;
}

/* The slots of the runs are in one array, one run after the other. */
static void locate(struct ktau__trace *trace)
{
	struct ktau__run *runs = (struct ktau__run *)trace->runs.data;
	struct ktau__slot *slots = (struct ktau__slot *)trace->slots_out.data;
	size_t i;

	for (i = 0; i < trace->runs.size / sizeof(*runs); i++) {
		runs[i].slots = slots;
		slots += runs[i].nr;
	}
}

static int take(struct ktau__trace *trace, struct ktau__traced *task,
		const struct ktau__taking *taking)
{
	size_t nr = task->raws.size / sizeof(struct raw), done;
	int err;

	if (nr)
		qsort(task->raws.data, nr, sizeof(struct raw), by_number);
	done = nr_known(trace, task, taking);
	if (!taking->final)
		done = nr_ended(task, done);
	err = convert(trace, task, taking, done);
	if (!err && done == nr)
		err = lose(trace, task, taking, taking->traced);
	if (!err && (trace->events.size || task->lost))
		err = end_run(trace, task, taking);
	task->raws.size -= done * sizeof(struct raw);
	if (task->raws.size)
		memmove(task->raws.data, task->raws.data + done * sizeof(struct raw),
			task->raws.size);
	trace->written = task->position + task->raws.size / sizeof(struct raw);
	return err;
}

int ktau__trace_take(struct ktau__trace *trace, const struct ktau__taking *taking)
{
	struct ktau__traced *task = find(trace, taking->serial);
	int err = 0;

	trace->events.size = trace->slots_out.size = trace->runs.size = 0;
	if (!task && taking->traced)
		err = find_or_add(trace, taking->serial, &task);
	if (err || !task || task->gone)
		return err;
	task->absent = 0;
	err = take(trace, task, taking);
	locate(trace);
	task->gone = taking->final;
	return err;
}

void ktau__trace_drop(struct ktau__trace *trace, uint64_t serial, bool final)
{
	struct ktau__traced *task = find(trace, serial);

	if (!task)
		return;
	if (final && !task->gone)
		trace->forgotten += task->raws.size / sizeof(struct raw);
	ktau__buffer_free(&task->raws);
	task->absent = 0;
	task->gone |= final;
}

int ktau__trace_end(struct ktau__trace *trace)
{
	size_t nr = nr_tasks(trace), kept = 0, i;
	struct ktau__traced *task;
	int err = 0;

	ktau__map_clear(&trace->index);
	for (i = 0; i < nr; i++) {
		task = task_at(trace, i);
		if (task->gone || ++task->absent > MAX_ABSENT) {
			if (!task->gone)
				trace->forgotten += task->raws.size / sizeof(struct raw);
			ktau__buffer_free(&task->raws);
			continue;
		}
		if (!err)
			err = ktau__map_put(&trace->index, task->serial, kept);
		*task_at(trace, kept++) = *task;
	}
	trace->tasks.size = kept * sizeof(*task);
	return err;
}
