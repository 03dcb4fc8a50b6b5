// SPDX-License-Identifier: GPL-2.0-only
/* The switches of each CPU. */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "export_cpus.h"

enum { DEFAULT_PRIO = 120, DEAD = 16 };

/**
 * struct cpu - a CPU
 * @now: the task that runs according to the switches written so far; NULL if it is unknown
 * @waits: @next has yet to be written
 * @next: the next switch; its @next is NULL until the task shows itself
 * @described: the task that leaves has said why
 * @expected: serial of the task that gets the CPU; 0 if it is unknown
 */
struct cpu {
	const struct track *now;
	bool waits;
	struct cpu_switch next;
	bool described;
	uint64_t expected;
};

static struct cpu *cpu_of(struct cpus *cpus, uint32_t number)
{
	size_t nr = cpus->nr;

	if (number >= nr) {
		cpus->nr = 2 * (size_t)number + 16;
		cpus->list = cli_alloc(cpus->list, cpus->nr, sizeof(*cpus->list));
		memset(cpus->list + nr, 0, (cpus->nr - nr) * sizeof(*cpus->list));
	}
	return &cpus->list[number];
}

/* An exited task has no slot for its last switch, because its ring is closed before that. */
static bool has_exited(const struct track *track)
{
	return track && track->owner.kind == KTAU_OWNER_EXITED && !track->first;
}

/* Write the switch that waits: no other task can show itself at its time any more. */
static int settle(struct cpus *cpus, struct export_run *x, struct cpu *cpu)
{
	bool changes = cpu->waits && cpu->next.next != cpu->now;

	cpu->waits = false;
	cpu->next.prev = cpu->now;
	if (!changes)
		return 0;
	if (!cpu->described && has_exited(cpu->now)) {
		cpu->next.unknown = false;
		cpu->next.state = DEAD;
	}
	cpu->now = cpu->next.next;
	return cpus->put(x, &cpu->next);
}

static void await(struct cpu *cpu, uint32_t number, uint64_t ns)
{
	cpu->waits = true;
	cpu->described = false;
	cpu->expected = 0;
	cpu->next = (struct cpu_switch){
		.cpu = number, .ns = ns, .unknown = true,
		.prio = DEFAULT_PRIO, .next_prio = DEFAULT_PRIO,
	};
}

/*
 * The task of @e has a CPU. If another one has left it for this task, it has had it since then.
 * At the same time the other's switch may follow, and add the state in which it waits.
 */
static int take(struct cpus *cpus, struct export_run *x, struct cpu *cpu,
		const struct timeline_event *e)
{
	int err;

	if (!cpu->waits || (e->ns > cpu->next.ns && e->track->serial != cpu->expected)) {
		err = settle(cpus, x, cpu);
		if (err)
			return err;
		await(cpu, e->track->cpu, e->ns);
	}
	cpu->next.next = e->track;
	return 0;
}

static void describe(struct cpu *cpu, const struct timeline_event *e)
{
	struct ktau_slot_switch to;

	cpu->described = true;
	cpu->next.unknown = e->off == OFF_BY_LOSS;
	if (e->off == OFF_BY_EXIT)
		cpu->next.state = DEAD;
	if (!e->slot || !ktau_slot_switch(e->slot, &to))
		return;
	cpu->next.state = to.state;
	cpu->next.prio = to.prio;
	cpu->next.next_prio = to.next_prio;
	cpu->expected = to.next_serial;
}

/* The task of @e no longer has the CPU. */
static int leave(struct cpus *cpus, struct export_run *x, struct cpu *cpu,
		 const struct timeline_event *e)
{
	int err;

	if (cpu->waits && cpu->now == e->track && cpu->next.ns == e->ns) {
		describe(cpu, e);
		return 0;
	}
	err = settle(cpus, x, cpu);
	if (err || cpu->now != e->track)
		return err;
	await(cpu, e->track->cpu, e->ns);
	describe(cpu, e);
	return e->off == OFF_BY_SWITCH ? 0 : settle(cpus, x, cpu);
}

int cpus_event(struct cpus *cpus, struct export_run *x, const struct timeline_event *e)
{
	struct cpu *cpu = cpu_of(cpus, e->slot && e->type != TIMELINE_OFF ? e->slot->cpu :
									    e->track->cpu);

	if (e->type == TIMELINE_ON)
		return take(cpus, x, cpu, e);
	if (e->type == TIMELINE_OFF)
		return leave(cpus, x, cpu, e);
	return cpu->waits && e->ns > cpu->next.ns ? settle(cpus, x, cpu) : 0;
}

int cpus_finish(struct cpus *cpus, struct export_run *x)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < cpus->nr; i++)
		err = settle(cpus, x, &cpus->list[i]);
	free(cpus->list);
	cpus->list = NULL;
	cpus->nr = 0;
	return err;
}
