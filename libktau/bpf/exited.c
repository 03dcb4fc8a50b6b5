// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tasks that have exited, oldest first. Beyond a limit the oldest are evicted: only summed up. */
#include <errno.h>
#include <stdlib.h>

#include "exited.h"

#define LIMIT_BYTES	(64U << 20)

/*
 * Tasks exit on several CPUs at the same time, so the records of other tasks may be between the two
 * chunks of one. A second chunk also remains here if there was no room for its task's record.
 */
#define MAX_PENDING	256

void ktau__exited_init(struct ktau__exited *exited, uint64_t first_seq)
{
	memset(exited, 0, sizeof(*exited));
	exited->last = &exited->first;
	exited->next_seq = exited->shown_seq = first_seq;
	exited->limit_bytes = LIMIT_BYTES;
}

static void free_task(struct ktau__exited_task *task)
{
	free(task->state);
	free(task->more);
	free(task);
}

/* Remove a second chunk from the list. Return: the chunk, which the caller frees. */
static struct kb_more *take_pending(struct ktau__exited *exited, struct ktau__pending **at)
{
	struct ktau__pending *pending = *at;
	struct kb_more *more = pending->more;

	*at = pending->next;
	exited->nr_pending--;
	free(pending);
	return more;
}

void ktau__exited_free(struct ktau__exited *exited)
{
	struct ktau__exited_task *task;

	while ((task = exited->first)) {
		exited->first = task->next;
		free_task(task);
	}
	while (exited->pending)
		free(take_pending(exited, &exited->pending));
	ktau__buffer_free(&exited->gone);
}

uint32_t ktau__line_in_cpu(const struct kb_state *state, uint32_t cell)
{
	uint32_t at = cell - KB_NR_SOFTIRQS - KB_NR_VECTORS, line = 0;

	if (cell < KB_NR_SOFTIRQS + KB_NR_VECTORS)
		return cell;
	if (at < KB_NR_LINES)
		line = state->lines[at];
	line = line && line <= KB_NR_CPU_LINES ? line - 1 : KB_NR_CPU_LINES;
	return KB_NR_SOFTIRQS + KB_NR_VECTORS + line;
}

uint32_t ktau__irq_of_task(const struct kb_state *state, uint32_t cell)
{
	uint32_t line = cell - KB_NR_SOFTIRQS - KB_NR_VECTORS + 1, i;

	if (cell < KB_NR_SOFTIRQS + KB_NR_VECTORS)
		return cell;
	for (i = 0; i < KB_NR_LINES; i++)
		if (!state->lines[i] || state->lines[i] == line)
			return cell;
	return KB_NR_SOFTIRQS + KB_NR_VECTORS + KB_NR_CPU_LINES;
}

static void add_cell(struct ktau__evicted *sum, const struct kb_cell *cell)
{
	struct kb_cell *to;

	if (cell->id >= KB_NR_TASK_IDS || !cell->count)
		return;
	to = &sum->cells[cell->id];
	if (cell->counter) {
		to->excl = to->count ? ktau__min(to->excl, cell->excl) : cell->excl;
	} else {
		to->excl += cell->excl;
	}
	to->id = cell->id;
	to->counter = cell->counter;
	to->count += cell->count;
	to->incl += cell->incl;
	to->longest = ktau__max(to->longest, cell->longest);
	to->asleep += cell->asleep;
	to->runq += cell->runq;
	to->irq += cell->irq;
}

static void add_irq(struct kb_irq_cell *to, const struct kb_irq_cell *cell)
{
	to->count += cell->count;
	to->incl += cell->incl;
	to->excl += cell->excl;
	to->longest = ktau__max(to->longest, cell->longest);
}

static void add_to_sum(struct ktau__evicted *sum, const struct ktau__exited_task *task)
{
	const struct kb_state *st = task->state;
	struct ktau__parts parts;
	uint32_t i;

	for (i = 0; i < st->nr_cells && i < KB_NR_FIRST; i++)
		add_cell(sum, &st->cells[i]);
	for (i = KB_NR_FIRST; task->more && i < st->nr_cells; i++)
		add_cell(sum, &task->more->cells[i - KB_NR_FIRST]);
	for (i = 0; i < KB_IRQ_CELLS; i++)
		add_irq(&sum->irqs[ktau__line_in_cpu(st, i)], &st->irqs[i]);
	sum->nr_tasks++;
	sum->outer_ns += st->outer_ns;
	sum->refused += st->refused;
	sum->refused_ns += st->refused_ns;
	sum->clamped += st->clamped;
	ktau__parts_of(st, &parts);
	sum->parts.user += parts.user;
	sum->parts.kernel += parts.kernel;
	sum->parts.irq += parts.irq;
	sum->parts.runq += parts.runq;
	sum->parts.asleep += parts.asleep;
	sum->parts.guest += parts.guest;
}

static uint64_t task_bytes(const struct ktau__exited_task *task)
{
	return sizeof(*task) + sizeof(*task->state) + (task->more ? sizeof(*task->more) : 0);
}

static int evict(struct ktau__exited *exited)
{
	struct ktau__exited_task *task = exited->first;
	int err;

	err = ktau__buffer_append(&exited->gone, &task->state->serial, sizeof(uint64_t));
	if (err)
		return err;
	add_to_sum(&exited->evicted, task);
	exited->missed += task->seq >= exited->shown_seq;
	exited->bytes -= task_bytes(task);
	exited->first = task->next;
	if (!exited->first)
		exited->last = &exited->first;
	free_task(task);
	return 0;
}

/* The second chunk of a task, or NULL if it has not been read. */
static struct kb_more *find_more(struct ktau__exited *exited, uint64_t serial)
{
	struct ktau__pending **at;

	for (at = &exited->pending; *at; at = &(*at)->next)
		if ((*at)->more->serial == serial)
			return take_pending(exited, at);
	return NULL;
}

static int make_task(struct ktau__exited *exited, const void *data, size_t size,
		     struct ktau__exited_task **result)
{
	struct ktau__exited_task *task;
	uint32_t nr;

	if (size < offsetof(struct kb_state, index))
		return -EBADMSG;
	task = calloc(1, sizeof(*task));
	if (task)
		task->state = calloc(1, sizeof(*task->state));
	if (!task || !task->state) {
		free(task);
		return -ENOMEM;
	}
	memcpy(task->state, data, offsetof(struct kb_state, index));
	nr = task->state->nr_cells;
	if (nr > KB_NR_FIRST)
		task->more = find_more(exited, task->state->serial);
	if (nr > KB_NR_FIRST + KB_NR_MORE || (nr > KB_NR_FIRST && !task->more)) {
		free_task(task);
		return -EBADMSG;
	}
	*result = task;
	return 0;
}

/* Return: -ENOMEM also if the task was added, but others could not be evicted. */
static int add_task(struct ktau__exited *exited, const void *data, size_t size)
{
	struct ktau__exited_task *task;
	int err = make_task(exited, data, size, &task);

	if (err) {
		exited->lost++;
		return err;
	}
	task->seq = exited->next_seq++;
	*exited->last = task;
	exited->last = &task->next;
	exited->bytes += task_bytes(task);
	while (exited->bytes > exited->limit_bytes) {
		err = evict(exited);
		if (err)
			return err;
	}
	return 0;
}

static void drop_oldest(struct ktau__exited *exited)
{
	struct ktau__pending **at = &exited->pending;

	while ((*at)->next)
		at = &(*at)->next;
	free(take_pending(exited, at));
}

static int add_more(struct ktau__exited *exited, const void *data, size_t size)
{
	struct ktau__pending *pending;

	if (size < sizeof(struct kb_more))
		return -EBADMSG;
	pending = malloc(sizeof(*pending));
	if (!pending)
		return -ENOMEM;
	pending->more = malloc(sizeof(*pending->more));
	if (!pending->more) {
		free(pending);
		return -ENOMEM;
	}
	memcpy(pending->more, data, sizeof(*pending->more));
	pending->next = exited->pending;
	exited->pending = pending;
	if (++exited->nr_pending > MAX_PENDING)
		drop_oldest(exited);
	return 0;
}

int ktau__exited_add(struct ktau__exited *exited, const void *data, size_t size)
{
	uint32_t type;

	if (size < sizeof(type))
		return -EBADMSG;
	memcpy(&type, data, sizeof(type));
	if (type == KB_RECORD_EXITED)
		return add_task(exited, data, size);
	return type == KB_RECORD_MORE ? add_more(exited, data, size) : -EBADMSG;
}
