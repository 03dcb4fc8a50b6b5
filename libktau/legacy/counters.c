// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counters of a thread. The first KTAU kept them in memory shared with the kernel; here each
 * reading is a stream with the profile of the thread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <ktau.h>
#include <linux/ktau/ktau_cont_data.h>

#include "event.h"

/*
 * @serial: of the thread, 0 until it has been read; a later thread may have the same tid
 * @lock: @reader, @serial and the figures of all counters
 */
struct ktau_ushcont {
	pthread_t thread;
	pid_t tid;
	uint64_t serial;
	unsigned int generation;
	atomic_uint nr_counters;
	pthread_mutex_t lock;
	struct ktau_reader *reader;
};

struct figures {
	uint64_t count;
	uint64_t incl;
	uint64_t excl;
};

/* @id: -1 until the routine has run */
struct symbol {
	uint64_t addr;
	int id;
	struct figures base;
	struct figures now;
};

struct ktau_ush_ctr {
	ktau_ushcont *container;
	int nr_symbols;
	struct symbol symbols[];
};

/* How many forks this process is from the one that loaded the library. */
static unsigned int generation;

static void count_fork(void)
{
	generation++;
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

static int fail(int err)
{
	errno = -err;
	return -1;
}

/* For its own profile, a thread needs no tid. Another thread may have got @tid by now. */
static struct ktau_query query_for(const ktau_ushcont *container)
{
	struct ktau_query query = { .content = KTAU_REC_PROFILE, .target = KTAU_TARGET_SELF };

	if (pthread_equal(pthread_self(), container->thread))
		return query;
	query.target = KTAU_TARGET_LIST;
	query.tids = &container->tid;
	query.nr_tids = 1;
	return query;
}

static void update_symbol(struct symbol *symbol, const struct ktau_events *events,
			  const struct ktau_rec_profile *p)
{
	const struct ktau_entry *entry;

	if (symbol->id < 0)
		symbol->id = ktau__event_by_addr(events, symbol->addr);
	entry = symbol->id < 0 ? NULL : ktau_profile_find(p, symbol->id);
	if (!entry)
		return;
	symbol->now.count = entry->count;
	if (entry->kind == KTAU_KIND_TIMER) {
		symbol->now.incl = entry->incl;
		symbol->now.excl = entry->excl;
	}
}

static void update_symbols(ktau_ush_ctr *counter, const struct ktau_rec_profile *p)
{
	ktau_ushcont *container = counter->container;
	int i;

	if (!container->serial)
		container->serial = p->serial;
	for (i = 0; container->serial == p->serial && i < counter->nr_symbols; i++)
		update_symbol(&counter->symbols[i], ktau_reader_events(container->reader), p);
}

static int update(ktau_ush_ctr *counter)
{
	struct ktau_reader *reader = counter->container->reader;
	const struct ktau_query query = query_for(counter->container);
	int err = ktau_reader_restart(reader, &query);
	union ktau_record record;

	if (err)
		return err;
	while ((err = ktau_reader_next(reader, &record)) > 0)
		if (record.rec->type == KTAU_REC_PROFILE)
			update_symbols(counter, record.profile);
	return err;
}

static int open_container(ktau_ushcont *container)
{
	const struct ktau_query query = query_for(container);
	int err = ktau_reader_create(&container->reader);

	if (err)
		return err;
	err = ktau_reader_open_live(container->reader, &query);
	if (err)
		ktau_reader_destroy(container->reader);
	return err;
}

/* The original's parameters. NOLINTNEXTLINE(readability-function-size) */
ktau_ushcont *ktau_add_container(int type, int self, pid_t *pid, unsigned int nopids,
				 unsigned int *pflags, unsigned long size)
{
	ktau_ushcont *container;
	int err = -EINVAL;

	(void)pid;
	(void)nopids;
	(void)pflags;
	container = malloc(sizeof(*container));
	if (!container)
		return NULL;
	*container = (ktau_ushcont){
		.thread = pthread_self(),
		.tid = gettid(),
		.generation = generation,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	if (type == KTAU_TYPE_PROFILE && self && size)
		err = open_container(container);
	if (!err)
		return container;
	free(container);
	errno = -err;
	return NULL;
}

/* The original's parameters. NOLINTNEXTLINE(readability-function-size) */
int ktau_del_container(int type, int self, pid_t *pid, unsigned int nopids,
		       unsigned int *pflags, ktau_ushcont *pushcont)
{
	(void)pid;
	(void)nopids;
	(void)pflags;
	if (type != KTAU_TYPE_PROFILE || !self || !pushcont)
		return fail(-EINVAL);
	if (atomic_load(&pushcont->nr_counters))
		return fail(-EBUSY);
	ktau_reader_destroy(pushcont->reader);
	free(pushcont);
	return 0;
}

/* Set the baseline, so that the counter starts at zero. */
static int begin(ktau_ush_ctr *counter)
{
	ktau_ushcont *container = counter->container;
	int i, err;

	pthread_mutex_lock(&container->lock);
	err = container->generation == generation ? update(counter) : -ECHILD;
	for (i = 0; i < counter->nr_symbols; i++)
		counter->symbols[i].base = counter->symbols[i].now;
	if (!err)
		atomic_fetch_add(&container->nr_counters, 1);
	pthread_mutex_unlock(&container->lock);
	return err;
}

int ktau_get_counter(ktau_ushcont *pushcont, const char *name, int no_syms,
		     unsigned long *syms, ktau_ush_ctr **ppctr)
{
	ktau_ush_ctr *counter;
	int i, err;

	(void)name;
	if (!pushcont || no_syms <= 0 || !syms || !ppctr)
		return fail(-EINVAL);
	counter = calloc(1, sizeof(*counter) + sizeof(counter->symbols[0]) * no_syms);
	if (!counter)
		return -1;
	counter->container = pushcont;
	counter->nr_symbols = no_syms;
	for (i = 0; i < no_syms; i++)
		counter->symbols[i] = (struct symbol){ .addr = syms[i], .id = -1 };
	err = begin(counter);
	if (!err) {
		*ppctr = counter;
		return 0;
	}
	free(counter);
	return fail(err);
}

/* Takes no lock: in a forked child, a thread of the parent may have held it at the fork. */
int ktau_put_counter(ktau_ush_ctr *pushctr)
{
	if (!pushctr)
		return fail(-EINVAL);
	atomic_fetch_sub(&pushctr->container->nr_counters, 1);
	free(pushctr);
	return 0;
}

static unsigned long long figure(const struct symbol *symbol, int type)
{
	switch (type) {
	case KTAU_SHCTR_TYPE_EXCL:
		return symbol->now.excl - symbol->base.excl;
	case KTAU_SHCTR_TYPE_INCL:
		return symbol->now.incl - symbol->base.incl;
	default:
		return symbol->now.count - symbol->base.count;
	}
}

int ktau_copy_counter_type(ktau_ush_ctr *pushctr, unsigned long long *data, int no_data,
			   int *ctype)
{
	int i, err;

	if (!pushctr || !data || !ctype || no_data <= 0 || no_data > pushctr->nr_symbols)
		return fail(-EINVAL);
	for (i = 0; i < no_data; i++)
		if (ctype[i] < KTAU_SHCTR_TYPE_EXCL || ctype[i] > KTAU_SHCTR_TYPE_NUM)
			return fail(-EINVAL);
	if (pushctr->container->generation != generation)
		return fail(-ECHILD);
	pthread_mutex_lock(&pushctr->container->lock);
	err = update(pushctr);
	for (i = 0; i < no_data && !err; i++)
		data[i] = figure(&pushctr->symbols[i], ctype[i]);
	pthread_mutex_unlock(&pushctr->container->lock);
	return err ? fail(err) : 0;
}
