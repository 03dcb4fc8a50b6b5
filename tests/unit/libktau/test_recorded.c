// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings of real kernels, a folder of tests/unit/libktau/data for each machine:
 * /proc/ktau/profile and trace, saved by cat in tests/guest/record.
 */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ktau.h>

#define DATA	"tests/unit/libktau/data/"
#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* A folder with streams of this machine's byte order. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE	DATA "x86_64"
#else
#define NATIVE	DATA "powerpc"
#endif

/* Calls of the task "worker" in tests/guest/record; CHILDREN exit with CODE. */
#define CHILDREN	5
#define CODE		(3 << 8)

static const struct figure {
	const char *event;
	uint64_t count;
} figures[] = {
	{ "sys_chdir", 40 },
	{ "sys_kill", 10 },
	{ "sys_clone", CHILDREN },
};

/*
 * The number of findings that a recording is known to have, from the file PATH.findings with a
 * line "RULE NUMBER" for each rule. Without this file it has none.
 */
static uint64_t known(const char *path, enum ktau_finding_code code)
{
	char name[512], rule[32];
	unsigned long long nr;
	uint64_t found = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%s.findings", path);
	file = fopen(name, "r");
	while (file && fscanf(file, "%31s %llu", rule, &nr) == 2)
		if (!strcmp(rule, ktau_finding_name(code)))
			found = nr;
	if (file)
		fclose(file);
	return found;
}

/* All records are consistent, except for what is known. */
static struct ktau_check_counts check(const char *path)
{
	struct ktau_check_counts counts;
	struct ktau_reader *r;
	union ktau_record rec;
	struct ktau_check *c;
	int code, err;

	assert_int_equal(ktau_check_create(&c, NULL, NULL), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_file(r, path), 0);
	while ((err = ktau_reader_next(r, &rec)) > 0)
		assert_true(ktau_check_record(c, &rec) >= 0);
	assert_int_equal(err, 0);
	for (code = 0; code < KTAU_NR_FINDINGS; code++) {
		if (ktau_check_counts(c)->findings[code] != known(path, code))
			print_error("%s: findings: %s %llu\n", path, ktau_finding_name(code),
				    (unsigned long long)ktau_check_counts(c)->findings[code]);
		assert_int_equal(ktau_check_counts(c)->findings[code], known(path, code));
	}
	assert_int_equal(ktau_reader_unknown(r)->records, 0);
	counts = *ktau_check_counts(c);
	ktau_check_destroy(c);
	ktau_reader_destroy(r);
	return counts;
}

/* A stream contains all names: each entry of a sum has its event. */
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

static bool is_event(const struct ktau_reader *r, uint32_t id, const char *name)
{
	const struct ktau_rec_event *event = ktau_reader_event(r, id);

	assert_non_null(event);
	return !strcmp(ktau_display_name(ktau_event_name(event)), name);
}

static bool is_worker(const struct ktau_rec_owner *owner, uint32_t kind)
{
	return owner->kind == kind && !strcmp(owner->comm, "worker");
}

static uint64_t count_of(const struct ktau_rec_profile *p, const struct ktau_reader *r,
			 const char *name)
{
	const struct ktau_entry *entry = ktau_profile_entries(p);
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++)
		if (is_event(r, entry[i].id, name))
			count += entry[i].count;
	return count;
}

static void check_worker(const struct ktau_snapshot *snap, const struct ktau_reader *r)
{
	const struct ktau_owned *worker = NULL, *child = NULL;
	unsigned int children = 0;
	size_t i;

	do {
		worker = ktau_snapshot_next(snap, worker);
		assert_non_null(worker);
	} while (!is_worker(worker->owner, KTAU_OWNER_TASK));
	for (i = 0; i < NR(figures); i++)
		assert_int_equal(count_of(worker->profile, r, figures[i].event),
				 figures[i].count);
	while ((child = ktau_snapshot_next(snap, child))) {
		if (!is_worker(child->owner, KTAU_OWNER_EXITED))
			continue;
		children++;
		assert_int_equal(child->owner->ppid, worker->owner->tid);
		assert_int_equal(child->owner->exit_code, CODE);
		assert_int_equal(count_of(child->profile, r, "sys_exit_group"), 1);
	}
	assert_int_equal(children, CHILDREN);
}

/* The contents of the rings of the worker and its children. */
struct seen {
	uint64_t enters[NR(figures)];
	uint64_t exits[NR(figures)];
	uint64_t forked[CHILDREN];
	uint64_t exited[CHILDREN];
	unsigned int nr_forked;
	unsigned int nr_exited;
};

static void see_call(struct seen *seen, const struct ktau_slot *slot,
		     const struct ktau_reader *r)
{
	size_t i;

	if (slot->type != KTAU_TRACE_ENTER && slot->type != KTAU_TRACE_EXIT)
		return;
	for (i = 0; i < NR(figures); i++) {
		if (!is_event(r, slot->id, figures[i].event))
			continue;
		seen->enters[i] += slot->type != KTAU_TRACE_EXIT;
		seen->exits[i] += slot->type != KTAU_TRACE_ENTER;
	}
}

static void see_worker(struct seen *seen, const struct ktau_rec_trace *t,
		       const struct ktau_reader *r)
{
	const struct ktau_slot *slot = NULL;
	struct ktau_slot_fork child;

	while ((slot = ktau_trace_next(t, slot))) {
		see_call(seen, slot, r);
		if (!ktau_slot_fork(slot, &child))
			continue;
		assert_true(seen->nr_forked < CHILDREN);
		assert_int_equal(child.leader_serial, child.serial);
		seen->forked[seen->nr_forked++] = child.serial;
	}
}

static void see_child(struct seen *seen, const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slot = NULL;
	int32_t code;

	while ((slot = ktau_trace_next(t, slot))) {
		if (!ktau_slot_exit_code(slot, &code))
			continue;
		assert_true(seen->nr_exited < CHILDREN);
		assert_int_equal(code, CODE);
		seen->exited[seen->nr_exited++] = t->serial;
	}
}

/* Rings and forks are in the order in which the owners started. */
static void check_worker_trace(const char *path)
{
	const struct ktau_rec_owner *owner;
	struct seen seen = { .nr_forked = 0 };
	struct ktau_reader *r;
	union ktau_record rec;
	size_t i;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_file(r, path), 0);
	while (ktau_reader_next(r, &rec) > 0) {
		if (rec.rec->type != KTAU_REC_TRACE)
			continue;
		owner = ktau_reader_owner(r, rec.trace->serial);
		if (is_worker(owner, KTAU_OWNER_TASK))
			see_worker(&seen, rec.trace, r);
		else if (is_worker(owner, KTAU_OWNER_EXITED))
			see_child(&seen, rec.trace);
	}
	for (i = 0; i < NR(figures); i++) {
		assert_int_equal(seen.enters[i], figures[i].count);
		assert_int_equal(seen.exits[i], figures[i].count);
	}
	assert_int_equal(seen.nr_forked, CHILDREN);
	assert_int_equal(seen.nr_exited, CHILDREN);
	assert_memory_equal(seen.forked, seen.exited, sizeof(seen.forked));
	ktau_reader_destroy(r);
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
	check_worker_trace(path);
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
	check_worker(snap, r);
	ktau_record_free(sum);
	ktau_snapshot_destroy(snap);
	ktau_reader_destroy(r);
}

static void machines(void **state)
{
	glob_t folders;
	size_t i;

	(void)state;
	assert_int_equal(glob(DATA "*/profile", 0, NULL, &folders), 0);
	assert_true(folders.gl_pathc >= 2);
	for (i = 0; i < folders.gl_pathc; i++) {
		*strrchr(folders.gl_pathv[i], '/') = 0;
		check_machine(folders.gl_pathv[i]);
	}
	globfree(&folders);
}

/*
 * What a release has recorded is decoded to the same numbers for ever: a digest of them by FNV-1a,
 * as numbers, so that it does not depend on the byte order of this machine.
 */
static uint64_t digest(uint64_t hash, uint64_t number)
{
	int i;

	for (i = 0; i < 8; i++, number >>= 8)
		hash = (hash ^ (number & 0xff)) * 0x100000001b3ULL;
	return hash;
}

static uint64_t digest_text(uint64_t hash, const char *text, size_t most)
{
	for (; most-- && *text; text++)
		hash = digest(hash, (unsigned char)*text);
	return hash;
}

static uint64_t digest_owner(uint64_t hash, const struct ktau_rec_owner *o)
{
	hash = digest(digest(digest(hash, o->serial), o->kind), o->flags);
	hash = digest(digest(digest(hash, (uint32_t)o->tid), (uint32_t)o->ppid), o->uid);
	hash = digest(digest(digest(hash, o->start_ns), o->exit_ns), (uint32_t)o->exit_code);
	hash = digest(digest(digest(hash, o->utime_ns), o->nvcsw), o->cgroup);
	return digest_text(hash, o->comm, sizeof(o->comm));
}

static uint64_t digest_profile(uint64_t hash, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *e = ktau_profile_entries(p), *end = e + p->nr_entries;

	hash = digest(digest(digest(hash, p->serial), p->ticks), p->outer_ticks);
	hash = digest(digest(digest(hash, p->user_ticks), p->kernel_ticks), p->asleep_ticks);
	for (; e < end; e++) {
		hash = digest(digest(digest(hash, e->id), e->kind), e->flags);
		hash = digest(digest(digest(hash, e->count), e->incl), e->excl);
		hash = digest(digest(hash, e->longest), e->asleep);
	}
	return hash;
}

static uint64_t digest_trace(uint64_t hash, const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slot = NULL;
	struct ktau_slot_switch to;

	hash = digest(digest(digest(hash, t->serial), t->first), t->lost);
	while ((slot = ktau_trace_next(t, slot))) {
		hash = digest(digest(digest(hash, slot->ticks), slot->id), slot->type);
		hash = digest(digest(digest(hash, slot->words), slot->cpu), slot->flags);
		if (ktau_slot_switch(slot, &to))
			hash = digest(digest(hash, to.next_serial), to.state);
		else if (slot->type <= KTAU_TRACE_COUNT && ktau_slot_payload_words(slot))
			hash = digest(hash, *ktau_slot_payload(slot));
	}
	return hash;
}

static uint64_t digest_file(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	struct ktau_reader *r;
	union ktau_record rec;
	int err;

	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_file(r, path), 0);
	while ((err = ktau_reader_next(r, &rec)) > 0) {
		hash = digest(hash, rec.rec->type);
		if (rec.rec->type == KTAU_REC_OWNER)
			hash = digest_owner(hash, rec.owner);
		else if (rec.rec->type == KTAU_REC_EVENT)
			hash = digest_text(digest(hash, rec.event->id), ktau_event_name(rec.event),
					   256);
		else if (rec.rec->type == KTAU_REC_PROFILE || rec.rec->type == KTAU_REC_DIFF)
			hash = digest_profile(hash, rec.profile);
		else if (rec.rec->type == KTAU_REC_TRACE)
			hash = digest_trace(hash, rec.trace);
	}
	assert_int_equal(err, 0);
	ktau_reader_destroy(r);
	return hash;
}

/*
 * The files of a release, with their digests in the file "digests" of its folder. KTAU_FROZEN=write
 * prints what this has to be.
 */
static void releases(void **state)
{
	char path[512], name[64];
	unsigned long long right;
	glob_t folders;
	uint64_t found;
	FILE *list;
	size_t i;

	(void)state;
	assert_int_equal(glob(DATA "*/digests", 0, NULL, &folders), 0);
	for (i = 0; i < folders.gl_pathc; i++) {
		list = fopen(folders.gl_pathv[i], "r");
		assert_non_null(list);
		*strrchr(folders.gl_pathv[i], '/') = 0;
		while (fscanf(list, "%63s %llx", name, &right) == 2) {
			snprintf(path, sizeof(path), "%s/%s", folders.gl_pathv[i], name);
			check(path);
			found = digest_file(path);
			if (found != right)
				print_error("%s %016llx\n", path, (unsigned long long)found);
			assert_true(found == right || getenv("KTAU_FROZEN"));
		}
		assert_true(feof(list));
		fclose(list);
	}
	globfree(&folders);
}

/* How many findings of each rule concern an owner; serial 0: all. */
struct verdict {
	uint64_t serial;
	unsigned int nr[KTAU_NR_FINDINGS];
};

static void count(void *arg, const struct ktau_finding *finding)
{
	struct verdict *v = arg;

	if (!v->serial || v->serial == finding->serial)
		v->nr[finding->code]++;
}

static struct verdict judge(const void *data, size_t size, uint64_t serial)
{
	struct verdict v = { .serial = serial };
	struct ktau_reader *r;
	union ktau_record rec;
	struct ktau_check *c;

	assert_int_equal(ktau_check_create(&c, count, &v), 0);
	assert_int_equal(ktau_reader_create(&r), 0);
	assert_int_equal(ktau_reader_open_memory(r, data, size), 0);
	while (ktau_reader_next(r, &rec) > 0)
		ktau_check_record(c, &rec);
	ktau_check_destroy(c);
	ktau_reader_destroy(r);
	return v;
}

struct recorded {
	uint8_t data[1 << 18] __attribute__((aligned(8)));
	size_t size;
	struct verdict before;
};

static void load(struct recorded *r, const char *path)
{
	FILE *file = fopen(path, "r");
	int code;

	assert_non_null(file);
	r->size = fread(r->data, 1, sizeof(r->data), file);
	fclose(file);
	assert_true(r->size > 10000 && r->size < sizeof(r->data));
	r->before = judge(r->data, r->size, 0);
	for (code = 0; code < KTAU_NR_FINDINGS; code++)
		assert_int_equal(r->before.nr[code], known(path, code));
}

/*
 * Changing any number in a kernel's stream gives the right finding about its owner; serial 0: about
 * any. If some are known there, it gives as many at least.
 */
static void alter_of(const struct recorded *r, uint64_t serial, __u64 *figure, __u64 value,
		     enum ktau_finding_code code)
{
	const struct verdict before = serial ? judge(r->data, r->size, serial) : r->before;
	const __u64 right = *figure;
	struct verdict after;

	*figure = value;
	after = judge(r->data, r->size, serial);
	assert_true(after.nr[code] > before.nr[code] ||
		    (before.nr[code] && after.nr[code] == before.nr[code]));
	*figure = right;
}

static void alter(const struct recorded *r, __u64 *figure, __u64 value,
		  enum ktau_finding_code code)
{
	alter_of(r, 0, figure, value, code);
}

static void alter_times(const struct recorded *r, uint64_t serial, struct ktau_entry *e)
{
	alter_of(r, serial, &e->longest, e->incl + 1, KTAU_FINDING_LONGEST);
	alter_of(r, serial, &e->longest, e->incl / e->count - 1, KTAU_FINDING_LONGEST);
	if (e->flags & KTAU_ENTRY_ASLEEP)
		alter_of(r, serial, &e->asleep, e->incl + 1, KTAU_FINDING_INSIDE);
	if (e->flags & KTAU_ENTRY_IRQ)
		alter_of(r, serial, &e->irq, e->incl + 1, KTAU_FINDING_INSIDE);
}

/* Each part of the account, where there is one. */
static void alter_account(const struct recorded *r, struct ktau_rec_profile *p)
{
	__u64 *parts = &p->user_ticks;
	int i;

	for (i = 0; p->groups_throughout && i < 6; i++)
		alter_of(r, p->serial, &parts[i], p->ticks - p->start_ticks + 1,
			 KTAU_FINDING_ACCOUNT);
}

static void altered_profiles(void **state)
{
	static struct recorded r;
	unsigned int nr = 0;
	size_t at = 0;

	(void)state;
	for (load(&r, NATIVE "/profile"); at < r.size; nr++) {
		struct ktau_rec_profile *p = (void *)(r.data + at);
		struct ktau_entry *entry = (void *)(r.data + at + p->rec.head);

		at += p->rec.size;
		if (p->rec.type != KTAU_REC_PROFILE)
			continue;
		alter(&r, &p->outer_ticks, p->outer_ticks + 1, KTAU_FINDING_IDENTITY);
		alter(&r, &p->serial, ~0ULL, KTAU_FINDING_REFERENCE);
		alter_account(&r, p);
		for (uint32_t i = 0; i < p->nr_entries; i++) {
			if (entry[i].kind != KTAU_KIND_TIMER)
				continue;
			alter(&r, &entry[i].excl, entry[i].excl - 1, KTAU_FINDING_IDENTITY);
			if (i % 8 == nr % 8)	/* some of each kind, to save time */
				alter_times(&r, p->serial, &entry[i]);
		}
	}
	assert_true(nr > 10);
}

/* An exit of an event that is in the trace, but not the innermost frame. */
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
	for (load(&r, NATIVE "/trace"); at < r.size;) {
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

/* Truncated at random: a damaged stream never gives more records, and never crashes. */
static void truncated(void **state)
{
	static struct recorded recorded;
	struct ktau_reader *r;
	union ktau_record rec;
	unsigned int i;
	size_t at;

	(void)state;
	load(&recorded, NATIVE "/profile");
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
		cmocka_unit_test(releases),
		cmocka_unit_test(altered_profiles),
		cmocka_unit_test(altered_traces),
		cmocka_unit_test(truncated),
	};

	return cmocka_run_group_tests_name("libktau: recorded streams", tests, NULL, NULL);
}
