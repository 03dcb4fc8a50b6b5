// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "cause.h"
#include "match.h"

static const struct vm_who nobody = { SIZE_MAX, 0, 0 };

static bool is_same(struct vm_who a, struct vm_who b)
{
	return a.machine == b.machine && a.serial == b.serial && a.cpu == b.cpu;
}

/* [from, to), of a machine's clock */
struct span {
	uint64_t from, to;
};

/* Causes of one preemption */

struct part {
	struct vm_who who;
	uint64_t ticks;
};

/**
 * struct parts - who had the CPU during a preemption
 * @parts: sums, in order of their first time
 * @by_who: index plus 1 of the parts beyond the first few, which most preemptions do not have
 */
struct parts {
	struct part *parts;
	size_t nr, room;
	struct hash by_who;
};

enum { FEW_PARTS = 16 };

static uint64_t key_of_who(uint64_t key, struct vm_who who)
{
	key = hash_bytes(key, &who.machine, sizeof(who.machine));
	key = hash_bytes(key, &who.serial, sizeof(who.serial));
	return hash_bytes(key, &who.cpu, sizeof(who.cpu));
}

static struct part *new_part(struct parts *p, struct vm_who who)
{
	if (p->nr == p->room) {
		p->room = p->room ? p->room * 2 : FEW_PARTS;
		p->parts = cli_alloc(p->parts, p->room, sizeof(*p->parts));
	}
	p->parts[p->nr++] = (struct part){ who, 0 };
	return &p->parts[p->nr - 1];
}

static struct part *find_part(struct parts *p, struct vm_who who)
{
	struct part *part;
	uintptr_t place;
	uint64_t key;

	for (part = p->parts; part < p->parts + p->nr && part < p->parts + FEW_PARTS; part++)
		if (is_same(part->who, who))
			return part;
	if (p->nr < FEW_PARTS)
		return new_part(p, who);
	/* The next keys are for others with the same hash. */
	for (key = key_of_who(HASH_START, who); (place = hash_get(&p->by_who, key)); key++)
		if (is_same(p->parts[place - 1].who, who))
			return &p->parts[place - 1];
	part = new_part(p, who);
	hash_put(&p->by_who, key, p->nr);
	return part;
}

static void add_part(struct parts *p, struct vm_who who, uint64_t ticks)
{
	if (ticks)
		find_part(p, who)->ticks += ticks;
}

static void free_parts(struct parts *p)
{
	free(p->parts);
	hash_deinit(&p->by_who);
}

static void add_cpu(const struct vm_analysis *a, struct parts *p, size_t machine, uint32_t cpu,
		    struct span span);

/* @ticks of @sum as a part of @whole: the ticks of a guest may be shorter or longer. */
static uint64_t scaled(uint64_t ticks, uint64_t sum, uint64_t whole)
{
	return sum == whole ? ticks : (uint64_t)((double)whole * ((double)ticks / (double)sum));
}

/* What the CPU of a guest did while thread @v was in the guest: @span of the thread's host. */
static void add_guest(const struct vm_analysis *a, struct parts *p, const struct vcpu *v,
		      struct span span)
{
	const struct vm_machine *guest = &a->machines[v->machine];
	uint64_t whole = span.to - span.from, sum = 0;
	struct parts inner = { 0 };
	size_t i;

	add_cpu(a, &inner, v->machine, v->cpu,
		(struct span){ vm_to_guest(v, span.from), vm_to_guest(v, span.to) });
	for (i = 0; i < inner.nr; i++)
		sum += inner.parts[i].ticks;
	for (i = 0; i < inner.nr; i++)
		add_part(p, inner.parts[i].who, scaled(inner.parts[i].ticks, sum, whole));
	if (!sum)
		add_part(p, (struct vm_who){ (size_t)(guest - a->machines), 0, v->cpu }, whole);
	free_parts(&inner);
}

/* Add what thread @who did, which runs the virtual CPU @v. */
static void add_thread(const struct vm_analysis *a, struct parts *p, struct vm_who who,
		       const struct vcpu *v, struct span span)
{
	uint64_t from = span.from, until;
	size_t i;

	for (i = vcpu_interval_after(v, from);
	     i < v->nr_intervals && v->intervals[i].from < span.to; i++) {
		if (v->intervals[i].from > from) {
			add_part(p, who, v->intervals[i].from - from);
			from = v->intervals[i].from;
		}
		until = vcpu_until(v, i) < span.to ? vcpu_until(v, i) : span.to;
		if (v->intervals[i].state == VCPU_GUEST)
			add_guest(a, p, v, (struct span){ from, until });
		else
			add_part(p, who, until - from);
		from = until;
	}
	add_part(p, who, span.to - from);
}

static void add_run(const struct vm_analysis *a, struct parts *p, struct vm_who who,
		    struct span span)
{
	const struct vcpu *v = vm_machine_vcpu(&a->machines[who.machine], who.serial);

	if (v && v->machine != SIZE_MAX)
		add_thread(a, p, who, v, span);
	else
		add_part(p, who, span.to - span.from);
}

/* Who had @cpu of @machine in @span. */
static void add_cpu(const struct vm_analysis *a, struct parts *p, size_t machine, uint32_t cpu,
		    struct span span)
{
	const struct vm_machine *m = &a->machines[machine];
	const struct vm_cpu *c = cpu < m->nr_cpus ? &m->cpus[cpu] : NULL;
	struct vm_who unknown = { machine, 0, cpu };
	uint64_t from = span.from, end;
	const struct vm_run *run;
	size_t i;

	for (i = c ? vm_cpu_run_after(c, from) : 0; c && i < c->nr_runs && from < span.to; i++) {
		run = &c->runs[i];
		if (run->from >= span.to)
			break;
		if (run->from > from) {
			add_part(p, unknown, run->from - from);
			from = run->from;
		}
		end = run->to < span.to ? run->to : span.to;
		if (end <= from)
			continue;
		add_run(a, p, (struct vm_who){ machine, run->serial, machine ? cpu : 0 },
			(struct span){ from, end });
		from = end;
	}
	if (from < span.to)
		add_part(p, unknown, span.to - from);
}

/* Sums */

static uint64_t key_of(struct vm_who victim, struct vm_who cause)
{
	return key_of_who(key_of_who(HASH_START, victim), cause);
}

/* The pair; the next keys are for others with the same hash. */
static struct vm_pair *find_pair(struct vm_analysis *a, struct vm_who victim, struct vm_who cause)
{
	uint64_t key = key_of(victim, cause);
	struct vm_pair *pair;
	size_t place;

	while ((place = hash_get(&a->by_key, key))) {
		pair = &a->pairs[place - 1];
		if (is_same(pair->victim, victim) && is_same(pair->cause, cause))
			return pair;
		key++;
	}
	if (a->nr_pairs == a->pairs_room) {
		a->pairs_room = a->pairs_room ? a->pairs_room * 2 : 64;
		a->pairs = cli_alloc(a->pairs, a->pairs_room, sizeof(*a->pairs));
	}
	pair = &a->pairs[a->nr_pairs++];
	*pair = (struct vm_pair){ .victim = victim, .cause = cause };
	hash_put(&a->by_key, key, a->nr_pairs);
	return pair;
}

/* Where a thread waits for a CPU: a machine, its CPU, and a time there. */
struct place {
	size_t machine;
	uint32_t cpu;
	struct span span;
};

/* Add a preemption to the pairs. Return: who ran longest. */
static struct vm_who add_preemption(struct vm_analysis *a, struct vm_who victim,
				    const struct place *place)
{
	struct vm_who cause = nobody;
	struct parts p = { 0 };
	struct vm_pair *pair;
	uint64_t most = 0;
	size_t i;

	add_cpu(a, &p, place->machine, place->cpu, place->span);
	for (i = 0; i < p.nr; i++) {
		pair = find_pair(a, victim, p.parts[i].who);
		pair->host = place->machine;
		pair->ticks += p.parts[i].ticks;
		pair->times++;
		if (p.parts[i].ticks > pair->longest)
			pair->longest = p.parts[i].ticks;
		if (p.parts[i].ticks > most) {
			most = p.parts[i].ticks;
			cause = p.parts[i].who;
		}
	}
	free_parts(&p);
	return cause;
}

/* Accounts */

/* The guest's task; it is the same during the whole time outside of the guest. */
static struct vm_who victim_at(const struct vm_machine *guest, size_t index, uint32_t cpu,
			       const struct vcpu *v, uint64_t host)
{
	const struct vm_run *run = NULL;

	if (v->nr_clocks)
		run = vm_machine_run_at(guest, cpu, vm_to_guest(v, host));
	return (struct vm_who){ index, run ? run->serial : 0, 0 };
}

static bool is_wanted(const struct vm_analysis *a, struct vm_who victim)
{
	const struct ktau_rec_owner *o;
	char number[16];

	if (!a->task)
		return true;
	o = timeline_owner(a->machines[victim.machine].timeline, victim.serial);
	if (!o)
		return false;
	snprintf(number, sizeof(number), "%d", o->tid);
	return !strcmp(number, a->task) || !strncmp(o->comm, a->task, sizeof(o->comm));
}

bool vm_has_task(const struct vm_analysis *a)
{
	const struct track *track;
	uint32_t i;
	size_t k;

	for (i = 0; i < a->nr_machines; i++)
		for (k = 0; (track = timeline_track_at(a->machines[i].timeline, k)); k++)
			if (is_wanted(a, (struct vm_who){ i, track->serial, 0 }))
				return true;
	return false;
}

/* An idle guest loses nothing. */
static bool is_victim(const struct vm_analysis *a, struct vm_who who)
{
	return !vm_machine_is_idle(&a->machines[who.machine], who.serial) && is_wanted(a, who);
}

/**
 * struct accounting - the account of a CPU of a guest that is being made
 * @a: what all accounts have in common
 * @account: the account
 * @host: index of the machine that has the thread
 * @v: the thread
 */
struct accounting {
	struct vm_analysis *a;
	struct vm_account *account;
	size_t host;
	const struct vcpu *v;
};

/* Take an interval; if it is PREEMPTED, the thread waited at @place. */
static void take_interval(const struct accounting *x, struct vm_interval interval,
			  const struct place *place)
{
	struct vm_account *account = x->account;
	const struct vcpu *v = x->v;
	uint64_t ticks = interval.to - interval.from;

	if (!ticks)
		return;
	interval.victim = victim_at(&x->a->machines[v->machine], v->machine, v->cpu, v,
				    interval.from);
	if (interval.state == VCPU_PREEMPTED && is_victim(x->a, interval.victim))
		interval.cause = add_preemption(x->a, interval.victim, place);
	if (x->a->take && is_wanted(x->a, interval.victim))
		x->a->take(x->a->arg, &interval);
	account->states[interval.state] += ticks;
	if (interval.state == VCPU_PREEMPTED && ticks > account->longest)
		account->longest = ticks;
}

/*
 * Take an interval in the guest, while the thread had a CPU of a machine that is a guest itself.
 * When the thread that runs this CPU was preempted, so was the guest inside.
 */
static void take_inner(const struct accounting *x, struct vm_interval interval,
		       const struct vm_cpu *cpu)
{
	const struct vcpu *outer = x->a->machines[cpu->host].vcpus[cpu->vcpu];
	size_t i = vcpu_interval_after(outer, vm_to_host(outer, interval.from));
	struct vm_interval part = interval;
	struct place place = { .machine = cpu->host };

	for (; i < outer->nr_intervals; i++) {
		if (vm_to_guest(outer, outer->intervals[i].from) >= interval.to)
			break;
		if (outer->intervals[i].state != VCPU_PREEMPTED)
			continue;
		place.cpu = outer->intervals[i].cpu;
		place.span = (struct span){ outer->intervals[i].from, vcpu_until(outer, i) };
		part.to = vm_to_guest(outer, place.span.from);
		if (part.to > part.from)
			take_interval(x, part, &place);
		else
			part.to = part.from;
		part.from = part.to;
		part.to = vm_to_guest(outer, place.span.to);
		if (part.to > interval.to)
			part.to = interval.to;
		if (part.to < part.from)	/* the clock was set back */
			part.to = part.from;
		part.state = VCPU_PREEMPTED;
		take_interval(x, part, &place);
		part.from = part.to;
		part.state = interval.state;
	}
	part.to = interval.to;
	take_interval(x, part, &place);
}

/* Take an interval of the thread, which was on @cpu or waited for it. */
static void take_any(const struct accounting *x, const struct vm_interval *interval, uint32_t cpu)
{
	const struct vm_machine *host = &x->a->machines[x->host];
	const struct place place = { x->host, cpu, { interval->from, interval->to } };

	if (interval->state == VCPU_GUEST && cpu < host->nr_cpus &&
	    host->cpus[cpu].host != SIZE_MAX)
		take_inner(x, *interval, &host->cpus[cpu]);
	else
		take_interval(x, *interval, &place);
}

/* The time that both recordings have. */
static void choose_time(struct vm_account *account, const struct vm_machine *guest,
			const struct vm_machine *host, const struct vcpu *v)
{
	uint64_t first = vm_to_host(v, guest->first), last = vm_to_host(v, guest->last);

	account->from = first > host->first ? first : host->first;
	account->to = last < host->last ? last : host->last;
	if (account->to < account->from)
		account->to = account->from;
}

bool vm_account(struct vm_analysis *a, size_t guest, uint32_t cpu, struct vm_account *account)
{
	const struct vm_cpu *c = &a->machines[guest].cpus[cpu];
	const struct vm_machine *host = &a->machines[c->host];
	const struct vcpu *v = host->vcpus[c->vcpu];
	const struct accounting x = { a, account, c->host, v };
	struct vm_interval interval = { .cause = nobody };
	uint64_t at, sum = 0;
	size_t i;

	memset(account, 0, sizeof(*account));
	choose_time(account, &a->machines[guest], host, v);
	at = account->from;
	for (i = 0; i < v->nr_intervals && at < account->to; i++) {
		interval = (struct vm_interval){
			.from = v->intervals[i].from, .to = vcpu_until(v, i),
			.state = v->intervals[i].state, .reason = v->intervals[i].reason,
			.cause = nobody,
		};
		if (interval.to <= at)
			continue;
		if (interval.from > at) {
			account->states[VCPU_UNKNOWN] += interval.from - at;
			at = interval.from;
		}
		interval.from = at;
		if (interval.to > account->to)
			interval.to = account->to;
		if (interval.from >= interval.to)
			break;
		take_any(&x, &interval, v->intervals[i].cpu);
		at = interval.to;
	}
	account->states[VCPU_UNKNOWN] += account->to - at;
	for (i = 0; i < VCPU_STATES; i++)
		sum += account->states[i];
	return sum == account->to - account->from;
}

static int by_ticks(const void *a, const void *b)
{
	const struct vm_pair *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? 1 : -1;
	return (x->victim.serial > y->victim.serial) - (x->victim.serial < y->victim.serial);
}

void vm_sort(struct vm_analysis *a)
{
	if (a->nr_pairs)
		qsort(a->pairs, a->nr_pairs, sizeof(*a->pairs), by_ticks);
}

void vm_analysis_deinit(struct vm_analysis *a)
{
	free(a->pairs);
	hash_deinit(&a->by_key);
}
