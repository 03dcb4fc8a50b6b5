/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the exports for TAU: TAU's names, and numbering without gaps. */
#ifndef KTAU_TOOLS_EXPORT_TAU_H
#define KTAU_TOOLS_EXPORT_TAU_H

#include <stdio.h>

#include <ktau.h>

#include "lib/report/aggregate.h"
#include "lib/hash.h"
#include "lib/symbolize.h"

enum { TAU_GROUP_BYTES = 32 };

/* TAU's name of a group, such as KTAU_SCHEDULE. The result may point to @text. */
const char *tau_group(const char *group, char text[TAU_GROUP_BYTES]);

/* Print a name that will be in quotes: without quotes, control characters and "=>". */
void tau_name(const char *name, FILE *out);

/* Context number of a process and number of its thread. */
struct tau_ids {
	uint32_t context, thread;
};

/* Must be all zero initially. */
struct tau_numbering {
	struct hash contexts;
	uint32_t *threads;
	size_t nr_contexts, room;
};

/* Assign the next numbers; call this once per task. */
struct tau_ids tau_number(struct tau_numbering *n, const struct ktau_rec_owner *owner);
void tau_numbering_deinit(struct tau_numbering *n);

/* Ticks of a row; @running excludes waits. */
struct tau_time {
	uint64_t excl, incl;
};

/* The task itself: its lifetime, and the part of it spent outside the kernel. */
struct tau_time tau_root_time(const struct symbolizer *names, const struct process *p,
			      bool running);
struct tau_time tau_routine_time(const struct symbolizer *names, const struct routine *r,
				 bool running);

/* <attribute> elements: the owner of the profile and its machine. */
void tau_metadata(const struct process *p, const struct ktau_rec_stream *stream, FILE *out);

/* Name of the owner: the process, the cgroup or the user, or of the command. */
const char *tau_process_name(const struct process *p);

#endif
