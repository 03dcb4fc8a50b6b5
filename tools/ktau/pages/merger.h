/* SPDX-License-Identifier: GPL-2.0-only */
/* Read files of references in the order of time, and call a consumer. */
#ifndef KTAU_TOOLS_MERGER_H
#define KTAU_TOOLS_MERGER_H

#include "consumer.h"

/**
 * struct merge_options - what to merge, and how
 * @paths: the files
 * @nr_paths: their number
 * @consumer: receives the records
 * @setup: for the consumer
 * @strict: contradictions and losses are errors
 * @drop_first_stores: leave out first stores to pages in the window
 * @no_kernel: leave out references by the kernel
 * @no_fetch: leave out fetches of instructions
 * @no_files: leave out read() and write() of files
 * @needs_ns: the consumer needs times in nanoseconds
 * @from_ns: only records from this time after the first slot on
 * @to_ns: only records up to this time
 */
struct merge_options {
	char **paths;
	uint32_t nr_paths;
	const struct consumer *consumer;
	struct consumer_setup setup;
	bool strict, drop_first_stores, no_kernel, no_fetch, no_files, needs_ns;
	uint64_t from_ns, to_ns;
};

/* Whether the consumer gets a record of this time. */
bool merge_wants(const struct merge_options *options, const struct page_record *record,
		 uint64_t ns);

/*
 * Say that the consumer got no reference; @any: the input has some, which the options leave out.
 * Return: CLI_FAILED.
 */
int merge_nothing(const struct merge_options *options, bool any);

/*
 * The output of the setup is committed, or discarded after an error. Return: the exit status of
 * the command, after messages.
 */
int merge_files(const struct merge_options *options);

#endif
