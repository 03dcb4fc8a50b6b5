// SPDX-License-Identifier: GPL-2.0-only
/*
 * TAU profiles, for ParaProf and pprof: files profile.NODE.CONTEXT.THREAD, where a node is a
 * host, a context a process and a thread a task. They are numbered without gaps, because pprof
 * stops at the first gap; the real ids are in the metadata. MULTI__TIME contains all times,
 * MULTI__RUNNING excludes waits. Call paths come from the trace, if there is one, for the period
 * of the profiles.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "export.h"
#include "export_tau.h"
#include "lib/hash.h"
#include "analyse/stacks.h"
#include "lib/text.h"

const char *tau_group(const char *group, char text[TAU_GROUP_BYTES])
{
	static const char *const known[][2] = {
		{ "sched", "KTAU_SCHEDULE" }, { "socket", "KTAU_SOCK" }, { "-", "KTAU_UNKNOWN" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(group, known[i][0]))
			return known[i][1];
	snprintf(text, TAU_GROUP_BYTES, "KTAU_%s", group);
	for (i = 0; text[i]; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
	return text;
}

void tau_name(const char *name, FILE *out)
{
	char escaped[ESCAPED_BYTES];

	while (*name) {
		if (name[0] == '=' && name[1] == '>') {
			fputs("->", out);
			name += 2;
			continue;
		}
		name += escape_one(name, escaped);
		fputs(strcmp(escaped, "\"") ? escaped : "'", out);
	}
}

struct tau_ids tau_number(struct tau_numbering *n, const struct ktau_rec_owner *owner)
{
	uint64_t process = owner->leader_serial ? owner->leader_serial : owner->serial;
	uintptr_t context = hash_get(&n->contexts, process);

	if (!context) {
		context = ++n->nr_contexts;
		hash_put(&n->contexts, process, context);
		if (n->nr_contexts > n->room) {
			n->room = 2 * n->nr_contexts;
			n->threads = cli_alloc(n->threads, n->room, sizeof(*n->threads));
		}
		n->threads[context - 1] = 0;
	}
	return (struct tau_ids){ (uint32_t)context - 1, n->threads[context - 1]++ };
}

void tau_numbering_deinit(struct tau_numbering *n)
{
	hash_deinit(&n->contexts);
	free(n->threads);
	*n = (struct tau_numbering){ .nr_contexts = 0 };
}

static ktau_sum_t less_waits(bool running, ktau_sum_t ticks, ktau_sum_t waits)
{
	return running ? sum_less(ticks, waits) : ticks;
}

static bool is_wait(const struct symbolizer *names, uint32_t id)
{
	return symbolize_group_bit(names, id) == KTAU_GROUP_SCHED;
}

struct tau_time tau_routine_time(const struct symbolizer *names, const struct routine *r,
				 bool running)
{
	if (running && is_wait(names, r->id))
		return (struct tau_time){ 0, 0 };
	return (struct tau_time){
		sum_u64(r->excl),
		sum_u64(sum_more(r->excl, less_waits(running, r->incl, r->asleep + r->runq))),
	};
}

struct tau_time tau_root_time(const struct symbolizer *names, const struct process *p,
			      bool running)
{
	const ktau_sum_t *parts = p->account.parts;
	ktau_sum_t inside = 0, waits = 0, life = p->account.life;
	const struct routine *r;

	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		inside += r->excl;
		waits += is_wait(names, r->id) ? r->excl : 0;
	}
	life = sum_more(life, inside);
	waits = sum_more(waits, parts[ACCOUNT_ASLEEP] + parts[ACCOUNT_RUNQ]);
	life = less_waits(running, life, waits);
	return (struct tau_time){
		sum_u64(sum_less(life, less_waits(running, inside, waits))), sum_u64(life),
	};
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
	char escaped[ESCAPED_BYTES];

	fprintf(out, "<attribute><name>%s</name><value>", name);
	while (*value) {
		value += escape_one(value, escaped);
		if (!strcmp(escaped, "<"))
			fputs("&lt;", out);
		else if (!strcmp(escaped, "&"))
			fputs("&amp;", out);
		else
			fputs(escaped, out);
	}
	fputs("</value></attribute>", out);
}

static void put_number(FILE *out, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_attribute(out, name, text);
}

const char *tau_process_name(const struct process *p)
{
	return p->label && *p->label ? p->label : p->owner.comm;
}

void tau_metadata(const struct process *p, const struct ktau_rec_stream *stream, FILE *out)
{
	const struct ktau_rec_owner *o = &p->owner;

	put_attribute(out, "Hostname", stream->nodename);
	put_attribute(out, "OS Name", "Linux");
	put_attribute(out, "OS Release", stream->release);
	put_attribute(out, "OS Machine", stream->machine);
	put_attribute(out, "Name", tau_process_name(p));
	put_number(out, "pid", o->tgid);
	put_number(out, "tid", o->tid);
	put_number(out, "ppid", o->ppid);
	put_number(out, "uid", o->uid);
	if (o->kind == KTAU_OWNER_EXITED)
		put_number(out, "exit code", o->exit_code);
	put_attribute(out, "Exclusive", "without the routines inside");
	put_attribute(out, "SumSqr", "lower bound: calls times mean squared");
}

/* Exclusive time and activations of a path. */
struct path_sum {
	uint64_t ns, count;
};

/**
 * struct paths - the call paths of a task's trace
 * @serial: serial of the task
 * @stacks: the call paths
 * @walk: current position in the trace
 * @from: sums at the first stream of profiles, for the first @nr_from paths
 * @to: sums at the last one that the trace has reached, for the first @nr_to paths
 * @from_ns: time of @from; 0: not reached
 * @to_ns: time of @to
 * @incl_ns: inclusive time of each path
 */
struct paths {
	uint64_t serial;
	struct stacks stacks;
	struct stack_walk walk;
	struct path_sum *from, *to;
	uint32_t nr_from, nr_to;
	uint64_t from_ns, to_ns;
	uint64_t *incl_ns;
};

/* State kept per host: call paths of the tasks and file names. */
struct tau {
	struct paths **paths;
	size_t nr, room;
	struct hash by_serial;
	struct hash by_tid;
};

/* Source of one file; @running excludes waits. */
struct tau_file {
	struct export_run *x;
	FILE *out;
	bool running;
};

static void put_us(struct tau_file *f, uint64_t ticks)
{
	struct ktau_clock clock;

	ktau_clock_init(&clock, &f->x->stream);
	fprintf(f->out, " %.16G", (double)ktau_clock_ns(&clock, ticks) / 1000);
}

static void put_metadata(struct tau_file *f, const struct process *p)
{
	fputs("# Name Calls Subrs Excl Incl ProfileCalls # <metadata>", f->out);
	tau_metadata(p, &f->x->stream, f->out);
	fputs("</metadata>\n", f->out);
}

static void put_routine(struct tau_file *f, const struct routine *r)
{
	struct tau_time time = tau_routine_time(f->x->names, r, f->running);
	char group[TAU_GROUP_BYTES];

	fputc('"', f->out);
	tau_name(symbolize_event(f->x->names, r->id), f->out);
	fprintf(f->out, "\" %" PRIu64 " 0", r->count);
	put_us(f, time.excl);
	put_us(f, time.incl);
	fprintf(f->out, " 0 GROUP=\"%s | TAU_KERNEL\"\n",
		tau_group(symbolize_group(f->x->names, r->id), group));
}

static void put_root(struct tau_file *f, const struct process *p)
{
	struct tau_time time = tau_root_time(f->x->names, p, f->running);

	fputc('"', f->out);
	tau_name(tau_process_name(p), f->out);
	fputs("\" 1 0", f->out);
	put_us(f, time.excl);
	put_us(f, time.incl);
	fputs(" 0 GROUP=\"TAU_USER\"\n", f->out);
}

static const struct stack_node *parent_of(const struct stacks *s, const struct stack_node *node)
{
	return node->parent == STACKS_NONE ? NULL : &s->nodes[node->parent];
}

static uint64_t self_ns(const struct tau_file *f, const struct paths *p, uint32_t i)
{
	return f->running && p->stacks.nodes[i].off ? 0 : p->to[i].ns;
}

/* A path comes after its parent. */
static void sum_paths(const struct tau_file *f, struct paths *p)
{
	const struct stacks *s = &p->stacks;
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		p->incl_ns[i] = self_ns(f, p, i);
	for (i = s->nr; i-- > 0;)
		if (s->nodes[i].parent != STACKS_NONE)
			p->incl_ns[s->nodes[i].parent] += p->incl_ns[i];
}

static void put_path_name(struct tau_file *f, const struct stacks *s,
			  const struct stack_node *node)
{
	if (node->parent == STACKS_NONE) {
		tau_name(node->name, f->out);
		return;
	}
	put_path_name(f, s, parent_of(s, node));
	fputs(" => ", f->out);
	tau_name(symbolize_event(f->x->names, node->id), f->out);
}

/* A path below the task's own that occurs in the period, itself or with one inside. */
static bool has_path(const struct paths *p, uint32_t i)
{
	return p->stacks.nodes[i].parent != STACKS_NONE && (p->to[i].count || p->incl_ns[i]);
}

static void put_paths(struct tau_file *f, struct paths *p)
{
	const struct stack_node *node;
	char group[TAU_GROUP_BYTES];
	uint32_t i;

	for (i = 0; i < p->stacks.nr; i++) {
		node = &p->stacks.nodes[i];
		if (!has_path(p, i))
			continue;
		fputc('"', f->out);
		put_path_name(f, &p->stacks, node);
		fprintf(f->out, "\" %" PRIu64 " 0 %.16G %.16G 0 GROUP=\"TAU_CALLPATH | %s | "
			"TAU_KERNEL\"\n", p->to[i].count, (double)self_ns(f, p, i) / 1000,
			(double)p->incl_ns[i] / 1000,
			tau_group(symbolize_group(f->x->names, node->id), group));
	}
}

static size_t count_paths(const struct paths *p)
{
	size_t nr = 0;
	uint32_t i;

	for (i = 0; i < p->stacks.nr; i++)
		nr += has_path(p, i);
	return nr;
}

static size_t count_kind(const struct tally *t, uint16_t kind)
{
	const struct routine *r;
	size_t nr = 0;

	for (r = t->routines; r < t->routines + t->nr; r++)
		nr += r->kind == kind;
	return nr;
}

static void put_counter(struct tau_file *f, const struct routine *r)
{
	double mean = r->count ? (double)r->incl / (double)r->count : 0;

	fputc('"', f->out);
	tau_name(symbolize_event(f->x->names, r->id), f->out);
	fprintf(f->out, "\" %" PRIu64 " %" PRIu64 " %" PRIu64 " %.16G %.16G\n", r->count, r->max,
		r->min, mean, mean * mean * (double)r->count);
}

static void put_profile(struct tau_file *f, const struct process *p, struct paths *paths)
{
	const struct routine *r, *end = p->tally.routines + p->tally.nr;

	if (paths)
		sum_paths(f, paths);
	fprintf(f->out, "%zu templated_functions_MULTI_%s\n",
		count_kind(&p->tally, KTAU_KIND_TIMER) + 1 + (paths ? count_paths(paths) : 0),
		f->running ? "RUNNING" : "TIME");
	put_metadata(f, p);
	put_root(f, p);
	for (r = p->tally.routines; r < end; r++)
		if (r->kind == KTAU_KIND_TIMER)
			put_routine(f, r);
	if (paths)
		put_paths(f, paths);
	fprintf(f->out, "0 aggregates\n%zu userevents\n",
		count_kind(&p->tally, KTAU_KIND_COUNTER));
	fputs("# eventname numevents max min mean sumsqr\n", f->out);
	for (r = p->tally.routines; r < end; r++)
		if (r->kind == KTAU_KIND_COUNTER)
			put_counter(f, r);
}

/*
 * By pid, a task that reuses the number of an earlier task becomes the next context. The name of
 * a host is read from a file.
 */
static void name_file(struct export_run *x, const struct process *p, struct tau_ids ids,
		      bool running, char name[256])
{
	struct tau *tau = x->data;
	const char *metric = running ? "RUNNING" : "TIME";
	char host[sizeof(x->stream.nodename) + 1], *c;
	uintptr_t again;

	if (x->options.naming == NAMING_DENSE) {
		snprintf(name, 256, "MULTI__%s/profile.%" PRIu32 ".%" PRIu32 ".%" PRIu32, metric,
			 x->host, ids.context, ids.thread);
		return;
	}
	again = hash_get(&tau->by_tid, (uint64_t)(uint32_t)p->owner.tid + 1);
	if (running)
		hash_put(&tau->by_tid, (uint64_t)(uint32_t)p->owner.tid + 1, again + 1);
	snprintf(host, sizeof(host), "%s", x->stream.nodename);
	for (c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-_", *c) && (*c != '.' || c == host))
			*c = '_';
	snprintf(name, 256, "%s%s%sMULTI__%s/profile.%" PRId32 ".%zu.0",
		 x->options.naming == NAMING_NG ? "Tprofile." : "",
		 x->options.naming == NAMING_NG ? host : "",
		 x->options.naming == NAMING_NG ? "/" : "", metric, p->owner.tid, (size_t)again);
}

/* Copy the sums of all paths. Return: their number. */
static uint32_t copy_sums(const struct stacks *s, struct path_sum **sums)
{
	uint32_t i;

	*sums = cli_alloc(*sums, (size_t)s->nr + 1, sizeof(**sums));
	for (i = 0; i < s->nr; i++)
		(*sums)[i] = (struct path_sum){ s->nodes[i].self_ns, s->nodes[i].count };
	return s->nr;
}

/* The trace of a task has reached @ns. Note what it had done at the streams of profiles. */
static void reach(const struct export_run *x, struct paths *p, const struct timeline_event *e)
{
	struct timeline_event at = { .track = e->track, .type = TIMELINE_ON };

	if (!p->from_ns && x->profile_from_ns && e->ns >= x->profile_from_ns) {
		at.ns = p->from_ns = x->profile_from_ns;
		stacks_event(&p->stacks, &p->walk, &at);
		p->nr_from = copy_sums(&p->stacks, &p->from);
	}
	if (p->to_ns < x->profile_to_ns && e->ns >= x->profile_to_ns) {
		at.ns = p->to_ns = x->profile_to_ns;
		stacks_event(&p->stacks, &p->walk, &at);
		p->nr_to = copy_sums(&p->stacks, &p->to);
	}
}

/* Make @to what happened in the period; a single stream of profiles has everything since boot. */
static void limit_paths(const struct export_run *x, struct paths *p)
{
	bool one = x->profile_from_ns == x->profile_to_ns;
	uint32_t i;

	if (p->to_ns < x->profile_to_ns)
		p->nr_to = copy_sums(&p->stacks, &p->to);
	if (!one && !p->from_ns)
		p->nr_from = copy_sums(&p->stacks, &p->from);
	p->to = cli_alloc(p->to, (size_t)p->stacks.nr + 1, sizeof(*p->to));
	for (i = p->nr_to; i < p->stacks.nr; i++)
		p->to[i] = (struct path_sum){ 0, 0 };
	for (i = 0; !one && i < p->nr_from; i++) {
		p->to[i].ns = less(p->to[i].ns, p->from[i].ns);
		p->to[i].count = less(p->to[i].count, p->from[i].count);
	}
	p->incl_ns = cli_alloc(p->incl_ns, (size_t)p->stacks.nr + 1, sizeof(*p->incl_ns));
}

static int write_profile(struct export_run *x, const struct process *p, struct tau_ids ids)
{
	struct tau *tau = x->data;
	struct paths *paths = (struct paths *)hash_get(&tau->by_serial, p->owner.serial);
	struct tau_file f = { .x = x };
	char name[256];
	int metric;

	if (paths)
		limit_paths(x, paths);
	for (metric = 0; metric < 2; metric++) {
		f.running = metric;
		name_file(x, p, ids, f.running, name);
		f.out = output_add(x->output, name);
		if (!f.out)
			return -EIO;
		put_profile(&f, p, paths);
		if (output_close(x->output, f.out))
			return -EIO;
	}
	return 0;
}

static int begin(struct export_run *x)
{
	x->data = cli_alloc(NULL, 1, sizeof(struct tau));
	*(struct tau *)x->data = (struct tau){ .nr = 0 };
	return 0;
}

static struct paths *paths_of(struct export_run *x, struct track *track)
{
	struct tau *tau = x->data;
	struct paths *p;

	if (track->writer)
		return (struct paths *)track->writer;
	p = cli_alloc(NULL, 1, sizeof(*p));
	*p = (struct paths){ .serial = track->serial };
	stacks_init(&p->stacks, registry_events(x->period->registry));
	if (tau->nr == tau->room) {
		tau->room = tau->room ? 2 * tau->room : 64;
		tau->paths = cli_alloc(tau->paths, tau->room, sizeof(struct paths *));
	}
	tau->paths[tau->nr++] = p;
	hash_put(&tau->by_serial, p->serial, (uintptr_t)p);
	track->writer = (uintptr_t)p;
	return p;
}

static int event(struct export_run *x, const struct timeline_event *e)
{
	struct paths *p = paths_of(x, e->track);

	reach(x, p, e);
	stacks_event(&p->stacks, &p->walk, e);
	return 0;
}

static int end_host(struct export_run *x)
{
	struct tau *tau = x->data;
	struct paths *p;

	while (tau->nr) {
		p = tau->paths[--tau->nr];
		stacks_deinit(&p->stacks);
		free(p->incl_ns);
		free(p->from);
		free(p->to);
		free(p);
	}
	hash_clear(&tau->by_serial);
	if (x->options.naming == NAMING_NG)
		hash_clear(&tau->by_tid);
	return 0;
}

static int end(struct export_run *x)
{
	struct tau *tau = x->data;

	if (!tau)
		return 0;
	free(tau->paths);
	hash_deinit(&tau->by_serial);
	hash_deinit(&tau->by_tid);
	free(tau);
	x->data = NULL;
	return 0;
}

static int profile(struct export_run *x)
{
	struct aggregate *rows = x->period->rows;
	struct tau_numbering numbering = { .nr_contexts = 0 };
	const struct process *p;
	int err = 0;

	for (p = rows->processes; !err && p < rows->processes + rows->nr; p++)
		err = write_profile(x, aggregate_open(rows, p), tau_number(&numbering, &p->owner));
	if (!err && rows->evicted.tally.nr)
		err = write_profile(x, &rows->evicted,
				    (struct tau_ids){ (uint32_t)numbering.nr_contexts, 0 });
	tau_numbering_deinit(&numbering);
	return err;
}

EXPORT_FORMAT(tau) = {
	.name = "tau",
	.suffix = ".tau",
	.opens = "ParaProf and TAU's pprof: a directory of profiles",
	.directory = true,
	.hosts = true,
	.begin = begin,
	.event = event,
	.profile = profile,
	.end_host = end_host,
	.end = end,
};
