// SPDX-License-Identifier: GPL-2.0-only
/*
 * At most NR_OPEN files are open at a time; the one that was written to the longest time ago is
 * closed for the next one, and continued later.
 *
 * Slots that were lost may have been of any process, so a loss is written to each file, before its
 * next record or at its end. Losses without a record in between become one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/hash.h"
#include "split_output.h"

enum { NR_OPEN = 64 };

/**
 * struct part - a file
 * @path: its path in the directory
 * @sink: it is open
 * @used: when it was last written to, as the number of a record
 * @lost: how many of the lost slots it has
 */
struct part {
	char *path;
	struct sink *sink;
	uint64_t used, lost;
};

/**
 * struct split - the files
 * @format: their form
 * @output: the directory
 * @suffix: end of their names
 * @by_thread: one for each thread
 * @parts: the files
 * @nr: their number
 * @by_key: number of a file, plus 1, by serial of the process or thread
 * @open: those that are open
 * @records: number of records so far
 * @lost: number of lost slots so far
 * @loss: the last loss
 */
struct split {
	struct line_format format;
	struct output *output;
	const char *suffix;
	bool by_thread;
	struct part **parts;
	size_t nr;
	struct hash by_key;
	struct part *open[NR_OPEN];
	uint64_t records, lost;
	struct page_record loss;
};

static void destroy(struct split *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++) {
		free(s->parts[i]->path);
		free(s->parts[i]);
	}
	free(s->parts);
	hash_deinit(&s->by_key);
	free(s);
}

void *split_begin(const struct consumer_setup *setup, const char *name, bool by_thread)
{
	struct split *s = cli_alloc(NULL, 1, sizeof(*s));

	*s = (struct split){
		.output = setup->output, .suffix = setup->suffix, .by_thread = by_thread,
	};
	s->format = (struct line_format){ name, setup->binary, setup->ticks, false };
	return s;
}

/* The name of the file of a thread, in the directory. */
static char *name_part(const struct split *s, const struct page_thread *t)
{
	const struct page_process *p = t ? t->process : NULL;
	char *path;
	int length;

	if (!p)
		length = asprintf(&path, "unknown%s", s->suffix);
	else if (!s->by_thread)
		length = asprintf(&path, "%" PRId32 "-%" PRIu64 "%s", p->pid, p->serial,
				  s->suffix);
	else
		length = asprintf(&path, "%" PRId32 "-%" PRIu64 "/%" PRId32 "-%" PRIu64 "%s",
				  p->pid, p->serial, t->tid, t->serial, s->suffix);
	if (length < 0)
		cli_alloc(NULL, SIZE_MAX, 2);
	return path;
}

/* The file of a thread. */
static struct part *find_part(struct split *s, const struct page_thread *t)
{
	uint64_t key = 0;
	struct part *part;
	uintptr_t number;

	/* Two sessions may have traced the same process. */
	if (t)
		key = s->by_thread ? t->serial : t->process->serial;
	number = hash_get(&s->by_key, key);
	if (number)
		return s->parts[number - 1];
	part = cli_alloc(NULL, 1, sizeof(*part));
	*part = (struct part){ 0 };
	s->parts = cli_alloc(s->parts, s->nr + 1, sizeof(*s->parts));
	s->parts[s->nr++] = part;
	hash_put(&s->by_key, key, s->nr);
	part->path = name_part(s, t);
	return part;
}

static int close_part(struct part *part)
{
	int err = part->sink ? sink_close(part->sink) : 0;

	part->sink = NULL;
	return err;
}

/* Open a file that is not. Return: 0, or -1 with a message. */
static int open_part(struct split *s, struct part *part)
{
	size_t i, oldest = 0;

	for (i = 0; i < NR_OPEN && s->open[i]; i++)
		if (s->open[i]->used < s->open[oldest]->used)
			oldest = i;
	if (i == NR_OPEN) {
		i = oldest;
		if (close_part(s->open[i]))
			return -1;
	}
	s->open[i] = part;
	part->sink = sink_open(s->output, s->suffix, part->path, part->used > 0);
	if (!part->sink)
		return -1;
	return part->used ? 0 : line_begin(&s->format, part->sink);
}

/* Write what was lost since the last record of a file. */
static int write_loss(struct split *s, struct part *part)
{
	struct page_record loss = s->loss;

	if (part->lost == s->lost)
		return 0;
	loss.number = s->lost - part->lost;
	part->lost = s->lost;
	return line_write(&s->format, &loss, part->sink);
}

int split_record(void *state, const struct page_record *r)
{
	struct split *s = state;
	struct part *part;

	if (r->kind == PAGE_LOST) {
		s->lost += r->number;
		s->loss = *r;
		return 0;
	}
	part = find_part(s, r->thread);
	if (!part->sink && open_part(s, part))
		return -1;
	part->used = ++s->records;
	if (write_loss(s, part))
		return -1;
	return line_write(&s->format, r, part->sink);
}

int split_end(void *state)
{
	struct split *s = state;
	int err = 0;
	size_t i;

	for (i = 0; !err && i < s->nr; i++)
		if (s->parts[i]->used && s->parts[i]->lost != s->lost)
			err = (!s->parts[i]->sink && open_part(s, s->parts[i])) ||
			      write_loss(s, s->parts[i]);
	for (i = 0; i < s->nr; i++)
		if (close_part(s->parts[i]))
			err = -1;
	destroy(s);
	return err ? -1 : 0;
}
