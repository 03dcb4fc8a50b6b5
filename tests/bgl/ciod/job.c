// SPDX-License-Identifier: GPL-2.0-only
/*
 * The job file: a "key=value" line for each setting. Any line that is not understood is an error,
 * so that no call is ever executed with other privileges than intended.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ciod/job.h"

#define NO_ID ((uid_t)-1)

static const char *take_token(struct ciod_job *job, const char *value)
{
	if (strlen(value) != CIOD_TOKEN_BYTES ||
	    strspn(value, "0123456789abcdef") != CIOD_TOKEN_BYTES)
		return "the token must be 32 hexadecimal digits";
	memcpy(job->token, value, CIOD_TOKEN_BYTES);
	return NULL;
}

static const char *take_peer(struct ciod_job *job, const char *value)
{
	return inet_aton(value, &job->peer) ? NULL : "not an IPv4 address";
}

/* Return: 0 if @value is a decimal number between @least and @most. */
static int number(const char *value, unsigned long least, unsigned long most,
		  unsigned int *to)
{
	unsigned long n;
	char *end;

	if (*value < '0' || *value > '9')
		return -1;
	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || n < least || n > most)
		return -1;
	*to = n;
	return 0;
}

static const char *take_uid(struct ciod_job *job, const char *value)
{
	return number(value, 1, NO_ID - 1, &job->uid) ? "the user id must be greater than 0" : NULL;
}

static const char *take_gid(struct ciod_job *job, const char *value)
{
	return number(value, 1, NO_ID - 1, &job->gid) ? "the group id must be greater than 0" :
							 NULL;
}

static const char *take_root(struct ciod_job *job, const char *value)
{
	struct stat st;

	if (*value != '/' || strlen(value) >= sizeof(job->root))
		return "not an absolute path";
	if (stat(value, &st) || !S_ISDIR(st.st_mode))
		return "no such directory";
	strcpy(job->root, value);
	return NULL;
}

static const char *take_port(struct ciod_job *job, const char *value)
{
	return number(value, 1, 65535, &job->port) ? "the port must be from 1 to 65535" : NULL;
}

static const char *take_wait(struct ciod_job *job, const char *value)
{
	return number(value, 1, 86400, &job->wait_seconds) ?
		       "the time must be from 1 to 86400 seconds" : NULL;
}

static const char *take_nodes(struct ciod_job *job, const char *value)
{
	return number(value, 1, CIOD_MAX_NODES, &job->nodes) ?
		       "the number of compute nodes must be from 1 to 1024" :
		       NULL;
}

static const char *take_lost_node(struct ciod_job *job, const char *value)
{
	job->lost_node_continues = !strcmp(value, "continue");
	return job->lost_node_continues || !strcmp(value, "end") ? NULL :
		       "neither 'end' nor 'continue'";
}

static const struct key {
	const char *name;
	const char *(*take)(struct ciod_job *job, const char *value);
	int optional;
} keys[] = {
	{ "token", take_token, 0 },
	{ "peer", take_peer, 0 },
	{ "uid", take_uid, 0 },
	{ "gid", take_gid, 0 },
	{ "root", take_root, 0 },
	{ "port", take_port, 1 },
	{ "wait", take_wait, 1 },
	{ "nodes", take_nodes, 1 },
	{ "lost_node", take_lost_node, 1 },
};

#define NR_KEYS (sizeof(keys) / sizeof(keys[0]))

/* Parse a line. Return: the error, or NULL. Bits of @seen are the keys so far. */
static const char *take_line(struct ciod_job *job, char *line, unsigned int *seen)
{
	char *value = strchr(line, '=');
	size_t i;

	if (!*line || *line == '#')
		return NULL;
	if (!value)
		return "not key=value";
	*value++ = '\0';
	for (i = 0; i < NR_KEYS; i++) {
		if (strcmp(line, keys[i].name))
			continue;
		if (*seen & 1u << i)
			return "the key is set twice";
		*seen |= 1u << i;
		return keys[i].take(job, value);
	}
	return "unknown key";
}

static int complain(const char *path, int line, const char *reason)
{
	if (line)
		fprintf(stderr, "ciod: %s:%d: %s\n", path, line, reason);
	else
		fprintf(stderr, "ciod: %s: %s\n", path, reason);
	return 1;
}

static int all_there(const char *path, unsigned int seen)
{
	char reason[64];
	size_t i;

	for (i = 0; i < NR_KEYS; i++) {
		if (keys[i].optional || seen & 1u << i)
			continue;
		snprintf(reason, sizeof(reason), "key '%s' is missing", keys[i].name);
		return complain(path, 0, reason);
	}
	return 0;
}

int ciod_read_job(const char *path, struct ciod_job *job)
{
	const char *wrong = NULL;
	char line[PATH_MAX + 16];
	unsigned int seen = 0;
	int at = 0;
	FILE *f;

	memset(job, 0, sizeof(*job));
	job->port = CIOD_PORT;
	job->wait_seconds = 300;
	job->nodes = 64;
	f = fopen(path, "r");
	if (!f)
		return complain(path, 0, strerror(errno));
	while (!wrong && fgets(line, sizeof(line), f)) {
		at++;
		if (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1)
			wrong = "the line is too long";
		line[strcspn(line, "\n")] = '\0';
		if (!wrong)
			wrong = take_line(job, line, &seen);
	}
	if (!wrong && ferror(f))
		wrong = strerror(errno);
	fclose(f);
	return wrong ? complain(path, at, wrong) : all_there(path, seen);
}
