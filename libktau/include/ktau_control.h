/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: configuration and statistics of the running kernel. */
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
 * Return: 0; -EPERM or -EACCES; -ENOENT (no KTAU in this kernel, or a control group or
 * function that does not exist); -EINVAL, -ESRCH (a task that does not exist), -E2BIG (more
 * than 64 KiB, 64 conditions of a filter or 256 functions), -EOPNOTSUPP (control groups or
 * functions in a kernel without support for them), -EBUSY (functions are being hooked or
 * unhooked). The kernel log has the details. After an error nothing has been applied, except
 * that -ENOMEM may leave a part applied.
 */
int ktau_control_write(const char *words);

/* Describe an error of ktau_control_write(). The text must not be freed. */
const char *ktau_control_reason(int err);

/**
 * ktau_control_get() - read one setting: the first line of its key
 * @key: such as "groups", "profile", "ring"
 * @value: buffer for its text
 * @size: size of @value in bytes
 *
 * Return: 0, -ENOENT (no KTAU or no such key), other errors of open(2), -ENOSPC if the text
 * did not fit.
 */
int ktau_control_get(const char *key, char *value, size_t size);

/* One figure of /proc/ktau/stats. -ENOENT: no KTAU or no such name. */
int ktau_stats_get(const char *name, uint64_t *value);

/**
 * ktau_stats_each() - iterate over /proc/ktau/stats
 * @each: called for every line in order; a return value other than 0 ends the iteration
 * @arg: passed to @each
 *
 * Return: 0, what @each returned, -errno.
 */
int ktau_stats_each(int (*each)(void *arg, const char *name, uint64_t value), void *arg);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_CONTROL_H */
