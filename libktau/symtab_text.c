// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Symbol maps as text: System.map and /proc/kallsyms, a symbol a line,
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0a01000 t some_function	[module]
 */
#include <ctype.h>
#include <stdio.h>

#include "internal.h"

/* One line, as far as it has been read. */
struct line {
	struct ktau__mapped symbol;
	const char *module;
	size_t module_bytes;
};

static const char *read_address(const char **at, const char *end, uint64_t *address)
{
	static const char digits[] = "0123456789abcdef";
	const char *start = *at, *digit;

	*address = 0;
	for (; *at < end && **at != ' '; (*at)++) {
		digit = memchr(digits, tolower((unsigned char)**at), 16);
		if (!digit)
			return "does not begin with a hexadecimal address";
		*address = *address << 4 | (digit - digits);
	}
	if (*at == start || *at - start > 16)
		return "does not begin with a hexadecimal address";
	return NULL;
}

static const char *read_module(const char *at, const char *end, struct line *line)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	line->module_bytes = 0;
	if (at == end)
		return NULL;
	if (end - at < 3 || at[0] != '[' || end[-1] != ']')
		return "has something behind the name that is no [module]";
	line->module = at + 1;
	line->module_bytes = end - at - 2;
	return NULL;
}

/* What is wrong with a line; NULL if nothing. */
static const char *read_line(const char *at, const char *end, struct line *line)
{
	const char *why = read_address(&at, end, &line->symbol.address);

	if (why)
		return why;
	if (end - at < 4 || at[0] != ' ' || at[2] != ' ' || !isgraph((unsigned char)at[1]))
		return "is not \"<address> <type> <name>\"";
	line->symbol.type = at[1];
	line->symbol.name = at += 3;
	while (at < end && *at != '\t' && *at != ' ') {
		if (!isgraph((unsigned char)*at))
			return "has a name with control characters";
		at++;
	}
	line->symbol.name_bytes = at - line->symbol.name;
	if (!line->symbol.name_bytes)
		return "has no name";
	return read_module(at, end, line);
}

/* Modules come in runs: the offset of the last name is mostly the one wanted. */
static int module_name(struct ktau_symtab *s, const struct line *line, uint32_t *offset)
{
	const char *last;

	if (*offset) {
		last = (const char *)s->names.data + *offset;
		if (strlen(last) == line->module_bytes &&
		    !memcmp(last, line->module, line->module_bytes))
			return 0;
	}
	return ktau__symtab_name(s, line->module, line->module_bytes, offset);
}

/* What the whole says: 0, or the error. */
static int judge(struct ktau_symtab *s, bool any_address)
{
	if (!any_address)
		return ktau__fail(&s->error, -EPERM, "%.300s: all addresses are 0: hidden "
				  "from this user (kernel.kptr_restrict, CAP_SYSLOG)", s->path);
	if (!s->nr_symbols)
		return ktau__fail(&s->error, -EINVAL, "%.300s: absolute symbols only", s->path);
	if (s->has_stext && !s->has_etext)
		return ktau__fail(&s->error, -EINVAL, "%.300s: truncated: _stext is in it, "
				  "_etext is not", s->path);
	return 0;
}

int ktau__symtab_text(struct ktau_symtab *s, const char *text, size_t size)
{
	const char *end = text + size, *why, *eol;
	uint32_t module = 0;
	bool any_address = false, absolute;
	uint64_t last = 0;
	struct line line = { 0 };
	size_t nr;
	int err;

	for (nr = 1; text < end; nr++, text = eol + 1) {
		eol = memchr(text, '\n', end - text);
		why = eol ? read_line(text, eol, &line) : "is cut off: no end of line";
		absolute = line.symbol.type == 'A' || line.symbol.type == 'a';
		if (!why && !line.module_bytes && !absolute) {
			if (line.symbol.address < last)
				why = "goes back to a lower address: the map is not sorted";
			last = line.symbol.address;
		}
		if (why)
			return ktau__fail(&s->error, -EINVAL, "%.300s: line %zu %s",
					  s->path, nr, why);
		any_address |= line.symbol.address != 0;
		/* Absolute symbols are numbers, not places. */
		if (absolute)
			continue;
		err = line.module_bytes ? module_name(s, &line, &module) : 0;
		line.symbol.module = line.module_bytes ? module : 0;
		if (!err)
			err = ktau__symtab_add(s, &line.symbol);
		if (err)
			return err;
	}
	return judge(s, any_address);
}
