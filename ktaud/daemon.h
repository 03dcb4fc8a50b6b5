/* SPDX-License-Identifier: GPL-2.0-only */
/* Going into the background, and running only once. */
#ifndef KTAUD_DAEMON_H
#define KTAUD_DAEMON_H

/**
 * daemon_fork() - continue in the background
 *
 * Only the child returns. The process that was started waits for daemon_ready() and exits
 * with that status, so its caller sees the messages and learns whether the daemon runs.
 *
 * Return: descriptor for daemon_ready(), -errno.
 */
int daemon_fork(void);

/* Notify the parent and detach from the terminal. @fd < 0: not in the background. */
void daemon_ready(int fd);

/**
 * pidfile_lock() - write the process id, unless another instance runs
 *
 * The file must be new, empty, or a pid file.
 *
 * Return: descriptor that holds the lock, -errno with the message logged.
 */
int pidfile_lock(const char *path);
void pidfile_unlock(const char *path, int fd);

#endif /* KTAUD_DAEMON_H */
