/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAU: what the parts of a stream share: its descriptor (stream.c), what it was
 * asked for (select.c), the walk over the owners (walk.c), what is taken out of a
 * record (redact.c), who is named in one (describe.c), and the records that make a
 * stream of it (compose.c).
 */
#ifndef _KERNEL_KTAU_STREAM_H
#define _KERNEL_KTAU_STREAM_H

#include <linux/xarray.h>

#include "gone.h"
#include "snapshot_trace.h"
#include "types.h"

struct file;
struct nsproxy;

/* What a stream is made of, in this order. */
enum phase {
	PHASE_BEGIN,
	PHASE_IDLE,
	PHASE_LIVE,
	PHASE_EXITED,
	PHASE_GONE,	/* behind the evicted sum */
	PHASE_CPU,
	PHASE_END,
	PHASE_OVER,
};

/* Memory of a record; grows to what the largest one needs. */
struct ktau_buffer {
	void	*p;
	size_t	bytes;
};

/**
 * struct ktau_front - the records that come before one that refers to them
 * @owner: of the record
 * @path: path of its program, NULL if unknown; allocated
 * @next: entry or slot that is looked at next
 * @offset: and where it is in the record; 0 until OWNER has been put
 */
struct ktau_front {
	struct ktau_owner	owner;
	char			*path;
	u32			next;
	u32			offset;
};

/* What @owners of a stream says of a serial. */
#define KTAU_SERIAL_PUT		BIT(0)	/* its OWNER has been put */
#define KTAU_SERIAL_HIDDEN	BIT(1)	/* the reader may not see it */
#define KTAU_SERIAL_RECORD	2	/* + kind, a bit: and that of a record */

/**
 * struct ktau_stream - an open /proc/ktau/profile or /proc/ktau/trace
 * @lock: serialises its users
 * @user: account of its opener, charged for it
 * @ns: pid namespace of its opener
 * @ns_id: tells it from others in what exited tasks have
 * @nsproxy: its other namespaces
 * @is_contained: the opener was not in the initial pid and user namespaces
 * @privileged: the opener may see all tasks
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 * @allowed: KTAU_ACCESS_* of the opener when it was opened
 * @access: and when the stream began
 * @select: what was asked for
 * @pids: its list of tids, or NULL
 * @offset: position in the file
 * @phase: where the stream is
 * @cursor: and where in that phase: CPU, pid, index into @pids, or number
 * @thread: tid reached in the process at @cursor of a list of processes
 * @reach: what of the ring at @cursor has been read
 * @end: counts for the last record
 * @watch: what it has shown of tasks that may be folded or evicted; profile only
 * @settle: what became of them
 * @gone: their serials
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
 * @cgroups: control groups whose CGROUP has been put
 * @owners: KTAU_SERIAL_* by serial
 * @where: where to find the owner of a serial, see describe.c
 * @where_until: serials above this came after @where was made
 * @where_at: when it was made, in jiffies
 * @small: any other record
 */
struct ktau_stream {
	struct mutex		lock;	/* all below it */
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
	s32			*pids;
	loff_t			offset;
	enum phase		phase;
	u64			cursor;
	pid_t			thread;
	struct ktau_reach	reach;
	struct ktau_rec_end	end;
	struct ktau_watch	watch;
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
	struct ktau_front	front;
	DECLARE_BITMAP(ids, KTAU_NR_IDS);
	struct xarray		cgroups;
	struct xarray		owners;
	struct xarray		where;
	u64			where_until;
	unsigned long		where_at;
	struct ktau_buffer	small;
};

/* Those that walk over all tasks. */
#define KTAU_TARGETS_ALL	(KTAU_TARGET_ALL | KTAU_TARGET_CHANGED)

/* Those that are named one by one. */
#define KTAU_TARGETS_LISTED	(KTAU_TARGET_SELF | KTAU_TARGET_LIST)

int ktau_buffer_need(struct ktau_buffer *buffer, size_t bytes);
u32 ktau_stream_access(const struct ktau_stream *stream);

#endif /* _KERNEL_KTAU_STREAM_H */
