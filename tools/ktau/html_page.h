/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of an HTML report while it is being written, which all its parts share. */
#ifndef KTAU_TOOLS_HTML_PAGE_H
#define KTAU_TOOLS_HTML_PAGE_H

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

/* Put @text into the page's section, as its number in the page. */
void html_text(struct html_page *page, const char *text);
/* Return: the number of event @id in the page. */
uint64_t html_event(struct html_page *page, uint32_t id);

#endif
