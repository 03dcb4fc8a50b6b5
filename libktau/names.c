// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of the ABI as words, and symbols as people know them. */
#include "internal.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const char *const group_names[KTAU_NR_GROUPS] = {
	"syscall", "irq", "bh", "sched", "exception", "signal", "socket", "tcp", "icmp",
	"wait", "func", "user", "kvm", "account",
};

const char *ktau_version(void)
{
	return KTAU_LIB_VERSION;
}

const char *ktau_group_name(uint32_t group)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_GROUPS; i++) {
		if (group == 1U << i)
			return group_names[i];
	}
	return NULL;
}

uint32_t ktau_group_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < KTAU_NR_GROUPS; i++) {
		if (!strcmp(name, group_names[i]))
			return 1U << i;
	}
	return 0;
}

static const char *word(const char *const *words, size_t nr, size_t index)
{
	return index < nr ? words[index] : NULL;
}

const char *ktau_kind_name(uint32_t kind)
{
	static const char *const names[] = { "timer", "counter" };

	return word(names, NR(names), kind);
}

const char *ktau_slot_type_name(uint8_t type)
{
	static const char *const names[] = {
		NULL, "ENTER", "EXIT", "COUNT", "SWITCH", "WAKEUP", "FORK", "EXEC",
		"TASK_EXIT", "NET_SEND", "NET_RECV",
	};

	return type == KTAU_TRACE_MORE ? "MORE" : word(names, NR(names), type);
}

const char *ktau_ctx_name(uint8_t ctx)
{
	static const char *const names[] = { "task", "softirq", "hardirq", "nmi" };

	return word(names, NR(names), ctx);
}

const char *ktau_finding_name(enum ktau_finding_code code)
{
	static const char *const names[KTAU_NR_FINDINGS] = {
		"identity", "entry", "open", "backward", "nesting", "slot", "loss", "stream",
	};

	return word(names, NR(names), code);
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
