// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "hours_files.h"

#define FIRST_LINE	"ktau hours 1\n"
#define NUMBER		"%" SCNu64 " "

void hours_files_begin(FILE *out)
{
	fputs(FIRST_LINE, out);
}

void hours_files_write(FILE *out, const struct host_file *file)
{
	size_t i;

	for (i = 0; i < sizeof(file->boot_id); i++)
		fprintf(out, "%02x", file->boot_id[i]);
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
		file->boot_ns, file->ticks, file->read_bytes, file->read_ticks, file->read_ns);
	fprintf(out, "%s%c%s%c\n", file->host, 0, file->path, 0);
}

static bool read_boot_id(FILE *in, uint8_t id[16])
{
	unsigned int byte;
	int i;

	for (i = 0; i < 16; i++) {
		if (fscanf(in, "%2x", &byte) != 1)
			return false;
		id[i] = (uint8_t)byte;
	}
	return true;
}

/* A text with its zero; NULL if there is none. */
static char *read_text(FILE *in)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t bytes = getdelim(&text, &room, 0, in);

	if (bytes > 0 && !text[bytes - 1])
		return text;
	free(text);
	return NULL;
}

/* Return: 1, 0 at the end, -1 for anything else. */
static int read_line(struct hosts *files, FILE *in)
{
	struct host_file f = { 0 };
	int first = getc(in), done = -1;

	if (first == EOF)
		return 0;
	ungetc(first, in);
	if (!read_boot_id(in, f.boot_id) ||
	    fscanf(in, NUMBER NUMBER NUMBER NUMBER "%" SCNu64, &f.boot_ns, &f.ticks,
		   &f.read_bytes, &f.read_ticks, &f.read_ns) != 5 || getc(in) != ' ')
		return -1;
	f.host = read_text(in);
	f.path = f.host ? read_text(in) : NULL;
	if (f.path && getc(in) == '\n' && f.read_bytes) {
		hosts_add(files, &f);
		done = 1;
	}
	free(f.host);
	free(f.path);
	return done;
}

static int by_boot(const void *a, const void *b)
{
	const struct boot_read *x = a, *y = b;

	return memcmp(x->boot_id, y->boot_id, sizeof(x->boot_id));
}

/* Each boot once, with its latest time. */
static void find_boots(struct hours_files *known)
{
	const struct hosts *files = &known->files;
	struct boot_read *boots = cli_alloc(NULL, files->nr + 1, sizeof(*boots));
	size_t i, nr = 0;

	for (i = 0; i < files->nr; i++) {
		memcpy(boots[i].boot_id, files->files[i].boot_id, sizeof(boots[i].boot_id));
		boots[i].ticks = files->files[i].read_ticks;
	}
	qsort(boots, files->nr, sizeof(*boots), by_boot);
	for (i = 0; i < files->nr; i++) {
		if (!nr || by_boot(&boots[nr - 1], &boots[i]))
			boots[nr++] = boots[i];
		else if (boots[i].ticks > boots[nr - 1].ticks)
			boots[nr - 1].ticks = boots[i].ticks;
	}
	known->boots = boots;
	known->nr_boots = nr;
}

static int read_lines(struct hosts *files, FILE *in)
{
	char line[sizeof(FIRST_LINE)];
	int got = -1;

	if (fgets(line, sizeof(line), in) && !strcmp(line, FIRST_LINE))
		while ((got = read_line(files, in)) > 0)
			;
	return got || ferror(in) ? -1 : 0;
}

int hours_files_read(struct hours_files *known, const char *dir)
{
	char *path;
	FILE *in;
	int err;

	*known = (struct hours_files){ .nr_boots = 0 };
	if (asprintf(&path, "%s/files", dir) < 0) {
		complain("out of memory");
		return -1;
	}
	in = fopen(path, "re");
	if (!in) {
		complain("cannot read %s: %s", path, strerror(errno));
		free(path);
		return -1;
	}
	err = read_lines(&known->files, in);
	if (err)
		complain("%s: not the list of files of an earlier --hours", path);
	fclose(in);
	free(path);
	hosts_sort_by_path(&known->files);
	find_boots(known);
	return err;
}

void hours_files_deinit(struct hours_files *known)
{
	hosts_deinit(&known->files);
	free(known->boots);
}

uint64_t hours_files_until(const struct hours_files *known, const uint8_t boot_id[16])
{
	const struct boot_read *found;
	struct boot_read key = { .ticks = 0 };

	memcpy(key.boot_id, boot_id, sizeof(key.boot_id));
	found = bsearch(&key, known->boots, known->nr_boots, sizeof(key), by_boot);
	return found ? found->ticks : 0;
}
