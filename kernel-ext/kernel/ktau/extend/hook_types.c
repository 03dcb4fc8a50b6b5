// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: whether a function has all of its arguments in registers.
 *
 * The trampoline calls the function with another return address on the stack, so arguments on
 * the stack would be at the wrong offset. The types of a function are in the kernel's BTF. A
 * function whose interface the compiler has changed has a suffix like ".isra.0", and BTF does
 * not describe it under that name.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "base/compat.h"
#include "hook_types.h"

#define NR_REGISTERS	6
#define ON_STACK	(NR_REGISTERS + 1)	/* as words: too many */

static unsigned int kind_of(const struct btf_type *type)
{
	return BTF_INFO_KIND(type->info);
}

static bool is_struct(const struct btf_type *type)
{
	return kind_of(type) == BTF_KIND_STRUCT || kind_of(type) == BTF_KIND_UNION;
}

/*
 * The number of words that an argument takes. Whether a structure is on the stack depends on
 * its fields, so only structures of a single number or pointer are allowed.
 */
static unsigned int words_of(const struct btf *btf, u32 id)
{
	const struct btf_type *type = btf_type_skip_modifiers(btf, id, NULL);
	unsigned int depth = 0;

	while (type && is_struct(type) && depth++ < 8) {
		if (BTF_INFO_VLEN(type->info) != 1 || type->size > sizeof(long))
			return ON_STACK;
		id = ((const struct btf_member *)(type + 1))->type;
		type = btf_type_skip_modifiers(btf, id, NULL);
	}
	if (!type)
		return ON_STACK;
	switch (kind_of(type)) {
	case BTF_KIND_PTR:
		return 1;
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return DIV_ROUND_UP(type->size, sizeof(long));
	default:
		return ON_STACK;
	}
}

/* The address of a structure that is returned in memory is an argument; any structure may be. */
static unsigned int words_of_result(const struct btf *btf, u32 id)
{
	const struct btf_type *type = id ? btf_type_skip_modifiers(btf, id, NULL) : NULL;

	return type && is_struct(type);
}

/* The words that all arguments of the function type @proto take; -E2BIG if any is on the stack. */
static int words_of_all(const struct btf *btf, const struct btf_type *proto)
{
	const struct btf_param *param = (const struct btf_param *)(proto + 1);
	unsigned int i, words = words_of_result(btf, proto->type);

	for (i = 0; i < BTF_INFO_VLEN(proto->info); i++) {
		if (!param[i].type)	/* "..." */
			return -E2BIG;
		words += words_of(btf, param[i].type);
		if (words > NR_REGISTERS)
			return -E2BIG;
	}
	return words;
}

/* In 7.3, BTF describes a kfunc without the arguments that the verifier adds: see NAME_impl. */
static bool is_called(const char *function, const char *name)
{
	const size_t len = str_has_prefix(function, name);

	return len && (!function[len] || !strcmp(function + len, "_impl"));
}

/*
 * Check each function called @name. BTF may have several, even if all but one have been
 * inlined. @id: the first type. Return: the most words that any of them takes, or -errno.
 */
static int check(const struct btf *btf, u32 id, const char *name)
{
	const struct btf_type *type, *proto;
	u32 nr = btf_nr_types(btf);
	int words, most = -ENOENT;

	for (; id < nr; id++) {
		type = btf_type_by_id(btf, id);
		if (kind_of(type) != BTF_KIND_FUNC ||
		    !is_called(btf_name_by_offset(btf, type->name_off), name))
			continue;
		proto = btf_type_by_id(btf, type->type);
		/* The BTF of a module may have been made for another build of the kernel. */
		if (!proto || kind_of(proto) != BTF_KIND_FUNC_PROTO)
			return -ENOENT;
		words = words_of_all(btf, proto);
		if (words < 0)
			return words;
		most = max(most, words);
	}
	return most;
}

/**
 * struct alias - the search for another name of a function
 * @btf: the types
 * @fn: the function
 * @words: the result of check() for the last name
 */
struct alias {
	const struct btf *btf;
	unsigned long fn;
	int words;
};

static int check_alias(void *data, const char *name, unsigned long address)
{
	struct alias *alias = data;

	if (address == alias->fn)
		alias->words = check(alias->btf, 1, name);
	return address > alias->fn || alias->words != -ENOENT;
}

/* The types of a module follow those of the kernel, @nr_kernel. */
static int check_module(const struct module *module, u32 nr_kernel, const char *name)
{
	struct btf *btf = btf_get_module_btf(module);
	int words;

	if (IS_ERR_OR_NULL(btf))
		return -ENOENT;
	words = check(btf, nr_kernel, name);
	btf_put(btf);
	return words;
}

/**
 * ktau_hook_types() - check the arguments of a function
 * @module: its module, which is not unloaded meanwhile; NULL for the kernel itself
 *
 * Some functions, such as those of some system calls, have several names, and BTF has only one
 * of them.
 *
 * Context: May sleep.
 * Return: The number of registers that the arguments take; -E2BIG if some are, or may be, on
 * the stack; -ENOENT if the types of the function are not known.
 */
int ktau_hook_types(const char *name, unsigned long fn, const struct module *module)
{
	const struct btf *btf = bpf_get_btf_vmlinux();
	struct alias alias = { .btf = btf, .fn = fn };

	if (IS_ERR_OR_NULL(btf))
		return -ENOENT;
	if (module)
		return check_module(module, btf_nr_types(btf), name);
	alias.words = check(btf, 1, name);
	if (alias.words == -ENOENT)
		ktau_each_symbol(check_alias, &alias);
	return alias.words;
}
