// SPDX-License-Identifier: GPL-2.0-only
/*
 * The periods of a recording in which most tasks sleep: what is computed for all sleeping tasks of
 * a kind at once is what comparing each of them with its earlier profile gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/walk.h"
#include "fixture.h"

enum { NR_TASKS = 14, NR_STREAMS = 14, FIRST_SERIAL = 100, COMPLETE = 7 };

/* Tasks that are not like the others. */
enum { UNMEASURED = 3, PARTLY = 4, RENAMED = 5, EXITS = 6, EVICTED = 7, BORN = 8, RECURSES = 9,
       THREAD = 10, IN_USER_MODE = 11, VANISHES = 12 };

static char path[] = "/tmp/ktau-walk-XXXXXX", differences[] = "/tmp/ktau-walk-XXXXXX";
static const char *walked_path = path;

static bool is_alive(uint32_t i, uint32_t number)
{
	if ((i == EXITS && number > 4) || (i == EVICTED && number >= 6) ||
	    (i == VANISHES && number >= COMPLETE))
		return false;
	return i != BORN || number >= 3;
}

static bool is_awake(uint32_t i, uint32_t number)
{
	if (number == 0 || number == COMPLETE || (i == BORN && number == 3) ||
	    (i == RENAMED && number == 9) || (i == EXITS && number == 4))
		return true;
	return (i + number) % 5 == 0;
}

static struct ktau_rec_owner owner_of(uint32_t i, uint32_t number)
{
	char name[16];
	struct ktau_rec_owner owner;

	snprintf(name, sizeof(name), "%s_%u", i == RENAMED && number >= 9 ? "new" : "w", i % 3);
	owner = fixture_owner(KTAU_OWNER_TASK, FIRST_SERIAL + i, (int32_t)(50 - i),
			      (int32_t)(50 - i), name);
	owner.uid = 1000 + i % 2;
	owner.cgroup = i % 4 ? CGROUP_USER : CGROUP_SERVER;
	owner.flags = i % 2 ? 0 : KTAU_OWNER_KTHREAD;
	if (i == THREAD) {
		owner.leader_serial = FIRST_SERIAL;
		owner.tgid = 50;
	}
	if (i == EXITS && number == 4)
		owner.kind = KTAU_OWNER_EXITED;
	return owner;
}

static int put_task(struct sink *s, uint32_t i, uint32_t number, uint64_t *nr)
{
	uint64_t at = (100 + 10 * number) * SECOND + i * MS;
	struct fixture_profile p = {
		.owner = owner_of(i, number), .ticks = at,
		.missing = i == PARTLY ? KTAU_GROUP_TCP : 0,
	};

	if (i != UNMEASURED) {
		p.user = (number + 1) * 3 * MS;
		p.kernel = (number + 1) * 2 * MS;
		p.runq = (number + 1) * MS;
	}
	fixture_timer(&p, ID_READ, number + 1, (number + 1) * SECOND, (number + 1) * MS);
	fixture_waited(&p, ID_SCHEDULE_VOL, number + 1, (number + 1) * SECOND, (number + 1) * MS);
	if (i == IN_USER_MODE)
		return fixture_put(s, &p, nr);
	fixture_open(&p, ID_SCHEDULE_VOL, at - 3 * MS, 0);
	fixture_open(&p, i % 2 ? ID_WAIT : ID_TCP, at - 4 * MS, 1000);
	if (i == RECURSES)
		fixture_open(&p, ID_WAIT, at - 5 * MS, 2000);
	fixture_open(&p, ID_READ, at - 6 * MS, 3000);
	return fixture_put(s, &p, nr);
}

/* The evicted sum, which has one task more from stream 6 on. */
static int put_evicted(struct sink *s, uint32_t number, uint64_t *nr)
{
	struct {
		struct ktau_rec_gone gone;
		uint64_t serial;
	} r = {
		.gone = { .rec = { sizeof(r), KTAU_REC_GONE, sizeof(r.gone) },
			  .nr_serials = 1, .serial_bytes = sizeof(r.serial) },
		.serial = FIRST_SERIAL + EVICTED,
	};
	struct fixture_profile p = {
		.owner = fixture_owner(KTAU_OWNER_EVICTED, 1, 0, 0, ""),
		.ticks = (100 + 10 * number) * SECOND, .kernel = (number < 6 ? 1 : 3) * MS,
	};
	int err;

	fixture_timer(&p, ID_READ, number < 6 ? 1 : 30, SECOND * (number < 6 ? 1 : 30), MS);
	err = fixture_put(s, &p, nr);
	return err || number != 6 ? err : sink_put(s, &r);
}

static int write_streams(struct sink *s)
{
	uint32_t number, i;
	int err = 0;

	for (number = 0; !err && number < NR_STREAMS; number++) {
		struct ktau_rec_stream stream =
			fixture_stream(KTAU_REC_PROFILE, (100 + 10 * number) * SECOND);
		struct ktau_rec_end end;
		uint64_t nr = 0;

		if (number && number != COMPLETE)
			stream.target ^= KTAU_TARGET_ALL | KTAU_TARGET_CHANGED;
		stream.exited_since = 1;
		err = sink_put(s, &stream);
		if (!err)
			err = fixture_put_names(s);
		if (!err)
			err = put_evicted(s, number, &nr);
		for (i = 0; !err && i < NR_TASKS; i++)
			if (is_alive(i, number) && is_awake(i, number))
				err = put_task(s, i, number, &nr);
		end = fixture_end(nr, 7);
		if (!err)
			err = sink_put(s, &end);
	}
	return err;
}

/* What is known of each owner: its last profile, by serial. */
static struct ktau_rec_profile *known[FIRST_SERIAL + NR_TASKS];

/* Put a profile as ktaud does: in a stream of changed tasks, what is new since the last one. */
static int put_difference(struct sink *s, const struct ktau_rec_profile *now, bool whole)
{
	struct ktau_rec_profile **last = &known[now->serial], *diff = NULL;
	int err = 0;

	if (whole || !*last) {
		err = sink_put(s, now);
	} else {
		err = ktau_profile_diff(now, *last, &diff);
		if (!err)
			err = ktau_writer_put_diff(s->w, diff);
		ktau_record_free(diff);
	}
	ktau_record_free(*last);
	*last = ktau_record_dup(now);
	return err;
}

/* The recording at @path, with differences. */
static int write_differences(struct sink *s)
{
	struct ktau_reader *reader;
	union ktau_record record;
	bool whole = true;
	int err;
	size_t i;

	assert_int_equal(ktau_reader_create(&reader), 0);
	err = ktau_reader_open_file(reader, path);
	while (!err && ktau_reader_next(reader, &record) > 0) {
		if (record.rec->type == KTAU_REC_STREAM)
			whole = !(record.stream->target & KTAU_TARGET_CHANGED);
		if (record.rec->type == KTAU_REC_PROFILE)
			err = put_difference(s, record.profile, whole);
		else
			err = sink_put(s, record.rec);
	}
	ktau_reader_destroy(reader);
	for (i = 0; i < FIRST_SERIAL + NR_TASKS; i++)
		ktau_record_free(known[i]);
	return err;
}

static void print_number(FILE *out, ktau_sum_t number)
{
	fprintf(out, " %" PRIu64, sum_u64(number));
}

static void print_tally(FILE *out, const struct tally *t)
{
	const struct routine *r;

	for (r = t->routines; r < t->routines + t->nr; r++) {
		fprintf(out, "  %" PRIu32 " %d: %" PRIu64 " %" PRIu64, r->id, r->kind, r->count,
			r->open);
		print_number(out, r->incl);
		print_number(out, r->excl);
		print_number(out, r->open_incl);
		print_number(out, r->asleep);
		print_number(out, r->runq);
		print_number(out, r->irq);
		fputc('\n', out);
	}
}

struct printing {
	FILE *out;
	bool total;
	uint64_t periods;
};

static int print_period(void *arg, const struct period *period)
{
	struct printing *to = arg;
	const struct process *p = period->rows->processes;
	size_t i;

	fprintf(to->out, "period %" PRIu64 "\n", ++to->periods);
	for (; p < period->rows->processes + period->rows->nr; p++) {
		fprintf(to->out, "%s pid %d tid %d flags %" PRIx32 " tasks %" PRIu64 " %" PRIu64,
			p->label, p->owner.tgid, p->owner.tid, p->owner.flags, p->tasks, p->live);
		for (i = 0; i < p->nr_ids; i++)
			fprintf(to->out, " %d.%d", process_ids(p, i).tgid, process_ids(p, i).tid);
		fprintf(to->out, " groups %" PRIx32, p->account.throughout);
		print_number(to->out, p->account.life);
		for (i = 0; i < ACCOUNT_NR; i++)
			print_number(to->out, p->account.parts[i]);
		fputc('\n', to->out);
		print_tally(to->out, &aggregate_open(period->rows, p)->tally);
	}
	if (to->total) {
		fputs("total\n", to->out);
		print_tally(to->out, &period->rows->total.tally);
	}
	return 0;
}

/* The periods as text; the caller frees it. */
static char *walked(struct walk walk, enum walk_want want)
{
	char *text = NULL, *files[] = { (char *)walked_path };
	size_t size;
	struct printing to = {
		.out = open_memstream(&text, &size), .total = walk.want == WALK_TOTAL,
	};

	assert_non_null(to.out);
	walk.files = files;
	walk.nr_files = 1;
	walk.want = want;
	walk.each = print_period;
	walk.arg = &to;
	assert_int_equal(walk_files(&walk), 0);
	fclose(to.out);
	assert_in_range(to.periods, walk.length_ns ? 2 : NR_STREAMS - 1, NR_STREAMS - 1);
	return text;
}

static void compare_walks(struct walk walk)
{
	char *whole = walked(walk, WALK_ALL), *brief = walked(walk, walk.want);

	assert_string_equal(brief, whole);
	free(whole);
	free(brief);
}

static void rows(void **state)
{
	static const struct task_filter all;
	int by;

	(void)state;
	for (by = BY_PROCESS; by <= BY_USER; by++)
		compare_walks((struct walk){ .by = by, .filter = &all, .want = WALK_ROWS });
}

static void filtered(void **state)
{
	static const struct task_filter user = { .flags = KTAU_SELECT_UID, .uid = 1001 };

	(void)state;
	compare_walks((struct walk){ .by = BY_NAME, .filter = &user, .want = WALK_ROWS });
}

/* Periods of several streams. */
static void longer(void **state)
{
	static const struct task_filter all;

	(void)state;
	compare_walks((struct walk){
		.by = BY_NAME, .filter = &all, .want = WALK_ROWS, .length_ns = 20 * SECOND,
	});
}

static void total(void **state)
{
	static const struct task_filter all;

	(void)state;
	compare_walks((struct walk){ .by = BY_NAME, .filter = &all, .want = WALK_TOTAL });
}

/* A difference is from the profile as it was read, without the sleep of the streams since then. */
static void same_with_differences(void **state)
{
	static const struct task_filter all;
	static const enum walk_want wants[] = { WALK_ALL, WALK_ROWS, WALK_TOTAL };
	char *profiles, *diffs;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		const struct walk walk = { .by = BY_PROCESS, .filter = &all };

		profiles = walked(walk, wants[i]);
		walked_path = differences;
		diffs = walked(walk, wants[i]);
		walked_path = path;
		assert_string_equal(diffs, profiles);
		free(profiles);
		free(diffs);
	}
}

static int prepare(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	fd = mkstemp(differences);
	if (fd < 0)
		return -1;
	close(fd);
	unlink(differences);
	return fixture_saved(path, write_streams) ||
	       fixture_file(differences, KTAU_WRITER_COMPACT, write_differences);
}

static int clean(void **state)
{
	(void)state;
	return unlink(path) || unlink(differences);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(filtered),
		cmocka_unit_test(longer),
		cmocka_unit_test(total),
		cmocka_unit_test(same_with_differences),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
