// SPDX-License-Identifier: LGPL-2.1-or-later
/* The source in a build with libbpf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf.h"
#include "ktau_bpf.h"

int ktau_reader_open_bpf(struct ktau_reader *reader, const struct ktau_bpf_options *options,
			 const struct ktau_query *query)
{
	static const struct ktau__bpf_source source = {
		.create = ktau__bpf_create,
		.share = ktau__bpf_share,
		.compose = ktau__bpf_compose,
		.destroy = ktau__bpf_destroy,
	};

	return ktau__reader_open_bpf(reader, &source, options, query);
}

int ktau_bpf_permitted(void)
{
	struct ktau__error error = { 0 };

	return ktau__bpf_check_rights(&error);
}

bool ktau_bpf_available(void)
{
	return !access("/sys/kernel/btf/vmlinux", F_OK);
}

/* The programs find the run queues by the name of the variable. */
const char *ktau_bpf_missing(void)
{
	static const char variable[] = " runqueues\n";
	FILE *names = fopen("/proc/kallsyms", "re");
	char *line = NULL, *name;
	bool found = false;
	size_t room = 0;

	if (!names)
		return "CONFIG_KALLSYMS";
	while (!found && getline(&line, &room, names) > 0) {
		name = strrchr(line, ' ');
		found = name && !strcmp(name, variable);
	}
	free(line);
	fclose(names);
	return found ? NULL : "CONFIG_KALLSYMS_ALL";
}
