/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The slots of the rings, sorted by task. The rings are read whenever a stream of traces is made;
 * a task's slots that a stream does not take are dropped, and the task's next record counts them
 * as lost.
 */
#ifndef KTAU_BPF_TRACE_H
#define KTAU_BPF_TRACE_H

#include <linux/ktau.h>

#include "../buffer.h"
#include "../map.h"
#include "state.h"

/* Limits of the size of a ring, and of the slots of a record, so that it is at most 64 KiB. */
#define KTAU__MIN_RING 1024
#define KTAU__MAX_RING (1U << 20)
#define KTAU__RECORD_UNITS 1024

/* The longest slots: WOKEN, EXEC and KVM_CLOCK */
#define KTAU__PAYLOAD_WORDS 3

/* A slot as a stream has it, and its length in units of 8 bytes. */
struct ktau__slot {
	struct ktau_slot slot;
	uint64_t payload[KTAU__PAYLOAD_WORDS];
};

/* A record: slots without a loss between them, and the loss before. */
struct ktau__run {
	struct ktau__slot *slots;
	uint32_t nr;
	uint64_t first;
	uint64_t next;
	uint64_t lost;
	uint64_t lost_from_ticks;
	uint64_t lost_to_ticks;
};

struct ktau__traced;

/**
 * struct ktau__trace - what has been read from the rings
 * @rings: of each CPU, shared with the programs
 * @slots: of all rings
 * @nr_cpus: number of rings
 * @ring_slots: size of each, a power of two
 * @next: position of the next slot to read, for each CPU
 * @start: when the programs were attached
 * @pass: number of times that the rings were read
 * @index: serial of a task to its place in @tasks
 * @tasks: struct ktau__traced of each task that has written slots
 * @slots_out: slots of the runs
 * @runs: struct ktau__run of the task taken last
 * @written: position after its newest slot
 * @forgotten: slots of tasks that have exited without having been in a stream
 */
struct ktau__trace {
	const struct kb_ring *rings;
	const struct kb_slot *slots;
	uint32_t nr_cpus;
	uint32_t ring_slots;
	uint64_t *next;
	uint64_t start;
	uint32_t pass;
	struct ktau__map index;
	struct ktau__buffer tasks;
	struct ktau__buffer events;
	struct ktau__buffer slots_out;
	struct ktau__buffer runs;
	uint64_t written;
	uint64_t forgotten;
};

/* The event of a cell of a CPU's table. */
uint32_t ktau__irq_id(uint32_t cell);

/* A ring's size: a power of two within the limits, not below @slots if that is possible. */
uint32_t ktau__ring_size(uint32_t slots);

/* @trace has rings, slots, and their sizes. 0, -ENOMEM. */
int ktau__trace_init(struct ktau__trace *trace);
void ktau__trace_free(struct ktau__trace *trace);

/*
 * Read the rings once; a stream needs two passes. Tasks must be read before the first, so that
 * their counts of slots are not ahead. 0, -ENOMEM.
 */
int ktau__trace_pass(struct ktau__trace *trace);

/**
 * struct ktau__taking - which slots to take
 * @serial: the task's
 * @traced: slots that it has written at least, and at most if it is @final
 * @since_ticks: without earlier ones
 * @now_ticks: the end of a loss after which there is no slot
 * @final: it has exited
 */
struct ktau__taking {
	uint64_t serial;
	uint64_t traced;
	uint64_t since_ticks;
	uint64_t now_ticks;
	bool final;
};

/*
 * Take the slots of a task: trace->runs, which is empty if there is nothing new, until the next
 * call. 0, -ENOMEM.
 */
int ktau__trace_take(struct ktau__trace *trace, const struct ktau__taking *taking);

/* Drop the slots of a task; its next record has them as lost, unless it has @final'ly exited. */
void ktau__trace_drop(struct ktau__trace *trace, uint64_t serial, bool final);

/* After a stream of all tasks: forget those that have exited. 0, -ENOMEM. */
int ktau__trace_end(struct ktau__trace *trace);

#endif /* KTAU_BPF_TRACE_H */
