// SPDX-License-Identifier: GPL-2.0-only
/*
 * funcMap: addresses of the kernel become names, in text of any kind and in
 * ktaud's files.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "addrs.h"
#include "cmd.h"
#include "dump.h"
#include "names.h"

struct options {
	const char *map;
	const char *output;
	bool have_slide, have_stext;
	uint64_t slide, stext;
	char **inputs;
	int nr_inputs;
};

enum { OPT_SLIDE = 256, OPT_STEXT };

static const struct argp_option argp_options[] = {
	{ "map", 'm', "FILE", 0,
	  "System.map, kallsyms or vmlinux (default /proc/kallsyms)", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE, not to standard output", 0 },
	{ "slide", OPT_SLIDE, "OFFSET", 0,
	  "The kernel ran OFFSET bytes behind the addresses of the map", 0 },
	{ "stext", OPT_STEXT, "ADDRESS", 0,
	  "The kernel ran with _stext at ADDRESS", 0 },
	{ NULL, 'p', "MAP", 0, "As the first KTAU had it: the same as -m MAP", 1 },
	{ NULL, 't', "MAP", 0, "Likewise", 1 },
	{ NULL, 'h', NULL, 0, "Give this help list", -1 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'm':
	case 'p':
	case 't':
		o->map = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case OPT_SLIDE:
		o->have_slide = true;
		if (cmd_number(*arg == '-' ? arg + 1 : arg, INT64_MAX, &o->slide))
			argp_error(state, "--slide=%s: not a number", arg);
		if (*arg == '-')
			o->slide = -o->slide;
		return 0;
	case OPT_STEXT:
		o->have_stext = true;
		if (cmd_number(arg, UINT64_MAX, &o->stext) || !o->stext)
			argp_error(state, "--stext=%s: not an address", arg);
		return 0;
	case ARGP_KEY_ARGS:
		o->inputs = state->argv + state->next;
		o->nr_inputs = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (o->have_slide && o->have_stext)
			argp_error(state, "--slide and --stext exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "[FILE...]",
	"Replace addresses of the kernel by names. FILE is text of any kind, which "
	"passes through with names in place of addresses, or a file of ktaud, which "
	"is printed; without FILE, or where FILE is -, read standard input.",
	NULL, NULL, NULL
};

static int write_all(void *arg, const char *data, size_t size)
{
	return fwrite(data, 1, size, arg) == size && !fflush(arg) ? 0 : -EIO;
}

/* @stext becomes where --slide or --stext say, or where the map has it. */
static int place_map(struct ktau_symtab *symtab, struct options *o)
{
	uint64_t stext = names_map_stext(symtab);

	if (o->have_slide && !stext) {
		complain("%s: no symbol _stext, so --slide has no effect",
			 o->map ? o->map : "/proc/kallsyms");
		return -1;
	}
	if (!o->have_stext)
		o->stext = stext + o->slide;
	if (ktau_symtab_relocate(symtab, o->stext) >= 0)
		return 0;
	complain("%s", ktau_symtab_error(symtab));
	return -1;
}

/* ktaud's file or a saved stream, and not text? It does not move in the file. */
static bool is_ktau_data(int fd)
{
	uint32_t head[4] = { 0 };

	if (pread(fd, head, sizeof(head), 0) < 4)
		return false;
	return head[0] == KTAU_FILE_MAGIC || head[2] == KTAU_MAGIC ||
	       head[0] == __builtin_bswap32(KTAU_FILE_MAGIC) ||
	       head[2] == __builtin_bswap32(KTAU_MAGIC);
}

/* As read(2), but never interrupted. */
static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static int wrong_map(const struct addrs_counts *counts, const char *name, const char *map)
{
	if (!counts->unresolved || counts->resolved)
		return CMD_DONE;
	complain("%s: none of its %" PRIu64 " kernel addresses is in a function of %s: "
		 "the map of another kernel, or the kernel was loaded elsewhere "
		 "(see --stext)",
		 name, counts->unresolved, map ? map : "/proc/kallsyms");
	return CMD_FAILED;
}

static int map_text(int fd, const char *name, const struct options *o,
		    const struct ktau_symtab *symtab, FILE *out)
{
	struct addrs *a = addrs_create(symtab, write_all, out);
	int err = CMD_DONE;
	size_t size;
	ssize_t n;
	char *to;

	if (!a) {
		complain("out of memory");
		return CMD_FAILED;
	}
	do {
		to = addrs_space(a, &size);
		n = read_some(fd, to, size);
		if (n < 0) {
			complain("%s: %s", name, strerror(errno));
			err = CMD_FAILED;
		}
		if (addrs_feed(a, n > 0 ? (size_t)n : 0)) {
			err = CMD_FAILED;
			break;
		}
	} while (n > 0);
	if (!err)
		err = wrong_map(addrs_counts(a), name, o->map);
	addrs_destroy(a);
	return err;
}

static int map_input(const char *path, const struct options *o,
		     struct ktau_symtab *symtab, FILE *out)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0) {
		complain("%s: %s", path, strerror(errno));
		return CMD_FAILED;
	}
	/* A file of ktaud before this one has moved the map. */
	ktau_symtab_relocate(symtab, o->stext);
	if (is_ktau_data(fd))
		err = dump_fd(fd, path, symtab, out);
	else
		err = map_text(fd, is_stdin ? "standard input" : path, o, symtab, out);
	if (!is_stdin)
		close(fd);
	return err;
}

/* What is written and read as well is lost, or has no end. Complaints are made. */
static bool is_input(int fd, const char *name, const struct options *o)
{
	struct stat out, in;
	int i, err;

	if (fstat(fd, &out) || !S_ISREG(out.st_mode))
		return false;
	for (i = 0; i < o->nr_inputs; i++) {
		err = strcmp(o->inputs[i], "-") ? stat(o->inputs[i], &in) :
						  fstat(STDIN_FILENO, &in);
		if (err || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
			continue;
		complain("%s: is an input as well", name);
		return true;
	}
	return false;
}

/* Emptied only when it is sure that it is not one of the inputs. */
static FILE *open_output(const struct options *o)
{
	struct stat st;
	FILE *out;
	int fd;

	if (!o->output)
		return is_input(STDOUT_FILENO, "standard output", o) ? NULL : stdout;
	fd = open(o->output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0 && is_input(fd, o->output, o)) {
		close(fd);
		return NULL;
	}
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && ftruncate(fd, 0)) {
		close(fd);
		fd = -1;
	}
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		complain("%s: %s", o->output, strerror(errno));
	return out;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct ktau_symtab *symtab;
	char *standard_input = "-";
	int err = CMD_DONE, i;
	FILE *out;

	cmd_init("funcMap");
	argp_parse(&parser, argc, argv, 0, NULL, &o);
	if (!o.nr_inputs) {
		o.inputs = &standard_input;
		o.nr_inputs = 1;
	}
	if (names_load_map(&symtab, o.map))
		return CMD_FAILED;
	if (place_map(symtab, &o)) {
		ktau_symtab_destroy(symtab);
		return CMD_FAILED;
	}
	out = open_output(&o);
	for (i = 0; out && i < o.nr_inputs; i++)
		err |= map_input(o.inputs[i], &o, symtab, out);
	if (!out || cmd_finish(out))
		err = CMD_FAILED;
	if (out && out != stdout && fclose(out))
		err = CMD_FAILED;
	ktau_symtab_destroy(symtab);
	return err;
}
