/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what is between the words (words.c) and what is done with them (control.c).
 */
#ifndef _KERNEL_KTAU_WORDS_H
#define _KERNEL_KTAU_WORDS_H

#include "ktau.h"

/**
 * struct ktau_request - what a write asks for, before any of it is done
 * @config: the switches as they shall be
 * @choose: list of tids, or NULL
 * @unchoose: likewise
 * @own: tids with groups of their own, or NULL
 * @own_groups: those groups
 */
struct ktau_request {
	struct ktau_config config;
	char *choose;
	char *unchoose;
	char *own;
	u32 own_groups;
};

int ktau_words_groups(char *list, u32 *groups);
int ktau_words_parse(char *words, struct ktau_request *req);

#endif /* _KERNEL_KTAU_WORDS_H */
