// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files for the tests of the exporters:
 *
 *	export_fixture FILE [TASKS [ROUNDS [SLOTS [LOSSY [HOST]]]]]
 *
 * Each of TASKS tasks has a CPU of its own, which it shares with the idle task, and does
 * pseudo-random nested work, from which this program computes its profile like a kernel. A
 * round is a stream of traces with about SLOTS slots of each task; the last stream has the
 * profiles. The clock runs at 2.4 GHz. At the end the first task is inside two frames. With
 * LOSSY, every third ring lacks the first half of its slots. HOST is the number of another
 * machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#define HZ		2400000000ULL
#define START		(3 * HZ)	/* the first round */
#define SERIAL_TASK	100
#define SERIAL_IDLE	100000

enum { E_READ = 0, E_WRITE = 1, E_FAULT = 512, E_SCHEDULE = 513, E_SEND = 640, E_BYTES = 700,
       E_IRQ = 642, E_SOFTIRQ = 520 };
enum { MAX_DEPTH = 6, NR_TIMERS = 7, RING_BYTES = 1 << 20 };

static const struct {
	uint16_t id;
	uint8_t kind, source;
	uint32_t group;
	const char *name;
} events[] = {
	{ E_READ, KTAU_KIND_TIMER, KTAU_SOURCE_SYSCALL, KTAU_GROUP_SYSCALL, "__x64_sys_read" },
	{ E_WRITE, KTAU_KIND_TIMER, KTAU_SOURCE_SYSCALL, KTAU_GROUP_SYSCALL, "__x64_sys_write" },
	{ E_FAULT, KTAU_KIND_TIMER, KTAU_SOURCE_STATIC, KTAU_GROUP_EXCEPTION, "page_fault_user" },
	{ E_SCHEDULE, KTAU_KIND_TIMER, KTAU_SOURCE_STATIC, KTAU_GROUP_SCHED, "schedule_vol" },
	{ E_SOFTIRQ, KTAU_KIND_TIMER, KTAU_SOURCE_STATIC, KTAU_GROUP_BH, "softirq:NET_RX" },
	{ E_SEND, KTAU_KIND_TIMER, KTAU_SOURCE_POINT, KTAU_GROUP_TCP, "tcp_sendmsg" },
	{ E_IRQ, KTAU_KIND_TIMER, KTAU_SOURCE_IRQ, KTAU_GROUP_IRQ, "irq:4:ttyS0" },
	{ E_BYTES, KTAU_KIND_COUNTER, KTAU_SOURCE_POINT, KTAU_GROUP_TCP, "tcp_send_bytes" },
};

enum { NR_EVENTS = sizeof(events) / sizeof(*events) };

struct ring {
	struct ktau_rec_trace head;
	unsigned char bytes[RING_BYTES];
};

struct frame {
	int event;
	uint64_t start, child;
};

struct figures {
	uint64_t count, incl, excl, longest;
	uint32_t open;
};

/* A task or the idle task of its CPU, with its slots of the current round. */
struct task {
	uint32_t number;
	uint64_t now, outer, position, idle_position, last_read, idle_last_read;
	struct frame frames[MAX_DEPTH];
	int depth;
	struct figures figures[NR_EVENTS];
	struct ring ring, idle;
	size_t half_bytes;	/* bytes and slots of the ring's first half */
	uint32_t half_slots;
};

static struct {
	struct task *tasks;
	uint32_t nr_tasks, rounds, slots, host;
	int lossy;
	uint64_t seed, ends, nr_records, cut_ticks;
} given = { .nr_tasks = 4, .rounds = 5, .slots = 200 };

static uint64_t random_below(uint64_t n)
{
	given.seed = given.seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (given.seed >> 33) % n;
}

static void add(struct ring *ring, struct ktau_slot slot, const void *payload, size_t bytes)
{
	slot.words = (uint8_t)(2 + bytes / 8);
	memcpy(ring->bytes + ring->head.slots_bytes, &slot, sizeof(slot));
	if (bytes)
		memcpy(ring->bytes + ring->head.slots_bytes + sizeof(slot), payload, bytes);
	ring->head.slots_bytes += slot.words * 8U;
	ring->head.nr_slots++;
}

static struct ktau_slot slot_of(const struct task *t, uint8_t type, int event)
{
	return (struct ktau_slot){
		.ticks = t->now, .type = type, .id = event < 0 ? KTAU_ID_NONE : events[event].id,
		.cpu = (uint16_t)t->number,
		.ctx = event == 6 ? KTAU_CTX_HARDIRQ : event == 4 ? KTAU_CTX_SOFTIRQ : 0,
	};
}

static void pass(struct task *t)
{
	t->now += 7 + random_below(4000);
}

static void enter(struct task *t, int event)
{
	const uint64_t address = 0x7f0012345000;
	bool fault = events[event].id == E_FAULT;

	pass(t);
	add(&t->ring, slot_of(t, KTAU_TRACE_ENTER, event), &address, fault ? 8 : 0);
	t->frames[t->depth++] = (struct frame){ event, t->now, 0 };
	t->figures[event].open++;
}

static void leave(struct task *t)
{
	const struct frame *f = &t->frames[--t->depth];
	const int64_t result = random_below(10) ? (int64_t)random_below(5000) : -11;
	struct figures *figures = &t->figures[f->event];
	uint64_t duration;

	pass(t);
	add(&t->ring, slot_of(t, KTAU_TRACE_EXIT, f->event), &result,
	    events[f->event].id < 512 ? 8 : 0);
	duration = t->now - f->start;
	figures->count++;
	figures->excl += duration - f->child;
	if (!--figures->open) {
		figures->incl += duration;
		if (duration > figures->longest)
			figures->longest = duration;
	}
	if (t->depth)
		t->frames[t->depth - 1].child += duration;
	else
		t->outer += duration;
}

static void count(struct task *t)
{
	const uint64_t value = 100 + random_below(1400);
	struct figures *figures = &t->figures[7];

	pass(t);
	add(&t->ring, slot_of(t, KTAU_TRACE_COUNT, 7), &value, 8);
	figures->count++;
	figures->incl += value;
	if (figures->count == 1 || value < figures->excl)
		figures->excl = value;
	if (value > figures->longest)
		figures->longest = value;
}

/* Switch to the idle task, and back. */
static void sleep_a_while(struct task *t)
{
	struct ktau_slot_switch to = {
		.next_serial = SERIAL_IDLE + t->number, .state = 1, .prio = 120, .next_prio = 120,
	};
	struct ktau_slot_switch back = {
		.next_serial = SERIAL_TASK + t->number, .prio = 120, .next_prio = 120,
	};
	struct ktau_slot_waking waking = {
		.serial = SERIAL_TASK + t->number, .target_cpu = t->number, .prio = 120,
	};
	struct ktau_slot slot;

	enter(t, 3);
	add(&t->ring, slot_of(t, KTAU_TRACE_SWITCH, -1), &to, sizeof(to));
	t->now += 1000 + random_below(100000);
	slot = slot_of(t, KTAU_TRACE_WAKING, -1);
	slot.ctx = KTAU_CTX_HARDIRQ;
	add(&t->idle, slot, &waking, sizeof(waking));
	pass(t);
	add(&t->idle, slot_of(t, KTAU_TRACE_SWITCH, -1), &back, sizeof(back));
	leave(t);
}

static void step(struct task *t)
{
	static const int inside[] = { 4, 5, 5, 6 };
	uint64_t what = random_below(10);

	if (!t->depth)
		enter(t, (int)random_below(3));
	else if (what < 4 && t->depth < MAX_DEPTH - 1)
		enter(t, inside[random_below(4)]);
	else if (what == 4)
		count(t);
	else if (what == 5 && t->frames[t->depth - 1].event < 2)
		sleep_a_while(t);
	else
		leave(t);
}

static void begin_ring(struct ring *ring, uint64_t serial, uint64_t position)
{
	ring->head = (struct ktau_rec_trace){
		.rec = { 0, KTAU_REC_TRACE, sizeof(ring->head) },
		.serial = serial, .first = position, .ring_slots = 1 << 20,
		.groups = GROUPS | KTAU_MODE_TRACE,
	};
}

static void run_round(struct task *t, bool last)
{
	begin_ring(&t->ring, SERIAL_TASK + t->number, t->position);
	begin_ring(&t->idle, SERIAL_IDLE + t->number, t->idle_position);
	t->half_bytes = 0;
	while (t->ring.head.nr_slots < given.slots) {
		step(t);
		if (!t->half_bytes && t->ring.head.nr_slots >= given.slots / 2) {
			t->half_bytes = t->ring.head.slots_bytes;
			t->half_slots = t->ring.head.nr_slots;
		}
	}
	while (last && t->depth > (t->number ? 0 : 2))
		leave(t);
	while (last && !t->number && t->depth < 2)
		enter(t, t->depth ? 5 : 0);
}

static int put_ring(struct sink *s, struct ring *ring, uint64_t *position)
{
	struct ktau_rec_trace *head = &ring->head;

	if (!head->nr_slots)
		return 0;
	head->rec.size = (uint32_t)sizeof(*head) + head->slots_bytes;
	head->next = head->written = head->first + head->nr_slots;
	*position = head->next;
	given.nr_records++;
	return sink_put(s, ring);
}

/* Lose the first half of a ring, as if overwritten before it was read. */
static void lose_half(struct task *t)
{
	struct ktau_rec_trace *head = &t->ring.head;
	struct ktau_slot slot;

	memmove(t->ring.bytes, t->ring.bytes + t->half_bytes,
		head->slots_bytes - t->half_bytes);
	memcpy(&slot, t->ring.bytes, sizeof(slot));
	head->lost = t->half_slots;
	head->first += t->half_slots;
	head->nr_slots -= t->half_slots;
	head->slots_bytes -= (uint32_t)t->half_bytes;
	head->lost_from_ticks = t->last_read;
	head->lost_to_ticks = slot.ticks;
	if (slot.ticks > given.cut_ticks)
		given.cut_ticks = slot.ticks;
}

static struct ktau_rec_owner owner_of(const struct task *t, bool idle)
{
	struct ktau_rec_owner o;
	char name[16];

	snprintf(name, sizeof(name), idle ? "swapper/%u" : "task \"%u\"", t->number);
	o = fixture_owner(KTAU_OWNER_TASK, (idle ? SERIAL_IDLE : SERIAL_TASK) + t->number,
			  idle ? 0 : 1000 + (int32_t)t->number / 2 * 2,
			  idle ? 0 : 1000 + (int32_t)t->number, name);
	o.cpu = t->number;
	o.flags = idle ? KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD : 0;
	o.leader_serial = idle ? o.serial : SERIAL_TASK + t->number / 2 * 2;
	o.start_ns = SECOND;
	o.cgroup = 0;
	return o;
}

static struct ktau_rec_stream stream_of(uint32_t content, uint64_t ticks)
{
	struct ktau_rec_stream s = fixture_stream(content, ticks / 12 * 5);

	s.clock_hz = HZ;
	s.ticks = ticks;
	s.boot_ticks = HZ;
	s.nr_cpus = given.nr_tasks;
	if (given.host) {
		snprintf(s.nodename, sizeof(s.nodename), "node%u", given.host);
		s.boot_id[0] ^= (uint8_t)given.host;
	}
	return s;
}

static int put_names(struct sink *s)
{
	struct ktau_rec_event event;
	int err = 0;
	size_t i;

	for (i = 0; !err && i < NR_EVENTS; i++) {
		event = (struct ktau_rec_event){
			.id = events[i].id, .kind = events[i].kind, .source = events[i].source,
			.group = events[i].group, .key = events[i].id,
		};
		err = fixture_put_event(s, &event, events[i].name);
	}
	return err;
}

static int put_task(struct sink *s, struct task *t, uint32_t round)
{
	struct ktau_rec_owner owner = owner_of(t, false), idle = owner_of(t, true);
	uint64_t last = t->now;
	int err;

	if (given.lossy && round && (t->number + round) % 3 == 0)
		lose_half(t);
	t->last_read = last;
	err = sink_put(s, &owner);
	if (!err)
		err = sink_put(s, &idle);
	if (!err)
		err = put_ring(s, &t->ring, &t->position);
	return err ? err : put_ring(s, &t->idle, &t->idle_position);
}

/* Put the stream of a round, which begins before the last of its slots. */
static int put_round(struct sink *s, uint32_t round)
{
	bool last = round == given.rounds - 1;
	struct ktau_rec_stream stream;
	struct ktau_rec_end end;
	uint64_t first = UINT64_MAX;
	uint32_t i;
	int err;

	for (i = 0; i < given.nr_tasks; i++) {
		run_round(&given.tasks[i], last);
		if (given.tasks[i].now < first)
			first = given.tasks[i].now;
		if (given.tasks[i].now > given.ends)
			given.ends = given.tasks[i].now;
	}
	given.ends += 12;
	given.nr_records = given.cut_ticks = 0;
	stream = stream_of(KTAU_REC_TRACE, last ? given.ends / 12 * 12 : first / 12 * 12);
	err = sink_put(s, &stream);
	if (!err)
		err = put_names(s);
	for (i = 0; !err && i < given.nr_tasks; i++)
		err = put_task(s, &given.tasks[i], round);
	end = fixture_end(given.nr_records, 0);
	end.cut_ticks = given.cut_ticks;
	return err ? err : sink_put(s, &end);
}

static int put_profile(struct sink *s, const struct task *t, uint64_t ticks, uint64_t *nr)
{
	struct fixture_profile p = { .owner = owner_of(t, false), .ticks = ticks };
	int i;

	for (i = 0; i < NR_EVENTS; i++) {
		const struct figures *f = &t->figures[i];

		if (!f->count)
			continue;
		p.entries[p.nr_entries++] = (struct ktau_entry){
			.id = events[i].id, .kind = events[i].kind,
			.flags = i < NR_TIMERS ? KTAU_ENTRY_LONGEST : 0,
			.count = f->count, .incl = f->incl, .excl = f->excl,
			.longest = f->longest,
		};
	}
	for (i = t->depth; i--;)
		fixture_open(&p, events[t->frames[i].event].id, t->frames[i].start,
			     t->frames[i].child);
	return fixture_put(s, &p, nr);
}

static int put_profiles(struct sink *s)
{
	uint64_t ticks = given.ends / 12 * 12, nr = 0;
	struct ktau_rec_stream stream = stream_of(KTAU_REC_PROFILE, ticks);
	struct ktau_rec_end end;
	uint32_t i;
	int err = sink_put(s, &stream);

	if (!err)
		err = put_names(s);
	for (i = 0; !err && i < given.nr_tasks; i++)
		err = put_profile(s, &given.tasks[i], ticks, &nr);
	end = fixture_end(nr, 0);
	return err ? err : sink_put(s, &end);
}

static int write_all(struct sink *s)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < given.nr_tasks; i++) {
		given.tasks[i].number = i;
		given.tasks[i].now = START + random_below(HZ / 1000);
	}
	given.ends = START;
	for (i = 0; !err && i < given.rounds; i++)
		err = put_round(s, i);
	return err ? err : put_profiles(s);
}

static uint32_t argument(char **argv, int argc, int i, uint32_t otherwise)
{
	return i < argc ? (uint32_t)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	int err;

	if (argc < 2)
		return 2;
	given.nr_tasks = argument(argv, argc, 2, given.nr_tasks);
	given.rounds = argument(argv, argc, 3, given.rounds);
	given.slots = argument(argv, argc, 4, given.slots);
	given.lossy = argument(argv, argc, 5, 0) != 0;
	given.host = argument(argv, argc, 6, 0);
	given.seed = 12345 + given.host;
	given.tasks = calloc(given.nr_tasks, sizeof(*given.tasks));
	if (!given.tasks || given.slots > RING_BYTES / 64)
		return 2;
	unlink(argv[1]);
	err = fixture_saved(argv[1], write_all);
	free(given.tasks);
	if (err)
		fprintf(stderr, "export_fixture: %s: %s\n", argv[1], strerror(-err));
	return err != 0;
}
