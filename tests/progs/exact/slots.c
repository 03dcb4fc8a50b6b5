// SPDX-License-Identifier: GPL-2.0-only
/*
 * slots TEST...: do work with a known trace, then decode that trace without the library. Run
 * as root, with all groups and trace=on.
 *
 *	results [FILE]	system calls; FILE gets one result per line
 *	strace RESULTS STRACE	compare results with those that strace saw
 *	faults		page faults, one page at a time
 *	names		threads renamed by themselves and by others
 *	cgroups FOLDER	tasks moved to FOLDER, of cgroup2, and back
 *	switches	priorities and states
 *	wakings		a child woken on another CPU
 *	unseen		the same with an untraced waker
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "slots.h"

#define MARK -77

static struct {
	long nr;
	int64_t result;
} calls[256];

static unsigned int nr_calls;

/* A system call whose result is kept. */
#define CALL(nr, ...) called(nr, syscall(nr, ##__VA_ARGS__))

static long called(long nr, long ret)
{
	calls[nr_calls].nr = nr;
	calls[nr_calls++].result = ret == -1 ? -errno : ret;
	return ret;
}

static void make_calls(void)
{
	char buffer[8];
	int fds[2], fd, i;
	pid_t pid;

	CALL(SYS_dup, MARK);
	CALL(SYS_getpid);
	CALL(SYS_openat, AT_FDCWD, "/nonexistent", O_RDONLY, 0);
	CALL(SYS_mmap, 0, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CALL(SYS_munmap, calls[nr_calls - 1].result, 1 << 20);
	CALL(SYS_pipe2, fds, O_NONBLOCK);
	for (i = 0; i < 50; i++) {
		CALL(SYS_write, fds[1], "hello", 5);
		CALL(SYS_read, fds[0], buffer, 3 + i % 3);
	}
	while (CALL(SYS_read, fds[0], buffer, 8) > 0)
		;
	fd = CALL(SYS_memfd_create, "slots", 0);
	CALL(SYS_lseek, fd, 1L << (sizeof(long) == 8 ? 40 : 30), SEEK_SET);
	CALL(SYS_close, fd);
	CALL(SYS_close, fd);
	CALL(SYS_brk, 0);
	pid = CALL(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(7);
	CALL(SYS_wait4, pid, 0, 0, 0);
	CALL(1000); /* counted, but not timed: no slot */
	nr_calls--;
	CALL(SYS_getpriority, PRIO_PROCESS, 0);
	CALL(SYS_dup, MARK);
}

static bool is_mark(const struct ktau_slot *slot)
{
	return slot->type == KTAU_TRACE_EXIT && slot->id == SYS_dup &&
	       slot->words == 3 && *(const int64_t *)(slot + 1) == -EBADF;
}

/* A ring begins small and grows; a test that must not lose slots fills it first. */
static void grow_ring(void)
{
	int i;

	for (i = 0; i < 5000; i++)
		getppid();
}

/* The results in the trace between two marks are the return values of the calls. */
static void results(const char *name)
{
	const struct ktau_slot *slot = NULL;
	FILE *file = name ? fopen(name, "w") : NULL;
	unsigned int nr = 0, same = 0;
	uint64_t since;
	int64_t result;

	since = now();
	make_calls();
	load(getpid(), since);
	while ((slot = next_slot(slot, KTAU_TRACE_EXIT)) && nr < nr_calls) {
		if ((!nr && !is_mark(slot)) || slot->id >= 512)
			continue;
		result = slot->words == 3 ? *(const int64_t *)(slot + 1) : INT64_MIN;
		same += slot->id == calls[nr].nr && result == calls[nr].result;
		if (slot->id != calls[nr].nr || result != calls[nr].result)
			printf("call %u: %ld returned %lld, the trace has %u and %lld\n", nr,
			       calls[nr].nr, (long long)calls[nr].result, slot->id,
			       (long long)result);
		if (file)
			fprintf(file, "%lld\n", (long long)result);
		nr++;
	}
	if (file && fclose(file))
		die(name);
	tap_ok(same == nr_calls && nr_calls > 100,
	       "%u of %u system calls have their result in the exit slot", same, nr_calls);
}

static int64_t result_of(const char *text)
{
	static const struct {
		const char *name;
		int nr;
	} restarts[] = {
		{ "ERESTARTSYS", 512 },
		{ "ERESTARTNOINTR", 513 },
		{ "ERESTARTNOHAND", 514 },
		{ "ERESTART_RESTARTBLOCK", 516 },
	};
	char name[32];
	size_t i;

	if (sscanf(text, "%*s E%30[A-Z0-9_]", name + 1) != 1)
		return strtoll(text, NULL, 0);
	name[0] = 'E';
	for (i = 0; i < sizeof(restarts) / sizeof(*restarts); i++)
		if (!strcmp(name, restarts[i].name))
			return -restarts[i].nr;
	for (i = 1; i < 200; i++)
		if (strerrorname_np(i) && !strcmp(name, strerrorname_np(i)))
			return -(int64_t)i;
	return INT64_MIN;
}

/* Compare the results in @results with those in @strace, from its first mark on. */
static void compare_strace(const char *results, const char *strace)
{
	FILE *ours = fopen(results, "r"), *theirs = fopen(strace, "r");
	unsigned int same = 0, nr = 0;
	char line[1024], *equals;
	bool begun = false;
	long long result;

	if (!ours || !theirs)
		die(strace);
	while (fgets(line, sizeof(line), theirs)) {
		equals = strrchr(line, '=');
		begun |= !strncmp(line, "dup(-77)", 8);
		if (!begun || !equals || line[0] == '-' || line[0] == '+' ||
		    !strncmp(line, "syscall_0x3e8", 13))
			continue;
		if (fscanf(ours, "%lld", &result) != 1)
			break;
		nr++;
		if (result == result_of(equals + 2))
			same++;
		else
			printf("%lld in the trace, strace has: %s", result, line);
	}
	tap_ok(nr > 100 && same == nr, "%u of %u system calls have the result that strace saw",
	       same, nr);
}

static void faults(void)
{
	enum { PAGES = 64 };
	size_t page = sysconf(_SC_PAGESIZE), i;
	const struct ktau_slot *slot = NULL;
	unsigned int seen = 0, others = 0;
	uint64_t since = now();
	char *map = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (i = 0; i < PAGES; i++) /* 37 and 64 have no common factor */
		((volatile char *)map)[i * 37 % PAGES * page + i] = 1;
	load(getpid(), since);
	while ((slot = next_slot(slot, KTAU_TRACE_ENTER))) {
		uint64_t address = slot->words == 3 ? *(const uint64_t *)(slot + 1) : 0;

		if (address - (uintptr_t)map >= PAGES * page)
			continue;
		if (address == (uintptr_t)map + seen * 37 % PAGES * page + seen)
			seen++;
		else
			others++;
	}
	tap_ok(seen == PAGES && !others, "page faults at %u of %u addresses, in order", seen,
	       PAGES);
	munmap(map, PAGES * page);
}

static atomic_int thread_tid, thread_stop;

static void *sleeping(void *unused)
{
	thread_tid = syscall(SYS_gettid);
	while (!thread_stop)
		usleep(20000);
	return unused;
}

static void *spinning(void *unused)
{
	thread_tid = syscall(SYS_gettid);
	while (!thread_stop)
		;
	return unused;
}

static pid_t start(pthread_t *thread, void *(*run)(void *))
{
	thread_tid = 0;
	thread_stop = 0;
	if (pthread_create(thread, NULL, run, NULL))
		die("pthread_create");
	while (!thread_tid)
		usleep(1000);
	return thread_tid;
}

static void stop(pthread_t thread)
{
	thread_stop = 1;
	pthread_join(thread, NULL);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

/* The only COMM slot since @since has @name. */
static void expect_name(pid_t tid, uint64_t since, const char *name, const char *whose)
{
	const struct ktau_slot *slot;

	load(tid, since);
	slot = next_slot(NULL, KTAU_TRACE_COMM);
	tap_ok(slot && slot->words == 4 && !strcmp((const char *)(slot + 1), name) &&
		       count(KTAU_TRACE_COMM) == 1,
	       "%s: named %s", whose,
	       slot ? (const char *)(slot + 1) : "nothing");
}

static void names(void)
{
	static const struct {
		const char *whose;
		void *(*run)(void *);
	} others[] = {
		{ "a sleeping thread", sleeping },
		{ "a running thread", spinning },
	};
	uint64_t since = now();
	char path[64];
	pthread_t thread;
	size_t i;
	pid_t tid;

	prctl(PR_SET_NAME, "own name");
	expect_name(getpid(), since, "own name", "the task itself");
	for (i = 0; i < 2; i++) {
		tid = start(&thread, others[i].run);
		since = now();
		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
		put(path, "new name");
		usleep(100000);
		expect_name(tid, since, "new name", others[i].whose);
		stop(thread);
	}
}

/* The CGROUP slots since @since have the groups @ids. */
static void expect_cgroups(pid_t tid, uint64_t since, const uint64_t ids[2], const char *whose)
{
	const struct ktau_slot *slot = NULL;
	unsigned int nr = 0, same = 0;

	load(tid, since);
	while ((slot = next_slot(slot, KTAU_TRACE_CGROUP))) {
		same += nr < 2 && slot->words == 3 &&
			*(const uint64_t *)(slot + 1) == ids[nr];
		nr++;
	}
	tap_ok(nr == 2 && same == 2, "%s: %u of %u moves to the right control group", whose, same,
	       nr);
}

static void move(const char *folder, const char *file)
{
	char path[256], tid[16];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	snprintf(tid, sizeof(tid), "%d", getpid());
	put(path, tid);
	usleep(100000);
}

static uint64_t cgroup_id(const char *folder)
{
	struct stat st;

	if (stat(folder, &st))
		die(folder);
	return st.st_ino;
}

static void cgroups(const char *folder)
{
	char parent[256];
	uint64_t ids[2], since;
	pthread_t threads[2];
	pid_t tids[2];

	snprintf(parent, sizeof(parent), "%s/..", folder);
	ids[0] = cgroup_id(folder);
	ids[1] = cgroup_id(parent);
	tids[0] = start(&threads[0], sleeping);
	tids[1] = start(&threads[1], spinning);
	since = now();
	move(folder, "cgroup.procs");
	move(parent, "cgroup.procs");
	expect_cgroups(getpid(), since, ids, "the task itself");
	expect_cgroups(tids[0], since, ids, "its sleeping thread");
	expect_cgroups(tids[1], since, ids, "its running thread");
	thread_stop = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void switches(void)
{
	unsigned int asleep = 0, nr = 0, running = 0, odd = 0;
	const struct ktau_slot *slot = NULL;
	const struct ktau_slot_switch *to;
	uint64_t since;
	int i;

	setpriority(PRIO_PROCESS, 0, 5);
	since = now();
	for (i = 0; i < 10; i++)
		usleep(1000);
	load(getpid(), since);
	while ((slot = next_slot(slot, KTAU_TRACE_SWITCH))) {
		to = (const void *)(slot + 1);
		nr++;
		asleep += to->state == 1;
		running += to->state == 0;
		odd += to->prio != 125 || to->next_prio < 0 || to->next_prio > 139;
	}
	/* On a busy host a timer may expire before the task sleeps. */
	tap_ok(asleep >= (tap_exact_time() ? 10 : 1) && asleep + running == nr && !odd,
	       "%u switches: %u to sleep, %u preempted, %u with a wrong priority", nr, asleep,
	       running, odd);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* The serial of the owner of the loaded trace. */
static uint64_t loaded_serial(void)
{
	const struct ktau_rec *rec;
	size_t at;

	for (at = 0; at < trace.len; at += rec->size) {
		rec = (const void *)(trace.bytes + at);
		if (rec->type == KTAU_REC_TRACE)
			return ((const struct ktau_rec_trace *)rec)->serial;
	}
	return 0;
}

static unsigned int last_cpu(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

enum { WAKEUPS = 50 };

/* Start a child that sleeps on another, idle CPU until this task writes. */
static pid_t start_reader(int fds[2])
{
	char byte;
	pid_t pid;

	if (pipe(fds))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	close(fds[1]);
	pin(last_cpu());
	/* Its ring must grow although most of its slots are written inside switches. */
	while (read(fds[0], &byte, 1) == 1)
		;
	_exit(0);
}

/* Wait until the child sleeps, which takes longer on a busy machine. */
static void wait_asleep(pid_t pid)
{
	char path[32], text[256], *state;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		usleep(5000);
		fd = open(path, O_RDONLY);
		got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (got <= 0)
			die(path);
		close(fd);
		text[got] = 0;
		state = strrchr(text, ')');
	} while (!state || strncmp(state, ") S", 3));
}

static void wake(pid_t pid, int fd)
{
	int i;

	for (i = 0; i < WAKEUPS; i++) {
		wait_asleep(pid);
		if (write(fd, "", 1) != 1)
			die("write");
	}
	wait_asleep(pid);
}

/* In the loaded trace every wakeup must name the waker @serial. */
static void expect_woken(uint64_t serial, const char *how)
{
	unsigned int nr = 0, right = 0, waits = 0, since_then = 0;
	const struct ktau_slot *slot = NULL;
	const struct ktau_slot_woken *woken;
	uint64_t wait = 0;

	while ((slot = next_slot(slot, 0))) {
		/* The enter and exit slots precede it. */
		if (slot->type == KTAU_TRACE_ENTER)
			wait = slot->ticks;
		if (slot->type != KTAU_TRACE_WOKEN)
			continue;
		woken = (const void *)(slot + 1);
		nr++;
		waits += wait == woken->waking_ticks;
		since_then += woken->waking_ticks <= slot->ticks;
		right += woken->waker_serial == serial && slot->cpu == last_cpu() &&
			 woken->target_cpu == last_cpu() &&
			 woken->waker_ctx == KTAU_CTX_TASK && slot->ctx == KTAU_CTX_TASK;
	}
	tap_ok(right >= WAKEUPS && nr - right <= 4 && since_then == nr,
	       "%s: the woken task's trace names the waker %u of %u times", how, right, nr);
	tap_ok(waits >= WAKEUPS - 5, "the wait for a CPU begins at the wakeup: %u times", waits);
}

/* Measure only the task @tid. */
static void measure_only(pid_t tid)
{
	char words[64];

	snprintf(words, sizeof(words), "filter=pid:%d", tid);
	put("/proc/ktau/control", words);
}

/* The waker is not traced, and the CPU that queues the task is idle. */
static void unseen(void)
{
	uint64_t since, serial;
	int fds[2];
	pid_t pid;

	pin(0);
	since = now();
	getppid();
	load(getpid(), since);
	serial = loaded_serial();
	pid = start_reader(fds);
	usleep(100000);
	measure_only(pid); /* may wake tasks, so before the mark */
	since = now();
	wake(pid, fds[1]);
	load(pid, since);
	expect_woken(serial, "untraced waker");
	load(getpid(), since);
	tap_ok(!count(KTAU_TRACE_WAKING), "the waker has no trace");
	put("/proc/ktau/control", "filter=none");
	close(fds[1]);
	waitpid(pid, NULL, 0);
}

/* This task wakes a child that sleeps on another, idle CPU. */
static void wakings(void)
{
	unsigned int cpu = last_cpu(), nr = 0, right = 0;
	const struct ktau_slot *slot = NULL;
	const struct ktau_slot_waking *waking;
	const struct ktau_slot_fork *child;
	uint64_t since, serial;
	int fds[2];
	pid_t pid;

	pin(0);
	since = now();
	pid = start_reader(fds);
	wake(pid, fds[1]);
	load(getpid(), since);
	serial = loaded_serial();
	load(pid, since);
	expect_woken(serial, "traced waker");
	load(getpid(), since);
	close(fds[1]);
	waitpid(pid, NULL, 0);
	slot = next_slot(NULL, KTAU_TRACE_FORK);
	if (!tap_ok(slot && slot->words == 4, "the fork is in the trace"))
		return;
	child = (const void *)(slot + 1);
	tap_ok(child->serial && child->leader_serial == child->serial,
	       "the fork slot names the child and its process");
	slot = NULL;
	while ((slot = next_slot(slot, KTAU_TRACE_WAKING))) {
		waking = (const void *)(slot + 1);
		if (waking->serial != child->serial)
			continue;
		nr++;
		right += waking->target_cpu == cpu && waking->prio == 120 &&
			 slot->ctx == KTAU_CTX_TASK;
	}
	/* The child is woken once when it is new, and may sleep when it moves to its CPU. */
	tap_ok(right >= WAKEUPS && nr - right <= 4, "%u of %u wakeups of a task on CPU %u", right,
	       nr, cpu);
}

int main(int argc, char **argv)
{
	const char *test = argc > 1 ? argv[1] : "";

	grow_ring();
	if (!strcmp(test, "results"))
		results(argv[2]);
	else if (!strcmp(test, "strace") && argc == 4)
		compare_strace(argv[2], argv[3]);
	else if (!strcmp(test, "faults"))
		faults();
	else if (!strcmp(test, "names"))
		names();
	else if (!strcmp(test, "cgroups") && argc == 3)
		cgroups(argv[2]);
	else if (!strcmp(test, "switches"))
		switches();
	else if (!strcmp(test, "wakings"))
		wakings();
	else if (!strcmp(test, "unseen"))
		unseen();
	else
		return 2;
	return tap_done();
}
