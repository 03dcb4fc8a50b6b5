// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "hash.h"
#include "same_file.h"

static bool is_known(const char *path, struct stat *st)
{
	return !(strcmp(path, "-") ? stat(path, st) : fstat(STDIN_FILENO, st)) &&
	       (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode));
}

static bool is_earlier(char *const *paths, size_t nr, const struct stat *st)
{
	struct stat other;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!is_known(paths[i], &other) || other.st_dev != st->st_dev ||
		    other.st_ino != st->st_ino)
			continue;
		if (strcmp(paths[i], paths[nr]))
			complain("%s and %s are the same file", paths[i], paths[nr]);
		else
			complain("%s is given twice", paths[i]);
		return true;
	}
	return false;
}

/* Only files whose inode numbers are known already are compared. */
bool same_file_twice(char *const *paths, size_t nr)
{
	struct hash inodes = { 0 };
	bool twice = false;
	struct stat st;
	size_t i;

	for (i = 0; i < nr && !twice; i++) {
		if (!is_known(paths[i], &st))
			continue;
		twice = hash_get(&inodes, st.st_ino) && is_earlier(paths, i, &st);
		hash_put(&inodes, st.st_ino, 1);
	}
	hash_deinit(&inodes);
	return twice;
}
