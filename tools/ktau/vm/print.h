/* SPDX-License-Identifier: GPL-2.0-only */
/* The screens of ktau vm. */
#ifndef KTAU_TOOLS_VM_PRINT_H
#define KTAU_TOOLS_VM_PRINT_H

#include "cause.h"
#include "lib/table.h"

/* The text of a task, or of one as a cause: then with its CPU. */
struct vm_text {
	struct vm_who who;
	bool is_cause;
	const char *text;
};

/**
 * struct vm_print - what is printed
 * @analysis: the machines and the pairs
 * @format: format of the tables
 * @top: number of rows; 0: all
 * @intervals: print the intervals instead of sums
 * @least_ns: leave out shorter intervals
 * @texts: cells of the tables, each once
 * @named: texts of tasks
 * @by_who: index in @named plus 1
 * @by_reason: texts of exits
 */
struct vm_print {
	struct vm_analysis *analysis;
	enum table_format format;
	uint64_t top;
	bool intervals;
	uint64_t least_ns;
	char **texts;
	size_t nr_texts, texts_room;
	struct vm_text *named;
	size_t nr_named, named_room;
	struct hash by_who, by_reason;
};

/* Print which thread runs which CPU of the guests. */
void vm_print_match(const struct vm_print *p);

/* Account for all CPUs, and print that. Return: CLI_DONE, or CLI_FAILED after a message. */
int vm_print_accounts(struct vm_print *p);

#endif
