/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel refuses and loses while ktaud is running, according to /proc/ktau/stats. */
#ifndef KTAUD_LOSSES_H
#define KTAUD_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#define LOSSES_MAX	16

/**
 * struct loss - one of the kernel's counters
 * @name: name in /proc/ktau/stats
 * @before: value when ktaud started
 * @now: value when it was last read
 * @reported: its growth has been reported
 */
struct loss {
	char name[32];
	uint64_t before;
	uint64_t now;
	bool reported;
};

/**
 * struct losses - the watched counters
 * @each: the counters
 * @nr: number of counters; 0 without a kernel
 */
struct losses {
	struct loss each[LOSSES_MAX];
	unsigned int nr;
};

/* Take the current values as the baseline. */
void losses_init(struct losses *losses);

/* Reset the baseline of counter @name. */
void losses_reset(struct losses *losses, const char *name);

/* Report each counter that has started to grow, once. */
void losses_warn(struct losses *losses);

/* Report by how much each counter has grown. */
void losses_report(struct losses *losses);

#endif /* KTAUD_LOSSES_H */
