// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libktau-mark: puts a process, with all of its threads, into the regions that ktau mark has
 * named in KTAU_USER_MARK, from the outermost to the innermost, separated by slashes.
 *
 * An exec drops the regions of a process, so this is preloaded into each program that the
 * command of ktau mark starts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktau_user.h"

#define MAX_MARKS	16	/* ktau mark does not set more, but warns */
#define NAME_BYTES	256	/* the file of names has no longer names */

struct start {
	void *(*fn)(void *arg);
	void *arg;
};

/* Not allocated, because there would be no way to report a failure to the program. */
static char names[MAX_MARKS][NAME_BYTES];
static struct ktau_user_point points[MAX_MARKS];
static unsigned int nr_points;

/* Their stack addresses are not compared, so longjmp() and exceptions do not leave them. */
static __thread struct ktau_user_frame frames[MAX_MARKS];

static void enter(void)
{
	unsigned int i;

	for (i = 0; i < nr_points; i++)
		ktau_user_enter_frame(&frames[i], &points[i]);
}

static void __attribute__((constructor)) begin(void)
{
	const char *text = secure_getenv("KTAU_USER_MARK"), *end;

	for (; text && *text && nr_points < MAX_MARKS; text = *end ? end + 1 : end) {
		end = strchrnul(text, '/');
		if (end == text)
			continue;
		snprintf(names[nr_points], NAME_BYTES, "%.*s", (int)(end - text), text);
		points[nr_points].name = names[nr_points];
		nr_points++;
	}
	enter();
}

static void *run(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	enter();
	return start.fn(start.arg);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
		   void *arg)
{
	static int (*next)(pthread_t *thread, const pthread_attr_t *attr,
			   void *(*fn)(void *arg), void *arg);
	struct start *start = malloc(sizeof(*start));
	int err;

	if (!start)
		return EAGAIN;
	*start = (struct start){ fn, arg };
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	err = next(thread, attr, run, start);
	if (err)
		free(start);
	return err;
}
