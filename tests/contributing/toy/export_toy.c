// SPDX-License-Identifier: GPL-2.0-only
/* Toys: the name of the table of each row. */
#include "export_rows.h"

static int write_row(struct export_run *x, int table, const struct row_cell *cells)
{
	(void)cells;
	fprintf(x->out, "%s\n", row_tables[table].name);
	return 0;
}

EXPORT_FORMAT(toy) = {
	.name = "toy",
	.suffix = ".toy",
	.opens = "toys",
	.hosts = true,
	.start_host = rows_start_host,
	.event = rows_event,
	.profile = rows_profile,
	.end_host = rows_end_host,
	.row = write_row,
};
