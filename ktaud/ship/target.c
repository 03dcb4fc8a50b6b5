// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

static char *read_text(const char *text)
{
	char line[4096] = "";
	FILE *file;

	if (*text != '/')
		return strdup(text);
	file = fopen(text, "re");
	if (!file)
		return NULL;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	line[strcspn(line, "\r\n")] = '\0';
	return strdup(line);
}

int target_servers(struct link_target *target, const char *text)
{
	char *url, *state;

	free(target->text);
	target->nr = 0;
	target->text = read_text(text);
	if (!target->text)
		return -errno;
	for (url = strtok_r(target->text, ",", &state); url; url = strtok_r(NULL, ",", &state)) {
		bool tls = !strncmp(url, "tls://", strlen("tls://"));

		if ((!tls && strncmp(url, "nats://", strlen("nats://"))) ||
		    target->nr == LINK_SERVERS || strpbrk(url, " \"\\\t\r\n"))
			return -EINVAL;
		target->tls |= tls;
		target->servers[target->nr++] = url;
	}
	return target->nr ? 0 : -EINVAL;
}

void target_parse_servers(struct link_target *target, const char *text, struct argp_state *state)
{
	int err = target_servers(target, text);

	if (err == -EINVAL)
		argp_error(state, "'%s' is not a list of nats:// or tls://HOST:PORT", text);
	else if (err)
		argp_failure(state, 1, -err, "%s", text);
}

error_t target_option(int key, char *arg, struct link_target *target)
{
	switch (key) {
	case TARGET_CA:
		target->ca = arg;
		return 0;
	case TARGET_CERT:
		target->cert = arg;
		return 0;
	case TARGET_KEY:
		target->key = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void target_check(const struct link_target *target, const char *name, struct argp_state *state)
{
	if (!target->nr)
		argp_error(state, "a server is required: --%s=SERVERS", name);
	if (!target->cert != !target->key)
		argp_error(state, "--cert and --key must be given together");
}

bool target_host(char *name)
{
	char *c;

	for (c = name; *c; c++)
		if (*c == '.')
			*c = '_';
	return target_is_host(name);
}

bool target_is_host(const char *name)
{
	size_t length = strlen(name);

	return length && length < TARGET_HOST && *name != '-' &&
	       strspn(name, TARGET_LETTERS "_-") == length;
}

bool target_is_file(const char *name)
{
	size_t length = strlen(name), suffix = strlen(".ktau");

	return length > suffix && length < TARGET_FILE && *name != '.' && *name != '-' &&
	       strspn(name, TARGET_LETTERS "._:+-") == length && !strstr(name, "..") &&
	       !strcmp(name + length - suffix, ".ktau");
}
