// SPDX-License-Identifier: LGPL-2.1-or-later
/* The event table: ids and their names, from the kernel's text or from files. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define NAME_MAX_BYTES	255
#define TEXT_MAX_BYTES	(16U << 20)

struct ktau_events {
	struct ktau_event table[KTAU_NR_IDS];	/* name NULL: no event */
	unsigned int count;
	struct ktau__error error;
};

int ktau_events_create(struct ktau_events **events)
{
	*events = calloc(1, sizeof(**events));
	return *events ? 0 : -ENOMEM;
}

void ktau_events_destroy(struct ktau_events *events)
{
	unsigned int id;

	if (!events)
		return;
	for (id = 0; id < KTAU_NR_IDS; id++)
		free((char *)events->table[id].name);
	free(events);
}

static bool good_name(const char *name)
{
	size_t bytes = strlen(name);
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (isspace((unsigned char)name[i]) || iscntrl((unsigned char)name[i]))
			return false;
	}
	return bytes && bytes <= NAME_MAX_BYTES;
}

static bool good_event(const struct ktau_event *event)
{
	return event->id < KTAU_NR_IDS && event->kind <= KTAU_KIND_COUNTER &&
	       event->name && good_name(event->name);
}

int ktau_events_add(struct ktau_events *events, const struct ktau_event *event)
{
	struct ktau_event *slot;
	char *name;

	if (!good_event(event))
		return -EINVAL;
	slot = &events->table[event->id];
	/* Files repeat events: what is the same keeps its place in memory. */
	if (slot->name && !strcmp(slot->name, event->name)) {
		slot->group = event->group;
		slot->kind = event->kind;
		slot->address = event->address;
		return 0;
	}
	name = strdup(event->name);
	if (!name)
		return -ENOMEM;
	events->count += !slot->name;
	free((char *)slot->name);
	*slot = *event;
	slot->name = name;
	return 0;
}

static struct ktau_event event_of(const struct ktau_rec_event *record)
{
	return (struct ktau_event){
		.id = record->id,
		.group = record->group,
		.kind = record->kind,
		.address = record->address,
		.name = ktau_event_name(record),
	};
}

bool ktau__event_record_good(const struct ktau_rec_event *record)
{
	struct ktau_event event = event_of(record);

	return good_event(&event);
}

int ktau__events_record(struct ktau_events *events, const struct ktau_rec_event *record)
{
	struct ktau_event event = event_of(record);

	return ktau_events_add(events, &event);
}

size_t ktau__event_record(const struct ktau_event *event, uint8_t *record)
{
	size_t name_bytes = strlen(event->name) + 1;
	struct ktau_rec_event rec = {
		.rec.type = KTAU_REC_EVENT,
		.rec.head = sizeof(rec),
		.rec.size = sizeof(rec) + ktau__pad8(name_bytes),
		.id = event->id,
		.group = event->group,
		.kind = event->kind,
		.name_bytes = name_bytes,
		.address = event->address,
	};

	if (name_bytes > NAME_MAX_BYTES + 1)
		return 0;
	memset(record, 0, KTAU__EVENT_BYTES);
	memcpy(record, &rec, sizeof(rec));
	memcpy(record + sizeof(rec), event->name, name_bytes);
	return rec.rec.size;
}

/* What is wrong with a line, NULL if nothing. */
static const char *parse_line(char *line, struct ktau_event *event)
{
	static const char *const complaint = "not \"<id> <group> <kind> <address> <name>\"";
	char *field[5], *end, *rest = line;
	unsigned long long number;
	int i;

	for (i = 0; i < 5; i++) {
		field[i] = strtok_r(rest, " \t", &rest);
		if (!field[i])
			return complaint;
	}
	if (strtok_r(rest, " \t", &rest) || !isdigit((unsigned char)*field[0]) ||
	    !isxdigit((unsigned char)*field[3]))
		return complaint;
	errno = 0;
	number = strtoull(field[0], &end, 10);
	if (*end || errno || number >= KTAU_NR_IDS)
		return "event id out of range";
	event->id = number;
	event->address = strtoull(field[3], &end, 16);
	if (*end || errno)
		return "address that is no hexadecimal number";
	event->group = ktau_group_by_name(field[1]);
	if (!strcmp(field[2], "timer"))
		event->kind = KTAU_KIND_TIMER;
	else if (!strcmp(field[2], "counter"))
		event->kind = KTAU_KIND_COUNTER;
	else
		return "kind that is neither timer nor counter";
	event->name = field[4];
	return good_name(field[4]) ? NULL : "impossible name";
}

static int parse(struct ktau_events *events, char *text, const char *path)
{
	struct ktau_event event;
	unsigned int nr = 0;
	const char *why;
	int line, err;
	char *next;

	for (line = 1; *text; line++, text = next) {
		next = text + strcspn(text, "\n");
		why = *next ? NULL : "cut off: no end of line";
		if (*next)
			*next++ = 0;
		if (!why && (*text == '#' || !*text))
			continue;
		if (!why)
			why = parse_line(text, &event);
		if (why)
			return ktau__fail(&events->error, -EINVAL, "%.300s: line %d: %s",
					  path, line, why);
		err = ktau_events_add(events, &event);
		if (err)
			return ktau__fail(&events->error, err, "%.300s: line %d: %s",
					  path, line, strerror(-err));
		nr++;
	}
	return nr;
}

int ktau_events_load(struct ktau_events *events, const char *path)
{
	struct ktau__buffer text = { 0 };
	int err, fd;

	if (!path)
		path = KTAU_PROC "/events";
	events->error.text[0] = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : ktau__read_all(fd, TEXT_MAX_BYTES, &text);
	if (fd >= 0)
		close(fd);
	if (!err)
		err = ktau__buffer_append(&text, "", 1);
	if (err)
		ktau__fail(&events->error, err, "%.300s: %s", path, strerror(-err));
	else if (strlen((char *)text.data) != text.size - 1)
		err = ktau__fail(&events->error, -EINVAL, "%.300s: not a text", path);
	else
		err = parse(events, (char *)text.data, path);
	ktau__buffer_free(&text);
	return err;
}

const struct ktau_event *ktau_events_find(const struct ktau_events *events, uint32_t id)
{
	return id < KTAU_NR_IDS && events->table[id].name ? &events->table[id] : NULL;
}

const struct ktau_event *ktau_events_next(const struct ktau_events *events,
					  const struct ktau_event *event)
{
	const struct ktau_event *end = events->table + KTAU_NR_IDS;

	for (event = event ? event + 1 : events->table; event < end; event++) {
		if (event->name)
			return event;
	}
	return NULL;
}

unsigned int ktau_events_count(const struct ktau_events *events)
{
	return events->count;
}

const char *ktau_events_error(const struct ktau_events *events)
{
	return events->error.text;
}
