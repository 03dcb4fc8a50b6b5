/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that have exited, oldest first. Beyond a limit the oldest are evicted: only summed up. */
#ifndef KTAU_BPF_EXITED_H
#define KTAU_BPF_EXITED_H

#include <linux/ktau.h>

#include "../buffer.h"
#include "../map.h"
#include "account.h"
#include "state.h"

/* A task: its first chunk, up to the last cell in use, and its second or NULL. */
struct ktau__exited_task {
	struct ktau__exited_task *next;
	uint64_t seq;
	struct kb_more *more;
	struct kb_state *state;
};

/* Sums of the evicted tasks. */
struct ktau__evicted {
	struct kb_cell cells[KB_NR_TASK_IDS];
	struct kb_irq_cell irqs[KB_NR_SOFTIRQS + KB_NR_VECTORS + KB_NR_CPU_LINES + 1];
	uint64_t nr_tasks;
	uint64_t outer_ns;
	uint64_t refused;
	uint64_t refused_ns;
	uint64_t clamped;
	struct ktau__parts parts;
};

/* A second chunk whose task's record has not been read yet. */
struct ktau__pending {
	struct ktau__pending *next;
	struct kb_more *more;
};

struct ktau__exited {
	struct ktau__exited_task *first;
	struct ktau__exited_task **last;
	struct ktau__pending *pending;	/* newest first */
	uint32_t nr_pending;
	uint64_t lost;			/* tasks whose records could not be used */
	uint64_t next_seq;
	uint64_t bytes;
	uint64_t limit_bytes;
	uint64_t missed;		/* evicted without having been in a stream */
	uint64_t shown_seq;		/* tasks below have been in a stream */
	struct ktau__buffer gone;	/* serials evicted since the last stream */
	struct ktau__evicted evicted;
};

void ktau__exited_init(struct ktau__exited *exited, uint64_t first_seq);
void ktau__exited_free(struct ktau__exited *exited);

/* Add a record of the ring buffer. Return: 0, -EBADMSG if it is not one, -ENOMEM. */
int ktau__exited_add(struct ktau__exited *exited, const void *data, size_t size);

/* The number of an interrupt's cell in a CPU's table, given that in a task's. */
uint32_t ktau__line_in_cpu(const struct kb_state *state, uint32_t cell);

/* The number, given that in a CPU's table, of the cell under which a task counts an interrupt. */
uint32_t ktau__irq_of_task(const struct kb_state *state, uint32_t cell);

#endif /* KTAU_BPF_EXITED_H */
