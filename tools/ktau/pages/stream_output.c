// SPDX-License-Identifier: GPL-2.0-only
/* All records in one output. */
#include <stdlib.h>

#include "lib/cli.h"
#include "stream_output.h"

struct stream {
	struct line_format format;
	struct sink *sink;
};

void *stream_begin(const struct consumer_setup *setup, const char *name, bool named)
{
	struct stream *s = cli_alloc(NULL, 1, sizeof(*s));

	s->format = (struct line_format){ name, setup->binary, setup->ticks, named };
	s->sink = sink_open(setup->output, setup->suffix, NULL, false);
	if (s->sink && !line_begin(&s->format, s->sink))
		return s;
	if (s->sink)
		sink_close(s->sink);
	free(s);
	return NULL;
}

int stream_record(void *state, const struct page_record *record)
{
	struct stream *s = state;

	return line_write(&s->format, record, s->sink);
}

int stream_end(void *state)
{
	struct stream *s = state;
	int err = sink_close(s->sink);

	free(s);
	return err;
}
