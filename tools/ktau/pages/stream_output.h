/* SPDX-License-Identifier: GPL-2.0-only */
/* All records in one output. */
#ifndef KTAU_TOOLS_STREAM_OUTPUT_H
#define KTAU_TOOLS_STREAM_OUTPUT_H

#include "line.h"

/* Functions of a consumer; @named: text says whether a page is of a file. */
void *stream_begin(const struct consumer_setup *setup, const char *name, bool named);
int stream_record(void *state, const struct page_record *record);
int stream_end(void *state);

#endif
