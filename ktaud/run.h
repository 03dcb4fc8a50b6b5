/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of ktaud: start, a period after the other, signals, the end. */
#ifndef KTAUD_RUN_H
#define KTAUD_RUN_H

#include <stdbool.h>

#include "config.h"

/**
 * struct options - what the command line says
 * @config_path: configuration file, NULL for none
 * @settings: further settings, "key=value" each
 * @nr_settings: number of them
 * @command: the whole command line
 * @root: directory with saved streams instead of the kernel, NULL for none
 * @background: become a daemon
 * @once: one period, then end
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
 * The configuration file, then the command line. Return: 0; else a message was
 * given and it is the exit status: 1 (the file cannot be read), 2 (what it says).
 */
int options_load(const struct options *options, struct config *config);

/* Run with a configuration, which becomes its own. Return: exit status. */
int run(const struct options *options, struct config *config);

#endif /* KTAUD_RUN_H */
