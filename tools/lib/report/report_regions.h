/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of regions: what the kernel did for which part of a program. */
#ifndef KTAU_TOOLS_REPORT_REGIONS_H
#define KTAU_TOOLS_REPORT_REGIONS_H

#include "regions.h"
#include "report_options.h"
#include "lib/table.h"

/**
 * struct report_regions - the regions of a period
 * @table: processes, regions and routines, flat
 * @sums: everything that happened in regions, by number of the row in the report
 * @paths: for each of @sums, its region and routine as one text
 */
struct report_regions {
	struct table table;
	struct region_sums sums;
	char **paths;
};

/* Initialise the table without rows. */
void report_regions_init(struct report_regions *t, const struct view *v,
			 const struct regions *regions);
void report_regions_deinit(struct report_regions *t);

/* Add a row for each routine in each region of @p. */
void report_regions_rows(struct report_regions *t, const struct view *v, const struct process *p);

/* Return: the first of the sums of row @number of a report; *nr is how many there are. */
const struct region_sum *report_regions_find(const struct region_sums *sums, uint64_t number,
					     size_t *nr);

#endif
