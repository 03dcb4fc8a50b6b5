/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of one machine as a line over that of another, from messages between them. A message
 * arrives after it was sent, so the line is below the points of messages that are sent by the other
 * machine and above those of messages that are received by it. Of the lines that satisfy this for
 * all messages, the steepest and the flattest are found on the convex hulls of the points, and
 * their mean is taken: the algorithm of Jabbarifar and Dagenais.
 */
#ifndef KTAU_TOOLS_CLOCK_FIT_H
#define KTAU_TOOLS_CLOCK_FIT_H

#include <stddef.h>
#include <stdint.h>

enum clock_quality {
	CLOCK_ABSENT,		/* no messages */
	CLOCK_FAIL,		/* no line satisfies all of them */
	CLOCK_INCOMPLETE,	/* in one direction only */
	CLOCK_APPROXIMATE,	/* one line does, or they say too little about the drift */
	CLOCK_ACCURATE,		/* several lines do: the line is between two of them */
	CLOCK_EXACT,		/* the line is known otherwise */
};

/**
 * struct clock_line - maps the time of a clock to that of another
 * @x_ns: a time of the clock
 * @y_ns: the other's time then
 * @drift: ns that the other gains in each ns of the clock
 */
struct clock_line {
	uint64_t x_ns, y_ns;
	double drift;
};

/* A message: time by the clock, and time by the other one. */
struct clock_point {
	uint64_t x_ns, y_ns;
};

/**
 * struct clock_fit - the line, unless the quality is below CLOCK_APPROXIMATE
 * @line: the line
 * @quality: its quality
 * @least: smallest drift that satisfies all messages
 * @most: largest one
 * @half_trip_ns: half the shortest round trip along the line: how far it may be off
 */
struct clock_fit {
	struct clock_line line;
	enum clock_quality quality;
	double least, most;
	double half_trip_ns;
};

/*
 * Fit a line between points above it, of messages sent at x_ns and received at y_ns, and points
 * below it, of messages sent at y_ns and received at x_ns. Both arrays are changed.
 */
void clock_fit(struct clock_point *above, size_t nr_above, struct clock_point *below,
	       size_t nr_below, struct clock_fit *fit);

/* Never decreases with @ns; 0 for a time before that. */
uint64_t clock_line_map(const struct clock_line *line, uint64_t ns);

/* The line that maps by @first and then by @second. */
struct clock_line clock_line_join(const struct clock_line *first, const struct clock_line *second);

/* The line that maps back. */
struct clock_line clock_line_invert(const struct clock_line *line);

#endif
