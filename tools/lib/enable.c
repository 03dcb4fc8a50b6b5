// SPDX-License-Identifier: GPL-2.0-only
/* Enables groups and modes while a command runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktau.h>

#include "cli.h"
#include "enable.h"
#include "live.h"
#include "unbuilt.h"

/* What is collected, as shown in /proc/ktau/control. */
struct collected {
	char groups[512];
	char profile[16];
};

static int get_collected(struct collected *now)
{
	int err = ktau_control_get("groups", now->groups, sizeof(now->groups));

	return err ? err : ktau_control_get("profile", now->profile, sizeof(now->profile));
}

static void cannot_enable(const char *groups, const struct collected *old, int err)
{
	if (err == -EINVAL && groups && unbuilt_complain(groups))
		return;
	if (err == -EINVAL && groups)
		complain("the kernel does not know the groups '%s'", groups);
	else if (groups || (err != -EACCES && err != -EPERM))
		complain("cannot enable groups: %s", strerror(-err));
	else
		complain("KTAU is disabled in this kernel, and enabling it requires "
			 "CAP_SYS_ADMIN: ktau control%s%s",
			 strcmp(old->groups, "none") ? "" : " +all",
			 strcmp(old->profile, "on") ? " profile=on" : "");
}

/* Print " key=value" with the current value of each key in @more. Return: 0 or -errno. */
static int put_present(const char *more, FILE *out)
{
	char key[32], value[64];
	int err = 0, n;

	while (!err && sscanf(more, " %31[^= ]=%*s%n", key, &n) == 1) {
		err = ktau_control_get(key, value, sizeof(value));
		fprintf(out, " %s=%s", key, err ? "" : value);
		more += n;
	}
	return err;
}

/* Return: the words that restore the current settings; NULL with a message. */
static char *restoring(const struct collected *old, const char *more)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int err = -ENOMEM;

	if (f) {
		fprintf(f, "groups=%s profile=%s", old->groups, old->profile);
		err = put_present(more, f);
		fclose(f);
	}
	if (!err)
		return text;
	complain("cannot read /proc/ktau/control: %s", strerror(-err));
	free(text);
	return NULL;
}

static int enable(const char *wanted, const char *groups, const char *more,
		  const struct collected *old)
{
	char *words;
	int err;

	if (asprintf(&words, "groups=%s profile=on %s", wanted, more) < 0) {
		complain("out of memory");
		return -1;
	}
	err = ktau_control_write(words);
	free(words);
	if (err)
		cannot_enable(groups, old, err);
	return err ? -1 : 0;
}

int enable_collecting(const char *groups, const char *more, char **restore)
{
	const char *wanted = groups;
	struct collected old;
	int err;

	*restore = NULL;
	if (live_is_bpf())
		return groups ? live_set_groups(groups) : 0;
	err = get_collected(&old);
	if (err == -ENOENT) {
		no_ktau("/proc/ktau", err);
		return -1;
	}
	if (err) {
		/* It is unknown whether any group is enabled; the report will show it. */
		if (!wanted && !*more)
			return 0;
		complain("cannot read /proc/ktau/control: %s", strerror(-err));
		return -1;
	}
	if (!wanted)
		wanted = strcmp(old.groups, "none") ? old.groups : "all";
	if (!strcmp(wanted, old.groups) && !strcmp(old.profile, "on") && !*more)
		return 0;
	*restore = restoring(&old, more);
	if (!*restore)
		return -1;
	if (!enable(wanted, groups, more, &old))
		return 0;
	free(*restore);
	*restore = NULL;
	return -1;
}

void enable_warn_of_filter(void)
{
	char filter[8], inherit[8];
	int err = ktau_control_get("filter", filter, sizeof(filter));

	if (err == -ENOSPC || (!err && strcmp(filter, "none")))
		err = ktau_control_get("inherit", inherit, sizeof(inherit));
	else
		return;
	if (!err && strcmp(inherit, "on"))
		complain("only tasks that match the filter are measured, and the command may not "
			 "match: ktau control filter=none");
}

void enable_restore(char *restore)
{
	int err = restore ? ktau_control_write(restore) : 0;

	if (err)
		complain("cannot restore '%s': %s", restore, strerror(-err));
	free(restore);
}
