// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exited tasks that a snapshot has dropped and still includes in its sum.
 *
 * A running total would take less memory than one profile for each task. But the kernel may
 * evict or fold a task later, and a GONE record then has only its serial: the task's counts
 * are needed to subtract exactly them from the sum. So each profile is kept, delta-coded,
 * in a few hundred bytes.
 */
#include "dropped.h"

/* Precedes the delta-coded PROFILE record in ktau__dropped.bytes. */
struct dropped_task {
	uint64_t serial;
	uint64_t coded_bytes;	/* they follow, padded to a multiple of 8 */
	uint64_t removed;	/* 1: others include it now */
	uint64_t nr_tasks;
	uint64_t utime_ns;
	uint64_t stime_ns;
	uint64_t nvcsw;
	uint64_t nivcsw;
	uint64_t migrations;
};

/* The index of a task in ktau__dropped.by_serial is its place in units of so many bytes. */
enum { UNIT = 8 };

static size_t size_of(const struct dropped_task *task)
{
	return sizeof(*task) + ((task->coded_bytes + UNIT - 1) / UNIT * UNIT);
}

static struct dropped_task *task_at(const struct ktau__dropped *d, size_t at)
{
	return (struct dropped_task *)(d->tasks.data + at);
}

static struct dropped_task *find(const struct ktau__dropped *d, uint64_t serial)
{
	size_t at = ktau__map_get(&d->by_serial, serial);

	if (at == KTAU__MAP_NONE || task_at(d, at * UNIT)->removed)
		return NULL;
	return task_at(d, at * UNIT);
}

bool ktau__dropped_has(const struct ktau__dropped *d, uint64_t serial)
{
	return find(d, serial);
}

void ktau__dropped_remove(struct ktau__dropped *d, uint64_t serial)
{
	struct dropped_task *task = find(d, serial);

	if (!task)
		return;
	task->removed = 1;
	d->removed_bytes += size_of(task);
	d->nr--;
}

/* Reclaim the memory of removed tasks once they occupy half of all. */
static int compact(struct ktau__dropped *d)
{
	size_t from, size, to = 0;
	int err = 0;

	if (d->removed_bytes <= d->tasks.size / 2)
		return 0;
	ktau__map_clear(&d->by_serial);
	for (from = 0; from < d->tasks.size; from += size) {
		size = size_of(task_at(d, from));
		if (task_at(d, from)->removed)
			continue;
		memmove(task_at(d, to), task_at(d, from), size);
		if (!err)
			err = ktau__map_put(&d->by_serial, task_at(d, to)->serial, to / UNIT);
		to += size;
	}
	d->tasks.size = to;
	d->removed_bytes = 0;
	return err;
}

static int append(struct ktau__dropped *d, struct dropped_task *task,
		  const struct ktau__buffer *coded)
{
	static const uint8_t zeros[UNIT];
	size_t at = d->tasks.size;
	int err;

	task->coded_bytes = coded->size;
	err = ktau__buffer_append(&d->tasks, task, sizeof(*task));
	if (!err)
		err = ktau__buffer_append(&d->tasks, coded->data, coded->size);
	if (!err)
		err = ktau__buffer_append(&d->tasks, zeros, -coded->size & (UNIT - 1));
	if (!err)
		err = ktau__map_put(&d->by_serial, task->serial, at / UNIT);
	if (err)
		d->tasks.size = at;
	else
		d->nr++;
	return err;
}

/* To d->coded. */
static int encode(struct ktau__dropped *d, const struct ktau_rec_profile *profile)
{
	if (!d->encoder)
		d->encoder = ktau__encoder_create();
	if (!d->encoder)
		return -ENOMEM;
	ktau__encoder_start(d->encoder);
	d->coded.size = 0;
	return ktau__encoder_put(d->encoder, profile, profile->rec.type, &d->coded);
}

int ktau__dropped_put(struct ktau__dropped *d, const struct ktau_owned *owned)
{
	struct dropped_task task = {
		.serial = owned->owner->serial,
		.nr_tasks = owned->owner->nr_tasks,
		.utime_ns = owned->owner->utime_ns,
		.stime_ns = owned->owner->stime_ns,
		.nvcsw = owned->owner->nvcsw,
		.nivcsw = owned->owner->nivcsw,
		.migrations = owned->owner->migrations,
	};
	int err;

	ktau__dropped_remove(d, task.serial);
	err = compact(d);
	if (!err)
		err = encode(d, owned->profile);
	if (!err)
		err = append(d, &task, &d->coded);
	return err;
}

int ktau__dropped_each(const struct ktau__dropped *d, ktau_profile_fn fn, void *arg)
{
	const struct dropped_task *task;
	struct ktau__buffer plain = { 0 };
	size_t at;
	int err = 0;

	for (at = 0; !err && at < d->tasks.size; at += size_of(task)) {
		task = task_at(d, at);
		if (task->removed)
			continue;
		plain.size = 0;
		err = ktau__delta_decode((const uint8_t *)(task + 1), task->coded_bytes, false,
					 &plain);
		if (!err)
			err = fn(arg, (const struct ktau_rec_profile *)plain.data);
	}
	ktau__buffer_free(&plain);
	return err;
}

void ktau__dropped_count(const struct ktau__dropped *d, struct ktau_rec_owner *total)
{
	const struct dropped_task *task;
	size_t at;

	for (at = 0; at < d->tasks.size; at += size_of(task)) {
		task = task_at(d, at);
		if (task->removed)
			continue;
		total->nr_tasks += task->nr_tasks;
		total->utime_ns += task->utime_ns;
		total->stime_ns += task->stime_ns;
		total->nvcsw += task->nvcsw;
		total->nivcsw += task->nivcsw;
		total->migrations += task->migrations;
	}
}

void ktau__dropped_clear(struct ktau__dropped *d)
{
	ktau__map_clear(&d->by_serial);
	d->tasks.size = d->removed_bytes = d->nr = 0;
}

void ktau__dropped_free(struct ktau__dropped *d)
{
	ktau__map_free(&d->by_serial);
	ktau__buffer_free(&d->tasks);
	ktau__buffer_free(&d->coded);
	ktau__encoder_destroy(d->encoder);
}
