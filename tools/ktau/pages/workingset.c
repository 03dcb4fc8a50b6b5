// SPDX-License-Identifier: GPL-2.0-only
/*
 * Denning's working set: the pages used in the last tau. A row has the sets at one moment; the
 * first moment is an interval after the first reference, the last one is not before the last
 * reference. A time that goes back is taken as the latest time before it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "memories.h"
#include "recent.h"
#include "workingset.h"

/* Far more than anybody looks at; a damaged time would otherwise fill the memory. */
enum { ROWS_MAX = 1000000 };

enum { W_PROCESS,
       W_TIME,
       W_TAU,
       W_PAGES,
       W_ANON,
       W_FILE,
       W_CURVE,
       W_NR };

static const struct column columns[W_NR] = {
	[W_PROCESS] = { "process", "process", COLUMN_TEXT },
	[W_TIME] = { "time_ns", "time ms", COLUMN_NS },
	[W_TAU] = { "tau_ns", "tau ms", COLUMN_NS },
	[W_PAGES] = { "pages", "pages", COLUMN_SMALL },
	[W_ANON] = { "anonymous", "anonymous", COLUMN_SMALL },
	[W_FILE] = { "file", "of files", COLUMN_SMALL },
	[W_CURVE] = { NULL, "", COLUMN_TEXT },
};

/* A row of the table. */
struct sample {
	uint64_t time_ns, tau_ns;
	uint32_t memory;
	uint32_t nr, nr_files;
};

/**
 * struct memory - the pages of a process, or of all
 * @recent: the pages
 * @started: @recent is initialised
 */
struct memory {
	struct recent recent;
	bool started;
};

/**
 * struct workingset - a simulation
 * @o: what to simulate
 * @interval_ns: time between two samples
 * @memories: one for each process
 * @started: there was a reference
 * @is_split: it is known which pages belong to files
 * @now_ns: time of the last reference
 * @next_ns: time of the next sample
 * @samples: samples so far
 * @nr_samples: their number
 * @room: for how many there is room
 */
struct workingset {
	const struct workingset_options *o;
	uint64_t interval_ns;
	struct memories memories;
	bool started, is_split;
	uint64_t now_ns, next_ns;
	struct sample *samples;
	size_t nr_samples, room;
};

static void *begin(const struct consumer_setup *setup)
{
	struct workingset *w = cli_alloc(NULL, 1, sizeof(*w));
	unsigned int i;

	*w = (struct workingset){ .o = setup->data, .is_split = true };
	w->interval_ns = w->o->interval_ns;
	for (i = 0; i < w->o->nr_taus && !w->o->interval_ns; i++)
		if (w->o->tau_ns[i] > w->interval_ns)
			w->interval_ns = w->o->tau_ns[i];
	w->memories.size = sizeof(struct memory);
	w->memories.per_process = w->o->per_process;
	return w;
}

static void sample_set(struct workingset *w, size_t memory, unsigned int i)
{
	struct memory *m = w->memories.states[memory];
	uint64_t tau = w->o->tau_ns[i];
	const struct recent_set *set = &m->recent.sets[i];

	if (w->next_ns >= tau)
		recent_expire(&m->recent, i, w->next_ns - tau);
	if (w->nr_samples == w->room) {
		w->room = w->room ? w->room * 2 : 1024;
		w->samples = cli_alloc(w->samples, w->room, sizeof(*w->samples));
	}
	w->samples[w->nr_samples++] = (struct sample){
		w->next_ns, tau, (uint32_t)memory, set->nr, set->nr_files,
	};
}

/* Take a sample of all processes. Return: 0, or -1 with a message. */
static int sample(struct workingset *w)
{
	unsigned int i;
	size_t memory;

	for (memory = 0; memory < w->memories.nr; memory++)
		for (i = 0; i < w->o->nr_taus; i++)
			sample_set(w, memory, i);
	if (w->nr_samples > ROWS_MAX || w->next_ns > UINT64_MAX - w->interval_ns) {
		complain("more than %d rows: give a longer --interval", ROWS_MAX);
		return -1;
	}
	w->next_ns += w->interval_ns;
	return 0;
}

static void start(struct workingset *w, uint64_t now_ns)
{
	w->started = true;
	w->now_ns = now_ns;
	w->next_ns = now_ns + w->interval_ns;
	if (w->next_ns < now_ns)
		w->next_ns = UINT64_MAX;
}

static int take_record(void *state, const struct page_record *r)
{
	struct workingset *w = state;
	struct memory *m;

	if (r->kind == PAGE_LOST)
		return 0;
	if (!w->started)
		start(w, r->time);
	if (r->time > w->now_ns)
		w->now_ns = r->time;
	while (w->next_ns < w->now_ns)
		if (sample(w))
			return -1;
	w->is_split &= !r->maybe_of_file;
	m = memories_get(&w->memories, r);
	if (!m->started) {
		recent_init(&m->recent, w->o->nr_taus);
		m->started = true;
	}
	return recent_touch(&m->recent, r->number, r->of_file, w->now_ns);
}

static void add_rows(const struct workingset *w, struct table *t)
{
	const struct sample *s;
	uint32_t largest = 0;
	union cell *row;
	char *bar;
	size_t i;

	for (i = 0; i < w->nr_samples; i++)
		if (w->samples[i].nr > largest)
			largest = w->samples[i].nr;
	for (i = 0; i < w->nr_samples; i++) {
		s = &w->samples[i];
		bar = cli_alloc(NULL, CURVE_BYTES, 1);
		curve_bar(bar, s->nr, largest);
		row = table_row(t);
		row[W_PROCESS].text = w->memories.names[s->memory];
		row[W_TIME].number = s->time_ns;
		row[W_TAU].number = s->tau_ns;
		row[W_PAGES].number = s->nr;
		row[W_ANON].number = w->is_split ? s->nr - s->nr_files : CELL_NONE;
		row[W_FILE].number = w->is_split ? s->nr_files : CELL_NONE;
		row[W_CURVE].text = bar;
	}
}

static void print(const struct workingset *w)
{
	struct table t;
	size_t i;

	table_init(&t, "workingset", columns, W_NR);
	if (!w->o->per_process)
		t.absent = t.hidden = 1ULL << W_PROCESS;
	if (!w->is_split)
		t.hidden |= 1ULL << W_ANON | 1ULL << W_FILE;
	add_rows(w, &t);
	table_print(&t, w->o->format, stdout);
	for (i = 0; i < t.nr_rows; i++)
		free((char *)t.cells[i * W_NR + W_CURVE].text);
	table_deinit(&t);
}

static int end(void *state)
{
	struct workingset *w = state;
	int err = w->started ? sample(w) : 0;
	struct memory *m;
	size_t i;

	if (!err && w->started)
		print(w);
	for (i = 0; i < w->memories.nr; i++) {
		m = w->memories.states[i];
		recent_deinit(&m->recent);
	}
	memories_deinit(&w->memories);
	free(w->samples);
	free(w);
	return err;
}

const struct consumer workingset_consumer = {
	.name = "workingset",
	.needs_references = true,
	.begin = begin,
	.record = take_record,
	.end = end,
};
