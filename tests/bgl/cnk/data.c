// SPDX-License-Identifier: GPL-2.0-only
/* Calls on a descriptor on the I/O node. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>

#include "ciod/wire.h"
#include "cnk/data.h"
#include "cnk/files.h"
#include "cnk/link.h"
#include "cnk/memory.h"

#define MAX_BYTES 0x7ffff000u	/* limit for one call, the same as the kernel's */
#define NO_OFFSET UINT64_MAX

/* The program's memory that a call reads into or writes from. */
static struct {
	struct iovec part[IOV_MAX];
	size_t parts;
	size_t bytes;
} memory;

static unsigned char buffer[CIOD_MAX_DATA];

static void one_part(uint64_t address, uint64_t bytes)
{
	memory.part[0] = (struct iovec){ (void *)(uintptr_t)address, bytes };
	memory.parts = 1;
	memory.bytes = bytes < MAX_BYTES ? bytes : MAX_BYTES;
}

static int load_parts(const struct cnk_call *call)
{
	uint64_t parts = call->args[2];
	size_t i, bytes = 0;
	int error;

	if (parts > IOV_MAX)
		return -EINVAL;
	error = cnk_load(call->pid, call->args[1], memory.part, parts * sizeof(struct iovec));
	if (error)
		return error;
	for (i = 0; i < parts; i++) {
		if (memory.part[i].iov_len > SSIZE_MAX - bytes)
			return -EINVAL;
		bytes += memory.part[i].iov_len;
	}
	memory.parts = parts;
	memory.bytes = bytes < MAX_BYTES ? bytes : MAX_BYTES;
	return 0;
}

/* Copy @bytes between the buffer and the program's memory, starting at byte @from. */
static int copy(pid_t pid, size_t from, size_t bytes, bool to_program)
{
	size_t i, step, done = 0;
	uint64_t address;
	int error = 0;

	for (i = 0; i < memory.parts && done < bytes && !error; i++) {
		if (from >= memory.part[i].iov_len) {
			from -= memory.part[i].iov_len;
			continue;
		}
		step = memory.part[i].iov_len - from;
		if (step > bytes - done)
			step = bytes - done;
		address = (uintptr_t)memory.part[i].iov_base + from;
		error = to_program ? cnk_store(pid, address, buffer + done, step) :
				     cnk_load(pid, address, buffer + done, step);
		done += step;
		from = 0;
	}
	return error;
}

static int64_t ship_read(const struct cnk_call *call, size_t bytes, uint64_t at)
{
	struct cnk_data data = { buffer, bytes, 0 };

	return at == NO_OFFSET ? cnk_ship(CIOD_NR_read, &data, call->fd[0], CNK_N(bytes)) :
				 cnk_ship(CIOD_NR_pread64, &data, call->fd[0], CNK_N(bytes), at);
}

static int64_t ship_write(const struct cnk_call *call, size_t bytes, uint64_t at)
{
	return at == NO_OFFSET ?
		       cnk_ship(CIOD_NR_write, NULL, call->fd[0], buffer, (uint32_t)bytes) :
		       cnk_ship(CIOD_NR_pwrite64, NULL, call->fd[0], buffer, (uint32_t)bytes, at);
}

/* Ship as many calls as needed, until one transfers less than requested. */
static int64_t transfer(const struct cnk_call *call, uint64_t at, bool is_read)
{
	int64_t got = 0;
	size_t done = 0, step;
	int error = 0;

	do {
		step = cnk_at_most(memory.bytes - done);
		if (!is_read)
			error = copy(call->pid, done, step, false);
		if (error)
			break;
		got = is_read ? ship_read(call, step, at) : ship_write(call, step, at);
		if (got > 0 && is_read)
			error = copy(call->pid, done, got, true);
		if (got <= 0 || error)
			break;
		done += got;
		at = at == NO_OFFSET ? at : at + got;
	} while ((size_t)got == step && done < memory.bytes);
	if (done)
		return done;
	return error ? error : got;
}

int64_t cnk_read(struct cnk_call *call)
{
	one_part(call->args[1], call->args[2]);
	return transfer(call, NO_OFFSET, true);
}

int64_t cnk_write(struct cnk_call *call)
{
	one_part(call->args[1], call->args[2]);
	return transfer(call, NO_OFFSET, false);
}

static int64_t transfer_at(struct cnk_call *call, uint64_t at, bool is_read)
{
	return (int64_t)at < 0 ? -EINVAL : transfer(call, at, is_read);
}

int64_t cnk_pread(struct cnk_call *call)
{
	one_part(call->args[1], call->args[2]);
	return transfer_at(call, call->args[3], true);
}

int64_t cnk_pwrite(struct cnk_call *call)
{
	one_part(call->args[1], call->args[2]);
	return transfer_at(call, call->args[3], false);
}

int64_t cnk_readv(struct cnk_call *call)
{
	int error = load_parts(call);

	return error ? error : transfer(call, NO_OFFSET, true);
}

int64_t cnk_writev(struct cnk_call *call)
{
	int error = load_parts(call);

	return error ? error : transfer(call, NO_OFFSET, false);
}

int64_t cnk_preadv(struct cnk_call *call)
{
	int error = load_parts(call);

	return error ? error : transfer_at(call, call->args[3], true);
}

int64_t cnk_pwritev(struct cnk_call *call)
{
	int error = load_parts(call);

	return error ? error : transfer_at(call, call->args[3], false);
}

/* An offset of -1 means the file's own position. */
int64_t cnk_preadv2(struct cnk_call *call)
{
	if (call->args[5])
		return -EOPNOTSUPP;
	return call->args[3] == NO_OFFSET ? cnk_readv(call) : cnk_preadv(call);
}

int64_t cnk_pwritev2(struct cnk_call *call)
{
	if (call->args[5])
		return -EOPNOTSUPP;
	return call->args[3] == NO_OFFSET ? cnk_writev(call) : cnk_pwritev(call);
}

int64_t cnk_lseek(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_lseek, NULL, call->fd[0], call->args[1], CNK_I(call->args[2]));
}

int64_t cnk_ftruncate(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_ftruncate, NULL, call->fd[0], call->args[1]);
}

int64_t cnk_fallocate(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_fallocate, NULL, call->fd[0], CNK_I(call->args[1]),
			call->args[2], call->args[3]);
}

int64_t cnk_fsync(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_fsync, NULL, call->fd[0]);
}

int64_t cnk_fdatasync(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_fdatasync, NULL, call->fd[0]);
}

int64_t cnk_syncfs(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_syncfs, NULL, call->fd[0]);
}

/* Advice may be ignored. */
int64_t cnk_fadvise(struct cnk_call *call)
{
	(void)call;
	return 0;
}

int64_t cnk_fchmod(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_fchmod, NULL, call->fd[0], CNK_I(call->args[1]));
}

int64_t cnk_fchown(struct cnk_call *call)
{
	return cnk_ship(CIOD_NR_fchown, NULL, call->fd[0], CNK_I(call->args[1]),
			CNK_I(call->args[2]));
}

/* The local kernel handles copies of the descriptor; ciod handles O_APPEND. */
int64_t cnk_fcntl(struct cnk_call *call)
{
	switch ((int)call->args[1]) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_GETFD:
	case F_SETFD:
		return CNK_LOCAL;
	case F_GETFL:
		return call->file->flags;
	case F_SETFL:
		return ((int)call->args[2] ^ call->file->flags) & O_APPEND ? -EINVAL : 0;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return -ENOLCK;
	default:
		return -EINVAL;
	}
}

/*
 * Convert an entry of the reply to the kernel's format. Return: its length, or 0 if it is
 * incomplete. The length is the same here and on the I/O node.
 */
static size_t convert(const unsigned char *raw, size_t left, unsigned char *to, size_t *used)
{
	struct dirent64 *entry = (struct dirent64 *)to;
	const size_t head = offsetof(struct dirent64, d_name);
	size_t length, bytes;

	if (left < CIOD_ENTRY_BYTES)
		return 0;
	length = ciod_get16(raw + 17);
	if (length > left - CIOD_ENTRY_BYTES || length > NAME_MAX)
		return 0;
	bytes = (head + length + 1 + 7) & ~(size_t)7;
	memset(to, 0, bytes);
	entry->d_ino = ciod_get64(raw);
	entry->d_off = (off64_t)ciod_get64(raw + 8);
	entry->d_reclen = bytes;
	entry->d_type = raw[16];
	memcpy(to + head, raw + CIOD_ENTRY_BYTES, length);
	*used = CIOD_ENTRY_BYTES + length;
	return bytes;
}

int64_t cnk_getdents64(struct cnk_call *call)
{
	static unsigned char entries[2 * CIOD_MAX_DATA] __attribute__((aligned(8)));
	struct cnk_data data = { buffer, sizeof(buffer), 0 };
	size_t at = 0, bytes = 0, used = 0, one;
	int64_t result;

	result = cnk_ship(CIOD_NR_getdents64, &data, call->fd[0], CNK_I(call->args[2]));
	if (result < 0)
		return result;
	for (; at < data.bytes; at += used, bytes += one) {
		one = convert(buffer + at, data.bytes - at, entries + bytes, &used);
		if (!one || bytes + one > (uint32_t)call->args[2])
			return -EIO;
	}
	result = cnk_store(call->pid, call->args[1], entries, bytes);
	return result < 0 ? result : (int64_t)bytes;
}
