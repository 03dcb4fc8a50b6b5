// SPDX-License-Identifier: GPL-2.0-only
/* ktau import: turn the trace of another tracer into a recording. */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "import/import.h"
#include "subcommand.h"

struct options {
	const char *input;
	struct shared_options in;
};

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "The recording to write, which must not exist", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->input)
			cli_usage(state, "only one DIR can be imported");
		o->input = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->input)
			cli_usage(state, "a DIR is required");
		if (!o->in.output)
			cli_usage(state, "--output=FILE is required");
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "DIR -o FILE",
	"Turn a kernel trace that LTTng has recorded into a recording of KTAU, for ktau report, "
	"path, export and the others. DIR is a CTF trace, or a session of LTTng with one in its "
	"directory kernel.",
	NULL, NULL, NULL
};

/* What the trace does not have, and which answer needs it. */
static const struct {
	unsigned int seen;
	const char *event, *effect;
} needs[] = {
	{ IMPORT_SEEN_SWITCH, "sched_switch", "tasks are not known to wait" },
	{ IMPORT_SEEN_WAKEUP, "sched_waking", "what ended a wait is not known, and time in the run "
					      "queue counts as asleep" },
	{ IMPORT_SEEN_SYSCALL, "system calls", "time in the kernel counts as user time" },
	{ IMPORT_SEEN_IRQ, "irq_handler_entry", "interrupts count as the task's time" },
	{ IMPORT_SEEN_SOFTIRQ, "irq_softirq_entry", "softirqs count as the task's time" },
	{ IMPORT_SEEN_FORK, "sched_process_fork", "parents of tasks are not known" },
	{ IMPORT_SEEN_EXEC, "sched_process_exec", "ktau path --tree cannot tell programs apart" },
};

static void print_summary(const struct import *im, const char *output)
{
	size_t i;

	fprintf(stderr, "%s: %" PRIu64 " events, %zu tasks, %" PRIu32 " CPUs", output, im->events,
		im->nr_tasks, im->nr_cpus);
	if (im->skipped)
		fprintf(stderr, ", %" PRIu64 " events of no use to KTAU left out", im->skipped);
	if (im->discarded)
		fprintf(stderr, ", %" PRIu64 " discarded by the tracer", im->discarded);
	if (im->unmatched)
		fprintf(stderr, ", %" PRIu64 " entries or exits missing", im->unmatched);
	if (im->clamped)
		fprintf(stderr, ", %" PRIu64 " times clamped", im->clamped);
	if (im->refused)
		fprintf(stderr, ", %" PRIu64 " without an id", im->refused);
	fputc('\n', stderr);
	for (i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (!(im->seen & needs[i].seen))
			fprintf(stderr, "%s: the trace has no %s: %s\n", output, needs[i].event,
				needs[i].effect);
}

/* What could be read of a damaged trace is kept. */
static int import_to(struct import *im, const struct options *o)
{
	int status = import_ctf(im, o->input), err = im->err;

	if (!im->events) {
		if (status == CLI_DONE)
			complain("%s: has no events", o->input);
		return CLI_FAILED;
	}
	if (!err)
		err = import_write(im, true);
	if (!err)
		err = ktau_writer_close(im->writer);
	if (err) {
		if (im->opened)
			unlink(o->in.output);
		complain("cannot write %s: %s", o->in.output, ktau_writer_error(im->writer));
		return CLI_FAILED;
	}
	print_summary(im, o->in.output);
	return status;
}

static int import_main(int argc, char **argv)
{
	struct import *im;
	struct options o = { 0 };
	char command[512];
	int status = CLI_FAILED;

	cli_parse(&parser, argc, argv, 0, &o);
	im = cli_alloc(NULL, 1, sizeof(*im));
	memset(im, 0, sizeof(*im));
	snprintf(command, sizeof(command), "ktau import %s", o.input);
	im->command = command;
	im->output = o.in.output;
	if (!access(o.in.output, F_OK))
		complain("cannot write %s: it exists", o.in.output);
	else if (ktau_writer_create(&im->writer))
		complain("out of memory");
	else
		status = import_to(im, &o);
	ktau_writer_destroy(im->writer);
	import_deinit(im);
	free(im);
	return status;
}

const struct subcommand subcommand_import = {
	"import", import_main, "turn a trace of LTTng into a recording",
	&parser, SUBCOMMAND_CONVERT
};
