// SPDX-License-Identifier: GPL-2.0-only
/* The connection to ciod. Once it is lost, every call that would be shipped fails with EIO. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ciod/wire.h"
#include "cnk/link.h"

static struct {
	int fd;
	bool lost;
	uint64_t ciod_pid;
	unsigned long counts[CIOD_NR_CALLS];
	unsigned char message[CIOD_MAX_BODY + CIOD_HEAD_BYTES];
} peer = { .fd = -1 };

static int complain(const char *what)
{
	fprintf(stderr, "cnk: %s: %s\n", what, strerror(errno));
	return -1;
}

static bool transmit(const unsigned char *from, size_t bytes)
{
	ssize_t sent;

	for (; bytes; from += sent, bytes -= sent) {
		sent = send(peer.fd, from, bytes, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			sent = 0;
		else if (sent < 0)
			return false;
	}
	return true;
}

static bool receive(unsigned char *to, size_t bytes)
{
	ssize_t got;

	for (; bytes; to += got, bytes -= got) {
		got = recv(peer.fd, to, bytes, MSG_WAITALL);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			return false;
	}
	return true;
}

/* A reply with more data than there is room for cannot be a reply to this call. */
static bool receive_data(struct cnk_data *data, size_t bytes)
{
	if (data)
		data->bytes = bytes;
	return !bytes || (data && bytes <= data->room && receive(data->to, bytes));
}

/* Send a request and receive its reply. Return: false if the connection is no longer usable. */
static bool exchange(size_t bytes, struct cnk_data *data, int64_t *result)
{
	unsigned char head[CIOD_REPLY_BYTES];
	uint32_t length, error;

	if (!transmit(peer.message, bytes) || !receive(head, sizeof(head)))
		return false;
	length = ciod_get32(head);
	error = ciod_get32(head + 4);
	*result = error ? -(int64_t)error : (int64_t)ciod_get64(head + 8);
	return length >= sizeof(head) && receive_data(data, length - sizeof(head));
}

static size_t encode(enum ciod_call call, ...)
{
	size_t bytes;
	va_list args;

	va_start(args, call);
	bytes = ciod_encode(peer.message, sizeof(peer.message), call, args);
	va_end(args);
	return bytes;
}

static int dial(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	const int on = 1;
	int fd;

	errno = EINVAL;
	if (!inet_aton(address, &to.sin_addr))
		return complain(address);
	to.sin_port = htons(atoi(port));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		complain(address);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

int cnk_connect(const char *address, const char *port, const char *token)
{
	int64_t pid;
	size_t bytes;

	peer.fd = dial(address, port);
	if (peer.fd < 0)
		return -1;
	bytes = encode(CIOD_NR_hello, (uint64_t)CIOD_VERSION, (uint64_t)CIOD_COMPUTE, token,
		       (uint32_t)strlen(token));
	if (!bytes || !exchange(bytes, NULL, &pid) || pid < 0) {
		fprintf(stderr, "cnk: the I/O node has rejected this node\n");
		return -1;
	}
	peer.ciod_pid = pid;
	return 0;
}

int64_t cnk_ship(enum ciod_call call, struct cnk_data *data, ...)
{
	int64_t result;
	size_t bytes;
	va_list args;

	if (peer.lost)
		return -EIO;
	va_start(args, data);
	bytes = ciod_encode(peer.message, sizeof(peer.message), call, args);
	va_end(args);
	if (!bytes)
		return -ENAMETOOLONG;
	peer.counts[call]++;
	if (exchange(bytes, data, &result))
		return result;
	peer.lost = true;
	fprintf(stderr, "cnk: the connection to the I/O node is lost\n");
	return -EIO;
}

/* Do not follow symbolic links, and create the file so that no other user can change it. */
static int write_counts(const char *prefix)
{
	char path[4096];
	FILE *f = NULL;
	int fd, i;

	snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f)
		return complain(path);
	fprintf(f, "ciod_pid %llu\n", (unsigned long long)peer.ciod_pid);
	for (i = CIOD_NR_openat; i < CIOD_NR_CALLS; i++) {
		if (peer.counts[i])
			fprintf(f, "%s %lu\n", ciod_name(i), peer.counts[i]);
	}
	return fclose(f) ? complain(path) : 0;
}

int cnk_disconnect(const char *path)
{
	int64_t result;

	if (peer.lost || !exchange(encode(CIOD_NR_bye), NULL, &result))
		return -1;
	return path ? write_counts(path) : 0;
}
