// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of a guest inside a guest. It records its kernel with KTAU while a loop looks
 * for gaps in its own execution, for inner_ms= of the kernel command line, and writes to the shared
 * folder, where inner_name= is NAME. The loop begins when a guest with inner_peer= is ready, too:
 *
 *	NAME.gaps	the cycle counter at the start and the end of the loop, then of each gap
 *	NAME.ktau	the trace
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

enum { MAX_GAPS = 100000 };

static uint64_t gaps[MAX_GAPS][2];
static unsigned int nr_gaps;

static _Noreturn void fail(const char *what)
{
	printf("inner: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void mount_on(const char *source, const char *target, const char *type, const char *options)
{
	if (mkdir(target, 0755) && errno != EEXIST)
		fail(target);
	if (mount(source, target, type, 0, options))
		fail(target);
}

/* A word of the kernel command line, which the kernel has put into the environment. */
static const char *word(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		fail(name);
	return value;
}

/* Say that this guest is ready, and wait for the other one, if there is one. */
static void meet(const char *name)
{
	const char *peer = getenv("inner_peer");
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/share/%s.ready", name);
	f = fopen(path, "w");
	if (!f || fclose(f))
		fail(path);
	snprintf(path, sizeof(path), "/share/%s.ready", peer ? peer : name);
	while (access(path, F_OK))
		usleep(10000);
}

static void write_control(const char *words)
{
	int fd = open("/proc/ktau/control", O_WRONLY);

	if (fd < 0 || write(fd, words, strlen(words)) < 0)
		fail("/proc/ktau/control");
	close(fd);
}

static void detect(uint64_t end, uint64_t limit)
{
	uint64_t last = __rdtsc(), now;

	for (; (now = __rdtsc()) < end; last = now) {
		if (now - last <= limit || nr_gaps == MAX_GAPS)
			continue;
		gaps[nr_gaps][0] = last;
		gaps[nr_gaps++][1] = now;
	}
}

static void copy(const char *from, const char *to)
{
	static char data[1 << 18];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ssize_t nr;

	if (in < 0 || out < 0)
		fail(to);
	while ((nr = read(in, data, sizeof(data))) > 0)
		if (write(out, data, (size_t)nr) != nr)
			fail(to);
	if (nr || close(out))
		fail(to);
	close(in);
}

static void write_gaps(const char *path, uint64_t from, uint64_t to)
{
	FILE *f = fopen(path, "w");
	unsigned int i;

	if (!f || fprintf(f, "%llu %llu\n", (unsigned long long)from, (unsigned long long)to) < 0)
		fail(path);
	for (i = 0; i < nr_gaps; i++)
		fprintf(f, "%llu %llu\n", (unsigned long long)gaps[i][0],
			(unsigned long long)gaps[i][1]);
	if (fclose(f))
		fail(path);
}

int main(void)
{
	const char *name = word("inner_name");
	uint64_t khz = strtoull(word("inner_khz"), NULL, 10);
	uint64_t ms = strtoull(word("inner_ms"), NULL, 10), from, to;
	char path[64];
	int i;

	mount_on("proc", "/proc", "proc", NULL);
	mount_on("share", "/share", "9p", "trans=virtio,version=9p2000.L,msize=262144");
	prctl(PR_SET_NAME, "detector");
	write_control("groups=sched,irq,bh,syscall,account trace=on ring=262144");
	for (i = 0; i < 100000; i++)	/* let the ring grow */
		getppid();
	meet(name);
	from = __rdtsc();
	puts("detector starts");
	fflush(stdout);
	detect(from + ms * khz, khz / 2);
	to = __rdtsc();
	snprintf(path, sizeof(path), "/share/%s.ktau", name);
	copy("/proc/ktau/trace", path);
	snprintf(path, sizeof(path), "/share/%s.gaps", name);
	write_gaps(path, from, to);
	printf("%u gaps\n", nr_gaps);
	fflush(stdout);
	sync();
	reboot(RB_AUTOBOOT);
	return 1;
}
