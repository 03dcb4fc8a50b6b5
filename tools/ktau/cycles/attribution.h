/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attribution: which instruction took the cycles that a hardware trace counted.
 *
 * A trace is a sequence of ranges of executed instructions and of cycle counts. What a count
 * belongs to depends on the hardware:
 *
 *   by instruction  (ETMv3) a count precedes the instruction that took it
 *   by branch       (PTM) a count precedes the range that took it, which ends at a branch; the
 *		     last instruction is charged
 *   by batch	     (ETMv4, ETE) a count follows the ranges that took it, since the last count.
 *		     Each of their n instructions gets the quotient of cycles / n, and the first
 *		     ones, as many as the remainder, get one more
 *   by block	     (Intel PT) as by batch
 *
 * Cycles that no range took are in one of four other sums, so that always
 *
 *   cycles = functions + gaps + unread + unattributed
 *
 * Memory grows with the number of different ranges, never with the length of the trace.
 */
#ifndef KTAU_CYCLES_ATTRIBUTION_H
#define KTAU_CYCLES_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"

enum cycles_rule { CYCLES_BY_INSTRUCTION, CYCLES_BY_BRANCH, CYCLES_BY_BATCH, CYCLES_BY_BLOCK };

/* How long instructions are. */
enum cycles_isa { CYCLES_WORDS, CYCLES_THUMB, CYCLES_WHOLE };

enum cycles_kind {
	CYCLES_RANGE,	/* executed instructions */
	CYCLES_COUNT,	/* a count alone */
	CYCLES_GAP,	/* tracing starts or synchronises */
	CYCLES_RESUME,	/* the state of the CPU; its count is the length of a gap before it */
	CYCLES_DAMAGE,	/* the trace cannot be decoded up to the next element */
	CYCLES_UNREAD,	/* instructions at @start whose code is missing */
	CYCLES_OTHER,
};

/**
 * struct cycles_element - an element of a decoded trace
 * @kind: what it is
 * @isa: RANGE: words of four bytes, Thumb, or one instruction of the length of the range
 * @branches: RANGE: the last instruction is a branch that was taken
 * @has_count: @cycles is valid
 * @nr_instructions: RANGE: at least 1
 * @start: address of the first instruction
 * @end: address after the last one
 * @cycles: count
 */
struct cycles_element {
	enum cycles_kind kind;
	enum cycles_isa isa;
	bool branches;
	bool has_count;
	uint32_t nr_instructions;
	uint64_t start, end;
	uint64_t cycles;
};

/**
 * struct cycles_range - all executions of one range
 * @start: address of its first instruction
 * @end: address after its last one
 * @nr_instructions: their number
 * @isa: their lengths
 * @executions: how often
 * @uncounted: how many of these without a count
 * @after_branch: how many of these after a branch
 * @each: cycles of each instruction, from quotients
 * @last: cycles of the last instruction, in addition
 * @first: @first[k]: how often the first k instructions got one cycle more; NULL: never
 */
struct cycles_range {
	uint64_t start, end;
	uint32_t nr_instructions;
	enum cycles_isa isa;
	uint64_t executions, uncounted, after_branch;
	uint64_t each, last;
	uint64_t *first;
};

/**
 * struct cycles - the attribution of one stream
 * @rule: what counts belong to
 * @ranges: the ranges, in no particular order
 * @nr_ranges: length of @ranges
 * @total: all cycles
 * @in_ranges: cycles of instructions
 * @gaps: cycles while tracing was off or filtered
 * @damaged: cycles while the trace could not be decoded; part of @gaps
 * @unread: cycles of code that is missing
 * @unattributed: cycles before the first or after the last decoded instruction
 * @instructions: executed instructions
 * @uncounted: instructions without a count
 * @has_counts: whether there was a count
 * @nr_unread: different pages without code
 */
struct cycles {
	enum cycles_rule rule;
	struct cycles_range *ranges;
	size_t nr_ranges;
	uint64_t total, in_ranges, gaps, damaged, unread, unattributed;
	uint64_t instructions, uncounted;
	bool has_counts;
	size_t nr_unread;

	/* attribution.c */
	size_t room;
	struct hash by_address;		/* -> index in @ranges plus 1 */
	uint64_t pending;		/* counted, but not attributed */
	uint64_t *batch;		/* indices of ranges since the last count */
	size_t nr_batch, batch_instructions;
	enum cycles_kind before;	/* last discontinuity since the last count, or RANGE */
	bool branched;			/* the last range ended in a branch */
	struct hash unread_pages;
};

void cycles_init(struct cycles *c, enum cycles_rule rule);
void cycles_deinit(struct cycles *c);

/* Process the next element. */
void cycles_add(struct cycles *c, const struct cycles_element *e);

/* Process the end of the trace. */
void cycles_finish(struct cycles *c);

/* The size of the pages in which missing code is counted. */
#define CYCLES_PAGE	4096

/*
 * The addresses of the @nr_unread pages without code, ascending; free() them. Of more than 65536
 * pages, these are the first ones.
 */
uint64_t *cycles_unread_pages(const struct cycles *c);

/* Set @cycles to those of each instruction of a range, over all executions. */
void cycles_of(const struct cycles_range *range, uint64_t *cycles);

#endif
