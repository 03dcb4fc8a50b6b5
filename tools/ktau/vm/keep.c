// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "analyse/records.h"
#include "lib/cli.h"
#include "cause.h"
#include "keep.h"
#include "match.h"
#include "rows.h"

/* Causes that a part of a path can name; number 0 is for those beyond that, and not known. */
enum { MAX_CAUSES = 65535 };

/**
 * struct keeping - the machines of some files
 * @machines: the machines; they do not move
 * @nr: their number
 * @room: allocated length
 * @current: that of the stream that is read, or NULL
 * @file: the file that is read
 * @steals: the result
 * @causes: numbers of causes
 * @v: the thread whose intervals are taken
 */
struct keeping {
	struct vm_machine *machines;
	size_t nr, room;
	struct vm_machine *current;
	const char *file;
	struct steals *steals;
	struct hash causes;
	const struct vcpu *v;
};

/* Reading */

static void choose_machine(struct keeping *k, const struct ktau_rec_stream *stream)
{
	struct steals_machine *m;
	size_t i;

	for (i = 0; i < k->nr; i++)
		if (!memcmp(k->steals->machines[i].boot.id, stream->boot_id,
			    sizeof(stream->boot_id)))
			break;
	k->current = i < k->room ? &k->machines[i] : NULL;
	if (i < k->nr || !k->current)
		return;
	vm_machine_init(k->current, k->file);
	m = &k->steals->machines[k->nr++];
	*m = (struct steals_machine){ .host = SIZE_MAX };
	memcpy(m->boot.id, stream->boot_id, sizeof(m->boot.id));
}

static int take_record(void *arg, const struct ktau_reader *reader,
		       const union ktau_record *record)
{
	struct keeping *k = arg;

	if (record->rec->type == KTAU_REC_STREAM)
		choose_machine(k, record->stream);
	return k->current ? vm_machine_take(k->current, reader, record) : 0;
}

/* Causes and steals */

static uint32_t find_cause(struct keeping *k, struct vm_who who)
{
	struct steals *s = k->steals;
	uint64_t key;
	uintptr_t place;

	if (who.machine == SIZE_MAX || !who.serial)
		return 0;
	key = hash_bytes(HASH_START, &who.machine, sizeof(who.machine));
	key = hash_bytes(key, &who.serial, sizeof(who.serial));
	for (; (place = hash_get(&k->causes, key)); key++)
		if (s->causes[place].machine == who.machine &&
		    s->causes[place].serial == who.serial)
			return (uint32_t)place;
	if (s->nr_causes > MAX_CAUSES)
		return 0;
	s->causes = cli_alloc(s->causes, s->nr_causes + 1, sizeof(*s->causes));
	s->causes[s->nr_causes] = (struct steals_cause){ who.machine, who.serial };
	hash_put(&k->causes, key, s->nr_causes);
	return (uint32_t)s->nr_causes++;
}

static uint64_t boottime(const struct vm_machine *m, uint64_t ticks)
{
	return ktau_clock_boottime_ns(timeline_clock(m->timeline), ticks);
}

static void take_interval(void *arg, const struct vm_interval *i)
{
	struct keeping *k = arg;
	const struct vm_machine *guest = &k->machines[i->victim.machine];
	struct steals_machine *m = &k->steals->machines[i->victim.machine];

	if (i->state != VCPU_PREEMPTED || !i->victim.serial || !k->v->nr_runs ||
	    vm_machine_is_idle(guest, i->victim.serial))
		return;
	if (m->nr == m->room) {
		m->room = m->room ? m->room * 2 : 64;
		m->all = cli_alloc(m->all, m->room, sizeof(*m->all));
	}
	m->all[m->nr++] = (struct steal){
		.serial = i->victim.serial,
		.from_ns = boottime(guest, vm_to_guest(k->v, i->from)),
		.to_ns = boottime(guest, vm_to_guest(k->v, i->to)),
		.cause = find_cause(k, i->cause),
	};
}

/* Guests */

static struct clock_line line_of(const struct vm_machine *guest, const struct vm_machine *host,
				 const struct vcpu *v)
{
	const struct guest_clock *c = &v->clocks[v->nr_clocks - 1];
	struct clock_line line = {
		.x_ns = boottime(guest, guest->first),
		.y_ns = boottime(host, guest_clock_to_host(c, guest->first)),
	};
	double x = (double)(boottime(guest, guest->last) - line.x_ns);
	double y = (double)(boottime(host, guest_clock_to_host(c, guest->last)) - line.y_ns);

	line.drift = x > 0 ? y / x - 1 : 0;
	return line;
}

static int by_task(const void *a, const void *b)
{
	const struct steal *x = a, *y = b;

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int keep_cpu(struct keeping *k, size_t guest, size_t cpu)
{
	const struct vm_cpu *c = &k->machines[guest].cpus[cpu];
	struct vm_analysis a = {
		.machines = k->machines, .nr_machines = k->nr, .take = take_interval, .arg = k,
	};
	struct steals_machine *m = &k->steals->machines[guest];
	struct vm_account account;
	bool exact;

	if (c->host == SIZE_MAX)
		return CLI_DONE;
	k->v = k->machines[c->host].vcpus[c->vcpu];
	m->host = c->host;
	m->line = line_of(&k->machines[guest], &k->machines[c->host], k->v);
	m->band_ns = k->v->band_ns > m->band_ns ? k->v->band_ns : m->band_ns;
	m->slots += vm_share_of(c, k->v, UINT64_MAX).inside;
	exact = vm_account(&a, guest, (uint32_t)cpu, &account);
	vm_analysis_deinit(&a);
	if (exact)
		return CLI_DONE;
	complain("%s: internal error: the states of CPU %zu do not add up",
		 k->machines[guest].file, cpu);
	return CLI_FAILED;
}

static int keep_all(struct keeping *k)
{
	struct steals_machine *m;
	int status = CLI_DONE;
	size_t g, cpu;

	vm_match_known(k->machines, k->nr);
	for (g = 0; g < k->nr && !status; g++) {
		for (cpu = 0; cpu < k->machines[g].nr_cpus && !status; cpu++)
			status = keep_cpu(k, g, cpu);
		m = &k->steals->machines[g];
		m->gave_up = k->machines[g].gave_up;
		if (m->nr)
			qsort(m->all, m->nr, sizeof(*m->all), by_task);
	}
	return status;
}

int vm_keep_states(struct shared_options *in, struct states *states)
{
	size_t nr = (size_t)in->nr_files, read = 0, i;
	struct vm_machine *machines = cli_alloc(NULL, nr, sizeof(*machines));
	int status = CLI_DONE;

	for (; read < nr && !status; read++)
		status = vm_machine_read(&machines[read], in->files[read]);
	if (!status)
		status = vm_match(machines, nr);
	if (!status)
		vm_rows(machines, nr, states);
	for (i = 0; i < read; i++)
		vm_machine_deinit(&machines[i]);
	free(machines);
	in->nr_files = 1;
	return status;
}

int vm_keep_steals(const struct shared_options *in, size_t nr, struct steals *steals)
{
	struct keeping k = { .room = nr, .steals = steals };
	int status = CLI_DONE, i;
	size_t m;

	k.machines = cli_alloc(NULL, nr, sizeof(*k.machines));
	steals->machines = cli_alloc(NULL, nr, sizeof(*steals->machines));
	steals->causes = cli_alloc(NULL, 1, sizeof(*steals->causes));
	steals->causes[steals->nr_causes++] = (struct steals_cause){ 0 };
	for (i = 0; i < in->nr_files; i++) {
		k.file = in->files[i];
		k.current = NULL;
		status |= records_read(in->files[i], true, take_record, &k);
	}
	for (m = 0; m < k.nr; m++)
		status |= vm_machine_finish(&k.machines[m]);
	steals->nr = k.nr;
	status |= keep_all(&k);
	for (m = 0; m < k.nr; m++)
		vm_machine_deinit(&k.machines[m]);
	free(k.machines);
	hash_deinit(&k.causes);
	return status;
}
