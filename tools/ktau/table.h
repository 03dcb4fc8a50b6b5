/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: one description of the columns gives text for people, CSV and JSON
 * for programs.
 */
#ifndef KTAU_TOOLS_TABLE_H
#define KTAU_TOOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum column_type {
	COLUMN_TEXT,
	COLUMN_NUMBER,	/* of 64 bits; JSON: a string, as all of 64 bits */
	COLUMN_SMALL,	/* of 32 bits */
	COLUMN_SIGNED,	/* of 32 bits */
	COLUMN_HEX,
	COLUMN_NS,	/* text: milliseconds */
	COLUMN_SECONDS,	/* nanoseconds; text: seconds */
	COLUMN_SHARE,	/* text: per cent; CSV and JSON: 0 to 1 */
	COLUMN_PER_CENT,	/* the same, in text without the sign */
	COLUMN_RATE,	/* in @share; text: three digits after the point */
};

/* A time that is not known: "n/a" in text, empty in CSV, null in JSON; a share is NAN. */
#define CELL_NONE	UINT64_MAX

/**
 * struct column - one column
 * @key: its name in CSV and JSON, units in it; NULL: they do not have it
 * @title: its head in text; NULL: text does not have it
 * @type: what its cells are
 */
struct column {
	const char *key;
	const char *title;
	enum column_type type;
};

/* A cell by the type of its column; strings stay the caller's. */
union cell {
	const char *text;
	uint64_t number;
	int64_t sign;
	double share;
};

/**
 * struct table - rows of cells
 * @key: its name in JSON
 * @columns: they
 * @nr_columns: number of them
 * @cells: row by row
 * @nr_rows: number of rows
 * @room: for how many there is memory
 * @hidden: columns that text leaves out, a bit each
 * @spare: columns that text leaves out if it is too wide, likewise
 * @width: of text, 0: as wide as it is
 */
struct table {
	const char *key;
	const struct column *columns;
	size_t nr_columns;
	union cell *cells;
	size_t nr_rows, room;
	uint64_t hidden, spare;
	int width;
};

enum table_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

/* 0, or -1 for a word that is no format. */
int table_parse_format(const char *word, enum table_format *format);

void table_init(struct table *t, const char *key, const struct column *columns,
		size_t nr_columns);
void table_deinit(struct table *t);

/* A new row, all zero, valid until the next one. */
union cell *table_row(struct table *t);

/* Heads of tables on standard output are bold from here on, if a terminal wants that. */
void table_use_colour(void);

/* Text of @nr rows from @first, columns as wide as these rows need. */
void table_text(const struct table *t, size_t first, size_t nr, const char *indent,
		FILE *out);
void table_csv(const struct table *t, FILE *out);

/* "# key": the line before a table where there are several. */
void table_csv_name(const struct table *t, FILE *out);

/* "key": [ {...}, ... ] without a comma after it. */
void table_json(const struct table *t, FILE *out);

/* A table alone, all rows; as JSON in an object. */
void table_print(const struct table *t, enum table_format format, FILE *out);

/* A string with its quotes. */
void json_string(const char *text, FILE *out);

#endif
