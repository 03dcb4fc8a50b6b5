// SPDX-License-Identifier: GPL-2.0-only
/* Access to the memory of a program, and its umask. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ciod/proto.h"
#include "cnk/memory.h"

#define PAGE_BYTES 4096

int cnk_load(pid_t pid, uint64_t from, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)from, bytes };

	if (!bytes)
		return 0;
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -EFAULT;
}

int cnk_store(pid_t pid, uint64_t to, const void *from, size_t bytes)
{
	struct iovec here = { (void *)from, bytes }, there = { (void *)(uintptr_t)to, bytes };

	if (!bytes)
		return 0;
	return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -EFAULT;
}

/* Read page by page, because the page after the path may not exist. */
int cnk_load_path(pid_t pid, uint64_t from, char *to)
{
	size_t at = 0, step;
	int error;

	while (at < CIOD_MAX_PATH) {
		step = PAGE_BYTES - (from + at) % PAGE_BYTES;
		if (step > CIOD_MAX_PATH - at)
			step = CIOD_MAX_PATH - at;
		error = cnk_load(pid, from + at, to + at, step);
		if (error)
			return error;
		if (memchr(to + at, '\0', step))
			return 0;
		at += step;
	}
	return -ENAMETOOLONG;
}

mode_t cnk_umask(pid_t pid)
{
	char path[64], line[256];
	unsigned int mask = 022;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return mask;
	while (fgets(line, sizeof(line), f) && sscanf(line, "Umask: %o", &mask) != 1)
		;
	fclose(f);
	return mask;
}
