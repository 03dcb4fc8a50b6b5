/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of the configuration: text to numbers, strictly. The whole text must
 * be the value; signs, blanks, hexadecimal and what does not fit are refused.
 */
#ifndef KTAUD_VALUE_H
#define KTAUD_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* All return true if @text was such a value. */

/* "1000", "64k", "10M", "2G" (powers of 1024) */
bool value_size(const char *text, uint64_t *size);

/*
 * "1", "0.25", "10ms", "5s", "3m", "1h", "7d": seconds unless it says else, up
 * to six digits behind the point
 */
bool value_duration(const char *text, uint64_t *ns);

/* "yes", "no" */
bool value_bool(const char *text, bool *flag);

#endif /* KTAUD_VALUE_H */
