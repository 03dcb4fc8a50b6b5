// SPDX-License-Identifier: GPL-2.0-only
/* A report as text, CSV or JSON: heading, tables, footer. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "account.h"
#include "lib/cli.h"
#include "report.h"
#include "report_tables.h"
#include "tally.h"
#include "lib/text.h"

/* Each CPU is shown if there are no more than this. */
enum { FEW_CPUS = 8 };

/* Width in columns if the output is not a terminal. */

/**
 * struct facts - figures for the heading and the footer
 * @from_ns: CLOCK_REALTIME at the start
 * @to_ns: CLOCK_REALTIME at the end
 * @length_ns: length of the period by the cycle counter
 * @nr_cpus: number of CPUs
 * @pairs: pairs of enter and exit
 * @own_ns: cost of @pairs, by kind of hook
 * @rows: rows of the period
 * @stream: STREAM record at the end of the period
 * @clock: clock of the machine
 * @width: columns of a line
 */
struct facts {
	uint64_t from_ns, to_ns, length_ns;
	uint32_t nr_cpus;
	uint64_t pairs, own_ns;
	struct aggregate *rows;
	const struct ktau_rec_stream *stream;
	struct ktau_clock clock;
	int width;
};

static void find_facts(struct facts *f, const struct period *period,
		       const struct symbolizer *names, FILE *out)
{
	const struct ktau_rec_stream *to = ktau_snapshot_stream(period->after);
	const struct ktau_rec_stream *from = ktau_snapshot_stream(period->before);
	uint64_t from_ticks = from && period->first ? from->ticks : to->boot_ticks;
	const struct tally *total = &period->rows->total.tally;

	memset(f, 0, sizeof(*f));
	f->rows = period->rows;
	f->stream = to;
	ktau_clock_init(&f->clock, to);
	f->from_ns = from && period->first ? from->realtime_ns : to->boot_realtime_ns;
	f->to_ns = to->realtime_ns;
	f->length_ns = ktau_clock_ns(&f->clock, less(to->ticks, from_ticks));
	f->nr_cpus = to->nr_cpus;
	f->width = table_width(out);
	f->pairs = tally_activations(total);
	f->own_ns = ktau_clock_ns(&f->clock, aggregate_own_ticks(total, names, to));
}

static double own_share(const struct facts *f)
{
	double whole = (double)f->length_ns * (double)f->nr_cpus;

	return whole > 0 ? (double)f->own_ns / whole : 0;
}

static void format_time(uint64_t ns, char *text, size_t size)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char zone[8] = "";
	struct tm tm;
	size_t n;

	*text = 0;
	if (!localtime_r(&seconds, &tm))
		return;
	n = strftime(text, size, "%Y-%m-%d %H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(text + n, size - n, ".%03u%s", (unsigned int)(ns / 1000000 % 1000), zone);
}

static void print_filter(const struct task_filter *f, FILE *out)
{
	const char *before = "Only tasks with";

	if (f->flags & KTAU_SELECT_CGROUP) {
		fputs("Only tasks in control group ", out);
		print_escaped(f->cgroup, out);
		fputs(" or below", out);
		before = ", with";
	}
	if (f->flags & KTAU_SELECT_UID) {
		fprintf(out, "%s uid %" PRIu32, before, f->uid);
		before = ", with";
	}
	if (f->flags & KTAU_SELECT_TAG)
		fprintf(out, "%s tag %" PRIu32, before, f->tag);
	fputs("; evicted tasks are not included\n", out);
}

/* Describe the subject of a table, after its label. */
static void print_subject(const struct report *r, const struct process *p, FILE *out)
{
	const struct ktau_rec_owner *o = &p->owner;

	if (o->kind == KTAU_OWNER_EVICTED)
		fputs("  tasks that exited and were evicted before they were read", out);
	else if (r->by == BY_NAME || r->by == BY_CGROUP || r->by == BY_USER)
		fprintf(out, "  %" PRIu64 " task%s, %" PRIu64 " alive", p->tasks,
			p->tasks == 1 ? "" : "s", p->live);
	else if (o->flags & KTAU_OWNER_IDLE)
		fprintf(out, "  idle task of CPU %" PRIu32, o->cpu);
	else if (r->by == BY_THREAD)
		fprintf(out, "  thread %" PRId32 " of %" PRId32 "%s", o->tid, o->tgid,
			p->live ? "" : ", exited");
	else
		fprintf(out, "  pid %" PRId32 "%s", o->tgid, p->live ? "" : ", exited");
	if (r->by == BY_PROCESS && p->tasks > 1)
		fprintf(out, ", %" PRIu64 " threads", p->tasks);
}

/* "life 1.55 s: 8.6% user, 47.9% kernel, ...", or what is known without the account. */
static void print_life(const struct process *p, const struct ktau_rec_stream *stream,
		       const struct symbolizer *names, const struct ktau_clock *clock, FILE *out)
{
	static const char *const parts[ACCOUNT_NR] = {
		"user", "kernel", "irq", "runq", "asleep", "guest",
	};
	ktau_sum_t running, waiting;
	int i;

	if (account_is_unknown(p)) {
		fprintf(out, "life %.3f s: not measured; it has not run since KTAU was enabled\n",
			(double)ktau_clock_sum_ns(clock, p->account.life) / 1e9);
		return;
	}
	if (!account_has(stream, p, ACCOUNT_USER) || !p->account.life) {
		account_times(p, names, &running, &waiting);
		fprintf(out, "in the kernel: %.3f ms running, %.3f ms waiting\n",
			(double)ktau_clock_sum_ns(clock, running) / 1e6,
			(double)ktau_clock_sum_ns(clock, waiting) / 1e6);
		return;
	}
	fprintf(out, "life %.3f s:", (double)ktau_clock_sum_ns(clock, p->account.life) / 1e9);
	for (i = 0; i < ACCOUNT_NR; i++) {
		if (i == ACCOUNT_GUEST && !p->account.parts[i])
			continue;
		fputs(i ? ", " : " ", out);
		if (account_has(stream, p, i))
			fprintf(out, "%.1f%% %s",
				share_of(p->account.parts[i], p->account.life) * 100, parts[i]);
		else
			fprintf(out, "n/a %s", parts[i]);
	}
	fputc('\n', out);
}

static void print_process_line(const struct report *r, const struct process *row,
			       const struct facts *f, FILE *out)
{
	const struct process *p = aggregate_open(f->rows, row);

	fputc('\n', out);
	print_escaped(p->label, out);
	print_subject(r, p, out);
	fputs("\n  ", out);
	print_life(p, f->stream, r->names, &f->clock, out);
}

/* Print what limits the accuracy or scope of the figures. */
static void print_limits(const struct report *r, const struct period *p, FILE *out)
{
	const struct ktau_rec_stream *s = ktau_snapshot_stream(p->after);

	if (p->reboots)
		fprintf(out, "%" PRIu64 " earlier boot%s in it %s not shown\n",
			p->reboots, p->reboots == 1 ? "" : "s", p->reboots == 1 ? "is" : "are");
	if (r->filter.flags)
		print_filter(&r->filter, out);
	if (s->round_ns) {
		print_rounding(s->round_ns, out);
		fputc('\n', out);
	}
	if (r->subtract)
		fputs("KTAU's own cost has been subtracted from the times\n", out);
}

static void print_head(const struct report *r, const struct period *p, const struct facts *f,
		       FILE *out)
{
	const struct ktau_rec_stream *s = ktau_snapshot_stream(p->after);
	char from[64], to[64];

	fputs("KTAU report of ", out);
	print_escaped(r->source, out);
	fputs(": ", out);
	print_escaped(s->nodename, out);
	fputs(", Linux ", out);
	print_escaped(s->release, out);
	fputs(", ", out);
	print_escaped(s->machine, out);
	format_time(f->from_ns, from, sizeof(from));
	format_time(f->to_ns, to, sizeof(to));
	fprintf(out, "\nPeriod: %" PRIu64 ".%03u s, from %s", f->length_ns / 1000000000,
		(unsigned int)(f->length_ns / 1000000 % 1000), from);
	if (!p->first)
		fputs(" (start of KTAU in this boot)", out);
	else if (!p->partial)
		fprintf(out, " (stream %" PRIu64 ")", p->first);
	fprintf(out, " to %s", to);
	if (!p->partial)
		fprintf(out, " (stream %" PRIu64 " of %" PRIu64 ")", p->last, p->streams);
	fputc('\n', out);
	print_limits(r, p, out);
}

/* Print one fact of the heading; it goes on a new line if it does not fit. */
static void __attribute__((format(printf, 4, 5)))
print_fact(int *used, int width, FILE *out, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		cli_alloc(NULL, SIZE_MAX, 1);
	if (*used)
		fputs(*used + 2 + n > width ? "\n" : "  ", out);
	*used = *used && *used + 2 + n <= width ? *used + 2 + n : n;
	print_escaped(text, out);
	free(text);
}

/* "all", "none", "syscall,irq"; the caller frees the text. */
static char *name_groups(const struct report *r, const struct ktau_rec_stream *s)
{
	uint32_t bit;
	size_t size;
	char *text;
	FILE *f;

	f = open_memstream(&text, &size);
	if (!f)
		cli_alloc(NULL, SIZE_MAX, 1);
	if (!(s->groups & KTAU_GROUP_ALL))
		fputs("none", f);
	else if (!(s->groups_built & ~s->groups))
		fputs("all", f);
	else
		for (bit = 1; bit && bit <= KTAU_GROUP_ALL; bit <<= 1)
			if (s->groups & bit)
				fprintf(f, "%s%s", s->groups & (bit - 1) ? "," : "",
					symbolize_group_text(r->names, bit));
	fclose(f);
	return text;
}

/* Print a phrase for each kind of loss, in the singular if the value is 1. */
static void print_loss_facts(const struct table *losses, const struct ktau_rec_end *end,
			     int width, int *used, FILE *out)
{
	const char *before = end && end->losses_own ? "losses of your own tasks: " : "losses: ";
	const char *what;
	uint64_t value;
	size_t i;
	int first;

	if (!losses->nr_rows)
		print_fact(used, width, out, "%snone", before);
	for (i = 0; i < losses->nr_rows; i++) {
		what = report_loss_meaning(losses, i);
		if (!*what)
			continue;
		value = report_loss_value(losses, i);
		first = (int)strcspn(what, " ");
		print_fact(used, width, out, "%s%" PRIu64 " %.*s%s%s", before, value,
			   value == 1 ? first - 1 : first, what, what + first,
			   i + 1 < losses->nr_rows ? "," : "");
		before = "";
	}
}

static void print_account_head(const struct report *r, const struct report_tables *t,
			       const struct period *p, const struct facts *f, FILE *out)
{
	const struct ktau_rec_stream *s = ktau_snapshot_stream(p->after);
	char *groups = name_groups(r, s);
	int used = 0, w = f->width;

	print_fact(&used, w, out, "%s", s->nodename);
	print_fact(&used, w, out, "Linux %s", s->release);
	print_fact(&used, w, out, "%" PRIu32 " CPU%s", f->nr_cpus, f->nr_cpus == 1 ? "" : "s");
	print_fact(&used, w, out, "%.*f s", f->length_ns < 1000000000 ? 3 : 1,
		   (double)f->length_ns / 1e9);
	print_fact(&used, w, out, "groups: %s", groups);
	print_loss_facts(&t->some_losses, ktau_snapshot_end(p->after), w, &used, out);
	if (s->origin != KTAU_ORIGIN_BPF)
		print_fact(&used, w, out, "KTAU's own cost: %.2f %%", own_share(f) * 100);
	fputc('\n', out);
	free(groups);
	print_limits(r, p, out);
}

/* An account that contradicts itself must not look like one that is right. */
static void print_inconsistent(const struct report_tables *t, FILE *out)
{
	if (!t->nr_inconsistent)
		return;
	fprintf(out,
		"Inconsistent: the parts exceed the life in %" PRIu64 " row%s, most in that of ",
		t->nr_inconsistent, t->nr_inconsistent == 1 ? "" : "s");
	print_escaped(t->inconsistent->label, out);
	fprintf(out, ", by %.1f%% (ktau check)\n", t->excess * 100);
}

static void print_account(const struct report *r, struct report_tables *t,
			  const struct facts *f, FILE *out)
{
	const uint64_t unknown = t->unknown + t->unknown_cut;
	size_t nr = t->account.nr_rows - t->unknown, shown = nr;

	if (!r->processes && shown > MOST_ROWS)
		shown = MOST_ROWS;
	t->account.width = t->cpu_account.width = f->width;
	table_text(&t->account, 0, shown, "", out);
	if (t->cpu_account.nr_rows && r->tables & REPORT_CPU_ACCOUNT &&
	    (r->cpus || t->cpu_account.nr_rows <= FEW_CPUS)) {
		fputc('\n', out);
		table_text(&t->cpu_account, 0, t->cpu_account.nr_rows, "", out);
	}
	if (nr - shown + t->cut)
		fprintf(out, "Not shown: %" PRIu64 " rows with less kernel time (--processes=N)\n",
			nr - shown + t->cut);
	if (unknown)
		fprintf(out, "Not shown: %" PRIu64
			     " row%s of tasks that have not run since KTAU was enabled\n",
			unknown, unknown == 1 ? "" : "s");
}

static void print_interrupts(struct report_tables *t, const struct facts *f, FILE *out)
{
	fputc('\n', out);
	t->interrupts.width = f->width;
	table_text(&t->interrupts, 0, t->interrupts.nr_rows, "", out);
}

static void print_waits(const struct report *r, struct report_tables *t, const struct facts *f,
			FILE *out)
{
	size_t nr = 0, i;

	t->waits.width = f->width > 2 ? f->width - 2 : f->width;
	for (i = 0; i < t->nr_sections && (r->processes || nr < MOST_ROWS); i++) {
		const struct section *s = &t->sections[i];

		if (!s->nr_waits && !report_selects(r))
			continue;
		nr++;
		print_process_line(r, s->process, f, out);
		if (s->nr_waits)
			table_text(&t->waits, s->first_wait, s->nr_waits, "  ", out);
		else
			fputs("  no waits recorded\n", out);
	}
	for (nr = 0; i < t->nr_sections; i++)
		nr += t->sections[i].nr_waits != 0;
	if (nr)
		fprintf(out, "\nNot shown: %zu rows with less kernel time (--processes=N)\n", nr);
}

static void print_routines(const struct table *t, const struct section *s, FILE *out)
{
	if (s->running) {
		fputs("  RUNNING\n", out);
		table_text(t, s->first, s->running, "  ", out);
	}
	if (s->waiting) {
		fputs("  WAITING\n", out);
		table_text(t, s->first + s->running, s->waiting, "  ", out);
	}
}

static void print_processes(const struct report *r, const struct report_tables *t,
			    const struct facts *f, FILE *out)
{
	const struct section *s;

	fputs(r->by == BY_CGROUP ? "\nCONTROL GROUPS\n" :
	      r->by == BY_USER ? "\nUSERS\n" : "\nPROCESSES\n", out);
	for (s = t->sections; s < t->sections + t->nr_sections; s++) {
		if (!(r->tables & REPORT_PROCESSES && s->running + s->waiting) &&
		    !(r->tables & REPORT_COUNTERS && s->nr_counters) && !report_selects(r))
			continue;
		print_process_line(r, s->process, f, out);
		if (r->tables & REPORT_PROCESSES)
			print_routines(&t->routines, s, out);
		if (r->tables & REPORT_COUNTERS && s->nr_counters)
			table_text(&t->counters, s->first_counter, s->nr_counters, "  ", out);
	}
	if (t->hidden)
		fprintf(out, "\nNot shown: kernel threads that did nothing, %" PRIu64 " (--idle)\n",
			t->hidden);
	if (t->cut)
		fprintf(out, "\nNot shown: processes further down, %" PRIu64 " (--processes)\n",
			t->cut);
}

/* Processes without regions are left out. */
static void print_regions(const struct report *r, const struct report_tables *t,
			  const struct facts *f, FILE *out)
{
	const struct table *table = &t->regions.table;
	const struct section *s;

	if (!table->nr_rows)
		return;
	fputs("\nREGIONS: kernel routines by the region of the program that they ran for\n", out);
	for (s = t->sections; s < t->sections + t->nr_sections; s++) {
		if (!s->nr_regions)
			continue;
		print_process_line(r, s->process, f, out);
		table_text(table, s->first_region, s->nr_regions, "  ", out);
	}
}

static void print_details(const struct report *r, const struct report_tables *t,
			  const struct facts *f, FILE *out)
{
	const struct section *s;

	if (r->tables & (REPORT_PROCESSES | REPORT_COUNTERS))
		print_processes(r, t, f, out);
	if (r->tables & REPORT_REGIONS)
		print_regions(r, t, f, out);
	if (r->tables & REPORT_TOTAL) {
		fputs(r->filter.flags ? "\nALL OF THESE TASKS\n" : "\nALL TASKS\n", out);
		print_routines(&t->total, &t->total_section, out);
		if (t->total_counters.nr_rows)
			table_text(&t->total_counters, 0, t->total_counters.nr_rows, "  ", out);
	}
	if (r->tables & REPORT_CPUS && t->nr_cpu_sections) {
		fputs("\nCPUS: interrupts and softirqs, regardless of the interrupted task\n", out);
		for (s = t->cpu_sections; s < t->cpu_sections + t->nr_cpu_sections; s++) {
			fprintf(out, "\nCPU %" PRIu32 "\n", s->process->owner.cpu);
			table_text(&t->cpus, s->first, s->running, "  ", out);
		}
	}
}

static void print_losses(const struct report_tables *t, const struct period *p, FILE *out)
{
	const struct ktau_rec_end *end = ktau_snapshot_end(p->after);

	fprintf(out, "\nLOSSES%s%s\n", end && end->losses_own ? " of your own tasks" : "",
		t->some_losses.nr_rows ? "" : ": none");
	if (t->some_losses.nr_rows)
		table_text(&t->some_losses, 0, t->some_losses.nr_rows, "  ", out);
}

static void print_foot(const struct facts *f, FILE *out)
{
	if (f->stream->origin == KTAU_ORIGIN_BPF) {
		fprintf(out,
			"\nCost of measuring %" PRIu64
			" pairs of enter and exit by BPF: not estimated (see ktaud(8))\n",
			f->pairs);
		return;
	}
	fprintf(out,
		"\nKTAU's own cost (estimate): %" PRIu64 ".%03u ms for %" PRIu64
		" pairs of enter and exit, %.3f%% of %" PRIu32 " CPU%s\n",
		f->own_ns / 1000000, (unsigned int)(f->own_ns / 1000 % 1000), f->pairs,
		own_share(f) * 100, f->nr_cpus, f->nr_cpus == 1 ? "" : "s");
}

/* What the source of the data could not see. */
static void print_blind(const struct period *p, FILE *out)
{
	const struct ktau_rec_stream *s = ktau_snapshot_stream(p->after);
	const char *limit;
	unsigned int i;

	for (i = 0; s && (limit = ktau_origin_limit(s->origin, i)); i++)
		fprintf(out, "%s  %s\n",
			i ? "" : "\nMeasured with BPF programs, which do not see:\n", limit);
}

static void print_text(const struct report *r, struct report_tables *t,
		       const struct period *p, const struct facts *f, FILE *out)
{
	if (r->tables & (REPORT_ACCOUNT | REPORT_WAITS))
		print_account_head(r, t, p, f, out);
	else
		print_head(r, p, f, out);
	if (r->tables & REPORT_ACCOUNT)
		print_account(r, t, f, out);
	if (r->tables & REPORT_INTERRUPTS && t->interrupts.nr_rows)
		print_interrupts(t, f, out);
	if (r->tables & REPORT_WAITS)
		print_waits(r, t, f, out);
	print_details(r, t, f, out);
	print_inconsistent(t, out);
	if (r->tables & REPORT_LOSSES)
		print_losses(t, p, out);
	if (r->tables & REPORT_DETAILS)
		print_foot(f, out);
	print_blind(p, out);
}

/* The requested flat tables. */
enum { NR_TABLES = 11 };

static size_t chosen(const struct report *r, const struct report_tables *t,
		     const struct table **tables)
{
	const struct {
		unsigned int bit;
		const struct table *table;
	} all[NR_TABLES] = {
		{ REPORT_ACCOUNT, &t->account },     { REPORT_CPU_ACCOUNT, &t->cpu_account },
		{ REPORT_WAITS, &t->waits },	     { REPORT_PROCESSES, &t->routines },
		{ REPORT_COUNTERS, &t->counters },   { REPORT_TOTAL, &t->total },
		{ REPORT_TOTAL, &t->total_counters }, { REPORT_CPUS, &t->cpus },
		{ REPORT_INTERRUPTS, &t->interrupts }, { REPORT_REGIONS, &t->regions.table },
		{ REPORT_LOSSES, &t->losses },
	};
	size_t nr = 0, i;

	/* The table of regions is left out if it is empty, because most programs have none. */
	for (i = 0; i < NR_TABLES; i++)
		if (r->tables & all[i].bit &&
		    (all[i].bit != REPORT_REGIONS || all[i].table->nr_rows))
			tables[nr++] = all[i].table;
	return nr;
}

static void print_csv(const struct report *r, const struct report_tables *t, FILE *out)
{
	const struct table *tables[NR_TABLES];
	size_t nr = chosen(r, t, tables), i;

	for (i = 0; i < nr; i++) {
		if (i)
			fputc('\n', out);
		if (nr > 1)
			table_csv_name(tables[i], out);
		table_csv(tables[i], out);
	}
}

static void json_field(const char *key, const char *text, FILE *out)
{
	fprintf(out, "\"%s\": ", key);
	json_string(text, out);
	fputs(", ", out);
}

static void print_json(const struct report *r, const struct report_tables *t,
		       const struct period *p, const struct facts *f, FILE *out)
{
	const struct ktau_rec_stream *s = ktau_snapshot_stream(p->after);
	const struct ktau_rec_end *end = ktau_snapshot_end(p->after);
	const struct table *tables[NR_TABLES];
	size_t nr = chosen(r, t, tables), i;

	fputs("{\"info\": {", out);
	json_field("source", r->source, out);
	json_field("host", s->nodename, out);
	json_field("release", s->release, out);
	json_field("machine", s->machine, out);
	fprintf(out,
		"\"from_ns\": \"%" PRIu64 "\", \"to_ns\": \"%" PRIu64
		"\", \"length_ns\": \"%" PRIu64 "\"",
		f->from_ns, f->to_ns, f->length_ns);
	if (!p->partial)
		fprintf(out,
			", \"first_stream\": \"%" PRIu64 "\", \"last_stream\": \"%" PRIu64
			"\", \"streams\": \"%" PRIu64 "\"",
			p->first, p->last, p->streams);
	fprintf(out,
		", \"earlier_boots\": \"%" PRIu64 "\", \"cpus\": %" PRIu32 ", \"subtracted\": %s",
		p->reboots, f->nr_cpus, r->subtract ? "true" : "false");
	fprintf(out, ", \"round_ns\": %" PRIu32 ", \"losses_own\": %s", s->round_ns,
		end && end->losses_own ? "true" : "false");
	fprintf(out, ", \"ktau_pairs\": \"%" PRIu64 "\"", f->pairs);
	/* Of BPF programs the cost of a pair is not known. */
	if (s->origin != KTAU_ORIGIN_BPF)
		fprintf(out, ", \"ktau_ns\": \"%" PRIu64 "\", \"ktau_share\": %.6f", f->own_ns,
			own_share(f));
	fputc('}', out);
	for (i = 0; i < nr; i++) {
		fputs(",\n", out);
		table_json(tables[i], out);
	}
	fputs("}\n", out);
}

/* Is there anything to show for the selection? */
static bool is_there(const struct report *r, const struct report_tables *t)
{
	if (r->groups != KTAU_GROUP_ALL && !t->total.nr_rows && !t->total_counters.nr_rows)
		return false;
	if (r->tables == REPORT_REGIONS && !t->regions.table.nr_rows)
		return false;
	return t->nr_wanted || !(r->nr_pids || r->pattern || r->filter.flags);
}

bool report_print(const struct report *r, const struct period *period, FILE *out)
{
	struct report_tables tables;
	struct facts facts;
	bool there;

	find_facts(&facts, period, r->names, out);
	if (r->subtract)
		aggregate_subtract(period->rows, r->names, facts.stream);
	report_tables_init(&tables, r, period);
	there = is_there(r, &tables);
	if (!there)
		;
	else if (r->format == FORMAT_CSV)
		print_csv(r, &tables, out);
	else if (r->format == FORMAT_JSON)
		print_json(r, &tables, period, &facts, out);
	else
		print_text(r, &tables, period, &facts, out);
	report_tables_deinit(&tables);
	return there;
}
