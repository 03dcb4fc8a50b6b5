/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The execution graph: for each task, contiguous edges from its first slot to its last. An edge is
 * a time in one state. The edge of a wait names the task that ended it, or the interrupt.
 *
 * All edges of a task come from its own ring, so a lost slot harms one task. Only the interrupt
 * that ended a wait is found in the ring of the task that it interrupted.
 */
#ifndef KTAU_TOOLS_PATH_GRAPH_H
#define KTAU_TOOLS_PATH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/hash.h"
#include "cause.h"
#include "packets.h"
#include "segment.h"
#include "analyse/timeline_event.h"

/**
 * struct path_edge - a time that a task spent in one state
 * @from_ns: start, CLOCK_BOOTTIME
 * @to_ns: end
 * @waker: index of the task that ended the wait, or that sent the packet that did; PATH_NONE: no
 *	task did
 * @packet: number of this packet in struct path_graph; PATH_NONE: no packet did
 * @cpu: RUN_QUEUE: the CPU that the task waited for
 * @wait: event id of the system call or kernel routine that waited, or KTAU_ID_NONE
 * @cause: event id of the interrupt or callback that ended the wait, or KTAU_ID_NONE; STOLEN: index
 *	in @thieves of struct path_graph
 * @state: enum path_state
 * @unknown: UNKNOWN: enum path_unknown
 */
struct path_edge {
	uint64_t from_ns, to_ns;
	uint32_t waker, packet;
	uint16_t cpu, wait, cause;
	uint8_t state, unknown;
};

/* What a task was doing at its last event. */
enum path_now { NOW_NOTHING, NOW_RUNNING, NOW_OFF, NOW_LOST, NOW_UNTRACED, NOW_GONE };

/**
 * struct path_waking - the last wakeup of a task, as the waker has recorded it
 * @ticks: when
 * @serial: serial of the waker, or of the task that it interrupted
 * @state: state of a wait that this ended; PATH_STATES: not known
 * @cause: event id of the interrupt, or KTAU_ID_NONE
 * @origin: NETWORK: the sender of the packet
 */
struct path_waking {
	uint64_t ticks, serial;
	enum path_state state;
	uint16_t cause;
	struct path_origin origin;
};

/**
 * struct path_task - a task and its edges
 * @serial: its serial
 * @owner: its last OWNER record; only the serial if there is none
 * @edges: in time order, without gaps
 * @nr: length of @edges
 * @room: allocated length of @edges
 * @creator: index of the task that created it; PATH_NONE: not recorded
 * @created_ns: when
 * @leader_serial: serial of the leader of its thread group if @creator is known
 * @leader: index of the leader; PATH_NONE: not known
 * @before: index of the task whose life it continues, by executing a program; PATH_NONE: of none
 * @before_ns: until when that life lasted
 * @next: index of the task that continues its own life, or PATH_NONE
 * @released_ns: when the recorder let it execute the command; 0: not known, or not its task
 * @machine: index of its machine
 * @label: "NAME@HOST" if there are several machines, or NULL
 * @lost: slots lost
 * @ring_slots: size of its ring
 * @written: size of all that it wrote to its ring
 * @exited: it has exited, @exit_code is valid if @has_code
 * @now: state of the sequence, with the members below
 * @since_ns: since when
 * @off: class of the event in which it is off the CPU
 * @untraced: its switches are not traced
 * @runnable: it stayed runnable when it was switched out
 * @received: sender of the last packet that a softirq has received while interrupting it
 * @woken: it was woken since, at @woken_ns by @woken_by
 */
struct path_task {
	uint64_t serial;
	struct ktau_rec_owner owner;
	struct path_edge *edges;
	size_t nr, room;
	uint32_t creator;
	uint64_t created_ns;
	uint64_t leader_serial;
	uint32_t leader;
	uint32_t before, next;
	uint64_t before_ns, released_ns;
	uint16_t machine;
	char *label;
	uint64_t lost;
	uint32_t ring_slots;
	uint64_t written;
	bool exited, has_code;
	int32_t exit_code;

	enum path_now now;
	uint64_t since_ns;
	unsigned int off;
	bool untraced, runnable, woken;
	struct ktau_slot_woken woken_by;
	struct path_origin received;
	struct path_waking waking;
};

/**
 * struct path_arrival - a wait that a segment from elsewhere has ended
 * @task: index of the task
 * @edge: number of the wait
 * @received: number of the segment, from 1 on
 */
struct path_arrival {
	uint32_t task, received;
	size_t edge;
};

/**
 * struct path_exec - a task has executed a program
 * @task: index of the task
 * @ns: when
 * @comm: name of the program
 */
struct path_exec {
	uint32_t task;
	uint64_t ns;
	char comm[17];
};

/**
 * struct path_pass - a task was in a region of its program
 * @task: index of the task
 * @from_ns: when it entered the region
 * @to_ns: when it left it
 */
struct path_pass {
	uint32_t task;
	uint64_t from_ns, to_ns;
};

struct registry;
struct timeline;

/**
 * struct path_graph - the graph of a machine, or of several
 * @tasks: tasks in order of first appearance
 * @nr_tasks: length of @tasks
 * @room: allocated length of @tasks
 * @by_serial: index of a task plus 1
 * @execs: in time order
 * @nr_execs: length of @execs
 * @execs_room: allocated length of @execs
 * @region: name of a region whose passes are kept, or NULL
 * @passes: the complete ones, without those inside another one
 * @nr_passes: length of @passes
 * @passes_room: allocated length of @passes
 * @packets: the last packets of all connections
 * @sent_ns: for each wait that a packet has ended, when it was sent
 * @nr_sent: length of @sent_ns
 * @sent_room: allocated length of @sent_ns
 * @arrivals: waits that segments from elsewhere have ended
 * @nr_arrivals: length of @arrivals
 * @arrivals_room: allocated length of @arrivals
 * @hosts: names of the machines
 * @nr_hosts: length of @hosts; 0: there is one machine
 * @thieves: the tasks that had the CPU of a host instead of a guest; PATH_NONE: not known
 * @nr_thieves: length of @thieves
 * @host: name of the machine; NULL: there are several
 * @runs_guests: it is the host of virtual machines
 * @classes: class of each event
 * @command_serial: the task of the recorded command, or 0; of one machine only
 * @registry: names of the events
 * @timeline: source of the events
 * @end_ticks: time of the last stream
 * @end_ns: end of the trace
 * @events: events received
 * @wakeups: waits that ended with a wakeup
 * @missing: wakeups by interrupts that are not in the trace
 */
struct path_graph {
	struct path_task *tasks;
	size_t nr_tasks, room;
	struct hash by_serial;
	struct path_exec *execs;
	size_t nr_execs, execs_room;
	const char *region;
	struct path_pass *passes;
	size_t nr_passes, passes_room;
	struct packets packets;
	uint64_t *sent_ns;
	size_t nr_sent, sent_room;
	struct path_arrival *arrivals;
	size_t nr_arrivals, arrivals_room;
	char **hosts;
	size_t nr_hosts;
	uint32_t *thieves;
	size_t nr_thieves;
	const char *host;
	bool runs_guests;
	uint8_t classes[65536];
	uint64_t command_serial;
	const struct registry *registry;
	const struct timeline *timeline;
	uint64_t end_ticks, end_ns;
	uint64_t events, wakeups, missing;
};

/* Create an empty graph; never returns NULL. Both arguments must outlive it. */
struct path_graph *graph_create(const struct registry *registry);
void graph_destroy(struct path_graph *g);

/* Take an event of @timeline. Return: 0. */
int graph_event(void *graph, const struct timeline_event *e);

/* Note the time of a stream, and the size of a ring. */
void graph_record(struct path_graph *g, const union ktau_record *record);

/* The trace has ended. Afterwards the edges are complete. */
void graph_finish(struct path_graph *g);

/* The index of the last edge of @task that begins before @ns; -1 if none does. */
ptrdiff_t graph_edge_before(const struct path_task *task, uint64_t ns);

/* The index of a task; PATH_NONE if the trace does not name it. */
uint32_t graph_find(const struct path_graph *g, uint64_t serial);

/* The task in which the life began that @task continues; mostly @task itself. */
uint32_t graph_first_life(const struct path_graph *g, uint32_t task);

/* Note when a segment was sent. Return: its number. */
uint32_t graph_sent_at(struct path_graph *g, uint64_t ns);

/* The name of a task, with that of its machine if there are several. */
const char *graph_task_name(const struct path_graph *g, uint32_t task);

/* The class of an event. */
unsigned int graph_class(struct path_graph *g, uint32_t id);

#endif
