/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An export as rows of tables, for CSV, JSON and SQLite. The tables are described once; each
 * format only writes rows.
 */
#ifndef KTAU_TOOLS_EXPORT_ROWS_H
#define KTAU_TOOLS_EXPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export.h"

enum row_type {
	ROW_TEXT,
	ROW_INT,	/* up to 32 bits and a sign: @number */
	ROW_LONG,	/* 64 bits, signed: @number */
	ROW_ULONG,	/* 64 bits, unsigned: @number cast */
	ROW_HEX,	/* an address: @number cast */
};

struct row_column {
	const char *name;
	enum row_type type;
};

/* A value, or none: NULL in SQLite, null in JSON, an empty field in CSV. */
struct row_cell {
	bool known;
	const char *text;
	int64_t number;
};

enum { ROW_MAX_COLUMNS = 24 };

/**
 * struct row_table - a table
 * @name: name of the table
 * @columns: its columns, at most ROW_MAX_COLUMNS
 * @nr_columns: number of columns
 */
struct row_table {
	const char *name;
	const struct row_column *columns;
	size_t nr_columns;
};

enum { ROW_HOSTS, ROW_TASKS, ROW_ROUTINES, ROW_COUNTERS, ROW_REGIONS, ROW_FRAMES, ROW_POINTS,
       ROW_RUNNING, ROW_LOSSES, ROW_NR_TABLES };

extern const struct row_table row_tables[ROW_NR_TABLES];

/* Implementations of the callbacks of a struct exporter that has @row. */
int rows_start_host(struct export_run *x);
int rows_event(struct export_run *x, const struct timeline_event *e);
int rows_task(struct export_run *x, const struct process *p);
int rows_profile(struct export_run *x);
int rows_end_host(struct export_run *x);

#endif
