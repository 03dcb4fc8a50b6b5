// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables as text, CSV (RFC 4180) and JSON.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "table.h"
#include "text.h"

enum { NUMBER_BYTES = 40 };

int table_parse_format(const char *word, enum table_format *format)
{
	static const char *const words[] = {
		[FORMAT_TEXT] = "text", [FORMAT_CSV] = "csv", [FORMAT_JSON] = "json",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(word, words[i])) {
			*format = (enum table_format)i;
			return 0;
		}
	}
	return -1;
}

void table_init(struct table *t, const char *key, const struct column *columns,
		size_t nr_columns)
{
	*t = (struct table){
		.key = key,
		.columns = columns,
		.nr_columns = nr_columns,
	};
}

void table_deinit(struct table *t)
{
	free(t->cells);
	t->cells = NULL;
	t->nr_rows = t->room = 0;
}

union cell *table_row(struct table *t)
{
	union cell *row;

	if (t->nr_rows == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->cells = cmd_alloc(t->cells, t->room * t->nr_columns, sizeof(*t->cells));
	}
	row = t->cells + t->nr_rows++ * t->nr_columns;
	memset(row, 0, t->nr_columns * sizeof(*row));
	return row;
}

/* A cell as people want it; numbers go to @buffer of NUMBER_BYTES. */
static const char *cell_text(const struct column *c, const union cell *cell, char *buffer)
{
	switch (c->type) {
	case COLUMN_TEXT:
		return cell->text ? cell->text : "";
	case COLUMN_NUMBER:
		snprintf(buffer, NUMBER_BYTES, "%" PRIu64, cell->number);
		break;
	case COLUMN_SIGNED:
		snprintf(buffer, NUMBER_BYTES, "%" PRId64, cell->sign);
		break;
	case COLUMN_HEX:
		snprintf(buffer, NUMBER_BYTES, "%" PRIx64, cell->number);
		break;
	case COLUMN_NS:
		snprintf(buffer, NUMBER_BYTES, "%" PRIu64 ".%03u",
			 cell->number / 1000000,
			 (unsigned int)(cell->number / 1000 % 1000));
		break;
	case COLUMN_SHARE:
		snprintf(buffer, NUMBER_BYTES, "%.1f%%", cell->share * 100);
		break;
	}
	return buffer;
}

/* A cell as programs want it. */
static const char *cell_data(const struct column *c, const union cell *cell, char *buffer)
{
	switch (c->type) {
	case COLUMN_NS:
		snprintf(buffer, NUMBER_BYTES, "%" PRIu64, cell->number);
		return buffer;
	case COLUMN_SHARE:
		snprintf(buffer, NUMBER_BYTES, "%.6f", cell->share);
		return buffer;
	default:
		return cell_text(c, cell, buffer);
	}
}

/* The last column of text is as long as it is. */
static bool last_column(const struct table *t, size_t c)
{
	while (++c < t->nr_columns)
		if (t->columns[c].title)
			return false;
	return true;
}

static int column_width(const struct table *t, size_t c, size_t first, size_t nr)
{
	size_t width = strlen(t->columns[c].title), row, length;
	char buffer[NUMBER_BYTES];

	for (row = first; row < first + nr; row++) {
		length = strlen(cell_text(&t->columns[c],
					  &t->cells[row * t->nr_columns + c], buffer));
		if (length > width)
			width = length;
	}
	return (int)width;
}

static void text_line(const struct table *t, const union cell *row, const int *width,
		      const char *indent, FILE *out)
{
	const char *gap = indent, *text;
	char buffer[NUMBER_BYTES];
	size_t c;

	for (c = 0; c < t->nr_columns; c++) {
		const struct column *column = &t->columns[c];

		if (!column->title)
			continue;
		text = row ? cell_text(column, &row[c], buffer) : column->title;
		fputs(gap, out);
		if (column->type != COLUMN_TEXT)
			fprintf(out, "%*s", width[c], text);
		else if (last_column(t, c))
			print_escaped(text, out);
		else
			fprintf(out, "%-*s", width[c], text);
		gap = "  ";
	}
	fputc('\n', out);
}

void table_text(const struct table *t, size_t first, size_t nr, const char *indent, FILE *out)
{
	int *width = cmd_alloc(NULL, t->nr_columns, sizeof(*width));
	size_t c, row;

	for (c = 0; c < t->nr_columns; c++)
		width[c] = t->columns[c].title ? column_width(t, c, first, nr) : 0;
	text_line(t, NULL, width, indent, out);
	for (row = first; row < first + nr; row++)
		text_line(t, t->cells + row * t->nr_columns, width, indent, out);
	free(width);
}

static void csv_field(const char *text, FILE *out)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

void table_csv(const struct table *t, FILE *out)
{
	char buffer[NUMBER_BYTES];
	size_t c, row;

	for (c = 0; c < t->nr_columns; c++)
		fprintf(out, "%s%s", c ? "," : "", t->columns[c].key);
	fputc('\n', out);
	for (row = 0; row < t->nr_rows; row++) {
		for (c = 0; c < t->nr_columns; c++) {
			if (c)
				fputc(',', out);
			csv_field(cell_data(&t->columns[c], &t->cells[row * t->nr_columns + c],
					    buffer),
				  out);
		}
		fputc('\n', out);
	}
}

/* A task's name may be any bytes: those that are no UTF-8 are taken as Latin-1. */
void json_string(const char *text, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;
	int n;

	fputc('"', out);
	while (*s) {
		n = utf8_bytes(s);
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f || !n)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, (size_t)n, out);
		s += n ? n : 1;
	}
	fputc('"', out);
}

static void json_row(const struct table *t, const union cell *row, FILE *out)
{
	char buffer[NUMBER_BYTES];
	const char *text;
	size_t c;

	for (c = 0; c < t->nr_columns; c++) {
		fprintf(out, "%s\"%s\": ", c ? ", " : "{", t->columns[c].key);
		text = cell_data(&t->columns[c], &row[c], buffer);
		if (t->columns[c].type == COLUMN_TEXT || t->columns[c].type == COLUMN_HEX)
			json_string(text, out);
		else
			fputs(text, out);
	}
	fputc('}', out);
}

void table_json(const struct table *t, FILE *out)
{
	size_t row;

	fprintf(out, "\"%s\": [", t->key);
	for (row = 0; row < t->nr_rows; row++) {
		fputs(row ? ",\n  " : "\n  ", out);
		json_row(t, t->cells + row * t->nr_columns, out);
	}
	fputs(t->nr_rows ? "\n]" : "]", out);
}

void table_print(const struct table *t, enum table_format format, FILE *out)
{
	switch (format) {
	case FORMAT_TEXT:
		table_text(t, 0, t->nr_rows, "", out);
		return;
	case FORMAT_CSV:
		table_csv(t, out);
		return;
	case FORMAT_JSON:
		fputc('{', out);
		table_json(t, out);
		fputs("}\n", out);
		return;
	}
}
