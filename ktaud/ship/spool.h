/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spool of ktaud-ship: the *.ktau files in a directory, and how much of each has landed.
 * Only complete blocks are shipped from a file that ktaud may still be writing, so the
 * archive always has a valid recording.
 */
#ifndef KTAUD_SHIP_SPOOL_H
#define KTAUD_SHIP_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target.h"

/**
 * struct spool_file - a recording
 * @name: name without the directory
 * @bytes: size at the last scan
 * @whole: end of the last complete block, at most @bytes
 * @landed: bytes that the archive has; valid if @asked
 * @sent: bytes that the server has, at least @landed; valid if @asked
 * @asked: the server has been asked for @landed
 * @ask_ns: when to ask for @landed again
 * @moved_ns: when @sent or @landed has last grown
 * @other: the archive has another recording of this name, so this one stays here
 * @has_blocks: at least one block is complete
 * @stump: nobody writes it and it has no block; this has been logged
 * @closed: no ktaud has it open for writing
 * @found: seen by the current scan
 */
struct spool_file {
	char name[TARGET_FILE];
	uint64_t bytes;
	uint64_t whole;
	uint64_t landed;
	uint64_t sent;
	uint64_t ask_ns;
	uint64_t moved_ns;
	bool asked;
	bool other;
	bool has_blocks;
	bool stump;
	bool closed;
	bool found;
};

/**
 * struct spool - the directory
 * @path: its path
 * @fd: its descriptor
 * @files: files sorted by name
 * @nr: length of @files
 * @nr_stumps: how many of them are a stump
 * @lost_bytes: bytes that were removed before they had landed
 */
struct spool {
	const char *path;
	int fd;
	struct spool_file *files;
	size_t nr, nr_stumps;
	uint64_t lost_bytes;
};

/* Return: 0 or -errno. */
int spool_open(struct spool *spool, const char *path);
void spool_close(struct spool *spool);

/* Look for new files and new blocks. Return: 0 or -errno. */
int spool_scan(struct spool *spool);

/* End of the part of @file that may be shipped now. */
static inline uint64_t spool_ready(const struct spool_file *file)
{
	return file->closed ? file->bytes : file->whole;
}

/*
 * Number of bytes that have not landed, with or without files of which there is @other or that are
 * a @stump.
 */
uint64_t spool_waiting(const struct spool *spool, bool other);

/* After a reconnect, ask the server again for what has landed. */
void spool_forget_landed(struct spool *spool);

/* Remove closed files that have landed completely. */
void spool_remove_landed(struct spool *spool);

#endif /* KTAUD_SHIP_SPOOL_H */
