// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periods of machines with known figures: the report of each period has exactly the work
 * of that period, and the periods add up to the whole.
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

enum { NR_STREAMS = 8, NR_TASKS = 12, NR_EVENTS = 4, MAX_DEPTH = 4 };

/* Streams 4 and 7 begin key blocks; ktaud was restarted before stream 5. */
enum { KEY_EVERY = 3, RESTARTED = 5 };

#define TIMES (KTAU_ENTRY_LONGEST | KTAU_ENTRY_ASLEEP | KTAU_ENTRY_RUNQ | KTAU_ENTRY_IRQ)

static const uint32_t event_ids[NR_EVENTS] = { ID_READ, ID_WRITE, ID_SCHEDULE_VOL, ID_WAIT };
static const struct task_filter everything;
static char path[] = "/tmp/ktau-period-XXXXXX";

/* Time inside a routine that it does not run. */
struct waits {
	uint64_t asleep, runq, irq;
};

/* The true figures of a task in a period. */
struct truth {
	uint64_t incl[NR_EVENTS], excl[NR_EVENTS], count[NR_EVENTS];
	struct waits inside[NR_EVENTS];
	uint64_t user, kernel;
	struct waits waits;
};

struct frame {
	int event;
	uint64_t start, child;
	struct waits inside;
};

/* A task from @born to @dies, in ticks; @account is its whole life up to now. */
struct task {
	uint64_t born, dies, seq;
	struct frame stack[MAX_DEPTH];
	int depth;
	struct ktau_entry entries[NR_EVENTS];
	struct truth account, truth[NR_STREAMS + 1];
};

static struct task tasks[NR_TASKS];
static uint32_t seed;
static uint64_t nr_exited;
static bool lossy;	/* every third task is evicted before it is read */

static uint32_t chance(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static uint64_t stream_at(uint64_t n)
{
	return (9 + n) * SECOND;
}

static bool on_stack(const struct task *t, int event, int below)
{
	int i;

	for (i = 0; i < below; i++)
		if (t->stack[i].event == event)
			return true;
	return false;
}

static void add_waits(struct waits *to, const struct waits *more)
{
	to->asleep += more->asleep;
	to->runq += more->runq;
	to->irq += more->irq;
}

/* Split @ticks: part of a wait is in the run queue, some ticks are an interrupt's. */
static struct waits split(const struct task *t, uint64_t ticks)
{
	struct waits w = { 0 };

	if (!t->depth)
		return w;
	if (event_ids[t->stack[t->depth - 1].event] == ID_SCHEDULE_VOL) {
		w.runq = chance((uint32_t)ticks);
		w.asleep = ticks - w.runq;
	} else if (!chance(3)) {
		w.irq = ticks;
	}
	return w;
}

static void let_pass(struct task *t, struct truth *truth, uint64_t ticks,
		     const struct waits *waits)
{
	int top = t->depth ? t->stack[t->depth - 1].event : -1, i;

	if (top < 0)
		truth->user += ticks;
	else
		truth->kernel += ticks - waits->asleep - waits->runq - waits->irq;
	add_waits(&truth->waits, waits);
	if (top >= 0)
		truth->excl[top] += ticks;
	for (i = 0; i < NR_EVENTS; i++) {
		if (!on_stack(t, i, t->depth))
			continue;
		truth->incl[i] += ticks;
		add_waits(&truth->inside[i], waits);
	}
}

static void enter(struct task *t, uint64_t now)
{
	int event = (int)chance(NR_EVENTS);

	t->stack[t->depth++] = (struct frame){ .event = event, .start = now };
}

static void leave(struct task *t, uint64_t now, struct truth *truth)
{
	struct frame *f = &t->stack[--t->depth];
	struct ktau_entry *e = &t->entries[f->event];
	uint64_t ticks = now - f->start;

	e->count++;
	e->excl += ticks - f->child;
	if (!on_stack(t, f->event, t->depth)) {
		e->incl += ticks;
		e->asleep += f->inside.asleep;
		e->runq += f->inside.runq;
		e->irq += f->inside.irq;
	}
	if (t->depth)
		t->stack[t->depth - 1].child += ticks;
	truth->count[f->event]++;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Run @t up to @to, which is in period @n. An exiting task leaves its frames first. */
static void run(struct task *t, uint64_t to, uint64_t n)
{
	uint64_t now = at_least(t->born, n > 1 ? stream_at(n - 1) : 0), ticks;
	bool dies = t->dies <= to;
	struct waits waits;
	int i;

	if (dies)
		to = t->dies;
	while (now < to) {
		ticks = at_most(1 + chance(300) * MS, to - now);
		waits = split(t, ticks);
		let_pass(t, &t->truth[n], ticks, &waits);
		let_pass(t, &t->account, ticks, &waits);
		for (i = 0; i < t->depth; i++)
			add_waits(&t->stack[i].inside, &waits);
		now += ticks;
		if (t->depth && chance(2))
			leave(t, now, &t->truth[n]);
		else if (t->depth < MAX_DEPTH)
			enter(t, now);
	}
	while (dies && t->depth)
		leave(t, now, &t->truth[n]);
}

static void put_frame(struct fixture_profile *p, const struct frame *f)
{
	struct ktau_open *open = &p->open[p->nr_open];

	fixture_open(p, event_ids[f->event], f->start, f->child);
	open->asleep_ticks = f->inside.asleep;
	open->runq_ticks = f->inside.runq;
	open->irq_ticks = f->inside.irq;
}

static int put_task(struct sink *s, const struct task *t, uint64_t at, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = at_most(at, t->dies) };
	bool exited = t->dies <= at;
	char name[16];
	int i;

	snprintf(name, sizeof(name), "task%d", (int)(t - tasks));
	p.owner = fixture_owner(exited ? KTAU_OWNER_EXITED : KTAU_OWNER_TASK,
				100 + (uint64_t)(t - tasks), 100 + (int)(t - tasks),
				100 + (int)(t - tasks), name);
	p.owner.start_ns = t->born;
	p.owner.exited_seq = t->seq;
	p.user = t->account.user;
	p.kernel = t->account.kernel;
	p.irq = t->account.waits.irq;
	p.runq = t->account.waits.runq;
	for (i = 0; i < NR_EVENTS; i++) {
		p.entries[p.nr_entries] = t->entries[i];
		p.entries[p.nr_entries].id = (uint16_t)event_ids[i];
		p.entries[p.nr_entries].flags = TIMES;
		p.nr_entries += t->entries[i].count != 0;
	}
	for (i = t->depth; i--;)
		put_frame(&p, &t->stack[i]);
	return fixture_put(s, &p, nr);
}

static bool is_lost(const struct task *t)
{
	return lossy && (t - tasks) % 3 == 2;
}

/* Tasks that exited three streams ago are evicted. */
static bool is_evicted(const struct task *t, uint64_t n)
{
	if (is_lost(t))
		return t->dies <= stream_at(n);
	return n >= 4 && t->dies <= stream_at(n - 3);
}

/* List the tasks that have been evicted since the previous stream. */
static int put_gone(struct sink *s, uint64_t n)
{
	struct {
		struct ktau_rec_gone gone;
		uint64_t serials[NR_TASKS];
	} r = { .gone.serial_bytes = sizeof(r.serials[0]) };
	uint32_t i, size;

	for (i = 0; i < NR_TASKS; i++)
		if (is_evicted(&tasks[i], n) && !is_evicted(&tasks[i], n - 1))
			r.serials[r.gone.nr_serials++] = 100 + i;
	size = (uint32_t)(sizeof(r.gone) + r.gone.nr_serials * sizeof(r.serials[0]));
	r.gone.rec = (struct ktau_rec){ size, KTAU_REC_GONE, sizeof(r.gone) };
	return r.gone.nr_serials ? sink_put(s, &r) : 0;
}

static int put_evicted(struct sink *s, uint64_t n, uint64_t *nr)
{
	struct fixture_profile p = { .ticks = stream_at(n) };
	struct ktau_entry *e;
	int i, k;

	p.owner = fixture_owner(KTAU_OWNER_EVICTED, 1002, 0, 0, "");
	p.owner.start_ns = p.ticks;
	p.nr_entries = NR_EVENTS;
	for (i = 0; i < NR_TASKS; i++) {
		if (!is_evicted(&tasks[i], n))
			continue;
		p.owner.exited_seq++;
		p.user += tasks[i].account.user;
		p.kernel += tasks[i].account.kernel;
		p.irq += tasks[i].account.waits.irq;
		p.runq += tasks[i].account.waits.runq;
		for (k = 0; k < NR_EVENTS; k++) {
			e = &p.entries[k];
			e->count += tasks[i].entries[k].count;
			e->incl += tasks[i].entries[k].incl;
			e->excl += tasks[i].entries[k].excl;
			e->asleep += tasks[i].entries[k].asleep;
			e->runq += tasks[i].entries[k].runq;
			e->irq += tasks[i].entries[k].irq;
		}
	}
	for (k = 0; k < NR_EVENTS; k++) {
		p.entries[k].id = (uint16_t)event_ids[k];
		p.entries[k].flags = TIMES;
	}
	p.owner.nr_tasks = p.owner.exited_seq;
	p.unmeasured = -p.user - p.kernel - p.irq - p.runq;
	return fixture_put(s, &p, nr);
}

static int by_death(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return x->dies < y->dies ? -1 : x->dies > y->dies;
}

/* As read by ktaud, an exited task is in one stream, and again in the first one after a restart. */
static int put_stream(struct sink *s, uint64_t n)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, stream_at(n));
	struct ktau_rec_end end;
	uint64_t nr = 0;
	struct task *t;
	int err;

	stream.exited_since = n == RESTARTED ? 0 : nr_exited;
	err = sink_put(s, &stream);
	if (!err)
		err = fixture_put_names(s);
	for (t = tasks; !err && t < tasks + NR_TASKS; t++) {
		if (t->born >= stream_at(n) ||
		    (n > 1 && t->dies <= stream_at(n - 1) && (n != RESTARTED || is_evicted(t, n))))
			continue;
		run(t, stream_at(n), n);
		if (t->dies <= stream_at(n) && t->dies > stream_at(n - 1))
			t->seq = nr_exited++;
		if (!is_evicted(t, n))
			err = put_task(s, t, stream_at(n), &nr);
	}
	if (!err)
		err = put_evicted(s, n, &nr);
	if (!err)
		err = put_gone(s, n);
	end = fixture_end(nr, nr_exited);
	return err ? err : sink_put(s, &end);
}

static int write_history(struct sink *s)
{
	uint64_t n;
	int err = 0, i;

	memset(tasks, 0, sizeof(tasks));
	nr_exited = 0;
	for (i = 0; i < NR_TASKS; i++) {
		tasks[i].born = i < 4 ? SECOND : stream_at(0) + chance(7000) * MS;
		tasks[i].dies = i < 2 ? UINT64_MAX : tasks[i].born + chance(9000) * MS + 1;
		tasks[i].dies = at_least(tasks[i].dies, stream_at(1) - SECOND / 2);
	}
	qsort(tasks, NR_TASKS, sizeof(*tasks), by_death);
	for (n = 1; !err && n <= NR_STREAMS; n++) {
		if (n > 1 && n % KEY_EVERY == 1)
			err = ktau_writer_key(s->w);
		if (!err)
			err = put_stream(s, n);
	}
	return err;
}

static void read_history(struct period *p, struct aggregate *rows,
			 const struct period_select *select, bool whole)
{
	uint64_t first_ns = select->from.relative ? REALTIME_NS + stream_at(1) : 0;
	struct ktau_reader *reader;

	assert_int_equal(period_init(p, rows), 0);
	aggregate_init(rows, BY_NAME, &everything, p->registry);
	assert_int_equal(ktau_reader_create(&reader), 0);
	period_start(p, select, first_ns);
	p->reading.whole = whole;
	assert_int_equal(period_open(p, reader, path), 0);
	assert_int_equal(period_read(p, reader, path), 0);
	if (period_needs_all(p)) {
		period_restart(p);
		ktau_reader_destroy(reader);
		assert_int_equal(ktau_reader_create(&reader), 0);
		assert_int_equal(period_open(p, reader, path), 0);
		assert_int_equal(period_read(p, reader, path), 0);
	}
	period_stop(p);
	ktau_reader_destroy(reader);
	assert_int_equal(aggregate_finish(rows, p->before, p->after), 0);
}

static void read_file(struct period *p, struct aggregate *rows, const struct period_select *select)
{
	read_history(p, rows, select, false);
}

static const struct process *row_of(const struct aggregate *rows, int i)
{
	char name[16];
	size_t k;

	snprintf(name, sizeof(name), "task%d", i);
	for (k = 0; k < rows->nr; k++)
		if (!strcmp(rows->processes[k].label, name))
			return &rows->processes[k];
	return NULL;
}

static void expect_events(const struct tally *tally, const struct truth *truth)
{
	struct routine got[NR_EVENTS] = { { 0 } };
	size_t k;
	int i;

	for (k = 0; k < tally->nr; k++)
		for (i = 0; i < NR_EVENTS; i++)
			if (tally->routines[k].id == event_ids[i])
				got[i] = tally->routines[k];
	for (i = 0; i < NR_EVENTS; i++) {
		assert_int_equal(got[i].count, truth->count[i]);
		assert_int_equal(got[i].incl, truth->incl[i]);
		assert_int_equal(got[i].excl, truth->excl[i]);
		assert_int_equal(got[i].asleep, truth->inside[i].asleep);
		assert_int_equal(got[i].runq, truth->inside[i].runq);
		assert_int_equal(got[i].irq, truth->inside[i].irq);
	}
}

static void add_truth(struct truth *to, const struct truth *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

static uint64_t life(const struct truth *t)
{
	return t->user + t->kernel + t->waits.irq + t->waits.runq + t->waits.asleep;
}

/* The report of the periods from @first to @last has the true figures. */
static void expect_periods(const struct aggregate *rows, uint64_t first, uint64_t last)
{
	struct truth all = { 0 };
	const struct process *p;
	uint64_t n;
	int i;

	for (i = 0; i < NR_TASKS; i++) {
		struct truth truth = { 0 };

		for (n = first; n <= last; n++)
			add_truth(&truth, &tasks[i].truth[n]);
		add_truth(&all, &truth);
		p = row_of(rows, i);
		if (!p) {
			assert_int_equal(life(&truth), 0);
			continue;
		}
		expect_events(&p->tally, &truth);
		assert_int_equal(p->account.parts[ACCOUNT_USER], truth.user);
		assert_int_equal(p->account.parts[ACCOUNT_KERNEL], truth.kernel);
		assert_int_equal(p->account.parts[ACCOUNT_IRQ], truth.waits.irq);
		assert_int_equal(p->account.parts[ACCOUNT_RUNQ], truth.waits.runq);
		assert_int_equal(p->account.parts[ACCOUNT_ASLEEP], truth.waits.asleep);
		assert_int_equal(p->account.life, life(&truth));
	}
	/* No task was evicted unread. */
	assert_int_equal(rows->evicted.tally.nr, 0);
	assert_int_equal(rows->evicted.tasks, 0);
	expect_events(&rows->total.tally, &all);
	assert_int_equal(rows->backward, 0);
}

/* Between the streams before @first and at @last, by their times. */
static void check_times(uint64_t first, uint64_t last, bool relative)
{
	uint64_t base = relative ? stream_at(1) : -REALTIME_NS;
	struct period_select select = {
		.choice = PERIOD_TIMES,
		.from = { true, relative, stream_at(first - 1) - base },
		.to = { true, relative, stream_at(last) - base },
	};
	struct period p;
	struct aggregate rows;

	read_file(&p, &rows, &select);
	expect_periods(&rows, first, last);
	aggregate_deinit(&rows);
	period_deinit(&p);
}

static void expect_same(const struct process *a, const struct process *b)
{
	assert_int_equal(a->tasks, b->tasks);
	assert_int_equal(a->tally.nr, b->tally.nr);
	assert_memory_equal(&a->account.parts, &b->account.parts, sizeof(a->account.parts));
	if (a->tally.nr)
		assert_memory_equal(a->tally.routines, b->tally.routines,
				    a->tally.nr * sizeof(*a->tally.routines));
}

/* What evicted tasks did is the same whether all of the file is read or only the blocks needed. */
static void test_lost(void **state)
{
	struct period_select select = { .choice = PERIOD_TIMES, .from.given = true };
	uint64_t first, evicted = 0;
	struct aggregate part, all;
	struct period p, q;

	(void)state;
	lossy = true;
	for (seed = 1; seed < 10; seed++) {
		uint32_t begin = seed;

		assert_int_equal(fixture_file(path, 0, write_history), 0);
		for (first = 2; first <= NR_STREAMS; first++) {
			select.from.ns = REALTIME_NS + stream_at(first - 1);
			read_history(&p, &part, &select, false);
			read_history(&q, &all, &select, true);
			expect_same(&part.evicted, &all.evicted);
			expect_same(&part.total, &all.total);
			evicted += all.evicted.tasks;
			aggregate_deinit(&part);
			aggregate_deinit(&all);
			period_deinit(&p);
			period_deinit(&q);
		}
		unlink(path);
		seed = begin;
	}
	assert_true(evicted > 0);
	lossy = false;
}

/* Damage a byte of the payload of each block outside the blocks from @first to @last. */
static void damage_all_but(unsigned int first, unsigned int last)
{
	struct ktau_file_header header;
	struct ktau_block block;
	FILE *f = fopen(path, "r+");
	unsigned int i;
	long at;
	int c;

	assert_non_null(f);
	assert_int_equal(fread(&header, sizeof(header), 1, f), 1);
	at = header.size;
	for (i = 0; !fseek(f, at, SEEK_SET) && fread(&block, sizeof(block), 1, f) == 1; i++) {
		if (i < first || i > last) {
			fseek(f, at + block.size, SEEK_SET);
			c = getc(f);
			fseek(f, at + block.size, SEEK_SET);
			putc(c ^ 1, f);
		}
		at += block.size + ((block.stored_bytes + 7) & ~7U);
	}
	assert_int_equal(i, (NR_STREAMS + KEY_EVERY - 1) / KEY_EVERY);
	fclose(f);
}

/*
 * Only the blocks of a window and the next one, which shows that it is over, are decoded: the
 * others may be damaged.
 */
static void test_windows(void **state)
{
	uint64_t first, last;

	(void)state;
	seed = 7;
	assert_int_equal(fixture_file(path, 0, write_history), 0);
	for (first = 2; first <= NR_STREAMS; first++)
		for (last = first; last <= NR_STREAMS; last++) {
			check_times(first, last, false);
			check_times(first, last, true);
		}
	damage_all_but(0, 1);
	check_times(2, 3, false);
	check_times(2, 3, true);
	unlink(path);

	assert_int_equal(fixture_file(path, 0, write_history), 0);
	damage_all_but(2, 2);
	check_times(8, 8, false);
	check_times(8, 8, true);
	unlink(path);
}

static void check_history(void)
{
	struct period_select select = { .choice = PERIOD_NUMBER };
	struct period p;
	struct aggregate rows;
	uint64_t n;

	for (n = 2; n <= NR_STREAMS; n++) {
		select.number = n;
		read_file(&p, &rows, &select);
		expect_periods(&rows, n, n);
		aggregate_deinit(&rows);
		period_deinit(&p);
	}
	select.choice = PERIOD_ALL;
	read_file(&p, &rows, &select);
	expect_periods(&rows, 2, NR_STREAMS);
	aggregate_deinit(&rows);
	period_deinit(&p);
	/* The profiles also have the work before the file. */
	select.choice = PERIOD_BOOT;
	read_file(&p, &rows, &select);
	expect_periods(&rows, 1, NR_STREAMS);
	aggregate_deinit(&rows);
	period_deinit(&p);
}

static void test_periods_add_up(void **state)
{
	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		uint32_t begin = seed;

		assert_int_equal(fixture_file(path, 0, write_history), 0);
		check_history();
		unlink(path);
		seed = begin;
	}
}

/* A stream of a machine that has the control groups @second and @second + 1 at that time. */
static int write_groups(struct sink *s, uint64_t second)
{
	struct ktau_rec_stream stream = fixture_stream(KTAU_REC_PROFILE, second * SECOND);
	struct ktau_rec_end end = fixture_end(0, 1);
	int err = sink_put(s, &stream);

	if (!err)
		err = fixture_put_cgroup(s, second, "/old");
	if (!err)
		err = fixture_put_cgroup(s, second + 1, "/new");
	return err ? err : sink_put(s, &end);
}

static int write_groups_1(struct sink *s)
{
	return write_groups(s, 1);
}

static int write_groups_2(struct sink *s)
{
	return write_groups(s, 2);
}

static void put_groups(struct registry *r, int (*write)(struct sink *s))
{
	union ktau_record record;
	struct ktau_reader *reader;
	int err;

	assert_int_equal(fixture_saved(path, write), 0);
	assert_int_equal(ktau_reader_create(&reader), 0);
	assert_int_equal(ktau_reader_open_file(reader, path), 0);
	while ((err = ktau_reader_next(reader, &record)) > 0)
		;
	assert_int_equal(err, 0);
	assert_int_equal(registry_put_all(r, reader), 0);
	ktau_reader_destroy(reader);
	unlink(path);
}

/* A reader that lives long does not keep all groups that ever were. */
static void test_groups_forgotten(void **state)
{
	struct registry *r = registry_create();

	(void)state;
	put_groups(r, write_groups_1);
	put_groups(r, write_groups_2);
	assert_string_equal(registry_cgroup(r, 1), "/old");
	assert_string_equal(registry_cgroup_text(r, 2), "/old");
	put_groups(r, write_groups_2);
	assert_null(registry_cgroup(r, 1));
	assert_string_equal(registry_cgroup_text(r, 1), "(cgroup 1)");
	assert_string_equal(registry_cgroup(r, 2), "/old");
	assert_string_equal(registry_cgroup(r, 3), "/new");
	registry_destroy(r);
}

static int make_name(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods_add_up),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_groups_forgotten),
	};

	return cmocka_run_group_tests(tests, make_name, NULL);
}
