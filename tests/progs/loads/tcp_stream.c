// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_stream server PORT BYTES | client PORT BYTES
 *
 * One connection over loopback that carries exactly BYTES from the client to the
 * server. The server prints "listening" once it listens; both print the number of bytes
 * moved, which the kernel's counts must equal.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK_BYTES 65536

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "tcp_stream: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned long long number(const char *text, unsigned long long max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || end == text || !value || value > max) {
		fprintf(stderr, "tcp_stream: %s: not a number from 1 to %llu\n", text, max);
		exit(2);
	}
	return value;
}

static struct sockaddr_in loopback(unsigned short port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	return address;
}

static unsigned long long serve(unsigned short port, unsigned long long bytes)
{
	struct sockaddr_in address = loopback(port);
	static char buffer[CHUNK_BYTES];
	unsigned long long moved = 0;
	int one = 1, listener, fd;
	ssize_t n;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0)
		die("socket");
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)))
		die("bind");
	if (listen(listener, 1))
		die("listen");
	puts("listening");
	fflush(stdout);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accept");
	while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		moved += (unsigned long long)n;
	if (n < 0)
		die("recv");
	close(fd);
	close(listener);
	if (moved != bytes) {
		fprintf(stderr, "tcp_stream: received %llu bytes, not %llu\n", moved, bytes);
		exit(1);
	}
	return moved;
}

static unsigned long long stream(unsigned short port, unsigned long long bytes)
{
	struct sockaddr_in address = loopback(port);
	static char buffer[CHUNK_BYTES];
	unsigned long long left = bytes;
	size_t size;
	ssize_t n;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	while (left) {
		size = left < sizeof(buffer) ? (size_t)left : sizeof(buffer);
		n = send(fd, buffer, size, 0);
		if (n < 0)
			die("send");
		left -= (unsigned long long)n;
	}
	if (close(fd))
		die("close");
	return bytes;
}

int main(int argc, char **argv)
{
	unsigned long long bytes, moved;
	unsigned short port;
	int server;

	if (argc != 4 || (strcmp(argv[1], "server") && strcmp(argv[1], "client"))) {
		fputs("usage: tcp_stream server|client PORT BYTES\n", stderr);
		return 2;
	}
	server = !strcmp(argv[1], "server");
	port = (unsigned short)number(argv[2], 65535);
	bytes = number(argv[3], 1ULL << 50);
	moved = server ? serve(port, bytes) : stream(port, bytes);
	printf("%s %llu\n", server ? "received" : "sent", moved);
	return 0;
}
