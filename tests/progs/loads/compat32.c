// SPDX-License-Identifier: GPL-2.0-only
/*
 * compat32: a 32-bit program that makes known numbers of system calls, by int $0x80 or svc,
 * without a C library. The numbers are the same on i386 and ARM.
 *
 *	10,000 getppid (64), 1,000 geteuid32 (201), 100 gettid (224), 1 exit (1)
 *
 * On ARM also 100 set_tls, which is a private call, 10 calls that do not exist, and 100
 * breakpoints, each with a signal.
 */
#define NR_EXIT 1
#define NR_GETPPID 64
#define NR_GETEUID32 201
#define NR_GETTID 224

void _start(void);

#ifdef __arm__
#define NR_RT_SIGACTION 174
#define NR_SET_TLS 0xf0005
#define NR_NONE 0xf07ff
#define SIGTRAP 5
#define SA_SIGINFO 4

/* The program counter, as an index of the words of a ucontext. */
#define UCONTEXT_PC 23

struct action {
	void (*handler)(int sig, void *info, unsigned int *context);
	unsigned int flags;
	unsigned int restorer;
	unsigned int mask[2];
};

static int call4(int nr, int arg, const void *second, void *third, int fourth)
{
	register int r0 __asm__("r0") = arg;
	register const void *r1 __asm__("r1") = second;
	register void *r2 __asm__("r2") = third;
	register int r3 __asm__("r3") = fourth;
	register int r7 __asm__("r7") = nr;

	__asm__ volatile("svc #0"
			 : "+r"(r0)
			 : "r"(r1), "r"(r2), "r"(r3), "r"(r7)
			 : "memory");
	return r0;
}

static int call(int nr, int arg)
{
	return call4(nr, arg, 0, 0, 0);
}

/* Continue after the instruction. */
static void skip(int sig, void *info, unsigned int *context)
{
	(void)sig, (void)info;
	context[UCONTEXT_PC] += 4;
}

static void only_on_arm(void)
{
	const struct action action = { .handler = skip, .flags = SA_SIGINFO };
	int i;

	for (i = 0; i < 100; i++)
		call(NR_SET_TLS, 0);
	for (i = 0; i < 10; i++)
		call(NR_NONE, 0);
	if (call4(NR_RT_SIGACTION, SIGTRAP, &action, 0, sizeof(action.mask)))
		call(NR_EXIT, 1);
	/* The instruction bkpt */
	for (i = 0; i < 100; i++)
		__asm__ volatile(".long 0xe1200070");
}
#else
static int call(int nr, int arg)
{
	int ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(arg)
			 : "memory");
	return ret;
}

static void only_on_arm(void)
{
}
#endif

void _start(void)
{
	int i, sum = 0;

	for (i = 0; i < 10000; i++)
		sum |= call(NR_GETPPID, 0);
	for (i = 0; i < 1000; i++)
		call(NR_GETEUID32, 0);
	for (i = 0; i < 100; i++)
		sum |= call(NR_GETTID, 0);
	only_on_arm();
	call(NR_EXIT, sum <= 0);
	for (;;)
		;
}
