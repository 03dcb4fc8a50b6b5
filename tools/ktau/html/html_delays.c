// SPDX-License-Identifier: GPL-2.0-only
/* Who delayed whom, in an HTML report. */
#include "html_delays.h"

enum { MAX_ROWS = 2000 };

static void put_row(struct html_page *page, const struct delay *row)
{
	html_text(page, row->victim);
	html_text(page, row->by);
	html_text(page, row->state);
	html_text(page, row->in);
	section_number(&page->section, row->ns);
	section_number(&page->section, row->nr);
}

void html_delays(struct html_page *page, const struct delays *delays)
{
	struct delay rest = { "(others)", "(others)", "", "", 0, 0 };
	size_t shown = delays->nr > MAX_ROWS ? MAX_ROWS - 1 : delays->nr, i;

	section_begin(&page->section, page->out, "delays");
	section_number(&page->section, delays->tasks);
	section_number(&page->section, delays->ns);
	section_number(&page->section, shown + (shown < delays->nr));
	for (i = 0; i < shown; i++)
		put_row(page, &delays->rows[i]);
	for (; i < delays->nr; i++) {
		rest.ns += delays->rows[i].ns;
		rest.nr += delays->rows[i].nr;
	}
	if (shown < delays->nr)
		put_row(page, &rest);
	section_end(&page->section);
}
