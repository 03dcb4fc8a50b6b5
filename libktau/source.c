// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes from a descriptor or from memory, which are examined before they are consumed. */
#include <unistd.h>

#include "source.h"

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

/* Forget what was read: the kernel has started a new stream. */
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

int ktau__source_seek(struct ktau__source *source, uint64_t offset)
{
	if (source->fd < 0) {
		/* Everything is in memory, so @data can move in both directions. */
		source->data += (int64_t)(offset - source->offset);
		source->size -= offset - source->offset;
		source->offset = offset;
		return 0;
	}
	if (lseek(source->fd, offset, SEEK_SET) < 0)
		return -errno;
	source->buffer.size = 0;
	source->data = NULL;
	source->size = 0;
	source->offset = offset;
	source->eof = false;
	return 0;
}

ssize_t ktau__source_peek(const struct ktau__source *source, uint64_t offset, void *data,
			  size_t size)
{
	uint64_t end = source->offset + source->size;
	ssize_t got;

	if (source->fd < 0) {
		size = offset < end ? ktau__min(size, end - offset) : 0;
		if (size)
			memcpy(data, source->data + (int64_t)(offset - source->offset), size);
		return size;
	}
	do
		got = pread(source->fd, data, size, offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Memory is allocated as bytes arrive, not by a count that the source claims. */
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
