/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to a collector: TCP, TLS over TCP, or a Unix socket. It carries lines in both
 * directions, and file contents to the collector. Every operation fails after LINK_SECONDS
 * without progress.
 */
#ifndef KTAUD_SHIP_LINK_H
#define KTAUD_SHIP_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "ship_target.h"

#define LINK_LINE	256

struct link;

/*
 * Parse "tcp:HOST:PORT", "tls:HOST:PORT" or "unix:PATH"; HOST is in brackets if it contains colons.
 */
bool link_parse(struct link_target *target, const char *text);

/*
 * The functions below return false with @reason set (LINK_REASON bytes) if they fail; the
 * connection can then no longer be used.
 */
struct link *link_open(const struct link_target *target, char *reason);
bool link_send(struct link *link, const void *data, size_t bytes, char *reason);
/* Receive a line, without its end. @line has LINK_LINE bytes. */
bool link_line(struct link *link, char *line, char *reason);

/* False if the collector has closed the connection in the meantime. */
bool link_alive(const struct link *link);
void link_close(struct link *link);

#endif /* KTAUD_SHIP_LINK_H */
