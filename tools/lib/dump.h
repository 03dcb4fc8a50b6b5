/* SPDX-License-Identifier: GPL-2.0-only */
/* Records as text, for ktau dump and funcMap. */
#ifndef KTAU_TOOLS_DUMP_H
#define KTAU_TOOLS_DUMP_H

#include <stdio.h>

#include <ktau.h>

/*
 * Print all records from the open @reader; @name is used in messages. @symtab, which may be
 * NULL, supplies missing names and is checked against the file. Return: the exit status of the
 * command.
 */
int dump_reader(struct ktau_reader *reader, const char *name,
		struct ktau_symtab *symtab, FILE *out);

/* The same, reading from a descriptor. */
int dump_fd(int fd, const char *name, struct ktau_symtab *symtab, FILE *out);

#endif
