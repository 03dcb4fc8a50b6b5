// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each read of the traces becomes a file, and each screen is the view of the files of the last
 * minutes. So rows and states are those of the same recording, and the memory is limited.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/enable.h"
#include "lib/live.h"
#include "lib/table.h"
#include "builtin.h"
#include "draw.h"
#include "live.h"
#include "print.h"

/* Most bytes of files, and how much longer than the screen's time they are kept. */
enum { MOST_BYTES = 64 << 20, WINDOWS = 4, MOST_FILES = 4096 };

/* The trace must not wrap around between two reads, as in ktau record. */
#define RINGS	   "trace=on ring=16384"
#define RING_SLOTS 16384

/* Control sequences of all terminals but dumb ones. */
#define SCREEN_OPEN  "\033[?1049h\033[?25l"
#define SCREEN_CLOSE "\033[?25h\033[?1049l"
#define SCREEN_HOME  "\033[H"
#define LINE_REST    "\033[K"
#define SCREEN_REST  "\033[J"

/* A file with one read of the traces. */
struct read {
	char *path;
	uint64_t bytes, realtime_ns;
};

/**
 * struct watch - state of the program
 * @l: what is shown
 * @folder: of the files
 * @reads: the files, in time order
 * @nr: length of @reads
 * @number: of the next file
 * @reader: of the running kernel
 * @open: @reader has been opened
 * @screen: the terminal has been taken over
 * @text: the last screen
 * @bytes: its length
 */
struct watch {
	const struct view_live *l;
	char folder[64];
	struct read reads[MOST_FILES];
	size_t nr;
	uint64_t number;
	struct ktau_reader *reader;
	bool open, screen;
	char *text;
	size_t bytes;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction action = { .sa_handler = stop };
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	/* A closed pipe is an error of the output, after which everything is restored. */
	signal(SIGPIPE, SIG_IGN);
}

/* Files */

static void drop_first(struct watch *w)
{
	unlink(w->reads[0].path);
	free(w->reads[0].path);
	memmove(w->reads, w->reads + 1, --w->nr * sizeof(*w->reads));
}

/* Keep what a screen may need. */
static void drop_old(struct watch *w)
{
	const uint64_t now_ns = w->reads[w->nr - 1].realtime_ns;
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < w->nr; i++)
		bytes += w->reads[i].bytes;
	while (w->nr > 1 && (bytes > MOST_BYTES || w->nr == MOST_FILES ||
			     now_ns - w->reads[1].realtime_ns > WINDOWS * w->l->window_ns)) {
		bytes -= w->reads[0].bytes;
		drop_first(w);
	}
}

/* Write one stream of traces. Return: 0, or -1 with a message. */
static int copy_stream(struct watch *w, struct ktau_writer *writer)
{
	const struct ktau_query query = {
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED,
		.content = KTAU_REC_TRACE,
		.flags = KTAU_SELECT_CONSUME,
	};
	union ktau_record record;
	int err;

	err = w->open ? ktau_reader_restart(w->reader, &query) : live_open(w->reader, &query);
	w->open |= !err;
	while (!err && (err = ktau_reader_next(w->reader, &record)) > 0) {
		err = ktau_writer_put(writer, record.rec);
		if (err) {
			complain("%s", ktau_writer_error(writer));
			return -1;
		}
	}
	if (err)
		live_failed(w->reader, err);
	return err ? -1 : 0;
}

/* Read the traces into another file. Return: 0, or -1 with a message. */
static int read_traces(struct watch *w)
{
	struct read *read = &w->reads[w->nr];
	struct ktau_writer *writer;
	int err;

	if (asprintf(&read->path, "%s/%" PRIu64 ".ktau", w->folder, w->number++) < 0 ||
	    ktau_writer_create(&writer)) {
		complain("out of memory");
		return -1;
	}
	err = ktau_writer_open(writer, read->path, KTAU_WRITER_DELTA, NULL);
	w->nr++;
	if (!err && copy_stream(w, writer)) {
		ktau_writer_destroy(writer);
		return -1;
	}
	err = err ? err : ktau_writer_flush(writer, false);
	if (err)
		complain("%s", ktau_writer_error(writer));
	read->bytes = ktau_writer_bytes(writer);
	ktau_writer_destroy(writer);
	if (err)
		return -1;
	read->realtime_ns = ktau_reader_stream(w->reader)->realtime_ns;
	drop_old(w);
	return 0;
}

/* Screens */

/* As many lines as the terminal has, over those of the screen before. */
static void print_screen(const struct watch *w)
{
	const char *line = w->text, *end;
	struct winsize size;
	int left = 24;

	if (!w->screen) {
		fputs(w->text, stdout);
		fputc('\n', stdout);
		return;
	}
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row)
		left = size.ws_row;
	fputs(SCREEN_HOME, stdout);
	for (; *line && --left > 0; line = end + 1) {
		end = strchr(line, '\n');
		fwrite(line, 1, (size_t)(end - line), stdout);
		fputs(LINE_REST "\n", stdout);
	}
	fputs(SCREEN_REST, stdout);
}

static void take_rows(struct engine *g, void *arg)
{
	struct watch *w = arg;
	FILE *out;

	free(w->text);
	w->text = NULL;
	out = open_memstream(&w->text, &w->bytes);
	if (!out)
		return;
	view_print_title(g, "live", out);
	view_draw(g, table_width(stdout), out);
	fclose(out);
}

/* Return: an exit status. */
static int draw(struct watch *w)
{
	struct view_show show = w->l->show;
	struct view_rules view = { 0 };
	char *files[MOST_FILES];
	int status = CLI_FAILED;

	for (show.nr_files = 0; (size_t)show.nr_files < w->nr; show.nr_files++)
		files[show.nr_files] = w->reads[show.nr_files].path;
	show.files = files;
	show.live = true;
	show.take = take_rows;
	show.arg = w;
	show.from = (struct moment){
		.given = true,
		.ns = w->reads[w->nr - 1].realtime_ns - w->l->window_ns,
	};
	if (view_open(&view, w->l->view))
		status = view_show_files(&show, &view);
	view_deinit(&view);
	if (!status && w->text)
		print_screen(w);
	return status || cli_finish(stdout) ? CLI_FAILED : CLI_DONE;
}

/* Wait until @at_ns of CLOCK_MONOTONIC, or until a signal. */
static void wait_until(uint64_t at_ns)
{
	const struct timespec at = {
		.tv_sec = (time_t)(at_ns / 1000000000),
		.tv_nsec = (long)(at_ns % 1000000000),
	};

	while (!stopped && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static int run(struct watch *w)
{
	int status = CLI_DONE;
	struct timespec now;
	uint64_t next_ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	next_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	while (!stopped && !status) {
		status = read_traces(w) ? CLI_FAILED : draw(w);
		next_ns += w->l->interval_ns;
		if (!status)
			wait_until(next_ns);
	}
	return status;
}

/* The last screen stays on the terminal. */
static void end_screen(struct watch *w)
{
	if (!w->screen)
		return;
	fputs(SCREEN_CLOSE, stdout);
	w->screen = false;
	if (w->text)
		print_screen(w);
	fflush(stdout);
}

int view_live(const struct view_live *l)
{
	const char *term = getenv("TERM"), *tmp = getenv("TMPDIR");
	static struct watch w;
	char *restore = NULL;
	int status = CLI_FAILED;

	w.l = l;
	live_set_trace(RING_SLOTS);
	if (snprintf(w.folder, sizeof(w.folder), "%s/ktau-view.XXXXXX", tmp ? tmp : "/tmp") >=
		    (int)sizeof(w.folder) ||
	    !mkdtemp(w.folder)) {
		complain("cannot create a folder in %s: %s", tmp ? tmp : "/tmp", strerror(errno));
		return CLI_FAILED;
	}
	catch_signals();
	if (!ktau_reader_create(&w.reader) && !enable_collecting(NULL, RINGS, &restore)) {
		w.screen = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
		if (w.screen)
			fputs(SCREEN_OPEN, stdout);
		status = run(&w);
		end_screen(&w);
	}
	enable_restore(restore);
	ktau_reader_destroy(w.reader);
	while (w.nr)
		drop_first(&w);
	rmdir(w.folder);
	free(w.text);
	return status;
}
