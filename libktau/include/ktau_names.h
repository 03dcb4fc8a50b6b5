/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau: names for the numbers of the binary interface. A number that this library does
 * not know has no name (NULL); programs print the number.
 */
#ifndef KTAU_NAMES_H
#define KTAU_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/ktau.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "tcp" for KTAU_GROUP_TCP, "module0" for KTAU_GROUP_MODULE ...; one bit only. */
const char *ktau_group_name(uint32_t group);

/* The bit of the group with this name, 0 if there is none. */
uint32_t ktau_group_by_name(const char *name);

/* "timer" or "counter". */
const char *ktau_kind_name(uint32_t kind);

/* "syscall", "static", "point", "irq" ... for KTAU_SOURCE_*. */
const char *ktau_source_name(uint32_t source);

/* "task", "exited", "cpu", "evicted" for KTAU_OWNER_*. */
const char *ktau_owner_kind_name(uint32_t kind);

/* "ENTER", "SWITCH" ... for KTAU_TRACE_*. */
const char *ktau_slot_type_name(uint8_t type);

/* "task", "softirq", "hardirq", "nmi" for KTAU_CTX_*. */
const char *ktau_ctx_name(uint8_t ctx);

/* "profile", "exact", "trace" ... for one bit of KTAU_ACCESS_*. */
const char *ktau_access_name(uint32_t access);

/* The letter of /proc/PID/stat for a SWITCH slot's state: 'R', 'S' ...; '?' if unknown. */
char ktau_state_letter(uint32_t state);

/**
 * ktau_paranoid_text() - describe a level of kernel.ktau_paranoid
 * @level: 0 to 3; other levels are treated as the nearest of these
 *
 * Return: what a user without CAP_PERFMON sees, as a phrase: "its own profile, exact; no
 * trace".
 */
const char *ktau_paranoid_text(int32_t level);

/**
 * ktau_paranoid_needed() - the highest level that allows a kind of access
 * @access: one KTAU_ACCESS_* bit
 * @level: set to the level
 *
 * Return: true, or false if no level allows it without CAP_PERFMON.
 */
bool ktau_paranoid_needed(uint32_t access, int32_t *level);

/**
 * ktau_display_name() - a symbol's familiar name
 *
 * Removes the prefixes that the kernel adds to the names of system calls
 * (__x64_sys_read, __ia32_compat_sys_read, __se_sys_read, __do_sys_read ...
 * become sys_read, compat_sys_read) and the dot of ppc64's entry points.
 *
 * Return: a pointer into @symbol.
 */
const char *ktau_display_name(const char *symbol);

/**
 * ktau_glob() - test whether a name matches a pattern
 * @pattern: as in fnmatch(3): * ? [...]; several, separated by commas. Blanks around each are
 *	not part of it; a comma with a backslash is.
 * @name: name of an event, or a path, in which * also matches /
 */
bool ktau_glob(const char *pattern, const char *name);

/**
 * ktau_glob_task() - the same for the name of a task
 * @comm: name of the task; the kernel cuts it to 15 bytes
 *
 * A name of 15 bytes, which may have been cut, also matches a pattern that begins with it, without
 * special characters.
 */
bool ktau_glob_task(const char *pattern, const char *comm);

#ifdef __cplusplus
}
#endif

#endif /* KTAU_NAMES_H */
