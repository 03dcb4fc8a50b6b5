// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "times.h"

/* Values of @running. */
enum { RUNS = 1,
       RUNS_NOT };

void times_deinit(struct times *t)
{
	free(t->rows);
	free(t->sums);
	free(t->intervals);
	hash_deinit(&t->by_value);
	hash_deinit(&t->by_owner);
	hash_deinit(&t->running);
	*t = (struct times){ 0 };
}

bool view_value_equal(struct view_value a, struct view_value b)
{
	return a.kind == b.kind && a.number == b.number;
}

uint32_t times_add_row(struct times *t, uint32_t node, uint32_t pattern)
{
	if (t->nr_rows == t->rows_room) {
		t->rows_room = t->rows_room ? 2 * t->rows_room : 64;
		t->rows = cli_alloc(t->rows, t->rows_room, sizeof(*t->rows));
	}
	t->rows[t->nr_rows] = (struct times_row){
		.node = node,
		.pattern = pattern,
		.since_ns = t->from_ns,
		.cpu_to_ns = t->from_ns,
	};
	return (uint32_t)t->nr_rows++;
}

/* The sum of a row in a state; NULL if there is no room. */
static struct times_sum *find_sum(struct times *t, uint32_t row, struct view_value value)
{
	const uint64_t key = ((uint64_t)value.number * 31 + (uint64_t)value.kind) * 1000003 + row;
	const uint32_t first = (uint32_t)hash_get(&t->by_value, key);
	uint32_t i;

	for (i = first; i; i = t->sums[i - 1].next)
		if (t->sums[i - 1].row == row && view_value_equal(t->sums[i - 1].value, value))
			return &t->sums[i - 1];
	if (t->nr_sums == t->most) {
		t->full = true;
		return NULL;
	}
	if (t->nr_sums == t->sums_room) {
		t->sums_room = t->sums_room ? 2 * t->sums_room : 64;
		t->sums = cli_alloc(t->sums, t->sums_room, sizeof(*t->sums));
	}
	t->sums[t->nr_sums] = (struct times_sum){ .value = value, .row = row, .next = first };
	hash_put(&t->by_value, key, ++t->nr_sums);
	return &t->sums[t->nr_sums - 1];
}

static void keep_interval(struct times *t, const struct times_interval *interval)
{
	if (t->nr_intervals == t->most) {
		t->full = !t->spare;
		t->keep = false;
		return;
	}
	if (t->nr_intervals == t->intervals_room) {
		t->intervals_room += t->intervals_room / 4 + 256;
		t->intervals = cli_alloc(t->intervals, t->intervals_room, sizeof(*t->intervals));
	}
	t->intervals[t->nr_intervals++] = *interval;
}

/* Account for the CPU of the task that has set the state of a row until @ns. */
static void add_cpu(const struct times *t, struct times_row *row, uint64_t ns)
{
	const uint64_t to_ns = ns < t->to_ns ? ns : t->to_ns;

	if (row->running && to_ns > row->cpu_to_ns)
		row->cpu_ns += to_ns - row->cpu_to_ns;
	if (ns > row->cpu_to_ns)
		row->cpu_to_ns = ns;
}

/* Account for the state of a row until @ns, as far as it is in the time of the view. */
static void end_state(struct times *t, uint32_t index, uint64_t ns)
{
	struct times_row *row = &t->rows[index];
	const uint64_t from_ns = row->since_ns;
	const uint64_t to_ns = ns < t->to_ns ? ns : t->to_ns;
	struct times_sum *sum;

	add_cpu(t, row, ns);
	/* Before the time of the view, and if clocks of CPUs differ, the time does not go back. */
	if (ns > row->since_ns)
		row->since_ns = ns;
	if (to_ns <= from_ns)
		return;
	sum = find_sum(t, index, row->value);
	if (!sum)
		return;
	sum->ns += to_ns - from_ns;
	sum->count++;
	sum->cpu_ns += row->cpu_ns;
	row->cpu_ns = 0;
	sum->counted += row->counted - row->state_counted;
	row->state_counted = row->counted;
	row->known |= row->value.kind != VALUE_NONE;
	if (t->keep)
		keep_interval(t, &(struct times_interval){ from_ns, to_ns, row->value, index });
}

/* The rows that a task has set are a list. */

static void unlink_row(struct times *t, uint32_t index)
{
	const struct times_row *row = &t->rows[index];

	if (row->next)
		t->rows[row->next - 1].before = row->before;
	if (row->before)
		t->rows[row->before - 1].next = row->next;
	else if (hash_get(&t->by_owner, row->owner.serial) == index + 1)
		/* A value of 0 is not stored: an empty list is a number that no row has. */
		hash_put(&t->by_owner, row->owner.serial, row->next ? row->next : UINT32_MAX);
}

static void link_row(struct times *t, uint32_t index, uint64_t serial)
{
	const uintptr_t first = hash_get(&t->by_owner, serial);
	struct times_row *row = &t->rows[index];

	row->owner.serial = serial;
	row->before = 0;
	row->next = first == UINT32_MAX ? 0 : (uint32_t)first;
	if (row->next)
		t->rows[row->next - 1].before = index + 1;
	hash_put(&t->by_owner, serial, index + 1);
}

void times_set(struct times *t, uint32_t index, struct view_value value, uint64_t ns,
	       struct times_owner owner)
{
	struct times_row *row = &t->rows[index];

	if (row->owner.serial != owner.serial) {
		add_cpu(t, row, ns);
		unlink_row(t, index);
		link_row(t, index, owner.serial);
		row->running = hash_get(&t->running, owner.serial) == RUNS;
	}
	row->owner.kernel = owner.kernel;
	if (view_value_equal(row->value, value))
		return;
	end_state(t, index, ns);
	row->value = value;
}

void times_count(struct times *t, uint32_t index, int64_t value, uint64_t ns)
{
	struct times_row *row = &t->rows[index];

	if (ns >= t->to_ns)
		return;
	row->counted = value;
	if (ns < t->from_ns)
		row->state_counted = value;
}

void times_run(struct times *t, uint64_t serial, bool running, uint64_t ns)
{
	const uintptr_t first = hash_get(&t->by_owner, serial);
	uint32_t i;

	hash_put(&t->running, serial, running ? RUNS : RUNS_NOT);
	for (i = first == UINT32_MAX ? 0 : (uint32_t)first; i; i = t->rows[i - 1].next) {
		add_cpu(t, &t->rows[i - 1], ns);
		t->rows[i - 1].running = running;
	}
}

void times_update(struct times *t, uint32_t index, struct view_value value)
{
	t->rows[index].value = value;
}

void times_lose(struct times *t, struct times_owner owner, uint64_t ns,
		void (*each)(void *arg, const struct times_row *row), void *arg)
{
	const struct view_value lost = { VALUE_LOST, 0 };
	const uintptr_t first = hash_get(&t->by_owner, owner.serial);
	uint32_t i;

	for (i = first == UINT32_MAX ? 0 : (uint32_t)first; i; i = t->rows[i - 1].next) {
		if (t->rows[i - 1].value.kind == VALUE_NONE ||
		    t->rows[i - 1].owner.kernel != owner.kernel)
			continue;
		times_set(t, i - 1, lost, ns, t->rows[i - 1].owner);
		each(arg, &t->rows[i - 1]);
	}
}

/* Are the times of each row the time of the view? */
static bool is_exact(const struct times *t)
{
	uint64_t *ns = cli_alloc(NULL, t->nr_rows + 1, sizeof(*ns));
	bool exact = true;
	size_t i;

	memset(ns, 0, (t->nr_rows + 1) * sizeof(*ns));
	for (i = 0; i < t->nr_sums; i++)
		ns[t->sums[i].row] += t->sums[i].ns;
	for (i = 0; i < t->nr_rows; i++)
		exact &= ns[i] == t->to_ns - t->from_ns;
	free(ns);
	return exact;
}

bool times_finish(struct times *t, uint64_t to_ns)
{
	size_t i;

	if (to_ns < t->to_ns)
		t->to_ns = to_ns;
	for (i = 0; i < t->nr_rows; i++)
		end_state(t, (uint32_t)i, t->to_ns);
	return t->full || is_exact(t);
}
