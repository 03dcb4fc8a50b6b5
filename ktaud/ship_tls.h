/* SPDX-License-Identifier: GPL-2.0-only */
/* TLS for ship_link.c, using GnuTLS if ktaud-ship is built with it. */
#ifndef KTAUD_SHIP_TLS_H
#define KTAUD_SHIP_TLS_H

#include <stdio.h>
#include <sys/types.h>

#include "ship_target.h"

struct tls;

#ifdef KTAU_HAVE_GNUTLS

/*
 * Do the handshake and verify the collector's certificate. Return: NULL with @reason set on error.
 */
struct tls *tls_start(int fd, const struct link_target *target, char *reason);
/* Return: number of bytes, or -1 with @reason set. */
ssize_t tls_send(struct tls *tls, const void *data, size_t bytes, char *reason);
/* Return: number of bytes; 0 at the end; -1 with @reason set. */
ssize_t tls_receive(struct tls *tls, void *data, size_t bytes, char *reason);
/* @tls may be NULL. The socket stays open. */
void tls_stop(struct tls *tls);

#else

static inline struct tls *tls_start(int fd, const struct link_target *target, char *reason)
{
	(void)fd;
	(void)target;
	snprintf(reason, LINK_REASON, "built without GnuTLS");
	return NULL;
}

static inline ssize_t tls_send(struct tls *tls, const void *data, size_t bytes, char *reason)
{
	(void)tls;
	(void)data;
	(void)bytes;
	(void)reason;
	return -1;
}

static inline ssize_t tls_receive(struct tls *tls, void *data, size_t bytes, char *reason)
{
	return tls_send(tls, data, bytes, reason);
}

static inline void tls_stop(struct tls *tls)
{
	(void)tls;
}

#endif
#endif /* KTAUD_SHIP_TLS_H */
