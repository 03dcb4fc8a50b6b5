// SPDX-License-Identifier: GPL-2.0-only
/*
 * account: compare the account of known work with the clock.
 *
 * Run with all groups enabled, including account.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

/**
 * struct part - the increase of a thread's account, in seconds
 * @life: the time between the two copies of the profile
 * @user: time in user mode; the other states likewise
 */
struct part {
	double life, user, kernel, irq, runq, asleep, guest;
};

static struct ktau_rec_profile *before;

static struct part since(const struct ktau_rec_profile *a, const struct ktau_rec_profile *b)
{
	return (struct part){
		.life = self_seconds(b->ticks - a->ticks),
		.user = self_seconds(b->user_ticks - a->user_ticks),
		.kernel = self_seconds(b->kernel_ticks - a->kernel_ticks),
		.irq = self_seconds(b->irq_ticks - a->irq_ticks),
		.runq = self_seconds(b->runq_ticks - a->runq_ticks),
		.asleep = self_seconds(b->asleep_ticks - a->asleep_ticks),
		.guest = self_seconds(b->guest_ticks - a->guest_ticks),
	};
}

static double sum(struct part p)
{
	return p.user + p.kernel + p.irq + p.runq + p.asleep + p.guest;
}

static void begin(void)
{
	ktau_record_free(before);
	before = self_profile(0);
}

static struct part end(const char *what)
{
	struct ktau_rec_profile *now = self_profile(0);
	struct part p = since(before, now);
	int good = sum(p) >= p.life * 0.995 && sum(p) <= p.life * 1.0001;

	tap_ok(good, "%s: the parts add up to %.6f s of %.6f s", what,
	       sum(p), p.life);
	ktau_record_free(now);
	return p;
}

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* User time is not known beforehand: the CPU time minus kernel and interrupts is user time. */
static void spin(void)
{
	static volatile unsigned long turns;
	double took, cpu;
	struct part p;

	begin();
	took = now_seconds();
	cpu = cpu_seconds();
	while (turns < 100000000)
		turns++;
	cpu = cpu_seconds() - cpu;
	took = now_seconds() - took;
	p = end("a loop");
	self_expect_within("a loop: the time by the clock, in its life", took, p.life);
	self_expect_within("a loop: the CPU time, in user mode, kernel and interrupts", cpu,
			   p.user + p.kernel + p.irq);
	if (tap_exact_time())
		self_expect("a loop: at most 2 % in the kernel", p.kernel < took / 50, 1);
}

static void nap(void)
{
	const struct timespec pause = { .tv_nsec = 300000000 };
	struct part p;
	double took;

	begin();
	took = now_seconds();
	nanosleep(&pause, NULL);
	took = now_seconds() - took;
	p = end("a nap");
	self_expect_within("a nap: asleep", p.asleep, took);
}

/* The kernel works on a large area of memory; the program itself does almost nothing. */
static void map(void)
{
	struct part p;

	begin();
	for (int i = 0; i < 8; i++) {
		void *memory = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (memory == MAP_FAILED)
			self_die("mmap", -errno);
		munmap(memory, 16 << 20);
	}
	p = end("mappings");
	self_expect_within("mappings: in the kernel, or interrupted there",
			   p.kernel + p.irq + p.runq, p.life);
}

static void nameless_calls(int times)
{
	for (int i = 0; i < times; i++)
		syscall(1000 + i);
}

/* The root frame of an entry is named by the hook that follows; without one it is "kernel". */
static void names(void)
{
	struct ktau_rec_profile *p;

	before = NULL;
	begin();
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	p = self_added(before, self_profile(0));
	before = NULL;
	self_expect("1,000 calls with a name", self_entry(p, "sys_getppid").count, 1000);
	ktau_record_free(p);

	/* The hooks of an interrupt in one of these calls would name it. */
	for (int i = 0; i < 1000; i++) {
		begin();
		nameless_calls(10);
		p = self_added(before, self_profile(0));
		before = NULL;
		if (!self_group_count(p, KTAU_GROUP_IRQ))
			break;
		ktau_record_free(p);
		p = NULL;
	}
	if (!p)
		self_die("10 calls without an interrupt", -ETIMEDOUT);
	self_expect("10 entries without a name", self_entry(p, "kernel").count, 10);
	ktau_record_free(p);
}

static void *exited_profile(uint64_t since_seq, pid_t pid)
{
	struct ktau_query query = { .content = KTAU_REC_PROFILE, .target = KTAU_TARGET_EXITED };
	struct ktau_rec_profile *found = NULL;
	union ktau_record record;

	query.exited_since = since_seq;
	self_start(&query);
	while (self_next(&record) > 0) {
		const struct ktau_rec_owner *owner;

		if (record.rec->type != KTAU_REC_PROFILE || found)
			continue;
		owner = self_owner(record.profile->serial);
		if (!owner || owner->tid != pid)
			continue;
		found = malloc(record.rec->size);
		if (found)
			memcpy(found, record.rec, record.rec->size);
	}
	return found;
}

/* Run a child for 0.4 s. Return its profile, with *@took s from before its creation to its end. */
static struct ktau_rec_profile *run_child(double *took)
{
	struct ktau_query query = { .content = KTAU_REC_PROFILE, .target = KTAU_TARGET_SELF };
	const struct timespec pause = { .tv_nsec = 400000000 };
	union ktau_record record;
	uint64_t seq = 0;
	pid_t pid;

	self_start(&query);
	while (self_next(&record) > 0)
		if (record.rec->type == KTAU_REC_END)
			seq = record.end->exited_next;
	*took = now_seconds();
	pid = fork();
	if (!pid) {
		nanosleep(&pause, NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		self_die("fork", -errno);
	*took = now_seconds() - *took;
	return exited_profile(seq, pid);
}

/* Run for a millisecond after each of 20 ticks, so that no tick samples it. */
static void run_between_ticks(void)
{
	struct timespec tick, last;
	double until;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &last);
	for (int i = 0; i < 20; last = tick) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &tick);
		if (tick.tv_nsec == last.tv_nsec) {
			usleep(100);
			continue;
		}
		until = now_seconds() + 0.001;
		while (now_seconds() < until)
			;
		i++;
	}
}

/* The CPU time of an exited task is what the kernel reports to its parent. */
static void cpu_time(void)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_EXITED };
	const struct ktau_rec_owner *owner = NULL;
	union ktau_record record;
	double used, got = 0;
	struct rusage usage;
	pid_t pid = fork();

	if (!pid) {
		run_between_ticks();
		_exit(0);
	}
	if (pid < 0 || wait4(pid, NULL, 0, &usage) != pid)
		self_die("fork", -errno);
	used = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	self_start(&query);
	while (self_next(&record) > 0) {
		if (record.rec->type != KTAU_REC_PROFILE)
			continue;
		owner = self_owner(record.profile->serial);
		if (owner && owner->tid == pid)
			got = (double)(owner->utime_ns + owner->stime_ns) / 1e9;
	}
	self_expect_within("a child: its CPU time by wait4()", used, got);
}

/* The life of a child, from its creation to its exit, as measured by its parent. */
static void child(void)
{
	static const struct ktau_rec_profile none;
	struct ktau_rec_profile *p;
	struct part all;
	double took;

	p = run_child(&took);
	self_expect("a child: it has a profile", p != NULL, 1);
	if (!p)
		return;
	all = since(&none, p);
	all.life = self_seconds(p->ticks - p->start_ticks);
	self_expect_within("a child: its life", all.life, took);
	self_expect_within("a child: the sum of its parts", sum(all), all.life);
	self_expect("a child: one root frame for its start", self_entry(p, "ret_from_fork").count,
		    1);
	self_expect("a child: one exit", self_entry(p, "do_exit").count, 1);
	free(p);
}

int main(void)
{
	struct ktau_rec_profile *p;
	int has;

	self_open();
	p = self_profile(0);
	has = p->groups_throughout & KTAU_GROUP_ACCOUNT;
	ktau_record_free(p);
	if (has) {
		spin();
		nap();
		map();
		names();
		child();
		cpu_time();
	} else {
		tap_skip("account", "this kernel does not have the group");
	}
	self_close();
	return tap_done();
}
