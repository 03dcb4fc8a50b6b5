/* SPDX-License-Identifier: GPL-2.0-only */
/* Run a command and read, before, while it runs and afterwards, what the kernel did. */
#ifndef KTAU_TOOLS_COMMAND_H
#define KTAU_TOOLS_COMMAND_H

#include <argp.h>
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
 * @before: the command before it started, or all tasks
 * @after: what was read since
 * @pid: of the command
 * @go_fd: the command starts when something is written to it
 * @exited_since: exited tasks below this have been read
 * @since_ticks: when the tasks were read first: what the report begins with
 * @missed: tasks that exited and were evicted before they could be read
 * @start_ns: CLOCK_MONOTONIC when it started
 * @end_ns: and when it ended
 * @status: as wait(2) gives it
 * @exec_errno: why it could not be started, 0 if it was
 * @mine: signals that are blocked from command_init() on, to be read here
 * @theirs: the mask before, which the command gets
 * @usage: of the command and the children that it waited for
 * @hooks: NULL: none
 * @refused: by @hooks->begin, with a message
 */
struct command {
	char **argv;
	bool system_wide;
	struct ktau_reader *reader;
	struct ktau_snapshot *before, *after;
	pid_t pid;
	int go_fd;
	uint64_t exited_since;
	uint64_t since_ticks;
	uint64_t missed;
	uint64_t start_ns, end_ns;
	int status;
	int exec_errno;
	sigset_t mine, theirs;
	struct rusage usage;
	const struct command_hooks *hooks;
	bool refused;
};

/**
 * struct command_hooks - what else is to be done while a command runs
 * @begin: its task exists and waits; another value than 0, with a message, and the command
 *	is not started
 * @tick: several times a second
 * @arg: handed to both
 */
struct command_hooks {
	int (*begin)(void *arg, pid_t pid);
	void (*tick)(void *arg);
	void *arg;
};

/*
 * 0, CLI_FAILED if there is no memory. command_deinit() in any case. Signals
 * wait from here on: what is enabled now is restored at the end.
 */
int command_init(struct command *c, char **argv, bool system_wide);

/*
 * Run it to its end. Return: 0, also if it failed or, with a message, could not be started;
 * -errno, with a message, if the kernel's profiles cannot be read: then the command
 * was not started; -EINTR if a signal came before it could be: @status has it.
 */
int command_run(struct command *c);
void command_deinit(struct command *c);

/* What a shell would give as its exit status. */
int command_exit_status(const struct command *c);

/*
 * The exit status of a program that ran a command: the command's; @failed if it did not run,
 * or if it succeeded and the program has failed with @err.
 */
int command_status(const struct command *c, int err, int failed);

/* For a parser of options: the arguments from the first that is no option are the command. */
error_t command_argument(int key, struct argp_state *state, char ***argv);

#endif
