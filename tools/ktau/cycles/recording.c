// SPDX-License-Identifier: GPL-2.0-only
/* The parts of a recording. */
#include "recording.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/cli.h"
#include "lib/output.h"

void recording_deinit(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->nr_sources; i++)
		cycles_deinit(&r->sources[i].cycles);
	for (i = 0; i < r->nr_buffers; i++)
		free(r->buffers[i].parts);
	for (i = 0; i < r->nr_texts; i++)
		free(r->texts[i]);
	free(r->texts);
	free(r->sources);
	free(r->buffers);
	code_deinit(&r->code);
}

struct trace_source *recording_add_source(struct recording *r)
{
	struct trace_source *source;

	r->sources = cli_alloc(r->sources, r->nr_sources + 1, sizeof(*r->sources));
	source = &r->sources[r->nr_sources++];
	memset(source, 0, sizeof(*source));
	source->protocol = TRACE_UNKNOWN;
	source->buffer = TRACE_NO_BUFFER;
	return source;
}

struct trace_buffer *recording_add_buffer(struct recording *r)
{
	r->buffers = cli_alloc(r->buffers, r->nr_buffers + 1, sizeof(*r->buffers));
	r->buffers[r->nr_buffers] = (struct trace_buffer){ 0 };
	return &r->buffers[r->nr_buffers++];
}

void trace_buffer_add(struct trace_buffer *buffer, const uint8_t *data, uint64_t bytes)
{
	size_t nr = buffer->nr_parts;

	/* The array grows at each power of two. */
	if (!(nr & (nr - 1)))
		buffer->parts = cli_alloc(buffer->parts, nr ? 2 * nr : 1, sizeof(*buffer->parts));
	buffer->parts[buffer->nr_parts++] = (struct trace_part){ data, bytes };
}

void recording_add_text(struct recording *r, const char *path)
{
	r->texts = cli_alloc(r->texts, r->nr_texts + 1, sizeof(*r->texts));
	r->texts[r->nr_texts++] = strdup(path);
}

bool recording_is_input(const struct recording *r, const char *path)
{
	size_t i;

	for (i = 0; i < r->nr_texts; i++)
		if (output_is_input(path, r->texts[i]))
			return true;
	return code_is_input(&r->code, path);
}

bool trace_source_set(struct trace_source *source, const char *name, uint64_t value)
{
	struct trace_register *reg;
	size_t i;

	for (i = 0; i < source->nr_registers; i++)
		if (!strcasecmp(source->registers[i].name, name))
			break;
	if (i == TRACE_MAX_REGISTERS || strlen(name) >= sizeof(reg->name))
		return false;
	reg = &source->registers[i];
	strcpy(reg->name, name);
	reg->value = value;
	source->nr_registers += i == source->nr_registers;
	return true;
}

const uint64_t *trace_source_get(const struct trace_source *source, const char *name)
{
	size_t i;

	for (i = 0; i < source->nr_registers; i++)
		if (!strcasecmp(source->registers[i].name, name))
			return &source->registers[i].value;
	return NULL;
}

static const struct {
	const char *prefix, *name;
	enum cycles_rule rule;
} protocols[] = {
	[TRACE_ETMV3] = { "ETM3", "ETMv3", CYCLES_BY_INSTRUCTION },
	[TRACE_PTM] = { "PTM", "PTM", CYCLES_BY_BRANCH },
	[TRACE_ETMV4] = { "ETM4", "ETMv4", CYCLES_BY_BATCH },
	[TRACE_ETE] = { "ETE", "ETE", CYCLES_BY_BATCH },
	[TRACE_PT] = { "PT", "Intel PT", CYCLES_BY_BLOCK },
	[TRACE_UNKNOWN] = { NULL, "unknown", CYCLES_BY_BATCH },
};

enum trace_protocol trace_protocol_of(const char *name)
{
	enum trace_protocol i;

	/* --etm=etmv3 and --etm=etm3.5 are the same. */
	if (!strncasecmp(name, "ETMv", 4))
		return name[4] == '3' ? TRACE_ETMV3 : name[4] == '4' ? TRACE_ETMV4 : TRACE_UNKNOWN;
	for (i = 0; i < TRACE_UNKNOWN; i++)
		if (!strncasecmp(name, protocols[i].prefix, strlen(protocols[i].prefix)))
			return i;
	return TRACE_UNKNOWN;
}

const char *trace_protocol_name(enum trace_protocol protocol)
{
	return protocols[protocol].name;
}

enum cycles_rule trace_protocol_rule(enum trace_protocol protocol)
{
	return protocols[protocol].rule;
}
