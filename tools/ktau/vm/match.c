// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "lib/text.h"
#include "match.h"
#include "search.h"

/* Clocks */

static uint64_t to_guest(const struct vcpu *v, const struct vcpu_run *run, uint64_t host)
{
	return guest_clock_to_guest(&v->clocks[run->clock], host);
}

static bool has_begun(const void *runs, size_t i, const void *host)
{
	return ((const struct vcpu_run *)runs)[i].enter <= *(const uint64_t *)host;
}

/* The last run that begins at @host or before; the first one if none does. */
static const struct vcpu_run *run_at(const struct vcpu *v, uint64_t host)
{
	size_t i = bisect(v->runs, v->nr_runs, &host, has_begun);

	return &v->runs[i ? i - 1 : 0];
}

uint64_t vm_to_guest(const struct vcpu *v, uint64_t host)
{
	return to_guest(v, run_at(v, host), host);
}

static bool is_used(const void *begins, size_t i, const void *guest)
{
	return ((const uint64_t *)begins)[i] <= *(const uint64_t *)guest;
}

const struct guest_clock *vm_clock_at(const struct vcpu *v, uint64_t guest)
{
	enum { TRIES = 16 };
	size_t last = bisect(v->begins, v->nr_clocks, &guest, is_used), i = last, left = TRIES;

	/* If the counter was set back, an earlier clock may have had this time as well. */
	while (i && left--) {
		i--;
		if (run_at(v, guest_clock_to_host(&v->clocks[i], guest))->clock == i)
			return &v->clocks[i];
	}
	return i ? &v->clocks[last - 1] : v->clocks;
}

uint64_t vm_to_host(const struct vcpu *v, uint64_t guest)
{
	return guest_clock_to_host(vm_clock_at(v, guest), guest);
}

/* Shares */

static bool is_earlier(const void *slots, size_t i, const void *ticks)
{
	return ((const uint64_t *)slots)[i] < *(const uint64_t *)ticks;
}

/* The first slot that is not before @ticks. */
static size_t first_slot(const struct vm_cpu *cpu, uint64_t ticks)
{
	return bisect(cpu->slots, cpu->nr_slots, &ticks, is_earlier);
}

/* Add the slots from *slot to the end of @run; between it and the run before they are outside. */
static void add_run(struct vm_share *share, const struct vm_cpu *cpu, const struct vcpu *v,
		    const struct vcpu_run *run, size_t *slot)
{
	uint64_t enter = to_guest(v, run, run->enter), exit = to_guest(v, run, run->exit);

	for (; *slot < cpu->nr_slots && cpu->slots[*slot] < enter; ++*slot)
		share->outside += !run->after_gap;
	for (; *slot < cpu->nr_slots && cpu->slots[*slot] <= exit; ++*slot)
		share->inside++;
}

struct vm_share vm_share_of(const struct vm_cpu *cpu, const struct vcpu *v, uint64_t enough)
{
	const size_t most = 4 * cpu->nr_slots;
	struct vm_share share = { 0 };
	size_t run, slot = 0;

	if (!v->nr_clocks)
		return share;
	/* A clock that is set back may count slots once more. Any number of clocks must not. */
	for (run = 0; run < v->nr_runs && share.outside <= enough; run++) {
		if (share.inside + share.outside > most)
			break;
		if (!run || v->runs[run].clock != v->runs[run - 1].clock)
			slot = first_slot(cpu, to_guest(v, &v->runs[run], v->runs[run].enter));
		add_run(&share, cpu, v, &v->runs[run], &slot);
	}
	if (share.inside + share.outside > most)
		share.outside += share.inside;
	return share;
}

/* Decisions */

/* One part in a thousand: so much of each wrong pair must be outside. */
enum { WRONG_PART = 1000 };

static double percent(struct vm_share s)
{
	uint64_t all = s.inside + s.outside;

	return all ? 100.0 * (double)s.inside / (double)all : 0;
}

static void print_share(const struct vm_machine *guest, size_t cpu, const struct vm_machine *host,
			const struct vcpu *v)
{
	struct vm_share s = vm_share_of(&guest->cpus[cpu], v, UINT64_MAX);
	char *thread = vm_machine_task(host, v->serial);

	fprintf(stderr, "  %s CPU %zu, ", guest->name, cpu);
	print_escaped(host->name, stderr);
	fputs(" thread ", stderr);
	print_escaped(thread, stderr);
	fprintf(stderr, ": %" PRIu64 " of %" PRIu64 " slots in guest mode, %.3f %%\n", s.inside,
		s.inside + s.outside, percent(s));
	free(thread);
}

/* Whether the host had threads of which the recording has nothing. */
static void print_evicted(const struct vm_machine *host)
{
	if (!host->lost_evicted)
		return;
	fputs("  ", stderr);
	print_escaped(host->name, stderr);
	fprintf(stderr, " has lost %" PRIu64 " slots of tasks that had ended, perhaps of its "
		"thread: raise exited_limit=\n", host->lost_evicted);
}

/* Print the shares of all threads, and whether there may have been others. */
static void print_shares(const struct vm_machine *machines, size_t nr, size_t guest, size_t cpu)
{
	size_t h, i;

	for (h = 0; h < nr; h++)
		for (i = 0; h != guest && i < machines[h].nr_vcpus; i++)
			print_share(&machines[guest], cpu, &machines[h], machines[h].vcpus[i]);
	for (h = 0; h < nr; h++)
		if (h != guest && machines[h].nr_vcpus)
			print_evicted(&machines[h]);
}

/* A range of CLOCK_REALTIME, which both sides know. */
static void print_range(const struct vm_machine *m)
{
	uint64_t ns[] = { vm_machine_realtime(m, m->first), vm_machine_realtime(m, m->last) };
	char text[32];
	struct tm tm;
	time_t s;
	int i;

	fputs("  ", stderr);
	print_escaped(m->file, stderr);
	for (i = 0; i < 2; i++) {
		s = (time_t)(ns[i] / 1000000000);
		strftime(text, sizeof(text), "%F %T", localtime_r(&s, &tm));
		fprintf(stderr, "%s%s.%06u", i ? " to " : ": ", text,
			(unsigned int)(ns[i] % 1000000000 / 1000));
	}
	fputc('\n', stderr);
}

/**
 * struct found - what the threads have of a CPU
 * @guest, @cpu: the CPU
 * @host, @vcpu: the thread that fits
 * @nr, @close: threads that fit, and that others cannot be told from
 * @best: share of the thread that fits
 * @searches: the clock has to be found
 * @silent: it may be no guest: that must be shown, and nothing is said if it is not
 * @results: threads by result of that
 * @found: clocks that fit
 * @area, @in: the same of the guest's CPU before this one, and its host
 * @tests: tests of slots that are left for this machine
 */
struct found {
	const struct vm_machine *guest;
	const struct vm_cpu *cpu;
	size_t host, vcpu, nr, close;
	struct vm_share best;
	bool searches, silent;
	size_t results[VM_SEARCH_LONG + 1];
	struct vm_area found, area;
	size_t in;
	uint64_t tests;
};

static void look_at(struct found *f, const struct vm_machine *machines, size_t h, size_t i)
{
	struct vm_share s = vm_share_of(f->cpu, machines[h].vcpus[i],
					f->cpu->nr_slots / WRONG_PART);

	if (!(s.inside + s.outside))
		return;
	if (!s.outside) {
		f->host = h;
		f->vcpu = i;
		f->nr++;
		f->best = s;
	} else if (s.outside * WRONG_PART < s.inside + s.outside) {
		f->close++;
	}
}

/*
 * Whether it is no chance that no slot is outside: of slots at any times, as those of a machine
 * that has nothing to do with the thread, so many would be.
 */
static bool is_proof(const struct vcpu *v, struct vm_share share)
{
	enum { OUTSIDE_BY_CHANCE = 20 };
	double in_guest = 0, all = (double)(v->runs[v->nr_runs - 1].exit - v->runs->enter);
	size_t i;

	for (i = 0; i < v->nr_runs; i++)
		in_guest += (double)(v->runs[i].exit - v->runs[i].enter);
	return (double)share.inside * (1 - in_guest / all) >= OUTSIDE_BY_CHANCE;
}

/*
 * The same for any clock. It replaces that of the thread, which no other guest can have: either
 * this one has the thread, or it has none.
 */
static void search_at(struct found *f, const struct vm_machine *machines, size_t h, size_t i)
{
	struct vcpu *v = machines[h].vcpus[i];
	struct vm_fit fit = { .area = f->area, .tests = f->tests };
	struct vm_share share = { 0 };
	enum vm_search result;

	if (f->nr + f->close > 1 || f->results[VM_SEARCH_SEVERAL] || f->results[VM_SEARCH_LONG])
		return;		/* it will be refused */
	if (v->machine != SIZE_MAX ||
	    (f->in != h && !vm_area_of(f->guest, &machines[h], &fit.area)))
		return;
	result = vm_search(f->guest, f->cpu, &machines[h], v, &fit);
	if (f->silent)
		f->tests = fit.tests;
	f->results[result]++;
	f->close += result == VM_SEARCH_SEVERAL || result == VM_SEARCH_LONG;
	if (result != VM_SEARCH_FOUND)
		return;
	share.inside = f->cpu->nr_slots / 2;	/* at least */
	if (!is_proof(v, share)) {
		f->close++;
		return;
	}
	vcpu_set_clock(v, &fit.clock, fit.band_ns);
	if (vm_share_of(f->cpu, v, UINT64_MAX).outside) {
		f->close++;
		return;
	}
	f->nr++;
	f->host = h;
	f->vcpu = i;
	f->found = fit.area;
}

static int refuse_search(const struct vm_machine *machines, size_t guest, size_t cpu,
			 const struct found *f)
{
	const char *file = machines[guest].file;

	if (f->nr + f->close > 1)
		complain("%s: CPU %zu: its clock is not known, and with others it may fit more "
			 "than one thread of a virtual CPU", file, cpu);
	else if (!f->results[VM_SEARCH_LONG] && (f->close || f->results[VM_SEARCH_SEVERAL]))
		complain("%s: CPU %zu: its clock is uncertain by more than 1 ms, or by chance: "
			 "record longer, with more events of the guest", file, cpu);
	else if (f->results[VM_SEARCH_LONG])
		complain("%s: CPU %zu: its clock was not found, because it was seldom out of the "
			 "guest: record with KTAU's kernel in the guest", file, cpu);
	else
		complain("%s: CPU %zu fits no thread of a virtual CPU with any clock that runs "
			 "evenly and is within 10 s of CLOCK_REALTIME", file, cpu);
	return CLI_FAILED;
}

/* The greatest share of the CPU that any thread has. */
static struct vm_share best_share(const struct vm_machine *machines, size_t nr, size_t guest,
				  const struct vm_cpu *cpu)
{
	struct vm_share best = { 0 }, s;
	size_t h, i;

	for (h = 0; h < nr; h++) {
		for (i = 0; h != guest && i < machines[h].nr_vcpus; i++) {
			s = vm_share_of(cpu, machines[h].vcpus[i], UINT64_MAX);
			if (percent(s) > percent(best) || !(best.inside + best.outside))
				best = s;
		}
	}
	return best;
}

/* A thread fits, but it cannot have run the CPU. */
static int refuse_thread(const struct vm_machine *machines, size_t guest, size_t cpu,
			 const struct found *f)
{
	const struct vcpu *v = machines[f->host].vcpus[f->vcpu];

	if (v->machine != SIZE_MAX)
		complain("%s: CPU %zu fits the thread that runs CPU %" PRIu32 " of %s",
			 machines[guest].file, cpu, v->cpu, machines[v->machine].file);
	else
		complain("%s: CPU %zu fits a thread in %s, which is a guest of that machine",
			 machines[guest].file, cpu, machines[f->host].file);
	return CLI_FAILED;
}

static int refuse(const struct vm_machine *machines, size_t nr, size_t guest, size_t cpu,
		  const struct found *f)
{
	const struct vm_machine *g = &machines[guest];
	struct vm_share best;
	size_t i, searched = 0;

	if (f->nr == 1 && !f->close)
		return refuse_thread(machines, guest, cpu, f);
	for (i = 0; i <= VM_SEARCH_LONG; i++)
		searched += f->results[i];
	if (searched)
		return refuse_search(machines, guest, cpu, f);
	best = best_share(machines, nr, guest, f->cpu);
	if (!(best.inside + best.outside)) {
		complain("%s: was not recorded while a virtual CPU ran in %s:", g->file,
			 machines->file);
		print_range(machines);
		print_range(g);
		return CLI_FAILED;
	}
	if (f->nr + f->close > 1)
		complain("%s: CPU %zu fits more than one thread of a virtual CPU:", g->file, cpu);
	else
		complain("%s: CPU %zu fits no thread of a virtual CPU; the best one has %.3f %% "
			 "of its slots in guest mode:", g->file, cpu, percent(best));
	print_shares(machines, nr, guest, cpu);
	return CLI_FAILED;
}

/* The only thread that fits the CPU; NULL if there is none. */
static struct vcpu *find_thread(const struct vm_machine *machines, size_t nr, size_t guest,
				size_t cpu, struct found *f)
{
	size_t h, i;

	f->guest = &machines[guest];
	f->cpu = &f->guest->cpus[cpu];
	for (h = 0; h < nr; h++) {
		for (i = 0; h != guest && i < machines[h].nr_vcpus; i++) {
			if (f->searches)
				search_at(f, machines, h, i);
			else
				look_at(f, machines, h, i);
		}
	}
	return f->nr == 1 && !f->close ? machines[f->host].vcpus[f->vcpu] : NULL;
}

/*
 * Whether machine @inner is @outer, or runs on it, in any number of steps. Files may claim that of
 * two machines each runs on the other.
 */
static bool is_inside(const struct vm_machine *machines, size_t nr, size_t inner, size_t outer)
{
	size_t *found = cli_alloc(NULL, nr, sizeof(*found)), nr_found = 1, i, cpu, host;
	bool *is_found = cli_alloc(NULL, nr, sizeof(*is_found)), inside;

	memset(is_found, 0, nr * sizeof(*is_found));
	found[0] = inner;
	is_found[inner] = true;
	for (i = 0; i < nr_found; i++) {
		for (cpu = 0; cpu < machines[found[i]].nr_cpus; cpu++) {
			host = machines[found[i]].cpus[cpu].host;
			if (host == SIZE_MAX || is_found[host])
				continue;
			is_found[host] = true;
			found[nr_found++] = host;
		}
	}
	inside = is_found[outer];
	free(found);
	free(is_found);
	return inside;
}

/* Let the thread that was found run the CPU. */
static void join(struct vm_machine *machines, const struct found *f, size_t guest, size_t cpu)
{
	struct vcpu *v = machines[f->host].vcpus[f->vcpu];

	v->machine = guest;
	v->cpu = (uint32_t)cpu;
	machines[guest].cpus[cpu].host = f->host;
	machines[guest].cpus[cpu].vcpu = f->vcpu;
}

/* Find the thread of a CPU. Return: CLI_DONE or CLI_FAILED. */
static int match_cpu(struct vm_machine *machines, size_t nr, size_t guest, size_t cpu,
		     struct found *f)
{
	const struct vcpu *v = find_thread(machines, nr, guest, cpu, f);

	if (v && v->machine == SIZE_MAX && !is_inside(machines, nr, f->host, guest) &&
	    (!f->silent || f->searches || is_proof(v, f->best))) {
		join(machines, f, guest, cpu);
		return CLI_DONE;
	}
	return f->silent ? CLI_FAILED : refuse(machines, nr, guest, cpu, f);
}

/* Undo what was matched of a machine. */
static void part(struct vm_machine *machines, size_t guest)
{
	struct vm_cpu *c = machines[guest].cpus, *end = c + machines[guest].nr_cpus;

	for (; c < end; c++) {
		if (c->host != SIZE_MAX)
			machines[c->host].vcpus[c->vcpu]->machine = SIZE_MAX;
		c->host = SIZE_MAX;
	}
}

/* Whether KVM has set the clock of the guest and its host says how. */
static bool has_clock(const struct vm_machine *machines, size_t nr, size_t guest)
{
	size_t h, i;

	for (h = 0; h < nr && !machines[guest].own_clock; h++)
		for (i = 0; h != guest && i < machines[h].nr_vcpus; i++)
			if (machines[h].vcpus[i]->nr_clocks)
				return true;
	return false;
}

/*
 * Match all CPUs of a machine, by @how they are matched. If it may be no guest, the search for its
 * clock has a limit for all pairs of a CPU and a thread, of which there may be very many.
 */
static int match_guest(struct vm_machine *machines, size_t nr, size_t guest, struct found how)
{
	struct found f = { .in = SIZE_MAX, .tests = UINT64_MAX };
	size_t cpu;

	if (how.silent)
		f.tests = vm_search_tests(&machines[guest]);
	for (cpu = 0; cpu < machines[guest].nr_cpus; cpu++) {
		f = (struct found){ .searches = how.searches, .silent = how.silent,
				    .area = f.area, .in = f.in, .tests = f.tests };
		if (!machines[guest].cpus[cpu].nr_slots)
			continue;
		if (match_cpu(machines, nr, guest, cpu, &f)) {
			machines[guest].gave_up = f.results[VM_SEARCH_LONG];
			return CLI_FAILED;
		}
		if (f.searches) {
			f.area = f.found;
			f.in = f.host;
		}
	}
	return CLI_DONE;
}

/*
 * Match the machines from @first on: those of which the clock is known first, since the others only
 * have the threads that are left. A @silent one that is not matched is none.
 */
static int match_all(struct vm_machine *machines, size_t nr, size_t first, bool silent)
{
	bool *searches = cli_alloc(NULL, nr, sizeof(*searches));
	struct found how = { .silent = silent };
	int status = CLI_DONE, i;
	size_t g;

	for (g = first; g < nr; g++)
		searches[g] = !has_clock(machines, nr, g);
	for (i = 0; i < 2; i++) {
		how.searches = i;
		for (g = first; g < nr && !status; g++) {
			if (searches[g] != how.searches)
				continue;
			status = match_guest(machines, nr, g, how);
			if (status && silent) {
				part(machines, g);
				status = CLI_DONE;
			}
		}
	}
	free(searches);
	return status;
}

void vm_match_known(struct vm_machine *machines, size_t nr)
{
	match_all(machines, nr, 0, true);
}

/* The recording of the same machine that precedes @b; NULL if there is none. */
static const struct vm_machine *find_same(const struct vm_machine *machines,
					  const struct vm_machine *b)
{
	static const struct steals_boot unknown;
	const struct vm_machine *a;

	if (!memcmp(&b->boot, &unknown, sizeof(unknown)))
		return NULL;
	for (a = machines; a < b; a++)
		if (!memcmp(&a->boot, &b->boot, sizeof(a->boot)))
			return a;
	return NULL;
}

/* Whether two recordings are of one machine; then after a message. */
static bool has_same(const struct vm_machine *machines, size_t nr)
{
	const struct vm_machine *a, *b;

	for (b = machines; b < machines + nr; b++) {
		a = find_same(machines, b);
		if (!a)
			continue;
		complain("%s and %s are recordings of the same machine", a->file, b->file);
		return true;
	}
	return false;
}

int vm_match(struct vm_machine *machines, size_t nr)
{
	size_t i = 0;

	if (has_same(machines, nr))
		return CLI_FAILED;
	while (i < nr && !machines[i].nr_vcpus)
		i++;
	if (!i)
		return match_all(machines, nr, 1, false);
	if (i < nr)
		complain("%s: no virtual CPU ran, but some did in %s: is that the host's? It must "
			 "be the first one", machines->file, machines[i].file);
	else
		complain("%s: no virtual CPU ran: record the host with the group kvm",
			 machines->file);
	if (i == nr)
		print_evicted(machines);
	return CLI_FAILED;
}
