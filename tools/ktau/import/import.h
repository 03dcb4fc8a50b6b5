/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Translates the events of another tracer into the records of a KTAU recording. The events come in
 * the order of their times; each belongs to the task that its CPU runs.
 *
 * Slots are kept until they fill IMPORT_BUFFER bytes, and then written as a stream. Tasks and their
 * profiles are kept until the end.
 */
#ifndef KTAU_TOOLS_IMPORT_H
#define KTAU_TOOLS_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "lib/hash.h"
#include "lib/program_event.h"

enum { IMPORT_BUFFER = 32 << 20,
       IMPORT_DEPTH = 200,
       IMPORT_CPUS = 4096,
       IMPORT_TRACES = 1024,
       IMPORT_MOST_TID = 1 << 22 };

/* Times beyond this are not those of a clock; sums of two of them do not wrap. */
#define IMPORT_MOST_NS (UINT64_C(1) << 62)

/* What a frame says about its task. */
enum import_kind {
	IMPORT_TASK,
	IMPORT_SYSCALL,
	IMPORT_SOFTIRQ,
	IMPORT_HARDIRQ,
	IMPORT_TIMER,
	IMPORT_HRTIMER,
	IMPORT_SLEEP,
	IMPORT_PREEMPT,
	IMPORT_COUNTER,
	IMPORT_PROGRAM,
};

/**
 * struct import_point - an event of the recording
 * @id: its id
 * @kind: what its frames say
 * @source: KTAU_SOURCE_*
 * @group: KTAU_GROUP_*
 * @key: as in struct ktau_rec_event
 * @name: its name, valid as that of an event
 */
struct import_point {
	uint16_t id;
	enum import_kind kind;
	uint8_t source;
	uint32_t group;
	uint64_t key;
	char *name;
};

/* A frame in flight. */
struct import_frame {
	const struct import_point *point;
	uint64_t start_ns, child_ns;
};

/* The figures of an event of a task. @open: its frames in flight. */
struct import_figures {
	struct ktau_entry entry;
	uint32_t open;
};

/* Slots of a task without a gap: @nr_slots in @bytes, after @lost ones. */
struct import_run {
	uint64_t first, next, lost, lost_from_ns, lost_to_ns;
	uint32_t nr_slots;
	size_t bytes;
};

/**
 * struct import_task - a task
 * @owner: its description, with its serial
 * @frames: its frames in flight, outermost first
 * @depth: length of @frames, at most IMPORT_DEPTH
 * @frames_room: allocated length of @frames
 * @figures: its events
 * @nr_figures: length of @figures
 * @figures_room: allocated length of @figures
 * @by_id: index of an event in @figures plus 1
 * @known: it is known what the task does
 * @begun: it has been seen to do something
 * @born: it has been seen to begin
 * @gap: slots were lost, so its account is not complete
 * @off: it is off the CPU
 * @preempted: it is runnable while it is off the CPU
 * @sure: it is known whether it is in a system call while it has no frame
 * @ended: it has exited
 * @dirty: its description has changed since it was written
 * @moved: it has been moved to a control group, and its trace does not say so yet
 * @woken: @woken_by is the wakeup that ends its wait
 * @noted: number plus 1 of the last trace with an event of its program since the last loss there;
 *	0: none
 * @listed: round in which it was kept in a list of @noters
 * @since_ns: end of the time in @parts
 * @start_ns: when its profile began
 * @unsure_ns: time in user mode or a system call that began before the trace
 * @outer_ns: duration of its outermost frames
 * @user_ns, @kernel_ns, @irq_ns, @runq_ns, @asleep_ns: its account
 * @slots: slots that have not been written
 * @slots_bytes: their bytes
 * @slots_room: allocated bytes of @slots
 * @runs: where they belong
 * @nr_runs: length of @runs
 * @runs_room: allocated length of @runs
 * @position: position of its next slot
 * @vcpu: virtual CPU that it has entered
 */
struct import_task {
	struct ktau_rec_owner owner;
	struct import_frame *frames;
	uint32_t depth, frames_room;
	struct import_figures *figures;
	size_t nr_figures, figures_room;
	struct hash by_id;
	bool known, begun, born, gap, off, preempted, sure, ended, dirty, moved, woken;
	struct ktau_slot_woken woken_by;
	uint32_t noted;
	uint64_t listed;
	uint64_t since_ns, start_ns, unsure_ns, outer_ns;
	uint64_t user_ns, kernel_ns, irq_ns, runq_ns, asleep_ns;
	uint8_t *slots;
	size_t slots_bytes, slots_room;
	struct import_run *runs;
	size_t nr_runs, runs_room;
	uint64_t position;
	uint32_t vcpu;
};

/* The tasks that have noted events in a trace since the last loss, and perhaps others. */
struct import_noters {
	struct import_task **tasks;
	size_t nr, room;
};

/* A control group. */
struct import_cgroup {
	uint64_t id;
	char *path;
};

/* A CPU: the task that it runs, or NULL, and the time of its last event. */
struct import_cpu {
	struct import_task *now;
	uint64_t ns;
};

/**
 * struct import_host - what is known about the machine
 * @boot_id: its boot, or an id of the trace
 * @nodename: its name
 * @release: its kernel
 * @offset_ns: CLOCK_REALTIME at the time 0 of the trace
 */
struct import_host {
	uint8_t boot_id[16];
	char nodename[72], release[72];
	int64_t offset_ns;
};

/* What the trace has that an analysis needs. */
enum import_seen {
	IMPORT_SEEN_SWITCH = 1,
	IMPORT_SEEN_WAKEUP = 2,
	IMPORT_SEEN_SYSCALL = 4,
	IMPORT_SEEN_IRQ = 8,
	IMPORT_SEEN_SOFTIRQ = 16,
	IMPORT_SEEN_FORK = 32,
	IMPORT_SEEN_EXEC = 64,
	IMPORT_SEEN_STATE = 128,
	IMPORT_SEEN_KVM = 256,
};

/**
 * struct import - an import
 * @writer: writes the recording
 * @output: file of the recording
 * @opened: it has been created
 * @command: command line for the INFO record
 * @host: the machine
 * @ftrace: the trace is one of ftrace
 * @hz: frequency of its clock; 0: not known
 * @native: the trace was written by ktau export and has KTAU's own frames
 * @kernel: there is a trace of a kernel
 * @x86_64: the machine is known to have the system calls of x86-64
 * @seen: enum import_seen
 * @ns: time of the current event
 * @begin_ns: time of the first event
 * @cpu: CPU of the current event
 * @nr_cpus: 1 more than the highest CPU
 * @cpus: the CPUs
 * @tasks: all tasks
 * @nr_tasks: length of @tasks
 * @tasks_room: allocated length of @tasks
 * @by_tid: the live task of a thread id, or the idle task of a CPU
 * @points: events of the recording
 * @nr_points: length of @points
 * @points_room: allocated length of @points
 * @nr_syscalls: number of system calls among them
 * @by_name: a point by the hash of its name
 * @buffered: bytes of slots in memory
 * @exited: tasks that have exited
 * @events: events read
 * @skipped: of them, events that the recording has nothing for
 * @discarded: events that the tracer has discarded
 * @unmatched: exits without a frame
 * @clamped: times that went back
 * @refused: events without an id
 * @homeless: events of programs whose thread is not known
 * @left_out: fields of kinds of events of programs that found no room
 * @noted: events of programs
 * @cgroups: control groups
 * @nr_cgroups: length of @cgroups
 * @cgroups_room: allocated length of @cgroups
 * @by_cgroup: index in @cgroups plus 1, by its id
 * @noters: of each trace
 * @round: see @listed of struct import_task
 * @err: -errno of a failed write
 */
struct import {
	struct ktau_writer *writer;
	const char *output;
	bool opened;
	const char *command;
	struct import_host host;
	bool ftrace;
	uint64_t hz;
	bool native, kernel, x86_64;
	unsigned int seen;
	uint64_t ns, begin_ns;
	uint32_t cpu, nr_cpus;
	struct import_cpu cpus[IMPORT_CPUS];
	struct import_task **tasks;
	size_t nr_tasks, tasks_room;
	struct hash by_tid;
	struct import_point **points;
	size_t nr_points, points_room, nr_syscalls;
	struct hash by_name;
	size_t buffered;
	uint64_t exited, events, skipped, discarded, unmatched, clamped, refused;
	uint64_t homeless, left_out, noted;
	struct import_cgroup *cgroups;
	size_t nr_cgroups, cgroups_room;
	struct hash by_cgroup;
	struct import_noters noters[IMPORT_TRACES];
	uint64_t round;
	int err;
};

/**
 * struct import_event - an event of the trace
 * @fields: its fields, for the functions
 * @tid: thread id in its context; -1: it has none
 * @number: value of an integer field; @none if there is no such field
 * @text: value of a text field; "" if there is no such field
 */
struct import_event {
	const void *fields;
	int64_t tid;
	int64_t (*number)(const void *fields, const char *name, int64_t none);
	const char *(*text)(const void *fields, const char *name);
};

/* A kind of event of the trace. @put: NULL: the recording has nothing for it. */
struct import_class {
	void (*put)(struct import *im, const struct import_class *class,
		    const struct import_event *e);
	const struct import_point *point;
	bool exits;
};

/* The time of a counter that counts @hz in a second, 0: nanoseconds; at most IMPORT_MOST_NS. */
uint64_t import_ns(uint64_t cycles, uint64_t hz);

/* The next event has this time and CPU. A time before the last one is replaced by that. */
void import_time(struct import *im, uint64_t ns, uint32_t cpu);

/* A segment of TCP that was sent or received. */
struct ktau_slot_net import_segment(const struct import_event *e);

/* Classes of events, and taking one. The caller has set @ns and @cpu. */
void import_classify(struct import *im, const char *name, struct import_class *class);
void import_event(struct import *im, const struct import_class *class,
		  const struct import_event *e);

/* The same of a system call. Return: whether it is one. */
bool import_classify_call(struct import *im, const char *name, struct import_class *class);

/* The task of an event; NULL: not known. */
struct import_task *import_current(struct import *im, const struct import_event *e);

/* The task of an event enters or exits a frame of @point, unless that is NULL. */
void import_put_frame(struct import *im, const struct import_point *point, bool exits,
		      const struct import_event *e);

/* Control groups */

/* A task is moved to another control group. */
void import_attach(struct import *im, const struct import_class *class,
		   const struct import_event *e);

/* The task runs: if it has been moved, its trace says so. */
void import_moved(struct import *im, struct import_task *task);

/* Write the records of all groups. Return: 0 or -errno. */
int import_put_cgroups(struct import *im);

/* @nr events of the current CPU were lost after its last one. */
void import_discarded(struct import *im, uint64_t nr);

/* Events of programs */

/**
 * struct import_noted - an event of a program
 * @point: its kind; NULL: it has no id
 * @tid: thread id; -1: that of the task that the CPU runs
 * @pid: process id; -1: not known
 * @comm: name of the thread, or ""
 * @trace: number of its trace, below IMPORT_TRACES
 * @payload: the values of its fields
 * @words: length of @payload
 */
struct import_noted {
	const struct import_point *point;
	int64_t tid, pid;
	const char *comm;
	uint32_t trace;
	const uint64_t *payload;
	size_t words;
};

/* The kind of an event with this name, which lists its fields; NULL if there are too many. */
const struct import_point *import_program(struct import *im, const char *name);

/* Take an event. The caller has set @ns and @cpu. */
void import_noted(struct import *im, const struct import_noted *noted);

/* @nr events of this trace were lost from now until @to_ns, of any of its threads. */
void import_noted_lost(struct import *im, uint32_t trace, uint64_t nr, uint64_t to_ns);

/* Tasks */

struct import_point_key {
	const char *name;
	enum import_kind kind;
	uint8_t source;
	uint32_t group;
	uint64_t key;
};

/* The event with this name, which may be new; NULL if there are too many. */
const struct import_point *import_point(struct import *im, const struct import_point_key *key);

/* The live task with @tid; idle tasks are told apart by @cpu. NULL for a negative @tid. */
struct import_task *import_task(struct import *im, int64_t tid, uint32_t cpu);

/* The last task with @tid, which may have exited. */
struct import_task *import_last(struct import *im, int64_t tid, uint32_t cpu);

/* A task with @tid has been created now. */
struct import_task *import_fork(struct import *im, int64_t tid);

void import_name(struct import_task *task, const char *comm);

/* The task enters or exits a frame, runs again, or has a value. */
void import_enter(struct import *im, struct import_task *task, const struct import_point *point);
void import_exit(struct import *im, struct import_task *task, const struct import_point *point);
void import_count(struct import *im, struct import_task *task, const struct import_point *point,
		  uint64_t value);

/* It is now known what the task does. */
void import_known(struct import *im, struct import_task *task);

/* It is not known what the task does from now on. */
void import_unknown(struct import *im, struct import_task *task);

/* The innermost frame of a system call; NULL: none. */
const struct import_point *import_syscall(const struct import_task *task);

/* End the frames of interrupts, which cannot outlast a switch. */
void import_end_interrupts(struct import *im, struct import_task *task);

/* Write a slot of the task. @payload has a multiple of 8 bytes. */
void import_slot(struct import *im, struct import_task *task, uint8_t type, const void *payload,
		 size_t bytes);

/* Write a slot with an event of the program of the task. */
void import_fields(struct import *im, struct import_task *task, const struct import_noted *noted);

/* @nr slots of the task, at least 1, were lost from @from_ns until now. */
void import_lose(struct import *im, struct import_task *task, uint64_t from_ns, uint64_t nr);

/* The task has ended now. */
void import_gone(struct import *im, struct import_task *task);

/* The context in which the task runs. */
uint8_t import_context(const struct import_task *task);

/* Add the time until now to the account. */
void import_charge(struct import *im, struct import_task *task);

void import_deinit(struct import *im);

/* Records */

/* Write what is in memory; @last: and the profiles. Return: 0 or -errno. */
int import_write(struct import *im, bool last);

/* Write slots if they fill IMPORT_BUFFER. */
void import_flush(struct import *im);

/*
 * Read a file trace.dat of trace-cmd. Return: as below.
 */
int import_ftrace(struct import *im, const char *path);

/*
 * Read the CTF traces in and below the directories @paths. Return: CLI_DONE; CLI_FAILED with a
 * message, after which what could be read has been taken.
 */
int import_ctf(struct import *im, char *const *paths, size_t nr);

#endif
