/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording of a host or a guest: which task had which CPU when, and the threads of virtual
 * CPUs. A guest may be a host in turn. All times are ticks of the machine's own counter.
 */
#ifndef KTAU_TOOLS_VM_MACHINE_H
#define KTAU_TOOLS_VM_MACHINE_H

#include "analyse/steals.h"
#include "analyse/timeline.h"
#include "lib/hash.h"
#include "lib/report/registry.h"
#include "vcpu.h"

/* A time for which a task had a CPU. */
struct vm_run {
	uint64_t from, to, serial;
};

/**
 * struct vm_track - a task
 * @last: time of its last slot
 * @lost: slots lost so far
 * @cpu: CPU that it has
 * @run: index of that run plus 1; 0: it has none
 */
struct vm_track {
	uint64_t last, lost;
	uint32_t cpu;
	size_t run;
};

/**
 * struct vm_cpu - a CPU
 * @runs: who had it, in time order
 * @slots: times of the slots that were written on it when they say
 * @host: index of the machine that has the thread of this CPU; SIZE_MAX: none is known
 * @vcpu: index of the thread there
 */
struct vm_cpu {
	struct vm_run *runs;
	size_t nr_runs, runs_room;
	uint64_t *slots;
	size_t nr_slots, slots_room;
	size_t host, vcpu;
};

/**
 * struct vm_machine - a machine
 * @file: name of its file
 * @boot: its boot id
 * @name: that without folder and suffix
 * @timeline: merges its trace, and knows its tasks
 * @cpus: its CPUs
 * @vcpus: its threads of virtual CPUs
 * @by_serial: index in @vcpus plus 1
 * @tracks: its tasks, by the index of their track
 * @frames: enum vcpu_frame of each event
 * @first, @last: times of its first and last slot
 * @evicted_before: slots of tasks that had exited, which were dropped before its first stream ended
 * @lost_evicted: the same from then until the last one ended
 * @has_end: a stream has ended
 * @gave_up: the search for its clock took too long
 * @own_clock: its ticks are nanoseconds of a clock of its kernel, not readings of the counter
 */
struct vm_machine {
	const char *file;
	struct steals_boot boot;
	char *name;
	struct registry *registry;
	struct timeline *timeline;
	struct timeline_sink sink;
	struct vm_cpu *cpus;
	size_t nr_cpus;
	struct vcpu **vcpus;
	size_t nr_vcpus, vcpus_room;
	struct hash by_serial;
	struct vm_track *tracks;
	size_t nr_tracks;
	uint8_t frames[65536];
	uint64_t first, last;
	uint64_t evicted_before, lost_evicted;
	bool has_end, gave_up, own_clock;
};

/*
 * Read @file. Return: CLI_DONE, or CLI_FAILED after a message; then @m has what precedes the
 * damage, if vm_machine_has_trace().
 */
int vm_machine_read(struct vm_machine *m, const char *file);

bool vm_machine_has_trace(const struct vm_machine *m);

/*
 * The steps of that, for the records of several files: @m, which must not move, is called after
 * @file. Return: 0 or -errno; CLI_DONE, or CLI_FAILED after a message.
 */
void vm_machine_init(struct vm_machine *m, const char *file);
int vm_machine_take(struct vm_machine *m, const struct ktau_reader *reader,
		    const union ktau_record *record);
int vm_machine_finish(struct vm_machine *m);
void vm_machine_deinit(struct vm_machine *m);

/* The task that had @cpu at @ticks; NULL if none is known. */
const struct vm_run *vm_machine_run_at(const struct vm_machine *m, uint32_t cpu, uint64_t ticks);

/* The first run on @c that ends after @ticks. */
size_t vm_cpu_run_after(const struct vm_cpu *c, uint64_t ticks);

/* The thread of a virtual CPU with @serial; NULL if it is none. */
struct vcpu *vm_machine_vcpu(const struct vm_machine *m, uint64_t serial);

/* "NAME/TID"; to be freed. */
char *vm_machine_task(const struct vm_machine *m, uint64_t serial);

/* Whether it is an idle task. */
bool vm_machine_is_idle(const struct vm_machine *m, uint64_t serial);

/* CLOCK_REALTIME of @ticks in nanoseconds. */
uint64_t vm_machine_realtime(const struct vm_machine *m, uint64_t ticks);

/* A number of ticks in nanoseconds. */
uint64_t vm_machine_ns(const struct vm_machine *m, uint64_t ticks);

#endif
