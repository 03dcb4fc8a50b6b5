// SPDX-License-Identifier: GPL-2.0-only
/* A report as one HTML file: the page, and the account and routines of each process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/output.h"
#include "html.h"
#include "html_delays.h"
#include "html_over.h"
#include "html_page.h"
#include "html_parts.h"
#include "html_regions.h"
#include "html_states.h"
#include "html_trace.h"
#include "lib/report/account.h"
#include "lib/report/report_tables.h"
#include "lib/report/tally.h"

/* Maximum number of rows without --processes. The remaining processes share one more row. */
enum { USUAL_ROWS = 20000 };

static void put_ns(struct html_page *page, ktau_sum_t ticks)
{
	section_number(&page->section, ktau_clock_sum_ns(&page->clock, ticks));
}

static void pack_ns(struct html_page *page, ktau_sum_t ticks)
{
	packed_number(&page->packed, ktau_clock_sum_ns(&page->clock, ticks));
}

static void pack_routine(struct html_page *page, const struct routine *r)
{
	struct packed *p = &page->packed;

	packed_number(p, html_event(page, r->id) << 1 | (r->kind == KTAU_KIND_COUNTER));
	packed_number(p, r->count);
	if (r->kind == KTAU_KIND_COUNTER) {
		packed_number(p, r->incl);
		packed_number(p, r->min);
		packed_number(p, r->max);
		return;
	}
	pack_ns(page, r->incl);
	pack_ns(page, r->excl);
	pack_ns(page, r->flags & KTAU_ENTRY_LONGEST ? r->longest : 0);
	pack_ns(page, r->flags & KTAU_ENTRY_ASLEEP ? r->asleep : 0);
	packed_number(p, r->open);
}

/* The page decodes a process's routines only when they are shown, so their length comes first. */
static void put_routines(struct html_page *page, const struct process *process)
{
	const struct wakers *w = &process->wakers;
	struct packed *p = &page->packed;
	size_t i;

	p->nr = 0;
	packed_number(p, process->tally.nr);
	for (i = 0; i < process->tally.nr; i++)
		pack_routine(page, &process->tally.routines[i]);
	packed_number(p, w->nr);
	for (i = 0; i < w->nr; i++) {
		packed_number(p, html_event(page, w->wakers[i].id));
		packed_number(p, texts_number(&page->texts, w->wakers[i].name));
		packed_number(p, w->wakers[i].nr);
	}
	section_number(&page->section, p->nr);
	section_bytes(&page->section, p->bytes, p->nr);
}

static void put_account(struct html_page *page, const struct process *p)
{
	unsigned int measured = 0;
	int i;

	for (i = 0; i < ACCOUNT_NR; i++)
		measured |= (unsigned int)account_has(page->stream, p, i) << i;
	put_ns(page, p->account.life);
	section_number(&page->section, measured);
	for (i = 0; i < ACCOUNT_NR; i++)
		put_ns(page, p->account.parts[i]);
}

static void put_row(struct html_page *page, const struct process *p)
{
	struct section_out *s = &page->section;

	html_text(page, p->label);
	html_text(page, p->cgroup);
	section_signed(s, p->owner.tgid);
	section_number(s, p->owner.uid);
	section_number(s, p->owner.flags);
	section_number(s, p->tasks);
	section_number(s, p->live);
	section_signed(s, (int64_t)(p->owner.start_ns - page->from_ns));
	section_number(s, p->owner.exit_ns ? less(p->owner.exit_ns, p->owner.start_ns) + 1 : 0);
	put_account(page, p);
	put_routines(page, p);
}

static ktau_sum_t busy_of(const struct process *p)
{
	const ktau_sum_t *parts = p->account.parts;

	return parts[ACCOUNT_USER] + parts[ACCOUNT_KERNEL] + parts[ACCOUNT_IRQ] +
	       parts[ACCOUNT_GUEST] + parts[ACCOUNT_RUNQ];
}

static int busiest_first(const void *a, const void *b, void *data)
{
	const struct process *processes = data;
	const uint32_t *x = a, *y = b;
	ktau_sum_t busy = busy_of(&processes[*x]), other = busy_of(&processes[*y]);

	if (busy != other)
		return busy < other ? 1 : -1;
	return *x < *y ? -1 : *x > *y;
}

/*
 * Choose the processes that get their own row; all others share the last row. @order gets the
 * indices of all of them, chosen ones first.
 */
static void choose_rows(struct html_page *page, uint32_t *order)
{
	const struct aggregate *rows = page->period->rows;
	size_t limit = page->r->processes ? page->r->processes : USUAL_ROWS, i;

	for (i = 0; i < rows->nr; i++)
		order[i] = (uint32_t)i;
	if (rows->nr > limit)
		qsort_r(order, rows->nr, sizeof(*order), busiest_first, rows->processes);
	page->row_of = cli_alloc(NULL, rows->nr + 1, sizeof(*page->row_of));
	for (i = 0; i < rows->nr; i++)
		page->row_of[order[i]] = (uint32_t)(i < limit ? i : limit);
	page->nr_rows = rows->nr < limit ? rows->nr : limit;
}

static void add_process(struct process *to, const struct process *from)
{
	int i;

	to->tasks += from->tasks;
	to->live += from->live;
	to->account.life += from->account.life;
	to->account.throughout &= from->account.throughout;
	for (i = 0; i < ACCOUNT_NR; i++)
		to->account.parts[i] += from->account.parts[i];
	tally_merge(&to->tally, &from->tally);
}

static void put_rows(struct html_page *page)
{
	struct aggregate *rows = page->period->rows;
	uint32_t *order = cli_alloc(NULL, rows->nr + 1, sizeof(*order));
	struct process rest = {
		.label = "(others)",
		.cgroup = "",
		.account.throughout = UINT32_MAX,
	};
	bool evicted = rows->evicted.tally.nr || rows->evicted.account.life;
	size_t i, own;

	choose_rows(page, order);
	own = page->nr_rows;
	for (i = own; i < rows->nr; i++)
		add_process(&rest, &rows->processes[order[i]]);
	page->nr_rows += rows->nr > own;
	section_begin(&page->section, page->out, "rows");
	section_number(&page->section, page->nr_rows + evicted);
	for (i = 0; i < own; i++)
		put_row(page, aggregate_open(rows, &rows->processes[order[i]]));
	if (rows->nr > own)
		put_row(page, &rest);
	if (evicted)
		put_row(page, &rows->evicted);
	section_end(&page->section);
	tally_deinit(&rest.tally);
	free(order);
}

static void put_cpus(struct html_page *page)
{
	const struct aggregate *rows = page->period->rows;
	const struct process *p;
	size_t i;

	section_begin(&page->section, page->out, "cpus");
	section_number(&page->section, rows->nr_cpus);
	for (i = 0; i < rows->nr_cpus; i++) {
		p = &rows->cpus[i];
		section_number(&page->section, p->owner.cpu);
		put_account(page, p);
		put_routines(page, p);
	}
	section_end(&page->section);
}

static void put_losses(struct html_page *page)
{
	struct report_tables tables;
	const struct table *losses = &tables.some_losses;
	struct report r = *page->r;
	size_t i;

	r.tables = REPORT_LOSSES;
	report_tables_init(&tables, &r, page->period);
	section_begin(&page->section, page->out, "losses");
	section_number(&page->section, losses->nr_rows);
	for (i = 0; i < losses->nr_rows; i++) {
		html_text(page, report_loss_name(losses, i));
		section_number(&page->section, report_loss_value(losses, i));
		html_text(page, report_loss_meaning(losses, i));
	}
	section_end(&page->section);
	report_tables_deinit(&tables);
}

/* The names of the files without their directories, which a reader elsewhere does not have. */
static void put_source(struct html_page *page)
{
	const char *first = page->r->nr_files ? page->r->files[0] : page->r->source;
	const char *last = page->r->nr_files > 1 ? page->r->files[page->r->nr_files - 1] : NULL;
	char *name;

	if (strrchr(first, '/'))
		first = strrchr(first, '/') + 1;
	if (last && strrchr(last, '/'))
		last = strrchr(last, '/') + 1;
	if (asprintf(&name, "%s%s%s", first, last ? " to " : "", last ? last : "") < 0)
		cli_alloc(NULL, SIZE_MAX, 1);
	html_text(page, name);
	free(name);
}

static void put_meta(struct html_page *page)
{
	const struct tally *total = &page->period->rows->total.tally;
	uint64_t own = aggregate_own_ticks(total, page->r->names, page->stream);
	struct section_out *s = &page->section;

	section_begin(s, page->out, "meta");
	html_text(page, page->stream->nodename);
	html_text(page, page->stream->release);
	html_text(page, page->stream->machine);
	put_source(page);
	section_number(s, page->stream->nr_cpus);
	section_number(s, ktau_clock_realtime_ns(&page->clock, page->from_ticks));
	put_ns(page, less(page->stream->ticks, page->from_ticks));
	put_ns(page, own);
	section_number(s, tally_activations(total));
	section_number(s, page->stream->round_ns);
	section_end(s);
}

/* Descriptions of events. They come last, when all events used in the page are known. */
static void put_events(struct html_page *page)
{
	const struct ktau_events *events = registry_events(page->period->registry);
	struct symbolizer *names = page->r->names;
	size_t i;

	section_begin(&page->section, page->out, "events");
	section_number(&page->section, page->nr_events);
	for (i = 0; i < page->nr_events; i++) {
		html_text(page, symbolize_event(names, page->events[i]));
		html_text(page, symbolize_group(names, page->events[i]));
		section_number(&page->section, event_wait(events, page->events[i]));
	}
	section_end(&page->section);
	section_begin(&page->section, page->out, "texts");
	texts_write(&page->texts, &page->section);
	section_end(&page->section);
}

/* Return: 0, or -errno if reading the file again failed. */
static int write_page(struct html_page *page)
{
	int err, trace_err;

	fputs(html_head, page->out);
	fputs("<style>\n", page->out);
	fputs(html_style, page->out);
	fputs("</style>\n", page->out);
	fputs(html_body, page->out);
	put_meta(page);
	put_rows(page);
	put_cpus(page);
	put_losses(page);
	html_regions(page);
	if (page->r->states)
		html_states(page, page->r->states);
	if (page->r->delays)
		html_delays(page, page->r->delays);
	err = html_over(page);
	trace_err = html_trace(page);
	put_events(page);
	fputs("<script>\n", page->out);
	fputs(html_program, page->out);
	fputs("</script>\n</body>\n</html>\n", page->out);
	return err ? err : trace_err;
}

static void begin_page(struct html_page *page)
{
	const struct period *period = page->period;
	const struct ktau_rec_stream *from = ktau_snapshot_stream(period->before);

	page->stream = ktau_snapshot_stream(period->after);
	ktau_clock_init(&page->clock, page->stream);
	page->from_ticks = from && period->first ? from->ticks : page->stream->boot_ticks;
	page->from_ns = ktau_clock_boottime_ns(&page->clock, page->from_ticks);
}

/* An existing page is replaced only by a complete one. */
static int finish(struct output *output, int err)
{
	FILE *out = output_file(output);

	if (!err) {
		fflush(out);
		output_check(output, out);
		return output_commit(output) ? CLI_FAILED : CLI_DONE;
	}
	output_discard(output);
	return CLI_FAILED;
}

int html_report(const struct report *r, const struct period *period)
{
	struct html_page page = { .r = r, .period = period };
	struct output *output;
	int err;

	output = output_create(r->html, false);
	if (!output)
		return CLI_FAILED;
	page.out = output_file(output);
	begin_page(&page);
	if (r->subtract)
		aggregate_subtract(period->rows, r->names, page.stream);
	err = write_page(&page);
	texts_deinit(&page.texts);
	packed_deinit(&page.packed);
	hash_deinit(&page.event_numbers);
	free(page.events);
	free(page.row_of);
	return finish(output, err);
}
