// SPDX-License-Identifier: GPL-2.0-only
/* The pager runs as a child, so that the shell waits for this process. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pager.h"

/* Small systems have no less(1). */
#define DEFAULT_PAGER "if command -v less > /dev/null; then exec less; else exec cat; fi"

static pid_t pager;

static const char *command(void)
{
	const char *name = getenv("KTAU_PAGER");

	if (!name)
		name = getenv("PAGER");
	if (!name)
		name = DEFAULT_PAGER;
	return *name && strcmp(name, "cat") ? name : NULL;
}

/* Closing its input ends the pager. Standard output is replaced, so that it stays open. */
static void wait_for_pager(void)
{
	int null;

	fflush(stdout);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	else
		close(STDOUT_FILENO);
	waitpid(pager, NULL, 0);
}

/* Pass on the width of the terminal, which will no longer be standard output. */
static void keep_width(void)
{
	struct winsize size;
	char width[16];

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return;
	snprintf(width, sizeof(width), "%d", size.ws_col);
	setenv("COLUMNS", width, 0);
}

static void __attribute__((noreturn)) become_pager(const char *name, int from)
{
	dup2(from, STDIN_FILENO);
	/* Exit if the output fits on one screen, leave it there, and allow colours. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", name, NULL);
	_exit(127);
}

void pager_start(void)
{
	const char *name = command();
	int fds[2];

	if (pager || !name || !isatty(STDOUT_FILENO))
		return;
	keep_width();
	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC))
		return;
	pager = fork();
	if (!pager)
		become_pager(name, fds[0]);
	close(fds[0]);
	if (pager > 0) {
		/* Ctrl-C is for the pager. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		dup2(fds[1], STDOUT_FILENO);
		atexit(wait_for_pager);
	}
	close(fds[1]);
}

void pager_for_tables(enum table_format format)
{
	if (format != FORMAT_TEXT)
		return;
	table_use_colour();
	pager_start();
}
