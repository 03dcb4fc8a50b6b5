// SPDX-License-Identifier: GPL-2.0-only
/* The process of fuzz_races that starts and ends the others and looks for leaks. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "fuzz_races.h"
#include "subject.h"
#include "tap.h"

#define NR_MOST 64

/* Seconds in addition to those given, if some kind of action has not happened by then. */
#define LONGER 240

/*
 * Tolerated difference of memory: the CPUs keep chunks in reserve, and tables of live tasks
 * grow by up to some 160 KiB, whatever the duration. A leak at each fork would be megabytes.
 */
#define NEAR_BYTES (256 << 10)

static struct races_shared *shared;

static const char *const names[RACES_NR_COUNTS] = {
	[RACES_CALLS] = "calls",
	[RACES_OPENED] = "descriptors opened",
	[RACES_OPEN_REFUSED] = "denied",
	[RACES_SELECTED] = "selections",
	[RACES_SELECT_REFUSED] = "denied",
	[RACES_JUDGED] = "streams checked",
	[RACES_OWN_RECORDS] = "records of users in them",
	[RACES_PASSED] = "descriptors passed",
	[RACES_FORKED] = "forks",
	[RACES_THREADED] = "groups of threads",
	[RACES_SET_UID] = "set-uid programs",
	[RACES_UNSHARED] = "namespaces entered",
	[RACES_SET] = "settings changed",
	[RACES_MOVED] = "tasks moved between control groups",
};

static _Noreturn void die(const char *what)
{
	tap_ok(false, "races: %s: %s", what, strerror(errno));
	exit(1);
}

static void settle(const char *path, const char *words)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, words, strlen(words)) < 0)
		die(words);
	close(fd);
}

/* KTAU's states and memory in use. */
struct usage {
	long states; /* in addition to those of live tasks */
	long bytes;
};

static long nr_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	long nr = 0;

	while (dir && (entry = readdir(dir)))
		nr += entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
	if (dir)
		closedir(dir);
	return nr;
}

static long nr_threads(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char path[300];
	long nr = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task", entry->d_name);
		nr += nr_entries(path);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static struct usage usage(void)
{
	FILE *file = fopen("/proc/ktau/stats", "re");
	struct usage usage = { 0, 0 };
	char line[128];
	long value;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "states %ld", &value) == 1)
			usage.states = value - nr_threads();
		else if (sscanf(line, "memory_bytes %ld", &value) == 1)
			usage.bytes = value;
	if (!file)
		die("/proc/ktau/stats");
	fclose(file);
	return usage;
}

/* The usage with an empty exited queue and with each live task measured. */
static struct usage usage_at_rest(void)
{
	const char *control = "/proc/ktau/control";

	settle("/proc/sys/kernel/ktau_paranoid", "2");
	settle(control,
	       "groups=none filter=none inherit=off tag=none memory_limit=64M");
	settle(control, "groups=all profile=on trace=off ring=64 watermark=1 exited_limit=0");
	usleep(300000);
	return usage();
}

/* Bytes charged to uid @id, as seen by one of its processes. */
static long user_bytes(uid_t id)
{
	const struct subject subject = { "a user", id, 0, false };
	struct ktau_info info = { .size = sizeof(info) };
	int ends[2], fd;
	long bytes = -1;

	if (pipe(ends))
		die("pipe");
	if (!fork()) {
		subject_become(&subject);
		fd = open("/proc/ktau/profile", O_RDONLY);
		if (!ioctl(fd, KTAU_IOC_INFO, &info))
			bytes = (long)info.user_bytes;
		_exit(write(ends[1], &bytes, sizeof(bytes)) != sizeof(bytes));
	}
	close(ends[1]);
	if (read(ends[0], &bytes, sizeof(bytes)) != sizeof(bytes))
		bytes = -1;
	close(ends[0]);
	wait(NULL);
	return bytes;
}

static void compare(struct usage before, const long *user_before)
{
	struct usage after = { 0, 0 };
	long bytes;
	uid_t id;
	int i;

	/* Workers free the states of exited tasks. */
	for (i = 0; i < 20; i++) {
		after = usage_at_rest();
		if (after.states <= before.states && after.bytes <= before.bytes + NEAR_BYTES)
			break;
	}
	tap_ok(after.states <= before.states,
	       "races: no state is left: %ld in addition to live tasks, %ld before", after.states,
	       before.states);
	tap_ok(after.bytes <= before.bytes + NEAR_BYTES, "races: memory: %ld bytes, %ld before",
	       after.bytes, before.bytes);
	for (id = 1000; id <= 1001; id++) {
		bytes = user_bytes(id);
		tap_ok(bytes >= 0 && bytes <= user_before[id - 1000],
		       "races: user %u is charged for %ld bytes, %ld before", id, bytes,
		       user_before[id - 1000]);
	}
}

/* Shared memory and the socket get fixed descriptor numbers, which survive an exec. */
static void share(const char *program, const char *set_uid_program)
{
	struct rlimit files = { 1024, 1024 };
	int fd = memfd_create("races", 0), bus[2];

	if (setrlimit(RLIMIT_NOFILE, &files) || fd < 0 || ftruncate(fd, sizeof(*shared)) ||
	    dup2(fd, SHARED_FD) < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, bus) ||
	    dup2(bus[0], BUS_FD) < 0 || dup2(bus[1], BUS_TAKE_FD) < 0)
		die("descriptors");
	close(fd);
	close(bus[0]);
	close(bus[1]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
	if (shared == MAP_FAILED)
		die("memory");
	if (readlink(program, shared->program, sizeof(shared->program) - 1) < 0 ||
	    !realpath(set_uid_program, shared->set_uid_program))
		die(set_uid_program);
	mount("none", CGROUPS, "cgroup2", 0, NULL);
	mkdir(CGROUPS "/a", 0755);
	mkdir(CGROUPS "/a/b", 0755);
}

static void begin(unsigned int nr, uint64_t seed, void (*worker)(unsigned int, uint64_t))
{
	unsigned int i;
	pid_t pid;

	fflush(stdout);
	for (i = 0; i < nr; i++) {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!i)
			shared->group = pid ?: getpid();
		if (!pid) {
			setpgid(0, shared->group);
			worker(i, seed);
		}
		setpgid(pid, shared->group);
	}
}

/* Wait for all processes, also orphans; kill those left half a minute after the latest end. */
static void end(unsigned int nr)
{
	bool killed = false;
	int status;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid < 0)
			break;
		if (pid)
			continue;
		usleep(20000);
		if (killed || time(NULL) < shared->latest + 30)
			continue;
		printf("# %u processes and their children did not exit in time\n", nr);
		killpg(shared->group, SIGKILL);
		killed = true;
	}
	tap_ok(!killed, "races: all processes exited in time");
}

static void report(void)
{
	unsigned int i;

	printf("#");
	for (i = 0; i < RACES_NR_COUNTS; i++)
		printf("%s %" PRIu64 " %s", i ? "," : "", shared->count[i], names[i]);
	printf("\n");
	for (i = 0; i < RACES_NR_COUNTS; i++)
		if (!shared->count[i])
			tap_ok(false, "races: none of: %s", names[i]);
	tap_ok(!shared->failures, "races: users get records of their own tasks only%s%s",
	       shared->failures ? ": " : "", shared->failure);
}

int races_main(int argc, char **argv, void (*worker)(unsigned int nr, uint64_t seed))
{
	unsigned int cpus = (unsigned int)get_nprocs();
	unsigned int nr = argc > 4 ? (unsigned int)atoi(argv[4]) : cpus > 1 ? 2 * cpus :
									      3;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) :
				   (uint64_t)time(NULL) << 16 | (uint64_t)getpid();
	unsigned long amount;
	struct usage before;
	long user_before[2];
	char *unit = NULL;

	amount = argc > 2 ? strtoul(argv[2], &unit, 0) : 0;
	if (!amount || argc > 5 || !nr || nr > NR_MOST || getuid()) {
		fprintf(stderr,
			"usage: fuzz_races SET-UID-COPY SECONDS|CALLSx [SEED [PROCESSES]]\n");
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	share("/proc/self/exe", argv[1]);
	shared->calls = *unit == 'x' ? amount : 0;
	shared->until = time(NULL) + (time_t)(*unit == 'x' ? 3600 : amount);
	shared->latest = shared->until + LONGER;
	printf("seed %" PRIu64 "\n", seed);
	before = usage_at_rest();
	user_before[0] = user_bytes(1000);
	user_before[1] = user_bytes(1001);
	begin(nr, seed, worker);
	end(nr);
	close(BUS_FD);
	close(BUS_TAKE_FD);
	report();
	compare(before, user_before);
	return tap_done();
}
