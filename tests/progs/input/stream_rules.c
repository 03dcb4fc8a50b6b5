// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream_rules: what a reader may rely on from one record, stream or request to the next, while
 * tasks exit, pids are reused, the level changes and other readers come. Run as root, with the
 * group "syscall" and traces.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sched.h>

#include "look.h"
#include "tap.h"

#define CALLS 40

static void make_calls(unsigned int nr)
{
	while (nr--)
		syscall(SYS_getppid);
}

/* A child that makes calls and then waits to be killed; with the pid @want unless that is 0. */
static pid_t start(pid_t want)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = want ? (uintptr_t)&want : 0,
		.set_tid_size = want ? 1 : 0,
	};
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		_exit(1);
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		make_calls(CALLS);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (pid > 0 && read(ready[0], &byte, 1) != 1)
		_exit(1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int open_trace(void)
{
	return open("/proc/ktau/trace", O_RDONLY | O_CLOEXEC);
}

static int set_level(int level)
{
	FILE *file = fopen("/proc/sys/kernel/ktau_paranoid", "we");

	if (!file)
		return -1;
	fprintf(file, "%d\n", level);
	return fclose(file);
}

/* Read one record from @fd into @to; false at the end. */
static bool next_record(int fd, struct ktau_rec *to, size_t bytes)
{
	return read(fd, to, sizeof(*to)) == sizeof(*to) && to->size <= bytes &&
	       (to->size == sizeof(*to) ||
		read(fd, to + 1, to->size - sizeof(*to)) == (ssize_t)(to->size - sizeof(*to)));
}

static _Alignas(8) char room[1 << 17];

/* Find the next TRACE of @serial, or of the owner with @tid, whose serial it then receives. */
static const struct ktau_rec_trace *find_trace(int fd, int32_t tid, uint64_t *serial)
{
	struct ktau_rec *rec = (struct ktau_rec *)room;
	const struct ktau_rec_owner *owner = (const void *)room;
	const struct ktau_rec_trace *trace = (const void *)room;

	while (next_record(fd, rec, sizeof(room))) {
		if (rec->type == KTAU_REC_OWNER && tid && owner->tid == tid &&
		    !(owner->flags & KTAU_OWNER_NAMED))
			*serial = owner->serial;
		if (rec->type == KTAU_REC_TRACE && *serial && trace->serial == *serial)
			return trace;
	}
	return NULL;
}

/* A task is read alive, and again as an exited one: the second record continues the first. */
static void continues(void)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED,
	};
	const struct ktau_rec_trace *trace;
	uint64_t serial = 0, next = 0;
	pid_t pid = start(0);
	int fd = open_trace();

	if (ioctl(fd, KTAU_IOC_SELECT, &select))
		perror("KTAU_IOC_SELECT");
	trace = find_trace(fd, pid, &serial);
	next = trace ? trace->next : 0;
	stop(pid);
	trace = trace ? find_trace(fd, 0, &serial) : NULL;
	tap_ok(trace && next >= 2 * CALLS && trace->first - trace->lost == next,
	       "a ring read up to %llu continues at %llu once its task has exited",
	       (unsigned long long)next,
	       trace ? (unsigned long long)(trace->first - trace->lost) : 0ULL);
	close(fd);
}

static int consume(int fd, uint32_t flags)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.target = KTAU_TARGET_ALL,
		.flags = flags,
	};

	return ioctl(fd, KTAU_IOC_SELECT, &select) ? -errno : 0;
}

static void one_consumer(void)
{
	int a = open_trace(), b = open_trace(), first, second, again, other, after, closed;

	first = consume(a, KTAU_SELECT_CONSUME);
	second = consume(b, KTAU_SELECT_CONSUME);
	again = consume(a, KTAU_SELECT_CONSUME);
	other = consume(b, 0);
	tap_ok(!first && second == -EBUSY && !again && !other,
	       "while one reader consumes, another one that wants to gets: %s", strerror(-second));
	consume(a, 0);
	after = consume(b, KTAU_SELECT_CONSUME);
	close(b);
	closed = consume(a, KTAU_SELECT_CONSUME);
	tap_ok(!after && !closed, "a reader that no longer consumes, or is closed, lets others");
	close(a);
}

/* A reader that repeats its request for a pid does not get the next task with that pid. */
static void reused_pid(void)
{
	static struct found found;
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	pid_t pid = start(0), again;
	unsigned int before, after;
	uint64_t vanished;

	before = look_for(fd, KTAU_TARGET_LIST, pid, &found) ? 0 : found.nr;
	stop(pid);
	again = start(pid);
	if (again != pid) {
		tap_skip("a pid that is reused", "clone3() cannot set a pid");
		close(fd);
		return;
	}
	after = look_for(fd, KTAU_TARGET_LIST, pid, &found) ? 99 : found.nr;
	vanished = found.end.vanished;
	tap_ok(before == 1 && !after && vanished == 1,
	       "a repeated request for a pid that was reused gets %u tasks", after);
	close(fd);
	fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	after = look_for(fd, KTAU_TARGET_LIST, pid, &found) ? 99 : found.nr;
	tap_ok(after == 1, "a new reader gets %u task", after);
	close(fd);
	stop(again);
}

/* After a change to level 3, a user does not get the rest of a record either. */
static void level(void)
{
	int ready[2], go[2], status;
	char bytes[16], byte;
	ssize_t got;
	pid_t pid;
	int fd;

	if (pipe(ready) || pipe(go))
		_exit(1);
	set_level(2);
	pid = fork();
	if (!pid) {
		if (setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000))
			_exit(2);
		fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
		got = read(fd, bytes, sizeof(bytes));
		if (got != sizeof(bytes) || write(ready[1], "r", 1) != 1 ||
		    read(go[0], &byte, 1) != 1)
			_exit(3);
		got = read(fd, bytes, sizeof(bytes));
		_exit(got < 0 && errno == EACCES ? 0 : 1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1 || set_level(3) || write(go[1], "g", 1) != 1)
		perror("level");
	waitpid(pid, &status, 0);
	set_level(2);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status),
	       "after a change to level 3 a user gets nothing more, not the rest of a record");
	close(ready[0]);
	close(go[0]);
	close(go[1]);
}

/* END's numbers are of one moment, whatever is evicted before END is read. */
static void bounds(void)
{
	struct ktau_rec *rec = (struct ktau_rec *)room;
	struct ktau_rec_end end = { .rec.type = 0 };
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC), i;
	struct ktau_select select = {
		.size = sizeof(select),
		.target = KTAU_TARGET_EXITED | KTAU_TARGET_CPU,
	};
	FILE *control;

	if (ioctl(fd, KTAU_IOC_SELECT, &select))
		perror("KTAU_IOC_SELECT");
	/* The tables of the CPUs follow the exited tasks. */
	while (next_record(fd, rec, sizeof(room)))
		if (rec->type == KTAU_REC_OWNER &&
		    ((struct ktau_rec_owner *)rec)->kind == KTAU_OWNER_CPU)
			break;
	for (i = 0; i < 3; i++)
		stop(start(0));
	control = fopen("/proc/ktau/control", "we");
	if (!control || fprintf(control, "exited_limit=0\n") < 0 || fclose(control))
		perror("control");
	while (next_record(fd, rec, sizeof(room)))
		if (rec->type == KTAU_REC_END)
			look_copy(&end, sizeof(end), rec);
	control = fopen("/proc/ktau/control", "we");
	if (!control || fprintf(control, "exited_limit=16M\n") < 0 || fclose(control))
		perror("control");
	tap_ok(end.exited_next && end.exited_first && end.exited_first <= end.exited_next,
	       "END: the oldest exited task is %llu, the next one %llu",
	       (unsigned long long)end.exited_first, (unsigned long long)end.exited_next);
	close(fd);
}

int main(void)
{
	continues();
	one_consumer();
	reused_pid();
	level();
	bounds();
	return tap_done();
}
