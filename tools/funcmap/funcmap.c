// SPDX-License-Identifier: GPL-2.0-only
/*
 * funcMap: replace kernel addresses with names, in text of any kind, in ktaud's files and in saved
 * streams.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "addrs.h"
#include "lib/cli.h"
#include "lib/dump.h"
#include "lib/output.h"
#include "offset.h"
#include "lib/symbolize.h"

struct options {
	const char *map;
	const char *output;
	bool have_slide, have_stext;
	uint64_t slide, stext;
	char **inputs;
	int nr_inputs;
};

/**
 * struct input - an input
 * @name: name for messages
 * @fd: descriptor
 * @head: first bytes, which identify the type; they have already been read from @fd
 * @head_bytes: length of @head
 */
struct input {
	const char *name;
	int fd;
	char head[16];
	size_t head_bytes;
};

enum { OPT_SLIDE = 256, OPT_STEXT };

static const struct argp_option argp_options[] = {
	{ "map", 'm', "FILE", 0,
	  "Read symbols from a System.map, kallsyms or vmlinux (default: /proc/kallsyms)", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output, which is -", 0 },
	{ "slide", OPT_SLIDE, "OFFSET", 0,
	  "The kernel ran OFFSET bytes after the addresses of the map", 0 },
	{ "stext", OPT_STEXT, "ADDRESS", 0,
	  "The kernel ran with _stext at ADDRESS", 0 },
	{ NULL, 'p', "MAP", 0, "The same as -m MAP; for compatibility with the first KTAU", 1 },
	{ NULL, 't', "MAP", 0, "The same as -m MAP; for compatibility with the first KTAU", 1 },
	{ 0 }
};

/* Parse a hexadecimal number other than 0, with or without 0x. Return: 0 or -1. */
static int parse_address(const char *text, uint64_t *address)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return -1;
	errno = 0;
	*address = strtoull(text, &end, 16);
	return errno || *end || !*address ? -1 : 0;
}

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
	case OPT_SLIDE:
		o->have_slide = true;
		if (cli_number(*arg == '-' ? arg + 1 : arg, INT64_MAX, &o->slide))
			cli_usage(state, "--slide=%s: not a number", arg);
		if (*arg == '-')
			o->slide = -o->slide;
		return 0;
	case OPT_STEXT:
		o->have_stext = true;
		if (parse_address(arg, &o->stext))
			cli_usage(state, "--stext=%s: not an address, such as "
					 "ffffffff81000000",
				  arg);
		return 0;
	case ARGP_KEY_ARGS:
		o->inputs = state->argv + state->next;
		o->nr_inputs = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (o->have_slide && o->have_stext)
			cli_usage(state, "--slide and --stext cannot be combined");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
	argp_options, parse_option, "[FILE...]",
	"Replace kernel addresses with names. FILE is text of any kind, which is copied with "
	"names in place of addresses, or a file written by ktaud, which is printed. Without "
	"FILE, or if FILE is -, read standard input.",
	NULL, NULL, NULL
};

static int write_all(void *arg, const char *data, size_t size)
{
	return fwrite(data, 1, size, arg) == size && !fflush(arg) ? 0 : -EIO;
}

/* Set @stext as requested by --slide or --stext, or to that of the map, and relocate the map. */
static int place_map(struct ktau_symtab *symtab, struct options *o)
{
	uint64_t stext = symbolize_map_stext(symtab);

	if (o->have_slide && !stext) {
		complain("%s: contains no symbol _stext, so --slide has no effect",
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

/* Like read(2), but never interrupted by a signal. */
static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/*
 * Is the input a file of ktaud or a saved stream? Either begins with a magic or with a small
 * number, which no text does. Text from a slow pipe is recognised without waiting for more.
 */
static bool is_ktau_data(const struct input *in, bool *sure)
{
	uint32_t words[4] = { 0 };

	memcpy(words, in->head, in->head_bytes);
	*sure = in->head_bytes >= 4;
	if (words[0] == KTAU_FILE_MAGIC || words[0] == __builtin_bswap32(KTAU_FILE_MAGIC))
		return true;
	if (words[0] > UINT16_MAX && __builtin_bswap32(words[0]) > UINT16_MAX)
		return false;
	*sure = in->head_bytes >= 12;
	return words[2] == KTAU_MAGIC || words[2] == __builtin_bswap32(KTAU_MAGIC);
}

/*
 * Identify the input by its first bytes. Return: 1 for KTAU data, 0 for text, -1 with a message.
 */
static int look_at(struct input *in)
{
	bool is_ktau, sure;
	ssize_t n;

	do {
		n = read_some(in->fd, in->head + in->head_bytes,
			      sizeof(in->head) - in->head_bytes);
		if (n < 0) {
			complain("%s: %s", in->name, strerror(errno));
			return -1;
		}
		in->head_bytes += (size_t)n;
		is_ktau = is_ktau_data(in, &sure);
	} while (n && !sure);
	return is_ktau;
}

/* Runs in the child: copy all of @in to @to. Return: the exit status. */
static int copy_input(const struct input *in, int to)
{
	char bytes[65536];
	ssize_t n = (ssize_t)in->head_bytes, done;

	memcpy(bytes, in->head, in->head_bytes);
	while (n > 0) {
		for (done = 0; done < n;) {
			ssize_t written = write(to, bytes + done, (size_t)(n - done));

			/* The parent has stopped reading, and says why. */
			if (written < 0 && errno != EINTR)
				return CLI_DONE;
			done += written > 0 ? written : 0;
		}
		n = read_some(in->fd, bytes, sizeof(bytes));
	}
	if (!n)
		return CLI_DONE;
	complain("%s: %s", in->name, strerror(errno));
	return CLI_FAILED;
}

/* The first bytes of the pipe have been read, so pass everything through another pipe. */
static int dump_pipe(const struct input *in, struct ktau_symtab *symtab, FILE *out)
{
	int fds[2], status = 0, err;
	pid_t child;

	if (fflush(out) || pipe2(fds, O_CLOEXEC)) {
		complain("%s: %s", in->name, strerror(errno));
		return CLI_FAILED;
	}
	child = fork();
	if (!child) {
		output_forked();
		close(fds[0]);
		_exit(copy_input(in, fds[1]));
	}
	close(fds[1]);
	if (child < 0) {
		complain("%s: %s", in->name, strerror(errno));
		err = CLI_FAILED;
	} else {
		err = dump_fd(fds[0], in->name, symtab, out);
	}
	close(fds[0]);
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
		err |= WEXITSTATUS(status);
	return err;
}

static int dump_input(const struct input *in, struct ktau_symtab *symtab, FILE *out)
{
	if (lseek(in->fd, -(off_t)in->head_bytes, SEEK_CUR) >= 0)
		return dump_fd(in->fd, in->name, symtab, out);
	return dump_pipe(in, symtab, out);
}

static int wrong_map(const struct addrs_counts *counts, const char *name, const char *map)
{
	if (!counts->unresolved || counts->resolved)
		return CLI_DONE;
	complain("%s: none of its %" PRIu64 " kernel addresses is in a function of %s: "
		 "the map belongs to another kernel, or the kernel was loaded elsewhere "
		 "(see --stext)",
		 name, counts->unresolved, map ? map : "/proc/kallsyms");
	return CLI_FAILED;
}

/* The address of _stext in the kernel of a text, whose _text was at @text. */
static uint64_t stext_of(const struct ktau_symtab *symtab, uint64_t text)
{
	struct ktau_symbol begin, stext;

	if (ktau_symtab_find(symtab, "_text", &begin) > 0 &&
	    ktau_symtab_find(symtab, "_stext", &stext) > 0)
		return text + (stext.address - begin.address);
	return text;
}

/*
 * Relocate the map to where the text says that its kernel was. The line that says so follows the
 * addresses, so the text is read twice, which a pipe does not permit.
 */
static int place_text(const struct input *in, const struct options *o, struct ktau_symtab *symtab)
{
	off_t at = lseek(in->fd, 0, SEEK_CUR);
	struct offset_scan scan = { .nr = 0 };
	int err;

	if (o->have_slide || o->have_stext || at < 0 || !symbolize_map_stext(symtab))
		return 0;
	err = offset_read(&scan, in->fd, at - (off_t)in->head_bytes);
	if (err) {
		complain("%s: %s", in->name, strerror(-err));
		return -1;
	}
	if (scan.several) {
		complain("%s: its kernels were loaded at several addresses, as its lines \"Kernel "
			 "Offset\" say: separate them, or use --stext",
			 in->name);
		return -1;
	}
	if (!scan.found || ktau_symtab_relocate(symtab, stext_of(symtab, scan.text)) >= 0)
		return 0;
	complain("%s: %s", in->name, ktau_symtab_error(symtab));
	return -1;
}

/* Were the names that have been written those of another place? */
static int check_place(const struct input *in, const struct offset_scan *scan,
		       const struct options *o, const struct ktau_symtab *symtab)
{
	struct ktau_symbol stext;

	if (o->have_slide || o->have_stext || !scan->found ||
	    ktau_symtab_find(symtab, "_stext", &stext) <= 0 ||
	    (!scan->several && stext.address == stext_of(symtab, scan->text)))
		return CLI_DONE;
	complain("%s: the names are wrong, because the kernel was loaded elsewhere, as its line "
		 "\"Kernel Offset\" says (use --stext=%" PRIx64 ", or a file instead of a pipe)",
		 in->name, stext_of(symtab, scan->text));
	return CLI_FAILED;
}

static int map_text(const struct input *in, const struct options *o,
		    struct ktau_symtab *symtab, FILE *out)
{
	struct offset_scan scan = { .nr = 0 };
	ssize_t n = (ssize_t)in->head_bytes;
	int err = CLI_DONE;
	struct addrs *a;
	size_t size;
	char *to;

	if (place_text(in, o, symtab))
		return CLI_FAILED;
	a = addrs_create(symtab, write_all, out);
	if (!a) {
		complain("out of memory");
		return CLI_FAILED;
	}
	to = memcpy(addrs_space(a, &size), in->head, in->head_bytes);
	for (;;) {
		offset_feed(&scan, to, n > 0 ? (size_t)n : 0);
		if (addrs_feed(a, n > 0 ? (size_t)n : 0))
			err = CLI_FAILED;
		if (err || n <= 0)
			break;
		to = addrs_space(a, &size);
		n = read_some(in->fd, to, size);
		if (n < 0) {
			complain("%s: %s", in->name, strerror(errno));
			err = CLI_FAILED;
		}
	}
	offset_feed(&scan, "\n", 1);
	if (!err)
		err = wrong_map(addrs_counts(a), in->name, o->map) |
		      check_place(in, &scan, o, symtab);
	addrs_destroy(a);
	return err;
}

static int map_input(const char *path, const struct options *o,
		     struct ktau_symtab *symtab, FILE *out)
{
	bool is_stdin = !strcmp(path, "-");
	struct input in = { .name = is_stdin ? "standard input" : path };
	int err;

	in.fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (in.fd < 0) {
		complain("%s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	/* An earlier file of ktaud may have relocated the map. */
	ktau_symtab_relocate(symtab, o->stext);
	switch (look_at(&in)) {
	case 1:
		err = dump_input(&in, symtab, out);
		break;
	case 0:
		err = map_text(&in, o, symtab, out);
		break;
	default:
		err = CLI_FAILED;
	}
	if (!is_stdin)
		close(in.fd);
	return err;
}

/* The output would destroy an input, or grow without end. */
static bool overwrites_input(const struct options *o, const char *output)
{
	int i;

	for (i = 0; i < o->nr_inputs; i++)
		if (output_is_input(output, o->inputs[i]))
			return true;
	return output_is_input(output, o->map);
}

/* Write all inputs to the output, which appears only if that succeeds. */
static int map_inputs(const struct options *o, struct ktau_symtab *symtab)
{
	const char *path = o->output ? o->output : "-";
	struct output *output = NULL;
	int err = CLI_DONE, i;

	if (!overwrites_input(o, path))
		output = output_create(path, false);
	if (!output)
		return CLI_FAILED;
	for (i = 0; i < o->nr_inputs; i++)
		err |= map_input(o->inputs[i], o, symtab, output_file(output));
	if (!err)
		return output_commit(output) ? CLI_FAILED : CLI_DONE;
	output_check(output, output_file(output));
	output_discard(output);
	return err;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct ktau_symtab *symtab;
	char *standard_input = "-";
	int err;

	cli_init("funcMap");
	cli_parse(&parser, argc, argv, 0, &o);
	if (!o.nr_inputs) {
		o.inputs = &standard_input;
		o.nr_inputs = 1;
	}
	if (symbolize_load_map(&symtab, o.map))
		return CLI_FAILED;
	if (place_map(symtab, &o)) {
		ktau_symtab_destroy(symtab);
		return CLI_FAILED;
	}
	err = map_inputs(&o, symtab);
	ktau_symtab_destroy(symtab);
	return err;
}
