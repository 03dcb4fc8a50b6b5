// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "append.h"
#include "value.h"

#define COMPARE_BYTES 4096

static bool check(const struct append_part *part, uint64_t *offset)
{
	return target_is_host(part->host) && part->file && target_is_file(part->file) &&
	       part->offset && value_size(part->offset, offset) && part->bytes &&
	       part->bytes <= TARGET_PART && *offset <= INT64_MAX - TARGET_PART;
}

/* Return: a descriptor, or -1 with errno set, which is EPERM for what is not a plain file. */
static int open_file(int dir, const struct append_part *part)
{
	struct stat st;
	int folder, fd;

	if (mkdirat(dir, part->host, 0750) && errno != EEXIST)
		return -1;
	folder = openat(dir, part->host, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return -1;
	fd = openat(folder, part->file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		    0640);
	close(folder);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

/* Compare what the file has of the part. Return: 1 if it is equal, 0, or -1. */
static int compare(int fd, const char *data, uint64_t offset, uint64_t bytes)
{
	char have[COMPARE_BYTES];
	ssize_t got;

	for (; bytes; data += got, offset += got, bytes -= got) {
		got = pread(fd, have, bytes < sizeof(have) ? bytes : sizeof(have), offset);
		if (!got)
			errno = EIO;
		if (got <= 0)
			return -1;
		if (memcmp(have, data, got))
			return 0;
	}
	return 1;
}

/* Write all of it or nothing. */
static bool extend(int fd, const char *data, size_t bytes, uint64_t end)
{
	size_t done = 0;
	ssize_t put = 1;
	int err;

	for (; done < bytes && put > 0; done += put > 0 ? put : 0)
		put = pwrite(fd, data + done, bytes - done, end + done);
	if (done == bytes)
		return true;
	err = put ? errno : ENOSPC;
	if (ftruncate(fd, end))
		return false;
	errno = err;
	return false;
}

static enum append_result append_open(int fd, const struct append_part *part, uint64_t offset,
				      struct append_state *state)
{
	uint64_t have, end = offset + part->bytes;
	struct stat st;
	int same;

	if (fstat(fd, &st))
		return APPEND_FULL;
	state->bytes = st.st_size;
	if (offset > state->bytes)
		return APPEND_GAP;
	have = (state->bytes < end ? state->bytes : end) - offset;
	same = compare(fd, part->data, offset, have);
	if (same <= 0)
		return same ? APPEND_UNREADABLE : APPEND_OTHER;
	if (end <= state->bytes)
		return APPEND_DUPLICATE;
	if (!extend(fd, (const char *)part->data + have, part->bytes - have, state->bytes))
		return APPEND_FULL;
	state->bytes = end;
	return APPEND_LANDED;
}

/* A host's folder can be a file system of its own, which syncfs() for the archive's leaves out. */
static bool sync_elsewhere(int dir, int fd)
{
	struct stat archive, file;

	return !fstat(dir, &archive) && !fstat(fd, &file) &&
	       (archive.st_dev == file.st_dev || !fdatasync(fd));
}

enum append_result append(int dir, const struct append_part *part, struct append_state *state)
{
	enum append_result result;
	uint64_t offset;
	ssize_t got;
	int fd;

	*state = (struct append_state){ .bytes = 0 };
	if (!check(part, &offset))
		return APPEND_REFUSED;
	fd = open_file(dir, part);
	if (fd < 0)
		return errno == ELOOP || errno == EPERM || errno == ENOTDIR || errno == EISDIR ?
			       APPEND_REFUSED :
			       APPEND_FULL;
	result = append_open(fd, part, offset, state);
	if ((result == APPEND_LANDED || result == APPEND_DUPLICATE) && !sync_elsewhere(dir, fd))
		result = APPEND_FULL;
	got = result == APPEND_FULL ? 0 : pread(fd, state->head, sizeof(state->head), 0);
	state->head_bytes = got > 0 ? got : 0;
	close(fd);
	return result;
}
