/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of many hosts, host by host. A host name may change while a machine runs: all streams
 * of a boot are of one machine.
 */
#ifndef KTAU_TOOLS_HOSTS_H
#define KTAU_TOOLS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

/**
 * struct host_file - a file of a host
 * @host: nodename in the first stream of the newest file of its boot
 * @path: its path
 * @boot_ns: CLOCK_REALTIME at the start of its boot
 * @boot_id: its boot
 * @ticks: time of its first stream in that boot
 * @size: its size now
 * @read_bytes: its size when an earlier run read it; 0: none has
 * @read_ticks: time of its last stream that has been read, at first that of its first stream
 * @read_ns: the same by CLOCK_REALTIME
 */
struct host_file {
	char *host;
	char *path;
	uint64_t boot_ns;
	uint8_t boot_id[16];
	uint64_t ticks;
	uint64_t size, read_bytes, read_ticks, read_ns;
};

/**
 * struct hosts - files, sorted by host and then by time
 * @files: the files
 * @nr: length of @files
 * @room: allocated length of @files
 * @known: files that need not be opened, sorted by path; NULL: none
 */
struct hosts {
	struct host_file *files;
	size_t nr, room;
	const struct hosts *known;
};

/**
 * struct host_filter - which streams are of a selected machine
 * @host: its name; NULL: all are
 * @files: files of it, whose boots are its boots, too; NULL if they are not known
 * @boot_id: the boot of the last stream with this name
 * @has_boot: there was such a stream
 */
struct host_filter {
	const char *host;
	const struct hosts *files;
	uint8_t boot_id[16];
	bool has_boot;
};

/* True if the stream is of the machine, also if the machine had another name at that time. */
bool host_is_selected(struct host_filter *filter, const struct ktau_rec_stream *stream);

/* Append a file, and copy its texts. */
void hosts_add(struct hosts *hosts, const struct host_file *file);

/* Sort by path, for hosts_find_more(). */
void hosts_sort_by_path(struct hosts *hosts);

/*
 * Find the files: those in @paths, and *.ktau in and below directories in @paths. A file without
 * a stream, such as one that ktaud has just begun, is left out. Return: CLI_DONE, or CLI_FAILED
 * with a message for each path that cannot be read; @hosts has the others.
 */
int hosts_find(struct hosts *hosts, char *const *paths, int nr_paths);

/* The same, without opening files that are in @known, which is sorted by path. */
int hosts_find_more(struct hosts *hosts, const struct hosts *known, char *const *paths,
		    int nr_paths);
void hosts_deinit(struct hosts *hosts);

/* The number of files from @first on that are of the same host as @first. */
size_t hosts_run(const struct hosts *hosts, size_t first);

/* Copy the paths of @nr files from @first on; the caller frees the array, but not the paths. */
char **hosts_paths(const struct hosts *hosts, size_t first, size_t nr);

#endif
