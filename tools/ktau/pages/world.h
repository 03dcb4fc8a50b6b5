/* SPDX-License-Identifier: GPL-2.0-only */
/* What slots describe: spaces, threads, files, and the canonical number of each page. */
#ifndef KTAU_TOOLS_WORLD_H
#define KTAU_TOOLS_WORLD_H

#include <ktau.h>

#include "consumer.h"
#include "files.h"
#include "skipped.h"

/* Contradictions in the input. */
enum contradiction {
	WRONG_SLOT,	/* a slot that is too short */
	WRONG_RANGE,	/* pages or bytes that cannot be */
	WRONG_SPACE,	/* refers to a space that has not begun, or has ended */
	WRONG_THREAD,	/* refers to a thread that was not announced */
	WRONG_MAPPING,	/* a reference to a page that nothing maps */
	WRONG_BEGIN,	/* a space begins whose number is in use */
	WRONG_TIME,	/* time goes back in a space */
	NR_CONTRADICTIONS
};

/* "slot_too_short" ... */
const char *contradiction_name(enum contradiction kind);

/* Receives a reference or an access to a file; the time of the record is not set. */
typedef int world_record(void *arg, struct page_record *record);

/**
 * struct world - the state of all inputs between two slots
 * @spaces: spaces by input and number
 * @threads: threads by input and number
 * @processes: the newest process by input and pid
 * @all: all processes
 * @nr_processes: their number
 * @files: files
 * @skipped: mappings whose references are not recorded
 * @page_shift: page size by input, as a power of two
 * @nr_inputs: number of inputs
 * @last_number: the canonical number that was given last
 * @record: receives records
 * @arg: for @record
 * @wrong: number of contradictions of each kind
 * @wrong_ticks: time of the first of each
 */
struct world {
	struct hash spaces, threads, processes;
	struct page_process **all;
	uint32_t nr_processes;
	struct page_files files;
	struct skipped skipped;
	uint8_t *page_shift;
	uint32_t nr_inputs;
	uint64_t last_number;
	world_record *record;
	void *arg;
	uint64_t wrong[NR_CONTRADICTIONS], wrong_ticks[NR_CONTRADICTIONS];
};

void world_init(struct world *w, uint32_t nr_inputs, world_record *record, void *arg);
void world_deinit(struct world *w);

/*
 * Follow a slot of an input: call w->record for each page that it accesses. *payload is set to its
 * structure in full, NULL if it is too short or of another type. Return: 0, or the first result of
 * w->record that is not 0.
 */
int world_slot(struct world *w, uint32_t input, const struct ktau_slot *slot,
	       const void **payload);

#endif
