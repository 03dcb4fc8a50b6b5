// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bisect.h"
#include "lib/cli.h"
#include "search.h"

/*
 * CORNERS: of a part of the plane; what would need more is left out
 * SAMPLE: slots that exclude most parts
 * PARTS: in memory
 * TESTS: of a slot, for a thread, beside SHARE times all slots: some seconds
 * GUEST_TESTS: the same for all CPUs and threads
 * ROUNDING_NS: times in nanoseconds have been rounded down, on both sides
 * LEAST_NS: smaller parts are not divided
 */
enum { CORNERS = 24,
       SAMPLE = 2048,
       PARTS = 1 << 16,
       TESTS = 20000000,
       GUEST_TESTS = 2 * TESTS,
       SHARE = 16,
       PASSES = 8,
       ROUNDING_NS = 2,
       LEAST_NS = 20,
       FRAC_BITS = 48 };

/* A clock: the host's time is that of the guest, plus @offset, plus @drift of it. */
struct corner {
	double offset, drift;
};

/* A convex part of the plane. */
struct part {
	struct corner corners[CORNERS];
	unsigned int nr;
};

/* Times are ns since those of the area. */
struct run {
	double enter, exit;
	bool after_gap;
};

/**
 * struct search - a search
 * @guest, @host, @area: what is searched
 * @slots: times of the guest's slots
 * @runs: runs of the thread
 * @most_outside: longest time between two runs
 * @ends: first and last time of the slots
 * @parts: parts that are neither excluded nor solved, from @first
 * @tests: of slots, so far
 * @most_tests: after these, the search is given up
 * @beyond: slots of the last pass that are before or after all runs
 * @found: parts that are solved: their range of offsets and drifts, and of times at @ends
 * @nr_found: their number
 * @best: the largest one
 * @size: of @best
 */
struct search {
	const struct vm_machine *guest, *host;
	const struct vm_area *area;
	double *slots;
	size_t nr_slots;
	struct run *runs;
	size_t nr_runs;
	double most_outside, ends[2];
	struct part *parts;
	size_t first, nr_parts;
	uint64_t tests, most_tests;
	size_t beyond;
	struct vm_area found;
	double at_ends[2][2];
	size_t nr_found;
	struct part best;
	double size;
};

/* Parts of the plane */

static double time_at(const struct corner *c, double guest)
{
	return guest + c->offset + c->drift * guest;
}

/* The times of the host that @part allows for one of the guest. */
static void range_at(const struct part *part, double guest, double range[2])
{
	double t;
	unsigned int i;

	range[0] = INFINITY;
	range[1] = -INFINITY;
	for (i = 0; i < part->nr; i++) {
		t = time_at(&part->corners[i], guest);
		range[0] = t < range[0] ? t : range[0];
		range[1] = t > range[1] ? t : range[1];
	}
}

static double width_at(const struct part *part, double guest)
{
	double range[2];

	range_at(part, guest, range);
	return range[1] - range[0];
}

/* The greater of its widths at both ends: between them it is not wider. */
static double width_of(const struct search *s, const struct part *part)
{
	return fmax(width_at(part, s->ends[0]), width_at(part, s->ends[1]));
}

/* A line through the plane: what is on its side stays. */
struct line {
	double a, b, c;
};

static double distance(const struct line *line, const struct corner *c)
{
	return line->a * c->offset + line->b * c->drift + line->c;
}

static struct corner crossing(const struct line *line, const struct corner *from,
			      const struct corner *to)
{
	double d = distance(line, from), share = d / (d - distance(line, to));

	return (struct corner){ from->offset + share * (to->offset - from->offset),
				from->drift + share * (to->drift - from->drift) };
}

/* Leave of @part what is on the side of @line; all of it if that has too many corners. */
static void clip(struct part *part, const struct line *line)
{
	const struct corner *from, *to;
	struct part left = { .nr = 0 };
	unsigned int i;

	for (i = 0; i < part->nr; i++) {
		from = &part->corners[i];
		to = &part->corners[(i + 1) % part->nr];
		if (left.nr + 2 > CORNERS)
			return;
		if (distance(line, from) >= 0)
			left.corners[left.nr++] = *from;
		if ((distance(line, from) >= 0) != (distance(line, to) >= 0))
			left.corners[left.nr++] = crossing(line, from, to);
	}
	*part = left;
}

/* The host's time of @guest is at least @least, or at most @most. */
static void clip_low(struct part *part, double guest, double least)
{
	const struct line line = { 1, guest, guest - least };

	clip(part, &line);
}

static void clip_high(struct part *part, double guest, double most)
{
	const struct line line = { -1, -guest, most - guest };

	clip(part, &line);
}

/* Tests */

static bool ends_before(const void *runs, size_t i, const void *ns)
{
	return ((const struct run *)runs)[i].exit < *(const double *)ns;
}

static bool begins_by(const void *runs, size_t i, const void *ns)
{
	return ((const struct run *)runs)[i].enter <= *(const double *)ns;
}

/* Whether it is known that the thread was outside before run @i. */
static bool is_outside(const struct search *s, size_t i)
{
	return i && i < s->nr_runs && !s->runs[i].after_gap;
}

/*
 * Take from @part what puts the slot outside. Return: whether it may be in more than one run
 * still, or in a time of which nothing is known.
 */
static bool test(struct search *s, struct part *part, double slot)
{
	double range[2];
	size_t first, end;

	s->tests++;
	range_at(part, slot, range);
	first = bisect(s->runs, s->nr_runs, &range[0], ends_before);
	end = bisect(s->runs, s->nr_runs, &range[1], begins_by);
	if (first >= end) {		/* in no run at all */
		if (is_outside(s, first))
			part->nr = 0;
		s->beyond += !first || first == s->nr_runs;
		return false;
	}
	if (is_outside(s, first) && s->runs[first].enter > range[0])
		clip_low(part, slot, s->runs[first].enter);
	if (is_outside(s, end) && s->runs[end - 1].exit < range[1])
		clip_high(part, slot, s->runs[end - 1].exit);
	return end - first > 1;
}

/* Test each @step-th slot. Return: how many may be in several runs. */
static size_t test_all(struct search *s, struct part *part, size_t step)
{
	size_t i, nr = 0;

	s->beyond = 0;
	for (i = 0; i < s->nr_slots && part->nr; i += step) {
		nr += test(s, part, s->slots[i]);
		if (s->beyond > s->nr_slots / step / 2)
			part->nr = 0;
	}
	return nr;
}

/* The same until the part stays as it is. */
static size_t reduce(struct search *s, struct part *part, size_t step)
{
	double before, after = width_of(s, part);
	size_t nr, pass = 0;

	do {
		before = after;
		nr = test_all(s, part, step);
		after = width_of(s, part);
	} while (part->nr && nr && after < 0.9 * before && ++pass < PASSES);
	return nr;
}

/* The search */

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static void widen(double range[2], double from, double to)
{
	range[0] = smaller(range[0], from);
	range[1] = -smaller(-range[1], -to);
}

static void bounds_of(const struct part *part, struct vm_area *area)
{
	unsigned int i;

	area->offset[0] = area->drift[0] = INFINITY;
	area->offset[1] = area->drift[1] = -INFINITY;
	for (i = 0; i < part->nr; i++) {
		widen(area->offset, part->corners[i].offset, part->corners[i].offset);
		widen(area->drift, part->corners[i].drift, part->corners[i].drift);
	}
}

static void take_found(struct search *s, const struct part *part)
{
	double range[2], size = width_of(s, part);
	struct vm_area area;
	int i;

	bounds_of(part, &area);
	if (!s->nr_found++) {
		s->found = area;
		for (i = 0; i < 2; i++)
			range_at(part, s->ends[i], s->at_ends[i]);
	}
	widen(s->found.offset, area.offset[0], area.offset[1]);
	widen(s->found.drift, area.drift[0], area.drift[1]);
	for (i = 0; i < 2; i++) {
		range_at(part, s->ends[i], range);
		widen(s->at_ends[i], range[0], range[1]);
	}
	if (s->nr_found == 1 || size > s->size) {
		s->best = *part;
		s->size = size;
	}
}

/* Return: false if there is no room. */
static bool add(struct search *s, const struct part *part)
{
	if (s->nr_parts == PARTS)
		return false;
	s->parts[(s->first + s->nr_parts++) % PARTS] = *part;
	return true;
}

/* Divide the part where it is longest. */
static bool divide(struct search *s, const struct part *part)
{
	double length = fmax(fabs(s->ends[0]), fabs(s->ends[1])), middle;
	struct part halves[2] = { *part, *part };
	struct line line = { 1, 0, 0 };
	struct vm_area area;

	bounds_of(part, &area);
	middle = (area.offset[0] + area.offset[1]) / 2;
	if ((area.drift[1] - area.drift[0]) * length > area.offset[1] - area.offset[0]) {
		line = (struct line){ 0, 1, 0 };
		middle = (area.drift[0] + area.drift[1]) / 2;
	}
	line.c = -middle;
	clip(&halves[0], &line);
	line = (struct line){ -line.a, -line.b, -line.c };
	clip(&halves[1], &line);
	return add(s, &halves[0]) && add(s, &halves[1]);
}

/* Return: false if the search takes too long. */
static bool look_at(struct search *s, struct part *part)
{
	size_t step = s->nr_slots / SAMPLE + 1;

	if (reduce(s, part, step) && part->nr && width_of(s, part) > LEAST_NS)
		return divide(s, part);
	if (part->nr && reduce(s, part, 1) && part->nr && width_of(s, part) > LEAST_NS)
		return divide(s, part);
	if (part->nr)
		take_found(s, part);
	return true;
}

static enum vm_search run_search(struct search *s)
{
	const double *o = s->area->offset, *d = s->area->drift;
	struct part part = { .corners = { { o[0], d[0] }, { o[1], d[0] }, { o[1], d[1] },
					  { o[0], d[1] } }, .nr = 4 };

	if (!add(s, &part))
		return VM_SEARCH_LONG;
	while (s->nr_parts) {
		part = s->parts[s->first];
		s->first = (s->first + 1) % PARTS;
		s->nr_parts--;
		if (s->tests > s->most_tests || !look_at(s, &part))
			return VM_SEARCH_LONG;
	}
	if (!s->nr_found)
		return VM_SEARCH_NONE;
	if (fmax(s->at_ends[0][1] - s->at_ends[0][0], s->at_ends[1][1] - s->at_ends[1][0]) >
	    2 * VM_BAND_NS)
		return VM_SEARCH_SEVERAL;
	return VM_SEARCH_FOUND;
}

/* Preparation and result */

static double ns_per_tick(const struct vm_machine *m)
{
	return 1e9 / (double)timeline_clock(m->timeline)->hz;
}

static double since(const struct vm_machine *m, uint64_t ticks, uint64_t base)
{
	return (double)(int64_t)(ticks - base) * ns_per_tick(m);
}

static bool has_rate(const struct vm_machine *m)
{
	return timeline_clock(m->timeline)->hz;
}

bool vm_area_of(const struct vm_machine *guest, const struct vm_machine *host,
		struct vm_area *area)
{
	uint64_t middle = guest->first + (guest->last - guest->first) / 2;
	const struct ktau_clock *clock = timeline_clock(host->timeline);
	double ns, first, last;

	if (!has_rate(guest) || !has_rate(host))
		return false;
	ns = (double)(int64_t)(vm_machine_realtime(guest, middle) - clock->realtime_ns);
	ns /= ns_per_tick(host);
	if (fabs(ns) > (double)INT64_MAX / 2)
		return false;
	*area = (struct vm_area){
		.host = clock->ticks + (uint64_t)llround(ns), .guest = middle,
		.offset = { -VM_SEARCH_NS, VM_SEARCH_NS },
		.drift = { -VM_SEARCH_DRIFT, VM_SEARCH_DRIFT },
	};
	first = since(host, host->first, area->host);
	last = since(host, host->last, area->host);
	return since(guest, guest->last, middle) + VM_SEARCH_NS >= first &&
	       since(guest, guest->first, middle) - VM_SEARCH_NS <= last;
}

static void prepare(struct search *s, const struct vm_cpu *cpu, const struct vcpu *v)
{
	const struct vcpu_run *run;
	size_t i;

	s->parts = cli_alloc(NULL, PARTS, sizeof(*s->parts));
	s->slots = cli_alloc(NULL, cpu->nr_slots, sizeof(*s->slots));
	s->runs = cli_alloc(NULL, v->nr_runs, sizeof(*s->runs));
	s->nr_slots = cpu->nr_slots;
	s->nr_runs = v->nr_runs;
	if (s->most_tests > TESTS + SHARE * s->nr_slots)
		s->most_tests = TESTS + SHARE * s->nr_slots;
	for (i = 0; i < s->nr_slots; i++)
		s->slots[i] = since(s->guest, cpu->slots[i], s->area->guest);
	s->ends[0] = s->slots[0];
	s->ends[1] = s->slots[s->nr_slots - 1];
	for (i = 0; i < s->nr_runs; i++) {
		run = &v->runs[i];
		s->runs[i] = (struct run){
			since(s->host, run->enter, s->area->host) - ROUNDING_NS,
			since(s->host, run->exit, s->area->host) + ROUNDING_NS,
			run->after_gap,
		};
		if (is_outside(s, i))
			s->most_outside = fmax(s->most_outside,
					       s->runs[i].enter - s->runs[i - 1].exit);
	}
}

/* The middle of what was found. */
static bool choose(const struct search *s, struct vm_fit *fit)
{
	double offset = 0, drift = 0, ratio;
	struct guest_clock *clock = &fit->clock;
	uint64_t host;
	unsigned int i;

	for (i = 0; i < s->best.nr; i++) {
		offset += s->best.corners[i].offset / s->best.nr;
		drift += s->best.corners[i].drift / s->best.nr;
	}
	ratio = ns_per_tick(s->host) / ns_per_tick(s->guest) / (1 + drift);
	if (ratio < 1.0 / (1 << 15) || ratio > 1 << 14)
		return false;
	host = s->area->host + (uint64_t)llround(offset / ns_per_tick(s->host));
	*clock = (struct guest_clock){
		.ratio = (uint64_t)llround(ldexp(ratio, FRAC_BITS)), .frac_bits = FRAC_BITS,
	};
	clock->offset = s->area->guest - guest_clock_to_guest(clock, host);
	fit->band_ns = 0;
	for (i = 0; i < 2; i++) {
		const double guest = s->ends[i], middle = guest + offset + drift * guest;

		fit->band_ns = fmax(fit->band_ns, middle - s->at_ends[i][0]);
		fit->band_ns = fmax(fit->band_ns, s->at_ends[i][1] - middle);
	}
	fit->area = s->found;
	fit->area.host = s->area->host;
	fit->area.guest = s->area->guest;
	return true;
}

uint64_t vm_search_tests(const struct vm_machine *guest)
{
	uint64_t tests = GUEST_TESTS;
	size_t i;

	for (i = 0; i < guest->nr_cpus; i++)
		tests += SHARE * guest->cpus[i].nr_slots;
	return tests;
}

enum vm_search vm_search(const struct vm_machine *guest, const struct vm_cpu *cpu,
			 const struct vm_machine *host, const struct vcpu *v,
			 struct vm_fit *fit)
{
	const struct vm_area area = fit->area;
	struct search s = { .guest = guest, .host = host, .area = &area,
			    .most_tests = fit->tests };
	enum vm_search result;

	if (!cpu->nr_slots || !v->nr_runs)
		return VM_SEARCH_NONE;
	prepare(&s, cpu, v);
	result = run_search(&s);
	fit->tests -= s.tests < fit->tests ? s.tests : fit->tests;
	if (result == VM_SEARCH_FOUND && !choose(&s, fit))
		result = VM_SEARCH_NONE;
	free(s.slots);
	free(s.runs);
	free(s.parts);
	return result;
}
