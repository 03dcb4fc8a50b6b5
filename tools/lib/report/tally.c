// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up profiles, event by event.
 *
 * Both entries and routines are sorted by id, so the next entry nearly always belongs to the next
 * routine; a binary search is the exception.
 *
 * Routines that may not be needed again are packed: they then take about a tenth of the memory.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "tally.h"

enum event_wait event_wait(const struct ktau_events *events, uint32_t id)
{
	const struct ktau_rec_event *e = ktau_events_find(events, id);

	if (!e || e->group != KTAU_GROUP_SCHED)
		return WAIT_NONE;
	return strncmp(ktau_event_name(e), "schedule_vol", 12) ? WAIT_RUNQ : WAIT_ASLEEP;
}

/*
 * The figures of a routine, which most routines have few of: packed, a routine is a bit mask of
 * those that are not 0, and their numbers with seven bits in each byte.
 */
enum { NR_FIGURES = 13, NUMBER_BYTES = (8 * sizeof(ktau_sum_t) + 6) / 7 };

static void figures_of(const struct routine *r, uint32_t previous, ktau_sum_t *figures)
{
	const ktau_sum_t all[NR_FIGURES] = {
		r->id - previous, r->flags, r->count, r->incl - r->excl, r->excl, r->longest,
		r->asleep, r->runq, r->irq, r->open, r->open_incl, UINT64_MAX - r->min, r->max,
	};

	memcpy(figures, all, sizeof(all));
}

static void set_figures(struct routine *r, uint32_t previous, const ktau_sum_t *figures)
{
	*r = (struct routine){
		.id = previous + (uint32_t)figures[0], .flags = (uint16_t)figures[1],
		.count = (uint64_t)figures[2], .incl = figures[3] + figures[4], .excl = figures[4],
		.longest = (uint64_t)figures[5], .asleep = figures[6], .runq = figures[7],
		.irq = figures[8], .open = (uint64_t)figures[9], .open_incl = figures[10],
		.min = UINT64_MAX - (uint64_t)figures[11], .max = (uint64_t)figures[12],
	};
}

static unsigned char *put_number(unsigned char *at, ktau_sum_t number)
{
	for (; number > 0x7f; number >>= 7)
		*at++ = (unsigned char)(number | 0x80);
	*at++ = (unsigned char)number;
	return at;
}

static const unsigned char *get_number(const unsigned char *at, ktau_sum_t *number)
{
	unsigned int shift = 0;

	*number = 0;
	do
		*number |= (ktau_sum_t)(*at & 0x7f) << shift;
	while (shift += 7, *at++ & 0x80);
	return at;
}

static unsigned char *pack_routine(unsigned char *at, const struct routine *r, uint32_t previous)
{
	ktau_sum_t figures[NR_FIGURES];
	unsigned int mask = 0, i;

	figures_of(r, previous, figures);
	for (i = 0; i < NR_FIGURES; i++)
		mask |= (unsigned int)!!figures[i] << i;
	at = put_number(at, mask | (unsigned int)r->kind << NR_FIGURES);
	for (i = 0; i < NR_FIGURES; i++)
		if (figures[i])
			at = put_number(at, figures[i]);
	return at;
}

/**
 * struct reading - the routines of a tally, one after the other
 * @t: the tally
 * @nr: number of routines that have been read
 * @at: the next one in @t->packed
 * @routine: the last one, if it was packed
 */
struct reading {
	const struct tally *t;
	size_t nr;
	const unsigned char *at;
	struct routine routine;
};

static struct reading read_tally(const struct tally *t)
{
	return (struct reading){ .t = t, .at = t->packed };
}

/* Return: the next routine, which is valid until the next call; NULL after the last one. */
static const struct routine *next_routine(struct reading *g)
{
	ktau_sum_t figures[NR_FIGURES] = { 0 }, mask;
	unsigned int i;

	if (g->nr == g->t->nr)
		return NULL;
	g->nr++;
	if (!g->t->packed)
		return &g->t->routines[g->nr - 1];
	g->at = get_number(g->at, &mask);
	for (i = 0; i < NR_FIGURES; i++)
		if (mask >> i & 1)
			g->at = get_number(g->at, &figures[i]);
	set_figures(&g->routine, g->routine.id, figures);
	g->routine.kind = (uint16_t)(mask >> NR_FIGURES);
	return &g->routine;
}

void tally_pack(struct tally *t)
{
	const size_t most = (NR_FIGURES + 1) * NUMBER_BYTES;
	unsigned char *bytes, *at;
	uint32_t previous = 0;
	size_t i;

	if (t->packed || !t->nr)
		return;
	bytes = at = cli_alloc(NULL, t->nr, most);
	for (i = 0; i < t->nr; previous = t->routines[i++].id)
		at = pack_routine(at, &t->routines[i], previous);
	free(t->routines);
	t->routines = NULL;
	t->room = t->last = 0;
	t->packed = cli_alloc(bytes, (size_t)(at - bytes), 1);
}

void tally_unpack(struct tally *t)
{
	struct tally packed = *t;
	struct reading reading = read_tally(&packed);
	const struct routine *r;

	if (!packed.packed)
		return;
	t->packed = NULL;
	t->room = t->nr;
	t->routines = cli_alloc(NULL, t->room, sizeof(*t->routines));
	for (t->nr = 0; (r = next_routine(&reading)); t->nr++)
		t->routines[t->nr] = *r;
	free(packed.packed);
}

static int compare(const struct routine *r, uint32_t id, uint32_t kind)
{
	if (r->id != id)
		return r->id < id ? -1 : 1;
	return r->kind < kind ? -1 : r->kind > kind;
}

/* The index of @id, or the index at which it would be inserted. */
static uint32_t search(const struct tally *t, uint32_t id, uint32_t kind)
{
	uint32_t low = 0, high = t->nr, middle;

	if (t->last < t->nr && compare(&t->routines[t->last], id, kind) < 0) {
		low = t->last + 1;
		if (low < t->nr && compare(&t->routines[low], id, kind) >= 0)
			return low;
	}
	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare(&t->routines[middle], id, kind) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct routine *find(struct tally *t, uint32_t id, uint32_t kind)
{
	uint32_t at;

	if (t->packed)
		tally_unpack(t);
	at = search(t, id, kind);
	if (at == t->nr || compare(&t->routines[at], id, kind))
		return NULL;
	t->last = at;
	return &t->routines[at];
}

static struct routine *get(struct tally *t, uint32_t id, uint32_t kind)
{
	uint32_t at;

	if (t->packed)
		tally_unpack(t);
	at = search(t, id, kind);
	t->last = at;
	if (at < t->nr && !compare(&t->routines[at], id, kind))
		return &t->routines[at];
	if (t->nr == t->room) {
		t->room = t->room ? t->room * 2 : 16;
		t->routines = cli_alloc(t->routines, t->room, sizeof(*t->routines));
	}
	memmove(&t->routines[at + 1], &t->routines[at], (t->nr - at) * sizeof(*t->routines));
	t->nr++;
	t->routines[at] = (struct routine){
		.id = id, .kind = kind, .flags = 0xff, .min = UINT64_MAX,
	};
	return &t->routines[at];
}

static void add_timer(struct routine *r, const struct ktau_entry *e)
{
	r->flags &= e->flags;
	r->excl += e->excl;
	r->longest = more(r->longest, e->longest);
	r->asleep += e->asleep;
	r->runq += e->runq;
	r->irq += e->irq;
}

static void widen(struct routine *r, uint64_t min, uint64_t max)
{
	r->min = min < r->min ? min : r->min;
	r->max = more(r->max, max);
}

uint64_t tally_add_entries(struct tally *t, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *e = ktau_profile_entries(p);
	uint64_t unknown = 0;
	struct routine *r;
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++, e++) {
		if (e->kind > KTAU_KIND_COUNTER) {
			unknown++;
			continue;
		}
		r = get(t, e->id, e->kind);
		r->count += e->count;
		r->incl += e->incl;
		if (e->kind == KTAU_KIND_TIMER)
			add_timer(r, e);
		else
			widen(r, e->min, e->max);
	}
	return unknown;
}

void tally_subtract_entries(struct tally *t, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *e = ktau_profile_entries(p);
	struct routine *r;
	uint32_t i;

	for (i = 0; i < p->nr_entries; i++, e++) {
		r = find(t, e->id, e->kind);
		if (!r)
			continue;
		r->count = less(r->count, e->count);
		r->incl = sum_less(r->incl, e->incl);
		if (e->kind != KTAU_KIND_TIMER)
			continue;
		r->flags &= e->flags;
		r->excl = sum_less(r->excl, e->excl);
		r->asleep = sum_less(r->asleep, e->asleep);
		r->runq = sum_less(r->runq, e->runq);
		r->irq = sum_less(r->irq, e->irq);
	}
}

/* In a recursion, only the outermost frame counts as inclusive time. */
static bool outermost(const struct ktau_rec_profile *p, uint32_t index)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint32_t i;

	for (i = index + 1; i < p->nr_open; i++)
		if (open[i].id == open[index].id)
			return false;
	return true;
}

void tally_add_open(struct tally *t, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint64_t incl, excl;
	struct routine *r;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		if (ktau_profile_inflight(p, i, &incl, &excl))
			continue;
		r = get(t, open[i].id, KTAU_KIND_TIMER);
		r->open++;
		r->excl += excl;
		r->longest = more(r->longest, incl);
		if (!outermost(p, i))
			continue;
		r->incl += incl;
		r->open_incl += incl;
		r->asleep += open[i].asleep_ticks;
		r->runq += open[i].runq_ticks;
		r->irq += open[i].irq_ticks;
	}
}

/*
 * Subtract the frames in flight at an earlier time. If one of them is still in flight, only the
 * part since then remains.
 */
void tally_subtract_open(struct tally *t, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint64_t incl, excl;
	struct routine *r;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		r = find(t, open[i].id, KTAU_KIND_TIMER);
		if (!r || ktau_profile_inflight(p, i, &incl, &excl))
			continue;
		r->excl = sum_less(r->excl, excl);
		if (outermost(p, i)) {
			r->incl = sum_less(r->incl, incl);
			r->asleep = sum_less(r->asleep, open[i].asleep_ticks);
			r->runq = sum_less(r->runq, open[i].runq_ticks);
			r->irq = sum_less(r->irq, open[i].irq_ticks);
		}
		r->open_incl = r->incl < r->open_incl ? r->incl : r->open_incl;
	}
}

uint64_t tally_add(struct tally *t, const struct ktau_rec_profile *p)
{
	tally_add_open(t, p);
	return tally_add_entries(t, p);
}

void tally_subtract(struct tally *t, const struct ktau_rec_profile *p)
{
	tally_subtract_entries(t, p);
	tally_subtract_open(t, p);
}

static bool is_outermost(const struct asleep *a, uint32_t index)
{
	uint32_t i;

	for (i = index + 1; i < a->nr_frames; i++)
		if (a->frames[i] == a->frames[index])
			return false;
	return true;
}

void tally_add_asleep(struct tally *t, const struct asleep *a)
{
	struct routine *r;
	uint32_t i;

	for (i = 0; i < a->nr_frames; i++) {
		r = get(t, a->frames[i], KTAU_KIND_TIMER);
		r->open += a->nr;
		r->excl += i ? 0 : a->ticks;
		if (!is_outermost(a, i))
			continue;
		r->incl += a->ticks;
		r->open_incl += a->ticks;
		r->asleep += a->measured_ticks;
	}
}

void tally_merge(struct tally *t, const struct tally *from)
{
	struct reading reading = read_tally(from);
	const struct routine *f;
	struct routine *r;

	tally_unpack(t);
	/* There can be very many rows, most of them of a single task. */
	if (!t->room && from->nr) {
		t->room = from->nr;
		t->routines = cli_alloc(NULL, t->room, sizeof(*t->routines));
	}
	while ((f = next_routine(&reading))) {
		r = get(t, f->id, f->kind);
		r->flags &= f->flags;
		r->count += f->count;
		r->incl += f->incl;
		r->excl += f->excl;
		r->open += f->open;
		r->open_incl += f->open_incl;
		r->longest = more(r->longest, f->longest);
		r->asleep += f->asleep;
		r->runq += f->runq;
		r->irq += f->irq;
		widen(r, f->min, f->max);
	}
}

void tally_take_out(struct tally *t, const struct tally *part)
{
	struct reading reading = read_tally(part);
	const struct routine *f;
	struct routine *r;

	while ((f = next_routine(&reading))) {
		r = find(t, f->id, f->kind);
		if (!r)
			continue;
		r->flags &= f->flags;
		r->count = less(r->count, f->count);
		r->incl = sum_less(r->incl, f->incl);
		r->excl = sum_less(r->excl, f->excl);
		r->open = less(r->open, f->open);
		r->open_incl = sum_less(r->open_incl, f->open_incl);
		r->asleep = sum_less(r->asleep, f->asleep);
		r->runq = sum_less(r->runq, f->runq);
		r->irq = sum_less(r->irq, f->irq);
	}
}

uint64_t tally_activations(const struct tally *t)
{
	struct reading reading = read_tally(t);
	const struct routine *r;
	uint64_t nr = 0;

	while ((r = next_routine(&reading)))
		if (r->kind == KTAU_KIND_TIMER)
			nr += r->count;
	return nr;
}

void tally_trim(struct tally *t)
{
	const bool packed = t->packed;
	struct routine *r;
	uint32_t nr = 0;

	tally_unpack(t);
	for (r = t->routines; r < t->routines + t->nr; r++)
		if (r->count || r->incl || r->excl || r->open)
			t->routines[nr++] = *r;
	t->nr = nr;
	if (packed)
		tally_pack(t);
}

void tally_clear(struct tally *t)
{
	free(t->packed);
	t->packed = NULL;
	t->nr = t->last = 0;
}

void tally_deinit(struct tally *t)
{
	tally_clear(t);
	free(t->routines);
	t->routines = NULL;
	t->room = 0;
}
