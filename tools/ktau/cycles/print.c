// SPDX-License-Identifier: GPL-2.0-only
/* The tables of ktau cycles: streams, functions, instructions. */
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/output.h"
#include "print/flame.h"
#include "lib/table.h"
#include "lib/text.h"

/* Without names, a row has this many bytes of code. */
#define ROW_BYTES	256

/* A list of pages without code is cut after this many. */
#define PAGES_SHOWN	10

/* An executed instruction, over all ranges that contain it. */
struct instruction {
	uint64_t address, bytes;
	uint64_t executions, uncounted, cycles, calls;
};

/* A function, or a row of 256 bytes. */
struct function {
	char name[280];
	uint64_t address;
	uint64_t instructions, cycles, calls;
};

/* Everything that is printed about a stream. */
struct listing {
	const struct trace_source *source;
	struct instruction *instructions;
	size_t nr_instructions;
	struct function *functions;
	size_t nr_functions;
	char label[96];
};

int cycles_stream(const struct trace_source *source)
{
	return source->id;
}

bool cycles_add_up(const struct cycles *c)
{
	return c->total == c->in_ranges + c->gaps + c->unread + c->unattributed;
}

static int by_address(const void *a, const void *b)
{
	const struct instruction *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Append the instructions of a range. @cycles has room for them. */
static struct instruction *list_range(const struct code *code, const struct cycles_range *range,
				      uint64_t *cycles, struct instruction *out)
{
	uint64_t address = range->start;
	uint32_t i;

	cycles_of(range, cycles);
	for (i = 0; i < range->nr_instructions; i++) {
		*out = (struct instruction){
			.address = address,
			.bytes = code_instruction_bytes(code, range, address),
			.executions = range->executions,
			.uncounted = range->uncounted,
			.cycles = cycles[i],
			.calls = i ? 0 : range->after_branch,
		};
		/* The last ones are together if the code does not have the length of the range. */
		if (address + out->bytes < range->end)
			address += out->bytes;
		out++;
	}
	return out;
}

static size_t merge_instructions(struct instruction *list, size_t nr)
{
	size_t i, kept = 0;

	qsort(list, nr, sizeof(*list), by_address);
	for (i = 0; i < nr; i++) {
		if (!kept || by_address(&list[kept - 1], &list[i])) {
			list[kept++] = list[i];
			continue;
		}
		list[kept - 1].executions += list[i].executions;
		list[kept - 1].uncounted += list[i].uncounted;
		list[kept - 1].cycles += list[i].cycles;
		list[kept - 1].calls += list[i].calls;
	}
	return kept;
}

static void list_instructions(struct listing *l, const struct code *code)
{
	const struct cycles *c = &l->source->cycles;
	size_t i, nr = 0, longest = 1;
	struct instruction *out;
	uint64_t *cycles;

	for (i = 0; i < c->nr_ranges; i++) {
		nr += c->ranges[i].nr_instructions;
		if (c->ranges[i].nr_instructions > longest)
			longest = c->ranges[i].nr_instructions;
	}
	l->instructions = out = cli_alloc(NULL, nr + 1, sizeof(*out));
	cycles = cli_alloc(NULL, longest, sizeof(*cycles));
	for (i = 0; i < c->nr_ranges; i++)
		out = list_range(code, &c->ranges[i], cycles, out);
	free(cycles);
	l->nr_instructions = merge_instructions(l->instructions, nr);
}

/* The function of an address. Return: whether the address is its first one. */
static bool name_address(const struct ktau_symtab *symtab, uint64_t address, struct function *f)
{
	struct ktau_symbol symbol;

	*f = (struct function){ .address = address - address % ROW_BYTES };
	if (!symtab || ktau_symtab_lookup(symtab, address, &symbol) <= 0) {
		snprintf(f->name, sizeof(f->name), "0x%" PRIx64 "+", f->address);
		return false;
	}
	f->address = symbol.address;
	if (symbol.module)
		snprintf(f->name, sizeof(f->name), "%s [%s]", symbol.name, symbol.module);
	else
		snprintf(f->name, sizeof(f->name), "%s", symbol.name);
	return !symbol.offset;
}

static int by_cycles(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	if (x->instructions != y->instructions)
		return x->instructions < y->instructions ? 1 : -1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Instructions are in the order of addresses, so those of a function follow each other. */
static void list_functions(struct listing *l, const struct ktau_symtab *symtab)
{
	const struct instruction *i = l->instructions, *end = i + l->nr_instructions;
	struct function found, *f = NULL;
	size_t room = 0;
	bool first;

	for (; i < end; i++) {
		first = name_address(symtab, i->address, &found);
		if (!f || strcmp(f->name, found.name) || f->address != found.address) {
			if (l->nr_functions == room) {
				room = 2 * room + 64;
				l->functions = cli_alloc(l->functions, room, sizeof(*f));
			}
			f = &l->functions[l->nr_functions++];
			*f = found;
		}
		f->instructions += i->executions;
		f->cycles += i->cycles;
		f->calls += first ? i->calls : 0;
	}
	if (l->nr_functions)
		qsort(l->functions, l->nr_functions, sizeof(*f), by_cycles);
}

static struct listing *create_listing(const struct cycles_print *p,
				      const struct trace_source *source)
{
	struct listing *l = cli_alloc(NULL, 1, sizeof(*l));

	memset(l, 0, sizeof(*l));
	l->source = source;
	snprintf(l->label, sizeof(l->label), "0x%x", (unsigned int)cycles_stream(source));
	list_instructions(l, &p->r->code);
	list_functions(l, p->symtab);
	return l;
}

static void destroy_listing(struct listing *l)
{
	free(l->instructions);
	free(l->functions);
	free(l);
}

enum { S_STREAM, S_CPU, S_INSTR, S_CYCLES, S_FUNCTIONS, S_GAPS, S_UNREAD, S_UNATTRIBUTED, S_RULE,
       S_NR };

static const struct column stream_columns[S_NR] = {
	[S_STREAM] = { "stream", "stream", COLUMN_TEXT },
	[S_CPU] = { "cpu", "CPU", COLUMN_TEXT },
	[S_INSTR] = { "instructions", "instr", COLUMN_NUMBER },
	[S_CYCLES] = { "cycles", "cycles", COLUMN_NUMBER },
	[S_FUNCTIONS] = { "in_functions", "in functions", COLUMN_NUMBER },
	[S_GAPS] = { "gaps", "gaps", COLUMN_NUMBER },
	[S_UNREAD] = { "unread", "unread", COLUMN_NUMBER },
	[S_UNATTRIBUTED] = { "unattributed", "unattributed", COLUMN_NUMBER },
	[S_RULE] = { "counted", "counted", COLUMN_TEXT },
};

enum { F_STREAM, F_CYCLES, F_SHARE, F_INSTR, F_EACH, F_CALLS, F_NAME, F_NR };

static const struct column function_columns[F_NR] = {
	[F_STREAM] = { "stream", NULL, COLUMN_TEXT },
	[F_CYCLES] = { "cycles", "cycles", COLUMN_NUMBER },
	[F_SHARE] = { "share", "share", COLUMN_SHARE },
	[F_INSTR] = { "instructions", "instr", COLUMN_NUMBER },
	[F_EACH] = { "cycles_per_instruction", "cyc/instr", COLUMN_RATE },
	[F_CALLS] = { "calls", "calls", COLUMN_NUMBER },
	[F_NAME] = { "function", "function", COLUMN_TEXT },
};

enum { I_STREAM, I_ADDRESS, I_OPCODE, I_EXECUTED, I_CYCLES, I_EACH, I_NR };

static const struct column instruction_columns[I_NR] = {
	[I_STREAM] = { "stream", NULL, COLUMN_TEXT },
	[I_ADDRESS] = { "address", "address", COLUMN_HEX },
	[I_OPCODE] = { "opcode", "opcode", COLUMN_TEXT },
	[I_EXECUTED] = { "executed", "executed", COLUMN_NUMBER },
	[I_CYCLES] = { "cycles", "cycles", COLUMN_NUMBER },
	[I_EACH] = { "cycles_per_execution", "cycles each", COLUMN_RATE },
};

static const char *rule_text(const struct trace_source *source)
{
	static const char *const texts[] = {
		[CYCLES_BY_INSTRUCTION] = "by instruction",
		[CYCLES_BY_BRANCH] = "by branch",
		[CYCLES_BY_BATCH] = "by batch",
		[CYCLES_BY_BLOCK] = "by block",
	};

	return source->counts ? texts[source->cycles.rule] : "no cycle counts";
}

static void add_stream(struct table *t, const struct listing *l)
{
	const struct cycles *c = &l->source->cycles;
	union cell *row = table_row(t);

	row[S_STREAM].text = l->label;
	row[S_CPU].text = l->source->core;
	row[S_INSTR].number = c->instructions;
	row[S_CYCLES].number = c->total;
	row[S_FUNCTIONS].number = c->in_ranges;
	row[S_GAPS].number = c->gaps;
	row[S_UNREAD].number = c->unread;
	row[S_UNATTRIBUTED].number = c->unattributed;
	row[S_RULE].text = rule_text(l->source);
}

static void add_functions(struct table *t, const struct listing *l)
{
	const struct cycles *c = &l->source->cycles;
	const struct function *f;
	union cell *row;

	for (f = l->functions; f < l->functions + l->nr_functions; f++) {
		row = table_row(t);
		row[F_STREAM].text = l->label;
		row[F_CYCLES].number = f->cycles;
		row[F_SHARE].share = c->in_ranges ? (double)f->cycles / (double)c->in_ranges : NAN;
		row[F_INSTR].number = f->instructions;
		row[F_EACH].share = (double)f->cycles / (double)f->instructions;
		row[F_CALLS].number = f->calls;
		row[F_NAME].text = f->name;
	}
}

/* The bytes of an instruction as they are in memory; words as the manuals have them. */
static char *opcode_text(const struct code *code, const struct instruction *i)
{
	uint8_t bytes[16];
	size_t room = i->bytes < sizeof(bytes) ? i->bytes : sizeof(bytes);
	size_t nr = code_read(code, i->address, bytes, room), k;
	char *text = cli_alloc(NULL, 2 * nr + 1, 1);

	for (k = 0; k < nr; k++)
		snprintf(text + 2 * k, 3, "%02x", bytes[nr == 4 ? 3 - k : k]);
	text[2 * nr] = '\0';
	return text;
}

/* Whether an instruction belongs to the function that is annotated. */
static bool is_annotated(const struct cycles_print *p, const struct instruction *i)
{
	struct function f;

	name_address(p->symtab, i->address, &f);
	return !strcmp(f.name, p->annotate);
}

static void add_instructions(const struct cycles_print *p, struct table *t,
			     const struct listing *l)
{
	const struct instruction *i;
	union cell *row;

	for (i = l->instructions; i < l->instructions + l->nr_instructions; i++) {
		if (!is_annotated(p, i))
			continue;
		row = table_row(t);
		row[I_STREAM].text = l->label;
		row[I_ADDRESS].number = i->address;
		row[I_OPCODE].text = opcode_text(&p->r->code, i);
		row[I_EXECUTED].number = i->executions;
		row[I_CYCLES].number = i->cycles;
		row[I_EACH].share = (double)i->cycles / (double)i->executions;
	}
}

static void free_opcodes(struct table *t)
{
	size_t i;

	for (i = 0; i < t->nr_rows; i++)
		free((char *)t->cells[i * t->nr_columns + I_OPCODE].text);
}

static void print_pages(const struct cycles *c)
{
	uint64_t *pages = cycles_unread_pages(c);
	size_t i;

	printf("code is missing in %zu pages:", c->nr_unread);
	for (i = 0; i < c->nr_unread && i < PAGES_SHOWN; i++)
		printf(" 0x%" PRIx64, pages[i]);
	puts(c->nr_unread > PAGES_SHOWN ? " ..." : "");
	free(pages);
}

/* What the table of streams does not say. */
static void print_notes(const struct listing *l)
{
	const struct trace_source *s = l->source;
	const struct cycles *c = &s->cycles;

	if (c->damaged)
		printf("gaps (damaged): %" PRIu64 " cycles\n", c->damaged);
	if (s->problems)
		printf("%" PRIu64 " errors in the trace; the first one: %s\n", s->problems,
		       s->problem);
	if (c->nr_unread)
		print_pages(c);
	if (c->uncounted && s->counts)
		printf("%" PRIu64 " instructions have no count\n", c->uncounted);
	if (c->rule == CYCLES_BY_BRANCH && s->counts)
		puts("by branch: the cycles of a branch are those since the branch before it");
	if (c->rule >= CYCLES_BY_BATCH && s->counts)
		printf("by %s: the cycles of %s are divided among its instructions\n",
		       c->rule == CYCLES_BY_BATCH ? "batch" : "block",
		       c->rule == CYCLES_BY_BATCH ? "several ranges with one count" :
						    "a block between two counts");
}

static void print_head(const struct cycles_print *p, size_t sources, size_t counting)
{
	const struct code *code = &p->r->code;

	printf("%s: %zu streams with cycle counts of %zu; %zu CPUs; ", p->r->path, counting,
	       sources, p->r->nr_cores);
	if (code->nr)
		printf("code 0x%" PRIx64 "-0x%" PRIx64 "\n", code->pieces[0].start,
		       code->pieces[code->nr - 1].end - 1);
	else
		puts("no code: name the program with --map=FILE");
}

static void print_text(const struct cycles_print *p, struct table *streams, struct listing **list,
		       size_t nr)
{
	uint64_t sums[5] = { 0 };
	struct table t;
	size_t i;

	table_text(streams, 0, streams->nr_rows, "", stdout);
	for (i = 0; i < nr; i++) {
		const struct cycles *c = &list[i]->source->cycles;

		printf("\nstream %s\n", list[i]->label);
		table_init(&t, "functions", function_columns, F_NR);
		add_functions(&t, list[i]);
		table_text(&t, 0, t.nr_rows, "", stdout);
		table_deinit(&t);
		print_notes(list[i]);
		sums[0] += c->total;
		sums[1] += c->in_ranges;
		sums[2] += c->gaps;
		sums[3] += c->unread;
		sums[4] += c->unattributed;
	}
	if (!p->symtab)
		puts("\nNames of functions: --map=FILE with a System.map, kallsyms or ELF file");
	printf("\nsum: cycles = functions + gaps + unread + unattributed: %" PRIu64 " = %" PRIu64
	       " + %" PRIu64 " + %" PRIu64 " + %" PRIu64 "\n", sums[0], sums[1], sums[2], sums[3],
	       sums[4]);
}

static void print_tables(const struct cycles_print *p, struct table *streams, struct table *rows)
{
	if (p->format == CYCLES_CSV) {
		table_csv_name(streams, stdout);
		table_csv(streams, stdout);
		putchar('\n');
		table_csv_name(rows, stdout);
		table_csv(rows, stdout);
		return;
	}
	fputs("{", stdout);
	table_json(streams, stdout);
	fputs(",\n", stdout);
	table_json(rows, stdout);
	fputs("}\n", stdout);
}

static void print_data(const struct cycles_print *p, struct table *streams, struct listing **list,
		       size_t nr)
{
	struct table t;
	size_t i;

	table_init(&t, "functions", function_columns, F_NR);
	for (i = 0; i < nr; i++)
		add_functions(&t, list[i]);
	print_tables(p, streams, &t);
	table_deinit(&t);
}

/* Lines "CPU stream;function CYCLES" for flame graphs. */
static void print_folded(struct listing **list, size_t nr)
{
	const struct function *f;
	const char *name;
	size_t i;

	for (i = 0; i < nr; i++) {
		for (f = list[i]->functions; f < list[i]->functions + list[i]->nr_functions; f++) {
			if (!f->cycles)
				continue;
			printf("%s%s%s;", list[i]->source->core, *list[i]->source->core ? " " : "",
			       list[i]->label);
			for (name = f->name; *name; name++)
				putchar(*name == ';' || *name < ' ' ? '_' : *name);
			printf(" %" PRIu64 "\n", f->cycles);
		}
	}
}

static const char *flame_name(void *arg, const struct stack_node *node)
{
	const struct listing *const *list = arg;
	const struct listing *l = list[node->id >> 24];

	return node->parent == STACKS_NONE ? l->label : l->functions[node->id & 0xffffff].name;
}

/* A root for each stream, and its functions above it. */
static void add_stack_nodes(struct stacks *s, const struct listing *l, uint32_t index)
{
	uint32_t root = s->nr, i;

	s->nodes[s->nr++] = (struct stack_node){ .parent = STACKS_NONE, .id = index << 24 };
	for (i = 0; i < l->nr_functions && i <= 0xffffff; i++)
		s->nodes[s->nr++] = (struct stack_node){
			.parent = root,
			.id = index << 24 | i,
			.self_ns = l->functions[i].cycles,
			.count = l->functions[i].calls,
		};
}

static int draw_flame(const struct cycles_print *p, struct listing **list, size_t nr)
{
	struct stacks stacks = { 0 };
	const struct flame flame = { .stacks = &stacks, .name = flame_name, .arg = list,
				     .unit = "cycles", .time = FLAME_ON_CPU, .title = p->r->path };
	size_t i, room = nr;
	struct output *output;

	if (recording_is_input(p->r, p->flame))
		return -1;
	output = output_create(p->flame, false);
	if (!output)
		return -1;
	for (i = 0; i < nr; i++)
		room += list[i]->nr_functions;
	stacks.nodes = cli_alloc(NULL, room + 1, sizeof(*stacks.nodes));
	for (i = 0; i < nr && i < 256; i++)
		add_stack_nodes(&stacks, list[i], (uint32_t)i);
	flame_svg(&flame, output_file(output));
	free(stacks.nodes);
	fflush(output_file(output));
	output_check(output, output_file(output));
	return output_commit(output);
}

static int print_annotated(const struct cycles_print *p, struct table *streams,
			   struct listing **list, size_t nr)
{
	struct table t;
	int err = 0;
	size_t i;

	table_init(&t, "instructions", instruction_columns, I_NR);
	for (i = 0; i < nr; i++) {
		if (p->format == CYCLES_TEXT)
			t.nr_rows = 0;
		add_instructions(p, &t, list[i]);
		if (p->format != CYCLES_TEXT || !t.nr_rows)
			continue;
		printf("stream %s, %s\n", list[i]->label, p->annotate);
		table_text(&t, 0, t.nr_rows, "", stdout);
		free_opcodes(&t);
		err = 1;
	}
	if (p->format != CYCLES_TEXT) {
		print_tables(p, streams, &t);
		err = t.nr_rows > 0;
		free_opcodes(&t);
	}
	table_deinit(&t);
	if (err)
		return 0;
	complain("%s: no instruction of it was executed", p->annotate);
	return -1;
}

int cycles_print(const struct cycles_print *p)
{
	struct listing **list = cli_alloc(NULL, p->r->nr_sources + 1, sizeof(struct listing *));
	size_t i, nr = 0, counting = 0;
	struct table streams;
	int err = 0;

	table_init(&streams, "streams", stream_columns, S_NR);
	for (i = 0; i < p->r->nr_sources; i++) {
		const struct trace_source *source = &p->r->sources[i];

		if (!source->decoded || (p->stream >= 0 && p->stream != cycles_stream(source)))
			continue;
		counting += source->counts;
		list[nr++] = create_listing(p, source);
		add_stream(&streams, list[nr - 1]);
	}
	if (p->flame) {
		err = draw_flame(p, list, nr);
	} else if (p->annotate) {
		err = print_annotated(p, &streams, list, nr);
	} else if (p->format == CYCLES_TEXT) {
		print_head(p, p->r->nr_sources, counting);
		print_text(p, &streams, list, nr);
	} else if (p->format == CYCLES_FOLDED) {
		print_folded(list, nr);
	} else {
		print_data(p, &streams, list, nr);
	}
	table_deinit(&streams);
	while (nr)
		destroy_listing(list[--nr]);
	free(list);
	return err;
}
