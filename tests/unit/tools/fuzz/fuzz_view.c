// SPDX-License-Identifier: GPL-2.0-only
/* Fuzz the parsers of views: the language, and XML for texts that begin with "<". */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "view/language.h"
#include "view/rules.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages are not kept. The fuzzer has its own stream. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	stderr = fopen("/dev/null", "we");
	cli_init("fuzz");
	return stderr ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view_rules view = { 0 };
	char *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	copy[size] = 0;
	view_parse_text(&view, "v", copy, size);
	view_deinit(&view);
	free(copy);
	return 0;
}
