/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes from a descriptor or from memory, which can be examined before they are consumed. */
#ifndef KTAU_INTERNAL_SOURCE_H
#define KTAU_INTERNAL_SOURCE_H

#include <sys/types.h>

#include "buffer.h"

struct ktau__source {
	int fd;			/* -1: memory */
	bool own_fd;
	bool eof;
	uint64_t offset;	/* of @data in the source */
	const uint8_t *data;	/* what has been read and not yet taken ... */
	size_t size;		/* ... and its size */
	struct ktau__buffer buffer;
};

void ktau__source_fd(struct ktau__source *source, int fd, bool own);
void ktau__source_memory(struct ktau__source *source, const void *data, size_t size);
void ktau__source_close(struct ktau__source *source);

/* Forget what was read, because the kernel starts a new stream. 0, -EINVAL. */
int ktau__source_rewind(struct ktau__source *source);

/* Continue at @offset; -ESPIPE for a pipe. */
int ktau__source_seek(struct ktau__source *source, uint64_t offset);

/*
 * Copy up to @size bytes from @offset without moving. Returns how many were copied,
 * -ESPIPE for a pipe, -errno.
 */
ssize_t ktau__source_peek(const struct ktau__source *source, uint64_t offset, void *data,
			  size_t size);

/* Read until source->data has @size bytes; source->size is smaller only at the end. */
int ktau__source_need(struct ktau__source *source, size_t size);

/* Consume @size bytes of source->data. */
void ktau__source_take(struct ktau__source *source, size_t size);

#endif /* KTAU_INTERNAL_SOURCE_H */
