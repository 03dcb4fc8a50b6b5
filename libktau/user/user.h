/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktau-user: the regions of one thread. */
#ifndef KTAU_INTERNAL_USER_H
#define KTAU_INTERNAL_USER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define KTAU__USER_DEPTH	256

/* @flags of struct ktau__user: the thread is in the library; it has a trace. */
#define KTAU__BUSY	1
#define KTAU__TRACED	2

struct ktau_area_header;
struct ktau__trace;
struct ktau__trace_slot;

/* A region: a point, entered in the region @parent. */
struct ktau__region {
	uint32_t point;
	uint32_t parent;
	uint32_t child;		/* the first region in it, 0 if there is none */
	uint32_t next;		/* the next one in @parent */
	char *name;
};

/*
 * An open scope or instrumented function.
 *
 * @frame: the frame of the scope; for a function, its address
 * @stack: the stack address of the function
 * @caller: the return address of the function
 * @function: it is an instrumented function
 */
struct ktau__level {
	const void *frame;
	const void *stack;
	const void *caller;
	uint32_t region;
	bool function;
};

/*
 * The state of a thread.
 *
 * @word: the current region; in the area that is shared with the kernel, or @unshared
 * @status: 0 if it is shared, or a negative error number
 * @flags: KTAU__*; 0 in the usual case, which has the fast path
 * @deeper: instrumented functions that were entered when @level was full
 * @low, @high: the bounds of the thread's stack
 * @names: the file of names, or -1
 * @figures: the figures that are mapped, or NULL
 * @trace: its trace, or NULL
 * @names_dev, @names_ino: identify the file of names
 */
struct ktau__user {
	volatile uint32_t *word;
	uint32_t unshared;
	int status;
	uint8_t flags;
	const void *low, *high;
	uint32_t depth, deeper;
	struct ktau__level level[KTAU__USER_DEPTH];
	uint32_t nr, max;
	struct ktau__region *region;
	uint64_t refused;
	uint64_t serial;
	int names;
	const struct ktau_area_header *figures;
	struct ktau__trace *trace;
	dev_t names_dev;
	ino_t names_ino;
};

/* The state of this thread, which is created if necessary. NULL: it could not be created. */
struct ktau__user *ktau__user_begin(void);

/*
 * Ask the kernel for an area for this thread, with up to @u->max regions. Unless this sets
 * @u->status to 0, the thread has no regions and writes no files.
 */
void ktau__area_open(struct ktau__user *u);
void ktau__area_close(struct ktau__user *u);

/*
 * In the child of a fork, replace the area and the trace of the parent by others. fork() may have
 * been called by a signal handler that has interrupted this library or malloc(). So no memory is
 * allocated or freed, and what was mapped remains mapped at the same address; if there is nothing
 * else to map, as zeros. @fixed: MAP_FIXED or MAP_FIXED_NOREPLACE
 */
void ktau__area_renew(struct ktau__user *u);
void ktau__trace_renew(struct ktau__user *u);
bool ktau__map_zeros(void *at, size_t bytes, int fixed);

/* Block signals, whose handlers may fork, except those that are raised by an instruction. */
void ktau__block_signals(sigset_t *old);

/* The number of a point, which is stored in *id; a new one is assigned if it is 0. */
uint32_t ktau__point_id(uint32_t *id);

/* The point of an instrumented function, 0 if there is no room; and the function's name. */
uint32_t ktau__function_point(const void *address);
const char *ktau__function_name(const void *address);

/* Forget the functions that are no longer loaded. */
void ktau__functions_unloaded(void);

/* The symbol at an address, or its file and offset; the caller frees it. NULL: no memory. */
char *ktau__symbol_name(const void *function);
bool ktau__is_loaded(const void *function);

/* Replace control characters, because a name is one line of a file. */
void ktau__hide_controls(char *name);

/* Create PREFIXHOST.PID.TID for this thread, in $KTAU_USER_DIR or the current directory. */
int ktau__file_open(const char *prefix, int flags);

/* Whether a file may become this long. If the limit forbids it, writing would raise SIGXFSZ. */
bool ktau__may_write(uint64_t bytes);
void ktau__read_boot_id(char id[37]);

/*
 * The trace of this thread. ktau__trace_region() writes which region it is in now, if it has a
 * trace; ktau__trace_event() requires one, and sets the time and number of @slot.
 */
void ktau__trace_open(struct ktau__user *u);
void ktau__trace_region(struct ktau__user *u, uint32_t region);
void ktau__trace_event(struct ktau__user *u, uint32_t point, const char *name,
		       struct ktau__trace_slot *slot);
void ktau__trace_close(struct ktau__user *u);

/* The file of names of this thread. */
void ktau__names_open(struct ktau__user *u);
void ktau__names_add(struct ktau__user *u, uint32_t region);
void ktau__names_event(struct ktau__user *u, uint32_t event, const char *name);
void ktau__names_close(struct ktau__user *u);

#endif /* KTAU_INTERNAL_USER_H */
