// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saved streams of a kernel, each with a special feature.
 */
#include <string.h>

#include "fixture.h"

#define AT (20 * SECOND)

static int put_odd_names(struct sink *s)
{
	const struct ktau_rec_event odd = {
		.id = ID_IRQ4, .source = KTAU_SOURCE_IRQ, .group = KTAU_GROUP_IRQ, .key = 4,
	};

	return fixture_put_event(s, &odd, "irq:4:a\033[2Jb");
}

/* Names with terminal escapes. */
static int write_odd(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct fixture_profile p = { .ticks = AT };
	struct ktau_rec_end end = fixture_end(1, 7);
	uint64_t nr = 0;
	int err = sink_put(s, &stream);

	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "x\nend\033[31m");
	fixture_timer(&p, ID_READ, 1, 5 * MS, 5 * MS);
	fixture_timer(&p, ID_IRQ4, 1, 1 * MS, 1 * MS);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = put_odd_names(s);
	if (!err)
		err = fixture_put(s, &p, &nr);
	return err ? err : sink_put(s, &end);
}

int fixture_write_stream(const char *path)
{
	return fixture_saved(path, write_odd);
}

/* The stream of a user at level 2. */
static int write_rounded(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct fixture_profile p = { .ticks = AT, .missing = KTAU_GROUP_ACCOUNT };
	struct ktau_rec_end end = fixture_end(1, 7);
	uint64_t nr = 0;
	int err;

	stream.access = KTAU_ACCESS_PROFILE;
	stream.round_ns = 1000;
	stream.stext = 0;
	end.denied = 40;
	end.losses_own = 1;
	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "mine");
	fixture_timer(&p, ID_READ, 3, 5000, 5000);
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = fixture_put(s, &p, &nr);
	return err ? err : sink_put(s, &end);
}

int fixture_write_rounded(const char *path)
{
	return fixture_saved(path, write_rounded);
}

static int put_strange_names(struct sink *s)
{
	const struct ktau_rec_event strange = {
		.id = ID_STRANGE, .kind = KTAU_KIND_TIMER, .source = 99, .group = 1U << 15,
	};
	const struct ktau_rec_event stranger = {
		.id = ID_STRANGE + 1, .kind = 9, .source = 98, .group = 1U << 29,
	};
	const struct ktau_rec rec = { sizeof(rec), 99, sizeof(rec) };
	int err = fixture_put_names(s);

	if (!err)
		err = fixture_put_event(s, &strange, "strange");
	if (!err)
		err = fixture_put_event(s, &stranger, "stranger");
	return err ? err : sink_put(s, &rec);
}

/* Kinds, types, groups and sources that the tools do not know. */
static int write_unknown(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct fixture_profile p = { .ticks = AT, .missing = KTAU_GROUP_ACCOUNT };
	struct fixture_profile other = { .ticks = AT };
	struct ktau_rec_end end = fixture_end(2, 7);
	uint64_t nr = 0;
	int err;

	end.refused_no_chunk = 3;	/* as in other streams of this boot */
	stream.groups |= 1U << 15;
	stream.access |= 1U << 20;
	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "modern");
	p.owner.flags = 1U << 9;
	fixture_timer(&p, ID_READ, 1, 5 * MS, 5 * MS);
	fixture_timer(&p, ID_STRANGE, 2, 2 * MS, 2 * MS);
	fixture_timer(&p, ID_STRANGE + 1, 4, 0, 0);
	p.entries[2].kind = 9;
	other.owner = fixture_owner(8, 60, 0, 0, "hypervisor");
	fixture_timer(&other, ID_READ, 100, 100 * MS, 100 * MS);
	err = sink_put(s, &stream);
	if (!err)
		err = put_strange_names(s);
	if (!err)
		err = fixture_put(s, &p, &nr);
	if (!err)
		err = fixture_put(s, &other, &nr);
	return err ? err : sink_put(s, &end);
}

int fixture_write_unknown(const char *path)
{
	return fixture_saved(path, write_unknown);
}

/*
 * After @n periods of @ms each, of which the first was 10 shorter and the third 10 longer. With
 * @ms 0, the group was not enabled.
 */
static int put_namesakes(struct sink *s, const char *host, uint64_t n, uint64_t ms)
{
	const uint64_t sum = n * ms - (ms && (n == 1 || n == 2) ? 10 : 0), at = AT + n * SECOND;
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, at);
	struct ktau_rec_event event = {
		.kind = KTAU_KIND_TIMER, .source = KTAU_SOURCE_WORK, .group = KTAU_GROUP_BH,
	};
	struct fixture_profile p = { .ticks = at };
	struct ktau_rec_end end = fixture_end(1, 7);
	uint64_t nr = 0;
	int err;

	strcpy(stream.nodename, host);
	stream.boot_id[15] = (uint8_t)host[4];
	if (!ms)
		stream.groups &= ~KTAU_GROUP_BH;
	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "worker");
	p.user = MS;
	fixture_timer(&p, ID_WORK, ms ? n : 0, sum * MS / 2, sum * MS / 2);
	fixture_timer(&p, ID_WORK + 1, ms ? n : 0, sum * MS / 2, sum * MS / 2);
	err = sink_put(s, &stream);
	for (event.id = ID_WORK; !err && event.id <= ID_WORK + 1; event.id++)
		err = fixture_put_event(s, &event, "work:do_work");
	if (!err)
		err = fixture_put(s, &p, &nr);
	return err ? err : sink_put(s, &end);
}

static int write_host(struct sink *s, const char *host, uint64_t ms)
{
	uint64_t n;
	int err = 0;

	for (n = 0; !err && n <= 3; n++)
		err = put_namesakes(s, host, n, ms);
	return err;
}

static int write_node1(struct sink *s)
{
	return write_host(s, "node1", 100);
}

static int write_node2(struct sink *s)
{
	return write_host(s, "node2", 104);
}

static int write_node3(struct sink *s)
{
	return write_host(s, "node3", 200);
}

static int write_node4(struct sink *s)
{
	return write_host(s, "node4", 0);
}

int fixture_write_node1(const char *path)
{
	return fixture_saved(path, write_node1);
}

int fixture_write_node2(const char *path)
{
	return fixture_saved(path, write_node2);
}

int fixture_write_node3(const char *path)
{
	return fixture_saved(path, write_node3);
}

int fixture_write_node4(const char *path)
{
	return fixture_saved(path, write_node4);
}

static int write_elsewhere(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct ktau_rec_end end = fixture_end(0, 7);
	int err;

	stream.boot_id[15] ^= 1;
	strcpy(stream.nodename, "othernode");
	err = sink_put(s, &stream);
	return err ? err : sink_put(s, &end);
}

int fixture_write_elsewhere(const char *path)
{
	return fixture_saved(path, write_elsewhere);
}

/* Measured with BPF programs */
static int write_bpf(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct fixture_profile p = { .ticks = AT, .user = SECOND, .kernel = 2 * SECOND };
	struct ktau_rec_end end = fixture_end(1, 0);
	uint64_t nr = 0;
	int err;

	stream.origin = KTAU_ORIGIN_BPF;
	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "stock");
	fixture_waited(&p, ID_READ, 3, 13 * SECOND, SECOND);
	fixture_timer(&p, ID_SCHEDULE_VOL, 3, 12 * SECOND, 12 * SECOND);
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = fixture_put(s, &p, &nr);
	return err ? err : sink_put(s, &end);
}

int fixture_write_bpf(const char *path)
{
	return fixture_saved(path, write_bpf);
}

/*
 * Interrupts were measured part of the time. One task has guest time and a rest, and slept in
 * read(), hardly any of it in the wait function.
 */
static int write_partly(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct fixture_profile p = { .ticks = AT, .user = SECOND, .kernel = 2 * SECOND };
	struct ktau_rec_end end = fixture_end(2, 0);
	uint64_t nr = 0;
	int err = sink_put(s, &stream);

	if (!err)
		err = fixture_put_names(s);
	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "partly");
	p.missing = KTAU_GROUP_IRQ;
	fixture_timer(&p, ID_READ, 1, SECOND, SECOND);
	if (!err)
		err = fixture_put(s, &p, &nr);
	p.owner = fixture_owner(KTAU_OWNER_TASK, 51, 510, 510, "a\tb");
	p.missing = 0;
	p.runq = SECOND;
	p.guest = 5 * SECOND;
	p.unmeasured = 300 * MS;
	p.nr_entries = 0;
	fixture_waited(&p, ID_READ, 1, 6 * SECOND, SECOND);
	fixture_waited(&p, ID_WAIT, 1, 100 * MS, 0);
	fixture_timer(&p, ID_SCHEDULE_VOL, 9, 5 * SECOND, 5 * SECOND);
	if (!err)
		err = fixture_put(s, &p, &nr);
	return err ? err : sink_put(s, &end);
}

int fixture_write_partly(const char *path)
{
	return fixture_saved(path, write_partly);
}

/* Three streams of a server that reads, writes and sleeps. @missing was not measured. */
static int write_measured(struct sink *s, uint32_t missing)
{
	struct ktau_rec_end end = fixture_end(1, 0);
	uint64_t i, nr = 0;
	int err = 0;

	for (i = 1; !err && i <= 3; i++) {
		const uint64_t at = AT + i * SECOND;
		struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, at);
		struct fixture_profile p = {
			.ticks = at, .user = i * 300 * MS, .kernel = i * 200 * MS,
			.missing = missing,
		};

		p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "srv");
		fixture_timer(&p, ID_READ, i, i * 150 * MS, i * 150 * MS);
		if (!(missing & KTAU_GROUP_TCP))
			fixture_timer(&p, ID_TCP, i, i * 50 * MS, i * 50 * MS);
		err = sink_put(s, &stream);
		if (!err)
			err = fixture_put_names(s);
		if (!err)
			err = fixture_put(s, &p, &nr);
		if (!err)
			err = sink_put(s, &end);
	}
	return err;
}

static int write_all_measured(struct sink *s)
{
	return write_measured(s, 0);
}

static int write_less_measured(struct sink *s)
{
	return write_measured(s, KTAU_GROUP_TCP | KTAU_GROUP_IRQ | KTAU_GROUP_SCHED);
}

int fixture_write_measured(const char *path)
{
	return fixture_saved(path, write_all_measured);
}

int fixture_write_less_measured(const char *path)
{
	return fixture_saved(path, write_less_measured);
}

/* An idle task that waits, a task that has not run, and one whose account contradicts itself. */
static int write_contrary(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct fixture_profile idle = { .ticks = AT }, hung = { .ticks = AT };
	struct fixture_profile twice = { .ticks = AT, .kernel = 5 * SECOND };
	struct ktau_rec_end end = fixture_end(3, 0);
	uint64_t nr = 0;
	int err = sink_put(s, &stream);

	if (!err)
		err = fixture_put_names(s);
	idle.owner = fixture_owner(KTAU_OWNER_TASK, 1, 0, 0, "swapper/0");
	idle.owner.flags = KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD;
	idle.kernel = SECOND;
	fixture_waited(&idle, ID_SCHEDULE, 7, 9 * SECOND, 9 * SECOND);
	if (!err)
		err = fixture_put(s, &idle, &nr);
	hung.owner = fixture_owner(KTAU_OWNER_TASK, 52, 520, 521, "hung");
	if (!err)
		err = fixture_put(s, &hung, &nr);
	twice.owner = fixture_owner(KTAU_OWNER_TASK, 53, 530, 530, "twice");
	twice.user = AT - twice.owner.start_ns;
	twice.unmeasured = -twice.kernel;	/* makes its time asleep 0 */
	fixture_waited(&twice, ID_READ, 1, SECOND, SECOND);
	if (!err)
		err = fixture_put(s, &twice, &nr);
	return err ? err : sink_put(s, &end);
}

int fixture_write_contrary(const char *path)
{
	return fixture_saved(path, write_contrary);
}

/* A system call with three wakeups. */
struct woken_trace {
	struct ktau_rec_trace head;
	struct ktau_slot enter;
	struct {
		struct ktau_slot slot;
		struct ktau_slot_woken woken;
	} wakes[3];
	struct ktau_slot exit;
};

/* In read(), the task is woken by a writer twice and by an interrupt. */
static int put_wakes(struct sink *s, uint64_t serial, uint64_t writer)
{
	struct woken_trace t = {
		.head = {
			.rec = { sizeof(t), KTAU_REC_TRACE, sizeof(t.head) }, .serial = serial,
			.next = 8, .written = 8, .ring_slots = 64, .nr_slots = 5,
			.groups = GROUPS | KTAU_MODE_TRACE,
		},
	};
	int i;

	t.enter = (struct ktau_slot){
		.ticks = AT, .id = ID_READ, .type = KTAU_TRACE_ENTER, .words = 2,
	};
	for (i = 0; i < 3; i++) {
		t.wakes[i].slot = (struct ktau_slot){
			.ticks = AT + 1 + (uint64_t)i, .id = KTAU_ID_NONE,
			.type = KTAU_TRACE_WOKEN,
			.words = sizeof(t.wakes[i]) / 8,
		};
		t.wakes[i].woken = (struct ktau_slot_woken){
			.waker_serial = writer, .waking_ticks = AT,
			.waker_ctx = i == 1 ? KTAU_CTX_HARDIRQ : KTAU_CTX_TASK,
		};
	}
	t.exit = (struct ktau_slot){
		.ticks = AT + 9, .id = ID_READ, .type = KTAU_TRACE_EXIT, .words = 2,
	};
	t.head.slots_bytes = sizeof(t) - sizeof(t.head);
	return sink_put(s, &t);
}

/* A task that sleeps until another one has written. */
static int write_woken(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT);
	struct fixture_profile p = { .ticks = AT, .user = SECOND, .kernel = SECOND };
	struct ktau_rec_owner writer = fixture_owner(KTAU_OWNER_TASK, 51, 510, 510, "writer");
	struct ktau_rec_end end = fixture_end(1, 0);
	uint64_t nr = 0;
	int err = sink_put(s, &stream);

	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "reader");
	fixture_waited(&p, ID_READ, 3, 13 * SECOND, SECOND);
	fixture_waited(&p, ID_WAIT, 3, 12 * SECOND, 0);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = fixture_put(s, &p, &nr);
	if (!err)
		err = sink_put(s, &end);
	stream.content = KTAU_REC_TRACE;
	if (!err)
		err = sink_put(s, &stream);
	writer.flags = KTAU_OWNER_NAMED;
	if (!err)
		err = sink_put(s, &writer);
	if (!err)
		err = sink_put(s, &p.owner);
	if (!err)
		err = put_wakes(s, 50, 51);
	return err ? err : sink_put(s, &end);
}

int fixture_write_woken(const char *path)
{
	return fixture_saved(path, write_woken);
}

/* The machine after a reboot: its traces are read first. */
static int write_rebooted(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_TRACE, AT);
	struct fixture_profile p = { .ticks = AT };
	struct ktau_rec_end end = fixture_end(0, 7);
	uint64_t nr = 0;
	int err;

	stream.boot_id[15] ^= 1;
	err = sink_put(s, &stream);
	if (!err)
		err = sink_put(s, &end);
	stream.content = KTAU_REC_PROFILE;
	if (!err)
		err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	p.owner = fixture_owner(KTAU_OWNER_TASK, 10, 100, 100, "after");
	fixture_timer(&p, ID_READ, 1, 5 * MS, 5 * MS);
	if (!err)
		err = fixture_put(s, &p, &nr);
	end.nr_records = nr;
	return err ? err : sink_put(s, &end);
}

int fixture_write_rebooted(const char *path)
{
	return fixture_saved(path, write_rebooted);
}

/* A thread, and its milliseconds before the period and in it, which lasts 1000 ms. */
struct vms_thread {
	uint64_t serial, leader;
	int32_t tgid, tid;
	const char *comm;
	struct vms_ms {
		uint64_t user, kernel, irq, runq, guest;
	} before, in;
};

static const struct vms_thread vms_threads[] = {
	{ 10, 10, 810, 810, "qemu-system-x86", { 50, 50, 0, 0, 0 }, { 10, 0, 0, 0, 0 } },
	{ 11, 10, 810, 816, "CPU 1/KVM", { 1, 1, 0, 0, 7 }, { 0, 0, 0, 0, 0 } },
	{ 12, 10, 810, 815, "CPU 0/KVM", { 9, 9, 9, 9, 9 }, { 20, 70, 10, 250, 600 } },
	{ 13, 13, 700, 700, "kvmtool", { 1, 1, 1, 1, 1 }, { 0, 100, 0, 400, 500 } },
};

static int put_vms_thread(struct sink *s, const struct vms_thread *t, uint64_t periods,
			  uint64_t *nr)
{
	struct fixture_profile p = {
		.ticks = AT + periods * SECOND, .more = KTAU_GROUP_KVM,
		.user = (t->before.user + periods * t->in.user) * MS,
		.kernel = (t->before.kernel + periods * t->in.kernel) * MS,
		.irq = (t->before.irq + periods * t->in.irq) * MS,
		.runq = (t->before.runq + periods * t->in.runq) * MS,
		.guest = (t->before.guest + periods * t->in.guest) * MS,
	};

	p.owner = fixture_owner(KTAU_OWNER_TASK, t->serial, t->tgid, t->tid, t->comm);
	p.owner.leader_serial = t->leader;
	return fixture_put(s, &p, nr);
}

static int put_vms(struct sink *s, uint64_t periods)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, AT + periods * SECOND);
	struct ktau_rec_end end = fixture_end(0, 7);
	uint64_t nr = 0;
	size_t i;
	int err;

	stream.groups |= KTAU_GROUP_KVM;
	stream.groups_built |= KTAU_GROUP_KVM;
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	for (i = 0; !err && i < sizeof(vms_threads) / sizeof(*vms_threads); i++)
		err = put_vms_thread(s, &vms_threads[i], periods, &nr);
	end.nr_records = nr;
	return err ? err : sink_put(s, &end);
}

static int write_vms(struct sink *s)
{
	int err = put_vms(s, 0);

	return err ? err : put_vms(s, 1);
}

int fixture_write_vms(const char *path)
{
	return fixture_saved(path, write_vms);
}
