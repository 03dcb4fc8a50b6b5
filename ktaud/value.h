/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of the configuration. Parsing is strict: the whole text must be the value, and signs,
 * blanks, hexadecimal digits and numbers out of range are rejected.
 */
#ifndef KTAUD_VALUE_H
#define KTAUD_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* All functions return true if @text is a valid value. */

/* "1000", "64k", "10M", "2G" (powers of 1024) */
bool value_size(const char *text, uint64_t *size);

/* "1", "0.25", "10ms", "5s", "3m", "1h", "7d": seconds by default, with up to six decimals */
bool value_duration(const char *text, uint64_t *ns);

/* "yes", "no" */
bool value_bool(const char *text, bool *flag);

#endif /* KTAUD_VALUE_H */
