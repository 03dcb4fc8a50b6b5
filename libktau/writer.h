/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a writer: writer.c has the file, writer_put.c makes blocks of records. */
#ifndef KTAU_INTERNAL_WRITER_H
#define KTAU_INTERNAL_WRITER_H

#include "internal.h"

struct ktau_writer {
	int fd;
	uint8_t compression;
	uint8_t encoding;
	uint8_t boot_id[16];
	uint64_t end;			/* bytes of the file that are whole */
	uint32_t sequence;
	/* the block that is being collected */
	struct ktau__buffer records;
	uint64_t nr_records;
	bool key;			/* needs nothing before it */
	uint64_t from_ns;		/* first and last stream in it */
	uint64_t to_ns;
	/* what the file has since the last such block */
	struct ktau_events *events;
	struct ktau__registry cgroups;
	struct ktau_rec_info *info;
	/* on the way to the file */
	struct ktau__buffer checked;
	struct ktau__buffer encoded;
	struct ktau__buffer packed;
	struct ktau__buffer block;	/* header and payload as written */
	char *path;
	struct ktau__error error;
};

/* Set the error: its words are those of @err, or @why with -EINVAL. Returns the code. */
int ktau__writer_fail(struct ktau_writer *writer, int err);
int ktau__writer_invalid(struct ktau_writer *writer, const char *why);

/* All of it after the last whole block, or nothing. */
int ktau__writer_append(struct ktau_writer *writer, const void *data, size_t size);

/* Begin an empty block that repeats the events and groups it needs. */
void ktau__writer_start_block(struct ktau_writer *writer, bool key);

/* The collected records to the file, if there are any. */
int ktau__writer_block(struct ktau_writer *writer);

#endif /* KTAU_INTERNAL_WRITER_H */
