// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tap.h"

/* Shared with the children, whose tests are part of the plan. */
static struct {
	atomic_uint run;
	atomic_uint failed;
} * tests;

static __attribute__((constructor)) void share(void)
{
	tests = mmap(NULL, sizeof(*tests), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tests == MAP_FAILED)
		abort();
}

bool tap_ok(bool good, const char *format, ...)
{
	va_list args;

	atomic_fetch_add(&tests->run, 1);
	if (!good)
		atomic_fetch_add(&tests->failed, 1);
	printf("%sok - ", good ? "" : "not ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return good;
}

void tap_skip(const char *what, const char *reason)
{
	atomic_fetch_add(&tests->run, 1);
	printf("ok - %s # SKIP %s\n", what, reason);
	fflush(stdout);
}

bool tap_exact_time(void)
{
	const char *exact = getenv("EXACT_TIME");

	return exact && *exact;
}

bool tap_failed(void)
{
	return atomic_load(&tests->failed);
}

int tap_done(void)
{
	printf("1..%u\n", atomic_load(&tests->run));
	fflush(stdout);
	return tap_failed();
}
