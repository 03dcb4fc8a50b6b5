/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection of ktaud-ship to a NATS server. Every message is a request, and its answer is short.
 *
 * link_nats.c uses libnats. link_plain.c speaks NATS's text protocol without TLS, for static
 * programs: Debian has no static libnats.
 */
#ifndef KTAUD_SHIP_LINK_H
#define KTAUD_SHIP_LINK_H

#include <stdbool.h>
#include <stddef.h>

#define LINK_SERVERS 16
#define LINK_REASON 256
#define LINK_ANSWER 512
#define LINK_SUBJECT 320
#define LINK_MS 5000

/**
 * struct link_target - where to connect, and as whom
 * @text: URLs, to be freed
 * @servers: points into @text
 * @nr: length of @servers
 * @host: name of this host in subjects; answers are received below _I.HOST
 * @tls: encrypt the connection
 * @ca: file with trusted certificates; NULL for those of the system
 * @cert: file with the certificate of this host; NULL for none
 * @key: file with the key of @cert
 */
struct link_target {
	char *text;
	const char *servers[LINK_SERVERS];
	int nr;
	const char *host;
	bool tls;
	const char *ca;
	const char *cert;
	const char *key;
};

/**
 * struct link_message - a request
 * @subject: its subject
 * @file: value of the header "File"; NULL for a message without headers
 * @offset: value of the header "Offset"
 * @data: contents
 * @bytes: length of @data
 */
struct link_message {
	const char *subject;
	const char *file;
	const char *offset;
	const void *data;
	size_t bytes;
};

/**
 * struct link_answer - what came back
 * @status: status of the headers, such as 404; 0 for none
 * @text: the first bytes of the contents, terminated by '\0'
 */
struct link_answer {
	int status;
	char text[LINK_ANSWER];
};

struct link;

/*
 * The functions below return NULL or false with @reason set (LINK_REASON bytes) if they fail; the
 * connection can then no longer be used. They fail after LINK_MS without an answer.
 */
struct link *link_open(const struct link_target *target, char *reason);
bool link_ask(struct link *link, const struct link_message *message, struct link_answer *answer,
	      char *reason);
/* False if the server has closed the connection meanwhile. Call it regularly while it is idle. */
bool link_alive(struct link *link);
/* @link may be NULL. */
void link_close(struct link *link);

#endif /* KTAUD_SHIP_LINK_H */
