// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU_TARGET_CHANGED: the next stream of a descriptor has the tasks that have run since the
 * previous one, and no others. First step by step, then at random.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "look.h"
#include "tap.h"

#define NR_CHILDREN 20
#define ROUNDS 200
#define ALL_CHILDREN ((1U << NR_CHILDREN) - 1)

static pid_t child[NR_CHILDREN];
static volatile unsigned int *calls; /* of each child, in memory shared with it */
static struct found found;

static void settle(void)
{
	struct timespec while_they_sleep = { .tv_nsec = 100 * 1000 * 1000 };

	while (nanosleep(&while_they_sleep, &while_they_sleep) && errno == EINTR)
		;
}

/* Make a few system calls for each signal, then sleep again. */
static _Noreturn void sleeper(const sigset_t *woken, volatile unsigned int *count)
{
	int signal;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		sigwait(woken, &signal);
		getppid();
		++*count;
	}
}

static _Noreturn void spinner(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

static void start(void)
{
	sigset_t woken;
	int i;

	calls = mmap(NULL, sizeof(*calls) * NR_CHILDREN, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calls == MAP_FAILED)
		err(1, "mmap");
	sigemptyset(&woken);
	sigaddset(&woken, SIGUSR1);
	sigprocmask(SIG_BLOCK, &woken, NULL);
	for (i = 0; i < NR_CHILDREN; i++) {
		child[i] = fork();
		if (child[i] < 0)
			err(1, "fork");
		if (!child[i])
			sleeper(&woken, &calls[i]);
	}
	settle();
}

/* A bit for each child that was found; END must count the records. */
static uint32_t children(void)
{
	uint32_t set = 0;
	unsigned int i, j;

	for (i = 0; i < found.nr; i++) {
		for (j = 0; j < NR_CHILDREN; j++) {
			if (found.owner[i].tid == child[j])
				set |= 1U << j;
		}
	}
	if (found.nr != found.end.nr_records)
		errx(1, "%u records, but %llu by END", found.nr, found.end.nr_records);
	return set;
}

static uint32_t shown(int fd, uint32_t target)
{
	if (look_for(fd, target, 0, &found))
		err(1, "/proc/ktau/profile");
	if (found.stream.target != target)
		errx(1, "selected %x, got %x", target, found.stream.target);
	return children();
}

static uint32_t changed(int fd)
{
	return shown(fd, KTAU_TARGET_CHANGED);
}

static uint32_t wake(int i)
{
	kill(child[i], SIGUSR1);
	return 1U << i;
}

static int open_profile(void)
{
	int fd = open("/proc/ktau/profile", O_RDONLY);

	if (fd < 0)
		err(1, "/proc/ktau/profile");
	return fd;
}

static void one_reader(int a)
{
	uint32_t mask;

	tap_ok(changed(a) == ALL_CHILDREN, "changed: the first stream has all children");
	tap_ok(!changed(a), "changed: the next one has none of the sleeping ones");
	mask = wake(3);
	settle();
	tap_ok(changed(a) == mask, "changed: a task that has run is shown");
	tap_ok(!changed(a), "changed: it is shown once");
	mask = wake(4) | wake(5);
	settle();
	tap_ok(shown(a, KTAU_TARGET_ALL) == ALL_CHILDREN,
	       "changed: a stream of all tasks has all children");
	tap_ok(!changed(a), "changed: after it no child has changed");
	mask = wake(6);
	settle();
	shown(a, KTAU_TARGET_CPU);
	tap_ok(changed(a) == mask, "changed: a stream without tasks marks none as shown");
}

static void cut_short(int a)
{
	uint32_t mask = wake(7);
	char some[300];

	settle();
	if (look_select(a, KTAU_TARGET_CHANGED, 0) || read(a, some, sizeof(some)) < 0)
		err(1, "/proc/ktau/profile");
	tap_ok(changed(a) == mask,
	       "changed: a stream that is not read to its end marks none as shown");
}

static void two_readers(int a, int b)
{
	uint32_t mask;

	tap_ok(changed(b) == ALL_CHILDREN,
	       "changed: the first stream of another reader has all children");
	tap_ok(!changed(a) && !changed(b), "changed: it does not affect the first reader");
	mask = wake(8);
	settle();
	tap_ok(changed(a) == mask && changed(b) == mask,
	       "changed: both readers see the task that has run");
	tap_ok(!changed(b) && !changed(a), "changed: each reader sees it once");
}

/* One reader begins a stream; another reads a complete one; then a task runs. */
static void at_once(int a, int b)
{
	char some[sizeof(struct ktau_rec_stream)];
	uint32_t mask;

	if (look_select(a, KTAU_TARGET_CHANGED, 0) ||
	    read(a, some, sizeof(some)) != sizeof(some))
		err(1, "/proc/ktau/profile");
	changed(b);
	mask = wake(9);
	settle();
	tap_ok(!look_on(a, 0, &found) && children() == mask && changed(b) == mask,
	       "changed: a stream that began earlier does not hide a change from a later one");
	changed(a); /* may show the task once more */
}

static void on_the_cpu(int a)
{
	pid_t pid = fork(), was = child[0];
	int once;

	if (!pid)
		spinner();
	settle();
	child[0] = pid;
	once = changed(a) == 1;
	tap_ok(once && changed(a) == 1, "changed: a running task is always shown");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(!changed(a), "changed: after its exit it is not shown");
	child[0] = was;
}

/* A reader, and the number of calls that each child had made at the reader's last stream. */
struct reader {
	int fd;
	unsigned int calls[NR_CHILDREN];
	unsigned int nr_due, nr_missed, nr_shown;
};

/* A child that has made a call between two streams must be in the second one. */
static void look(struct reader *reader)
{
	uint32_t due = 0, seen;
	int i;

	for (i = 0; i < NR_CHILDREN; i++)
		due |= (uint32_t)(calls[i] != reader->calls[i]) << i;
	seen = changed(reader->fd);
	for (i = 0; i < NR_CHILDREN; i++)
		reader->calls[i] = calls[i];
	reader->nr_due += (unsigned int)__builtin_popcount(due);
	reader->nr_missed += (unsigned int)__builtin_popcount(due & ~seen);
	reader->nr_shown += (unsigned int)__builtin_popcount(seen);
}

static void at_random(int a, int b)
{
	struct reader readers[] = { { .fd = a }, { .fd = b } }, *r;
	unsigned int i;

	for (r = readers; r < readers + 2; r++) {
		look(r); /* earlier changes */
		r->nr_due = r->nr_missed = r->nr_shown = 0;
	}
	for (i = 0; i < ROUNDS; i++) {
		wake(rand() % NR_CHILDREN);
		wake(rand() % NR_CHILDREN);
		if (i % 2)
			usleep((useconds_t)(rand() % 3000));
		look(&readers[rand() % 2]);
	}
	for (r = readers; r < readers + 2; r++)
		tap_ok(r->nr_due > ROUNDS / 2 && !r->nr_missed && r->nr_shown < 4 * ROUNDS,
		       "changed: at random %u due, %u missed, %u shown", r->nr_due,
		       r->nr_missed, r->nr_shown);
}

int main(void)
{
	int a = open_profile(), b = open_profile(), i;

	start();
	one_reader(a);
	cut_short(a);
	two_readers(a, b);
	at_once(a, b);
	on_the_cpu(a);
	at_random(a, b);
	for (i = 0; i < NR_CHILDREN; i++)
		kill(child[i], SIGKILL);
	return tap_done();
}
