// SPDX-License-Identifier: GPL-2.0-only
/* Hosts and guests: which thread ran which CPU, in which state it was, and who took its CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "lib/cli.h"
#include "vm/cause.h"
#include "vm/keep.h"
#include "vm/match.h"
#include "vm/rows.h"
#include "near.h"
#include "vm_files.h"

static char folder[] = "/tmp/ktau-vm-XXXXXX";

/* A task of the host has the CPU from @from to @to. */
static void hogs(struct vm_task *task, uint64_t from, uint64_t to, uint16_t cpu)
{
	vm_file_on(&vm_host, task, from, cpu, EV_VOL);
	vm_file_off(&vm_host, task, to, cpu, EV_VOL);
}

/* The recordings as ktau vm reads them. */
struct seen {
	struct vm_machine machines[4];
	size_t nr;
	struct vm_analysis analysis;
	struct vm_account account[4];
	char *files[4];
	int status;
};

static void read_one(struct seen *s, struct vm_file *f, const char *name)
{
	char path[64], *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = s->files[s->nr] = vm_file_write(f, path);
	assert_int_equal(vm_machine_read(&s->machines[s->nr++], file), CLI_DONE);
}

/* Read the host and the guests, match them, and account for each. */
static struct seen *look(struct vm_file *const *guests, size_t nr)
{
	static const char *const names[] = { "guest1", "guest2", "guest3" };
	struct seen *s = calloc(1, sizeof(*s));
	size_t i;

	assert_non_null(s);
	read_one(s, &vm_host, "host");
	for (i = 0; i < nr; i++)
		read_one(s, guests[i], names[i]);
	s->analysis = (struct vm_analysis){ .machines = s->machines, .nr_machines = s->nr };
	s->status = vm_match(s->machines, s->nr);
	for (i = 1; !s->status && i <= nr; i++)
		assert_true(vm_account(&s->analysis, i, 0, &s->account[i]));
	return s;
}

static void done(struct seen *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		vm_machine_deinit(&s->machines[i]);
	for (i = 0; i < s->nr; i++)
		free(s->files[i]);
	vm_analysis_deinit(&s->analysis);
	free(s);
}

static struct seen *look_at_one(struct vm *vm)
{
	struct vm_file *const guests[] = { &vm->guest };

	return look(guests, 1);
}

static struct seen *look_at_two(struct vm *a, struct vm *b)
{
	struct vm_file *const guests[] = { &a->guest, &b->guest };

	return look(guests, 2);
}

/* The pair with these tasks; NULL if there is none. */
static const struct vm_pair *find_pair(const struct seen *s, size_t victim, size_t cause,
				       const char *name)
{
	const struct vm_pair *p;
	size_t i;
	char *task;
	bool same;

	for (i = 0; i < s->analysis.nr_pairs; i++) {
		p = &s->analysis.pairs[i];
		if (p->victim.machine != victim || p->cause.machine != cause || !p->cause.serial)
			continue;
		task = vm_machine_task(&s->machines[cause], p->cause.serial);
		same = !strcmp(task, name);
		free(task);
		if (same)
			return p;
	}
	return NULL;
}

/* What vm_take_turns() must give. */
static void check_turns(const struct seen *s, const char *a, const char *b)
{
	const struct vm_pair *p;

	assert_int_equal(s->status, CLI_DONE);
	assert_near(s->account[1].states[VCPU_GUEST], 9 * MS, 100 * US);
	assert_near(s->account[1].states[VCPU_PREEMPTED], 14 * MS, 10);
	assert_near(s->account[1].longest, 13 * MS, 10);
	p = find_pair(s, 1, 2, b);
	assert_non_null(p);
	/* 300 ns of each time are outside of the guest, and at first its task is not known. */
	assert_near(p->ticks, 14 * MS - 800, 200);
	assert_near(p->longest, 13 * MS - 400, 200);
	assert_int_equal(p->times, 2);
	p = find_pair(s, 2, 1, a);
	assert_non_null(p);
	assert_near(p->ticks, 2 * MS - 300, 200);
}

/* 13 ms in gettimeofday(): another guest's task had the CPU. */
static void gettimeofday_13ms(void **state)
{
	struct vm a = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm b = vm_make(&vm_host, 905, &vm_later, "burn", 61);
	const uint64_t groups = KTAU_GROUP_SCHED | KTAU_GROUP_SYSCALL;
	struct seen *s;

	(void)state;
	vm_take_turns(&vm_host, &a, &b);
	/* Another CPU of the guest has written this while that of the task was not in the guest. */
	vm_file_slot(&a.guest, a.task, VM_TURNS + 24000 * US - 100,
		     (struct ktau_slot){ .type = KTAU_TRACE_GROUPS, .words = 1 }, &groups);
	s = look_at_two(&a, &b);
	check_turns(s, "detector/55", "burn/61");
	done(s);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&b.guest);
}

/* What the host took from two guests, for paths; a third machine is no guest. */
static void steals(void **state)
{
	struct vm a = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm b = vm_make(&vm_host, 905, &vm_later, "burn", 61);
	struct vm_file other = { .boot = 9 };
	struct vm stranger = vm_make(&other, 7, &vm_plain, "stranger", 61);
	struct vm_file *const machines[] = { &a.guest, &stranger.guest, &vm_host, &b.guest };
	struct shared_options in = { .nr_files = 4 };
	struct steals s = { 0 };
	const struct steal *t;
	char path[64];
	int i;

	(void)state;
	vm_take_turns(&vm_host, &a, &b);
	vm_runs(&stranger, VM_TURNS + 1 * MS, VM_TURNS + 5 * MS, EXIT_IO);
	in.files = cli_alloc(NULL, 4, sizeof(char *));
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		in.files[i] = vm_file_write(machines[i], path);
	}
	assert_int_equal(vm_keep_steals(&in, 4, &s), CLI_DONE);
	assert_int_equal(s.nr, 4);
	assert_int_equal(s.machines[0].host, 2);
	assert_int_equal(s.machines[1].host, SIZE_MAX);
	assert_int_equal(s.machines[1].nr, 0);
	assert_int_equal(s.machines[3].host, 2);
	assert_int_equal(s.machines[0].nr, 2);
	t = &s.machines[0].all[0];
	assert_int_equal(t->serial, 55);
	/* The clocks of the fixtures begin at the same time. */
	assert_near(t->from_ns, VM_TURNS + 5 * MS, 10);
	assert_near(t->to_ns, VM_TURNS + 18 * MS, 10);
	assert_int_equal(s.causes[t->cause].machine, 3);
	assert_int_equal(s.causes[t->cause].serial, 61);
	assert_int_equal(s.machines[3].all[0].serial, 61);
	assert_near(clock_line_map(&s.machines[3].line, VM_TURNS), VM_TURNS, 1);
	assert_int_equal(s.machines[0].slots, 1548);
	steals_deinit(&s);
	vm_files_remove(in.files, 4);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&b.guest);
	vm_file_deinit(&stranger.guest);
	vm_file_deinit(&other);
}

/* The name of row @row in the middle of the millisecond @ms after the start of vm_take_turns(). */
static const char *name_at(const struct states *s, uint32_t row, uint64_t ms)
{
	uint64_t ns = VM_TURNS + ms * MS + MS / 2;
	const struct states_interval *i;

	for (i = s->intervals; i < s->intervals + s->nr_intervals; i++)
		if (i->row == row && i->from_ns <= ns && i->to_ns > ns)
			return s->names[i->name].text;
	return "";
}

/* CPUs of host and guests as rows, by the time of the host. The end of the idle task is lost. */
static void rows(void **state)
{
	struct vm a = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm b = vm_make(&vm_host, 905, &vm_later, "burn", 61);
	struct vm_task *idle = vm_file_task(&vm_host, 0, "swapper/0");
	static const struct {
		uint64_t ms;
		const char *names[3];
	} expected[] = {
		{ 2, { "guest1 detector/55", "guest1 detector/55", "" } },
		{ 6, { "guest2 burn/61", "PREEMPTED", "guest2 burn/61" } },
		{ 19, { "guest1 detector/55", "guest1 detector/55", "PREEMPTED" } },
		{ 20, { "guest2 burn/61", "PREEMPTED", "guest2 burn/61" } },
		{ 23, { "guest1 detector/55", "guest1 detector/55", "PREEMPTED" } },
	};
	const struct states_interval *i;
	struct states states = { 0 };
	struct seen *s;
	size_t at;
	uint32_t row;

	(void)state;
	idle->idle = true;
	vm_file_on(&vm_host, idle, VM_TURNS - 5 * MS, 0, EV_VOL);
	vm_take_turns(&vm_host, &a, &b);
	s = look_at_two(&a, &b);
	vm_rows(s->machines, s->nr, &states);
	assert_int_equal(states.nr_rows, 3);
	assert_string_equal(states.rows[0], "host cpu 0");
	assert_string_equal(states.rows[2], "guest2 cpu 0");
	for (at = 0; at < sizeof(expected) / sizeof(*expected); at++)
		for (row = 0; row < 3; row++)
			assert_string_equal(name_at(&states, row, expected[at].ms),
					    expected[at].names[row]);
	for (i = states.intervals + 1; i < states.intervals + states.nr_intervals; i++)
		assert_true(i->row > i[-1].row || i->from_ns >= i[-1].to_ns);
	assert_true(states.nr_intervals < 40);
	states_deinit(&states);
	done(s);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&b.guest);
}

/* A few slots in guest mode may be there by chance: they do not make a machine a guest. */
static void chance(void **state)
{
	struct vm a = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct seen s = { 0 };
	uint64_t t;

	(void)state;
	vm_file_clock(&vm_host, a.thread, 1 * MS, 0, &vm_plain);
	for (t = 1 * MS; t < 21 * MS; t += 1 * MS) {
		vm_file_enter(&vm_host, a.thread, t, 0);
		vm_file_exit(&vm_host, a.thread, t + 900 * US, 0, EXIT_IO);
	}
	for (t = 1 * MS; t < 16 * MS; t += 1 * MS)
		vm_file_in(&a.guest, a.task, t + 10 * US, 0, EV_CALL);
	read_one(&s, &vm_host, "host");
	read_one(&s, &a.guest, "guest1");
	vm_match_known(s.machines, 2);
	assert_int_equal(s.machines[1].cpus[0].host, SIZE_MAX);
	assert_int_equal(vm_match(s.machines, 2), CLI_DONE);
	vm_machine_deinit(&s.machines[0]);
	vm_machine_deinit(&s.machines[1]);
	free(s.files[0]);
	free(s.files[1]);
	vm_file_deinit(&a.guest);
}

/* Tasks of two guests may have the same name and number. */
static void equal_names(void **state)
{
	struct vm a = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm b = vm_make(&vm_host, 905, &vm_later, "detector", 55);
	struct seen *s;

	(void)state;
	vm_take_turns(&vm_host, &a, &b);
	s = look_at_two(&a, &b);
	check_turns(s, "detector/55", "detector/55");
	done(s);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&b.guest);
}

/* Any offset, and ratios of SVM and VMX. */
static void clocks(void **state)
{
	static const struct guest_clock all[] = {
		{ 1ULL << 63, 1ULL << 32, 32 },
		{ (1ULL << 63) - 1, 1ULL << 48, 48 },
		{ (uint64_t)-2, 1ULL << 48, 48 },
		{ 12345, 3ULL << 31, 32 },
		{ (uint64_t)-4000000000LL, 3ULL << 47, 48 },
		{ 1ULL << 62, 1ULL << 47, 48 },
	};
	struct vm a, b;
	struct seen *s;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		vm_host_begin(state);
		a = vm_make(&vm_host, 815, &all[i], "detector", 55);
		b = vm_make(&vm_host, 905, &vm_later, "burn", 61);
		vm_take_turns(&vm_host, &a, &b);
		s = look_at_two(&a, &b);
		check_turns(s, "detector/55", "burn/61");
		done(s);
		vm_file_deinit(&a.guest);
		vm_file_deinit(&b.guest);
		vm_host_end(state);
	}
	vm_host_begin(state);
}

/* A halted guest is idle, whether its thread sleeps or the host waits for it without sleeping. */
static void halts(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct seen *s;

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_runs(&vm, 1 * MS, 2 * MS, EXIT_HLT);
	vm_file_off(&vm_host, vm.thread, 2 * MS + 10, 0, EV_VOL);
	vm_file_on(&vm_host, vm.thread, 12 * MS, 0, EV_VOL);
	vm_runs(&vm, 12 * MS + 20, 13 * MS, EXIT_HLT);
	vm_runs(&vm, 13 * MS + 50 * US, 14 * MS, EXIT_INTR);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_near(s->account[1].states[VCPU_IDLE], 10 * MS, 20);
	assert_near(s->account[1].states[VCPU_POLLING], 50 * US, 20);
	assert_near(s->account[1].states[VCPU_VMM], 0, 100);
	assert_int_equal(s->account[1].states[VCPU_PREEMPTED], 0);
	assert_int_equal(s->analysis.nr_pairs, 0);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* Emulation, also while the thread sleeps in it, and interrupts of the host are not the guest. */
static void emulation(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct seen *s;

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_runs(&vm, 1 * MS, 2 * MS, EXIT_IO);
	vm_runs(&vm, 7 * MS, 8 * MS, EXIT_IO);
	vm_file_off(&vm_host, vm.thread, 9 * MS, 0, EV_VOL);
	vm_file_on(&vm_host, vm.thread, 11 * MS, 0, EV_VOL);
	vm_file_enter(&vm_host, vm.thread, 11 * MS, 0);
	vm_file_in(&vm_host, vm.thread, 12 * MS, 0, EV_IRQ);
	vm_file_out(&vm_host, vm.thread, 12 * MS + 500 * US, 0, EV_IRQ);
	vm_file_exit(&vm_host, vm.thread, 13 * MS, 0, EXIT_IO);
	vm_runs(&vm, 13 * MS + 10, 15 * MS, EXIT_IO);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_near(s->account[1].states[VCPU_VMM], 8 * MS + 500 * US, 20);
	assert_int_equal(s->account[1].states[VCPU_IDLE], 0);
	assert_int_equal(s->account[1].states[VCPU_PREEMPTED], 0);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* Two tasks of the host in one preemption; then another CPU of the host, with another task. */
static void host_tasks(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm_task *hog = vm_file_task(&vm_host, 1203, "hog");
	struct vm_task *pig = vm_file_task(&vm_host, 7, "pig");
	struct vm_task *far = vm_file_task(&vm_host, 8, "far");
	struct seen *s;

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_runs(&vm, 1 * MS, 2 * MS, EXIT_INTR);
	vm_file_off(&vm_host, vm.thread, 2 * MS, 0, EV_SCHEDULE);
	hogs(hog, 2 * MS, 6 * MS, 0);
	hogs(pig, 6 * MS, 12 * MS, 0);
	vm_file_on(&vm_host, vm.thread, 12 * MS, 1, EV_SCHEDULE);
	vm.cpu = 1;
	vm_runs(&vm, 12 * MS, 14 * MS, EXIT_INTR);
	vm_file_off(&vm_host, vm.thread, 14 * MS, 1, EV_SCHEDULE);
	hogs(far, 14 * MS, 17 * MS, 1);
	hogs(hog, 13 * MS, 18 * MS, 0);
	vm_file_on(&vm_host, vm.thread, 17 * MS, 1, EV_SCHEDULE);
	vm_runs(&vm, 17 * MS, 20 * MS, EXIT_INTR);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_near(s->account[1].states[VCPU_PREEMPTED], 13 * MS, 20);
	assert_int_equal(s->analysis.nr_pairs, 3);
	assert_near(find_pair(s, 1, 0, "hog/1203")->ticks, 4 * MS, 10);
	assert_near(find_pair(s, 1, 0, "pig/7")->ticks, 6 * MS, 10);
	assert_near(find_pair(s, 1, 0, "far/8")->ticks, 3 * MS, 10);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* A thread that has been woken waits for the CPU that its wakeup names, if it runs elsewhere. */
static void woken_elsewhere(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm_task *hog = vm_file_task(&vm_host, 1203, "hog");
	struct vm_task *pig = vm_file_task(&vm_host, 7, "pig");
	struct ktau_slot_woken woken = { .waking_ticks = 4 * MS, .target_cpu = 1 };
	struct seen *s;

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_runs(&vm, 1 * MS, 2 * MS, EXIT_HLT);
	vm_file_off(&vm_host, vm.thread, 2 * MS, 0, EV_VOL);
	vm_file_on(&vm_host, vm.thread, 4 * MS, 0, EV_VOL);
	vm_file_in(&vm_host, vm.thread, 4 * MS, 0, EV_WAIT);
	vm_file_out(&vm_host, vm.thread, 9 * MS, 0, EV_WAIT);
	vm_file_slot(&vm_host, vm.thread, 9 * MS,
		     (struct ktau_slot){ .type = KTAU_TRACE_WOKEN,
					.words = sizeof(woken) / 8 }, &woken);
	hogs(hog, 2 * MS, 9 * MS, 0);
	hogs(pig, 3 * MS, 10 * MS, 1);
	vm_runs(&vm, 9 * MS, 11 * MS, EXIT_INTR);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_near(s->account[1].states[VCPU_IDLE], 2 * MS, 20);
	assert_near(s->account[1].states[VCPU_PREEMPTED], 5 * MS, 20);
	assert_int_equal(s->analysis.nr_pairs, 1);
	assert_near(find_pair(s, 1, 0, "pig/7")->ticks, 5 * MS, 10);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* What an idle guest misses is nobody's loss. */
static void idle_guest(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "swapper/0", 0);
	struct vm_task *hog = vm_file_task(&vm_host, 1203, "hog");
	struct seen *s;

	(void)state;
	vm.task->serial = 1;
	vm.task->idle = true;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_runs(&vm, 1 * MS, 2 * MS, EXIT_INTR);
	vm_file_off(&vm_host, vm.thread, 2 * MS, 0, EV_SCHEDULE);
	hogs(hog, 2 * MS, 6 * MS, 0);
	vm_file_on(&vm_host, vm.thread, 6 * MS, 0, EV_SCHEDULE);
	vm_runs(&vm, 6 * MS, 9 * MS, EXIT_INTR);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_near(s->account[1].states[VCPU_PREEMPTED], 4 * MS, 20);
	assert_int_equal(s->analysis.nr_pairs, 0);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* QEMU sets the same offset three times; a guest that is started again gets another one. */
static void changed_clock(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	uint64_t t;
	struct seen *s;

	(void)state;
	for (t = 1 * MS; t < 7 * MS; t += 2 * MS) {
		vm_file_clock(&vm_host, vm.thread, t, 0, &vm_plain);
		vm_runs(&vm, t, t + 1 * MS, EXIT_INTR);
	}
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_int_equal(s->machines[0].vcpus[0]->nr_clocks, 1);
	done(s);
	vm.guest.clock = &(const struct guest_clock){ 5 * SECOND, 1ULL << 32, 32 };
	vm_file_clock(&vm_host, vm.thread, t, 0, vm.guest.clock);
	vm_runs(&vm, t, t + 1 * MS, EXIT_INTR);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_int_equal(s->machines[0].vcpus[0]->nr_clocks, 2);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* An offset that is wrong by 1 ms, or by a microsecond, is no match. */
static void wrong_offset(void **state)
{
	static const uint64_t by[] = { 1 * MS, 0 - 1 * MS, 1 * US };
	struct guest_clock wrong;
	struct vm vm;
	struct seen *s;
	size_t i;
	uint64_t t;

	for (i = 0; i < 3; i++) {
		vm_host_begin(state);
		wrong = vm_plain;
		wrong.offset += by[i];
		vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
		vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &wrong);
		for (t = 1 * MS; t < 60 * MS; t += 3 * MS)
			vm_runs(&vm, t, t + 1 * MS, EXIT_IO);
		s = look_at_one(&vm);
		assert_int_equal(s->status, CLI_FAILED);
		assert_int_equal(s->machines[1].cpus[0].host, SIZE_MAX);
		done(s);
		vm_file_deinit(&vm.guest);
		vm_host_end(state);
	}
	vm_host_begin(state);
}

/* A guest that ran elsewhere, and one that ran at another time. */
static void strangers(void **state)
{
	struct vm a = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm_file other = { .boot = 9 };
	struct vm stranger = vm_make(&other, 905, &vm_plain, "burn", 61);
	struct vm_file *const guests[] = { &stranger.guest };
	struct seen *s;
	uint64_t t;

	(void)state;
	vm_host.profiled = true;
	vm_host.lost_before = 10;
	vm_host.lost_evicted = 777;
	vm_file_clock(&vm_host, a.thread, 1 * MS, 0, &vm_plain);
	for (t = 1 * MS; t < 60 * MS; t += 3 * MS) {
		vm_runs(&a, t, t + 2 * MS, EXIT_IO);
		vm_runs(&stranger, t + 2 * MS, t + 3 * MS, EXIT_IO);
	}
	s = look(guests, 1);
	assert_int_equal(s->status, CLI_FAILED);
	assert_int_equal(s->machines[0].lost_evicted, 777);
	done(s);
	vm_file_deinit(&stranger.guest);
	stranger.task = vm_file_task(&stranger.guest, 61, "burn");
	vm_runs(&stranger, 100 * MS, 110 * MS, EXIT_IO);
	s = look(guests, 1);
	assert_int_equal(s->status, CLI_FAILED);
	done(s);
	vm_file_deinit(&stranger.guest);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&other);
}

/* A guest in a guest: the task inside both is the cause of what another guest lost. */
static void nested(void **state)
{
	struct vm outer = vm_make(&vm_host, 815, &vm_plain, "qemu", 40);
	struct vm victim = vm_make(&vm_host, 905, &vm_later, "detector", 55);
	struct vm inner = vm_make(&outer.guest, 41, &vm_later, "inner", 77);
	struct vm_file *const guests[] = { &victim.guest, &outer.guest, &inner.guest };
	const struct vm_pair *p;
	struct seen *s;
	uint64_t t;

	(void)state;
	vm_file_on(&vm_host, victim.thread, 1 * MS, 0, EV_SCHEDULE);
	vm_file_clock(&vm_host, victim.thread, 1 * MS, 0, &vm_later);
	for (t = 1 * MS; t < 40 * MS; t += 8 * MS) {
		vm_runs(&victim, t + 100, t + 3 * MS - 100, EXIT_INTR);
		vm_file_off(&vm_host, victim.thread, t + 3 * MS, 0, EV_SCHEDULE);
		vm_file_on(&vm_host, outer.thread, t + 3 * MS, 0, EV_SCHEDULE);
		vm_file_clock(&vm_host, outer.thread, t + 3 * MS, 0, &vm_plain);
		vm_file_enter(&vm_host, outer.thread, t + 3 * MS + 100, 0);
		vm_file_on(&outer.guest, inner.thread, t + 3 * MS + 200, 0, EV_VOL);
		vm_file_clock(&outer.guest, inner.thread, t + 3 * MS + 300, 0, &vm_later);
		vm_runs(&inner, t + 3 * MS + 1 * US, t + 7 * MS, EXIT_INTR);
		vm_file_off(&outer.guest, inner.thread, t + 8 * MS - 200 * US, 0, EV_VOL);
		vm_file_exit(&vm_host, outer.thread, t + 8 * MS - 100, 0, EXIT_INTR);
		vm_file_off(&vm_host, outer.thread, t + 8 * MS, 0, EV_SCHEDULE);
		vm_file_on(&vm_host, victim.thread, t + 8 * MS, 0, EV_SCHEDULE);
	}
	vm_runs(&victim, t + 100, t + 1 * MS, EXIT_INTR);
	s = look(guests, 3);
	assert_int_equal(s->status, CLI_DONE);
	assert_int_equal(s->machines[2].cpus[0].host, 0);
	assert_int_equal(s->machines[3].cpus[0].host, 2);
	p = find_pair(s, 1, 3, "inner/77");
	assert_non_null(p);
	/* Before its first slot in the guest it is not known. */
	assert_near(p->ticks, 5 * (4 * MS - 1 * US), 20 * US);
	assert_int_equal(p->times, 5);
	done(s);
	vm_file_deinit(&victim.guest);
	vm_file_deinit(&outer.guest);
	vm_file_deinit(&inner.guest);
}

/* The host takes the CPU from the outer guest while the inner one has it: twice, first for 2 ms. */
static void nested_preempted(void **state)
{
	struct vm outer = vm_make(&vm_host, 815, &vm_plain, "qemu", 40);
	struct vm_task *hog = vm_file_task(&vm_host, 1203, "hog");
	struct vm inner = vm_make(&outer.guest, 41, &vm_later, "inner", 77);
	struct vm_file *const guests[] = { &outer.guest, &inner.guest };
	static const uint64_t ms[] = { 1, 3, 5, 6, 7, 9 };
	const struct vm_pair *p;
	uint64_t from, to;
	struct seen *s;
	size_t i;

	(void)state;
	vm_file_clock(&vm_host, outer.thread, 1 * MS, 0, &vm_plain);
	vm_file_on(&outer.guest, inner.thread, 1 * MS + 200, 0, EV_VOL);
	vm_file_clock(&outer.guest, inner.thread, 1 * MS + 300, 0, &vm_later);
	for (i = 0; i < 6; i += 2) {
		from = ms[i] * MS;
		to = ms[i + 1] * MS;
		if (i) {
			hogs(hog, ms[i - 1] * MS, from, 0);
			vm_file_on(&vm_host, outer.thread, from, 0, EV_SCHEDULE);
		}
		vm_file_enter(&vm_host, outer.thread, from + 100, 0);
		if (!i)
			vm_file_enter(&outer.guest, inner.thread, from + 400, 0);
		vm_calls(&inner, from + 500, to - 500);
		if (i == 4)
			vm_file_exit(&outer.guest, inner.thread, to - 300, 0, EXIT_HLT);
		vm_file_exit(&vm_host, outer.thread, to - 100, 0, EXIT_INTR);
		vm_file_off(&vm_host, outer.thread, to, 0, EV_SCHEDULE);
	}
	s = look(guests, 2);
	assert_int_equal(s->status, CLI_DONE);
	assert_int_equal(s->machines[2].cpus[0].host, 1);
	assert_near(s->account[2].states[VCPU_PREEMPTED], 3 * MS, 10);
	assert_near(s->account[2].states[VCPU_GUEST], 5 * MS, 20 * US);
	assert_near(s->account[2].longest, 2 * MS, 10);
	p = find_pair(s, 2, 0, "hog/1203");
	assert_non_null(p);
	assert_near(p->ticks, 3 * MS, 10);
	assert_int_equal(p->times, 2);
	assert_near(p->longest, 2 * MS, 10);
	done(s);
	vm_file_deinit(&outer.guest);
	vm_file_deinit(&inner.guest);
}

/* Where slots of the thread were lost, its state is unknown, and guest slots do not count. */
static void lost_slots(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55), hidden = vm;
	struct vm_task unseen = { 0 };
	struct vm_task *early = vm_file_task(&vm_host, 9, "early");
	struct seen *s;

	(void)state;
	hogs(early, 1 * MS, 10 * MS, 1);
	hidden.thread = &unseen;
	vm.thread->lost = 100;
	vm.thread->lost_from = 1 * MS;
	vm.thread->lost_to = 4 * MS;
	hidden.task = vm.task;
	vm_runs(&hidden, 1 * MS, 4 * MS, EXIT_INTR);
	vm_file_clock(&vm_host, vm.thread, 4 * MS, 0, &vm_plain);
	vm_runs(&vm, 4 * MS, 8 * MS, EXIT_INTR);
	free(unseen.words);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	assert_near(s->account[1].states[VCPU_UNKNOWN], 3 * MS, 10 * US);
	assert_near(s->account[1].states[VCPU_GUEST], 4 * MS, 50 * US);
	assert_int_equal(s->machines[0].vcpus[0]->lost, 100);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* Of a task, only the slot in which it gives the CPU to another one is left: that one has it. */
static void lost_until_switch(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm_task *hog = vm_file_task(&vm_host, 1203, "hog");
	struct vm_task *late = vm_file_task(&vm.guest, 60, "late");
	const struct vm_pair *p;
	struct seen *s;

	(void)state;
	vm_file_clock(&vm_host, vm.thread, 1 * MS, 0, &vm_plain);
	vm_file_enter(&vm_host, vm.thread, 1 * MS, 0);
	vm_calls(&vm, 1 * MS, 1 * MS + 400 * US);
	vm_file_off(&vm.guest, vm.task, 1 * MS + 450 * US, 0, EV_SCHEDULE);
	vm_file_off(&vm.guest, late, 1 * MS + 500 * US, 0, EV_VOL);
	vm_file_on(&vm.guest, vm.task, 1 * MS + 500 * US, 0, EV_SCHEDULE);
	vm_calls(&vm, 1 * MS + 500 * US, 2 * MS);
	vm_file_exit(&vm_host, vm.thread, 2 * MS, 0, EXIT_INTR);
	vm_file_off(&vm_host, vm.thread, 2 * MS, 0, EV_SCHEDULE);
	hogs(hog, 2 * MS, 6 * MS, 0);
	vm_file_on(&vm_host, vm.thread, 6 * MS, 0, EV_SCHEDULE);
	vm_runs(&vm, 6 * MS, 7 * MS, EXIT_INTR);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_DONE);
	p = find_pair(s, 1, 0, "hog/1203");
	assert_non_null(p);
	assert_int_equal(p->victim.serial, 55);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* Without host files: a host without guests, and one whose kernel does not write clocks. */
static void no_host(void **state)
{
	struct vm vm = vm_make(&vm_host, 815, &vm_plain, "detector", 55);
	struct vm_task *hog = vm_file_task(&vm_host, 1203, "hog");
	struct seen *s;

	(void)state;
	hogs(hog, 1 * MS, 6 * MS, 0);
	vm_runs(&vm, 1 * MS, 2 * MS, EXIT_INTR);
	s = look_at_one(&vm);
	assert_int_equal(s->status, CLI_FAILED);
	done(s);
	vm_file_deinit(&vm.guest);
}

/* The two directions of a clock. */
static void arithmetic(void **state)
{
	static const struct guest_clock all[] = {
		{ 0, 1, 0 }, { 5, 3, 1 }, { (uint64_t)-5, 1ULL << 63, 63 }, { 7, 0x123456789, 32 },
		{ 1ULL << 63, 0xffffffffffffULL, 48 },
	};
	static const uint64_t hosts[] = { 0, 1, 99, 1ULL << 32, 0x123456789abcdefULL };
	uint64_t guest, back;
	size_t i, j;

	(void)state;
	assert_false(guest_clock_is_valid(&(const struct guest_clock){ 0, 0, 32 }));
	assert_false(guest_clock_is_valid(&(const struct guest_clock){ 0, 1, 64 }));
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		for (j = 0; j < sizeof(hosts) / sizeof(*hosts); j++) {
			guest = guest_clock_to_guest(&all[i], hosts[j]);
			back = guest_clock_to_host(&all[i], guest);
			assert_true(back <= hosts[j]);
			assert_int_equal(guest_clock_to_guest(&all[i], back), guest);
		}
	}
	assert_int_equal(guest_clock_to_guest(&all[1], 11), 5 + 16);
}

int main(void)
{
#define TEST(f)	cmocka_unit_test_setup_teardown(f, vm_host_begin, vm_host_end)
	const struct CMUnitTest tests[] = {
		TEST(gettimeofday_13ms), TEST(steals), TEST(chance), TEST(rows),
		TEST(equal_names), TEST(clocks), TEST(halts),
		TEST(emulation), TEST(host_tasks), TEST(woken_elsewhere), TEST(idle_guest),
		TEST(changed_clock), TEST(wrong_offset), TEST(strangers), TEST(nested),
		TEST(nested_preempted), TEST(lost_slots), TEST(lost_until_switch), TEST(no_host),
		TEST(arithmetic),
	};
	int failed;

	cli_init("test_vm");
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (chdir(folder))
		return 1;
	unlink("host.ktau");
	unlink("guest1.ktau");
	unlink("guest2.ktau");
	unlink("guest3.ktau");
	rmdir(folder);
	return failed;
}
