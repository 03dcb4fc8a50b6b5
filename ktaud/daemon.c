// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon.h"
#include "log.h"

/* The child writes a byte on success. If the pipe is closed without it, the child has failed. */
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
		log_error("cannot report the start: %s", strerror(errno));
	close(fd);
}

/* The number in a pid file; 0 for an empty file, -1 if the file contains anything else. */
static long read_pid(int fd)
{
	char text[32];
	ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);
	size_t digits;

	if (bytes < 0)
		return -1;
	text[bytes] = '\0';
	digits = strspn(text, "0123456789");
	if (digits > 10 || strcmp(text + digits, digits ? "\n" : "") ||
	    digits + (digits > 0) != (size_t)bytes)
		return -1;
	return strtol(text, NULL, 10);
}

static int busy(const char *path, int fd)
{
	long pid = read_pid(fd);

	if (pid > 0)
		log_error("already running as process %ld (pid file %s)", pid, path);
	else
		log_error("already running (pid file %s)", path);
	return -EEXIST;
}

/* A file that is not a pid file is left unchanged. */
static int check_contents(const char *path, int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && read_pid(fd) >= 0)
		return 0;
	log_error("cannot use %s as pid file: it exists but is not a pid file", path);
	return -EEXIST;
}

static bool is_named(int fd, const char *path)
{
	struct stat open_one, named;

	return !fstat(fd, &open_one) && !lstat(path, &named) &&
	       open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* A lock on a file that its previous owner has just removed is useless, so try again. */
static int open_locked(const char *path)
{
	int fd, err;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0) {
			err = -errno;
			log_error("cannot open pid file %s: %s", path, strerror(-err));
			return err;
		}
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			err = errno == EWOULDBLOCK ? busy(path, fd) : -errno;
			close(fd);
			return err;
		}
		if (is_named(fd, path))
			return fd;
		close(fd);
	}
}

int pidfile_lock(const char *path)
{
	int fd = open_locked(path), err;

	if (fd < 0)
		return fd;
	err = check_contents(path, fd);
	if (err) {
		close(fd);
		return err;
	}
	if (!ftruncate(fd, 0) && dprintf(fd, "%d\n", (int)getpid()) >= 0)
		return fd;
	err = -errno;
	log_error("cannot write pid file %s: %s", path, strerror(-err));
	close(fd);
	return err;
}

void pidfile_unlock(const char *path, int fd)
{
	if (fd < 0)
		return;
	/* Remove the name before releasing the lock, so that a successor creates its own file. */
	if (is_named(fd, path))
		unlink(path);
	close(fd);
}
