/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of ranks.c. lttng/tracepoint-event.h includes this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER mpi

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ranks_events.h"

#if !defined(KTAU_RANKS_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define KTAU_RANKS_EVENTS_H

#include <lttng/tracepoint.h>

/* clang-format off */
/* cppcheck-suppress unknownMacro */
LTTNG_UST_TRACEPOINT_EVENT(mpi, work,
	LTTNG_UST_TP_ARGS(int, rank, int, cycle, const char *, host, double, share, int *, steps),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, rank, rank)
		lttng_ust_field_integer(int, cycle, cycle)
		lttng_ust_field_string(host, host)
		lttng_ust_field_float(double, share, share)
		lttng_ust_field_array(int, steps, steps, 2)))

LTTNG_UST_TRACEPOINT_EVENT(mpi, wait,
	LTTNG_UST_TP_ARGS(int, rank, unsigned long, done),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, rank, rank)
		lttng_ust_field_integer(unsigned long, done, done)))

#endif

#include <lttng/tracepoint-event.h>
