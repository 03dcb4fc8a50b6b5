// SPDX-License-Identifier: GPL-2.0-only
/* The table of ktau path --tree. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/cli.h"
#include "print.h"
#include "tree.h"

enum { T_TREE, T_PROGRAM, T_DEPTH, T_RUNS, T_WALL, T_CPU, T_WAITING, T_PATH, T_SHARE, T_NR };

static const struct column columns[T_NR] = {
	[T_TREE] = { NULL, "PROGRAM", COLUMN_TEXT },
	[T_PROGRAM] = { "program", NULL, COLUMN_TEXT },
	[T_DEPTH] = { "depth", NULL, COLUMN_SMALL },
	[T_RUNS] = { "runs", "RUNS", COLUMN_NUMBER },
	[T_WALL] = { "wall_ns", "WALL MS", COLUMN_NS },
	[T_CPU] = { "on_cpu_ns", "ON CPU", COLUMN_NS },
	[T_WAITING] = { "waiting_ns", "WAITING", COLUMN_NS },
	[T_PATH] = { "path_ns", "PATH MS", COLUMN_NS },
	[T_SHARE] = { "share", "OF PATH", COLUMN_SHARE },
};

/* Two columns for each row above it. Deep trees are indented no further. */
static int indent(const struct path_program *program)
{
	return 2 * (int)(program->depth < 30 ? program->depth : 30);
}

/* The name, with that of its machine if there are several. */
static char *indented(const struct path_program *program)
{
	char *text;

	if (asprintf(&text, "%*s%s%s%s", indent(program), "", program->name,
		     program->host ? "@" : "", program->host ? program->host : "") < 0) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	return text;
}

/* Threads of a process may have run at the same time. */
static uint64_t waiting(const struct path_program *program)
{
	if (program->cpu_ns > program->wall_ns)
		return 0;
	return program->wall_ns - program->cpu_ns;
}

void path_print_tree(const struct path_print *p)
{
	const double whole_ns = (double)(p->path->to_ns - p->path->from_ns);
	const struct path_program *program;
	struct path_tree tree = { 0 };
	struct table t;
	union cell *row;
	char **texts;
	size_t i;
	uint32_t at;

	path_tree_make(p->g, p->path, graph_first_life(p->g, p->task), &tree);
	texts = cli_alloc(NULL, tree.nr + 1, sizeof(*texts));
	table_init(&t, "tree", columns, T_NR);
	for (at = 0; at != PATH_NONE; at = path_tree_next(&tree, at)) {
		program = &tree.programs[at];
		texts[t.nr_rows] = indented(program);
		row = table_row(&t);
		row[T_TREE].text = texts[t.nr_rows - 1];
		row[T_PROGRAM].text = texts[t.nr_rows - 1] + indent(program);
		row[T_DEPTH].number = program->depth;
		row[T_RUNS].number = program->runs;
		row[T_WALL].number = program->wall_ns;
		row[T_CPU].number = program->cpu_ns;
		row[T_WAITING].number = waiting(program);
		row[T_PATH].number = program->path_ns;
		row[T_SHARE].share = (double)program->path_ns / whole_ns;
	}
	t.width = table_width(stdout);
	table_print(&t, p->format, stdout);
	if (p->format == FORMAT_TEXT)
		printf("at most %.1f runs a second\n", 1e9 / whole_ns);
	for (i = 0; i < t.nr_rows; i++)
		free(texts[i]);
	free(texts);
	table_deinit(&t);
	path_tree_deinit(&tree);
}
