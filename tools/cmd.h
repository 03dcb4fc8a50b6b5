/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all commands share: messages, exit status, progress.
 */
#ifndef KTAU_TOOLS_CMD_H
#define KTAU_TOOLS_CMD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ktau.h>

/* Exit status of every command. */
#define CMD_DONE	0
#define CMD_FAILED	1
#define CMD_USAGE	2

/*
 * First in main(). The name is for messages and --version; a failure to write to
 * standard output is reported at exit at the latest.
 */
void cmd_init(const char *name);

/* It is a command of a command. */
void cmd_rename(const char *name);

/* Another status than CMD_FAILED and CMD_USAGE, for both. */
void cmd_fail_with(int status);

/* "NAME: message" on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exits as failed if there is no memory: a command has nothing better to do. */
void *cmd_alloc(void *old, size_t nr, size_t size);

/* Flush @out and say so if anything of it could not be written. */
int cmd_finish(FILE *out);

/* One number, whole string, at most @max. 0 or -1. */
int cmd_number(const char *text, uint64_t max, uint64_t *value);

/* A line on stderr that overwrites itself, if that is a terminal. */
struct progress {
	uint64_t last_ns;
	bool shown;
};

void progress_step(struct progress *p, const char *what, uint64_t records);
void progress_end(struct progress *p);

/* Why reading ended with @err. */
void cmd_reader_failed(const struct ktau_reader *reader, int err);

/* Why a file of /proc/ktau could not be used. CMD_FAILED. */
int no_ktau(const char *path, int err);

int cmd_report(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_control(int argc, char **argv);

#endif
