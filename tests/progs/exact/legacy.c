// SPDX-License-Identifier: GPL-2.0-only
/*
 * legacy MAP: a client of libktau-legacy that works as TAU does, with work whose figures are
 * known. MAP is a symbol file of "ktau events --format=tau".
 *
 * It sees the installed headers of libktau-legacy and nothing else of KTAU.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ktau/ktau_cont_data.h>
#include <ktau_proc_interface.h>

#include "tap.h"

enum { CALLS = 1000, OPENS = 7, CHILDREN = 300, THREAD_CALLS = 50, FOO = 123 };

/* Names by the low 32 bits of their address, as TAU keeps them; the last one counts. */
static struct {
	unsigned int addr;
	char name[64];
} symbols[1 << 18];
static int nr_symbols;

struct profiles {
	ktau_output *list;
	long nr;
};

static pid_t children[CHILDREN];
static pid_t thread_tid;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static void expect(const char *what, unsigned long long got, unsigned long long want)
{
	tap_ok(got == want, "%s: %llu of %llu", what, got, want);
}

/* TAU reads up to an _etext that is not a function, and fails if the file ends before it. */
static void load_map(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long long addr;
	char type, name[64];

	if (!file)
		die(path);
	while (fscanf(file, "%llx %c %63s", &addr, &type, name) == 3 && type == 'T') {
		symbols[nr_symbols].addr = addr;
		strcpy(symbols[nr_symbols++].name, name);
		if (nr_symbols == sizeof(symbols) / sizeof(symbols[0]))
			break;
	}
	tap_ok(nr_symbols && type == 'A' && !strcmp(name, "_etext"),
	       "symbol file: %d names, then _etext", nr_symbols);
	fclose(file);
}

static const char *name_of(unsigned int addr)
{
	int i = nr_symbols;

	while (i--)
		if (symbols[i].addr == addr)
			return symbols[i].name;
	return "";
}

static unsigned long address_of(const char *name)
{
	int i = nr_symbols;

	while (i--)
		if (!strcmp(symbols[i].name, name))
			return symbols[i].addr;
	return 0;
}

static struct profiles take(void)
{
	ktau_output *list;
	int all = 0;
	long size = read_size(KTAU_TYPE_PROFILE, 0, &all, 0, 0, NULL, -1);
	char *buffer, *copy;
	struct profiles p;

	if (size <= 0)
		die("read_size");
	buffer = malloc(size * sizeof(ktau_output));
	copy = malloc(size * sizeof(ktau_output));
	if (!buffer || !copy)
		die("malloc");
	if (read_data(KTAU_TYPE_PROFILE, 0, &all, 0, buffer, size, 0, NULL) <= 0)
		die("read_data");
	memcpy(copy, buffer, size * sizeof(ktau_output));
	p.nr = unpack_bindata(KTAU_TYPE_PROFILE, copy, size * sizeof(ktau_output), &list);
	if (p.nr < 0)
		die("unpack_bindata");
	p.list = list;
	free(buffer);
	free(copy);
	return p;
}

static void put(struct profiles p)
{
	while (p.nr--)
		free(p.list[p.nr].ent_lst);
	free(p.list);
}

static const ktau_output *profile_of(struct profiles p, pid_t pid)
{
	long i;

	for (i = 0; i < p.nr; i++)
		if (p.list[i].pid == pid)
			return p.list + i;
	return NULL;
}

static unsigned long long count_of(const ktau_output *p, const char *name)
{
	unsigned int i;

	for (i = 0; p && i < p->size; i++)
		if (!strcmp(name_of(p->ent_lst[i].entry.addr), name))
			return p->ent_lst[i].entry.data.timer.count;
	return 0;
}

static unsigned long long count_at(const ktau_output *p, unsigned int index)
{
	unsigned int i;

	for (i = 0; p && i < p->size; i++)
		if (p->ent_lst[i].index == index)
			return p->ent_lst[i].entry.data.timer.count;
	return 0;
}

static void *thread_main(void *arg)
{
	thread_tid = syscall(SYS_gettid);
	for (int i = 0; i < THREAD_CALLS; i++)
		syscall(SYS_getppid);
	return arg;
}

static void work(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	for (i = 0; i < OPENS; i++)
		syscall(SYS_pidfd_open, -1, 0);
	for (i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(0);
		if (children[i] < 0 || waitpid(children[i], NULL, 0) != children[i])
			die("fork");
	}
	if (pthread_create(&thread, NULL, thread_main, NULL))
		die("thread");
	pthread_join(thread, NULL);
}

/*
 * Whether TAU's own difference works: for each entry of the earlier list it searches the later
 * one, from the last match on, without checking for the end of that list.
 */
static bool ends_well(struct profiles start, struct profiles stop)
{
	const ktau_output *p;
	unsigned int j, k;
	long i, found = 0;

	for (i = 0; i < stop.nr; i++) {
		p = profile_of(start, stop.list[i].pid);
		found += !!p;
		for (j = 0, k = 0; p && j < p->size; k++) {
			if (k == stop.list[i].size)
				return false;
			if (p->ent_lst[j].index != stop.list[i].ent_lst[k].index)
				continue;
			if (p->ent_lst[j].entry.type != KTAU_TIMER ||
			    p->ent_lst[j].entry.addr != stop.list[i].ent_lst[k].entry.addr)
				return false;
			j++;
		}
	}
	return found == start.nr;
}

static void check_sum(struct profiles diff)
{
	o_ent entries[2048];
	ktau_output sum = { .ent_lst = entries };
	unsigned long long getppid_calls = 0;
	long i;

	for (i = 0; i < diff.nr; i++)
		getppid_calls += count_at(&diff.list[i], SYS_getppid);
	expect("sum of all tasks: status", aggr_many_profiles(diff.list, diff.nr, 2048, &sum), 0);
	expect("sum of all tasks: getppid", count_at(&sum, SYS_getppid), getppid_calls);
}

static void profiles(void)
{
	struct profiles start = take(), stop, diff;
	int i, exits = 0;

	work();
	stop = take();
	tap_ok(ends_well(start, stop), "TAU's own difference accepts lists of %ld and %ld tasks",
	       start.nr, stop.nr);
	diff.nr = ktau_diff_profiles(start.list, start.nr, stop.list, stop.nr, &diff.list);
	expect("difference: tasks", diff.nr, stop.nr);
	expect("getppid", count_of(profile_of(diff, getpid()), "sys_getppid"), CALLS);
	expect("getppid by index", count_at(profile_of(diff, getpid()), SYS_getppid), CALLS);
	expect("pidfd_open, above the user events",
	       count_at(profile_of(diff, getpid()), 65536 + SYS_pidfd_open), OPENS);
	expect("getppid of a thread that has ended", count_of(profile_of(diff, thread_tid),
							      "sys_getppid"), THREAD_CALLS);
	for (i = 0; i < CHILDREN; i++)
		exits += count_at(profile_of(diff, children[i]), SYS_exit_group) == 1;
	expect("processes that started and exited between the readings", exits, CHILDREN);
	check_sum(diff);
	put(start);
	put(stop);
	put(diff);
}

/* Read the metrics KTAU_NUM_, KTAU_INCL_ and KTAU_ of getppid before and after a function. */
static void counters(void)
{
	static int types[] = { KTAU_SHCTR_TYPE_NUM, KTAU_SHCTR_TYPE_INCL, KTAU_SHCTR_TYPE_EXCL };
	unsigned long addr = address_of("sys_getppid"), syms[] = { addr, addr, addr };
	unsigned long long before[3], after[3];
	ktau_ush_ctr *counter;
	ktau_ushcont *container;
	bool rounded = geteuid();	/* differences of whole microseconds vary by one */
	int i;

	container = ktau_add_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, 2000);
	if (!container || ktau_get_counter(container, "KTAU_MULTICTR", 3, syms, &counter))
		die("counter");
	syscall(SYS_getppid);
	expect("counter: status", ktau_copy_counter_type(counter, before, 3, types), 0);
	expect("counter: calls since it was made", before[0], 1);
	for (i = 0; i < FOO; i++)
		syscall(SYS_getppid);
	expect("counter: status", ktau_copy_counter_type(counter, after, 3, types), 0);
	expect("counter: calls", after[0] - before[0], FOO);
	tap_ok(after[1] >= before[1] && after[2] >= before[2] &&
		       (rounded || after[2] - before[2] <= after[1] - before[1]),
	       "counter: exclusive and inclusive times, %llu and %llu", after[2] - before[2],
	       after[1] - before[1]);
	ktau_put_counter(counter);
	expect("container", ktau_del_container(KTAU_TYPE_PROFILE, 1, NULL, 0, NULL, container), 0);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: legacy MAP\n");
		return 2;
	}
	load_map(argv[1]);
	profiles();
	counters();
	return tap_done();
}
