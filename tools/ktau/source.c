// SPDX-License-Identifier: GPL-2.0-only
/* Reading files into a period. */
#include <errno.h>
#include <inttypes.h>

#include "cli.h"
#include "source.h"

void source_failed(const struct ktau_reader *reader, const char *file, int err)
{
	switch (err) {
	case -ENOMEM:
		complain("out of memory");
		break;
	case -ESTALE:
		complain("%s: begins before the previous file ended; files must be in time order",
			 file);
		break;
	case -EXDEV:
		complain("%s: is from a different machine than the previous stream; select one "
			 "with --host=NAME",
			 file);
		break;
	default:
		cli_reader_failed(reader, err);
	}
}

static int read_file(struct period *period, struct ktau_reader *reader, const char *file)
{
	int err;

	if (ktau_reader_open_file(reader, file)) {
		complain("%s", ktau_reader_error(reader));
		return CLI_FAILED;
	}
	err = period_read(period, reader, file);
	if (err)
		source_failed(reader, file, err);
	return err ? CLI_FAILED : CLI_DONE;
}

int source_read_files(struct period *period, const struct period_select *select,
		      char *const *files, int nr_files, struct ktau_reader **reader)
{
	struct ktau_reader *next, *done;
	int status = CLI_DONE, i;
	uint64_t last;

	period_start(period, select);
	for (i = 0; i < nr_files; i++) {
		last = period->last;
		if (ktau_reader_create(&next)) {
			complain("out of memory");
			return CLI_FAILED;
		}
		status |= read_file(period, next, files[i]);
		done = next;
		if (period->last != last) {
			done = *reader;
			*reader = next;
		}
		ktau_reader_destroy(done);
	}
	period_stop(period);
	return status;
}

bool source_has_period(const struct period *p, const struct period_select *select,
		       const char *source)
{
	if (!p->streams && select->host)
		complain("%s: contains no profiles of host %s", source, select->host);
	else if (!p->streams && p->traces)
		complain("%s: contains no profiles, only traces (ktau dump shows them)", source);
	else if (!p->streams)
		complain("%s: contains no profiles", source);
	else if (select->choice == PERIOD_NUMBER && p->last != select->number)
		complain("%s: no period %" PRIu64 ", it has %" PRIu64 " streams", source,
			 select->number, p->streams);
	else if (!p->last)
		complain("%s: no stream before --to", source);
	else if (p->first == p->last)
		complain("%s: no stream between --from and --to", source);
	else
		return true;
	return false;
}
