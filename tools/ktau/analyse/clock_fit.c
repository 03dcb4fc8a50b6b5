// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock_fit.h"

/* No two clocks of computers drift as much. */
#define MAX_DRIFT 1e-3

/* Products of two differences of times do not fit in 64 bits. */
struct product {
	int64_t high;
	uint64_t low;
};

static struct product multiply(int64_t a, int64_t b)
{
	const uint64_t half = UINT32_MAX;
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	uint64_t low = (ua & half) * (ub & half), a_low = (ua >> 32) * (ub & half);
	uint64_t b_low = (ua & half) * (ub >> 32), middle;
	struct product p;

	middle = (low >> 32) + (a_low & half) + (b_low & half);
	p.low = middle << 32 | (low & half);
	p.high = (int64_t)((ua >> 32) * (ub >> 32) + (a_low >> 32) + (b_low >> 32) +
			   (middle >> 32) - (a < 0 ? ub : 0) - (b < 0 ? ua : 0));
	return p;
}

/* Compare a * b with c * d. */
static int compare_products(int64_t a, int64_t b, int64_t c, int64_t d)
{
	struct product x = multiply(a, b), y = multiply(c, d);

	if (x.high != y.high)
		return x.high < y.high ? -1 : 1;
	return x.low < y.low ? -1 : x.low > y.low;
}

static int64_t x_from(struct clock_point from, struct clock_point to)
{
	return (int64_t)(to.x_ns - from.x_ns);
}

static int64_t y_from(struct clock_point from, struct clock_point to)
{
	return (int64_t)(to.y_ns - from.y_ns);
}

/* Above 0: the turn from @a over @b to @c is to the left. */
static int turn(struct clock_point a, struct clock_point b, struct clock_point c)
{
	return compare_products(x_from(a, b), y_from(a, c), y_from(a, b), x_from(a, c));
}

static int by_time(const void *a, const void *b)
{
	const struct clock_point *p = a, *q = b;

	if (p->x_ns != q->x_ns)
		return p->x_ns < q->x_ns ? -1 : 1;
	return p->y_ns < q->y_ns ? -1 : p->y_ns > q->y_ns;
}

/* Keep the corners of the side of the hull that faces the line: @side is 1 for points above it. */
static size_t hull(struct clock_point *points, size_t nr, int side)
{
	size_t kept = 0, i;

	qsort(points, nr, sizeof(*points), by_time);
	for (i = 0; i < nr; i++) {
		if (kept && points[kept - 1].x_ns == points[i].x_ns) {
			if (side > 0)
				continue;
			kept--;
		}
		while (kept >= 2 &&
		       side * turn(points[kept - 2], points[kept - 1], points[i]) <= 0)
			kept--;
		points[kept++] = points[i];
	}
	return kept;
}

struct chain {
	const struct clock_point *points;
	size_t nr;
};

/*
 * The corner q of @chain, on the side @right of @p, to which the line from @p is least steep
 * (@side 1) or steepest (-1). Return: its index, or the length of @chain.
 */
static size_t tangent(struct clock_point p, struct chain chain, bool right, int side)
{
	const struct clock_point *q = chain.points;
	size_t best = chain.nr, i;
	int64_t x, y;

	for (i = 0; i < chain.nr; i++) {
		if (right ? q[i].x_ns <= p.x_ns : q[i].x_ns >= p.x_ns)
			continue;
		x = right ? x_from(p, q[i]) : x_from(q[i], p);
		y = right ? y_from(p, q[i]) : y_from(q[i], p);
		if (best == chain.nr ||
		    side * compare_products(y, right ? x_from(p, q[best]) : x_from(q[best], p),
					    right ? y_from(p, q[best]) : y_from(q[best], p), x) < 0)
			best = i;
	}
	return best;
}

/*
 * The line through a corner of @left and one of @right, to the right of it, that is least steep
 * (@side 1) or steepest (-1): each end is moved to where the other sees it so, until neither
 * moves. Return: false if no corner of @right is to the right of one of @left.
 */
static bool extreme(struct chain left, struct chain right, int side, size_t *l, size_t *r)
{
	size_t next;

	*l = 0;
	*r = tangent(left.points[0], right, true, side);
	if (*r == right.nr)
		return false;
	for (;;) {
		next = tangent(right.points[*r], left, false, side);
		if (next == *l)
			return true;
		*l = next;
		next = tangent(left.points[*l], right, true, side);
		if (next == *r)
			return true;
		*r = next;
	}
}

/* True if no corner is on the wrong side of the line from @a to @b, with @a to the left of @b. */
static bool satisfies(struct clock_point a, struct clock_point b, struct chain chain, int side)
{
	size_t i;

	for (i = 0; i < chain.nr; i++)
		if (side * turn(a, b, chain.points[i]) < 0)
			return false;
	return true;
}

static int64_t rounded(double ns)
{
	return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

static double drift(struct clock_point a, struct clock_point b)
{
	return (double)(y_from(a, b) - x_from(a, b)) / (double)x_from(a, b);
}

/* How far @p is above the line through @at with this drift. */
static double distance(struct clock_point p, struct clock_point at, double drift)
{
	return (double)(y_from(at, p) - x_from(at, p)) - drift * (double)x_from(at, p);
}

/* The shortest distance of a corner from the line. */
static double nearest(struct chain chain, struct clock_point at, double drift, int side)
{
	double least = INFINITY, d;
	size_t i;

	for (i = 0; i < chain.nr; i++) {
		d = side * distance(chain.points[i], at, drift);
		least = d < least ? d : least;
	}
	return least;
}

/* The line between the two given by their points. At each time, it is in the middle of both. */
static void take_mean(struct chain above, struct chain below, const struct clock_point most[2],
		      const struct clock_point least[2], struct clock_fit *fit)
{
	const struct clock_point at = most[0];
	double mean, off;

	mean = (fit->most + fit->least) / 2;
	off = distance(at, least[0], fit->least) / 2;
	fit->line = (struct clock_line){ at.x_ns, at.y_ns - (uint64_t)rounded(off), mean };
	fit->half_trip_ns = (nearest(above, at, mean, 1) + nearest(below, at, mean, -1)) / 2;
	fit->quality = fit->most > fit->least ? CLOCK_ACCURATE : CLOCK_APPROXIMATE;
}

/* A line with this drift in the middle of those that satisfy the messages. */
static void take_parallel(struct chain above, struct chain below, double drift,
			  struct clock_fit *fit)
{
	const struct clock_point at = above.points[0];
	double up = nearest(above, at, drift, 1), down = nearest(below, at, drift, -1);

	if (up + down < 0)
		return;
	fit->line = (struct clock_line){
		at.x_ns, at.y_ns + (uint64_t)rounded((up - down) / 2), drift,
	};
	fit->half_trip_ns = (up + down) / 2;
	fit->quality = CLOCK_APPROXIMATE;
}

/* What no clock exceeds says more than messages that are too close to each other. */
static double limited(double drift)
{
	if (drift > MAX_DRIFT)
		return MAX_DRIFT;
	return drift < -MAX_DRIFT ? -MAX_DRIFT : drift;
}

static bool satisfies_both(const struct clock_point line[2], struct chain above, struct chain below)
{
	return satisfies(line[0], line[1], above, 1) && satisfies(line[0], line[1], below, -1);
}

void clock_fit(struct clock_point *above, size_t nr_above, struct clock_point *below,
	       size_t nr_below, struct clock_fit *fit)
{
	struct chain over = { above, hull(above, nr_above, 1) };
	struct chain under = { below, hull(below, nr_below, -1) };
	struct clock_point most[2], least[2];
	size_t l, r;

	*fit = (struct clock_fit){ .quality = CLOCK_ABSENT };
	if (!nr_above && !nr_below)
		return;
	fit->quality = CLOCK_INCOMPLETE;
	if (!nr_above || !nr_below)
		return;
	fit->quality = CLOCK_FAIL;
	fit->most = MAX_DRIFT;
	fit->least = -MAX_DRIFT;
	/* Without messages of one direction before those of the other there is no such line. */
	if (extreme(under, over, 1, &l, &r)) {
		most[0] = below[l];
		most[1] = above[r];
		fit->most = drift(most[0], most[1]);
	}
	if (extreme(over, under, -1, &l, &r)) {
		least[0] = above[l];
		least[1] = below[r];
		fit->least = drift(least[0], least[1]);
	}
	if (fit->most >= MAX_DRIFT || fit->least <= -MAX_DRIFT)
		take_parallel(over, under, (limited(fit->least) + limited(fit->most)) / 2, fit);
	else if (satisfies_both(most, over, under) && satisfies_both(least, over, under))
		take_mean(over, under, most, least, fit);
}

/* The result is below 0 for a time before the other clock began. */
static int64_t map(const struct clock_line *line, uint64_t ns)
{
	int64_t x = (int64_t)(ns - line->x_ns);

	return (int64_t)(line->y_ns + (uint64_t)x + (uint64_t)rounded((double)x * line->drift));
}

uint64_t clock_line_map(const struct clock_line *line, uint64_t ns)
{
	int64_t y = map(line, ns);

	return y < 0 ? 0 : (uint64_t)y;
}

struct clock_line clock_line_join(const struct clock_line *first, const struct clock_line *second)
{
	return (struct clock_line){ first->x_ns, (uint64_t)map(second, first->y_ns),
				    (1 + first->drift) * (1 + second->drift) - 1 };
}

struct clock_line clock_line_invert(const struct clock_line *line)
{
	return (struct clock_line){ line->y_ns, line->x_ns, 1 / (1 + line->drift) - 1 };
}
