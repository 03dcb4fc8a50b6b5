// SPDX-License-Identifier: GPL-2.0-only
/* The words accepted by the options of a report. */
#include <string.h>

#include "report_options.h"

static const struct {
	const char *word;
	unsigned int bit;
} table_words[] = {
	{ "account", REPORT_ACCOUNT },	   { "waits", REPORT_WAITS },
	{ "processes", REPORT_PROCESSES }, { "counters", REPORT_COUNTERS },
	{ "total", REPORT_TOTAL },	   { "cpus", REPORT_CPUS },
	{ "losses", REPORT_LOSSES },	   { "cpu_account", REPORT_CPU_ACCOUNT },
	{ "interrupts", REPORT_INTERRUPTS }, { "regions", REPORT_REGIONS },
	{ "all", REPORT_ALL },
};

static unsigned int table_bit(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(table_words) / sizeof(*table_words); i++)
		if (strlen(table_words[i].word) == length &&
		    !strncmp(table_words[i].word, word, length))
			return table_words[i].bit;
	return 0;
}

int report_parse_tables(const char *words, unsigned int *tables)
{
	unsigned int bit;
	size_t length;

	*tables = 0;
	for (;;) {
		length = strcspn(words, ",");
		bit = table_bit(words, length);
		if (!bit)
			return -1;
		*tables |= bit;
		if (!words[length])
			return 0;
		words += length + 1;
	}
}

int report_parse_sort(const char *word, enum report_sort *sort)
{
	static const char *const words[] = {
		[SORT_EXCL] = "excl", [SORT_INCL] = "incl", [SORT_COUNT] = "count",
		[SORT_NAME] = "name",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(word, words[i])) {
			*sort = (enum report_sort)i;
			return 0;
		}
	}
	return -1;
}

int report_parse_by(const char *word, enum aggregate_by *by)
{
	static const char *const words[] = {
		[BY_PROCESS] = "process", [BY_THREAD] = "thread", [BY_NAME] = "name",
		[BY_CGROUP] = "cgroup", [BY_USER] = "user",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(word, words[i])) {
			*by = (enum aggregate_by)i;
			return 0;
		}
	}
	return -1;
}
