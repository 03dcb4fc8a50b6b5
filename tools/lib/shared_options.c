// SPDX-License-Identifier: GPL-2.0-only
/* Options that several commands have. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "folders.h"
#include "output.h"
#include "shared_options.h"

uint64_t shared_count(const char *name, const char *arg, const struct argp_state *state)
{
	uint64_t value;

	if (cli_number(arg, UINT32_MAX, &value))
		cli_usage(state, "--%s=%s: not a number", name, arg);
	return value;
}

int32_t shared_pid(const char *arg, const struct argp_state *state)
{
	uint64_t pid;

	if (cli_number(arg, INT32_MAX, &pid) || !pid)
		cli_usage(state, "--pid=%s: not a pid", arg);
	return (int32_t)pid;
}

int shared_seconds(const char *arg, uint64_t least_ns, uint64_t *ns)
{
	return seconds_parse(arg, ns) || *ns < least_ns || *ns > 1000000000000000 ? -1 : 0;
}

static void parse_moment(int key, const char *text, struct shared_options *o,
			 const struct argp_state *state)
{
	bool is_from = key == OPTION_FROM;

	if (moment_parse(text, is_from ? &o->from : &o->to))
		cli_usage(state, "--%s=%s: not a time: use \"2026-01-31 13:00:05+0100\", "
				 "@seconds since 1970, or +seconds since %s",
			  is_from ? "from" : "to", text, o->since);
}

static void parse_format(const char *word, struct shared_options *o,
			 const struct argp_state *state)
{
	const char *other = o->other_format;

	o->is_other = other && !strcmp(word, other);
	if (!o->is_other && table_parse_format(word, &o->format))
		cli_usage(state, "--format=%s: not text, csv%s json%s%s", word,
			  other ? "," : " or", other ? " or " : "", other ? other : "");
}

static void take_files(struct shared_options *o, const struct argp_state *state)
{
	o->files = state->argv + state->next;
	o->nr_files = state->argc - state->next;
	if (o->source)
		cli_usage(state, "--source measures the running kernel, not %s", o->files[0]);
	if (o->folders && folders_expand(&o->files, &o->nr_files))
		argp_failure(state, 1, errno, "a folder cannot be read");
	if (o->wanted == FILES_AT_MOST_ONE && o->nr_files > 1)
		cli_usage(state, "'%s': only one FILE can be given", o->files[1]);
}

/* Only files that the programs have written are read in the directory. */
static bool is_region_names(const char *path, const char *folder)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	char file[PATH_MAX];
	bool is_one = false;

	while (dir && !is_one && (entry = readdir(dir)))
		is_one = !strncmp(entry->d_name, "ktau-user", 9) &&
			 snprintf(file, sizeof(file), "%s/%s", folder, entry->d_name) <
				 (int)sizeof(file) &&
			 output_is_input(path, file);
	if (dir)
		closedir(dir);
	return is_one;
}

bool shared_is_input(const struct shared_options *o, const char *path)
{
	bool is_one = output_is_input(path, o->map) ||
		      is_region_names(path, o->region_names ? o->region_names : ".");
	int i;

	for (i = 0; !is_one && i < o->nr_files; i++)
		is_one = output_is_input(path, o->files[i]);
	return is_one;
}

error_t shared_option(int key, char *arg, struct argp_state *state, struct shared_options *o)
{
	switch (key) {
	case 'm':
		o->map = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 't':
		o->task = arg;
		return 0;
	case OPTION_TOP:
		o->top = shared_count("top", arg, state);
		return 0;
	case LIVE_OPT_SOURCE:
		live_set_source(arg, state);
		o->source = true;
		return 0;
	case OPTION_FROM:
	case OPTION_TO:
		parse_moment(key, arg, o, state);
		return 0;
	case OPTION_HOST:
		o->host = arg;
		return 0;
	case OPTION_REGION_NAMES:
		o->region_names = arg;
		return 0;
	case OPTION_FORMAT:
		parse_format(arg, o, state);
		return 0;
	case OPTION_CSV:
	case OPTION_JSON:
		o->is_other = false;
		o->format = key == OPTION_CSV ? FORMAT_CSV : FORMAT_JSON;
		return 0;
	case ARGP_KEY_ARGS:
		take_files(o, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (o->wanted == FILES_REQUIRED)
			cli_usage(state, "a FILE is required");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}
