// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktaud: reads profiles and traces of kernel routines from the kernel in every period and writes
 * them to files.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "log.h"
#include "run.h"

#define KEY_CHECK	0x100
#define KEY_ROOT	0x101
#define KEY_SOURCE	0x102

static const char doc[] =
	"Read the kernel's KTAU profiles and traces every period and write them to files."
	"\vThe settings are described in ktaud.conf(5). The command line overrides the "
	"configuration file.";

static const struct argp_option argp_options[] = {
	{ "config", 'f', "FILE", 0, "read the configuration from FILE", 0 },
	{ "daemon", 'D', NULL, 0, "go into the background once everything is set up", 0 },
	{ "once", '1', NULL, 0, "read once, then exit", 0 },
	{ "check-config", KEY_CHECK, NULL, 0, "check the configuration, then exit", 0 },
	{ "period", 't', "SECONDS", 0, "time between two reads (sample_period)", 1 },
	{ "mode", 'm', "MODE", 0, "which tasks to collect: all, self, pid, name", 1 },
	{ "pid", 'p', "PID", 0, "collect this process (mode pid); may be repeated", 1 },
	{ "name", 'n', "PATTERN", 0, "collect tasks of this name (mode name); may be repeated", 1 },
	{ "dir", 'd', "DIR", 0, "directory of the files (output_dir)", 1 },
	{ "info", 'i', "INFO", 0, "what to read: profile, trace, both", 1 },
	{ "groups", 'g', "LIST", 0, "groups to enable, such as syscall,tcp", 1 },
	{ "set", 's', "KEY=VALUE", 0, "set any key of ktaud.conf(5)", 1 },
	{ "source", KEY_SOURCE, "SOURCE", 0,
	  "measure with: auto (the default: bpf if the kernel has no KTAU), kernel, bpf", 1 },
	{ "root", KEY_ROOT, "DIR", 0,
	  "read streams saved as DIR/profile and DIR/trace instead of the kernel's", 2 },
	{ 0 }
};

struct arguments {
	struct options options;
	bool check;
};

static void add_setting(struct argp_state *state, const char *key, const char *value)
{
	struct options *options = &((struct arguments *)state->input)->options;
	char **settings;

	settings = reallocarray(options->settings, options->nr_settings + 1,
				sizeof(*settings));
	if (!settings || asprintf(&settings[options->nr_settings], "%s%s%s", key,
				  *key ? "=" : "", value) < 0)
		argp_failure(state, 1, ENOMEM, "command line");
	options->settings = settings;
	options->nr_settings++;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'f':
		arguments->options.config_path = arg;
		return 0;
	case 'D':
		arguments->options.background = true;
		return 0;
	case '1':
		arguments->options.once = true;
		return 0;
	case KEY_CHECK:
		arguments->check = true;
		return 0;
	case KEY_ROOT:
		arguments->options.root = arg;
		return 0;
	case KEY_SOURCE:
		add_setting(state, "source", arg);
		return 0;
	case 't':
		add_setting(state, "sample_period", arg);
		return 0;
	case 'm':
		add_setting(state, "mode", arg);
		return 0;
	case 'p':
		add_setting(state, "pid", arg);
		return 0;
	case 'n':
		add_setting(state, "name", arg);
		return 0;
	case 'd':
		add_setting(state, "output_dir", arg);
		return 0;
	case 'i':
		add_setting(state, "info", arg);
		return 0;
	case 'g':
		add_setting(state, "groups", arg);
		return 0;
	case 's':
		add_setting(state, "", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *join(int argc, char **argv)
{
	size_t size = 1;
	char *text;
	int i;

	for (i = 0; i < argc; i++)
		size += strlen(argv[i]) + 1;
	text = calloc(1, size);
	for (i = 0; text && i < argc; i++) {
		if (i)
			strcat(text, " ");
		strcat(text, argv[i]);
	}
	return text;
}

/*
 * If a standard descriptor is closed, the first file that is opened would get its number, and
 * messages would be written to that file. Open descriptors that fail like closed ones instead.
 */
static int hold_standard_fds(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return -errno;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse, NULL, doc, NULL, NULL, NULL };
	struct arguments arguments = { 0 };
	struct config config;
	unsigned int i;
	int status;

	if (hold_standard_fds())
		return 1;
	arguments.options.command = join(argc, argv);
	arguments_parse(&argp, "ktaud", argc, argv, &arguments);

	status = options_load(&arguments.options, &config);
	if (!status && arguments.check)
		log_info("the configuration is valid");
	else if (!status)
		status = run(&arguments.options, &config);

	config_deinit(&config);
	for (i = 0; i < arguments.options.nr_settings; i++)
		free(arguments.options.settings[i]);
	free(arguments.options.settings);
	free(arguments.options.command);
	return status;
}
