// SPDX-License-Identifier: GPL-2.0-only
/* The regions of programs in an HTML report, by row of the page. */
#include "html_regions.h"
#include "lib/report/regions.h"
#include "lib/report/report_regions.h"
#include "lib/report/tally.h"

static ktau_sum_t shown_ns(const struct html_page *page, const struct region_sum *s,
			   ktau_sum_t ticks)
{
	uint64_t own = 0;

	if (page->r->subtract)
		own = symbolize_hook_ticks(page->r->names, page->stream, s->id, s->count);
	return ktau_clock_sum_ns(&page->clock, sum_less(ticks, own));
}

static void put_sum(struct html_page *page, const struct region_sum *s)
{
	html_text(page, s->path);
	section_number(&page->section, html_event(page, s->id) << 1 | !s->timer);
	section_number(&page->section, s->count);
	section_number(&page->section, s->timer ? shown_ns(page, s, s->incl) : s->incl);
	section_number(&page->section, s->timer ? shown_ns(page, s, s->excl) : 0);
}

void html_regions(struct html_page *page)
{
	const struct aggregate *rows = page->period->rows;
	struct region_sums sums = { 0 };
	const struct region_sum *s;
	size_t i, k, nr;

	if (rows->regions)
		regions_sum(rows->regions, page->stream, &sums);
	section_begin(&page->section, page->out, "regions");
	for (i = 0; sums.nr && i < rows->nr; i++) {
		s = report_regions_find(&sums, rows->processes[i].number, &nr);
		if (!nr)
			continue;
		section_number(&page->section, nr);
		section_number(&page->section, page->row_of[i]);
		for (k = 0; k < nr; k++)
			put_sum(page, &s[k]);
	}
	section_number(&page->section, 0);
	section_end(&page->section);
	region_sums_deinit(&sums);
}
