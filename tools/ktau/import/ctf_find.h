/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the CTF traces in a directory. */
#ifndef KTAU_TOOLS_IMPORT_CTF_FIND_H
#define KTAU_TOOLS_IMPORT_CTF_FIND_H

#include <stddef.h>

/* Paths of traces; all zero: none. */
struct ctf_traces {
	char **paths;
	size_t nr;
};

/*
 * Add the traces in @path: itself, or all below it, such as those of the kernel and of programs in
 * a session of LTTng. Return: 0, or -1 with a message.
 */
int ctf_find(struct ctf_traces *traces, const char *path);

void ctf_traces_deinit(struct ctf_traces *traces);

#endif
