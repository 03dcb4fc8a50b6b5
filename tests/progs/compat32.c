// SPDX-License-Identifier: GPL-2.0-only
/*
 * compat32: a 32-bit program that makes known numbers of system calls, by int $0x80,
 * without a C library.
 *
 *	10,000 getppid (64), 1,000 geteuid32 (201), 100 gettid (224), 1 exit (1)
 */
#define NR_EXIT 1
#define NR_GETPPID 64
#define NR_GETEUID32 201
#define NR_GETTID 224

void _start(void);

static int call(int nr, int arg)
{
	int ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(arg)
			 : "memory");
	return ret;
}

void _start(void)
{
	int i, sum = 0;

	for (i = 0; i < 10000; i++)
		sum |= call(NR_GETPPID, 0);
	for (i = 0; i < 1000; i++)
		call(NR_GETEUID32, 0);
	for (i = 0; i < 100; i++)
		sum |= call(NR_GETTID, 0);
	call(NR_EXIT, sum <= 0);
	for (;;)
		;
}
