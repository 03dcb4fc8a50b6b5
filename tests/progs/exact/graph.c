// SPDX-License-Identifier: GPL-2.0-only
/*
 * graph: compare the durations that KTAU and the function-graph tracer measure, of the same
 * calls in the same run.
 *
 * A child only does its work, and stops before and after it. Both instruments measure this
 * child and this function only, and both see each call, so the counts are equal. The
 * durations are not: the outer instrument's include the cost of the inner one. KTAU's hooks
 * are around system calls and page faults, and inside tcp_sendmsg. So in each case the
 * outer instrument must have the longer durations, by no more than the cost of both. That
 * cost is measured in the same boot, on a system call that does nothing, and printed.
 *
 * The page fault itself is inline and cannot be traced; three functions that it calls are
 * traced instead, so the tracer costs three times as much.
 *
 * Run with a fixed time for each instruction; otherwise the durations include the host's load.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define TRACING "/sys/kernel/tracing/"

#define MAX_NAMES 4

/* The figures of one instrument for one kind of work. */
struct figures {
	uint64_t count;
	uint64_t records; /* the tracer's records of all functions */
	double seconds;
};

/* The cost of each instrument for a call, in nanoseconds. */
struct cost {
	double ktau;
	double graph;
};

struct work {
	const char *what;
	/* Names in the tracer, of which the first is counted; a kernel may lack some. */
	const char *functions[MAX_NAMES];
	const char *events[MAX_NAMES]; /* names in KTAU */
	int ktau_outside;
	void (*prepare)(void);
	void (*run)(void);
};

static int try_put(const char *file, int flags, const char *text)
{
	char path[128], line[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), TRACING "%s", file);
	snprintf(line, sizeof(line), "%s\n", text);
	fd = open(path, O_WRONLY | flags);
	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static void put(const char *file, const char *text)
{
	int err = try_put(file, O_TRUNC, text);

	if (err)
		self_die(file, err);
}

static void put_number(const char *file, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	put(file, text);
}

/* Trace only these functions, as far as the kernel has them. */
static void put_filter(const char *const *functions)
{
	int nr = 0;

	for (int i = 0; i < MAX_NAMES && functions[i]; i++)
		nr += !try_put("set_ftrace_filter", nr ? O_APPEND : O_TRUNC, functions[i]);
	if (!nr)
		self_die(functions[0], -ENOENT);
}

static void control(const char *words)
{
	int err = ktau_control_write(words);

	if (err)
		self_die(words, err);
}

static char zeros[1 << 18];
static int zero_fd;

static void prepare_reads(void)
{
	zero_fd = open("/dev/zero", O_RDONLY);
	memset(zeros, 1, sizeof(zeros));
}

static void reads(void)
{
	for (int i = 0; i < 300; i++)
		if (read(zero_fd, zeros, sizeof(zeros)) != sizeof(zeros))
			self_die("/dev/zero", -errno);
}

static int end[2];

static void *drain(void *arg)
{
	static char buffer[65536];

	while (recv(end[1], buffer, sizeof(buffer), 0) > 0)
		;
	return arg;
}

static void prepare_sends(void)
{
	pthread_t thread;

	self_connection(end);
	if (pthread_create(&thread, NULL, drain, NULL))
		self_die("the other end", -errno);
}

static void sends(void)
{
	for (int i = 0; i < 300; i++)
		if (send(end[0], zeros, 65536, 0) != 65536)
			self_die("send", -errno);
}

static char *fresh;

static void prepare_faults(void)
{
	fresh = mmap(NULL, 300 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		self_die("mmap", -errno);
	madvise(fresh, 300 * 4096, MADV_NOHUGEPAGE);
}

static void faults(void)
{
	for (size_t i = 0; i < 300; i++)
		fresh[i * 4096] = 1;
}

static const struct work works[] = {
	{ "read of 256 KiB", { "__x64_sys_read" }, { "sys_read" }, 1, prepare_reads, reads },
	{ "send of 64 KiB", { "tcp_sendmsg" }, { "tcp_sendmsg" }, 0, prepare_sends, sends },
	{ "page fault",
	  { "handle_mm_fault", "lock_mm_and_find_vma", "lock_vma_under_rcu", "up_read" },
	  { "page_fault_user", "page_fault_kernel" },
	  1,
	  prepare_faults,
	  faults },
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Nanoseconds of a system call that does nothing: the minimum of some rounds. */
static double idle_call_ns(void)
{
	uint64_t least = UINT64_MAX, took;

	for (int round = 0; round < 20; round++) {
		took = now_ns();
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
		took = now_ns() - took;
		if (took < least)
			least = took;
	}
	return (double)least / 1000;
}

/* Measured on a trivial call. It is one function with two names. */
static struct cost measure_cost(void)
{
	static const char *const names[MAX_NAMES] = { "__do_sys_getppid", "__x64_sys_getppid" };
	struct cost cost;
	double bare, both;

	put_number("set_ftrace_pid", getpid());
	put_filter(names);
	control("-all");
	bare = idle_call_ns();
	control("+syscall");
	cost.ktau = idle_call_ns() - bare;
	put("current_tracer", "function_graph");
	put("tracing_on", "1");
	both = idle_call_ns() - bare;
	control("-all");
	cost.graph = idle_call_ns() - bare;
	put("tracing_on", "0");
	printf("a call without work: %.0f ns; with KTAU %.0f more, with function_graph %.0f, "
	       "with both %.0f\n",
	       bare, cost.ktau, cost.graph, both);
	return cost;
}

/* Sum of the durations in the trace, each followed by " us ". */
static struct figures traced(const char *counted)
{
	FILE *trace = self_file(TRACING "trace");
	struct figures sum = { 0 };
	char line[512], *unit, *number;

	while (fgets(line, sizeof(line), trace)) {
		if (strstr(line, "LOST"))
			self_die("the tracer has lost records", -ENOBUFS);
		unit = strstr(line, " us ");
		if (line[0] == '#' || !unit)
			continue;
		*unit = '\0';
		number = strrchr(line, ' ');
		sum.records++;
		sum.count += strstr(unit + 1, counted) != NULL;
		sum.seconds += strtod(number ? number : line, NULL) / 1e6;
	}
	fclose(trace);
	return sum;
}

static struct figures profiled(const struct work *work, const struct ktau_rec_profile *p)
{
	struct figures sum = { 0 };

	for (int i = 0; i < MAX_NAMES && work->events[i]; i++) {
		struct ktau_entry entry = self_entry(p, work->events[i]);

		sum.count += entry.count;
		sum.seconds += self_seconds(entry.incl);
	}
	return sum;
}

static void await_stop(pid_t child)
{
	int status;

	if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
		self_die("the child did not stop", -ECHILD);
}

static pid_t child_of(const struct work *work)
{
	pid_t child = fork();

	if (child < 0)
		self_die("fork", -errno);
	if (!child) {
		work->prepare();
		/* A task that preempted it between the two instruments would be in the outer one */
		if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }))
			_exit(1);
		raise(SIGSTOP);
		work->run();
		raise(SIGSTOP);
		_exit(0);
	}
	await_stop(child);
	return child;
}

static void compare(const struct work *work, struct figures ktau, struct figures graph,
		    struct cost cost)
{
	const struct figures *outer = work->ktau_outside ? &ktau : &graph;
	const struct figures *inner = work->ktau_outside ? &graph : &ktau;
	double calls = (double)ktau.count, records = (double)graph.records;
	double more_ns = (outer->seconds - inner->seconds) * 1e9;
	double most_ns = calls * cost.ktau + records * cost.graph;
	/* The tracer truncates to 1 ns. */
	int good = ktau.count && ktau.count == graph.count && more_ns >= -records &&
		   more_ns <= most_ns + records;

	tap_ok(good,
	       "%s: %" PRIu64 " times by KTAU, %" PRIu64 " by function_graph, "
	       "%.6f s and %.6f s: %s has %.0f ns a call more; both cost %.0f",
	       work->what, ktau.count, graph.count, ktau.seconds, graph.seconds,
	       work->ktau_outside ? "KTAU" : "function_graph", more_ns / calls, most_ns / calls);
}

static void hold(const struct work *work, struct cost cost)
{
	struct ktau_rec_profile *before, *added;
	pid_t child = child_of(work);

	put("trace", "");
	put_number("set_ftrace_pid", child);
	put_filter(work->functions);
	before = self_profile(child);
	put("tracing_on", "1");
	kill(child, SIGCONT);
	await_stop(child);
	put("tracing_on", "0");
	added = self_added(before, self_profile(child));
	compare(work, profiled(work, added), traced(work->functions[0]), cost);
	ktau_record_free(added);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	struct cost cost;

	self_open();
	put("tracing_on", "0");
	/* Print names at function exits, and no called functions. */
	put("options/funcgraph-tail", "1");
	put("max_graph_depth", "1");
	cost = measure_cost();
	control("+syscall +tcp +exception");
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		hold(&works[i], cost);
	put("current_tracer", "nop");
	self_close();
	return tap_done();
}
