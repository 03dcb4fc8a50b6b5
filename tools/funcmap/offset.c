// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "offset.h"

static void end_line(struct offset_scan *scan)
{
	uint64_t offset, from;
	const char *at;

	scan->line[scan->nr] = 0;
	at = memmem(scan->line, scan->nr, "Kernel Offset: 0x", 17);
	scan->nr = 0;
	if (!at || sscanf(at, "Kernel Offset: 0x%" SCNx64 " from 0x%" SCNx64, &offset, &from) != 2)
		return;
	if (!scan->found)
		scan->text = from + offset;
	scan->several |= scan->text != from + offset;
	scan->found = true;
}

void offset_feed(struct offset_scan *scan, const char *bytes, size_t nr)
{
	size_t room, part;
	const char *end;

	for (; nr; bytes += part, nr -= part) {
		end = memchr(bytes, '\n', nr);
		part = end ? (size_t)(end - bytes) + 1 : nr;
		room = sizeof(scan->line) - 1 - scan->nr;
		memcpy(scan->line + scan->nr, bytes, part < room ? part : room);
		scan->nr += part < room ? part : room;
		if (end)
			end_line(scan);
	}
}

int offset_read(struct offset_scan *scan, int fd, int64_t at)
{
	char bytes[65536];
	ssize_t n;

	do {
		n = pread(fd, bytes, sizeof(bytes), at);
		if (n > 0) {
			offset_feed(scan, bytes, (size_t)n);
			at += n;
		}
	} while (n > 0 || (n < 0 && errno == EINTR));
	offset_feed(scan, "\n", 1);
	return n < 0 ? -errno : 0;
}
