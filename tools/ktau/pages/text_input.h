/* SPDX-License-Identifier: GPL-2.0-only */
/* References from merged files and from valgrind's lackey. */
#ifndef KTAU_TOOLS_TEXT_INPUT_H
#define KTAU_TOOLS_TEXT_INPUT_H

#include "merger.h"

enum page_input_form { INPUT_AUTO, INPUT_KTAU, INPUT_MERGED, INPUT_LACKEY };

/* The words of --input, in the order of the enum, and a NULL. */
extern const char *const input_words[];

/* The form of a file that is not INPUT_KTAU, by its first bytes; INPUT_KTAU if it is neither. */
enum page_input_form text_form(const char *path);

/*
 * Read a file of this form, INPUT_MERGED or INPUT_LACKEY, and call the consumer of @options.
 * Return: the exit status of the command, after messages.
 */
int text_read(const struct merge_options *options, enum page_input_form form);

#endif
