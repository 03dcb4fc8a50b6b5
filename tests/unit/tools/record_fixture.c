// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording of a command, of which only some tasks are traced, for the tests of the exporters:
 *
 *	record_fixture FILE
 *
 * "sh" runs "tar", "ls" and "again", which gets the pid of "ls", on two CPUs. In between the CPUs
 * run other tasks. "late" is not new: it has lost the slots of most of its life. The machine has
 * been up for some time. The accounts at the end equal what the slots show. A system call has a
 * name with characters that formats must escape, and a task one that spreadsheets would run.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

#define UPTIME		(5000 * SECOND)
#define OTHER		900	/* serial of a task that is not traced */

static uint64_t at(uint64_t ms)
{
	return UPTIME + ms * MS;
}

enum { E_WRITE = 1, E_READ = 2, E_SCHEDULE = 513, E_WAIT = 514 };

struct ring {
	struct ktau_rec_trace head;
	unsigned char bytes[4096];
};

/**
 * struct task - a task
 * @now: its time
 * @cpu: its CPU
 * @user: its account so far
 */
struct task {
	struct ktau_rec_owner owner;
	uint64_t now, user, kernel, runq;
	uint16_t cpu;
	struct ring ring;
};

static void add(struct task *t, uint8_t type, uint16_t id, const void *payload, size_t bytes)
{
	struct ktau_rec_trace *head = &t->ring.head;
	struct ktau_slot slot = {
		.ticks = t->now, .type = type, .id = id, .cpu = t->cpu,
		.words = (uint8_t)(2 + bytes / 8),
	};

	memcpy(t->ring.bytes + head->slots_bytes, &slot, sizeof(slot));
	if (bytes)
		memcpy(t->ring.bytes + head->slots_bytes + sizeof(slot), payload, bytes);
	head->slots_bytes += slot.words * 8U;
	head->nr_slots++;
}

static void begin_ring(struct task *t, uint64_t first)
{
	t->ring.head = (struct ktau_rec_trace){
		.rec = { 0, KTAU_REC_TRACE, sizeof(t->ring.head) },
		.serial = t->owner.serial, .first = first, .ring_slots = 4096,
		.groups = t->owner.kind == KTAU_OWNER_EXITED ? 0 : GROUPS | KTAU_MODE_TRACE,
	};
}

/* A task that starts in the kernel. */
static void start(struct task *t, uint64_t serial, int32_t pid, const char *name)
{
	uint64_t now = t->now;
	uint16_t cpu = t->cpu;

	*t = (struct task){ .now = now, .cpu = cpu };
	t->owner = fixture_owner(KTAU_OWNER_TASK, serial, pid, pid, name);
	t->owner.start_ns = now;
	t->owner.ppid = pid == 500 ? 1 : 500;
	t->owner.cgroup = 0;
	begin_ring(t, 0);
	add(t, KTAU_TRACE_ENTER, E_READ, NULL, 0);
	t->now += 1000;
	t->kernel += 1000;
	add(t, KTAU_TRACE_EXIT, E_READ, NULL, 0);
}

static void work(struct task *t, uint64_t kernel, uint64_t user)
{
	const int64_t result = 7;

	t->now += user;
	t->user += user;
	add(t, KTAU_TRACE_ENTER, E_WRITE, NULL, 0);
	t->now += kernel;
	t->kernel += kernel;
	add(t, KTAU_TRACE_EXIT, E_WRITE, &result, 8);
}

/* Enter a guest, and leave it at once. */
static void enter_guest(struct task *t)
{
	static const struct ktau_slot_kvm_clock clock = {
		.vcpu = 2, .frac_bits = 48, .tsc_offset = -70185649LL, .tsc_ratio = 3ULL << 47,
	};
	static const struct ktau_slot_kvm kvm = { .vcpu = 2, .reason = 12 };

	add(t, KTAU_TRACE_KVM_CLOCK, KTAU_ID_NONE, &clock, sizeof(clock));
	add(t, KTAU_TRACE_KVM_ENTER, KTAU_ID_NONE, &kvm, sizeof(kvm));
	add(t, KTAU_TRACE_KVM_EXIT, KTAU_ID_NONE, &kvm, sizeof(kvm));
}

/* Sleep until @waker ends it; another task gets the CPU. Then wait for CPU @cpu. */
static void doze(struct task *t, uint64_t asleep, uint64_t queued, uint16_t cpu, uint64_t waker)
{
	const struct ktau_slot_switch to = {
		.next_serial = OTHER, .state = 1, .prio = 120, .next_prio = 120,
	};
	struct ktau_slot_woken woken = { .waker_serial = waker, .target_cpu = cpu };

	add(t, KTAU_TRACE_ENTER, E_SCHEDULE, NULL, 0);
	add(t, KTAU_TRACE_SWITCH, KTAU_ID_NONE, &to, sizeof(to));
	t->now += asleep;
	t->cpu = cpu;
	woken.waking_ticks = t->now;
	add(t, KTAU_TRACE_ENTER, E_WAIT, NULL, 0);
	t->now += queued;
	t->runq += queued;
	add(t, KTAU_TRACE_EXIT, E_WAIT, NULL, 0);
	add(t, KTAU_TRACE_WOKEN, KTAU_ID_NONE, &woken, sizeof(woken));
	add(t, KTAU_TRACE_EXIT, E_SCHEDULE, NULL, 0);
}

/* Exit, which takes a while. */
static void leave(struct task *t, uint64_t seq)
{
	const uint64_t code = 256;

	add(t, KTAU_TRACE_TASK_EXIT, KTAU_ID_NONE, &code, 8);
	t->now += 300000;
	t->kernel += 300000;
	t->owner.kind = KTAU_OWNER_EXITED;
	t->owner.exit_ns = t->now;
	t->owner.exited_seq = seq;
	t->ring.head.groups = 0;
}

static int put_ring(struct sink *s, struct task *t)
{
	struct ktau_rec_trace *head = &t->ring.head;
	int err = sink_put(s, &t->owner);

	head->rec.size = (uint32_t)sizeof(*head) + head->slots_bytes;
	head->next = head->written = head->first + head->nr_slots;
	if (!err)
		err = sink_put(s, &t->ring);
	begin_ring(t, head->next);
	return err;
}

static int put_account(struct sink *s, const struct task *t, uint64_t ticks, uint64_t *nr)
{
	struct fixture_profile p = {
		.owner = t->owner, .ticks = ticks, .user = t->user, .kernel = t->kernel,
		.runq = t->runq,
	};

	if (t->owner.kind == KTAU_OWNER_EXITED)
		p.ticks = t->owner.exit_ns;
	return fixture_put(s, &p, nr);
}

static int begin(struct sink *s, uint32_t content, uint64_t ticks)
{
	static const struct {
		uint16_t id;
		uint32_t group;
		const char *name;
	} events[] = {
		{ E_WRITE, KTAU_GROUP_SYSCALL, "sys_write" },
		{ E_READ, KTAU_GROUP_SYSCALL, "sys_re\"a;\\d" },
		{ E_SCHEDULE, KTAU_GROUP_SCHED, "schedule_vol" },
		{ E_WAIT, KTAU_GROUP_SCHED, "schedule_wait" },
	};
	struct ktau_rec_owner other = fixture_owner(KTAU_OWNER_TASK, OTHER, 30, 30, "=cmd|' /C'!A");
	struct ktau_rec_stream stream = fixture_stream(content, ticks);
	struct ktau_rec_event event = { .source = KTAU_SOURCE_SYSCALL };
	int err = sink_put(s, &stream);
	size_t i;

	other.cgroup = 0;
	for (i = 0; !err && i < sizeof(events) / sizeof(*events); i++) {
		event.id = events[i].id;
		event.group = events[i].group;
		if (event.group == KTAU_GROUP_SCHED)
			event.source = KTAU_SOURCE_STATIC;
		err = fixture_put_event(s, &event, events[i].name);
	}
	return err ? err : sink_put(s, &other);
}

static int finish(struct sink *s, uint64_t nr)
{
	struct ktau_rec_end end = fixture_end(nr, 9);

	end.cut_ticks = at(620);
	return sink_put(s, &end);
}

static struct task sh, tar, ls, again, late;

/* The first half, and its stream. */
static int first_half(struct sink *s)
{
	int err;

	sh.now = at(1);
	start(&sh, 100, 500, "sh");
	work(&sh, 3 * MS, MS);
	/* The ring of "tar" has no slot of this wakeup. */
	doze(&sh, 390 * MS, 2 * MS, 1, 101);
	tar.now = at(6);
	tar.cpu = 1;
	start(&tar, 101, 501, "tar");
	work(&tar, 20 * MS, 50 * MS);
	doze(&tar, 30 * MS, 0, 0, OTHER);
	enter_guest(&tar);
	work(&tar, 10 * MS, 60 * MS);
	err = begin(s, KTAU_REC_TRACE, at(400));
	if (!err)
		err = put_ring(s, &sh);
	if (!err)
		err = put_ring(s, &tar);
	return err ? err : finish(s, 2);
}

static int second_half(struct sink *s)
{
	int err;

	work(&tar, MS, 300 * MS);
	leave(&tar, 1);
	work(&sh, MS, 2 * MS);
	doze(&sh, 500 * MS, 0, 0, OTHER);
	ls.now = at(410);
	ls.cpu = 1;
	start(&ls, 102, 502, "ls");
	work(&ls, 9 * MS, MS);
	leave(&ls, 2);
	again.now = at(700);
	again.cpu = 1;
	start(&again, 103, 502, "again");
	work(&again, MS, 3 * MS);
	late.now = at(620);
	start(&late, 104, 504, "late");
	late.owner.start_ns = SECOND;
	late.ring.head.first = late.ring.head.lost = 500;
	late.ring.head.lost_to_ticks = at(620);
	work(&late, MS, MS);
	doze(&late, 10 * MS, 0, 0, OTHER);
	work(&late, 2 * MS, MS);
	leave(&late, 3);
	work(&sh, MS, MS);
	err = begin(s, KTAU_REC_TRACE, at(1000));
	if (!err)
		err = put_ring(s, &tar);
	if (!err)
		err = put_ring(s, &sh);
	if (!err)
		err = put_ring(s, &ls);
	if (!err)
		err = put_ring(s, &again);
	if (!err)
		err = put_ring(s, &late);
	return err ? err : finish(s, 5);
}

/* At the end "sh" and "again" are still running. */
static int accounts(struct sink *s)
{
	struct task *const running[] = { &sh, &again };
	uint64_t nr = 0;
	size_t i;
	int err = begin(s, KTAU_REC_PROFILE, at(1000));

	for (i = 0; i < sizeof(running) / sizeof(*running); i++)
		running[i]->user += at(1000) - running[i]->now;
	if (!err)
		err = put_account(s, &tar, at(1000), &nr);
	if (!err)
		err = put_account(s, &ls, at(1000), &nr);
	if (!err)
		err = put_account(s, &late, at(1000), &nr);
	for (i = 0; !err && i < sizeof(running) / sizeof(*running); i++)
		err = put_account(s, running[i], at(1000), &nr);
	return err ? err : finish(s, nr);
}

static int write_all(struct sink *s)
{
	int err = begin(s, KTAU_REC_PROFILE, at(0));

	if (!err)
		err = finish(s, 0);
	if (!err)
		err = first_half(s);
	if (!err)
		err = second_half(s);
	return err ? err : accounts(s);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	unlink(argv[1]);
	return fixture_saved(argv[1], write_all) != 0;
}
