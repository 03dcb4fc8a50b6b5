// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of the kernel, from /proc/ktau/events. A stream describes only the events that it
 * contains, but a program has to know an event before it happens.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"

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

/* Return: the id in the line "ID GROUP KIND ADDRESS NAME" if the event has this name, or -1. */
static int match(char *line, const char *name)
{
	enum { ID, GROUP, KIND, ADDRESS, NAME, NR };
	char *field[NR], *end;
	long id;
	int i;

	for (i = 0; i < NR; i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return -1;
	}
	id = strtol(field[ID], &end, 10);
	return end != field[ID] && !*end && is_name(field[NAME], name) ? (int)id : -1;
}

int ktau__event_find(const char *name)
{
	struct lines lines = { .fd = open("/proc/ktau/events", O_RDONLY | O_CLOEXEC) };
	char line[512];
	int err = 0, id = -1;

	if (lines.fd < 0)
		return -errno;
	while (id < 0 && (err = next_line(&lines, line, sizeof(line))) > 0)
		id = match(line, name);
	close(lines.fd);
	return id >= 0 ? id : err ? err : -ENOENT;
}
