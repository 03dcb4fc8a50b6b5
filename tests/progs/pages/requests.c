// SPDX-License-Identifier: GPL-2.0-only
/*
 * requests: the errors of KTAU_IOC_REFERENCES, and what other users may trace. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ktau_references.h>

#include "tap.h"

#define REFERENCES "/proc/ktau/references"
#define USER 1000
#define NR_LARGE 60

static int32_t victim;

static int start(int fd, struct ktau_references r)
{
	r.size = r.size ? r.size : sizeof(r);
	r.op = KTAU_REFERENCES_START;
	r.pids = r.pids ? r.pids : (uintptr_t)&victim;
	r.ring_slots = r.ring_slots ? r.ring_slots : 4096;
	if (!r.nr_pids && !r.cgroup && !(r.flags & KTAU_REFERENCES_ALL))
		r.nr_pids = 1;
	return ioctl(fd, KTAU_IOC_REFERENCES, &r) < 0 ? errno : 0;
}

static int order(int fd, uint32_t op)
{
	struct ktau_references r = { .size = sizeof(r), .op = op };

	return ioctl(fd, KTAU_IOC_REFERENCES, &r) ? errno : 0;
}

static void same(const char *what, int have, int want)
{
	tap_ok(have == want, "%s: %s, not %s", what, strerror(have), strerror(want));
}

/* The error of START with @r on a new descriptor. */
static void refused(const char *what, struct ktau_references r, int want)
{
	int fd = open(REFERENCES, O_RDONLY);

	same(what, start(fd, r), want);
	close(fd);
}

static void fields(void)
{
	int32_t self = getpid(), nobody = 4000000;

	refused("a size that is too small", (struct ktau_references){ .size = 64 }, EINVAL);
	refused("an unknown flag", (struct ktau_references){ .flags = 32 }, EINVAL);
	refused("an unknown policy", (struct ktau_references){ .policy = 2 }, EINVAL);
	refused("an unknown word", (struct ktau_references){ .when_full = 2 }, EINVAL);
	refused("a small window", (struct ktau_references){ .window = 15 }, EINVAL);
	refused("a large window", (struct ktau_references){ .window = 65537 }, EINVAL);
	refused("a large first part", (struct ktau_references){ .window = 16, .first = 9 }, EINVAL);
	refused("a small ring", (struct ktau_references){ .ring_slots = 4095 }, EINVAL);
	refused("a range", (struct ktau_references){ .lo = 4096, .hi = 4096 }, EINVAL);
	refused("an address", (struct ktau_references){ .lo = 1, .hi = 4096 }, EINVAL);
	refused("too many processes", (struct ktau_references){ .nr_pids = 4097 }, EINVAL);
	refused("counts with evictions",
		(struct ktau_references){ .flags = KTAU_REFERENCES_COUNT |
						   KTAU_REFERENCES_EVICTIONS },
		EINVAL);
	refused("all processes, and one",
		(struct ktau_references){ .flags = KTAU_REFERENCES_ALL, .nr_pids = 1 }, EINVAL);
	refused("all processes from their next exec on",
		(struct ktau_references){ .flags = KTAU_REFERENCES_ALL |
						   KTAU_REFERENCES_ON_EXEC },
		EINVAL);
	refused("all processes, and a control group",
		(struct ktau_references){ .flags = KTAU_REFERENCES_ALL, .cgroup = 1 }, EINVAL);
	refused("a control group that does not exist",
		(struct ktau_references){ .cgroup = 1ULL << 60 }, ESRCH);
	refused("a bad pointer", (struct ktau_references){ .pids = 8 }, EFAULT);
	refused("itself", (struct ktau_references){ .pids = (uintptr_t)&self }, EINVAL);
	refused("no process", (struct ktau_references){ .pids = (uintptr_t)&nobody }, ESRCH);
}

static void order_of_requests(void)
{
	int fd = open(REFERENCES, O_RDONLY | O_NONBLOCK), other = open(REFERENCES, O_RDONLY);
	char buffer[4096];

	same("read() before START", read(fd, buffer, sizeof(buffer)) < 0 ? errno : 0, EINVAL);
	same("ARM before START", order(fd, KTAU_REFERENCES_ARM), EINVAL);
	same("START", start(fd, (struct ktau_references){ 0 }), 0);
	same("START again", start(fd, (struct ktau_references){ 0 }), EINVAL);
	same("the process in another session", start(other, (struct ktau_references){ 0 }), EBUSY);
	same("an unknown request", order(fd, 9), EINVAL);
	same("ARM", order(fd, KTAU_REFERENCES_ARM), 0);
	same("ARM again", order(fd, KTAU_REFERENCES_ARM), 0);
	same("DISARM", order(fd, KTAU_REFERENCES_DISARM), 0);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	same("read() of nothing", errno, EAGAIN);
	same("STOP", order(fd, KTAU_REFERENCES_STOP), 0);
	same("STOP again", order(fd, KTAU_REFERENCES_STOP), EINVAL);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	same("read() at the end", read(fd, buffer, sizeof(buffer)) < 0 ? errno : 0, 0);
	same("the process is free again", start(other, (struct ktau_references){ 0 }), 0);
	close(fd);
	close(other);
}

static void set_paranoid(const char *level)
{
	int fd = open("/proc/sys/kernel/ktau_paranoid", O_WRONLY);

	if (write(fd, level, 1) != 1)
		perror("ktau_paranoid");
	close(fd);
}

/* Like a program that another user has executed */
static void become_user(void)
{
	if (setgid(USER) || setuid(USER) || prctl(PR_SET_DUMPABLE, 1))
		_exit(1);
}

/* Call @fn as another user. */
static void as_user(void (*fn)(void))
{
	pid_t pid = fork();

	if (!pid) {
		become_user();
		fn();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void others(void)
{
	refused("the process of another user", (struct ktau_references){ 0 }, EPERM);
	refused("all processes, without CAP_PERFMON",
		(struct ktau_references){ .flags = KTAU_REFERENCES_ALL }, EPERM);
	refused("a control group, without CAP_PERFMON", (struct ktau_references){ .cgroup = 1 },
		EPERM);
}

/* Root of a user namespace, which has all capabilities there */
static void in_namespace(void)
{
	if (unshare(CLONE_NEWUSER))
		tap_skip("root of a user namespace", strerror(errno));
	else
		others();
}

/* A process with page tables that only its virtual machine uses */
static void virtual_machine(void)
{
	int32_t pid;
	int told[2];
	char c = 0;

	if (pipe(told))
		return;
	pid = fork();
	if (!pid) {
		c = ioctl(open("/dev/kvm", O_RDWR), KVM_CREATE_VM, 0) >= 0;
		if (write(told[1], &c, 1) == 1)
			pause();
		_exit(0);
	}
	if (read(told[0], &c, 1) == 1 && c)
		refused("a process that runs a virtual machine",
			(struct ktau_references){ .pids = (uintptr_t)&pid }, EBUSY);
	else
		tap_skip("a process that runs a virtual machine", "there is no KVM");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(told[0]);
	close(told[1]);
}

static void much_memory(void)
{
	int32_t own = fork();

	if (!own) {
		pause();
		_exit(0);
	}
	refused("more memory than a user's share",
		(struct ktau_references){ .pids = (uintptr_t)&own, .ring_slots = 1 << 24 }, ENOMEM);
	refused("a process of one's own", (struct ktau_references){ .pids = (uintptr_t)&own }, 0);
	kill(own, SIGKILL);
	waitpid(own, NULL, 0);
}

/* A session with a ring of 8 MiB, of a child that does nothing. Return: its error. */
static int large_session(int *fd, int32_t *pid)
{
	*pid = fork();
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	*fd = open(REFERENCES, O_RDONLY | O_CLOEXEC);
	return start(*fd, (struct ktau_references){ .pids = (uintptr_t)pid,
						    .ring_slots = 1 << 18 });
}

/* All sessions of a user count, as long as they exist. */
static void many_sessions(void)
{
	int32_t pids[NR_LARGE];
	int fds[NR_LARGE], nr = 0, i, err;

	do
		err = large_session(&fds[nr], &pids[nr]);
	while (!err && ++nr < NR_LARGE);
	tap_ok(err == ENOMEM && nr, "sessions of 8 MiB of a user: %d, then %s", nr,
	       strerror(err));
	for (i = 0; i <= nr && i < NR_LARGE; i++) {
		close(fds[i]);
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	/* Memory is freed after a grace period. */
	for (i = 0; i < 50 && (err = large_session(&fds[0], &pids[0])); i++) {
		close(fds[0]);
		kill(pids[0], SIGKILL);
		waitpid(pids[0], NULL, 0);
		usleep(100000);
	}
	same("another one, when they have ended", err, 0);
}

static void many(void)
{
	int fd, nr = 0;

	while ((fd = open(REFERENCES, O_RDONLY)) >= 0)
		nr++;
	tap_ok(errno == EMFILE && nr == 64, "descriptors of a user: %d, %s", nr, strerror(errno));
}

/* A user's session, of which level 3 comes in the middle */
static void forbidden(int ready, int go)
{
	int32_t own = fork();
	int fd;
	char c;

	if (!own) {
		pause();
		_exit(0);
	}
	fd = open(REFERENCES, O_RDONLY);
	same("START at level 2",
	     start(fd, (struct ktau_references){ .pids = (uintptr_t)&own }), 0);
	if (write(ready, "", 1) != 1 || read(go, &c, 1) != 1)
		_exit(1);
	same("read() at level 3", read(fd, &c, 1) < 0 ? errno : 0, EACCES);
	same("ARM at level 3", order(fd, KTAU_REFERENCES_ARM), EACCES);
	same("open() at level 3", open(REFERENCES, O_RDONLY) < 0 ? errno : 0, EACCES);
	kill(own, SIGKILL);
	waitpid(own, NULL, 0);
}

static void change_level(void)
{
	int ready[2], go[2];
	pid_t pid;
	char c;

	if (pipe(ready) || pipe(go))
		return;
	pid = fork();
	if (!pid) {
		become_user();
		forbidden(ready[1], go[0]);
		_exit(0);
	}
	if (read(ready[0], &c, 1) == 1)
		set_paranoid("3");
	if (write(go[1], "", 1) == 1)
		waitpid(pid, NULL, 0);
	set_paranoid("2");
}

/* A set-uid program is not traced: the session is left without address spaces. */
static void secret_program(void)
{
	struct ktau_references request = { .flags = KTAU_REFERENCES_ON_EXEC };
	struct pollfd p = { .fd = open(REFERENCES, O_RDONLY) };
	int32_t pid;
	int go[2];
	char c;

	if (pipe(go))
		return;
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) == 1)
			execl("/run/requests-sleep", "sleep", "60", NULL);
		_exit(1);
	}
	request.pids = (uintptr_t)&pid;
	same("a process before its exec", start(p.fd, request), 0);
	same("ARM for an exec", order(p.fd, KTAU_REFERENCES_ARM), 0);
	if (write(go[1], "", 1) == 1)
		poll(&p, 1, 20000);
	tap_ok(p.revents & POLLHUP && !waitpid(pid, NULL, WNOHANG),
	       "a set-uid program is not traced, and runs");
	/* It is not this user's any more. */
}

int main(void)
{
	victim = fork();
	if (!victim) {
		for (;;)
			pause();
	}
	fields();
	order_of_requests();
	virtual_machine();
	as_user(others);
	as_user(in_namespace);
	as_user(much_memory);
	as_user(many_sessions);
	as_user(many);
	if (system("cp /bin/sleep /run/requests-sleep") || chmod("/run/requests-sleep", 04755))
		perror("/run/requests-sleep");
	as_user(secret_program);
	change_level();
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return tap_done();
}
