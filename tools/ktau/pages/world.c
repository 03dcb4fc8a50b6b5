// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page has the number of its file unless its space has one of its own for it: anonymous memory,
 * and private pages of a file after their first store. A fork copies the numbers of its parent.
 *
 * Mappings are only replaced, never removed, because UNMAP does not say whether the mapping went
 * too.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "maps.h"
#include "world.h"

enum { DEFAULT_SHIFT = 12, SHIFT_MAX = 30 };

/* One call of read(2) or write(2) is shorter. */
#define FILE_BYTES_MAX	(1ULL << 31)

/* In place of a space that has ended. */
#define ENDED	((struct space *)1)

/**
 * struct space - an address space
 * @numbers: numbers of the pages that only this space or its forks have
 * @maps: its mappings
 * @ticks: time of its last slot
 */
struct space {
	struct page_table numbers;
	struct page_maps *maps;
	uint64_t ticks;
};

union payload {
	struct ktau_slot_reference reference;
	struct ktau_slot_unmap unmap;
	struct ktau_slot_move move;
	struct ktau_slot_map map;
	struct ktau_slot_space space;
	struct ktau_slot_thread thread;
	struct ktau_slot_file file;
	struct ktau_slot_truncate truncate;
	struct ktau_slot_phase phase;
};

/**
 * struct step - a slot that is being followed
 * @w: the world
 * @slot: the slot
 * @payload: its payload
 * @input: its input
 */
struct step {
	struct world *w;
	const struct ktau_slot *slot;
	const union payload *payload;
	uint32_t input;
};

static const char *const contradictions[NR_CONTRADICTIONS] = {
	[WRONG_SLOT] = "slot_too_short",
	[WRONG_RANGE] = "impossible_range",
	[WRONG_SPACE] = "unknown_space",
	[WRONG_THREAD] = "unknown_thread",
	[WRONG_MAPPING] = "unmapped_page",
	[WRONG_BEGIN] = "space_in_use",
	[WRONG_TIME] = "time_back",
};

const char *contradiction_name(enum contradiction kind)
{
	return contradictions[kind];
}

static void wrong(const struct step *s, enum contradiction kind)
{
	if (!s->w->wrong[kind]++)
		s->w->wrong_ticks[kind] = s->slot->ticks;
}

static uint64_t key_of(const struct step *s, uint32_t number)
{
	return (uint64_t)s->input << 32 | number;
}

void world_init(struct world *w, uint32_t nr_inputs, world_record *record, void *arg)
{
	*w = (struct world){ .nr_inputs = nr_inputs, .record = record, .arg = arg };
	w->page_shift = cli_alloc(NULL, nr_inputs, 1);
	memset(w->page_shift, DEFAULT_SHIFT, nr_inputs);
}

static void destroy_space(struct space *space)
{
	page_table_deinit(&space->numbers);
	maps_put(space->maps);
	free(space);
}

void world_deinit(struct world *w)
{
	uintptr_t value;
	size_t i;

	for (i = 0; i < w->spaces.room; i++) {
		value = w->spaces.entries[i].value;
		if (value && (struct space *)value != ENDED)
			destroy_space((struct space *)value);
	}
	for (i = 0; i < w->threads.room; i++)
		free((void *)w->threads.entries[i].value);
	for (i = 0; i < w->nr_processes; i++)
		free(w->all[i]);
	free(w->all);
	free(w->page_shift);
	hash_deinit(&w->spaces);
	hash_deinit(&w->threads);
	hash_deinit(&w->processes);
	files_deinit(&w->files);
	skipped_deinit(&w->skipped);
}

/* The space of a slot, NULL with a contradiction. */
static struct space *space_of(const struct step *s, uint32_t number)
{
	struct space *space = (struct space *)hash_get(&s->w->spaces, key_of(s, number));

	if (!space || space == ENDED) {
		wrong(s, WRONG_SPACE);
		return NULL;
	}
	if (s->slot->ticks < space->ticks)
		wrong(s, WRONG_TIME);
	else
		space->ticks = s->slot->ticks;
	return space;
}

static const struct page_thread *thread_of(const struct step *s, uint32_t number)
{
	struct page_thread *thread;

	if (!number)
		return NULL;
	thread = (struct page_thread *)hash_get(&s->w->threads, key_of(s, number));
	if (!thread)
		wrong(s, WRONG_THREAD);
	return thread;
}

/* Whether @nr pages from @first on are pages. If not, a contradiction. */
static bool is_range(const struct step *s, uint64_t first, uint64_t nr)
{
	if (page_table_has(first, nr))
		return true;
	wrong(s, WRONG_RANGE);
	return false;
}

static uint64_t next_number(const struct step *s)
{
	return ++s->w->last_number;
}

static uint64_t number_of_file(const struct step *s, struct page_file *file, uint64_t pgoff)
{
	uint64_t number = page_table_get(&file->numbers, pgoff);

	if (!number) {
		number = next_number(s);
		page_table_set(&file->numbers, pgoff, number);
	}
	return number;
}

/* Set the number of a reference, and whether it is a page of a file. */
static void set_number(const struct step *s, struct space *space, struct page_record *r)
{
	const struct page_mapping *m = r->mapping;

	r->number = page_table_get(&space->numbers, r->page);
	if (r->number)
		return;
	if (m && m->file)
		r->of_file = !(r->flags & KTAU_REFERENCE_WRITE) || m->vm_flags & KTAU_MAP_SHARED;
	if (r->of_file) {
		r->number = number_of_file(s, m->file, m->pgoff + (r->page - m->first));
		return;
	}
	r->number = next_number(s);
	page_table_set(&space->numbers, r->page, r->number);
}

static int follow_reference(const struct step *s)
{
	const struct ktau_slot_reference *p = &s->payload->reference;
	struct page_record r = {
		.kind = PAGE_REFERENCE, .ticks = s->slot->ticks, .page = p->page,
		.flags = s->slot->flags, .input = s->input, .space = p->space,
	};
	struct space *space;

	if (!is_range(s, p->page, 1))
		return 0;
	space = space_of(s, p->space);
	if (!space)
		return 0;
	r.thread = thread_of(s, p->thread);
	r.mapping = maps_find(space->maps, p->page);
	if (r.mapping && r.mapping->skipped == p->space)
		r.mapping = NULL;
	if (!r.mapping)
		wrong(s, WRONG_MAPPING);
	set_number(s, space, &r);
	return s->w->record(s->w->arg, &r);
}

/* The copy of the zero page keeps the number that reading it has given. */
static int follow_cow(const struct step *s)
{
	const struct ktau_slot_reference *p = &s->payload->reference;
	struct space *space;

	if (!is_range(s, p->page, 1))
		return 0;
	space = space_of(s, p->space);
	if (space && !(s->slot->flags & KTAU_REFERENCE_ZERO &&
		       page_table_get(&space->numbers, p->page)))
		page_table_set(&space->numbers, p->page, next_number(s));
	return 0;
}

static int follow_unmap(const struct step *s)
{
	const struct ktau_slot_unmap *p = &s->payload->unmap;
	struct space *space;

	if (!is_range(s, p->page, p->pages))
		return 0;
	space = space_of(s, p->space);
	if (space)
		page_table_drop(&space->numbers, p->page, p->page + p->pages - 1);
	return 0;
}

struct numbered {
	uint64_t page, number;
};

/* Numbers that are being moved. */
struct moving {
	struct numbered *list;
	size_t nr, room;
};

static void note_moving(void *arg, uint64_t page, uint64_t number)
{
	struct moving *m = arg;

	if (m->nr == m->room) {
		m->room = m->room ? m->room * 2 : 64;
		m->list = cli_alloc(m->list, m->room, sizeof(*m->list));
	}
	m->list[m->nr].page = page;
	m->list[m->nr++].number = number;
}

static int follow_move(const struct step *s)
{
	const struct ktau_slot_move *p = &s->payload->move;
	uint64_t end = p->pages - 1;
	struct moving moving = { 0 };
	struct space *space;
	size_t i;

	if (!is_range(s, p->page, p->pages) || !is_range(s, p->to, p->pages))
		return 0;
	space = space_of(s, p->space);
	if (!space)
		return 0;
	page_table_visit(&space->numbers, p->page, p->page + end, note_moving, &moving);
	page_table_drop(&space->numbers, p->page, p->page + end);
	page_table_drop(&space->numbers, p->to, p->to + end);
	for (i = 0; i < moving.nr; i++)
		page_table_set(&space->numbers, moving.list[i].page - p->page + p->to,
			       moving.list[i].number);
	free(moving.list);
	space->maps = maps_move(space->maps, p->page, p->to, p->pages);
	return 0;
}

static int follow_map(const struct step *s)
{
	const struct ktau_slot_map *p = &s->payload->map;
	const struct page_file_id id = { p->inode, p->dev, p->generation };
	struct page_mapping mapping = {
		.pgoff = p->pgoff, .vm_flags = p->vm_flags & ~KTAU_SKIPPED_USERFAULTFD,
		.skipped = s->slot->type == KTAU_TRACE_SKIPPED ? p->space : 0,
	};
	struct space *space;

	if (!is_range(s, p->page, p->pages))
		return 0;
	if (p->dev && !is_range(s, p->pgoff, p->pages))
		return 0;
	space = space_of(s, p->space);
	if (!space)
		return 0;
	mapping.first = p->page;
	mapping.last = p->page + p->pages - 1;
	if (p->dev)
		mapping.file = files_get(&s->w->files, &id);
	space->maps = maps_add(space->maps, &mapping);
	return 0;
}

static void end_space(const struct step *s, uint32_t number)
{
	struct space *space = space_of(s, number);

	if (!space)
		return;
	destroy_space(space);
	hash_put(&s->w->spaces, key_of(s, number), (uintptr_t)ENDED);
}

static int follow_space(const struct step *s)
{
	const struct ktau_slot_space *p = &s->payload->space;
	struct space *parent = NULL, *space;

	if (p->reason == KTAU_SPACE_END) {
		end_space(s, p->space);
		return 0;
	}
	if (hash_get(&s->w->spaces, key_of(s, p->space))) {
		wrong(s, WRONG_BEGIN);
		return 0;
	}
	if (p->reason == KTAU_SPACE_FORK)
		parent = space_of(s, p->parent);
	space = cli_alloc(NULL, 1, sizeof(*space));
	*space = (struct space){ .ticks = s->slot->ticks };
	space->maps = parent ? maps_get(parent->maps) : maps_create();
	if (parent)
		page_table_copy(&space->numbers, &parent->numbers);
	hash_put(&s->w->spaces, key_of(s, p->space), (uintptr_t)space);
	return 0;
}

/* The process of a new thread: the one with its pid, or a new one, which each leader begins. */
static struct page_process *process_of(const struct step *s, const struct ktau_slot_thread *p)
{
	uint64_t key = key_of(s, p->tgid);
	struct page_process *process = (struct page_process *)hash_get(&s->w->processes, key);

	if (process && p->tid != p->tgid)
		return process;
	process = cli_alloc(NULL, 1, sizeof(*process));
	*process = (struct page_process){
		.serial = p->serial, .pid = p->tgid, .index = s->w->nr_processes,
	};
	s->w->all = cli_alloc(s->w->all, s->w->nr_processes + 1, sizeof(*s->w->all));
	s->w->all[s->w->nr_processes++] = process;
	hash_put(&s->w->processes, key, (uintptr_t)process);
	return process;
}

/* A thread is announced again when it executes a program; it keeps its process. */
static int follow_thread(const struct step *s)
{
	const struct ktau_slot_thread *p = &s->payload->thread;
	struct page_thread *thread;

	space_of(s, p->space);
	thread = (struct page_thread *)hash_get(&s->w->threads, key_of(s, p->thread));
	if (!thread) {
		thread = cli_alloc(NULL, 1, sizeof(*thread));
		*thread = (struct page_thread){ .process = process_of(s, p) };
		hash_put(&s->w->threads, key_of(s, p->thread), (uintptr_t)thread);
	}
	thread->serial = p->serial;
	thread->tid = p->tid;
	return 0;
}

static int follow_file(const struct step *s)
{
	const struct ktau_slot_file *p = &s->payload->file;
	const struct page_file_id id = { p->inode, p->dev, p->generation };
	struct page_record r = {
		.kind = PAGE_FILE, .ticks = s->slot->ticks, .input = s->input, .of_file = true,
		.flags = p->op == KTAU_FILE_WRITE ? KTAU_REFERENCE_WRITE : 0,
	};
	unsigned int shift = s->w->page_shift[s->input];
	struct page_file *file;
	uint64_t last;
	int err = 0;

	if (!p->bytes || p->bytes > FILE_BYTES_MAX || p->pos > INT64_MAX - p->bytes) {
		wrong(s, WRONG_RANGE);
		return 0;
	}
	r.thread = thread_of(s, p->thread);
	file = files_get(&s->w->files, &id);
	last = (p->pos + p->bytes - 1) >> shift;
	for (r.page = p->pos >> shift; !err && r.page <= last; r.page++) {
		r.number = number_of_file(s, file, r.page);
		err = s->w->record(s->w->arg, &r);
	}
	return err;
}

/* The page that contains the new end of the file remains. */
static int follow_truncate(const struct step *s)
{
	const struct ktau_slot_truncate *p = &s->payload->truncate;
	const struct page_file_id id = { p->inode, p->dev, p->generation };
	unsigned int shift = s->w->page_shift[s->input];
	uint64_t first;

	if (p->size > INT64_MAX) {
		wrong(s, WRONG_RANGE);
		return 0;
	}
	first = (p->size + (1ULL << shift) - 1) >> shift;
	page_table_drop(&files_get(&s->w->files, &id)->numbers, first, PAGE_TABLE_END - 1);
	return 0;
}

static int follow_phase(const struct step *s)
{
	uint32_t bytes = s->payload->phase.page_bytes, shift = bytes ? __builtin_ctz(bytes) : 0;

	if (shift < DEFAULT_SHIFT || shift > SHIFT_MAX || bytes != 1U << shift)
		wrong(s, WRONG_RANGE);
	else
		s->w->page_shift[s->input] = shift;
	return 0;
}

/*
 * A fork is not under userfaultfd unless its parent has asked for that, so its references are
 * recorded. The kernel does not describe its mappings again.
 */
static int follow_skipped(const struct step *s)
{
	const struct ktau_slot_map *p = &s->payload->map;

	if (!is_range(s, p->page, p->pages))
		return 0;
	return p->vm_flags & KTAU_SKIPPED_USERFAULTFD ? follow_map(s) : 0;
}

static int follow_nothing(const struct step *s)
{
	(void)s;
	return 0;
}

static const struct {
	uint8_t bytes;
	int (*follow)(const struct step *s);
} types[] = {
	[KTAU_TRACE_REFERENCE] = { sizeof(struct ktau_slot_reference), follow_reference },
	[KTAU_TRACE_COW] = { sizeof(struct ktau_slot_reference), follow_cow },
	[KTAU_TRACE_UNMAP] = { sizeof(struct ktau_slot_unmap), follow_unmap },
	[KTAU_TRACE_MOVE] = { sizeof(struct ktau_slot_move), follow_move },
	[KTAU_TRACE_MAP] = { sizeof(struct ktau_slot_map), follow_map },
	[KTAU_TRACE_SPACE] = { sizeof(struct ktau_slot_space), follow_space },
	[KTAU_TRACE_THREAD] = { sizeof(struct ktau_slot_thread), follow_thread },
	[KTAU_TRACE_FILE] = { sizeof(struct ktau_slot_file), follow_file },
	[KTAU_TRACE_TRUNCATE] = { sizeof(struct ktau_slot_truncate), follow_truncate },
	[KTAU_TRACE_SKIPPED] = { sizeof(struct ktau_slot_map), follow_skipped },
	[KTAU_TRACE_PHASE] = { sizeof(struct ktau_slot_phase), follow_phase },
	[KTAU_TRACE_EVICT] = { sizeof(struct ktau_slot_reference), follow_nothing },
	[KTAU_TRACE_COUNTED] = { sizeof(struct ktau_slot_counted), follow_nothing },
};

int world_slot(struct world *w, uint32_t input, const struct ktau_slot *slot, const void **payload)
{
	const struct step s = {
		.w = w, .slot = slot, .payload = (const void *)ktau_slot_payload(slot),
		.input = input,
	};

	*payload = NULL;
	if (slot->type >= sizeof(types) / sizeof(*types) || !types[slot->type].follow)
		return 0;
	if (ktau_slot_payload_words(slot) * 8 < types[slot->type].bytes) {
		wrong(&s, WRONG_SLOT);
		return 0;
	}
	*payload = s.payload;
	skipped_slot(&w->skipped, input, slot, w->page_shift[input]);
	return types[slot->type].follow(&s);
}
