/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of ktaud, and the configuration that results from it. */
#ifndef KTAUD_OPTIONS_H
#define KTAUD_OPTIONS_H

#include <stdbool.h>

#include "config.h"

/**
 * struct options - the command line
 * @config_path: configuration file; NULL for none
 * @settings: further settings, each "key=value"
 * @nr_settings: length of @settings
 * @command: the whole command line
 * @root: directory with saved streams to read instead of the kernel's; NULL for none
 * @background: become a daemon
 * @once: read one period, then exit
 */
struct options {
	const char *config_path;
	char **settings;
	unsigned int nr_settings;
	char *command;
	const char *root;
	bool background;
	bool once;
};

/*
 * Read the configuration file, then apply the command line. Return: 0, or the exit status with a
 * message logged: 1 if the file cannot be read, 2 if it is invalid.
 */
int options_load(const struct options *options, struct config *config);

#endif /* KTAUD_OPTIONS_H */
