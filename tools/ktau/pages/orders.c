// SPDX-License-Identifier: GPL-2.0-only
/* Orders to a program that records: a letter, and a line of text as the answer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/cli.h"
#include "orders.h"

/* The address of the socket for @path. Return: 0, or -1 with a message. */
static int make_address(struct sockaddr_un *address, const char *path)
{
	int n;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	n = snprintf(address->sun_path, sizeof(address->sun_path), "%s.socket", path);
	if (n > 0 && (size_t)n < sizeof(address->sun_path))
		return 0;
	complain("%s: the path is too long for a socket", path);
	return -1;
}

int orders_open(const char *path)
{
	struct sockaddr_un address;
	mode_t mask;
	int fd, err;

	if (make_address(&address, path))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(address.sun_path);
	mask = umask(0177);
	err = fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 4);
	umask(mask);
	if (!err)
		return fd;
	complain("cannot create %s: %s", address.sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

void orders_close(int fd, const char *path)
{
	struct sockaddr_un address;

	if (fd < 0 || make_address(&address, path))
		return;
	close(fd);
	unlink(address.sun_path);
}

int orders_take(int fd, char *order)
{
	const struct timeval limit = { .tv_sec = 1 };
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (peer < 0)
		return -1;
	setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (read(peer, order, 1) == 1)
		return peer;
	close(peer);
	return -1;
}

int orders_send(const char *path, char order)
{
	struct sockaddr_un address;
	char answer[ORDER_BYTES];
	ssize_t n = -1;
	int fd;

	if (make_address(&address, path))
		return CLI_FAILED;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    send(fd, &order, 1, MSG_NOSIGNAL) == 1)
		n = read(fd, answer, sizeof(answer));
	if (n <= 0)
		complain("%s is not being recorded: %s", path,
			 n ? strerror(errno) : "no answer");
	else
		fwrite(answer, 1, (size_t)n, stdout);
	if (fd >= 0)
		close(fd);
	return n > 0 ? CLI_DONE : CLI_FAILED;
}
