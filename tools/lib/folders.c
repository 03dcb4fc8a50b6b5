// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folders.h"

#define SUFFIX ".ktau"
#define LEVELS 2

/* The expanded paths of this process. */
static char **found;
static int nr_found;

static int add(const char *path)
{
	char **more = reallocarray(found, nr_found + 1, sizeof(*found));

	if (!more)
		return -ENOMEM;
	found = more;
	found[nr_found] = strdup(path);
	return found[nr_found++] ? 0 : -ENOMEM;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_recording(const FTSENT *entry)
{
	return entry->fts_info == FTS_F && entry->fts_namelen > strlen(SUFFIX) &&
	       !strcmp(entry->fts_name + entry->fts_namelen - strlen(SUFFIX), SUFFIX);
}

static int add_folder(char *path)
{
	char *const argv[] = { path, NULL };
	FTS *fts = fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);
	FTSENT *entry;
	int err = 0;

	if (!fts)
		return -errno;
	while (!err && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_D && entry->fts_level >= LEVELS)
			fts_set(fts, entry, FTS_SKIP);
		else if (is_recording(entry))
			err = add(entry->fts_path);
	}
	fts_close(fts);
	return err;
}

static int expand(char **paths, int nr_paths)
{
	struct stat st;
	int i, before, err = 0;

	for (i = 0; !err && i < nr_paths; i++) {
		before = nr_found;
		if (!stat(paths[i], &st) && S_ISDIR(st.st_mode))
			err = add_folder(paths[i]);
		if (!err && nr_found == before)
			err = add(paths[i]);
	}
	return err;
}

int folders_expand(char ***paths, int *nr_paths)
{
	int err;

	while (nr_found)
		free(found[--nr_found]);
	err = expand(*paths, *nr_paths);
	if (err)
		return err;
	*paths = found;
	*nr_paths = nr_found;
	return 0;
}
