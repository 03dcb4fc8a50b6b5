/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau: switches and figures of the running kernel. */
#ifndef KTAU_CONTROL_H
#define KTAU_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ktau_control_write() - switch groups, modes, sizes, tasks
 * @words: as for /proc/ktau/control, e.g. "+tcp -irq trace=on"
 *
 * Return: 0, -EINVAL (nothing of it applied, reason in the kernel log), -EPERM,
 * -ENOENT (no KTAU in this kernel), -E2BIG (longer than 64 KiB).
 */
int ktau_control_write(const char *words);

/**
 * ktau_control_get() - one setting
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
