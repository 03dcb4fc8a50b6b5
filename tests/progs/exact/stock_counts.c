// SPDX-License-Identifier: GPL-2.0-only
/*
 * stock_counts: work of known figures, compared with the profile that BPF programs make of the
 * thread that does it, on a kernel without KTAU. "stock_counts crowd" only runs the test with very
 * many tasks.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ktau_bpf.h>

#include "self.h"
#include "tap.h"

static struct ktau_rec_profile *before;

static void begin(void)
{
	ktau_record_free(before);
	before = self_profile(0);
}

/* The increase of this thread's profile since begin(). */
static struct ktau_rec_profile *added(void)
{
	struct ktau_rec_profile *p = self_added(before, self_profile(0));

	before = NULL;
	return p;
}

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void system_calls(void)
{
	struct ktau_rec_profile *p;
	struct ktau_entry e;
	double took = now_seconds();

	begin();
	for (int i = 0; i < 30000; i++)
		syscall(SYS_getppid);
	p = added();
	took = now_seconds() - took;
	e = self_entry(p, "sys_getppid");
	self_expect("30,000 getppid", e.count, 30000);
	tap_ok(e.incl > 0 && e.excl <= e.incl && self_seconds(e.incl) < took,
	       "30,000 getppid: %.6f s within %.6f s", self_seconds(e.incl), took);
	ktau_record_free(p);
}

static void no_calls(void)
{
	struct ktau_rec_profile *p;
	struct ktau_entry none;

	begin();
	for (int i = 0; i < 10; i++)
		syscall(1000 + i);
	p = added();
	none = self_entry(p, "sys_none");
	self_expect("10 calls of numbers that do not exist", none.count, 10);
	self_expect("the smallest of these numbers", none.min, 1000);
	self_expect("the largest of these numbers", none.max, 1009);
	ktau_record_free(p);
}

/* More kinds of calls than the first chunk of a table has cells. */
static void kinds(void)
{
	static const int harmless[] = {
		SYS_getpid, SYS_getppid, SYS_getuid, SYS_getgid, SYS_geteuid, SYS_getegid,
		SYS_getpgid, SYS_getsid, SYS_getpgrp, SYS_gettid, SYS_sched_yield, SYS_uname,
		SYS_times, SYS_sysinfo, SYS_umask, SYS_getpriority, SYS_sched_getparam,
		SYS_sched_getscheduler, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
		SYS_sched_rr_get_interval, SYS_getrusage, SYS_getrlimit, SYS_sync, SYS_alarm,
		SYS_getitimer, SYS_gettimeofday, SYS_time, SYS_clock_gettime, SYS_clock_getres,
		SYS_getcpu, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_access, SYS_stat,
		SYS_lstat, SYS_getcwd, SYS_dup, SYS_fcntl, SYS_lseek, SYS_membarrier,
		SYS_rt_sigpending, SYS_capget, SYS_mincore, SYS_statfs, SYS_readlink, SYS_unlink,
		SYS_rmdir, SYS_chdir,
	};
	const size_t nr = sizeof(harmless) / sizeof(*harmless);
	struct ktau_rec_profile *p;
	const struct ktau_entry *e;
	size_t right = 0;

	begin();
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < nr; i++)
			syscall(harmless[i], -1, 0, 0, 0);
	p = added();
	for (size_t i = 0; i < nr; i++) {
		e = ktau_profile_find(p, harmless[i]);
		right += e && e->count >= 3 && e->count <= 5;
	}
	self_expect("kinds of calls with the right count", right, nr);
	self_expect("activations refused", p->refused, 0);
	ktau_record_free(p);
}

static void forks(void)
{
	struct ktau_query query = { .content = KTAU_REC_PROFILE, .target = KTAU_TARGET_EXITED };
	struct ktau_rec_profile *p;
	union ktau_record record;
	uint64_t exited = 0, exits = 0, named = 0;

	self_start(&query);
	while (self_next(&record) > 0)
		if (record.rec->type == KTAU_REC_END)
			query.exited_since = record.end->exited_next;
	begin();
	for (int i = 0; i < 300; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			self_die("fork", -errno);
	}
	p = added();
	self_expect("300 forks", self_entry(p, "sys_clone").count, 300);
	self_expect("300 waits", self_entry(p, "sys_wait4").count, 300);
	ktau_record_free(p);

	self_start(&query);
	while (self_next(&record) > 0) {
		const struct ktau_rec_owner *owner;

		if (record.rec->type != KTAU_REC_PROFILE)
			continue;
		owner = self_owner(record.profile->serial);
		if (!owner || owner->ppid != getpid())
			continue;
		exited++;
		exits += self_entry(record.profile, "sys_exit_group").count;
		named += !strcmp(owner->comm, "stock_counts") && owner->parent_serial;
	}
	self_expect("300 profiles of exited children", exited, 300);
	self_expect("300 exits in these profiles", exits, 300);
	self_expect("300 of them with name and parent", named, 300);
}

static void *drain(void *arg)
{
	static char buffer[65536];
	ssize_t n;

	while ((n = recv(*(int *)arg, buffer, sizeof(buffer), 0)) > 0)
		;
	return NULL;
}

static void sends(void)
{
	static char buffer[10486];
	struct ktau_rec_profile *p;
	pthread_t thread;
	int end[2];

	self_connection(end);
	if (pthread_create(&thread, NULL, drain, &end[1]))
		self_die("thread", -EAGAIN);
	begin();
	for (int i = 0; i < 300; i++)
		if (send(end[0], buffer, sizeof(buffer), 0) != (ssize_t)sizeof(buffer))
			self_die("send", -errno);
	p = added();
	self_expect("300 sends", self_entry(p, "sys_sendto").count, 300);
	self_expect("300 calls of tcp_sendmsg", self_entry(p, "tcp_sendmsg").count, 300);
	ktau_record_free(p);
	shutdown(end[0], SHUT_WR);
	pthread_join(thread, NULL);
	close(end[0]);
	close(end[1]);
}

static volatile sig_atomic_t caught;

static void catch_signal(int sig)
{
	(void)sig;
	caught++;
}

static void signals(void)
{
	struct ktau_rec_profile *p;

	signal(SIGUSR1, catch_signal);
	begin();
	for (int i = 0; i < 500; i++)
		kill(getpid(), SIGUSR1);
	p = added();
	self_expect("500 signals caught", (uint64_t)caught, 500);
	self_expect("500 signals generated", self_entry(p, "signal_generate").count, 500);
	self_expect("500 signals delivered", self_entry(p, "signal_deliver").count, 500);
	ktau_record_free(p);
}

static void page_faults(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *fresh = mmap(NULL, 300 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ktau_rec_profile *p;

	if (fresh == MAP_FAILED)
		self_die("mmap", -errno);
	madvise(fresh, 300 * page, MADV_NOHUGEPAGE);
	begin();
	for (int i = 0; i < 300; i++)
		fresh[(size_t)i * page] = 1;
	p = added();
	self_expect("300 page faults on fresh pages", self_entry(p, "page_fault_user").count, 300);
	ktau_record_free(p);
	munmap(fresh, 300 * page);
}

static void sleeps(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct ktau_entry call, vol;
	struct ktau_rec_profile *p;
	double took;

	begin();
	took = now_seconds();
	for (int i = 0; i < 20; i++)
		nanosleep(&pause, NULL);
	took = now_seconds() - took;
	p = added();
	call = self_entry(p, "sys_clock_nanosleep");
	vol = self_sum(p, "schedule_vol");
	self_expect("20 sleeps", call.count, 20);
	self_expect("20 switches of a sleeping task", vol.count, 20);
	self_expect_within("20 sleeps: time in the system call", self_seconds(call.incl), took);
	self_expect_within("20 sleeps: time off the CPU", self_seconds(vol.incl),
			   self_seconds(call.incl));
	/* The timer runs from within the call, before the task has left the CPU. */
	tap_ok(self_seconds(call.asleep + call.incl - vol.incl) >= 1 && call.asleep == vol.asleep,
	       "20 sleeps: %.6f s asleep", self_seconds(call.asleep));
	tap_ok(vol.asleep + vol.runq == vol.incl,
	       "20 sleeps: asleep or in the run queue while off the CPU");
	tap_ok(p->asleep_ticks == vol.asleep, "the account has the same time asleep");
	ktau_record_free(p);
}

/* Context switches of this thread as the kernel counts them. */
static void own_switches(uint64_t *voluntary, uint64_t *other)
{
	FILE *file = self_file("/proc/thread-self/status");
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, voluntary) != 1)
			(void)sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, other);
	fclose(file);
}

static volatile int spinning, spins;

static void *spin(void *arg)
{
	while (spinning) {
		spins = 1;
		sched_yield();
	}
	return arg;
}

/* Each sleep is a voluntary switch. With a rival on the same CPU each yield is another one. */
static void sleep_and_yield(void)
{
	const struct sched_param priority = { .sched_priority = 1 };
	const struct timespec pause = { .tv_nsec = 1000000 };
	pthread_t rival;
	cpu_set_t one;

	for (int i = 0; i < 200; i++)
		nanosleep(&pause, NULL);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) ||
	    sched_setscheduler(0, SCHED_FIFO, &priority))
		self_die("sched_setscheduler", -errno);
	spinning = 1;
	spins = 0;
	if (pthread_create(&rival, NULL, spin, NULL))
		self_die("thread", -EAGAIN);
	while (!spins)
		sched_yield();
	for (int i = 0; i < 200; i++)
		sched_yield();
	spinning = 0;
	pthread_join(rival, NULL);
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
}

static void switches(void)
{
	struct ktau_rec_profile *p = NULL;
	uint64_t voluntary = 0, other = 0, now_voluntary, now_other, was_voluntary, was_other;
	bool quiet = false;

	/* The reads at both ends may be preempted themselves: repeat then. */
	for (int try = 0; !quiet && try < 20; try++) {
		ktau_record_free(p);
		p = NULL;
		own_switches(&was_voluntary, &was_other);
		begin();
		own_switches(&voluntary, &other);
		if (voluntary != was_voluntary || other != was_other)
			continue;
		sleep_and_yield();
		own_switches(&voluntary, &other);
		p = added();
		own_switches(&now_voluntary, &now_other);
		quiet = now_voluntary == voluntary && now_other == other;
		voluntary -= was_voluntary;
		other -= was_other;
	}
	if (!quiet)
		self_die("no quiet moment to count switches", -EAGAIN);
	self_expect("voluntary switches, by KTAU and by /proc", self_sum(p, "schedule_vol").count,
		    voluntary);
	self_expect("other switches, by KTAU and by /proc", self_entry(p, "schedule").count, other);
	tap_ok(voluntary >= 100 && other >= 200, "%" PRIu64 " and %" PRIu64 ": enough switches",
	       voluntary, other);
	ktau_record_free(p);
}

/* The profile of an exited task; NULL if there is none. */
static struct ktau_rec_profile *exited_profile(uint64_t serial)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_EXITED };
	struct ktau_rec_profile *p = NULL;
	union ktau_record record;

	self_start(&query);
	while (self_next(&record) > 0)
		if (record.rec->type == KTAU_REC_PROFILE && record.profile->serial == serial && !p)
			p = ktau_record_dup(record.rec);
	return p;
}

/* More tasks at the same time than the source has slots for. */
#define CROWD 1200

static _Noreturn void one_of_crowd(const int ready[2], const int hold[2])
{
	char byte = 0;

	close(hold[1]);
	for (int call = 0; call < 7; call++)
		syscall(SYS_getppid);
	_exit(write(ready[1], &byte, 1) != 1 || read(hold[0], &byte, 1) != 0);
}

/* How many children in a new stream have made @calls. */
static uint64_t count_crowd(const struct ktau_query *query, uint64_t calls)
{
	const struct ktau_rec_owner *owner;
	union ktau_record record;
	uint64_t right = 0;

	self_start(query);
	while (self_next(&record) > 0) {
		if (record.rec->type != KTAU_REC_PROFILE)
			continue;
		owner = self_owner(record.profile->serial);
		right += owner && owner->ppid == getpid() &&
			 self_entry(record.profile, "sys_getppid").count == 7 &&
			 self_entry(record.profile, "sys_exit_group").count == calls;
	}
	return right;
}

static void crowd(void)
{
	struct ktau_query query = { .content = KTAU_REC_PROFILE, .target = KTAU_TARGET_ALL };
	int ready[2], hold[2];
	char byte;

	if (pipe(ready) || pipe(hold))
		self_die("pipe", -errno);
	for (int i = 0; i < CROWD; i++) {
		pid_t pid = fork();

		if (pid < 0)
			self_die("fork", -errno);
		if (!pid)
			one_of_crowd(ready, hold);
	}
	for (int i = 0; i < CROWD; i++)
		if (read(ready[0], &byte, 1) != 1)
			self_die("read", -errno);
	self_expect("1,200 live tasks with the right count", count_crowd(&query, 0), CROWD);
	close(hold[0]);
	close(hold[1]);
	while (wait(NULL) > 0)
		;
	query.target = KTAU_TARGET_EXITED;
	self_expect("1,200 exited tasks with the right count", count_crowd(&query, 1), CROWD);
	close(ready[0]);
	close(ready[1]);
}

static bool status_has(pid_t pid, const char *prefix, const char *wanted)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = self_file(path);
	while (!found && fgets(line, sizeof(line), file))
		found = !strncmp(line, prefix, strlen(prefix)) &&
			strstr(line + strlen(prefix), wanted);
	fclose(file);
	return found;
}

/* A child that stops and then copies a folder. */
static pid_t stopped_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		self_die("fork", -errno);
	if (!pid) {
		raise(SIGSTOP);
		execlp("cp", "cp", "-R", "/usr/bin", "/run/copy", NULL);
		_exit(127);
	}
	while (!status_has(pid, "State:", "T (stopped)"))
		usleep(1000);
	return pid;
}

static pid_t start_strace(pid_t pid, const char *file)
{
	char number[16], tracer[16];
	pid_t strace;

	snprintf(number, sizeof(number), "%d", (int)pid);
	strace = fork();
	if (strace < 0)
		self_die("fork", -errno);
	if (!strace) {
		execlp("strace", "strace", "-n", "-q", "-s0", "-o", file, "-p", number, NULL);
		_exit(127);
	}
	snprintf(tracer, sizeof(tracer), "\t%d\n", (int)strace);
	while (!status_has(pid, "TracerPid:", tracer) ||
	       !status_has(pid, "State:", "t (tracing stop)"))
		usleep(1000);
	return strace;
}

/*
 * The calls of a program, counted by strace -n, which begins the line of each with its number.
 * Lines of signals have a number, too.
 */
static void traced(void)
{
	static const char file[] = "/run/strace";
	uint64_t calls[512] = { 0 }, sum = 0, count;
	struct ktau_rec_profile *start, *p;
	const struct ktau_entry *e;
	size_t kinds = 0, wrong = 0;
	pid_t pid, strace;
	char line[512], first;
	unsigned int nr;
	FILE *lines;

	pid = stopped_child();
	strace = start_strace(pid, file);
	start = self_profile(pid);
	kill(pid, SIGCONT);
	waitpid(pid, NULL, 0);
	waitpid(strace, NULL, 0);
	p = exited_profile(start->serial);
	if (!p)
		self_die("no profile of the traced program", -ENODATA);
	p = self_added(start, p);
	lines = self_file(file);
	while (fgets(line, sizeof(line), lines))
		if (sscanf(line, "[%u] %c", &nr, &first) == 2 && isalpha(first) && nr < 512)
			calls[nr]++;
	fclose(lines);
	for (nr = 0; nr < 512; nr++) {
		e = ktau_profile_find(p, nr);
		kinds += calls[nr] > 0;
		sum += calls[nr];
		count = e ? e->count : 0;
		if (count == calls[nr])
			continue;
		wrong++;
		printf("# call %u: %" PRIu64 " by KTAU, %" PRIu64 " by strace\n", nr,
		       count, calls[nr]);
	}
	tap_ok(!wrong && sum > 500, "%" PRIu64 " calls of %zu kinds as strace counts them", sum,
	       kinds);
	ktau_record_free(p);
}

static int open_bpf(struct ktau_reader *reader, const struct ktau_query *query)
{
	return ktau_reader_open_bpf(reader, NULL, query);
}

int main(int argc, char **argv)
{
	self_open_with(open_bpf);
	if (argc > 1 && !strcmp(argv[1], "crowd")) {
		crowd();
	} else {
		system_calls();
		no_calls();
		kinds();
		forks();
		sends();
		signals();
		page_faults();
		sleeps();
		switches();
		traced();
	}
	ktau_record_free(before);
	self_close();
	return tap_done();
}
