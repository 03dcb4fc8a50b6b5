// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "control.h"
#include "log.h"

#define MAX_VALUE	512
#define MAX_WORDS	1024

static const char *const keys[] = {
	[CONTROL_GROUPS] = "groups",
	[CONTROL_PROFILE] = "profile",
	[CONTROL_RING] = "ring",
	[CONTROL_WATERMARK] = "watermark",
	[CONTROL_TRACE] = "trace",
};

_Static_assert(sizeof(keys) / sizeof(keys[0]) == CONTROL_NR_KEYS, "enum control_key");

/* The words to write, and the previous values of their keys. */
struct change {
	char words[MAX_WORDS];
	char *before[CONTROL_NR_KEYS];
};

static int append(char *words, const char *key, const char *value)
{
	size_t used = strlen(words);
	int n;

	n = snprintf(words + used, MAX_WORDS - used, "%s%s=%s", used ? " " : "", key, value);
	return n < 0 || (size_t)n >= MAX_WORDS - used ? -ENOSPC : 0;
}

/* The value that @config requests, possibly formatted in @text; NULL for none. */
static const char *asked_for(const struct config *config, enum control_key key, char text[24])
{
	uint64_t number = key == CONTROL_RING ? config->ring : config->watermark;

	switch (key) {
	case CONTROL_GROUPS:
		return config->groups;
	case CONTROL_PROFILE:
		return config->info & CONFIG_PROFILE ? "on" : NULL;
	case CONTROL_TRACE:
		return config->info & CONFIG_TRACE ? "on" : NULL;
	default:
		snprintf(text, 24, "%" PRIu64, number);
		return number ? text : NULL;
	}
}

static int want(struct change *change, enum control_key key, const char *value)
{
	char now[MAX_VALUE];
	int err;

	err = ktau_control_get(keys[key], now, sizeof(now));
	if (err) {
		log_error("cannot read '%s' of /proc/ktau/control: %s", keys[key],
			  strerror(-err));
		return err;
	}
	if (!strcmp(now, value))
		return 0;
	change->before[key] = strdup(now);
	err = change->before[key] ? append(change->words, keys[key], value) : -ENOMEM;
	if (err)
		log_error("cannot set '%s' of /proc/ktau/control: %s", keys[key],
			  strerror(-err));
	return err;
}

static int make_change(struct change *change, const struct control *control,
		       const struct config *config)
{
	enum control_key key;
	int err = 0;

	for (key = 0; !err && key < CONTROL_NR_KEYS; key++) {
		char text[24];
		const char *value = asked_for(config, key, text);

		if (!value)
			value = control->was[key];
		if (value)
			err = want(change, key, value);
	}
	return err;
}

static int write_words(const char *words)
{
	int err = *words ? ktau_control_write(words) : 0;

	if (err)
		log_error("cannot set '%s': %s", words, ktau_control_reason(err));
	return err;
}

/* A restored key need not be restored again; for all others, the oldest value is kept. */
static void remember(struct control *control, struct change *change,
		     const struct config *config)
{
	enum control_key key;
	char text[24];

	for (key = 0; key < CONTROL_NR_KEYS; key++) {
		if (!asked_for(config, key, text)) {
			free(control->was[key]);
			control->was[key] = NULL;
		} else if (!control->was[key]) {
			control->was[key] = change->before[key];
			change->before[key] = NULL;
		}
	}
}

int control_apply(struct control *control, const struct config *config)
{
	struct change change = { 0 };
	char groups[MAX_VALUE];
	enum control_key key;
	int err;

	err = make_change(&change, control, config);
	if (!err)
		err = write_words(change.words);
	if (!err)
		remember(control, &change, config);
	for (key = 0; key < CONTROL_NR_KEYS; key++)
		free(change.before[key]);
	if (!err && !ktau_control_get("groups", groups, sizeof(groups)) &&
	    !strcmp(groups, "none"))
		log_info("no group is enabled, so nothing is measured: set 'groups'");
	return err;
}

void control_restore(struct control *control)
{
	char words[MAX_WORDS] = "";
	enum control_key key;

	/* All of them fit, because the kernel printed each of them on a line. */
	for (key = 0; key < CONTROL_NR_KEYS; key++)
		if (control->was[key])
			append(words, keys[key], control->was[key]);
	write_words(words);
	for (key = 0; key < CONTROL_NR_KEYS; key++) {
		free(control->was[key]);
		control->was[key] = NULL;
	}
}
