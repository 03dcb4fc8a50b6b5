// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctl_errors: calls on /proc/ktau/profile and /proc/ktau/trace with invalid arguments. Each
 * fails with the documented error, and a stream that was half read continues as if the
 * call had not been made.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <linux/ktau.h>
#include <stdio.h>

#include "tap.h"
#include "walk.h"

#define PROFILE "/proc/ktau/profile"
#define TRACE "/proc/ktau/trace"
#define PAGE 4096
#define MILLION 1000000
#define KERNEL ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1)) /* a kernel address */

/* Memory whose addresses are passed to calls. */
static char *plain;	/* 64 pages */
static char *read_only; /* a page */
static char *hole;	/* a page is mapped before it, nothing from here on */
static int32_t *million;
static int32_t exited_pid;

static void prepare(void)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	pid_t pid = fork();
	int i;

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	exited_pid = pid;
	plain = mmap(NULL, 64 * PAGE, prot, flags, -1, 0);
	read_only = mmap(NULL, PAGE, PROT_READ, flags, -1, 0);
	hole = mmap(NULL, 2 * PAGE, prot, flags, -1, 0);
	million = mmap(NULL, MILLION * sizeof(*million), prot, flags, -1, 0);
	if (plain == MAP_FAILED || read_only == MAP_FAILED || hole == MAP_FAILED ||
	    million == MAP_FAILED || munmap(hole += PAGE, PAGE)) {
		perror("ioctl_errors");
		exit(1);
	}
	for (i = 0; i < MILLION; i++)
		million[i] = exited_pid;
}

static int open_or_die(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static bool walk_whole(int fd, size_t step)
{
	struct walk w = { 0 };

	return !lseek(fd, 0, SEEK_SET) && walk_on(fd, &w, plain, step);
}

/* ioctl: the argument selects SELF, with some fields overwritten. */

struct poke {
	size_t at;
	size_t bytes;
	uint64_t value;
};

#define SIZE (sizeof(struct ktau_select))
#define AT(name) offsetof(struct ktau_select, name), sizeof(((struct ktau_select *)0)->name)

enum list {
	NO_LIST,
	EXITED_LIST, /* a process that has exited */
	LONG_LIST,   /* a million pids */
	ODD_LIST,    /* at an odd address */
	FIXED_LIST,  /* in memory that cannot be written */
	HOLE_LIST,   /* in unmapped memory */
	HALF_LIST,   /* in memory that ends inside the list */
	KERNEL_LIST, /* in the kernel's memory */
};

#define TRACE_ONLY -1 /* expect 0 for a trace, EINVAL for a profile */

struct call {
	const char *what;
	int want;
	struct poke poke[4];
	enum list list;
};

static const struct call calls[] = {
	{ "a valid argument", 0, { { 0 } }, NO_LIST },
	{ "size 0", EINVAL, { { AT(size), 0 } }, NO_LIST },
	{ "size one byte short", EINVAL, { { AT(size), SIZE - 1 } }, NO_LIST },
	{ "size longer, zeros after", 0, { { AT(size), SIZE + 8 }, { SIZE, 8, 0 } }, NO_LIST },
	{ "size longer, a bit after", E2BIG, { { AT(size), SIZE + 8 }, { SIZE, 8, 1 } }, NO_LIST },
	{ "size of a page", 0, { { AT(size), PAGE } }, NO_LIST },
	{ "size above a page", E2BIG, { { AT(size), PAGE + 1 } }, NO_LIST },
	{ "size 4 GiB - 1", E2BIG, { { AT(size), UINT32_MAX } }, NO_LIST },
	{ "no target", EINVAL, { { AT(target), 0 } }, NO_LIST },
	{ "target unknown", EINVAL, { { AT(target), KTAU_TARGET_VALID + 1 } }, NO_LIST },
	{ "target top bit", EINVAL, { { AT(target), 1U << 31 | 1 } }, NO_LIST },
	{ "SELF and ALL", EINVAL, { { AT(target), 5 } }, NO_LIST },
	{ "SELF and LIST", EINVAL, { { AT(target), 3 }, { AT(nr_pids), 1 } }, EXITED_LIST },
	{ "LIST and ALL", EINVAL, { { AT(target), 6 }, { AT(nr_pids), 1 } }, EXITED_LIST },
	{ "ALL and CHANGED", EINVAL, { { AT(target), 0x44 } }, NO_LIST },
	{ "all targets", EINVAL, { { AT(target), KTAU_TARGET_VALID } }, NO_LIST },
	{ "all compatible targets", 0, { { AT(target), 0x3c } }, NO_LIST },
	{ "all targets compatible with CHANGED", 0, { { AT(target), 0x78 } }, NO_LIST },
	{ "only exited tasks", 0, { { AT(target), KTAU_TARGET_EXITED } }, NO_LIST },
	{ "only the CPUs", 0, { { AT(target), KTAU_TARGET_CPU } }, NO_LIST },
	{ "flag unknown", EINVAL, { { AT(flags), KTAU_SELECT_VALID + 1 } }, NO_LIST },
	{ "flag top bit", EINVAL, { { AT(flags), 1U << 31 } }, NO_LIST },
	{ "all flags", TRACE_ONLY, { { AT(flags), KTAU_SELECT_VALID } }, NO_LIST },
	{ "CONSUME", TRACE_ONLY, { { AT(flags), KTAU_SELECT_CONSUME } }, NO_LIST },
	{ "THREADS of ALL",
	  EINVAL,
	  { { AT(target), 4 }, { AT(flags), KTAU_SELECT_THREADS } },
	  NO_LIST },
	{ "a control group without its flag", EINVAL, { { AT(cgroup), 1 } }, NO_LIST },
	{ "a control group that does not exist",
	  0,
	  { { AT(flags), KTAU_SELECT_CGROUP }, { AT(cgroup), UINT64_MAX } },
	  NO_LIST },
	{ "a user without its flag", EINVAL, { { AT(uid), 1 } }, NO_LIST },
	{ "a user", 0, { { AT(flags), KTAU_SELECT_UID }, { AT(uid), 1000 } }, NO_LIST },
	{ "an invalid user",
	  EINVAL,
	  { { AT(flags), KTAU_SELECT_UID }, { AT(uid), UINT32_MAX } },
	  NO_LIST },
	{ "a tag without its flag", EINVAL, { { AT(tag), 1 } }, NO_LIST },
	{ "a tag", 0, { { AT(flags), KTAU_SELECT_TAG }, { AT(tag), UINT32_MAX } }, NO_LIST },
	{ "slots from the end of time", 0, { { AT(since_ticks), UINT64_MAX } }, NO_LIST },
	{ "a list without LIST", EINVAL, { { AT(nr_pids), 1 } }, EXITED_LIST },
	{ "its address without LIST", EINVAL, { { AT(nr_pids), 0 } }, EXITED_LIST },
	{ "LIST without a list", EINVAL, { { AT(target), 2 } }, NO_LIST },
	{ "LIST of no tids", EINVAL, { { AT(target), 2 }, { AT(nr_pids), 0 } }, EXITED_LIST },
	{ "LIST of an exited task", 0, { { AT(target), 2 }, { AT(nr_pids), 1 } }, EXITED_LIST },
	{ "LIST of maximum length",
	  0,
	  { { AT(target), 2 }, { AT(nr_pids), KTAU_MAX_PIDS } },
	  LONG_LIST },
	{ "LIST of one more", E2BIG, { { AT(target), 2 }, { AT(nr_pids), 65537 } }, LONG_LIST },
	{ "LIST of a million", E2BIG, { { AT(target), 2 }, { AT(nr_pids), MILLION } }, LONG_LIST },
	{ "LIST of 4 G - 1", E2BIG, { { AT(target), 2 }, { AT(nr_pids), UINT32_MAX } }, LONG_LIST },
	{ "list at an odd address", 0, { { AT(target), 2 }, { AT(nr_pids), 9 } }, ODD_LIST },
	{ "list that is read-only", 0, { { AT(target), 2 }, { AT(nr_pids), 9 } }, FIXED_LIST },
	{ "list in unmapped memory", EFAULT, { { AT(target), 2 }, { AT(nr_pids), 1 } }, HOLE_LIST },
	{ "list mapped in part", EFAULT, { { AT(target), 2 }, { AT(nr_pids), 9 } }, HALF_LIST },
	{ "list in the kernel", EFAULT, { { AT(target), 2 }, { AT(nr_pids), 9 } }, KERNEL_LIST },
	{ "exited tasks from the end of time",
	  0,
	  { { AT(target), 8 }, { AT(exited_since), UINT64_MAX } },
	  NO_LIST },
};

static uint64_t list_address(enum list list)
{
	switch (list) {
	case EXITED_LIST:
	case LONG_LIST:
		return (uintptr_t)million;
	case ODD_LIST:
		return (uintptr_t)million + 1;
	case FIXED_LIST:
		return (uintptr_t)read_only;
	case HOLE_LIST:
		return (uintptr_t)hole;
	case HALF_LIST:
		return (uintptr_t)hole - 8;
	case KERNEL_LIST:
		return KERNEL;
	default:
		return 0;
	}
}

static void build(const struct call *call, char *arg)
{
	struct ktau_select select = {
		.size = SIZE,
		.target = KTAU_TARGET_SELF,
		.pids = list_address(call->list),
	};
	const struct poke *poke;

	memset(arg, 0, PAGE + 8);
	memcpy(arg, &select, sizeof(select));
	for (poke = call->poke; poke->bytes; poke++)
		memcpy(arg + poke->at, &poke->value, poke->bytes);
}

static int errno_of(int ret)
{
	return ret < 0 ? errno : 0;
}

/* Make the call with a stream half read: if it fails, the stream continues. */
static void try_call(const char *path, const struct call *call)
{
	int want = call->want == TRACE_ONLY ? !strcmp(path, PROFILE) ? EINVAL : 0 : call->want;
	struct walk w = { 0 };
	int fd = open_or_die(path), got;
	bool good;

	good = read(fd, plain, 200) == 200 && walk(&w, plain, 200);
	build(call, plain);
	got = errno_of(ioctl(fd, KTAU_IOC_SELECT, plain));
	if (!want)
		w = (struct walk){ 0 }; /* a new stream has begun */
	good = good && walk_on(fd, &w, plain, PAGE);
	/* A reader that continued from a larger number would miss all exited tasks. */
	good = good && w.end.exited_next < 1ULL << 32;
	tap_ok(good && got == want, "%s: ioctl, %s: %s%s", path, call->what, strerror(got),
	       good ? "" : ", and the stream is torn");
	close(fd);
}

struct place {
	const char *what;
	int want;
	const void *at;
};

/* A valid argument at addresses of all kinds. */
static void try_places(const char *path)
{
	const struct place places[] = {
		{ "argument at an odd address", 0, plain + 1 },
		{ "argument in read-only memory", EINVAL, read_only },
		{ "argument up to the end of memory", 0, hole - SIZE },
		{ "argument mapped in part", EFAULT, hole - SIZE + 8 },
		{ "argument with only the size mapped", EFAULT, hole - 4 },
		{ "argument with only half of the size mapped", EFAULT, hole - 2 },
		{ "argument in unmapped memory", EFAULT, hole },
		{ "null argument", EFAULT, NULL },
		{ "argument in the kernel", EFAULT, (void *)KERNEL },
		{ "argument at the end of the address space", EFAULT, (void *)-8L },
	};
	const struct call right = { "", 0, { { 0 } }, NO_LIST };
	static char arg[PAGE + 8];
	int fd = open_or_die(path), got;
	size_t i;

	build(&right, arg);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		memset(hole - PAGE, 0, PAGE);
		memcpy(plain + 1, arg, SIZE);
		if (places[i].at == hole - SIZE || places[i].at == hole - SIZE + 8)
			memcpy((void *)places[i].at, arg, (size_t)(hole - (char *)places[i].at));
		else if (places[i].at == hole - 4)
			memcpy(hole - 4, arg, 4);
		got = errno_of(ioctl(fd, KTAU_IOC_SELECT, places[i].at));
		tap_ok(got == places[i].want, "%s: ioctl, %s: %s", path, places[i].what,
		       strerror(got));
	}
	tap_ok(walk_whole(fd, PAGE), "%s: a stream can be read after these calls", path);
	close(fd);
}

static void try_commands(const char *path)
{
	const unsigned long commands[] = {
		0,
		KTAU_IOC_REGIONS + 1,
		KTAU_IOC_SELECT ^ 1UL << 30,
		~0UL,
		0x5401,
		_IOC(_IOC_WRITE, 0xbd, 1, SIZE),
		_IO(0xbe, 1),
	};
	int fd = open_or_die(path), got;
	size_t i;

	memset(plain, 0, PAGE);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		got = errno_of(ioctl(fd, commands[i], plain));
		tap_ok(got == ENOTTY, "%s: ioctl %#lx: %s", path, commands[i], strerror(got));
	}
	close(fd);
}

/* read() and lseek() with invalid arguments, at any position of a stream. */
static void try_reads(const char *path)
{
	const struct {
		const char *what;
		void *at;
		size_t bytes;
		int want; /* bytes, or -errno */
	} reads[] = {
		{ "to unmapped memory", hole, 64, -EFAULT },
		{ "to read-only memory", read_only, 64, -EFAULT },
		{ "to the kernel", (void *)KERNEL, 64, -EFAULT },
		{ "of no bytes", plain, 0, 0 },
		{ "of no bytes, to unmapped memory", hole, 0, 0 },
		{ "of a byte", plain, 1, 1 },
		{ "to an odd address", plain + 3, 5, 5 },
		{ "to the end of memory", hole - 8, 8, 8 },
		{ "of more bytes than memory", plain, (size_t)-1, -EFAULT },
	};
	const struct {
		off_t to;
		int whence;
	} seeks[] = { { 1, SEEK_SET }, { -1, SEEK_SET }, { INT64_MAX, SEEK_SET },
		      { 1, SEEK_CUR }, { 0, SEEK_END },	 { 0, 99 } };
	struct walk w = { 0 };
	int fd = open_or_die(path), got;
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
		got = (int)syscall(SYS_read, fd, reads[i].at, reads[i].bytes);
		if (got > 0)
			good = good && walk(&w, reads[i].at, (size_t)got);
		got = got < 0 ? -errno : got;
		tap_ok(got == reads[i].want, "%s: read %s: %d", path, reads[i].what, got);
	}
	for (i = 0; i < sizeof(seeks) / sizeof(*seeks); i++)
		tap_ok(lseek(fd, seeks[i].to, seeks[i].whence) < 0 && errno == EINVAL,
		       "%s: lseek to %lld, %d", path, (long long)seeks[i].to, seeks[i].whence);
	tap_ok(good && walk_on(fd, &w, plain, 1000), "%s: the stream is complete after these calls",
	       path);
	for (i = 1; i <= 4096; i = i * 7 + 2)
		tap_ok(walk_whole(fd, i), "%s: read in steps of %zu", path, i);
	close(fd);
}

/* A buffer that faults part-way: a short read or EFAULT, and the next read continues. */
static void try_half_buffer(const char *path)
{
	struct walk w = { 0 };
	int fd = open_or_die(path);
	bool good = true;
	ssize_t got;
	size_t i;

	for (i = 1; i < 300; i++) {
		got = read(fd, hole - i, 2 * i);
		if (got < 0 && errno != EFAULT)
			good = false;
		if (got > 0)
			good = good && (size_t)got <= i && walk(&w, hole - i, (size_t)got);
	}
	tap_ok(good && walk_on(fd, &w, plain, PAGE),
	       "%s: read into a half-mapped buffer, 300 times", path);
	close(fd);
}

/* pread() continues at the position of the stream, or begins a new one at 0. */
static void try_positions(const char *path)
{
	const struct {
		off_t at;
		int want;
	} reads[] = { { 0, 100 },  { 100, 50 }, { 100, -EINVAL }, { 1, -EINVAL },
		      { 150, 30 }, { 0, 100 },	{ 180, -EINVAL }, { -1, -EINVAL } };
	int fd = open_or_die(path), got;
	size_t i;

	for (i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
		size_t bytes = reads[i].want > 0 ? (size_t)reads[i].want : 10;

		got = (int)pread(fd, plain, bytes, reads[i].at);
		got = got < 0 ? -errno : got;
		tap_ok(got == reads[i].want, "%s: pread at %lld: %d", path, (long long)reads[i].at,
		       got);
	}
	tap_ok(walk_whole(fd, PAGE), "%s: read after pread", path);
	close(fd);
}

/* KTAU_IOC_INFO with sizes of all kinds. */
static void try_info(const char *path)
{
	const struct {
		uint32_t size;
		int want;
	} infos[] = { { 0, EINVAL },
		      { KTAU_INFO_SIZE_VER0 - 1, EINVAL },
		      { KTAU_INFO_SIZE_VER0, 0 },
		      { KTAU_INFO_SIZE_VER0 + 8, 0 },
		      { PAGE, 0 },
		      { PAGE + 1, E2BIG } };
	struct ktau_info *info = (struct ktau_info *)plain;
	int fd = open_or_die(path), got;
	size_t i;

	for (i = 0; i < sizeof(infos) / sizeof(*infos); i++) {
		memset(plain, 0, 2 * PAGE);
		info->size = infos[i].size;
		got = errno_of(ioctl(fd, KTAU_IOC_INFO, info));
		tap_ok(got == infos[i].want && (got || info->version == KTAU_ABI_VERSION),
		       "%s: info of %u bytes: %s", path, infos[i].size, strerror(got));
	}
	got = errno_of(ioctl(fd, KTAU_IOC_INFO, hole));
	tap_ok(got == EFAULT, "%s: info to unmapped memory: %s", path, strerror(got));
	close(fd);
}

/* Two threads on one descriptor. */

struct pair {
	int fd;
	volatile bool stop;
	volatile bool bad;
};

static void *read_all_the_time(void *arg)
{
	struct pair *pair = arg;
	char buffer[777];
	ssize_t got;

	while (!pair->stop) {
		got = read(pair->fd, buffer, sizeof(buffer));
		if (!got)
			lseek(pair->fd, 0, SEEK_SET);
		else if (got < 0 && errno != EBADF && errno != EINTR)
			pair->bad = true;
	}
	return NULL;
}

static void try_pair(const char *path)
{
	struct pair pair = { .fd = open_or_die(path) };
	const struct call right = { "", 0, { { 0 } }, NO_LIST };
	static char arg[PAGE + 8];
	pthread_t thread;
	int i;

	build(&right, arg);
	if (pthread_create(&thread, NULL, read_all_the_time, &pair))
		exit(1);
	for (i = 0; i < 500; i++) {
		if (read(pair.fd, plain, 100 + i) < 0 || ioctl(pair.fd, KTAU_IOC_SELECT, arg))
			pair.bad = true;
		if (i % 10 == 0)
			usleep(1000);
	}
	/* Close the descriptor under the reading thread, and give its number to another file. */
	for (i = 0; i < 200; i++) {
		int fd = open_or_die(i & 1 ? PROFILE : path);

		usleep(i % 7 * 300);
		if (dup2(fd, pair.fd) < 0)
			pair.bad = true;
		close(fd);
	}
	close(pair.fd);
	usleep(10000);
	pair.stop = true;
	pthread_join(thread, NULL);
	tap_ok(!pair.bad, "%s: two threads read, select and close one descriptor", path);
}

/*
 * A consuming reader must be woken whatever other readers do: a ring does not become less
 * full because another reader begins a stream.
 */
static void try_wakes(void)
{
	int reader = open_or_die(TRACE), other = open_or_die(TRACE), i;
	struct pollfd pfd = { .fd = reader, .events = POLLIN };
	const struct ktau_select consume = { .size = sizeof(consume),
					     .target = KTAU_TARGET_ALL,
					     .flags = KTAU_SELECT_CONSUME };
	bool good = !ioctl(reader, KTAU_IOC_SELECT, &consume) && walk_whole(reader, PAGE);

	for (i = 0; i < 100; i++)
		syscall(SYS_getppid);
	usleep(50000);
	good = good && read(other, plain, 1) == 1;
	/* A worker wakes readers; it may be late on a busy machine. */
	tap_ok(good && poll(&pfd, 1, 2000) == 1 && (pfd.revents & POLLIN),
	       TRACE ": poll while another reader reads");
	close(reader);
	close(other);
}

int main(void)
{
	static const char *const paths[] = { PROFILE, TRACE };
	size_t p, i;

	prepare();
	for (p = 0; p < 2; p++) {
		for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			try_call(paths[p], &calls[i]);
		try_places(paths[p]);
		try_commands(paths[p]);
		try_reads(paths[p]);
		try_positions(paths[p]);
		try_info(paths[p]);
		try_half_buffer(paths[p]);
		try_pair(paths[p]);
	}
	try_wakes();
	return tap_done();
}
