// SPDX-License-Identifier: GPL-2.0-only
/* The assembler includes the files, which works with every compiler and architecture. */
#include "builtin.h"

#define VIEW(name)                                             \
	extern const char view_##name[];                       \
	__asm__(".pushsection .rodata\n"                       \
		".global view_" #name "\n"                     \
		"view_" #name ":\n"                            \
		".incbin \"tools/ktau/view/" #name ".view\"\n" \
		".byte 0\n"                                    \
		".popsection\n")

VIEW(cpus);
VIEW(locks);
VIEW(mpi);
VIEW(waits);

const struct view_builtin view_builtins[] = {
	{ "cpus", view_cpus },
	{ "locks", view_locks },
	{ "mpi", view_mpi },
	{ "waits", view_waits },
	{ 0 },
};
