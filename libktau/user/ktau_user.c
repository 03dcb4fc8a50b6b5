// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entering and leaving regions.
 *
 * A region is a node of a tree: the point, and the region in which it was entered. A point that
 * is entered in itself stays in its region. Each thread has a tree of its own, so nothing
 * is shared between threads.
 *
 * The open scopes are in an array with the stack addresses of their functions, which are
 * only compared. A stack grows down, so functions at lower addresses than a new one were left
 * by longjmp() or an exception; so were those at the same address that were called from
 * elsewhere. Addresses outside of the thread's stack, as in a signal handler or a coroutine
 * with a stack of its own, are not compared.
 *
 * What the library itself does in the kernel is in no region.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "ktau_user.h"
#include "user.h"

#define DEFAULT_REGIONS	64
#define MAX_REGIONS	256

static __thread struct ktau__user *self;
static __thread bool busy_here;		/* beginning, or ended */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t last_point;

static void end_thread(void *arg)
{
	struct ktau__user *u = arg;
	uint32_t i;

	busy_here = true;	/* other destructors may still enter scopes */
	self = NULL;
	*u->word = 0;
	ktau__area_close(u);
	ktau__names_close(u);
	for (i = 1; i < u->nr; i++)
		free(u->region[i].name);
	free(u->region);
	free(u);
}

/* The child of a fork gets an area and a file of its own, and keeps its open scopes. */
static void after_fork(void)
{
	struct ktau__user *u = self;
	const uint32_t region = u && u->depth ? u->level[u->depth - 1].region : 0;
	uint32_t i;

	if (!u)
		return;
	ktau__area_close(u);
	ktau__names_close(u);
	u->refused = 0;
	ktau__area_open(u);
	if (u->status)
		return;
	ktau__names_open(u);
	for (i = 1; i < u->nr; i++)
		ktau__names_add(u, i);
	*u->word = region;
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

/* A program with more privileges than its user writes no files for it. */
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
	if (getauxval(AT_SECURE))
		u->status = -EACCES;
	else
		ktau__area_open(u);
	u->region = calloc(u->max, sizeof(*u->region));
	if (!u->region || pthread_setspecific(key, u)) {
		ktau__area_close(u);
		free(u->region);
		free(u);
		return NULL;
	}
	if (!u->status)
		ktau__names_open(u);
	return u;
}

static struct ktau__user *begin_thread(void)
{
	int err = errno;

	if (busy_here)
		return NULL;
	busy_here = true;
	pthread_once(&once, init);
	self = create();
	busy_here = false;
	errno = err;
	return self;
}

static uint32_t point_id(struct ktau_user_point *point)
{
	uint32_t id = __atomic_load_n(&point->id, __ATOMIC_RELAXED), none = 0;

	if (id)
		return id;
	id = __atomic_add_fetch(&last_point, 1, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(&point->id, &none, id, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return id;
	return none;
}

/* A name is one line of a file. */
static void hide_controls(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ')
			*name = '?';
}

/* A new region; @parent itself if there is no room. */
static uint32_t add_region(struct ktau__user *u, uint32_t parent, uint32_t point,
			   const char *name)
{
	struct ktau__region *r = &u->region[u->nr];
	const uint32_t outer = *u->word;
	int err = errno;

	if (u->nr == u->max) {
		u->refused++;
		return parent;
	}
	*u->word = 0;
	*r = (struct ktau__region){ .point = point, .parent = parent, .name = strdup(name),
				    .next = u->region[parent].child };
	if (!r->name) {
		*u->word = outer;
		u->refused++;
		return parent;
	}
	hide_controls(r->name);
	u->region[parent].child = u->nr;
	ktau__names_add(u, u->nr);
	*u->word = outer;
	errno = err;
	return u->nr++;
}

static uint32_t find_region(struct ktau__user *u, uint32_t parent,
			    struct ktau_user_point *point)
{
	const uint32_t id = point_id(point);
	uint32_t i;

	if (u->region[parent].point == id)
		return parent;
	for (i = u->region[parent].child; i; i = u->region[i].next)
		if (u->region[i].point == id)
			return i;
	return add_region(u, parent, id, point->name);
}

static bool on_stack(const struct ktau__user *u, const void *stack)
{
	return stack >= u->low && stack < u->high;
}

static bool was_left(const struct ktau__user *u, const struct ktau__level *level,
		     const struct ktau_user_frame *frame)
{
	if (!on_stack(u, level->stack))
		return false;
	return level->stack < frame->stack ||
	       (level->stack == frame->stack &&
		(level->caller != frame->caller || level->frame == frame));
}

/* Close the scopes that have been left without ktau_user_exit(). */
static void close_left(struct ktau__user *u, const struct ktau_user_frame *frame)
{
	uint32_t i;

	if (!on_stack(u, frame->stack))
		return;
	for (i = u->depth; i && u->level[i - 1].stack <= frame->stack; i--)
		if (was_left(u, &u->level[i - 1], frame))
			u->depth = i - 1;
}

static uint32_t region_at(const struct ktau__user *u)
{
	return u->depth ? u->level[u->depth - 1].region : 0;
}

void ktau_user_enter_frame(struct ktau_user_frame *frame, struct ktau_user_point *point)
{
	struct ktau__user *u = self ? self : begin_thread();
	uint32_t region;

	frame->depth = 0;
	if (!u || u->status)
		return;
	if (u->busy || u->depth == KTAU__USER_DEPTH) {
		u->refused++;
		return;
	}
	u->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	close_left(u, frame);
	region = find_region(u, region_at(u), point);
	u->level[u->depth++] = (struct ktau__level){ frame, frame->stack,
							 frame->caller, region };
	frame->depth = u->depth;
	*u->word = region;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	u->busy = false;
}

void ktau_user_exit(struct ktau_user_frame *frame)
{
	struct ktau__user *u = self;

	/* The scopes of a frame that longjmp() has left may have been closed before. */
	if (!u || !frame->depth || frame->depth > u->depth ||
	    u->level[frame->depth - 1].frame != frame)
		return;
	u->depth = frame->depth - 1;
	*u->word = region_at(u);
}

int ktau_user_status(void)
{
	return self ? self->status : -EAGAIN;
}

uint64_t ktau_user_refused(void)
{
	return self ? self->refused : 0;
}
