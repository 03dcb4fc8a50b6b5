// SPDX-License-Identifier: GPL-2.0-only
/* A file of references: all TRACE records in a row. */
#include <inttypes.h>

#include "lib/cli.h"
#include "input.h"

/* All streams of a file must be of one boot, because times of others cannot be compared. */
static bool take_stream(struct page_input *in, const struct ktau_rec_stream *stream)
{
	if (!in->boot.magic) {
		in->boot = *stream;
		ktau_clock_init(&in->clock, stream);
	}
	if (ktau_same_boot(&in->boot, stream))
		return true;
	complain("%s: contains streams of several boots", in->path);
	in->status = CLI_FAILED;
	return false;
}

/* What the ring had no room for has no place in the trace. */
static void take_end(struct page_input *in, const struct ktau_rec_end *end)
{
	uint64_t lost = end->lost_no_ring + in->no_room;

	in->no_room = 0;
	if (!lost)
		return;
	in->lost_in_all += lost;
	complain("%s: %" PRIu64 " slots were lost at unknown places", in->path, lost);
}

static void take_trace(struct page_input *in, const struct ktau_rec_trace *trace)
{
	in->trace = trace;
	in->slot = NULL;
	in->no_room = trace->no_room;
	if (!trace->lost)
		return;
	in->lost += trace->lost;
	in->lost_in_all += trace->lost;
	complain("%s: %" PRIu64 " slots were lost before position %" PRIu64, in->path,
		 (uint64_t)trace->lost, (uint64_t)trace->first);
}

/* Read up to the next TRACE record. Return: false at the end. */
static bool next_trace(struct page_input *in)
{
	union ktau_record record;
	int err;

	in->trace = NULL;
	while ((err = ktau_reader_next(in->reader, &record)) > 0) {
		switch (record.rec->type) {
		case KTAU_REC_STREAM:
			if (!take_stream(in, record.stream))
				return false;
			break;
		case KTAU_REC_END:
			take_end(in, record.end);
			break;
		case KTAU_REC_TRACE:
			take_trace(in, record.trace);
			return true;
		}
	}
	if (err < 0) {
		cli_reader_failed(in->reader, err);
		in->status = CLI_FAILED;
	}
	return false;
}

bool input_next(struct page_input *in)
{
	in->lost = 0;
	for (;;) {
		if (in->trace) {
			in->slot = ktau_trace_next(in->trace, in->slot);
			if (in->slot)
				return true;
		}
		if (!next_trace(in))
			return false;
	}
}

int input_open(struct page_input *in, const char *path)
{
	int err;

	*in = (struct page_input){ .path = path };
	err = ktau_reader_create(&in->reader);
	if (!err)
		err = ktau_reader_open_file(in->reader, path);
	if (!err)
		return 0;
	if (in->reader)
		cli_reader_failed(in->reader, err);
	in->status = CLI_FAILED;
	return in->status;
}

void input_close(struct page_input *in)
{
	ktau_reader_destroy(in->reader);
	*in = (struct page_input){ 0 };
}
