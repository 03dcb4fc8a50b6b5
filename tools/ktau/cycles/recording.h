/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording of a hardware trace: buffers of trace data, the sources that wrote them, and the code
 * that ran. It comes from a snapshot directory, from the command line, or from a perf.data file.
 */
#ifndef KTAU_CYCLES_RECORDING_H
#define KTAU_CYCLES_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution.h"
#include "code.h"

enum trace_protocol { TRACE_ETMV3, TRACE_PTM, TRACE_ETMV4, TRACE_ETE, TRACE_PT, TRACE_UNKNOWN };

/* A register of a trace source, by its name in the architecture's manual. */
struct trace_register {
	char name[24];
	uint64_t value;
};

#define TRACE_MAX_REGISTERS	128

#define TRACE_NO_BUFFER		(-1)
#define TRACE_ANY_BUFFER	(-2)	/* a stream may be in several buffers */

/**
 * struct trace_source - what writes a stream of trace data
 * @name: name in messages, such as "ETM_0" or "CPU 3"
 * @core: type of its CPU, such as "Cortex-A7"; empty if it has none
 * @protocol: how its data is encoded
 * @registers: its configuration
 * @nr_registers: length of @registers
 * @buffer: index of the buffer that it writes to, TRACE_NO_BUFFER or TRACE_ANY_BUFFER
 * @id: its number in a formatted buffer
 * @cycles: attribution of its counts
 * @decoded: a decoder was created for it
 * @counts: it is configured to count cycles
 * @problems: errors of the decoder
 * @problem: the first one, with the byte of the buffer
 */
struct trace_source {
	char name[64];
	char core[64];
	enum trace_protocol protocol;
	struct trace_register registers[TRACE_MAX_REGISTERS];
	size_t nr_registers;
	int buffer;
	uint8_t id;
	struct cycles cycles;
	bool decoded, counts;
	uint64_t problems;
	char problem[160];
};

/* A part of a buffer: perf writes one after the other. */
struct trace_part {
	const uint8_t *data;
	uint64_t bytes;
};

/**
 * struct trace_buffer - data of one or several sources
 * @name: name in messages
 * @formatted: in frames of 16 bytes, with the id of the source
 * @parts: the data, in order; between two parts some may be missing
 * @nr_parts: length of @parts
 */
struct trace_buffer {
	char name[64];
	bool formatted;
	struct trace_part *parts;
	size_t nr_parts;
};

/**
 * struct recording - all of it
 * @path: where it is, for messages
 * @code: the code that ran, and all files that are mapped
 * @sources: trace sources
 * @nr_sources: length of @sources
 * @buffers: trace data
 * @nr_buffers: length of @buffers
 * @nr_cores: number of CPUs
 * @texts: files that were read, but are not mapped
 * @nr_texts: length of @texts
 */
struct recording {
	const char *path;
	struct code code;
	struct trace_source *sources;
	size_t nr_sources;
	struct trace_buffer *buffers;
	size_t nr_buffers;
	size_t nr_cores;
	char **texts;
	size_t nr_texts;
};

void recording_deinit(struct recording *r);

/* Add an empty source or buffer. The pointers are valid until the next call. */
struct trace_source *recording_add_source(struct recording *r);
struct trace_buffer *recording_add_buffer(struct recording *r);
void trace_buffer_add(struct trace_buffer *buffer, const uint8_t *data, uint64_t bytes);

/* Remember that a file was read. */
void recording_add_text(struct recording *r, const char *path);

/* Whether writing @path would destroy a file that was read. Prints a message. */
bool recording_is_input(const struct recording *r, const char *path);

/* Set a register; false if there is no room. */
bool trace_source_set(struct trace_source *source, const char *name, uint64_t value);

/* The value of a register, or NULL. */
const uint64_t *trace_source_get(const struct trace_source *source, const char *name);

/* By the names that snapshots and --etm use: "ETM3.5", "PTM1.1", "ETM4", "ETE", in any case. */
enum trace_protocol trace_protocol_of(const char *name);
const char *trace_protocol_name(enum trace_protocol protocol);

/* How counts of a protocol are attributed. */
enum cycles_rule trace_protocol_rule(enum trace_protocol protocol);

/*
 * Read a recording. Return: 0, or -1 with a message. snapshot_read() is for a directory,
 * perf_data_read() for a file that perf_data_is() recognises.
 */
int snapshot_read(struct recording *r);
bool perf_data_is(const uint8_t *data, uint64_t bytes);
int perf_data_read(struct recording *r);

/*
 * Decode all buffers of a recording: coresight_decode() those of ARM's sources, pt_decode() those
 * of Intel PT. Return: 0, or -1 with a message.
 */
int coresight_decode(struct recording *r);
int pt_decode(struct recording *r);

#endif
