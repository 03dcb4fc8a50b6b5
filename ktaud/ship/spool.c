// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ktau_file.h>

#include "log.h"
#include "spool.h"

enum { STUMP_SECONDS = 60 };

int spool_open(struct spool *spool, const char *path)
{
	*spool = (struct spool){ .path = path };
	spool->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return spool->fd < 0 ? -errno : 0;
}

void spool_close(struct spool *spool)
{
	free(spool->files);
	if (spool->fd >= 0)
		close(spool->fd);
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct spool_file *)a)->name,
		      ((const struct spool_file *)b)->name);
}

/* @known: number of files of the last scan, which are sorted and precede the new ones */
static int add(struct spool *spool, size_t known, const char *name)
{
	struct spool_file key = { .found = true }, *files, *file = NULL;

	strcpy(key.name, name);
	if (known)
		file = bsearch(&key, spool->files, known, sizeof(key), compare_files);
	if (file) {
		file->found = true;
		return 0;
	}
	files = reallocarray(spool->files, spool->nr + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	spool->files = files;
	files[spool->nr++] = key;
	return 0;
}

/* End of the block at @at; 0 if it is incomplete or is not a block. */
static uint64_t block_end(int fd, uint64_t at, uint64_t bytes)
{
	struct ktau_block block;
	uint64_t end;

	if (bytes - at < sizeof(block) ||
	    pread(fd, &block, sizeof(block), at) != sizeof(block) ||
	    block.magic != KTAU_BLOCK_MAGIC || block.size < sizeof(block))
		return 0;
	end = at + block.size + (((uint64_t)block.stored_bytes + 7) & ~7ULL);
	return end <= bytes ? end : 0;
}

static void measure(struct spool_file *file, int fd)
{
	struct ktau_file_header header;
	struct stat st;
	uint64_t end;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	file->bytes = st.st_size;
	if (!file->whole && pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    header.magic == KTAU_FILE_MAGIC && header.size <= file->bytes)
		file->whole = header.size;
	while (file->whole && (end = block_end(fd, file->whole, file->bytes))) {
		file->whole = end;
		file->has_blocks = true;
	}
}

/*
 * ktaud holds a lock on the file that it writes, until it closes the file or dies. A file without
 * blocks may be so new that it is not locked yet, and a lock of ours would get in the way.
 */
static bool is_closed(const struct spool_file *file, int fd)
{
	return file->has_blocks && !flock(fd, LOCK_SH | LOCK_NB);
}

/*
 * Whether @file is what a power failure, or a ktaud that died, left of a new file: it has no
 * complete block, and for a minute nobody has written it.
 */
static bool is_stump(const struct spool_file *file, int fd)
{
	struct stat st;

	return !file->has_blocks && !fstat(fd, &st) && time(NULL) - st.st_mtime > STUMP_SECONDS &&
	       !flock(fd, LOCK_SH | LOCK_NB);
}

static void look_at(struct spool *spool, struct spool_file *file)
{
	int fd = openat(spool->fd, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool stump;

	if (fd < 0)
		return;
	measure(file, fd);
	stump = is_stump(file, fd);
	if (stump && !file->stump)
		log_error("%s/%s has no complete block, and no ktaud writes it; it stays here",
			  spool->path, file->name);
	file->stump = stump;
	spool->nr_stumps += stump;
	file->closed = is_closed(file, fd);
	/* The last blocks may have been written since. */
	if (file->closed)
		measure(file, fd);
	close(fd);
}

/* readdir() may return a name twice if the directory changes meanwhile. */
static void drop_repeated(struct spool *spool)
{
	size_t i, nr = 0;

	for (i = 0; i < spool->nr; i++)
		if (!nr || compare_files(&spool->files[nr - 1], &spool->files[i]))
			spool->files[nr++] = spool->files[i];
	spool->nr = nr;
}

static void drop_missing(struct spool *spool)
{
	size_t i, nr = 0;
	uint64_t lost;

	for (i = 0; i < spool->nr; i++) {
		struct spool_file *file = &spool->files[i];

		if (file->found) {
			spool->files[nr++] = *file;
			continue;
		}
		lost = file->bytes > file->landed ? file->bytes - file->landed : 0;
		/* ktaud removes files that contain nothing but a header. */
		if (lost && file->has_blocks) {
			log_error("%s/%s was removed before its last %" PRIu64
				  " bytes had landed",
				  spool->path, file->name, lost);
			spool->lost_bytes += lost;
		}
	}
	spool->nr = nr;
}

int spool_scan(struct spool *spool)
{
	struct dirent *entry;
	const size_t known = spool->nr;
	int fd, err = 0;
	size_t i;
	DIR *dir;

	fd = openat(spool->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	for (i = 0; i < spool->nr; i++)
		spool->files[i].found = false;
	while (!err && (entry = readdir(dir)))
		if (target_is_file(entry->d_name))
			err = add(spool, known, entry->d_name);
	closedir(dir);
	if (!err)
		drop_missing(spool);
	if (spool->nr)
		qsort(spool->files, spool->nr, sizeof(*spool->files), compare_files);
	drop_repeated(spool);
	if (err)
		return err;
	spool->nr_stumps = 0;
	for (i = 0; i < spool->nr; i++)
		look_at(spool, &spool->files[i]);
	return 0;
}

uint64_t spool_waiting(const struct spool *spool, bool other)
{
	uint64_t waiting = 0;
	size_t i;

	for (i = 0; i < spool->nr; i++) {
		const struct spool_file *file = &spool->files[i];
		uint64_t landed = file->asked ? file->landed : 0;

		if (file->stump)
			waiting += other ? file->bytes : 0;
		else if ((other || !file->other) && spool_ready(file) > landed)
			waiting += spool_ready(file) - landed;
	}
	return waiting;
}

void spool_forget_landed(struct spool *spool)
{
	size_t i;

	for (i = 0; i < spool->nr; i++)
		spool->files[i].asked = false;
}

void spool_remove_landed(struct spool *spool)
{
	size_t i;

	for (i = 0; i < spool->nr; i++) {
		const struct spool_file *file = &spool->files[i];

		if (file->closed && file->asked && file->landed >= file->bytes &&
		    unlinkat(spool->fd, file->name, 0) && errno != ENOENT)
			log_error("cannot remove %s/%s: %s", spool->path, file->name,
				  strerror(errno));
	}
}
