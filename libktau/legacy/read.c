// SPDX-License-Identifier: LGPL-2.1-or-later
/* read_size() and read_data(). */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktau_proc_interface.h>

#include "event.h"
#include "packed.h"

/* Room in a buffer for what is added between read_size() and read_data(). */
#define ROOM_RATIO	0.125F
#define ROOM_BYTES	65536

/*
 * What this process has read. An exited task is in only one stream, because the next one
 * starts at the new @exited_since.
 */
static struct {
	pthread_mutex_t lock;
	struct ktau__tasks tasks;
	struct ktau__counters counters;
	uint64_t exited_since;
	bool begun;
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void lock_known(void)
{
	pthread_mutex_lock(&known.lock);
}

static void unlock_known(void)
{
	pthread_mutex_unlock(&known.lock);
}

/* A forked child continues with what its parent has read. */
static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(lock_known, unlock_known, unlock_known);
}

static void set_row(struct ktau__row *row, const struct ktau_entry *entry,
		    const struct ktau_events *events)
{
	*row = (struct ktau__row){
		.index = ktau__event_index(&known.counters, entry),
		.addr = ktau__event_addr(ktau_events_find(events, entry->id), entry->id),
		.count = entry->count,
	};
	if (entry->kind == KTAU_KIND_TIMER) {
		row->incl = entry->incl;
		row->excl = entry->excl;
	}
}

/* Idle tasks have tid 0; so do tasks that this process's pid namespace does not have. */
static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner && (owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED) &&
	       (owner->tid || owner->flags & KTAU_OWNER_IDLE);
}

static int put_profile(const struct ktau_reader *reader, const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(reader, p->serial);
	const struct ktau_entry *entry = ktau_profile_entries(p);
	struct ktau__row *rows;
	size_t i, nr = 0;
	int err;

	if (!is_task(owner))
		return 0;
	rows = reallocarray(NULL, (size_t)p->nr_entries + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (i = 0; i < p->nr_entries; i++)
		if (entry[i].kind <= KTAU_KIND_COUNTER)
			set_row(&rows[nr++], &entry[i], ktau_reader_events(reader));
	nr = ktau__rows_fold(rows, nr);
	err = ktau__tasks_put(&known.tasks, p->serial, owner->tid, rows, nr);
	free(rows);
	return err;
}

static int read_stream(struct ktau_reader *reader)
{
	union ktau_record record;
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type == KTAU_REC_STREAM && !known.begun)
			known.exited_since = record.stream->exited_next;
		if (record.rec->type == KTAU_REC_END &&
		    ktau_reader_stream(reader)->target & KTAU_TARGET_EXITED)
			known.exited_since = record.end->exited_next;
		if (record.rec->type == KTAU_REC_PROFILE)
			err = put_profile(reader, record.profile);
		if (err < 0)
			return err;
	}
	known.begun = known.begun || !err;
	return err;
}

static int read_live(const struct ktau_query *query)
{
	struct ktau_reader *reader;
	int err = ktau_reader_create(&reader);

	if (err)
		return err;
	err = ktau_reader_open_live(reader, query);
	if (!err)
		err = read_stream(reader);
	ktau_reader_destroy(reader);
	return err;
}

/* Tasks that were alive at the first reading may have exited since. */
static struct ktau_query query_for(int self, const struct ktau__wanted *wanted)
{
	struct ktau_query query = { .content = KTAU_REC_PROFILE };

	if (self) {
		query.target = KTAU_TARGET_SELF;
		return query;
	}
	query.target = KTAU_TARGET_ALL;
	if (wanted->nr_pids) {
		query.target = KTAU_TARGET_LIST;
		query.tids = wanted->pids;
		query.nr_tids = wanted->nr_pids;
	}
	if (known.begun) {
		query.target |= KTAU_TARGET_EXITED;
		query.exited_since = known.exited_since;
	}
	return query;
}

/* Read, and pack all that is known of the selected tasks. */
static int collect(int type, int self, struct ktau__wanted wanted, char **data, size_t *size)
{
	pid_t tid = self ? gettid() : 0;
	struct ktau_query query;
	int err;

	if (type != KTAU_TYPE_PROFILE || (!self && wanted.nr_pids && !wanted.pids))
		return -EINVAL;
	if (self)
		wanted = (struct ktau__wanted){ .pids = &tid, .nr_pids = 1 };
	lock_known();
	query = query_for(self, &wanted);
	err = read_live(&query);
	if (!err)
		err = ktau__pack_tasks(&known.tasks, &wanted, data, size);
	unlock_known();
	return err;
}

static long fail(int err)
{
	errno = -err;
	return -1;
}

/* The original's parameters. NOLINTNEXTLINE(readability-function-size) */
long read_size(int type, int self, pid_t *pid, unsigned int nopids, unsigned long tol,
	       unsigned int *pflags, float compratio)
{
	float ratio = compratio >= 0 && compratio <= 16 ? compratio : ROOM_RATIO;
	char *data;
	size_t size;
	int err;

	(void)tol;
	(void)pflags;
	err = collect(type, self, (struct ktau__wanted){ pid, nopids }, &data, &size);
	if (err)
		return fail(err);
	free(data);
	return size + (size_t)(ratio * size) + ROOM_BYTES;
}

/* The original's parameters. NOLINTNEXTLINE(readability-function-size) */
long read_data(int type, int self, pid_t *pid, unsigned int nopids, char *buffer,
	       unsigned long size, unsigned long tol, unsigned int *pflags)
{
	size_t bytes;
	char *data;
	int err;

	(void)tol;
	(void)pflags;
	err = collect(type, self, (struct ktau__wanted){ pid, nopids }, &data, &bytes);
	if (err)
		return fail(err);
	if (bytes <= size)
		memcpy(buffer, data, bytes);
	free(data);
	return bytes <= size ? (long)bytes : fail(-ENOSPC);
}
