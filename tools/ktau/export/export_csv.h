/* SPDX-License-Identifier: GPL-2.0-only */
/* Cells of CSV files. */
#ifndef KTAU_TOOLS_EXPORT_CSV_H
#define KTAU_TOOLS_EXPORT_CSV_H

#include <stdio.h>

/* Write a cell, in quotes if needed, with control characters escaped. */
void export_csv_text(const char *text, FILE *out);

#endif
