/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which files there are, what the next one is called and which one goes. Files
 * are named HOST-YYYYMMDDThhmmss.mmmZ.ktau, so that the order of names is the
 * order of time. Within one run the order of creation counts, whatever is done
 * to the clock.
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

/* True if @name is a file of this host, as rotate_name() makes them. */
bool rotate_is_ours(const struct rotate *rotate, const char *name);

/* Name of a file begun at that CLOCK_REALTIME. @name: ROTATE_NAME bytes. */
void rotate_name(const struct rotate *rotate, uint64_t realtime_ns, char *name);

/* Take in what an earlier run left. Return: 0, -ENOMEM, errors of opendir(3). */
int rotate_scan(struct rotate *rotate, const char *dir);

/* A file was created: it is the newest. Return: 0, -ENOMEM. */
int rotate_add(struct rotate *rotate, const char *name);

/* What was removed by hand, or had nothing in it, does not count any more. */
void rotate_forget_missing(struct rotate *rotate, const char *dir);

/*
 * The oldest file if there are more than @keep, off the list and the caller's
 * to free; else NULL. @keep 0 keeps all, the newest always stays.
 */
char *rotate_expire(struct rotate *rotate, uint64_t keep);

/* True if a file of that size and age is full. */
bool rotate_is_due(const struct config *config, uint64_t bytes, uint64_t age_ns);

#endif /* KTAUD_ROTATE_H */
