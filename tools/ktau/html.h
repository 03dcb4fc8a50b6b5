/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report as one HTML file: the account, routines, call paths, the time line and what
 * was lost, with the program that draws them. The file loads nothing.
 */
#ifndef KTAU_TOOLS_HTML_H
#define KTAU_TOOLS_HTML_H

#include <stdio.h>

#include <ktau.h>

#include "html_data.h"
#include "period.h"
#include "report.h"

/**
 * struct html_page - a page that is being written
 * @r: what it is of
 * @period: likewise
 * @out: the file
 * @section: of the page's data
 * @packed: a part of it whose length comes first
 * @texts: all names, written last
 * @event_numbers: number plus 1 of an event in the page, by id
 * @events: ids by those numbers
 * @nr_events: number of them
 * @room_events: for how many there is memory
 * @stream: the end of the period
 * @clock: of the machine
 * @from_ticks: the beginning of the period
 * @from_ns: the same as CLOCK_BOOTTIME
 * @row_of: row of the page, by index of period->rows->processes
 * @nr_rows: number of rows
 */
struct html_page {
	const struct report *r;
	const struct period *period;
	FILE *out;
	struct section_out section;
	struct packed packed;
	struct texts texts;
	struct hash event_numbers;
	uint32_t *events;
	size_t nr_events, room_events;
	const struct ktau_rec_stream *stream;
	struct ktau_clock clock;
	uint64_t from_ticks, from_ns;
	uint32_t *row_of;
	size_t nr_rows;
};

/*
 * The report of @period, whose rows are complete, into r->html. the files are read again
 * for what happened over time, and once more for their traces. CLI_DONE, or CLI_FAILED
 * with a message and without the file.
 */
int html_report(const struct report *r, const struct period *period);

/* Parts of a section. */
void html_text(struct html_page *page, const char *text);
uint64_t html_event(struct html_page *page, uint32_t id);

/*
 * html_over.c: who ran, interval by interval. 0 or -errno of the reader; what could
 * be read has been written.
 */
int html_over(struct html_page *page);

/* html_trace.c: the time line and the call paths. Likewise. */
int html_trace(struct html_page *page);

/* html_parts.c: the page around the data. */
extern const char html_head[], html_style[], html_body[], html_program[];

#endif
