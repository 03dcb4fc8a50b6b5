// SPDX-License-Identifier: GPL-2.0-only
/* ktau hook: measure functions of the running kernel. */
#include <argp.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/shared_options.h"
#include "subcommand.h"
#include "lib/table.h"
#include "lib/unbuilt.h"

#define HOOKS "/proc/ktau/hooks"

enum { H_NAME,
       H_ID,
       H_STATE,
       H_NR };

static const struct column hook_columns[H_NR] = {
	[H_NAME] = { "function", "function", COLUMN_TEXT },
	[H_ID] = { "event", "event", COLUMN_TEXT },
	[H_STATE] = { "state", "state", COLUMN_TEXT },
};

static const struct argp_option argp_options[] = {
	{ "format", OPTION_FORMAT, "FORMAT", 0, "list as text, csv or json (default: text)", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_NO_ARGS)
		cli_usage(state, "add, del or list is missing");
	return shared_option(key, arg, state, state->input);
}

static const struct argp parser = {
	argp_options, parse_option, "add FUNCTION...\ndel FUNCTION...\nlist",
	"Measure functions of the running kernel, by name; * and ? in a FUNCTION match any "
	"text and any character. \"add\" hooks functions and enables the group func, \"del\" "
	"unhooks them, and \"list\" shows them.",
	NULL, NULL, NULL
};

/* Read the list into @t. Return: CLI_DONE or, after a message, CLI_FAILED. */
static int read_hooks(struct table *t)
{
	FILE *hooks = fopen(HOOKS, "re");
	char name[512], id[16], state[32];
	char line[640];
	union cell *row;
	int err = 0;

	if (!hooks) {
		err = -errno;
		if (err == -ENOENT && unbuilt_complain("+func"))
			return CLI_FAILED;
		return no_ktau(HOOKS, err);
	}
	while (fgets(line, sizeof(line), hooks)) {
		if (*line == '#' || sscanf(line, "%511s %15s %31s", name, id, state) != 3)
			continue;
		row = table_row(t);
		row[H_NAME].text = strdup(name);
		row[H_ID].text = strdup(id);
		row[H_STATE].text = strdup(state);
	}
	if (ferror(hooks))
		err = no_ktau(HOOKS, -errno);
	fclose(hooks);
	return err;
}

static void free_hooks(struct table *t)
{
	size_t i;

	for (i = 0; i < t->nr_rows * H_NR; i++)
		free((char *)t->cells[i].text);
	table_deinit(t);
}

static int list_hooks(const struct shared_options *o)
{
	struct table t;
	int status;

	table_init(&t, "hooks", hook_columns, H_NR);
	status = read_hooks(&t);
	if (!status)
		table_print(&t, o->format, stdout);
	free_hooks(&t);
	return status;
}

static bool is_meant(const struct shared_options *o, const char *name)
{
	int i;

	for (i = 1; i < o->nr_files; i++) {
		if (!fnmatch(o->files[i], name, 0))
			return true;
	}
	return false;
}

/* Complain about the functions that cannot be hooked. */
static int check_added(const struct shared_options *o)
{
	const union cell *row;
	struct table t;
	int status;
	size_t i;

	table_init(&t, "hooks", hook_columns, H_NR);
	status = read_hooks(&t);
	for (i = 0; i < t.nr_rows; i++) {
		row = t.cells + i * H_NR;
		if (!strcmp(row[H_STATE].text, "on") || !is_meant(o, row[H_NAME].text))
			continue;
		complain("%s is not %s: %s", row[H_NAME].text,
			 strcmp(row[H_STATE].text, "off") ? "hooked" : "measured",
			 row[H_STATE].text);
		status = CLI_FAILED;
	}
	free_hooks(&t);
	return status;
}

static const char *reason(int err)
{
	switch (err) {
	case -E2BIG:
		return "too many functions";
	case -EPERM:
		return "only with CAP_SYS_ADMIN, in a kernel that is not locked down";
	case -ENOENT:
		if (!access(HOOKS, F_OK))
			return "no such function in the kernel itself, or it is not in the list";
		/* fall through */
	default:
		return ktau_control_reason(err);
	}
}

/* Write "WORDS FUNCTION,FUNCTION..." to control. */
static int write_functions(const char *words, const struct shared_options *o)
{
	size_t bytes = strlen(words) + 1;
	char *text, *end;
	int i, err;

	for (i = 1; i < o->nr_files; i++)
		bytes += strlen(o->files[i]) + 1;
	text = cli_alloc(NULL, bytes, 1);
	end = text + sprintf(text, "%s", words);
	for (i = 1; i < o->nr_files; i++)
		end += sprintf(end, "%s%s", i > 1 ? "," : "", o->files[i]);
	err = ktau_control_write(text);
	if (err && !unbuilt_complain("+func"))
		complain("cannot set '%s': %s", text, reason(err));
	free(text);
	return err ? CLI_FAILED : CLI_DONE;
}

static int hook_main(int argc, char **argv)
{
	struct shared_options o = { 0 };
	bool add, list;
	int i, status;

	cli_parse(&parser, argc, argv, 0, &o);
	add = !strcmp(o.files[0], "add");
	list = !strcmp(o.files[0], "list");
	if (!add && !list && strcmp(o.files[0], "del")) {
		complain("%s: not add, del or list", o.files[0]);
		return CLI_USAGE;
	}
	for (i = 1; i < o.nr_files; i++) {
		if (!*o.files[i] || strpbrk(o.files[i], " \t\n")) {
			complain("'%s': not the name of a function", o.files[i]);
			return CLI_USAGE;
		}
	}
	if (list != (o.nr_files == 1)) {
		complain(list ? "list takes no FUNCTION" : "FUNCTION is missing");
		return CLI_USAGE;
	}
	if (list)
		status = list_hooks(&o);
	else
		status = write_functions(add ? "+func hook=" : "unhook=", &o);
	if (add && !status)
		status = check_added(&o);
	return cli_finish(stdout) ? CLI_FAILED : status;
}

const struct subcommand subcommand_hook = {
	"hook", hook_main, "measure functions of the running kernel by name",
	&parser, SUBCOMMAND_CONTROL
};
