// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/report/registry.h"
#include "lib/text.h"
#include "crossings.h"
#include "machines.h"
#include "steal.h"

/* Segments because of which others were sent, before these are taken for a cycle. */
enum { MAX_FORWARDED = 32 };

void machines_deinit(struct machines *m)
{
	size_t i;

	if (m->nr > 1)
		graph_destroy(m->graph);
	for (i = 0; i < m->nr; i++) {
		timeline_destroy(m->all[i]->timeline);
		graph_destroy(m->all[i]->graph);
		registry_destroy(m->all[i]->registry);
		free(m->all[i]);
	}
	free(m->all);
	free(m->lines);
	*m = (struct machines){ 0 };
}

/* Reading */

static struct machine *add(struct machines *m, const struct ktau_rec_stream *stream)
{
	struct machine *machine = cli_alloc(NULL, 1, sizeof(*machine));

	m->all = cli_alloc(m->all, m->nr + 1, sizeof(struct machine *));
	m->all[m->nr++] = machine;
	*machine = (struct machine){ .stream = *stream, .registry = registry_create() };
	machine->graph = graph_create(machine->registry);
	machine->sink = (struct timeline_sink){ NULL, graph_event, machine->graph };
	machine->timeline = timeline_create(NULL, &machine->sink);
	machine->graph->timeline = machine->timeline;
	return machine;
}

void machines_stream(struct machines *m, const struct ktau_rec_stream *stream, const char *region,
		     const char *names)
{
	size_t i;

	for (i = 0; i < m->nr; i++)
		if (ktau_same_boot(&m->all[i]->stream, stream))
			break;
	m->current = i < m->nr ? m->all[i] : NULL;
	if (!m->current && m->nr < MACHINES_MOST)
		m->current = add(m, stream);
	m->left_out += !m->current;
	if (!m->current || !region || m->current->graph->region)
		return;
	m->current->graph->region = region;
	timeline_regions(m->current->timeline, names, m->current->registry);
}

int machines_record(struct machines *m, const struct ktau_reader *reader,
		    const union ktau_record *record)
{
	struct machine *machine = m->current;
	int err;

	if (!m->again)
		graph_record(machine->graph, record);
	err = registry_put(machine->registry, record);
	return err ? err : timeline_put(machine->timeline, reader, record);
}

/* Clocks */

/* A machine whose offset from CLOCK_REALTIME to CLOCK_TAI nobody has set does not know it. */
static bool knows_tai(const struct ktau_rec_stream *stream)
{
	return stream->tai_ns && stream->tai_ns != stream->realtime_ns;
}

/* The clocks of two machines by what they know of the time of the day. */
static struct clock_line by_day(const struct ktau_rec_stream *from,
				const struct ktau_rec_stream *to)
{
	uint64_t from_ns = from->realtime_ns, to_ns = to->realtime_ns;

	if (knows_tai(from) && knows_tai(to)) {
		from_ns = from->tai_ns;
		to_ns = to->tai_ns;
	}
	return (struct clock_line){ from->boottime_ns, from_ns - (to_ns - to->boottime_ns), 0 };
}

/* Quality first, then the shortest round trip. */
static bool is_better(const struct clock_fit *a, const struct clock_fit *b)
{
	if (a->quality != b->quality)
		return a->quality > b->quality;
	return a->half_trip_ns < b->half_trip_ns;
}

/* The best pair of a machine whose clock is known and one whose is not; NULL: there is none. */
static const struct crossing_pair *best_pair(const struct crossing_pair *pairs, size_t nr,
					     const bool *known)
{
	const struct crossing_pair *best = NULL, *p;

	for (p = pairs; p < pairs + nr; p++)
		if (known[p->low] != known[p->high] && (!best || is_better(&p->fit, &best->fit)))
			best = p;
	return best;
}

/* The clock of the machine at one end of the pair is known by that at the other end. */
static void reach(struct machines *m, const struct crossing_pair *pair, bool *known)
{
	size_t from = known[pair->low] ? pair->high : pair->low;
	struct machine *machine = m->all[from];
	struct clock_line line;

	machine->fit = pair->fit;
	machine->nr_segments = pair->nr;
	machine->is_guest = pair->is_guest;
	known[from] = true;
	if (pair->fit.quality < CLOCK_APPROXIMATE) {
		m->lines[from] = by_day(&machine->stream, &m->all[0]->stream);
		return;
	}
	machine->via = from == pair->high ? pair->low : pair->high;
	line = from == pair->high ? pair->fit.line : clock_line_invert(&pair->fit.line);
	m->lines[from] = clock_line_join(&line, &m->lines[machine->via]);
}

/* The index of a machine; m->nr: it is not among them. */
static size_t find_machine(const struct machines *m, const struct steals_boot *boot)
{
	size_t i = 0;

	while (i < m->nr && memcmp(m->all[i]->stream.boot_id, boot->id, sizeof(boot->id)) != 0)
		i++;
	return i;
}

/* A guest and its host: how their clocks are related is known. */
static struct crossing_pair pair_of(const struct machines *m, size_t guest, size_t host)
{
	const struct steals_machine *s = steals_find(m->steals, m->all[guest]->stream.boot_id);
	struct crossing_pair pair = {
		.low = (uint32_t)(guest < host ? guest : host),
		.high = (uint32_t)(guest < host ? host : guest),
		.fit = { .line = s->line, .half_trip_ns = s->band_ns,
			 .quality = s->band_ns > 0 ? CLOCK_ACCURATE : CLOCK_EXACT },
		.nr = s->slots, .is_guest = true,
	};

	if (guest < host)
		pair.fit.line = clock_line_invert(&s->line);
	return pair;
}

/* Add the pairs of guests and hosts. Return: the number of all pairs. */
static size_t add_guests(const struct machines *m, struct crossing_pair **pairs, size_t nr)
{
	size_t i, guest, host;

	for (i = 0; m->steals && i < m->steals->nr; i++) {
		if (m->steals->machines[i].host == SIZE_MAX)
			continue;
		guest = find_machine(m, &m->steals->machines[i].boot);
		host = find_machine(m, &m->steals->machines[m->steals->machines[i].host].boot);
		if (guest == m->nr || host == m->nr)
			continue;
		*pairs = cli_alloc(*pairs, nr + 1, sizeof(**pairs));
		(*pairs)[nr++] = pair_of(m, guest, host);
	}
	return nr;
}

/* Reach the machines one by one from one of them, each by the best of the fits. */
static void fit_clocks(struct machines *m, const struct crossings *c)
{
	bool *known = cli_alloc(NULL, m->nr, sizeof(*known));
	const struct crossing_pair *best;
	struct crossing_pair *pairs;
	size_t nr = crossings_fit(c, &pairs), i;

	nr = add_guests(m, &pairs, nr);
	memset(known, 0, m->nr * sizeof(*known));
	known[0] = true;
	m->lines[0] = (struct clock_line){ 0, 0, 0 };
	while ((best = best_pair(pairs, nr, known)) != NULL)
		reach(m, best, known);
	for (i = 0; i < m->nr; i++)
		if (!known[i])
			m->lines[i] = by_day(&m->all[i]->stream, &m->all[0]->stream);
	free(pairs);
	free(known);
}

/* One graph */

/*
 * The task that sent a segment received on @machine, in the numbers and times of all machines. What
 * a softirq has sent is the consequence of what that has received.
 */
static struct path_origin origin_of(const struct machines *m, const struct crossings *c,
				    size_t machine, uint32_t received)
{
	struct path_origin origin;
	const struct crossing *sent;
	int steps;

	for (steps = 0; received && steps < MAX_FORWARDED; steps++) {
		sent = crossings_find(c, m->lines, machine, received);
		if (!sent)
			break;
		machine = sent->machine;
		origin = sent->packet->origin;
		if (origin.task != PATH_NONE) {
			origin.task += m->all[machine]->first_task;
			origin.ns = clock_line_map(&m->lines[machine], origin.ns);
			return origin;
		}
		received = origin.received;
	}
	return PATH_NO_ORIGIN;
}

/* Map all times of a graph. */
static void map_graph(struct path_graph *g, const struct clock_line *line)
{
	struct path_task *task;
	struct path_edge *e;
	size_t i;

	for (task = g->tasks; task < g->tasks + g->nr_tasks; task++) {
		task->created_ns = clock_line_map(line, task->created_ns);
		task->before_ns = clock_line_map(line, task->before_ns);
		if (task->released_ns)
			task->released_ns = clock_line_map(line, task->released_ns);
		for (e = task->edges; e < task->edges + task->nr; e++) {
			e->from_ns = clock_line_map(line, e->from_ns);
			e->to_ns = clock_line_map(line, e->to_ns);
		}
	}
	for (i = 0; i < g->nr_sent; i++)
		g->sent_ns[i] = clock_line_map(line, g->sent_ns[i]);
	for (i = 0; i < g->nr_execs; i++)
		g->execs[i].ns = clock_line_map(line, g->execs[i].ns);
	for (i = 0; i < g->nr_passes; i++) {
		g->passes[i].from_ns = clock_line_map(line, g->passes[i].from_ns);
		g->passes[i].to_ns = clock_line_map(line, g->passes[i].to_ns);
	}
	g->end_ns = clock_line_map(line, g->end_ns);
}

static void number(uint32_t *task, uint32_t first)
{
	if (*task != PATH_NONE)
		*task += first;
}

/* Give a task the numbers that it has in the graph of all. */
static void move_task(const struct machines *m, size_t machine, struct path_task *task)
{
	uint32_t first = m->all[machine]->first_task;
	struct path_edge *e;

	task->machine = (uint16_t)machine;
	number(&task->creator, first);
	number(&task->leader, first);
	number(&task->before, first);
	number(&task->next, first);
	for (e = task->edges; e < task->edges + task->nr; e++) {
		number(&e->waker, first);
		if (e->packet != PATH_NONE)
			e->packet += (uint32_t)m->graph->nr_sent;
	}
}

static void *append(void *to, size_t nr, const void *from, size_t more, size_t size)
{
	to = cli_alloc(to, nr + more + 1, size);
	if (more)
		memcpy((char *)to + nr * size, from, more * size);
	return to;
}

/* Move what a machine's graph has into the graph of all. */
static void move_graph(struct machines *m, size_t machine)
{
	struct path_graph *g = m->graph, *from = m->all[machine]->graph;
	uint32_t first = m->all[machine]->first_task = (uint32_t)g->nr_tasks;
	size_t i;

	map_graph(from, &m->lines[machine]);
	for (i = 0; i < from->nr_tasks; i++)
		move_task(m, machine, &from->tasks[i]);
	for (i = 0; i < from->nr_execs; i++)
		from->execs[i].task += first;
	for (i = 0; i < from->nr_passes; i++)
		from->passes[i].task += first;
	g->tasks = append(g->tasks, g->nr_tasks, from->tasks, from->nr_tasks, sizeof(*g->tasks));
	g->sent_ns = append(g->sent_ns, g->nr_sent, from->sent_ns, from->nr_sent,
			    sizeof(*g->sent_ns));
	g->execs = append(g->execs, g->nr_execs, from->execs, from->nr_execs, sizeof(*g->execs));
	g->passes = append(g->passes, g->nr_passes, from->passes, from->nr_passes,
			   sizeof(*g->passes));
	g->nr_tasks += from->nr_tasks;
	g->nr_sent = g->sent_room = g->nr_sent + from->nr_sent;
	g->nr_execs += from->nr_execs;
	g->nr_passes += from->nr_passes;
	g->events += from->events;
	g->wakeups += from->wakeups;
	g->missing += from->missing;
	if (from->end_ns > g->end_ns)
		g->end_ns = from->end_ns;
	from->nr_tasks = 0;
}

/* Name the tasks of other machines that have ended a wait. */
static void name_senders(struct machines *m, const struct crossings *c, size_t machine)
{
	const struct path_graph *from = m->all[machine]->graph;
	const struct path_arrival *a;
	struct path_origin origin;
	struct path_edge *edge;

	for (a = from->arrivals; a < from->arrivals + from->nr_arrivals; a++) {
		origin = origin_of(m, c, machine, a->received);
		edge = &m->graph->tasks[m->all[machine]->first_task + a->task].edges[a->edge];
		if (origin.task == PATH_NONE || origin.ns > edge->to_ns)
			continue;
		edge->waker = origin.task;
		edge->packet = graph_sent_at(m->graph, origin.ns);
	}
}

/* Give the tasks that took a CPU from a guest their numbers in the graph of all. */
static void name_thieves(struct machines *m)
{
	struct path_graph *g = m->graph;
	const struct steals_cause *c;
	size_t i, machine;
	uint32_t task;

	g->nr_thieves = m->steals->nr_causes;
	g->thieves = cli_alloc(NULL, g->nr_thieves + 1, sizeof(*g->thieves));
	for (i = 0; i < g->nr_thieves; i++) {
		c = &m->steals->causes[i];
		machine = c->serial ? find_machine(m, &m->steals->machines[c->machine].boot) :
				      m->nr;
		task = machine < m->nr ? graph_find(m->all[machine]->graph, c->serial) : PATH_NONE;
		g->thieves[i] = task == PATH_NONE ? task : task + m->all[machine]->first_task;
	}
}

static int by_ns(const void *a, const void *b)
{
	const struct path_exec *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* "node1", or "node1#2" for its second boot in the files. */
static void name_hosts(struct machines *m)
{
	struct path_graph *g = m->graph;
	const char *name;
	size_t i, j;
	int nr;

	g->hosts = cli_alloc(NULL, m->nr, sizeof(char *));
	for (i = 0; i < m->nr; i++) {
		name = m->all[i]->stream.nodename;
		for (j = 0, nr = 1; j < i; j++)
			nr += !strcmp(m->all[j]->stream.nodename, name);
		if (asprintf(&g->hosts[i], nr > 1 ? "%s#%d" : "%s", name, nr) < 0) {
			complain("out of memory");
			exit(CLI_FAILED);
		}
	}
	g->nr_hosts = m->nr;
}

static void label_tasks(struct path_graph *g)
{
	struct path_task *task;

	for (task = g->tasks; task < g->tasks + g->nr_tasks; task++) {
		if (asprintf(&task->label, "%s@%s",
			     graph_task_name(g, (uint32_t)(task - g->tasks)),
			     g->hosts[task->machine]) < 0) {
			complain("out of memory");
			exit(CLI_FAILED);
		}
	}
}

static void join(struct machines *m)
{
	struct packets **packets = cli_alloc(NULL, m->nr, sizeof(struct packets *));
	struct crossings c;
	size_t i;

	for (i = 0; i < m->nr; i++)
		packets[i] = &m->all[i]->graph->packets;
	m->lines = cli_alloc(NULL, m->nr, sizeof(*m->lines));
	m->graph = graph_create(NULL);
	crossings_make(&c, packets, m->nr);
	fit_clocks(m, &c);
	for (i = 0; i < m->nr; i++)
		move_graph(m, i);
	for (i = 0; i < m->nr; i++)
		name_senders(m, &c, i);
	if (m->graph->nr_execs)
		qsort(m->graph->execs, m->graph->nr_execs, sizeof(*m->graph->execs), by_ns);
	if (m->steals)
		name_thieves(m);
	name_hosts(m);
	label_tasks(m->graph);
	crossings_deinit(&c);
	free(packets);
}

void machines_again(struct machines *m, int (*event)(void *, const struct timeline_event *),
		    void **args)
{
	size_t i;

	m->again = true;
	for (i = 0; i < m->nr; i++) {
		timeline_destroy(m->all[i]->timeline);
		m->all[i]->sink = (struct timeline_sink){ NULL, event, args[i] };
		m->all[i]->timeline = timeline_create(NULL, &m->all[i]->sink);
	}
}

void machines_refer(struct machines *m, size_t machine)
{
	struct clock_line back;
	size_t i;

	if (machine == m->reference)
		return;
	back = clock_line_invert(&m->lines[machine]);
	map_graph(m->graph, &back);
	for (i = 0; i < m->nr; i++)
		m->lines[i] = clock_line_join(&m->lines[i], &back);
	m->reference = machine;
}

static int by_boot(const void *a, const void *b)
{
	const struct machine *const *x = a, *const *y = b;

	return memcmp((*x)->stream.boot_id, (*y)->stream.boot_id, sizeof((*x)->stream.boot_id));
}

/* Join them in an order that is not that of the files, so that the result is the same for all. */
static void join_all(struct machines *m)
{
	const struct machine *first = m->all[0];
	size_t i = 0;

	qsort(m->all, m->nr, sizeof(struct machine *), by_boot);
	join(m);
	while (m->all[i] != first)
		i++;
	machines_refer(m, i);
}

bool machines_run_guests(const struct machines *m)
{
	size_t i;

	for (i = 0; i < m->nr; i++)
		if (m->all[i]->graph->runs_guests)
			return m->nr > 1;
	return false;
}

static void finish_graph(const struct machines *m, const struct machine *machine)
{
	const struct steals_machine *steals =
		m->steals ? steals_find(m->steals, machine->stream.boot_id) : NULL;

	graph_finish(machine->graph);
	if (steals && m->nr > 1)
		steal_edges(machine->graph, steals);
}

int machines_finish(struct machines *m)
{
	size_t i;
	int err = 0;

	for (i = 0; i < m->nr; i++) {
		if (timeline_finish(m->all[i]->timeline))
			err = -1;
		if (!m->again)
			finish_graph(m, m->all[i]);
	}
	if (m->again)
		return err;
	if (m->nr > 1)
		join_all(m);
	else if (m->nr)
		m->graph = m->all[0]->graph;
	return err;
}

static const char *const no_fit[] = {
	[CLOCK_ABSENT] = "the trace has no TCP segments between the machines",
	[CLOCK_FAIL] = "the TCP segments between the machines contradict each other",
	[CLOCK_INCOMPLETE] = "the trace has TCP segments in one direction only",
};

/* True if the clock of @machine is that by which the reference is known, and not the reverse. */
static bool is_behind(const struct machines *m, size_t machine)
{
	size_t at = m->reference;

	while (at && at != machine)
		at = m->all[at]->via;
	return at && at == machine;
}

static void print_guest(const struct machine *machine)
{
	if (machine->fit.quality == CLOCK_EXACT)
		printf(": clock by the offset that KVM has set, exact");
	else
		printf(": clock by search, within %.3f us", machine->fit.half_trip_ns / 1000);
	printf(": all %zu slots in guest mode\n", machine->nr_segments);
}

/* Machines that may be guests: nothing is known of what a host took from them. */
static void print_given_up(const struct machines *m)
{
	const struct steals_machine *s;
	size_t i;

	for (i = 0; m->steals && i < m->nr; i++) {
		s = steals_find(m->steals, m->all[i]->stream.boot_id);
		if (!s || !s->gave_up)
			continue;
		print_escaped(m->graph->hosts[i], stdout);
		printf(": clock as a guest: not searched to the end\n");
	}
}

void machines_print_clocks(const struct machines *m)
{
	const struct clock_fit *fit;
	size_t i, from, to;

	for (i = 1; i < m->nr; i++) {
		fit = &m->all[i]->fit;
		from = is_behind(m, i) ? m->all[i]->via : i;
		to = from == i ? m->all[i]->via : i;
		print_escaped(m->graph->hosts[from], stdout);
		if (m->all[i]->is_guest) {
			print_guest(m->all[i]);
			continue;
		}
		if (fit->quality < CLOCK_APPROXIMATE) {
			printf(": clock by the time of day, whose error is not known: %s\n",
			       no_fit[fit->quality]);
			continue;
		}
		printf(": clock by %zu TCP segments to and from ", m->all[i]->nr_segments);
		print_escaped(m->graph->hosts[to], stdout);
		printf(", to %.3f us\n", fit->half_trip_ns / 1000);
	}
	if (m->nr > 1)
		print_given_up(m);
}
