// SPDX-License-Identifier: GPL-2.0-only
/* The rows of a view in an HTML report, which are above those of the tasks. */
#include "html_states.h"

/* The intervals of a row, each by the time since the one before, its length and its state. */
static size_t put_row(struct html_page *page, const struct states *s, uint32_t row, size_t first)
{
	struct section_out *out = &page->section;
	uint64_t ns = page->from_ns;
	size_t i, end = first;

	while (end < s->nr_intervals && s->intervals[end].row == row)
		end++;
	html_text(page, s->rows[row]);
	section_number(out, end - first);
	for (i = first; i < end; i++) {
		section_signed(out, (int64_t)(s->intervals[i].from_ns - ns));
		section_number(out, s->intervals[i].to_ns - s->intervals[i].from_ns);
		section_number(out, s->intervals[i].name);
		ns = s->intervals[i].to_ns;
	}
	return end;
}

void html_states(struct html_page *page, const struct states *s)
{
	size_t i, at = 0;

	section_begin(&page->section, page->out, "states");
	html_text(page, s->title);
	section_number(&page->section, s->nr_names);
	for (i = 0; i < s->nr_names; i++) {
		html_text(page, s->names[i].text);
		html_text(page, s->names[i].colour);
		html_text(page, s->names[i].kind ? s->names[i].kind : s->names[i].text);
	}
	section_number(&page->section, s->nr_rows);
	for (i = 0; i < s->nr_rows; i++)
		at = put_row(page, s, (uint32_t)i, at);
	section_end(&page->section);
}
