// SPDX-License-Identifier: GPL-2.0-only
/* Frames in flight as text. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "doing.h"
#include "lib/report/tally.h"

/* Longer chains of routines are cut in the middle. */
enum { SHOWN = 3 };

/**
 * struct doing - the task of a row that is shown
 * @profile: profile of the task; NULL if none was found
 * @owner: the task
 * @asleep: the task is waiting
 * @ticks: time since its outermost frame was entered
 */
struct doing {
	const struct ktau_rec_profile *profile;
	const struct ktau_rec_owner *owner;
	bool asleep;
	uint64_t ticks;
};

void doing_format_ns(uint64_t ns, char *text, size_t size)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;
	double value;

	while (i + 1 < sizeof(units) / sizeof(*units) && (double)ns < units[i].ns)
		i++;
	value = (double)ns / units[i].ns;
	snprintf(text, size, "%.*f %s", value < 10 && ns >= 1000 ? 1 : 0, value, units[i].unit);
}

static struct doing look_at(const struct view *v, const struct ktau_owned *owned)
{
	struct doing d = { .profile = owned->profile, .owner = owned->owner };
	const struct ktau_open *open = ktau_profile_open(d.profile);

	if (!d.profile->nr_open)
		return d;
	ktau_profile_inflight(d.profile, d.profile->nr_open - 1, &d.ticks, NULL);
	d.asleep = event_wait(registry_events(v->registry), open->id) == WAIT_ASLEEP;
	return d;
}

static bool is_better(const struct doing *a, const struct doing *b)
{
	if (!b->profile || a->asleep != b->asleep)
		return !b->profile || b->asleep;
	return a->ticks > b->ticks;
}

static struct doing choose(const struct view *v, const struct process *p,
			   const struct ktau_snapshot *end)
{
	struct doing best = { 0 }, d;
	const struct ktau_owned *owned;
	size_t i;

	for (i = 0; i < p->nr_ids; i++) {
		owned = ktau_snapshot_find_tid(end, process_ids(p, i).tid);
		if (!owned || owned->owner->kind != KTAU_OWNER_TASK)
			continue;
		d = look_at(v, owned);
		if (is_better(&d, &best))
			best = d;
	}
	return best;
}

static void append(struct doing_now *now, const char *separator, const char *word)
{
	size_t used = strlen(now->text);

	snprintf(now->text + used, sizeof(now->text) - used, "%s%s", used ? separator : "", word);
}

/* List the routines of the frames from @outer - 1 down to @inner. */
static void put_chain(const struct view *v, const struct ktau_open *open, uint32_t outer,
		      uint32_t inner, struct doing_now *now)
{
	uint32_t shown = 0, i;

	*now->text = 0;
	for (i = outer; i-- > inner;) {
		if (++shown == SHOWN && i > inner) {
			append(now, " > ", "...");
			i = inner;
		}
		append(now, " > ", symbolize_event(v->r->names, open[i].id));
	}
}

void doing_now(const struct view *v, const struct process *p, const struct ktau_snapshot *end,
	       struct doing_now *now)
{
	struct doing d = choose(v, p, end);
	const struct ktau_open *open;
	uint32_t inner, outer;
	char time[24];

	*now->text = 0;
	if (!d.profile)
		return;
	if (!d.profile->nr_open) {
		if (!(d.owner->flags & KTAU_OWNER_KTHREAD))
			append(now, "", "user mode");
		return;
	}
	doing_format_ns(ktau_clock_ns(&v->clock, d.ticks), time, sizeof(time));
	open = ktau_profile_open(d.profile);
	outer = d.profile->nr_open;
	/* The wait itself is not listed, nor the switch around it. */
	for (inner = 0; inner + 1 < outer; inner++)
		if (symbolize_group_bit(v->r->names, open[inner].id) != KTAU_GROUP_SCHED)
			break;
	do {
		put_chain(v, open, outer, inner, now);
		append(now, ", ", time);
	} while (strlen(now->text) > now->columns && --outer > inner);
}
