/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of ktaud, and the configuration that results from it. */
#ifndef KTAUD_OPTIONS_H
#define KTAUD_OPTIONS_H

#include <stdbool.h>

#include "config.h"

/**
 * struct options - the command line
 * @config_path: configuration file, NULL for none
 * @settings: further settings, "key=value" each
 * @nr_settings: number of them
 * @command: the whole command line
 * @root: directory with saved streams to read instead of the kernel's, NULL for none
 * @background: become a daemon
 * @once: read one period, then end
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
 * Read the configuration file, then apply the command line. Return: 0; otherwise the exit
 * status, with the message logged: 1 if the file cannot be read, 2 if its contents are
 * wrong.
 */
int options_load(const struct options *options, struct config *config);

#endif /* KTAUD_OPTIONS_H */
