// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof's profile.proto, compressed: calls and nanoseconds of each stack, with the task
 * at its root. Stacks come from the trace; without a trace they consist of the regions of
 * programs, groups and routines of the profiles.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/cli.h"
#include "export.h"
#include "lib/hash.h"
#include "protobuf.h"
#include "lib/report/report_regions.h"
#include "lib/report/tally.h"
#include "lib/text.h"

/* Field numbers, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6, PROFILE_TIME = 9, PROFILE_DURATION = 10, PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_NUMBER = 3 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3 };

enum { MAX_DEPTH = 256, NR_IDS = 65536 };

/**
 * struct node - a stack, as a node of a tree
 * @parent: index of the stack without its last frame; 0 for a task
 * @name: string index of the last frame
 * @task: track or row that it belongs to
 * @calls: activations of the last frame that have ended
 * @ns: exclusive time of the last frame
 */
struct node {
	uint32_t parent, name, task;
	uint64_t calls, ns;
};

/* Ids of a task, for labels. */
struct task {
	int32_t pid, tid;
};

/**
 * struct pprof - state of an export
 * @strings: table of distinct strings; the first is empty
 * @by_text: string indexes, by hash of the text
 * @by_id: string indexes of event names, by event id; 0: not looked up yet
 * @nodes: all stacks; the first one is unused
 * @by_place: node indexes, by parent and name
 * @roots: node indexes, by index of the track
 * @first_ns: time of the first event
 * @last_ns: time of the last event
 */
struct pprof {
	char **strings;
	size_t nr_strings;
	struct hash by_text;
	uint32_t by_id[NR_IDS];
	struct node *nodes;
	size_t nr_nodes, room;
	struct hash by_place;
	struct task *tasks;
	size_t nr_tasks;
	uint32_t *roots;
	size_t nr_roots;
	uint64_t first_ns, last_ns;
	bool traced;
};

static char *escaped_copy(const char *text)
{
	char *copy = cli_alloc(NULL, strlen(text) + 1, ESCAPED_BYTES), *to = copy;

	while (*text) {
		text += escape_one(text, to);
		to += strlen(to);
	}
	*to = 0;
	return copy;
}

static uint32_t string_of(struct pprof *p, const char *text)
{
	uint64_t key = hash_text(text);
	uintptr_t index;
	char *copy;

	copy = escaped_copy(text);
	while ((index = hash_get(&p->by_text, key)) && strcmp(p->strings[index - 1], copy))
		key++;
	if (index) {
		free(copy);
		return (uint32_t)index - 1;
	}
	if (!(p->nr_strings & (p->nr_strings - 1)))
		p->strings = cli_alloc(p->strings, 2 * p->nr_strings + 1, sizeof(char *));
	p->strings[p->nr_strings++] = copy;
	hash_put(&p->by_text, key, p->nr_strings);
	return (uint32_t)p->nr_strings - 1;
}

static uint32_t add_node(struct pprof *p, struct node node)
{
	if (p->nr_nodes == p->room) {
		p->room = 2 * p->room + 64;
		p->nodes = cli_alloc(p->nodes, p->room, sizeof(*p->nodes));
	}
	p->nodes[p->nr_nodes++] = node;
	return (uint32_t)p->nr_nodes - 1;
}

/* Each task has its own root, so there is nothing to look up. */
static uint32_t add_root(struct pprof *p, const struct ktau_rec_owner *o, const char *name)
{
	struct node root = { .name = string_of(p, name), .task = (uint32_t)p->nr_tasks };

	if (!(p->nr_tasks & (p->nr_tasks - 1)))
		p->tasks = cli_alloc(p->tasks, 2 * p->nr_tasks + 1, sizeof(*p->tasks));
	p->tasks[p->nr_tasks++] = (struct task){ o->tgid, o->tid };
	return add_node(p, root);
}

static uint32_t child_of(struct pprof *p, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	uintptr_t index = hash_get(&p->by_place, key);

	if (!index) {
		index = add_node(p, (struct node){ .parent = parent, .name = name,
						   .task = p->nodes[parent].task });
		hash_put(&p->by_place, key, index);
	}
	return (uint32_t)index;
}

static int begin(struct export_run *x)
{
	struct pprof *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	x->data = p;
	string_of(p, "");
	add_node(p, (struct node){ 0 });
	return 0;
}

static int track(struct export_run *x, struct track *track)
{
	struct pprof *p = x->data;
	size_t i = p->nr_roots;

	if (track->index >= i) {
		p->nr_roots = 2 * (size_t)track->index + 16;
		p->roots = cli_alloc(p->roots, p->nr_roots, sizeof(*p->roots));
		memset(p->roots + i, 0, (p->nr_roots - i) * sizeof(*p->roots));
	}
	if (!p->roots[track->index])
		p->roots[track->index] = add_root(p, &track->owner, track->owner.comm);
	p->nodes[p->roots[track->index]].name = string_of(p, track->owner.comm);
	return 0;
}

static void add(struct pprof *p, uint32_t index, uint64_t calls, uint64_t ns)
{
	p->nodes[index].calls += calls;
	p->nodes[index].ns += ns;
}

static int event(struct export_run *x, const struct timeline_event *e)
{
	struct pprof *p = x->data;
	struct track *own = e->track;
	uint32_t root = p->roots[own->index], parent;

	p->traced = true;
	if (!p->first_ns)
		p->first_ns = e->ns;
	p->last_ns = e->ns;
	switch (e->type) {
	case KTAU_TRACE_ENTER:
		parent = own->depth > 1 ? (uint32_t)own->frames[own->depth - 2].writer : root;
		if (!p->by_id[e->id])
			p->by_id[e->id] = string_of(p, symbolize_event(x->names, e->id));
		e->frame->writer = child_of(p, parent, p->by_id[e->id]);
		break;
	case KTAU_TRACE_EXIT:
		add(p, (uint32_t)e->frame->writer, 1, e->excl_ns);
		break;
	case TIMELINE_LOST:
		add(p, child_of(p, root, string_of(p, "trace lost")), 1, e->to_ns - e->ns);
		break;
	}
	return 0;
}

/* The node of a routine, below @parent and its group. */
static uint32_t routine_node(const struct export_run *x, uint32_t parent, uint32_t id)
{
	struct pprof *p = x->data;
	uint32_t group = child_of(p, parent, string_of(p, symbolize_group(x->names, id)));

	return child_of(p, group, string_of(p, symbolize_event(x->names, id)));
}

/* The node of a region, which is below those of the regions around it and @parent. */
static uint32_t region_node(struct pprof *p, uint32_t parent, const char *path)
{
	static const char between[] = " => ";
	const char *end;
	size_t length;
	char *name;

	for (; path; path = end ? end + strlen(between) : NULL) {
		end = strstr(path, between);
		length = end ? (size_t)(end - path) : strlen(path);
		name = cli_alloc(NULL, length + 1, 1);
		memcpy(name, path, length);
		name[length] = 0;
		parent = child_of(p, parent, string_of(p, name));
		free(name);
	}
	return parent;
}

/* Add what routine @of of @process did in regions. Return: the sum over these regions. */
static struct region_sum add_regions(struct export_run *x, const struct process *process,
				     uint32_t root, const struct routine *of)
{
	struct region_sum part = { 0 };
	struct pprof *p = x->data;
	const struct region_sum *s;
	struct ktau_clock clock;
	size_t nr;

	ktau_clock_init(&clock, &x->stream);
	for (s = report_regions_find(&x->regions, process->number, &nr); nr; nr--, s++) {
		if (!s->timer || s->id != of->id)
			continue;
		part.count += s->count;
		part.excl += s->excl;
		add(p, routine_node(x, region_node(p, root, s->path), s->id), s->count,
		    sum_u64(ktau_clock_sum_ns(&clock, s->excl)));
	}
	return part;
}

static void add_routines(struct export_run *x, const struct process *process)
{
	const struct routine *r, *end = process->tally.routines + process->tally.nr;
	const char *label = process->label && *process->label ? process->label :
								process->owner.comm;
	struct pprof *p = x->data;
	uint32_t root = add_root(p, &process->owner, label);
	struct region_sum in_regions;
	struct ktau_clock clock;

	ktau_clock_init(&clock, &x->stream);
	for (r = process->tally.routines; r < end; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		in_regions = add_regions(x, process, root, r);
		add(p, routine_node(x, root, r->id), less(r->count + r->open, in_regions.count),
		    sum_u64(ktau_clock_sum_ns(&clock, sum_less(r->excl, in_regions.excl))));
	}
}

static int profile(struct export_run *x)
{
	struct aggregate *rows = x->period->rows;
	struct pprof *p = x->data;
	size_t i;

	if (p->traced)
		return 0;
	for (i = 0; i < rows->nr; i++)
		add_routines(x, aggregate_open(rows, &rows->processes[i]));
	add_routines(x, &rows->evicted);
	return 0;
}

static void put_type(struct message *m, struct pprof *p, const char *type, const char *unit)
{
	struct message value = { 0 };

	message_varint(&value, TYPE_TYPE, string_of(p, type));
	message_varint(&value, TYPE_UNIT, string_of(p, unit));
	message_put(m, PROFILE_SAMPLE_TYPE, &value);
	message_deinit(&value);
}

static void put_label(struct message *sample, uint32_t key, int64_t number)
{
	struct message label = { 0 };

	message_varint(&label, LABEL_KEY, key);
	message_varint(&label, LABEL_NUMBER, (uint64_t)number);
	message_put(sample, SAMPLE_LABEL, &label);
	message_deinit(&label);
}

/* A function, its location and its name all have the same number, the index of the string. */
static void put_sample(struct message *m, struct pprof *p, const struct node *node)
{
	uint64_t locations[MAX_DEPTH], values[2] = { node->calls, node->ns };
	const struct task *task = &p->tasks[node->task];
	struct message sample = { 0 };
	const struct node *n = node;
	size_t nr = 0;

	for (; n != p->nodes && nr < MAX_DEPTH; n = &p->nodes[n->parent])
		locations[nr++] = n->name;
	message_packed(&sample, SAMPLE_LOCATIONS, locations, nr);
	message_packed(&sample, SAMPLE_VALUES, values, 2);
	put_label(&sample, string_of(p, "pid"), task->pid);
	put_label(&sample, string_of(p, "tid"), task->tid);
	message_put(m, PROFILE_SAMPLE, &sample);
	message_deinit(&sample);
}

static void put_functions(struct message *m, const struct pprof *p, const uint8_t *used)
{
	struct message location = { 0 }, line = { 0 }, function = { 0 };
	uint32_t i;

	for (i = 1; i < p->nr_strings; i++) {
		if (!used[i])
			continue;
		message_clear(&line);
		message_varint(&line, LINE_FUNCTION, i);
		message_clear(&location);
		message_varint(&location, LOCATION_ID, i);
		message_put(&location, LOCATION_LINE, &line);
		message_put(m, PROFILE_LOCATION, &location);
		message_clear(&function);
		message_varint(&function, FUNCTION_ID, i);
		message_varint(&function, FUNCTION_NAME, i);
		message_varint(&function, FUNCTION_SYSTEM_NAME, i);
		message_put(m, PROFILE_FUNCTION, &function);
	}
	message_deinit(&location);
	message_deinit(&line);
	message_deinit(&function);
}

static void put_times(struct message *m, const struct export_run *x, const struct pprof *p)
{
	uint64_t offset = x->stream.realtime_ns - x->stream.boottime_ns;
	const struct ktau_rec_stream *s = &x->stream;
	uint64_t start_ns = s->boot_realtime_ns;
	uint64_t duration_ns = s->monotonic_ns - s->boot_monotonic_ns;

	if (p->traced) {
		start_ns = p->first_ns + offset;
		duration_ns = p->last_ns - p->first_ns;
	}
	message_varint(m, PROFILE_TIME, start_ns);
	message_varint(m, PROFILE_DURATION, duration_ns);
}

/* Compress like gzip. */
static int write_compressed(const struct message *m, struct export_run *x)
{
	enum { GZIP = 16 };
	uint8_t buffer[16384];
	z_stream z = { .next_in = m->data, .avail_in = (uInt)m->nr };
	int err = Z_OK;

	if (m->nr > UINT32_MAX)
		return -EFBIG;
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	while (err == Z_OK) {
		z.next_out = buffer;
		z.avail_out = sizeof(buffer);
		err = deflate(&z, Z_FINISH);
		fwrite(buffer, 1, sizeof(buffer) - z.avail_out, x->out);
		if (output_check(x->output, x->out))
			err = Z_ERRNO;
	}
	deflateEnd(&z);
	if (err == Z_ERRNO)
		return -EIO;
	return err == Z_STREAM_END ? 0 : -ENOMEM;
}

static int end_host(struct export_run *x)
{
	struct pprof *p = x->data;
	struct message m = { 0 };
	uint8_t *used;
	size_t i;
	int err;

	put_type(&m, p, "calls", "count");
	put_type(&m, p, "time", "nanoseconds");
	message_varint(&m, PROFILE_DEFAULT_TYPE, string_of(p, "time"));
	message_varint(&m, PROFILE_COMMENT, string_of(p, x->stream.nodename));
	message_varint(&m, PROFILE_COMMENT, string_of(p, x->stream.release));
	put_times(&m, x, p);
	string_of(p, "pid");
	string_of(p, "tid");
	used = cli_alloc(NULL, p->nr_strings, 1);
	memset(used, 0, p->nr_strings);
	for (i = 1; i < p->nr_nodes; i++) {
		used[p->nodes[i].name] = 1;
		if (p->nodes[i].calls || p->nodes[i].ns)
			put_sample(&m, p, &p->nodes[i]);
	}
	put_functions(&m, p, used);
	for (i = 0; i < p->nr_strings; i++)
		message_string(&m, PROFILE_STRING, p->strings[i]);
	free(used);
	err = write_compressed(&m, x);
	message_deinit(&m);
	return err;
}

static int end(struct export_run *x)
{
	struct pprof *p = x->data;
	size_t i;

	for (i = 0; i < p->nr_strings; i++)
		free(p->strings[i]);
	free(p->strings);
	hash_deinit(&p->by_text);
	hash_deinit(&p->by_place);
	free(p->nodes);
	free(p->tasks);
	free(p->roots);
	free(p);
	return 0;
}

EXPORT_FORMAT(pprof) = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.opens = "pprof, Pyroscope, speedscope",
	.begin = begin,
	.track = track,
	.event = event,
	.profile = profile,
	.end_host = end_host,
	.end = end,
};
