// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection to ciod. From the environment:
 *
 *	CIOD_ADDRESS	IPv4 address of the I/O node
 *	CIOD_SERVICE	TCP port of ciod
 *	CIOD_TOKEN	the job's token
 *	CIOD_PREFIX	paths below it are the I/O node's
 *	CIOD_COUNTS	each process writes what it shipped to this path and ".PID"
 *
 * A process connects when it ships its first call. What goes wrong with the
 * connection is EIO for this call and all that follow.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ciod_wire.h"
#include "shim.h"

static struct {
	pthread_mutex_t lock;	/* guards all the rest */
	int fd;
	bool over;
	uint64_t ciod_pid;
	unsigned long counts[CIOD_NR_CALLS];
	unsigned char message[CIOD_MAX_BODY + CIOD_HEAD_BYTES];
} peer = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static int complain(const char *what)
{
	dprintf(STDERR_FILENO, "ciod shim: %s: %s\n", what, strerror(errno));
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

/* The reply's data: what has no room is a reply that nobody asked for. */
static bool receive_data(struct shim_data *data, size_t bytes)
{
	if (data)
		data->bytes = bytes;
	return !bytes || (data && bytes <= data->room && receive(data->to, bytes));
}

/* A request there and its reply back. False if the connection is not to be used any more. */
static bool exchange(size_t bytes, struct shim_data *data, int64_t *result)
{
	unsigned char head[CIOD_REPLY_BYTES];
	uint32_t length, error;

	if (!transmit(peer.message, bytes) || !receive(head, sizeof(head)))
		return false;
	length = ciod_get32(head);
	error = ciod_get32(head + 4);
	*result = (int64_t)ciod_get64(head + 8);
	if (length < sizeof(head) || !receive_data(data, length - sizeof(head)))
		return false;
	if (error) {
		errno = error;
		*result = -1;
	}
	return true;
}

static int dial(void)
{
	const char *address = getenv("CIOD_ADDRESS"), *port = getenv("CIOD_SERVICE");
	struct sockaddr_in to = { .sin_family = AF_INET };
	const int on = 1;
	int fd;

	errno = EDESTADDRREQ;
	if (!address || !port || !inet_aton(address, &to.sin_addr))
		return complain("CIOD_ADDRESS, CIOD_SERVICE");
	to.sin_port = htons(atoi(port));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		complain(address);
		if (fd >= 0)
			syscall(SYS_close, fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
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

static bool greet(void)
{
	const char *token = getenv("CIOD_TOKEN");
	int64_t pid;
	size_t bytes;

	if (!token)
		token = "";
	bytes = encode(CIOD_NR_hello, (uint64_t)CIOD_VERSION, (uint64_t)CIOD_COMPUTE, token,
		       (uint32_t)strlen(token));
	if (!bytes || !exchange(bytes, NULL, &pid) || pid < 0)
		return false;
	peer.ciod_pid = pid;
	return true;
}

static bool linked(void)
{
	if (peer.over)
		return false;
	if (peer.fd >= 0)
		return true;
	peer.fd = dial();
	if (peer.fd >= 0 && greet())
		return true;
	peer.over = true;
	errno = EACCES;
	complain("not accepted by the I/O node");
	return false;
}

int64_t shim_ship(enum ciod_call call, struct shim_data *data, ...)
{
	int64_t result = -1;
	size_t bytes;
	va_list args;

	pthread_mutex_lock(&peer.lock);
	if (linked()) {
		va_start(args, data);
		bytes = ciod_encode(peer.message, sizeof(peer.message), call, args);
		va_end(args);
		if (!bytes) {
			errno = ENAMETOOLONG;
		} else {
			peer.counts[call]++;
			peer.over = !exchange(bytes, data, &result);
		}
	}
	if (peer.over) {
		result = -1;
		errno = EIO;
	}
	pthread_mutex_unlock(&peer.lock);
	return result;
}

void shim_forget_link(void)
{
	if (peer.fd >= 0)
		syscall(SYS_close, peer.fd);
	peer.fd = -1;
	peer.over = false;
	memset(peer.counts, 0, sizeof(peer.counts));
	pthread_mutex_init(&peer.lock, NULL);
}

static void write_counts(void)
{
	const char *prefix = getenv("CIOD_COUNTS");
	char path[4096];
	FILE *f;
	int i;

	if (!prefix)
		return;
	snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid());
	f = fopen(path, "w");
	if (!f) {
		complain(path);
		return;
	}
	fprintf(f, "ciod_pid %llu\n", (unsigned long long)peer.ciod_pid);
	for (i = CIOD_NR_openat; i < CIOD_NR_CALLS; i++) {
		if (peer.counts[i])
			fprintf(f, "%s %lu\n", ciod_name(i), peer.counts[i]);
	}
	if (fclose(f))
		complain(path);
}

void shim_finish(void)
{
	int64_t result;

	pthread_mutex_lock(&peer.lock);
	if (peer.fd >= 0 && !peer.over && exchange(encode(CIOD_NR_bye), NULL, &result))
		write_counts();
	peer.over = true;
	pthread_mutex_unlock(&peer.lock);
}
