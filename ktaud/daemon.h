/* SPDX-License-Identifier: GPL-2.0-only */
/* Running in the background, and running only once. */
#ifndef KTAUD_DAEMON_H
#define KTAUD_DAEMON_H

/**
 * daemon_fork() - continue in the background
 *
 * Only the child returns. The original process waits for daemon_ready() and exits with the status
 * of the start, so its caller sees the messages and learns whether the daemon is running.
 *
 * Return: descriptor for daemon_ready(), or -errno.
 */
int daemon_fork(void);

/* Notify the parent and detach from the terminal. @fd < 0: not in the background. */
void daemon_ready(int fd);

/**
 * pidfile_lock() - write the process id, unless another instance is running
 *
 * The file must be new, empty, or a pid file.
 *
 * Return: descriptor that holds the lock, or -errno with a message logged.
 */
int pidfile_lock(const char *path);
void pidfile_unlock(const char *path, int fd);

#endif /* KTAUD_DAEMON_H */
