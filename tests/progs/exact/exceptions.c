// SPDX-License-Identifier: GPL-2.0-only
/*
 * exceptions: cause each kind of exception a known number of times and compare with the
 * profile of the thread. For PowerPC and arm64, because the kinds depend on the processor.
 * Run with all groups enabled.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "self.h"
#include "tap.h"

#define STEPS 50

#ifdef __aarch64__
#define ILLEGAL_EVENT "do_undefinstr"
#define ODD_ADDRESS_EVENT "do_bad_area"
#define STEP_EVENT "do_debug_exception"
#define PROGRAM_COUNTER(uc) ((uc)->uc_mcontext.pc)
/* An exclusive load requires an aligned address. */
#define LOAD_WORD(word, address) \
	asm volatile("ldxr %w0, [%1]" : "=r"(word) : "r"(address) : "memory")
#else
#define ILLEGAL_EVENT "program_check_exception"
#define ODD_ADDRESS_EVENT "alignment_exception"
#define STEP_EVENT "DebugException"
#define PROGRAM_COUNTER(uc) ((uc)->uc_mcontext.uc_regs->gregs[32])
/* A load with reservation requires an address that is a multiple of four. */
#define LOAD_WORD(word, address) \
	asm volatile("lwarx %0,0,%1" : "=r"(word) : "r"(address) : "memory")
#endif

static volatile sig_atomic_t caught;

/* Continue after the instruction. */
static void skip(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig, (void)info;
	PROGRAM_COUNTER(uc) += 4;
	caught++;
}

static struct ktau_entry counted(struct ktau_rec_profile *before, const char *name)
{
	struct ktau_rec_profile *p = self_added(before, self_profile(0));
	struct ktau_entry entry = self_entry(p, name);

	ktau_record_free(p);
	return entry;
}

static void illegal_instructions(void)
{
	struct ktau_rec_profile *before = self_profile(0);

	caught = 0;
	for (int i = 0; i < 100; i++)
		asm volatile(".long 0");
	self_expect("100 illegal instructions",
		    counted(before, ILLEGAL_EVENT).count, 100);
	self_expect("100 signals for illegal instructions", (uint64_t)caught, 100);
}

static void odd_addresses(void)
{
	static uint32_t words[2];
	struct ktau_rec_profile *before = self_profile(0);
	uint32_t *odd = (uint32_t *)((char *)words + 1);

	caught = 0;
	for (int i = 0; i < 100; i++) {
		uint32_t word;

		LOAD_WORD(word, odd);
	}
	self_expect("100 odd addresses", counted(before, ODD_ADDRESS_EVENT).count, 100);
	self_expect("100 signals for odd addresses", (uint64_t)caught, 100);
}

/* The kernel reads a file into pages that the program has not touched. */
static void faults_in_the_kernel(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ktau_rec_profile *before;
	int zero = open("/dev/zero", O_RDONLY);
	char *fresh;

	if (zero < 0)
		self_die("/dev/zero", -errno);
	fresh = self_map_fresh(300 * page);
	before = self_profile(0);
	for (int i = 0; i < 300; i++)
		if (read(zero, fresh + (size_t)i * page, 1) != 1)
			self_die("/dev/zero", -errno);
	self_expect("300 page faults of the kernel",
		    counted(before, "page_fault_kernel").count, 300);
	self_unmap_fresh(fresh, 300 * page);
	close(zero);
}

static void step(pid_t child, int request)
{
	int status;

	if (ptrace(request, child, NULL, NULL) || waitpid(child, &status, 0) != child ||
	    !WIFSTOPPED(status))
		self_die("a step", -errno);
}

static void single_steps(void)
{
	struct ktau_rec_profile *before, *p;
	pid_t child = fork();
	int status;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (;;)
			;
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		self_die("fork", -errno);
	/*
	 * The child stops before it returns to user mode, so the last step before each of the
	 * profiles is still in flight if it has named the root frame.
	 */
	step(child, PTRACE_SINGLESTEP);
	before = self_profile(child);
	for (int i = 0; i < STEPS; i++)
		step(child, PTRACE_SINGLESTEP);
	p = self_added(before, self_profile(child));
	self_expect("50 single steps", self_entry(p, STEP_EVENT).count, STEPS);
	ktau_record_free(p);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const struct sigaction action = { .sa_sigaction = skip, .sa_flags = SA_SIGINFO };

	setvbuf(stdout, NULL, _IOLBF, 0);
	self_open();
	if (sigaction(SIGILL, &action, NULL) || sigaction(SIGBUS, &action, NULL))
		self_die("sigaction", -errno);
	illegal_instructions();
	odd_addresses();
	faults_in_the_kernel();
	single_steps();
	self_close();
	return tap_done();
}
