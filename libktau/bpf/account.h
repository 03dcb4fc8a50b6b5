/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a task has done since its profile began, from its state. */
#ifndef KTAU_BPF_ACCOUNT_H
#define KTAU_BPF_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "state.h"

/* @a - @b, 0 if that is negative. */
static inline uint64_t ktau__less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Parts of a task's life, in ns. */
struct ktau__parts {
	uint64_t user;
	uint64_t kernel;
	uint64_t irq;
	uint64_t runq;
	uint64_t asleep;
	uint64_t guest;
	bool unknown;	/* a part of it is user or kernel time; which of them is not known yet */
};

/* The open frames that are listed: without that of the time before the first event. */
struct ktau__frames {
	const struct kb_frame *first;
	uint32_t depth;
};

struct ktau__frames ktau__frames_of(const struct kb_state *st);

/* How long the interrupts in progress have taken until @now, without what was counted already. */
uint64_t ktau__irqs_ns(const struct kb_in_progress *irqs, uint64_t now);

/* The same of a task, since its profile began. */
uint64_t ktau__irq_now(const struct kb_state *st);

/* The wait in progress of a task that does not run, in ns; 0 for one that runs. */
void ktau__wait_of(const struct kb_state *st, uint64_t *asleep, uint64_t *runq);

/* The account of a task until @st->now. */
void ktau__parts_of(const struct kb_state *st, struct ktau__parts *parts);

#endif /* KTAU_BPF_ACCOUNT_H */
