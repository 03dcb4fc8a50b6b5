/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which files a run of --csv --hours has read, and how far. The next run continues there.
 *
 * The file "files" of its output has a first line, and then one for each:
 *
 *	BOOT-ID BOOT-NS FIRST-TICKS BYTES LAST-TICKS LAST-NS HOST\0PATH\0
 */
#ifndef KTAU_TOOLS_HOURS_FILES_H
#define KTAU_TOOLS_HOURS_FILES_H

#include <stdio.h>

#include "lib/report/hosts.h"

/* Up to where a boot has been read. */
struct boot_read {
	uint8_t boot_id[16];
	uint64_t ticks;
};

/**
 * struct hours_files - the files that an earlier run has read
 * @files: the files, sorted by path
 * @boots: their boots, sorted by id
 * @nr_boots: length of @boots
 */
struct hours_files {
	struct hosts files;
	struct boot_read *boots;
	size_t nr_boots;
};

/* The files of the output @dir. Return: 0, or -1 with a message. */
int hours_files_read(struct hours_files *known, const char *dir);
void hours_files_deinit(struct hours_files *known);

/* Up to where a boot has been read, in ticks; 0: nothing of it has. */
uint64_t hours_files_until(const struct hours_files *known, const uint8_t boot_id[16]);

void hours_files_begin(FILE *out);
void hours_files_write(FILE *out, const struct host_file *file);

#endif
