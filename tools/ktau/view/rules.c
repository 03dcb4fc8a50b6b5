// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "rules.h"

/* Does the number fit into 64 bits? Beyond this, a double has no fraction. */
static bool fits(double number)
{
	const double limit = (double)(INT64_MAX / 2);

	return number > -limit && number < limit;
}

struct view_value view_number(double number)
{
	struct view_value value = { VALUE_REAL, 0 };

	if (fits(number) && (double)(int64_t)number == number)
		return (struct view_value){ VALUE_NUMBER, (int64_t)number };
	if (!isfinite(number))
		return (struct view_value){ VALUE_NONE, 0 };
	memcpy(&value.number, &number, sizeof(number));
	return value;
}

double view_double(struct view_value value)
{
	double number;

	if (value.kind == VALUE_NUMBER)
		return (double)value.number;
	memcpy(&number, &value.number, sizeof(number));
	return number;
}

struct view_value view_whole(struct view_value value)
{
	const double number = view_double(value);

	if (!fits(number))
		return (struct view_value){ VALUE_NONE, 0 };
	return (struct view_value){ VALUE_NUMBER, (int64_t)number };
}

void view_print_number(struct view_value value, char text[32])
{
	if (value.kind == VALUE_NUMBER)
		snprintf(text, 32, "%" PRId64, value.number);
	else
		snprintf(text, 32, "%.15g", view_double(value));
}

void view_deinit(struct view_rules *v)
{
	size_t i;

	for (i = 0; i < v->nr_branches; i++) {
		free(v->branches[i]->actions);
		free(v->branches[i]->otherwise);
	}
	for (i = 0; i < v->nr_rows; i++)
		free(v->rows[i].label);
	for (i = 0; i < v->nr_blocks; i++)
		free(v->blocks[i]);
	free(v->states);
	free(v->handlers);
	free(v->branches);
	free(v->rows);
	free(v->stats);
	free(v->blocks);
	strings_deinit(&v->texts);
	*v = (struct view_rules){ 0 };
}

void *view_alloc(struct view_rules *v, size_t bytes)
{
	void *block = cli_alloc(NULL, 1, bytes);

	/* The number of blocks is a power of 2 when the list is full. */
	if (!(v->nr_blocks & (v->nr_blocks - 1)))
		v->blocks = cli_alloc(v->blocks, v->nr_blocks ? 2 * v->nr_blocks : 1,
				      sizeof(*v->blocks));
	v->blocks[v->nr_blocks++] = block;
	memset(block, 0, bytes);
	return block;
}

struct view_branch *view_branch(struct view_rules *v)
{
	const size_t nr = v->nr_branches++;

	if (!(nr & (nr - 1)))
		v->branches = cli_alloc(v->branches, nr ? 2 * nr : 1, sizeof(*v->branches));
	v->branches[nr] = view_alloc(v, sizeof(**v->branches));
	return v->branches[nr];
}

const char *view_text(struct view_rules *v, const char *text, size_t bytes)
{
	char *copy = view_alloc(v, bytes + 1);

	memcpy(copy, text, bytes);
	return copy;
}
