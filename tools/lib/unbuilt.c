// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include <ktau.h>

#include "cli.h"
#include "unbuilt.h"

static const struct {
	const char *option, *name;
	uint32_t bit;
} groups[] = {
#define KTAU_GROUP(symbol, name, bit) { "KTAU_" #symbol, #name, 1U << (bit) },
#include <linux/ktau_groups.h>
};

const char *unbuilt_option(const char *words, uint32_t built, const char **name)
{
	size_t i, bytes;

	/* The names of keys, such as groups=, are not those of groups. */
	for (;; words += bytes) {
		words += strspn(words, " \t\n,+-=");
		bytes = strcspn(words, " \t\n,+-=");
		if (!bytes)
			return NULL;
		for (i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
			if (strlen(groups[i].name) != bytes ||
			    strncmp(groups[i].name, words, bytes) ||
			    groups[i].bit & built)
				continue;
			*name = groups[i].name;
			return groups[i].option;
		}
	}
}

bool unbuilt_complain(const char *words)
{
	struct ktau_info info;
	const char *name, *option;

	if (ktau_info_read(-1, &info))
		return false;
	option = unbuilt_option(words, info.groups_built, &name);
	if (option)
		complain("this kernel does not have the group %s: boot a kernel with CONFIG_%s",
			 name, option);
	return option;
}
