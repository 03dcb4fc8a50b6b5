// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several files of one boot are merged by time: the next slot is the earliest of the files' next
 * slots. The order within a file is never changed, because it is exact and times of different
 * spaces in it are not.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/cli.h"
#include "lib/output.h"
#include "lib/same_file.h"
#include "input.h"
#include "merger.h"
#include "world.h"

/**
 * struct merger - a merge in progress
 * @o: what to do
 * @inputs: the files
 * @more: whether each of them has a slot
 * @world: what their slots describe
 * @consumer: state of the consumer
 * @has_origin: @origin is set
 * @origin: time of the first slot
 * @any: there was a slot about pages
 * @any_reference: there was a reference, or an access to a file
 * @passed: the consumer got one
 * @readable: all that can be read has been passed on
 */
struct merger {
	const struct merge_options *o;
	struct page_input *inputs;
	bool *more;
	struct world world;
	void *consumer;
	bool has_origin;
	uint64_t origin;
	bool any, any_reference, passed, readable;
};

static uint64_t time_ns(const struct merger *m, uint64_t ticks)
{
	return ticks > m->origin ? ktau_clock_ns(&m->inputs[0].clock, ticks - m->origin) : 0;
}

bool merge_wants(const struct merge_options *o, const struct page_record *r, uint64_t ns)
{
	if (ns < o->from_ns || ns > o->to_ns)
		return false;
	if (r->kind == PAGE_FILE)
		return !o->no_files;
	if (r->kind != PAGE_REFERENCE)
		return true;
	return !((o->drop_first_stores && r->flags & KTAU_REFERENCE_FIRST_STORE) ||
		 (o->no_kernel && r->flags & KTAU_REFERENCE_KERNEL) ||
		 (o->no_fetch && r->flags & KTAU_REFERENCE_FETCH));
}

static int pass_record(void *arg, struct page_record *r)
{
	struct merger *m = arg;
	uint64_t ns = time_ns(m, r->ticks);

	m->any_reference |= r->kind != PAGE_LOST;
	if (!merge_wants(m->o, r, ns))
		return 0;
	m->passed |= r->kind != PAGE_LOST;
	r->time = m->o->setup.ticks ? r->ticks : ns;
	return m->o->consumer->record ? m->o->consumer->record(m->consumer, r) : 0;
}

static int pass_loss(struct merger *m, uint32_t input)
{
	const struct page_input *in = &m->inputs[input];
	struct page_record r = {
		.kind = PAGE_LOST, .ticks = in->slot->ticks, .number = in->lost, .input = input,
	};

	return in->lost ? pass_record(m, &r) : 0;
}

/* Follow the current slot of an input. */
static int pass_slot(struct merger *m, uint32_t input)
{
	const struct ktau_slot *slot = m->inputs[input].slot;
	const void *payload;
	int err;

	if (!m->has_origin) {
		m->origin = slot->ticks;
		m->has_origin = true;
	}
	err = pass_loss(m, input);
	if (err)
		return err;
	err = world_slot(&m->world, input, slot, &payload);
	m->any |= !err && payload;
	if (!err && payload && m->o->consumer->event && slot->type != KTAU_TRACE_REFERENCE &&
	    slot->type != KTAU_TRACE_FILE)
		err = m->o->consumer->event(m->consumer, slot->type, slot->ticks, payload);
	return err;
}

/* The input whose slot is next; -1 if all have ended. */
static int next_input(const struct merger *m)
{
	int next = -1;
	uint32_t i;

	for (i = 0; i < m->o->nr_paths; i++)
		if (m->more[i] &&
		    (next < 0 || m->inputs[i].slot->ticks < m->inputs[next].slot->ticks))
			next = (int)i;
	return next;
}

static int refuse(const struct page_input *a, const struct page_input *b, const char *why)
{
	complain("%s and %s %s", a->path, b->path, why);
	return -1;
}

/* A session that is in two inputs, such as a file and its copy, would count twice. */
static int check_sessions(const struct merger *m)
{
	const struct page_input *in = m->inputs;
	struct hash sessions = { 0 };
	uint32_t i, other;
	int err = 0;

	for (i = 0; i < m->o->nr_paths && !err; i++) {
		if (!m->more[i])
			continue;
		other = (uint32_t)hash_get(&sessions, in[i].trace->serial);
		if (other)
			err = refuse(&in[other - 1], &in[i], "are of the same session");
		hash_put(&sessions, in[i].trace->serial, i + 1);
	}
	hash_deinit(&sessions);
	return err;
}

/* Go to the first slot of each input. Return: 0, or -1 with a message. */
static int begin_inputs(struct merger *m)
{
	uint32_t i;

	for (i = 0; i < m->o->nr_paths; i++)
		m->more[i] = input_next(&m->inputs[i]);
	for (i = 1; i < m->o->nr_paths; i++)
		if (!ktau_same_boot(&m->inputs[0].boot, &m->inputs[i].boot))
			return refuse(&m->inputs[0], &m->inputs[i], "are of different boots");
	return check_sessions(m);
}

static int pass_all(struct merger *m)
{
	int next, err = 0;

	while (!err && (next = next_input(m)) >= 0) {
		err = pass_slot(m, (uint32_t)next);
		m->more[next] = !err && input_next(&m->inputs[next]);
	}
	return err;
}

int merge_nothing(const struct merge_options *o, bool any)
{
	if (!any)
		complain("%s: no references to pages in it", o->paths[0]);
	else if (o->from_ns || o->to_ns != UINT64_MAX)
		complain("%s: no references to pages between --from and --to", o->paths[0]);
	else
		complain("%s: the options leave out all references to pages", o->paths[0]);
	return CLI_FAILED;
}

/* Whether there is nothing to show: only the first line of a text would be written. */
static bool is_empty(const struct merger *m)
{
	if (m->any_reference)
		return !m->passed;
	return !m->any || m->o->consumer->needs_references;
}

/* Report what was wrong. Return: the exit status. */
static int judge(const struct merger *m)
{
	int status = CLI_DONE;
	unsigned int kind;
	uint32_t i;

	for (kind = 0; kind < NR_CONTRADICTIONS; kind++) {
		if (!m->world.wrong[kind])
			continue;
		complain("contradiction: %s: %" PRIu64 ", the first at %" PRIu64 " ticks",
			 contradiction_name(kind), m->world.wrong[kind],
			 m->world.wrong_ticks[kind]);
		status = m->o->strict ? CLI_FAILED : status;
	}
	skipped_report(&m->world.skipped);
	for (i = 0; i < m->o->nr_paths; i++)
		if (m->inputs[i].status || (m->o->strict && m->inputs[i].lost_in_all))
			status = CLI_FAILED;
	if (!status && is_empty(m))
		status = merge_nothing(m->o, m->any_reference);
	return status;
}

static int consume(struct merger *m)
{
	const struct consumer *c = m->o->consumer;
	int err;

	if (begin_inputs(m))
		return CLI_FAILED;
	m->consumer = c->begin(&m->o->setup);
	if (!m->consumer)
		return CLI_FAILED;
	err = pass_all(m);
	if (c->end(m->consumer))
		err = -1;
	m->readable = !err && !is_empty(m);
	return err ? CLI_FAILED : judge(m);
}

/* What can be read of a damaged input is kept. Return: the exit status. */
static int close_output(const struct merger *m, int status)
{
	struct output *output = m->o->setup.output;

	if (!output)
		return status;
	if (!m->readable || (status && m->o->strict))
		output_discard(output);
	else if (output_commit(output))
		status = CLI_FAILED;
	return status;
}

int merge_files(const struct merge_options *o)
{
	struct merger m = { .o = o };
	int status = CLI_DONE;
	uint32_t i, opened;

	m.inputs = cli_alloc(NULL, o->nr_paths, sizeof(*m.inputs));
	m.more = cli_alloc(NULL, o->nr_paths, sizeof(*m.more));
	world_init(&m.world, o->nr_paths, pass_record, &m);
	if (same_file_twice(o->paths, o->nr_paths))
		status = CLI_FAILED;
	for (opened = 0; !status && opened < o->nr_paths; opened++)
		status = input_open(&m.inputs[opened], o->paths[opened]);
	if (!status)
		status = consume(&m);
	for (i = 0; i < opened; i++)
		input_close(&m.inputs[i]);
	world_deinit(&m.world);
	free(m.inputs);
	free(m.more);
	return close_output(&m, status);
}
