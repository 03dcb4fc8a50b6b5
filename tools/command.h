/* SPDX-License-Identifier: GPL-2.0-only */
/* Run a command and read, before, meanwhile and afterwards, what the kernel did. */
#ifndef KTAU_TOOLS_COMMAND_H
#define KTAU_TOOLS_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <ktau.h>

/**
 * struct command - a command that runs or has run
 * @argv: the command and its arguments
 * @system_wide: all tasks are of interest, not only the command's
 * @reader: of the kernel's profiles
 * @before: the command before it began, or all tasks
 * @after: what was seen since
 * @pid: of the command
 * @go_fd: the command begins when something is written to it
 * @dead_since: the dead below this have been read
 * @missed: tasks that died and were dropped before they could be read
 * @asked_ns: CLOCK_BOOTTIME before the last reading
 * @start_ns: CLOCK_MONOTONIC when it began
 * @end_ns: and when it ended
 * @status: as wait(2) gives it
 * @exec_errno: why it could not be started, 0 if it was
 * @mine: signals that are blocked from command_init() on, to be read here
 * @theirs: the mask before, which the command gets
 * @usage: of the command and the children that it waited for
 */
struct command {
	char **argv;
	bool system_wide;
	struct ktau_reader *reader;
	struct ktau_snapshot *before, *after;
	pid_t pid;
	int go_fd;
	uint64_t dead_since;
	uint64_t missed;
	uint64_t asked_ns;
	uint64_t start_ns, end_ns;
	int status;
	int exec_errno;
	sigset_t mine, theirs;
	struct rusage usage;
};

/*
 * 0, CMD_FAILED if there is no memory. command_deinit() in any case. Signals
 * wait from here on: what is switched on now is switched off again.
 */
int command_init(struct command *c, char **argv, bool system_wide);

/*
 * Run it to its end. Return: 0, also if it failed or could not be started;
 * -errno if the kernel's profiles cannot be read: told, and then the command
 * was not started; -EINTR if a signal came before it could be: @status has it.
 */
int command_run(struct command *c);
void command_deinit(struct command *c);

/* What a shell would give as its exit status. */
int command_exit_status(const struct command *c);

#endif
