// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktau_bpf.h>

#include "cli.h"
#include "live.h"

#define PROFILE	"/proc/ktau/profile"

enum source { AUTO, KERNEL, BPF };

static struct {
	enum source wanted;
	enum source chosen;	/* AUTO: not yet */
	struct ktau_bpf_options bpf;
	bool announced;
} live;

void live_set_source(const char *word, const struct argp_state *state)
{
	static const char *const words[] = { [AUTO] = "auto", [KERNEL] = "kernel", [BPF] = "bpf" };
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i], word)) {
			live.wanted = i;
			return;
		}
	}
	cli_usage(state, "--source=%s: not auto, kernel or bpf", word);
}

bool live_is_bpf(void)
{
	bool missing;

	if (!live.chosen && live.wanted)
		live.chosen = live.wanted;
	if (!live.chosen) {
		missing = access(PROFILE, F_OK) && errno == ENOENT;
		live.chosen = missing && ktau_bpf_available() ? BPF : KERNEL;
	}
	return live.chosen == BPF;
}

int live_set_groups(const char *groups)
{
	char *words = strdup(groups), *rest = words, *word;
	uint32_t bit;
	bool all = false;
	int err = words ? 0 : -1;

	live.bpf.groups = 0;
	while (!err && (word = strsep(&rest, ","))) {
		bit = ktau_group_by_name(word);
		all |= !strcmp(word, "all");
		if (!bit && strcmp(word, "all")) {
			complain("there is no group '%s'", word);
			err = -1;
		}
		live.bpf.groups |= bit;
	}
	if (all)
		live.bpf.groups = 0;
	free(words);
	return err;
}

void live_set_trace(uint32_t ring_slots)
{
	live.bpf.ring_slots = ring_slots;
}

int live_open(struct ktau_reader *reader, const struct ktau_query *query)
{
	return live_open_with(reader, NULL, query);
}

int live_open_with(struct ktau_reader *reader, const struct ktau_reader *with,
		   const struct ktau_query *query)
{
	struct ktau_bpf_options options = live.bpf;
	int err;

	if (!live_is_bpf())
		return ktau_reader_open_live(reader, query);
	options.with = with;
	err = ktau_reader_open_bpf(reader, &options, query);
	if (!err && !live.announced && live.wanted == AUTO)
		complain("this kernel has no KTAU: measuring with BPF programs (ktau status lists "
			 "what they cannot see)");
	live.announced |= !err;
	return err;
}

/* Whether a shell takes the word as it is. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./=:,+@%-";

	return *word && !word[strspn(word, plain)];
}

static void print_word(const char *word, FILE *out)
{
	if (is_plain(word)) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", out);
		putc(*word, out);
	}
	putc('\'', out);
}

/* The command line of this process, as root would type it. */
static void print_command(FILE *out)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	char *word = NULL;
	size_t size = 0;

	fputs("    sudo", out);
	while (f && getdelim(&word, &size, 0, f) > 0) {
		putc(' ', out);
		print_word(word, out);
	}
	putc('\n', out);
	free(word);
	if (f)
		fclose(f);
}

void live_failed(const struct ktau_reader *reader, int err)
{
	if (live.chosen != BPF) {
		cli_reader_failed(reader, err);
		return;
	}
	complain("%s%s", live.wanted == AUTO ? "this kernel has no KTAU, and " : "",
		 ktau_reader_error(reader));
	if (err == -EPERM && geteuid())
		print_command(stderr);
}
