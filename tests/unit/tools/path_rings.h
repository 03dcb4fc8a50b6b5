/* SPDX-License-Identifier: GPL-2.0-only */
/* The rings of hand-made traces, and the graph of them; a tick is a nanosecond. */
#ifndef KTAU_TOOLS_PATH_RINGS_H
#define KTAU_TOOLS_PATH_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "analyse/timeline.h"
#include "path/graph.h"
#include "path/machines.h"
#include "path/walk.h"

/* Events. */
enum { VOL = 1, VOL_IO, PREEMPT, WAIT4, NANOSLEEP, READ, RECEIVE, HRTIMER, IRQ_TTY, IRQ_DISK,
       IRQ_OTHER, SOFT_RX, SOFT_RCU, RESCHEDULE, SOFT_OTHER, QUEUED, REQUEST, OTHER_REGION };

struct given {
	uint64_t ticks;
	uint8_t type;
	uint16_t id;
	uint8_t ctx;
	uint64_t words[3];
};

/*
 * A ring; the task has exited at @exit_ns unless that is 0. @parent: its parent's serial, or 0;
 * @named: it has the name of the task with this serial.
 */
struct ring {
	uint64_t serial, exit_ns;
	struct given slots[24];
	uint64_t first, lost, lost_from, lost_to;
	uint64_t parent, named;
};

#define IN(t, id) ((struct given){ t, KTAU_TRACE_ENTER, id })
#define OUT(t, id) ((struct given){ t, KTAU_TRACE_EXIT, id })
#define IRQ_IN(t, id) ((struct given){ t, KTAU_TRACE_ENTER, id, KTAU_CTX_HARDIRQ })
#define IRQ_OUT(t, id) ((struct given){ t, KTAU_TRACE_EXIT, id, KTAU_CTX_HARDIRQ })
#define OTHER(t, type, ctx, a, b, c) \
	((struct given){ t, KTAU_TRACE_##type, KTAU_ID_NONE, ctx, { a, b, c } })
#define SWITCH(t, state) OTHER(t, SWITCH, 0, 0, state, 0)
#define WAKE(t, serial) OTHER(t, WAKING, 0, serial, 0, 0)
#define IRQ_WAKE(t, serial) OTHER(t, WAKING, KTAU_CTX_HARDIRQ, serial, 0, 0)
#define WOKEN(t, waker, at) OTHER(t, WOKEN, 0, waker, at, 0)
#define IRQ_WOKEN(t, waker, at) OTHER(t, WOKEN, 0, waker, at, 2ULL << 32)
#define FORK(t, serial) OTHER(t, FORK, 0, serial, serial, 0)
#define RX_WOKEN(t, waker, at) OTHER(t, WOKEN, 0, waker, at, 1ULL << 32)
#define SEND(t, ports, seq, bytes) OTHER(t, NET_SEND, 0, ports, seq, bytes)
#define RX_SEND(t, ports, seq, bytes) OTHER(t, NET_SEND, KTAU_CTX_SOFTIRQ, ports, seq, bytes)
#define RECV(t, ports, seq, bytes) OTHER(t, NET_RECV, KTAU_CTX_SOFTIRQ, ports, seq, bytes)
/* A segment without payload. */
#define ACK(seq) ((uint64_t)(seq) << 32)
#define EXEC(t, comm) OTHER(t, EXEC, 0, comm, 0, 0)
/* One with which the trace continues in the ring @serial. */
#define EXEC_AS(t, comm, serial) OTHER(t, EXEC, 0, comm, 0, serial)

/* The task waits in the system call @id from @t to @at, and runs again at @on. */
#define WAITS(id, t, waker, at, on) \
	IN(-1 + (t), id), IN(t, VOL), SWITCH(t, 1), WOKEN(on, waker, at), OUT(on, VOL), OUT(on, id)

/* A graph of rings. */
struct reading {
	struct registry *registry;
	struct path_graph *g;
	struct timeline *t;
};

/* Set the rings of the next graphs. */
void give_rings(const struct ring *rings, size_t nr);

/* Set the serial of the recorded command in the next graphs; 0: none. */
void give_command(uint64_t serial);

#define GIVEN(rings) give_rings(rings, sizeof(rings) / sizeof(*(rings)))

/* The rings of a machine whose CLOCK_REALTIME is ahead of that of the others. */
struct given_machine {
	const char *host;
	uint8_t boot;
	uint64_t ahead_ns;
	const struct ring *rings;
	size_t nr;
};

/* Read the rings of several machines. */
void read_machines(struct machines *m, const struct given_machine *machines, size_t nr);

/* Make the graph of the given rings; @region is that whose passes are kept, or NULL. */
void read_given(struct reading *r, struct timeline_sink *sink, const char *region);
void free_given(struct reading *r);

/* Print the segments of a path: start, serial, state, wait<-cause. */
void print_path_segments(const struct path_graph *g, const struct path *path, uint32_t task,
			 char *text, size_t size);

/* path_choose_task() for one machine */
uint32_t choose_task(struct path_graph *g, const char *name);

#endif
