// SPDX-License-Identifier: GPL-2.0-only
/*
 * The regions of threads in a period.
 *
 * A REGION record has everything since the thread got its regions, so a period needs the records
 * of both ends. A thread that exited before the earlier end has records only at the later one if
 * the file is not read from its beginning and a restarted ktaud has listed the thread again. These
 * records are left out. Memory is bounded by the threads that had regions.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/hash.h"
#include "region_names.h"
#include "regions.h"
#include "tally.h"

enum { NR_ENDS = 2, PATH_BYTES = 1024 };

struct list {
	struct ktau_rec_region **record;
	size_t nr;
};

struct thread {
	struct ktau_rec_owner owner;
	uint64_t key;
	struct list end[NR_ENDS];
};

/*
 * @ticks: the times of the ends, 0 if unknown
 * @leave_out: the last profile is of a thread that exited before the earlier end
 */
struct regions {
	const char *dir;
	uint64_t ticks[NR_ENDS];
	bool leave_out;
	struct thread **threads;
	size_t nr;
	struct hash by_serial;	/* index plus 1 */
};

struct regions *regions_create(const char *dir)
{
	struct regions *regions = cli_alloc(NULL, 1, sizeof(*regions));

	*regions = (struct regions){ .dir = dir ? dir : "." };
	return regions;
}

static void list_clear(struct list *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		ktau_record_free(list->record[i]);
	free(list->record);
	*list = (struct list){ 0 };
}

static void thread_clear(struct thread *thread, unsigned int ends)
{
	int end;

	for (end = 0; end < NR_ENDS; end++)
		if (ends & 1U << end)
			list_clear(&thread->end[end]);
}

void regions_clear(struct regions *regions, unsigned int ends)
{
	size_t i;
	int end;

	for (i = 0; i < regions->nr; i++)
		thread_clear(regions->threads[i], ends);
	for (end = 0; end < NR_ENDS; end++)
		if (ends & 1U << end)
			regions->ticks[end] = 0;
}

/* Free the threads that have records at neither end. */
static void drop_empty(struct regions *regions)
{
	struct thread *thread;
	size_t i, nr = 0;

	hash_clear(&regions->by_serial);
	for (i = 0; i < regions->nr; i++) {
		thread = regions->threads[i];
		if (!thread->end[0].nr && !thread->end[1].nr) {
			free(thread);
			continue;
		}
		regions->threads[nr++] = thread;
		hash_put(&regions->by_serial, thread->owner.serial, nr);
	}
	regions->nr = nr;
}

void regions_turn(struct regions *regions)
{
	struct thread *thread;
	size_t i;

	for (i = 0; i < regions->nr; i++) {
		thread = regions->threads[i];
		list_clear(&thread->end[0]);
		thread->end[0] = thread->end[1];
		thread->end[1] = (struct list){ 0 };
	}
	drop_empty(regions);
	regions->ticks[0] = regions->ticks[1];
}

void regions_destroy(struct regions *regions)
{
	if (!regions)
		return;
	regions_clear(regions, REGIONS_BEFORE | REGIONS_AFTER);
	drop_empty(regions);
	hash_deinit(&regions->by_serial);
	free(regions->threads);
	free(regions);
}

static struct thread *find(const struct regions *regions, uint64_t serial)
{
	size_t index = hash_get(&regions->by_serial, serial);

	return index ? regions->threads[index - 1] : NULL;
}

static struct thread *get(struct regions *regions, const struct ktau_rec_owner *owner)
{
	struct thread *thread = find(regions, owner->serial);

	if (!thread) {
		thread = cli_alloc(NULL, 1, sizeof(*thread));
		*thread = (struct thread){ .key = (uint32_t)owner->tgid };
		regions->threads = cli_alloc(regions->threads, regions->nr + 1,
					     sizeof(*regions->threads));
		regions->threads[regions->nr++] = thread;
		hash_put(&regions->by_serial, owner->serial, regions->nr);
	}
	thread->owner = *owner;
	return thread;
}

static void add(struct list *list, const struct ktau_rec_region *region)
{
	struct ktau_rec_region *copy = ktau_record_dup(region);

	if (!copy)
		cli_alloc(NULL, SIZE_MAX, 1);
	list->record = cli_alloc(list->record, list->nr + 1, sizeof(*list->record));
	list->record[list->nr++] = copy;
}

static bool exited_before(const struct regions *regions, const struct ktau_reader *reader,
			  const struct ktau_rec_profile *profile)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, profile->serial);

	return owner && owner->kind == KTAU_OWNER_EXITED && profile->ticks < regions->ticks[0];
}

static void put_region(struct regions *regions, const struct ktau_reader *reader,
		       const struct ktau_rec_region *region, unsigned int ends)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, region->serial);
	struct thread *thread;
	int end;

	if (!owner || !region->nr_entries || regions->leave_out)
		return;
	thread = get(regions, owner);
	for (end = 0; end < NR_ENDS; end++)
		if (ends & 1U << end)
			add(&thread->end[end], region);
}

void regions_put(struct regions *regions, const struct ktau_reader *reader,
		 const union ktau_record *record, unsigned int ends)
{
	struct thread *thread;
	int end;

	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		for (end = 0; end < NR_ENDS; end++)
			if (ends & 1U << end)
				regions->ticks[end] = record->stream->ticks;
		break;
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		thread = find(regions, record->profile->serial);
		if (thread)
			thread_clear(thread, ends);
		/* The times in a DIFF are differences, and the thread was in a stream before. */
		regions->leave_out = record->rec->type == KTAU_REC_PROFILE &&
				     !(ends & REGIONS_BEFORE) &&
				     exited_before(regions, reader, record->profile);
		break;
	case KTAU_REC_REGION:
		put_region(regions, reader, record->region, ends);
		break;
	}
}

void regions_choose(struct regions *regions,
		    uint64_t (*key)(void *data, const struct ktau_rec_owner *owner), void *data)
{
	size_t i;

	for (i = 0; i < regions->nr; i++)
		regions->threads[i]->key = key(data, &regions->threads[i]->owner);
}

static int order_of(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_region(const void *key, const void *element)
{
	const struct ktau_rec_region *const *record = element;

	return order_of(*(const uint32_t *)key, (*record)->region);
}

/* The kernel writes the regions of a thread, and the entries of a region, in ascending order. */
static const struct ktau_rec_region *find_region(const struct list *list, uint32_t region)
{
	struct ktau_rec_region **record = NULL;

	if (list->nr)
		record = bsearch(&region, list->record, list->nr, sizeof(*list->record),
				 compare_region);
	return record ? *record : NULL;
}

static int compare_entry(const void *key, const void *element)
{
	const struct ktau_entry *e = element;

	return order_of(*(const uint32_t *)key, e->id);
}

static const struct ktau_entry *find_entry(const struct ktau_rec_region *region, uint32_t id)
{
	if (!region)
		return NULL;
	return bsearch(&id, ktau_region_entries(region), region->nr_entries,
		       sizeof(struct ktau_entry), compare_entry);
}

static bool goes_backward(const struct ktau_rec_region *after,
			  const struct ktau_rec_region *before)
{
	const struct ktau_entry *b = ktau_region_entries(before), *a;
	uint32_t i;

	for (i = 0; i < before->nr_entries; i++) {
		a = find_entry(after, b[i].id);
		if (!a || a->count < b[i].count || a->incl < b[i].incl || a->excl < b[i].excl)
			return true;
	}
	return false;
}

/*
 * Whether the earlier records are of a program that the thread ran before an exec. The exec has
 * dropped these regions, so they must not be subtracted.
 */
static bool is_earlier_program(const struct thread *thread)
{
	const struct ktau_rec_region *after;
	size_t i;

	for (i = 0; i < thread->end[0].nr; i++) {
		after = find_region(&thread->end[1], thread->end[0].record[i]->region);
		if (!after || goes_backward(after, thread->end[0].record[i]))
			return true;
	}
	return false;
}

static void add_region(struct region_sums *sums, const struct thread *thread,
		       const struct ktau_rec_region *after,
		       const struct ktau_rec_region *before, const char *path)
{
	const struct ktau_entry *e = ktau_region_entries(after), *old;
	const struct ktau_entry none = { 0 };
	struct region_sum *sum;
	uint32_t i;

	sums->sum = cli_alloc(sums->sum, sums->nr + after->nr_entries, sizeof(*sums->sum));
	for (i = 0; i < after->nr_entries; i++) {
		old = find_entry(before, e[i].id);
		if (!old)
			old = &none;
		if (e[i].kind > KTAU_KIND_COUNTER ||
		    (e[i].count == old->count && e[i].incl == old->incl))
			continue;
		sum = &sums->sum[sums->nr++];
		*sum = (struct region_sum){
			.key = thread->key, .owner = &thread->owner, .path = strdup(path),
			.id = e[i].id, .timer = e[i].kind == KTAU_KIND_TIMER,
			.count = less(e[i].count, old->count),
			.incl = less(e[i].incl, old->incl), .excl = less(e[i].excl, old->excl),
		};
		if (!sum->path)
			cli_alloc(NULL, SIZE_MAX, 1);
	}
}

static void add_thread(struct region_sums *sums, const struct thread *thread,
		       const struct region_names *names)
{
	const bool all = is_earlier_program(thread);
	const struct list *after = &thread->end[1];
	const struct ktau_rec_region *r, *before;
	char path[PATH_BYTES];
	size_t i;

	for (i = 0; i < after->nr; i++) {
		r = after->record[i];
		before = all ? NULL : find_region(&thread->end[0], r->region);
		region_names_path(names, r->serial, r->region, path, sizeof(path));
		add_region(sums, thread, r, before, path);
	}
}

static int compare_keys(const struct region_sum *a, const struct region_sum *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int compare_ids(const struct region_sum *a, const struct region_sum *b)
{
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (int)a->timer - (int)b->timer;
}

static int by_event(const void *x, const void *y)
{
	int order = compare_keys(x, y);

	return order ? order : compare_ids(x, y);
}

static int by_time(const void *x, const void *y)
{
	const struct region_sum *a = x, *b = y;
	int order = compare_keys(a, b);

	if (order)
		return order;
	if (a->timer != b->timer)
		return a->timer ? -1 : 1;
	if (a->excl != b->excl)
		return a->excl > b->excl ? -1 : 1;
	return compare_ids(a, b);
}

static void merge(struct region_sums *sums)
{
	struct region_sum *to, *from;
	size_t nr = 0, i;

	qsort(sums->sum, sums->nr, sizeof(*sums->sum), by_event);
	for (i = 0; i < sums->nr; i++) {
		from = &sums->sum[i];
		to = nr ? &sums->sum[nr - 1] : NULL;
		if (!to || by_event(to, from)) {
			sums->sum[nr++] = *from;
			continue;
		}
		to->count += from->count;
		to->incl += from->incl;
		to->excl += from->excl;
		free(from->path);
	}
	sums->nr = nr;
	qsort(sums->sum, sums->nr, sizeof(*sums->sum), by_time);
}

void regions_sum(const struct regions *regions, const struct ktau_rec_stream *stream,
		 struct region_sums *sums)
{
	struct region_names *names;
	size_t i;

	*sums = (struct region_sums){ 0 };
	if (!regions->nr)
		return;
	names = region_names_load(regions->dir, stream);
	for (i = 0; i < regions->nr; i++)
		if (regions->threads[i]->key)
			add_thread(sums, regions->threads[i], names);
	region_names_free(names);
	if (sums->nr)
		merge(sums);
}

void region_sums_deinit(struct region_sums *sums)
{
	size_t i;

	for (i = 0; i < sums->nr; i++)
		free(sums->sum[i].path);
	free(sums->sum);
	*sums = (struct region_sums){ 0 };
}
