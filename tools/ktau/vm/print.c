// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/text.h"
#include "match.h"
#include "print.h"

/* The cells */

/* Keep @text, which is allocated, until the end. */
static const char *keep(struct vm_print *p, char *text)
{
	if (!text) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	if (p->nr_texts == p->texts_room) {
		p->texts_room = p->texts_room ? p->texts_room * 2 : 64;
		p->texts = cli_alloc(p->texts, p->texts_room, sizeof(char *));
	}
	return p->texts[p->nr_texts++] = text;
}

static const char *cell(struct vm_print *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *cell(struct vm_print *p, const char *format, ...)
{
	va_list args;
	char *made;

	va_start(args, format);
	if (vasprintf(&made, format, args) < 0)
		made = NULL;
	va_end(args);
	return keep(p, made);
}

static const char *make_text(struct vm_print *p, struct vm_who who, bool is_cause)
{
	const struct vm_machine *m = &p->analysis->machines[who.machine];
	const char *machine = who.machine ? m->name : "host", *text;
	char *task = who.serial ? vm_machine_task(m, who.serial) : NULL;

	if (is_cause && who.machine)
		text = cell(p, "%s %s (CPU %" PRIu32 ")", machine, task ? task : "?", who.cpu);
	else
		text = cell(p, "%s %s", machine, task ? task : "?");
	free(task);
	return text;
}

static const char *find_text(struct vm_print *p, struct vm_who who, bool is_cause)
{
	uint64_t key = hash_bytes(HASH_START + is_cause, &who.serial, sizeof(who.serial));
	struct vm_text *t;
	uintptr_t place;

	if (who.machine == SIZE_MAX)
		return "";
	key = hash_bytes(key, &who.machine, sizeof(who.machine));
	key = hash_bytes(key, &who.cpu, sizeof(who.cpu));
	for (; (place = hash_get(&p->by_who, key)); key++) {
		t = &p->named[place - 1];
		if (t->is_cause == is_cause && t->who.machine == who.machine &&
		    t->who.serial == who.serial && t->who.cpu == who.cpu)
			return t->text;
	}
	if (p->nr_named == p->named_room) {
		p->named_room = p->named_room ? p->named_room * 2 : 64;
		p->named = cli_alloc(p->named, p->named_room, sizeof(*p->named));
	}
	t = &p->named[p->nr_named++];
	*t = (struct vm_text){ who, is_cause, make_text(p, who, is_cause) };
	hash_put(&p->by_who, key, p->nr_named);
	return t->text;
}

/* "guest1 task/17", or "host task/17" on the host */
static const char *who_text(struct vm_print *p, struct vm_who who)
{
	return find_text(p, who, false);
}

/* The same with the CPU, if it is one of a guest */
static const char *cause_text(struct vm_print *p, struct vm_who who)
{
	return find_text(p, who, true);
}

static const char *reason_text(struct vm_print *p, uint32_t reason)
{
	const char *text = (const char *)hash_get(&p->by_reason, reason);

	if (text)
		return text;
	text = cell(p, "exit %#" PRIx32, reason);
	hash_put(&p->by_reason, reason, (uintptr_t)text);
	return text;
}

/* Matches */

static void print_clock(const struct vcpu *v)
{
	const struct guest_clock *c = &v->clocks[v->nr_clocks - 1];

	if (v->nr_clocks > 1)
		printf("%zu clocks, the last with ", v->nr_clocks);
	printf("offset %" PRId64 " ticks, ", (int64_t)c->offset);
	if (c->ratio != 1ULL << c->frac_bits)
		printf("ratio %.9g, ", (double)c->ratio / (double)(1ULL << c->frac_bits));
	printf("exact: ");
}

static void print_cpu(const struct vm_machine *machines, size_t guest, size_t cpu)
{
	const struct vm_machine *g = &machines[guest];
	const struct vm_machine *h = &machines[g->cpus[cpu].host];
	const struct vcpu *v = h->vcpus[g->cpus[cpu].vcpu];
	const struct ktau_rec_owner *o = timeline_owner(h->timeline, v->serial);
	struct vm_share s = vm_share_of(&g->cpus[cpu], v, UINT64_MAX);
	char *process = vm_machine_task(h, o && o->leader_serial ? o->leader_serial : v->serial);
	char *thread = vm_machine_task(h, v->serial);

	print_escaped(g->name, stdout);
	printf(" CPU %zu = virtual CPU %" PRIu32 " of ", cpu, v->number);
	print_escaped(process, stdout);
	if (h != machines) {
		fputs(" in ", stdout);
		print_escaped(h->name, stdout);
	}
	fputs(", thread ", stdout);
	print_escaped(thread, stdout);
	fputs(" (", stdout);
	if (v->band_ns > 0)
		printf("clock within %.3f us, by search: ", v->band_ns / 1000);
	else
		print_clock(v);
	printf("%" PRIu64 " of %" PRIu64 " slots in guest mode)\n", s.inside,
	       s.inside + s.outside);
	if (v->lost)
		printf("  %" PRIu64 " slots of the thread were lost\n", v->lost);
	free(process);
	free(thread);
}

void vm_print_match(const struct vm_print *p)
{
	const struct vm_machine *m = p->analysis->machines;
	size_t g, cpu;

	for (g = 1; g < p->analysis->nr_machines; g++)
		for (cpu = 0; cpu < m[g].nr_cpus; cpu++)
			if (m[g].cpus[cpu].host != SIZE_MAX)
				print_cpu(m, g, cpu);
	for (g = 0; g < p->analysis->nr_machines; g++)
		if (!timeline_clock(m[g].timeline)->stable)
			printf("the counter of %s is not stable: times may drift\n", m[g].name);
}

/* Tables */

enum { S_CPU, S_NS, S_GUEST, S_VMM, S_PREEMPTED, S_IDLE, S_POLLING, S_UNKNOWN, S_LONGEST, S_NR };

static const struct column state_columns[S_NR] = {
	[S_CPU] = { "cpu", "GUEST/CPU", COLUMN_TEXT },
	[S_NS] = { "time_ns", "MS", COLUMN_NS },
	[S_GUEST] = { "in_guest_ns", "IN GUEST", COLUMN_NS },
	[S_VMM] = { "vmm_ns", "VMM", COLUMN_NS },
	[S_PREEMPTED] = { "preempted_ns", "PREEMPTED", COLUMN_NS },
	[S_IDLE] = { "idle_ns", "IDLE", COLUMN_NS },
	[S_POLLING] = { "polling_ns", "POLLING", COLUMN_NS },
	[S_UNKNOWN] = { "unknown_ns", "?", COLUMN_NS },
	[S_LONGEST] = { "longest_ns", "LONGEST", COLUMN_NS },
};

enum { P_VICTIM, P_CAUSE, P_NS, P_TIMES, P_LONGEST, P_NR };

static const struct column pair_columns[P_NR] = {
	[P_VICTIM] = { "victim", "VICTIM", COLUMN_TEXT },
	[P_CAUSE] = { "preempted_by", "PREEMPTED BY", COLUMN_TEXT },
	[P_NS] = { "time_ns", "MS", COLUMN_NS },
	[P_TIMES] = { "times", "TIMES", COLUMN_NUMBER },
	[P_LONGEST] = { "longest_ns", "LONGEST", COLUMN_NS },
};

enum { I_FROM, I_TO, I_NS, I_VICTIM, I_STATE, I_CAUSE, I_NR };

static const struct column interval_columns[I_NR] = {
	[I_FROM] = { "from_ns", "FROM MS", COLUMN_NS },
	[I_TO] = { "to_ns", NULL, COLUMN_NS },
	[I_NS] = { "time_ns", "MS", COLUMN_NS },
	[I_VICTIM] = { "victim", "VICTIM", COLUMN_TEXT },
	[I_STATE] = { "state", "STATE", COLUMN_TEXT },
	[I_CAUSE] = { "cause", "CAUSE", COLUMN_TEXT },
};

static void add_states(struct vm_print *p, struct table *t, const struct vm_machine *guest,
		       size_t cpu, const struct vm_account *account)
{
	static const int cells[VCPU_STATES] = {
		[VCPU_GUEST] = S_GUEST, [VCPU_VMM] = S_VMM, [VCPU_PREEMPTED] = S_PREEMPTED,
		[VCPU_IDLE] = S_IDLE, [VCPU_POLLING] = S_POLLING, [VCPU_UNKNOWN] = S_UNKNOWN,
	};
	const struct vm_machine *host = &p->analysis->machines[guest->cpus[cpu].host];
	union cell *row = table_row(t);
	size_t i;

	row[S_CPU].text = cell(p, "%s/cpu%zu", guest->name, cpu);
	row[S_NS].number = vm_machine_ns(host, account->to - account->from);
	for (i = 0; i < VCPU_STATES; i++)
		row[cells[i]].number = vm_machine_ns(host, account->states[i]);
	row[S_LONGEST].number = vm_machine_ns(host, account->longest);
}

static void add_pairs(struct vm_print *p, struct table *t)
{
	const struct vm_analysis *a = p->analysis;
	const struct vm_machine *host;
	const struct vm_pair *pair;
	union cell *row;
	size_t i;

	for (i = 0; i < a->nr_pairs && (!p->top || i < p->top); i++) {
		pair = &a->pairs[i];
		host = &a->machines[pair->host];
		row = table_row(t);
		row[P_VICTIM].text = who_text(p, pair->victim);
		row[P_CAUSE].text = cause_text(p, pair->cause);
		row[P_NS].number = vm_machine_ns(host, pair->ticks);
		row[P_TIMES].number = pair->times;
		row[P_LONGEST].number = vm_machine_ns(host, pair->longest);
	}
}

/* The table of intervals that vm_account() fills. */
struct filling {
	struct vm_print *p;
	const struct vm_machine *host;
	struct table *t;
};

static void take_interval(void *arg, const struct vm_interval *i)
{
	struct filling *f = arg;
	uint64_t ns = vm_machine_ns(f->host, i->to - i->from);
	union cell *row;

	if (i->state == VCPU_GUEST || ns < f->p->least_ns)
		return;
	row = table_row(f->t);
	row[I_FROM].number = vm_machine_ns(f->host, i->from - f->host->first);
	row[I_TO].number = vm_machine_ns(f->host, i->to - f->host->first);
	row[I_NS].number = ns;
	row[I_VICTIM].text = who_text(f->p, i->victim);
	row[I_STATE].text = vcpu_state_name(i->state);
	row[I_CAUSE].text = i->state == VCPU_PREEMPTED ? cause_text(f->p, i->cause) :
			    i->state == VCPU_VMM ? reason_text(f->p, i->reason) : "";
}

static void print_tables(const struct vm_print *p, const struct table *states,
			 const struct table *pairs)
{
	switch (p->format) {
	case FORMAT_TEXT:
		table_print(states, FORMAT_TEXT, stdout);
		if (pairs->nr_rows)
			putchar('\n');
		if (pairs->nr_rows)
			table_print(pairs, FORMAT_TEXT, stdout);
		return;
	case FORMAT_CSV:
		table_csv_name(states, stdout);
		table_csv(states, stdout);
		putchar('\n');
		table_csv_name(pairs, stdout);
		table_csv(pairs, stdout);
		return;
	case FORMAT_JSON:
		putchar('{');
		table_json(states, stdout);
		fputs(",\n", stdout);
		table_json(pairs, stdout);
		fputs("}\n", stdout);
		return;
	}
}

static int account_all(struct vm_print *p, struct table *states, struct filling *f)
{
	const struct vm_machine *m = p->analysis->machines;
	struct vm_account account;
	size_t g, cpu;

	for (g = 1; g < p->analysis->nr_machines; g++) {
		for (cpu = 0; cpu < m[g].nr_cpus; cpu++) {
			if (m[g].cpus[cpu].host == SIZE_MAX)
				continue;
			f->host = &m[m[g].cpus[cpu].host];
			if (!vm_account(p->analysis, g, (uint32_t)cpu, &account)) {
				complain("%s: internal error: the states of CPU %zu do not add up",
					 m[g].file, cpu);
				return CLI_FAILED;
			}
			add_states(p, states, &m[g], cpu, &account);
		}
	}
	return CLI_DONE;
}

int vm_print_accounts(struct vm_print *p)
{
	struct table states, pairs, intervals;
	struct filling f = { .p = p, .t = &intervals };
	int status;
	size_t i;

	table_init(&states, "states", state_columns, S_NR);
	table_init(&pairs, "preemptions", pair_columns, P_NR);
	table_init(&intervals, "intervals", interval_columns, I_NR);
	states.width = pairs.width = intervals.width = table_width(stdout);
	if (p->intervals) {
		p->analysis->take = take_interval;
		p->analysis->arg = &f;
	}
	status = account_all(p, &states, &f);
	vm_sort(p->analysis);
	add_pairs(p, &pairs);
	if (!status && p->intervals)
		table_print(&intervals, p->format, stdout);
	else if (!status)
		print_tables(p, &states, &pairs);
	table_deinit(&states);
	table_deinit(&pairs);
	table_deinit(&intervals);
	for (i = 0; i < p->nr_texts; i++)
		free(p->texts[i]);
	free(p->texts);
	free(p->named);
	hash_deinit(&p->by_who);
	hash_deinit(&p->by_reason);
	return status;
}
