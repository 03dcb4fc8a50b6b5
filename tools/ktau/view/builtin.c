// SPDX-License-Identifier: GPL-2.0-only
/* The assembler includes the files, which works with every compiler and architecture. */
#include <stdint.h>
#include <string.h>

#include "lib/cli.h"
#include "builtin.h"
#include "language.h"
#include "rules.h"

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

bool view_is_builtin(const char *name)
{
	const struct view_builtin *b = view_builtins;

	while (b->name && strcmp(b->name, name))
		b++;
	return b->name;
}

bool view_read_builtin(struct view_rules *view, const char *name)
{
	unsigned int best = UINT32_MAX, distance;
	const char *nearest = "";
	size_t i;

	for (i = 0; view_builtins[i].name; i++) {
		if (!strcmp(view_builtins[i].name, name))
			return view_parse(view, name, view_builtins[i].text,
					  strlen(view_builtins[i].text));
		distance = view_distance(name, view_builtins[i].name);
		if (distance < best) {
			best = distance;
			nearest = view_builtins[i].name;
		}
	}
	complain("there is no built-in view '%s'; did you mean '%s'?", name, nearest);
	return false;
}
