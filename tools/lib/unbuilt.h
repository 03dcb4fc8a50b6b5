/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups that the running kernel was built without. */
#ifndef KTAU_TOOLS_UNBUILT_H
#define KTAU_TOOLS_UNBUILT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The first group in @words, written like /proc/ktau/control, that is not in @built. Return: the
 * option of the kernel that adds it, without CONFIG_, and the name in @name; NULL if there is none.
 */
const char *unbuilt_option(const char *words, uint32_t built, const char **name);

/* Report the first group in @words that this kernel was built without. Return: if there is one. */
bool unbuilt_complain(const char *words);

#endif
