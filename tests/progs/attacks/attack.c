// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "subject.h"
#include "tap.h"

static _Noreturn void die(const char *what)
{
	tap_ok(false, "%s: %s: %s", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

void control(const char *format, ...)
{
	int fd = open("/proc/ktau/control", O_WRONLY | O_CLOEXEC), len;
	char words[256];
	va_list args;

	va_start(args, format);
	len = vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	if (fd < 0 || write(fd, words, (size_t)len) != len)
		die(words);
	close(fd);
}

uint64_t stat_of(const char *name)
{
	FILE *file = fopen("/proc/ktau/stats", "re");
	unsigned long long value;
	char line[128], key[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %llu", key, &value) == 2 && !strcmp(key, name)) {
			fclose(file);
			return value;
		}
	errno = ENOENT;
	die(name);
}

bool write_number(const char *path, long long value)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	fprintf(file, "%lld\n", value);
	return !fclose(file);
}

#define SYSCTL "/proc/sys/kernel/ktau_paranoid"

bool set_level(int level)
{
	return write_number(SYSCTL, level);
}

bool get_level(int *level)
{
	FILE *file = fopen(SYSCTL, "re");
	bool got;

	if (!file)
		return false;
	got = fscanf(file, "%d", level) == 1;
	fclose(file);
	return got;
}

void become(uid_t id)
{
	const struct subject subject = { "another user", id, 0, false };

	if (id)
		subject_become(&subject);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

void make_calls(unsigned int nr)
{
	while (nr--)
		syscall(SYS_getppid);
}

void *shared_alloc(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("memory");
	return p;
}

/* A helper's ends of the pipes. */
static int go_end = -1, done_end = -1;

static void await_step(void)
{
	char byte;

	if (read(go_end, &byte, 1) != 1)
		_exit(0);
}

struct helper helper_start(uid_t id, void (*body)(void))
{
	int go[2], done[2];
	pid_t pid;

	if (pipe(go) || pipe(done))
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		go_end = go[0];
		done_end = done[1];
		close(go[1]);
		close(done[0]);
		become(id);
		await_step();
		body();
		helper_reached();
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	return (struct helper){ pid, go[1], done[0] };
}

void helper_reached(void)
{
	if (write(done_end, "d", 1) != 1)
		_exit(1);
	await_step();
}

bool helper_step(const struct helper *helper)
{
	char byte;

	return write(helper->go, "g", 1) == 1 && read(helper->done, &byte, 1) == 1;
}

void helper_end(const struct helper *helper)
{
	kill(helper->pid, SIGKILL);
	waitpid(helper->pid, NULL, 0);
	close(helper->go);
	close(helper->done);
}
