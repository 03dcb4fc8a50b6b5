// SPDX-License-Identifier: GPL-2.0-only
/*
 * CSV: a directory with one file per table. The first line has the names of the columns.
 * Control characters in names are escaped, and no name can be a formula.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "export_csv.h"
#include "export_rows.h"
#include "lib/text.h"

/* The open files, by table. */
struct csv {
	FILE *files[ROW_NR_TABLES];
};

static const char *file_name(int table, char name[32])
{
	snprintf(name, 32, "%s.csv", row_tables[table].name);
	return name;
}

static int begin(struct export_run *x)
{
	struct csv *csv = cli_alloc(NULL, 1, sizeof(*csv));
	char name[32];
	size_t c;
	int i;

	*csv = (struct csv){ { NULL } };
	x->data = csv;
	for (i = 0; i < ROW_NR_TABLES; i++) {
		csv->files[i] = output_add(x->output, file_name(i, name));
		if (!csv->files[i])
			return -EIO;
		for (c = 0; c < row_tables[i].nr_columns; c++)
			fprintf(csv->files[i], "%s%s", c ? "," : "",
				row_tables[i].columns[c].name);
		fputc('\n', csv->files[i]);
	}
	return 0;
}

void export_csv_text(const char *text, FILE *out)
{
	char escaped[ESCAPED_BYTES];

	if (!text[strcspn(text, ",\"\\ \n\r")] && *text) {
		fputs(csv_guard(text), out);
		print_escaped(text, out);
		return;
	}
	fputc('"', out);
	fputs(csv_guard(text), out);
	while (*text) {
		text += escape_one(text, escaped);
		fputs(strcmp(escaped, "\"") ? escaped : "\"\"", out);
	}
	fputc('"', out);
}

static int write_row(struct export_run *x, int table, const struct row_cell *cells)
{
	const struct row_table *t = &row_tables[table];
	struct csv *csv = x->data;
	FILE *out = csv->files[table];
	size_t c;

	for (c = 0; c < t->nr_columns; c++) {
		if (c)
			putc_unlocked(',', out);
		if (!cells[c].known)
			continue;
		if (t->columns[c].type == ROW_TEXT)
			export_csv_text(cells[c].text, out);
		else if (t->columns[c].type == ROW_HEX)
			fprintf(out, "%#" PRIx64, (uint64_t)cells[c].number);
		else if (t->columns[c].type == ROW_ULONG)
			fprintf(out, "%" PRIu64, (uint64_t)cells[c].number);
		else
			fprintf(out, "%" PRId64, cells[c].number);
	}
	putc_unlocked('\n', out);
	return output_check(x->output, out) ? -EIO : 0;
}

static int end(struct export_run *x)
{
	struct csv *csv = x->data;
	int err = 0, i;

	for (i = 0; i < ROW_NR_TABLES; i++)
		if (csv->files[i] && output_close(x->output, csv->files[i]))
			err = -EIO;
	free(csv);
	return err;
}

EXPORT_FORMAT(csv) = {
	.name = "csv",
	.suffix = ".csv",
	.opens = "everything: a directory of tables",
	.directory = true,
	.hosts = true,
	.begin = begin,
	.start_host = rows_start_host,
	.event = rows_event,
	.task = rows_task,
	.profile = rows_profile,
	.end_host = rows_end_host,
	.row = write_row,
	.end = end,
};
