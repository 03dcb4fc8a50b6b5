/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel refuses and loses while ktaud runs, as /proc/ktau/stats counts it. */
#ifndef KTAUD_LOSSES_H
#define KTAUD_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#define LOSSES_MAX	16

/**
 * struct loss - one of the kernel's counts
 * @name: as the kernel calls it
 * @before: when ktaud started
 * @now: when it was read last
 * @told: that it grows
 */
struct loss {
	char name[32];
	uint64_t before;
	uint64_t now;
	bool told;
};

/**
 * struct losses - those that are looked at
 * @each: the counts
 * @nr: number of them, 0 where there is no kernel to ask
 */
struct losses {
	struct loss each[LOSSES_MAX];
	unsigned int nr;
};

/* What is counted from here on counts. */
void losses_init(struct losses *losses);

/* What was counted of @name up to now does not count. */
void losses_disregard(struct losses *losses, const char *name);

/* Say which have begun to grow, each once. */
void losses_look(struct losses *losses);

/* Say by how much each has grown. */
void losses_tell(struct losses *losses);

#endif /* KTAUD_LOSSES_H */
