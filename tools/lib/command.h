/* SPDX-License-Identifier: GPL-2.0-only */
/* Run a command, and read profiles before it starts, while it runs and after it ends. */
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
 * struct command - a command to run
 * @argv: the command and its arguments
 * @system_wide: include all tasks, not only those of the command
 * @reader: reader of the kernel's profiles
 * @open: @reader has been opened
 * @before: profiles of the command, or of all tasks, before it started
 * @after: profiles read since then
 * @pid: process id of the command
 * @go_fd: writing to it starts the command
 * @exited_since: exited tasks with lower numbers have been read
 * @since_ticks: time of the first read, which is the start of the report
 * @missed: tasks that exited and were evicted before they could be read
 * @start_ns: CLOCK_MONOTONIC at the start
 * @end_ns: CLOCK_MONOTONIC at the end
 * @status: as returned by wait(2)
 * @exec_errno: why the command could not be executed; 0 if it was
 * @mine: signals that are blocked from command_init() on, to be handled here
 * @theirs: previous signal mask, which the command gets
 * @usage: resources used by the command and the children that it waited for
 * @hooks: what to do instead of reading profiles; NULL: read them
 * @refused: @hooks->begin failed and has printed a message
 */
struct command {
	char **argv;
	bool system_wide;
	struct ktau_reader *reader;
	bool open;
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
 * struct command_hooks - what to do while a command runs, for a caller that reads for itself
 * @begin: called while the command's task waits to be started; if it returns non-zero, with a
 *	message, the command is not started
 * @tick: called several times a second
 * @arg: passed to both
 */
struct command_hooks {
	int (*begin)(void *arg);
	void (*tick)(void *arg);
	void *arg;
};

/*
 * Blocks signals, so that temporary settings can be restored at the end. command_deinit() must be
 * called in any case. Return: 0, or CLI_FAILED if there is no memory.
 */
int command_init(struct command *c, char **argv, bool system_wide);

/*
 * Run the command to its end. Return: 0, even if the command failed or, with a message, could not
 * be executed; -errno, with a message, if the kernel's profiles cannot be read, in which case the
 * command was not started; -EINTR if a signal arrived before the start, which is then in @status.
 */
int command_run(struct command *c);
void command_deinit(struct command *c);

/* The exit status that a shell would report. */
int command_exit_status(const struct command *c);

/*
 * The exit status of a program that ran a command: the command's; @failed if it did not run,
 * or if it succeeded and the program has failed with @err.
 */
int command_status(const struct command *c, int err, int failed);

/* For an argp parser: the first argument that is not an option starts the command. */
error_t command_argument(int key, struct argp_state *state, char ***argv);

#endif
