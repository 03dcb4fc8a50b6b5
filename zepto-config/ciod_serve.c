// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection. The protocol itself costs two recvfrom a request and one sendmsg a
 * reply, none of which is ever shipped, and the preparations cost none of the calls that are.
 */
#include <errno.h>
#include <grp.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ciod.h"
#include "ciod_wire.h"

#define HELLO_SECONDS	10
#define HELLO_BODY	(8 + 8 + 4 + CIOD_TOKEN_BYTES)

static unsigned char body[CIOD_MAX_BODY];
static unsigned char data[CIOD_MAX_DATA];

static bool receive(int fd, unsigned char *to, size_t bytes)
{
	ssize_t got;

	while (bytes) {
		got = recv(fd, to, bytes, MSG_WAITALL);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		bytes -= got;
	}
	return true;
}

/* Send all of both parts. */
static bool transmit(int fd, struct iovec part[2])
{
	struct msghdr message = { .msg_iov = part, .msg_iovlen = 2 };
	ssize_t sent;
	size_t left;

	while (part[0].iov_len + part[1].iov_len) {
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false;
		left = (size_t)sent < part[0].iov_len ? (size_t)sent : part[0].iov_len;
		part[0].iov_base = (char *)part[0].iov_base + left;
		part[0].iov_len -= left;
		part[1].iov_base = (char *)part[1].iov_base + (sent - left);
		part[1].iov_len -= sent - left;
	}
	return true;
}

static bool answer(int fd, int64_t result, const struct ciod_reply *reply)
{
	unsigned char head[CIOD_REPLY_BYTES];
	struct iovec part[2] = { { head, sizeof(head) }, { reply->data, reply->bytes } };

	ciod_put32(head, sizeof(head) + reply->bytes);
	ciod_put32(head + 4, result < 0 ? -result : 0);
	ciod_put64(head + 8, result < 0 ? UINT64_MAX : (uint64_t)result);
	return transmit(fd, part);
}

/*
 * The next request, no longer than @most behind its head. CIOD_BYE if it is there, else
 * how the connection has ended.
 */
static enum ciod_end next(int fd, size_t most, uint32_t *call, struct ciod_args *args)
{
	unsigned char head[CIOD_HEAD_BYTES];
	size_t bytes;

	if (!receive(fd, head, sizeof(head)))
		return CIOD_VANISHED;
	bytes = ciod_get32(head);
	*call = ciod_get32(head + 4);
	if (bytes < sizeof(head) || bytes - sizeof(head) > most)
		return CIOD_BROKEN;
	bytes -= sizeof(head);
	if (bytes && !receive(fd, body, bytes))
		return CIOD_VANISHED;
	return ciod_decode(*call, body, bytes, args) ? CIOD_BROKEN : CIOD_BYE;
}

/* It takes the same time wherever the first difference is. */
static bool same_token(const char *a, const unsigned char *b)
{
	unsigned int differ = 0;
	int i;

	for (i = 0; i < CIOD_TOKEN_BYTES; i++)
		differ |= (unsigned char)a[i] ^ b[i];
	return !differ;
}

/* A peer that is silent, or talks nonsense, does not get far. */
static enum ciod_end greet(int fd, const struct ciod_job *job, enum ciod_role *role)
{
	const struct timeval soon = { .tv_sec = HELLO_SECONDS }, never = { 0 };
	struct ciod_args args;
	uint32_t call;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	if (next(fd, HELLO_BODY, &call, &args) != CIOD_BYE || call != CIOD_NR_hello ||
	    args.number[0] != CIOD_VERSION || args.number[1] > CIOD_CONTROL ||
	    args.data_bytes != CIOD_TOKEN_BYTES || !same_token(job->token, args.data))
		return CIOD_REFUSED;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
	*role = args.number[1];
	return CIOD_BYE;
}

/* A node that has lost its power says nothing more: ask it. */
static void watch_peer(int fd)
{
	const int on = 1, idle_seconds = 10, every_seconds = 5, tries = 3;
	const unsigned int unanswered_ms = 30000;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof(idle_seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_seconds, sizeof(every_seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof(unanswered_ms));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* The job begins when somebody comes who can end it. */
static void tell(enum ciod_role role)
{
	if (role == CIOD_CONTROL)
		send(CIOD_TELL, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close_range(CIOD_TELL, CIOD_TELL, 0);
}

/*
 * From here on this process can reach what the job's user can below the job's root, and
 * nothing else: no descriptor leads out, and only root could leave a chroot.
 */
static bool confine(const struct ciod_job *job)
{
	const struct rlimit no_core = { 0, 0 }, files = { 1024, 1024 };
	const pid_t parent = getppid();

	umask(0);
	return !setrlimit(RLIMIT_CORE, &no_core) && !setrlimit(RLIMIT_NOFILE, &files) &&
	       !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !chroot(job->root) && !chdir("/") && !setgroups(0, NULL) &&
	       !setresgid(job->gid, job->gid, job->gid) &&
	       !setresuid(job->uid, job->uid, job->uid) &&
	       /* To become another user takes back that this process dies with ciod */
	       !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent;
}

static enum ciod_end serve(int fd, enum ciod_role role)
{
	struct ciod_reply reply = { .data = data };
	struct ciod_args args;
	enum ciod_end end;
	int64_t result = 0;
	uint32_t call;

	do {
		end = next(fd, sizeof(body), &call, &args);
		if (end != CIOD_BYE)
			return end;
		reply.bytes = 0;
		if (call == CIOD_NR_end && role == CIOD_CONTROL)
			end = CIOD_END;
		else if (call == CIOD_NR_bye && role == CIOD_COMPUTE)
			result = 0;
		else if (call > CIOD_NR_end && role == CIOD_COMPUTE)
			result = ciod_execute(call, &args, &reply);
		else
			return CIOD_BROKEN;
		if (!answer(fd, result, &reply) && end != CIOD_END)
			return CIOD_VANISHED;
	} while (call > CIOD_NR_end);
	return end;
}

enum ciod_end ciod_serve(const struct ciod_job *job)
{
	const int fd = CIOD_PEER;
	const struct ciod_reply none = { NULL, 0 };
	enum ciod_role role;
	enum ciod_end end;

	end = greet(fd, job, &role);
	if (end != CIOD_BYE)
		return end;
	watch_peer(fd);
	tell(role);
	if (!confine(job))
		return CIOD_NOT_CONFINED;
	if (!answer(fd, getpid(), &none))
		return CIOD_VANISHED;
	return serve(fd, role);
}
