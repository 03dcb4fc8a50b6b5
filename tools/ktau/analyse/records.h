/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading every record of a file, with progress on a terminal and messages for all errors. */
#ifndef KTAU_TOOLS_RECORDS_H
#define KTAU_TOOLS_RECORDS_H

#include <stdbool.h>

#include <ktau.h>

/* Takes a record. Return: 0, or -errno, which ends the file. */
typedef int records_take(void *arg, const struct ktau_reader *reader,
			 const union ktau_record *record);

/*
 * Give the records of @file to @take. Those before a damaged one are used. Return: CLI_DONE, or
 * CLI_FAILED with a message, unless the file was read before (@again).
 */
int records_read(const char *file, bool again, records_take *take, void *arg);

#endif
