/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of ktaud: the settings of a file and the command line, checked and in one
 * structure. There are no side effects besides memory and the open file.
 *
 * A file has one "key value" per line. The command line uses the same keys. It overrides the file
 * because it is applied with config_set() after config_override().
 */
#ifndef KTAUD_CONFIG_H
#define KTAUD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NSEC_PER_SEC		1000000000ULL

#define CONFIG_DEFAULT_DIR	"/var/lib/ktaud"
#define CONFIG_MIN_PERIOD_NS	(NSEC_PER_SEC / 1000)
#define CONFIG_MAX_PERIOD_NS	(86400 * NSEC_PER_SEC)
#define CONFIG_MAX_LINE		65536

enum config_source {
	CONFIG_AUTO,		/* KTAU's kernel if it runs, otherwise BPF programs */
	CONFIG_KERNEL,		/* a kernel with KTAU */
	CONFIG_BPF,		/* BPF programs */
};

enum config_mode {
	CONFIG_ALL,		/* every task */
	CONFIG_SELF,		/* ktaud itself */
	CONFIG_PID,		/* processes in a list */
	CONFIG_NAME,		/* tasks whose name matches a pattern */
};

/* @info of struct config */
#define CONFIG_PROFILE		(1U << 0)
#define CONFIG_TRACE		(1U << 1)

/**
 * struct config - all settings
 * @period_ns: time between two reads
 * @source: what measures
 * @mode: which tasks
 * @pids: process ids without duplicates, ascending, for CONFIG_PID
 * @nr_pids: length of @pids
 * @names: lists of patterns, as for ktau_glob_task(), for CONFIG_NAME
 * @nr_names: length of @names
 * @output_dir: directory of the files
 * @info: CONFIG_PROFILE and CONFIG_TRACE
 * @cumulative: write every profile in full instead of differences
 * @exited: include tasks that have exited
 * @compress: how to compress the blocks of the file: KTAU_WRITER_* flags
 * @rotate_bytes: start a new file at this size; 0: never
 * @rotate_ns: start a new file after this time; 0: never
 * @keep: number of files to keep; 0: all
 * @groups: groups to enable, comma-separated; NULL leaves them unchanged
 * @ring: slots of a trace ring; 0 leaves it unchanged
 * @watermark: filled slots that wake ktaud; 0 leaves it unchanged
 * @pidfile: path; NULL for none
 * @job: job id to write to the files; NULL for none
 * @cgroup: only tasks in this control group or below it; NULL for all
 * @uid: only tasks of this user, if @uid_given
 * @tag: only tasks with this tag; 0 for all
 * @openmetrics: file for the totals of this host; NULL for none
 * @given: bit mask of the keys that this file or command line has set
 */
struct config {
	uint64_t period_ns;
	enum config_source source;
	enum config_mode mode;
	bool mode_given;
	int32_t *pids;
	uint32_t nr_pids;
	char **names;
	size_t nr_names;
	char *output_dir;
	unsigned int info;
	bool cumulative;
	bool exited;
	unsigned int compress;
	uint64_t rotate_bytes;
	uint64_t rotate_ns;
	uint64_t keep;
	char *groups;
	uint64_t ring;
	uint64_t watermark;
	char *pidfile;
	char *job;
	char *cgroup;
	uint64_t uid;
	bool uid_given;
	uint64_t tag;
	char *openmetrics;
	uint64_t given;
};

/**
 * struct config_error - an error in a configuration
 * @line: line number; 0 if the error is not in a line
 * @text: the reason
 */
struct config_error {
	unsigned long line;
	char text[256];
};

/* Set all defaults. Return: 0 or -ENOMEM. */
int config_init(struct config *config);
void config_deinit(struct config *config);

/**
 * config_set() - set one key
 *
 * Return: 0, -EINVAL with @error->text set, -ENOMEM.
 */
int config_set(struct config *config, const char *key, const char *value,
	       struct config_error *error);

/* From now on, settings override the existing ones. */
void config_override(struct config *config);

/**
 * config_read() - read all lines of an open file
 *
 * Return: 0, -EINVAL with @error set, -ENOMEM, -errno of reading.
 */
int config_read(struct config *config, FILE *file, struct config_error *error);

/**
 * config_finish() - check combinations of keys, and sort the lists
 *
 * Return: 0, -EINVAL with @error->text set.
 */
int config_finish(struct config *config, struct config_error *error);

#endif /* KTAUD_CONFIG_H */
