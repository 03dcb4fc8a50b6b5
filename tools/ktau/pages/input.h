/* SPDX-License-Identifier: GPL-2.0-only */
/* A file of references, slot by slot. */
#ifndef KTAU_TOOLS_PAGE_INPUT_H
#define KTAU_TOOLS_PAGE_INPUT_H

#include <ktau.h>

/**
 * struct page_input - a file that is being read
 * @reader: its reader
 * @path: its path
 * @trace: the record that @slot is in; NULL: none
 * @slot: the current slot; NULL: @trace has been announced, but none was taken
 * @lost: slots that were lost before @trace
 * @no_room: slots that found no room in the ring so far
 * @lost_in_all: slots that were lost in the whole file
 * @clock: its clock
 * @boot: its first STREAM record
 * @status: CLI_FAILED if it could not be read to its end
 */
struct page_input {
	struct ktau_reader *reader;
	const char *path;
	const struct ktau_rec_trace *trace;
	const struct ktau_slot *slot;
	uint64_t lost, no_room, lost_in_all;
	struct ktau_clock clock;
	struct ktau_rec_stream boot;
	int status;
};

/* Return: 0, or CLI_FAILED with a message. input_close() must be called in any case. */
int input_open(struct page_input *in, const char *path);
void input_close(struct page_input *in);

/*
 * Go to the next slot. If slots were lost before it, in->lost is their number. Return: false at
 * the end, after a message if it is not the end of the file.
 */
bool input_next(struct page_input *in);

#endif
