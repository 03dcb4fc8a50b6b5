// SPDX-License-Identifier: GPL-2.0-only
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
#include "vm_files.h"

static const struct {
	uint16_t id;
	uint32_t group;
	const char *name;
} names[] = {
	{ EV_GUEST, KTAU_GROUP_KVM, "guest" },
	{ EV_SCHEDULE, KTAU_GROUP_SCHED, "schedule" },
	{ EV_WAIT, KTAU_GROUP_SCHED, "schedule_wait" },
	{ EV_VOL, KTAU_GROUP_SCHED, "schedule_vol_interruptible" },
	{ EV_IRQ, KTAU_GROUP_IRQ, "irq:4:ttyS0" },
	{ EV_CALL, KTAU_GROUP_SYSCALL, "__x64_sys_gettimeofday" },
};

struct vm_task *vm_file_task(struct vm_file *f, int32_t tid, const char *comm)
{
	struct vm_task *task = calloc(1, sizeof(*task));

	assert_non_null(task);
	assert_true(f->nr_tasks < MAX_TASKS);
	f->tasks[f->nr_tasks++] = task;
	*task = (struct vm_task){ .serial = (uint64_t)tid, .leader = (uint64_t)tid, .tid = tid,
				  .comm = comm };
	return task;
}

/* The counter of the machine at the time @t of the outermost host. */
static uint64_t ticks_at(const struct vm_file *f, uint64_t t)
{
	uint64_t host = f->host ? ticks_at(f->host, t) : t;

	return f->clock ? guest_clock_to_guest(f->clock, host) : host;
}

void vm_file_slot(const struct vm_file *f, struct vm_task *task, uint64_t t, struct ktau_slot slot,
		  const void *payload)
{
	size_t bytes = slot.words * 8U, words = (sizeof(slot) + bytes) / 8;

	if (task->nr_words + words > task->room) {
		task->room = (task->nr_words + words) * 2;
		task->words = realloc(task->words, task->room * 8);
		assert_non_null(task->words);
	}
	slot.ticks = ticks_at(f, t);
	slot.words = (uint8_t)words;
	if (slot.type != KTAU_TRACE_ENTER && slot.type != KTAU_TRACE_EXIT)
		slot.id = KTAU_ID_NONE;
	memcpy(task->words + task->nr_words, &slot, sizeof(slot));
	if (bytes)
		memcpy(task->words + task->nr_words + 2, payload, bytes);
	task->nr_words += words;
	task->nr_slots++;
}

void vm_file_in(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		uint16_t id)
{
	vm_file_slot(f, task, t, (struct ktau_slot){
		.type = KTAU_TRACE_ENTER, .id = id, .cpu = cpu,
		.ctx = id == EV_IRQ ? KTAU_CTX_HARDIRQ : KTAU_CTX_TASK }, NULL);
}

void vm_file_out(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		 uint16_t id)
{
	vm_file_slot(f, task, t, (struct ktau_slot){
		.type = KTAU_TRACE_EXIT, .id = id, .cpu = cpu,
		.ctx = id == EV_IRQ ? KTAU_CTX_HARDIRQ : KTAU_CTX_TASK }, NULL);
}

static struct ktau_slot slot_of(uint8_t type, uint16_t cpu, size_t bytes)
{
	return (struct ktau_slot){ .type = type, .cpu = cpu, .words = (uint8_t)(bytes / 8) };
}

void vm_file_clock(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		   const struct guest_clock *clock)
{
	struct ktau_slot_kvm_clock s = {
		.frac_bits = clock->frac_bits,
		.tsc_offset = clock->offset,
		.tsc_ratio = clock->ratio,
	};

	vm_file_slot(f, task, t, slot_of(KTAU_TRACE_KVM_CLOCK, cpu, sizeof(s)), &s);
}

void vm_file_enter(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu)
{
	static const struct ktau_slot_kvm kvm;

	vm_file_in(f, task, t, cpu, EV_GUEST);
	vm_file_slot(f, task, t, slot_of(KTAU_TRACE_KVM_ENTER, cpu, sizeof(kvm)), &kvm);
}

void vm_file_exit(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		  uint32_t reason)
{
	struct ktau_slot_kvm kvm = { .reason = reason };

	vm_file_out(f, task, t, cpu, EV_GUEST);
	vm_file_slot(f, task, t, slot_of(KTAU_TRACE_KVM_EXIT, cpu, sizeof(kvm)), &kvm);
}

void vm_file_off(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		 uint16_t id)
{
	struct ktau_slot_switch s = { .state = id == EV_VOL };

	vm_file_in(f, task, t, cpu, id);
	vm_file_slot(f, task, t, slot_of(KTAU_TRACE_SWITCH, cpu, sizeof(s)), &s);
}

void vm_file_on(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		uint16_t id)
{
	vm_file_out(f, task, t, cpu, id);
}

static struct ktau_rec_owner owner_of(const struct vm_task *task)
{
	struct ktau_rec_owner owner = fixture_owner(KTAU_OWNER_TASK, task->serial, task->tid,
						    task->tid, task->comm);

	owner.start_ns = 1;
	owner.leader_serial = task->leader;
	if (task->idle)
		owner.flags |= KTAU_OWNER_IDLE;
	return owner;
}

static int put_trace(struct sink *s, const struct vm_task *task)
{
	size_t bytes = task->nr_words * 8;
	struct ktau_rec_owner owner = owner_of(task);
	struct ktau_rec_trace *t = calloc(1, sizeof(*t) + bytes);
	int err;

	assert_non_null(t);
	*t = (struct ktau_rec_trace){
		.rec = { (uint32_t)(sizeof(*t) + bytes), KTAU_REC_TRACE, sizeof(*t) },
		.serial = task->serial, .first = task->lost, .lost = task->lost,
		.lost_from_ticks = task->lost_from, .lost_to_ticks = task->lost_to,
		.next = task->lost + task->nr_slots, .written = task->lost + task->nr_slots,
		.ring_slots = 65536, .groups = KTAU_GROUP_SCHED, .nr_slots = task->nr_slots,
		.slots_bytes = (uint32_t)bytes,
	};
	if (bytes)
		memcpy(t + 1, task->words, bytes);
	err = sink_put(s, &owner);
	if (!err)
		err = sink_put(s, t);
	free(t);
	return err;
}

static int put_profile(struct sink *s, const struct vm_task *task)
{
	const struct fixture_profile p = { .owner = owner_of(task), .ticks = VM_END };
	uint64_t nr = 0;

	return fixture_put(s, &p, &nr);
}

static struct vm_file *given;

/* A stream with a record of each task. */
static int put_stream(struct sink *s, uint32_t content,
		      int (*put)(struct sink *s, const struct vm_task *task))
{
	struct ktau_rec_stream head = fixture_stream(content, VM_END);
	struct ktau_rec_end end = fixture_end(given->nr_tasks, 1);
	struct ktau_rec_event event = { 0 };
	size_t i;
	int err;

	end.lost_evicted = given->lost_before;
	if (content == KTAU_REC_TRACE)
		end.lost_evicted += given->lost_evicted;
	head.boot_id[0] = given->boot;
	if (given->name)
		strcpy(head.nodename, given->name);
	head.clock_hz = given->hz ? given->hz : SECOND;
	head.ticks = given->at;
	head.boot_ticks = 0;
	head.origin = given->origin;
	head.realtime_ns += (uint64_t)given->late_ns;
	err = sink_put(s, &head);
	for (i = 0; !err && i < sizeof(names) / sizeof(*names); i++) {
		event.id = names[i].id;
		event.group = names[i].group;
		err = fixture_put_event(s, &event, names[i].name);
	}
	for (i = 0; !err && i < given->nr_tasks; i++)
		err = put(s, given->tasks[i]);
	return err ? err : sink_put(s, &end);
}

static int put_all(struct sink *s)
{
	int err = given->profiled ? put_stream(s, KTAU_REC_PROFILE, put_profile) : 0;

	return err ? err : put_stream(s, KTAU_REC_TRACE, put_trace);
}

char *vm_file_write(struct vm_file *f, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s.ktau", name) > 0);
	remove(path);
	given = f;
	f->at = ticks_at(f, VM_END);
	assert_int_equal(fixture_saved(path, put_all), 0);
	return path;
}

void vm_file_deinit(struct vm_file *f)
{
	size_t i;

	for (i = 0; i < f->nr_tasks; i++) {
		free(f->tasks[i]->words);
		free(f->tasks[i]);
	}
	f->nr_tasks = 0;
}

void vm_files_remove(char **files, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		unlink(files[i]);
		free(files[i]);
	}
	free(files);
}

struct vm_file vm_host;

int vm_host_begin(void **state)
{
	(void)state;
	vm_host = (struct vm_file){ .boot = 1 };
	return 0;
}

int vm_host_end(void **state)
{
	(void)state;
	vm_file_deinit(&vm_host);
	return 0;
}

/* Virtual machines */

const struct guest_clock vm_plain = { (uint64_t)-70185649LL, 1ULL << 32, 32 };
const struct guest_clock vm_later = { (uint64_t)-999999937LL, 1ULL << 32, 32 };

struct vm vm_make(struct vm_file *host, int32_t tid, const struct guest_clock *clock,
		  const char *task, int32_t task_tid)
{
	struct vm vm = { .host = host, .thread = vm_file_task(host, tid, "CPU 0/KVM") };

	vm.guest = (struct vm_file){ .boot = (uint8_t)tid, .clock = clock };
	if (host->clock)
		vm.guest.host = host;
	if (clock->ratio != 1ULL << clock->frac_bits)
		vm.guest.hz = (uint64_t)((double)SECOND * (double)clock->ratio /
					 (double)(1ULL << clock->frac_bits));
	vm.task = vm_file_task(&vm.guest, task_tid, task);
	return vm;
}

void vm_calls(const struct vm *vm, uint64_t from, uint64_t to)
{
	uint64_t t = from + 200;
	unsigned int seed = (unsigned int)(from % SECOND);

	for (; t + 2 * US < to; t += 2 * US + seed % 20000) {
		vm_file_in(&vm->guest, vm->task, t, 0, EV_CALL);
		vm_file_out(&vm->guest, vm->task, t + 300, 0, EV_CALL);
		seed = seed * 1103515245 + 12345;
	}
}

void vm_runs(struct vm *vm, uint64_t from, uint64_t to, uint32_t reason)
{
	vm_file_enter(vm->host, vm->thread, from, vm->cpu);
	vm_calls(vm, from, to);
	vm_file_exit(vm->host, vm->thread, to, vm->cpu, reason);
}

void vm_take_turns(const struct vm_file *host, struct vm *a, struct vm *b)
{
	static const uint64_t ms[] = { 1, 5, 18, 20, 21, 24 };
	struct vm *vm, *next;
	uint64_t at[6];
	size_t i;

	for (i = 0; i < 6; i++)
		at[i] = VM_TURNS + ms[i] * MS;
	vm_file_on(host, a->thread, at[0], 0, EV_SCHEDULE);
	vm_file_clock(host, a->thread, at[0], 0, a->guest.clock);
	vm_file_clock(host, b->thread, at[1] + 1, 0, b->guest.clock);
	for (i = 0; i < 5; i++) {
		vm = i % 2 ? b : a;
		next = i % 2 ? a : b;
		if (i)
			vm_file_out(&vm->guest, vm->task, at[i] + 300, 0, EV_CALL);
		vm_runs(vm, at[i] + 100, at[i + 1] - 200, EXIT_INTR);
		if (i < 4)
			vm_file_in(&vm->guest, vm->task, at[i + 1] - 300, 0, EV_CALL);
		vm_file_off(host, vm->thread, at[i + 1], 0, EV_SCHEDULE);
		vm_file_on(host, next->thread, at[i + 1], 0, EV_SCHEDULE);
	}
}

static void write_to(struct vm_file *f, const char *folder, const char *name)
{
	char path[256];

	f->name = name;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	free(vm_file_write(f, path));
	vm_file_deinit(f);
}

void vm_example(const char *folder)
{
	struct vm_file host = { .boot = 1, .profiled = true };
	struct vm a = vm_make(&host, 815, &vm_plain, "detector", 55);
	struct vm b = vm_make(&host, 905, &vm_later, "burn", 61);

	vm_take_turns(&host, &a, &b);
	write_to(&host, folder, "host");
	write_to(&a.guest, folder, "guest1");
	write_to(&b.guest, folder, "guest2");
}
