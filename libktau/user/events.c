// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of the kernel, from /proc/ktau/events. A stream describes only the events that it
 * contains, but a program has to know an event before it happens. An id keeps its event until the
 * system is booted again, so each name is looked up only once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/ktau_area.h>

#include "figures.h"
#include "ktau_user.h"

struct lines {
	int fd;
	size_t at, have;
	char bytes[4096];
};

/* Take the next line, without what exceeds @room. Returns 1, 0 after the last one, or -errno. */
static int next_line(struct lines *l, char *line, size_t room)
{
	size_t used = 0;
	ssize_t got;
	char c;

	for (;;) {
		if (l->at == l->have) {
			got = read(l->fd, l->bytes, sizeof(l->bytes));
			if (got <= 0)
				return got ? -errno : 0;
			l->at = 0;
			l->have = got;
		}
		c = l->bytes[l->at++];
		if (c == '\n')
			break;
		if (used + 1 < room)
			line[used++] = c;
	}
	line[used] = 0;
	return 1;
}

/* The symbol of a system call may have a prefix like __x64_ or __do_ before sys_NAME. */
static bool is_name(const char *symbol, const char *name)
{
	if (!strcmp(symbol, name))
		return true;
	if (strncmp(symbol, "__", 2) ||
	    (strncmp(name, "sys_", 4) && strncmp(name, "compat_sys_", 11)))
		return false;
	symbol = strchr(symbol + 2, '_');
	return symbol && !strcmp(symbol + 1, name);
}

struct event {
	uint32_t id;
	bool is_counter;
	const char *name;
};

/* Parse "ID GROUP KIND ADDRESS NAME". Return: whether the line has an event. */
static bool parse(char *line, struct event *event)
{
	enum { ID, GROUP, KIND, ADDRESS, NAME, NR };
	char *field[NR], *end;
	int i;

	for (i = 0; i < NR; i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return false;
	}
	event->id = (uint32_t)strtoul(field[ID], &end, 10);
	event->is_counter = !strcmp(field[KIND], "counter");
	event->name = field[NAME];
	return end != field[ID] && !*end;
}

/*
 * Find an event by @name, or by @id if that is NULL. Returns 1, 0 if there is none, or -errno. The
 * name of @event is not kept.
 */
static int find(const char *name, uint32_t id, struct event *event)
{
	struct lines lines = { .fd = open("/proc/ktau/events", O_RDONLY | O_CLOEXEC) };
	bool found = false;
	char line[512];
	int err = 0;

	if (lines.fd < 0)
		return -errno;
	while (!found && (err = next_line(&lines, line, sizeof(line))) > 0)
		found = parse(line, event) &&
			(name ? is_name(event->name, name) : event->id == id);
	close(lines.fd);
	event->name = NULL;
	return found ? 1 : err;
}

/* The kind of an event never changes. */
enum { UNKNOWN, TIMER, COUNTER };
static uint8_t kinds[KTAU_AREA_EVENTS];

static void note_kind(const struct event *event)
{
	if (event->id < KTAU_AREA_EVENTS)
		__atomic_store_n(&kinds[event->id], event->is_counter ? COUNTER : TIMER,
				 __ATOMIC_RELAXED);
}

int ktau__event_find(const char *name)
{
	struct event event;
	int found = find(name, 0, &event);

	if (found <= 0)
		return found ? found : -ENOENT;
	note_kind(&event);
	return (int)event.id;
}

int ktau__event_is_counter(uint32_t id)
{
	const int kind = __atomic_load_n(&kinds[id], __ATOMIC_RELAXED);
	struct event event;
	int found;

	if (kind != UNKNOWN)
		return kind == COUNTER;
	found = find(NULL, id, &event);
	if (found <= 0)
		return found;
	note_kind(&event);
	return event.is_counter;
}

#define MAX_KNOWN	256

/*
 * The events that were found, shared by all threads. @name is set last, with a release; an entry
 * whose name is NULL is being added.
 */
static struct {
	const char *name;
	int id;
} known[MAX_KNOWN];

static uint32_t nr_known;	/* may exceed MAX_KNOWN */

static int find_known(const char *name)
{
	const uint32_t nr = __atomic_load_n(&nr_known, __ATOMIC_RELAXED);
	const char *at;
	uint32_t i;

	for (i = 0; i < nr && i < MAX_KNOWN; i++) {
		at = __atomic_load_n(&known[i].name, __ATOMIC_ACQUIRE);
		if (at && !strcmp(at, name))
			return known[i].id;
	}
	return -ENOENT;
}

/* Two threads may add the same name. */
static void add_known(const char *name, int id)
{
	char *copy;
	uint32_t i;

	if (__atomic_load_n(&nr_known, __ATOMIC_RELAXED) >= MAX_KNOWN)
		return;
	copy = strdup(name);
	i = copy ? __atomic_fetch_add(&nr_known, 1, __ATOMIC_RELAXED) : MAX_KNOWN;
	if (i >= MAX_KNOWN) {
		free(copy);
		return;
	}
	known[i].id = id;
	__atomic_store_n(&known[i].name, copy, __ATOMIC_RELEASE);
}

int ktau_user_event(const char *name)
{
	int id = find_known(name);

	if (id >= 0)
		return id;
	id = ktau__event_find(name);
	if (id >= 0)
		add_known(name, id);
	return id;
}
