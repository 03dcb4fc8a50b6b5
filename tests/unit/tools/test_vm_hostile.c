// SPDX-License-Identifier: GPL-2.0-only
/*
 * What recordings of hosts and guests may claim: times that are wrong, any number of clocks, of
 * causes and of exits, and machines that run each other. Each test ends at once; a step for each
 * pair of things would take minutes, until the alarm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "vm/cause.h"
#include "vm/match.h"

enum { MANY = 200000, LIMIT_S = 60 };

static int begin(void **state)
{
	(void)state;
	alarm(LIMIT_S);
	return 0;
}

/* A slot of the thread with a payload. */
static void put_other(struct vcpu *v, uint64_t ticks, uint8_t type, const void *payload,
		      size_t bytes)
{
	struct {
		struct ktau_slot slot;
		uint64_t payload[4];
	} s = { .slot = { .ticks = ticks, .type = type, .id = KTAU_ID_NONE } };
	struct timeline_event e = { .type = type, .slot = &s.slot };

	s.slot.words = (uint8_t)((sizeof(s.slot) + bytes) / 8);
	memcpy(s.payload, payload, bytes);
	vcpu_event(v, &e, ticks, VCPU_OTHER);
}

/* A slot of a frame of the thread. */
static void put(struct vcpu *v, uint64_t ticks, uint8_t type, enum vcpu_frame frame)
{
	struct ktau_slot slot = { .ticks = ticks, .type = type, .id = KTAU_ID_NONE,
				  .words = sizeof(slot) / 8 };
	struct timeline_event e = { .type = type, .slot = &slot };

	vcpu_event(v, &e, ticks, frame);
}

/* Exits without an entry between them: each gives its reason to the time since the one before. */
static void many_exits(void **state)
{
	struct ktau_slot_kvm kvm = { 0 };
	struct vcpu *v = vcpu_create(1);
	uint64_t t;
	size_t i;

	(void)state;
	for (t = 0; t < 4 * MANY; t += 4) {
		put(v, t, KTAU_TRACE_ENTER, VCPU_PREEMPT);
		put(v, t + 1, KTAU_TRACE_EXIT, VCPU_PREEMPT);
		kvm.reason = (uint32_t)(t / 4 % 2);
		put_other(v, t + 2, KTAU_TRACE_KVM_EXIT, &kvm, sizeof(kvm));
	}
	vcpu_finish(v);
	assert_true(v->nr_intervals >= 2 * MANY);
	for (i = 0; i + 1 < v->nr_intervals; i++)
		assert_int_equal(v->intervals[i].reason, (v->intervals[i].from + 1) / 4 % 2);
	vcpu_destroy(v);
}

/* Wakeups from before the recording. */
static void many_wakeups(void **state)
{
	const struct ktau_slot_woken woken = { .target_cpu = 7 };
	struct vcpu *v = vcpu_create(1);
	uint64_t t;

	(void)state;
	for (t = 0; t < 4 * MANY; t += 4) {
		put(v, t, KTAU_TRACE_ENTER, VCPU_QUEUED);
		put(v, t + 1, KTAU_TRACE_EXIT, VCPU_QUEUED);
		put_other(v, t + 1, KTAU_TRACE_WOKEN, &woken, sizeof(woken));
	}
	vcpu_finish(v);
	assert_int_equal(v->intervals[v->nr_intervals - 2].state, VCPU_PREEMPTED);
	assert_int_equal(v->intervals[v->nr_intervals - 2].cpu, 7);
	vcpu_destroy(v);
}

static void add_run(struct vcpu *v, uint64_t enter, uint64_t exit, uint32_t clock)
{
	if (v->nr_runs == v->runs_room) {
		v->runs_room = 2 * v->runs_room + 16;
		v->runs = cli_alloc(v->runs, v->runs_room, sizeof(*v->runs));
	}
	v->runs[v->nr_runs++] = (struct vcpu_run){ enter, exit, clock, false };
}

static void add_clock(struct vcpu *v, struct guest_clock clock)
{
	if (v->nr_clocks == v->clocks_room) {
		v->clocks_room = 2 * v->clocks_room + 16;
		v->clocks = cli_alloc(v->clocks, v->clocks_room, sizeof(*v->clocks));
	}
	v->clocks[v->nr_clocks++] = clock;
}

/* A clock for each run, as BPF programs may write them. */
static void many_clocks(void **state)
{
	struct vcpu *v = vcpu_create(1);
	uint64_t i, guest;

	(void)state;
	for (i = 0; i < MANY; i++) {
		add_clock(v, (struct guest_clock){ 3 * i, 1, 0 });
		add_run(v, 100 * i, 100 * i + 50, (uint32_t)i);
	}
	vcpu_finish(v);
	for (i = 0; i < MANY; i++) {
		guest = vm_to_guest(v, 100 * i + 20);
		assert_int_equal(guest, 103 * i + 20);
		assert_int_equal(vm_to_host(v, guest), 100 * i + 20);
	}
	vcpu_destroy(v);
}

/* A counter that is set back has some times twice: the later one counts. */
static void set_back(void **state)
{
	struct vcpu *v = vcpu_create(1);

	(void)state;
	add_clock(v, (struct guest_clock){ 0, 1, 0 });
	add_clock(v, (struct guest_clock){ (uint64_t)-2000, 1, 0 });
	add_run(v, 1000, 2000, 0);
	add_run(v, 3000, 3500, 0);
	add_run(v, 4000, 5000, 1);
	vcpu_finish(v);
	assert_int_equal(vm_to_host(v, 1500), 1500);
	assert_int_equal(vm_to_host(v, 2500), 4500);
	assert_int_equal(vm_to_host(v, 3100), 5100);
	vcpu_destroy(v);
}

/* Each run claims, by a clock of its own, that it has all slots of the guest. */
static void all_in_each(void **state)
{
	struct vm_cpu cpu = { .slots = cli_alloc(NULL, MANY, sizeof(uint64_t)), .nr_slots = MANY };
	struct vcpu *v = vcpu_create(1);
	uint64_t i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		cpu.slots[i] = i;
		add_clock(v, (struct guest_clock){ 0 - (10 * i << 20), 1 << 20, 0 });
		add_run(v, 10 * i, 10 * i + 9, (uint32_t)i);
	}
	vcpu_finish(v);
	assert_true(vm_share_of(&cpu, v, UINT64_MAX).outside > MANY);
	vcpu_destroy(v);
	free(cpu.slots);
}

/* A machine with a CPU and the thread of a virtual CPU. */
static void make(struct vm_machine *m, const char *name)
{
	vm_machine_init(m, name);
	m->cpus = cli_alloc(NULL, 1, sizeof(*m->cpus));
	m->cpus[0] = (struct vm_cpu){ .host = SIZE_MAX };
	m->nr_cpus = 1;
	m->vcpus = cli_alloc(NULL, 1, sizeof(struct vcpu *));
	m->vcpus[0] = vcpu_create(1);
	m->nr_vcpus = 1;
	add_clock(m->vcpus[0], (struct guest_clock){ 0, 1, 0 });
}

/* While a virtual CPU was preempted, each of many tasks had the CPU ten times. */
static void many_causes(void **state)
{
	struct vm_machine machines[2];
	struct vm_analysis a = { .machines = machines, .nr_machines = 2 };
	struct vm_cpu *c;
	struct vm_account account;
	struct vcpu *v;
	uint64_t i, sum = 0;

	(void)state;
	make(&machines[0], "host");
	make(&machines[1], "guest");
	c = &machines[0].cpus[0];
	c->runs = cli_alloc(NULL, 10 * MANY, sizeof(*c->runs));
	c->nr_runs = 10 * MANY;
	for (i = 0; i < c->nr_runs; i++)
		c->runs[i] = (struct vm_run){ 10 * i, 10 * i + 10, 1000 + i % MANY };
	v = machines[0].vcpus[0];
	add_run(v, 0, 1, 0);
	v->intervals = cli_alloc(NULL, 1, sizeof(*v->intervals));
	v->intervals[0] = (struct vcpu_interval){ 0, 0, 0, VCPU_PREEMPTED };
	v->nr_intervals = 1;
	v->end = 10 * c->nr_runs;
	v->machine = 1;
	vcpu_finish(v);
	machines[1].cpus[0].host = machines[1].cpus[0].vcpu = 0;
	machines[0].first = machines[1].first = 0;
	machines[0].last = machines[1].last = v->end;
	assert_true(vm_account(&a, 1, 0, &account));
	assert_int_equal(account.states[VCPU_PREEMPTED], v->end);
	assert_int_equal(a.nr_pairs, MANY);
	for (i = 0; i < a.nr_pairs; i++) {
		assert_int_equal(a.pairs[i].ticks, 100);
		assert_int_equal(a.pairs[i].times, 1);
		sum += a.pairs[i].ticks;
	}
	assert_int_equal(sum, account.states[VCPU_PREEMPTED]);
	vm_analysis_deinit(&a);
	vm_machine_deinit(&machines[0]);
	vm_machine_deinit(&machines[1]);
}

/* A machine whose slots all are in the runs of each other's thread. */
static void make_like_others(struct vm_machine *m, const char *name)
{
	enum { NR = 1000 };
	uint64_t i;

	make(m, name);
	m->cpus[0].slots = cli_alloc(NULL, NR, sizeof(uint64_t));
	m->cpus[0].nr_slots = NR;
	for (i = 0; i < NR; i++) {
		m->cpus[0].slots[i] = 1000 * i + 10;
		add_run(m->vcpus[0], 1000 * i, 1000 * i + 500, 0);
	}
	vcpu_finish(m->vcpus[0]);
}

static void each_other(void **state)
{
	struct vm_machine machines[3];
	size_t i;

	(void)state;
	make(&machines[0], "host");
	make_like_others(&machines[1], "a");
	make_like_others(&machines[2], "b");
	assert_int_equal(vm_match(machines, 3), CLI_FAILED);
	assert_int_equal(machines[1].cpus[0].host, 2);
	assert_int_equal(machines[2].cpus[0].host, SIZE_MAX);
	machines[1].cpus[0].host = SIZE_MAX;
	machines[2].vcpus[0]->machine = SIZE_MAX;
	vm_match_known(machines, 3);
	assert_int_equal(machines[1].cpus[0].host, 2);
	assert_int_equal(machines[2].cpus[0].host, SIZE_MAX);
	for (i = 0; i < 3; i++)
		vm_machine_deinit(&machines[i]);
}

int main(void)
{
#define TEST(f)	cmocka_unit_test_setup(f, begin)
	const struct CMUnitTest tests[] = {
		TEST(many_exits), TEST(many_wakeups), TEST(many_clocks), TEST(set_back),
		TEST(all_in_each), TEST(many_causes), TEST(each_other),
	};

	cli_init("test_vm_hostile");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
