// SPDX-License-Identifier: GPL-2.0-only
/* Call paths as folded stacks and as an SVG flame graph. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "flame.h"
#include "lib/report/tally.h"
#include "lib/text.h"

enum { WIDTH = 1200, MARGIN = 10, ROW = 17, HEAD = 34, MAX_DEPTH = 400 };

/* Width of a monospaced letter, and the least width of a frame that is drawn, in pixels. */
static const double letter = 6.6, least = 0.3;

/* Position of a path in the picture. */
struct place {
	double x, width;	/* in pixels; a width of 0 is not drawn */
	double used;		/* width used by children so far */
	uint64_t ns;		/* inclusive time */
	uint32_t depth;
};

static bool is_shown(const struct flame *f, const struct stack_node *node)
{
	return f->time & (node->off ? FLAME_OFF_CPU : FLAME_ON_CPU);
}

uint64_t flame_total(const struct flame *f)
{
	const struct stack_node *node;
	uint64_t ns = 0;

	for (node = f->stacks->nodes; node < f->stacks->nodes + f->stacks->nr; node++)
		ns += is_shown(f, node) ? node->self_ns : 0;
	return ns;
}

static const char *name_of(const struct flame *f, const struct stack_node *node)
{
	return f->name(f->arg, node);
}

/* Semicolons separate frames and line feeds end a line, so they are replaced. */
static void put_frame(const struct flame *f, const struct stack_node *node, FILE *out)
{
	const char *name = name_of(f, node);
	char escaped[ESCAPED_BYTES];

	while (*name) {
		name += escape_one(name, escaped);
		fputs(*escaped == ';' ? ":" : escaped, out);
	}
}

void flame_folded(const struct flame *f, FILE *out)
{
	const struct stack_node *nodes = f->stacks->nodes;
	uint32_t *path = NULL, room = 0, i, k, nr;

	for (i = 0; i < f->stacks->nr; i++) {
		if (!nodes[i].self_ns || !is_shown(f, &nodes[i]))
			continue;
		nr = 0;
		for (k = i; k != STACKS_NONE; k = nodes[k].parent) {
			if (nr == room) {
				room = room ? room * 2 : 64;
				path = cli_alloc(path, room, sizeof(*path));
			}
			path[nr++] = k;
		}
		while (nr) {
			put_frame(f, &nodes[path[--nr]], out);
			if (nr)
				fputc(';', out);
		}
		fprintf(out, " %" PRIu64 "\n", nodes[i].self_ns);
	}
	free(path);
}

/* Print at most @letters columns; 0 means no limit. */
static void put_xml(const char *text, size_t letters, FILE *out)
{
	char escaped[ESCAPED_BYTES];
	bool whole = !letters || (size_t)text_columns(text) <= letters;
	size_t n = 0;

	for (; *text && (whole || n + 1 < letters); n += (size_t)text_columns(escaped)) {
		text += escape_one(text, escaped);
		/* XML forbids U+FFFE and U+FFFF. */
		if (!memcmp(escaped, "\xef\xbf\xbe", 4) || !memcmp(escaped, "\xef\xbf\xbf", 4))
			strcpy(escaped, "?");
		switch (*escaped) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputs(escaped, out);
		}
	}
	if (!whole)
		fputs("\xe2\x80\xa6", out);
}

static void put_amount(const struct flame *f, uint64_t ns, FILE *out)
{
	if (f->unit)
		fprintf(out, "%" PRIu64 " %s", ns, f->unit);
	else if (ns >= 1000000000)
		fprintf(out, "%.2f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		fprintf(out, "%.2f ms", (double)ns / 1e6);
	else
		fprintf(out, "%.2f us", (double)ns / 1e3);
}

/* Warm colours for time on the CPU, cold ones for time off it; a shade depends on the name. */
static void put_colour(const struct flame *f, const struct stack_node *node, FILE *out)
{
	const char *name = name_of(f, node);
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	if (node->parent == STACKS_NONE)
		fputs("#dfe3e8", out);
	else if (node->off)
		fprintf(out, "hsl(%u,45%%,%u%%)", 205 + hash % 20, 68 + (hash >> 8) % 10);
	else
		fprintf(out, "hsl(%u,80%%,%u%%)", 10 + hash % 40, 60 + (hash >> 8) % 10);
}

static void put_box(const struct flame *f, const struct stack_node *node,
		    const struct place *p, uint64_t total, FILE *out)
{
	fputs("<g><title>", out);
	put_xml(name_of(f, node), 0, out);
	fputs(": ", out);
	put_amount(f, p->ns, out);
	fprintf(out, ", %.1f%%", 100 * (double)p->ns / (double)total);
	if (node->count)
		fprintf(out, ", %" PRIu64 " times", node->count);
	fprintf(out, "</title><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"", p->x,
		(int)p->depth, p->width, ROW - 1);
	put_colour(f, node, out);
	fputs("\"/>", out);
	if (p->width > 4 * letter) {
		fprintf(out, "<text x=\"%.1f\" y=\"%d\">", p->x + 3, (int)p->depth + ROW - 5);
		put_xml(name_of(f, node), (size_t)((p->width - 6) / letter), out);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

/* A path comes after its parent, so going backwards completes the inclusive times. */
static struct place *measure(const struct flame *f)
{
	const struct stack_node *nodes = f->stacks->nodes;
	struct place *places = cli_alloc(NULL, f->stacks->nr + 1, sizeof(*places));
	uint32_t i;

	memset(places, 0, (f->stacks->nr + 1) * sizeof(*places));
	for (i = f->stacks->nr; i-- > 0;) {
		places[i].ns += is_shown(f, &nodes[i]) ? nodes[i].self_ns : 0;
		if (nodes[i].parent != STACKS_NONE)
			places[nodes[i].parent].ns += places[i].ns;
	}
	return places;
}

/* Sort keys of a path. */
struct order {
	uint32_t parent, index;
	uint64_t ns;
};

static int by_parent(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Sort parents before their children, and siblings by descending time. */
static struct order *sort_paths(const struct flame *f, const struct place *places)
{
	struct order *order = cli_alloc(NULL, f->stacks->nr + 1, sizeof(*order));
	uint32_t i;

	/* The sort key is 0 for roots and the index of the parent plus 1 for all others. */
	for (i = 0; i < f->stacks->nr; i++)
		order[i] = (struct order){ f->stacks->nodes[i].parent + 1, i, places[i].ns };
	qsort(order, f->stacks->nr, sizeof(*order), by_parent);
	return order;
}

/* Set the positions of all paths. Return: the depth of the picture. */
static uint32_t lay_out(const struct flame *f, struct place *places, const struct order *order)
{
	double scale = (WIDTH - 2 * MARGIN) / (double)more(flame_total(f), 1);
	struct place all = { .x = MARGIN, .width = WIDTH }, *up, *p;
	uint32_t depth = 0, i;

	for (i = 0; i < f->stacks->nr; i++) {
		p = &places[order[i].index];
		up = order[i].parent ? &places[order[i].parent - 1] : &all;
		p->depth = order[i].parent ? up->depth + 1 : 0;
		p->width = (double)p->ns * scale;
		if (up->width <= 0 || p->width < least || p->depth >= MAX_DEPTH)
			p->width = 0;
		p->x = up->x + up->used;
		up->used += p->width;
		if (p->width > 0 && p->depth >= depth)
			depth = p->depth + 1;
	}
	return depth;
}

void flame_svg(const struct flame *f, FILE *out)
{
	struct place *places = measure(f);
	struct order *order = sort_paths(f, places);
	uint32_t depth = lay_out(f, places, order), i;
	uint64_t total = flame_total(f);
	int height = HEAD + (int)depth * ROW + MARGIN;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"20\" font-size=\"14\">",
		WIDTH, height, WIDTH, height, MARGIN);
	put_xml(f->title, 0, out);
	fputs(": ", out);
	put_amount(f, total, out);
	fputs("</text>\n", out);
	for (i = 0; i < f->stacks->nr; i++) {
		struct place *p = &places[i];

		if (p->width <= 0)
			continue;
		p->depth = (uint32_t)(height - MARGIN - (int)(p->depth + 1) * ROW);
		put_box(f, &f->stacks->nodes[i], p, total, out);
	}
	fputs("</svg>\n", out);
	free(order);
	free(places);
}
