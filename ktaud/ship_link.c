// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ship_link.h"
#include "ship_tls.h"

/**
 * struct link - a connection
 * @fd: socket
 * @tls: TLS session; NULL without TLS
 * @line: received bytes that are not a complete line yet
 * @used: length of @line
 */
struct link {
	int fd;
	struct tls *tls;
	char line[LINK_LINE];
	size_t used;
};

static void set_reason(char *reason, const char *text)
{
	snprintf(reason, LINK_REASON, "%s", text);
}

bool link_parse(struct link_target *target, const char *text)
{
	const char *host, *colon;
	size_t length;

	if (!strncmp(text, "unix:", 5)) {
		target->kind = LINK_UNIX;
		return text[5] && snprintf(target->path, sizeof(target->path), "%s", text + 5) <
					  (int)sizeof(target->path);
	}
	if (strncmp(text, "tcp:", 4) && strncmp(text, "tls:", 4))
		return false;
	target->kind = text[1] == 'c' ? LINK_TCP : LINK_TLS;
	host = text + 4;
	colon = strrchr(host, ':');
	if (!colon || colon == host || !colon[1] || strlen(colon + 1) >= sizeof(target->port))
		return false;
	strcpy(target->port, colon + 1);
	length = colon - host;
	if (*host == '[' && colon[-1] == ']') {
		host++;
		length -= 2;
	}
	if (!length || length >= sizeof(target->host))
		return false;
	memcpy(target->host, host, length);
	target->host[length] = '\0';
	return true;
}

/* Return: 0, or a positive errno. */
static int connect_in_time(int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct pollfd polled = { .fd = fd, .events = POLLOUT };
	int err = 0, ready;
	socklen_t size = sizeof(err);

	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (connect(fd, address, bytes)) {
		if (errno != EINPROGRESS)
			return errno;
		ready = poll(&polled, 1, LINK_SECONDS * 1000);
		if (ready <= 0)
			return ready ? errno : ETIMEDOUT;
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size);
	}
	fcntl(fd, F_SETFL, 0);
	return err;
}

/* Return: a connected socket, or -errno. */
static int try_address(int family, const void *address, socklen_t bytes)
{
	const struct timeval limit = { .tv_sec = LINK_SECONDS };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = connect_in_time(fd, address, bytes);
	if (err) {
		close(fd);
		return -err;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

static int connect_unix(const struct link_target *target, char *reason)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	strcpy(address.sun_path, target->path);
	fd = try_address(AF_UNIX, &address, sizeof(address));
	if (fd < 0)
		set_reason(reason, strerror(-fd));
	return fd;
}

static int connect_tcp(const struct link_target *target, char *reason)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found, *one;
	int err, fd = -EHOSTUNREACH;

	err = getaddrinfo(target->host, target->port, &hints, &found);
	if (err) {
		set_reason(reason, gai_strerror(err));
		return -EHOSTUNREACH;
	}
	for (one = found; one && fd < 0; one = one->ai_next)
		fd = try_address(one->ai_family, one->ai_addr, one->ai_addrlen);
	freeaddrinfo(found);
	if (fd < 0)
		set_reason(reason, strerror(-fd));
	return fd;
}

struct link *link_open(const struct link_target *target, char *reason)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link) {
		set_reason(reason, strerror(ENOMEM));
		return NULL;
	}
	link->fd = target->kind == LINK_UNIX ? connect_unix(target, reason) :
					       connect_tcp(target, reason);
	if (link->fd >= 0 && target->kind == LINK_TLS) {
		link->tls = tls_start(link->fd, target, reason);
		if (!link->tls) {
			close(link->fd);
			link->fd = -1;
		}
	}
	if (link->fd >= 0)
		return link;
	free(link);
	return NULL;
}

bool link_send(struct link *link, const void *data, size_t bytes, char *reason)
{
	const char *from = data;
	ssize_t sent;

	while (bytes) {
		if (link->tls)
			sent = tls_send(link->tls, from, bytes, reason);
		else
			sent = send(link->fd, from, bytes, MSG_NOSIGNAL);
		if (sent < 0 && !link->tls && errno == EINTR)
			continue;
		if (sent < 0 && !link->tls)
			set_reason(reason, strerror(errno == EAGAIN ? ETIMEDOUT : errno));
		if (sent < 0)
			return false;
		from += sent;
		bytes -= sent;
	}
	return true;
}

/* Receive more bytes of a line. Return: false with @reason set if there are none. */
static bool receive(struct link *link, char *reason)
{
	char *to = link->line + link->used;
	size_t room = sizeof(link->line) - link->used;
	ssize_t got;

	do {
		if (link->tls)
			got = tls_receive(link->tls, to, room, reason);
		else
			got = recv(link->fd, to, room, 0);
	} while (got < 0 && !link->tls && errno == EINTR);
	if (got < 0 && !link->tls)
		set_reason(reason, strerror(errno == EAGAIN ? ETIMEDOUT : errno));
	if (!got)
		set_reason(reason, "the collector has closed the connection");
	if (got <= 0)
		return false;
	link->used += got;
	return true;
}

bool link_line(struct link *link, char *line, char *reason)
{
	char *end;

	while (!(end = memchr(link->line, '\n', link->used))) {
		if (link->used == sizeof(link->line)) {
			set_reason(reason, "the collector does not speak this protocol");
			return false;
		}
		if (!receive(link, reason))
			return false;
	}
	memcpy(line, link->line, end - link->line);
	line[end - link->line] = '\0';
	link->used -= end + 1 - link->line;
	memmove(link->line, end + 1, link->used);
	return true;
}

bool link_alive(const struct link *link)
{
	struct pollfd polled = { .fd = link->fd, .events = POLLIN | POLLRDHUP };

	/*
	 * The collector only answers requests, so unexpected input means that it has
	 * disconnected.
	 */
	return poll(&polled, 1, 0) == 0;
}

void link_close(struct link *link)
{
	if (!link)
		return;
	tls_stop(link->tls);
	close(link->fd);
	free(link);
}
