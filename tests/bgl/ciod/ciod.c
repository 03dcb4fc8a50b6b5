// SPDX-License-Identifier: GPL-2.0-only
/*
 * The I/O node's daemon for one job; see ciod.8. This process accepts connections, counts its
 * children and waits; it never reads from a peer. Each connection has its own process, which
 * executes the calls of its compute node. Before it reads a path, it has given up all privileges
 * except those of the job.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ciod/arguments.h"
#include "ciod/job.h"
#include "ciod/serve.h"

static const char *const reasons[CIOD_NR_ENDS] = {
	[CIOD_BYE] = "has said goodbye",
	[CIOD_END] = "has ended the job",
	[CIOD_REFUSED] = "was refused: it is not part of this job",
	[CIOD_SECOND_CONTROL] = "was refused: the job already has a control connection",
	[CIOD_TOO_MANY_NODES] = "was refused: the job has reached its limit of compute nodes",
	[CIOD_VANISHED] = "has vanished",
	[CIOD_BROKEN] = "has violated the protocol",
	[CIOD_NOT_CONFINED] = "cannot be confined to the job's root and user",
};

/* The process of a connection; pid 0 means a free entry. */
struct connection {
	pid_t pid;
	unsigned long serial;	/* older connections have lower numbers */
};

struct daemon {
	struct ciod_job job;
	int root;		/* the job's root, opened when ciod starts */
	int listener;
	int signals;
	sigset_t before;	/* previous signal mask, restored in children */
	struct connection connections[CIOD_MAX_CONNECTIONS];
	unsigned long serial;
	struct ciod_shared *shared;
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
	    listen(fd, SOMAXCONN)) {
		fail("cannot listen");
		close(fd);
		return -1;
	}
	return fd;
}

/* A signal that was ignored at the start, as by nohup(1), is left to be ignored. */
static void add_unless_ignored(sigset_t *signals, int number)
{
	struct sigaction action;

	if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN)
		sigaddset(signals, number);
}

static int open_signals(sigset_t *before)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	add_unless_ignored(&set, SIGTERM);
	add_unless_ignored(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, before);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? fail("signalfd") : fd;
}

/* Use a descriptor above those that the process of a connection uses. */
static int open_root(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), high;

	if (fd < 0)
		return fail(path);
	high = fcntl(fd, F_DUPFD_CLOEXEC, CIOD_ROOT_FOLDER + 1);
	close(fd);
	return high < 0 ? fail(path) : high;
}

/*
 * The process of a connection. It closes the listener with close_range(), so that its close() calls
 * are exactly those that were shipped.
 */
static _Noreturn void child(struct daemon *d, int fd, pid_t parent, int slot)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(fd, CIOD_PEER) < 0 ||
	    dup2(d->root, CIOD_ROOT_FOLDER) < 0 || close_range(CIOD_ROOT_FOLDER + 1, ~0U, 0))
		_exit(CIOD_NOT_CONFINED);
	sigprocmask(SIG_SETMASK, &d->before, NULL);
	_exit(ciod_serve(&d->job, d->shared, slot));
}

/*
 * A legitimate peer sends the token at once. If too many connections are waiting for it, the oldest
 * one is closed, so that silent peers cannot keep others out.
 */
static void make_room(struct daemon *d)
{
	struct connection *oldest = NULL, *c;
	int i, unknown = 0, role = CIOD_UNKNOWN;

	for (i = 0; i < CIOD_MAX_CONNECTIONS; i++) {
		c = &d->connections[i];
		if (!c->pid || d->shared->role[i] != CIOD_UNKNOWN)
			continue;
		unknown++;
		if (!oldest || c->serial < oldest->serial)
			oldest = c;
	}
	if (unknown < CIOD_MAX_UNKNOWN ||
	    !atomic_compare_exchange_strong(&d->shared->role[oldest - d->connections], &role,
					    CIOD_DROPPED))
		return;
	kill(oldest->pid, SIGKILL);
	waitpid(oldest->pid, NULL, 0);
	fprintf(stderr,
		"ciod: the peer of process %d was refused: too many connections are waiting\n",
		(int)oldest->pid);
	oldest->pid = 0;
}

static void start_child(struct daemon *d, int fd)
{
	const pid_t parent = getpid();
	struct connection *c;
	int i;

	make_room(d);
	for (i = 0; i < CIOD_MAX_CONNECTIONS && d->connections[i].pid; i++)
		;
	if (i == CIOD_MAX_CONNECTIONS)
		return;
	c = &d->connections[i];
	c->serial = d->serial++;
	d->shared->role[i] = CIOD_UNKNOWN;
	c->pid = fork();
	if (!c->pid)
		child(d, fd, parent, i);
	if (c->pid < 0) {
		c->pid = 0;
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

/* How a connection ended, according to the status of its process. */
static enum ciod_end how(int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return CIOD_REFUSED;
	if (!WIFEXITED(status) || WEXITSTATUS(status) >= CIOD_NR_ENDS)
		return CIOD_BROKEN;
	return WEXITSTATUS(status);
}

static bool ends_job(const struct daemon *d, enum ciod_end end, int role)
{
	if (end == CIOD_VANISHED || end == CIOD_BROKEN)
		return role != CIOD_COMPUTE || !d->job.lost_node_continues;
	return end == CIOD_END || end == CIOD_NOT_CONFINED;
}

/* Reap children that have exited. Return: CIOD_BYE if the job continues. */
static enum ciod_end reap(struct daemon *d)
{
	enum ciod_end end, last = CIOD_BYE;
	int status, i, role;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < CIOD_MAX_CONNECTIONS && d->connections[i].pid != pid; i++)
			;
		if (i == CIOD_MAX_CONNECTIONS)
			continue;
		d->connections[i].pid = 0;
		role = d->shared->role[i];
		if (role == CIOD_COMPUTE)
			atomic_fetch_sub(&d->shared->nodes, 1);
		end = how(status);
		fprintf(stderr, "ciod: the peer of process %d %s\n", (int)pid, reasons[end]);
		if (ends_job(d, end, role))
			last = end;
	}
	return last;
}

/* Handle pending signals. Return: CIOD_BYE if the job continues. */
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

/* Serve until the job ends, or until the control connection fails to appear in time. */
static enum ciod_end run(struct daemon *d)
{
	struct pollfd polled[2] = {
		{ .fd = d->listener, .events = POLLIN },
		{ .fd = d->signals, .events = POLLIN },
	};
	const time_t latest = now() + d->job.wait_seconds;
	enum ciod_end end = CIOD_BYE;

	while (end == CIOD_BYE) {
		if (poll(polled, 2, d->shared->has_control ? -1 : 1000) < 0 && errno != EINTR)
			return CIOD_BROKEN;
		if (polled[1].revents)
			end = take_signals(d);
		if (polled[0].revents && end == CIOD_BYE)
			accept_one(d);
		if (!d->shared->has_control && now() >= latest) {
			fprintf(stderr, "ciod: no control connection was opened in time\n");
			end = CIOD_VANISHED;
		}
	}
	return end;
}

/*
 * End all connections. The job has succeeded if its control connection has received the reply to
 * end, whatever else happened at that moment. Return: the exit status.
 */
static int finish(struct daemon *d)
{
	int i, running = CIOD_RUNNING;

	atomic_compare_exchange_strong(&d->shared->outcome, &running, CIOD_FAILED);
	for (i = 0; i < CIOD_MAX_CONNECTIONS; i++) {
		if (d->connections[i].pid)
			kill(d->connections[i].pid, SIGKILL);
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return d->shared->outcome == CIOD_ENDED ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct ciod_command command = {
		"ciod", "JOBFILE",
		"Execute the system calls of a job's compute nodes on this I/O node.", 1
	};
	static struct daemon d;
	char **arguments = ciod_arguments(&command, argc, argv);

	if (ciod_read_job(arguments[0], &d.job))
		return 2;
	if (geteuid()) {
		fprintf(stderr, "ciod: cannot become the job's user: requires root\n");
		return 1;
	}
	d.signals = open_signals(&d.before);
	d.listener = open_listener(&d.job);
	d.root = open_root(d.job.root);
	if (d.signals < 0 || d.listener < 0 || d.root < 0)
		return 1;
	d.shared = mmap(NULL, sizeof(*d.shared), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d.shared == MAP_FAILED) {
		fail("mmap");
		return 1;
	}
	run(&d);
	return finish(&d);
}
