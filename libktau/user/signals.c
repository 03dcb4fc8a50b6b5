// SPDX-License-Identifier: LGPL-2.1-or-later
/* Signals are blocked where a handler must not fork. */
#include <signal.h>

#include "user.h"

void ktau__block_signals(sigset_t *old)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	sigset_t set;
	size_t i;

	sigfillset(&set);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_BLOCK, &set, old);
}
