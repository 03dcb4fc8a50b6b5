/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of many hosts, host by host. */
#ifndef KTAU_TOOLS_HOSTS_H
#define KTAU_TOOLS_HOSTS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct host_file - a file of a host
 * @host: nodename in its first stream
 * @path: its path
 * @realtime_ns: CLOCK_REALTIME of its first stream
 */
struct host_file {
	char *host;
	char *path;
	uint64_t realtime_ns;
};

/**
 * struct hosts - files, sorted by host and then by time
 * @files: the files
 * @nr: length of @files
 * @room: allocated length of @files
 */
struct hosts {
	struct host_file *files;
	size_t nr, room;
};

/*
 * Find the files: those in @paths, and *.ktau in and below directories in @paths. A file without
 * a stream, such as one that ktaud has just begun, is left out. Return: CLI_DONE, or CLI_FAILED
 * with a message for each path that cannot be read; @hosts has the others.
 */
int hosts_find(struct hosts *hosts, char *const *paths, int nr_paths);
void hosts_deinit(struct hosts *hosts);

/* The number of files from @first on that are of the same host as @first. */
size_t hosts_run(const struct hosts *hosts, size_t first);

/* Copy the paths of @nr files from @first on; the caller frees the array, but not the paths. */
char **hosts_paths(const struct hosts *hosts, size_t first, size_t nr);

#endif
