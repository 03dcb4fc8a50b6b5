// SPDX-License-Identifier: GPL-2.0-only
/*
 * deaths: processes and threads that only live and die. What a task does after it has notified its
 * parent is part of its record: the tasks have run for as long as the CPUs were busy, and each exit
 * of a process has sent its signal.
 *
 * Run as root with all groups enabled, including account.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define PROCESSES 300
#define THREADS 1000

/**
 * struct sums - of everything since KTAU was enabled
 * @tasks: ticks that tasks other than the idle tasks have run, without interrupts
 * @cpus: the same as the CPUs have measured it
 * @signals: signals sent
 */
struct sums {
	uint64_t tasks;
	uint64_t cpus;
	uint64_t signals;
};

static void add(struct sums *sums, const struct ktau_rec_profile *p)
{
	const struct ktau_rec_owner *owner = self_owner(p->serial);

	if (!owner) {
		self_die("owner", -ENOENT);
		return;
	}
	if (owner->kind == KTAU_OWNER_CPU) {
		sums->cpus += p->kernel_ticks;
		return;
	}
	sums->signals += self_entry(p, "__send_signal_locked").count;
	if (!(owner->flags & KTAU_OWNER_IDLE))
		sums->tasks += p->user_ticks + p->kernel_ticks + p->guest_ticks;
}

static void read_into(struct sums *sums, uint32_t target)
{
	const struct ktau_query query = { .content = KTAU_REC_PROFILE, .target = target };
	union ktau_record record;

	self_start(&query);
	while (self_next(&record) > 0)
		if (record.rec->type == KTAU_REC_PROFILE)
			add(sums, record.profile);
}

/* This task runs between the copy of a CPU and its own: always the same, before exited tasks. */
static struct sums read_all(void)
{
	struct sums sums = { 0 };

	read_into(&sums, KTAU_TARGET_CPU);
	read_into(&sums, KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED);
	return sums;
}

static void *nothing(void *arg)
{
	return arg;
}

static void die_as_threads(void)
{
	pthread_t thread;
	int err;

	for (int i = 0; i < THREADS; i++) {
		err = pthread_create(&thread, NULL, nothing, NULL);
		if (err)
			self_die("pthread_create", -err);
		pthread_join(thread, NULL);
	}
}

static void die_as_processes(void)
{
	pid_t pid;

	for (int i = 0; i < PROCESSES; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			self_die("fork", -errno);
	}
}

static void compare(const char *what, void (*die)(void), uint64_t signals)
{
	const double bound = tap_exact_time() ? 0.005 : 0.03;
	const struct sums before = read_all();
	struct sums after;
	double tasks, cpus;

	die();
	after = read_all();
	tasks = self_seconds(after.tasks - before.tasks);
	cpus = self_seconds(after.cpus - before.cpus);
	tap_ok(tasks >= cpus * (1 - bound) && tasks <= cpus * (1 + bound),
	       "%s: tasks have run for %.6f s, CPUs for %.6f s, +- %.1f %%", what, tasks, cpus,
	       bound * 100);
	self_expect(what, after.signals - before.signals, signals);
}

int main(void)
{
	struct ktau_rec_profile *p;

	self_open();
	p = self_profile(0); /* sets the clock */
	if (p->groups_throughout & KTAU_GROUP_ACCOUNT) {
		read_all(); /* the first time takes longer */
		compare("threads that only live and die", die_as_threads, 0);
		compare("processes that only live and die", die_as_processes, PROCESSES);
	} else {
		tap_skip("deaths", "this kernel does not have the group account");
	}
	ktau_record_free(p);
	self_close();
	return tap_done();
}
