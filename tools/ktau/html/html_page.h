/* SPDX-License-Identifier: GPL-2.0-only */
/* The state shared by all parts of an HTML report while it is written. */
#ifndef KTAU_TOOLS_HTML_PAGE_H
#define KTAU_TOOLS_HTML_PAGE_H

#include <stdio.h>

#include <ktau.h>

#include "html_data.h"
#include "lib/report/period.h"
#include "lib/report/report.h"

/**
 * struct html_page - a page being written
 * @r: the report
 * @period: the period of the report
 * @out: the file
 * @section: section of data being written
 * @packed: part of the section, buffered because its length comes first
 * @texts: all names; written last
 * @event_numbers: number of an event in the page plus 1, by id
 * @events: event ids, by number in the page
 * @nr_events: length of @events
 * @room_events: allocated length of @events
 * @stream: STREAM record at the end of the period
 * @clock: clock of the machine
 * @from_ticks: start of the period
 * @from_ns: @from_ticks as CLOCK_BOOTTIME
 * @row_of: row in the page, by index in period->rows->processes
 * @nr_rows: number of rows in the page
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

/* Put the number of @text into the current section. */
void html_text(struct html_page *page, const char *text);
/* Return: the number of event @id in the page. */
uint64_t html_event(struct html_page *page, uint32_t id);

#endif
