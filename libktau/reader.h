/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a reader: reader.c opens sources, reader_next.c reads records. */
#ifndef KTAU_INTERNAL_READER_H
#define KTAU_INTERNAL_READER_H

#include "internal.h"

enum kind { KIND_NONE, KIND_LIVE, KIND_STREAM, KIND_FILE };

struct ktau_reader {
	enum kind kind;
	bool swap;
	bool in_stream;		/* between STREAM and END */
	bool ended;
	struct ktau__source source;
	struct ktau__blocks blocks;
	struct ktau__payload payload;	/* KIND_FILE: what is left of the block */
	struct ktau__buffer record;
	uint64_t until_ns;	/* streams that are later are not wanted */
	/* what the accessors return */
	struct ktau_rec_stream stream;
	bool has_stream;
	uint32_t content;
	struct ktau_rec_info *info;
	struct ktau_events *events;
	struct ktau__registry owners;
	struct ktau__registry cgroups;
	char *name;
	struct ktau__error error;
};

/* The byte order of the stream that begins at @data: 0, -errno with *@why. */
int ktau__stream_order(const uint8_t *data, bool *swap, const char **why);

/* -EINVAL with the reader's name and @why as its error. */
int ktau__reader_invalid(struct ktau_reader *reader, const char *why);

#endif /* KTAU_INTERNAL_READER_H */
