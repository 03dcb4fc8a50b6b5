/* SPDX-License-Identifier: GPL-2.0-only */
/* Going into the background, and being there once. */
#ifndef KTAUD_DAEMON_H
#define KTAUD_DAEMON_H

/**
 * daemon_fork() - go on in the background
 *
 * Only the child returns. The process that was started waits until
 * daemon_ready() and exits with that status, so whoever started it sees
 * whether it runs and reads what it has to say.
 *
 * Return: descriptor for daemon_ready(), -errno.
 */
int daemon_fork(void);

/* Tell the parent, let go of the terminal. @fd < 0: not in the background. */
void daemon_ready(int fd);

/**
 * pidfile_lock() - write the process id where no other instance runs
 *
 * Return: descriptor that holds the lock, -errno with a message given.
 */
int pidfile_lock(const char *path);
void pidfile_unlock(const char *path, int fd);

#endif /* KTAUD_DAEMON_H */
