/* SPDX-License-Identifier: GPL-2.0-only */
/* Working sets over time. */
#ifndef KTAU_TOOLS_WORKINGSET_H
#define KTAU_TOOLS_WORKINGSET_H

#include "consumer.h"
#include "lib/table.h"
#include "recent.h"

enum { NR_TAUS_MAX = RECENT_SETS_MAX };

/**
 * struct workingset_options - @data of the setup
 * @tau_ns: how long a page is in the working set after a reference
 * @nr_taus: their number
 * @interval_ns: time between two rows; 0: the longest tau
 * @per_process: a working set for each process
 * @format: of the table
 */
struct workingset_options {
	uint64_t tau_ns[NR_TAUS_MAX];
	unsigned int nr_taus;
	uint64_t interval_ns;
	bool per_process;
	enum table_format format;
};

/* Prints the table at its end. */
extern const struct consumer workingset_consumer;

#endif
