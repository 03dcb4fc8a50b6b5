/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the CTF traces in a directory. */
#ifndef KTAU_TOOLS_IMPORT_CTF_FIND_H
#define KTAU_TOOLS_IMPORT_CTF_FIND_H

#include <stddef.h>
#include <sys/types.h>

/* What a trace is, by any name: its file metadata. */
struct ctf_identity {
	dev_t dev;
	ino_t inode;
};

/**
 * struct ctf_traces - traces; all zero: none
 * @paths: their paths
 * @identities: what they are
 * @found_in: the argument of ctf_find() that led to each
 * @nr: their number
 * @argument: that of the current call
 */
struct ctf_traces {
	char **paths;
	struct ctf_identity *identities;
	const char **found_in;
	size_t nr;
	const char *argument;
};

/*
 * Add the traces in @path: itself, or all below it, such as those of the kernel and of programs in
 * a session of LTTng. @path must remain. Return: 0, or -1 with a message, also if one of them was
 * added before: its events would count twice.
 */
int ctf_find(struct ctf_traces *traces, const char *path);

void ctf_traces_deinit(struct ctf_traces *traces);

#endif
