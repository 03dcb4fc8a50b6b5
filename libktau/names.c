// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names for the numbers of the interface, display names of symbols, patterns. */
#include <fnmatch.h>

#include "util.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* Indexed by bit. Groups of modules start at bit 16. */
static const char *const group_names[] = {
#define KTAU_GROUP(symbol, name, bit) [bit] = #name,
#include <linux/ktau_groups.h>
	[16] = "module0", "module1", "module2", "module3", "module4", "module5", "module6",
	"module7", "module8", "module9", "module10", "module11",
};

const char *ktau_version(void)
{
	return KTAU_LIB_VERSION;
}

static const char *word(const char *const *words, size_t nr, size_t index)
{
	return index < nr ? words[index] : NULL;
}

/* The name of one bit. */
static const char *bit_word(const char *const *words, size_t nr, uint32_t bit)
{
	if (!bit || bit & (bit - 1))
		return NULL;
	return word(words, nr, __builtin_ctz(bit));
}

const char *ktau_group_name(uint32_t group)
{
	return bit_word(group_names, NR(group_names), group);
}

uint32_t ktau_group_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR(group_names); i++) {
		if (group_names[i] && !strcmp(name, group_names[i]))
			return 1U << i;
	}
	return 0;
}

const char *ktau_kind_name(uint32_t kind)
{
	static const char *const names[] = { "timer", "counter" };

	return kind == KTAU_KIND_FIELDS ? "fields" : word(names, NR(names), kind);
}

const char *ktau_source_name(uint32_t source)
{
	static const char *const names[KTAU_NR_SOURCES] = {
		"syscall", "static", "point", "foreign", "irq", "tasklet", "work", "timer",
		"hrtimer", "kthread", "task_work", "napi", "rcu", "module", "function",
	};

	return source == KTAU_SOURCE_PROGRAM ? "program" : word(names, NR(names), source);
}

const char *ktau_owner_kind_name(uint32_t kind)
{
	static const char *const names[] = { "task", "exited", "cpu", "evicted" };

	return word(names, NR(names), kind);
}

const char *ktau_ctx_name(uint8_t ctx)
{
	static const char *const names[] = { "task", "softirq", "hardirq", "nmi" };

	return word(names, NR(names), ctx);
}

const char *ktau_access_name(uint32_t access)
{
	static const char *const names[] = {
		"profile", "exact", "trace", "serials", "all", "consume", "addresses",
	};

	return bit_word(names, NR(names), access);
}

/* As in the kernel, the highest bit that is set decides. */
char ktau_state_letter(uint32_t state)
{
	static const char letters[] = "RSDTtXZPI";
	unsigned int bit = state ? 32 - __builtin_clz(state) : 0;

	return bit < NR(letters) - 1 ? letters[bit] : '?';
}

const char *ktau_paranoid_text(int32_t level)
{
	switch (level) {
	case 2:
		return "its own profile: its tasks outside interrupts, times rounded to "
		       "1 us; no trace";
	case 1:
		return "its own profile, exact; no trace";
	default:
		return level > 2 ? "nothing" :
		       "its own profile, exact; its own trace, without other users' tasks "
		       "and network addresses";
	}
}

bool ktau_paranoid_needed(uint32_t access, int32_t *level)
{
	static const struct {
		uint32_t access;
		int32_t level;
	} levels[] = {
		{ KTAU_ACCESS_PROFILE, 2 }, { KTAU_ACCESS_EXACT, 1 },
		{ KTAU_ACCESS_TRACE, 0 },
	};
	size_t i;

	for (i = 0; i < NR(levels); i++) {
		if (levels[i].access != access)
			continue;
		*level = levels[i].level;
		return true;
	}
	return false;
}

/* The kernel cuts the name of a task to this many bytes. */
enum { COMM_BYTES = 15 };

/* The bytes of the first pattern of a list, up to a comma without a backslash. */
static size_t pattern_bytes(const char *list)
{
	size_t n;

	for (n = 0; list[n] && list[n] != ','; n++)
		n += list[n] == '\\' && list[n + 1];
	return n;
}

/* True if @pattern begins with @comm, the part of a name that the kernel has kept. */
static bool begins_with(const char *pattern, const char *comm)
{
	for (; *comm; comm++, pattern++) {
		if (strchr("*?[", *pattern))
			return false;
		pattern += *pattern == '\\' && pattern[1];
		if (*pattern != *comm)
			return false;
	}
	return true;
}

/* One pattern of @bytes bytes. A pattern longer than any name matches nothing. */
static bool glob_one(const char *pattern, size_t bytes, const char *name, bool cut)
{
	char copy[4096];

	while (bytes && strchr(" \t", *pattern)) {
		pattern++;
		bytes--;
	}
	while (bytes && strchr(" \t", pattern[bytes - 1]) &&
	       !(bytes > 1 && pattern[bytes - 2] == '\\'))
		bytes--;
	if (bytes >= sizeof(copy))
		return false;
	memcpy(copy, pattern, bytes);
	copy[bytes] = 0;
	return !fnmatch(copy, name, 0) || (cut && begins_with(copy, name));
}

static bool glob_list(const char *list, const char *name, bool cut)
{
	size_t bytes;

	for (;;) {
		bytes = pattern_bytes(list);
		if (glob_one(list, bytes, name, cut))
			return true;
		if (!list[bytes])
			return false;
		list += bytes + 1;
	}
}

bool ktau_glob(const char *pattern, const char *name)
{
	return glob_list(pattern, name, false);
}

bool ktau_glob_task(const char *pattern, const char *comm)
{
	return glob_list(pattern, comm, strlen(comm) == COMM_BYTES);
}

const char *ktau_display_name(const char *symbol)
{
	static const char *const prefixes[] = {
		"__x64_", "__ia32_", "__x32_", "__arm64_", "__powerpc_", "__riscv_",
		"__s390x_", "__s390_", "__se_", "__do_",
	};
	const char *rest;
	size_t i, bytes;

	if (symbol[0] == '.' && symbol[1])
		symbol++;
	for (i = 0; i < NR(prefixes); i++) {
		bytes = strlen(prefixes[i]);
		if (strncmp(symbol, prefixes[i], bytes))
			continue;
		rest = symbol + bytes;
		if (!strncmp(rest, "sys_", 4) || !strncmp(rest, "compat_sys_", 11))
			return rest;
	}
	return symbol;
}
