// SPDX-License-Identifier: GPL-2.0-only
/*
 * The I/O node's daemon for one job: see ciod.8. This process accepts, counts
 * its children and waits; it never reads from a peer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ciod.h"

#define MAX_CONNECTIONS 64
#define LAST_SECONDS	2

static const char *const reasons[CIOD_NR_ENDS] = {
	[CIOD_BYE] = "has said goodbye",
	[CIOD_END] = "has ended the job",
	[CIOD_REFUSED] = "was refused: it is not of this job",
	[CIOD_VANISHED] = "has vanished",
	[CIOD_BROKEN] = "breaks the protocol",
	[CIOD_NOT_CONFINED] = "cannot be confined to the job's root and user",
};

struct daemon {
	struct ciod_job job;
	int listener;
	int signals;
	sigset_t before;	/* the mask that the children get back */
	pid_t children[MAX_CONNECTIONS];
	int told[2];		/* a child says on [1] that the job has begun */
	bool begun;
};

static int fail(const char *what)
{
	fprintf(stderr, "ciod: %s: %s\n", what, strerror(errno));
	return -1;
}

static int open_listener(const struct ciod_job *job)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(job->port) };
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return fail("socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, MAX_CONNECTIONS)) {
		fail("cannot listen");
		close(fd);
		return -1;
	}
	return fd;
}

static int open_signals(sigset_t *before)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? fail("signalfd") : fd;
}

/*
 * The process of a connection. It leaves the listener behind by close_range, so that it
 * counts no close but those that are shipped.
 */
static _Noreturn void child(struct daemon *d, int fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(fd, CIOD_PEER) < 0 || dup2(d->told[1], CIOD_TELL) < 0 ||
	    close_range(CIOD_TELL + 1, ~0U, 0))
		_exit(CIOD_NOT_CONFINED);
	sigprocmask(SIG_SETMASK, &d->before, NULL);
	_exit(ciod_serve(&d->job));
}

static void start_child(struct daemon *d, int fd)
{
	const pid_t parent = getpid();
	int i;

	for (i = 0; i < MAX_CONNECTIONS && d->children[i]; i++)
		;
	if (i == MAX_CONNECTIONS) {
		fprintf(stderr, "ciod: a connection over %d was refused\n", MAX_CONNECTIONS);
		return;
	}
	d->children[i] = fork();
	if (!d->children[i])
		child(d, fd, parent);
	if (d->children[i] < 0) {
		d->children[i] = 0;
		fail("fork");
	}
}

static void accept_one(struct daemon *d)
{
	struct sockaddr_in peer = { 0 };
	socklen_t bytes = sizeof(peer);
	int fd = accept4(d->listener, (struct sockaddr *)&peer, &bytes, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (peer.sin_addr.s_addr == d->job.peer.s_addr)
		start_child(d, fd);
	else
		fprintf(stderr, "ciod: %s was refused: it is not the job's peer\n",
			inet_ntoa(peer.sin_addr));
	close(fd);
}

/* How a connection ended, by the status of its process. */
static enum ciod_end how(int status)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status) >= CIOD_NR_ENDS)
		return CIOD_BROKEN;
	return WEXITSTATUS(status);
}

/* The children that have ended. CIOD_BYE if the job goes on. */
static enum ciod_end reap(struct daemon *d)
{
	enum ciod_end end, worst = CIOD_BYE;
	int status, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < MAX_CONNECTIONS && d->children[i] != pid; i++)
			;
		if (i < MAX_CONNECTIONS)
			d->children[i] = 0;
		end = how(status);
		if (end != CIOD_BYE)
			fprintf(stderr, "ciod: the peer of process %d %s\n", (int)pid,
				reasons[end]);
		if (end > worst && end != CIOD_REFUSED)
			worst = end;
	}
	return worst;
}

/* What has come. CIOD_BYE if the job goes on. */
static enum ciod_end take_signals(struct daemon *d)
{
	struct signalfd_siginfo info;
	enum ciod_end end = CIOD_BYE;

	while (read(d->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD) {
			fprintf(stderr, "ciod: ended by a signal\n");
			end = CIOD_VANISHED;
		}
	}
	return end == CIOD_BYE ? reap(d) : end;
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Until the job ends. A job that nobody comes for ends too. */
static enum ciod_end run(struct daemon *d)
{
	struct pollfd polled[3] = {
		{ .fd = d->listener, .events = POLLIN },
		{ .fd = d->signals, .events = POLLIN },
		{ .fd = d->told[0], .events = POLLIN },
	};
	const time_t latest = now() + d->job.wait_seconds;
	enum ciod_end end = CIOD_BYE;

	while (end == CIOD_BYE) {
		if (poll(polled, d->begun ? 2 : 3, d->begun ? -1 : 1000) < 0 && errno != EINTR)
			return CIOD_BROKEN;
		d->begun |= !!polled[2].revents;
		if (polled[1].revents)
			end = take_signals(d);
		if (polled[0].revents && end == CIOD_BYE)
			accept_one(d);
		if (!d->begun && now() >= latest) {
			fprintf(stderr, "ciod: nobody came for the job\n");
			end = CIOD_VANISHED;
		}
	}
	return end;
}

static bool has_children(const struct daemon *d)
{
	int i;

	for (i = 0; i < MAX_CONNECTIONS && !d->children[i]; i++)
		;
	return i < MAX_CONNECTIONS;
}

/*
 * The last connections. A program that died just before the job was ended has vanished
 * all the same, so they are waited for; what stays connected ends with the job.
 */
static enum ciod_end finish(struct daemon *d, enum ciod_end end)
{
	struct pollfd polled = { .fd = d->signals, .events = POLLIN };
	const time_t latest = now() + LAST_SECONDS;
	enum ciod_end last;
	int i;

	while (end == CIOD_END && has_children(d) && now() < latest) {
		if (poll(&polled, 1, 1000) > 0) {
			last = take_signals(d);
			end = last == CIOD_BYE ? end : last;
		}
	}
	for (i = 0; i < MAX_CONNECTIONS; i++) {
		if (d->children[i])
			kill(d->children[i], SIGKILL);
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return end;
}

int main(int argc, char **argv)
{
	static struct daemon d;
	enum ciod_end end;

	if (argc != 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: ciod JOBFILE\n");
		return 2;
	}
	if (ciod_read_job(argv[1], &d.job))
		return 2;
	if (geteuid()) {
		fprintf(stderr, "ciod: needs root, to become the job's user\n");
		return 1;
	}
	d.signals = open_signals(&d.before);
	d.listener = open_listener(&d.job);
	if (d.signals < 0 || d.listener < 0)
		return 1;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, d.told)) {
		fail("socketpair");
		return 1;
	}
	end = finish(&d, run(&d));
	return end == CIOD_END ? 0 : 1;
}
