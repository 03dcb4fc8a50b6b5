/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a collector is. */
#ifndef KTAUD_SHIP_TARGET_H
#define KTAUD_SHIP_TARGET_H

#define LINK_SECONDS	10
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

#endif /* KTAUD_SHIP_TARGET_H */
