// SPDX-License-Identifier: GPL-2.0-only
/*
 * oom COMMAND...: KTAU runs out of memory. Refused activations must be counted and stated in
 * the profiles, COMMAND must succeed meanwhile, and collection must resume once there is
 * memory again. Run with all groups enabled.
 *
 * Two processes do the same work, of which only system calls are measured. One does it in
 * advance; its table gives the number of calls. The other does it when no table can grow any
 * more: its counted and refused calls must add up to the same number.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktau.h>

#include "tap.h"

/* The increase of a process's profile by its work. */
struct result {
	uint64_t calls;
	uint64_t refused;
	uint64_t refused_ticks;
};

/* Commands to a worker. */
enum order { LOOK,
	     MEASURE,
	     SPEND };

/* A process that works on command. */
struct worker {
	pid_t pid;
	int start;
	int done;
};

/* Enough to use up the reserves of two CPUs, half of them on each. */
#define SPENDERS 60

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "oom: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void check(int good, const char *what, uint64_t value)
{
	tap_ok(good, "oom: %s: %" PRIu64, what, value);
}

static uint64_t stat_of(const char *name)
{
	uint64_t value;
	int err = ktau_stats_get(name, &value);

	if (err)
		die(name, err);
	return value;
}

static void control(const char *words)
{
	int err = ktau_control_write(words);

	if (err)
		die(words, err);
}

static void control_cap(const char *bytes)
{
	char words[80];

	snprintf(words, sizeof(words), "memory_limit=%s", bytes);
	control(words);
}

static const struct ktau_query self = {
	.content = KTAU_REC_PROFILE,
	.target = KTAU_TARGET_SELF,
};

/* The profile of this process; NULL if it has none. */
static struct ktau_rec_profile *profile(struct ktau_reader *reader)
{
	struct ktau_rec_profile *copy = NULL;
	union ktau_record record;
	int ret = ktau_reader_restart(reader, &self);

	while (!ret && (ret = ktau_reader_next(reader, &record)) > 0) {
		ret = 0;
		if (record.rec->type == KTAU_REC_PROFILE)
			copy = ktau_record_dup(record.rec);
	}
	if (ret)
		die(ktau_reader_error(reader), ret);
	return copy;
}

static struct ktau_reader *open_reader(void)
{
	struct ktau_reader *reader;
	int err = ktau_reader_create(&reader);

	if (!err)
		err = ktau_reader_open_live(reader, &self);
	if (err)
		die("/proc/ktau/profile", err);
	return reader;
}

static uint64_t calls_in(const struct ktau_rec_profile *p)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint64_t calls = 0;

	for (uint32_t i = 0; i < p->nr_entries; i++)
		calls += entries[i].count;
	return calls;
}

/* Calls in distant parts of the table. */
static void work(void)
{
	static const long numbers[] = { SYS_getppid, SYS_getsid, SYS_getpriority,
					SYS_sched_getscheduler, SYS_umask };

	for (int i = 0; i < 1000; i++)
		for (size_t j = 0; j < sizeof(numbers) / sizeof(*numbers); j++)
			syscall(numbers[j], 0, 0);
}

static struct result measure(struct ktau_reader *reader)
{
	struct ktau_rec_profile *before = profile(reader), *after;
	struct result result;

	work();
	after = profile(reader);
	if (!before || !after)
		die("no profile of this process", -ENODATA);
	if (ktau_check_identity(after, NULL, NULL))
		die("the times of this process do not add up", -EBADMSG);
	result.calls = calls_in(after) - calls_in(before);
	result.refused = after->refused - before->refused;
	result.refused_ticks = after->refused_ticks - before->refused_ticks;
	ktau_record_free(before);
	ktau_record_free(after);
	return result;
}

/* A call in every part of the table; all fail, because there is no descriptor -1. */
static void spend(void)
{
	static const long numbers[] = {
		SYS_close,
		SYS_lseek,
		SYS_ioctl,
		SYS_madvise,
		SYS_dup,
		SYS_getpeername,
		SYS_fcntl,
		SYS_fchdir,
		SYS_fchmod,
		SYS_getrlimit,
		SYS_getgid,
		SYS_getpgid,
		SYS_fstatfs,
		SYS_sched_rr_get_interval,
		SYS_readahead,
		SYS_flistxattr,
		SYS_epoll_create,
		SYS_fadvise64,
		SYS_clock_getres,
		SYS_epoll_wait,
		SYS_ioprio_get,
		SYS_openat,
		SYS_splice,
		SYS_fallocate,
		SYS_accept4,
		SYS_syncfs,
		SYS_getrandom,
		SYS_copy_file_range,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		syscall(numbers[i], -1, 0, 0, 0, 0, 0);
}

static _Noreturn void run_worker(int start, int done)
{
	struct ktau_reader *reader = open_reader();
	struct result result = { 0 };
	char order;

	while (read(start, &order, 1) == 1) {
		if (order == LOOK)
			ktau_record_free(profile(reader));
		else if (order == MEASURE)
			result = measure(reader);
		else
			spend();
		if (write(done, &result, sizeof(result)) != sizeof(result))
			die("write", -errno);
	}
	_exit(0);
}

static struct result order_worker(const struct worker *worker, enum order order)
{
	struct result result;
	char word = (char)order;

	if (write(worker->start, &word, 1) != 1 ||
	    read(worker->done, &result, sizeof(result)) != sizeof(result))
		die("a worker has exited", -EPIPE);
	return result;
}

static struct worker begin_worker(void)
{
	int start[2], done[2];
	struct worker worker;

	if (pipe(start) || pipe(done))
		die("pipe", -errno);
	worker = (struct worker){ .pid = fork(), .start = start[1], .done = done[0] };
	if (worker.pid < 0)
		die("fork", -errno);
	if (!worker.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_worker(start[0], done[1]);
	}
	close(start[0]);
	close(done[1]);
	return worker;
}

/*
 * Start a worker. It reads its profile in advance, so that the table has room for the calls that
 * this takes.
 */
static struct worker begin_measured(void)
{
	struct worker worker = begin_worker();

	for (int i = 0; i < 3; i++)
		order_worker(&worker, LOOK);
	return worker;
}

/* Whether a new process gets a profile. */
static int new_is_measured(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		struct ktau_reader *reader = open_reader();

		_exit(profile(reader) != NULL);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		die("fork", -errno);
	return WEXITSTATUS(status);
}

static int run(char **command)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		die("fork", -errno);
	return status;
}

/* A spender uses up the reserve of the CPU on which it runs. */
static void bind_to(pid_t pid, unsigned int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(pid, sizeof(one), &one))
		die("sched_setaffinity", -errno);
}

/* Use up memory until chunks are refused; new tables are refused immediately. */
static void starve(void)
{
	uint64_t chunks = stat_of("refused_no_chunk"), states = stat_of("refused_no_state");
	struct worker spender[SPENDERS];

	for (int i = 0; i < SPENDERS; i++) {
		spender[i] = begin_worker();
		bind_to(spender[i].pid, (unsigned int)(i % get_nprocs()));
	}
	control_cap("1");
	for (int i = 0; i < SPENDERS; i++)
		order_worker(&spender[i], SPEND);
	check(stat_of("refused_no_chunk") > chunks, "refused chunks",
	      stat_of("refused_no_chunk") - chunks);
	check(!new_is_measured(), "a new process is not measured", 0);
	check(stat_of("refused_no_state") > states, "refused states",
	      stat_of("refused_no_state") - states);
}

static void while_starved(const struct worker *worker, uint64_t calls, char **command)
{
	struct result result = order_worker(worker, MEASURE);
	uint64_t over = stat_of("refused_memory_limit");

	check(result.refused > 0, "refused calls", result.refused);
	check(result.refused_ticks > 0, "ticks of refused calls", result.refused_ticks);
	check(result.calls + result.refused == calls, "counted and refused calls are all calls",
	      result.calls + result.refused);
	control("trace=on");
	control("trace=off");
	check(stat_of("refused_memory_limit") > over, "refused rings",
	      stat_of("refused_memory_limit") - over);
	check(!run(command), "the checking command succeeds", 0);
}

int main(int argc, char **argv)
{
	struct worker fed, starving;
	struct result result;
	char cap[32];
	int err;

	if (argc < 2) {
		fputs("usage: oom COMMAND...\n", stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = ktau_control_get("memory_limit", cap, sizeof(cap));
	if (err)
		die("memory_limit", err);
	fed = begin_measured();
	starving = begin_measured();
	result = order_worker(&fed, MEASURE);
	check(result.calls > 5000, "calls of the work in the usual table", result.calls);
	check(!result.refused, "calls refused with enough memory", result.refused);

	starve();
	while_starved(&starving, result.calls, argv + 1);

	control_cap(cap);
	check(new_is_measured(), "a new process is measured once there is memory", 1);
	check(order_worker(&starving, MEASURE).calls == result.calls,
	      "calls of the old process once there is memory", result.calls);
	return tap_done();
}
