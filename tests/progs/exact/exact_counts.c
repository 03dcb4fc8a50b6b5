// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact_counts: work of known figures, compared with the profile of the thread that does
 * it. Run with all groups enabled.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

	begin();
	for (int i = 0; i < 100000; i++)
		syscall(SYS_getppid);
	p = added();
	self_expect("100,000 getppid", self_entry(p, "sys_getppid").count, 100000);
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

/* Have the stopped task @pid skip the system call that it is about to make. */
static int skip_call(pid_t pid)
{
#if defined(__x86_64__)
	return (int)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.orig_rax), -1L);
#elif defined(__powerpc__)
	return (int)ptrace(PTRACE_POKEUSER, pid, PT_R0 * sizeof(long), -1L);
#else
	int nr = -1;
	struct iovec io = { &nr, sizeof(nr) };

	return (int)ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &io);
#endif
}

/* Trace @pid until its getsid(), and have it skip each getppid() before that. */
static void skip_calls(pid_t pid)
{
	struct __ptrace_syscall_info info;
	int status;

	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		_exit(1);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		memset(&info, 0, sizeof(info));
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info);
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			if (info.entry.nr == SYS_getsid)
				_exit(ptrace(PTRACE_DETACH, pid, 0, 0) != 0);
			if (info.entry.nr == SYS_getppid && skip_call(pid))
				_exit(1);
		}
		ptrace(PTRACE_SYSCALL, pid, 0, 0);
	}
	_exit(1);
}

/*
 * A tracer skips a call by setting its number to -1. Nothing is executed, so nothing is counted. On
 * arm64, the call then returns its first argument.
 */
static void skipped_calls(void)
{
	pid_t self = getpid(), tracer = fork();
	struct ktau_rec_profile *p;
	int status, skipped = 0;

	if (!tracer)
		skip_calls(self);
	if (tracer < 0)
		self_die("fork", -errno);
	while (syscall(SYS_getppid, -1L) > 0)
		if (waitpid(tracer, &status, WNOHANG) == tracer)
			self_die("the tracer has ended", -ESRCH);
	begin();
	for (int i = 0; i < 10; i++)
		skipped += syscall(SYS_getppid, -1L) < 0;
	p = added();
	getsid(0);
	self_expect("10 calls skipped by a tracer", (uint64_t)skipped, 10);
	self_expect("none of them is counted as getppid", self_entry(p, "sys_getppid").count, 0);
	self_expect("nor as a call that does not exist", self_entry(p, "sys_none").count, 0);
	waitpid(tracer, &status, 0);
	self_expect("status of the tracer", (uint64_t)status, 0);
	ktau_record_free(p);
}

static void forks(void)
{
	struct ktau_query query = { .content = KTAU_REC_PROFILE, .target = KTAU_TARGET_SELF };
	struct ktau_rec_profile *p;
	union ktau_record record;
	uint64_t since = 0, exited = 0, exits = 0;

	self_start(&query);
	while (self_next(&record) > 0)
		if (record.rec->type == KTAU_REC_END)
			since = record.end->exited_next;
	begin();
	for (int i = 0; i < 1000; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			self_die("fork", -errno);
	}
	p = added();
	self_expect("1,000 forks", self_entry(p, "sys_clone").count, 1000);
	self_expect("1,000 waits", self_entry(p, "sys_wait4").count, 1000);
	ktau_record_free(p);

	query.target = KTAU_TARGET_EXITED;
	query.exited_since = since;
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
	}
	self_expect("1,000 profiles of exited children", exited, 1000);
	self_expect("1,000 exits in these profiles", exits, 1000);
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
	struct ktau_entry sent;
	pthread_t thread;
	int end[2];

	self_connection(end);
	if (pthread_create(&thread, NULL, drain, &end[1]))
		self_die("thread", -EAGAIN);
	begin();
	/* 10 MiB is not a multiple of 1,000: 760 of the sends are one byte larger. */
	for (int i = 0; i < 1000; i++) {
		size_t size = i < 760 ? 10486 : 10485;

		if (send(end[0], buffer, size, 0) != (ssize_t)size)
			self_die("send", -errno);
	}
	p = added();
	sent = self_entry(p, "sock_send_bytes");
	self_expect("1,000 sends", sent.count, 1000);
	self_expect("10 MiB sent", sent.sum, 10 << 20);
	self_expect("the largest send", sent.max, 10486);
	self_expect("the smallest send", sent.min, 10485);
	self_expect("1,000 calls of tcp_sendmsg", self_entry(p, "tcp_sendmsg").count, 1000);
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
	self_expect("500 signals sent", self_entry(p, "__send_signal_locked").count, 500);
	self_expect("500 signals dequeued", self_entry(p, "collect_signal").count, 500);
	self_expect("500 signals delivered", self_entry(p, "handle_signal").count, 500);
	ktau_record_free(p);
}

static void page_faults(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ktau_rec_profile *p;
	char *fresh = self_map_fresh(300 * page);

	begin();
	for (int i = 0; i < 300; i++)
		fresh[(size_t)i * page] = 1;
	p = added();
	self_expect("300 page faults on fresh pages", self_entry(p, "page_fault_user").count, 300);
	ktau_record_free(p);
	self_unmap_fresh(fresh, 300 * page);
}

static void sleeps(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct ktau_rec_profile *p;
	struct ktau_entry call;
	double took;

	begin();
	took = now_seconds();
	for (int i = 0; i < 20; i++)
		nanosleep(&pause, NULL);
	took = now_seconds() - took;
	p = added();
	/* With a time_t of 32 bits the C library makes another call. */
	call = self_entry(p, sizeof(time_t) == 4 ? "sys_clock_nanosleep_time32" :
						   "sys_clock_nanosleep");
	self_expect("20 sleeps", call.count, 20);
	self_expect_within("20 sleeps: time in the system call", self_seconds(call.incl), took);
	self_expect_within("20 sleeps: time off the CPU",
			   self_seconds(self_sum(p, "schedule_vol").incl),
			   self_seconds(call.incl));
	ktau_record_free(p);
}

static void write_slowly(int fd, int times)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	while (times--) {
		nanosleep(&pause, NULL);
		if (write(fd, "", 1) != 1)
			break;
	}
	_exit(0);
}

/* The parts of a read() that waits for each byte. */
static void waits(void)
{
	enum { TIMES = 20 };
	struct ktau_entry call, vol;
	struct ktau_rec_profile *p;
	uint64_t own, earlier;
	double took;
	char byte;
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		self_die("pipe", -errno);
	pid = fork();
	if (!pid)
		write_slowly(fds[1], TIMES);
	if (pid < 0)
		self_die("fork", -errno);
	begin();
	earlier = self_entry(before, "sys_read").longest;
	took = now_seconds();
	for (int i = 0; i < TIMES; i++)
		if (read(fds[0], &byte, 1) != 1)
			self_die("read", -EIO);
	took = now_seconds() - took;
	p = added();
	waitpid(pid, NULL, 0);
	call = self_entry(p, "sys_read");
	vol = self_entry(p, "schedule_vol_interruptible");
	own = call.incl - call.asleep - call.runq - call.irq;
	self_expect("read(): times inside it are measured", call.flags, 15);
	self_expect_within("read(): time asleep and in the run queue",
			   self_seconds(call.asleep + call.runq), took);
	self_expect("read(): no other sleep",
		    (vol.count >= TIMES || !tap_exact_time()) && call.asleep <= vol.asleep &&
			    call.asleep >= vol.asleep / 100 * 98,
		    1);
	printf("read(): %.3f s asleep, %.6f s in the run queue, %.6f s in interrupts, "
	       "%.6f s in the call itself\n",
	       self_seconds(call.asleep), self_seconds(call.runq), self_seconds(call.irq),
	       self_seconds(own));
	self_expect("read(): the rest is at least its exclusive time", own >= call.excl, 1);
	if (tap_exact_time())
		self_expect("read(): the rest is at most 2 %", own <= call.incl / 50, 1);
	/*
	 * A host that delays this thread may leave nothing to wait for; the longest call may be
	 * one before begin().
	 */
	self_expect("read(): the longest call includes a pause of the writer",
		    self_seconds(call.longest) > (tap_exact_time() ? 0.015 : 0) &&
			    (call.longest == earlier || self_seconds(call.longest) < took),
		    1);
	ktau_record_free(p);
	close(fds[0]);
	close(fds[1]);
}

/* "voluntary_ctxt_switches" or "nonvoluntary_ctxt_switches" of this thread. */
static uint64_t switches(const char *which)
{
	FILE *status = self_file("/proc/thread-self/status");
	size_t len = strlen(which);
	uint64_t value = 0;
	char line[256];

	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, which, len) && line[len] == ':')
			value = strtoull(line + len + 1, NULL, 10);
	fclose(status);
	return value;
}

static volatile int spinning = 1, spins;

static void *spin(void *arg)
{
	while (spinning) {
		spins = 1;
		sched_yield();
	}
	return arg;
}

/* With two real-time threads of equal priority on one CPU each yield causes a switch. */
static void yields(void)
{
	const struct sched_param priority = { .sched_priority = 1 };
	struct ktau_rec_profile *p;
	pthread_t rival;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		self_die("sched_setscheduler", -errno);
	if (pthread_create(&rival, NULL, spin, NULL))
		self_die("thread", -EAGAIN);
	while (!spins)
		sched_yield();
	begin();
	for (int i = 0; i < 200; i++)
		sched_yield();
	p = added();
	spinning = 0;
	pthread_join(rival, NULL);
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	self_expect("200 yields", self_entry(p, "sys_sched_yield").count, 200);
	self_expect("200 switches by these yields", self_entry(p, "schedule_yld").count, 200);
	ktau_record_free(p);
}

/* All switches of this thread, repeated until none happens between the readings. */
static void context_switches(void)
{
	struct ktau_rec_profile *p = NULL;
	uint64_t vol, other;

	do {
		ktau_record_free(p);
		vol = switches("voluntary_ctxt_switches");
		other = switches("nonvoluntary_ctxt_switches");
		p = self_profile(0);
	} while (vol != switches("voluntary_ctxt_switches") ||
		 other != switches("nonvoluntary_ctxt_switches"));
	self_expect("voluntary switches, by /proc/PID/status",
		    self_sum(p, "schedule_vol").count, vol);
	self_expect("other switches, by /proc/PID/status",
		    self_entry(p, "schedule").count + self_entry(p, "schedule_yld").count, other);
	ktau_record_free(p);
}

int main(void)
{
	self_open();
	system_calls();
	no_calls();
	skipped_calls();
	forks();
	sends();
	signals();
	page_faults();
	sleeps();
	waits();
	yields();
	context_switches();

	ktau_record_free(before);
	self_close();
	return tap_done();
}
