/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that are read from their beginning to their end: as they are, or compressed by a sink. */
#ifndef KTAU_TOOLS_PAGE_TEXT_FILE_H
#define KTAU_TOOLS_PAGE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct text_file;

/* Open a file; "-" is standard input. Return: NULL with errno. */
struct text_file *text_file_open(const char *path);
void text_file_close(struct text_file *f);

/* Copy the next bytes without reading them. Both return how many there are, at most @size. */
size_t text_file_peek(struct text_file *f, void *to, size_t size);
size_t text_file_read(struct text_file *f, void *to, size_t size);

/*
 * Read a line with its end, or what fits into @size bytes with a NUL; NULs in it end it. Return:
 * false at the end of the file.
 */
bool text_file_line(struct text_file *f, char *line, size_t size);

/* What went wrong; NULL: nothing. Valid until the file is closed. */
const char *text_file_error(const struct text_file *f);

bool text_file_is_zstd(const struct text_file *f);

#endif
