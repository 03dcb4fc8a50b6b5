// SPDX-License-Identifier: GPL-2.0-only
/*
 * TAU profiles, for ParaProf and pprof: profile.NODE.CONTEXT.THREAD, where a node is a
 * host, a context a process and a thread a task, numbered without gaps: pprof stops at the
 * first one. The real ids are in the metadata. MULTI__TIME has all times, MULTI__RUNNING
 * those without waits.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "export.h"
#include "export_tau.h"
#include "hash.h"
#include "text.h"

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

/* What a file is made from: @running leaves the waits out. */
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

static void put_metadata(struct tau_file *f, const struct process *p)
{
	const struct ktau_rec_owner *o = &p->owner;
	FILE *out = f->out;

	fputs("# Name Calls Subrs Excl Incl ProfileCalls # <metadata>", out);
	put_attribute(out, "Hostname", f->x->stream.nodename);
	put_attribute(out, "OS Name", "Linux");
	put_attribute(out, "OS Release", f->x->stream.release);
	put_attribute(out, "OS Machine", f->x->stream.machine);
	put_attribute(out, "Name", p->label && *p->label ? p->label : o->comm);
	put_number(out, "pid", o->tgid);
	put_number(out, "tid", o->tid);
	put_number(out, "ppid", o->ppid);
	put_number(out, "uid", o->uid);
	if (o->kind == KTAU_OWNER_EXITED)
		put_number(out, "exit code", o->exit_code);
	put_attribute(out, "Exclusive", "without the routines inside");
	put_attribute(out, "SumSqr", "lower bound: calls times mean squared");
	fputs("</metadata>\n", out);
}

static uint64_t less_waits(const struct tau_file *f, uint64_t ticks, uint64_t waits)
{
	if (!f->running)
		return ticks;
	return ticks > waits ? ticks - waits : 0;
}

static bool is_wait(const struct tau_file *f, const struct routine *r)
{
	return symbolize_group_bit(f->x->names, r->id) == KTAU_GROUP_SCHED;
}

static void put_routine(struct tau_file *f, const struct routine *r)
{
	bool wait = f->running && is_wait(f, r);
	char group[TAU_GROUP_BYTES];

	fputc('"', f->out);
	tau_name(symbolize_event(f->x->names, r->id), f->out);
	fprintf(f->out, "\" %" PRIu64 " 0", r->count);
	put_us(f, wait ? 0 : r->excl);
	put_us(f, wait ? 0 : less_waits(f, r->incl, r->asleep + r->runq));
	fprintf(f->out, " 0 GROUP=\"%s | TAU_KERNEL\"\n",
		tau_group(symbolize_group(f->x->names, r->id), group));
}

/* The whole life is the task's own: its exclusive time is what was not in the kernel. */
static void put_root(struct tau_file *f, const struct process *p)
{
	const uint64_t *parts = p->account.parts;
	uint64_t inside = 0, waits = 0, life = p->account.life;
	const struct routine *r;

	for (r = p->tally.routines; r < p->tally.routines + p->tally.nr; r++) {
		if (r->kind != KTAU_KIND_TIMER)
			continue;
		inside += r->excl;
		waits += is_wait(f, r) ? r->excl : 0;
	}
	if (life < inside)
		life = inside;
	if (parts[ACCOUNT_ASLEEP] + parts[ACCOUNT_RUNQ] > waits)
		waits = parts[ACCOUNT_ASLEEP] + parts[ACCOUNT_RUNQ];
	fputc('"', f->out);
	tau_name(p->label && *p->label ? p->label : p->owner.comm, f->out);
	fputs("\" 1 0", f->out);
	life = less_waits(f, life, waits);
	inside = less_waits(f, inside, waits);
	put_us(f, life > inside ? life - inside : 0);
	put_us(f, life);
	fputs(" 0 GROUP=\"TAU_USER\"\n", f->out);
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

static void put_profile(struct tau_file *f, const struct process *p)
{
	const struct routine *r, *end = p->tally.routines + p->tally.nr;

	fprintf(f->out, "%zu templated_functions_MULTI_%s\n",
		count_kind(&p->tally, KTAU_KIND_TIMER) + 1, f->running ? "RUNNING" : "TIME");
	put_metadata(f, p);
	put_root(f, p);
	for (r = p->tally.routines; r < end; r++)
		if (r->kind == KTAU_KIND_TIMER)
			put_routine(f, r);
	fprintf(f->out, "0 aggregates\n%zu userevents\n",
		count_kind(&p->tally, KTAU_KIND_COUNTER));
	fputs("# eventname numevents max min mean sumsqr\n", f->out);
	for (r = p->tally.routines; r < end; r++)
		if (r->kind == KTAU_KIND_COUNTER)
			put_counter(f, r);
}

static int write_profile(struct export_run *x, const struct process *p, struct tau_ids ids)
{
	struct tau_file f = { .x = x };
	char name[80];
	int metric;

	for (metric = 0; metric < 2; metric++) {
		f.running = metric;
		snprintf(name, sizeof(name), "MULTI__%s/profile.%" PRIu32 ".%" PRIu32 ".%" PRIu32,
			 metric ? "RUNNING" : "TIME", x->host, ids.context, ids.thread);
		f.out = output_add(x->output, name);
		if (!f.out)
			return -EIO;
		put_profile(&f, p);
		if (output_close(x->output, f.out))
			return -EIO;
	}
	return 0;
}

static int event(struct export_run *x, const struct timeline_event *e)
{
	(void)x, (void)e;
	return 0;
}

static int profile(struct export_run *x)
{
	const struct aggregate *rows = x->period->rows;
	struct tau_numbering numbering = { .nr_contexts = 0 };
	const struct process *p;
	int err = 0;

	for (p = rows->processes; !err && p < rows->processes + rows->nr; p++)
		err = write_profile(x, p, tau_number(&numbering, &p->owner));
	if (!err && rows->evicted.tally.nr)
		err = write_profile(x, &rows->evicted,
				    (struct tau_ids){ (uint32_t)numbering.nr_contexts, 0 });
	tau_numbering_deinit(&numbering);
	return err;
}

const struct exporter export_tau = {
	.name = "tau",
	.suffix = ".tau",
	.opens = "ParaProf and TAU's pprof: a directory of profiles",
	.directory = true,
	.hosts = true,
	.event = event,
	.profile = profile,
};
