// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "control.h"
#include "log.h"

#define MAX_WORDS	1024

/* Words being put together: to write now, and to write at the end. */
struct words {
	char now[MAX_WORDS];
	char restore[MAX_WORDS];
};

static int append(char *words, const char *key, const char *value)
{
	size_t used = strlen(words);
	int n;

	n = snprintf(words + used, MAX_WORDS - used, "%s%s=%s", used ? " " : "", key, value);
	return n < 0 || (size_t)n >= MAX_WORDS - used ? -ENOSPC : 0;
}

static int want(struct words *words, const char *key, const char *value)
{
	char old[512];
	int err;

	err = ktau_control_get(key, old, sizeof(old));
	if (err) {
		log_error("cannot read '%s' of /proc/ktau/control: %s", key, strerror(-err));
		return err;
	}
	if (!strcmp(old, value))
		return 0;
	err = append(words->now, key, value);
	return err ? err : append(words->restore, key, old);
}

static int want_number(struct words *words, const char *key, uint64_t number)
{
	char value[24];

	if (!number)
		return 0;
	snprintf(value, sizeof(value), "%" PRIu64, number);
	return want(words, key, value);
}

static int collect_words(struct words *words, const struct config *config)
{
	int err = 0;

	if (config->groups)
		err = want(words, "groups", config->groups);
	if (!err && config->info & CONFIG_PROFILE)
		err = want(words, "profile", "on");
	if (!err)
		err = want_number(words, "ring", config->ring);
	if (!err)
		err = want_number(words, "wake", config->wake);
	if (!err && config->info & CONFIG_TRACE)
		err = want(words, "trace", "on");
	return err;
}

static void explain(int err, const char *words)
{
	if (err == -EPERM || err == -EACCES)
		log_error("may not switch '%s': needs root or CAP_SYS_ADMIN", words);
	else if (err == -EINVAL)
		log_error("the kernel refuses '%s': the reason is in its log (dmesg)", words);
	else
		log_error("cannot write /proc/ktau/control: %s", strerror(-err));
}

int control_apply(struct control *control, const struct config *config)
{
	struct words words = { "", "" };
	char groups[512];
	int err;

	control->restore = NULL;
	err = collect_words(&words, config);
	if (err)
		return err;
	if (words.now[0]) {
		control->restore = strdup(words.restore);
		if (!control->restore)
			return -ENOMEM;
		err = ktau_control_write(words.now);
		if (err) {
			explain(err, words.now);
			free(control->restore);
			control->restore = NULL;
			return err;
		}
	}
	if (!ktau_control_get("groups", groups, sizeof(groups)) && !strcmp(groups, "none"))
		log_info("no group is on, nothing is measured: set 'groups'");
	return 0;
}

void control_restore(struct control *control)
{
	int err;

	if (!control->restore)
		return;
	err = ktau_control_write(control->restore);
	if (err)
		explain(err, control->restore);
	free(control->restore);
	control->restore = NULL;
}
