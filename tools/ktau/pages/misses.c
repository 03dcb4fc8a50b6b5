// SPDX-License-Identifier: GPL-2.0-only
/*
 * LRU is computed for all sizes while the trace is read. The other policies need the whole string
 * of references: OPT because it looks ahead, FIFO and CLOCK because the default sizes depend on
 * the number of pages.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "distances.h"
#include "lib/cli.h"
#include "memories.h"
#include "misses.h"
#include "numbering.h"
#include "policies.h"

/* Curves hold from this many windows on. */
enum { WINDOWS = 3, FIRST_SIZE = 16 };

#define NOT_LRU	(~(1U << POLICY_LRU))

const char *const policy_words[] = { "lru", "fifo", "clock", "opt", NULL };

enum { M_PROCESS,
       M_POLICY,
       M_PAGES,
       M_MARK,
       M_APPROXIMATE,
       M_REFERENCES,
       M_MISSES,
       M_ANON,
       M_FILE,
       M_RATIO,
       M_CURVE,
       M_NR };

static const struct column columns[M_NR] = {
	[M_PROCESS] = { "process", "process", COLUMN_TEXT },
	[M_POLICY] = { "policy", "policy", COLUMN_TEXT },
	[M_PAGES] = { "pages", "pages", COLUMN_SMALL },
	[M_MARK] = { NULL, "", COLUMN_TEXT },
	[M_APPROXIMATE] = { "approximate", NULL, COLUMN_SMALL },
	[M_REFERENCES] = { "references", NULL, COLUMN_NUMBER },
	[M_MISSES] = { "misses", "misses", COLUMN_NUMBER },
	[M_ANON] = { "compulsory_anonymous", NULL, COLUMN_SMALL },
	[M_FILE] = { "compulsory_file", NULL, COLUMN_SMALL },
	[M_RATIO] = { "miss_ratio", "ratio", COLUMN_SHARE },
	[M_CURVE] = { NULL, "", COLUMN_TEXT },
};

/**
 * struct memory - the memory of a process, or of all
 * @pages: its pages
 * @distances: for LRU
 * @string: for the other policies
 * @room: for how many references @string has room
 */
struct memory {
	struct numbering pages;
	struct distances distances;
	struct page_string string;
	uint32_t room;
};

/**
 * struct misses - a simulation
 * @o: what to simulate
 * @memories: one for each process
 * @is_split: it is known which pages belong to files
 * @window: size of the window that the trace was recorded with; 0: unknown
 * @table: the result
 */
struct misses {
	const struct misses_options *o;
	struct memories memories;
	bool is_split;
	uint32_t window;
	struct table table;
};

static void *begin(const struct consumer_setup *setup)
{
	struct misses *s = cli_alloc(NULL, 1, sizeof(*s));

	*s = (struct misses){ .o = setup->data, .is_split = true };
	s->memories.size = sizeof(struct memory);
	s->memories.per_process = s->o->per_process;
	return s;
}

static int keep(struct page_string *s, uint32_t *room, uint32_t page)
{
	if (s->nr == STRING_NEVER - 1) {
		complain("more than %u references; only --policy=lru has no limit",
			 STRING_NEVER - 1);
		return -1;
	}
	if (s->nr == *room) {
		*room = *room ? *room + (*room < STRING_NEVER / 2 ? *room : STRING_NEVER - *room) :
				1 << 16;
		s->pages = cli_alloc(s->pages, *room, sizeof(*s->pages));
	}
	s->pages[s->nr++] = page;
	return 0;
}

static int take_record(void *state, const struct page_record *r)
{
	struct misses *s = state;
	struct memory *m;
	uint32_t page;

	if (r->kind == PAGE_LOST)
		return 0;
	s->is_split &= !r->maybe_of_file;
	m = memories_get(&s->memories, r);
	if (numbering_get(&m->pages, r->number, r->of_file, &page))
		return -1;
	distances_touch(&m->distances, page);
	return s->o->policies & NOT_LRU ? keep(&m->string, &m->room, page) : 0;
}

static int take_event(void *state, uint8_t type, uint64_t ticks, const void *payload)
{
	struct misses *s = state;
	const struct ktau_slot_phase *phase = payload;

	(void)ticks;
	if (type == KTAU_TRACE_PHASE && phase->window > s->window)
		s->window = phase->window;
	return 0;
}

static uint64_t misses_of(const struct memory *m, enum page_policy policy, uint32_t size)
{
	switch (policy) {
	case POLICY_FIFO:
		return fifo_misses(&m->string, size);
	case POLICY_CLOCK:
		return clock_misses(&m->string, size);
	case POLICY_OPT:
		return opt_misses(&m->string, size);
	default:
		return distances_misses(&m->distances, size);
	}
}

static void add_row(struct misses *s, size_t i, enum page_policy policy, uint32_t size)
{
	const struct memory *m = s->memories.states[i];
	uint64_t compulsory = m->pages.nr, references = m->distances.references, misses;
	bool is_approximate = size < (uint64_t)WINDOWS * s->window;
	union cell *row = table_row(&s->table);

	misses = misses_of(m, policy, size);
	row[M_PROCESS].text = s->memories.names[i];
	row[M_POLICY].text = policy_words[policy];
	row[M_PAGES].number = size;
	row[M_MARK].text = is_approximate ? "~" : "";
	row[M_APPROXIMATE].number = is_approximate;
	row[M_REFERENCES].number = references;
	row[M_MISSES].number = misses;
	row[M_ANON].number = s->is_split ? compulsory - m->pages.nr_files : CELL_NONE;
	row[M_FILE].number = s->is_split ? m->pages.nr_files : CELL_NONE;
	row[M_RATIO].share = (double)misses / (double)references;
}

/* The default sizes: powers of two, up to one that all pages fit into. */
static void add_powers(struct misses *s, size_t i, enum page_policy policy)
{
	const struct memory *m = s->memories.states[i];
	uint64_t size;

	for (size = FIRST_SIZE; size < m->pages.nr; size *= 2)
		add_row(s, i, policy, (uint32_t)size);
	add_row(s, i, policy, (uint32_t)size);
}

/* Draw the misses that are not compulsory in the rows from @first on. */
static void draw_curve(struct misses *s, size_t first, uint64_t compulsory)
{
	uint64_t largest = 0;
	union cell *row;
	size_t i;
	char *bar;

	for (i = first; i < s->table.nr_rows; i++) {
		row = s->table.cells + i * M_NR;
		if (row[M_MISSES].number - compulsory > largest)
			largest = row[M_MISSES].number - compulsory;
	}
	for (i = first; i < s->table.nr_rows; i++) {
		row = s->table.cells + i * M_NR;
		bar = cli_alloc(NULL, CURVE_BYTES, 1);
		curve_bar(bar, row[M_MISSES].number - compulsory, largest);
		row[M_CURVE].text = bar;
	}
}

static void add_rows(struct misses *s, size_t i)
{
	struct memory *m = s->memories.states[i];
	size_t k, first = s->table.nr_rows;
	unsigned int policy;

	m->string.nr_pages = m->pages.nr;
	if (s->o->policies & 1U << POLICY_OPT)
		string_link(&m->string);
	for (policy = 0; policy < NR_POLICIES; policy++) {
		if (!(s->o->policies & 1U << policy))
			continue;
		if (!s->o->sizes)
			add_powers(s, i, policy);
		for (k = 0; k < s->o->nr_sizes; k++)
			add_row(s, i, policy, s->o->sizes[k]);
	}
	draw_curve(s, first, m->pages.nr);
}

/* What the table does not say. */
static void print_notes(const struct misses *s)
{
	const struct memory *m;
	size_t i;

	for (i = 0; i < s->memories.nr; i++) {
		m = s->memories.states[i];
		printf("%s: %" PRIu64 " references to %" PRIu32 " pages", s->memories.names[i],
		       m->distances.references, m->pages.nr);
		if (s->is_split)
			printf(": %" PRIu32 " anonymous, %" PRIu32 " of files",
			       m->pages.nr - m->pages.nr_files, m->pages.nr_files);
		putchar('\n');
	}
	if (s->window)
		printf("window: %" PRIu32 " pages; ~ marks sizes below %d windows\n", s->window,
		       WINDOWS);
	putchar('\n');
}

static void print(struct misses *s)
{
	size_t i;

	table_init(&s->table, "misses", columns, M_NR);
	if (!s->o->per_process)
		s->table.absent = s->table.hidden = 1ULL << M_PROCESS;
	for (i = 0; i < s->memories.nr; i++)
		add_rows(s, i);
	if (s->o->format == FORMAT_TEXT)
		print_notes(s);
	table_print(&s->table, s->o->format, stdout);
	for (i = 0; i < s->table.nr_rows; i++)
		free((char *)s->table.cells[i * M_NR + M_CURVE].text);
	table_deinit(&s->table);
}

static int end(void *state)
{
	struct misses *s = state;
	struct memory *m;
	size_t i;

	if (s->memories.nr)
		print(s);
	for (i = 0; i < s->memories.nr; i++) {
		m = s->memories.states[i];
		numbering_deinit(&m->pages);
		distances_deinit(&m->distances);
		free(m->string.pages);
		free(m->string.next);
	}
	memories_deinit(&s->memories);
	free(s);
	return 0;
}

const struct consumer misses_consumer = {
	.name = "misses",
	.needs_references = true,
	.begin = begin,
	.record = take_record,
	.event = take_event,
	.end = end,
};
