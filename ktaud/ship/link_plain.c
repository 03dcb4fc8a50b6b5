// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "target.h"

#define BUFFER_BYTES 8192
#define HELLO                                                         \
	"\"verbose\":false,\"pedantic\":false,\"headers\":true,"      \
	"\"no_responders\":true,\"lang\":\"ktau\",\"version\":\"1\"," \
	"\"protocol\":1"

/**
 * struct link - a connection
 * @fd: socket
 * @inbox: prefix of the subjects of answers; random, so that no other host can answer
 * @number: number of the last request
 * @buffer: received bytes
 * @start: first byte of @buffer that has not been used
 * @end: end of the bytes in @buffer
 */
struct link {
	int fd;
	char inbox[TARGET_HOST + 24];
	unsigned int number;
	char buffer[BUFFER_BYTES];
	size_t start;
	size_t end;
};

static bool fail(char *reason, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	vsnprintf(reason, LINK_REASON, text, args);
	va_end(args);
	return false;
}

static bool put(struct link *link, const void *data, size_t bytes, char *reason)
{
	const char *c = data;
	ssize_t sent;

	for (; bytes; c += sent, bytes -= sent) {
		sent = send(link->fd, c, bytes, MSG_NOSIGNAL);
		if (sent <= 0)
			return fail(reason, "%s", strerror(errno == EAGAIN ? ETIMEDOUT : errno));
	}
	return true;
}

static bool receive(struct link *link, char *reason)
{
	ssize_t got;

	memmove(link->buffer, link->buffer + link->start, link->end - link->start);
	link->end -= link->start;
	link->start = 0;
	if (link->end == sizeof(link->buffer))
		return fail(reason, "the server does not speak NATS");
	got = recv(link->fd, link->buffer + link->end, sizeof(link->buffer) - link->end, 0);
	if (!got)
		return fail(reason, "the server has closed the connection");
	if (got < 0)
		return fail(reason, "%s", strerror(errno == EAGAIN ? ETIMEDOUT : errno));
	link->end += got;
	return true;
}

/* A line without its end, valid until more is received. */
static char *line(struct link *link, char *reason)
{
	char *found, *first;

	while (!(found = memmem(link->buffer + link->start, link->end - link->start, "\r\n", 2)))
		if (!receive(link, reason))
			return NULL;
	*found = '\0';
	first = link->buffer + link->start;
	link->start = found + 2 - link->buffer;
	return first;
}

/* Copy the next @bytes bytes into a text, as many as fit. */
static bool take(struct link *link, size_t bytes, char *text, char *reason)
{
	size_t some, room = LINK_ANSWER - 1;

	for (; bytes; bytes -= some) {
		if (link->start == link->end && !receive(link, reason))
			return false;
		some = link->end - link->start < bytes ? link->end - link->start : bytes;
		memcpy(text, link->buffer + link->start, some < room ? some : room);
		text += some < room ? some : room;
		room -= some < room ? some : room;
		link->start += some;
	}
	*text = '\0';
	return true;
}

/* A message "MSG subject sid bytes" or "HMSG subject sid headers bytes". */
static bool message(struct link *link, char *head, bool *ours, struct link_answer *answer,
		    char *reason)
{
	size_t headers = 0, bytes = 0, number = 0;
	char wanted[sizeof(link->inbox) + 16], subject[LINK_SUBJECT], end[LINK_ANSWER];
	char status[LINK_ANSWER];

	snprintf(wanted, sizeof(wanted), "%s.%u", link->inbox, link->number);
	if (*head == 'H')
		number = sscanf(head, "HMSG %319s %*s %zu %zu", subject, &headers, &bytes) == 3;
	else
		number = sscanf(head, "MSG %319s %*s %zu", subject, &bytes) == 2;
	if (!number || headers > bytes)
		return fail(reason, "the server does not speak NATS");
	*ours = !strcmp(subject, wanted);
	*answer = (struct link_answer){ .status = 0 };
	if (!take(link, headers, status, reason) ||
	    !take(link, bytes - headers, answer->text, reason) || !take(link, 2, end, reason))
		return false;
	if (headers && sscanf(status, "NATS/1.0 %d", &answer->status) != 1)
		answer->status = 0;
	return true;
}

/* Wait for @wanted, or with an answer for a message to us. */
static bool await(struct link *link, const char *wanted, struct link_answer *answer, char *reason)
{
	bool ours = false;
	char *head;

	while (!ours) {
		head = line(link, reason);
		if (!head)
			return false;
		if (!strncmp(head, "-ERR", 4))
			return fail(reason, "%.200s", head);
		if (!strcmp(head, "PING") && !put(link, "PONG\r\n", 6, reason))
			return false;
		if (wanted && !strncmp(head, wanted, strlen(wanted)))
			return strcmp(wanted, "INFO") || !strstr(head, "\"tls_required\":true") ||
			       fail(reason, "the server requires TLS: built without libnats");
		if (answer && strstr(head, "MSG ") && !message(link, head, &ours, answer, reason))
			return false;
	}
	return true;
}

static int dial(const char *host, const char *port, char *reason)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *at;
	const struct timeval patience = { .tv_sec = LINK_MS / 1000 };
	int fd = -1, err = getaddrinfo(host, port, &hints, &list);

	if (err) {
		fail(reason, "%.100s: %s", host, gai_strerror(err));
		return -1;
	}
	for (at = list; at && fd < 0; at = at->ai_next) {
		fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (connect(fd, at->ai_addr, at->ai_addrlen)) {
			fail(reason, "%s", strerror(errno == EINPROGRESS ? ETIMEDOUT : errno));
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	return fd;
}

/* "nats://USER:PASSWORD@HOST:PORT", all but HOST optional; @url is changed. */
static bool greet(struct link *link, char *url, char *reason)
{
	char *host = url + strlen("nats://"), *at = strrchr(host, '@'), *port, *password = NULL;
	char text[1024];
	int length;

	if (at) {
		*at = '\0';
		password = strchr(host, ':');
		if (password)
			*password++ = '\0';
		url = host;
		host = at + 1;
	}
	port = strchr(host, ':');
	if (port)
		*port++ = '\0';
	link->fd = dial(host, port ? port : "4222", reason);
	length = snprintf(text, sizeof(text),
			  "CONNECT {" HELLO "%s%s%s%s%s}\r\nSUB %s.* 1\r\nPING\r\n",
			  at ? ",\"user\":\"" : "", at ? url : "", password ? "\",\"pass\":\"" : "",
			  password ? password : "", at ? "\"" : "", link->inbox);
	if (link->fd < 0 || length >= (int)sizeof(text))
		return false;
	return await(link, "INFO", NULL, reason) && put(link, text, length, reason) &&
	       await(link, "PONG", NULL, reason);
}

static bool name_inbox(struct link *link, const char *host)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return false;
	snprintf(link->inbox, sizeof(link->inbox), "_I.%s.%016" PRIx64, host, number);
	return true;
}

struct link *link_open(const struct link_target *target, char *reason)
{
	static unsigned int next;
	struct link *link;
	int i;

	if (target->tls) {
		fail(reason, "TLS: built without libnats");
		return NULL;
	}
	for (i = 0; i < target->nr; i++) {
		char *url = strdup(target->servers[next++ % target->nr]);
		bool good;

		link = calloc(1, sizeof(*link));
		if (!url || !link) {
			free(url);
			free(link);
			fail(reason, "out of memory");
			return NULL;
		}
		link->fd = -1;
		good = name_inbox(link, target->host) ? greet(link, url, reason) :
							fail(reason, "%s", strerror(errno));
		free(url);
		if (good)
			return link;
		link_close(link);
	}
	return NULL;
}

bool link_ask(struct link *link, const struct link_message *sent, struct link_answer *answer,
	      char *reason)
{
	char headers[LINK_SUBJECT] = "", head[2 * LINK_SUBJECT];
	size_t bytes = 0;
	int length;

	if (sent->file)
		bytes = snprintf(headers, sizeof(headers),
				 "NATS/1.0\r\nFile: %s\r\nOffset: %s\r\n\r\n", sent->file,
				 sent->offset);
	length = snprintf(head, sizeof(head), "%s %s %s.%u ", bytes ? "HPUB" : "PUB", sent->subject,
			  link->inbox, ++link->number);
	if (bytes)
		length += snprintf(head + length, sizeof(head) - length, "%zu ", bytes);
	length += snprintf(head + length, sizeof(head) - length, "%zu\r\n%s", bytes + sent->bytes,
			   headers);
	return put(link, head, length, reason) && put(link, sent->data, sent->bytes, reason) &&
	       put(link, "\r\n", 2, reason) && await(link, NULL, answer, reason);
}

/* Between requests a server sends only PING and INFO. */
bool link_alive(struct link *link)
{
	struct pollfd polled = { .fd = link->fd, .events = POLLIN };
	char reason[LINK_REASON], *head;

	while (link->start < link->end || poll(&polled, 1, 0) > 0) {
		head = line(link, reason);
		if (!head || !strncmp(head, "-ERR", 4) ||
		    (!strcmp(head, "PING") && !put(link, "PONG\r\n", 6, reason)))
			return false;
	}
	return true;
}

void link_close(struct link *link)
{
	if (link && link->fd >= 0)
		close(link->fd);
	free(link);
}
