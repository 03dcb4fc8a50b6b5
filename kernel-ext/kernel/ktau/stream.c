// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: what the parts of a stream need of its descriptor.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "access.h"
#include "stream.h"

/**
 * ktau_buffer_need() - have a buffer of some size
 * @buffer: the buffer; what is in it is lost if it has to grow
 * @bytes: how much is needed
 *
 * Context: May sleep.
 * Return: 0, or -ENOMEM: it is as it was.
 */
int ktau_buffer_need(struct ktau_buffer *buffer, size_t bytes)
{
	void *p;

	if (bytes <= buffer->bytes)
		return 0;
	bytes = PAGE_ALIGN(bytes);
	p = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	kvfree(buffer->p);
	buffer->p = p;
	buffer->bytes = bytes;
	return 0;
}

/**
 * ktau_stream_access() - what a descriptor is good for at present
 * @stream: the descriptor
 *
 * Context: Any.
 * Return: KTAU_ACCESS_*: those of the time when it was opened, less what the level
 * forbids that has been set since.
 */
u32 ktau_stream_access(const struct ktau_stream *stream)
{
	return stream->allowed &
	       (ktau_access_at(READ_ONCE(ktau_paranoid), stream->privileged) |
		KTAU_ACCESS_ADDRESSES);
}
