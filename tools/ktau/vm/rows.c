// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "match.h"
#include "rows.h"

/* Parts of the whole time that a page can show. */
enum { PARTS = 20000 };

#define COLOUR_IDLE	"#eceff1"

/* A colour, and what has it. */
struct shade {
	const char *colour, *kind;
};

static const struct shade of_host = { "#64b5f6", "tasks of the host" };
static const struct shade of_guest = { "#4caf50", "tasks of guests" };
static const struct shade of_idle = { COLOUR_IDLE, "IDLE" };

static const char *const colours[VCPU_STATES] = {
	[VCPU_UNKNOWN] = "#bdbdbd",
	[VCPU_VMM] = "#ffb74d",
	[VCPU_PREEMPTED] = "#e53935",
	[VCPU_IDLE] = COLOUR_IDLE,
	[VCPU_POLLING] = "#cfd8dc",
};

/**
 * struct filling - rows that are being made
 * @machines: the machines
 * @states: the rows
 * @room: allocated length of the intervals
 * @least_ns: shorter intervals are not shown
 * @via: for each machine a matched CPU, whose thread has its clock; NULL: none
 * @row: number of the current row
 * @tasks: for each machine, number of the name of each task plus 1
 * @state_names: number of the name of each state plus 1
 */
struct filling {
	const struct vm_machine *machines;
	struct states *states;
	size_t room;
	uint64_t least_ns;
	const struct vm_cpu **via;
	uint32_t row;
	struct hash *tasks;
	uint32_t state_names[VCPU_STATES];
};

/* A time of a machine. */
struct span {
	uint64_t from, to;
};

static char *label(const char *machine, const char *what)
{
	char *text;

	return asprintf(&text, "%s %s", machine, what) < 0 ? NULL : text;
}

static uint32_t add_name(struct filling *f, const char *text, const struct shade *shade)
{
	struct states *s = f->states;

	s->names = cli_alloc(s->names, s->nr_names + 1, sizeof(*s->names));
	s->names[s->nr_names] = (struct states_name){ text, shade->colour, shade->kind };
	return (uint32_t)s->nr_names++;
}

static uint32_t name_of_task(struct filling *f, size_t machine, uint64_t serial)
{
	const struct vm_machine *m = &f->machines[machine];
	uintptr_t number = hash_get(&f->tasks[machine], serial);
	const struct shade *shade = machine ? &of_guest : &of_host;
	char *task;

	if (number)
		return (uint32_t)(number - 1);
	task = vm_machine_task(m, serial);
	if (vm_machine_is_idle(m, serial))
		shade = &of_idle;
	number = add_name(f, states_own(f->states, label(machine ? m->name : "host", task)),
			  shade);
	free(task);
	hash_put(&f->tasks[machine], serial, number + 1);
	return (uint32_t)number;
}

static uint32_t name_of_state(struct filling *f, enum vcpu_state state)
{
	const struct shade shade = { colours[state], NULL };

	if (!f->state_names[state])
		f->state_names[state] = add_name(f, vcpu_state_name(state), &shade) + 1;
	return f->state_names[state] - 1;
}

/* Times of a machine as those of the host, CLOCK_BOOTTIME. */
static uint64_t host_ns(const struct filling *f, size_t machine, uint64_t ticks)
{
	const struct vm_cpu *c;

	for (; machine && f->via[machine]; machine = c->host) {
		c = f->via[machine];
		ticks = vm_to_host(f->machines[c->host].vcpus[c->vcpu], ticks);
	}
	return ktau_clock_boottime_ns(timeline_clock(f->machines->timeline), ticks);
}

/* Add an interval, or to the last one, which it continues. */
static void add(struct filling *f, size_t machine, struct span span, uint32_t name)
{
	struct states *s = f->states;
	struct states_interval *last = s->nr_intervals ? &s->intervals[s->nr_intervals - 1] : NULL;
	uint64_t from_ns = host_ns(f, machine, span.from), to_ns = host_ns(f, machine, span.to);
	bool follows = last && last->row == f->row && last->to_ns == from_ns;

	if (from_ns >= to_ns)
		return;
	if (follows && (last->name == name || to_ns - from_ns < f->least_ns)) {
		last->to_ns = to_ns;
		return;
	}
	if (s->nr_intervals == f->room) {
		f->room = f->room ? f->room * 2 : 256;
		s->intervals = cli_alloc(s->intervals, f->room, sizeof(*s->intervals));
	}
	s->intervals[s->nr_intervals++] = (struct states_interval){
		.from_ns = from_ns, .to_ns = to_ns, .row = f->row, .name = name,
	};
}

/* The tasks of a CPU in @span of its own machine. */
static void add_tasks(struct filling *f, size_t machine, size_t cpu, struct span span)
{
	const struct vm_cpu *c = &f->machines[machine].cpus[cpu];
	uint64_t from = span.from, to;
	size_t i = vm_cpu_run_after(c, from);

	for (; i < c->nr_runs && c->runs[i].from < span.to; i++) {
		if (c->runs[i].from > from)
			add(f, machine, (struct span){ from, c->runs[i].from },
			    name_of_state(f, VCPU_UNKNOWN));
		from = c->runs[i].from > from ? c->runs[i].from : from;
		to = c->runs[i].to < span.to ? c->runs[i].to : span.to;
		if (to <= from)
			continue;
		add(f, machine, (struct span){ from, to },
		    name_of_task(f, machine, c->runs[i].serial));
		from = to;
	}
	if (from < span.to)
		add(f, machine, (struct span){ from, span.to }, name_of_state(f, VCPU_UNKNOWN));
}

/* The guest of @v from @span of the thread's machine: its tasks. */
static void add_guest(struct filling *f, const struct vcpu *v, struct span span)
{
	add_tasks(f, v->machine, v->cpu,
		  (struct span){ vm_to_guest(v, span.from), vm_to_guest(v, span.to) });
}

/* The thread @v has the CPU in @span of @machine. */
static void add_thread(struct filling *f, size_t machine, const struct vcpu *v, struct span span)
{
	uint32_t name = name_of_task(f, machine, v->serial);
	uint64_t from = span.from, begin, end;
	size_t i = vcpu_interval_after(v, from);

	for (; i < v->nr_intervals && v->intervals[i].from < span.to; i++) {
		if (v->intervals[i].state != VCPU_GUEST)
			continue;
		begin = v->intervals[i].from > from ? v->intervals[i].from : from;
		end = vcpu_until(v, i) < span.to ? vcpu_until(v, i) : span.to;
		add(f, machine, (struct span){ from, begin }, name);
		add_guest(f, v, (struct span){ begin, end });
		from = end;
	}
	if (from < span.to)
		add(f, machine, (struct span){ from, span.to }, name);
}

static void add_host_cpu(struct filling *f, size_t cpu)
{
	const struct vm_cpu *c = &f->machines->cpus[cpu];
	const struct vm_run *run;
	const struct vcpu *v;

	for (run = c->runs; run < c->runs + c->nr_runs; run++) {
		v = vm_machine_vcpu(f->machines, run->serial);
		if (v && v->machine != SIZE_MAX)
			add_thread(f, 0, v, (struct span){ run->from, run->to });
		else
			add(f, 0, (struct span){ run->from, run->to },
			    name_of_task(f, 0, run->serial));
	}
}

static void add_guest_cpu(struct filling *f, const struct vm_cpu *c)
{
	const struct vcpu *v = f->machines[c->host].vcpus[c->vcpu];
	struct span span;
	size_t i;

	for (i = 0; i < v->nr_intervals; i++) {
		span = (struct span){ v->intervals[i].from, vcpu_until(v, i) };
		if (v->intervals[i].state == VCPU_GUEST)
			add_guest(f, v, span);
		else
			add(f, c->host, span, name_of_state(f, v->intervals[i].state));
	}
}

static const struct vm_cpu *find_matched(const struct vm_machine *m)
{
	const struct vm_cpu *c;

	for (c = m->cpus; c < m->cpus + m->nr_cpus; c++)
		if (c->host != SIZE_MAX)
			return c;
	return NULL;
}

static void begin_row(struct filling *f, const char *machine, size_t cpu)
{
	struct states *s = f->states;
	char number[32], *text;

	snprintf(number, sizeof(number), "cpu %zu", cpu);
	text = label(machine, number);
	s->rows = cli_alloc(s->rows, s->nr_rows + 1, sizeof(*s->rows));
	s->rows[s->nr_rows] = states_own(s, text);
	f->row = (uint32_t)s->nr_rows++;
}

void vm_rows(const struct vm_machine *machines, size_t nr, struct states *states)
{
	struct filling f = { .machines = machines, .states = states };
	size_t g, cpu;

	f.least_ns = vm_machine_ns(machines, machines->last - machines->first) / PARTS;
	f.tasks = cli_alloc(NULL, nr, sizeof(*f.tasks));
	memset(f.tasks, 0, nr * sizeof(*f.tasks));
	f.via = cli_alloc(NULL, nr, sizeof(*f.via));
	for (g = 0; g < nr; g++)
		f.via[g] = find_matched(&machines[g]);
	states->title = "virtual machines";
	for (cpu = 0; cpu < machines->nr_cpus; cpu++) {
		if (!machines->cpus[cpu].nr_runs)
			continue;
		begin_row(&f, "host", cpu);
		add_host_cpu(&f, cpu);
	}
	for (g = 1; g < nr; g++) {
		for (cpu = 0; cpu < machines[g].nr_cpus; cpu++) {
			if (machines[g].cpus[cpu].host == SIZE_MAX)
				continue;
			begin_row(&f, machines[g].name, cpu);
			add_guest_cpu(&f, &machines[g].cpus[cpu]);
		}
	}
	for (g = 0; g < nr; g++)
		hash_deinit(&f.tasks[g]);
	free(f.tasks);
	free(f.via);
}
