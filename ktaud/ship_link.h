/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to a collector: TCP, TLS over TCP, or a Unix socket. It carries lines in both
 * directions and bytes to the collector. Every operation gives up after LINK_SECONDS
 * without progress.
 */
#ifndef KTAUD_SHIP_LINK_H
#define KTAUD_SHIP_LINK_H

#include <stdbool.h>
#include <stddef.h>

#define LINK_SECONDS	10
#define LINK_LINE	256
#define LINK_REASON	256

enum link_kind { LINK_TCP, LINK_TLS, LINK_UNIX };

/**
 * struct link_target - where the collector is
 * @kind: of the connection
 * @host: name or address, for LINK_TCP and LINK_TLS
 * @port: of @host
 * @path: of the socket, for LINK_UNIX
 * @ca: file of the certificates to trust, NULL for the system's; LINK_TLS
 * @cert: file of the own certificate, NULL for none; LINK_TLS
 * @key: file of its key; LINK_TLS
 */
struct link_target {
	enum link_kind kind;
	char host[256];
	char port[16];
	char path[104];
	const char *ca;
	const char *cert;
	const char *key;
};

struct link;

/* "tcp:HOST:PORT", "tls:HOST:PORT", "unix:PATH", HOST in brackets if it has colons. */
bool link_parse(struct link_target *target, const char *text);

/*
 * The functions below return false with @reason set (LINK_REASON bytes) if they failed; the
 * connection is then of no further use.
 */
struct link *link_open(const struct link_target *target, char *reason);
bool link_send(struct link *link, const void *data, size_t bytes, char *reason);
/* A line of the collector, without its end. @line: LINK_LINE bytes. */
bool link_line(struct link *link, char *line, char *reason);

/* False if the collector has closed the connection meanwhile. */
bool link_alive(const struct link *link);
void link_close(struct link *link);

#endif /* KTAUD_SHIP_LINK_H */
