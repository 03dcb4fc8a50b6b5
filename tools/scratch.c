// SPDX-License-Identifier: GPL-2.0-only
/* Adding up profiles event by event. */
#include <stdlib.h>

#include "cmd.h"
#include "scratch.h"

void scratch_deinit(struct scratch *s)
{
	free(s->routines);
	hash_deinit(&s->by_key);
}

static uint64_t key_of(uint32_t id, uint32_t kind)
{
	return (uint64_t)kind << 32 | id;
}

static struct routine *find(struct scratch *s, uint32_t id, uint32_t kind)
{
	size_t index = hash_get(&s->by_key, key_of(id, kind));

	return index ? &s->routines[index - 1] : NULL;
}

static struct routine *get(struct scratch *s, uint32_t id, uint32_t kind)
{
	struct routine *r = find(s, id, kind);

	if (r)
		return r;
	if (s->nr == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->routines = cmd_alloc(s->routines, s->room, sizeof(*s->routines));
	}
	r = &s->routines[s->nr++];
	*r = (struct routine){ .id = id, .kind = kind, .min = UINT64_MAX };
	hash_put(&s->by_key, key_of(id, kind), s->nr);
	return r;
}

static void widen(struct routine *r, uint64_t min, uint64_t max)
{
	r->min = min < r->min ? min : r->min;
	r->max = max > r->max ? max : r->max;
}

static void add_entry(struct scratch *s, const struct ktau_entry *e)
{
	struct routine *r;

	if (e->kind != KTAU_KIND_TIMER && e->kind != KTAU_KIND_COUNTER) {
		s->unknown++;
		return;
	}
	r = get(s, e->id, e->kind);
	r->count += e->count;
	r->incl += e->incl;
	if (e->kind == KTAU_KIND_COUNTER)
		widen(r, e->min, e->max);
	else
		r->excl += e->excl;
}

void scratch_add_entries(struct scratch *s, const struct ktau_rec_profile *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++)
		add_entry(s, &ktau_profile_entries(p)[i]);
}

/* Of a recursion only the outermost frame counts as inclusive time. */
static bool outermost(const struct ktau_rec_profile *p, uint32_t index)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint32_t i;

	for (i = index + 1; i < p->nr_open; i++)
		if (open[i].id == open[index].id)
			return false;
	return true;
}

void scratch_add_open(struct scratch *s, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint64_t incl, excl;
	struct routine *r;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		if (ktau_profile_inflight(p, i, &incl, &excl))
			continue;
		r = get(s, open[i].id, KTAU_KIND_TIMER);
		r->open++;
		r->open_excl += excl;
		if (outermost(p, i))
			r->open_incl += incl;
	}
}

void scratch_add(struct scratch *s, const struct ktau_owned *owned)
{
	scratch_add_entries(s, owned->profile);
	if (owned->owner->kind == KTAU_OWNER_TASK)
		scratch_add_open(s, owned->profile);
}

void scratch_add_process(struct scratch *s, const struct process *p)
{
	const struct routine *from;
	struct routine *to;

	for (from = p->routines; from < p->routines + p->nr_routines; from++) {
		to = get(s, from->id, from->kind);
		to->count += from->count;
		to->incl += from->incl;
		to->excl += from->excl;
		to->open += from->open;
		to->open_incl += from->open_incl;
		to->open_excl += from->open_excl;
		widen(to, from->min, from->max);
	}
}

static void subtract(struct routine *r, uint64_t count, uint64_t incl, uint64_t excl)
{
	if (!r)
		return;
	r->count = less(r->count, count);
	r->incl = less(r->incl, incl);
	r->excl = less(r->excl, excl);
}

void scratch_subtract(struct scratch *s, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *e = ktau_profile_entries(p);
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++, e++)
		subtract(find(s, e->id, e->kind), e->count, e->incl,
			 e->kind == KTAU_KIND_TIMER ? e->excl : 0);
}

void scratch_subtract_process(struct scratch *s, const struct process *p)
{
	const struct routine *r;

	for (r = p->routines; r < p->routines + p->nr_routines; r++)
		subtract(find(s, r->id, r->kind), r->count, r->incl, r->excl);
}

static int by_id(const void *a, const void *b)
{
	const struct routine *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

void scratch_settle(struct scratch *s, struct process *process)
{
	struct routine *r;
	size_t nr = 0;

	process->routines = cmd_alloc(NULL, s->nr, sizeof(*process->routines));
	for (r = s->routines; r < s->routines + s->nr; r++) {
		if (!r->count && !r->incl && !r->excl && !r->open)
			continue;
		process->routines[nr++] = *r;
		if (r->kind == KTAU_KIND_TIMER)
			process->pairs += r->count;
	}
	process->nr_routines = nr;
	qsort(process->routines, nr, sizeof(*process->routines), by_id);
	s->nr = 0;
	hash_clear(&s->by_key);
}
