// SPDX-License-Identifier: GPL-2.0-only
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "vcpu.h"

const char *vcpu_state_name(enum vcpu_state state)
{
	static const char *const names[VCPU_STATES] = {
		[VCPU_UNKNOWN] = "?",
		[VCPU_GUEST] = "IN GUEST",
		[VCPU_VMM] = "VMM",
		[VCPU_PREEMPTED] = "PREEMPTED",
		[VCPU_IDLE] = "IDLE",
		[VCPU_POLLING] = "IDLE (polling)",
	};

	return names[state];
}

enum vcpu_frame vcpu_frame_of(const char *name)
{
	static const struct {
		const char *pattern;
		enum vcpu_frame frame;
	} frames[] = {
		{ "guest", VCPU_IN_GUEST },
		{ "schedule", VCPU_PREEMPT },
		{ "schedule_yld", VCPU_PREEMPT },
		{ "schedule_wait", VCPU_QUEUED },
		{ "schedule_vol_*", VCPU_SLEEP },
	};
	size_t i;

	for (i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		if (!fnmatch(frames[i].pattern, name, 0))
			return frames[i].frame;
	return VCPU_OTHER;
}

/* Make room for one more element of an array. */
static void *grown(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	return cli_alloc(array, *room, size);
}

struct vcpu *vcpu_create(uint64_t serial)
{
	struct vcpu *v = cli_alloc(NULL, 1, sizeof(*v));

	*v = (struct vcpu){ .serial = serial, .machine = SIZE_MAX };
	return v;
}

void vcpu_destroy(struct vcpu *v)
{
	free(v->runs);
	free(v->clocks);
	free(v->begins);
	free(v->intervals);
	free(v);
}

/* Slots KVM_ENTER, KVM_EXIT and KVM_CLOCK */

static void close_run(struct vcpu *v, uint64_t ticks)
{
	if (!v->is_open)
		return;
	v->runs = grown(v->runs, v->nr_runs, &v->runs_room, sizeof(*v->runs));
	v->runs[v->nr_runs++] = (struct vcpu_run){
		.enter = v->open, .exit = ticks, .after_gap = v->gap,
		.clock = v->nr_clocks ? (uint32_t)(v->nr_clocks - 1) : 0,
	};
	v->is_open = v->gap = false;
}

/* The guest is entered again: if it had halted, and the thread has not slept, it was polled. */
static void note_polling(struct vcpu *v)
{
	size_t i;

	for (i = v->exited; v->halted && !v->slept && i < v->nr_intervals; i++)
		if (v->intervals[i].state == VCPU_VMM)
			v->intervals[i].state = VCPU_POLLING;
	v->halted = false;
}

static void move_in_guest(struct vcpu *v, bool in_guest)
{
	if (v->in_guest == in_guest)
		return;
	if (in_guest) {
		note_polling(v);
	} else {
		v->exited = v->nr_intervals;
		v->slept = false;
	}
	v->in_guest = in_guest;
	v->interrupts = 0;
}

static bool is_halt(uint32_t reason)
{
	/* HLT, PAUSE and MWAIT: of SVM, and of VMX, whose numbers are smaller. */
	static const uint32_t halts[] = { 0x78, 0x77, 0x8b, 0x8c, 12, 36, 40 };
	size_t i;

	for (i = 0; i < sizeof(halts) / sizeof(*halts); i++)
		if (halts[i] == reason)
			return true;
	return false;
}

static void take_clock(struct vcpu *v, const struct ktau_slot *slot)
{
	struct ktau_slot_kvm_clock s;
	struct guest_clock clock, *last = v->nr_clocks ? &v->clocks[v->nr_clocks - 1] : NULL;

	ktau_slot_kvm_clock(slot, &s);
	clock = (struct guest_clock){ s.tsc_offset, s.tsc_ratio, s.frac_bits };
	if (!guest_clock_is_valid(&clock))
		return;
	if (last && last->offset == clock.offset && last->ratio == clock.ratio &&
	    last->frac_bits == clock.frac_bits)
		return;
	v->clocks = grown(v->clocks, v->nr_clocks, &v->clocks_room, sizeof(*v->clocks));
	v->clocks[v->nr_clocks++] = clock;
}

static void take_kvm(struct vcpu *v, const struct ktau_slot *slot, uint64_t ticks)
{
	struct ktau_slot_kvm kvm;
	size_t i;

	ktau_slot_kvm(slot, &kvm);
	v->number = kvm.vcpu;
	close_run(v, ticks);
	v->is_open = slot->type == KTAU_TRACE_KVM_ENTER;
	move_in_guest(v, v->is_open);	/* unless the frame of the guest has said so */
	if (v->is_open) {
		v->open = ticks;
		return;
	}
	v->reason = kvm.reason;
	v->halted = is_halt(kvm.reason);
	for (i = v->exited > v->told ? v->exited : v->told; i < v->nr_intervals; i++)
		v->intervals[i].reason = kvm.reason;
	v->told = v->nr_intervals;
}

/* States */

static enum vcpu_state state_now(const struct vcpu *v)
{
	if (v->sched == VCPU_PREEMPT || v->sched == VCPU_QUEUED)
		return VCPU_PREEMPTED;
	if (v->sched == VCPU_SLEEP)
		return v->halted ? VCPU_IDLE : VCPU_VMM;
	return v->in_guest && !v->interrupts ? VCPU_GUEST : VCPU_VMM;
}

/* From @ticks on the thread is in @state, on or waiting for @cpu. */
static void begin(struct vcpu *v, enum vcpu_state state, uint64_t ticks, uint16_t cpu)
{
	struct vcpu_interval *last = v->nr_intervals ? &v->intervals[v->nr_intervals - 1] : NULL;

	if (last && last->state == state && last->cpu == cpu && last->reason == v->reason)
		return;
	if (last && ticks <= last->from) {	/* it had no length */
		last->state = (uint8_t)state;
		last->cpu = cpu;
		last->reason = v->reason;
		return;
	}
	v->intervals = grown(v->intervals, v->nr_intervals, &v->intervals_room,
			     sizeof(*v->intervals));
	v->intervals[v->nr_intervals++] = (struct vcpu_interval){ ticks, v->reason, cpu,
								  (uint8_t)state };
}

static void take_frame(struct vcpu *v, const struct timeline_event *e, enum vcpu_frame frame)
{
	bool enters = e->type == KTAU_TRACE_ENTER;
	bool interrupts = e->slot && e->slot->ctx != KTAU_CTX_TASK;

	switch (frame) {
	case VCPU_IN_GUEST:
		move_in_guest(v, enters);
		return;
	case VCPU_OTHER:
		if (v->in_guest && interrupts && enters)
			v->interrupts++;
		else if (v->in_guest && interrupts && v->interrupts)
			v->interrupts--;
		return;
	default:
		v->sched = enters ? (uint8_t)frame : VCPU_OTHER;
		v->slept |= enters;
	}
}

/*
 * A wakeup says for which CPU the thread waited. It was not on any meanwhile, so there are few
 * intervals since then, unless the time is wrong.
 */
static void take_woken(struct vcpu *v, const struct ktau_slot *slot)
{
	enum { WAIT_INTERVALS = 8 };
	struct ktau_slot_woken woken;
	size_t i = v->nr_intervals, left = WAIT_INTERVALS;

	ktau_slot_woken(slot, &woken);
	while (i && left-- && v->intervals[i - 1].from >= woken.waking_ticks) {
		i--;
		if (v->intervals[i].state == VCPU_PREEMPTED)
			v->intervals[i].cpu = (uint16_t)woken.target_cpu;
	}
}

static void take_lost(struct vcpu *v, const struct timeline_event *e)
{
	v->lost += e->lost;
	v->is_open = v->in_guest = v->halted = false;
	v->interrupts = 0;
	v->sched = VCPU_OTHER;
	v->gap = true;
	begin(v, VCPU_UNKNOWN, v->end, 0);
}

/* Whether the slot says in which state the thread is, which it did not before. */
static bool is_unknown(const struct vcpu *v)
{
	return !v->nr_intervals || v->intervals[v->nr_intervals - 1].state == VCPU_UNKNOWN;
}

static void take_slot(struct vcpu *v, const struct timeline_event *e, uint64_t ticks,
		      enum vcpu_frame frame)
{
	switch (e->type) {
	case KTAU_TRACE_ENTER:
	case KTAU_TRACE_EXIT:
		take_frame(v, e, frame);
		return;
	case KTAU_TRACE_WOKEN:
		take_woken(v, e->slot);
		return;
	case KTAU_TRACE_KVM_CLOCK:
		close_run(v, ticks);
		take_clock(v, e->slot);
		return;
	case KTAU_TRACE_KVM_ENTER:
	case KTAU_TRACE_KVM_EXIT:
		take_kvm(v, e->slot, ticks);
		return;
	}
}

void vcpu_event(struct vcpu *v, const struct timeline_event *e, uint64_t ticks,
		enum vcpu_frame frame)
{
	if (e->type == TIMELINE_LOST) {
		take_lost(v, e);
		return;
	}
	if (!e->slot)
		return;
	if (is_unknown(v) && e->type != KTAU_TRACE_KVM_EXIT && e->type != KTAU_TRACE_KVM_ENTER &&
	    e->type != KTAU_TRACE_KVM_CLOCK && frame == VCPU_OTHER)
		return;		/* it may be in the guest */
	take_slot(v, e, ticks, frame);
	begin(v, state_now(v), ticks, e->slot->cpu);
	if (ticks > v->end)
		v->end = ticks;
}

/* When each clock was first used. The counter may be set back, so a later one may be smaller. */
static void find_begins(struct vcpu *v)
{
	uint64_t guest, least = UINT64_MAX;
	size_t i;

	v->begins = cli_alloc(v->begins, v->nr_clocks, sizeof(*v->begins));
	for (i = 0; i < v->nr_clocks; i++)
		v->begins[i] = UINT64_MAX;
	for (i = v->nr_clocks ? v->nr_runs : 0; i--;) {
		guest = guest_clock_to_guest(&v->clocks[v->runs[i].clock], v->runs[i].enter);
		v->begins[v->runs[i].clock] = guest;
	}
	for (i = v->nr_clocks; i--;) {
		least = v->begins[i] < least ? v->begins[i] : least;
		v->begins[i] = least;
	}
}

void vcpu_finish(struct vcpu *v)
{
	v->is_open = false;
	find_begins(v);
}

/* The guest's clock may have begun after the first runs. Leave those out: they seem to be late. */
static void drop_negative(struct vcpu *v, const struct guest_clock *clock)
{
	uint64_t last;
	size_t nr = 0;

	if (!v->nr_runs)
		return;
	last = guest_clock_to_guest(clock, v->runs[v->nr_runs - 1].exit);
	while (nr < v->nr_runs - 1 && guest_clock_to_guest(clock, v->runs[nr].enter) > last)
		nr++;
	v->nr_runs -= nr;
	memmove(v->runs, v->runs + nr, v->nr_runs * sizeof(*v->runs));
}

void vcpu_set_clock(struct vcpu *v, const struct guest_clock *clock, double band_ns)
{
	size_t i;

	v->clocks = cli_alloc(v->clocks, 1, sizeof(*v->clocks));
	*v->clocks = *clock;
	v->nr_clocks = v->clocks_room = 1;
	v->band_ns = band_ns;
	drop_negative(v, clock);
	for (i = 0; i < v->nr_runs; i++)
		v->runs[i].clock = 0;
	find_begins(v);
}

uint64_t vcpu_until(const struct vcpu *v, size_t interval)
{
	return interval + 1 < v->nr_intervals ? v->intervals[interval + 1].from : v->end;
}

static bool has_ended(const void *v, size_t interval, const void *ticks)
{
	return vcpu_until(v, interval) <= *(const uint64_t *)ticks;
}

size_t vcpu_interval_after(const struct vcpu *v, uint64_t ticks)
{
	return bisect(v, v->nr_intervals, &ticks, has_ended);
}
