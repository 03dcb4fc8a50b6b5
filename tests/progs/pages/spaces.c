// SPDX-License-Identifier: GPL-2.0-only
/*
 * spaces: what happens to an address space, with the slots about it in order, one case each.
 *
 * A slot is written as a letter, the page and the space: R a load, W a store, U a first store in
 * the window, C a copy on write, Z that of the zero page, M a move, X an unmapping; k by the
 * kernel, r by another process. +2 is the beginning of space 2, -2 its end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "tracer.h"

/**
 * struct space_case - a case
 * @name: its name
 * @pages: number of pages
 * @fresh: they have not been written before
 * @work: what is done
 * @watch: what the parent does meanwhile
 * @want: the slots
 */
struct space_case {
	const char *name;
	size_t pages;
	bool fresh;
	void (*work)(struct tracer *tracer);
	void (*watch)(struct tracer *tracer, pid_t child);
	const char *want;
};

static char *at(size_t page)
{
	return TRACER_BASE + page * TRACER_PAGE;
}

static void must(bool good)
{
	if (!good)
		_exit(1);
}

static void protect(size_t page, size_t pages, int prot)
{
	must(!mprotect(at(page), pages * TRACER_PAGE, prot)); /* NOLINT(bugprone-signal-handler) */
}

static void first_store(struct tracer *t)
{
	(void)t;
	load(0);
	load(0);
	store(0, 1);
	store(0, 2);
	store(1, 1);
	load(1);
}

static void zero_page(struct tracer *t)
{
	(void)t;
	load(0);
	store(0, 1);
}

static void wait_child(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid && !status);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set));
}

/* The last store is to a page that only the parent has, so it is not copied. */
static void fork_child_stores(struct tracer *t)
{
	pid_t pid;

	(void)t;
	store(0, 1);
	load(1);
	pid = fork();
	if (!pid) {
		load(0);
		store(0, 7);
		_exit(*at(0) != 7);
	}
	wait_child(pid);
	store(0, 9);
	must(*at(0) == 9);
}

static void fork_parent_stores(struct tracer *t)
{
	pid_t pid;
	int go[2];
	char c;

	(void)t;
	store(0, 1);
	must(!pipe(go));
	pid = fork();
	if (!pid) {
		must(read(go[0], &c, 1) == 1);
		_exit(*at(0) != 1);
	}
	store(0, 9);
	must(write(go[1], "", 1) == 1);
	wait_child(pid);
}

static void fork_child_stores_first(struct tracer *t)
{
	pid_t pid;

	(void)t;
	pid = fork();
	if (!pid) {
		store(2, 7);
		_exit(0);
	}
	wait_child(pid);
	load(2);
	must(*at(2) == 1);
}

static void read_into(struct tracer *t)
{
	int fd = open("/dev/zero", O_RDONLY);
	size_t i;

	(void)t;
	for (i = 0; i < 32; i++)
		load(i);
	must(read(fd, at(0), 2 * TRACER_PAGE) == 2 * TRACER_PAGE);
}

static void write_from(struct tracer *t)
{
	int ends[2];

	(void)t;
	must(!pipe(ends) && write(ends[1], at(1) - 8, 16) == 16);
}

static void protect_and_back(struct tracer *t)
{
	(void)t;
	load(0);
	protect(0, 4, PROT_READ);
	load(0);
	protect(0, 4, PROT_READ | PROT_WRITE);
	load(0);
	load(1);
	store(0, 1);
	store(1, 1);
}

static volatile int nr_signals;

static void on_segv(int signal)
{
	(void)signal;
	nr_signals++;
	protect(0, 1, PROT_READ | PROT_WRITE);
}

static void no_access(struct tracer *t)
{
	(void)t;
	signal(SIGSEGV, on_segv);
	load(0);
	protect(0, 1, PROT_NONE);
	load(0);
	load(1);
	must(nr_signals == 1);
}

static void unmap_and_map(struct tracer *t)
{
	(void)t;
	load(0);
	must(!munmap(at(0), TRACER_PAGE));
	must(mmap(at(0), TRACER_PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at(0));
	store(0, 1);
}

static void dont_need(struct tracer *t)
{
	(void)t;
	store(0, 1);
	must(!madvise(at(0), TRACER_PAGE, MADV_DONTNEED));
	load(0);
	must(!*at(0));
}

static void move(struct tracer *t)
{
	(void)t;
	load(0);
	load(1);
	must(mremap(at(0), 4 * TRACER_PAGE, 4 * TRACER_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		    at(8)) == at(8));
	load(8);
	load(9);
	load(10);
	load(8);
	must(*at(10) == 1);
}

static void grow_in_place(struct tracer *t)
{
	(void)t;
	must(mremap(at(0), 4 * TRACER_PAGE, 6 * TRACER_PAGE, 0) == at(0));
	store(5, 1);
}

static void *touch_elsewhere(void *arg)
{
	(void)arg;
	stay_on(1);
	load(0);
	return NULL;
}

static void two_cpus(struct tracer *t)
{
	pthread_t thread;
	size_t i;

	(void)t;
	stay_on(0);
	for (i = 0; i < 17; i++)
		load(i);
	must(!pthread_create(&thread, NULL, touch_elsewhere, NULL));
	must(!pthread_join(thread, NULL));
}

static void truncate_file(struct tracer *t)
{
	int fd = memfd_create("pages", 0);
	size_t i;

	(void)t;
	must(fd >= 0 && !ftruncate(fd, 4 * TRACER_PAGE));
	must(mmap(at(0), 4 * TRACER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	     at(0));
	for (i = 0; i < 3; i++)
		store(i, i);
	must(!ftruncate(fd, TRACER_PAGE) && !ftruncate(fd, 4 * TRACER_PAGE));
	load(0);
	load(1);
	must(!*at(1));
}

static void handle_signal(int signal)
{
	(void)signal;
	store(1, 1);
}

static void signal_stack(struct tracer *t)
{
	stack_t stack = { .ss_sp = at(4), .ss_size = 12 * TRACER_PAGE };
	struct sigaction action = { .sa_handler = handle_signal, .sa_flags = SA_ONSTACK };

	(void)t;
	must(!sigaltstack(&stack, NULL) && !sigaction(SIGUSR1, &action, NULL));
	raise(SIGUSR1);
}

static int go[2], done[2];

static void wait_for_remote(struct tracer *t)
{
	char c;

	(void)t;
	must(write(go[1], "", 1) == 1 && read(done[0], &c, 1) == 1);
	load(1);
}

static void read_remote(struct tracer *t, pid_t child)
{
	struct iovec to, from = { at(1), 8 };
	char c, buffer[8] = { 0 };

	(void)t;
	to.iov_base = buffer;
	to.iov_len = sizeof(buffer);
	must(read(go[0], &c, 1) == 1);
	must(process_vm_readv(child, &to, 1, &from, 1, 0) == 8 && buffer[0] == 1);
	must(write(done[1], "", 1) == 1);
}

static const struct space_case cases[] = {
	{ "a load, then a store", 4, false, first_store, NULL, "R0/1 U0/1 W1/1" },
	{ "the zero page, then a store", 4, true, zero_page, NULL, "R0/1 Z0/1 W0/1" },
	{ "a forked child stores", 4, false, fork_child_stores, NULL,
	  "W0/1 R1/1 +2 R0/2 C0/2 W0/2 -2" },
	{ "the parent stores while the child lives", 4, false, fork_parent_stores, NULL,
	  "W0/1 +2 C0/1 W0/1 R0/2 -2" },
	{ "a forked child stores first", 4, false, fork_child_stores_first, NULL,
	  "+2 C2/2 W2/2 -2 R2/1" },
	{ "read() into pages that have left the window", 32, false, read_into, NULL,
	  "R0/1 R1/1 R2/1 R3/1 R4/1 R5/1 R6/1 R7/1 R8/1 R9/1 R10/1 R11/1 R12/1 R13/1 R14/1 R15/1 "
	  "R16/1 R17/1 R18/1 R19/1 R20/1 R21/1 R22/1 R23/1 R24/1 R25/1 R26/1 R27/1 R28/1 R29/1 "
	  "R30/1 R31/1 W0k/1 W1k/1" },
	{ "write() across two pages", 4, false, write_from, NULL, "R0k/1 R1k/1" },
	{ "mprotect() to read-only and back", 4, false, protect_and_back, NULL,
	  "R0/1 R1/1 U0/1 U1/1" },
	{ "no access, and a handler of SIGSEGV", 4, false, no_access, NULL, "R0/1 R1/1" },
	{ "munmap() and mmap() at the same address", 4, false, unmap_and_map, NULL,
	  "R0/1 X0+1/1 W0/1" },
	{ "MADV_DONTNEED", 4, false, dont_need, NULL, "W0/1 X0+1/1 R0/1" },
	{ "mremap() to another place", 8, false, move, NULL, "R0/1 R1/1 M0+4>8/1 X0+4/1 R10/1" },
	{ "mremap() that extends", 4, false, grow_in_place, NULL, "W5/1" },
	{ "a page that was evicted on another CPU", 32, false, two_cpus, NULL,
	  "R0/1 R1/1 R2/1 R3/1 R4/1 R5/1 R6/1 R7/1 R8/1 R9/1 R10/1 R11/1 R12/1 R13/1 R14/1 R15/1 "
	  "R16/1 R0/1" },
	{ "ftruncate()", 4, false, truncate_file, NULL,
	  "X0+4/1 W0/1 W1/1 W2/1 X1+3/1 X1+3/1 R1/1" },
	{ "a signal handler on a stack of its own", 16, false, signal_stack, NULL, "W15k/1 W1/1" },
	{ "process_vm_readv()", 4, false, wait_for_remote, read_remote, "R1kr/1" },
};

static char letter(const struct tracer_slot *s)
{
	switch (s->type) {
	case KTAU_TRACE_REFERENCE:
		return s->flags & KTAU_REFERENCE_FIRST_STORE ? 'U' :
		       s->flags & KTAU_REFERENCE_WRITE	     ? 'W' :
							       'R';
	case KTAU_TRACE_COW:
		return s->flags & KTAU_REFERENCE_ZERO ? 'Z' : 'C';
	case KTAU_TRACE_UNMAP:
		return 'X';
	case KTAU_TRACE_MOVE:
		return 'M';
	}
	return '?';
}

static void print_space(FILE *out, const struct tracer_slot *s)
{
	if (s->space > 1)
		fprintf(out, "%c%u ", s->flags == KTAU_SPACE_END ? '-' : '+', s->space);
}

static void print(FILE *out, const struct tracer_slot *s)
{
	if (s->type == KTAU_TRACE_SPACE) {
		print_space(out, s);
		return;
	}
	fprintf(out, "%c%ld", letter(s), (long)s->page);
	if (s->pages)
		fprintf(out, "+%ld", (long)s->pages);
	if (s->type == KTAU_TRACE_MOVE)
		fprintf(out, ">%ld", (long)s->to);
	if (s->type == KTAU_TRACE_REFERENCE)
		fprintf(out, "%s%s", s->flags & KTAU_REFERENCE_KERNEL ? "k" : "",
			s->flags & KTAU_REFERENCE_REMOTE ? "r" : "");
	fprintf(out, "/%u ", s->space);
}

static char *list(const struct tracer *t)
{
	size_t bytes, i;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	for (i = 0; i < t->nr; i++)
		print(out, &t->slots[i]);
	fclose(out);
	if (bytes)
		text[bytes - 1] = '\0';
	return text;
}

static void run(const struct space_case *c)
{
	struct tracer t = {
		.request = { .window = 16,
			     .first = 8,
			     .ring_slots = 1 << 14,
			     .lo = (uintptr_t)at(0),
			     .hi = (uintptr_t)at(c->pages * 2) },
		.pages = c->pages,
		.touched = !c->fresh,
		.work = c->work,
		.watch = c->watch,
	};
	char *text;

	tracer_run(&t);
	text = list(&t);
	if (!tap_ok(!strcmp(text, c->want) && !t.status && !t.lost, "%s", c->name))
		printf("# want %s\n# have %s, status %x\n", c->want, text, t.status);
	free(text);
	tracer_free(&t);
}

int main(void)
{
	size_t i;

	must(!pipe(go) && !pipe(done));
	/* While a list of another CPU refers to a page, the kernel copies it without need. */
	stay_on(0);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		run(&cases[i]);
	return tap_done();
}
