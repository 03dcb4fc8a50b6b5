/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: an open stream, as its parts see it: which tasks it may have (select.c), descriptions of
 * owners and all records but the snapshots (compose.c), those (record.c), and the cursor and the
 * file operations (file.c).
 */
#ifndef _KERNEL_KTAU_STREAM_H
#define _KERNEL_KTAU_STREAM_H

#include <linux/xarray.h>

#include "base/types.h"
#include "tasks/exited.h"
#include "tasks/gone.h"
#include "tasks/snapshot_trace.h"

struct file;
struct nsproxy;
struct pid;

/* The parts of a stream, in this order. */
enum phase {
	PHASE_BEGIN,
	PHASE_IDLE,
	PHASE_LIVE,
	PHASE_EXITED,
	PHASE_GONE,	/* after the evicted sum */
	PHASE_CPU,
	PHASE_END,
	PHASE_OVER,
};

/* A buffer for records, which grows to the size of the largest one. */
struct ktau_buffer {
	void	*p;
	size_t	bytes;
};

/**
 * struct ktau_front - the records that must precede the one that refers to them
 * @owner: owner of the record
 * @path: path of its program, NULL if unknown; allocated
 * @next: entry or slot to look at next
 * @offset: its offset in the record; 0 until OWNER has been put
 */
struct ktau_front {
	struct ktau_owner	owner;
	char			*path;
	u32			next;
	u32			offset;
};

/* Flags of a serial in @owners of a stream. */
#define KTAU_SERIAL_PUT		BIT(0)	/* its OWNER has been put */
#define KTAU_SERIAL_HIDDEN	BIT(1)	/* the reader may not see it */
#define KTAU_SERIAL_RECORD	2	/* + kind, a bit: OWNER of such a record is put */

/**
 * struct ktau_listed - a task that a reader has requested by its tid
 * @tid: the tid, as in the request
 * @pid: the task that had it when the descriptor first requested it; NULL if there was none
 */
struct ktau_listed {
	s32		tid;
	struct pid	*pid;
};

/**
 * struct ktau_stream - an open /proc/ktau/profile or /proc/ktau/trace
 * @lock: serialises operations on the stream
 * @user: account of the opener, charged for the stream
 * @ns: pid namespace of the opener
 * @ns_id: identifies @ns in the records of exited tasks
 * @nsproxy: the other namespaces of the opener
 * @is_contained: the opener was not in the initial pid and user namespaces
 * @privileged: the opener may see all tasks
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @allowed: KTAU_ACCESS_* of the opener when the file was opened
 * @access: the same when the stream began
 * @select: the request
 * @listed: the requested tasks, @nr_pids of @select, or NULL
 * @offset: position in the file
 * @phase: current phase
 * @cursor: position in that phase: CPU, pid, index into @listed, or number
 * @threads: the threads of the process at @cursor, if those were requested
 * @nr_threads: their number
 * @thread: position in @threads
 * @reach: position in the ring of the owner at @cursor
 * @read: where reading without consuming ended in the rings of live tasks, by serial
 * @end: counts for the last record
 * @watch: tasks shown that may be folded or evicted; profiles only
 * @wait: tasks that are ending, which the stream waits for
 * @settle: results of ktau_exited_settle() for those
 * @gone: buffer for their serials
 * @number: number of the stream; see ktau_look()
 * @since: number of the last complete stream of all tasks, or 0
 * @fills: ktau_trace_fills when the stream began
 * @out: the record being read, in @small or @body
 * @len: its size
 * @pos: bytes of it that have been read
 * @body: a PROFILE or TRACE
 * @body_len: its size, 0 if there is none; it is put after the records of @front
 * @body_more: bytes of the REGION records behind a PROFILE in @body, until it is put
 * @regions: buffer for the regions of a task
 * @front: the records that precede it
 * @ids: event ids whose EVENT has been put
 * @cgroups: control groups whose CGROUP has been put
 * @owners: KTAU_SERIAL_* by serial
 * @where: where to find the owner of a serial; see compose.c
 * @where_until: serials above this are newer than @where
 * @where_exited: @exited_seq of the first exited task in @where; the others are relative to it
 * @where_at: when @where was made, in jiffies
 * @small: any other record
 */
struct ktau_stream {
	struct mutex		lock;	/* all further fields */
	struct ktau_user	*user;
	struct pid_namespace	*ns;
	struct ktau_ns_id	ns_id;
	struct nsproxy		*nsproxy;
	bool			is_contained;
	bool			privileged;
	u32			content;
	u32			allowed;
	u32			access;
	struct ktau_select	select;
	struct ktau_listed	*listed;
	loff_t			offset;
	enum phase		phase;
	u64			cursor;
	struct pid		**threads;
	unsigned int		nr_threads;
	unsigned int		thread;
	struct ktau_reach	reach;
	struct xarray		read;
	struct ktau_rec_end	end;
	struct ktau_watch	watch;
	struct ktau_exited_wait	wait;
	struct ktau_settle	settle;
	struct ktau_buffer	gone;
	u64			number;
	u64			since;
	int			fills;	/* poll() reads it without @lock */
	const void		*out;
	size_t			len;
	size_t			pos;
	struct ktau_buffer	body;
	size_t			body_len;
	size_t			body_more;
	struct ktau_buffer	regions;
	struct ktau_front	front;
	DECLARE_BITMAP(ids, KTAU_NR_IDS);
	struct xarray		cgroups;
	struct xarray		owners;
	struct xarray		where;
	u64			where_until;
	u64			where_exited;
	unsigned long		where_at;
	struct ktau_buffer	small;
};

/* Targets that walk over all tasks. */
#define KTAU_TARGETS_ALL	(KTAU_TARGET_ALL | KTAU_TARGET_CHANGED)

/* Targets that list tasks. */
#define KTAU_TARGETS_LISTED	(KTAU_TARGET_SELF | KTAU_TARGET_LIST)

int ktau_buffer_need(struct ktau_buffer *buffer, size_t bytes);
u32 ktau_stream_access(const struct ktau_stream *stream);

#endif /* _KERNEL_KTAU_STREAM_H */
