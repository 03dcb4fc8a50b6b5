/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_CHILDREN_H
#define CNK_CHILDREN_H

#include <signal.h>
#include <sys/types.h>

/* Start the command under the filter, with the signal mask @mask. Return: its pid, or -1. */
pid_t cnk_start(char **command, const sigset_t *mask);

/* Kill all descendants of the command, and wait until they are gone. */
void cnk_end_all(void);

#endif
