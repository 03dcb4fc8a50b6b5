/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: configuration and figures of the running kernel. */
#ifndef KTAU_CONTROL_H
#define KTAU_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ktau_control_write() - set groups, modes, the filter, tags and sizes
 * @words: as for /proc/ktau/control, for example "+tcp -irq filter=uid:1000"
 *
 * Return: 0; -EPERM or -EACCES; -ENOENT (no KTAU in this kernel, or a control group
 * that does not exist); and, as the kernel log says in detail, -EINVAL, -ESRCH (a task
 * that does not exist), -E2BIG (more than 64 KiB, or than 64 conditions of a filter),
 * -EOPNOTSUPP (control groups in a kernel without them). Nothing is applied then. With
 * -ENOMEM part of it may be.
 */
int ktau_control_write(const char *words);

/* What an error of ktau_control_write() means: a text that is not to be freed. */
const char *ktau_control_reason(int err);

/**
 * ktau_control_get() - one setting: the first line of its key
 * @key: such as "groups", "profile", "ring"
 * @value: buffer for its text
 * @size: bytes of it
 *
 * Return: 0, -ENOENT (no KTAU or no such key; errno of open(2) else),
 * -ENOSPC if the text did not fit.
 */
int ktau_control_get(const char *key, char *value, size_t size);

/* One figure of /proc/ktau/stats. -ENOENT: no KTAU or no such name. */
int ktau_stats_get(const char *name, uint64_t *value);

/**
 * ktau_stats_each() - all figures of /proc/ktau/stats
 * @each: called for every line in order; another value than 0 ends the walk
 * @arg: handed to @each
 *
 * Return: 0, what @each returned, -errno.
 */
int ktau_stats_each(int (*each)(void *arg, const char *name, uint64_t value), void *arg);

/* The running kernel's GNU build-id. Returns its length, -ENOENT, -errno. */
int ktau_build_id(uint8_t *id, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_CONTROL_H */
