// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes from a descriptor or from memory, looked at before they are taken. */
#include <unistd.h>

#include "internal.h"

#define READ_BYTES	65536

void ktau__source_fd(struct ktau__source *source, int fd, bool own)
{
	ktau__source_close(source);
	source->fd = fd;
	source->own_fd = own;
}

void ktau__source_memory(struct ktau__source *source, const void *data, size_t size)
{
	ktau__source_close(source);
	source->data = data;
	source->size = size;
	source->eof = true;
}

void ktau__source_close(struct ktau__source *source)
{
	if (source->own_fd)
		close(source->fd);
	ktau__buffer_free(&source->buffer);
	memset(source, 0, sizeof(*source));
	source->fd = -1;
}

/* Forget what was read: the kernel has begun a new stream. */
int ktau__source_rewind(struct ktau__source *source)
{
	if (source->fd < 0)
		return -EINVAL;
	source->buffer.size = 0;
	source->data = NULL;
	source->size = 0;
	source->offset = 0;
	source->eof = false;
	return 0;
}

/* Room is made as bytes arrive, not as a count in the source claims. */
static int fill(struct ktau__source *source)
{
	struct ktau__buffer *buffer = &source->buffer;
	ssize_t got;
	int err;

	if (source->data && source->data != buffer->data)
		memmove(buffer->data, source->data, source->size);
	buffer->size = source->size;
	err = ktau__buffer_reserve(buffer, buffer->size + READ_BYTES);
	source->data = buffer->data;
	if (err)
		return err;
	do
		got = read(source->fd, buffer->data + buffer->size,
			   buffer->room - buffer->size);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	source->eof = !got;
	buffer->size += got;
	source->size = buffer->size;
	return 0;
}

int ktau__source_need(struct ktau__source *source, size_t size)
{
	int err;

	while (source->size < size && !source->eof) {
		err = fill(source);
		if (err)
			return err;
	}
	return 0;
}

void ktau__source_take(struct ktau__source *source, size_t size)
{
	source->data += size;
	source->size -= size;
	source->offset += size;
}
