// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report on paper: head, tables, foot.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "report.h"
#include "report_tables.h"
#include "text.h"

/**
 * struct facts - what is in the head and the foot
 * @from_ns: CLOCK_REALTIME of the beginning
 * @to_ns: of the end
 * @length_ns: time between the two by the cycle counter
 * @nr_cpus: CPUs
 * @pairs: enters with their exits
 * @own_ns: cost of all, by the kind of their hooks
 */
struct facts {
	uint64_t from_ns, to_ns, length_ns;
	uint64_t nr_cpus;
	uint64_t pairs, own_ns;
};

static const struct {
	const char *word;
	unsigned int bit;
} table_words[] = {
	{ "processes", REPORT_PROCESSES }, { "counters", REPORT_COUNTERS },
	{ "total", REPORT_TOTAL },	   { "cpus", REPORT_CPUS },
	{ "losses", REPORT_LOSSES },	   { "all", REPORT_ALL },
};

static unsigned int table_bit(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(table_words) / sizeof(*table_words); i++)
		if (strlen(table_words[i].word) == length &&
		    !strncmp(table_words[i].word, word, length))
			return table_words[i].bit;
	return 0;
}

int report_parse_tables(const char *words, unsigned int *tables)
{
	unsigned int bit;
	size_t length;

	*tables = 0;
	for (;;) {
		length = strcspn(words, ",");
		bit = table_bit(words, length);
		if (!bit)
			return -1;
		*tables |= bit;
		if (!words[length])
			return 0;
		words += length + 1;
	}
}

int report_parse_sort(const char *word, enum report_sort *sort)
{
	static const char *const words[] = {
		[SORT_EXCL] = "excl", [SORT_INCL] = "incl", [SORT_COUNT] = "count",
		[SORT_NAME] = "name",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(word, words[i])) {
			*sort = (enum report_sort)i;
			return 0;
		}
	}
	return -1;
}

int report_parse_by(const char *word, enum rows_by *by)
{
	static const char *const words[] = {
		[BY_PROCESS] = "process", [BY_THREAD] = "thread", [BY_NAME] = "name",
		[BY_CGROUP] = "cgroup",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(word, words[i])) {
			*by = (enum rows_by)i;
			return 0;
		}
	}
	return -1;
}

static void find_facts(struct facts *f, const struct period *period, const struct rows *rows,
		       const struct names *names, const struct ktau_clock *clock)
{
	const struct ktau_rec_stream *to = ktau_snapshot_stream(period->after);
	const struct ktau_rec_stream *from = ktau_snapshot_stream(period->before);
	uint64_t from_ticks = from && period->first ? from->ticks : to->boot_ticks;

	memset(f, 0, sizeof(*f));
	f->from_ns = from && period->first ? from->realtime_ns : to->boot_realtime_ns;
	f->to_ns = to->realtime_ns;
	f->length_ns = to->ticks > from_ticks ? ktau_clock_ns(clock, to->ticks - from_ticks) : 0;
	f->nr_cpus = to->nr_cpus;
	f->pairs = rows->total.pairs;
	f->own_ns = ktau_clock_ns(clock, rows_own_ticks(&rows->total, names, to));
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

static void print_head(const struct report *r, const struct period *p, const struct facts *f,
		       FILE *out)
{
	const struct ktau_rec_stream *s = ktau_snapshot_stream(p->after);
	char from[64], to[64];

	fprintf(out, "KTAU report of %s: ", r->source);
	print_escaped(s->nodename, out);
	fputs(", Linux ", out);
	print_escaped(s->release, out);
	fputs(", ", out);
	print_escaped(s->machine, out);
	format_time(f->from_ns, from, sizeof(from));
	format_time(f->to_ns, to, sizeof(to));
	fprintf(out, "\nPeriod: %" PRIu64 ".%03u s, from %s (", f->length_ns / 1000000000,
		(unsigned int)(f->length_ns / 1000000 % 1000), from);
	if (p->first)
		fprintf(out, "stream %" PRIu64, p->first);
	else
		fputs("start of KTAU in this boot", out);
	fprintf(out, ") to %s (stream %" PRIu64 " of %" PRIu64 ")\n", to, p->last, p->streams);
	if (p->reboots)
		fprintf(out, "%" PRIu64 " earlier boots in it are not shown\n", p->reboots);
	if (r->filter.flags)
		print_filter(&r->filter, out);
	if (s->round_ns) {
		print_rounding(s->round_ns, out);
		fputc('\n', out);
	}
	if (r->subtract)
		fputs("KTAU's own share has been taken out of the times\n", out);
}

/* What a table is about, after its label. */
static void print_subject(const struct report *r, const struct process *p, FILE *out)
{
	const struct ktau_rec_owner *o = &p->owner;

	if (o->kind == KTAU_OWNER_EVICTED)
		fputs("  tasks that exited and were evicted before they were read", out);
	else if (r->by == BY_NAME || r->by == BY_CGROUP)
		fprintf(out, "  %" PRIu64 " tasks, %" PRIu64 " alive", p->tasks, p->live);
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

static void print_process_line(const struct report *r, const struct section *s,
			       const struct ktau_clock *clock, FILE *out)
{
	const struct process *p = s->process;
	uint64_t running, waiting;

	process_times(p, r->names, &running, &waiting);
	running = ktau_clock_ns(clock, running);
	waiting = ktau_clock_ns(clock, waiting);
	fputc('\n', out);
	print_escaped(p->label, out);
	print_subject(r, p, out);
	fprintf(out,
		"  in the kernel: %" PRIu64 ".%03u ms running, %" PRIu64
		".%03u ms waiting\n",
		running / 1000000, (unsigned int)(running / 1000 % 1000),
		waiting / 1000000, (unsigned int)(waiting / 1000 % 1000));
}

static void print_processes(const struct report *r, const struct report_tables *t,
			    const struct ktau_clock *clock, FILE *out)
{
	const struct section *s;

	fputs(r->by == BY_CGROUP ? "\nCONTROL GROUPS\n" : "\nPROCESSES\n", out);
	for (s = t->sections; s < t->sections + t->nr_sections; s++) {
		if (!(r->tables & REPORT_PROCESSES ? s->nr : 0) &&
		    !(r->tables & REPORT_COUNTERS ? s->nr_counters : 0))
			continue;
		print_process_line(r, s, clock, out);
		if (r->tables & REPORT_PROCESSES && s->nr)
			table_text(&t->routines, s->first, s->nr, "  ", out);
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

static void print_text(const struct report *r, const struct report_tables *t,
		       const struct ktau_clock *clock, FILE *out)
{
	const struct section *s;

	if (r->tables & (REPORT_PROCESSES | REPORT_COUNTERS))
		print_processes(r, t, clock, out);
	if (r->tables & REPORT_TOTAL) {
		fputs(r->filter.flags ? "\nALL OF THESE TASKS\n" : "\nALL TASKS\n", out);
		table_text(&t->total, 0, t->total.nr_rows, "  ", out);
		if (t->total_counters.nr_rows)
			table_text(&t->total_counters, 0, t->total_counters.nr_rows, "  ", out);
	}
	if (r->tables & REPORT_CPUS && t->nr_cpu_sections) {
		fputs("\nCPUS: interrupts and softirqs, whichever task they hit\n", out);
		for (s = t->cpu_sections; s < t->cpu_sections + t->nr_cpu_sections; s++) {
			fprintf(out, "\nCPU %" PRIu32 "\n", s->process->owner.cpu);
			table_text(&t->cpus, s->first, s->nr, "  ", out);
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
	fprintf(out,
		"\nKTAU's own share (estimate): %" PRIu64 " pairs = %" PRIu64
		".%03u ms, %.3f%% of %" PRIu64 " CPU%s\n",
		f->pairs, f->own_ns / 1000000, (unsigned int)(f->own_ns / 1000 % 1000),
		own_share(f) * 100, f->nr_cpus, f->nr_cpus == 1 ? "" : "s");
}

/* The flat tables that were asked for. */
static size_t chosen(const struct report *r, const struct report_tables *t,
		     const struct table **tables)
{
	size_t nr = 0;

	if (r->tables & REPORT_PROCESSES)
		tables[nr++] = &t->routines;
	if (r->tables & REPORT_COUNTERS)
		tables[nr++] = &t->counters;
	if (r->tables & REPORT_TOTAL) {
		tables[nr++] = &t->total;
		tables[nr++] = &t->total_counters;
	}
	if (r->tables & REPORT_CPUS)
		tables[nr++] = &t->cpus;
	if (r->tables & REPORT_LOSSES)
		tables[nr++] = &t->losses;
	return nr;
}

static void print_csv(const struct report *r, const struct report_tables *t, FILE *out)
{
	const struct table *tables[6];
	size_t nr = chosen(r, t, tables), i;

	for (i = 0; i < nr; i++) {
		if (i)
			fputc('\n', out);
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
	const struct table *tables[6];
	size_t nr = chosen(r, t, tables), i;

	fputs("{\"info\": {", out);
	json_field("source", r->source, out);
	json_field("host", s->nodename, out);
	json_field("release", s->release, out);
	json_field("machine", s->machine, out);
	fprintf(out,
		"\"from_ns\": %" PRIu64 ", \"to_ns\": %" PRIu64 ", \"length_ns\": %" PRIu64
		", \"first_stream\": %" PRIu64 ", \"last_stream\": %" PRIu64
		", \"streams\": %" PRIu64 ", \"earlier_boots\": %" PRIu64
		", \"cpus\": %" PRIu64 ", \"subtracted\": %s",
		f->from_ns, f->to_ns, f->length_ns, p->first, p->last, p->streams, p->reboots,
		f->nr_cpus, r->subtract ? "true" : "false");
	fprintf(out, ", \"round_ns\": %" PRIu32 ", \"losses_own\": %s", s->round_ns,
		end && end->losses_own ? "true" : "false");
	fprintf(out,
		", \"ktau_pairs\": %" PRIu64 ", \"ktau_ns\": %" PRIu64 ", \"ktau_share\": %.6f}",
		f->pairs, f->own_ns, own_share(f));
	for (i = 0; i < nr; i++) {
		fputs(",\n", out);
		table_json(tables[i], out);
	}
	fputs("}\n", out);
}

int report_print(const struct report *r, const struct period *period, FILE *out)
{
	const struct ktau_rec_stream *stream = ktau_snapshot_stream(period->after);
	struct report_tables tables;
	struct ktau_clock clock;
	struct facts facts;
	struct rows rows;
	int err;

	ktau_clock_init(&clock, stream);
	err = rows_init(&rows, period, r->by, &r->filter);
	if (!err) {
		find_facts(&facts, period, &rows, r->names, &clock);
		if (r->subtract)
			rows_subtract(&rows, r->names, stream);
		report_tables_init(&tables, r, &rows, period, &clock);
		if (r->format == FORMAT_CSV) {
			print_csv(r, &tables, out);
		} else if (r->format == FORMAT_JSON) {
			print_json(r, &tables, period, &facts, out);
		} else {
			print_head(r, period, &facts, out);
			print_text(r, &tables, &clock, out);
			if (r->tables & REPORT_LOSSES)
				print_losses(&tables, period, out);
			print_foot(&facts, out);
		}
		report_tables_deinit(&tables);
	}
	rows_deinit(&rows);
	return err;
}
