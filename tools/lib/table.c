// SPDX-License-Identifier: GPL-2.0-only
/* Tables as text, CSV (RFC 4180) and JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "table.h"
#include "text.h"
#include "text_cut.h"

enum { CELL_BYTES = 128 };

/* Texts are shortened to this many columns before table columns are left out. */
enum { TEXT_COLUMNS = 16 };

enum { DEFAULT_WIDTH = 100 };

static bool colour;

void table_use_colour(void)
{
	const char *term = getenv("TERM");

	colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term && strcmp(term, "dumb");
}

int table_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (columns && !cli_number(columns, 1000, &width) && width)
		return (int)width;
	if (isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return DEFAULT_WIDTH;
}

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
		t->cells = cli_alloc(t->cells, t->room * t->nr_columns, sizeof(*t->cells));
	}
	row = t->cells + t->nr_rows++ * t->nr_columns;
	memset(row, 0, t->nr_columns * sizeof(*row));
	return row;
}

static bool is_share(const struct column *c)
{
	return c->type == COLUMN_SHARE || c->type == COLUMN_RATE;
}

static bool is_none(const struct column *c, const union cell *cell)
{
	if (is_share(c))
		return isnan(cell->share);
	return (c->type == COLUMN_NS || c->type == COLUMN_SECONDS || c->type == COLUMN_SMALL) &&
	       cell->number == CELL_NONE;
}

/* Format a cell that is not a text for display; @buffer has CELL_BYTES. */
static void cell_text(const struct column *c, const union cell *cell, char *buffer)
{
	ktau_sum_t n = cell->number;
	char digits[NUMBER_TEXT_BYTES];

	if (is_none(c, cell)) {
		strcpy(buffer, "n/a");
		return;
	}
	switch (c->type) {
	case COLUMN_TEXT:
		break;
	case COLUMN_NUMBER:
	case COLUMN_SMALL:
		strcpy(buffer, text_number(n, digits));
		break;
	case COLUMN_SIGNED:
		snprintf(buffer, CELL_BYTES, "%" PRId64, cell->sign);
		break;
	case COLUMN_HEX:
		snprintf(buffer, CELL_BYTES, "%" PRIx64, (uint64_t)n);
		break;
	case COLUMN_NS:
		snprintf(buffer, CELL_BYTES, "%s.%03u", text_number(n / 1000000, digits),
			 (unsigned int)(n / 1000 % 1000));
		break;
	case COLUMN_SECONDS:
		snprintf(buffer, CELL_BYTES, "%.2f", (double)n / 1e9);
		break;
	case COLUMN_SHARE:
		snprintf(buffer, CELL_BYTES, "%.1f%%", cell->share * 100);
		break;
	case COLUMN_RATE:
		snprintf(buffer, CELL_BYTES, "%.3f", cell->share);
		break;
	}
}

/* Format a cell for CSV and JSON. */
static const char *cell_data(const struct column *c, const union cell *cell, char *buffer)
{
	char digits[NUMBER_TEXT_BYTES];

	if (is_none(c, cell) || (is_share(c) && isinf(cell->share)))
		return "";
	switch (c->type) {
	case COLUMN_TEXT:
		return cell->text ? cell->text : "";
	case COLUMN_NS:
	case COLUMN_SECONDS:
		strcpy(buffer, text_number(cell->number, digits));
		break;
	case COLUMN_SHARE:
	case COLUMN_RATE:
		snprintf(buffer, CELL_BYTES, "%.6f", cell->share);
		break;
	default:
		cell_text(c, cell, buffer);
	}
	return buffer;
}

/* Layout of some rows as text: which columns are shown, and their widths. */
struct layout {
	size_t first, nr;	/* rows */
	const char **texts;	/* escaped texts, column by column; NULL where there is none */
	int *width;		/* width of each column; 0: left out */
	size_t last;		/* last shown column; a text in it is not padded */
	int gap;
};

static const char **texts_of(const struct layout *l, size_t c)
{
	return &l->texts[c * l->nr];
}

/* Escape the texts of a column. */
static void make_texts(const struct table *t, struct layout *l, size_t c)
{
	size_t row;

	for (row = 0; row < l->nr; row++) {
		const union cell *cell = &t->cells[(l->first + row) * t->nr_columns + c];

		texts_of(l, c)[row] = t->columns[c].type == COLUMN_TEXT ?
				      text_escaped(cell->text ? cell->text : "") : NULL;
	}
}

static int column_width(const struct table *t, size_t c, const struct layout *l)
{
	int width = text_columns(t->columns[c].title), length;
	char buffer[CELL_BYTES];
	const char *text;
	size_t row;

	for (row = 0; row < l->nr; row++) {
		text = texts_of(l, c)[row];
		if (!text) {
			cell_text(&t->columns[c], &t->cells[(l->first + row) * t->nr_columns + c],
				  buffer);
			text = buffer;
		}
		length = text_columns(text);
		width = length > width ? length : width;
	}
	return width;
}

/* Number of columns by which the table is too wide. */
static int excess(const struct table *t, const struct layout *l)
{
	int total = -l->gap;
	size_t c;

	for (c = 0; c < t->nr_columns; c++)
		total += l->width[c] ? l->width[c] + l->gap : 0;
	return t->width ? total - t->width : 0;
}

/* The width of the widest text that is wider than @least; NULL if there is none. */
static int *widest_text(const struct table *t, struct layout *l, int least)
{
	int *widest = NULL;
	size_t c;

	for (c = 0; c < t->nr_columns; c++)
		if (t->columns[c].type == COLUMN_TEXT &&
		    l->width[c] > (widest ? *widest : least))
			widest = &l->width[c];
	return widest;
}

/* If it is enough to shorten texts to @least or more, do so, always taking the widest one. */
static void cut(const struct table *t, struct layout *l, int least)
{
	int over = excess(t, l), spare = 0, *widest;
	size_t c;

	for (c = 0; c < t->nr_columns; c++)
		if (t->columns[c].type == COLUMN_TEXT && l->width[c] > least)
			spare += l->width[c] - least;
	if (spare < over)
		return;
	while (over-- > 0 && (widest = widest_text(t, l, least)))
		--*widest;
}

/*
 * Narrow the gaps, then shorten texts, then leave out columns. A table that would show different
 * texts alike becomes wider instead.
 */
static void fit(const struct table *t, struct layout *l)
{
	size_t c;

	if (excess(t, l) > 0)
		l->gap = 1;
	cut(t, l, TEXT_COLUMNS);
	for (c = t->nr_columns; c-- && excess(t, l) > 0;)
		if (t->spare >> c & 1)
			l->width[c] = 0;
	cut(t, l, 1);
	for (c = 0; c < t->nr_columns; c++) {
		l->last = l->width[c] ? c : l->last;
		if (l->width[c] && t->columns[c].type == COLUMN_TEXT)
			l->width[c] = text_distinct(texts_of(l, c), l->nr, l->width[c]);
	}
}

static void print_text(const struct table *t, const struct layout *l, size_t c,
		       const char *text, FILE *out)
{
	char *cut;
	int width;

	if (c == l->last && !t->width) {
		fputs(text, out);
		return;
	}
	width = text_cut(text, l->width[c], &cut);
	fputs(cut, out);
	if (c != l->last)
		fprintf(out, "%*s", l->width[c] - width, "");
	free(cut);
}

/* Print row @row of the layout, or the titles. */
static void text_line(const struct table *t, const struct layout *l, size_t row, bool titles,
		      FILE *out)
{
	char buffer[CELL_BYTES];
	const char *text;
	int gap = 0;
	size_t c;

	for (c = 0; c < t->nr_columns; c++) {
		if (!l->width[c])
			continue;
		fprintf(out, "%*s", gap, "");
		gap = l->gap;
		text = titles ? t->columns[c].title : texts_of(l, c)[row];
		if (t->columns[c].type == COLUMN_TEXT) {
			print_text(t, l, c, text, out);
			continue;
		}
		if (!titles) {
			cell_text(&t->columns[c], &t->cells[(l->first + row) * t->nr_columns + c],
				  buffer);
			text = buffer;
		}
		fprintf(out, "%*s", l->width[c], text);
	}
	fputc('\n', out);
}

void table_text(const struct table *t, size_t first, size_t nr, const char *indent, FILE *out)
{
	struct layout l = {
		.first = first, .nr = nr, .gap = 2,
		.texts = cli_alloc(NULL, nr * t->nr_columns, sizeof(*l.texts)),
		.width = cli_alloc(NULL, t->nr_columns, sizeof(*l.width)),
	};
	bool bold = colour && out == stdout;
	size_t c, row;

	memset(l.width, 0, t->nr_columns * sizeof(*l.width));
	for (c = 0; c < t->nr_columns; c++) {
		make_texts(t, &l, c);
		if (t->columns[c].title && !(t->hidden >> c & 1))
			l.width[c] = column_width(t, c, &l);
	}
	fit(t, &l);
	fprintf(out, "%s%s", bold ? "\033[1m" : "", indent);
	text_line(t, &l, 0, true, out);
	fputs(bold ? "\033[0m" : "", out);
	for (row = 0; row < nr; row++) {
		fputs(indent, out);
		text_line(t, &l, row, false, out);
	}
	for (c = 0; c < nr * t->nr_columns; c++)
		free((char *)l.texts[c]);
	free(l.texts);
	free(l.width);
}

/* Control characters are escaped as in text, for terminals and line-based readers. */
static void csv_field(const char *text, FILE *out)
{
	bool quoted = text[strcspn(text, ",\"")];
	char escaped[ESCAPED_BYTES];

	if (quoted)
		fputc('"', out);
	fputs(csv_guard(text), out);
	while (*text) {
		if (*text == '"')
			fputc('"', out);
		text += escape_one(text, escaped);
		fputs(escaped, out);
	}
	if (quoted)
		fputc('"', out);
}

void table_csv_name(const struct table *t, FILE *out)
{
	fprintf(out, "# %s\n", t->key);
}

/* Whether a column is in the output for programs. */
static bool has_key(const struct table *t, size_t column)
{
	return t->columns[column].key && !(t->absent >> column & 1);
}

static void csv_head(const struct table *t, FILE *out)
{
	const char *comma = "";
	size_t c;

	for (c = 0; c < t->nr_columns; c++) {
		if (!has_key(t, c))
			continue;
		fprintf(out, "%s%s", comma, t->columns[c].key);
		comma = ",";
	}
	fputc('\n', out);
}

static void csv_rows(const struct table *t, FILE *out)
{
	char buffer[CELL_BYTES];
	const char *comma;
	size_t c, row;

	for (row = 0; row < t->nr_rows; row++) {
		comma = "";
		for (c = 0; c < t->nr_columns; c++) {
			if (!has_key(t, c))
				continue;
			fputs(comma, out);
			comma = ",";
			csv_field(cell_data(&t->columns[c], &t->cells[row * t->nr_columns + c],
					    buffer), out);
		}
		fputc('\n', out);
	}
}

void table_csv(const struct table *t, FILE *out)
{
	csv_head(t, out);
	csv_rows(t, out);
}

/* A task name may contain any bytes; those that are not valid UTF-8 are treated as Latin-1. */
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

/*
 * Many readers store numbers as doubles, which cannot hold every 64-bit number. Such figures
 * are always strings, whatever their value, so that a column has one type.
 */
static void json_cell(const struct column *c, const char *text, FILE *out)
{
	switch (c->type) {
	case COLUMN_SMALL:
	case COLUMN_SIGNED:
	case COLUMN_SHARE:
	case COLUMN_RATE:
		fputs(*text ? text : "null", out);
		return;
	case COLUMN_TEXT:
		json_string(text, out);
		return;
	case COLUMN_NUMBER:
	case COLUMN_HEX:
	case COLUMN_NS:
	case COLUMN_SECONDS:
		if (*text)
			json_string(text, out);
		else
			fputs("null", out);
		return;
	}
}

static void json_row(const struct table *t, const union cell *row, FILE *out)
{
	const char *before = "{", *text;
	char buffer[CELL_BYTES];
	size_t c;

	for (c = 0; c < t->nr_columns; c++) {
		if (!has_key(t, c))
			continue;
		fprintf(out, "%s\"%s\": ", before, t->columns[c].key);
		before = ", ";
		text = cell_data(&t->columns[c], &row[c], buffer);
		json_cell(&t->columns[c], text, out);
	}
	fputc('}', out);
}

static void json_rows(const struct table *t, FILE *out)
{
	size_t row;

	for (row = 0; row < t->nr_rows; row++) {
		fputs(row || t->nr_flushed ? ",\n  " : "\n  ", out);
		json_row(t, t->cells + row * t->nr_columns, out);
	}
}

void table_json(const struct table *t, FILE *out)
{
	fprintf(out, "\"%s\": [", t->key);
	json_rows(t, out);
	fputs(t->nr_rows ? "\n]" : "]", out);
}

void table_flush(struct table *t, enum table_format format, FILE *out)
{
	if (!t->nr_rows)
		return;
	if (format == FORMAT_JSON) {
		if (!t->nr_flushed)
			fprintf(out, "{\"%s\": [", t->key);
		json_rows(t, out);
	} else {
		if (!t->nr_flushed)
			csv_head(t, out);
		csv_rows(t, out);
	}
	t->nr_flushed += t->nr_rows;
	t->nr_rows = 0;
}

void table_end(struct table *t, enum table_format format, FILE *out)
{
	table_flush(t, format, out);
	if (format == FORMAT_JSON)
		fputs("\n]}\n", out);
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
