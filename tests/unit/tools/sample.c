// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample FOLDER: write files of the machine of machine.c, for tests and scripts that run the
 * programs on them: good.ktau, woken, partly, elsewhere and vms; and those of vm_example().
 */
#include <stdio.h>
#include <unistd.h>

#include "fixture.h"
#include "vm_files.h"

static int write_good(const char *path)
{
	return fixture_write(path, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*write)(const char *path);
	} files[] = {
		{ "good.ktau", write_good },
		{ "woken", fixture_write_woken },
		{ "partly", fixture_write_partly },
		{ "elsewhere", fixture_write_elsewhere },
		{ "vms", fixture_write_vms },
	};
	char path[4096];
	size_t i;

	if (argc != 2) {
		fputs("usage: sample FOLDER\n", stderr);
		return 2;
	}
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", argv[1], files[i].name);
		unlink(path);
		if (files[i].write(path)) {
			fprintf(stderr, "sample: cannot write %s\n", path);
			return 1;
		}
	}
	vm_example(argv[1]);
	return 0;
}
