/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory with a file for each process, or each thread. */
#ifndef KTAU_TOOLS_SPLIT_OUTPUT_H
#define KTAU_TOOLS_SPLIT_OUTPUT_H

#include "line.h"

/* Functions of a consumer. */
void *split_begin(const struct consumer_setup *setup, const char *name, bool by_thread);
int split_record(void *state, const struct page_record *record);
int split_end(void *state);

#endif
