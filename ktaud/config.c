// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "config.h"
#include "value.h"

#define BLANKS " \t\r\n"

static int bad(struct config_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int bad(struct config_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

static int replace(char **where, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*where);
	*where = copy;
	return 0;
}

int config_init(struct config *config)
{
	*config = (struct config){
		.period_ns = NSEC_PER_SEC,
		.info = CONFIG_PROFILE,
		.exited = true,
		.compress = KTAU_WRITER_COMPACT,
	};
	return replace(&config->output_dir, CONFIG_DEFAULT_DIR);
}

static void clear_names(struct config *config)
{
	while (config->nr_names)
		free(config->names[--config->nr_names]);
	free(config->names);
	config->names = NULL;
}

static void clear_pids(struct config *config)
{
	free(config->pids);
	config->pids = NULL;
	config->nr_pids = 0;
}

void config_deinit(struct config *config)
{
	clear_names(config);
	clear_pids(config);
	free(config->output_dir);
	free(config->groups);
	free(config->pidfile);
	free(config->job);
	free(config->cgroup);
	free(config->openmetrics);
}

/*
 * The setters. Each gets a value that is not empty and may modify it. The first line with the
 * key of a list replaces the list.
 */
struct setting {
	const char *key;
	int (*set)(struct config *config, char *value, struct config_error *error);
	void (*clear)(struct config *config); /* lists only */
};

static int set_period(struct config *config, char *value, struct config_error *error)
{
	uint64_t ns;

	if (!value_duration(value, &ns))
		return bad(error, "'%.60s' is not a number of seconds", value);
	if (ns < CONFIG_MIN_PERIOD_NS || ns > CONFIG_MAX_PERIOD_NS)
		return bad(error, "'%.60s' is not between 0.001 and 86400 seconds", value);
	config->period_ns = ns;
	return 0;
}

/* Set @nr to the index of @value in @words, which end with NULL. */
static int set_word(unsigned int *nr, const char *const *words, const char *value)
{
	for (*nr = 0; words[*nr]; (*nr)++)
		if (!strcmp(words[*nr], value))
			return 0;
	return -EINVAL;
}

static int set_source(struct config *config, char *value, struct config_error *error)
{
	static const char *const sources[] = {
		[CONFIG_AUTO] = "auto",
		[CONFIG_KERNEL] = "kernel",
		[CONFIG_BPF] = "bpf",
		NULL,
	};
	unsigned int nr;

	if (set_word(&nr, sources, value))
		return bad(error, "'%.60s' is not one of auto, kernel, bpf", value);
	config->source = nr;
	return 0;
}

static int set_mode(struct config *config, char *value, struct config_error *error)
{
	static const char *const modes[] = {
		[CONFIG_ALL] = "all",
		[CONFIG_SELF] = "self",
		[CONFIG_PID] = "pid",
		[CONFIG_NAME] = "name",
		NULL,
	};
	unsigned int nr;

	if (set_word(&nr, modes, value))
		return bad(error, "'%.60s' is not one of all, self, pid, name", value);
	config->mode = nr;
	config->mode_given = true;
	return 0;
}

static int add_pid(struct config *config, const char *word, struct config_error *error)
{
	int32_t *pids;
	uint64_t pid;

	if (!value_size(word, &pid) || !isdigit((unsigned char)word[strlen(word) - 1]) ||
	    pid < 1 || pid > INT32_MAX)
		return bad(error, "'%.60s' is not a process id", word);
	if (config->nr_pids == KTAU_MAX_PIDS)
		return bad(error, "more than %d process ids", KTAU_MAX_PIDS);

	pids = reallocarray(config->pids, config->nr_pids + 1, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	config->pids = pids;
	pids[config->nr_pids++] = pid;
	return 0;
}

typedef int (*word_fn)(struct config *config, const char *word, struct config_error *error);

static int each_word(struct config *config, char *value, struct config_error *error,
		     word_fn fn)
{
	char *word, *rest;
	int err;

	for (word = strtok_r(value, BLANKS ",", &rest); word;
	     word = strtok_r(NULL, BLANKS ",", &rest)) {
		err = fn(config, word, error);
		if (err)
			return err;
	}
	return 0;
}

static int set_pid(struct config *config, char *value, struct config_error *error)
{
	return each_word(config, value, error, add_pid);
}

/* Names may contain blanks, so only commas separate them. */
static int set_name(struct config *config, char *value, struct config_error *error)
{
	char **names, *copy;

	(void)error;
	names = reallocarray(config->names, config->nr_names + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	config->names = names;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	names[config->nr_names++] = copy;
	return 0;
}

static int set_output_dir(struct config *config, char *value, struct config_error *error)
{
	if (strlen(value) >= PATH_MAX - NAME_MAX)
		return bad(error, "path is too long");
	return replace(&config->output_dir, value);
}

static int set_info(struct config *config, char *value, struct config_error *error)
{
	if (!strcmp(value, "profile"))
		config->info = CONFIG_PROFILE;
	else if (!strcmp(value, "trace"))
		config->info = CONFIG_TRACE;
	else if (!strcmp(value, "both"))
		config->info = CONFIG_PROFILE | CONFIG_TRACE;
	else
		return bad(error, "'%.60s' is not one of profile, trace, both", value);
	return 0;
}

static int set_record(struct config *config, char *value, struct config_error *error)
{
	config->cumulative = !strcmp(value, "cumulative");
	if (!config->cumulative && strcmp(value, "difference"))
		return bad(error, "'%.60s' is neither cumulative nor difference", value);
	return 0;
}

static int set_bool(bool *flag, const char *value, struct config_error *error)
{
	return value_bool(value, flag) ? 0 : bad(error, "'%.60s' is neither yes nor no", value);
}

static int set_exited(struct config *config, char *value, struct config_error *error)
{
	return set_bool(&config->exited, value, error);
}

static int set_compress(struct config *config, char *value, struct config_error *error)
{
	bool compress;

	if (!strcmp(value, "zlib")) {
		config->compress = KTAU_WRITER_DELTA | KTAU_WRITER_ZLIB;
		return 0;
	}
	if (!value_bool(value, &compress))
		return bad(error, "'%.60s' is neither yes nor no nor zlib", value);
	config->compress = compress ? KTAU_WRITER_COMPACT : 0;
	return 0;
}

static int set_number(uint64_t *number, const char *value, uint64_t max,
		      struct config_error *error)
{
	uint64_t n;

	if (!value_size(value, &n))
		return bad(error, "'%.60s' is not a number (with k, M or G, if needed)", value);
	if (n > max)
		return bad(error, "%" PRIu64 " is more than %" PRIu64, n, max);
	*number = n;
	return 0;
}

static int set_rotate_size(struct config *config, char *value, struct config_error *error)
{
	return set_number(&config->rotate_bytes, value, INT64_MAX, error);
}

static int set_rotate_time(struct config *config, char *value, struct config_error *error)
{
	if (!value_duration(value, &config->rotate_ns))
		return bad(error, "'%.60s' is not a duration (a number of seconds, or with s, m, "
			   "h, d)", value);
	return 0;
}

static int set_keep(struct config *config, char *value, struct config_error *error)
{
	return set_number(&config->keep, value, INT32_MAX, error);
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word), n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == length && !strncmp(list, word, n))
			return true;
	}
	return false;
}

/* Add each group only once, because the kernel limits the length of the list. */
static int add_group(struct config *config, const char *word, struct config_error *error)
{
	char *list;

	if (strcmp(word, "all") && strcmp(word, "none") && !ktau_group_by_name(word))
		return bad(error, "there is no group '%.60s'", word);
	if (has_word(config->groups, word))
		return 0;
	if (asprintf(&list, "%s%s%s", config->groups, *config->groups ? "," : "", word) < 0)
		return -ENOMEM;
	free(config->groups);
	config->groups = list;
	return 0;
}

static int set_groups(struct config *config, char *value, struct config_error *error)
{
	int err;

	err = replace(&config->groups, "");
	if (!err)
		err = each_word(config, value, error, add_group);
	if (!err && !*config->groups)
		err = bad(error, "the list of groups is empty");
	return err;
}

static int set_ring(struct config *config, char *value, struct config_error *error)
{
	return set_number(&config->ring, value, UINT32_MAX, error);
}

static int set_watermark(struct config *config, char *value, struct config_error *error)
{
	return set_number(&config->watermark, value, UINT32_MAX, error);
}

static int set_pidfile(struct config *config, char *value, struct config_error *error)
{
	(void)error;
	return replace(&config->pidfile, value);
}

static int set_job(struct config *config, char *value, struct config_error *error)
{
	(void)error;
	return replace(&config->job, value);
}

static int set_cgroup(struct config *config, char *value, struct config_error *error)
{
	if (*value != '/')
		return bad(error, "'%.60s' is not the path of a control group, which begins with /",
			   value);
	return replace(&config->cgroup, value);
}

static int set_uid(struct config *config, char *value, struct config_error *error)
{
	int err = set_number(&config->uid, value, UINT32_MAX - 1, error);

	config->uid_given = !err;
	return err;
}

static int set_tag(struct config *config, char *value, struct config_error *error)
{
	return set_number(&config->tag, value, UINT32_MAX, error);
}

static int set_openmetrics(struct config *config, char *value, struct config_error *error)
{
	if (strlen(value) >= PATH_MAX - sizeof(".XXXXXX.tmp"))
		return bad(error, "path is too long");
	return replace(&config->openmetrics, value);
}

static const struct setting settings[] = {
	{ "sample_period", set_period, NULL },
	{ "source", set_source, NULL },
	{ "mode", set_mode, NULL },
	{ "pid", set_pid, clear_pids },
	{ "name", set_name, clear_names },
	{ "output_dir", set_output_dir, NULL },
	{ "info", set_info, NULL },
	{ "record", set_record, NULL },
	{ "exited", set_exited, NULL },
	{ "compress", set_compress, NULL },
	{ "rotate_size", set_rotate_size, NULL },
	{ "rotate_time", set_rotate_time, NULL },
	{ "keep", set_keep, NULL },
	{ "groups", set_groups, NULL },
	{ "ring", set_ring, NULL },
	{ "watermark", set_watermark, NULL },
	{ "pidfile", set_pidfile, NULL },
	{ "job", set_job, NULL },
	{ "cgroup", set_cgroup, NULL },
	{ "uid", set_uid, NULL },
	{ "tag", set_tag, NULL },
	{ "openmetrics", set_openmetrics, NULL },
};

#define NR_SETTINGS (sizeof(settings) / sizeof(settings[0]))

_Static_assert(NR_SETTINGS <= 64, "struct config: given");

static int apply(struct config *config, unsigned int nr, char *value,
		 struct config_error *error)
{
	const struct setting *setting = &settings[nr];
	uint64_t bit = 1ULL << nr;

	if (!*value)
		return bad(error, "%s has no value", setting->key);
	if (setting->clear && !(config->given & bit))
		setting->clear(config);
	else if (!setting->clear && (config->given & bit))
		return bad(error, "%s is set twice", setting->key);
	config->given |= bit;
	return setting->set(config, value, error);
}

int config_set(struct config *config, const char *key, const char *value,
	       struct config_error *error)
{
	unsigned int i;
	char *copy;
	int err;

	for (i = 0; i < NR_SETTINGS; i++)
		if (!strcmp(key, settings[i].key))
			break;
	if (i == NR_SETTINGS)
		return bad(error, "unknown key '%.60s'", key);

	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	err = apply(config, i, copy, error);
	free(copy);
	return err;
}

void config_override(struct config *config)
{
	config->given = 0;
}

/* A '#' starts a comment only at the start of a word, because paths may contain it. */
static void cut_comment(char *line)
{
	char *c;

	for (c = line; *c; c++) {
		if (*c == '#' && (c == line || strchr(BLANKS, c[-1]))) {
			*c = '\0';
			return;
		}
	}
}

static int parse_line(struct config *config, char *line, struct config_error *error)
{
	char *key, *value, *end;

	cut_comment(line);
	key = line + strspn(line, BLANKS);
	if (!*key)
		return 0;
	end = key + strcspn(key, BLANKS "=");
	value = end + strspn(end, BLANKS);
	if (*value == '=')
		value++;
	value += strspn(value, BLANKS);
	*end = '\0';
	for (end = value + strlen(value); end > value && strchr(BLANKS, end[-1]); end--)
		;
	*end = '\0';
	return config_set(config, key, value, error);
}

/* Read a line, or one byte more than allowed if it is too long. Return: number of bytes. */
static size_t read_line(FILE *file, char line[CONFIG_MAX_LINE + 2])
{
	size_t length = 0;
	int c = 0;

	while (c != '\n' && length <= CONFIG_MAX_LINE && (c = getc(file)) != EOF)
		line[length++] = c;
	line[length] = '\0';
	return length;
}

int config_read(struct config *config, FILE *file, struct config_error *error)
{
	char *line = malloc(CONFIG_MAX_LINE + 2);
	size_t length;
	int err = 0;

	if (!line)
		return -ENOMEM;
	error->line = 0;
	while (!err && (length = read_line(file, line)) && !ferror(file)) {
		error->line++;
		if (length > CONFIG_MAX_LINE)
			err = bad(error, "line is longer than %d bytes", CONFIG_MAX_LINE);
		else if (memchr(line, '\0', length))
			err = bad(error, "line has a zero byte");
		else
			err = parse_line(config, line, error);
	}
	if (!err && ferror(file))
		err = -errno;
	free(line);
	return err;
}

static int compare_pids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* Its figures are totals of the host, and a counter must not decrease when a task is evicted. */
static int check_openmetrics(const struct config *config, struct config_error *error)
{
	if (!config->openmetrics)
		return 0;
	if (config->mode != CONFIG_ALL)
		return bad(error, "openmetrics requires mode all");
	if (!(config->info & CONFIG_PROFILE))
		return bad(error, "openmetrics requires info profile or both");
	if (!config->exited)
		return bad(error, "openmetrics requires exited yes");
	if (config->cgroup || config->uid_given || config->tag)
		return bad(error, "openmetrics cannot be combined with cgroup, uid or tag");
	return 0;
}

int config_finish(struct config *config, struct config_error *error)
{
	uint32_t i, n = 0;

	error->line = 0;
	if (!config->mode_given && config->nr_pids)
		config->mode = CONFIG_PID;
	else if (!config->mode_given && config->nr_names)
		config->mode = CONFIG_NAME;

	if (config->mode == CONFIG_PID && !config->nr_pids)
		return bad(error, "mode is pid, but no pid is set");
	if (config->mode == CONFIG_NAME && !config->nr_names)
		return bad(error, "mode is name, but no name is set");

	if (config->nr_pids)
		qsort(config->pids, config->nr_pids, sizeof(*config->pids), compare_pids);
	for (i = 0; i < config->nr_pids; i++)
		if (!n || config->pids[i] != config->pids[n - 1])
			config->pids[n++] = config->pids[i];
	config->nr_pids = n;
	return check_openmetrics(config, error);
}
