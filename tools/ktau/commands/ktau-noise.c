// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktau noise: measure how often a compute-bound thread is interrupted, and by what.
 *
 * On each CPU a thread repeats the same piece of work and reads the clock after each
 * repetition. A repetition that takes too long contains a detour; the thread's trace shows what
 * the kernel did during that time.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "lib/shared_options.h"
#include "lib/enable.h"
#include "lib/live.h"
#include "subcommand.h"
#include "lib/symbolize.h"
#include "lib/table.h"
#include "analyse/timeline.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)

/* Interval between two reads of the trace. */
#define LOOK_NS (100 * MS)

enum { OPT_INJECT = 256, OPT_DETOURS, OPT_TOP };
enum { MAX_DETOURS = 1 << 18, BUCKETS = 24, NAME_BYTES = 64, RING_SLOTS = 16384 };

/**
 * struct inject - noise generated on purpose
 * @period_ns: time from the start of one burst to the next; 0: no noise
 * @length_ns: length of a burst
 * @cpu: CPU to disturb
 */
struct inject {
	uint64_t period_ns, length_ns;
	uint64_t cpu;
};

struct options {
	uint64_t seconds;
	struct inject inject;
	uint64_t top;
	bool detours;
	struct shared_options in;
};

/* A repetition of the work that took too long, and the part of it with a known cause. */
struct detour {
	uint64_t from_ns, to_ns;
	uint64_t known_ns;
	uint64_t hooks_ns;
};

/**
 * struct worker - the thread on a CPU
 * @cpu: its CPU
 * @tid: its thread id; 0: not running yet
 * @ended: it has finished its last repetition
 * @least_ns: shortest time of a repetition
 * @detours: repetitions that took longer
 * @nr: length of @detours
 * @more: detours for which there was no room
 * @begin_ns: CLOCK_BOOTTIME at the start of the first repetition
 * @end_ns: CLOCK_BOOTTIME at the end of the last repetition
 */
struct worker {
	pthread_t thread;
	unsigned int cpu;
	atomic_int tid;
	atomic_bool ended;
	uint64_t least_ns;
	struct detour *detours;
	size_t nr;
	uint64_t more;
	uint64_t begin_ns, end_ns;
	char preemptor[17];
};

/**
 * struct cause - a cause of detours on a CPU
 * @name: routine, or "preempted by NAME"
 * @cpu: CPU
 * @count: number of occurrences
 * @sum_ns: total time
 * @max_ns: longest time
 * @last_ns: start of the last occurrence
 * @gaps_ns: times from the start of one occurrence to the next; @count - 1 of them
 * @room: allocated length of @gaps_ns
 */
struct cause {
	char name[NAME_BYTES];
	unsigned int cpu;
	uint64_t count, sum_ns, max_ns, last_ns;
	uint64_t *gaps_ns;
	size_t room;
};

/* A frame that ended in the trace of a worker, with its exclusive time. */
struct piece {
	struct worker *worker;
	uint64_t from_ns, to_ns, excl_ns;
	uint32_t id;
	char preemptor[17];
};

/* The time that one cause contributed to one detour. */
struct part {
	const struct detour *detour;
	size_t cause;
	unsigned int cpu;
	uint64_t at_ns, ns;
};

struct noise {
	const struct options *o;
	struct worker *workers;
	size_t nr_workers;
	struct ktau_reader *reader;
	bool opened;
	struct timeline *timeline;
	struct piece *pieces;
	size_t nr_pieces, room;
	struct cause *causes;
	size_t nr_causes;
	struct part *parts;
	size_t nr_parts, parts_room;
};

/*
 * The workers wait before their first and after their last repetition; the first begins when the
 * thread that injects noise is on its CPU.
 */
static atomic_bool injecting, started, over, dismissed;
static volatile uint64_t sink;

static const struct argp_option argp_options[] = {
	{ "seconds", 'd', "SECONDS", 0, "Measure for SECONDS (default: 10)", 0 },
	{ "inject", OPT_INJECT, "PERIOD:LENGTH[:CPU]", 0,
	  "Also generate noise of LENGTH us every PERIOD us, on CPU (default: 0)", 0 },
	{ "top", OPT_TOP, "N", 0, "Show the N costliest causes (default: 12; 0 is all)", 0 },
	{ "detours", OPT_DETOURS, NULL, 0,
	  "Show a row for each cause of each detour, in time order", 0 },
	LIVE_OPTION(0),
	FORMAT_OPTION(0),
	{ 0 }
};

static void parse_inject(const char *text, struct inject *inject, struct argp_state *state)
{
	uint64_t period, length, cpu = 0;
	int n = 0;

	if (sscanf(text, "%" SCNu64 ":%" SCNu64 "%n", &period, &length, &n) != 2 ||
	    (text[n] && (text[n] != ':' || cli_number(text + n + 1, CPU_SETSIZE - 1, &cpu))) ||
	    !length || length >= period || period > 1000000000)
		cli_usage(state, "--inject=%s: not PERIOD:LENGTH[:CPU], in microseconds", text);
	*inject = (struct inject){ period * 1000, length * 1000, cpu };
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'd':
		if (cli_number(arg, 1000000, &o->seconds) || !o->seconds)
			cli_usage(state, "--seconds=%s: not a number of seconds", arg);
		return 0;
	case OPT_INJECT:
		parse_inject(arg, &o->inject, state);
		return 0;
	case OPT_DETOURS:
		o->detours = true;
		return 0;
	case OPT_TOP:
		o->top = shared_count("top", arg, state);
		return 0;
	case ARGP_KEY_ARG:
		cli_usage(state, "'%s': unexpected argument", arg);
		return 0;
	}
	return shared_option(key, arg, state, &o->in);
}

static const struct argp parser = {
	argp_options, parse_option, "",
	"Measure how often a compute-bound thread on each CPU is interrupted, and by what: "
	"interrupts by line, softirqs, and the tasks that preempted it.",
	NULL, NULL, NULL
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

static int pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* The piece of work: a few microseconds of computation. */
static void work(void)
{
	uint64_t x = sink;
	int i;

	for (i = 0; i < 1500; i++)
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	sink = x;
}

static uint64_t least_of(int times)
{
	uint64_t least = UINT64_MAX, from, took;

	while (times--) {
		from = now_ns();
		work();
		took = now_ns() - from;
		least = took < least ? took : least;
	}
	return least;
}

static void put_detour(struct worker *w, uint64_t from, uint64_t to)
{
	if (w->nr < MAX_DETOURS)
		w->detours[w->nr++] = (struct detour){ from, to, 0, 0 };
	else
		w->more++;
}

static void *run_worker(void *arg)
{
	struct worker *w = arg;
	uint64_t from, to, limit;
	char name[32];

	snprintf(name, sizeof(name), "ktau-noise/%u", w->cpu);
	pthread_setname_np(pthread_self(), name);
	pin(w->cpu);
	w->least_ns = least_of(1000);
	limit = w->least_ns + w->least_ns / 2 + 500;
	atomic_store(&w->tid, gettid());
	while (!atomic_load(&started))
		usleep(1000);
	w->begin_ns = from = now_ns();
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		work();
		to = now_ns();
		if (to - from > limit)
			put_detour(w, from, to);
		from = to;
	}
	w->end_ns = from;
	atomic_store(&w->ended, true);
	while (!atomic_load(&dismissed))
		usleep(1000);
	return NULL;
}

/* Known noise: the timer wakes this thread, which preempts the worker, always for this long. */
static void *run_inject(void *arg)
{
	const struct inject *inject = arg;
	struct sched_param param = { .sched_priority = 50 };
	uint64_t next, end;
	struct timespec ts;

	pthread_setname_np(pthread_self(), "ktau-inject");
	pin((unsigned int)inject->cpu);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		complain("cannot inject noise at real-time priority: it may be late");
	next = now_ns();
	atomic_store(&injecting, true);
	while (!atomic_load(&over)) {
		next += inject->period_ns;
		ts.tv_sec = (time_t)(next / SECOND);
		ts.tv_nsec = (long)(next % SECOND);
		clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL);
		end = now_ns() + inject->length_ns;
		while (now_ns() < end)
			;
	}
	return NULL;
}

static struct worker *worker_of(struct noise *n, const struct track *track)
{
	size_t i;

	for (i = 0; i < n->nr_workers; i++)
		if (atomic_load(&n->workers[i].tid) == track->owner.tid)
			return &n->workers[i];
	return NULL;
}

static void put_piece(struct noise *n, struct worker *w, const struct timeline_event *e)
{
	struct piece *p;

	if (n->nr_pieces == n->room) {
		n->room = n->room ? n->room * 2 : 1024;
		n->pieces = cli_alloc(n->pieces, n->room, sizeof(*n->pieces));
	}
	p = &n->pieces[n->nr_pieces++];
	*p = (struct piece){ w, e->from_ns, e->ns, e->excl_ns, e->id, "" };
	strcpy(p->preemptor, w->preemptor);
}

/* Collect each ended frame of a worker. A switch names the next task. */
static int take_event(void *arg, const struct timeline_event *e)
{
	const struct ktau_rec_owner *owner;
	struct ktau_slot_switch to;
	struct noise *n = arg;
	struct worker *w = worker_of(n, e->track);

	if (!w)
		return 0;
	if (e->slot && ktau_slot_switch(e->slot, &to)) {
		owner = timeline_owner(n->timeline, to.next_serial);
		snprintf(w->preemptor, sizeof(w->preemptor), "%.16s",
			 owner && *owner->comm ? owner->comm : "a task");
	}
	if (e->type == KTAU_TRACE_EXIT && e->ended == ENDED_BY_EXIT)
		put_piece(n, w, e);
	return 0;
}

static int read_trace(struct noise *n, const struct ktau_query *query)
{
	union ktau_record record;
	int err;

	if (!n->opened)
		err = live_open(n->reader, query);
	else
		err = ktau_reader_restart(n->reader, query);
	n->opened |= !err;
	while (!err && (err = ktau_reader_next(n->reader, &record)) > 0)
		err = timeline_put(n->timeline, n->reader, &record);
	if (err)
		live_failed(n->reader, err);
	return err;
}

static bool ends_before(const void *detours, size_t i, const void *at)
{
	return ((const struct detour *)detours)[i].to_ns < *(const uint64_t *)at;
}

/* The detour that contains the time @at; NULL if no repetition took too long then. */
static struct detour *detour_at(struct worker *w, uint64_t at)
{
	size_t i = bisect(w->detours, w->nr, &at, ends_before);

	return i < w->nr && w->detours[i].from_ns <= at ? &w->detours[i] : NULL;
}

static struct cause *cause_of(struct noise *n, const char *name, unsigned int cpu)
{
	size_t i;

	for (i = 0; i < n->nr_causes; i++)
		if (n->causes[i].cpu == cpu && !strcmp(n->causes[i].name, name))
			return &n->causes[i];
	n->causes = cli_alloc(n->causes, n->nr_causes + 1, sizeof(*n->causes));
	n->causes[n->nr_causes] = (struct cause){ .cpu = cpu };
	snprintf(n->causes[n->nr_causes].name, NAME_BYTES, "%s", name);
	return &n->causes[n->nr_causes++];
}

static void put_part(struct noise *n, const struct cause *c, struct worker *w, uint64_t at,
		     uint64_t ns)
{
	if (n->nr_parts == n->parts_room) {
		n->parts_room = n->parts_room ? n->parts_room * 2 : 1024;
		n->parts = cli_alloc(n->parts, n->parts_room, sizeof(*n->parts));
	}
	n->parts[n->nr_parts++] = (struct part){
		detour_at(w, at), (size_t)(c - n->causes), w->cpu, at, ns,
	};
}

static void put_cause(struct noise *n, const char *name, struct worker *w, uint64_t at,
		      uint64_t ns)
{
	struct cause *c = cause_of(n, name, w->cpu);

	if (n->o->detours)
		put_part(n, c, w, at, ns);
	if (c->count) {
		if (c->count > c->room) {
			c->room = 2 * c->count;
			c->gaps_ns = cli_alloc(c->gaps_ns, c->room, sizeof(*c->gaps_ns));
		}
		c->gaps_ns[c->count - 1] = at > c->last_ns ? at - c->last_ns : 0;
	}
	c->count++;
	c->last_ns = at;
	c->sum_ns += ns;
	c->max_ns = ns > c->max_ns ? ns : c->max_ns;
}

static int by_begin(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/*
 * Attribute the part of a detour that its frames do not cover. KTAU's hooks account for as much
 * of it as their cost, measured at boot, explains; the remainder has no frame.
 */
static void attribute_rest(struct noise *n, struct worker *w, const struct detour *d)
{
	uint64_t whole = d->to_ns - d->from_ns - w->least_ns, rest;

	if (whole <= d->known_ns)
		return;
	rest = whole - d->known_ns;
	if (d->hooks_ns)
		put_cause(n, "(hooks of KTAU)", w, d->to_ns,
			  d->hooks_ns < rest ? d->hooks_ns : rest);
	if (rest > d->hooks_ns)
		put_cause(n, "(entry, caches)", w, d->to_ns, rest - d->hooks_ns);
}

static uint64_t hooks_ns(const struct noise *n, const struct symbolizer *names, uint32_t id)
{
	const struct ktau_rec_stream *stream = timeline_stream(n->timeline);

	return ktau_clock_ns(timeline_clock(n->timeline),
			     symbolize_hook_ticks(names, stream, id, 1));
}

/* Attribute the exclusive time of each frame to its routine. */
static void attribute(struct noise *n, struct symbolizer *names)
{
	char name[NAME_BYTES];
	struct detour *d;
	struct worker *w;
	size_t i;

	qsort(n->pieces, n->nr_pieces, sizeof(*n->pieces), by_begin);
	for (i = 0; i < n->nr_pieces; i++) {
		const struct piece *p = &n->pieces[i];

		d = detour_at(p->worker, p->from_ns);
		if (!d)
			continue;
		snprintf(name, sizeof(name), "%s", symbolize_event(names, p->id));
		if (symbolize_group_bit(names, p->id) == KTAU_GROUP_SCHED)
			snprintf(name, sizeof(name), "preempted by %s", p->preemptor);
		put_cause(n, name, p->worker, p->from_ns, p->excl_ns);
		d->known_ns += p->excl_ns;
		d->hooks_ns += hooks_ns(n, names, p->id);
	}
	for (w = n->workers; w < n->workers + n->nr_workers; w++)
		for (d = w->detours; d < w->detours + w->nr; d++)
			attribute_rest(n, w, d);
}

enum { N_CAUSE, N_CPU, N_COUNT, N_MEAN, N_MAX, N_PERIOD, N_SHARE, N_MEAN_NS, N_MAX_NS, N_NR };

static const struct column columns[N_NR] = {
	[N_CAUSE] = { "cause", "CAUSE", COLUMN_TEXT },
	[N_CPU] = { "cpu", "CPU", COLUMN_SMALL },
	[N_COUNT] = { "count", "COUNT", COLUMN_NUMBER },
	[N_MEAN] = { NULL, "MEAN us", COLUMN_RATE },
	[N_MAX] = { NULL, "MAX us", COLUMN_RATE },
	[N_PERIOD] = { "period_ns", "EVERY ms", COLUMN_NS },
	[N_SHARE] = { "share", "OF CPU", COLUMN_SHARE },
	[N_MEAN_NS] = { "mean_ns", NULL, COLUMN_NS },
	[N_MAX_NS] = { "max_ns", NULL, COLUMN_NS },
};

static int by_time(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns < y->sum_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The period is the median gap: a missed occurrence lengthens one gap but does not change it. */
static uint64_t period_of(const struct cause *c)
{
	if (c->count < 2)
		return CELL_NONE;
	qsort(c->gaps_ns, c->count - 1, sizeof(*c->gaps_ns), by_length);
	return c->gaps_ns[(c->count - 1) / 2];
}

static const struct worker *worker_on(const struct noise *n, unsigned int cpu)
{
	const struct worker *w = n->workers;

	while (w->cpu != cpu)
		w++;
	return w;
}

static void put_row(const struct noise *n, struct table *t, const struct cause *c)
{
	union cell *row = table_row(t);
	const struct worker *w = worker_on(n, c->cpu);

	row[N_CAUSE].text = c->name;
	row[N_CPU].number = c->cpu;
	row[N_COUNT].number = c->count;
	row[N_MEAN].share = (double)c->sum_ns / (double)c->count / 1000;
	row[N_MAX].share = (double)c->max_ns / 1000;
	row[N_MEAN_NS].number = c->sum_ns / c->count;
	row[N_MAX_NS].number = c->max_ns;
	row[N_PERIOD].number = period_of(c);
	row[N_SHARE].share = (double)c->sum_ns / (double)(w->end_ns - w->begin_ns);
}

/* Detours by length, in powers of two. */
static void print_histogram(const struct worker *w)
{
	uint64_t buckets[BUCKETS] = { 0 }, most = 0, us;
	unsigned int b, last = 0;
	size_t i;

	for (i = 0; i < w->nr; i++) {
		us = (w->detours[i].to_ns - w->detours[i].from_ns - w->least_ns) / 1000;
		for (b = 0; us && b + 1 < BUCKETS; b++)
			us /= 2;
		buckets[b]++;
		last = b > last ? b : last;
		most = buckets[b] > most ? buckets[b] : most;
	}
	printf("\nCPU %u: %zu detours from a piece of work of %.3f us\n", w->cpu, w->nr,
	       (double)w->least_ns / 1000);
	for (b = 0; w->nr && b <= last; b++)
		printf("%8lu us or more %8" PRIu64 "%s%.*s\n", b ? 1UL << (b - 1) : 0UL, buckets[b],
		       buckets[b] * 40 / most ? " " : "", (int)(buckets[b] * 40 / most),
		       "########################################");
	if (w->more)
		printf("%" PRIu64 " more were not recorded for lack of room\n", w->more);
}

enum { D_CPU, D_FROM, D_TO, D_LENGTH, D_CAUSE, D_AT, D_TIME, D_NR };

static const struct column detour_columns[D_NR] = {
	[D_CPU] = { "cpu", "CPU", COLUMN_SMALL },
	[D_FROM] = { "begin_ns", "BEGIN ms", COLUMN_NS },
	[D_TO] = { "end_ns", NULL, COLUMN_NS },
	[D_LENGTH] = { "length_ns", "LENGTH ms", COLUMN_NS },
	[D_CAUSE] = { "cause", "CAUSE", COLUMN_TEXT },
	[D_AT] = { "at_ns", NULL, COLUMN_NS },
	[D_TIME] = { "ns", "TIME ms", COLUMN_NS },
};

static int by_moment(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* Lengths exclude the work itself, so they equal the sum of the causes of a detour. */
static void print_detours(const struct noise *n)
{
	const struct part *p;
	union cell *row;
	struct table t;

	qsort(n->parts, n->nr_parts, sizeof(*n->parts), by_moment);
	table_init(&t, "detours", detour_columns, D_NR);
	for (p = n->parts; p < n->parts + n->nr_parts; p++) {
		row = table_row(&t);
		row[D_CPU].number = p->cpu;
		row[D_FROM].number = p->detour->from_ns;
		row[D_TO].number = p->detour->to_ns;
		row[D_LENGTH].number = p->detour->to_ns - p->detour->from_ns -
				       worker_on(n, p->cpu)->least_ns;
		row[D_CAUSE].text = n->causes[p->cause].name;
		row[D_AT].number = p->at_ns;
		row[D_TIME].number = p->ns;
	}
	table_print(&t, n->o->in.format, stdout);
	table_deinit(&t);
}

static void print_causes(const struct noise *n)
{
	size_t i, shown = n->nr_causes;
	struct table t;

	if (n->o->in.format == FORMAT_TEXT && n->o->top && n->o->top < shown)
		shown = n->o->top;
	qsort(n->causes, n->nr_causes, sizeof(*n->causes), by_time);
	table_init(&t, "noise", columns, N_NR);
	for (i = 0; i < shown; i++)
		put_row(n, &t, &n->causes[i]);
	table_print(&t, n->o->in.format, stdout);
	table_deinit(&t);
	if (shown < n->nr_causes)
		printf("Not shown: %zu causes that took less time (--top=N)\n",
		       n->nr_causes - shown);
}

static void print(const struct noise *n)
{
	const struct timeline_counts *counts = timeline_counts(n->timeline);
	size_t i;

	if (n->o->detours)
		print_detours(n);
	else
		print_causes(n);
	if (n->o->in.format != FORMAT_TEXT)
		return;
	if (counts->lost)
		printf("%" PRIu64 " slots of the trace were lost\n", counts->lost);
	for (i = 0; !n->o->detours && i < n->nr_workers; i++)
		print_histogram(&n->workers[i]);
}

/* Start a worker on each CPU that this process may use. Return: 0, or -1 with a message. */
static int start_workers(struct noise *n)
{
	struct worker *w;
	cpu_set_t set;
	int cpu, err;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		complain("cannot find the CPUs: %s", strerror(errno));
		return -1;
	}
	n->workers = cli_alloc(NULL, (size_t)CPU_COUNT(&set), sizeof(*n->workers));
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		w = &n->workers[n->nr_workers];
		*w = (struct worker){ .cpu = (unsigned int)cpu };
		w->detours = cli_alloc(NULL, MAX_DETOURS, sizeof(*w->detours));
		memset(w->detours, 0, MAX_DETOURS * sizeof(*w->detours));
		err = pthread_create(&w->thread, NULL, run_worker, w);
		if (err) {
			complain("cannot start a thread: %s", strerror(err));
			return -1;
		}
		n->nr_workers++;
	}
	return 0;
}

/* Read the workers' traces until the time is up. Return: 0, or -1 with a message. */
static int watch(struct noise *n)
{
	int32_t *tids = cli_alloc(NULL, n->nr_workers, sizeof(*tids));
	/* BPF programs trace all tasks. */
	const struct ktau_query query = {
		.content = KTAU_REC_TRACE,
		.target = live_is_bpf() ? KTAU_TARGET_ALL : KTAU_TARGET_LIST,
		.flags = KTAU_SELECT_CONSUME,
		.nr_tids = live_is_bpf() ? 0 : (uint32_t)n->nr_workers,
		.tids = tids,
	};
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	uint64_t end;
	size_t i;
	int err;

	for (i = 0; i < n->nr_workers; i++)
		while (!(tids[i] = atomic_load(&n->workers[i].tid)))
			usleep(1000);
	/* Loading BPF programs takes long. */
	err = read_trace(n, &query);
	atomic_store(&started, true);
	for (end = now_ns() + n->o->seconds * SECOND; !err && now_ns() < end;) {
		nanosleep(&pause, NULL);
		err = read_trace(n, &query);
	}
	atomic_store(&over, true);
	for (i = 0; i < n->nr_workers; i++)
		while (!atomic_load(&n->workers[i].ended))
			usleep(1000);
	/* Read the slots of the last detours while the threads still exist. */
	if (!err)
		err = read_trace(n, &query);
	free(tids);
	return err ? -1 : 0;
}

static int measure(struct noise *n)
{
	const struct timeline_sink events = { NULL, take_event, n };
	struct inject inject = n->o->inject;
	pthread_t injector;
	bool injects = false;
	int status = -1;
	size_t i;

	n->timeline = timeline_create(n->reader, &events);
	if (!start_workers(n)) {
		injects = inject.period_ns &&
			  !pthread_create(&injector, NULL, run_inject, &inject);
		while (injects && !atomic_load(&injecting))
			usleep(1000);
		status = watch(n);
	}
	atomic_store(&over, true);
	atomic_store(&started, true);
	atomic_store(&dismissed, true);
	if (injects)
		pthread_join(injector, NULL);
	for (i = 0; i < n->nr_workers; i++)
		pthread_join(n->workers[i].thread, NULL);
	return status ? status : timeline_finish(n->timeline);
}

static int noise(struct noise *n)
{
	struct symbolizer *names;
	int status = CLI_FAILED;

	if (ktau_reader_create(&n->reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	if (!measure(n)) {
		names = symbolize_create(ktau_reader_events(n->reader), NULL);
		attribute(n, names);
		print(n);
		symbolize_destroy(names);
		status = CLI_DONE;
	}
	timeline_destroy(n->timeline);
	ktau_reader_destroy(n->reader);
	while (n->nr_workers)
		free(n->workers[--n->nr_workers].detours);
	free(n->workers);
	free(n->pieces);
	free(n->parts);
	while (n->nr_causes)
		free(n->causes[--n->nr_causes].gaps_ns);
	free(n->causes);
	return status;
}

static int noise_main(int argc, char **argv)
{
	struct options o = { .seconds = 10, .top = 12 };
	struct noise n = { .o = &o };
	char *restore = NULL;
	int status;

	cli_parse(&parser, argc, argv, 0, &o);
	live_set_trace(RING_SLOTS);
	if (enable_collecting("syscall,irq,bh,sched,exception,account", "trace=on ring=16384",
			      &restore))
		return CLI_FAILED;
	status = noise(&n);
	enable_restore(restore);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_noise = {
	"noise", noise_main, "measure how often a compute-bound thread is interrupted, and why",
	&parser, SUBCOMMAND_ANALYSE
};
