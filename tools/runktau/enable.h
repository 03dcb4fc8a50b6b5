/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel collects while a command runs. */
#ifndef KTAU_TOOLS_ENABLE_H
#define KTAU_TOOLS_ENABLE_H

/**
 * enable_collecting() - enable groups and profiles
 * @groups: these and no others; NULL: those that are enabled, or all if none is
 * @more: further words for the control file, each a key that is restored too; "": none
 * @restore: set to what enable_restore() needs, NULL if nothing was changed
 *
 * Return: 0, -1 with a message.
 */
int enable_collecting(const char *groups, const char *more, char **restore);

/* As it was before. */
void enable_restore(char *restore);

/* A message if a new task may not be measured because of the filter. */
void enable_warn_of_filter(void);

#endif
