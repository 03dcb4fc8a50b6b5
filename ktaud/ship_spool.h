/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spool of ktaud-ship: the *.ktau files in a directory, and how much of each has been shipped.
 * Only complete blocks are shipped from a file that ktaud may still be writing, so the
 * collector always has a valid recording.
 */
#ifndef KTAUD_SHIP_SPOOL_H
#define KTAUD_SHIP_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_NAME	128

/**
 * struct spool_file - a recording
 * @name: name without the directory
 * @bytes: size at the last scan
 * @whole: end of the last complete block, at most @bytes
 * @shipped: bytes that the collector has; valid if @asked
 * @asked: the collector has been asked for @shipped
 * @other: the collector has another recording of this name, so this one stays here
 * @has_blocks: at least one block is complete
 * @closed: no ktaud has it open for writing
 * @found: seen by the current scan
 */
struct spool_file {
	char name[SPOOL_NAME];
	uint64_t bytes;
	uint64_t whole;
	uint64_t shipped;
	bool asked;
	bool other;
	bool has_blocks;
	bool closed;
	bool found;
};

/**
 * struct spool - the directory
 * @path: its path
 * @fd: its descriptor
 * @files: files sorted by name
 * @nr: length of @files
 * @lost_bytes: bytes that were removed before they were shipped
 */
struct spool {
	const char *path;
	int fd;
	struct spool_file *files;
	size_t nr;
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

/* Number of bytes waiting to be shipped. */
uint64_t spool_waiting(const struct spool *spool);

/* After a reconnect, ask the collector again for what it has. */
void spool_forget_shipped(struct spool *spool);

/* Remove closed files that the collector has completely. */
void spool_remove_shipped(struct spool *spool);

#endif /* KTAUD_SHIP_SPOOL_H */
