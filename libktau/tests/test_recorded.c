// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes as real kernels gave them, a folder of libktau/tests/data for each machine:
 * /proc/ktau/profile and trace, saved by cat. Where there is none of a machine's own
 * byte order, encoded ones take its place.
 */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau.h>

#include "encode.h"

#define DATA	"libktau/tests/data/"

static char made[] = "/tmp/ktau-recorded-XXXXXX";

/* A folder with streams of this machine's byte order. */
static const char *native(void)
{
	return access(DATA "x86_64/profile", R_OK) ? made : DATA "x86_64";
}

static void save(const char *name, struct stream *s)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", made, name);
	file = fopen(path, "w");
	if (!file || fwrite(s->data, 1, s->size, file) != s->size || fclose(file))
		abort();
	stream_free(s);
}

static void put_busy_ring(struct stream *s, uint64_t serial)
{
	struct slot slots[200] = { { 0 } };
	size_t i;

	for (i = 0; i < NR(slots); i++)
		slots[i] = (struct slot){ .ticks = 1000 + 3 * i, .type = 1 + i % 2,
					  .id = (i / 2) % 4 };
	put_trace(s, &(struct trace){ .serial = serial, .tid = (int32_t)serial, .slots = slots,
				      .nr_slots = NR(slots) });
}

static int make_streams(void **state)
{
	struct stream s = { .word_bits = 64 };
	uint64_t i;

	(void)state;
	if (!mkdtemp(made))
		return -1;
	put_start(&s, KTAU_REC_PROFILE, 0x3c);
	for (i = 1; i <= 40; i++)
		put_task(&s, i, (int32_t)i, i % 3 ? TASK : EXITED, i * i);
	put_end(&s);
	save("profile", &s);
	s = (struct stream){ .word_bits = 64 };
	put_start(&s, KTAU_REC_TRACE, 0x3c);
	for (i = 1; i <= 5; i++)
		put_busy_ring(&s, i);
	put_end(&s);
	save("trace", &s);
	return 0;
}

static int remove_streams(void **state)
{
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/profile", made);
	unlink(path);
	snprintf(path, sizeof(path), "%s/trace", made);
	unlink(path);
	return rmdir(made);
}

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
	assert_int_equal(ktau_reader_unknown(r)->records, 0);
	counts = *ktau_check_counts(c);
	ktau_check_destroy(c);
	ktau_reader_destroy(r);
	return counts;
}

/* A stream names itself: no entry of a sum is without its event. */
static void check_events(const struct ktau_rec_profile *sum, const struct ktau_reader *r)
{
	const struct ktau_entry *entry = ktau_profile_entries(sum);
	const struct ktau_rec_event *event;
	uint32_t i;

	for (i = 0; i < sum->nr_entries; i++) {
		event = ktau_reader_event(r, entry[i].id);
		assert_non_null(event);
		assert_int_equal(event->kind, entry[i].kind);
		assert_true(event->group);
		assert_non_null(ktau_source_name(event->source));
	}
}

static void check_machine(const char *folder)
{
	struct ktau_check_counts counts;
	struct ktau_rec_profile *sum;
	struct ktau_snapshot *snap;
	struct ktau_clock clock;
	struct ktau_reader *r;
	char path[512];

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
	assert_int_equal(ktau_snapshot_sum(snap, &sum, NULL), 0);
	assert_int_equal(ktau_check_identity(sum, NULL, NULL), 0);
	check_events(sum, r);
	ktau_record_free(sum);
	ktau_snapshot_destroy(snap);
	ktau_reader_destroy(r);
}

static void machines(void **state)
{
	glob_t folders = { 0 };
	size_t i;

	(void)state;
	check_machine(native());
	glob(DATA "*/profile", 0, NULL, &folders);
	for (i = 0; i < folders.gl_pathc; i++) {
		*strrchr(folders.gl_pathv[i], '/') = 0;
		check_machine(folders.gl_pathv[i]);
	}
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
	uint8_t data[1 << 18] __attribute__((aligned(8)));
	size_t size;
};

static void load(struct recorded *r, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", native(), name);
	file = fopen(path, "r");
	assert_non_null(file);
	r->size = fread(r->data, 1, sizeof(r->data), file);
	fclose(file);
	assert_true(r->size > 10000 && r->size < sizeof(r->data));
	assert_int_equal(judge(r->data, r->size), KTAU_NR_FINDINGS);
}

/* One figure more or less anywhere in a kernel's stream is found, and as what it is. */
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
	for (load(&r, "profile"); at < r.size; nr++) {
		struct ktau_rec_profile *p = (void *)(r.data + at);
		struct ktau_entry *entry = (void *)(r.data + at + p->rec.head);

		at += p->rec.size;
		if (p->rec.type != KTAU_REC_PROFILE)
			continue;
		alter(&r, &p->outer_ticks, p->outer_ticks + 1, KTAU_FINDING_IDENTITY);
		alter(&r, &p->serial, ~0ULL, KTAU_FINDING_REFERENCE);
		for (uint32_t i = 0; i < p->nr_entries; i++)
			if (entry[i].kind == KTAU_KIND_TIMER)
				alter(&r, &entry[i].excl, entry[i].excl - 1,
				      KTAU_FINDING_IDENTITY);
	}
	assert_true(nr > 10);
}

/* An exit of an event that the trace knows, but that was not entered last. */
static void alter_exit(const struct recorded *r, const struct ktau_rec_trace *t,
		       struct ktau_slot *slot)
{
	const struct ktau_slot *other = NULL;
	struct ktau_slot wrong = *slot;
	__u64 word;

	while ((other = ktau_trace_next(t, other))) {
		if (other->type == KTAU_TRACE_ENTER && other->id != slot->id)
			break;
	}
	if (!other)
		return;
	wrong.id = other->id;
	memcpy(&word, (__u64 *)(void *)&wrong + 1, sizeof(word));
	alter(r, (__u64 *)(void *)slot + 1, word, KTAU_FINDING_NESTING);
}

static void alter_slots(const struct recorded *r, struct ktau_rec_trace *t)
{
	const struct ktau_slot *before = ktau_trace_next(t, NULL);
	struct ktau_slot *slot;

	while (before && (slot = (struct ktau_slot *)ktau_trace_next(t, before))) {
		alter(r, &slot->ticks, before->ticks - 1, KTAU_FINDING_SLOT);
		if (before->type == KTAU_TRACE_ENTER && slot->type == KTAU_TRACE_EXIT)
			alter_exit(r, t, slot);
		before = slot;
	}
}

static void altered_traces(void **state)
{
	static struct recorded r;
	unsigned int nr = 0;
	size_t at = 0;

	(void)state;
	for (load(&r, "trace"); at < r.size;) {
		struct ktau_rec_trace *t = (void *)(r.data + at);

		at += t->rec.size;
		if (t->rec.type != KTAU_REC_TRACE)
			continue;
		nr++;
		alter(&r, &t->lost, t->first + 1, KTAU_FINDING_LOSS);
		alter(&r, &t->written, t->next - 1, KTAU_FINDING_LOSS);
		alter(&r, &t->next, t->first + t->nr_slots - 1, KTAU_FINDING_LOSS);
		alter_slots(&r, t);
	}
	assert_true(nr > 0);
}

/* Cut at random: a damaged stream never gives more, nor a crash. */
static void cut(void **state)
{
	static struct recorded recorded;
	struct ktau_reader *r;
	union ktau_record rec;
	unsigned int i;
	size_t at;

	(void)state;
	load(&recorded, "profile");
	assert_int_equal(ktau_reader_create(&r), 0);
	srand(1);
	for (i = 0; i < 300; i++) {
		at = 16 + rand() % (recorded.size - 16);
		assert_int_equal(ktau_reader_open_memory(r, recorded.data, at), 0);
		while (ktau_reader_next(r, &rec) > 0)
			;
		assert_true(ktau_reader_damage(r)->truncated);
		recorded.data[at] ^= 1 << i % 8;
		assert_int_equal(ktau_reader_open_memory(r, recorded.data, recorded.size), 0);
		while (ktau_reader_next(r, &rec) > 0)
			;
		recorded.data[at] ^= 1 << i % 8;
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

	return cmocka_run_group_tests_name("libktau: recorded streams", tests, make_streams,
					   remove_streams);
}
