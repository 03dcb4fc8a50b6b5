/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what the parts of a stream share: its descriptor (stream.c), the walk over
 * the owners (walk.c) and the records made for it (compose.c).
 */
#ifndef _KERNEL_KTAU_STREAM_H
#define _KERNEL_KTAU_STREAM_H

#include "ktau.h"

struct file;

#define KTAU_BODY_BYTES		KTAU_SNAPSHOT_BYTES
#define KTAU_FRONT_BYTES	1024

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
 * struct ktau_front - the records that come before one that refers to them
 * @owner: of the record
 * @owner_put: OWNER has been put
 * @next: entry or slot whose id is looked at next
 * @offset: and where it is in the record
 */
struct ktau_front {
	struct ktau_owner	owner;
	bool			owner_put;
	u32			next;
	u32			offset;
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
 * @out: the record that is being read, in @small or @body
 * @len: its bytes
 * @pos: bytes of it that have been read
 * @body: a PROFILE or TRACE
 * @body_len: its bytes, 0 if there is none; it is put once @front has been
 * @front: what comes before it
 * @ids: event ids whose EVENT has been put
 * @small: any other record
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
	const void		*out;
	size_t			len;
	size_t			pos;
	void			*body;
	size_t			body_len;
	struct ktau_front	front;
	DECLARE_BITMAP(ids, KTAU_NR_IDS);
	u64			small[KTAU_FRONT_BYTES / sizeof(u64)];
};

/* Those that walk over all tasks. */
#define KTAU_TARGETS_ALL	(KTAU_TARGET_ALL | KTAU_TARGET_CHANGED)

/* walk.c */
void ktau_stream_step(struct ktau_stream *stream, struct file *file);

/* compose.c */
void ktau_compose_begin(struct ktau_stream *stream, struct file *file);
bool ktau_compose_front(struct ktau_stream *stream, struct file *file);
void ktau_compose_end(struct ktau_stream *stream);

#endif /* _KERNEL_KTAU_STREAM_H */
