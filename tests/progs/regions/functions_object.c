// SPDX-License-Identifier: GPL-2.0-only
/* A shared object with one function, called FUNCTION, for the program functions. */
#include <sys/syscall.h>
#include <unistd.h>

void FUNCTION(void);

void FUNCTION(void)
{
	int i;

	for (i = 0; i < 11; i++)
		syscall(SYS_getppid);
}
