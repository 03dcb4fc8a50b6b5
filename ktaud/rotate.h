/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a host: their names, the name of the next one, and which one expires. Files
 * are named HOST-YYYYMMDDThhmmss.mmmZ.ktau, so that they sort by time. Within one run the
 * order of creation is used, so setting the clock does no harm.
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
 * struct rotate - the files of one host in one directory, oldest first
 * @host: prefix of their names, made safe for a file name
 * @names: names without directory
 * @nr: number of them
 */
struct rotate {
	char host[72];
	char **names;
	size_t nr;
};

void rotate_init(struct rotate *rotate, const char *hostname);
void rotate_deinit(struct rotate *rotate);

/* True if @name is one that rotate_name() creates for this host. */
bool rotate_is_ours(const struct rotate *rotate, const char *name);

/* The name of a file created at that CLOCK_REALTIME. @name: ROTATE_NAME bytes. */
void rotate_name(const struct rotate *rotate, uint64_t realtime_ns, char *name);

/* List the files of earlier runs. Return: 0, -ENOMEM, errors of opendir(3). */
int rotate_scan(struct rotate *rotate, const char *dir);

/* Add a file that was created; it is the newest. Return: 0, -ENOMEM. */
int rotate_add(struct rotate *rotate, const char *name);

/* Take files off the list that no longer exist. */
void rotate_forget_missing(struct rotate *rotate, const char *dir);

/*
 * If there are more than @keep files, take the oldest off the list and return its name,
 * which the caller frees; else return NULL. 0 keeps all files, and the newest is always
 * kept.
 */
char *rotate_expire(struct rotate *rotate, uint64_t keep);

/* True if a file of that size and age has to be followed by a new one. */
bool rotate_is_due(const struct config *config, uint64_t bytes, uint64_t age_ns);

#endif /* KTAUD_ROTATE_H */
