// SPDX-License-Identifier: GPL-2.0-only
/* Tables as text, CSV (RFC 4180) and JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "table.h"
#include "text.h"

enum { CELL_BYTES = 128 };

/* Texts are shortened to this many columns before table columns are left out. */
enum { TEXT_COLUMNS = 16 };

static bool colour;

void table_use_colour(void)
{
	const char *term = getenv("TERM");

	colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term && strcmp(term, "dumb");
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
	return c->type == COLUMN_SHARE || c->type == COLUMN_PER_CENT || c->type == COLUMN_RATE;
}

static bool is_none(const struct column *c, const union cell *cell)
{
	if (is_share(c))
		return isnan(cell->share);
	return (c->type == COLUMN_NS || c->type == COLUMN_SECONDS) && cell->number == CELL_NONE;
}

/* Escape as much of @text as fits into @buffer. */
static void escape(const char *text, char *buffer)
{
	char escaped[ESCAPED_BYTES];
	size_t used = 0;

	for (*buffer = 0; *text; used = strlen(buffer)) {
		text += escape_one(text, escaped);
		if (used + strlen(escaped) >= CELL_BYTES)
			return;
		strcpy(buffer + used, escaped);
	}
}

/* Format a cell for display; @buffer has CELL_BYTES. */
static void cell_text(const struct column *c, const union cell *cell, char *buffer)
{
	uint64_t n = cell->number;

	if (is_none(c, cell)) {
		strcpy(buffer, "n/a");
		return;
	}
	switch (c->type) {
	case COLUMN_TEXT:
		escape(cell->text ? cell->text : "", buffer);
		break;
	case COLUMN_NUMBER:
	case COLUMN_SMALL:
		snprintf(buffer, CELL_BYTES, "%" PRIu64, n);
		break;
	case COLUMN_SIGNED:
		snprintf(buffer, CELL_BYTES, "%" PRId64, cell->sign);
		break;
	case COLUMN_HEX:
		snprintf(buffer, CELL_BYTES, "%" PRIx64, n);
		break;
	case COLUMN_NS:
		snprintf(buffer, CELL_BYTES, "%" PRIu64 ".%03u", n / 1000000,
			 (unsigned int)(n / 1000 % 1000));
		break;
	case COLUMN_SECONDS:
		snprintf(buffer, CELL_BYTES, "%.2f", (double)n / 1e9);
		break;
	case COLUMN_SHARE:
	case COLUMN_PER_CENT:
		snprintf(buffer, CELL_BYTES, "%.1f%s", cell->share * 100,
			 c->type == COLUMN_SHARE ? "%" : "");
		break;
	case COLUMN_RATE:
		snprintf(buffer, CELL_BYTES, "%.3f", cell->share);
		break;
	}
}

/* Format a cell for CSV and JSON. */
static const char *cell_data(const struct column *c, const union cell *cell, char *buffer)
{
	if (is_none(c, cell) || (is_share(c) && isinf(cell->share)))
		return "";
	switch (c->type) {
	case COLUMN_TEXT:
		return cell->text ? cell->text : "";
	case COLUMN_NS:
	case COLUMN_SECONDS:
		snprintf(buffer, CELL_BYTES, "%" PRIu64, cell->number);
		break;
	case COLUMN_SHARE:
	case COLUMN_PER_CENT:
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
	int *width;		/* width of each column; 0: left out */
	size_t last;		/* last shown column; a text in it is not padded */
	int gap;
};

static int column_width(const struct table *t, size_t c, const struct layout *l)
{
	int width = text_columns(t->columns[c].title), length;
	char buffer[CELL_BYTES];
	size_t row;

	for (row = l->first; row < l->first + l->nr; row++) {
		cell_text(&t->columns[c], &t->cells[row * t->nr_columns + c], buffer);
		length = text_columns(buffer);
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

/* Narrow the gaps, then shorten texts, then leave out columns. */
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
	for (c = 0; c < t->nr_columns; c++)
		l->last = l->width[c] ? c : l->last;
}

/* The number of bytes of the first @columns characters of @text. */
static int bytes_of(const char *text, int columns)
{
	int bytes = 0;

	for (; text[bytes] && (columns || (text[bytes] & 0xc0) == 0x80); bytes++)
		columns -= (text[bytes] & 0xc0) != 0x80;
	return bytes;
}

static void print_text(const struct table *t, const struct layout *l, size_t c,
		       const char *text, FILE *out)
{
	char buffer[CELL_BYTES];
	int pad;

	if (c == l->last && !t->width) {
		print_escaped(text, out);
		return;
	}
	escape(text, buffer);
	pad = l->width[c] - text_columns(buffer);
	fprintf(out, "%.*s", bytes_of(buffer, l->width[c]), buffer);
	if (c != l->last && pad > 0)
		fprintf(out, "%*s", pad, "");
}

static void text_line(const struct table *t, const union cell *row, const struct layout *l,
		      const char *indent, FILE *out)
{
	char buffer[CELL_BYTES];
	const char *text;
	int gap = 0;
	size_t c;

	fputs(indent, out);
	for (c = 0; c < t->nr_columns; c++) {
		if (!l->width[c])
			continue;
		fprintf(out, "%*s", gap, "");
		gap = l->gap;
		text = t->columns[c].title;
		if (t->columns[c].type == COLUMN_TEXT) {
			text = !row ? text : row[c].text ? row[c].text : "";
			print_text(t, l, c, text, out);
			continue;
		}
		if (row) {
			cell_text(&t->columns[c], &row[c], buffer);
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
		.width = cli_alloc(NULL, t->nr_columns, sizeof(*l.width)),
	};
	size_t c, row;
	bool bold;

	memset(l.width, 0, t->nr_columns * sizeof(*l.width));
	for (c = 0; c < t->nr_columns; c++)
		if (t->columns[c].title && !(t->hidden >> c & 1))
			l.width[c] = column_width(t, c, &l);
	fit(t, &l);
	bold = colour && out == stdout;
	fputs(bold ? "\033[1m" : "", out);
	text_line(t, NULL, &l, indent, out);
	fputs(bold ? "\033[0m" : "", out);
	for (row = first; row < first + nr; row++)
		text_line(t, t->cells + row * t->nr_columns, &l, indent, out);
	free(l.width);
}

/* Control characters are escaped as in text, for terminals and line-based readers. */
static void csv_field(const char *text, FILE *out)
{
	bool quoted = text[strcspn(text, ",\"")];
	char escaped[ESCAPED_BYTES];

	if (quoted)
		fputc('"', out);
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

void table_csv(const struct table *t, FILE *out)
{
	char buffer[CELL_BYTES];
	const char *comma = "";
	size_t c, row;

	for (c = 0; c < t->nr_columns; c++) {
		if (!t->columns[c].key)
			continue;
		fprintf(out, "%s%s", comma, t->columns[c].key);
		comma = ",";
	}
	fputc('\n', out);
	for (row = 0; row < t->nr_rows; row++) {
		comma = "";
		for (c = 0; c < t->nr_columns; c++) {
			if (!t->columns[c].key)
				continue;
			fputs(comma, out);
			comma = ",";
			csv_field(cell_data(&t->columns[c], &t->cells[row * t->nr_columns + c],
					    buffer), out);
		}
		fputc('\n', out);
	}
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
	case COLUMN_PER_CENT:
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
		if (!t->columns[c].key)
			continue;
		fprintf(out, "%s\"%s\": ", before, t->columns[c].key);
		before = ", ";
		text = cell_data(&t->columns[c], &row[c], buffer);
		json_cell(&t->columns[c], text, out);
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
