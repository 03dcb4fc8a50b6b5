// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/text.h"
#include "draw.h"
#include "labels.h"

/* Columns of a label, and of the rest of a line. */
enum { LONGEST_LABEL = 24,
       FEWEST = 10,
       MOST = 1000 };

/* The letters; then any other state, a loss, and no state. */
enum { LETTERS = 26,
       OTHER = LETTERS,
       UNKNOWN,
       NOTHING,
       MARKS };

/* The time in which any row had a value. @next is the next one of the same hash, plus 1. */
struct part {
	struct view_value value;
	uint64_t ns;
	const char *text;
	uint32_t next;
	int mark;
};

/**
 * struct drawing - the lines
 * @parts: values of all rows, the longest first
 * @nr: length of @parts
 * @by_value: index in @parts plus 1
 * @marks: for each letter, the part that it stands for plus 1
 * @columns: number of columns
 * @label: number of columns of labels
 * @sums: for each column of a line, the time of each mark
 */
struct drawing {
	struct part *parts;
	size_t nr;
	struct hash by_value;
	size_t marks[LETTERS];
	size_t columns;
	int label;
	uint64_t (*sums)[MARKS];
};

static uint64_t key_of(struct view_value value)
{
	return (uint64_t)value.number * 8 + (uint64_t)value.kind;
}

static struct part *find_part(const struct drawing *d, struct view_value value)
{
	uint32_t i = (uint32_t)hash_get(&d->by_value, key_of(value));

	while (i && !view_value_equal(d->parts[i - 1].value, value))
		i = d->parts[i - 1].next;
	return i ? &d->parts[i - 1] : NULL;
}

static void index_parts(struct drawing *d)
{
	uint32_t i;

	hash_clear(&d->by_value);
	for (i = 0; i < d->nr; i++) {
		d->parts[i].next = (uint32_t)hash_get(&d->by_value, key_of(d->parts[i].value));
		hash_put(&d->by_value, key_of(d->parts[i].value), i + 1);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* The values of all rows, the longest first. */
static void add_parts(struct engine *g, struct drawing *d)
{
	const struct times_sum *sum;
	struct part *part;
	size_t i;

	d->parts = cli_alloc(NULL, g->times.nr_sums + 1, sizeof(*d->parts));
	for (i = 0; i < g->times.nr_sums; i++) {
		sum = &g->times.sums[i];
		part = find_part(d, sum->value);
		if (!part) {
			part = &d->parts[d->nr];
			*part = (struct part){ .value = sum->value };
			part->next = (uint32_t)hash_get(&d->by_value, key_of(sum->value));
			part->text = view_value_text(g, sum->value);
			hash_put(&d->by_value, key_of(sum->value), ++d->nr);
		}
		part->ns += sum->ns;
	}
	if (d->nr)
		qsort(d->parts, d->nr, sizeof(*d->parts), by_time);
	index_parts(d);
}

/* A letter of @text that stands for no other state, or any; OTHER if there is none. */
static int free_letter(const struct drawing *d, const char *text)
{
	const char *c;
	int letter;

	for (c = text; *c; c++) {
		letter = toupper((unsigned char)*c) - 'A';
		if (letter >= 0 && letter < LETTERS && !d->marks[letter])
			return letter;
	}
	for (letter = 0; letter < LETTERS && d->marks[letter];)
		letter++;
	return letter < LETTERS ? letter : OTHER;
}

static void choose_marks(struct drawing *d)
{
	struct part *part;
	size_t i;

	for (i = 0; i < d->nr; i++) {
		part = &d->parts[i];
		if (part->value.kind == VALUE_NONE)
			part->mark = NOTHING;
		else if (part->value.kind == VALUE_LOST)
			part->mark = UNKNOWN;
		else
			part->mark = free_letter(d, part->text);
		if (part->mark < LETTERS)
			d->marks[part->mark] = i + 1;
	}
}

/* When a column begins, since the start of the view. */
static uint64_t begin_of(const struct times *t, const struct drawing *d, size_t column)
{
	const uint64_t ns = t->to_ns - t->from_ns;

	return ns / d->columns * column + ns % d->columns * column / d->columns;
}

static void add_interval(const struct times *t, struct drawing *d,
			 const struct times_interval *interval)
{
	const uint64_t from_ns = interval->from_ns - t->from_ns;
	const uint64_t to_ns = interval->to_ns - t->from_ns;
	const int mark = find_part(d, interval->value)->mark;
	/* A column is no longer than this, so it is the right one or one before. */
	size_t column = (size_t)(from_ns / ((t->to_ns - t->from_ns) / d->columns + 1));
	uint64_t begin, end;

	for (; column < d->columns && begin_of(t, d, column) < to_ns; column++) {
		begin = begin_of(t, d, column);
		end = begin_of(t, d, column + 1);
		begin = begin < from_ns ? from_ns : begin;
		end = end > to_ns ? to_ns : end;
		if (end > begin)
			d->sums[column][mark] += end - begin;
	}
}

static void print_column(const uint64_t sums[MARKS], uint64_t ns, FILE *out)
{
	int best = NOTHING, mark;

	for (mark = 0; mark < MARKS; mark++)
		if (sums[mark] > sums[best])
			best = mark;
	if (best < LETTERS)
		fputc((2 * sums[best] < ns ? 'a' : 'A') + best, out);
	else
		fputc(best == OTHER ? '*' : best == UNKNOWN ? '?' :
							      '.',
		      out);
}

static void print_label(const char *text, int width, FILE *out)
{
	const size_t bytes = text_bytes(text, width);
	char *cut = strndup(text, bytes);

	if (cut) {
		print_escaped(cut, out);
		fprintf(out, "%*s", width - text_columns(cut) + 1, "");
	}
	free(cut);
}

static void print_legend(const struct drawing *d, int width, FILE *out)
{
	int used = 0, columns;
	bool other = false;
	size_t i;

	for (i = 0; i < d->nr; i++) {
		other |= d->parts[i].mark == OTHER;
		if (d->parts[i].mark >= LETTERS)
			continue;
		columns = 4 + text_columns(d->parts[i].text);
		if (used && used + columns > width) {
			fputc('\n', out);
			used = 0;
		}
		fprintf(out, "%s%c ", used ? "  " : "", 'A' + d->parts[i].mark);
		print_escaped(d->parts[i].text, out);
		used += columns;
	}
	fputs(other ? "  * other\n" : "\n", out);
}

/* Intervals by row, in order of their labels, and by time. */
struct piece {
	const struct times_interval *interval;
	uint32_t place;
};

static int by_place(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->interval->from_ns != y->interval->from_ns)
		return x->interval->from_ns < y->interval->from_ns ? -1 : 1;
	return 0;
}

/* The intervals of the rows that had a state. */
static struct piece *make_pieces(const struct times *t, const struct view_label *labels, size_t *nr)
{
	struct piece *pieces = cli_alloc(NULL, t->nr_intervals + 1, sizeof(*pieces));
	const struct times_interval *interval;
	size_t i;

	for (i = *nr = 0; i < t->nr_intervals; i++) {
		interval = &t->intervals[i];
		if (t->rows[interval->row].known)
			pieces[(*nr)++] = (struct piece){ interval, labels[interval->row].place };
	}
	if (*nr)
		qsort(pieces, *nr, sizeof(*pieces), by_place);
	return pieces;
}

static void draw_lines(const struct times *t, struct drawing *d, const struct view_label *labels,
		       FILE *out)
{
	struct piece *pieces, *piece;
	size_t nr, i;

	pieces = make_pieces(t, labels, &nr);
	d->sums = cli_alloc(NULL, d->columns, sizeof(*d->sums));
	for (piece = pieces; piece < pieces + nr;) {
		const uint32_t row = piece->interval->row;

		memset(d->sums, 0, d->columns * sizeof(*d->sums));
		for (; piece < pieces + nr && piece->interval->row == row; piece++)
			add_interval(t, d, piece->interval);
		print_label(labels[row].text, d->label, out);
		for (i = 0; i < d->columns; i++)
			print_column(d->sums[i], begin_of(t, d, i + 1) - begin_of(t, d, i), out);
		fputc('\n', out);
	}
	free(d->sums);
	free(pieces);
}

void view_draw(struct engine *g, int width, FILE *out)
{
	struct view_label *labels = view_labels(g);
	const struct times *t = &g->times;
	struct drawing d = { 0 };
	int columns;
	size_t i;

	for (i = 0; i < t->nr_rows; i++) {
		columns = text_columns(labels[i].text);
		if (t->rows[i].known && columns > d.label)
			d.label = columns < LONGEST_LABEL ? columns : LONGEST_LABEL;
	}
	columns = width - d.label - 1;
	d.columns = columns < FEWEST ? FEWEST : columns > MOST ? MOST :
								 (size_t)columns;
	add_parts(g, &d);
	choose_marks(&d);
	draw_lines(t, &d, labels, out);
	print_legend(&d, width, out);
	hash_deinit(&d.by_value);
	free(d.parts);
	free(labels);
}
