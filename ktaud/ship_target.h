/* SPDX-License-Identifier: GPL-2.0-only */
/* Address of a collector. */
#ifndef KTAUD_SHIP_TARGET_H
#define KTAUD_SHIP_TARGET_H

#define LINK_SECONDS	10
#define LINK_REASON	256

enum link_kind { LINK_TCP, LINK_TLS, LINK_UNIX };

/**
 * struct link_target - address of a collector
 * @kind: kind of the connection
 * @host: name or address, for LINK_TCP and LINK_TLS
 * @port: port on @host
 * @path: path of the socket, for LINK_UNIX
 * @ca: file with trusted certificates; NULL for those of the system; LINK_TLS
 * @cert: file with the client certificate; NULL for none; LINK_TLS
 * @key: file with the key of @cert; LINK_TLS
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
