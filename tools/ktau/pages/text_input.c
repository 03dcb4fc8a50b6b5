// SPDX-License-Identifier: GPL-2.0-only
/*
 * lackey writes a line for each access: "I  ADDRESS,BYTES" for an instruction, " L", " S" and
 * " M" for a load, a store and both. The number of the access takes the place of a time.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "line.h"
#include "text_file.h"
#include "text_input.h"

enum { LINE_MAX_BYTES = 256, LACKEY_SHIFT = 12, LACKEY_BYTES_MAX = 1 << 16 };

const char *const input_words[] = { "auto", "ktau", "merged", "lackey", NULL };

/**
 * struct text - a file that is being read
 * @o: what to do with it
 * @file: the file
 * @consumer: state of the consumer
 * @line: number of the current line, or binary record
 * @accesses: lackey: number of accesses
 * @lost: slots that were lost
 * @backward: how often a time was before the one of the line before
 * @backward_line: the first such line
 * @previous: time of the line before
 * @any: there was a reference
 * @passed: the consumer got one
 */
struct text {
	const struct merge_options *o;
	struct text_file *file;
	void *consumer;
	uint64_t line, accesses, lost;
	uint64_t backward, backward_line, previous;
	bool any, passed;
};

enum page_input_form text_form(const char *path)
{
	struct text_file *file = strcmp(path, "-") ? text_file_open(path) : NULL;
	char start[BINARY_BYTES] = "";
	bool is_zstd, is_short;

	if (!file)
		return INPUT_KTAU;
	is_short = text_file_read(file, start, sizeof(start)) < sizeof(start);
	is_zstd = text_file_is_zstd(file);
	text_file_close(file);
	/* Then reading it will say what is wrong with it. */
	if (is_short)
		return is_zstd ? INPUT_MERGED : INPUT_KTAU;
	if (!memcmp(start, LINE_TITLE, strlen(LINE_TITLE)) ||
	    !memcmp(start, LINE_MAGIC, strlen(LINE_MAGIC)))
		return INPUT_MERGED;
	if (!memcmp(start, "==", 2) || (start[0] == 'I' && start[1] == ' '))
		return INPUT_LACKEY;
	return INPUT_KTAU;
}

static int bad_line(const struct text *t, const char *what)
{
	complain("%s: line %" PRIu64 ": %s", t->o->paths[0], t->line, what);
	return -1;
}

static int pass(struct text *t, const struct page_record *r)
{
	bool is_lost = r->kind == PAGE_LOST;

	if (r->time < t->previous && !t->backward++)
		t->backward_line = t->line;
	t->previous = r->time;
	t->any |= !is_lost;
	if (is_lost)
		t->lost += r->number;
	if (!merge_wants(t->o, r, r->time))
		return 0;
	t->passed |= !is_lost;
	return t->o->consumer->record(t->consumer, r);
}

/* Set kind and flags. Return: 0, or -1 if there is no such letter. */
static int set_letter(struct page_record *r, char letter)
{
	switch (letter) {
	case LINE_READ:
	case LINE_WRITE:
		r->kind = PAGE_REFERENCE;
		break;
	case LINE_FILE_READ:
	case LINE_FILE_WRITE:
		r->kind = PAGE_FILE;
		r->of_file = true;
		break;
	case LINE_LOST:
		r->kind = PAGE_LOST;
		break;
	default:
		return -1;
	}
	if (letter == LINE_WRITE || letter == LINE_FILE_WRITE)
		r->flags = KTAU_REFERENCE_WRITE;
	return 0;
}

/* Read a number and what separates it from the rest. Return: false if it is none. */
static bool take_number(const char **at, int base, const char *separators, uint64_t *number)
{
	char *end;

	errno = 0;
	if (!isxdigit((unsigned char)**at))
		return false;
	*number = strtoull(*at, &end, base);
	if (end == *at || (*end && !strchr(separators, *end)))
		return false;
	*at = end + strspn(end, separators);
	return true;
}

static int bad_number(const struct text *t, const char *what)
{
	return bad_line(t, errno == ERANGE ? "a number of more than 64 bits" : what);
}

static int take_merged(struct text *t, const char *line)
{
	struct page_record r = { 0 };
	const char *at = line;
	char letter, named = 0;
	bool is_valid;

	is_valid = take_number(&at, 10, " ", &r.time) && !errno && *at;
	letter = is_valid ? *at++ : 0;
	at += strspn(at, " ");
	is_valid = is_valid && take_number(&at, 10, " \r\n", &r.number) && !errno;
	if (is_valid && *at) {
		named = *at++;
		is_valid = (named == 'a' || named == 'f') && !at[strspn(at, " \r\n")];
	}
	if (!is_valid || set_letter(&r, letter))
		return bad_number(t, "not a line of ktau pages merge");
	r.of_file |= named == 'f';
	r.maybe_of_file = !named && r.kind == PAGE_REFERENCE;
	r.ticks = r.time;
	return pass(t, &r);
}

static int take_lackey(struct text *t, const char *line)
{
	struct page_record r = { .maybe_of_file = true };
	uint64_t address = 0, bytes = 0, last;
	const char *at = line + strspn(line, " ");
	char letter = *at;

	if (line[0] == '=' || line[0] == '\n' || line[0] == '\0')
		return 0;
	at += *at != '\0';
	at += strspn(at, " ");
	if (!take_number(&at, 16, ",", &address) || errno ||
	    !take_number(&at, 10, " \r\n", &bytes) || errno || *at || !bytes ||
	    bytes > LACKEY_BYTES_MAX || address > UINT64_MAX - bytes || !strchr("ILSM", letter))
		return bad_number(t, "not a line of lackey");
	if (letter == 'I')
		r.flags = KTAU_REFERENCE_FETCH;
	else if (letter != 'L')
		r.flags = KTAU_REFERENCE_WRITE;
	r.time = r.ticks = ++t->accesses;
	last = (address + bytes - 1) >> LACKEY_SHIFT;
	for (r.page = address >> LACKEY_SHIFT; r.page <= last; r.page++) {
		r.number = r.page + 1;
		if (pass(t, &r))
			return -1;
	}
	return 0;
}

static int read_lines(struct text *t, int (*take)(struct text *t, const char *line))
{
	char line[LINE_MAX_BYTES];

	while (text_file_line(t->file, line, sizeof(line))) {
		t->line++;
		if (strlen(line) == sizeof(line) - 1)
			return bad_line(t, "too long");
		if (line[0] != '#' && take(t, line))
			return -1;
		if (line[0] == '#' && t->o->needs_ns && strstr(line, "time in ticks"))
			return bad_line(t, "times are needed in ns, not in ticks");
	}
	return 0;
}

static uint64_t get_little(const uint8_t *from, int bytes)
{
	uint64_t number = 0;

	while (bytes--)
		number = number << 8 | from[bytes];
	return number;
}

static int read_binary(struct text *t)
{
	uint8_t in[BINARY_BYTES];
	struct page_record r;
	size_t bytes;

	while ((bytes = text_file_read(t->file, in, sizeof(in))) == sizeof(in)) {
		if (!t->line++) {
			if (in[8] != BINARY_VERSION)
				return bad_line(t, "of an unknown version");
			if (t->o->needs_ns && in[9])
				return bad_line(t, "times are needed in ns, not in ticks");
			continue;
		}
		r = (struct page_record){ .time = get_little(in, 8) };
		r.ticks = r.time;
		r.number = get_little(in + 8, 6);
		if (set_letter(&r, (char)in[14]))
			return bad_line(t, "a record of an unknown kind");
		r.of_file |= in[15] & BINARY_FILE;
		if (pass(t, &r))
			return -1;
	}
	return bytes && !text_file_error(t->file) ? bad_line(t, "truncated") : 0;
}

static int read_all(struct text *t, enum page_input_form form)
{
	char first;

	if (form == INPUT_LACKEY)
		return read_lines(t, take_lackey);
	if (text_file_peek(t->file, &first, 1) && first == LINE_MAGIC[0])
		return read_binary(t);
	return read_lines(t, take_merged);
}

/* Report what was wrong. Return: the exit status. */
static int judge(struct text *t, int err)
{
	const char *reason = text_file_error(t->file);
	int status = err ? CLI_FAILED : CLI_DONE;

	if (reason && !err) {
		complain("cannot read %s: %s", t->o->paths[0], reason);
		status = CLI_FAILED;
	}
	if (t->lost) {
		complain("%s: %" PRIu64 " slots were lost", t->o->paths[0], t->lost);
		status = t->o->strict ? CLI_FAILED : status;
	}
	if (t->backward) {
		complain("%s: contradiction: time_back: %" PRIu64 ", the first in line %" PRIu64,
			 t->o->paths[0], t->backward, t->backward_line);
		status = t->o->strict ? CLI_FAILED : status;
	}
	if (!t->passed && !status)
		status = merge_nothing(t->o, t->any);
	return status;
}

int text_read(const struct merge_options *o, enum page_input_form form)
{
	struct text t = { .o = o };
	int status;

	if (o->nr_paths > 1) {
		complain("%s: only one merged file at a time", o->paths[1]);
		return CLI_FAILED;
	}
	t.file = text_file_open(o->paths[0]);
	if (!t.file) {
		complain("cannot read %s: %s", o->paths[0], strerror(errno));
		return CLI_FAILED;
	}
	t.consumer = o->consumer->begin(&o->setup);
	status = judge(&t, t.consumer ? read_all(&t, form) : -1);
	if (t.consumer && o->consumer->end(t.consumer))
		status = CLI_FAILED;
	text_file_close(t.file);
	return status;
}
