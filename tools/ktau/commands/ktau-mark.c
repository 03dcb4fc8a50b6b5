// SPDX-License-Identifier: GPL-2.0-only
/* ktau mark: run a command as a region. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "lib/cli.h"
#include "subcommand.h"

#define LIBRARY		"libktau-mark.so.1"

#define MAX_MARKS	16	/* the same as in libktau-mark */

/* Exit statuses if the command did not run, as in ktau record. */
enum { MARK_FAILED = 125, CANNOT_RUN, NOT_FOUND };

struct options {
	const char *names;
	const char *region;
	char **command;
};

static const struct argp_option argp_options[] = {
	{ "names", 'n', "DIR", 0,
	  "Write the names of regions to files ktau-user.* in this directory (default: "
	  "$KTAU_USER_DIR, or the current one)", 0 },
	{ 0 }
};

static bool is_name(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '/')
			return false;
	return true;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'n':
		o->names = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!o->region) {
			if (!*arg || !is_name(arg))
				cli_usage(state, "'%s': not a name for a region", arg);
			o->region = arg;
			return 0;
		}
		o->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!o->command)
			cli_usage(state, "a NAME and a COMMAND are required");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "NAME COMMAND [ARGUMENT...]",
	"Run COMMAND in a region NAME: everything that the kernel does for it and for the programs "
	"that it starts is also accounted to the region. ktau regions and ktau report --regions "
	"show it.",
	NULL, NULL, NULL
};

/* Return: 0 if the kernel gives this task regions, or an errno. */
static int try_regions(void)
{
	struct ktau_regions args = { .size = sizeof(args) };
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);

	return fd < 0 || ioctl(fd, KTAU_IOC_REGIONS, &args) < 0 ? errno : 0;
}

/* Warn if the command cannot have regions. A child tries, because a task cannot give them back. */
static void check_regions(const char *region)
{
	static const struct {
		int err;
		const char *reason;
	} reasons[] = {
		{ ENOENT, "the kernel has no KTAU" },
		{ ENOTTY, "the kernel has no regions" },
		{ EACCES, "they require CAP_PERFMON, or kernel.ktau_paranoid to be at most 1" },
		{ ENODATA, "no group is enabled for this task (see ktau-control(1))" },
	};
	const char *reason = NULL;
	int status;
	pid_t pid;
	size_t i;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(try_regions());
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status)) {
		complain("cannot find out whether region %s is measured", region);
		return;
	}
	if (!WEXITSTATUS(status))
		return;
	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].err == WEXITSTATUS(status))
			reason = reasons[i].reason;
	complain("region %s is not measured: %s", region,
		 reason ? reason : strerror(WEXITSTATUS(status)));
}

/* The marks around this command. */
static unsigned int nr_marks(void)
{
	const char *text = getenv("KTAU_USER_MARK");
	unsigned int nr = 0;

	for (; text && *text; text++)
		nr += *text != '/' && (text[1] == '/' || !text[1]);
	return nr;
}

static int set(const char *name, const char *value)
{
	if (!setenv(name, value, 1))
		return 0;
	complain("cannot set %s: %s", name, strerror(errno));
	return -1;
}

/* Append @text to the variable @name, or put it first if @before, with @between as a separator. */
static int extend(const char *name, const char *text, const char *between, bool before)
{
	const char *old = getenv(name);
	char *value;
	int err;

	if (!old || !*old)
		return set(name, text);
	if (asprintf(&value, "%s%s%s", before ? text : old, between, before ? old : text) < 0) {
		complain("cannot set %s: out of memory", name);
		return -1;
	}
	err = set(name, value);
	free(value);
	return err;
}

/* Set KTAU_USER_DIR to an absolute path, because commands may change their directory. */
static int set_names(const char *dir)
{
	char path[PATH_MAX];

	if (!dir)
		dir = getenv("KTAU_USER_DIR");
	if (!realpath(dir ? dir : ".", path)) {
		complain("%s: %s", dir ? dir : ".", strerror(errno));
		return -1;
	}
	return set("KTAU_USER_DIR", path);
}

/* The folder of the library, which the dynamic loader would find; NULL if it is not known. */
static char *find_folder(void)
{
	const char *list = getenv("LD_LIBRARY_PATH");
	char *copy = list ? strdup(list) : NULL, *rest = copy, *dir, *path, *found = NULL;
	bool here;

	while (!found && (dir = strsep(&rest, ":;"))) {
		if (!*dir || asprintf(&path, "%s/" LIBRARY, dir) < 0)
			continue;
		here = !access(path, R_OK);
		free(path);
		if (here)
			found = realpath(dir, NULL);
	}
	free(copy);
	return found ? found : strdup(KTAU_LIBDIR);
}

/*
 * What to preload. A program of another word size cannot load the library; in a folder whose name
 * depends on the program, it finds one that does nothing. Blanks and colons separate libraries.
 */
static char *preloaded(void)
{
	char *dir = find_folder(), *path = NULL;
	bool usable = dir && !strpbrk(dir, " :;$") &&
		      asprintf(&path, "%s/ktau-mark", dir) >= 0 && !access(path, X_OK);

	free(path);
	path = NULL;
	if (usable && asprintf(&path, "%s/ktau-mark/$LIB/" LIBRARY, dir) < 0)
		path = NULL;
	free(dir);
	return path ? path : strdup(LIBRARY);
}

/* Preload the library, unless a mark around this one has done so. */
static int preload(void)
{
	const char *old = getenv("LD_PRELOAD");
	char *path;
	int err;

	if (old && strstr(old, LIBRARY))
		return 0;
	path = preloaded();
	if (!path) {
		complain("cannot set LD_PRELOAD: out of memory");
		return -1;
	}
	err = extend("LD_PRELOAD", path, ":", true);
	free(path);
	return err;
}

/* Put the command into the region @region, inside those around it. */
static int set_region(const char *region)
{
	if (nr_marks() >= MAX_MARKS) {
		complain("region %s is not measured: marks can be nested %d deep", region,
			 MAX_MARKS);
	} else {
		check_regions(region);
		if (extend("KTAU_USER_MARK", region, "/", false))
			return -1;
	}
	return preload();
}

static int mark_main(int argc, char **argv)
{
	struct options o = { 0 };
	int err;

	cli_fail_with(MARK_FAILED);
	cli_parse(&parser, argc, argv, ARGP_IN_ORDER, &o);
	if (set_names(o.names) || set_region(o.region))
		return MARK_FAILED;
	execvp(o.command[0], o.command);
	err = errno;
	complain("cannot run %s: %s", o.command[0], strerror(err));
	return err == ENOENT ? NOT_FOUND : CANNOT_RUN;
}

const struct subcommand subcommand_mark = {
	"mark", mark_main, "run a command as a region, so that its kernel time is separate",
	&parser, SUBCOMMAND_RECORD
};
