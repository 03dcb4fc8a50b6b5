// SPDX-License-Identifier: GPL-2.0-only
/* The assembler includes the files, which works with every compiler and architecture. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

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

/* A name that is neither a file nor a built-in view may be that of one with an error. */
static bool fail_unknown(const char *name)
{
	unsigned int best = (unsigned int)strlen(name) / 2 + 1, distance;
	const struct view_builtin *b, *nearest = NULL;

	for (b = view_builtins; b->name; b++) {
		distance = view_distance(name, b->name);
		if (distance < best) {
			best = distance;
			nearest = b;
		}
	}
	complain("there is no built-in view and no file '%s'%s%s%s", name,
		 nearest ? "; did you mean '" : "", nearest ? nearest->name : "",
		 nearest ? "'?" : "");
	return false;
}

bool view_open(struct view_rules *view, const char *name)
{
	const struct view_builtin *b;

	for (b = view_builtins; b->name; b++)
		if (!strcmp(b->name, name))
			return view_parse(view, name, b->text, strlen(b->text));
	if (!strchr(name, '/') && access(name, F_OK) && errno == ENOENT)
		return fail_unknown(name);
	return view_read(view, name);
}
