// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine of the tests. Over three streams, a second apart:
 *
 *	server	100	two threads; each second 10 reads and writes, 5 sends
 *	sleeper	200	in read() the whole time
 *	short	300	ends between the first stream and the second
 *	again	300	a later process of the same number
 *	kworker	2	does nothing
 *	swapper	0	gets the timer interrupts
 *
 * The third stream's reaped total holds "short", which has been seen, and a
 * task that nobody has seen: 7 reads of 1 ms.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static int put_info(struct ktau_writer *w)
{
	static const char strings[24] = "ktaud -p 1\0/boot/map";
	struct {
		struct ktau_rec_info info;
		char strings[24];
	} r = {
		.info = {
			.rec = { sizeof(r), KTAU_REC_INFO, sizeof(r.info) },
			.created_ns = REALTIME_NS + 9 * SECOND,
			.period_ns = SECOND, .stext = 0xffffffff81000000,
			.command_bytes = 11, .symbols_bytes = 10,
			.hostname = "ionode", .release = "6.1.0-ktau", .machine = "x86_64",
		},
	};

	memcpy(r.strings, strings, sizeof(strings));
	return ktau_writer_put(w, &r);
}

static int put_events(struct ktau_writer *w)
{
	static const struct ktau_event events[] = {
		{ ID_READ, KTAU_GROUP_SYSCALL, KTAU_KIND_TIMER, 0xffffffff81001000,
		  "__x64_sys_read" },
		{ ID_WRITE, KTAU_GROUP_SYSCALL, KTAU_KIND_TIMER, 0xffffffff81002000,
		  "__x64_sys_write" },
		{ ID_FORK, KTAU_GROUP_SYSCALL, KTAU_KIND_TIMER, 0xffffffff81003000,
		  "sys_57" },
		{ ID_SCHEDULE, KTAU_GROUP_SCHED, KTAU_KIND_TIMER, 0,
		  "schedule" },
		{ ID_SCHEDULE_VOL, KTAU_GROUP_SCHED, KTAU_KIND_TIMER, 0,
		  "schedule_vol" },
		{ ID_TIMER, KTAU_GROUP_IRQ, KTAU_KIND_TIMER, 0,
		  "local_timer" },
		{ ID_TCP, KTAU_GROUP_TCP, KTAU_KIND_TIMER, 0xffffffff81005000,
		  "tcp_sendmsg" },
		{ ID_TCP_BYTES, KTAU_GROUP_TCP, KTAU_KIND_COUNTER, 0,
		  "tcp_send_bytes" },
		{ ID_IRQ4, KTAU_GROUP_IRQ, KTAU_KIND_TIMER, 0,
		  "irq:4" },
		{ ID_CALLBACK, KTAU_GROUP_BH, KTAU_KIND_TIMER, 0xffffffff81004000,
		  "timer:0xffffffff81004000" },
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(events) / sizeof(*events); i++)
		err = ktau_writer_put_event(w, &events[i]);
	return err;
}

static int put_profile(struct ktau_writer *w, const struct fixture_profile *p, uint64_t *nr)
{
	struct ktau_rec_profile *r = fixture_record(p);
	int err = r ? ktau_writer_put(w, r) : -ENOMEM;

	ktau_record_free(r);
	++*nr;
	return err;
}

/* One thread of the server after @n seconds. */
static int put_server(struct ktau_writer *w, uint64_t at, uint64_t n, int thread, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };

	p.owner = fixture_owner(KTAU_OWNER_TASK, 10 + thread, 100, 100 + thread, "server");
	fixture_timer(&p, ID_READ, 10 * n, 40 * n * MS, 10 * n * MS);
	fixture_timer(&p, ID_WRITE, 10 * n, 20 * n * MS, 15 * n * MS);
	fixture_timer(&p, ID_TCP, 5 * n, 5 * n * MS, 5 * n * MS);
	fixture_timer(&p, ID_SCHEDULE_VOL, 3 * n, 30 * n * MS, 30 * n * MS);
	fixture_counter(&p, ID_TCP_BYTES, 5 * n, 1000);
	return put_profile(w, &p, nr);
}

/* It reads since second 2; the kernel slept before, as it does now. */
static int put_sleeper(struct ktau_writer *w, uint64_t at, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };

	p.owner = fixture_owner(KTAU_OWNER_TASK, 12, 200, 200, "sleeper");
	fixture_timer(&p, ID_SCHEDULE_VOL, 1, 2 * MS, 2 * MS);
	fixture_open(&p, ID_SCHEDULE_VOL, 2 * SECOND + 3 * MS, 0);
	fixture_open(&p, ID_READ, 2 * SECOND, 2 * MS);
	return put_profile(w, &p, nr);
}

static int put_kernel(struct ktau_writer *w, uint64_t at, uint64_t n, uint64_t *nr)
{
	struct fixture_profile idle = { .ticks = at }, kworker = { .ticks = at };
	int err;

	idle.owner = fixture_owner(KTAU_OWNER_TASK, 1, 0, 0, "swapper/0");
	idle.owner.flags = KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD;
	fixture_timer(&idle, ID_TIMER, 100 * n, 3 * n * MS, 2 * n * MS);
	fixture_timer(&idle, ID_CALLBACK, 4 * n, n * MS, n * MS);
	kworker.owner = fixture_owner(KTAU_OWNER_TASK, 2, 2, 2, "kworker/0:1");
	kworker.owner.flags = KTAU_OWNER_KTHREAD;
	fixture_timer(&kworker, ID_SCHEDULE_VOL, 1, MS, MS);
	fixture_open(&kworker, ID_SCHEDULE_VOL, 2 * SECOND, 0);
	err = put_profile(w, &idle, nr);
	return err ? err : put_profile(w, &kworker, nr);
}

/* "short" does 3 reads in each of its lives; @n is how far it got. */
static int put_short(struct ktau_writer *w, uint64_t at, uint32_t kind, uint64_t n,
		     uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };

	p.owner = fixture_owner(kind, 20, 300, 300, "short");
	if (kind == KTAU_OWNER_DEAD) {
		p.owner.dead_seq = 5;
		p.owner.exit_ns = 10 * SECOND + 500 * MS;
	}
	fixture_timer(&p, ID_READ, n, n * MS, n * MS);
	return put_profile(w, &p, nr);
}

static int put_again(struct ktau_writer *w, uint64_t at, uint64_t n, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at, .refused = 2, .refused_ticks = 2 * MS };

	p.owner = fixture_owner(KTAU_OWNER_TASK, 30, 300, 300, "again");
	fixture_timer(&p, ID_FORK, n, 4 * n * MS, 4 * n * MS);
	return put_profile(w, &p, nr);
}

static int put_cpus(struct ktau_writer *w, uint64_t at, uint64_t n, uint64_t *nr)
{
	uint32_t cpu;
	int err = 0;

	for (cpu = 0; !err && cpu < 2; cpu++) {
		struct fixture_profile p = { .ticks = at };

		p.owner.kind = KTAU_OWNER_CPU;
		p.owner.cpu = cpu;
		fixture_timer(&p, ID_TIMER, 100 * n, 3 * n * MS, 2 * n * MS);
		if (cpu)
			fixture_timer(&p, ID_IRQ4, 2 * n, n * MS, n * MS);
		err = put_profile(w, &p, nr);
	}
	return err;
}

/* All dead below @seq: five from before the file, then "short" and one unseen. */
static int put_reaped(struct ktau_writer *w, uint64_t at, uint64_t seq, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };
	uint64_t reads = 50 + (seq > 5 ? 3 : 0) + (seq > 6 ? 7 : 0);

	p.owner.kind = KTAU_OWNER_REAPED;
	p.owner.dead_seq = seq;
	fixture_timer(&p, ID_READ, reads, reads * MS, reads * MS);
	return put_profile(w, &p, nr);
}

static int put_stream(struct ktau_writer *w, uint64_t n)
{
	uint64_t at = (9 + n) * SECOND, nr = 0;
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, at);
	struct ktau_rec_end end;
	int err;

	err = ktau_writer_put(w, &stream);
	if (!err)
		err = put_kernel(w, at, n, &nr);
	if (!err)
		err = put_server(w, at, n, 0, &nr);
	if (!err)
		err = put_server(w, at, n, 1, &nr);
	if (!err)
		err = put_sleeper(w, at, &nr);
	if (!err && n == 1)
		err = put_short(w, at, KTAU_OWNER_TASK, 1, &nr);
	if (!err && n > 1)
		err = put_again(w, at, n - 1, &nr);
	if (!err && n == 2)
		err = put_short(w, at, KTAU_OWNER_DEAD, 3, &nr);
	if (!err)
		err = put_cpus(w, at, n, &nr);
	if (!err)
		err = put_reaped(w, at, n == 3 ? 7 : 5, &nr);
	end = fixture_end(nr, n == 1 ? 5 : n == 2 ? 6 : 7);
	return err ? err : ktau_writer_put(w, &end);
}

/* The two continuations of a network slot: 10.0.0.1:5001 to 10.0.0.2:40000. */
static void net_more(struct ktau_slot *slot)
{
	struct ktau_slot_more more[2] = {
		{ .small = 5001, .type = KTAU_TRACE_MORE, .index = 1 },
		{ .small = 40000, .type = KTAU_TRACE_MORE, .index = 2 },
	};

	inet_pton(AF_INET6, "::ffff:10.0.0.1", more[0].data);
	inet_pton(AF_INET6, "::ffff:10.0.0.2", more[1].data);
	memcpy(slot, more, sizeof(more));
}

static int put_trace(struct ktau_writer *w)
{
	const uint64_t t = 12 * SECOND;
	struct {
		struct ktau_rec_trace head;
		struct ktau_slot slots[14];
	} r = {
		.head = {
			.rec = { sizeof(r), KTAU_REC_TRACE, sizeof(r.head) },
			.owner = fixture_owner(KTAU_OWNER_TASK, 10, 100, 100, "server"),
			.first = 20, .lost = 20, .lost_from_ticks = 11 * SECOND,
			.lost_to_ticks = 12 * SECOND, .written = 34, .ring_slots = 16,
			.groups = KTAU_GROUP_ALL | KTAU_MODE_TRACE,
			.nr_slots = 14, .slot_size = sizeof(struct ktau_slot),
		},
		.slots = {
			{ t + 1, 7, ID_WRITE, KTAU_TRACE_ENTER, KTAU_CTX_TASK, 0, 0 },
			{ t + 2, 0, ID_TCP, KTAU_TRACE_ENTER, KTAU_CTX_TASK, 0, 0 },
			{ t + 3, 1234 | 1000ULL << 32, 0, KTAU_TRACE_NET_SEND, 0, 0, 2 },
			{ 0 }, { 0 },
			{ t + 4, 1000, ID_TCP_BYTES, KTAU_TRACE_COUNT, 0, 0, 0 },
			{ t + 5, 0, ID_TIMER, KTAU_TRACE_ENTER, KTAU_CTX_HARDIRQ, 0, 0 },
			{ t + 6, 200 | 1ULL << 32, 0, KTAU_TRACE_WAKEUP, KTAU_CTX_HARDIRQ, 0, 0 },
			{ t + 7, 0, ID_TIMER, KTAU_TRACE_EXIT, KTAU_CTX_HARDIRQ, 0, 0 },
			{ t + 8, 0, ID_TCP, KTAU_TRACE_EXIT, KTAU_CTX_TASK, 0, 0 },
			{ t + 9, 200 | 1ULL << 32, 0, KTAU_TRACE_SWITCH, 0, 0, 0 },
			{ t + 10, 301 | 301ULL << 32, 0, KTAU_TRACE_FORK, 0, 1, 0 },
			{ t + 11, 0, ID_WRITE, KTAU_TRACE_EXIT, KTAU_CTX_TASK, 1, 0 },
			{ t + 12, 0, 0, KTAU_TRACE_TASK_EXIT, KTAU_CTX_TASK, 1, 0 },
		},
	};
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_TRACE, t + MS);
	struct ktau_rec_end end = fixture_end(1, 7);
	int err;

	net_more(&r.slots[3]);
	end.cut_ticks = t;
	err = ktau_writer_put(w, &stream);
	if (!err)
		err = ktau_writer_put(w, &r);
	return err ? err : ktau_writer_put(w, &end);
}

static int put_wrong(struct ktau_writer *w)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, 20 * SECOND);
	struct fixture_profile p = { .ticks = 20 * SECOND };
	struct ktau_rec_end end = fixture_end(1, 7);
	struct ktau_rec_profile *r;
	int err;

	p.owner = fixture_owner(KTAU_OWNER_TASK, 40, 400, 400, "liar");
	fixture_timer(&p, ID_READ, 1, 5 * MS, 5 * MS);
	r = fixture_record(&p);
	if (!r)
		return -ENOMEM;
	r->outer_ticks -= 1;
	err = ktau_writer_put(w, &stream);
	if (!err)
		err = ktau_writer_put(w, r);
	ktau_record_free(r);
	return err ? err : ktau_writer_put(w, &end);
}

/* The events, and a stream that does not say where its kernel ran. */
static int write_nowhere(struct ktau_writer *w)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, 20 * SECOND);
	struct ktau_rec_end end = fixture_end(1, 7);
	uint64_t nr = 0;
	int err;

	stream.stext = 0;
	err = put_events(w);
	if (!err)
		err = ktau_writer_put(w, &stream);
	if (!err)
		err = put_again(w, 20 * SECOND, 1, &nr);
	if (!err)
		err = ktau_writer_put(w, &end);
	return err ? err : ktau_writer_close(w);
}

/* Each stream is flushed: a block of its own, as ktaud does it. */
static int write_profiles(struct ktau_writer *w, uint64_t first, uint64_t last)
{
	uint64_t n;
	int err;

	err = put_info(w);
	if (!err)
		err = put_events(w);
	for (n = first; !err && n <= last; n++) {
		err = put_stream(w, n);
		if (!err)
			err = ktau_writer_flush(w, false);
	}
	return err;
}

static int write_streams(struct ktau_writer *w)
{
	int err = write_profiles(w, 1, 3);

	return err ? err : put_trace(w);
}

/* As ktaud rotates: the first stream in a file, the others in the next one. */
static int write_first(struct ktau_writer *w)
{
	int err = write_profiles(w, 1, 1);

	return err ? err : ktau_writer_close(w);
}

static int write_rest(struct ktau_writer *w)
{
	int err = write_profiles(w, 2, 3);

	if (!err)
		err = put_trace(w);
	return err ? err : ktau_writer_close(w);
}

static int write_good(struct ktau_writer *w)
{
	int err = write_streams(w);

	return err ? err : ktau_writer_close(w);
}

static int write_wrong(struct ktau_writer *w)
{
	int err = write_streams(w);

	if (!err)
		err = put_wrong(w);
	return err ? err : ktau_writer_close(w);
}

static int write_file(const char *path, unsigned int flags,
		      int (*write)(struct ktau_writer *w))
{
	struct ktau_writer *w;
	int err = ktau_writer_create(&w);

	if (err)
		return err;
	err = ktau_writer_open(w, path, flags);
	if (!err)
		err = write(w);
	ktau_writer_destroy(w);
	return err;
}

int fixture_write(const char *path, unsigned int writer_flags)
{
	return write_file(path, writer_flags, write_good);
}

int fixture_write_wrong(const char *path)
{
	return write_file(path, 0, write_wrong);
}

int fixture_write_parts(const char *first, const char *rest)
{
	int err = write_file(first, 0, write_first);

	return err ? err : write_file(rest, 0, write_rest);
}

int fixture_write_nowhere(const char *path)
{
	return write_file(path, 0, write_nowhere);
}

int fixture_write_stream(const char *path)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, 20 * SECOND);
	struct fixture_profile p = { .ticks = 20 * SECOND };
	struct ktau_rec_end end = fixture_end(1, 7);
	struct ktau_rec_profile *r;
	FILE *f = fopen(path, "we");
	int err;

	p.owner = fixture_owner(KTAU_OWNER_TASK, 50, 500, 500, "x\nend\033[31m");
	fixture_timer(&p, ID_READ, 1, 5 * MS, 5 * MS);
	r = fixture_record(&p);
	if (!f || !r)
		return -ENOMEM;
	fwrite(&stream, sizeof(stream), 1, f);
	fwrite(r, r->rec.size, 1, f);
	fwrite(&end, sizeof(end), 1, f);
	ktau_record_free(r);
	err = ferror(f);
	return fclose(f) || err ? -EIO : 0;
}
