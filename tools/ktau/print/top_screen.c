// SPDX-License-Identifier: GPL-2.0-only
/* The screen of ktau top, drawn with ncurses. */
#include <math.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "lib/text.h"
#include "top_screen.h"

enum { COLOUR_TITLE = 1, COLOUR_TASKS, COLOUR_IRQ, COLOUR_HEAD };

/* With more CPUs than this, each is a single digit. */
enum { MAX_BARS = 8 };

/* Lines besides the table: title, heading, keys. */
enum { OTHER_LINES = 3 };

static volatile sig_atomic_t stopped_by;

static void stop(int number)
{
	stopped_by = number;
}

/* Restore the terminal after a crash, then let the signal take its default action. */
static void crash(int number)
{
	endwin();
	raise(number);
}

static void handle_signals(void)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction action = { .sa_handler = stop }, old;
	size_t i;

	/* What is ignored, as under nohup(1), is left to be ignored. */
	for (i = 0; i < sizeof(stops) / sizeof(*stops); i++)
		if (!sigaction(stops[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(stops[i], &action, NULL);
	action.sa_handler = crash;
	action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
	for (i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

int top_screen_open(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		complain("cannot run without a terminal; ktau report prints the same");
		return -1;
	}
	if (!newterm(NULL, stdout, stdin)) {
		complain("cannot use this terminal: TERM is %s",
			 getenv("TERM") ? getenv("TERM") : "not set");
		return -1;
	}
	/* A terminal without a movable cursor, such as that of an editor */
	if (!tigetstr("cup")) {
		endwin();
		complain("cannot draw on this terminal: TERM is %s; "
			 "ktau report --live prints the same", getenv("TERM"));
		return -1;
	}
	atexit(top_screen_close);
	handle_signals();
	cbreak();
	noecho();
	keypad(stdscr, true);
	curs_set(0);
	set_escdelay(50);
	if (has_colors() && !getenv("NO_COLOR")) {
		start_color();
		use_default_colors();
		init_pair(COLOUR_TITLE, COLOR_CYAN, -1);
		init_pair(COLOUR_TASKS, COLOR_GREEN, -1);
		init_pair(COLOUR_IRQ, COLOR_YELLOW, -1);
		init_pair(COLOUR_HEAD, COLOR_BLUE, -1);
	}
	return 0;
}

void top_screen_close(void)
{
	if (!isendwin())
		endwin();
}

int top_screen_signal(void)
{
	return stopped_by;
}

int top_screen_width(void)
{
	return COLS;
}

static bool has_bars(const struct top_view *t)
{
	return t->nr_cpus <= MAX_BARS;
}

static size_t cpu_lines(const struct top_view *t)
{
	return has_bars(t) ? (t->nr_cpus + 1) / 2 : 1;
}

size_t top_screen_rows(const struct top_view *t)
{
	size_t other = OTHER_LINES + cpu_lines(t);

	return (size_t)LINES > other + 1 ? (size_t)LINES - other : 1;
}

/* Print as much of @text as fits into @columns; it may contain any bytes. */
static void put_text(int y, int x, const char *text, int columns)
{
	char escaped[ESCAPED_BYTES];
	int width;

	move(y, x);
	while (*text) {
		text += escape_one(text, escaped);
		width = text_columns(escaped);
		if (width > columns)
			break;
		columns -= width;
		addstr(escaped);
	}
}

/* @text has already been escaped. */
static void put_line(int y, const char *text)
{
	mvaddnstr(y, 0, text, (int)text_bytes(text, COLS));
}

static void put_coloured(int nr, char c, int colour)
{
	attron(COLOR_PAIR(colour));
	while (nr-- > 0)
		addch((chtype)c);
	attroff(COLOR_PAIR(colour));
}

static double busy(const struct top_cpu *c)
{
	double sum = c->tasks + c->irq;

	/* Unlike fmin(), this keeps a NAN, which means not measured. */
	return sum > 1 ? 1 : sum;
}

/* Draw "CPU0 [||||##    ] 61.2%": time in tasks, then in interrupts. */
static void draw_bar(int y, int x, int width, const struct top_cpu *c)
{
	int room = width - 17, tasks, both;

	if (room < 4)
		return;
	mvprintw(y, x, "CPU%-3u [", c->cpu);
	if (isnan(c->tasks) || isnan(c->irq)) {
		printw("%-*s]   n/a", room, "");
		return;
	}
	both = (int)(busy(c) * room + 0.5);
	tasks = (int)(fmin(c->tasks, 1) * room + 0.5);
	put_coloured(tasks, '|', COLOUR_TASKS);
	put_coloured(both - tasks, '#', COLOUR_IRQ);
	printw("%*s] %5.1f%%", room - both, "", busy(c) * 100);
}

/* Draw one digit per CPU: the tenths of the period in which it was busy. */
static void draw_digits(int y, const struct top_view *t)
{
	double tenths;
	size_t i;

	mvaddstr(y, 0, "CPUs, busy tenths: ");
	for (i = 0; i < t->nr_cpus && (int)i + 20 < COLS; i++) {
		tenths = busy(&t->cpus[i]) * 9.99;
		addch(isnan(tenths) ? '?' : (chtype)('0' + (int)tenths));
	}
}

static int draw_cpus(int y, const struct top_view *t)
{
	size_t i;

	if (!has_bars(t)) {
		draw_digits(y, t);
		return y + 1;
	}
	for (i = 0; i < t->nr_cpus; i++)
		draw_bar(y + (int)i / 2, (int)(i % 2) * (COLS / 2), COLS / 2 - 1, &t->cpus[i]);
	return y + (int)cpu_lines(t);
}

/* Scroll so that the selected row is visible. */
static void scroll_to(struct top_screen *s, const struct top_view *t, size_t rows)
{
	size_t body = rows > 1 ? rows - 1 : 1, nr = t->nr_lines ? t->nr_lines - 1 : 0;

	if (t->page == PAGE_TASKS) {
		if (t->selected < s->scroll)
			s->scroll = t->selected;
		if (t->selected >= s->scroll + body)
			s->scroll = t->selected - body + 1;
	}
	if (s->scroll + body > nr)
		s->scroll = nr > body ? nr - body : 0;
}

static void draw_table(int y, struct top_screen *s, const struct top_view *t)
{
	size_t rows = top_screen_rows(t), i, line;

	scroll_to(s, t, rows);
	if (t->nr_lines) {
		attron(A_BOLD | COLOR_PAIR(COLOUR_HEAD));
		put_line(y, t->lines[0]);
		attroff(A_BOLD | COLOR_PAIR(COLOUR_HEAD));
	}
	for (i = 1; i < rows; i++) {
		line = s->scroll + i;
		if (line >= t->nr_lines)
			break;
		if (t->page == PAGE_TASKS && line - 1 == t->selected)
			attron(A_REVERSE);
		put_line(y + (int)i, t->lines[line]);
		attroff(A_REVERSE);
	}
}

static void draw_keys(const struct top_screen *s, const struct top_view *t)
{
	if (s->prompt) {
		mvaddstr(LINES - 1, 0, "filter: ");
		put_text(LINES - 1, 8, t->filter, COLS - 9);
		addch('_');
		return;
	}
	attron(A_REVERSE);
	mvhline(LINES - 1, 0, ' ', COLS);
	put_text(LINES - 1, 0,
		 t->page == PAGE_TASKS ?
		 " Enter routines  w waits  i interrupts  s sort  / filter  ? keys  q quit" :
		 " Esc back  Enter routines  w waits  r regions  i interrupts  ? keys  q quit",
		 COLS);
	attroff(A_REVERSE);
}

void top_screen_draw(struct top_screen *s, const struct top_view *t)
{
	char state[64] = "";
	int y = 0, room;

	if (s->number)
		snprintf(state, sizeof(state), "  stream %llu of %llu%s",
			 (unsigned long long)s->number, (unsigned long long)s->last,
			 s->more ? "+" : "");
	if (s->frozen)
		strcat(state, "  FROZEN");
	erase();
	attron(COLOR_PAIR(COLOUR_TITLE) | A_BOLD);
	room = COLS - (int)strlen(state);
	put_text(y, 0, t->title, room);
	if (text_columns(t->title) + text_columns(t->release) <= room)
		put_text(y, getcurx(stdscr), t->release, room);
	addstr(state);
	attroff(COLOR_PAIR(COLOUR_TITLE) | A_BOLD);
	y = draw_cpus(y + 1, t);
	put_text(y++, 0, t->heading, COLS);
	draw_table(y, s, t);
	draw_keys(s, t);
	refresh();
}

int top_screen_key(int timeout_ms)
{
	static const struct {
		int code, key;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP },		{ KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_LEFT, TOP_KEY_LEFT },	{ KEY_RIGHT, TOP_KEY_RIGHT },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME },	{ KEY_END, TOP_KEY_END },
		{ KEY_ENTER, TOP_KEY_ENTER },	{ '\n', TOP_KEY_ENTER },
		{ '\r', TOP_KEY_ENTER },	{ 27, TOP_KEY_BACK },
		{ KEY_BACKSPACE, TOP_KEY_BACK }, { 127, TOP_KEY_BACK },
		{ KEY_RESIZE, TOP_KEY_RESIZE },
	};
	size_t i;
	int code;

	timeout(timeout_ms);
	code = getch();
	if (stopped_by)
		return TOP_KEY_STOP;
	if (code == ERR)
		return TOP_KEY_NONE;
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return code < 256 ? code : TOP_KEY_NONE;
}
