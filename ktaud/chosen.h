/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that were chosen by number. A number means the process that had it when ktaud first
 * read it: after the exit, the kernel gives the number to another process.
 */
#ifndef KTAUD_CHOSEN_H
#define KTAUD_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "config.h"

/**
 * struct chosen_pid - one number
 * @pid: process or thread id
 * @start_ns: when its task started, which tells it from others of this number
 * @bound: @start_ns is known
 * @gone: there was no such task in the first stream
 * @told: another task with this number has been logged
 */
struct chosen_pid {
	int32_t pid;
	uint64_t start_ns;
	bool bound;
	bool gone;
	bool told;
};

/**
 * struct chosen - the numbers and what they mean
 * @pids: the numbers, ascending, including those no longer in the configuration
 * @nr_pids: length of @pids
 * @leaders: serials of the processes, ascending, for their threads
 * @nr_leaders: length of @leaders
 * @since_ns: CLOCK_BOOTTIME; tasks that exited earlier are not meant
 */
struct chosen {
	struct chosen_pid *pids;
	size_t nr_pids;
	uint64_t *leaders;
	size_t nr_leaders;
	uint64_t since_ns;
};

void chosen_init(struct chosen *chosen);
void chosen_deinit(struct chosen *chosen);

/* Return: true if the configuration chooses @owner. Without memory, it may be too much. */
bool chosen_has(struct chosen *chosen, const struct config *config,
		const struct ktau_rec_owner *owner);

/* The end of a complete stream of @config. */
void chosen_end(struct chosen *chosen, const struct config *config);

#endif /* KTAUD_CHOSEN_H */
