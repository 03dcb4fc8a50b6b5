/* SPDX-License-Identifier: GPL-2.0-only */
/* What measures the running kernel: KTAU, or BPF programs on a kernel without it. */
#ifndef KTAU_TOOLS_LIVE_H
#define KTAU_TOOLS_LIVE_H

#include <argp.h>
#include <stdbool.h>

#include <ktau.h>

/* The option --source of a command, with this key. */
enum { LIVE_OPT_SOURCE = 0x1000 };

#define LIVE_OPTION(group) \
	{ "source", LIVE_OPT_SOURCE, "SOURCE", 0, \
	  "Measure with: auto (the default: bpf if the kernel has no KTAU), kernel, bpf", group }

/* Set the source to the argument of --source. */
void live_set_source(const char *word, const struct argp_state *state);

/* Do BPF programs measure? Decided by the first call. */
bool live_is_bpf(void);

/* Measure only these groups, if BPF programs measure. Return: 0, or -1 with a message. */
int live_set_groups(const char *groups);

/*
 * Open the source, and say so in one line if it is BPF without having been requested. Return: 0 or
 * -errno, for live_failed().
 */
int live_open(struct ktau_reader *reader, const struct ktau_query *query);

/* The same for a second reader: BPF programs that measure for @with also measure for this one. */
int live_open_with(struct ktau_reader *reader, const struct ktau_reader *with,
		   const struct ktau_query *query);

/* BPF programs that are loaded write a trace, to rings of so many slots. */
void live_set_trace(uint32_t ring_slots);

/* Print a message for an error of a reader of the running kernel, and the command that works. */
void live_failed(const struct ktau_reader *reader, int err);

#endif
