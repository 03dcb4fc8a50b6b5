// SPDX-License-Identifier: GPL-2.0-only
/* ktau flame: draw the call paths of a trace as a flame graph. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "lib/output.h"
#include "print/flame.h"
#include "lib/report/hosts.h"
#include "lib/report/registry.h"
#include "analyse/records.h"
#include "analyse/stacks.h"
#include "subcommand.h"
#include "lib/symbolize.h"
#include "analyse/timeline.h"

enum { OPT_FOLDED = 256, OPT_TIME };

struct options {
	struct shared_options in;
	unsigned int time;
	bool folded;
	int32_t pid;
};

/**
 * struct reading - state of reading
 * @registry: the events of all files
 * @timeline: merges the traces
 * @host: selects the streams of a machine
 * @elsewhere: the current stream is of a machine that is not selected
 * @stacks: call paths
 * @walks: the walk of each track
 * @nr_walks: length of @walks
 * @options: what to select
 * @events: number of events of the selected machine
 */
struct reading {
	struct registry *registry;
	struct timeline *timeline;
	struct host_filter host;
	bool elsewhere;
	struct stacks stacks;
	struct stack_walk *walks;
	size_t nr_walks;
	const struct options *options;
	struct symbolize_map map;
	uint64_t events;
};

static const struct argp_option argp_options[] = {
	{ "output", 'o', "OUT", 0,
	  "Write OUT; - is standard output (default: flame.svg or flame.folded)", 1 },
	{ "folded", OPT_FOLDED, NULL, 0,
	  "Write folded stacks for other programs: lines \"task;routine;routine NANOSECONDS\"", 1 },
	{ "time", OPT_TIME, "WHICH", 0, "Time on the CPU, off the CPU or both (default: on)", 1 },
	{ "pid", 'p', "PID", 0, "Only this process or thread", 1 },
	HOST_OPTION(1),
	REGION_NAMES_OPTION("the regions of programs from the files ktau-user* in DIR", 1),
	MAP_OPTION(1),
	{ 0 }
};

static unsigned int parse_time(const char *word, const struct argp_state *state)
{
	if (!strcmp(word, "on"))
		return FLAME_ON_CPU;
	if (!strcmp(word, "off"))
		return FLAME_OFF_CPU;
	if (strcmp(word, "both"))
		cli_usage(state, "--time=%s: not on, off or both", word);
	return FLAME_ON_CPU | FLAME_OFF_CPU;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'p':
		o->pid = shared_pid(arg, state);
		return 0;
	case OPT_FOLDED:
		o->folded = true;
		return 0;
	case OPT_TIME:
		o->time = parse_time(arg, state);
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "FILE...",
	"Draw a flame graph of the kernel routines in the trace in FILE, written by ktaud or saved "
	"from /proc/ktau/trace. The width of a frame is its time. Several files in time order are "
	"one recording. FILE - is standard input.",
	NULL, NULL, NULL
};

static int take_event(void *arg, const struct timeline_event *e)
{
	struct reading *r = arg;
	const struct ktau_rec_owner *owner = &e->track->owner;
	int32_t pid = r->options->pid;
	size_t nr;

	r->events++;
	if (pid && pid != owner->tgid && pid != owner->tid)
		return 0;
	if (e->track->index >= r->nr_walks) {
		nr = 2 * (size_t)e->track->index + 64;
		r->walks = cli_alloc(r->walks, nr, sizeof(*r->walks));
		memset(r->walks + r->nr_walks, 0, (nr - r->nr_walks) * sizeof(*r->walks));
		r->nr_walks = nr;
	}
	stacks_event(&r->stacks, &r->walks[e->track->index], e);
	return 0;
}

static int draw(const struct options *o, const struct flame *f)
{
	const char *path = o->in.output ? o->in.output : o->folded ? "flame.folded" : "flame.svg";
	struct output *output;
	FILE *out;

	if (shared_is_input(&o->in, path))
		return CLI_FAILED;
	output = output_create(path, false);
	if (!output)
		return CLI_FAILED;
	out = output_file(output);
	if (o->folded)
		flame_folded(f, out);
	else
		flame_svg(f, out);
	fflush(out);
	output_check(output, out);
	return output_commit(output) ? CLI_FAILED : CLI_DONE;
}

static int show_nothing(const struct reading *r)
{
	if (r->events)
		complain("the trace contains nothing of pid %d", r->options->pid);
	else if (r->options->in.host)
		complain("the input contains no trace of host %s", r->options->in.host);
	else
		complain("the input contains no trace: record one with ktaud --info=both");
	return CLI_FAILED;
}

static bool has_regions(const struct reading *r)
{
	const struct ktau_rec_event *event;
	uint32_t i;

	for (i = 0; i < r->stacks.nr; i++) {
		event = ktau_events_find(registry_events(r->registry), r->stacks.nodes[i].id);
		if (r->stacks.nodes[i].parent != STACKS_NONE && event &&
		    event->group == SYMBOLIZE_USER)
			return true;
	}
	return false;
}

static const char *name_of(void *arg, const struct stack_node *node)
{
	return node->parent == STACKS_NONE ? node->name : symbolize_event(arg, node->id);
}

static int show(const struct reading *r)
{
	static const char *const times[] = {
		"", "on the CPU", "off the CPU", "on and off the CPU",
	};
	const struct options *o = r->options;
	struct flame f = { .stacks = &r->stacks, .name = name_of, .time = o->time };
	struct symbolizer *names;
	int status = CLI_FAILED;
	char *title;

	if (!r->stacks.nr)
		return show_nothing(r);
	if (asprintf(&title, "%s%s: kernel time%s %s", o->in.files[0],
		     o->in.nr_files > 1 ? " ..." : "",
		     has_regions(r) ? ", and user time in regions," : "", times[o->time]) < 0)
		return CLI_FAILED;
	f.title = title;
	f.arg = names = symbolize_create(registry_events(r->registry), r->map.symtab);
	if (!flame_total(&f))
		complain("the trace contains no time %s", times[o->time]);
	else
		status = draw(o, &f);
	symbolize_destroy(names);
	free(title);
	return status;
}

static int take_record(void *arg, const struct ktau_reader *reader,
		       const union ktau_record *record)
{
	struct reading *r = arg;
	int err;

	if (record->rec->type == KTAU_REC_STREAM)
		r->elsewhere = !host_is_selected(&r->host, record->stream);
	if (r->elsewhere || !symbolize_map_record(&r->map, reader, record))
		return 0;
	err = timeline_put(r->timeline, reader, record);
	return err ? err : registry_put(r->registry, record);
}

static int read_and_show(const struct options *o, struct ktau_symtab *symtab)
{
	struct reading r = {
		.options = o, .registry = registry_create(), .host.host = o->in.host,
		.map.symtab = symtab,
	};
	const struct timeline_sink sink = { NULL, take_event, &r };
	int status = CLI_DONE, i;

	stacks_init(&r.stacks, registry_events(r.registry));
	r.timeline = timeline_create(NULL, &sink);
	timeline_regions(r.timeline, o->in.region_names, r.registry);
	for (i = 0; i < o->in.nr_files; i++) {
		symbolize_map_begin(&r.map, o->in.files[i]);
		status |= records_read(o->in.files[i], false, take_record, &r);
	}
	if (timeline_finish(r.timeline) || r.map.misfit)
		status = CLI_FAILED;
	if (!r.map.misfit && (!status || r.events))
		status |= show(&r);
	free(r.walks);
	timeline_destroy(r.timeline);
	stacks_deinit(&r.stacks);
	registry_destroy(r.registry);
	return status;
}

static int flame_main(int argc, char **argv)
{
	struct options o = { .time = FLAME_ON_CPU, .in.wanted = FILES_REQUIRED,
			     .in.folders = true };
	struct ktau_symtab *symtab = NULL;
	int status;

	cli_parse(&parser, argc, argv, 0, &o);
	if (o.in.map && symbolize_load_map(&symtab, o.in.map))
		return CLI_FAILED;
	status = read_and_show(&o, symtab);
	ktau_symtab_destroy(symtab);
	return status;
}

const struct subcommand subcommand_flame = {
	"flame", flame_main, "draw the call paths of a trace as a flame graph",
	&parser, SUBCOMMAND_ANALYSE
};
