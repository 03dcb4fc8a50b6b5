// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The trace of a thread: when it was in which region, and the events that the program has
 * noted. It is a ring of slots in a mapped file, so it survives the process. KTAU_USER_TRACE
 * sets the number of slots; without it there is no trace.
 *
 * A slot has the region that the thread is in now, which implies all regions around it, and not
 * what was entered or left. No slot is therefore needed to understand a later one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ticks.h"
#include "trace_format.h"
#include "user.h"

/*
 * @nr_slots: as in the header, which other processes of the user can change
 * @point, @name: the points of the events and their names; an event's number is its index here
 */
struct ktau__trace {
	struct ktau__trace_header *header;
	struct ktau__trace_slot *slots;
	uint32_t nr_slots;
	uint32_t nr_events;
	uint32_t point[KTAU__TRACE_EVENTS];
	char *name[KTAU__TRACE_EVENTS];
};

static uint32_t wanted_slots(void)
{
	const char *text = secure_getenv("KTAU_USER_TRACE");
	unsigned long wanted = text ? strtoul(text, NULL, 10) : 0;
	uint32_t nr = KTAU__TRACE_MIN_SLOTS;

	if (!wanted || !KTAU__HAVE_TICKS)
		return 0;
	while (nr < wanted && nr < KTAU__TRACE_MAX_SLOTS)
		nr *= 2;
	return nr;
}

static size_t bytes_of(uint32_t nr_slots)
{
	return sizeof(struct ktau__trace_header) + nr_slots * sizeof(struct ktau__trace_slot);
}

/* Allocates disk space first: on a full disk, writing to the mapping would raise SIGBUS. */
static struct ktau__trace_header *map_file(size_t bytes, void *at)
{
	void *map = MAP_FAILED;
	int fd;

	if (!ktau__may_write(bytes))
		return NULL;
	fd = ktau__file_open(KTAU__TRACE_PREFIX, O_RDWR);
	if (fd < 0)
		return NULL;
	if (!posix_fallocate(fd, 0, (off_t)bytes))
		map = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0),
			   fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void write_header(const struct ktau__user *u, struct ktau__trace *t)
{
	char boot[37];

	t->header->serial = u->serial;
	t->header->nr_slots = t->nr_slots;
	ktau__read_boot_id(boot);
	memcpy(t->header->boot, boot, sizeof(t->header->boot));
	t->header->magic = KTAU__TRACE_MAGIC;
}

void ktau__trace_open(struct ktau__user *u)
{
	const uint32_t nr = wanted_slots();
	struct ktau__trace *t;

	if (!nr)
		return;
	t = calloc(1, sizeof(*t));
	if (!t)
		return;
	t->header = map_file(bytes_of(nr), NULL);
	if (!t->header) {
		free(t);
		return;
	}
	t->slots = (struct ktau__trace_slot *)(t->header + 1);
	t->nr_slots = nr;
	write_header(u, t);
	u->trace = t;
	u->flags |= KTAU__TRACED;
}

void ktau__trace_renew(struct ktau__user *u)
{
	struct ktau__trace *t = u->trace;
	uint32_t i;

	if (!t)
		return;
	/* The interrupted code may be using the trace, so without a file it goes nowhere. */
	if (u->status || !map_file(bytes_of(t->nr_slots), t->header)) {
		ktau__map_zeros(t->header, bytes_of(t->nr_slots), MAP_FIXED);
		return;
	}
	write_header(u, t);
	for (i = 0; i < t->nr_events; i++)
		ktau__names_event(u, i, t->name[i]);
}

void ktau__trace_close(struct ktau__user *u)
{
	struct ktau__trace *t = u->trace;
	uint32_t i;

	if (!t)
		return;
	u->flags &= ~KTAU__TRACED;
	u->trace = NULL;
	munmap(t->header, bytes_of(t->nr_slots));
	for (i = 0; i < t->nr_events; i++)
		free(t->name[i]);
	free(t);
}

/*
 * The slot is complete before it is counted, for readers and if the process is killed. A child
 * that is forked meanwhile counts as many slots as its parent. Those that it has not written have
 * no type, and readers skip them.
 */
static void put(struct ktau__trace *t, const struct ktau__trace_slot *slot)
{
	const uint64_t nr = t->header->written;

	t->slots[nr & (t->nr_slots - 1)] = *slot;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile uint64_t *)&t->header->written = nr + 1;
}

void ktau__trace_region(struct ktau__user *u, uint32_t region)
{
	if (u->trace)
		put(u->trace, &(struct ktau__trace_slot){ .ticks = ktau__ticks(),
							  .type = KTAU__TRACE_REGION,
							  .number = (uint16_t)region });
}

/* Return: the number of the event, or KTAU__TRACE_EVENTS if there is no room for it. */
static uint32_t find_event(struct ktau__user *u, uint32_t point, const char *name, bool *is_new)
{
	struct ktau__trace *t = u->trace;
	uint32_t i;

	for (i = 0; i < t->nr_events; i++)
		if (t->point[i] == point)
			return i;
	if (i == KTAU__TRACE_EVENTS)
		return i;
	t->name[i] = strdup(name);
	if (!t->name[i])
		return KTAU__TRACE_EVENTS;
	ktau__hide_controls(t->name[i]);
	t->point[i] = point;
	t->nr_events++;
	*is_new = true;
	return i;
}

/* Write the name of an event. What the library does in the kernel for that is in no region. */
static void name_event(struct ktau__user *u, uint32_t number)
{
	const uint32_t region = *u->word;
	const int err = errno;

	*u->word = 0;
	ktau__trace_region(u, region + KTAU__TRACE_OWN);
	ktau__names_event(u, number, u->trace->name[number]);
	ktau__trace_region(u, region);
	*u->word = region;
	errno = err;
}

void ktau__trace_event(struct ktau__user *u, uint32_t point, const char *name,
		       struct ktau__trace_slot *slot)
{
	bool is_new = false;
	uint32_t number;

	if (u->flags & KTAU__BUSY) {
		u->refused++;
		return;
	}
	u->flags |= KTAU__BUSY;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	number = find_event(u, point, name, &is_new);
	if (number < KTAU__TRACE_EVENTS) {
		slot->number = (uint16_t)number;
		slot->ticks = ktau__ticks();
		put(u->trace, slot);
	} else {
		u->refused++;
	}
	if (is_new)
		name_event(u, number);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	u->flags &= ~KTAU__BUSY;
}
