// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "counters.h"

enum { C_VALUE,
       C_NAME,
       C_NR };

static const struct column counter_columns[C_NR] = {
	[C_VALUE] = { "value", "value", COLUMN_NUMBER },
	[C_NAME] = { "name", "name", COLUMN_TEXT },
};

/* The requested figures (all if there are none), and which of them were found. */
struct counters {
	char *const *names;
	int nr_names;
	struct table t;
	bool *found;
};

static int add_counter(void *arg, const char *name, uint64_t value)
{
	struct counters *c = arg;
	bool wanted = !c->nr_names;
	union cell *row;
	int i;

	for (i = 0; i < c->nr_names; i++) {
		if (!strcmp(c->names[i], name))
			wanted = c->found[i] = true;
	}
	if (!wanted)
		return 0;
	row = table_row(&c->t);
	row[C_VALUE].number = value;
	row[C_NAME].text = strdup(name);
	return row[C_NAME].text ? 0 : -ENOMEM;
}

int counters_print(char *const *names, int nr_names, enum table_format format)
{
	struct counters c = { .names = names, .nr_names = nr_names };
	int err, i, status = CLI_DONE;
	size_t row;

	c.found = cli_alloc(NULL, (size_t)nr_names, sizeof(*c.found));
	memset(c.found, 0, (size_t)nr_names * sizeof(*c.found));
	table_init(&c.t, "counters", counter_columns, C_NR);
	err = ktau_stats_each(add_counter, &c);
	if (err)
		status = no_ktau("/proc/ktau/stats", err);
	else
		table_print(&c.t, format, stdout);
	for (i = 0; !err && i < nr_names; i++) {
		if (!c.found[i]) {
			complain("no figure '%s' in /proc/ktau/stats", names[i]);
			status = CLI_FAILED;
		}
	}
	for (row = 0; row < c.t.nr_rows; row++)
		free((char *)c.t.cells[row * C_NR + C_NAME].text);
	table_deinit(&c.t);
	free(c.found);
	return status;
}
