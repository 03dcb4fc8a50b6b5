// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chosen.h"
#include "log.h"

void chosen_init(struct chosen *chosen)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	*chosen = (struct chosen){
		.since_ns = now.tv_sec * NSEC_PER_SEC + now.tv_nsec,
	};
}

void chosen_deinit(struct chosen *chosen)
{
	free(chosen->pids);
	free(chosen->leaders);
	*chosen = (struct chosen){ 0 };
}

static int compare_pids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static bool in_list(const struct config *config, int32_t pid)
{
	return bsearch(&pid, config->pids, config->nr_pids, sizeof(pid), compare_pids);
}

/* The entry of @pid, which is added if there is none; NULL without memory. */
static struct chosen_pid *find(struct chosen *chosen, int32_t pid)
{
	size_t from = 0, to = chosen->nr_pids, middle;
	struct chosen_pid *pids = chosen->pids;

	while (from < to) {
		middle = (from + to) / 2;
		if (pids[middle].pid < pid)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < chosen->nr_pids && pids[from].pid == pid)
		return &pids[from];
	pids = reallocarray(pids, chosen->nr_pids + 1, sizeof(*pids));
	if (!pids)
		return NULL;
	memmove(pids + from + 1, pids + from, (chosen->nr_pids - from) * sizeof(*pids));
	pids[from] = (struct chosen_pid){ .pid = pid };
	chosen->pids = pids;
	chosen->nr_pids++;
	return &pids[from];
}

/* Serials only grow, so a new one is nearly always the last. */
static size_t place_of(const struct chosen *chosen, uint64_t serial)
{
	size_t from = 0, to = chosen->nr_leaders, middle;

	while (from < to) {
		middle = (from + to) / 2;
		if (chosen->leaders[middle] < serial)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool is_leader(const struct chosen *chosen, uint64_t serial)
{
	size_t at = place_of(chosen, serial);

	return at < chosen->nr_leaders && chosen->leaders[at] == serial;
}

/* A process has several serials if it executes programs with other credentials. */
static bool note_leader(struct chosen *chosen, uint64_t serial)
{
	size_t at = place_of(chosen, serial);
	uint64_t *leaders;

	if (is_leader(chosen, serial))
		return true;
	leaders = reallocarray(chosen->leaders, chosen->nr_leaders + 1, sizeof(*leaders));
	if (!leaders)
		return false;
	memmove(leaders + at + 1, leaders + at, (chosen->nr_leaders - at) * sizeof(*leaders));
	leaders[at] = serial;
	chosen->leaders = leaders;
	chosen->nr_leaders++;
	return true;
}

/* Return: true if @owner is the task that is meant by its number. */
static bool is_meant(const struct chosen *chosen, struct chosen_pid *pid,
		     const struct ktau_rec_owner *owner)
{
	bool lived = owner->kind == KTAU_OWNER_TASK || owner->exit_ns >= chosen->since_ns;

	if (!pid->bound && !pid->gone && lived) {
		pid->start_ns = owner->start_ns;
		pid->bound = true;
	}
	if (pid->bound && pid->start_ns == owner->start_ns)
		return true;
	if (lived && !pid->told) {
		log_info("process %d is not recorded: it is another one with this number",
			 (int)pid->pid);
		pid->told = true;
	}
	return false;
}

bool chosen_has(struct chosen *chosen, const struct config *config,
		const struct ktau_rec_owner *owner)
{
	bool leads = owner->tid == owner->tgid;
	struct chosen_pid *pid;

	if (!in_list(config, owner->tid))
		return !leads && in_list(config, owner->tgid) &&
		       is_leader(chosen, owner->leader_serial);
	pid = find(chosen, owner->tid);
	if (pid && !is_meant(chosen, pid, owner))
		return false;
	if (!pid || (leads && !note_leader(chosen, owner->serial)))
		log_error("cannot tell processes with one number from each other: %s",
			  strerror(ENOMEM));
	return true;
}

void chosen_end(struct chosen *chosen, const struct config *config)
{
	struct chosen_pid *pid;
	uint32_t i;

	for (i = 0; i < config->nr_pids; i++) {
		pid = find(chosen, config->pids[i]);
		if (!pid)
			return;
		if (!pid->bound && !pid->gone)
			log_info("there is no process %d", (int)pid->pid);
		pid->gone |= !pid->bound;
	}
}
