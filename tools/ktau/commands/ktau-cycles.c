// SPDX-License-Identifier: GPL-2.0-only
/* ktau cycles: the cycles of each function and instruction, from a hardware trace. */
#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/output.h"
#include "lib/shared_options.h"
#include "cycles/print.h"
#include "cycles/recording.h"
#include "print/pager.h"
#include "subcommand.h"
#include "lib/symbolize.h"
#include "lib/table.h"

enum { OPT_FOLDED = 256, OPT_FLAME, OPT_STREAM, OPT_ANNOTATE, OPT_ETM, OPT_REGS, OPT_CODE,
       OPT_CORE };

/* A --code option. */
struct code_option {
	uint64_t address;
	const char *path;
};

struct options {
	struct shared_options shared;
	const char *annotate, *flame, *regs, *core;
	enum trace_protocol etm;
	int stream;
	struct code_option *codes;
	size_t nr_codes;
};

static const struct argp_option argp_options[] = {
	{ "map", 'm', "FILE", 0,
	  "Read names from a System.map, kallsyms or ELF file, and code from an ELF file", 1 },
	{ "stream", OPT_STREAM, "ID", 0, "Only this stream", 1 },
	{ "annotate", OPT_ANNOTATE, "FUNCTION", 0,
	  "Print each instruction of a function: how often it was executed, and its cycles", 1 },
	{ "format", OPTION_FORMAT, "FORMAT", 0,
	  "text, csv, json, or folded: lines \"CPU;function CYCLES\" (default: text)", 2 },
	CSV_JSON_OPTIONS(2),
	{ "folded", OPT_FOLDED, NULL, 0, "The same as --format=folded", 2 },
	{ "flame", OPT_FLAME, "OUT", 0, "Write a flame graph of the functions to OUT instead", 2 },
	{ "etm", OPT_ETM, "TYPE", 0,
	  "The recording is the trace data of one source: etmv3, ptm, etmv4, ete or pt", 3 },
	{ "regs", OPT_REGS, "NAME=VALUE,...", 0, "With --etm: the registers of the source", 3 },
	{ "core", OPT_CORE, "TYPE", 0, "With --etm: the CPU, such as Cortex-A7", 3 },
	{ "code", OPT_CODE, "ADDRESS:FILE", 0, "The bytes that FILE has were at ADDRESS", 3 },
	{ 0 }
};

static enum cycles_format format_of(const struct options *o)
{
	static const enum cycles_format formats[] = {
		[FORMAT_TEXT] = CYCLES_TEXT, [FORMAT_CSV] = CYCLES_CSV, [FORMAT_JSON] = CYCLES_JSON,
	};

	return o->shared.is_other ? CYCLES_FOLDED : formats[o->shared.format];
}

static void parse_code(struct options *o, const char *arg, const struct argp_state *state)
{
	struct code_option code;
	const char *end = cli_number_at(arg, UINT64_MAX, &code.address);

	if (!end || *end != ':' || !end[1])
		cli_usage(state, "--code=%s: not ADDRESS:FILE", arg);
	code.path = end + 1;
	o->codes = cli_alloc(o->codes, o->nr_codes + 1, sizeof(*o->codes));
	o->codes[o->nr_codes++] = code;
}

static int parse_stream(const char *arg, const struct argp_state *state)
{
	uint64_t value;

	if (cli_number(arg, 255, &value))
		cli_usage(state, "--stream=%s: not the number of a stream", arg);
	return (int)value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case OPT_STREAM:
		o->stream = parse_stream(arg, state);
		return 0;
	case OPT_ANNOTATE:
		o->annotate = arg;
		return 0;
	case OPT_FOLDED:
		o->shared.is_other = true;
		return 0;
	case OPT_ETM:
		o->etm = trace_protocol_of(arg);
		if (o->etm == TRACE_UNKNOWN)
			cli_usage(state, "--etm=%s: not etmv3, ptm, etmv4, ete or pt", arg);
		return 0;
	case OPT_FLAME:
		o->flame = arg;
		return 0;
	case OPT_REGS:
		o->regs = arg;
		return 0;
	case OPT_CORE:
		o->core = arg;
		return 0;
	case OPT_CODE:
		parse_code(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!o->shared.nr_files)
			cli_usage(state, "a RECORDING is required");
		if ((o->regs || o->core) && o->etm == TRACE_UNKNOWN)
			cli_usage(state, "--regs and --core need --etm");
		if (o->annotate && (o->flame || o->shared.is_other))
			cli_usage(state, "--annotate has neither a flame graph nor folded lines");
		return 0;
	}
	return shared_option(key, arg, state, &o->shared);
}

static const struct argp parser = {
	argp_options, parse_option, "RECORDING",
	"Decode a hardware trace with cycle counts, and print the cycles of each function without "
	"sampling. RECORDING is a snapshot directory (CoreSight), a perf.data file with AUX data "
	"(CoreSight, Intel PT), or with --etm the data of one source. No kernel with KTAU is "
	"needed.",
	NULL, NULL, NULL
};

/* A mapped file has become shorter. */
static void file_truncated(int signal)
{
	static const char text[] = "ktau cycles: a file was truncated while it was read\n";

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(CLI_FAILED);
	_exit(CLI_FAILED);
}

/* Set the registers of NAME=VALUE,NAME=VALUE. 0, or -1 with a message. */
static int set_registers(struct trace_source *source, const char *regs)
{
	char *copy = strdup(regs ? regs : ""), *rest = copy, *word, *value;
	uint64_t number;
	int err = 0;

	while (copy && !err && (word = strsep(&rest, ","))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		err = !value || cli_number(value, UINT64_MAX, &number) ||
		      !trace_source_set(source, word, number);
		if (err)
			complain("--regs: %s: not NAME=VALUE", word);
	}
	free(copy);
	return err ? -1 : 0;
}

static int read_single(struct recording *r, const struct options *o)
{
	struct trace_source *source = recording_add_source(r);
	struct trace_buffer *buffer;
	const uint8_t *data;
	uint64_t bytes;

	source->protocol = o->etm;
	source->buffer = 0;
	snprintf(source->name, sizeof(source->name), "%s", trace_protocol_name(o->etm));
	snprintf(source->core, sizeof(source->core), "%s", o->core ? o->core : "");
	if (set_registers(source, o->regs))
		return -1;
	data = code_map(&r->code, r->path, &bytes);
	if (!data)
		return -1;
	buffer = recording_add_buffer(r);
	snprintf(buffer->name, sizeof(buffer->name), "%s", r->path);
	trace_buffer_add(buffer, data, bytes);
	r->nr_cores = 1;
	return 0;
}

static int read_file(struct recording *r, const struct options *o)
{
	const uint8_t *data;
	uint64_t bytes;

	if (o->etm != TRACE_UNKNOWN)
		return read_single(r, o);
	data = code_map(&r->code, r->path, &bytes);
	if (!data)
		return -1;
	if (perf_data_is(data, bytes))
		return perf_data_read(r);
	complain("%s: neither a snapshot directory nor perf.data; for the data of one source, "
		 "give --etm", r->path);
	return -1;
}

/* Code from the command line comes first, then dumps of the recording, then an ELF file. */
static int read_recording(struct recording *r, const struct options *o)
{
	struct stat st;
	size_t i;
	int err;

	for (i = 0; i < o->nr_codes; i++)
		if (code_add_file(&r->code, o->codes[i].path, 0, 0, o->codes[i].address))
			return -1;
	if (o->etm == TRACE_UNKNOWN && !stat(r->path, &st) && S_ISDIR(st.st_mode))
		err = snapshot_read(r);
	else
		err = read_file(r, o);
	return !err && o->shared.map ? code_add_elf(&r->code, o->shared.map) : err;
}

/* The exit status says whether there are counts, and whether they add up. */
static int judge(const struct recording *r)
{
	size_t i, decoded = 0, counting = 0;
	int status = CLI_DONE;

	for (i = 0; i < r->nr_sources; i++) {
		decoded += r->sources[i].decoded;
		counting += r->sources[i].decoded && r->sources[i].counts;
		if (!cycles_add_up(&r->sources[i].cycles)) {
			complain("%s: stream 0x%x: the sum does not hold", r->path,
				 (unsigned int)cycles_stream(&r->sources[i]));
			status = CLI_FAILED;
		}
	}
	if (!decoded)
		complain("%s: no stream can be decoded", r->path);
	else if (!counting)
		complain("%s: no stream has cycle counts", r->path);
	return counting ? status : CLI_FAILED;
}

static int decode_and_print(struct recording *r, const struct options *o,
			    const struct ktau_symtab *symtab)
{
	const struct cycles_print print = {
		.r = r,
		.symtab = symtab,
		.format = format_of(o),
		.flame = o->flame,
		.stream = o->stream,
		.annotate = o->annotate,
	};

	if (read_recording(r, o) || coresight_decode(r) || pt_decode(r) || cycles_print(&print))
		return CLI_FAILED;
	return judge(r);
}

static int cycles_main(int argc, char **argv)
{
	struct options o = {
		.shared = { .wanted = FILES_AT_MOST_ONE, .other_format = "folded" },
		.etm = TRACE_UNKNOWN,
		.stream = -1,
	};
	struct ktau_symtab *symtab = NULL;
	struct recording r = { 0 };
	int status;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.flame && output_is_input(o.flame, o.shared.map))
		return CLI_FAILED;
	if (o.shared.map && symbolize_load_map(&symtab, o.shared.map))
		return CLI_FAILED;
	signal(SIGBUS, file_truncated);
	if (format_of(&o) == CYCLES_TEXT) {
		table_use_colour();
		pager_start();
	}
	r.path = o.shared.files[0];
	status = decode_and_print(&r, &o, symtab);
	recording_deinit(&r);
	ktau_symtab_destroy(symtab);
	free(o.codes);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_cycles = {
	"cycles", cycles_main, "print the cycles of functions from a hardware trace",
	&parser, SUBCOMMAND_ANALYSE
};
