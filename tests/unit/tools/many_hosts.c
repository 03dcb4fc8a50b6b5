// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make the files of many hosts from a recording of one.
 *
 *	many_hosts SOURCE DIR HOSTS STRETCH [HOST ROUTINE FACTOR PERIOD]
 *
 * Writes DIR/nodeNNNN/nodeNNNN.ktau, NNNN from 0000 on. Time passes STRETCH times as slowly as in
 * the recording, from the start of an hour on, which leaves all shares as they are. The times of
 * each routine differ from host to host, with a standard deviation of 5 %. On HOST, the times of
 * ROUTINE are also multiplied by FACTOR, from the end of period PERIOD on, counted from 0. The sums
 * in the records are left as they are, so ktau check reports the changed times.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ktau.h>

#define SECOND		1000000000ULL
#define START_NS	(1790000000ULL / 3600 * 3600 * SECOND)
#define MAX_RECORD	(1 << 20)

struct planted {
	uint64_t host;
	const char *routine;
	double factor;
	uint64_t period;
};

/**
 * struct copy - a host being written
 * @number: number of the host
 * @stretch: see above
 * @planted: the outlier
 * @reader: the recording
 * @writer: the file of the host
 * @first: first STREAM record of the recording; magic 0: none yet
 * @nr_streams: number of profile streams so far
 * @inside: the records belong to a profile stream
 */
struct copy {
	uint64_t number, stretch;
	const struct planted *planted;
	struct ktau_reader *reader;
	struct ktau_writer *writer;
	struct ktau_rec_stream first;
	uint64_t nr_streams;
	bool inside;
};

static void failed(const char *what, const char *why)
{
	fprintf(stderr, "many_hosts: %s: %s\n", what, why);
	exit(1);
}

/* The same numbers in every run: splitmix64, to [0, 1). */
static double uniform(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

/* Normally distributed, nearly: mean 1, standard deviation 0.05. */
static double variation(uint64_t host, uint32_t id)
{
	uint64_t state = host << 32 | id;
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++)
		sum += uniform(&state);
	return 1 + 0.05 * sum;
}

static double factor_of(const struct copy *c, uint32_t id)
{
	const struct ktau_rec_event *event = ktau_events_find(ktau_reader_events(c->reader), id);
	double factor = variation(c->number, id);

	if (c->planted && event && c->number == c->planted->host &&
	    c->nr_streams > c->planted->period + 1 &&
	    !strcmp(ktau_display_name(ktau_event_name(event)), c->planted->routine))
		factor *= c->planted->factor;
	return factor;
}

static void scale(const struct copy *c, struct ktau_rec_profile *p)
{
	struct ktau_entry *e = (struct ktau_entry *)((char *)p + p->rec.head);
	struct ktau_entry *end = e + p->nr_entries;
	double factor;

	for (; e < end; e++) {
		if (e->kind != KTAU_KIND_TIMER)
			continue;
		factor = factor_of(c, e->id);
		e->incl = (uint64_t)((double)e->incl * factor);
		e->excl = (uint64_t)((double)e->excl * factor);
	}
}

static void open_file(struct copy *c, const struct ktau_rec_stream *stream, const char *dir)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, stream->nodename);
	if (mkdir(path, 0777) && errno != EEXIST)
		failed(path, strerror(errno));
	snprintf(path, sizeof(path), "%s/%s/%s.ktau", dir, stream->nodename, stream->nodename);
	if (ktau_writer_create(&c->writer) ||
	    ktau_writer_open(c->writer, path, KTAU_WRITER_ZLIB | KTAU_WRITER_DELTA,
			     stream->boot_id))
		failed(path, ktau_writer_error(c->writer));
}

/* The host's name and boot, and a clock that runs more slowly. */
static void change_stream(struct copy *c, struct ktau_rec_stream *stream, const char *dir)
{
	uint64_t ns, boot_ns;
	double ns_per_tick = 1e9 * (double)c->stretch / (double)stream->clock_hz;

	c->inside = stream->content == KTAU_REC_PROFILE;
	if (!c->inside)
		return;
	if (!c->first.magic)
		c->first = *stream;
	ns = (uint64_t)((double)(stream->ticks - c->first.ticks) * ns_per_tick);
	boot_ns = (uint64_t)((double)(c->first.ticks - stream->boot_ticks) * ns_per_tick);
	snprintf(stream->nodename, sizeof(stream->nodename), "node%04" PRIu64, c->number);
	memcpy(stream->boot_id, &c->number, sizeof(c->number));
	stream->clock_hz /= c->stretch;
	stream->realtime_ns = START_NS + ns;
	stream->monotonic_ns = c->first.monotonic_ns + ns;
	stream->boottime_ns = c->first.boottime_ns + ns;
	stream->tai_ns = START_NS + 37 * SECOND + ns;
	stream->boot_realtime_ns = START_NS - boot_ns;
	c->nr_streams++;
	if (!c->writer)
		open_file(c, stream, dir);
}

static void put(struct copy *c, const union ktau_record *from, const char *dir)
{
	static union {
		struct ktau_rec rec;
		struct ktau_rec_stream stream;
		struct ktau_rec_profile profile;
		char bytes[MAX_RECORD];
	} copy;

	if (from->rec->size > MAX_RECORD)
		failed("a record", "too long");
	memcpy(&copy, from->rec, from->rec->size);
	if (copy.rec.type == KTAU_REC_STREAM)
		change_stream(c, &copy.stream, dir);
	if (copy.rec.type == KTAU_REC_PROFILE || copy.rec.type == KTAU_REC_DIFF)
		scale(c, &copy.profile);
	if (c->inside && ktau_writer_put(c->writer, &copy))
		failed("put", ktau_writer_error(c->writer));
}

static void write_host(struct copy *c, const char *source, const char *dir)
{
	union ktau_record record;
	int err;

	if (ktau_reader_create(&c->reader) || ktau_reader_open_file(c->reader, source))
		failed(source, ktau_reader_error(c->reader));
	while ((err = ktau_reader_next(c->reader, &record)) > 0)
		put(c, &record, dir);
	if (err || !c->writer)
		failed(source, err ? ktau_reader_error(c->reader) : "no profiles");
	if (ktau_writer_close(c->writer))
		failed("close", ktau_writer_error(c->writer));
	ktau_writer_destroy(c->writer);
	ktau_reader_destroy(c->reader);
}

int main(int argc, char **argv)
{
	struct planted planted = { 0 };
	uint64_t nr, i;

	if (argc != 5 && argc != 9) {
		fputs("usage: many_hosts SOURCE DIR HOSTS STRETCH [HOST ROUTINE FACTOR PERIOD]\n",
		      stderr);
		return 2;
	}
	nr = strtoull(argv[3], NULL, 10);
	if (argc == 9)
		planted = (struct planted){
			strtoull(argv[5], NULL, 10), argv[6], strtod(argv[7], NULL),
			strtoull(argv[8], NULL, 10),
		};
	for (i = 0; i < nr; i++) {
		struct copy c = {
			.number = i, .stretch = strtoull(argv[4], NULL, 10),
			.planted = argc == 9 ? &planted : NULL,
		};

		write_host(&c, argv[1], argv[2]);
	}
	return 0;
}
