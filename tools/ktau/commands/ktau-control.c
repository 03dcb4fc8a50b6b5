// SPDX-License-Identifier: GPL-2.0-only
/* ktau control: show or change the settings in /proc/ktau/control. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "subcommand.h"
#include "lib/unbuilt.h"

struct options {
	char **words;
	int nr_words;
};

/* Options are --help and similar, and their short forms. No group has a one-letter name. */
static bool is_option(const char *word)
{
	return *word == '-' && (word[1] == '-' || strlen(word) == 2);
}

static const char path[] = "/proc/ktau/control";

static int show_control(void)
{
	FILE *control = fopen(path, "re");
	char line[4096];
	int err = 0;

	if (!control)
		return no_ktau(path, -errno);
	while (fgets(line, sizeof(line), control))
		fputs(line, stdout);
	if (ferror(control))
		err = no_ktau(path, -errno);
	fclose(control);
	return err || cli_finish(stdout) ? CLI_FAILED : CLI_DONE;
}

/* All words are written at once, because the kernel applies a write as a whole or not at all. */
static int write_control(const struct options *o)
{
	size_t bytes = 1;
	char *words, *end;
	int i, err;

	for (i = 0; i < o->nr_words; i++)
		bytes += strlen(o->words[i]) + 1;
	words = end = cli_alloc(NULL, bytes, 1);
	*words = 0;
	for (i = 0; i < o->nr_words; i++)
		end += sprintf(end, "%s%s", i ? " " : "", o->words[i]);
	err = ktau_control_write(words);
	if (err == -ENOENT && access(path, F_OK))
		no_ktau(path, err);
	else if (err && !(err == -EINVAL && unbuilt_complain(words)))
		complain("cannot set '%s': %s", words, ktau_control_reason(err));
	free(words);
	return err ? CLI_FAILED : CLI_DONE;
}

static const struct argp parser = {
	NULL, NULL, "[WORD...]",
	"Enable and disable groups (+tcp -irq groups=syscall,sched) and modes "
	"(profile=on trace=off), filter tasks (filter=uid:1000 filter+=pid:12), tag "
	"tasks (tag=12:7) and set sizes (ring=1024). Without a WORD, print the settings as "
	"words that restore them.",
	NULL, NULL, NULL
};

static int control_main(int argc, char **argv)
{
	struct options o = { 0 };
	int i;

	/* Nothing after the first word is an option: -tcp disables a group. */
	for (i = 1; i < argc && is_option(argv[i]); i++)
		;
	o.words = argv + i;
	o.nr_words = argc - i;
	cli_parse(&parser, i, argv, 0, &o);
	return o.nr_words ? write_control(&o) : show_control();
}

const struct subcommand subcommand_control = {
	"control", control_main, "show or change what is measured: groups, modes, filter and sizes",
	&parser, SUBCOMMAND_CONTROL
};
