/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen of ktau top. */
#ifndef KTAU_TOOLS_TOP_SCREEN_H
#define KTAU_TOOLS_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "top_view.h"

/**
 * struct top_screen - what is drawn in addition to a view
 * @frozen: do not advance to new periods
 * @number: number of the period in the files; 0: the running kernel
 * @last: number of the last period that is known
 * @more: the files may have more periods
 * @scroll: first visible line of the page
 * @prompt: the user is typing the filter
 */
struct top_screen {
	bool frozen;
	uint64_t number, last;
	bool more;
	size_t scroll;
	bool prompt;
};

/* Keys other than characters. */
enum top_key {
	TOP_KEY_NONE = 0x10000,	/* timeout, or the window was resized */
	TOP_KEY_UP, TOP_KEY_DOWN, TOP_KEY_LEFT, TOP_KEY_RIGHT, TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN, TOP_KEY_HOME, TOP_KEY_END, TOP_KEY_ENTER, TOP_KEY_BACK,
	TOP_KEY_RESIZE, TOP_KEY_STOP,
};

#ifdef KTAU_HAVE_NCURSES

/*
 * Take over the terminal until top_screen_close(). It is restored however the program ends, except
 * by SIGKILL. Return: 0, or -1 with a message.
 */
int top_screen_open(void);
void top_screen_close(void);

int top_screen_width(void);

/* Number of lines for the table, including its heading. */
size_t top_screen_rows(const struct top_view *t);

void top_screen_draw(struct top_screen *s, const struct top_view *t);

/* Return: a character or an enum top_key; TOP_KEY_STOP if a signal asked the program to end. */
int top_screen_key(int timeout_ms);

/* Return: the signal that asked the program to end; 0 if there was none. */
int top_screen_signal(void);

#else

#include "lib/cli.h"

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
