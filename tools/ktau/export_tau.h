/* SPDX-License-Identifier: GPL-2.0-only */
/* What the exports for TAU share: its names, and numbers without gaps. */
#ifndef KTAU_TOOLS_EXPORT_TAU_H
#define KTAU_TOOLS_EXPORT_TAU_H

#include <stdio.h>

#include <ktau.h>

#include "aggregate.h"
#include "hash.h"
#include "symbolize.h"

enum { TAU_GROUP_BYTES = 32 };

/* TAU's name of a group: KTAU_SCHEDULE. May be in @text. */
const char *tau_group(const char *group, char text[TAU_GROUP_BYTES]);

/* A name between quotes: without quotes, control characters and "=>". */
void tau_name(const char *name, FILE *out);

/* A process and its thread. */
struct tau_ids {
	uint32_t context, thread;
};

/* All zero to begin with. */
struct tau_numbering {
	struct hash contexts;
	uint32_t *threads;
	size_t nr_contexts, room;
};

/* The next numbers, for each task once. */
struct tau_ids tau_number(struct tau_numbering *n, const struct ktau_rec_owner *owner);
void tau_numbering_deinit(struct tau_numbering *n);

/* Ticks of a row; @running leaves the waits out. */
struct tau_time {
	uint64_t excl, incl;
};

/* The task itself: its life, and what of it was not in the kernel. */
struct tau_time tau_root_time(const struct symbolizer *names, const struct process *p,
			      bool running);
struct tau_time tau_routine_time(const struct symbolizer *names, const struct routine *r,
				 bool running);

/* <attribute> elements: whose profile it is, on which machine. */
void tau_metadata(const struct process *p, const struct ktau_rec_stream *stream, FILE *out);

/* Its name: that of the process, the cgroup or the user, or of the command. */
const char *tau_process_name(const struct process *p);

#endif
