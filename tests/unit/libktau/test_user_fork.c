// SPDX-License-Identifier: GPL-2.0-only
/*
 * libktau-user without a kernel: a signal handler interrupts the library and forks. The thread
 * executes single instructions, and forks before each one in this program, which contains the
 * library, when it comes there for the first time. The child returns from the handler and finishes
 * what the thread was doing.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <ktau_user.h>

#include "../../../libktau/user/trace_format.h"
#include "user_fake.h"

#ifdef __x86_64__

#define TRAP_FLAG	0x100

/* With the address sanitizer, a fork is slow, so only some instructions are interrupted. */
#ifndef __has_feature	/* clang has it */
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define STEP	20
#else
#define STEP	1
#endif

extern char __executable_start, etext;

static volatile bool stepping, wrong;
static bool traced, full_in_child;
static char *kept;	/* the names that a child with a full disk has at first, if any */
static int error_in_child;
static uint32_t version_in_child = KTAU_AREA_VERSION;
static pid_t parent;
static pthread_key_t key;
static unsigned long nr_forks, nr_wrong;
static unsigned int nr_visited;
static uint8_t visited[1 << 20], visit = 1;
static const void *first_wrong;

/* How many slots the trace of this thread has, and the last one that has a type. */
static uint64_t read_trace(struct ktau__trace_slot *last)
{
	struct {
		struct ktau__trace_header header;
		struct ktau__trace_slot slot[KTAU__TRACE_MIN_SLOTS];
	} trace = { 0 };
	char path[300];
	uint64_t nr = 0;
	int fd;

	memset(last, 0, sizeof(*last));
	trace_path(getpid(), gettid(), path);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	if (read(fd, &trace, sizeof(trace)) == sizeof(trace))
		nr = trace.header.written;
	close(fd);
	while (nr && !last->type)
		*last = trace.slot[--nr % KTAU__TRACE_MIN_SLOTS];
	return trace.header.written;
}

/* Let a child finish. Return: whether it succeeded, without a change to what the parent has. */
static bool is_right(pid_t child, uint32_t region, uint64_t written)
{
	struct ktau__trace_slot last;
	int status;

	return waitpid(child, &status, 0) == child && !status && read_trace(&last) == written &&
	       (!seen || *seen == region);
}

/* Whether to fork before this instruction: not if the thread has been there before. */
static bool is_next(const char *at)
{
	uint8_t *here = &visited[(at - &__executable_start) % sizeof(visited)];

	if (*here == visit)
		return false;
	*here = visit;
	return nr_visited++ % STEP == 0;
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const char *at = (const char *)regs[REG_RIP];
	struct ktau__trace_slot last;
	uint64_t written;
	uint32_t region;
	pid_t child;

	(void)sig;
	(void)info;
	regs[REG_EFL] |= TRAP_FLAG;
	if (at < &__executable_start || at >= &etext ||
	    sigismember(&((ucontext_t *)context)->uc_sigmask, SIGUSR1) ||
	    (stepping && !is_next(at)))
		return;
	if (stepping) {
		region = seen ? *seen : 0;
		written = read_trace(&last);
		kernel_error = error_in_child;
		figures_version = version_in_child;
		child = fork();
		if (child) {
			kernel_error = 0;
			figures_version = KTAU_AREA_VERSION;
			nr_forks++;
			if (is_right(child, region, written))
				return;
			if (!nr_wrong++)
				first_wrong = (const void *)(at - &__executable_start);
			return;
		}
		stepping = false;
		disk_full = full_in_child;
		kept = disk_full && seen_by == getpid() ? names(getpid(), gettid()) : NULL;
	}
	regs[REG_EFL] &= ~TRAP_FLAG;
}

static void part(uint32_t region)
{
	KTAU_USER_SCOPE("part");

	wrong |= !seen || *seen != region;
	KTAU_USER_MARK("mark");
	wrong |= ktau_user_read(39, NULL, NULL, NULL) != 0;
	wrong |= ktau_user_read(1023, NULL, NULL, NULL) != 0;
	wrong |= ktau_user_hz() != 1234567;
}

static void whole(void)
{
	KTAU_USER_SCOPE("whole");
	int i;

	for (i = 0; i < 3; i++)
		part(2);
	wrong |= !seen || *seen != 1;
}

/*
 * In a child; its names may be in the file twice. Reading fails if there are no figures. Return:
 * its exit status.
 */
static int check_child(void)
{
	struct ktau__trace_slot last;
	uint64_t written = read_trace(&last);
	char *text;

	if (error_in_child)
		return written || ktau_user_status() != -error_in_child;
	if (full_in_child)
		return kept && strcmp(names(getpid(), gettid()), kept);
	text = names(getpid(), gettid());
	wrong &= version_in_child == KTAU_AREA_VERSION;
	if (wrong || !seen || *seen || seen_by != getpid() || ktau_user_status())
		return 1;
	if (!strstr(text, "region 1 0 whole\n") || !strstr(text, "region 2 1 part\n"))
		return 2;
	if (traced && (!strstr(text, "event 0 mark\n") || last.type != KTAU__TRACE_REGION ||
		       last.number))
		return 3;
	return !written == traced ? 4 : 0;
}

/* A destructor that is called after that of the library. */
static void end_steps(void *arg)
{
	(void)arg;
	stepping = false;
	if (getpid() != parent)
		_exit(0);
	wrong |= pthread_key_delete(key) != 0;
}

static void *stepped_thread(void *arg)
{
	parent = getpid();
	nr_forks = nr_wrong = nr_visited = 0;
	visit++;
	stepping = true;
	raise(SIGTRAP);
	whole();
	if (getpid() != parent)
		_exit(check_child());
	wrong |= pthread_key_create(&key, end_steps) || pthread_setspecific(key, &key);
	return arg;
}

static void step(void)
{
	in_thread(stepped_thread);
	if (nr_wrong)
		print_error("traced %d, error %d, version %u, full %d: %lu of %lu children are "
			    "wrong, first at %p\n", traced, error_in_child, version_in_child,
			    full_in_child, nr_wrong, nr_forks, first_wrong);
	assert_int_equal(nr_wrong, 0);
	assert_false(wrong);
	assert_true(nr_forks * STEP > 500);
}

static void forks(void **state)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	int i;

	(void)state;
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	with_figures = true;
	for (i = 0; i < 4; i++) {
		traced = i % 2;
		setenv("KTAU_USER_TRACE", traced ? "64" : "0", 1);
		error_in_child = i < 2 ? 0 : ENODATA;
		step();
	}
	error_in_child = 0;
	version_in_child++;
	step();
	version_in_child--;
	full_in_child = true;
	step();
}

#else

static void forks(void **state)
{
	(void)state;
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(forks) };

	return run_user_tests(tests);
}
