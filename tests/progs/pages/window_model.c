// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "window_model.h"

static int take(int *list, int *nr)
{
	int page = list[0];

	memmove(list, list + 1, --*nr * sizeof(*list));
	return page;
}

static void pass_on(struct window_model *m)
{
	int page = take(m->fifo, &m->nr_fifo);

	m->again[page] = false;
	m->rest[m->nr_rest++] = page;
}

static void evict(struct window_model *m)
{
	int page, chances = m->clock ? m->size : 0;

	while (page = take(m->rest, &m->nr_rest), chances && m->again[page]) {
		chances--;
		m->again[page] = false;
		m->rest[m->nr_rest++] = page;
	}
	m->inside[page] = false;
}

enum model_reference model_touch(struct window_model *m, int page, bool store)
{
	if (m->inside[page]) {
		m->again[page] = true;
		if (!store || m->written[page])
			return MODEL_NONE;
		m->written[page] = true;
		return MODEL_FIRST_STORE;
	}
	m->inside[page] = true;
	m->written[page] = store;
	m->fifo[m->nr_fifo++] = page;
	if (m->nr_fifo > m->first)
		pass_on(m);
	if (m->nr_fifo + m->nr_rest > m->size)
		evict(m);
	return store ? MODEL_STORE : MODEL_LOAD;
}
