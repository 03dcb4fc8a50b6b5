/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables. One description of the columns serves text for display, and CSV and JSON for programs.
 */
#ifndef KTAU_TOOLS_TABLE_H
#define KTAU_TOOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ktau.h>

enum column_type {
	COLUMN_TEXT,
	COLUMN_NUMBER,	/* 64 bits; in JSON a string, like all 64-bit figures */
	COLUMN_SMALL,	/* 32 bits */
	COLUMN_SIGNED,	/* 32 bits */
	COLUMN_HEX,
	COLUMN_NS,	/* text: milliseconds */
	COLUMN_SECONDS,	/* nanoseconds; text: seconds */
	COLUMN_SHARE,	/* text: per cent; CSV and JSON: 0 to 1 */
	COLUMN_RATE,	/* stored in @share; text: three decimals */
};

/*
 * An unknown time or number of 32 bits: "n/a" in text, empty in CSV, null in JSON. An unknown share
 * is NAN.
 */
#define CELL_NONE	UINT64_MAX

/**
 * struct column - a column
 * @key: name in CSV and JSON, with the unit; NULL: only in text
 * @title: heading in text; NULL: only in CSV and JSON
 * @type: type of its cells
 */
struct column {
	const char *key;
	const char *title;
	enum column_type type;
};

/* A cell; the type of its column selects the member. The caller keeps ownership of strings. */
union cell {
	const char *text;
	ktau_sum_t number;
	int64_t sign;
	double share;
};

/**
 * struct table - rows of cells
 * @key: name in JSON
 * @columns: its columns
 * @nr_columns: number of columns
 * @cells: cells, row by row
 * @nr_rows: number of rows
 * @nr_flushed: number of rows before them that have been printed
 * @room: allocated number of rows
 * @hidden: bit mask of columns left out of text
 * @absent: bit mask of columns left out of all output
 * @spare: bit mask of columns that text leaves out if the table is too wide
 * @width: maximum width of text; 0: unlimited
 */
struct table {
	const char *key;
	const struct column *columns;
	size_t nr_columns;
	union cell *cells;
	size_t nr_rows, room, nr_flushed;
	uint64_t hidden, absent, spare;
	int width;
};

enum table_format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

/* Return: 0, or -1 if @word is not a format. */
int table_parse_format(const char *word, enum table_format *format);

void table_init(struct table *t, const char *key, const struct column *columns,
		size_t nr_columns);
void table_deinit(struct table *t);

/* Add a row, all zero. The pointer is valid until the next call. */
union cell *table_row(struct table *t);

/* The width of a line of @out: $COLUMNS, or that of the terminal, or else 100. */
int table_width(FILE *out);

/* From now on, print table headings in bold if standard output is a terminal that supports it. */
void table_use_colour(void);

/* Print @nr rows from @first as text, with columns as wide as these rows need. */
void table_text(const struct table *t, size_t first, size_t nr, const char *indent,
		FILE *out);
void table_csv(const struct table *t, FILE *out);

/* Print "# key", the line before each table if there are several. */
void table_csv_name(const struct table *t, FILE *out);

/* Print "key": [ {...}, ... ] without a trailing comma. */
void table_json(const struct table *t, FILE *out);

/* Print all rows of a single table; JSON is enclosed in an object. */
void table_print(const struct table *t, enum table_format format, FILE *out);

/*
 * Print a long table as it grows, for programs: the rows so far, which are then forgotten, and
 * finally the end of a table that had a row. The output is that of table_print().
 */
void table_flush(struct table *t, enum table_format format, FILE *out);
void table_end(struct table *t, enum table_format format, FILE *out);

/* Print a string with its quotes. */
void json_string(const char *text, FILE *out);

#endif
