// SPDX-License-Identifier: GPL-2.0-only
/*
 * hooks: functions hooked at run time. Tests that the counts of hooked functions equal the number
 * of calls, patterns, functions that cannot be hooked, the limit of the list, and a task that
 * sleeps in a function while it is unhooked.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define CONTROL "/proc/ktau/control"
#define MOST_HOOKS 256
#define CALLS 1000

static int control(const char *words)
{
	int fd = open(CONTROL, O_WRONLY), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, words, strlen(words)) < 0)
		err = errno;
	close(fd);
	return err;
}

static void expect_control(const char *words, int err)
{
	int got = control(words);

	tap_ok(got == err, "hooks: %.40s: %s", words, strerror(err));
	if (got != err)
		printf("# %s\n", strerror(got));
}

/* The state of a function in the list, "" if it is not there; its id in @id unless that is NULL. */
static const char *state_of(const char *name, unsigned int *id)
{
	static char state[32];
	char line[256], found[200], number[16];
	FILE *file = self_file("/proc/ktau/hooks");

	*state = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%199s %15s %31s", found, number, state) == 3 &&
		    !strcmp(found, name)) {
			if (id)
				*id = (unsigned int)strtoul(number, NULL, 10);
			fclose(file);
			return state;
		}
	}
	fclose(file);
	return "";
}

static void expect_state(const char *name, const char *state)
{
	const char *got = state_of(name, NULL);

	tap_ok(!strcmp(got, state), "hooks: %s is %s", name, *state ? state : "not in the list");
	if (strcmp(got, state))
		printf("# %s\n", got);
}

static unsigned int nr_hooks(void)
{
	FILE *file = self_file("/proc/ktau/hooks");
	unsigned int nr = 0;
	char line[256];

	while (fgets(line, sizeof(line), file))
		nr += *line != '#';
	fclose(file);
	return nr;
}

static uint64_t count(const struct ktau_rec_profile *p, const char *name)
{
	return self_entry(p, name).count;
}

static void getppids(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

/* Compare the count and the times of a function with those of its system call. */
static void compare(void)
{
	struct ktau_rec_profile *added, *before;
	struct ktau_entry hook, call;
	unsigned int id, again;

	expect_control("groups=syscall,func hook=__x64_sys_getppid", 0);
	tap_ok(!strcmp(state_of("__x64_sys_getppid", &id), "on"), "hooks: it is hooked");
	before = self_profile(0);
	getppids();
	added = self_added(before, self_profile(0));
	hook = self_entry(added, "func:__x64_sys_getppid");
	call = self_entry(added, "sys_getppid");
	self_expect("hooks: activations", hook.count, CALLS);
	self_expect("hooks: activations of the system call", call.count, CALLS);
	tap_ok(hook.incl && hook.incl < call.incl, "hooks: it takes less time than the call");
	tap_ok(call.incl - call.excl >= hook.incl, "hooks: its time is inside the call");
	free(added);

	/* Without the group nothing is counted, but the function stays hooked */
	control("-func");
	before = self_profile(0);
	getppids();
	added = self_added(before, self_profile(0));
	self_expect("hooks: without the group", count(added, "func:__x64_sys_getppid"), 0);
	free(added);
	control("+func");

	expect_control("unhook=__x64_sys_getppid", 0);
	expect_state("__x64_sys_getppid", "");
	before = self_profile(0);
	getppids();
	added = self_added(before, self_profile(0));
	self_expect("hooks: after unhooking", count(added, "func:__x64_sys_getppid"), 0);
	free(added);
	expect_control("unhook=__x64_sys_getppid", ENOENT);
	expect_control("hook=__x64_sys_getppid", 0);
	state_of("__x64_sys_getppid", &again);
	self_expect("hooks: its id stays", again, id);
}

/* Arguments and results pass through the trampoline unchanged. */
static void calls(void)
{
	struct ktau_rec_profile *added, *before;
	char data[] = "0123456789", got[sizeof(data)];
	int ends[2];
	char *area;

	expect_control("hook=vfs_rea?,vfs_writ?,ksys_mmap_pgoff,do_sys_openat2", 0);
	expect_state("vfs_read", "on");
	expect_state("vfs_write", "on");
	expect_state("vfs_readv", "");
	if (pipe(ends))
		self_die("pipe", -errno);
	before = self_profile(0);
	for (int i = 0; i < CALLS; i++) {
		memset(got, 0, sizeof(got));
		if (write(ends[1], data, sizeof(data)) != sizeof(data) ||
		    read(ends[0], got, sizeof(got)) != sizeof(got) || strcmp(got, data))
			self_die("a pipe", -EIO);
		area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (area == MAP_FAILED || munmap(area, 4096))
			self_die("mmap", -errno);
		if (open("/nonexistent", O_RDONLY) >= 0 || errno != ENOENT)
			self_die("open", -EIO);
	}
	added = self_added(before, self_profile(0));
	tap_ok(count(added, "func:vfs_read") >= CALLS, "hooks: vfs_read");
	tap_ok(count(added, "func:vfs_write") >= CALLS, "hooks: vfs_write");
	tap_ok(count(added, "func:ksys_mmap_pgoff") >= CALLS, "hooks: ksys_mmap_pgoff");
	tap_ok(count(added, "func:do_sys_openat2") >= CALLS, "hooks: do_sys_openat2");
	self_expect("hooks: vfs_write of a pipe", count(added, "func:vfs_write"),
		    count(added, "sys_write"));
	free(added);
	close(ends[0]);
	close(ends[1]);
	expect_control("unhook=vfs_*,ksys_mmap_pgoff,do_sys_openat2", 0);
}

static void refusals(void)
{
	static char many[4096];	/* more names than functions may be hooked */
	size_t i;

	expect_control("hook=do_exit,do_mmap,_printk,do_syscall_64", 0);
	expect_state("do_exit", "unsafe");
	expect_state("do_mmap", "stack-args");
	expect_state("_printk", "stack-args");
	expect_state("do_syscall_64", "notrace");
	expect_control("unhook=do_exit,do_mmap,_printk,do_syscall_64", 0);
	expect_control("hook=t_start", 0);
	expect_state("t_start", "ambiguous");
	expect_control("unhook=t_start", 0);
	expect_control("hook=__switch_to", 0);
	expect_state("__switch_to", "unsafe");
	expect_control("unhook=__switch_to", 0);
	/* These do not return if the CPU goes offline */
	expect_control("hook=do_idle,arch_cpu_idle_dead", 0);
	expect_state("do_idle", "unsafe");
	expect_state("arch_cpu_idle_dead", "unsafe");
	expect_control("unhook=do_idle,arch_cpu_idle_dead", 0);
	expect_control("hook=no_such_function", ENOENT);
	expect_control("hook=jiffies", ENOENT);
	expect_control("hook=", ENOENT);
	expect_control("hook=,", ENOENT);
	expect_control("hook=vfs_fsync,no_such_function", ENOENT);
	expect_state("vfs_fsync", "");
	expect_control("hook=vfs_fsync,vfs_fsyn?", 0);
	expect_control("hook=vfs_fsync", 0);
	expect_control("unhook=vfs_fsync", 0);
	expect_control("hook=vfs_fsync hook=vfs_read", EINVAL);
	expect_control("hook=vfs_fsync nonsense", EINVAL);
	expect_control("hook=vfs_fsync unhook=vfs_fsync", ENOENT);
	expect_state("vfs_fsync", "");
	expect_control("hook=*", E2BIG);
	expect_control("hook=??*e*", E2BIG);
	for (i = 5; i + 10 < sizeof(many); i += 10)
		memcpy(many + i, "vfs_fsync,", 10);
	memcpy(many, "hook=", 5);
	many[i - 1] = 0;
	expect_control(many, E2BIG);
	self_expect("hooks: functions in the list", nr_hooks(), 1);
}

/* A reader that sleeps in a hooked function. */
struct sleeper {
	int end[2];
	pid_t tid;
	bool correct;
	uint64_t count;
};

static void *sleep_in_read(void *arg)
{
	struct sleeper *s = arg;
	char got[6] = "";

	__atomic_store_n(&s->tid, gettid(), __ATOMIC_RELEASE);
	s->correct = read(s->end[0], got, sizeof(got)) == sizeof(got) && !strcmp(got, "hello");
	return NULL;
}

static uint64_t count_of(pid_t tid, const char *name)
{
	struct ktau_rec_profile *p = self_profile(tid);
	uint64_t nr = count(p, name);

	free(p);
	return nr;
}

static void sleeper(void)
{
	struct sleeper s = { 0 };
	struct ktau_rec_profile *p;
	pthread_t thread;

	if (pipe(s.end))
		self_die("pipe", -errno);
	expect_control("hook=__x64_sys_read,vfs_read", 0);
	expect_state("__x64_sys_read", "on");
	if (pthread_create(&thread, NULL, sleep_in_read, &s))
		self_die("pthread_create", -EAGAIN);
	while (!__atomic_load_n(&s.tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(200000);
	self_expect("hooks: ended activations of a sleeping reader",
		    count_of(s.tid, "func:__x64_sys_read"), 0);
	p = self_profile(s.tid);
	tap_ok(p->nr_open >= 3, "hooks: its frames are in flight");
	free(p);
	expect_control("unhook=__x64_sys_read,vfs_read", 0);
	if (write(s.end[1], "hello", 6) != 6)
		self_die("write", -errno);
	pthread_join(thread, NULL);
	tap_ok(s.correct, "hooks: a reader returns from an unhooked function");
	close(s.end[0]);
	close(s.end[1]);
}

/* Neither the list nor control may be used without privileges. */
static void unprivileged(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(control("hook=vfs_read") != EACCES ||
		      open("/proc/ktau/hooks", O_RDONLY) >= 0 || errno != EACCES);
	}
	waitpid(pid, &status, 0);
	tap_ok(!status, "hooks: an unprivileged user may not hook functions or see them");
}

/* Collect up to @nr names of functions, each once. Return: their number. */
static size_t names(char (*name)[64], size_t nr)
{
	FILE *file = self_file("/proc/kallsyms");
	char line[512], symbol[400], type;
	size_t n = 0, i;

	while (n < nr && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %c %399s", &type, symbol) != 2 || type != 'T' ||
		    strlen(symbol) >= sizeof(*name) ||
		    (fnmatch("vfs_*", symbol, 0) && fnmatch("[k-t]*_[a-f]*", symbol, 0)))
			continue;
		for (i = 0; i < n && strcmp(name[i], symbol); i++)
			;
		if (i == n)
			strcpy(name[n++], symbol);
	}
	fclose(file);
	return n;
}

static void *unhook_all(void *err)
{
	*(int *)err = control("unhook=*");
	return NULL;
}

/*
 * Unhooking many functions takes seconds, in which other settings can be changed and the list can
 * be read.
 */
static void empty(void)
{
	pthread_t thread;
	int err = -1;

	if (pthread_create(&thread, NULL, unhook_all, &err))
		self_die("pthread_create", -EAGAIN);
	usleep(300000);
	expect_control("+func", 0);
	tap_ok(nr_hooks() > 0, "hooks: the list can be read while functions are unhooked");
	expect_control("unhook=*", EBUSY);
	tap_ok(__atomic_load_n(&err, __ATOMIC_ACQUIRE) == -1, "hooks: unhooking is in progress");
	pthread_join(thread, NULL);
	tap_ok(!err, "hooks: all functions are unhooked");
}

/* Fill the list up to its limit. */
static void limit(void)
{
	static char name[MOST_HOOKS + 1][64], words[MOST_HOOKS * 64 + 64];
	struct ktau_rec_profile *added, *before;
	size_t i, end;

	expect_control("unhook=*", 0);
	self_expect("hooks: names", names(name, MOST_HOOKS + 1), MOST_HOOKS + 1);
	end = (size_t)sprintf(words, "hook=");
	for (i = 0; i < MOST_HOOKS; i++)
		end += (size_t)sprintf(words + end, "%s%s", i ? "," : "", name[i]);
	expect_control(words, 0);
	self_expect("hooks: functions in the full list", nr_hooks(), MOST_HOOKS);
	before = self_profile(0);
	getppids();
	added = self_added(before, self_profile(0));
	self_expect("hooks: system calls with a full list", count(added, "sys_getppid"), CALLS);
	free(added);
	sprintf(words, "hook=%s", name[MOST_HOOKS]);
	expect_control(words, E2BIG);
	self_expect("hooks: functions in the full list afterwards", nr_hooks(), MOST_HOOKS);
	sprintf(words, "unhook=%s hook=%s", name[0], name[MOST_HOOKS]);
	expect_control(words, 0);
	expect_state(name[0], "");
	self_expect("hooks: functions in the full list, one of them new", nr_hooks(), MOST_HOOKS);
	empty();
	self_expect("hooks: functions in the empty list", nr_hooks(), 0);
	expect_control("unhook=*", ENOENT);
}

int main(void)
{
	self_open();
	compare();
	calls();
	refusals();
	sleeper();
	unprivileged();
	limit();
	self_close();
	return tap_done();
}
