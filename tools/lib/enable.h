/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel collects while a command runs. */
#ifndef KTAU_TOOLS_ENABLE_H
#define KTAU_TOOLS_ENABLE_H

/**
 * enable_collecting() - enable groups and profiles; if BPF programs measure, only choose the groups
 * @groups: enable these groups and no others; NULL: those that are enabled, or all if none is
 * @more: further words for the control file, whose keys are restored too; "" for none
 * @restore: set to the argument of enable_restore(); NULL if nothing was changed
 *
 * Return: 0, or -1 with a message.
 */
int enable_collecting(const char *groups, const char *more, char **restore);

/* Restore the previous settings. */
void enable_restore(char *restore);

/* Print a message if the filter may exclude new tasks. */
void enable_warn_of_filter(void);

#endif
