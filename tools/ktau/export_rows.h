/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An export as rows of tables, for CSV, JSON and SQLite: the tables are described once,
 * a format writes a row.
 */
#ifndef KTAU_TOOLS_EXPORT_ROWS_H
#define KTAU_TOOLS_EXPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export.h"

enum row_type {
	ROW_TEXT,
	ROW_INT,	/* at most 32 bits and a sign: @number */
	ROW_LONG,	/* 64 bits, with a sign: @number */
	ROW_ULONG,	/* 64 bits, without: @number cast */
	ROW_HEX,	/* an address: @number cast */
};

struct row_column {
	const char *name;
	enum row_type type;
};

/* A value, or none: NULL in SQLite, null in JSON, empty in CSV. */
struct row_cell {
	bool known;
	const char *text;
	int64_t number;
};

enum { ROW_MAX_COLUMNS = 24 };

/**
 * struct row_table - a table
 * @name: its name
 * @columns: they, at most ROW_MAX_COLUMNS
 * @nr_columns: number of them
 */
struct row_table {
	const char *name;
	const struct row_column *columns;
	size_t nr_columns;
};

enum { ROW_HOSTS, ROW_TASKS, ROW_ROUTINES, ROW_COUNTERS, ROW_FRAMES, ROW_POINTS, ROW_LOSSES,
       ROW_NR_TABLES };

extern const struct row_table row_tables[ROW_NR_TABLES];

/* The callbacks of a struct exporter that has @row. */
int rows_start_host(struct export_run *x);
int rows_event(struct export_run *x, const struct timeline_event *e);
int rows_profile(struct export_run *x);
int rows_end_host(struct export_run *x);

#endif
