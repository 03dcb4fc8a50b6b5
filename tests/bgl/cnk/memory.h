/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_MEMORY_H
#define CNK_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Each returns 0 or -EFAULT and never copies in part. */
int cnk_load(pid_t pid, uint64_t from, void *to, size_t bytes);
int cnk_store(pid_t pid, uint64_t to, const void *from, size_t bytes);
/*
 * Load a path up to its zero byte; @to has room for CIOD_MAX_PATH. Can also return -ENAMETOOLONG.
 */
int cnk_load_path(pid_t pid, uint64_t from, char *to);
mode_t cnk_umask(pid_t pid);

#endif
