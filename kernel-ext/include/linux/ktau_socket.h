/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hooks of sockets and of TCP. Included by linux/ktau.h.
 */
#ifndef _LINUX_KTAU_SOCKET_H
#define _LINUX_KTAU_SOCKET_H

/* Bytes that programs send and receive; see kernel/ktau/measure/socket.c. */
void __ktau_sock_sent(const struct socket *sock, long result);
void __ktau_sock_received(const struct socket *sock, int flags, long result,
			  size_t copied);
void __ktau_sock_spliced(long result);
void ktau_sock_page_begin(void);
void ktau_sock_page_end(const struct socket *sock, long result);

#define KTAU_COUNT_SENT(sock, result)					\
	do {								\
		if (KTAU_ON_FOR(current, SOCKET))			\
			__ktau_sock_sent(sock, result);			\
	} while (0)

/* Evaluate @expr, which receives into @msg. */
#define KTAU_RECEIVE(sock, msg, flags, expr)				\
({									\
	const bool __on = KTAU_ON_FOR(current, SOCKET);			\
	struct msghdr *__msg = (msg);					\
	const size_t __room = __on ? msg_data_left(__msg) : 0;		\
	const int __result = (expr);					\
									\
	if (KTAU_ON(SOCKET) && __on)					\
		__ktau_sock_received(sock, flags, __result,		\
				     __room - msg_data_left(__msg));	\
	__result;							\
})

/* Evaluate @expr, which sends a page, itself or through sendmsg(). */
#define KTAU_SEND_PAGE(sock, expr)					\
({									\
	const bool __on = KTAU_ON_FOR(current, SOCKET);			\
	ssize_t __result;						\
									\
	if (__on)							\
		ktau_sock_page_begin();					\
	__result = (expr);						\
	if (KTAU_ON(SOCKET) && __on)					\
		ktau_sock_page_end(sock, __result);			\
	__result;							\
})

/* Evaluate @expr, which moves received data to a pipe. */
#define KTAU_SPLICE_READ(expr)						\
({									\
	const ssize_t __result = (expr);				\
									\
	if (KTAU_ON_FOR(current, SOCKET))				\
		__ktau_sock_spliced(__result);				\
	__result;							\
})

/* Network messages, for the trace. */
void __ktau_net(const struct sock *sk, const struct sk_buff *skb, bool send);

static __always_inline bool ktau_net_traced(void)
{
	return KTAU_ON(TCP) &&
	       (READ_ONCE(current->ktau.mask) &
		(KTAU_GROUP_TCP | KTAU_MODE_TRACE)) ==
	       (KTAU_GROUP_TCP | KTAU_MODE_TRACE);
}

static __always_inline void ktau_net_send(const struct sock *sk,
					  const struct sk_buff *skb)
{
	if (ktau_net_traced())
		__ktau_net(sk, skb, true);
}

static __always_inline void ktau_net_recv(const struct sock *sk,
					  const struct sk_buff *skb)
{
	if (ktau_net_traced())
		__ktau_net(sk, skb, false);
}

#endif /* _LINUX_KTAU_SOCKET_H */
