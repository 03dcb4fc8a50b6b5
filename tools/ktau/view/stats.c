// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "stats.h"

/* Does the condition hold in a state while its task is on a CPU, or is not? */
static bool holds(struct engine *g, const struct view_expression *x, struct view_value value,
		  bool on_cpu)
{
	switch (x->op) {
	case OP_AND:
		return holds(g, x->parts[0], value, on_cpu) && holds(g, x->parts[1], value, on_cpu);
	case OP_OR:
		return holds(g, x->parts[0], value, on_cpu) || holds(g, x->parts[1], value, on_cpu);
	case OP_NOT:
		return !holds(g, x->parts[0], value, on_cpu);
	case OP_ONCPU:
		return on_cpu;
	default:
		return engine_compare(g, x->op, value, x->operands[1].value);
	}
}

static uint64_t time_of(struct engine *g, const struct view_expression *x,
			const struct times_sum *sum)
{
	uint64_t ns = 0;

	if (holds(g, x, sum->value, true))
		ns += sum->cpu_ns;
	if (holds(g, x, sum->value, false))
		ns += sum->ns - sum->cpu_ns;
	return ns;
}

double *stats_values(struct engine *g, const struct view_stat *stat)
{
	const size_t nr = g->times.nr_rows;
	double *values = cli_alloc(NULL, nr + 1, sizeof(*values));
	double *whole = cli_alloc(NULL, nr + 1, sizeof(*whole));
	const struct times_sum *sum;
	size_t i;

	memset(values, 0, (nr + 1) * sizeof(*values));
	memset(whole, 0, (nr + 1) * sizeof(*whole));
	for (i = 0; i < g->times.nr_sums; i++) {
		sum = &g->times.sums[i];
		if (g->times.rows[sum->row].pattern != stat->row)
			continue;
		values[sum->row] += (double)time_of(g, stat->time, sum);
		if (stat->whole)
			whole[sum->row] += (double)time_of(g, stat->whole, sum);
	}
	for (i = 0; stat->whole && i < nr; i++)
		values[i] = whole[i] > 0 ? values[i] / whole[i] : 0;
	free(whole);
	return values;
}
