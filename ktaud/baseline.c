// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "baseline.h"

#define MIN_SLOTS	256

struct baseline_task {
	struct baseline_task *next;
	struct ktau_rec_profile *profile;
	uint64_t round;
};

/* Serials are counted up: their low bits spread by themselves. */
static struct baseline_task **chain(const struct baseline *base, uint64_t serial)
{
	return &base->slots[serial & (base->nr_slots - 1)];
}

/* Without memory for a larger table the chains get longer, no more. */
static void grow(struct baseline *base)
{
	struct baseline bigger = *base;
	struct baseline_task *task, **slot;
	size_t i;

	bigger.nr_slots = base->nr_slots ? base->nr_slots * 2 : MIN_SLOTS;
	bigger.slots = calloc(bigger.nr_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return;
	for (i = 0; i < base->nr_slots; i++) {
		while ((task = base->slots[i])) {
			base->slots[i] = task->next;
			slot = chain(&bigger, task->profile->serial);
			task->next = *slot;
			*slot = task;
		}
	}
	free(base->slots);
	*base = bigger;
}

static void free_task(struct baseline *base, struct baseline_task *task)
{
	ktau_record_free(task->profile);
	free(task);
	base->nr_tasks--;
}

static void add(struct baseline *base, const struct ktau_rec_profile *profile)
{
	struct baseline_task *task, **slot;

	if (base->nr_tasks >= base->nr_slots)
		grow(base);
	if (!base->nr_slots)
		return;
	task = malloc(sizeof(*task));
	if (!task)
		return;
	task->profile = ktau_record_dup(profile);
	if (!task->profile) {
		free(task);
		return;
	}
	task->round = base->round;
	slot = chain(base, profile->serial);
	task->next = *slot;
	*slot = task;
	base->nr_tasks++;
}

static struct baseline_task **find(const struct baseline *base, uint64_t serial)
{
	struct baseline_task **link;

	if (!base->nr_slots)
		return NULL;
	for (link = chain(base, serial); *link; link = &(*link)->next)
		if ((*link)->profile->serial == serial)
			return link;
	return NULL;
}

struct ktau_rec_profile *baseline_update(struct baseline *base,
					 const struct ktau_rec_profile *profile)
{
	struct baseline_task **link = find(base, profile->serial);
	struct baseline_task *task = link ? *link : NULL;
	struct ktau_rec_profile *diff = NULL, *copy = NULL;

	if (!task) {
		add(base, profile);
		return NULL;
	}
	copy = ktau_record_dup(profile);
	if (!copy || ktau_profile_diff(profile, task->profile, &diff)) {
		/* The one in the table must be the one that was written last. */
		baseline_forget(base, profile->serial);
		ktau_record_free(copy);
		add(base, profile);
		return NULL;
	}
	ktau_record_free(task->profile);
	task->profile = copy;
	task->round = base->round;
	diff->rec.type = KTAU_REC_DIFF;
	return diff;
}

void baseline_forget(struct baseline *base, uint64_t serial)
{
	struct baseline_task **link = find(base, serial), *task;

	if (!link)
		return;
	task = *link;
	*link = task->next;
	free_task(base, task);
}

void baseline_sweep(struct baseline *base)
{
	struct baseline_task *task, **link;
	size_t i;

	for (i = 0; i < base->nr_slots; i++) {
		link = &base->slots[i];
		while ((task = *link)) {
			if (task->round == base->round) {
				link = &task->next;
				continue;
			}
			*link = task->next;
			free_task(base, task);
		}
	}
	base->round++;
}

void baseline_clear(struct baseline *base)
{
	/* Nothing is of the next round. */
	base->round++;
	baseline_sweep(base);
	free(base->slots);
	base->slots = NULL;
	base->nr_slots = 0;
}
