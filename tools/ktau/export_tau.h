/* SPDX-License-Identifier: GPL-2.0-only */
/* What the exports for TAU share: its names, and numbers without gaps. */
#ifndef KTAU_TOOLS_EXPORT_TAU_H
#define KTAU_TOOLS_EXPORT_TAU_H

#include <stdio.h>

#include <ktau.h>

#include "hash.h"

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

#endif
