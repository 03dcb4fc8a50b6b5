/* SPDX-License-Identifier: GPL-2.0-only */
/* The traces of programs: in which region a thread was, and the events that it noted. */
#ifndef KTAU_TOOLS_USER_TRACE_H
#define KTAU_TOOLS_USER_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/report/registry.h"

/* Regions around and including a region, at most. */
#define USER_TRACE_DEPTH	257

/* What happened at a time; see ktau_user.h. */
enum user_trace_type { USER_REGION = 1, USER_MARK, USER_VALUE, USER_MESSAGE };

/**
 * struct user_slot - an entry of a trace
 * @ticks: when it happened; does not decrease within a trace
 * @type: an enum user_trace_type
 * @number: region that the thread entered or returned to, as user_trace_path() takes it; or event
 * @value: value, or bytes of a message
 * @peer: number of the other process of a message
 */
struct user_slot {
	uint64_t ticks;
	uint64_t value;
	uint32_t type;
	uint32_t number;
	int32_t peer;
};

struct user_trace_names;

/**
 * struct user_trace - the trace of a thread
 * @serial: its serial
 * @slots: entries, oldest first
 * @nr: length of @slots
 * @nr_files: private
 * @names: private
 */
struct user_trace {
	uint64_t serial;
	struct user_slot *slots;
	size_t nr;
	size_t nr_files;
	struct user_trace_names *names;
};

struct user_traces;

/*
 * Read the files ktau-user-trace.* of @path that are of the boot of @stream. Names become events
 * of @registry, with ids that the kernel does not use. Never returns NULL. @registry must outlive
 * the traces. If several files have the same serial, it is reported, and the trace is empty.
 */
struct user_traces *user_traces_load(const char *path, const struct ktau_rec_stream *stream,
				     struct registry *registry);
void user_traces_free(struct user_traces *traces);

/* The trace of a thread; NULL if it has none. */
struct user_trace *user_traces_find(const struct user_traces *traces, uint64_t serial);

/* Put the regions around @region, outermost first, and @region into @path. Return: how many. */
size_t user_trace_path(const struct user_trace *trace, uint32_t region,
		       uint32_t path[USER_TRACE_DEPTH]);

/* The event ids of a region and of an event of the program. */
uint32_t user_trace_region_id(const struct user_trace *trace, uint32_t region);
uint32_t user_trace_event_id(const struct user_trace *trace, uint32_t event);

#endif
