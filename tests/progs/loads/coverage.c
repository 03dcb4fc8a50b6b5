// SPDX-License-Identifier: GPL-2.0-only
/*
 * coverage NAME COMMAND...: run a command and compare KTAU's account of its tasks with the
 * kernel's own precise accounting (/proc/oracle, of the kernel x86_64-distro).
 *
 * coverage -k NAME THREAD COMMAND...: the same for the kernel threads that ran meanwhile, one
 * of which must have a name that matches THREAD.
 *
 * The comparisons, each with an independent measurement:
 *
 *  - kernel time of named events, which is the exclusive time of all timers except the
 *    unnamed root, the scheduler's and guest mode, with stime;
 *  - guest_ticks, and the interrupts during guest mode, with gtime: to the kernel these
 *    interrupts are the guest's time, so they are not kernel time in the comparison above;
 *  - user_ticks, which KTAU measures from the end of a root frame to the next one, with
 *    utime;
 *  - the life of the command's process with the parent's clock around fork and waitid;
 *  - the sum of the parts of each life with the life;
 *  - for a kernel thread, the named time with its stime, and with the time that it ran
 *    according to the scheduler.
 *
 * Prints a test for each, and a row of the table in docs/dev/measurements.md.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ktau.h>

#include "oracle.h"
#include "tap.h"

#define TRANSITION_NS 20 /* tolerated difference for a transition and a switch */
#define SWITCH_NS 50

#define MAX_THREADS 1024

/* In which an exiting task is switched out for the last time. */
#define LAST_SWITCH_US 10000

/**
 * struct account - sums over tasks, in nanoseconds
 * @nr_tasks: number of tasks
 * @refused: activations refused by KTAU
 * @named: exclusive time of kernel events with a name
 * @unnamed: exclusive time of roots without a name
 * @user: user_ticks
 * @guest: guest_ticks
 * @guest_irq: time in interrupts during guest mode
 * @life: durations of the tasks' lives
 * @rest: differences between the lives and the sums of their parts
 * @begin: start of the command's process, in ticks
 * @end: exit of its last thread, for which its parent waits
 * @io_named: @named of io_uring's threads
 * @io_stime: the kernel's stime of these
 * @oracle: the kernel's accounting
 */
struct account {
	unsigned int nr_tasks;
	uint64_t refused;
	double named;
	double unnamed;
	double user;
	double guest;
	double guest_irq;
	double life;
	double rest;
	uint64_t begin;
	uint64_t end;
	double io_named;
	double io_stime;
	struct oracle_task oracle;
};

/**
 * struct thread - a kernel thread
 * @tid: its tid
 * @comm: its name
 * @account: KTAU's account of it
 * @oracle: the kernel's accounting
 */
struct thread {
	int32_t tid;
	char comm[16];
	struct account account;
	struct oracle_task oracle;
};

static struct ktau_reader *reader;
static struct ktau_clock ktau_time;

_Noreturn __attribute__((format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list args;

	fputs("coverage: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* The difference between @got and @want, relative to @want. */
static double off(double got, double want)
{
	double far = got > want ? got - want : want - got;

	return want > 0 ? far / want : far > 0;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static double ns(uint64_t ticks)
{
	return (double)ktau_clock_ns(&ktau_time, ticks);
}

/* Begin a new stream; then call next_profile() until it returns NULL. */
static void start_stream(const struct ktau_query *query)
{
	int err;

	if (!reader && ktau_reader_create(&reader))
		die("no memory");
	err = ktau_reader_fd(reader) < 0 ? ktau_reader_open_live(reader, query) :
					   ktau_reader_restart(reader, query);
	if (err)
		die("%s", ktau_reader_error(reader));
}

static const struct ktau_rec_profile *next_profile(uint64_t *exited_next)
{
	union ktau_record record;
	int ret;

	while ((ret = ktau_reader_next(reader, &record)) > 0) {
		if (record.rec->type == KTAU_REC_STREAM)
			ktau_clock_init(&ktau_time, record.stream);
		if (record.rec->type == KTAU_REC_END && exited_next)
			*exited_next = record.end->exited_next;
		if (record.rec->type == KTAU_REC_PROFILE)
			return record.profile;
	}
	if (ret)
		die("%s", ktau_reader_error(reader));
	return NULL;
}

static bool is_guest(const struct ktau_rec_event *event)
{
	return event && event->group == KTAU_GROUP_KVM &&
	       !strcmp(ktau_event_name(event), "guest");
}

/* Add the exclusive time of one event of a profile to the sum that it belongs to. */
static void add_event(struct account *sum, uint32_t id, uint64_t ticks)
{
	const struct ktau_rec_event *event = ktau_reader_event(reader, id);
	const char *name = event ? ktau_event_name(event) : "";
	uint32_t group = event ? event->group : 0;

	if (group == KTAU_GROUP_SCHED || is_guest(event))
		return;
	if (group == KTAU_GROUP_ACCOUNT && !strcmp(name, "kernel"))
		sum->unnamed += ns(ticks);
	else
		sum->named += ns(ticks);
}

static void add_events(struct account *sum, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint64_t excl;

	for (uint32_t i = 0; i < p->nr_entries; i++) {
		if (entries[i].kind == KTAU_KIND_TIMER)
			add_event(sum, entries[i].id, entries[i].excl);
		if (is_guest(ktau_reader_event(reader, entries[i].id)))
			sum->guest_irq += ns(entries[i].irq);
	}
	for (uint32_t i = 0; !ktau_profile_inflight(p, i, NULL, &excl); i++)
		add_event(sum, ktau_profile_open(p)[i].id, excl);
	sum->refused += p->refused;
}

static void add_profile(struct account *sum, const struct ktau_rec_profile *p)
{
	double life = ns(p->ticks - p->start_ticks);
	double parts = ns(p->user_ticks) + ns(p->kernel_ticks) + ns(p->irq_ticks) +
		       ns(p->runq_ticks) + ns(p->asleep_ticks) + ns(p->guest_ticks);

	add_events(sum, p);
	sum->nr_tasks++;
	sum->user += ns(p->user_ticks);
	sum->guest += ns(p->guest_ticks);
	sum->life += life;
	sum->rest += off(parts, life) * life;
}

static void add_oracle(struct oracle_task *sum, const struct oracle_task *task)
{
	sum->utime += task->utime;
	sum->stime += task->stime;
	sum->gtime += task->gtime;
	sum->runtime += task->runtime;
	sum->transitions += task->transitions;
	sum->switches += task->switches;
}

/* Add an exited task, which must be in the oracle's list. */
static void add_exited(struct account *sum, const struct ktau_rec_profile *p,
		       const struct ktau_rec_owner *owner)
{
	const struct oracle_task *task = oracle_find(owner->tid);
	double before = sum->named;

	if (!task)
		die("task %d is not in /proc/oracle", owner->tid);
	add_profile(sum, p);
	add_oracle(&sum->oracle, task);
	if (!strncmp(owner->comm, "iou-", 4)) {
		sum->io_named += sum->named - before;
		sum->io_stime += (double)task->stime;
	}
}

static void sum_exited(struct account *sum, uint64_t exited_since, int32_t leader)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_EXITED,
					  .exited_since = exited_since };
	const struct ktau_rec_profile *p;

	start_stream(&query);
	while ((p = next_profile(NULL))) {
		const struct ktau_rec_owner *owner = ktau_reader_owner(reader, p->serial);

		if (!owner || owner->flags & KTAU_OWNER_KTHREAD)
			continue;
		add_exited(sum, p, owner);
		if (owner->tid == leader)
			sum->begin = p->start_ticks;
		if (owner->tgid == leader && p->ticks > sum->end)
			sum->end = p->ticks;
	}
}

/*
 * The parent must get the CPU as soon as the child has exited; otherwise its clock includes its
 * own time in the run queue.
 */
static void come_first(void)
{
	const struct sched_param param = { .sched_priority = 90 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		die("SCHED_FIFO: %s", strerror(errno));
}

/* vfork(): the child uses its parent's memory until its exec, while fork() would copy it. */
static pid_t run(char **command)
{
	siginfo_t info;
	pid_t pid;
	int err = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);

	if (err)
		die("%s: %s", command[0], strerror(err));
	if (waitid(P_PID, (id_t)pid, &info, WEXITED))
		die("waitid: %s", strerror(errno));
	if (info.si_code != CLD_EXITED || info.si_status)
		die("%s failed", command[0]);
	return pid;
}

/* The tolerated difference between named time and stime, without the transitions. */
static double kernel_bound(const struct oracle_task *o, double stime)
{
	return 0.005 * stime + SWITCH_NS * (double)o->switches;
}

static void judge(const char *name, const struct account *a, double clock)
{
	const struct oracle_task *o = &a->oracle;
	double stime = (double)o->stime, utime = (double)o->utime, gtime = (double)o->gtime;
	double bound = kernel_bound(o, stime) + TRANSITION_NS * (double)o->transitions;
	double life = ns(a->end - a->begin);
	double named = a->named - a->guest_irq, guest = a->guest + a->guest_irq;

	tap_ok(off(utime + stime + gtime, (double)o->runtime) <= 0.01,
	       "%s: precise accounting: %.3f ms, %.3f ms by the scheduler", name,
	       (utime + stime + gtime) / 1e6, (double)o->runtime / 1e6);
	tap_ok(!a->refused && off(named, stime) * stime <= bound,
	       "%s: kernel time of named events %.2f %% of %.3f ms stime, +- %.2f", name,
	       percent(named, stime), stime / 1e6, percent(bound, stime));
	tap_ok(off(a->user, utime) <= 0.01, "%s: user %.2f %% of %.3f ms utime, +- 1", name,
	       percent(a->user, utime), utime / 1e6);
	if (gtime > 0)
		tap_ok(off(guest, gtime) <= 0.01,
		       "%s: guest %.2f %% of %.3f ms gtime, %.3f ms of interrupts included, +- 1",
		       name, percent(guest, gtime), gtime / 1e6, a->guest_irq / 1e6);
	if (a->io_stime > 0)
		tap_ok(off(a->io_named, a->io_stime) <= 0.005,
		       "%s: io_uring's threads: %.2f %% of %.3f ms named, +- 0.5", name,
		       percent(a->io_named, a->io_stime), a->io_stime / 1e6);
	tap_ok(off(life, clock) <= 0.001,
	       "%s: life %.3f %% of %.3f ms by the parent's clock, +- 0.1", name,
	       percent(life, clock), clock / 1e6);
	tap_ok(a->rest <= 0.005 * a->life, "%s: rest %.2f %% of life, at most 0.5", name,
	       percent(a->rest, a->life));
	printf("row | %s | %u | %.1f ms | %.2f %% | %.2f %% | %.2f %% | %.2f %% | %.2f %% |\n",
	       name, a->nr_tasks, stime / 1e6, percent(named, stime),
	       percent(named + a->unnamed, stime), percent(a->user, utime),
	       percent(life, clock), percent(a->rest, a->life));
}

static void test_tasks(const char *name, char **command)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_EXITED,
					  .exited_since = UINT64_MAX };
	struct account sum = { 0 };
	uint64_t exited_next = 0, begin, end;
	pid_t pid;

	come_first();
	start_stream(&query);
	while (next_profile(&exited_next))
		;
	oracle_clear();
	begin = now_ns();
	pid = run(command);
	end = now_ns();
	/* It was preempted in its exit: both accounts end with its last switch. */
	usleep(LAST_SWITCH_US);
	oracle_read();
	sum_exited(&sum, exited_next, pid);
	judge(name, &sum, (double)(end - begin));
}

/* All kernel threads, in the order of the stream. */
static unsigned int read_threads(struct thread *threads)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE,
					  .target = KTAU_TARGET_ALL };
	const struct ktau_rec_profile *p;
	unsigned int nr = 0;

	oracle_read();
	start_stream(&query);
	while ((p = next_profile(NULL))) {
		const struct ktau_rec_owner *owner = ktau_reader_owner(reader, p->serial);
		const struct oracle_task *task = owner ? oracle_find(owner->tid) : NULL;

		if (!task || !(owner->flags & KTAU_OWNER_KTHREAD) || nr == MAX_THREADS)
			continue;
		memset(&threads[nr], 0, sizeof(threads[nr]));
		threads[nr].tid = owner->tid;
		memcpy(threads[nr].comm, owner->comm, sizeof(threads[nr].comm));
		threads[nr].oracle = *task;
		add_events(&threads[nr].account, p);
		nr++;
	}
	return nr;
}

/* Compare a thread, unless it ran for less than a millisecond. */
static bool judge_thread(const char *name, const struct thread *now, const struct thread *before)
{
	double stime = (double)(now->oracle.stime - before->oracle.stime);
	double runtime = (double)(now->oracle.runtime - before->oracle.runtime);
	double named = now->account.named - before->account.named;
	const struct oracle_task o = { .switches = now->oracle.switches -
						   before->oracle.switches };
	double bound = kernel_bound(&o, stime);
	double unnamed = now->account.unnamed - before->account.unnamed;

	if (stime < 1e6)
		return false;
	tap_ok(off(named, stime) * stime <= bound,
	       "%s: %s: %.2f %% of %.3f ms stime named, +- %.2f", name, now->comm,
	       percent(named, stime), stime / 1e6, percent(bound, stime));
	tap_ok(off(named, runtime) <= 0.02,
	       "%s: %s: %.2f %% of %.3f ms run time named, +- 2", name, now->comm,
	       percent(named, runtime), runtime / 1e6);
	printf("thread | %s | %s | %.1f ms | %.1f ms | %.2f %% | %.2f %% | %.2f %% |\n", name,
	       now->comm, runtime / 1e6, stime / 1e6, percent(named, stime),
	       percent(named + unnamed, stime), percent(named, runtime));
	return true;
}

static void test_threads(const char *name, const char *wanted, char **command)
{
	static struct thread before[MAX_THREADS], now[MAX_THREADS];
	unsigned int nr_before, nr_now;
	bool found = false;

	come_first();
	nr_before = read_threads(before);
	run(command);
	nr_now = read_threads(now);
	for (unsigned int i = 0; i < nr_now; i++)
		for (unsigned int j = 0; j < nr_before; j++)
			if (now[i].tid == before[j].tid &&
			    judge_thread(name, &now[i], &before[j]))
				found |= ktau_glob(wanted, now[i].comm);
	tap_ok(found, "%s: a thread %s ran", name, wanted);
}

int main(int argc, char **argv)
{
	int kernel = argc > 1 && !strcmp(argv[1], "-k");

	if (argc < 3 + 2 * kernel) {
		fputs("usage: coverage NAME COMMAND...\n"
		      "       coverage -k NAME THREAD COMMAND...\n",
		      stderr);
		return 2;
	}
	if (kernel)
		test_threads(argv[2], argv[3], argv + 4);
	else
		test_tasks(argv[1], argv + 2);
	ktau_reader_destroy(reader);
	return tap_done();
}
