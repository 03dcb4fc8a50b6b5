// SPDX-License-Identifier: GPL-2.0-only
/* Shared by all commands. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "text.h"

static const char *name_of_command = "ktau";
static int failed_status = CLI_FAILED;
static bool output_failed;	/* a message was printed */

static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	fprintf(out, "%s %s\n", name_of_command, ktau_version());
}

/* argp prints --help and similar, and exits without checking that the output was written. */
static void check_output(void)
{
	if (!output_failed && cli_finish(stdout))
		_exit(failed_status);
}

/*
 * Open every closed standard descriptor. Otherwise the next opened file would get its number,
 * and messages would be written to that file. The substitutes are opened for the opposite
 * direction, so that using them still fails, and they are not inherited.
 */
static void hold_standard_fds(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

void cli_init(const char *name)
{
	hold_standard_fds();
	text_use_utf8();
	name_of_command = name;
	argp_program_version_hook = print_version;
	argp_err_exit_status = CLI_USAGE;
	atexit(check_output);
}

void cli_rename(const char *name)
{
	name_of_command = name;
}

void cli_fail_with(int status)
{
	failed_status = argp_err_exit_status = status;
}

/* Format and escape a message: file names and words in it may contain any byte. */
static char *escaped(const char *format, va_list args)
{
	char *raw, *text = NULL;
	size_t size;
	FILE *f;

	if (vasprintf(&raw, format, args) < 0)
		return NULL;
	f = open_memstream(&text, &size);
	if (f) {
		print_escaped(raw, f);
		fclose(f);
	}
	free(raw);
	return text;
}

void complain(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = escaped(format, args);
	va_end(args);
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", name_of_command, text ? text : "out of memory");
	free(text);
}

void cli_usage(const struct argp_state *state, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = escaped(format, args);
	va_end(args);
	argp_error(state, "%s", text ? text : "out of memory");
	free(text);
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

void cli_parse(const struct argp *parser, int argc, char **argv, unsigned int flags,
	       void *input)
{
	static const struct argp_option options[] = {
		{ NULL, 'h', NULL, 0, "The same as --help", -1 },
		{ 0 }
	};
	const struct argp_child children[] = { { parser, 0, NULL, 0 }, { 0 } };
	const struct argp with_help = { options, parse_help, NULL, NULL, children, NULL, NULL };

	argp_parse(&with_help, argc, argv, flags, NULL, input);
}

void *cli_alloc(void *old, size_t nr, size_t size)
{
	void *new = reallocarray(old, nr ? nr : 1, size);

	if (!new) {
		complain("out of memory");
		exit(failed_status);
	}
	return new;
}

int cli_finish(FILE *out)
{
	bool failed = ferror(out);

	if (fflush(out) || failed) {
		complain("cannot write the output: %s",
			 errno ? strerror(errno) : "unknown error");
		output_failed = true;
		return CLI_FAILED;
	}
	return CLI_DONE;
}

const char *cli_number_at(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return errno || *value > max ? NULL : end;
}

int cli_number(const char *text, uint64_t max, uint64_t *value)
{
	const char *end = cli_number_at(text, max, value);

	return end && !*end ? 0 : -1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void progress_step(struct progress *p, const char *what, uint64_t records)
{
	uint64_t now;

	if (records % 1024)
		return;
	now = now_ns();
	if (!p->last_ns)
		p->last_ns = now + 500000000;
	if (now < p->last_ns + 500000000 || !isatty(STDERR_FILENO))
		return;
	p->last_ns = now;
	p->shown = true;
	fprintf(stderr, "\r%s: %s: %" PRIu64 " records ", name_of_command, what,
		records);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

void cli_reader_failed(const struct ktau_reader *reader, int err)
{
	static const char live[] = "/proc/ktau";
	const char *more = "";

	if (err == -ENOENT && !strncmp(ktau_reader_error(reader), live, strlen(live))) {
		no_ktau(live, err);
		return;
	}
	if (err == -EBADMSG)
		more = "; everything undamaged has been used";
	complain("%s%s", ktau_reader_error(reader), more);
}

int no_ktau(const char *path, int err)
{
	if (err == -ENOENT)
		complain("this kernel has no KTAU: there is no %s (boot a kernel with "
			 "CONFIG_KTAU); ktau status says what works without",
			 path);
	else
		complain("%s: %s", path, strerror(-err));
	return CLI_FAILED;
}
