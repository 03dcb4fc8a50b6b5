// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "crossings.h"

/* Segments looked at for one that was received. */
enum { MAX_LOOKED_AT = 4096 };

#define TCP_SYN 2

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Segments that only acknowledge all have the sequence number of the data to come. */
static int compare_numbers(const struct packet *x, const struct packet *y)
{
	int order = compare(x->seq, y->seq);

	if (!order)
		order = compare(x->bytes != 0, y->bytes != 0);
	if (!order && !x->bytes)
		order = compare(x->ack, y->ack);
	return order;
}

/* By direction and numbers; those with the same numbers in time order. */
static int by_sequence(const void *a, const void *b)
{
	const struct crossing *x = a, *y = b;
	int order = compare(x->direction, y->direction);

	if (!order)
		order = compare_numbers(x->packet, y->packet);
	return order ? order : compare(x->packet->ns, y->packet->ns);
}

static void number_directions(struct crossings *c, size_t machine)
{
	const struct packets *packets = c->packets[machine];
	uint32_t *numbers = cli_alloc(NULL, packets->nr + 1, sizeof(*numbers)), i;

	for (i = 0; i < packets->nr; i++)
		numbers[i] = packets_translate(&c->directions, packets, i);
	c->numbers[machine] = numbers;
}

static void collect(struct crossings *c, size_t machine)
{
	const struct packet_list *sent = &c->packets[machine]->sent;
	const struct packet *p;

	for (p = sent->packets; p < sent->packets + sent->nr; p++) {
		c->sent[c->nr++] = (struct crossing){
			p, (uint32_t)machine, c->numbers[machine][p->direction],
		};
		if (p->bytes > c->longest)
			c->longest = p->bytes;
	}
}

void crossings_make(struct crossings *c, struct packets **packets, size_t nr)
{
	size_t room = 0, i;

	*c = (struct crossings){ .packets = packets, .nr_machines = nr };
	c->numbers = cli_alloc(NULL, nr, sizeof(*c->numbers));
	for (i = 0; i < nr; i++) {
		number_directions(c, i);
		room += packets[i]->sent.nr;
	}
	c->sent = cli_alloc(NULL, room + 1, sizeof(*c->sent));
	for (i = 0; i < nr; i++)
		collect(c, i);
	if (c->nr)
		qsort(c->sent, c->nr, sizeof(*c->sent), by_sequence);
}

void crossings_deinit(struct crossings *c)
{
	size_t i;

	for (i = 0; i < c->nr_machines; i++)
		free(c->numbers[i]);
	free(c->numbers);
	free(c->sent);
	packets_deinit(&c->directions);
}

/* The first segment of a direction, with numbers above those of @packet unless that is NULL. */
static size_t first_after(const struct crossings *c, uint32_t direction,
			  const struct packet *packet)
{
	size_t low = 0, high = c->nr, middle;
	const struct crossing *s;

	while (low < high) {
		middle = low + (high - low) / 2;
		s = &c->sent[middle];
		if (s->direction < direction ||
		    (s->direction == direction && packet &&
		     compare_numbers(s->packet, packet) <= 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * A segment without payload is known by its numbers. Those that only acknowledge have the sequence
 * number of the data to come, so they are told apart by what they acknowledge.
 */
static bool is_same(const struct packet *sent, const struct packet *received)
{
	return !sent->bytes && sent->seq == received->seq && sent->ack == received->ack &&
	       sent->flags == received->flags && (sent->ack || sent->flags & TCP_SYN);
}

static bool has_last_byte(const struct packet *sent, const struct packet *received)
{
	if (!received->bytes)
		return is_same(sent, received);
	return (uint32_t)(received->seq + received->bytes - 1 - sent->seq) < sent->bytes;
}

/**
 * struct search - the sent segments that may be the received one
 * @c: all segments
 * @machine: where it was received
 * @packet: the received segment
 * @last: its last byte
 * @begin: the first segment of its direction
 * @end: behind the last one
 * @at: the next to look at; they are looked at backwards, and around as sequence numbers are
 * @left: segments left to look at
 */
struct search {
	const struct crossings *c;
	size_t machine;
	const struct packet *packet;
	uint32_t last;
	size_t begin, end, at, left;
};

static void search_begin(struct search *s, const struct crossings *c, size_t machine,
			 const struct packet *packet)
{
	uint32_t direction = c->numbers[machine][packet->direction];
	struct packet last = *packet;

	*s = (struct search){ .c = c, .machine = machine, .packet = packet };
	last.seq += packet->bytes ? packet->bytes - 1 : 0;
	s->last = last.seq;
	s->begin = first_after(c, direction, NULL);
	s->end = first_after(c, direction, &(struct packet){ .seq = UINT32_MAX, .bytes = 1 });
	s->at = first_after(c, direction, &last);
	s->left = s->end - s->begin;
	if (s->left > MAX_LOOKED_AT)
		s->left = MAX_LOOKED_AT;
}

/* Those with other numbers than a segment without payload are not that. */
static bool is_passed(const struct search *s, const struct packet *sent)
{
	return !s->packet->bytes && compare_numbers(sent, s->packet) != 0;
}

/* The next one of another machine, or NULL. */
static const struct crossing *search_next(struct search *s)
{
	const struct crossing *sent;

	while (s->left) {
		s->left--;
		s->at = s->at > s->begin ? s->at - 1 : s->end - 1;
		sent = &s->c->sent[s->at];
		if (s->last - sent->packet->seq > s->c->longest || is_passed(s, sent->packet))
			return NULL;
		if (sent->machine != s->machine && has_last_byte(sent->packet, s->packet))
			return sent;
	}
	return NULL;
}

/* The only segment that may be the received one; NULL if there is none or more than one. */
static const struct crossing *find_single(const struct crossings *c, size_t machine,
					  const struct packet *packet)
{
	const struct crossing *found;
	struct search s;

	search_begin(&s, c, machine, packet);
	found = search_next(&s);
	return !found || found->packet->again || search_next(&s) ? NULL : found;
}

const struct crossing *crossings_find(const struct crossings *c, const struct clock_line *lines,
				      size_t machine, uint32_t received)
{
	const struct packet *packet = &c->packets[machine]->received.packets[received - 1];
	uint64_t ns = clock_line_map(&lines[machine], packet->ns), best_ns = 0, sent_ns;
	const struct crossing *sent, *best = NULL;
	struct search s;

	search_begin(&s, c, machine, packet);
	while ((sent = search_next(&s)) != NULL) {
		sent_ns = clock_line_map(&lines[sent->machine], sent->packet->ns);
		if (sent_ns <= ns && (!best || sent_ns > best_ns)) {
			best = sent;
			best_ns = sent_ns;
		}
	}
	return best;
}

/* Clocks */

/* A received segment and the one that was sent. */
struct match {
	const struct crossing *sent;
	const struct packet *received;
	uint32_t low, high;
	bool up;	/* from @low to @high */
};

static int by_sent(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	if (x->sent != y->sent)
		return x->sent < y->sent ? -1 : 1;
	return compare(x->received->ns, y->received->ns);
}

static int by_pair(const void *a, const void *b)
{
	const struct match *x = a, *y = b;
	int order = compare(x->low, y->low);

	if (!order)
		order = compare(x->high, y->high);
	return order ? order : y->up - x->up;
}

static struct match *match_all(const struct crossings *c, size_t *nr)
{
	struct match *matches = NULL;
	const struct crossing *sent;
	const struct packet_list *list;
	uint32_t from, machine;
	const struct packet *p;
	size_t room = 1;

	for (machine = 0; machine < c->nr_machines; machine++)
		room += c->packets[machine]->received.nr;
	matches = cli_alloc(NULL, room, sizeof(*matches));
	*nr = 0;
	for (machine = 0; machine < c->nr_machines; machine++) {
		list = &c->packets[machine]->received;
		for (p = list->packets; p < list->packets + list->nr; p++) {
			sent = find_single(c, machine, p);
			if (!sent)
				continue;
			from = sent->machine;
			matches[(*nr)++] = (struct match){
				sent, p, from < machine ? from : machine,
				from < machine ? machine : from, from < machine,
			};
		}
	}
	return matches;
}

/*
 * Keep those that were received once, in parts if the segment was long. Return: their number. If
 * the same bytes were received again, the first time counts.
 */
static size_t keep_single(struct match *matches, size_t nr)
{
	size_t kept = 0, i;
	bool again;

	if (nr)
		qsort(matches, nr, sizeof(*matches), by_sent);
	for (i = 0; i < nr; i++) {
		again = i && matches[i].sent == matches[i - 1].sent &&
			matches[i - 1].received->seq == matches[i].received->seq;
		if (!again)
			matches[kept++] = matches[i];
	}
	return kept;
}

/* Fit the clocks of the pair whose matches begin at @m, those from the lower machine first. */
static struct crossing_pair fit_pair(const struct match *m, size_t nr)
{
	struct crossing_pair pair = { .low = m->low, .high = m->high, .nr = nr };
	struct clock_point *points = cli_alloc(NULL, nr, sizeof(*points));
	size_t up = 0, i;

	for (i = 0; i < nr; i++) {
		up += m[i].up;
		points[i].x_ns = m[i].up ? m[i].received->ns : m[i].sent->packet->ns;
		points[i].y_ns = m[i].up ? m[i].sent->packet->ns : m[i].received->ns;
	}
	/* What was sent from the higher machine is above its line. */
	clock_fit(points + up, nr - up, points, up, &pair.fit);
	free(points);
	return pair;
}

size_t crossings_fit(const struct crossings *c, struct crossing_pair **pairs)
{
	size_t nr, nr_pairs = 0, first, i;
	struct match *matches = match_all(c, &nr);

	nr = keep_single(matches, nr);
	*pairs = cli_alloc(NULL, nr + 1, sizeof(**pairs));
	if (nr)
		qsort(matches, nr, sizeof(*matches), by_pair);
	for (first = 0, i = 1; i <= nr; i++) {
		if (i < nr && matches[i].low == matches[first].low &&
		    matches[i].high == matches[first].high)
			continue;
		(*pairs)[nr_pairs++] = fit_pair(&matches[first], i - first);
		first = i;
	}
	free(matches);
	return nr_pairs;
}
