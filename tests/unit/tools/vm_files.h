/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings of hosts and guests, made slot by slot and written with libktau's writer. */
#ifndef KTAU_TOOLS_VM_FILES_H
#define KTAU_TOOLS_VM_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktau.h>

#include "vm/guest_clock.h"

/* Events of all machines. */
enum { EV_GUEST = 1, EV_SCHEDULE, EV_WAIT, EV_VOL, EV_IRQ, EV_CALL };

enum { MAX_TASKS = 8 };

#define US	1000ULL

/* Exit reasons of SVM: an interrupt of the host, HLT, and an access to a port. */
enum { EXIT_INTR = 0x60, EXIT_HLT = 0x78, EXIT_IO = 0x7b };

struct vm_task {
	uint64_t serial, leader;
	int32_t tid;
	const char *comm;
	bool idle;
	uint64_t *words;
	size_t nr_words, room;
	uint32_t nr_slots;
	uint64_t lost, lost_from, lost_to;
};

/**
 * struct vm_file - a recording
 * @hz: frequency of the counter
 * @origin: KTAU_ORIGIN_*
 * @late_ns: by how much its CLOCK_REALTIME is wrong
 * @at: counter at the time of the stream
 * @boot: tells machines apart
 * @name: name of the machine; NULL: that of other fixtures
 * @profiled: it has profiles too
 * @lost_before: slots of tasks that had exited, lost before the recording
 * @lost_evicted: the same between its profiles and its trace
 * @clock: of a guest: its clock, by which slots are given in the time of the host
 * @host: of a guest in a guest: the guest outside
 */
struct vm_file {
	uint64_t hz, at;
	uint8_t origin;
	int64_t late_ns;
	uint8_t boot;
	const char *name;
	bool profiled;
	uint64_t lost_before, lost_evicted;
	const struct guest_clock *clock;
	const struct vm_file *host;
	struct vm_task *tasks[MAX_TASKS];
	size_t nr_tasks;
};

/* Add a task. */
struct vm_task *vm_file_task(struct vm_file *f, int32_t tid, const char *comm);

/* Add a slot at @t, which is in the time of the outermost host; its words are those of @payload. */
void vm_file_slot(const struct vm_file *f, struct vm_task *task, uint64_t t, struct ktau_slot slot,
		  const void *payload);

/* Frames of events, in task context or in interrupts. */
void vm_file_in(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		uint16_t id);
void vm_file_out(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		 uint16_t id);

/* The thread @task of virtual CPU @vcpu enters the guest, or leaves it. */
void vm_file_clock(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		   const struct guest_clock *clock);
void vm_file_enter(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu);
void vm_file_exit(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		  uint32_t reason);

/* The task loses the CPU, or sleeps, with the frame @id; and gets it again. */
void vm_file_off(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		 uint16_t id);
void vm_file_on(const struct vm_file *f, struct vm_task *task, uint64_t t, uint16_t cpu,
		uint16_t id);

/**
 * struct vm - a virtual machine with one CPU, and what runs in it
 * @host: the recording with its thread
 * @thread: the thread
 * @guest: its own recording
 * @task: a task in the guest
 * @cpu: CPU of the host that the thread has
 */
struct vm {
	const struct vm_file *host;
	struct vm_task *thread;
	struct vm_file guest;
	struct vm_task *task;
	uint16_t cpu;
};

/* Two clocks with the ratio 1. */
extern const struct guest_clock vm_plain, vm_later;

struct vm vm_make(struct vm_file *host, int32_t tid, const struct guest_clock *clock,
		  const char *task, int32_t task_tid);

/* The guest makes system calls, while it runs. */
void vm_calls(const struct vm *vm, uint64_t from, uint64_t to);

/* The guest runs from @from to @to, and makes system calls. */
void vm_runs(struct vm *vm, uint64_t from, uint64_t to, uint32_t reason);

/*
 * When vm_take_turns() begins, so late that the counters of vm_plain and vm_later are positive; and
 * when recordings end.
 */
#define VM_TURNS	SECOND
#define VM_END		(VM_TURNS + 25 * MS)

/*
 * The VMs take turns on CPU 0: @a runs 4 ms, @b 13 ms, @a 2 ms, @b 1 ms, @a 3 ms. A system call of
 * @a is open while it has no CPU.
 */
void vm_take_turns(const struct vm_file *host, struct vm *a, struct vm *b);

/* Write this example to host.ktau, guest1.ktau and guest2.ktau in @folder. */
void vm_example(const char *folder);

/* Write it to a new file. Return: its name, to be freed. */
char *vm_file_write(struct vm_file *f, const char *name);
void vm_file_deinit(struct vm_file *f);

/* Remove files, and free the array of their names. */
void vm_files_remove(char **files, size_t nr);

/* The host of a test, which its setup and teardown make and free. */
extern struct vm_file vm_host;
int vm_host_begin(void **state);
int vm_host_end(void **state);

#endif
