// SPDX-License-Identifier: GPL-2.0-only
/*
 * functions_throw: exceptions through functions that were compiled with -finstrument-functions,
 * and through scopes of libktau-user in them.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <ktau_user.h>

static __attribute__((noinline)) void thrower(int deep)
{
	if (!deep)
		throw deep;
	KTAU_USER_SCOPE("scope");
	thrower(deep - 1);
	syscall(SYS_getuid);
}

static __attribute__((noinline)) void catcher()
{
	for (int i = 0; i < 100; i++) {
		try {
			thrower(20);
		} catch (int) {
			syscall(SYS_getppid);
		}
	}
}

extern "C" __attribute__((noinline)) void inner()
{
	for (int i = 0; i < 7; i++)
		syscall(SYS_getgid);
}

/* The scope is inside this function, and the function inner() inside the scope. */
extern "C" __attribute__((noinline)) void mixed()
{
	syscall(SYS_geteuid);
	KTAU_USER_SCOPE("part");
	syscall(SYS_getegid);
	inner();
	syscall(SYS_getegid);
}

int main()
{
	catcher();
	for (int i = 0; i < 5; i++)
		mixed();
	return 0;
}
