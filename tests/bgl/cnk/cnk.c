// SPDX-License-Identifier: GPL-2.0-only
/*
 * cnk stands in for the kernel of a compute node: it runs unmodified programs and ships their
 * system calls on files below a prefix to ciod. See cnk.8.
 *
 * A seccomp filter stops each system call that takes a path or a descriptor (filter.c) until
 * cnk has answered it (cnk.c). If the path or the descriptor is on the I/O node, cnk ships the
 * call and answers with the result; otherwise the local kernel executes the call (calls.c,
 * data.c, path.c). cnk is a single process with a single thread and handles one call at a time.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ciod/arguments.h"
#include "cnk/calls.h"
#include "cnk/children.h"
#include "cnk/files.h"
#include "cnk/link.h"

#define MAX_EVENTS	64
#define PATIENCE_SECONDS 5	/* from SIGTERM to SIGKILL */

static struct {
	pid_t command;
	int signals;
	int events;
	time_t kill_at;		/* 0: never */
	bool ended;
	int status;
	const char *counts;	/* file for the counts; NULL: none */
} node;

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void answer_call(void)
{
	struct seccomp_notif request;
	struct seccomp_notif_resp response;
	int64_t result;

	memset(&request, 0, sizeof(request));
	if (ioctl(cnk_listener, SECCOMP_IOCTL_NOTIF_RECV, &request))
		return;
	result = cnk_execute(&request);
	if (result == CNK_ANSWERED)
		return;
	memset(&response, 0, sizeof(response));
	response.id = request.id;
	if (result == CNK_LOCAL)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (result < 0)
		response.error = result;
	else
		response.val = result;
	/* This fails if the program has been killed in the meantime. */
	ioctl(cnk_listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != node.command)
			continue;
		node.ended = true;
		node.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

/* Signals from a terminal also reach the command directly. */
static void take_signals(void)
{
	struct signalfd_siginfo info;

	while (read(node.signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			reap();
		} else if (info.ssi_code != SI_KERNEL && !node.ended) {
			kill(node.command, info.ssi_signo);
			if (info.ssi_signo == SIGTERM)
				node.kill_at = now() + PATIENCE_SECONDS;
		}
	}
}

/* Handle files first: a program that opens one may have closed others before. */
static void take_events(const struct epoll_event *event, int nr)
{
	bool files = false;
	int i;

	for (i = 0; i < nr; i++) {
		if (event[i].data.ptr != &cnk_listener && event[i].data.ptr != &node.signals) {
			cnk_close_file(event[i].data.ptr);
			files = true;
		}
	}
	if (files && nr == MAX_EVENTS)
		return;
	for (i = 0; i < nr; i++) {
		if (event[i].data.ptr == &node.signals)
			take_signals();
		else if (event[i].data.ptr == &cnk_listener && event[i].events & EPOLLIN)
			answer_call();
		else if (event[i].data.ptr == &cnk_listener)
			epoll_ctl(node.events, EPOLL_CTL_DEL, cnk_listener, NULL);
	}
}

static void serve(void)
{
	struct epoll_event events[MAX_EVENTS];
	int nr;

	while (!node.ended) {
		nr = epoll_wait(node.events, events, MAX_EVENTS, node.kill_at ? 1000 : -1);
		if (nr > 0)
			take_events(events, nr);
		if (node.kill_at && now() >= node.kill_at)
			kill(node.command, SIGKILL);
	}
	cnk_end_all();
	cnk_close_all_files();
}

/* A signal that was ignored at the start, as by nohup(1), is left to be ignored. */
static void add_unless_ignored(sigset_t *signals, int number)
{
	struct sigaction action;

	if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN)
		sigaddset(signals, number);
}

static int open_events(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	add_unless_ignored(&set, SIGHUP);
	add_unless_ignored(&set, SIGINT);
	add_unless_ignored(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, before);
	node.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	node.events = cnk_open_files();
	return node.signals < 0 || node.events < 0 ? -1 : 0;
}

static int add_event(int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return epoll_ctl(node.events, EPOLL_CTL_ADD, fd, &event);
}

/* These variables, above all the token, are removed from the environment of the programs. */
static int take_environment(const char *address, const char *port, char *token)
{
	int status = -1;

	if (!address || !port || !token || !cnk_prefix)
		fprintf(stderr,
			"cnk: set CIOD_ADDRESS, CIOD_SERVICE, CIOD_TOKEN and CIOD_PREFIX\n");
	else
		status = cnk_connect(address, port, token);
	if (token)
		memset(token, '\0', strlen(token));
	unsetenv("CIOD_TOKEN");
	unsetenv("CIOD_ADDRESS");
	unsetenv("CIOD_SERVICE");
	return status;
}

static const char *copy_of(const char *name)
{
	const char *value = getenv(name);

	return value ? strdup(value) : NULL;
}

int main(int argc, char **argv)
{
	static const struct ciod_command command = {
		"cnk", "COMMAND [ARGUMENT...]",
		"Run COMMAND with files below a prefix on an I/O node.", INT_MAX
	};
	char **arguments = ciod_arguments(&command, argc, argv);
	struct rlimit files;
	sigset_t before;

	/* The job's programs end if the process that started cnk dies. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	cnk_prefix = copy_of("CIOD_PREFIX");
	node.counts = copy_of("CIOD_COUNTS");
	if (take_environment(getenv("CIOD_ADDRESS"), getenv("CIOD_SERVICE"),
			     getenv("CIOD_TOKEN")))
		return 1;
	unsetenv("CIOD_COUNTS");
	unsetenv("CIOD_PREFIX");
	if (open_events(&before)) {
		perror("cnk");
		return 1;
	}
	node.command = cnk_start(arguments, &before);
	if (node.command < 0)
		return 1;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (add_event(node.signals, &node.signals) || add_event(cnk_listener, &cnk_listener)) {
		perror("cnk");
		return 1;
	}
	serve();
	if (cnk_disconnect(node.counts) && !node.status)
		node.status = 1;
	return node.status;
}
