// SPDX-License-Identifier: GPL-2.0-only
/* The job's command, and the processes left over when it has ended. */
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cnk/children.h"
#include "cnk/files.h"
#include "cnk/filter.h"

/* The child cannot use a pipe: with the filter installed, each write waits for cnk. */
static _Noreturn void run(char **command, const sigset_t *mask, atomic_int *listener)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	fd = cnk_install_filter();
	*listener = fd;
	syscall(SYS_futex, listener, FUTEX_WAKE, 1, NULL, NULL, 0);
	if (fd < 0)
		_exit(1);
	execvp(command[0], command);
	fprintf(stderr, "cnk: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Take the filter's listener from the child that installed it. */
static int take_listener(pid_t pid, atomic_int *listener)
{
	const struct timespec second = { .tv_sec = 1 };
	int fd, pidfd;

	while (!*listener && !kill(pid, 0))
		syscall(SYS_futex, listener, FUTEX_WAIT, 0, &second, NULL, 0);
	if (*listener < 0) {
		fprintf(stderr,
			"cnk: cannot install the seccomp filter: %s (requires Linux 5.19)\n",
			strerror(-*listener));
		return -1;
	}
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	fd = syscall(SYS_pidfd_getfd, pidfd, *listener, 0);
	if (fd < 0)
		fprintf(stderr, "cnk: pidfd_getfd: %s\n", strerror(errno));
	close(pidfd);
	return fd;
}

pid_t cnk_start(char **command, const sigset_t *mask)
{
	atomic_int *listener;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	listener = mmap(NULL, sizeof(*listener), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (listener == MAP_FAILED)
		return -1;
	pid = fork();
	if (!pid)
		run(command, mask, listener);
	if (pid > 0)
		cnk_listener = take_listener(pid, listener);
	munmap(listener, sizeof(*listener));
	return pid > 0 && cnk_listener >= 0 ? pid : -1;
}

static bool is_child(pid_t pid)
{
	char path[64], line[512];
	const char *after;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	/* The name may contain spaces and parentheses. */
	after = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return after && sscanf(after, ") %*c %d", &parent) == 1 && parent == getpid();
}

static void kill_children(void)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	pid_t pid;

	if (!proc)
		return;
	while ((entry = readdir(proc))) {
		pid = atoi(entry->d_name);
		if (pid > 0 && is_child(pid))
			kill(pid, SIGKILL);
	}
	closedir(proc);
}

/*
 * Children of a killed process become children of this process and are found in the next round.
 */
void cnk_end_all(void)
{
	do
		kill_children();
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}
