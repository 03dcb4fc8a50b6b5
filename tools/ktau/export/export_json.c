// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON lines: each row is an object with the name of its table. Numbers that may need more than
 * 32 bits are strings, because many readers convert numbers to doubles.
 */
#include <inttypes.h>

#include "export_rows.h"
#include "lib/table.h"

static void put_value(const struct row_cell *cell, enum row_type type, FILE *out)
{
	if (!cell->known) {
		fputs("null", out);
		return;
	}
	switch (type) {
	case ROW_TEXT:
		json_string(cell->text, out);
		return;
	case ROW_INT:
		fprintf(out, "%" PRId64, cell->number);
		return;
	case ROW_LONG:
		fprintf(out, "\"%" PRId64 "\"", cell->number);
		return;
	case ROW_ULONG:
		fprintf(out, "\"%" PRIu64 "\"", (uint64_t)cell->number);
		return;
	case ROW_HEX:
		fprintf(out, "\"%#" PRIx64 "\"", (uint64_t)cell->number);
		return;
	}
}

static int write_row(struct export_run *x, int table, const struct row_cell *cells)
{
	const struct row_table *t = &row_tables[table];
	size_t c;

	fprintf(x->out, "{\"table\":\"%s\"", t->name);
	for (c = 0; c < t->nr_columns; c++) {
		fprintf(x->out, ",\"%s\":", t->columns[c].name);
		put_value(&cells[c], t->columns[c].type, x->out);
	}
	fputs("}\n", x->out);
	return 0;
}

EXPORT_FORMAT(json) = {
	.name = "json",
	.suffix = ".jsonl",
	.opens = "jq and everything that reads JSON lines",
	.hosts = true,
	.start_host = rows_start_host,
	.event = rows_event,
	.task = rows_task,
	.profile = rows_profile,
	.end_host = rows_end_host,
	.row = write_row,
};
