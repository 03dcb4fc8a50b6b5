// SPDX-License-Identifier: GPL-2.0-only
/* Texts and events of an HTML report. */
#include "lib/cli.h"
#include "html_page.h"

void html_text(struct html_page *page, const char *text)
{
	section_number(&page->section, texts_number(&page->texts, text));
}

uint64_t html_event(struct html_page *page, uint32_t id)
{
	size_t number = hash_get(&page->event_numbers, id);

	if (number)
		return number - 1;
	if (page->nr_events == page->room_events) {
		page->room_events = page->room_events ? page->room_events * 2 : 64;
		page->events = cli_alloc(page->events, page->room_events,
					 sizeof(*page->events));
	}
	page->events[page->nr_events++] = id;
	hash_put(&page->event_numbers, id, page->nr_events);
	return page->nr_events - 1;
}
