// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock where KVM's is not known: found because the guest only writes in guest mode. The truth
 * must be in the band that it says.
 */
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
#include "vm/keep.h"
#include "vm/match.h"
#include "near.h"
#include "vm_files.h"

static char folder[] = "/tmp/ktau-vm-search-XXXXXX";

/* The recordings as ktau vm reads them. */
struct seen {
	struct vm_machine machines[3];
	char *files[3];
	size_t nr;
	int status;
};

static void read_one(struct seen *s, struct vm_file *f)
{
	char path[64], *file;

	snprintf(path, sizeof(path), "%s/%zu", folder, s->nr);
	file = s->files[s->nr] = vm_file_write(f, path);
	assert_int_equal(vm_machine_read(&s->machines[s->nr++], file), CLI_DONE);
	unlink(file);
}

/* Read the host and one or two guests, and match them. */
static struct seen look(struct vm *a, struct vm *b)
{
	struct seen s = { 0 };

	read_one(&s, &vm_host);
	read_one(&s, &a->guest);
	if (b)
		read_one(&s, &b->guest);
	s.status = vm_match(s.machines, s.nr);
	return s;
}

static void done(struct seen *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		vm_machine_deinit(&s->machines[i]);
		free(s->files[i]);
	}
}

/* Nanoseconds that gain 20 and lose 300 millionths. */
static const struct guest_clock fast = { (uint64_t)-990000000LL, 281480606210190ULL, 48 };
static const struct guest_clock slow = { 555000111222ULL, 281390534217643ULL, 48 };

/* A guest measured in nanoseconds of its own clock; its CLOCK_REALTIME is wrong by @late_ns. */
static struct vm make_foreign(int32_t tid, const struct guest_clock *clock, int64_t late_ns)
{
	struct vm vm = vm_make(&vm_host, tid, clock, tid == 815 ? "detector" : "burn", 55);

	vm.guest.hz = SECOND;
	vm.guest.origin = KTAU_ORIGIN_BPF;
	vm.guest.late_ns = late_ns;
	return vm;
}

/* Two guests take turns for times of any length, @ms milliseconds in all. */
static void alternate(struct vm *a, struct vm *b, uint64_t ms)
{
	uint64_t t = VM_TURNS, end = VM_TURNS + ms * MS, length;
	unsigned int seed = 1;
	struct vm *vm = a;

	for (; t < end; t += length) {
		seed = seed * 1103515245 + 12345;
		length = 300 * US + (seed >> 8) % (6 * MS);
		vm_file_on(&vm_host, vm->thread, t, 0, EV_SCHEDULE);
		vm_runs(vm, t + 2 * US, t + length - 3 * US, EXIT_INTR);
		vm_file_off(&vm_host, vm->thread, t + length, 0, EV_SCHEDULE);
		vm = vm == a ? b : a;
	}
}

/* The clock of guest @i, which has @truth, is right to its band. */
static void check_clock(const struct seen *s, size_t i, const struct guest_clock *truth)
{
	const struct vm_machine *m = &s->machines[i];
	const struct vcpu *v = s->machines[0].vcpus[m->cpus[0].vcpu];
	const uint64_t times[] = { m->first, m->first + (m->last - m->first) / 3, m->last };
	size_t t;

	assert_int_equal(v->serial, i == 1 ? 815 : 905);
	assert_int_equal(v->nr_clocks, 1);
	assert_true(v->band_ns > 0 && v->band_ns < 50000);
	for (t = 0; t < 3; t++)
		assert_near(vm_to_host(v, times[t]), guest_clock_to_host(truth, times[t]),
			    (uint64_t)v->band_ns + 2);
	assert_int_equal(vm_share_of(&m->cpus[0], v, UINT64_MAX).outside, 0);
}

static void found_clocks(void **state)
{
	struct vm a = make_foreign(815, &fast, 4310 * (int64_t)MS);
	struct vm b = make_foreign(905, &slow, -9990 * (int64_t)MS);
	struct seen s;

	(void)state;
	/* The host knows KVM's clock, which is not that of the guest's recording. */
	vm_file_clock(&vm_host, a.thread, VM_TURNS / 2, 0, &vm_plain);
	/* Before its kernel began, the guest's own clock had no time. */
	vm_file_enter(&vm_host, a.thread, VM_TURNS / 2, 0);
	vm_file_exit(&vm_host, a.thread, VM_TURNS / 2 + 20 * MS, 0, EXIT_INTR);
	alternate(&a, &b, 400);
	s = look(&a, &b);
	assert_int_equal(s.status, CLI_DONE);
	check_clock(&s, 1, &fast);
	check_clock(&s, 2, &slow);
	done(&s);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&b.guest);
}

/*
 * What the host took from two such guests, for paths. A third machine, which is measured in the
 * same way, is a guest of another host.
 */
static void steals(void **state)
{
	struct vm a = make_foreign(815, &fast, 20 * (int64_t)MS);
	struct vm b = make_foreign(905, &slow, -30 * (int64_t)MS);
	struct vm_file other = { .boot = 9 };
	struct vm stranger = vm_make(&other, 7, &slow, "stranger", 61);
	struct vm_file *const machines[] = { &stranger.guest, &a.guest, &vm_host, &b.guest };
	struct shared_options in = { .nr_files = 4 };
	struct steals s = { 0 };
	char path[64];
	size_t i;

	(void)state;
	stranger.guest.hz = SECOND;
	stranger.guest.origin = KTAU_ORIGIN_BPF;
	alternate(&a, &b, 400);
	vm_runs(&stranger, VM_TURNS, VM_TURNS + 400 * MS, EXIT_INTR);
	in.files = cli_alloc(NULL, 4, sizeof(char *));
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%zu", folder, i);
		in.files[i] = vm_file_write(machines[i], path);
	}
	assert_int_equal(vm_keep_steals(&in, 4, &s), CLI_DONE);
	assert_int_equal(s.machines[0].host, SIZE_MAX);
	assert_int_equal(s.machines[0].nr, 0);
	for (i = 1; i < 4; i += 2) {
		assert_int_equal(s.machines[i].host, 2);
		assert_true(s.machines[i].band_ns > 0 && s.machines[i].band_ns < 50000);
		assert_near(clock_line_map(&s.machines[i].line, VM_END), VM_END,
			    (uint64_t)s.machines[i].band_ns + 10);
		assert_true(s.machines[i].nr > 30);
		assert_int_equal(s.causes[s.machines[i].all->cause].machine, 4 - i);
	}
	steals_deinit(&s);
	vm_files_remove(in.files, 4);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&b.guest);
	vm_file_deinit(&stranger.guest);
	vm_file_deinit(&other);
}

/* A guest that counts cycles, under a host that does not say how they follow from its own. */
static void found_counter(void **state)
{
	static const struct guest_clock counter = { 0xffffffffff000000ULL, 3ULL << 31, 32 };
	struct vm a = vm_make(&vm_host, 815, &counter, "detector", 55);
	struct vm b = vm_make(&vm_host, 905, &vm_plain, "burn", 61);
	struct seen s;

	(void)state;
	alternate(&a, &b, 300);
	s = look(&a, NULL);
	assert_int_equal(s.status, CLI_DONE);
	check_clock(&s, 1, &counter);
	done(&s);
	vm_file_deinit(&a.guest);
	vm_file_deinit(&b.guest);
}

/*
 * Clocks that are too far apart, or whose rates are; a guest that was never left, and another
 * thread that was not, so nothing shows that it does not run the guest.
 */
static void refused_clocks(void **state)
{
	static const struct guest_clock fastest = { 1, 281756451687367ULL, 48 };
	static const struct {
		const struct guest_clock *clock;
		int64_t late_ns;
		uint64_t ms;
		bool other;
	} cases[] = {
		{ &fast, 10500 * (int64_t)MS, 300, false }, { &fastest, 0, 300, false },
		{ &fast, 0, 0, false }, { &fast, 0, 300, true },
	};
	struct vm_task *other;
	struct vm a, b;
	struct seen s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		a = make_foreign(815, cases[i].clock, cases[i].late_ns);
		b = make_foreign(905, &slow, 0);
		alternate(&a, &b, cases[i].ms);
		if (!cases[i].ms)
			vm_runs(&a, VM_TURNS, VM_TURNS + 100 * MS, EXIT_INTR);
		if (cases[i].other) {
			other = vm_file_task(&vm_host, 1001, "CPU 0/KVM");
			vm_file_enter(&vm_host, other, VM_TURNS + 1 * MS, 1);
			vm_file_exit(&vm_host, other, 2 * VM_TURNS, 1, EXIT_INTR);
		}
		s = look(&a, NULL);
		assert_int_equal(s.status, CLI_FAILED);
		done(&s);
		vm_file_deinit(&a.guest);
		vm_file_deinit(&b.guest);
		vm_file_deinit(&vm_host);
	}
}

/*
 * A machine that is no guest, and a host with @nr threads of virtual CPUs, which are all the same.
 * Return: whether the search was given up.
 */
static bool gives_up(struct vm *vm, size_t nr)
{
	struct vcpu **threads = cli_alloc(NULL, nr, sizeof(struct vcpu *)), **kept;
	struct seen s = { 0 };
	size_t i;
	bool given_up;

	read_one(&s, &vm_host);
	read_one(&s, &vm->guest);
	kept = s.machines[0].vcpus;
	for (i = 0; i < nr; i++)
		threads[i] = *kept;
	s.machines[0].vcpus = threads;
	s.machines[0].nr_vcpus = nr;
	vm_match_known(s.machines, 2);
	assert_int_equal(s.machines[1].cpus[0].host, SIZE_MAX);
	given_up = s.machines[1].gave_up;
	s.machines[0].vcpus = kept;
	s.machines[0].nr_vcpus = 1;
	done(&s);
	free(threads);
	return given_up;
}

/* The limit of a search is one for all threads of virtual CPUs, however many there are. */
static void limit(void **state)
{
	struct vm_file other = { .boot = 9 };
	struct vm a = make_foreign(815, &fast, 0);
	struct vm stranger = vm_make(&other, 7, &slow, "stranger", 61);
	uint64_t t;

	(void)state;
	stranger.guest.hz = SECOND;
	stranger.guest.origin = KTAU_ORIGIN_BPF;
	for (t = VM_TURNS; t < VM_TURNS + 400 * MS; t += 2 * MS)
		vm_runs(&a, t, t + 1900 * US, EXIT_INTR);
	vm_runs(&stranger, VM_TURNS, VM_TURNS + 400 * MS, EXIT_INTR);
	assert_false(gives_up(&stranger, 1));
	assert_true(gives_up(&stranger, 1 << 9));
	vm_file_deinit(&a.guest);
	vm_file_deinit(&stranger.guest);
	vm_file_deinit(&other);
}

int main(void)
{
#define TEST(f)	cmocka_unit_test_setup_teardown(f, vm_host_begin, vm_host_end)
	const struct CMUnitTest tests[] = {
		TEST(found_clocks), TEST(steals), TEST(found_counter), TEST(refused_clocks),
		TEST(limit),
	};
	int failed;

	cli_init("test_vm_search");
	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
