// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text files of the running kernel: control and stats. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "buffer.h"

#define TEXT_MAX_BYTES	(1U << 20)
#define WORDS_MAX_BYTES	65536

static int read_text(const char *path, struct ktau__buffer *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = ktau__read_all(fd, TEXT_MAX_BYTES, text);
	close(fd);
	return err ? err : ktau__buffer_append(text, "", 1);
}

/* A single write, because the kernel applies either all words of a write or none. */
int ktau_control_write(const char *words)
{
	size_t bytes = strlen(words);
	ssize_t written;
	int err = 0, fd;

	if (bytes > WORDS_MAX_BYTES)
		return -E2BIG;
	fd = open(KTAU_PROC "/control", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do
		written = write(fd, words, bytes);
	while (written < 0 && errno == EINTR);
	if (written < 0)
		err = -errno;
	else if ((size_t)written != bytes)
		err = -EIO;
	close(fd);
	return err;
}

const char *ktau_control_reason(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return "permission denied (requires CAP_SYS_ADMIN)";
	case -EINVAL:
		return "invalid word; the kernel log (dmesg) has the word and the reason";
	case -ESRCH:
		return "no such task";
	case -ENOENT:
		return access(KTAU_PROC "/control", F_OK) ? "this kernel has no KTAU: "
							    "boot one with CONFIG_KTAU" :
							    "no such control group or function";
	case -E2BIG:
		return "more than 64 KiB of words, 64 conditions in a filter or 256 functions";
	case -EOPNOTSUPP:
		return "this kernel has no control groups, or cannot hook functions: boot one with "
		       "CONFIG_CGROUPS or CONFIG_KTAU_FUNC";
	case -EBUSY:
		return "functions are being hooked or unhooked; try again";
	default:
		return strerror(-err);
	}
}

int ktau_control_get(const char *key, char *value, size_t size)
{
	size_t key_bytes = strlen(key), bytes;
	struct ktau__buffer text = { 0 };
	char *line, *rest;
	int err;

	err = read_text(KTAU_PROC "/control", &text);
	if (err)
		goto out;
	err = -ENOENT;
	rest = (char *)text.data;
	while ((line = strsep(&rest, "\n"))) {
		if (strncmp(line, key, key_bytes) || line[key_bytes] != '=')
			continue;
		bytes = strlen(line + key_bytes + 1) + 1;
		err = bytes <= size ? 0 : -ENOSPC;
		if (!err)
			memcpy(value, line + key_bytes + 1, bytes);
		break;
	}
out:
	ktau__buffer_free(&text);
	return err;
}

int ktau_stats_each(int (*each)(void *arg, const char *name, uint64_t value), void *arg)
{
	struct ktau__buffer text = { 0 };
	char *line, *rest, *value, *end;
	uint64_t number;
	int err;

	err = read_text(KTAU_PROC "/stats", &text);
	rest = (char *)text.data;
	while (!err && (line = strsep(&rest, "\n"))) {
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = 0;
		number = strtoull(value, &end, 10);
		if (end != value && !*end)
			err = each(arg, line, number);
	}
	ktau__buffer_free(&text);
	return err;
}

struct wanted {
	const char *name;
	uint64_t value;
};

static int is_wanted(void *arg, const char *name, uint64_t value)
{
	struct wanted *wanted = arg;

	if (strcmp(name, wanted->name))
		return 0;
	wanted->value = value;
	return 1;
}

int ktau_stats_get(const char *name, uint64_t *value)
{
	struct wanted wanted = { .name = name };
	int err = ktau_stats_each(is_wanted, &wanted);

	if (err < 0)
		return err;
	*value = wanted.value;
	return err ? 0 : -ENOENT;
}
