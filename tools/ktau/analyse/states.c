// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "lib/cli.h"
#include "states.h"

const char *states_own(struct states *s, char *text)
{
	if (!text) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	s->texts = cli_alloc(s->texts, s->nr_texts + 1, sizeof(*s->texts));
	s->texts[s->nr_texts++] = text;
	return text;
}

void states_deinit(struct states *s)
{
	while (s->nr_texts)
		free(s->texts[--s->nr_texts]);
	free(s->texts);
	free(s->names);
	free(s->rows);
	free(s->intervals);
	*s = (struct states){ 0 };
}
