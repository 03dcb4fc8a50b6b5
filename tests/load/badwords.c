// SPDX-License-Identifier: GPL-2.0-only
/*
 * badwords: what is no good in a write to /proc/ktau/control. It fails with the error
 * that is named here, and nothing of it is done: what control shows stays the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tell.h"

#define CONTROL "/proc/ktau/control"
#define MOST (64 * 1024)

/* %d is the pid of a process that is gone. */
struct words {
	int want;
	const char *text;
};

static const struct words refused[] = {
	{ EINVAL, "nonsense" },
	{ EINVAL, "+tcp nonsense" },
	{ EINVAL, "nonsense +tcp" },
	{ EINVAL, "trace=on +tcp -" },
	{ EINVAL, "+" },
	{ EINVAL, "+tcp,irq" },
	{ EINVAL, "+TCP" },
	{ EINVAL, "+tcpp" },
	{ EINVAL, "+syscal" },
	{ EINVAL, "=" },
	{ EINVAL, "=on" },
	{ EINVAL, "trace" },
	{ EINVAL, "trace=" },
	{ EINVAL, "trace=o" },
	{ EINVAL, "trace=onwards" },
	{ EINVAL, "trace=2" },
	{ EINVAL, "trace=on=on" },
	{ EINVAL, "profile=perhaps" },
	{ EINVAL, "inherit=yesterday" },
	{ EINVAL, "groups=" },
	{ EINVAL, "groups=tcp," },
	{ EINVAL, "groups=,tcp" },
	{ EINVAL, "groups=tcp,,irq" },
	{ EINVAL, "groups=0x1ff" },
	{ EINVAL, "groups=-1" },
	{ EINVAL, "select=" },
	{ EINVAL, "select=everything" },
	{ EINVAL, "trace=on select=some" },
	{ EINVAL, "ring=" },
	{ EINVAL, "ring=0" },
	{ EINVAL, "ring=15" },
	{ EINVAL, "ring=-16" },
	{ EINVAL, "ring=1048577" },
	{ EINVAL, "ring=4294967312" },
	{ EINVAL, "ring=18446744073709551632" },
	{ EINVAL, "ring=1e3" },
	{ EINVAL, "ring=1024k" },
	{ EINVAL, "ring=64 wake=0" },
	{ EINVAL, "wake=99999999999999999999999999999999999999" },
	{ EINVAL, "cap=" },
	{ EINVAL, "cap=k" },
	{ EINVAL, "cap=-1" },
	{ EINVAL, "cap=1T" },
	{ EINVAL, "cap=1kk" },
	{ EINVAL, "cap=1 M" },
	{ EINVAL, "cap=18446744073709551616" },
	{ EINVAL, "cap=18014398509481984k" },
	{ EINVAL, "cap=17179869184G" },
	{ EINVAL, "cap=99999999999999999999999999999999999999" },
	{ EINVAL, "dead=1.5M" },
	{ EINVAL, "pid=" },
	{ EINVAL, "pid=0" },
	{ EINVAL, "pid=-1" },
	{ EINVAL, "pid=1," },
	{ EINVAL, "pid=1,,1" },
	{ EINVAL, "pid=1;1" },
	{ EINVAL, "pid=99999999999" },
	{ EINVAL, "pid=1 pid=1" },
	{ EINVAL, "unpid=x" },
	{ EINVAL, "own=1" },
	{ EINVAL, "own=1:x" },
	{ EINVAL, "own=:tcp" },
	{ EINVAL, "own=1:tcp+" },
	{ EINVAL, "own=1:tcp,irq" },
	{ EINVAL, "own=1:tcp own=1:irq" },
	{ EINVAL, "+tcp pid=1,x" },
	{ ESRCH, "pid=2147483647" },
	{ ESRCH, "+tcp trace=on pid=%d" },
	{ ESRCH, "+tcp ring=128 unpid=%d" },
	{ ESRCH, "+tcp select=chosen own=%d:irq" },
	{ ESRCH, "select=chosen +tcp pid=1,%d" },
};

/* What is taken, and a line that shows it. */
static const struct {
	const char *text;
	const char *line;
} taken[] = {
	{ "", "groups=syscall\n" },
	{ " \t\n \n", "groups=syscall\n" },
	{ "+tcp\n", "groups=syscall,tcp\n" },
	{ "-tcp -tcp", "groups=syscall\n" },
	{ "+none groups=irq groups=tcp,tcp", "groups=tcp\n" },
	{ "trace=1 trace=off trace=on", "trace=on\n" },
	{ "trace=0", "trace=off\n" },
	{ "ring=17", "ring=32\n" },
	{ "ring=0x40", "ring=64\n" },
	{ "cap=3M", "cap=3145728\n" },
	{ "cap=17179869183G", "cap=18446744072635809792\n" },
	{ "cap=18446744073709551615", "cap=18446744073709551615\n" },
	{ "cap=64M dead=70k", "dead=71680\n" },
	{ "pid=1 unpid=1,1", "select=all\n" },
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

/* One write; 0 or the error, and -1 where only a part was taken. */
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

static void try_refused(const struct words *words, int gone)
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
	tell(got == words->want && unchanged(), "control: '%s': %s", shown, strerror(got));
}

static void try_bytes(const char *what, const void *text, size_t bytes, int want)
{
	int got;

	show(before);
	got = put(text, bytes);
	tell(got == want && unchanged(), "control: %s: %s", what, strerror(got));
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
	try_bytes("a byte more", text, MOST + 1, E2BIG);
	try_bytes("128 KiB", text, 2 * MOST, E2BIG);
	memset(text, ' ', 2 * MOST);
	try_bytes("64 KiB of blanks", text, MOST, 0);
	memcpy(text + MOST - 4, "+tcp", 4);
	try_bytes("blanks, and a word that goes over the end", text, MOST + 1, E2BIG);
	try_bytes("blanks, and half a word", text, MOST - 1, EINVAL);
	for (i = 0; i < MOST; i += 5)
		memcpy(text + i, "+tcp ", 5);
	memcpy(text + MOST - 16, "           none+", 16);
	try_bytes("thirteen thousand words, the last one wrong", text, MOST, EINVAL);
	for (i = 0; i < 4096; i++)
		text[i] = "pid="[i % 4];
	try_bytes("a key a thousand times", text, 4096, EINVAL);
	memcpy(text, "pid=", 4);
	for (i = 4; i < MOST; i += 2)
		memcpy(text + i, "1,", 2);
	try_bytes("a list of thirty thousand that ends in a comma", text, MOST, EINVAL);
	for (i = 0; i < MOST; i++)
		text[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24 | 1);
	try_bytes("64 KiB of noise", text, MOST, EINVAL);
	free(text);
}

static void try_memory(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || munmap(page + 4096, 4096))
		exit(1);
	memset(page, ' ', 4096);
	memcpy(page + 4092, "+tcp", 4);
	try_bytes("from no address", page + 4096, 4, EFAULT);
	try_bytes("from memory that ends before it", page + 4092, 8, EFAULT);
	try_bytes("a NUL behind a word", "+tcp\0", 5, EINVAL);
	try_bytes("a NUL between words", "+tcp\0 +irq", 10, EINVAL);
	try_bytes("a NUL alone", "", 1, EINVAL);
	try_bytes("bytes above 127", "\xff\xfe+tcp", 6, EINVAL);
	munmap(page, 4096);
}

/* A word in two writes is two words: the first is half of one, and refused. */
static void try_pieces(void)
{
	int fd = open(CONTROL, O_WRONLY | O_CLOEXEC), first, second;

	show(before);
	first = write(fd, "+t", 2) < 0 ? errno : 0;
	second = write(fd, "cp", 2) < 0 ? errno : 0;
	tell(first == EINVAL && second == EINVAL && unchanged(), "control: a word in two writes");
	close(fd);
}

int main(void)
{
	static const char base[] =
		"groups=syscall trace=off select=all inherit=off ring=1024 wake=512";
	pid_t gone = fork();
	size_t i;
	int err;

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	if (put(base, strlen(base))) {
		perror(CONTROL);
		return 1;
	}
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		try_refused(&refused[i], gone);
	try_long();
	try_memory();
	try_pieces();
	for (i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		err = put(taken[i].text, strlen(taken[i].text));
		show(after);
		tell(!err && strstr(after, taken[i].line), "control: '%s' is taken: %s",
		     strcspn(taken[i].text, "\t\n") < strlen(taken[i].text) ? "with line ends" :
									      taken[i].text,
		     strerror(err));
	}
	return tell_failures != 0;
}
