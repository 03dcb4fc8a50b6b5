// SPDX-License-Identifier: GPL-2.0-only
/*
 * vms FOLDER SLOTS: write recordings of a host and its guests, host.ktau, guest1.ktau and
 * guest2.ktau, with about so many slots in all.
 *
 * Each guest has two CPUs. On each CPU of the host the threads of two virtual CPUs, one of each
 * guest, take turns: in a turn of 1 ms a thread enters its guest five times, and a task there makes
 * a system call in each of them.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/tools/fixture.h"
#include "number.h"

enum { NR_GUESTS = 2, NR_CPUS = 2, ENTRIES = 5 };
/* Slots of a turn: in the host guest and KVM slots, and a switch; in the guest a call. */
enum { TURN_SLOTS = ENTRIES * (4 + 2) + 3 };
/* Turns in a stream: a task's slots of it fit into a record. */
enum { STREAM_TURNS = 100 };
enum { EV_GUEST = 1, EV_SCHEDULE, EV_CALL };

#define US	1000ULL
#define START	SECOND
#define OFFSET	(7 * SECOND)	/* of the counters of guests */

/* A task's slots of a stream, and how many it had before. */
struct ring {
	uint64_t words[STREAM_TURNS * 128];
	size_t nr_words;
	uint32_t nr;
	uint64_t before;
};

static struct ring threads[NR_GUESTS][NR_CPUS], tasks[NR_GUESTS][NR_CPUS];
static uint64_t nr_turns;
static size_t machine;	/* 0: the host */
static uint8_t boot_id[16];

static void add(struct ring *r, uint64_t t, struct ktau_slot slot, const void *payload,
		size_t bytes)
{
	slot.ticks = t;
	slot.words = (uint8_t)((sizeof(slot) + bytes) / 8);
	if (r->nr_words + slot.words > sizeof(r->words) / 8)
		errx(1, "too many slots");
	memcpy(r->words + r->nr_words, &slot, sizeof(slot));
	if (bytes)
		memcpy(r->words + r->nr_words + sizeof(slot) / 8, payload, bytes);
	r->nr_words += slot.words;
	r->nr++;
}

static void frame(struct ring *r, uint64_t t, uint8_t type, uint16_t id, uint16_t cpu)
{
	add(r, t, (struct ktau_slot){ .type = type, .id = id, .cpu = cpu }, NULL, 0);
}

/* A slot that is not of a frame. */
static struct ktau_slot other(uint8_t type, uint16_t cpu)
{
	return (struct ktau_slot){ .type = type, .id = KTAU_ID_NONE, .cpu = cpu };
}

/* A thread enters its guest at @t, for 180 us; the host's part. */
static void enter(struct ring *thread, uint64_t t, uint16_t cpu)
{
	const struct ktau_slot_kvm kvm = { .vcpu = cpu, .reason = 0x60 };

	frame(thread, t, KTAU_TRACE_ENTER, EV_GUEST, cpu);
	add(thread, t + 100, other(KTAU_TRACE_KVM_ENTER, cpu), &kvm, sizeof(kvm));
	frame(thread, t + 180 * US, KTAU_TRACE_EXIT, EV_GUEST, cpu);
	add(thread, t + 180 * US + 100, other(KTAU_TRACE_KVM_EXIT, cpu), &kvm, sizeof(kvm));
}

/* The guest's part. Calls begin at other times on each CPU, so that only one thread fits. */
static void call(struct ring *task, uint64_t t, uint16_t cpu)
{
	frame(task, t + 1 * US, KTAU_TRACE_ENTER, EV_CALL, cpu);
	frame(task, t + 179 * US, KTAU_TRACE_EXIT, EV_CALL, cpu);
}

static void turn(uint64_t number, uint16_t cpu)
{
	const struct ktau_slot_kvm_clock clock = { .vcpu = cpu, .frac_bits = 32,
						   .tsc_offset = OFFSET, .tsc_ratio = 1ULL << 32 };
	const struct ktau_slot_switch away = { .prio = 120 };
	size_t guest = (number + cpu) % NR_GUESTS;
	uint64_t t = START + number * MS + 13 * US * cpu;
	struct ring *thread = &threads[guest][cpu], *task = &tasks[guest][cpu];
	int i;

	if (!machine) {
		frame(thread, t, KTAU_TRACE_EXIT, EV_SCHEDULE, cpu);
		if (number < NR_GUESTS)
			add(thread, t, other(KTAU_TRACE_KVM_CLOCK, cpu), &clock, sizeof(clock));
	}
	for (i = 0; i < ENTRIES; i++) {
		if (!machine)
			enter(thread, t + (1 + 190 * (uint64_t)i) * US, cpu);
		else if (machine == guest + 1)
			call(task, t + (1 + 190 * (uint64_t)i) * US + OFFSET, cpu);
	}
	if (machine)
		return;
	frame(thread, t + 980 * US, KTAU_TRACE_ENTER, EV_SCHEDULE, cpu);
	add(thread, t + 980 * US, other(KTAU_TRACE_SWITCH, cpu), &away, sizeof(away));
}

static int put_ring(struct sink *s, struct ring *r, uint64_t serial, const char *comm)
{
	size_t bytes = r->nr_words * 8;
	struct ktau_rec_owner owner = fixture_owner(KTAU_OWNER_TASK, serial, (int32_t)serial,
						    (int32_t)serial, comm);
	struct {
		struct ktau_rec_trace t;
		uint64_t words[sizeof(r->words) / 8];
	} *record = calloc(1, sizeof(*record));
	int err;

	if (!record)
		return -1;
	owner.start_ns = 1;
	owner.cgroup = 0;
	record->t = (struct ktau_rec_trace){
		.rec = { (uint32_t)(sizeof(record->t) + bytes), KTAU_REC_TRACE, sizeof(record->t) },
		.serial = serial, .first = r->before, .next = r->before + r->nr,
		.written = r->before + r->nr, .ring_slots = 65536, .groups = KTAU_GROUP_SCHED,
		.nr_slots = r->nr, .slots_bytes = (uint32_t)bytes,
	};
	memcpy(record->words, r->words, bytes);
	r->before += r->nr;
	r->nr_words = r->nr = 0;
	err = sink_put(s, &owner);
	if (!err)
		err = sink_put(s, record);
	free(record);
	return err;
}

static int put_rings(struct sink *s)
{
	struct ring *of = machine ? &tasks[machine - 1][0] : &threads[0][0];
	size_t nr = machine ? NR_CPUS : NR_GUESTS * NR_CPUS, i;
	int err = 0;

	for (i = 0; !err && i < nr; i++)
		err = put_ring(s, &of[i], 100 * (machine + 1) + i, machine ? "load" : "CPU/KVM");
	return err;
}

static int put_names(struct sink *s)
{
	struct ktau_rec_event event = { .id = EV_GUEST, .group = KTAU_GROUP_KVM };
	int err = fixture_put_event(s, &event, "guest");

	event = (struct ktau_rec_event){ .id = EV_SCHEDULE, .group = KTAU_GROUP_SCHED };
	if (!err)
		err = fixture_put_event(s, &event, "schedule");
	event = (struct ktau_rec_event){ .id = EV_CALL, .group = KTAU_GROUP_SYSCALL };
	return err ? err : fixture_put_event(s, &event, "sys_getppid");
}

static int put_stream(struct sink *s, uint64_t at)
{
	struct ktau_rec_stream head = fixture_stream(KTAU_REC_TRACE, at);
	struct ktau_rec_end end = fixture_end(1, 1);
	int err;

	memcpy(head.boot_id, boot_id, sizeof(boot_id));
	head.boot_ticks = 0;
	head.ticks = at + (machine ? OFFSET : 0);
	err = sink_put(s, &head);
	if (!err)
		err = put_names(s);
	if (!err)
		err = put_rings(s);
	return err ? err : sink_put(s, &end);
}

static int put_turns(struct sink *s)
{
	uint64_t number;
	unsigned int cpu;
	int err = 0;

	for (number = 0; !err && number < nr_turns; number++) {
		for (cpu = 0; cpu < NR_CPUS; cpu++)
			turn(number, (uint16_t)cpu);
		if (number % STREAM_TURNS == STREAM_TURNS - 1 || number == nr_turns - 1)
			err = put_stream(s, START + (number + 1) * MS + 13 * US * NR_CPUS);
	}
	return err;
}

/* A new file. */
static int write_machine(const char *path)
{
	struct sink s = { 0 };
	int err = ktau_writer_create(&s.w);

	if (err)
		return err;
	boot_id[0] = (uint8_t)(machine + 1);
	err = ktau_writer_open(s.w, path, KTAU_WRITER_ZLIB, boot_id);
	if (!err)
		err = put_turns(&s);
	if (!err)
		err = ktau_writer_close(s.w);
	if (err)
		warnx("%s: %s", path, ktau_writer_error(s.w));
	ktau_writer_destroy(s.w);
	return err;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "host", "guest1", "guest2" };
	char path[4096];

	if (argc != 3)
		errx(2, "usage: vms FOLDER SLOTS");
	nr_turns = number(argv[2]) / (TURN_SLOTS * NR_CPUS);
	for (machine = 0; machine < sizeof(names) / sizeof(*names); machine++) {
		snprintf(path, sizeof(path), "%s/%s.ktau", argv[1], names[machine]);
		memset(threads, 0, sizeof(threads));
		memset(tasks, 0, sizeof(tasks));
		if (write_machine(path))
			return 1;
	}
	return 0;
}
