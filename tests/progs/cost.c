// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost: measure the cost that KTAU adds to a system call and to a page fault, in ticks of the
 * cycle counter. Under QEMU's -icount, on one CPU, these are instructions, the same in each run.
 *
 * Prints "figure<TAB>NAME<TAB>VALUE<TAB>instructions". A kernel without KTAU gives
 * getppid_bare and page_fault_bare. On a kernel with KTAU, KTAU must not have been enabled
 * before; that state is the baseline, so its two nops for each pair of hooks do not count.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

/* A batch is short compared with the timer's period: most have no timer interrupt. */
#define CALLS 1000
#define BATCHES 100

#define CONTROL "/proc/ktau/control"

static char *page;

static void call(void)
{
	long nr = SYS_getppid;

	/* Not through the C library, whose instructions would count. */
	__asm__ volatile("syscall"
			 : "+a"(nr)
			 :
			 : "rcx", "r11", "memory");
}

static void fault(void)
{
	madvise(page, 4096, MADV_DONTNEED);
	*(volatile char *)page = 1;
}

/* Ticks for one call of @what, from the cheapest batch. */
static double cost(void (*what)(void))
{
	uint64_t best = UINT64_MAX;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t ticks = __rdtsc();

		for (int i = 0; i < CALLS; i++)
			what();
		ticks = __rdtsc() - ticks;
		if (ticks < best)
			best = ticks;
	}
	return (double)((best + CALLS / 2) / CALLS);
}

static void control(const char *words)
{
	int fd = open(CONTROL, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, words, strlen(words)) < 0) {
		fprintf(stderr, "cost: cannot write \"%s\" to " CONTROL ": %s\n", words,
			strerror(errno));
		exit(1);
	}
	close(fd);
}

static void show(const char *name, double value)
{
	printf("figure\t%s\t%g\tinstructions\n", name, value);
}

/* The measurements, in order, with the words that are written to control before each. */
static const struct step {
	const char *name;
	const char *words;
	void (*what)(void);
	double hooks; /* the added cost is divided by this number */
} steps[] = {
	{ "syscall_pair_profile", "groups=syscall", call, 1 },
	{ "syscall_pair_profile_trace", "trace=on", call, 1 },
	{ "fault_pair_profile", "trace=off groups=exception", fault, 1 },
	{ "fault_pair_profile_trace", "trace=on", fault, 1 },
	{ "hook_unselected", "trace=off groups=syscall filter=pid:", call, 2 },
	{ "hook_off_again", "groups=none filter=none", call, 2 },
	{ "syscall_pair_account", "groups=syscall,account", call, 1 },
	{ "fault_pair_account", "groups=exception,syscall,account", fault, 1 },
};

int main(void)
{
	bool ktau = access(CONTROL, F_OK) == 0;
	double bare_call, bare_fault;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		perror("cost: mmap");
		return 1;
	}
	bare_call = cost(call);
	bare_fault = cost(fault);
	show(ktau ? "getppid_never_on" : "getppid_bare", bare_call);
	show(ktau ? "page_fault_never_on" : "page_fault_bare", bare_fault);
	for (size_t i = 0; ktau && i < sizeof(steps) / sizeof(*steps); i++) {
		const struct step *step = &steps[i];
		double bare = step->what == call ? bare_call : bare_fault;

		control(step->words);
		show(step->name, (cost(step->what) - bare) / step->hooks);
	}
	if (ktau)
		show("getppid_off", cost(call));
	return 0;
}
