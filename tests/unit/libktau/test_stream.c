// SPDX-License-Identifier: GPL-2.0-only
/* The decoder on streams: byte orders, growth, the reader's registries. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

static const struct entry entries[] = {
	{ 0x102, 0, 5, 0x0102030405060708, 0x1112131415161718, 0x2122232425262728,
	  0x3132333435363738, 0x4142434445464748, 0x5152535455565758, 0x6162636465666768 },
	{ .id = 701, .kind = 1, .count = 3, .incl = 600, .excl = 100, .longest = 300 },
	{ .id = 65534, .kind = 7, .count = 9 },
};
static const struct frame frames[] = {
	{ 39, 0x3132333435363738, 0x4142434445464748 },
	{ 40, 17, 18 },
};
static const struct profile full = {
	.o = {
		.serial = 0x5152535455565758, .parent = 0x1111111122222222,
		.leader = 0x3333333344444444, .kind = EXITED, .flags = 2, .tid = 0x61626364,
		.tgid = 0x65666768, .ppid = -2, .cpu = 3, .uid = 1000, .gid = 1001,
		.prio = -3, .policy = 5, .exit_code = 0x8b00, .tag = 77, .start_ns = 4,
		.exec_ns = 40, .exit_ns = 5, .exited_seq = 6, .nr_tasks = 2, .utime_ns = 7,
		.stime_ns = 8, .nvcsw = 9, .nivcsw = 10, .migrations = 11, .cgroup = 12,
		.pid_ns = 13, .net_ns = 14, .comm = "abcdefghijklmno", .path = "/bin/true",
	},
	.ticks = 0x6152535455565758, .outer = 10, .open_child = 11, .refused = 12,
	.refused_ticks = 13, .clamped = 14, .start_ticks = 15, .groups = 0x400001ff,
	.throughout = 0x1f0, .depth = 16,
	.account = { 1ULL << 32, 2ULL << 33, 3ULL << 34, 4ULL << 35, 5ULL << 36, 6ULL << 37 },
	.entries = entries, .nr_entries = 3, .open = frames, .nr_open = 2,
};

static struct ktau_reader *open_stream(const struct stream *s)
{
	struct ktau_reader *r;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, s->data, s->size), 0);
	return r;
}

static void next(struct ktau_reader *r, union ktau_record *rec, unsigned int type)
{
	assert_int_equal(ktau_reader_next(r, rec), 1);
	assert_int_equal(rec->rec->type, type);
}

static void check_stream(const struct ktau_rec_stream *st, const struct stream *s)
{
	assert_int_equal(st->magic, KTAU_MAGIC);
	assert_int_equal(st->version, 2);
	assert_int_equal(st->word_bits, s->word_bits);
	assert_int_equal(st->content, KTAU_REC_PROFILE);
	assert_int_equal(st->flags, KTAU_SELECT_UID);
	assert_int_equal(st->access, 0x7f);
	assert_int_equal(st->groups, 0x1ff);
	assert_int_equal(st->groups_built, 0x3fff);
	assert_int_equal(st->modes, KTAU_MODE_PROFILE);
	assert_int_equal(st->round_ns, 1000);
	assert_int_equal(st->clock_hz, 2000000000);
	assert_int_equal(st->clock_flags, KTAU_CLOCK_STABLE);
	assert_int_equal(st->nr_cpus, 2);
	assert_int_equal(st->ticks, 5000000000);
	assert_int_equal(st->realtime_ns, 1700000000000000000);
	assert_int_equal(st->boottime_ns, 2600000000);
	assert_int_equal(st->tai_ns, 1700000037000000000);
	assert_int_equal(st->boot_monotonic_ns, 500000000);
	assert_int_equal(st->since_ticks, 12345);
	assert_int_equal(st->exited_next, 77);
	assert_int_equal(st->stext, 0xffffffff81000000);
	assert_int_equal(st->profile_pair_mticks, 60123);
	assert_int_equal(st->trace_pair_mticks, 95456);
	assert_int_equal(st->boot_id[15], 0xb0);
	assert_string_equal(st->nodename, "ion7");
	assert_string_equal(st->release, "6.1.0");
	assert_string_equal(st->machine, s->shrink ? "" : "x86_64");
	assert_int_equal(st->cpu_pair_mticks, s->shrink ? 0 : 70789);
	assert_int_equal(st->call_pair_mticks, s->shrink ? 0 : 81012);
	assert_int_equal(st->switch_mticks, s->shrink ? 0 : 123456);
}

static void check_owner(const struct ktau_rec_owner *w)
{
	assert_int_equal(w->serial, full.o.serial);
	assert_int_equal(w->parent_serial, full.o.parent);
	assert_int_equal(w->leader_serial, full.o.leader);
	assert_int_equal(w->kind, KTAU_OWNER_EXITED);
	assert_int_equal(w->flags, KTAU_OWNER_KTHREAD);
	assert_int_equal(w->tid, full.o.tid);
	assert_int_equal(w->tgid, full.o.tgid);
	assert_int_equal(w->ppid, -2);
	assert_int_equal(w->cpu, 3);
	assert_int_equal(w->uid, 1000);
	assert_int_equal(w->gid, 1001);
	assert_int_equal(w->prio, -3);
	assert_int_equal(w->policy, 5);
	assert_int_equal(w->exit_code, 0x8b00);
	assert_int_equal(w->tag, 77);
	assert_int_equal(w->start_ns, 4);
	assert_int_equal(w->exec_ns, 40);
	assert_int_equal(w->exit_ns, 5);
	assert_int_equal(w->exited_seq, 6);
	assert_int_equal(w->nr_tasks, 2);
	assert_int_equal(w->utime_ns, 7);
	assert_int_equal(w->stime_ns, 8);
	assert_int_equal(w->nvcsw, 9);
	assert_int_equal(w->nivcsw, 10);
	assert_int_equal(w->migrations, 11);
	assert_int_equal(w->cgroup, 12);
	assert_int_equal(w->pid_ns, 13);
	assert_int_equal(w->net_ns, 14);
	assert_string_equal(w->comm, full.o.comm);
	assert_string_equal(ktau_owner_path(w), "/bin/true");
}

static void check_entries(const struct ktau_rec_profile *p, bool shrunk)
{
	const struct ktau_entry *e = ktau_profile_entries(p);

	assert_int_equal(p->nr_entries, 3);
	assert_int_equal(p->entry_size, sizeof(*e));
	assert_int_equal(e[0].id, 0x102);
	assert_int_equal(e[0].flags, 5);
	assert_int_equal(e[0].count, entries[0].count);
	assert_int_equal(e[0].incl, entries[0].incl);
	assert_int_equal(e[0].excl, entries[0].excl);
	assert_int_equal(e[0].longest, entries[0].longest);
	assert_int_equal(e[0].asleep, shrunk ? 0 : entries[0].asleep);
	assert_int_equal(e[0].runq, shrunk ? 0 : entries[0].runq);
	assert_int_equal(e[0].irq, shrunk ? 0 : entries[0].irq);
	assert_int_equal(e[1].kind, KTAU_KIND_COUNTER);
	assert_int_equal(e[1].sum, 600);
	assert_int_equal(e[1].min, 100);
	assert_int_equal(e[1].max, 300);
	assert_int_equal(e[2].kind, 7);
	assert_ptr_equal(ktau_profile_find(p, 701), &e[1]);
	assert_ptr_equal(ktau_profile_find(p, 0x102), &e[0]);
	assert_ptr_equal(ktau_profile_find(p, 65534), &e[2]);
	assert_null(ktau_profile_find(p, 702));
	assert_null(ktau_profile_find(p, 65535));
}

static void check_profile(const struct ktau_rec_profile *p, bool shrunk)
{
	const struct ktau_open *o = ktau_profile_open(p);

	assert_int_equal(p->rec.size,
			 sizeof(*p) + 3 * sizeof(struct ktau_entry) + 2 * sizeof(*o));
	assert_int_equal(p->rec.head, sizeof(*p));
	assert_int_equal(p->serial, full.o.serial);
	assert_int_equal(p->ticks, full.ticks);
	assert_int_equal(p->outer_ticks, 10);
	assert_int_equal(p->open_child_ticks, 11);
	assert_int_equal(p->refused, 12);
	assert_int_equal(p->refused_ticks, 13);
	assert_int_equal(p->clamped, 14);
	assert_int_equal(p->start_ticks, 15);
	assert_int_equal(p->groups, 0x400001ff);
	assert_int_equal(p->groups_throughout, 0x1f0);
	assert_int_equal(p->depth, shrunk ? 0 : 16);
	assert_int_equal(p->user_ticks, shrunk ? 0 : full.account[0]);
	assert_int_equal(p->kernel_ticks, shrunk ? 0 : full.account[1]);
	assert_int_equal(p->irq_ticks, shrunk ? 0 : full.account[2]);
	assert_int_equal(p->runq_ticks, shrunk ? 0 : full.account[3]);
	assert_int_equal(p->asleep_ticks, shrunk ? 0 : full.account[4]);
	assert_int_equal(p->guest_ticks, shrunk ? 0 : full.account[5]);
	check_entries(p, shrunk);
	assert_int_equal(p->nr_open, 2);
	assert_int_equal(o[0].id, 39);
	assert_int_equal(o[0].start_ticks, frames[0].start);
	assert_int_equal(o[0].child_ticks, frames[0].child);
	assert_int_equal(o[1].start_ticks, 17);
}

static void check_region(const struct ktau_rec_region *r, bool shrunk)
{
	const struct ktau_entry *e = ktau_region_entries(r);

	assert_int_equal(r->rec.head, sizeof(*r));
	assert_int_equal(r->rec.size, sizeof(*r) + 2 * sizeof(*e));
	assert_int_equal(r->serial, full.o.serial);
	assert_int_equal(r->region, 63);
	assert_int_equal(r->nr_entries, 2);
	assert_int_equal(r->entry_size, sizeof(*e));
	assert_int_equal(r->refused, 0x102030405);
	assert_int_equal(e[0].id, 0x102);
	assert_int_equal(e[0].longest, entries[0].longest);
	assert_int_equal(e[0].irq, shrunk ? 0 : entries[0].irq);
	assert_int_equal(e[1].kind, KTAU_KIND_COUNTER);
	assert_int_equal(e[1].max, 300);
}

static void check_end(const struct ktau_rec_end *end, const struct stream *s)
{
	assert_int_equal(end->nr_records, 1);
	assert_int_equal(end->denied, 3);
	assert_int_equal(end->cut_ticks, 4900000000);
	assert_int_equal(end->exited_next, 78);
	assert_int_equal(end->exited_first, 5);
	assert_int_equal(end->losses_own, 1);
	assert_int_equal(end->refused_memory_limit, s->shrink ? 0 : 0x102030405);
	assert_int_equal(end->internal_errors, s->shrink ? 0 : 99);
	assert_int_equal(end->missed, s->shrink ? 0 : 7);
	assert_int_equal(end->refused_gone, s->shrink ? 0 : 8);
	assert_int_equal(end->refused_functions, s->shrink ? 0 : 9);
	assert_string_equal(ktau_loss_name(0), "refused_memory_limit");
	assert_string_equal(ktau_loss_name(9), "lost_evicted");
	assert_string_equal(ktau_loss_name(KTAU_NR_LOSSES - 1), "lost_no_room");
	assert_null(ktau_loss_name(KTAU_NR_LOSSES));
	assert_int_equal(ktau_loss_value(end, 0), end->refused_memory_limit);
	assert_int_equal(ktau_loss_value(end, KTAU_NR_LOSSES - 1), end->lost_no_room);
	assert_int_equal(ktau_loss_value(end, KTAU_NR_LOSSES), 0);
}

static void put_all(struct stream *s)
{
	s->boot = 0xb0;
	s->flags = KTAU_SELECT_UID;
	s->round_ns = 1000;
	s->denied = 3;
	s->losses[0] = 0x102030405;
	s->losses[12] = 99;
	s->losses[13] = 7;
	s->losses[14] = 8;
	s->losses[16] = 9;
	put_stream(s, KTAU_REC_PROFILE, 0x3f);
	put_event(s, 0x102, 0x80000, "tcp_sendmsg");
	put_cgroup(s, 12, "/job/7");
	put_profile(s, &full);
	put_region(s, &(struct region){ .serial = full.o.serial, .region = 63,
					 .refused = 0x102030405, .entries = entries,
					 .nr_entries = 2 });
	record_begin(s, 77);
	put64(s, 1);
	record_fixed(s);
	record_end(s);
	put_end(s);
}

/* Every field is decoded, for any byte order and any size of the structures. */
static void decode_all(struct stream s)
{
	union ktau_record rec;
	struct ktau_reader *r;

	put_all(&s);
	r = open_stream(&s);
	assert_int_equal(ktau_reader_swapped(r),
			 s.big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	next(r, &rec, KTAU_REC_STREAM);
	check_stream(rec.stream, &s);
	check_stream(ktau_reader_stream(r), &s);
	next(r, &rec, KTAU_REC_EVENT);
	assert_int_equal(rec.event->id, 0x102);
	assert_int_equal(rec.event->kind, KTAU_KIND_TIMER);
	assert_int_equal(rec.event->source, KTAU_SOURCE_SYSCALL);
	assert_int_equal(rec.event->group, 0x80000);
	assert_int_equal(rec.event->address, 0xffffffff81001020);
	assert_int_equal(rec.event->key, 0xffffffff82000102);
	assert_string_equal(ktau_event_name(rec.event), "tcp_sendmsg");
	assert_string_equal(ktau_event_name(ktau_reader_event(r, 0x102)), "tcp_sendmsg");
	assert_null(ktau_reader_event(r, 0x103));
	next(r, &rec, KTAU_REC_CGROUP);
	assert_int_equal(rec.cgroup->id, 12);
	assert_string_equal(ktau_cgroup_path(ktau_reader_cgroup(r, 12)), "/job/7");
	assert_null(ktau_reader_cgroup(r, 13));
	next(r, &rec, KTAU_REC_OWNER);
	check_owner(rec.owner);
	check_owner(ktau_reader_owner(r, full.o.serial));
	assert_null(ktau_reader_owner(r, 1));
	next(r, &rec, KTAU_REC_PROFILE);
	check_profile(rec.profile, s.shrink);
	next(r, &rec, KTAU_REC_REGION);
	check_region(rec.region, s.shrink);
	next(r, &rec, KTAU_REC_END);
	check_end(rec.end, &s);
	assert_int_equal(ktau_reader_next(r, &rec), 0);
	assert_string_equal(ktau_reader_error(r), "");
	assert_int_equal(ktau_reader_unknown(r)->records, 1);
	assert_int_equal(ktau_reader_unknown(r)->record_type, 77);
	assert_int_equal(ktau_reader_next(r, &rec), 0);
	ktau_reader_destroy(r);
	stream_free(&s);
}

static void little_64(void **state)
{
	(void)state;
	decode_all((struct stream){ .word_bits = 64 });
}

static void big_32(void **state)
{
	(void)state;
	decode_all((struct stream){ .word_bits = 32, .big = true });
}

static void grown(void **state)
{
	(void)state;
	decode_all((struct stream){ .word_bits = 64, .grow_head = 16, .grow_element = 8 });
	decode_all((struct stream){ .word_bits = 32, .big = true, .grow_head = 8,
				    .grow_element = 24 });
}

static void shrunk(void **state)
{
	(void)state;
	decode_all((struct stream){ .word_bits = 64, .shrink = true });
	decode_all((struct stream){ .word_bits = 32, .big = true, .shrink = true });
}

/* Owners are kept for one stream, events and control groups for the source. */
static void registry(void **state)
{
	const struct ktau_rec_cgroup *cgroup;
	const struct ktau_rec_owner *owner;
	struct stream s = { .word_bits = 64, .big = true };
	union ktau_record rec;
	struct ktau_reader *r;
	int i;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	put_event(&s, 60000, 65536, "module event");
	put_event(&s, 5, 1, "sys_fstat");
	put_cgroup(&s, 2, "/b");
	put_cgroup(&s, 1, "");
	put_task(&s, 7, 70, TASK, 1);
	put_task(&s, 6, 60, TASK, 1);
	put_task(&s, 7, 70, EXITED, 2);
	put_end(&s);
	put_stream(&s, KTAU_REC_PROFILE, 1);
	put_task(&s, 8, 80, TASK, 1);
	s.boot++;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	r = open_stream(&s);
	for (i = 0; i < 12; i++)
		assert_int_equal(ktau_reader_next(r, &rec), 1);
	assert_int_equal(rec.rec->type, KTAU_REC_END);
	assert_int_equal(ktau_reader_owner(r, 7)->kind, KTAU_OWNER_EXITED);
	owner = ktau_reader_next_owner(r, NULL);
	assert_int_equal(owner->serial, 7);
	owner = ktau_reader_next_owner(r, owner);
	assert_int_equal(owner->serial, 6);
	assert_null(ktau_reader_next_owner(r, owner));
	cgroup = ktau_reader_next_cgroup(r, NULL);
	assert_int_equal(cgroup->id, 2);
	cgroup = ktau_reader_next_cgroup(r, cgroup);
	assert_string_equal(ktau_cgroup_path(cgroup), "");
	assert_null(ktau_reader_next_cgroup(r, cgroup));
	next(r, &rec, KTAU_REC_STREAM);
	assert_null(ktau_reader_owner(r, 7));
	assert_null(ktau_reader_next_owner(r, NULL));
	assert_null(ktau_reader_cgroup(r, 2));
	assert_null(ktau_reader_next_cgroup(r, NULL));
	assert_non_null(ktau_reader_event(r, 60000));
	assert_int_equal(ktau_events_count(ktau_reader_events(r)), 2);
	assert_int_equal(ktau_events_next(ktau_reader_events(r), NULL)->id, 5);
	next(r, &rec, KTAU_REC_OWNER);
	next(r, &rec, KTAU_REC_PROFILE);
	/* Ids of another boot have other meanings. */
	next(r, &rec, KTAU_REC_STREAM);
	assert_null(ktau_reader_event(r, 60000));
	assert_null(ktau_reader_cgroup(r, 2));
	assert_int_equal(ktau_events_count(ktau_reader_events(r)), 0);
	ktau_reader_destroy(r);
	stream_free(&s);
}

/* A short fixed part: the other fields read as zero, the arrays are empty. */
static void short_head(void **state)
{
	struct stream s = { .word_bits = 64 };
	union ktau_record rec;
	struct ktau_reader *r;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	record_begin(&s, 2);
	put64(&s, 42);
	record_fixed(&s);
	record_end(&s);
	put_end(&s);
	r = open_stream(&s);
	next(r, &rec, KTAU_REC_STREAM);
	next(r, &rec, KTAU_REC_PROFILE);
	assert_int_equal(rec.profile->serial, 42);
	assert_int_equal(rec.profile->ticks, 0);
	assert_int_equal(rec.profile->nr_entries, 0);
	assert_int_equal(rec.profile->rec.size, sizeof(*rec.profile));
	next(r, &rec, KTAU_REC_END);
	ktau_reader_destroy(r);
	stream_free(&s);
}

static void in_flight(void **state)
{
	const struct frame open[] = {
		{ .id = 1, .start = 900, .child = 30 },
		{ .id = 2, .start = 500, .child = 50 },
		{ .id = 3, .start = 2000 },
	};
	const struct profile p = { .no_owner = true, .ticks = 1000, .open = open, .nr_open = 3 };
	struct stream s = { .word_bits = 64 };
	uint64_t incl, excl;
	union ktau_record rec;
	struct ktau_reader *r;

	(void)state;
	put_stream(&s, KTAU_REC_PROFILE, 1);
	put_profile(&s, &p);
	r = open_stream(&s);
	next(r, &rec, KTAU_REC_STREAM);
	next(r, &rec, KTAU_REC_PROFILE);
	assert_int_equal(ktau_profile_inflight(rec.profile, 0, &incl, &excl), 0);
	assert_int_equal(incl, 100);
	assert_int_equal(excl, 70);
	assert_int_equal(ktau_profile_inflight(rec.profile, 1, &incl, &excl), 0);
	assert_int_equal(incl, 500);
	assert_int_equal(excl, 350);
	assert_int_equal(ktau_profile_inflight(rec.profile, 2, &incl, &excl), 0);
	assert_int_equal(incl, 0);
	assert_int_equal(excl, 0);
	assert_int_equal(ktau_profile_inflight(rec.profile, 3, NULL, NULL), -ERANGE);
	ktau_reader_destroy(r);
	stream_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_64),
		cmocka_unit_test(big_32),
		cmocka_unit_test(grown),
		cmocka_unit_test(shrunk),
		cmocka_unit_test(registry),
		cmocka_unit_test(short_head),
		cmocka_unit_test(in_flight),
	};

	return cmocka_run_group_tests_name("libktau: streams", tests, NULL, NULL);
}
