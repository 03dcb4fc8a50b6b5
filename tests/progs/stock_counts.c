// SPDX-License-Identifier: GPL-2.0-only
/*
 * stock_counts: work of known figures, compared with the profile that BPF programs make of the
 * thread that does it, on a kernel without KTAU.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
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

/* Context switches as the kernel counts them. */
static uint64_t own_switches(void)
{
	FILE *file = self_file("/proc/thread-self/status");
	unsigned long long one;
	uint64_t sum = 0;
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &one) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &one) == 1)
			sum += one;
	fclose(file);
	return sum;
}

static void switches(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct ktau_rec_profile *p = NULL;
	uint64_t was = 0, now = 0, counted = 0;

	/* The reads at both ends may be preempted themselves: repeat then. */
	for (int try = 0; try < 20; try++) {
		ktau_record_free(p);
		p = NULL;
		was = own_switches();
		begin();
		if (own_switches() != was)
			continue;
		for (int i = 0; i < 200; i++)
			nanosleep(&pause, NULL);
		now = own_switches();
		p = added();
		counted = self_sum(p, "schedule").count;
		if (own_switches() == now)
			break;
	}
	if (!p)
		self_die("no quiet moment to count switches", -EAGAIN);
	self_expect("switches, by KTAU and by /proc", counted, now - was);
	ktau_record_free(p);
}

static int open_bpf(struct ktau_reader *reader, const struct ktau_query *query)
{
	return ktau_reader_open_bpf(reader, 0, query);
}

int main(void)
{
	self_open_with(open_bpf);
	system_calls();
	no_calls();
	kinds();
	forks();
	sends();
	signals();
	page_faults();
	sleeps();
	switches();

	ktau_record_free(before);
	self_close();
	return tap_done();
}
