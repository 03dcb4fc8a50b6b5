// SPDX-License-Identifier: GPL-2.0-only
/* The trace of a program with the serial of the machine's server, and its names. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../../libktau/user/trace_format.h"
#include "fixture.h"
#include "lib/report/region_names.h"

#define AT(ms) (11 * SECOND + (ms)*MS)

/* Work and waits of rank 0, a wait of rank 7, and a call of MPI. */
static const struct ktau__trace_slot slots[] = {
	{ AT(100), 0, 0, KTAU__TRACE_VALUE, 0 },
	{ AT(250), 0, 2, KTAU__TRACE_REGION, 0 },
	{ AT(300), 0, 1, KTAU__TRACE_VALUE, 0 },
	{ AT(350), 0, 1, KTAU__TRACE_REGION, 0 },
	{ AT(500), 0, 0, KTAU__TRACE_VALUE, 0 },
	{ AT(600), 7, 1, KTAU__TRACE_VALUE, 0 },
};

static FILE *create(const char *folder, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.host.1.1", folder, name);
	return fopen(path, "we");
}

static int write_slots(const char *folder, const char *boot)
{
	struct {
		struct ktau__trace_header head;
		struct ktau__trace_slot slots[KTAU__TRACE_MIN_SLOTS];
	} f;
	FILE *file = create(folder, "ktau-user-trace");
	size_t written;

	if (!file)
		return -1;
	memset(&f, 0, sizeof(f));
	f.head.magic = KTAU__TRACE_MAGIC;
	f.head.serial = 10;
	f.head.nr_slots = KTAU__TRACE_MIN_SLOTS;
	f.head.written = sizeof(slots) / sizeof(*slots);
	memcpy(f.head.boot, boot, sizeof(f.head.boot));
	memcpy(f.slots, slots, sizeof(slots));
	written = fwrite(&f, sizeof(f), 1, file);
	return fclose(file) || written != 1 ? -1 : 0;
}

static int write_names(const char *folder, const char *boot)
{
	FILE *file = create(folder, "ktau-user");

	if (!file)
		return -1;
	fprintf(file,
		"ktau-user 1\nboot %s\nserial 10\npid 1\ntid 1\nregion 1 0 main\n"
		"region 2 1 MPI_Send\nevent 0 mpi:work(rank)\nevent 1 mpi:wait(rank)\n",
		boot);
	return fclose(file) ? -1 : 0;
}

int fixture_write_marks(const char *folder)
{
	char boot[37];

	region_names_boot(boot, fixture_boot_id);
	if (mkdir(folder, 0700) || write_slots(folder, boot))
		return -1;
	return write_names(folder, boot);
}
