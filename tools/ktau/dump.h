/* SPDX-License-Identifier: GPL-2.0-only */
/* Records as text, for ktau dump and funcMap. */
#ifndef KTAU_TOOLS_DUMP_H
#define KTAU_TOOLS_DUMP_H

#include <stdio.h>

#include <ktau.h>

/*
 * Prints all records that the open @reader gives; @name is for messages.
 * @symtab completes names and is held against the file; it may be NULL. Returns
 * the exit status of the command.
 */
int dump_reader(struct ktau_reader *reader, const char *name,
		struct ktau_symtab *symtab, FILE *out);

/* The same from a descriptor. */
int dump_fd(int fd, const char *name, struct ktau_symtab *symtab, FILE *out);

#endif
