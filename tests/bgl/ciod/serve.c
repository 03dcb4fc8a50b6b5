// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection. The protocol itself takes two recv calls per request (recvfrom on x86-64) and
 * one sendmsg per reply, none of which is ever shipped. The preparations make none of the calls
 * that can be shipped.
 */
#include <errno.h>
#include <grp.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ciod/calls.h"
#include "ciod/serve.h"
#include "ciod/wire.h"

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

/* Send both parts completely. */
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
 * Receive the next request, with a body of at most @most bytes. Return: CIOD_BYE if there is one;
 * otherwise, how the connection ended.
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

/* Takes the same time wherever the first difference is. */
static bool same_token(const char *a, const unsigned char *b)
{
	unsigned int differ = 0;
	int i;

	for (i = 0; i < CIOD_TOKEN_BYTES; i++)
		differ |= (unsigned char)a[i] ^ b[i];
	return !differ;
}

/* Does the job have room for another connection of this role? */
static enum ciod_end enter(const struct ciod_job *job, struct ciod_shared *shared,
			   enum ciod_role role)
{
	if (role == CIOD_CONTROL)
		return atomic_exchange(&shared->has_control, true) ? CIOD_SECOND_CONTROL :
								     CIOD_BYE;
	return atomic_fetch_add(&shared->nodes, 1) < job->nodes ? CIOD_BYE : CIOD_TOO_MANY_NODES;
}

/*
 * Wait for the token. An alarm kills this process if it has not been received in time, however many
 * bytes have arrived.
 */
static enum ciod_end greet(int fd, const struct ciod_job *job, struct ciod_shared *shared,
			   int slot)
{
	int unknown = CIOD_UNKNOWN;
	struct ciod_args args;
	uint32_t call;

	signal(SIGALRM, SIG_DFL);
	alarm(HELLO_SECONDS);
	if (next(fd, HELLO_BODY, &call, &args) != CIOD_BYE || call != CIOD_NR_hello ||
	    args.number[0] != CIOD_VERSION || args.number[1] > CIOD_CONTROL ||
	    args.data_bytes != CIOD_TOKEN_BYTES || !same_token(job->token, args.data))
		return CIOD_REFUSED;
	alarm(0);
	/* The daemon may have dropped this connection in favour of another one. */
	if (!atomic_compare_exchange_strong(&shared->role[slot], &unknown, (int)args.number[1]))
		return CIOD_REFUSED;
	return enter(job, shared, args.number[1]);
}

/* Enable keepalive probes, because a node that has lost power cannot close its connection. */
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

/*
 * From here on, this process can only access what the job's user can access below the job's root:
 * it has no descriptor outside, and only root could leave a chroot.
 */
static bool confine(const struct ciod_job *job)
{
	const struct rlimit no_core = { 0, 0 }, files = { 1024, 1024 };
	const pid_t parent = getppid();

	umask(0);
	return !setrlimit(RLIMIT_CORE, &no_core) && !setrlimit(RLIMIT_NOFILE, &files) &&
	       !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !fchdir(CIOD_ROOT_FOLDER) && !chroot(".") &&
	       !close_range(CIOD_ROOT_FOLDER, CIOD_ROOT_FOLDER, 0) && !setgroups(0, NULL) &&
	       !setresgid(job->gid, job->gid, job->gid) &&
	       !setresuid(job->uid, job->uid, job->uid) &&
	       /* Changing the user has reset the parent-death signal, so set it again. */
	       !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent;
}

/* Set the outcome before the reply to end, after which the job can no longer fail. */
static bool end_job(struct ciod_shared *shared)
{
	int running = CIOD_RUNNING;

	return atomic_compare_exchange_strong(&shared->outcome, &running, CIOD_ENDED);
}

static enum ciod_end control(int fd, struct ciod_shared *shared)
{
	const struct ciod_reply none = { NULL, 0 };
	struct ciod_args args;
	enum ciod_end end;
	uint32_t call;

	end = next(fd, sizeof(body), &call, &args);
	if (end != CIOD_BYE)
		return end;
	if (call != CIOD_NR_end)
		return CIOD_BROKEN;
	if (!end_job(shared))
		return CIOD_VANISHED;
	answer(fd, 0, &none);
	return CIOD_END;
}

static enum ciod_end serve(int fd)
{
	struct ciod_reply reply = { .data = data };
	struct ciod_args args;
	enum ciod_end end;
	int64_t result;
	uint32_t call;

	do {
		end = next(fd, sizeof(body), &call, &args);
		if (end != CIOD_BYE)
			return end;
		reply.bytes = 0;
		result = 0;
		if (call > CIOD_NR_end)
			result = ciod_execute(call, &args, &reply);
		else if (call != CIOD_NR_bye)
			return CIOD_BROKEN;
		if (!answer(fd, result, &reply))
			return CIOD_VANISHED;
	} while (call > CIOD_NR_end);
	return CIOD_BYE;
}

enum ciod_end ciod_serve(const struct ciod_job *job, struct ciod_shared *shared, int slot)
{
	const struct ciod_reply none = { NULL, 0 };
	const int fd = CIOD_PEER;
	enum ciod_role role;
	enum ciod_end end;

	end = greet(fd, job, shared, slot);
	if (end != CIOD_BYE)
		return end;
	role = shared->role[slot];
	watch_peer(fd);
	if (role == CIOD_COMPUTE && munmap(shared, sizeof(*shared)))
		return CIOD_NOT_CONFINED;
	if (!confine(job))
		return CIOD_NOT_CONFINED;
	if (!answer(fd, getpid(), &none))
		return CIOD_VANISHED;
	return role == CIOD_CONTROL ? control(fd, shared) : serve(fd);
}
