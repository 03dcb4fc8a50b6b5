// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"

#define ORACLE "/proc/oracle"
#define MAX_TASKS 8192

static struct oracle_task tasks[MAX_TASKS];
static unsigned int nr_tasks;

static FILE *open_oracle(const char *mode)
{
	FILE *file = fopen(ORACLE, mode);

	if (!file) {
		perror("coverage: precise accounting is not active: " ORACLE);
		exit(1);
	}
	return file;
}

void oracle_clear(void)
{
	FILE *file = open_oracle("w");

	fputs("clear\n", file);
	if (fclose(file)) {
		perror(ORACLE);
		exit(1);
	}
}

void oracle_read(void)
{
	FILE *file = open_oracle("r");
	struct oracle_task t;

	nr_tasks = 0;
	while (fscanf(file,
		      "%" SCNd32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		      " %" SCNu64,
		      &t.tid, &t.utime, &t.stime, &t.gtime, &t.runtime, &t.transitions,
		      &t.switches) == 7) {
		if (nr_tasks == MAX_TASKS) {
			fputs("coverage: too many tasks in " ORACLE "\n", stderr);
			exit(1);
		}
		tasks[nr_tasks++] = t;
	}
	fclose(file);
}

const struct oracle_task *oracle_find(int32_t tid)
{
	for (unsigned int i = 0; i < nr_tasks; i++)
		if (tasks[i].tid == tid)
			return &tasks[i];
	return NULL;
}
