// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "options.h"

static int read_file(const char *path, struct config *config)
{
	struct config_error error = { 0 };
	FILE *file;
	int err;

	file = fopen(path, "re");
	if (!file) {
		log_error("cannot read %s: %s", path, strerror(errno));
		return 1;
	}
	err = config_read(config, file, &error);
	fclose(file);
	if (err == -EINVAL) {
		log_error("%s:%lu: %s", path, error.line, error.text);
		return 2;
	}
	if (err) {
		log_error("cannot read %s: %s", path, strerror(-err));
		return 1;
	}
	return 0;
}

/* -p and -n also set the mode, unless -m is given. */
static int set_mode(const struct options *options, struct config *config,
		    struct config_error *error)
{
	const char *mode = NULL;
	unsigned int i;

	for (i = 0; i < options->nr_settings; i++) {
		if (!strncmp(options->settings[i], "mode=", 5))
			return 0;
		if (!strncmp(options->settings[i], "pid=", 4))
			mode = "pid";
		if (!strncmp(options->settings[i], "name=", 5))
			mode = "name";
	}
	return mode ? config_set(config, "mode", mode, error) : 0;
}

static int apply_settings(const struct options *options, struct config *config,
			  struct config_error *error)
{
	unsigned int i;
	int err;

	config_override(config);
	err = set_mode(options, config, error);
	for (i = 0; !err && i < options->nr_settings; i++) {
		char *key = strdup(options->settings[i]), *value;

		if (!key)
			return -ENOMEM;
		value = key + strcspn(key, "=");
		if (*value)
			*value++ = '\0';
		err = config_set(config, key, value, error);
		free(key);
	}
	return err;
}

int options_load(const struct options *options, struct config *config)
{
	struct config_error error = { 0 };
	int err, status;

	err = config_init(config);
	if (!err && options->config_path) {
		status = read_file(options->config_path, config);
		if (status)
			return status;
	}
	if (!err)
		err = apply_settings(options, config, &error);
	if (err == -EINVAL) {
		log_error("command line: %s", error.text);
		return 2;
	}
	if (!err)
		err = config_finish(config, &error);
	if (err == -EINVAL) {
		log_error("%s%s%s", options->config_path ? options->config_path : "",
			  options->config_path ? ": " : "", error.text);
		return 2;
	}
	if (err) {
		log_error("%s", strerror(-err));
		return 1;
	}
	return 0;
}
