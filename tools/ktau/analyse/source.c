// SPDX-License-Identifier: GPL-2.0-only
/* Reading files into a period. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cli.h"
#include "lib/live.h"
#include "source.h"

const char *source_read_once(char *const *files, int nr_files)
{
	struct stat st;
	int i;

	for (i = 0; i < nr_files; i++) {
		if (!strcmp(files[i], "-"))
			return "standard input";
		if (!stat(files[i], &st) &&
		    (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode)))
			return files[i];
	}
	return NULL;
}

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
		if (file)
			cli_reader_failed(reader, err);
		else
			live_failed(reader, err);
	}
}

static int read_file(struct period *period, struct ktau_reader *reader, const char *file)
{
	int err;

	if (period_open(period, reader, file)) {
		complain("%s", ktau_reader_error(reader));
		return CLI_FAILED;
	}
	err = period_read(period, reader, file);
	if (err)
		source_failed(reader, file, err);
	return err ? CLI_FAILED : CLI_DONE;
}

/* Return: CLOCK_REALTIME of the first stream of profiles of @host (NULL: any); 0: none. */
static uint64_t first_stream_in(const char *file, const char *host)
{
	struct host_filter filter = { .host = host };
	struct ktau_reader *reader;
	union ktau_record record;
	uint64_t ns = 0;

	if (ktau_reader_create(&reader))
		return 0;
	if (!ktau_reader_open_file(reader, file)) {
		while (!ns && ktau_reader_next(reader, &record) > 0)
			if (record.rec->type == KTAU_REC_STREAM &&
			    record.stream->content == KTAU_REC_PROFILE &&
			    host_is_selected(&filter, record.stream))
				ns = record.stream->realtime_ns;
	}
	ktau_reader_destroy(reader);
	return ns;
}

/*
 * The time of the first stream, if relative times need it. 0 if a pipe comes first, because that
 * can be read only once: the time is then taken from what is read.
 */
static uint64_t first_stream(const struct period_select *select, char *const *files, int nr_files)
{
	uint64_t ns = 0;
	int i;

	if (select->choice != PERIOD_TIMES || !select->from.relative)
		return 0;
	for (i = 0; !ns && i < nr_files && !source_read_once(&files[i], 1); i++)
		ns = first_stream_in(files[i], select->host);
	return ns;
}

static int read_all(struct period *period, char *const *files, int nr_files,
		    struct ktau_reader **reader)
{
	struct ktau_reader *next, *done;
	int status = CLI_DONE, i;
	uint64_t last;

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
	return status;
}

int source_read_files(struct period *period, const struct period_select *select,
		      char *const *files, int nr_files, struct ktau_reader **reader)
{
	int status;

	period_start(period, select, first_stream(select, files, nr_files));
	/* If a part turned out to be missing, a pipe could not be read again. */
	if (source_read_once(files, nr_files))
		period_read_whole(period);
	status = read_all(period, files, nr_files, reader);
	if (period_needs_all(period)) {
		period_restart(period);
		status = read_all(period, files, nr_files, reader);
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
