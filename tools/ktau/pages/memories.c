// SPDX-License-Identifier: GPL-2.0-only
/* What is simulated for each process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "memories.h"

static char *name_of(const struct memories *m, const struct page_process *p)
{
	char name[40] = "all";

	if (p)
		snprintf(name, sizeof(name), "%" PRId32 "-%" PRIu64, p->pid, p->serial);
	else if (m->per_process)
		strcpy(name, "unknown");
	return strdup(name);
}

void *memories_get(struct memories *m, const struct page_record *r)
{
	const struct page_process *p = m->per_process && r->thread ? r->thread->process : NULL;
	uint64_t serial = p ? p->serial : 0;
	uintptr_t known = hash_get(&m->by_serial, serial);

	if (known)
		return m->states[known - 1];
	m->states = cli_alloc(m->states, m->nr + 1, sizeof(*m->states));
	m->names = cli_alloc(m->names, m->nr + 1, sizeof(*m->names));
	m->names[m->nr] = name_of(m, p);
	m->states[m->nr] = cli_alloc(NULL, 1, m->size);
	memset(m->states[m->nr], 0, m->size);
	hash_put(&m->by_serial, serial, ++m->nr);
	return m->states[m->nr - 1];
}

void memories_deinit(struct memories *m)
{
	size_t i;

	for (i = 0; i < m->nr; i++) {
		free(m->states[i]);
		free(m->names[i]);
	}
	free(m->states);
	free(m->names);
	hash_deinit(&m->by_serial);
}

void curve_bar(char bar[CURVE_BYTES], uint64_t part, uint64_t whole)
{
	size_t length = 0;

	if (whole)
		length = (size_t)((double)part / (double)whole * (CURVE_BYTES - 1) + 0.5);
	memset(bar, '#', length);
	bar[length] = '\0';
}
