// SPDX-License-Identifier: GPL-2.0-only
/* The table and the graph of ktau path --blame. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/text.h"
#include "blame.h"

enum { B_SHARE, B_NS, B_VICTIM, B_BY, B_STATE, B_IN, B_COUNT, B_NR };

static const struct column columns[B_NR] = {
	[B_SHARE] = { "share", "SHARE", COLUMN_SHARE },
	[B_NS] = { "time_ns", "MS", COLUMN_NS },
	[B_VICTIM] = { "waited", "WAITED", COLUMN_TEXT },
	[B_BY] = { "for", "FOR", COLUMN_TEXT },
	[B_STATE] = { "state", "STATE", COLUMN_TEXT },
	[B_IN] = { "in", "IN", COLUMN_TEXT },
	[B_COUNT] = { "segments", NULL, COLUMN_NUMBER },
};

void blame_print(const struct path_print *p, const struct blame *blame)
{
	size_t nr = p->top && p->top < blame->nr ? p->top : blame->nr, i;
	char **texts = cli_alloc(NULL, nr + 1, sizeof(*texts));
	const struct blame_row *r;
	union cell *row;
	struct table t;

	if (p->format == FORMAT_TEXT)
		printf("%.3f ms of waiting in %" PRIu64 " tasks\n", (double)blame->waiting_ns / 1e6,
		       blame->victims);
	table_init(&t, "blame", columns, B_NR);
	for (i = 0; i < nr; i++) {
		r = &blame->rows[i];
		row = table_row(&t);
		texts[i] = path_wait_text(p, &r->like);
		row[B_SHARE].share = (double)r->ns / (double)blame->waiting_ns;
		row[B_NS].number = r->ns;
		row[B_VICTIM].text = graph_task_name(p->g, r->victim);
		row[B_BY].text = graph_task_name(p->g, r->like.task);
		row[B_STATE].text = cause_name(r->like.state);
		row[B_IN].text = texts[i];
		row[B_COUNT].number = r->nr;
	}
	t.width = table_width(stdout);
	table_print(&t, p->format, stdout);
	table_deinit(&t);
	for (i = 0; i < nr; i++)
		free(texts[i]);
	free(texts);
}

/* An arrow from one name to another. */
struct arrow {
	const char *from, *to;
	uint64_t ns;
};

static int by_names(const void *a, const void *b)
{
	const struct arrow *x = a, *y = b;
	int order = strcmp(x->from, y->from);

	return order ? order : strcmp(x->to, y->to);
}

/*
 * A string of dot: names of tasks may have quotes and backslashes. What is escaped for a terminal,
 * but has no escape in dot, is a question mark.
 */
static void print_quoted(const char *text)
{
	char escaped[ESCAPED_BYTES];
	int n;

	putchar('"');
	for (; *text; text += n) {
		n = escape_one(text, escaped);
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else
			fputs(*escaped == '\\' ? "?" : escaped, stdout);
	}
	putchar('"');
}

static void print_arrow(const struct arrow *arrow)
{
	putchar('\t');
	print_quoted(arrow->from);
	fputs(" -> ", stdout);
	print_quoted(arrow->to);
	printf(" [label=\"%.3f ms\"]\n", (double)arrow->ns / 1e6);
}

void blame_print_dot(const struct path_print *p, const struct blame *blame)
{
	struct arrow *arrows = cli_alloc(NULL, blame->nr + 1, sizeof(*arrows));
	size_t nr = 0, i;

	for (i = 0; i < blame->nr; i++)
		arrows[i] = (struct arrow){ graph_task_name(p->g, blame->rows[i].victim),
					    graph_task_name(p->g, blame->rows[i].like.task),
					    blame->rows[i].ns };
	if (blame->nr)
		qsort(arrows, blame->nr, sizeof(*arrows), by_names);
	puts("digraph blame {");
	for (i = 0; i < blame->nr; i = nr) {
		for (nr = i + 1; nr < blame->nr && !by_names(&arrows[i], &arrows[nr]); nr++)
			arrows[i].ns += arrows[nr].ns;
		print_arrow(&arrows[i]);
	}
	puts("}");
	free(arrows);
}
