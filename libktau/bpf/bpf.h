/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internal interface of the source: load.c loads the programs of ktau.bpf.c and reads
 * their maps, exited.c keeps tasks that have exited, and compose.c writes streams.
 */
#ifndef KTAU_BPF_BPF_H
#define KTAU_BPF_BPF_H

#include <linux/ktau.h>

#include "exited.h"
#include "source.h"
#include "state.h"
#include "trace.h"

struct ktau_bpf;

/* Clocks of one moment, in ns. */
struct ktau__clocks {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t boottime_ns;
	uint64_t tai_ns;
};

void ktau__read_clocks(struct ktau__clocks *clocks);

/**
 * struct ktau__bpf - the programs in the kernel, and what has been read from them
 * @skeleton: the loaded object
 * @ring: reader of the exited tasks
 * @groups: KTAU_GROUP_* whose programs are loaded
 * @groups_built: KTAU_GROUP_* that have programs
 * @nr_cpus: number of possible CPUs
 * @first_serial: serials begin here, so that they are unique in this boot
 * @first_cpu_serial: of CPU 0
 * @start: clocks of the start
 * @live: records of the tasks, as the iterator wrote them
 * @exited: tasks that have exited
 * @users: readers that share it
 * @traced: the programs write a trace
 * @trace: what has been read of it
 * @trace_seq: tasks that exited before this number have been in a stream of traces
 */
struct ktau__bpf {
	struct ktau_bpf *skeleton;
	struct ring_buffer *ring;
	uint32_t groups;
	uint32_t groups_built;
	uint32_t nr_cpus;
	uint64_t first_serial;
	uint64_t first_cpu_serial;
	struct ktau__clocks start;
	struct ktau__buffer live;
	struct ktau__exited exited;
	uint32_t users;
	bool traced;
	struct ktau__trace trace;
	uint64_t trace_seq;
};

/* The functions of struct ktau__bpf_source. */
int ktau__bpf_create(struct ktau__bpf **result, const struct ktau_bpf_options *options,
		     struct ktau__error *error);
void ktau__bpf_share(struct ktau__bpf *bpf);
int ktau__bpf_check_rights(struct ktau__error *error);
void ktau__bpf_destroy(struct ktau__bpf *bpf);
int ktau__bpf_compose(struct ktau__bpf *bpf, const struct ktau_query *query,
		      struct ktau__buffer *out, struct ktau__error *error);

/* The serial of a CPU's idle task, which has slots but no state. */
uint64_t ktau__bpf_idle_serial(const struct ktau__bpf *bpf, uint32_t cpu);

/* In traced.c: as ktau_bpf__open(), for the programs that write a trace. */
struct ktau_bpf *ktau__bpf_open_traced(void);

/* One task: its first chunk and its second or NULL. */
struct ktau__bpf_task {
	const struct kb_state *state;
	const struct kb_more *more;
};

/* The record at @at of what the iterator wrote: its size, or 0 if there is none. */
size_t ktau__bpf_next(const struct ktau__buffer *live, size_t at, struct ktau__bpf_task *task);

/* True if the iterator found no moment in which the task's profile was consistent. */
bool ktau__bpf_is_torn(const struct ktau__bpf_task *task);

/* Read the tasks into bpf->live, and those that have exited into bpf->exited. 0, -errno. */
int ktau__bpf_read(struct ktau__bpf *bpf, uint32_t only_tgid);

/* Copy one CPU's table as it was at *@ticks. Return: 0, -errno. */
int ktau__bpf_read_cpu(struct ktau__bpf *bpf, uint32_t cpu, struct kb_cpu *copy, uint64_t *ticks);

const struct kb_losses *ktau__bpf_losses(const struct ktau__bpf *bpf);

/* Runs of programs that the kernel skipped because the same program was running on the CPU. */
uint64_t ktau__bpf_missed(const struct ktau__bpf *bpf);

#endif /* KTAU_BPF_BPF_H */
