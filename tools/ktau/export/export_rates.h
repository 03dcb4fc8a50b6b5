/* SPDX-License-Identifier: GPL-2.0-only */
/* ktau export --rates: how fast each format is written. */
#ifndef KTAU_TOOLS_EXPORT_RATES_H
#define KTAU_TOOLS_EXPORT_RATES_H

#include "export.h"

/**
 * struct rates - what to measure
 * @files: the input
 * @nr_files: number of @files
 * @symtab: symbols of a map, or NULL
 * @options: options of each export
 */
struct rates {
	char **files;
	int nr_files;
	struct ktau_symtab *symtab;
	struct export_options options;
};

/*
 * Export the input without a writer and then with each of @formats to a temporary file, which is
 * removed, and print the rates. Return: CLI_DONE, or CLI_FAILED with messages if the input cannot
 * be exported to each format.
 */
int rates_print(const struct rates *r, const struct exporter *const *formats, size_t nr);

#endif
