// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "rotate.h"

/* The part after "HOST-"; 'd' stands for a digit. */
#define PATTERN		"ddddddddTdddddd.dddZ.ktau"

void rotate_init(struct rotate *rotate, const char *hostname)
{
	char *c;

	memset(rotate, 0, sizeof(*rotate));
	snprintf(rotate->host, sizeof(rotate->host), "%s", *hostname ? hostname : "unknown");
	for (c = rotate->host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '_';
	if (rotate->host[0] == '.')
		rotate->host[0] = '_';
}

void rotate_deinit(struct rotate *rotate)
{
	while (rotate->nr)
		free(rotate->names[--rotate->nr]);
	free(rotate->names);
	rotate->names = NULL;
}

bool rotate_is_ours(const struct rotate *rotate, const char *name)
{
	size_t host = strlen(rotate->host);
	const char *p = PATTERN;

	if (strncmp(name, rotate->host, host) || name[host] != '-')
		return false;
	for (name += host + 1; *p && *name; p++, name++)
		if (*p == 'd' ? !isdigit((unsigned char)*name) : *p != *name)
			return false;
	return !*p && !*name;
}

void rotate_name(const struct rotate *rotate, uint64_t realtime_ns, char *name)
{
	time_t seconds = realtime_ns / NSEC_PER_SEC;
	unsigned int ms = realtime_ns % NSEC_PER_SEC / 1000000;
	char stamp[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	snprintf(name, ROTATE_NAME, "%s-%s.%03uZ.ktau", rotate->host, stamp, ms);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int rotate_scan(struct rotate *rotate, const char *dir)
{
	struct dirent *entry;
	int err = 0;
	DIR *d;

	d = opendir(dir);
	if (!d)
		return -errno;
	while (!err && (entry = readdir(d)))
		if (rotate_is_ours(rotate, entry->d_name))
			err = rotate_add(rotate, entry->d_name);
	closedir(d);
	if (rotate->nr)
		qsort(rotate->names, rotate->nr, sizeof(*rotate->names), compare_names);
	return err;
}

int rotate_add(struct rotate *rotate, const char *name)
{
	char **names, *copy;

	names = reallocarray(rotate->names, rotate->nr + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	rotate->names = names;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	names[rotate->nr++] = copy;
	return 0;
}

static bool is_missing(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) && errno == ENOENT;
}

void rotate_forget_missing(struct rotate *rotate, const char *dir)
{
	size_t i, nr = 0;

	for (i = 0; i < rotate->nr; i++) {
		if (is_missing(dir, rotate->names[i]))
			free(rotate->names[i]);
		else
			rotate->names[nr++] = rotate->names[i];
	}
	rotate->nr = nr;
}

char *rotate_expire(struct rotate *rotate, uint64_t keep)
{
	char *oldest;

	if (!keep || rotate->nr <= keep)
		return NULL;
	oldest = rotate->names[0];
	rotate->nr--;
	memmove(rotate->names, rotate->names + 1, rotate->nr * sizeof(*rotate->names));
	return oldest;
}

bool rotate_is_due(const struct config *config, uint64_t bytes, uint64_t age_ns)
{
	return (config->rotate_bytes && bytes >= config->rotate_bytes) ||
	       (config->rotate_ns && age_ns >= config->rotate_ns);
}
