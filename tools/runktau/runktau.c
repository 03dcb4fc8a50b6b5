// SPDX-License-Identifier: GPL-2.0-only
/* runktau: run a command and show where it and its children spent their time in the kernel. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "lib/command.h"
#include "descendants.h"
#include "lib/enable.h"
#include "lib/output.h"
#include "lib/report/report.h"

/* Exit status if runktau itself failed, the same as that of env(1) and timeout(1). */
#define RUNKTAU_FAILED	125

enum { OPT_BY = 256, OPT_SORT, OPT_SUBTRACT };

struct options {
	struct report report;
	bool total;		/* one table for all tasks */
	bool system_wide;
	const char *groups;
	char **command;
	struct shared_options in;
};

static const struct argp_option argp_options[] = {
	{ "system-wide", 'a', NULL, 0, "Show all tasks of the machine while the command runs", 1 },
	{ "by", OPT_BY, "WHAT", 0,
	  "Show a table per process, thread, name, cgroup or user, or one total (default: total)",
	  1 },
	{ "groups", 'g', "GROUP,...", 0,
	  "Enable these groups, and no others, while the command runs", 1 },
	MAP_OPTION(1),
	LIVE_OPTION(1),
	{ "output", 'o', "FILE", 0, "Write the report to FILE instead of standard error", 2 },
	FORMAT_OPTION(2),
	{ "sort", OPT_SORT, "COLUMN", 0, "excl, incl, count or name (default: excl)", 2 },
	{ "subtract", OPT_SUBTRACT, NULL, 0, "Subtract KTAU's own cost from the times", 2 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct report *r = &o->report;

	switch (key) {
	case 'a':
		o->system_wide = true;
		return 0;
	case 'g':
		o->groups = arg;
		return 0;
	case OPT_BY:
		o->total = !strcmp(arg, "total");
		if (!o->total && report_parse_by(arg, &r->by))
			cli_usage(state,
				  "--by=%s: not process, thread, name, cgroup, user or total",
				  arg);
		return 0;
	case OPT_SORT:
		if (report_parse_sort(arg, &r->sort))
			cli_usage(state, "--sort=%s: not excl, incl, count or name", arg);
		return 0;
	case OPT_SUBTRACT:
		r->subtract = true;
		return 0;
	}
	if (!command_argument(key, state, &o->command))
		return 0;
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "COMMAND [ARGUMENT...]",
	"Run COMMAND and print which kernel routines it and its descendants ran, how often and "
	"for how long. The exit status is that of the command.",
	NULL, NULL, NULL
};

static int copy_stream(struct ktau_snapshot *to, const struct ktau_snapshot *from)
{
	const union ktau_record r = { .stream = ktau_snapshot_stream(from) };

	return r.stream ? ktau_snapshot_add(to, &r) : 0;
}

static int copy_end(struct ktau_snapshot *to, const struct ktau_snapshot *from)
{
	const union ktau_record r = { .end = ktau_snapshot_end(from) };

	return r.end ? ktau_snapshot_add(to, &r) : 0;
}

/* Subtract what the command's task did before it executed the command. */
static int put_begin(const struct command *c, struct period *period)
{
	const struct ktau_owned *before = ktau_snapshot_find_tid(c->before, c->pid), *after;
	struct ktau_rec_profile *begin;
	int err;

	after = before ? ktau_snapshot_find(period->after, before->owner->serial) : NULL;
	if (!after)
		return 0;
	begin = descendants_begin(before->profile, after->profile);
	if (!begin)
		return -ENOMEM;
	err = ktau_snapshot_put(period->before, &(struct ktau_owned){ before->owner, begin });
	ktau_record_free(begin);
	return err;
}

/* Keep only the command and its descendants. Return: 0 or -ENOMEM. */
static int find_command(const struct command *c, struct period *period)
{
	int err = copy_stream(period->before, c->before);

	if (!err)
		err = copy_stream(period->after, c->after);
	if (!err)
		err = descendants_find(c->after, getpid(), period->after);
	if (!err)
		err = put_begin(c, period);
	/* The losses are those of the whole machine. */
	if (!err)
		err = copy_end(period->before, c->before);
	return err ? err : copy_end(period->after, c->after);
}

static uint64_t timeval_ns(struct timeval tv)
{
	return ((uint64_t)tv.tv_sec * 1000000 + (uint64_t)tv.tv_usec) * 1000;
}

static char *join(char **words)
{
	size_t size = 1, i;
	char *text;

	for (i = 0; words[i]; i++)
		size += strlen(words[i]) + 1;
	text = cli_alloc(NULL, size, 1);
	*text = 0;
	for (i = 0; words[i]; i++) {
		if (i)
			strcat(text, " ");
		strcat(text, words[i]);
	}
	return text;
}

/* The times that time(1) prints, and the number of tasks missed. */
static void fill_times(const struct command *c, const char *text, struct table *table)
{
	static const struct column columns[] = {
		{ "command", NULL, COLUMN_TEXT },
		{ "exit_status", "exit status", COLUMN_SMALL },
		{ "real_ns", "real ms", COLUMN_NS },
		{ "user_ns", "user ms", COLUMN_NS },
		{ "sys_ns", "sys ms", COLUMN_NS },
		{ "tasks_missed", "tasks missed", COLUMN_NUMBER },
	};
	union cell *row;

	table_init(table, "times", columns, sizeof(columns) / sizeof(*columns));
	row = table_row(table);
	row[0].text = text;
	row[1].number = (uint64_t)command_exit_status(c);
	row[2].number = c->end_ns - c->start_ns;
	row[3].number = timeval_ns(c->usage.ru_utime);
	row[4].number = timeval_ns(c->usage.ru_stime);
	row[5].number = c->missed;
}

static void print(const struct command *c, const struct report *r, const struct period *period,
		  FILE *out)
{
	struct table times;

	fill_times(c, r->source, &times);
	if (r->format == FORMAT_JSON) {
		fputs("{", out);
		table_json(&times, out);
		fputs(",\n\"report\": ", out);
	} else if (r->format == FORMAT_CSV) {
		table_csv_name(&times, out);
		table_csv(&times, out);
		fputc('\n', out);
	}
	report_print(r, period, out);
	if (r->format == FORMAT_JSON) {
		fputs("}\n", out);
	} else if (r->format == FORMAT_TEXT) {
		fputc('\n', out);
		table_text(&times, 0, 1, "", out);
		if (c->missed)
			fprintf(out,
				"%" PRIu64 " tasks of the machine exited and were evicted before "
				"they could be read;\nthose of the command are not in the "
				"figures (see exited_limit= in ktau-control(1))\n", c->missed);
	}
	table_deinit(&times);
}

static int load_map(const struct options *o, const struct command *c,
		    struct ktau_symtab **symtab)
{
	*symtab = NULL;
	if (!o->in.map)
		return 0;
	if (symbolize_load_map(symtab, o->in.map))
		return -1;
	return symbolize_fit_map(*symtab, "the running kernel", c->reader);
}

/* Return: 0, or -1 with a message. */
static int report_period(struct options *o, const struct command *c, struct period *period,
			 FILE *out)
{
	struct report *r = &o->report;
	struct ktau_symtab *symtab;
	struct period whole = *period;
	int err = load_map(o, c, &symtab);

	if (o->system_wide) {
		whole.before = c->before;
		whole.after = c->after;
	}
	if (!err) {
		err = aggregate_finish(whole.rows, whole.before, whole.after);
		if (err)
			complain("out of memory");
	}
	if (!err) {
		r->names = symbolize_create(registry_events(period->registry), symtab);
		print(c, r, &whole, out);
		err = cli_finish(out);
		symbolize_destroy(r->names);
	}
	ktau_symtab_destroy(symtab);
	return err ? -1 : 0;
}

/* Return: 0, or -1 with a message. */
static int report(struct options *o, struct command *c, FILE *out)
{
	char *source = join(o->command);
	struct period period;
	struct aggregate rows;
	int err;

	err = period_init(&period, &rows);
	aggregate_init(&rows, o->report.by, &o->report.filter, period.registry);
	period.first = 1;
	period.last = period.streams = 2;
	if (!err)
		err = registry_put_all(period.registry, c->reader);
	if (!err && !o->system_wide)
		err = find_command(c, &period);
	/* The other tasks are no longer needed; those of the command have been copied. */
	if (!o->system_wide)
		ktau_snapshot_clear(c->after);
	if (err) {
		complain("out of memory");
	} else {
		o->report.source = source;
		err = report_period(o, c, &period, out);
	}
	aggregate_deinit(&rows);
	period_deinit(&period);
	free(source);
	return err ? -1 : 0;
}

/* Return: the exit status. */
static int run(struct options *o, FILE *out)
{
	struct command command;
	char *restore = NULL;
	int status = RUNKTAU_FAILED, err;

	if (command_init(&command, o->command, o->system_wide) ||
	    enable_collecting(o->groups, "", &restore))
		goto out;
	enable_warn_of_filter();
	err = command_run(&command);
	if (!err && !command.exec_errno)
		err = report(o, &command, out);
	/* If the command ran, its status takes precedence over that of a failed report. */
	status = command_status(&command, err, RUNKTAU_FAILED);
out:
	command_deinit(&command);
	enable_restore(restore);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = {
		.report.groups = KTAU_GROUP_ALL, .report.processes = UINT64_MAX, .total = true,
	};
	struct report *r = &o.report;
	FILE *out = stderr;
	int status;

	cli_init("runktau");
	cli_fail_with(RUNKTAU_FAILED);
	cli_parse(&parser, argc, argv, ARGP_IN_ORDER, &o);
	r->format = o.in.format;

	r->tables = o.total ? REPORT_TOTAL : REPORT_PROCESSES | REPORT_COUNTERS;
	if (o.system_wide)
		r->tables |= REPORT_TOTAL | REPORT_CPUS;
	if (r->format != FORMAT_CSV)
		r->tables |= REPORT_LOSSES;

	if (o.in.output) {
		if (output_is_input(o.in.output, o.in.map))
			return RUNKTAU_FAILED;
		out = fopen(o.in.output, "we");
		if (!out) {
			complain("cannot write %s: %s", o.in.output, strerror(errno));
			return RUNKTAU_FAILED;
		}
	}
	status = run(&o, out);
	if (o.in.output && fclose(out) && !status) {
		complain("cannot write %s: %s", o.in.output, strerror(errno));
		status = RUNKTAU_FAILED;
	}
	return status;
}
