/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The open frames of a task, as a profile lists them. */
#ifndef KTAU_BPF_FRAMES_H
#define KTAU_BPF_FRAMES_H

#include <ktau.h>

#include "state.h"

/* Interrupts in progress: at most one, and a softirq outside it. */
#define KTAU__NR_OPEN_IRQS 2

/**
 * struct ktau__open - open frames
 * @frames: the innermost one first
 * @nr: their number
 * @child_ticks: what has ended directly inside them
 * @irq_child_ticks: the part of it that has ended inside interrupts
 */
struct ktau__open {
	struct ktau_open frames[KTAU__NR_OPEN_IRQS + KB_NR_FRAMES];
	uint32_t nr;
	uint64_t child_ticks, irq_child_ticks;
};

/* Those of a task at st->now. */
void ktau__open_of_task(const struct kb_state *st, struct ktau__open *open);

/* The durations of a task's outermost frames that have ended. */
uint64_t ktau__outer_of_task(const struct kb_state *st, const struct ktau__open *open);

#endif /* KTAU_BPF_FRAMES_H */
