/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments that are the same file under two names. */
#ifndef KTAU_TOOLS_SAME_FILE_H
#define KTAU_TOOLS_SAME_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a regular file or a directory is given twice, also by a link; what it has would count
 * twice. Prints a message with both names.
 */
bool same_file_twice(char *const *paths, size_t nr);

#endif
