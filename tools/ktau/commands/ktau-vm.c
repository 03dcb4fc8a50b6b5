// SPDX-License-Identifier: GPL-2.0-only
/* ktau vm: show who took the CPU from the tasks of virtual machines. */
#include <argp.h>
#include <stdlib.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "print/pager.h"
#include "vm/match.h"
#include "vm/print.h"
#include "subcommand.h"

enum { OPT_INTERVALS = 256 };

/* Shorter intervals are not listed, unless the user gives another length: most exits are short. */
enum { LEAST_US = 100 };

struct options {
	bool intervals;
	uint64_t least_us;
	struct shared_options in;
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Selection:", 1 },
	TASK_OPTION("Only what tasks of guests with this name or tid lost", 1),
	{ NULL, 0, NULL, 0, "Contents (default: the time in each state, and who preempted whom):",
	  2 },
	{ "intervals", OPT_INTERVALS, "US", OPTION_ARG_OPTIONAL,
	  "List the times outside of the guest that last US microseconds or more (default: 100)",
	  2 },
	TOP_OPTION("pairs", 2),
	{ NULL, 0, NULL, 0, "Format:", 3 },
	FORMAT_OPTION(3),
	CSV_JSON_OPTIONS(3),
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_INTERVALS:
		o->intervals = true;
		if (arg && cli_number(arg, UINT64_MAX / 1000, &o->least_us))
			cli_usage(state, "--intervals=%s: not a number of microseconds", arg);
		return 0;
	case ARGP_KEY_END:
		if (o->in.nr_files < 2)
			cli_usage(state, "needs a recording of the host and one of each guest, "
				  "made at the same time");
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "HOST GUEST...",
	"Show who took the CPU from the tasks of virtual machines: a task of the host, or a task "
	"in another guest. HOST is a recording of the host with the groups sched, irq and kvm, "
	"each GUEST one of a guest, made at the same time. A guest may itself be the host of "
	"another one.",
	NULL, NULL, NULL
};

static int show(const struct options *o, struct vm_machine *machines, size_t nr)
{
	struct vm_analysis analysis = {
		.machines = machines, .nr_machines = nr, .task = o->in.task,
	};
	struct vm_print p = {
		.analysis = &analysis, .format = o->in.format, .top = o->in.top,
		.intervals = o->intervals, .least_ns = o->least_us * 1000,
	};
	int status = vm_match(machines, nr);

	if (status)
		return status;
	if (analysis.task && !vm_has_task(&analysis)) {
		complain("no machine has a task '%s'", analysis.task);
		return CLI_FAILED;
	}
	if (p.format == FORMAT_TEXT)
		vm_print_match(&p);
	status = vm_print_accounts(&p);
	vm_analysis_deinit(&analysis);
	return status;
}

static int vm_main(int argc, char **argv)
{
	struct options o = {
		.least_us = LEAST_US,
		.in = { .wanted = FILES_REQUIRED },
	};
	struct vm_machine *machines;
	bool has_all = true;
	int status = CLI_DONE;
	size_t i, nr;

	cli_parse(&parser, argc, argv, 0, &o);
	pager_for_tables(o.in.format);
	nr = (size_t)o.in.nr_files;
	machines = cli_alloc(NULL, nr, sizeof(*machines));
	for (i = 0; i < nr && has_all; i++) {
		status |= vm_machine_read(&machines[i], o.in.files[i]);
		has_all = vm_machine_has_trace(&machines[i]);
	}
	nr = i;
	if (has_all)
		status |= show(&o, machines, nr);
	for (i = 0; i < nr; i++)
		vm_machine_deinit(&machines[i]);
	free(machines);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_vm = {
	"vm", vm_main, "show who took the CPU from the tasks of virtual machines", &parser,
	SUBCOMMAND_ANALYSE
};
