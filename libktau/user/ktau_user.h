/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau-user: regions of programs. A program marks functions, phases or any other part of
 * itself; the kernel accounts what it does to the region that caused it.
 *
 *	void foo(void)
 *	{
 *		KTAU_USER_SCOPE("foo");
 *		...
 *	}
 *
 * A scope inside another one is a region of its own: "main => foo" and "foo" differ. ktau
 * regions shows them. On a kernel without KTAU, or without permission, scopes do nothing.
 */
#ifndef KTAU_USER_H
#define KTAU_USER_H

#include <stdbool.h>
#include <stdint.h>

/* Functions that implement scopes are not instrumented as functions of the program. */
#define KTAU_USER_INLINE__ __attribute__((always_inline, no_instrument_function))

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct ktau_user_point - a place in the program that names a region
 * @name: the name, printable and without line breaks
 * @id: 0; set by the library when the point is first entered
 */
struct ktau_user_point {
	const char *name;
	uint32_t id;
};

/**
 * struct ktau_user_frame - one activation of a point, on the stack of the thread
 * @stack: stack address of the function with the frame
 * @caller: return address of that function
 * @depth: depth of the frame, 0 if it was not entered
 */
struct ktau_user_frame {
	const void *stack;
	const void *caller;
	uint32_t depth;
};

void ktau_user_enter_frame(struct ktau_user_frame *frame, struct ktau_user_point *point);

/**
 * ktau_user_enter() - enter a region
 * @frame: uninitialised, on the stack of the caller
 * @point: names the region; must not be on the stack
 *
 * The first call of a thread asks the kernel for an area. Can be called from signal
 * handlers. Scopes that longjmp() or an exception has left are closed. It is inlined because
 * it records the stack and return addresses of the function with the frame.
 */
static inline KTAU_USER_INLINE__ void
ktau_user_enter(struct ktau_user_frame *frame, struct ktau_user_point *point)
{
	/* NOLINTBEGIN(bugprone-signal-handler) */
	frame->stack = __builtin_frame_address(0);
	frame->caller = __builtin_return_address(0);
	ktau_user_enter_frame(frame, point);
	/* NOLINTEND(bugprone-signal-handler) */
}

/* Leave the region of @frame, and all regions that were entered inside it. */
void ktau_user_exit(struct ktau_user_frame *frame);

/**
 * ktau_user_enter_function() - enter the region of a function
 * @function: address of the function, whose symbol is the name of the region
 * @caller: its return address
 * @stack: its stack pointer
 *
 * For hooks that a compiler puts into every function; libktau-finstrument has those of
 * -finstrument-functions. ktau_user_exit_function() with the same arguments, except that
 * @stack may differ, ends the region. Regions that longjmp() has left are closed.
 */
void ktau_user_enter_function(const void *function, const void *caller, const void *stack);
void ktau_user_exit_function(const void *function, const void *caller, const void *stack);

/* Must be called after dlclose(): forgets the functions that are no longer loaded. */
void ktau_user_unloaded(void);

/**
 * ktau_user_mark() - record an event in the trace of the thread
 * @point: names it; must not be on the stack
 *
 * KTAU_USER_TRACE enables traces; without one, these functions do nothing. An event at more than
 * 64 points of a thread, or in a signal handler that has interrupted the library, is left out and
 * counted by ktau_user_refused().
 */
void ktau_user_mark(struct ktau_user_point *point);

/* The same with @value. */
void ktau_user_value(struct ktau_user_point *point, uint64_t value);

/* The same for a message of @bytes to or from the process with the number @peer. */
void ktau_user_message(struct ktau_user_point *point, int peer, uint64_t bytes);

/* Whether the thread has a trace. */
bool ktau_user_is_traced(void);

/**
 * ktau_user_status() - whether the kernel accounts to the regions of this thread
 *
 * Return: 0; -EAGAIN before the first region; -ENOENT without KTAU, -ENOTTY if it has no
 * regions, -EACCES without permission, -ENODATA if KTAU was not enabled for the thread, -EEXIST
 * if another copy of the library has the thread's regions; another -errno.
 */
int ktau_user_status(void);

/**
 * ktau_user_refused() - how often this thread could not have a region, or record an event
 *
 * Return: how many times a scope or function was entered without a region of its own, because
 * there were too many regions or nested scopes, or because a signal handler had interrupted the
 * library; and events that are missing from the trace. What the kernel did in such a scope is
 * accounted to the region around it.
 */
uint64_t ktau_user_refused(void);

/**
 * ktau_user_event() - the id of an event
 * @name: its name, as ktau events shows it
 *
 * Makes system calls until it has found the event; it remembers the ids of up to 256 events. The
 * id of a system call is its number, for instance SYS_read.
 *
 * Return: the id; -ENOENT without KTAU, or if no event of this name has an id, which an event gets
 * at the latest when it first happens in any task; another -errno if the events cannot be read.
 */
int ktau_user_event(const char *name);

/**
 * ktau_user_read() - what the kernel has done for this thread
 * @event: id of the event
 * @count: receives how often it has happened
 * @incl: receives its inclusive time in ticks, see ktau_user_hz(); of a counter, the sum
 * @excl: receives its exclusive time; of a counter, the minimum
 *
 * If ktau_user_is_mapped() this makes no system call, and returns what has happened in task
 * context since the first call of the library in this thread. Otherwise, and for events with ids
 * from 1024 on, it reads the profile of the thread by system calls. For an id from 640 on that is
 * not from ktau_user_event(), the first reading in the process makes system calls to find out
 * whether the event is a counter. Pointers may be NULL.
 *
 * Return: 0; 1 if the kernel had no room for some activations; -errno.
 */
int ktau_user_read(uint32_t event, uint64_t *count, uint64_t *incl, uint64_t *excl);

/**
 * ktau_user_read_name() - the same for an event with a name
 * @name: as for ktau_user_event()
 * @count: receives how often it has happened
 * @incl: receives its inclusive time in ticks; of a counter, the sum
 * @excl: receives its exclusive time in ticks; of a counter, the minimum
 *
 * Return: as ktau_user_event() if that fails, otherwise as ktau_user_read().
 */
int ktau_user_read_name(const char *name, uint64_t *count, uint64_t *incl, uint64_t *excl);

/**
 * ktau_user_read_region() - the same for the thread's current region
 * @event: id of the event
 * @count: receives how often it has happened
 * @incl: receives its inclusive time in ticks; of a counter, the sum
 * @excl: receives its exclusive time in ticks; of a counter, the minimum
 *
 * Return: as ktau_user_read(); also -ENOENT outside of all regions, and ktau_user_status()
 * if the thread has no regions.
 */
int ktau_user_read_region(uint32_t event, uint64_t *count, uint64_t *incl, uint64_t *excl);

/* Whether the thread reads its figures without system calls. */
bool ktau_user_is_mapped(void);

/* Ticks per second, 0 if unknown. */
uint64_t ktau_user_hz(void);

#ifdef __cplusplus
}

struct ktau_user_scope {
	struct ktau_user_frame frame;

	/* Inlined, so that it records the addresses of the function with the scope. */
	KTAU_USER_INLINE__ explicit ktau_user_scope(struct ktau_user_point *point)
	{
		ktau_user_enter(&frame, point);
	}
	KTAU_USER_INLINE__ ~ktau_user_scope()
	{
		ktau_user_exit(&frame);
	}
	/* Not defined, because a scope cannot be copied. */
	ktau_user_scope(const ktau_user_scope &);
	ktau_user_scope &operator=(const ktau_user_scope &);
};

#define KTAU_USER_SCOPE__(name, nr)						\
	static struct ktau_user_point ktau_user_point_##nr = { name, 0 };	\
	ktau_user_scope ktau_user_scope_##nr(&ktau_user_point_##nr)
#else
#define KTAU_USER_SCOPE__(name, nr)						\
	static struct ktau_user_point ktau_user_point_##nr = { name, 0 };	\
	struct ktau_user_frame ktau_user_frame_##nr				\
		__attribute__((cleanup(ktau_user_exit)));			\
	const int ktau_user_entered_##nr __attribute__((unused)) =		\
		(ktau_user_enter(&ktau_user_frame_##nr, &ktau_user_point_##nr), 0)
#endif

#define KTAU_USER_SCOPE_(name, nr) KTAU_USER_SCOPE__(name, nr)

/* A region from here to the end of the block. In C this is a declaration. */
#define KTAU_USER_SCOPE(name) KTAU_USER_SCOPE_(name, __COUNTER__)

/* Events: KTAU_USER_MARK("begin"); KTAU_USER_VALUE("rows", n); */
#define KTAU_USER_MARK(name)							\
	do {									\
		static struct ktau_user_point ktau_user_mark_ = { name, 0 };	\
		ktau_user_mark(&ktau_user_mark_);				\
	} while (0)

#define KTAU_USER_VALUE(name, value)						\
	do {									\
		static struct ktau_user_point ktau_user_value_ = { name, 0 };	\
		ktau_user_value(&ktau_user_value_, value);			\
	} while (0)

#endif /* KTAU_USER_H */
