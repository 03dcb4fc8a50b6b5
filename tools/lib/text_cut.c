// SPDX-License-Identifier: GPL-2.0-only
/* Escaped texts as strings, and cut to fit into a line. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text.h"
#include "text_cut.h"

char *text_escaped(const char *text)
{
	char *escaped = NULL;
	size_t size;
	FILE *f = open_memstream(&escaped, &size);

	if (f) {
		print_escaped(text, f);
		fclose(f);
	}
	/* Exits without memory. */
	return escaped ? escaped : cli_alloc(NULL, SIZE_MAX, 1);
}

/* The end of @text that takes at most @columns, without combining characters at its start. */
static const char *end_of(const char *text, int columns)
{
	int skip = text_columns(text) - columns;
	size_t bytes;

	while (*text && (skip > 0 || !text_first_columns(text, &bytes))) {
		skip -= text_first_columns(text, &bytes);
		text += bytes;
	}
	return text;
}

int text_cut(const char *text, int columns, char **cut)
{
	int head = (columns - GAP_COLUMNS) / 3;
	const char *end;

	if (text_columns(text) <= columns || columns < MIN_CUT) {
		if (asprintf(cut, "%.*s", (int)text_bytes(text, columns), text) < 0)
			cli_alloc(NULL, SIZE_MAX, 1);
		return text_columns(*cut);
	}
	end = end_of(text, columns - GAP_COLUMNS - head);
	if (asprintf(cut, "%.*s..%s", (int)text_bytes(text, head), text, end) < 0)
		cli_alloc(NULL, SIZE_MAX, 1);
	return text_columns(*cut);
}

/* A text as it is and as it is shown. */
struct shown {
	const char *text;
	char *cut;
};

static int by_cut(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int order = strcmp(x->cut, y->cut);

	return order ? order : strcmp(x->text, y->text);
}

static bool look_alike(const char *const *texts, size_t nr, int columns)
{
	struct shown *shown = cli_alloc(NULL, nr, sizeof(*shown));
	bool alike = false;
	size_t i;

	for (i = 0; i < nr; i++) {
		shown[i].text = texts[i];
		text_cut(texts[i], columns, &shown[i].cut);
	}
	qsort(shown, nr, sizeof(*shown), by_cut);
	for (i = 1; i < nr; i++)
		alike |= !strcmp(shown[i - 1].cut, shown[i].cut) &&
			 strcmp(shown[i - 1].text, shown[i].text);
	for (i = 0; i < nr; i++)
		free(shown[i].cut);
	free(shown);
	return alike;
}

int text_distinct(const char *const *texts, size_t nr, int columns)
{
	int widest = 0, width;
	size_t i;

	for (i = 0; i < nr; i++) {
		width = text_columns(texts[i]);
		widest = width > widest ? width : widest;
	}
	while (columns < widest && look_alike(texts, nr, columns))
		columns++;
	return columns;
}
