// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "lib/cli.h"
#include "records.h"

static int read_all(struct ktau_reader *reader, const char *file, records_take *take, void *arg)
{
	struct progress progress = { 0 };
	union ktau_record record;
	uint64_t records = 0;
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		progress_step(&progress, file, ++records);
		err = take(arg, reader, &record);
		if (err)
			break;
	}
	progress_end(&progress);
	return err;
}

static void failed(const struct ktau_reader *reader, const char *file, int err)
{
	if (err == -ESTALE)
		complain("%s: begins before the previous file ended; files must be in time order",
			 file);
	else if (err == -EXDEV)
		complain("%s: is from a different boot or machine than what precedes it; "
			 "select a machine with --host=NAME",
			 file);
	else
		cli_reader_failed(reader, err);
}

int records_read(const char *file, bool again, records_take *take, void *arg)
{
	struct ktau_reader *reader;
	int err;

	if (ktau_reader_create(&reader)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	err = ktau_reader_open_file(reader, file);
	if (err && !again)
		complain("%s", ktau_reader_error(reader));
	if (!err) {
		err = read_all(reader, file, take, arg);
		if (err && !again)
			failed(reader, file, err);
	}
	ktau_reader_destroy(reader);
	return err ? CLI_FAILED : CLI_DONE;
}
