/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what the two halves of a stream share: its descriptor (stream.c) and the
 * walk over the owners (walk.c).
 */
#ifndef _KERNEL_KTAU_STREAM_H
#define _KERNEL_KTAU_STREAM_H

#include "ktau.h"

struct file;

#define KTAU_STREAM_BYTES	(64 * 1024)

static_assert(KTAU_SNAPSHOT_BYTES <= KTAU_STREAM_BYTES);

/* What a stream is made of, in this order. */
enum phase {
	PHASE_BEGIN,
	PHASE_IDLE,
	PHASE_LIVE,
	PHASE_DEAD,
	PHASE_REAPED,
	PHASE_CPU,
	PHASE_END,
	PHASE_OVER,
};

/**
 * struct ktau_stream - an open /proc/ktau/profile or /proc/ktau/trace
 * @lock: serialises its users
 * @user: account of its opener, charged for it
 * @ns: pid namespace of its opener
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @select: what was asked for
 * @pids: its list of tids, or NULL
 * @phase: where the stream is
 * @cursor: and where in that phase: CPU, pid, index into @pids, or number
 * @thread: tid reached in the process at @cursor of a list of processes
 * @reach: what of the ring at @cursor has been read
 * @end: counts for the last record
 * @number: its number, see look.c
 * @since: number of the last one of all tasks that was read to its end, or 0
 * @fills: ktau_trace_fills when the stream began
 * @len: bytes in @buffer
 * @pos: bytes of it that have been read
 * @buffer: a record
 */
struct ktau_stream {
	struct mutex		lock;	/* all below it */
	struct ktau_user	*user;
	struct pid_namespace	*ns;
	u32			content;
	struct ktau_select	select;
	s32			*pids;
	enum phase		phase;
	u64			cursor;
	pid_t			thread;
	struct ktau_reach	reach;
	struct ktau_rec_end	end;
	u64			number;
	u64			since;
	int			fills;	/* poll() reads it without @lock */
	size_t			len;
	size_t			pos;
	void			*buffer;
};

/* Those that walk over all tasks. */
#define KTAU_TARGETS_ALL	(KTAU_TARGET_ALL | KTAU_TARGET_CHANGED)

void ktau_stream_step(struct ktau_stream *stream, struct file *file);

#endif /* _KERNEL_KTAU_STREAM_H */
