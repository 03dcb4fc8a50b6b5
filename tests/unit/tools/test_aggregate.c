// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of each process in each period, for the machine of machine.c and
 * for owners that are made for one case each.
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
#include "fixture.h"
#include "lib/report/period.h"
#include "lib/report/aggregate.h"
#include "lib/report/tally.h"

static const struct task_filter everything;

static char path[] = "/tmp/ktau-rows-XXXXXX";

/* Read the machine's file, or another one. */
static void read_from(struct period *p, struct aggregate *rows, const struct period_select *select,
		      const char *file)
{
	struct ktau_reader *reader;

	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, file), 0);
	period_start(p, select, 0);
	assert_int_equal(period_read(p, reader, file), 0);
	period_stop(p);
	ktau_reader_destroy(reader);
	if (p->last)
		assert_int_equal(aggregate_finish(rows, p->before, p->after), 0);
}

static void read_rows(struct period *p, struct aggregate *rows, const struct period_select *select,
		      enum aggregate_by by, const struct task_filter *filter)
{
	assert_int_equal(period_init(p, rows), 0);
	aggregate_init(rows, by, filter, p->registry);
	read_from(p, rows, select, path);
}

static void read_fixture(struct period *p, struct aggregate *rows,
			 const struct period_select *select)
{
	read_rows(p, rows, select, BY_PROCESS, &everything);
}

static void forget(struct period *p, struct aggregate *rows)
{
	aggregate_deinit(rows);
	period_deinit(p);
}

/* The routine of a row; valid until the next call. */
static const struct routine *routine(const struct process *row, uint32_t id)
{
	static struct aggregate opened;
	static struct routine found;
	const struct process *p = aggregate_open(&opened, row);
	size_t i;

	for (i = 0; i < p->tally.nr; i++) {
		found = p->tally.routines[i];
		if (found.id == id)
			return &found;
	}
	return NULL;
}

static const struct process *process(const struct aggregate *rows, const char *comm)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		if (!strcmp(rows->processes[i].owner.comm, comm))
			return &rows->processes[i];
	return NULL;
}

static void expect_routine(const struct process *p, uint32_t id, uint64_t count, uint64_t incl,
			   uint64_t excl)
{
	const struct routine *r;

	assert_non_null(p);
	r = routine(p, id);
	assert_non_null(r);
	assert_int_equal(r->count, count);
	assert_int_equal(r->incl, incl);
	assert_int_equal(r->excl, excl);
}

/* The processes and the evicted tasks add up to the total, event by event. */
static void expect_sums(const struct aggregate *rows)
{
	const struct routine *r, *part;
	uint64_t count, incl, excl;
	size_t i, k;

	for (k = 0; k < rows->total.tally.nr; k++) {
		r = &rows->total.tally.routines[k];
		part = routine(&rows->evicted, r->id);
		count = part ? part->count : 0;
		incl = part ? part->incl : 0;
		excl = part ? part->excl : 0;
		for (i = 0; i < rows->nr; i++) {
			part = routine(&rows->processes[i], r->id);
			count += part ? part->count : 0;
			incl += part ? part->incl : 0;
			excl += part ? part->excl : 0;
		}
		assert_int_equal(count, r->count);
		assert_int_equal(incl, r->incl);
		assert_int_equal(excl, r->excl);
	}
}

static void expect_same(const struct tally *t, const struct process *row)
{
	size_t i;

	assert_int_equal(t->nr, row->tally.nr);
	for (i = 0; i < t->nr; i++)
		expect_routine(row, t->routines[i].id, t->routines[i].count, t->routines[i].incl,
			       t->routines[i].excl);
}

static size_t nr_passed;

/* @arg has the same row. */
static void take_row(void *arg, const struct process *row)
{
	const struct process *p = process(arg, row->label);
	int k;

	assert_non_null(p);
	assert_int_equal(row->owner.serial, p->owner.serial);
	assert_string_equal(row->cgroup, p->cgroup);
	expect_same(&row->tally, p);
	assert_true(row->account.life == p->account.life);
	for (k = 0; k < ACCOUNT_NR; k++)
		assert_true(row->account.parts[k] == p->account.parts[k]);
	nr_passed++;
}

/* Rows of exited tasks that are passed on are missing from the rows, and from nothing else. */
static void test_passed_on(void **state)
{
	struct period_select select = { .choice = PERIOD_ALL };
	struct aggregate all, rows;
	struct period p, q;

	(void)state;
	read_rows(&p, &all, &select, BY_THREAD, &everything);
	assert_int_equal(period_init(&q, &rows), 0);
	aggregate_init(&rows, BY_THREAD, &everything, q.registry);
	rows.pass_on = take_row;
	rows.arg = &all;
	read_from(&q, &rows, &select, path);
	assert_in_range(nr_passed, 1, all.nr - 1);
	assert_int_equal(rows.nr + nr_passed, all.nr);
	assert_int_equal(rows.passed_sum.tasks, nr_passed);
	assert_int_equal(rows.exited, all.exited);
	assert_int_equal(rows.evicted.tasks, all.evicted.tasks);
	expect_same(&all.total.tally, &rows.total);
	expect_same(&all.evicted.tally, &rows.evicted);
	forget(&q, &rows);
	forget(&p, &all);
}

static void test_first_to_last(void **state)
{
	struct period_select select = { .choice = PERIOD_ALL };
	const struct routine *r;
	struct period p;
	struct aggregate rows;

	(void)state;
	read_fixture(&p, &rows, &select);
	assert_int_equal(p.first, 1);
	assert_int_equal(p.last, 3);
	assert_int_equal(p.streams, 3);
	assert_int_equal(p.overwritten, 20);
	expect_routine(process(&rows, "server"), ID_READ, 40, 160 * MS, 40 * MS);
	assert_int_equal(process(&rows, "server")->tasks, 2);
	expect_routine(process(&rows, "short"), ID_READ, 2, 2 * MS, 2 * MS);
	assert_int_equal(process(&rows, "short")->live, 0);
	expect_routine(process(&rows, "again"), ID_FORK, 2, 8 * MS, 8 * MS);
	expect_routine(&rows.evicted, ID_READ, 7, 7 * MS, 7 * MS);
	assert_int_equal(rows.refused, 2);
	assert_int_equal(rows.refused_ticks, 2 * MS);
	r = routine(process(&rows, "sleeper"), ID_READ);
	assert_int_equal(r->count, 0);
	assert_int_equal(r->open, 1);
	/* It has been in flight for 10 s, and for the whole period. */
	assert_int_equal(r->open_incl, 2 * SECOND);
	assert_int_equal(r->incl, 2 * SECOND);
	assert_int_equal(r->longest, 10 * SECOND);
	assert_int_equal(r->excl, 0);
	assert_int_equal(rows.nr_cpus, 2);
	expect_routine(&rows.cpus[1], ID_IRQ4, 4, 2 * MS, 2 * MS);
	expect_sums(&rows);
	forget(&p, &rows);
}

static void test_since_boot(void **state)
{
	struct period_select select = { .choice = PERIOD_BOOT };
	struct period p;
	struct aggregate rows;

	(void)state;
	read_fixture(&p, &rows, &select);
	assert_int_equal(p.first, 0);
	assert_int_equal(p.last, 3);
	expect_routine(process(&rows, "server"), ID_READ, 60, 240 * MS, 60 * MS);
	/* 50 reads of tasks that had exited before the file, 7 that were never read. */
	expect_routine(&rows.evicted, ID_READ, 57, 57 * MS, 57 * MS);
	expect_sums(&rows);
	forget(&p, &rows);
}

static void test_one_period(void **state)
{
	struct period_select select = { .choice = PERIOD_NUMBER, .number = 2 };
	struct period p;
	struct aggregate rows;

	(void)state;
	read_fixture(&p, &rows, &select);
	assert_int_equal(p.first, 1);
	assert_int_equal(p.last, 2);
	assert_int_equal(p.overwritten, 0);
	expect_routine(process(&rows, "server"), ID_READ, 20, 80 * MS, 20 * MS);
	assert_int_equal(rows.evicted.tally.nr, 0);
	expect_sums(&rows);
	forget(&p, &rows);

	/* Tasks that exited in an earlier period are not in a later one. */
	select.number = 3;
	read_fixture(&p, &rows, &select);
	assert_null(process(&rows, "short"));
	expect_routine(&rows.evicted, ID_READ, 7, 7 * MS, 7 * MS);
	expect_sums(&rows);
	forget(&p, &rows);
}

static void test_by_times(void **state)
{
	static const struct {
		struct moment from, to;
		uint64_t first, last;
	} cases[] = {
		{ { .given = false }, { .given = false }, 1, 3 },
		{ { true, true, SECOND }, { 0 }, 2, 3 },
		{ { true, true, 1500 * MS }, { 0 }, 2, 3 },
		{ { 0 }, { true, true, 1500 * MS }, 1, 2 },
		{ { true, false, 1700000011 * SECOND },
		  { true, false, 1700000012 * SECOND },
		  2,
		  3 },
		{ { true, false, 5 * SECOND }, { 0 }, 1, 3 },
		{ { 0 }, { true, false, 5 * SECOND }, 0, 0 },
		/* beyond the last moment that fits into 64 bits */
		{ { 0 }, { true, true, 18000000000 * SECOND }, 1, 3 },
	};
	struct period p;
	struct aggregate rows;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct period_select select = {
			.choice = PERIOD_TIMES, .from = cases[i].from, .to = cases[i].to,
		};

		read_fixture(&p, &rows, &select);
		assert_int_equal(p.first, cases[i].first);
		assert_int_equal(p.last, cases[i].last);
		forget(&p, &rows);
	}
}

/* Owners that are put directly into the two snapshots of a period. */
struct machine {
	struct period p;
	struct aggregate rows;
};

static void put(struct ktau_snapshot *s, const struct fixture_profile *f)
{
	struct ktau_rec_profile *r = fixture_record(f);
	const struct ktau_owned owned = { &f->owner, r };

	assert_non_null(r);
	assert_int_equal(ktau_snapshot_put(s, &owned), 0);
	ktau_record_free(r);
}

static void start(struct machine *m)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, 5 * SECOND);
	union ktau_record record = { .stream = &stream };

	assert_int_equal(period_init(&m->p, &m->rows), 0);
	aggregate_init(&m->rows, BY_PROCESS, &everything, m->p.registry);
	ktau_snapshot_add(m->p.before, &record);
	stream.ticks += SECOND;
	ktau_snapshot_add(m->p.after, &record);
}

/* Make the rows of all owners. */
static void make_rows(struct machine *m, enum aggregate_by by)
{
	aggregate_deinit(&m->rows);
	aggregate_init(&m->rows, by, &everything, m->p.registry);
	assert_int_equal(aggregate_finish(&m->rows, m->p.before, m->p.after), 0);
}

static void stop(struct machine *m)
{
	aggregate_deinit(&m->rows);
	period_deinit(&m->p);
}

/* A thread of process 50. */
static void put_thread(struct machine *m, uint64_t serial, uint64_t leader, int32_t tid,
		       uint64_t reads)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, serial, 50, tid, "task"),
	};

	f.owner.leader_serial = leader;
	fixture_timer(&f, ID_READ, reads, reads, reads);
	put(m->p.after, &f);
}

static void put_task(struct machine *m, uint64_t serial, int32_t tgid, int32_t tid,
		     uint64_t reads)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, serial, tgid, tid, "task"),
	};

	fixture_timer(&f, ID_READ, reads, reads, reads);
	put(m->p.after, &f);
}

/* Threads belong to their leader; a later leader with the same pid is another process. */
static void test_pid_reuse(void **state)
{
	struct machine m;

	(void)state;
	start(&m);
	put_task(&m, 9, 50, 50, 100);
	put_thread(&m, 5, 4, 53, 10);
	put_task(&m, 4, 50, 50, 1);
	put_thread(&m, 10, 9, 54, 1000);
	put_task(&m, 7, 51, 51, 5);
	make_rows(&m, BY_PROCESS);
	assert_int_equal(m.rows.nr, 3);
	expect_routine(&m.rows.processes[0], ID_READ, 11, 11, 11);
	expect_routine(&m.rows.processes[1], ID_READ, 1100, 1100, 1100);
	expect_routine(&m.rows.processes[2], ID_READ, 5, 5, 5);
	assert_int_equal(m.rows.processes[0].owner.tid, 50);
	assert_int_equal(process_ids(&m.rows.processes[0], 0).tid, 53);
	assert_int_equal(process_ids(&m.rows.processes[1], 0).tid, 50);
	assert_int_equal(process_ids(&m.rows.processes[1], 1).tid, 54);
	assert_int_equal(process_ids(&m.rows.processes[2], 0).tgid, 51);
	make_rows(&m, BY_THREAD);
	assert_int_equal(m.rows.nr, 5);
	make_rows(&m, BY_NAME);
	assert_int_equal(m.rows.nr, 1);
	assert_int_equal(m.rows.processes[0].tasks, 5);
	expect_routine(&m.rows.processes[0], ID_READ, 1116, 1116, 1116);
	expect_sums(&m.rows);
	stop(&m);
}

static const struct routine *in_row(const struct aggregate *rows, const char *label, uint32_t id)
{
	size_t i;

	for (i = 0; i < rows->nr; i++)
		if (!strcmp(rows->processes[i].label, label))
			return routine(&rows->processes[i], id);
	return NULL;
}

static void test_by_cgroup(void **state)
{
	struct period_select select = { .choice = PERIOD_ALL };
	struct period p;
	struct aggregate rows;

	(void)state;
	read_rows(&p, &rows, &select, BY_CGROUP, &everything);
	assert_int_equal(in_row(&rows, "/system.slice/server", ID_READ)->count, 40);
	assert_int_equal(in_row(&rows, "/user.slice/a", ID_FORK)->count, 2);
	assert_int_equal(in_row(&rows, "(removed cgroup 13)", ID_READ)->count, 2);
	assert_null(in_row(&rows, "/", ID_TIMER));
	assert_non_null(in_row(&rows, "/", ID_SCHEDULE_VOL));
	assert_int_equal(in_row(&rows, "(idle)", ID_TIMER)->count, 200);
	assert_int_equal(rows.nr, 6);
	expect_sums(&rows);
	forget(&p, &rows);
}

/* An idle task, a kernel thread and a process of root; and a task with an idle task's name. */
static void put_root(struct machine *m, enum aggregate_by by)
{
	static const struct {
		const char *comm;
		uint32_t flags;
	} tasks[] = {
		{ "swapper/0", KTAU_OWNER_IDLE | KTAU_OWNER_KTHREAD },
		{ "kworker/0:1", KTAU_OWNER_KTHREAD },
		{ "server", 0 },
		{ "swapper/0", 0 },
	};
	uint64_t i;

	for (i = 0; i < 4; i++) {
		struct fixture_profile f = {
			.owner = fixture_owner(KTAU_OWNER_TASK, i + 1, (int32_t)i, (int32_t)i,
					       tasks[i].comm),
		};

		f.owner.flags = tasks[i].flags;
		f.owner.uid = 0;
		f.owner.cgroup = CGROUP_ROOT;
		fixture_timer(&f, ID_READ, 1, 1, 1);
		put(m->p.after, &f);
	}
	make_rows(m, by);
}

/* The first owner of a row does not decide what the row is. */
static void test_idle(void **state)
{
	static const struct {
		enum aggregate_by by;
		const char *label;
		uint64_t tasks;
	} cases[] = {
		{ BY_USER, "uid 0", 3 },
		{ BY_CGROUP, "(cgroup 1)", 3 },
		{ BY_NAME, "swapper/0", 1 },
	};
	struct machine m;
	size_t i, k, idle, shared;

	(void)state;
	start(&m);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put_root(&m, cases[i].by);
		idle = shared = 0;
		for (k = 0; k < m.rows.nr; k++) {
			const struct process *p = &m.rows.processes[k];

			if (p->owner.flags & KTAU_OWNER_IDLE) {
				assert_int_equal(p->tasks, 1);
				idle++;
			} else if (!strcmp(p->label, cases[i].label)) {
				assert_int_equal(p->tasks, cases[i].tasks);
				assert_false(p->owner.flags & KTAU_OWNER_KTHREAD);
				shared++;
			}
		}
		assert_int_equal(idle, 1);
		assert_int_equal(shared, 1);
	}
	stop(&m);
}

/* The total has the matching tasks only, without the evicted ones. */
static void test_filters(void **state)
{
	static const struct {
		struct task_filter filter;
		size_t nr;
		uint64_t reads, forks, refused;
	} cases[] = {
		{ { .flags = KTAU_SELECT_CGROUP, .cgroup = "/user.slice" }, 2, 0, 2, 2 },
		{ { .flags = KTAU_SELECT_CGROUP, .cgroup = "/user.slice/" }, 2, 0, 2, 2 },
		{ { .flags = KTAU_SELECT_CGROUP, .cgroup = "/user" }, 0, 0, 0, 0 },
		{ { .flags = KTAU_SELECT_CGROUP, .cgroup = "/" }, 5, 40, 2, 2 },
		{ { .flags = KTAU_SELECT_UID, .uid = 33 }, 1, 40, 0, 0 },
		{ { .flags = KTAU_SELECT_UID, .uid = 1000 }, 3, 2, 2, 2 },
		{ { .flags = KTAU_SELECT_TAG, .tag = 7 }, 1, 40, 0, 0 },
	};
	const struct period_select select = { .choice = PERIOD_ALL };
	const struct routine *r;
	struct aggregate rows;
	struct period p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		read_rows(&p, &rows, &select, BY_PROCESS, &cases[i].filter);
		assert_int_equal(rows.nr, cases[i].nr);
		r = routine(&rows.total, ID_READ);
		assert_int_equal(r ? r->count : 0, cases[i].reads);
		r = routine(&rows.total, ID_FORK);
		assert_int_equal(r ? r->count : 0, cases[i].forks);
		assert_int_equal(rows.evicted.tally.nr, 0);
		assert_int_equal(rows.refused, cases[i].refused);
		expect_sums(&rows);
		forget(&p, &rows);
	}
}

/* Idle tasks and tasks of other pid namespaces all have pid 0. */
static void test_no_pid(void **state)
{
	struct machine m;

	(void)state;
	start(&m);
	put_task(&m, 1, 0, 0, 1);
	put_task(&m, 2, 0, 0, 2);
	make_rows(&m, BY_PROCESS);
	assert_int_equal(m.rows.nr, 2);
	stop(&m);
}

/* An owner whose profile decreases is counted, and the others are shown. */
static const uint64_t BIG = 1ULL << 63;

static void put_big(struct machine *m, struct ktau_snapshot *to, uint64_t serial, bool later)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, serial, 50, (int32_t)serial, "task"),
	};

	(void)m;
	f.owner.start_ns = 0;
	f.ticks = BIG + later;
	f.user = BIG / 8;
	f.kernel = BIG / 8 * 7;
	fixture_timer(&f, ID_READ, 1, BIG / 8 * 7, BIG / 8 * 7);
	put(to, &f);
}

/* Sums over threads of a process that exceed 64 bits. */
static void test_long_uptime(void **state)
{
	const ktau_sum_t life = (ktau_sum_t)BIG * 8;
	const struct process *p;
	struct machine m;
	uint64_t serial;

	(void)state;
	start(&m);
	for (serial = 10; serial < 18; serial++)
		put_big(&m, m.p.after, serial, false);
	make_rows(&m, BY_NAME);
	assert_int_equal(m.rows.nr, 1);
	p = &m.rows.processes[0];
	assert_true(p->account.life == life);
	assert_true(p->account.parts[ACCOUNT_USER] == life / 8);
	assert_true(p->account.parts[ACCOUNT_KERNEL] == life / 8 * 7);
	assert_true(routine(p, ID_READ)->excl == life / 8 * 7);
	assert_true(routine(&m.rows.total, ID_READ)->excl == life / 8 * 7);
	assert_int_equal(m.rows.evicted.tally.nr, 0);
	assert_true(!m.rows.evicted.account.life);
	stop(&m);
}

static void test_backward(void **state)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, 1, 60, 60, "back"),
	};
	struct machine m;

	(void)state;
	start(&m);
	fixture_timer(&f, ID_READ, 5, 5, 5);
	put(m.p.before, &f);
	put_task(&m, 1, 60, 60, 4);
	put_task(&m, 2, 61, 61, 4);
	make_rows(&m, BY_PROCESS);
	assert_int_equal(m.rows.backward, 1);
	assert_int_equal(m.rows.nr, 1);
	stop(&m);
}

/* In a recursion in flight only the outermost frame has inclusive time. */
static void test_recursion_in_flight(void **state)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, 1, 60, 60, "deep"), .ticks = 1000,
	};
	const struct routine *r;
	struct machine m;

	(void)state;
	start(&m);
	fixture_open(&f, ID_READ, 700, 100);
	fixture_open(&f, ID_READ, 400, 0);
	put(m.p.after, &f);
	make_rows(&m, BY_PROCESS);
	r = routine(&m.rows.processes[0], ID_READ);
	assert_int_equal(r->open, 2);
	assert_int_equal(r->open_incl, 600);
	assert_int_equal(r->excl, 200 + 300);
	stop(&m);
}

/* One task in both snapshots; @missing groups were disabled for a time after the first. */
static const struct account *account_of_task(struct machine *m, uint32_t missing)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, 1, 60, 60, "task"),
		.ticks = 5 * SECOND, .user = SECOND, .kernel = MS,
	};

	start(m);
	put(m->p.before, &f);
	f.ticks += SECOND;
	f.user += 200 * MS;
	f.kernel += 300 * MS;
	f.irq = 50 * MS;
	f.unmeasured = 10 * MS;
	f.missing = missing;
	put(m->p.after, &f);
	make_rows(m, BY_NAME);
	assert_int_equal(m->rows.nr, 1);
	return &m->rows.processes[0].account;
}

static void test_account(void **state)
{
	const struct account *a;
	struct machine m;

	(void)state;
	a = account_of_task(&m, 0);
	assert_int_equal(a->life, SECOND);
	assert_int_equal(a->parts[ACCOUNT_USER], 200 * MS);
	assert_int_equal(a->parts[ACCOUNT_KERNEL], 300 * MS);
	assert_int_equal(a->parts[ACCOUNT_IRQ], 50 * MS);
	assert_int_equal(a->parts[ACCOUNT_ASLEEP], 440 * MS);
	assert_int_equal(a->parts[ACCOUNT_GUEST], 0);
	assert_int_equal(a->throughout, GROUPS);
	stop(&m);
	a = account_of_task(&m, KTAU_GROUP_SCHED);
	assert_int_equal(a->throughout, GROUPS & ~KTAU_GROUP_SCHED);
	stop(&m);
}

/* A group that was disabled in one stream was not enabled throughout. */
static void test_missing_groups(void **state)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, 1, 60, 60, "task"),
		.user = SECOND, .ticks = 4 * SECOND, .missing = KTAU_GROUP_IRQ,
	};
	struct ktau_rec_profile *r;
	struct machine m;

	(void)state;
	start(&m);
	r = fixture_record(&f);
	aggregate_note_groups(&m.rows, r);
	ktau_record_free(r);
	f.ticks = 5 * SECOND;
	f.missing = KTAU_GROUP_BH;
	put(m.p.after, &f);
	assert_int_equal(aggregate_finish(&m.rows, m.p.before, m.p.after), 0);
	assert_int_equal(m.rows.processes[0].account.throughout,
			 GROUPS & ~(KTAU_GROUP_IRQ | KTAU_GROUP_BH));
	stop(&m);
}

/* An exited task counts once, and not if it exited before the period. */
static void test_exited(void **state)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_EXITED, 1, 60, 60, "task"),
		.user = SECOND, .ticks = 5 * SECOND + MS,
	};
	struct ktau_rec_profile *r;
	struct ktau_owned owned;
	struct machine m;

	(void)state;
	start(&m);
	fixture_timer(&f, ID_READ, 3, 30, 30);
	r = fixture_record(&f);
	owned = (struct ktau_owned){ &f.owner, r };
	aggregate_exited(&m.rows, &owned, m.p.before);
	aggregate_exited(&m.rows, &owned, m.p.before);
	put(m.p.after, &f);
	assert_int_equal(aggregate_finish(&m.rows, m.p.before, m.p.after), 0);
	assert_int_equal(m.rows.processes[0].tasks, 1);
	expect_routine(&m.rows.processes[0], ID_READ, 3, 30, 30);
	put(m.p.before, &f);
	make_rows(&m, BY_PROCESS);
	assert_int_equal(m.rows.nr, 0);
	ktau_record_free(r);

	/* A task that exited before the period, and is listed again within it. */
	stop(&m);
	start(&m);
	f.ticks = 5 * SECOND - 1;
	r = fixture_record(&f);
	owned.profile = r;
	aggregate_exited(&m.rows, &owned, m.p.before);
	assert_int_equal(m.rows.nr, 0);
	ktau_record_free(r);
	stop(&m);
}

static void test_subtract(void **state)
{
	struct fixture_profile f = {
		.owner = fixture_owner(KTAU_OWNER_TASK, 1, 60, 60, "task"),
	};
	/* The events are unknown, so each costs as much as a function. */
	const struct ktau_rec_stream stream = { .profile_pair_mticks = 100500 };
	struct ktau_events *events;
	struct symbolizer *names;
	struct machine m;

	(void)state;
	assert_int_equal(ktau_events_create(&events), 0);
	names = symbolize_create(events, NULL);
	start(&m);
	fixture_timer(&f, ID_READ, 10, 5000, 2000);
	fixture_timer(&f, ID_WRITE, 10, 500, 500);
	fixture_counter(&f, ID_TCP_BYTES, 10, 7);
	put(m.p.after, &f);
	make_rows(&m, BY_PROCESS);
	assert_int_equal(tally_activations(&m.rows.total.tally), 20);
	assert_int_equal(aggregate_own_ticks(&m.rows.total.tally, names, &stream), 2010);
	aggregate_subtract(&m.rows, names, &stream);
	expect_routine(&m.rows.processes[0], ID_READ, 10, 5000 - 1005, 2000 - 1005);
	expect_routine(&m.rows.processes[0], ID_WRITE, 10, 0, 0);
	expect_routine(&m.rows.total, ID_READ, 10, 5000 - 1005, 2000 - 1005);
	expect_routine(&m.rows.processes[0], ID_TCP_BYTES, 10, 70, 0);
	stop(&m);
	symbolize_destroy(names);
	ktau_events_destroy(events);
}

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	unlink(path);
	return fixture_write(path, KTAU_WRITER_ZLIB);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_to_last),
		cmocka_unit_test(test_passed_on),
		cmocka_unit_test(test_since_boot),
		cmocka_unit_test(test_one_period),
		cmocka_unit_test(test_by_times),
		cmocka_unit_test(test_pid_reuse),
		cmocka_unit_test(test_by_cgroup),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_no_pid),
		cmocka_unit_test(test_long_uptime),
		cmocka_unit_test(test_backward),
		cmocka_unit_test(test_recursion_in_flight),
		cmocka_unit_test(test_account),
		cmocka_unit_test(test_missing_groups),
		cmocka_unit_test(test_exited),
		cmocka_unit_test(test_subtract),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
