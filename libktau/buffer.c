// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <unistd.h>

#include "buffer.h"

int ktau__buffer_reserve(struct ktau__buffer *buffer, size_t room)
{
	size_t want = buffer->room ? buffer->room : 4096;
	uint8_t *data;

	if (room <= buffer->room)
		return 0;
	while (want < room) {
		if (want > SIZE_MAX / 2)
			return -ENOMEM;
		want *= 2;
	}
	data = realloc(buffer->data, want);
	if (!data)
		return -ENOMEM;
	buffer->data = data;
	buffer->room = want;
	return 0;
}

int ktau__buffer_append(struct ktau__buffer *buffer, const void *data, size_t size)
{
	int err;

	if (!size)
		return 0;
	if (size > SIZE_MAX - buffer->size)
		return -ENOMEM;
	err = ktau__buffer_reserve(buffer, buffer->size + size);
	if (err)
		return err;
	memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
	return 0;
}

void ktau__buffer_free(struct ktau__buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}

int ktau__read_all(int fd, size_t max, struct ktau__buffer *buffer)
{
	ssize_t got;
	int err;

	for (;;) {
		err = ktau__buffer_reserve(buffer, buffer->size + 65536);
		if (err)
			return err;
		got = read(fd, buffer->data + buffer->size, buffer->room - buffer->size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return 0;
		buffer->size += got;
		if (buffer->size > max)
			return -EFBIG;
	}
}
