// SPDX-License-Identifier: GPL-2.0-only
/* ktau import: turn the trace of another tracer into a recording. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "import/import.h"
#include "subcommand.h"

/* @inputs: @nr directories or files, of which argp has the memory. */
struct options {
	char **inputs;
	size_t nr;
	uint64_t hz;
	struct shared_options in;
};

enum { OPT_HZ = OPTION_JSON + 1 };

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "The recording to write, which must not exist", 0 },
	{ "hz", OPT_HZ, "NUMBER", 0, "Cycles in a second, if the clock of trace.dat counts cycles",
	  0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_HZ:
		if (cli_number(arg, UINT64_MAX, &o->hz) || !o->hz)
			cli_usage(state, "'%s' is not a frequency", arg);
		return 0;
	case ARGP_KEY_ARGS:
		o->inputs = state->argv + state->next;
		o->nr = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		cli_usage(state, "a DIR is required");
		return EINVAL;
	case ARGP_KEY_END:
		if (!o->in.output)
			cli_usage(state, "--output=FILE is required");
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "DIR... -o FILE\ntrace.dat -o FILE",
	"Turn traces that LTTng has recorded, of a kernel and of programs, or a recording of "
	"trace-cmd, into a recording of KTAU, for ktau report, path, view, export and the others. "
	"DIR is a CTF trace, or a session of LTTng with traces below it.",
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
	if (im->homeless)
		fprintf(stderr, ", %" PRIu64 " of threads that are not known", im->homeless);
	if (im->left_out)
		fprintf(stderr, ", %" PRIu64 " fields without room left out", im->left_out);
	fputc('\n', stderr);
	if (!im->kernel)
		fprintf(stderr, "%s: no trace of a kernel: what the threads did is not known, only "
				"the events of programs\n",
			output);
	if (im->homeless && !im->kernel)
		fprintf(stderr, "%s: the context vtid says of which thread an event is\n", output);
	for (i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (im->kernel && !(im->seen & needs[i].seen))
			fprintf(stderr, "%s: the trace has no %s: %s\n", output, needs[i].event,
				needs[i].effect);
}

static bool is_file(const struct options *o)
{
	struct stat st;

	return o->nr == 1 && !stat(o->inputs[0], &st) && S_ISREG(st.st_mode);
}

/* What could be read of a damaged trace is kept. */
static int import_to(struct import *im, const struct options *o)
{
	int status = is_file(o) ? import_ftrace(im, o->inputs[0]) :
				  import_ctf(im, o->inputs, o->nr);
	int err = im->err;

	if (!im->events) {
		if (status == CLI_DONE)
			complain("%s: has no events", o->inputs[0]);
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

static int import(const struct options *o)
{
	struct import *im = cli_alloc(NULL, 1, sizeof(*im));
	char command[512] = "ktau import";
	size_t bytes = strlen(command), i;
	int status = CLI_FAILED;

	memset(im, 0, sizeof(*im));
	for (i = 0; i < o->nr && bytes < sizeof(command); i++)
		bytes += (size_t)snprintf(command + bytes, sizeof(command) - bytes, " %s",
					  o->inputs[i]);
	im->command = command;
	im->hz = o->hz;
	im->output = o->in.output;
	if (!access(o->in.output, F_OK))
		complain("cannot write %s: it exists", o->in.output);
	else if (ktau_writer_create(&im->writer))
		complain("out of memory");
	else
		status = import_to(im, o);
	ktau_writer_destroy(im->writer);
	import_deinit(im);
	free(im);
	return status;
}

/* Some damaged traces crash the libraries that read them, which therefore have a process. */
static int import_apart(const struct options *o)
{
	const bool existed = !access(o->in.output, F_OK);
	pid_t child = fork();
	int status = -1;

	if (!child)
		exit(import(o));
	if (child < 0)
		complain("cannot fork: %s", strerror(errno));
	else if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		return WEXITSTATUS(status);
	else
		complain("cannot read %s: damaged, and the library that reads it has failed",
			 o->inputs[0]);
	if (child > 0 && !existed)
		unlink(o->in.output);
	return CLI_FAILED;
}

static int import_main(int argc, char **argv)
{
	struct options o = { 0 };

	cli_parse(&parser, argc, argv, 0, &o);
	return import_apart(&o);
}

const struct subcommand subcommand_import = {
	"import", import_main, "turn traces of LTTng and ftrace into a recording",
	&parser, SUBCOMMAND_CONVERT
};
