// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon.h"
#include "log.h"

/* One byte says that all is well; the end of the pipe without it is not. */
static void wait_for_child(pid_t child, int fd)
{
	int status;
	char byte;

	if (read(fd, &byte, 1) == 1)
		_exit(0);
	if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(1);
}

int daemon_fork(void)
{
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child) {
		close(fds[1]);
		wait_for_child(child, fds[0]);
	}
	close(fds[0]);
	setsid();
	return fds[1];
}

void daemon_ready(int fd)
{
	int null;

	if (fd < 0)
		return;
	log_to_syslog();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	if (write(fd, "", 1) != 1)
		log_error("nobody waits for the start: %s", strerror(errno));
	close(fd);
}

static int busy(const char *path, int fd)
{
	char pid[16];
	ssize_t n;

	n = pread(fd, pid, sizeof(pid) - 1, 0);
	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	log_error("already running as process %s (pid file %s)", *pid ? pid : "?", path);
	return -EEXIST;
}

int pidfile_lock(const char *path)
{
	int fd, err;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		err = -errno;
		log_error("cannot open pid file %s: %s", path, strerror(-err));
		return err;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		err = errno == EWOULDBLOCK ? busy(path, fd) : -errno;
	} else if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0) {
		err = -errno;
		log_error("cannot write pid file %s: %s", path, strerror(-err));
	} else {
		return fd;
	}
	close(fd);
	return err;
}

void pidfile_unlock(const char *path, int fd)
{
	if (fd < 0)
		return;
	/* First the name, then the lock: a successor makes its own file. */
	unlink(path);
	close(fd);
}
