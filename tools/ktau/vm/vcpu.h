/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread of a virtual CPU: when it was in guest mode, by the slots KVM_ENTER and KVM_EXIT, and
 * in which state it was, by its frames. Times are ticks of its machine.
 *
 * KVM_EXIT is written after the host has handled interrupts, and perhaps even after a switch. So
 * the pair only says that what the guest has written lies between; time in the guest is that of the
 * frame of the event "guest", without the interrupts inside.
 */
#ifndef KTAU_TOOLS_VM_VCPU_H
#define KTAU_TOOLS_VM_VCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/timeline_event.h"
#include "guest_clock.h"

enum vcpu_state {
	VCPU_UNKNOWN,	/* slots were lost, or nothing is recorded */
	VCPU_GUEST,	/* in the guest */
	VCPU_VMM,	/* in the kernel or the program that emulates the machine */
	VCPU_PREEMPTED,	/* ready, without a CPU of the host */
	VCPU_IDLE,	/* the guest had halted, and the thread slept */
	VCPU_POLLING,	/* the guest had halted, and the host waited for it without sleeping */
	VCPU_STATES
};

const char *vcpu_state_name(enum vcpu_state state);

/**
 * struct vcpu_run - from a KVM_ENTER to the next KVM_EXIT or KVM_ENTER
 * @enter: time of the first slot
 * @exit: time of the second one
 * @clock: index of the clock in force
 * @after_gap: slots between the run before and this one may have been lost
 */
struct vcpu_run {
	uint64_t enter, exit;
	uint32_t clock;
	bool after_gap;
};

/**
 * struct vcpu_interval - a time in one state
 * @from: start; it ends where the next one begins
 * @cpu: PREEMPTED: the CPU for which the thread waited; otherwise the one on which it was
 * @reason: VMM: reason of the last KVM_EXIT
 * @state: enum vcpu_state
 */
struct vcpu_interval {
	uint64_t from;
	uint32_t reason;
	uint16_t cpu;
	uint8_t state;
};

/**
 * struct vcpu - the thread
 * @serial: serial of the thread
 * @number: number of the virtual CPU
 * @runs: its runs in time order
 * @clocks: the guest's clocks in time order
 * @begins: for each clock the guest's counter when it or a later one was first used, the smallest
 * @intervals: its states in time order
 * @end: time of its last slot
 * @lost: slots lost
 * @band_ns: how far the clock may be off, if it was found by a search; 0: KVM has set it
 * @machine: index of the guest whose CPU it runs; SIZE_MAX: none
 * @cpu: that CPU
 * @open, @is_open, @gap: the KVM_ENTER that has no end yet; slots were lost since the last run
 * @in_guest, @interrupts, @sched: open frames: of the guest, of interrupts inside, of the switch
 * @reason, @halted: of the last KVM_EXIT; it was a halt
 * @exited: number of intervals when the guest was last left
 * @told: the intervals before this one have the reason of their exit
 * @slept: it has slept since
 */
struct vcpu {
	uint64_t serial;
	uint32_t number;
	struct vcpu_run *runs;
	size_t nr_runs, runs_room;
	struct guest_clock *clocks;
	uint64_t *begins;
	size_t nr_clocks, clocks_room;
	struct vcpu_interval *intervals;
	size_t nr_intervals, intervals_room;
	uint64_t end, lost;
	double band_ns;
	size_t machine;
	uint32_t cpu;
	uint64_t open;
	bool is_open, gap;
	bool in_guest;
	unsigned int interrupts;
	uint8_t sched;
	uint32_t reason;
	bool halted, slept;
	size_t exited, told;
};

/* What a frame is for the thread of a virtual CPU. */
enum vcpu_frame { VCPU_OTHER, VCPU_IN_GUEST, VCPU_PREEMPT, VCPU_QUEUED, VCPU_SLEEP };

/* By the name of its event. */
enum vcpu_frame vcpu_frame_of(const char *name);

struct vcpu *vcpu_create(uint64_t serial);
void vcpu_destroy(struct vcpu *v);

/* Take the next event of the thread, at @ticks; @frame: for ENTER and EXIT. */
void vcpu_event(struct vcpu *v, const struct timeline_event *e, uint64_t ticks,
		enum vcpu_frame frame);

/* Nothing follows. */
void vcpu_finish(struct vcpu *v);

/* After that: the guest's clock is another one all the time, which may be off by @band_ns. */
void vcpu_set_clock(struct vcpu *v, const struct guest_clock *clock, double band_ns);

/* The end of an interval. */
uint64_t vcpu_until(const struct vcpu *v, size_t interval);

/* The first interval that ends after @ticks. */
size_t vcpu_interval_after(const struct vcpu *v, uint64_t ticks);

#endif
