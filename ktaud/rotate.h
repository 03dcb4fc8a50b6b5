/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a host: their names, the name of the next one, and which one expires. Files are
 * named HOST-YYYYMMDDThhmmss.mmmZ.ktau for people. Their order is taken from what is in them,
 * because the clock and the host name may be set at any time.
 */
#ifndef KTAUD_ROTATE_H
#define KTAUD_ROTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

/* A buffer for any name. */
#define ROTATE_NAME	128

/**
 * struct rotate_file - a file, and what determines its order
 * @name: name without the directory
 * @boot_id: the boot that it records; 0 if it cannot be read
 * @boot_ns: CLOCK_REALTIME at the start of that boot, as far as known
 * @ticks: time of its first stream in that boot; UINT64_MAX if it has none yet
 * @here: the boot is the current one
 */
struct rotate_file {
	char *name;
	uint8_t boot_id[16];
	uint64_t boot_ns;
	uint64_t ticks;
	bool here;
};

/**
 * struct rotate - the files of one host in one directory, oldest first
 * @host: prefix of new names, with characters unsuitable for a file name replaced
 * @boot_id: the current boot
 * @files: the files
 * @nr: length of @files
 */
struct rotate {
	char host[72];
	uint8_t boot_id[16];
	struct rotate_file *files;
	size_t nr;
};

void rotate_init(struct rotate *rotate, const char *hostname);
void rotate_deinit(struct rotate *rotate);

/* Use another host name for new files. */
void rotate_set_host(struct rotate *rotate, const char *hostname);

/* True if @name is a name that rotate_name() creates for this host. */
bool rotate_is_ours(const struct rotate *rotate, const char *name);

/* The name of a file created at this CLOCK_REALTIME. @name has ROTATE_NAME bytes. */
void rotate_name(const struct rotate *rotate, uint64_t realtime_ns, char *name);

/*
 * List the files of earlier runs: those of this host name, and those of this boot whatever the host
 * was called then. Return: 0, -ENOMEM, or an error of opendir(3).
 */
int rotate_scan(struct rotate *rotate, const char *dir);

/* Add a file that was created and is the newest. Return: 0 or -ENOMEM. */
int rotate_add(struct rotate *rotate, const char *name);

/* Remove files from the list that no longer exist. */
void rotate_forget_missing(struct rotate *rotate, const char *dir);

/*
 * If there are more than @keep files, remove the oldest from the list and return its name, which
 * the caller frees; otherwise return NULL. 0 keeps all files. The newest is always kept.
 */
char *rotate_expire(struct rotate *rotate, uint64_t keep);

/* True if a file of this size and age must be followed by a new one. */
bool rotate_is_due(const struct config *config, uint64_t bytes, uint64_t age_ns);

#endif /* KTAUD_ROTATE_H */
