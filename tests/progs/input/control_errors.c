// SPDX-License-Identifier: GPL-2.0-only
/*
 * control_errors: invalid writes to /proc/ktau/control. Each fails with the documented error
 * and changes no setting: the contents of control stay the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define CONTROL "/proc/ktau/control"
#define MOST (64 * 1024)

/* %d is the pid of a process that has exited. */
struct words {
	int want;
	const char *text;
};

static const struct words rejected[] = {
	{ EINVAL, "nonsense" },
	{ EINVAL, "+tcp nonsense" },
	{ EINVAL, "nonsense +tcp" },
	{ EINVAL, "trace=on +tcp -" },
	{ EINVAL, "+" },
	{ EINVAL, "+tcp,irq" },
	{ EINVAL, "+TCP" },
	{ EINVAL, "+tcpp" },
	{ EINVAL, "+syscal" },
	{ EINVAL, "+user" },
	{ EINVAL, "=" },
	{ EINVAL, "=on" },
	{ EINVAL, "trace" },
	{ EINVAL, "trace=" },
	{ EINVAL, "trace=o" },
	{ EINVAL, "trace=onwards" },
	{ EINVAL, "trace=2" },
	{ EINVAL, "trace=on=on" },
	{ EINVAL, "trace+=on" },
	{ EINVAL, "profile=perhaps" },
	{ EINVAL, "inherit=yesterday" },
	{ EINVAL, "groups=" },
	{ EINVAL, "groups=tcp," },
	{ EINVAL, "groups=,tcp" },
	{ EINVAL, "groups=tcp,,irq" },
	{ EINVAL, "groups=0x1ff" },
	{ EINVAL, "groups=-1" },
	{ EINVAL, "ring=" },
	{ EINVAL, "ring=0" },
	{ EINVAL, "ring=15" },
	{ EINVAL, "ring=-16" },
	{ EINVAL, "ring=1048577" },
	{ EINVAL, "ring=4294967312" },
	{ EINVAL, "ring=18446744073709551632" },
	{ EINVAL, "ring=1e3" },
	{ EINVAL, "ring=1024k" },
	{ EINVAL, "ring=64 watermark=0" },
	{ EINVAL, "watermark=99999999999999999999999999999999999999" },
	{ EINVAL, "memory_limit=" },
	{ EINVAL, "memory_limit=k" },
	{ EINVAL, "memory_limit=-1" },
	{ EINVAL, "memory_limit=1T" },
	{ EINVAL, "memory_limit=1kk" },
	{ EINVAL, "memory_limit=1 M" },
	{ EINVAL, "memory_limit=18446744073709551616" },
	{ EINVAL, "memory_limit=18014398509481984k" },
	{ EINVAL, "memory_limit=17179869184G" },
	{ EINVAL, "memory_limit=99999999999999999999999999999999999999" },
	{ EINVAL, "exited_limit=1.5M" },
	{ EINVAL, "filter" },
	{ EINVAL, "filter=" },
	{ EINVAL, "filter=all" },
	{ EINVAL, "filter=1" },
	{ EINVAL, "filter=name:sh" },
	{ EINVAL, "filter=none+uid:1" },
	{ EINVAL, "filter+=none" },
	{ EINVAL, "filter-=uid:1" },
	{ EINVAL, "filter*=uid:1" },
	{ EINVAL, "filter=pid:0" },
	{ EINVAL, "filter=pid:-1" },
	{ EINVAL, "filter=pid:1," },
	{ EINVAL, "filter=pid:1,,1" },
	{ EINVAL, "filter=pid:1;1" },
	{ EINVAL, "filter=pid:99999999999" },
	{ EINVAL, "filter+=pid:" },
	{ EINVAL, "filter=uid:" },
	{ EINVAL, "filter=uid:root" },
	{ EINVAL, "filter=uid:-1" },
	{ EINVAL, "filter=uid:4294967295" },
	{ EINVAL, "filter=uid:1+" },
	{ EINVAL, "filter=+uid:1" },
	{ EINVAL, "filter=uid:1,x" },
	{ EINVAL, "filter=tag:0" },
	{ EINVAL, "filter=tag:4294967296" },
	{ EINVAL, "filter=cgroup:" },
	{ EINVAL, "filter=cgroup:name" },
	{ EINVAL, "+tcp filter=pid:1,x" },
	{ EINVAL, "tag=" },
	{ EINVAL, "tag=1" },
	{ EINVAL, "tag=1:" },
	{ EINVAL, "tag=:1" },
	{ EINVAL, "tag=1:-1" },
	{ EINVAL, "tag=1:1:1" },
	{ EINVAL, "tag=1:4294967296" },
	{ ENOENT, "filter=cgroup:/no/such/group" },
	{ ENOENT, "+tcp filter=uid:1+cgroup:/,/no" },
	{ ESRCH, "filter=pid:2147483647" },
	{ ESRCH, "+tcp trace=on filter=pid:%d" },
	{ ESRCH, "+tcp ring=128 filter=uid:1 filter-=pid:%d" },
	{ ESRCH, "filter=pid:1,%d +tcp" },
	{ ESRCH, "tag=1,%d:7" },
	{ EINVAL, "restore=1" },
	{ EINVAL, "restore restore" },
	{ EINVAL, "tag=2147483647:1 restore" },
	{ EINVAL, "select=all" },
	{ EINVAL, "pid=1" },
	{ EINVAL, "own=1:tcp" },
	{ EINVAL, "cap=64M" },
	{ EINVAL, "dead=4M" },
	{ EINVAL, "wake=1" },
};

/* Valid words, and the line of control that shows them. */
static const struct {
	const char *text;
	const char *line;
} accepted[] = {
	{ "", "groups=syscall\n" },
	{ " \t\n \n", "groups=syscall\n" },
	{ "+tcp\n", "groups=syscall,tcp\n" },
	{ "-tcp -tcp", "groups=syscall\n" },
	{ "+none groups=irq groups=tcp,tcp", "groups=tcp\n" },
	{ "trace=1 trace=off trace=on", "trace=on\n" },
	{ "trace=0", "trace=off\n" },
	{ "ring=17", "ring=32\n" },
	{ "ring=0x40", "ring=64\n" },
	{ "memory_limit=3M", "memory_limit=3145728\n" },
	{ "memory_limit=17179869183G", "memory_limit=18446744072635809792\n" },
	{ "memory_limit=18446744073709551615", "memory_limit=18446744073709551615\n" },
	{ "memory_limit=64M exited_limit=70k", "exited_limit=71680\n" },
	{ "filter=pid:", "filter=pid:\n" },
	{ "filter+=pid:1 filter-=pid:1,1", "filter=pid:\n" },
	{ "filter=pid:1 filter=pid:1", "filter=pid:1\n" },
	{ "filter+=uid:1000,1000+cgroup:/", "filter=pid:1+uid:1000+cgroup:/\n" },
	{ "filter-=pid:1+uid:1000,7 filter+=tag:9", "filter=cgroup:/+tag:9\n" },
	{ "filter=none", "filter=none\n" },
	{ "restore tag=2147483647,1:7", "tag=1:7\n" },
	{ "restore filter=uid:1+cgroup:/no/such", "filter=uid:1\ntag=none\n" },
	{ "filter=none", "filter=none\n" },
	{ "tag=1:7", "tag=1:7\n" },
	{ "tag=1:0", "tag=none\n" },
	{ "groups=syscall trace=off ring=1024", "groups=syscall\n" },
};

static char before[4096], after[4096];

static void show(char *text)
{
	int fd = open(CONTROL, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(before) - 1);

	if (got < 0) {
		perror(CONTROL);
		exit(1);
	}
	text[got] = '\0';
	close(fd);
}

/* Write once; returns 0, the error, or -1 for a short write. */
static int put(const void *text, size_t bytes)
{
	int fd = open(CONTROL, O_WRONLY | O_CLOEXEC), err = 0;
	ssize_t got;

	if (fd < 0) {
		perror(CONTROL);
		exit(1);
	}
	got = write(fd, text, bytes);
	if (got < 0)
		err = errno;
	else if ((size_t)got != bytes)
		err = -1;
	close(fd);
	return err;
}

static bool unchanged(void)
{
	show(after);
	return !strcmp(before, after);
}

static void try_rejected(const struct words *words, int gone)
{
	char text[128], shown[64];
	const char *d = strstr(words->text, "%d");
	int got;

	if (d)
		snprintf(text, sizeof(text), "%.*s%d%s", (int)(d - words->text), words->text, gone,
			 d + 2);
	else
		snprintf(text, sizeof(text), "%s", words->text);
	snprintf(shown, sizeof(shown), "%s", words->text);
	show(before);
	got = put(text, strlen(text));
	tap_ok(got == words->want && unchanged(), "control: '%s': %s", shown, strerror(got));
}

static void try_bytes(const char *what, const void *text, size_t bytes, int want)
{
	int got;

	show(before);
	got = put(text, bytes);
	tap_ok(got == want && unchanged(), "control: %s: %s", what, strerror(got));
}

static void try_long(void)
{
	char *text = malloc(2 * MOST + 1);
	uint32_t seed = 1;
	size_t i;

	if (!text)
		exit(1);
	memset(text, 'x', 2 * MOST);
	try_bytes("one long word", text, 4000, EINVAL);
	try_bytes("64 KiB of one word", text, MOST, EINVAL);
	try_bytes("64 KiB and a byte", text, MOST + 1, E2BIG);
	try_bytes("128 KiB", text, 2 * MOST, E2BIG);
	memset(text, ' ', 2 * MOST);
	try_bytes("64 KiB of blanks", text, MOST, 0);
	memcpy(text + MOST - 4, "+tcp", 4);
	try_bytes("blanks, and a word that crosses the limit", text, MOST + 1, E2BIG);
	try_bytes("blanks, and half a word", text, MOST - 1, EINVAL);
	for (i = 0; i < MOST; i += 5)
		memcpy(text + i, "+tcp ", 5);
	memcpy(text + MOST - 16, "           none+", 16);
	try_bytes("thirteen thousand words, the last one invalid", text, MOST, EINVAL);
	for (i = 0; i < 4096; i++)
		text[i] = "tag="[i % 4];
	try_bytes("a key a thousand times", text, 4096, EINVAL);
	memcpy(text, "filter=pid: ", 12);
	for (i = 11; i < MOST - 1; i += 2)
		memcpy(text + i, "1,", 2);
	text[MOST - 1] = ',';
	try_bytes("a list of thirty thousand pids with a trailing comma", text, MOST, EINVAL);
	for (i = 0; i < MOST; i++)
		text[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24 | 1);
	try_bytes("64 KiB of random bytes", text, MOST, EINVAL);
	free(text);
}

static void try_memory(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || munmap(page + 4096, 4096))
		exit(1);
	memset(page, ' ', 4096);
	memcpy(page + 4092, "+tcp", 4);
	try_bytes("from unmapped memory", page + 4096, 4, EFAULT);
	try_bytes("from memory that is mapped in part", page + 4092, 8, EFAULT);
	try_bytes("a NUL after a word", "+tcp\0", 5, EINVAL);
	try_bytes("a NUL between words", "+tcp\0 +irq", 10, EINVAL);
	try_bytes("a NUL alone", "", 1, EINVAL);
	try_bytes("bytes above 127", "\xff\xfe+tcp", 6, EINVAL);
	munmap(page, 4096);
}

/* A word split between two writes is two words, both invalid. */
static void try_pieces(void)
{
	int fd = open(CONTROL, O_WRONLY | O_CLOEXEC), first, second;

	show(before);
	first = write(fd, "+t", 2) < 0 ? errno : 0;
	second = write(fd, "cp", 2) < 0 ? errno : 0;
	tap_ok(first == EINVAL && second == EINVAL && unchanged(),
	       "control: a word split between two writes");
	close(fd);
}

static void try_accepted(const char *text, const char *line)
{
	const char *shown = strpbrk(text, "\t\n") ? "(with line ends)" : text;
	int err = put(text, strlen(text));

	show(after);
	tap_ok(!err && strstr(after, line), "control: '%s' is accepted: %s", shown, strerror(err));
}

int main(void)
{
	static const char base[] =
		"groups=syscall trace=off filter=none inherit=off tag=none "
		"ring=1024 watermark=512";
	pid_t gone = fork();
	size_t i;

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	if (put(base, strlen(base))) {
		perror(CONTROL);
		return 1;
	}
	for (i = 0; i < sizeof(rejected) / sizeof(*rejected); i++)
		try_rejected(&rejected[i], gone);
	try_long();
	try_memory();
	try_pieces();
	for (i = 0; i < sizeof(accepted) / sizeof(*accepted); i++)
		try_accepted(accepted[i].text, accepted[i].line);
	return tap_done();
}
