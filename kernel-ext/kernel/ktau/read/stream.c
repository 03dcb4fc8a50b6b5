// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: what the parts of a stream share: its buffers and its access. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/access.h"
#include "stream.h"

/**
 * ktau_buffer_need() - make sure that a buffer has some size
 * @buffer: the buffer; its contents are lost if it has to grow
 *
 * Context: May sleep.
 * Return: 0, or -ENOMEM with the buffer unchanged.
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
 * ktau_stream_access() - the access that a descriptor gives now
 *
 * Context: Any.
 * Return: KTAU_ACCESS_*: those of the opener, without those that the current level
 * forbids.
 */
u32 ktau_stream_access(const struct ktau_stream *stream)
{
	return stream->allowed &
	       (ktau_access_at(READ_ONCE(ktau_paranoid), stream->privileged) |
		KTAU_ACCESS_ADDRESSES);
}
