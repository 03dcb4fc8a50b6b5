// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes as real kernels gave them, a folder of libktau/tests/data a machine:
 * /proc/ktau/profile, trace and events, saved by cat.
 */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#define DATA	"libktau/tests/data/"

static void complain(void *arg, const struct ktau_finding *finding)
{
	(void)arg;
	print_error("%s: %s: %s\n", finding->owner ? finding->owner->comm : "-",
		    ktau_finding_name(finding->code), finding->text);
}

/* Every record is in order and agrees with the others. */
static struct ktau_check_counts check(const char *path)
{
	struct ktau_check_counts counts;
	struct ktau_reader *r;
	union ktau_record rec;
	struct ktau_check *c;
	int findings = 0, err;

	assert_int_equal(ktau_check_create(&c, complain, NULL), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_file(r, path), 0);
	while ((err = ktau_reader_next(r, &rec)) > 0)
		findings += ktau_check_record(c, &rec);
	assert_int_equal(err, 0);
	assert_int_equal(findings, 0);
	counts = *ktau_check_counts(c);
	ktau_check_destroy(c);
	ktau_reader_destroy(r);
	return counts;
}

static void check_machine(const char *folder)
{
	struct ktau_check_counts counts;
	const struct ktau_entry *entry;
	struct ktau_rec_profile *sum;
	struct ktau_snapshot *snap;
	struct ktau_events *events;
	struct ktau_clock clock;
	struct ktau_reader *r;
	char path[512];
	uint32_t i;

	print_message("%s\n", folder);
	snprintf(path, sizeof(path), "%s/trace", folder);
	counts = check(path);
	assert_true(counts.slots > 100);
	snprintf(path, sizeof(path), "%s/profile", folder);
	counts = check(path);
	assert_true(counts.tasks > 5);

	assert_int_equal(ktau_snapshot_create(&snap), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_file(r, path), 0);
	assert_int_equal(ktau_snapshot_read(snap, r), 1);
	assert_int_equal(ktau_clock_init(&clock, ktau_snapshot_stream(snap)), 0);
	assert_true(clock.hz > 1000000);
	assert_int_equal(ktau_snapshot_end(snap)->nr_records, counts.profiles);
	assert_int_equal(ktau_snapshot_sum(snap, &sum), 0);
	assert_int_equal(ktau_check_identity(sum, NULL, NULL), 0);
	snprintf(path, sizeof(path), "%s/events", folder);
	assert_int_equal(ktau_events_create(&events), 0);
	assert_true(ktau_events_load(events, path) > 100);
	entry = ktau_profile_entries(sum);
	for (i = 0; i < sum->nr_entries; i++) {
		const struct ktau_event *event = ktau_events_find(events, entry[i].id);

		assert_non_null(event);
		assert_int_equal(event->kind, entry[i].kind);
		assert_true(event->group);
	}
	ktau_events_destroy(events);
	ktau_record_free(sum);
	ktau_snapshot_destroy(snap);
	ktau_reader_destroy(r);
}

static void machines(void **state)
{
	glob_t folders;
	size_t i, nr = 0;

	(void)state;
	assert_int_equal(glob(DATA "*/profile", 0, NULL, &folders), 0);
	for (i = 0; i < folders.gl_pathc; i++, nr++) {
		*strrchr(folders.gl_pathv[i], '/') = 0;
		check_machine(folders.gl_pathv[i]);
	}
	assert_true(nr > 0);
	globfree(&folders);
}

/* What the checker finds first, KTAU_NR_FINDINGS if nothing. */
static void first(void *arg, const struct ktau_finding *finding)
{
	enum ktau_finding_code *code = arg;

	if (*code == KTAU_NR_FINDINGS)
		*code = finding->code;
}

static enum ktau_finding_code judge(const void *data, size_t size)
{
	enum ktau_finding_code code = KTAU_NR_FINDINGS;
	struct ktau_reader *r;
	union ktau_record rec;
	struct ktau_check *c;

	assert_int_equal(ktau_check_create(&c, first, &code), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, data, size), 0);
	while (ktau_reader_next(r, &rec) > 0)
		ktau_check_record(c, &rec);
	ktau_check_destroy(c);
	ktau_reader_destroy(r);
	return code;
}

struct recorded {
	uint8_t data[1 << 17] __attribute__((aligned(8)));
	size_t size;
};

static void load(struct recorded *r, const char *path)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	r->size = fread(r->data, 1, sizeof(r->data), file);
	fclose(file);
	assert_true(r->size > 10000 && r->size < sizeof(r->data));
	assert_int_equal(judge(r->data, r->size), KTAU_NR_FINDINGS);
}

/* One figure more or less somewhere in what a kernel gave is found, and as what it is. */
static void alter(const struct recorded *r, __u64 *figure, __u64 value,
		  enum ktau_finding_code code)
{
	const __u64 right = *figure;

	*figure = value;
	assert_int_equal(judge(r->data, r->size), code);
	*figure = right;
}

static void altered_profiles(void **state)
{
	static struct recorded r;
	unsigned int nr = 0;
	size_t at = 0;

	(void)state;
	for (load(&r, DATA "x86_64/profile"); at < r.size; nr++) {
		struct ktau_rec_profile *p = (void *)(r.data + at);
		struct ktau_entry *entry = (void *)(r.data + at + p->rec.head);

		at += p->rec.size;
		if (p->rec.type != KTAU_REC_PROFILE)
			continue;
		alter(&r, &p->outer_ticks, p->outer_ticks + 1, KTAU_FINDING_IDENTITY);
		for (uint32_t i = 0; i < p->nr_entries; i++)
			if (entry[i].kind == KTAU_KIND_TIMER)
				alter(&r, &entry[i].excl, entry[i].excl - 1,
				      KTAU_FINDING_IDENTITY);
	}
	assert_true(nr > 10);
}

static void alter_slots(const struct recorded *r, struct ktau_rec_trace *t)
{
	struct ktau_slot *slot = (void *)((uint8_t *)t + t->rec.head);
	__u64 *ids;

	for (uint32_t i = 1; i < t->nr_slots; i++) {
		if (slot[i].type == KTAU_TRACE_MORE || slot[i - 1].type == KTAU_TRACE_MORE)
			continue;
		alter(r, &slot[i].ticks, slot[i - 1].ticks - 1, KTAU_FINDING_SLOT);
		/* An exit of another event than the one just entered. */
		ids = (__u64 *)(void *)&slot[i] + 2;
		if (slot[i - 1].type == KTAU_TRACE_ENTER && slot[i].type == KTAU_TRACE_EXIT)
			alter(r, ids, *ids ^ 1, KTAU_FINDING_NESTING);
	}
}

static void altered_traces(void **state)
{
	static struct recorded r;
	unsigned int nr = 0;
	size_t at = 0;

	(void)state;
	for (load(&r, DATA "x86_64/trace"); at < r.size;) {
		struct ktau_rec_trace *t = (void *)(r.data + at);

		at += t->rec.size;
		if (t->rec.type != KTAU_REC_TRACE)
			continue;
		nr++;
		alter(&r, &t->lost, t->first + 1, KTAU_FINDING_LOSS);
		alter(&r, &t->written, t->first + t->nr_slots - 1, KTAU_FINDING_LOSS);
		alter_slots(&r, t);
	}
	assert_true(nr > 0);
}

/* Cut at random: a damaged stream never gives more, nor a crash. */
static void cut(void **state)
{
	static uint8_t data[1 << 20];
	struct ktau_reader *r;
	union ktau_record rec;
	size_t size, at;
	unsigned int i;
	FILE *file = fopen(DATA "x86_64/profile", "r");

	(void)state;
	assert_non_null(file);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	assert_true(size > 10000 && size < sizeof(data));
	assert_int_equal(ktau_reader_create(&r), 0);
	srand(1);
	for (i = 0; i < 300; i++) {
		at = 16 + rand() % (size - 16);
		assert_int_equal(ktau_reader_open_memory(r, data, at), 0);
		while (ktau_reader_next(r, &rec) > 0)
			;
		assert_true(ktau_reader_damage(r)->truncated);
		data[at] ^= 1 << i % 8;
		assert_int_equal(ktau_reader_open_memory(r, data, size), 0);
		while (ktau_reader_next(r, &rec) > 0)
			;
		data[at] ^= 1 << i % 8;
	}
	ktau_reader_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines),
		cmocka_unit_test(altered_profiles),
		cmocka_unit_test(altered_traces),
		cmocka_unit_test(cut),
	};

	return cmocka_run_group_tests_name("libktau: recorded streams", tests, NULL, NULL);
}
