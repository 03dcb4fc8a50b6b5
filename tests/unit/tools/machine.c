// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine of the tests, over three streams, a second apart:
 *
 *	server	100	two threads; each second 10 reads and writes, 5 sends; half a
 *			second in user mode
 *	sleeper	200	in read() the whole time
 *	short	300	exits between the first stream and the second
 *	again	300	a later process with the same pid
 *	kworker	2	does nothing
 *	swapper	0	gets the timer interrupts
 *
 * The third stream's evicted sum has "short", which an earlier stream has shown,
 * and a task that was never read: 7 reads of 1 ms.
 */
#include <errno.h>
#include <string.h>

#include "fixture.h"

static int put_info(struct sink *s)
{
	static const char strings[32] = "ktaud -p 1\0/boot/map\0job.17";
	struct {
		struct ktau_rec_info info;
		char strings[32];
	} r = {
		.info = {
			.rec = { sizeof(r), KTAU_REC_INFO, sizeof(r.info) },
			.created_ns = REALTIME_NS + 9 * SECOND,
			.period_ns = SECOND, .stext = 0xffffffff81000000,
			.command_bytes = 11, .symbols_bytes = 10, .job_bytes = 7,
			.hostname = "collector", .release = "6.1.0-ktau",
			.machine = "x86_64",
		},
	};

	memcpy(r.strings, strings, sizeof(strings));
	return sink_put(s, &r);
}

static int put_events(struct sink *s)
{
	static const struct {
		uint16_t id;
		uint8_t kind, source;
		uint32_t group;
		uint64_t address, key;
		const char *name;
	} events[] = {
		{ ID_READ, KTAU_KIND_TIMER, KTAU_SOURCE_SYSCALL, KTAU_GROUP_SYSCALL,
		  0xffffffff81001000, 0, "__x64_sys_read" },
		{ ID_WRITE, KTAU_KIND_TIMER, KTAU_SOURCE_SYSCALL, KTAU_GROUP_SYSCALL,
		  0xffffffff81002000, 1, "__x64_sys_write" },
		{ ID_FORK, KTAU_KIND_TIMER, KTAU_SOURCE_SYSCALL, KTAU_GROUP_SYSCALL,
		  0xffffffff81003000, 57, "sys_57" },
		{ ID_SCHEDULE, KTAU_KIND_TIMER, KTAU_SOURCE_STATIC, KTAU_GROUP_SCHED, 0, 0,
		  "schedule" },
		{ ID_SCHEDULE_VOL, KTAU_KIND_TIMER, KTAU_SOURCE_STATIC, KTAU_GROUP_SCHED, 0, 0,
		  "schedule_vol" },
		{ ID_TIMER, KTAU_KIND_TIMER, KTAU_SOURCE_STATIC, KTAU_GROUP_IRQ, 0, 0,
		  "local_timer" },
		{ ID_TCP, KTAU_KIND_TIMER, KTAU_SOURCE_POINT, KTAU_GROUP_TCP,
		  0xffffffff81005000, 0xffffffff81005000, "tcp_sendmsg" },
		{ ID_TCP_BYTES, KTAU_KIND_COUNTER, KTAU_SOURCE_POINT, KTAU_GROUP_TCP, 0, 0,
		  "tcp_send_bytes" },
		{ ID_WAIT, KTAU_KIND_TIMER, KTAU_SOURCE_POINT, KTAU_GROUP_WAIT,
		  0xffffffff81006000, 0xffffffff81006000, "sk_wait_data" },
		{ ID_IRQ4, KTAU_KIND_TIMER, KTAU_SOURCE_IRQ, KTAU_GROUP_IRQ, 0, 4,
		  "irq:4:ttyS0" },
		{ ID_CALLBACK, KTAU_KIND_TIMER, KTAU_SOURCE_TIMER, KTAU_GROUP_BH,
		  0xffffffff81004000, 0xffffffff81004000, "timer:0xffffffff81004000" },
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(events) / sizeof(*events); i++) {
		const struct ktau_rec_event event = {
			.id = events[i].id, .kind = events[i].kind, .source = events[i].source,
			.group = events[i].group, .address = events[i].address,
			.key = events[i].key,
		};

		err = fixture_put_event(s, &event, events[i].name);
	}
	return err;
}

int fixture_put_names(struct sink *s)
{
	int err = put_events(s);

	if (!err)
		err = fixture_put_cgroup(s, CGROUP_ROOT, "/");
	if (!err)
		err = fixture_put_cgroup(s, CGROUP_SERVER, "/system.slice/server");
	if (!err)
		err = fixture_put_cgroup(s, CGROUP_USER, "/user.slice");
	if (!err)
		err = fixture_put_cgroup(s, CGROUP_USER_A, "/user.slice/a");
	return err ? err : fixture_put_cgroup(s, CGROUP_REMOVED, "");
}

/* One thread of the server after @n seconds. */
static int put_server(struct sink *s, uint64_t at, uint64_t n, int thread, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };

	p.owner = fixture_owner(KTAU_OWNER_TASK, 10 + (uint64_t)thread, 100, 100 + thread,
				"server");
	p.owner.leader_serial = 10;
	p.owner.uid = 33;
	p.owner.tag = 7;
	p.owner.cgroup = CGROUP_SERVER;
	p.user = 500 * n * MS;
	p.kernel = 40 * n * MS;
	p.irq = 10 * n * MS;
	p.runq = 20 * n * MS;
	fixture_waited(&p, ID_READ, 10 * n, 40 * n * MS, 10 * n * MS);
	fixture_timer(&p, ID_WRITE, 10 * n, 20 * n * MS, 15 * n * MS);
	fixture_timer(&p, ID_SCHEDULE_VOL, 3 * n, 30 * n * MS, 30 * n * MS);
	fixture_timer(&p, ID_TCP, 5 * n, 5 * n * MS, 5 * n * MS);
	fixture_counter(&p, ID_TCP_BYTES, 5 * n, 1000);
	fixture_waited(&p, ID_WAIT, 3 * n, 31 * n * MS, n * MS);
	return fixture_put(s, &p, nr);
}

/* A frame in flight, asleep except for a millisecond of exclusive time. */
static void open_asleep(struct fixture_profile *p, uint32_t id, uint64_t start, uint64_t child)
{
	uint64_t own = id == ID_SCHEDULE_VOL ? 0 : MS;

	fixture_open(p, id, start, child);
	p->open[p->nr_open - 1].asleep_ticks = p->ticks - start - own;
}

/* In read() since second 2, and asleep before that. */
static int put_sleeper(struct sink *s, uint64_t at, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };

	p.owner = fixture_owner(KTAU_OWNER_TASK, 12, 200, 200, "sleeper");
	p.user = 600 * MS;
	p.kernel = 1 * MS;
	fixture_timer(&p, ID_SCHEDULE_VOL, 1, 2 * MS, 2 * MS);
	open_asleep(&p, ID_SCHEDULE_VOL, 2 * SECOND + 3 * MS, 0);
	open_asleep(&p, ID_READ, 2 * SECOND, 2 * MS);
	return fixture_put(s, &p, nr);
}

static int put_kernel(struct sink *s, uint64_t at, uint64_t n, uint64_t *nr)
{
	struct fixture_profile idle = { .ticks = at }, kworker = { .ticks = at };
	int err;

	idle.owner = fixture_owner(KTAU_OWNER_TASK, 1, 0, 0, "swapper/0");
	idle.owner.flags = KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD;
	idle.owner.uid = 0;
	idle.owner.cgroup = CGROUP_ROOT;
	idle.irq = 4 * n * MS;
	fixture_timer(&idle, ID_TIMER, 100 * n, 3 * n * MS, 2 * n * MS);
	fixture_timer(&idle, ID_CALLBACK, 4 * n, n * MS, n * MS);
	kworker.owner = fixture_owner(KTAU_OWNER_TASK, 2, 2, 2, "kworker/0:1");
	kworker.owner.flags = KTAU_OWNER_KTHREAD;
	kworker.owner.uid = 0;
	kworker.owner.cgroup = CGROUP_ROOT;
	kworker.kernel = 1;
	fixture_timer(&kworker, ID_SCHEDULE_VOL, 1, MS, MS);
	open_asleep(&kworker, ID_SCHEDULE_VOL, 2 * SECOND, 0);
	err = fixture_put(s, &idle, nr);
	return err ? err : fixture_put(s, &kworker, nr);
}

/* "short" does 3 reads in its life; @n is the number of reads so far. */
static int put_short(struct sink *s, uint64_t at, uint32_t kind, uint64_t n, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };

	p.owner = fixture_owner(kind, 20, 300, 300, "short");
	p.owner.cgroup = CGROUP_REMOVED;
	p.owner.start_ns = 9 * SECOND + 500 * MS;
	if (kind == KTAU_OWNER_EXITED) {
		p.owner.exited_seq = 5;
		p.owner.exit_ns = p.ticks = 10 * SECOND + 500 * MS;
	}
	p.user = n * 100 * MS;
	p.kernel = n * MS;
	fixture_timer(&p, ID_READ, n, n * MS, n * MS);
	return fixture_put(s, &p, nr);
}

static int put_again(struct sink *s, uint64_t at, uint64_t n, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at, .refused = 2, .refused_ticks = 2 * MS };

	p.owner = fixture_owner(KTAU_OWNER_TASK, 30, 300, 300, "again");
	p.owner.cgroup = CGROUP_USER_A;
	p.owner.start_ns = 10 * SECOND + 500 * MS;
	p.user = n * 90 * MS;
	p.kernel = n * 6 * MS;
	fixture_timer(&p, ID_FORK, n, 4 * n * MS, 4 * n * MS);
	return fixture_put(s, &p, nr);
}

static int put_cpus(struct sink *s, uint64_t at, uint64_t n, uint64_t *nr)
{
	uint32_t cpu;
	int err = 0;

	for (cpu = 0; !err && cpu < 2; cpu++) {
		struct fixture_profile p = { .ticks = at };

		p.owner = fixture_owner(KTAU_OWNER_CPU, 1000 + cpu, 0, 0, "");
		p.owner.cpu = cpu;
		p.owner.cgroup = 0;
		p.owner.start_ns = SECOND;
		p.kernel = 550 * n * MS;
		p.irq = 5 * n * MS;
		fixture_timer(&p, ID_TIMER, 100 * n, 3 * n * MS, 2 * n * MS);
		if (cpu)
			fixture_timer(&p, ID_IRQ4, 2 * n, n * MS, n * MS);
		err = fixture_put(s, &p, nr);
	}
	return err;
}

/* All exited tasks below @seq: five that exited before the file, "short", one never read. */
static int put_evicted(struct sink *s, uint64_t at, uint64_t seq, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at };
	uint64_t reads = 50 + (seq > 5 ? 3 : 0) + (seq > 6 ? 7 : 0);

	p.owner = fixture_owner(KTAU_OWNER_EVICTED, 1002, 0, 0, "");
	p.owner.cgroup = 0;
	p.owner.exited_seq = p.owner.nr_tasks = seq;
	p.owner.start_ns = at;
	fixture_timer(&p, ID_READ, reads, reads * MS, reads * MS);
	return fixture_put(s, &p, nr);
}

static int put_gone(struct sink *s, uint64_t serial)
{
	const struct {
		struct ktau_rec_gone gone;
		uint64_t serial;
	} r = {
		.gone = {
			.rec = { sizeof(r), KTAU_REC_GONE, sizeof(r.gone) },
			.nr_serials = 1, .serial_bytes = 8,
		},
		.serial = serial,
	};

	return sink_put(s, &r);
}

static int put_stream(struct sink *s, uint64_t n)
{
	uint64_t at = (9 + n) * SECOND, nr = 0;
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, at);
	struct ktau_rec_end end;
	int err;

	stream.exited_since = n == 1 ? 0 : n + 3;
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = put_kernel(s, at, n, &nr);
	if (!err)
		err = put_server(s, at, n, 0, &nr);
	if (!err)
		err = put_server(s, at, n, 1, &nr);
	if (!err)
		err = put_sleeper(s, at, &nr);
	if (!err && n == 1)
		err = put_short(s, at, KTAU_OWNER_TASK, 1, &nr);
	if (!err && n > 1)
		err = put_again(s, at, n - 1, &nr);
	if (!err && n == 2)
		err = put_short(s, at, KTAU_OWNER_EXITED, 3, &nr);
	if (!err)
		err = put_cpus(s, at, n, &nr);
	if (!err)
		err = put_evicted(s, at, n == 3 ? 7 : 5, &nr);
	if (!err && n == 3)
		err = put_gone(s, 20);	/* "short" */
	end = fixture_end(nr, n == 1 ? 5 : n == 2 ? 6 : 7);
	end.refused_no_chunk = n == 1 ? 1 : 3;
	return err ? err : sink_put(s, &end);
}

static int put_wrong(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, 20 * SECOND);
	struct fixture_profile p = { .ticks = 20 * SECOND, .kernel = 5 * MS };
	struct ktau_rec_end end = fixture_end(1, 7);
	struct ktau_rec_profile *r;
	int err;

	end.refused_no_chunk = 3;	/* as in the streams before */
	p.owner = fixture_owner(KTAU_OWNER_TASK, 40, 400, 400, "liar");
	fixture_timer(&p, ID_READ, 1, 5 * MS, 5 * MS);
	r = fixture_record(&p);
	if (!r)
		return -ENOMEM;
	r->outer_ticks -= 1;
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = sink_put(s, &p.owner);
	if (!err)
		err = sink_put(s, r);
	ktau_record_free(r);
	return err ? err : sink_put(s, &end);
}

static int write_nowhere(struct sink *s)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, 20 * SECOND);
	struct ktau_rec_end end = fixture_end(1, 7);
	uint64_t nr = 0;
	int err;

	stream.stext = 0;
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	if (!err)
		err = put_again(s, 20 * SECOND, 1, &nr);
	return err ? err : sink_put(s, &end);
}

/* Like ktaud, flush after each stream, so that it has its own block. */
static int write_profiles(struct sink *s, uint64_t first, uint64_t last)
{
	uint64_t n;
	int err = s->w ? put_info(s) : 0;

	for (n = first; !err && n <= last; n++) {
		err = put_stream(s, n);
		if (!err && s->w)
			err = ktau_writer_flush(s->w, false);
	}
	return err;
}

static int write_streams(struct sink *s)
{
	int err = write_profiles(s, 1, 3);

	return err ? err : fixture_put_trace(s);
}

/* Like ktaud's rotation: the first stream in one file, the others in the next. */
static int write_first(struct sink *s)
{
	return write_profiles(s, 1, 1);
}

static int write_rest(struct sink *s)
{
	int err = write_profiles(s, 2, 3);

	return err ? err : fixture_put_trace(s);
}

static int write_wrong(struct sink *s)
{
	int err = write_streams(s);

	return err ? err : put_wrong(s);
}

int fixture_write(const char *path, unsigned int writer_flags)
{
	return fixture_file(path, writer_flags, write_streams);
}

int fixture_write_saved(const char *path)
{
	return fixture_saved(path, write_streams);
}

int fixture_write_wrong(const char *path)
{
	return fixture_file(path, 0, write_wrong);
}

int fixture_write_parts(const char *first, const char *rest)
{
	int err = fixture_file(first, 0, write_first);

	return err ? err : fixture_file(rest, 0, write_rest);
}

int fixture_write_nowhere(const char *path)
{
	return fixture_file(path, 0, write_nowhere);
}
