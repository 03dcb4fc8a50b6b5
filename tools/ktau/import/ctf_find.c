// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cli.h"
#include "ctf_find.h"
#include "import.h"

/* A session has ust/uid/1000/64-bit, and perhaps parts of it in archives/NAME. */
enum { DEEPEST = 7 };

/* The file metadata is text, or packets of text, which babeltrace2 does not check. */

enum { METADATA_MAGIC = 0x75d11d57,
       METADATA_HEAD_BYTES = 37 };

static uint32_t word(const uint8_t *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

/* The bytes of the packet at @head; 0: it is damaged. @left: the bytes of the file from here on. */
static uint64_t metadata_packet(const uint8_t *head, bool swapped, uint64_t left)
{
	uint64_t content = word(head + 24, swapped), packet = word(head + 28, swapped);

	if (left < METADATA_HEAD_BYTES || word(head, swapped) != METADATA_MAGIC ||
	    content < 8 * METADATA_HEAD_BYTES || packet < content || packet % 8 || content % 8 ||
	    packet / 8 > left)
		return 0;
	return packet / 8;
}

static bool metadata_is_whole(FILE *f, uint64_t size)
{
	uint8_t head[METADATA_HEAD_BYTES] = { 0 };
	uint64_t at = 0, bytes;
	bool swapped;

	if (fread(head, 1, sizeof(head), f) < 4)
		return true;
	swapped = word(head, false) == __builtin_bswap32(METADATA_MAGIC);
	if (!swapped && word(head, false) != METADATA_MAGIC)
		return true;
	while (at < size) {
		memset(head, 0, sizeof(head));
		if (fseeko(f, (off_t)at, SEEK_SET) || !fread(head, 1, sizeof(head), f))
			return false;
		bytes = metadata_packet(head, swapped, size - at);
		if (!bytes)
			return false;
		at += bytes;
	}
	return true;
}

/* Return: 0, or -1 with a message. */
static int check_metadata(const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	int err = -1;

	if (!f || fstat(fileno(f), &st))
		complain("cannot read %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		complain("cannot read %s: is not a file", path);
	else if (!metadata_is_whole(f, (uint64_t)st.st_size))
		complain("cannot read %s: has a damaged packet", path);
	else
		err = 0;
	if (f)
		fclose(f);
	return err;
}

/* Return: 0, or -1 with a message. */
static int check_new(const struct ctf_traces *traces, const char *path, const struct stat *st)
{
	size_t i;

	for (i = 0; i < traces->nr; i++) {
		if (traces->identities[i].dev != st->st_dev ||
		    traces->identities[i].inode != st->st_ino)
			continue;
		complain("%s and %s have the same trace, %s", traces->found_in[i],
			 traces->argument, path);
		return -1;
	}
	return 0;
}

/* Return: 0, or -1 with a message. */
static int add_trace(struct ctf_traces *traces, const char *path, const char *metadata,
		     const struct stat *st)
{
	const size_t nr = traces->nr;

	if (nr == IMPORT_TRACES) {
		complain("%s: has more than %d traces", path, IMPORT_TRACES);
		return -1;
	}
	if (check_new(traces, path, st) || check_metadata(metadata))
		return -1;
	traces->paths = cli_alloc(traces->paths, nr + 1, sizeof(*traces->paths));
	traces->paths[nr] = cli_alloc(NULL, strlen(path) + 1, 1);
	strcpy(traces->paths[nr], path);
	traces->identities = cli_alloc(traces->identities, nr + 1, sizeof(*traces->identities));
	traces->identities[nr] = (struct ctf_identity){ st->st_dev, st->st_ino };
	traces->found_in = cli_alloc(traces->found_in, nr + 1, sizeof(*traces->found_in));
	traces->found_in[nr] = traces->argument;
	traces->nr++;
	return 0;
}

static int is_directory(const struct dirent *entry)
{
	return *entry->d_name != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* The directories in @path, in the order of their names. The recursion is DEEPEST deep. */
static int look_below(struct ctf_traces *traces, const char *path, int depth);

static int look(struct ctf_traces *traces, const char *path, int depth)
{
	char name[4096];
	struct stat st;

	if (snprintf(name, sizeof(name), "%s/metadata", path) >= (int)sizeof(name))
		return 0;
	if (!stat(name, &st))
		return add_trace(traces, path, name, &st);
	return depth < DEEPEST ? look_below(traces, path, depth) : 0;
}

static int look_below(struct ctf_traces *traces, const char *path, int depth)
{
	struct dirent **entries;
	char name[4096];
	int nr = scandir(path, &entries, is_directory, alphasort), i, err = 0;

	for (i = 0; i < nr; i++) {
		if (!err && snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name) <
				    (int)sizeof(name))
			err = look(traces, name, depth + 1);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return err;
}

int ctf_find(struct ctf_traces *traces, const char *path)
{
	const size_t before = traces->nr;
	struct stat st;

	if (stat(path, &st)) {
		complain("cannot read %s: %s", path, strerror(errno));
		return -1;
	}
	traces->argument = path;
	if (look(traces, path, 0))
		return -1;
	if (traces->nr > before)
		return 0;
	complain("%s: is not a CTF trace: it has no file metadata", path);
	return -1;
}

void ctf_traces_deinit(struct ctf_traces *traces)
{
	size_t i;

	for (i = 0; i < traces->nr; i++)
		free(traces->paths[i]);
	free(traces->paths);
	free(traces->identities);
	free(traces->found_in);
}
