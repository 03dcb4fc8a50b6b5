// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the bytes that programs send and receive through sockets.
 *
 * Each datagram is counted, an empty one as 0 bytes. On a stream a result of 0 means end
 * of file or nothing to do, and is not counted. A receive counts the bytes copied,
 * because with MSG_TRUNC the result is the length of the message. Receives with MSG_PEEK,
 * which consume nothing, and with MSG_ERRQUEUE, which return sent data, are not counted.
 */
#include <linux/net.h>
#include <linux/socket.h>

#include "base/types.h"

static bool is_message(const struct socket *sock, size_t bytes)
{
	return bytes || sock->type != SOCK_STREAM;
}

/**
 * __ktau_sock_sent() - count what the current task has sent
 * @result: bytes, or -errno
 *
 * Context: Task or softirq. The current task has the group enabled.
 */
void __ktau_sock_sent(const struct socket *sock, long result)
{
	if (result < 0 || !is_message(sock, result))
		return;
	current->ktau.flags |= KTAU_REF_SENT;
	KTAU_COUNT(SOCKET, sock_send_bytes, result);
}

/* Received messages and splices are the same event. */
static void count_received(size_t bytes)
{
	KTAU_COUNT(SOCKET, sock_recv_bytes, bytes);
}

/**
 * __ktau_sock_received() - count what the current task has received
 * @flags: MSG_* of the call
 * @copied: number of bytes copied
 *
 * Context: As __ktau_sock_sent().
 */
void __ktau_sock_received(const struct socket *sock, int flags, long result,
			  size_t copied)
{
	if (result < 0 || flags & (MSG_PEEK | MSG_ERRQUEUE) ||
	    !is_message(sock, copied))
		return;
	count_received(copied);
}

/**
 * __ktau_sock_spliced() - count what the current task has moved from a socket
 * @result: bytes, or -errno
 *
 * Context: Task. The current task has the group enabled.
 */
void __ktau_sock_spliced(long result)
{
	if (result > 0)
		count_received(result);
}

/**
 * ktau_sock_page_begin() - the current task is about to send a page
 *
 * Some families send a page through sendmsg(), which counts it already.
 *
 * Context: Task.
 */
void ktau_sock_page_begin(void)
{
	current->ktau.flags &= ~KTAU_REF_SENT;
}

/**
 * ktau_sock_page_end() - count the page, unless sendmsg() has done so
 * @result: bytes, or -errno
 *
 * Context: Task.
 */
void ktau_sock_page_end(const struct socket *sock, long result)
{
	if (!(current->ktau.flags & KTAU_REF_SENT))
		__ktau_sock_sent(sock, result);
}
