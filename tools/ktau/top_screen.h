/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen of ktau top. */
#ifndef KTAU_TOOLS_TOP_SCREEN_H
#define KTAU_TOOLS_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "top_view.h"

/**
 * struct top_screen - what is drawn beside a view
 * @frozen: no new period comes by itself
 * @number: of the period, with files; 0: the running kernel
 * @last: number of the last one
 * @scroll: first line of the page that is on the screen
 * @prompt: the filter is being typed
 */
struct top_screen {
	bool frozen;
	uint64_t number, last;
	size_t scroll;
	bool prompt;
};

/* What the user wants, beside the characters themselves. */
enum top_key {
	TOP_KEY_NONE = 0x10000,	/* the time is up, or the window has another size */
	TOP_KEY_UP, TOP_KEY_DOWN, TOP_KEY_LEFT, TOP_KEY_RIGHT, TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN, TOP_KEY_HOME, TOP_KEY_END, TOP_KEY_ENTER, TOP_KEY_BACK,
	TOP_KEY_RESIZE, TOP_KEY_STOP,
};

#ifdef KTAU_HAVE_NCURSES

/*
 * The terminal is the screen's from here until top_screen_close(), whatever ends the
 * program but SIGKILL. 0, or -1 with a message.
 */
int top_screen_open(void);
void top_screen_close(void);

int top_screen_width(void);

/* Lines for the table, its head included. */
size_t top_screen_rows(const struct top_view *t);

void top_screen_draw(struct top_screen *s, const struct top_view *t);

/* A character or an enum top_key; TOP_KEY_STOP: a signal wants an end. */
int top_screen_key(int timeout_ms);

/* The signal that wanted an end, 0: none did. */
int top_screen_signal(void);

#else

#include "cli.h"

static inline int top_screen_open(void)
{
	complain("built without ncurses; ktau report --live --interval=1 prints the same");
	return -1;
}

static inline void top_screen_close(void)
{
}

static inline int top_screen_width(void)
{
	return 80;
}

static inline size_t top_screen_rows(const struct top_view *t)
{
	(void)t;
	return 24;
}

static inline void top_screen_draw(struct top_screen *s, const struct top_view *t)
{
	(void)s;
	(void)t;
}

static inline int top_screen_key(int timeout_ms)
{
	(void)timeout_ms;
	return TOP_KEY_STOP;
}

static inline int top_screen_signal(void)
{
	return 0;
}

#endif

#endif
