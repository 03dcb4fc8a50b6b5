// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entering and leaving regions.
 *
 * A region is a node of a tree: the point, and the region in which it was entered. A point that
 * is entered directly inside itself stays in its region. Each thread has a tree of its own, so
 * no regions are shared between threads.
 *
 * The open scopes are in an array with the stack addresses of their functions, which are
 * only compared. A stack grows down, so functions at lower addresses than a new one were left
 * by longjmp() or an exception. So were functions at the same address with another return
 * address. Addresses outside of the thread's stack, as in a signal handler or a coroutine
 * with a stack of its own, are not compared.
 *
 * An instrumented function has no frame of this library. Its stack address is that at which it
 * calls the hook, which is not above that of a scope in the same function. Both have the same
 * return address, and both are above those of functions that it calls. A function that was
 * inlined has the stack address and the return address of the function around it.
 *
 * The system calls that create areas and regions are in no region.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ktau_user.h"
#include "trace_format.h"
#include "user.h"

#define DEFAULT_REGIONS	64
#define MAX_REGIONS	256

/* Added to the depth of frames in threads with a trace, so that their exit takes the slow path. */
#define TRACED_DEPTH	0x80000000U

/* Each scope reads these; with the default TLS model that would take two function calls. */
#define IN_THREAD __thread __attribute__((tls_model("initial-exec")))

/*
 * One variable, so that the order of its members is that in memory: on some machines it takes an
 * instruction to add the offset of another one than the first.
 *
 * @user: the state of the thread, or NULL
 * @busy: the thread is in create(), or has ended
 */
static IN_THREAD struct {
	struct ktau__user *user;
	bool busy;
} self;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A child that a signal handler forks would change the parent's files, so there must be none. */
static void end_thread(void *arg)
{
	struct ktau__user *u = arg;
	sigset_t old;
	uint32_t i;

	ktau__block_signals(&old);
	self.busy = true;	/* other destructors may still enter scopes */
	self.user = NULL;
	*u->word = 0;
	ktau__trace_region(u, 0);
	ktau__trace_close(u);
	ktau__area_close(u);
	ktau__names_close(u);
	for (i = 1; i < u->nr; i++)
		free(u->region[i].name);
	free(u->region);
	free(u);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static uint32_t region_at(const struct ktau__user *u)
{
	return u->depth ? u->level[u->depth - 1].region : 0;
}

static void renew(struct ktau__user *u)
{
	uint32_t i;

	ktau__names_close(u);
	u->refused = 0;
	ktau__area_renew(u);
	if (!u->status) {
		ktau__names_open(u);
		for (i = 1; i < u->nr; i++)
			ktau__names_add(u, i);
	}
	ktau__trace_renew(u);
	ktau__trace_region(u, region_at(u));
	*u->word = region_at(u);
}

/* The child of a fork gets an area and a file of its own, and keeps its open scopes. */
static void after_fork(void)
{
	sigset_t old;

	if (!self.user)
		return;
	ktau__block_signals(&old);
	renew(self.user);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void init(void)
{
	if (pthread_key_create(&key, end_thread))
		return;
	pthread_atfork(NULL, NULL, after_fork);
}

static void find_stack(struct ktau__user *u)
{
	pthread_attr_t attr;
	size_t bytes;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &low, &bytes)) {
		u->low = low;
		u->high = (char *)low + bytes;
	}
	pthread_attr_destroy(&attr);
}

static uint32_t wanted_regions(void)
{
	const char *text = secure_getenv("KTAU_USER_REGIONS");
	unsigned long nr = text ? strtoul(text, NULL, 10) : 0;

	return nr < 2 ? DEFAULT_REGIONS : nr > MAX_REGIONS ? MAX_REGIONS : nr;
}

static struct ktau__user *create(void)
{
	struct ktau__user *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->word = &u->unshared;
	u->max = wanted_regions();
	u->nr = 1;
	u->names = -1;
	find_stack(u);
	ktau__area_open(u);
	u->region = calloc(u->max, sizeof(*u->region));
	if (!u->region || pthread_setspecific(key, u)) {
		ktau__area_close(u);
		free(u->region);
		free(u);
		return NULL;
	}
	if (!u->status) {
		ktau__names_open(u);
		ktau__trace_open(u);
	}
	return u;
}

static __attribute__((noinline)) struct ktau__user *begin_thread(void)
{
	int err = errno;
	sigset_t old;

	if (self.busy)
		return NULL;
	self.busy = true;
	pthread_once(&once, init);
	ktau__block_signals(&old);
	self.user = create();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	self.busy = false;
	errno = err;
	return self.user;
}

static inline struct ktau__user *begin(void)
{
	return __builtin_expect(self.user != NULL, 1) ? self.user : begin_thread();
}

struct ktau__user *ktau__user_begin(void)
{
	return begin();
}

/* What is entered: a point with its name, or a function, for which @name is NULL. */
struct entered {
	uint32_t point;
	const char *name;
	const void *function;
};

/* A new region; @parent itself if there is no room. */
static __attribute__((noinline)) uint32_t
add_region(struct ktau__user *u, uint32_t parent, const struct entered *what)
{
	const char *name = what->name;
	struct ktau__region *r = &u->region[u->nr];
	const uint32_t outer = *u->word;
	int err = errno;

	if (u->nr == u->max) {
		u->refused++;
		return parent;
	}
	*u->word = 0;
	ktau__trace_region(u, region_at(u) + KTAU__TRACE_OWN);
	if (!name)
		name = ktau__function_name(what->function);
	*r = (struct ktau__region){ .point = what->point, .parent = parent,
				    .name = name ? strdup(name) : NULL,
				    .next = u->region[parent].child };
	if (!r->name) {
		*u->word = outer;
		u->refused++;
		errno = err;
		return parent;
	}
	ktau__hide_controls(r->name);
	u->region[parent].child = u->nr++;
	ktau__names_add(u, u->region[parent].child);
	*u->word = outer;
	errno = err;
	return u->region[parent].child;
}

static uint32_t find_region(struct ktau__user *u, uint32_t parent, const struct entered *what)
{
	uint32_t i;

	if (u->region[parent].point == what->point)
		return parent;
	for (i = u->region[parent].child; i; i = u->region[i].next)
		if (u->region[i].point == what->point)
			return i;
	return add_region(u, parent, what);
}

static bool on_stack(const struct ktau__user *u, const void *stack)
{
	return stack >= u->low && stack < u->high;
}

/* Whether @level was left before @new was entered. */
static bool was_left(const struct ktau__user *u, const struct ktau__level *level,
		     const struct ktau__level *new)
{
	const bool same_call = level->caller == new->caller;

	if (!on_stack(u, level->stack) || level->stack > new->stack)
		return false;
	if (level->stack == new->stack)
		return !same_call || level->frame == new->frame;
	/* A scope in an instrumented function has a higher address than the function's level. */
	return !same_call || !level->function || new->function;
}

/* Close the scopes that have been left without ktau_user_exit(). */
static void close_left(struct ktau__user *u, const struct ktau__level *new)
{
	uint32_t i;

	if (!on_stack(u, new->stack))
		return;
	for (i = u->depth; i && u->level[i - 1].stack <= new->stack; i--)
		if (was_left(u, &u->level[i - 1], new))
			u->depth = i - 1;
}

static inline __attribute__((always_inline)) uint32_t
enter_here(struct ktau__user *u, struct ktau__level *new, const struct entered *what)
{
	uint32_t depth = 0;

	close_left(u, new);
	if (u->depth < KTAU__USER_DEPTH) {
		u->deeper = 0;
		new->region = find_region(u, region_at(u), what);
		u->level[u->depth] = *new;
		depth = ++u->depth;
	} else {
		u->refused++;
		u->deeper += new->function;
	}
	*u->word = region_at(u);
	return depth;
}

/* Enter in a thread with a trace, or in a signal handler that has interrupted the library. */
static __attribute__((noinline)) uint32_t
enter_rare(struct ktau__user *u, struct ktau__level *new, const struct entered *what)
{
	uint32_t depth;

	if (u->flags & KTAU__BUSY) {
		u->refused++;
		return 0;
	}
	u->flags |= KTAU__BUSY;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	depth = enter_here(u, new, what);
	ktau__trace_region(u, region_at(u));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	u->flags &= ~KTAU__BUSY;
	return depth ? depth | TRACED_DEPTH : 0;
}

/* Return: the depth of @new, 0 if it could not be entered. */
static inline __attribute__((always_inline)) uint32_t
enter(struct ktau__user *u, struct ktau__level *new, const struct entered *what)
{
	uint32_t depth;

	if (__builtin_expect(u->flags, 0))
		return enter_rare(u, new, what);
	u->flags = KTAU__BUSY;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	depth = enter_here(u, new, what);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	u->flags = 0;
	return depth;
}

static inline uint32_t id_of(struct ktau_user_point *point)
{
	uint32_t id = __atomic_load_n(&point->id, __ATOMIC_RELAXED);

	return __builtin_expect(id != 0, 1) ? id : ktau__point_id(&point->id);
}

void ktau_user_enter_frame(struct ktau_user_frame *frame, struct ktau_user_point *point)
{
	struct ktau__user *u = begin();
	struct ktau__level new = { frame, frame->stack, frame->caller, 0, false };

	frame->depth = 0;
	if (u && !u->status)
		frame->depth = enter(u, &new, &(struct entered){ id_of(point), point->name,
								 NULL });
}

void ktau_user_enter_function(const void *function, const void *caller, const void *stack)
{
	struct ktau__user *u = begin();
	struct ktau__level new = { function, stack, caller, 0, true };
	uint32_t point;

	if (!u || u->status)
		return;
	point = ktau__function_point(function);
	if (point)
		enter(u, &new, &(struct entered){ point, NULL, function });
	else
		u->refused++;
}

/* Close the scopes above @depth, in a thread that may have a trace. */
static void leave(struct ktau__user *u, uint32_t depth)
{
	const uint8_t flags = u->flags;

	u->flags |= KTAU__BUSY;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	u->depth = depth;
	*u->word = region_at(u);
	if (!(flags & KTAU__BUSY))
		ktau__trace_region(u, region_at(u));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	u->flags = flags;
}

/* Whether this is the exit of a function that was entered when @level was full. */
static bool is_deeper(struct ktau__user *u, const void *stack)
{
	if (!u->deeper)
		return false;
	if (on_stack(u, stack) && u->depth && stack > u->level[u->depth - 1].stack) {
		u->deeper = 0;	/* all of them were left */
		return false;
	}
	u->deeper--;
	return true;
}

void ktau_user_exit_function(const void *function, const void *caller, const void *stack)
{
	struct ktau__user *u = self.user;
	const struct ktau__level *level;
	uint32_t i;

	/* A signal handler that has interrupted enter() has entered nothing. */
	if (!u || u->status || (u->flags & KTAU__BUSY) || is_deeper(u, stack))
		return;
	for (i = u->depth; i; i--) {
		level = &u->level[i - 1];
		if (!level->function || level->frame != function || level->caller != caller)
			continue;
		leave(u, i - 1);
		return;
	}
}

static __attribute__((noinline)) void exit_rare(struct ktau__user *u,
						struct ktau_user_frame *frame)
{
	const uint32_t depth = frame->depth & ~TRACED_DEPTH;

	if (depth && depth <= u->depth && u->level[depth - 1].frame == frame)
		leave(u, depth - 1);
}

void ktau_user_exit(struct ktau_user_frame *frame)
{
	struct ktau__user *u = self.user;

	if (!u || !frame->depth)
		return;
	if (__builtin_expect(frame->depth > u->depth, 0)) {
		exit_rare(u, frame);
		return;
	}
	/* The scopes of a frame that longjmp() has left may have been closed before. */
	if (u->level[frame->depth - 1].frame != frame)
		return;
	u->depth = frame->depth - 1;
	*u->word = region_at(u);
}

bool ktau_user_is_traced(void)
{
	const struct ktau__user *u = begin();

	return u && u->trace;
}

static void note(struct ktau_user_point *point, struct ktau__trace_slot *slot)
{
	struct ktau__user *u = begin();

	if (u && u->trace)
		ktau__trace_event(u, id_of(point), point->name, slot);
}

void ktau_user_mark(struct ktau_user_point *point)
{
	note(point, &(struct ktau__trace_slot){ .type = KTAU__TRACE_MARK });
}

void ktau_user_value(struct ktau_user_point *point, uint64_t value)
{
	note(point, &(struct ktau__trace_slot){ .type = KTAU__TRACE_VALUE, .value = value });
}

void ktau_user_message(struct ktau_user_point *point, int peer, uint64_t bytes)
{
	note(point, &(struct ktau__trace_slot){ .type = KTAU__TRACE_MESSAGE, .value = bytes,
						.peer = peer });
}

void ktau_user_unloaded(void)
{
	ktau__functions_unloaded();
}

int ktau_user_status(void)
{
	return self.user ? self.user->status : -EAGAIN;
}

uint64_t ktau_user_refused(void)
{
	return self.user ? self.user->refused : 0;
}
