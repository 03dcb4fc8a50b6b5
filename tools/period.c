// SPDX-License-Identifier: GPL-2.0-only
/*
 * The period of a report.
 *
 * Streams are read once, in order: every one goes into the later snapshot,
 * those up to the beginning of the period into the earlier one as well.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "period.h"

struct reading {
	struct period *p;
	const struct period_select *select;
	uint64_t first_realtime_ns;
	uint64_t boot_ticks, boot_monotonic_ns, boot_realtime_ns;
	bool to_before, to_after;	/* where the present stream goes */
	bool inside;			/* a stream of profiles */
	bool over;			/* the period has ended */
};

static int parse_seconds(const char *text, uint64_t *ns)
{
	char *end;
	double s;

	if (*text < '0' || *text > '9')
		return -1;
	s = strtod(text, &end);
	if (*end || s > 18e9)
		return -1;
	*ns = (uint64_t)(s * 1e9 + 0.5);
	return 0;
}

static int parse_date(const char *text, uint64_t *ns)
{
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d",
	};
	const char *end;
	struct tm tm;
	time_t t;
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		memset(&tm, 0, sizeof(tm));
		tm.tm_isdst = -1;
		end = strptime(text, formats[i], &tm);
		if (!end || *end)
			continue;
		t = mktime(&tm);
		if (t < 0)
			return -1;
		*ns = (uint64_t)t * 1000000000;
		return 0;
	}
	return -1;
}

int moment_parse(const char *text, struct moment *moment)
{
	moment->given = true;
	moment->relative = *text == '+';
	if (*text == '+' || *text == '@')
		return parse_seconds(text + 1, &moment->ns);
	return parse_date(text, &moment->ns);
}

int period_init(struct period *p)
{
	int err;

	memset(p, 0, sizeof(*p));
	err = ktau_snapshot_create(&p->before);
	if (!err)
		err = ktau_snapshot_create(&p->after);
	return err;
}

void period_deinit(struct period *p)
{
	ktau_snapshot_destroy(p->before);
	ktau_snapshot_destroy(p->after);
}

static uint64_t moment_ns(const struct moment *m, const struct reading *r)
{
	return m->relative ? r->first_realtime_ns + m->ns : m->ns;
}

/* Ids, serials and counts begin anew with every boot. */
static void begin_boot(struct reading *r, const struct ktau_rec_stream *s)
{
	struct period *p = r->p;

	if (p->streams && (s->boot_ticks != r->boot_ticks ||
			   s->boot_monotonic_ns != r->boot_monotonic_ns)) {
		ktau_snapshot_clear(p->before);
		ktau_snapshot_clear(p->after);
		p->first = 0;
		p->lost_slots = 0;
		p->reboots++;
	}
	r->boot_ticks = s->boot_ticks;
	r->boot_monotonic_ns = s->boot_monotonic_ns;
	r->boot_realtime_ns = s->boot_realtime_ns;
}

static void begin_stream(struct reading *r, const struct ktau_rec_stream *s)
{
	const struct period_select *select = r->select;
	struct period *p = r->p;
	uint64_t now = s->realtime_ns;

	if (!p->streams)
		r->first_realtime_ns = now;
	if (!r->over)
		begin_boot(r, s);
	p->streams++;
	r->to_before = false;
	switch (select->choice) {
	case PERIOD_ALL:
		r->to_before = !p->first;
		break;
	case PERIOD_BOOT:
		break;
	case PERIOD_NUMBER:
		r->to_before = p->streams < select->number;
		r->over |= p->streams > select->number;
		break;
	case PERIOD_TIMES:
		r->to_before = !p->first ||
			       (select->from.given && now <= moment_ns(&select->from, r));
		r->over |= select->to.given && now > moment_ns(&select->to, r);
		break;
	}
	r->to_before &= !r->over;
	r->to_after = !r->over;
	if (r->to_before) {
		p->first = p->streams;
		p->lost_slots = 0;
	}
	if (r->to_after)
		p->last = p->streams;
}

static int add(struct reading *r, const union ktau_record *record)
{
	int err = 0;

	if (r->to_before)
		err = ktau_snapshot_add(r->p->before, record);
	if (!err && r->to_after)
		err = ktau_snapshot_add(r->p->after, record);
	return err;
}

/* Whoever died before the period and is in the total of the reaped is not needed. */
static int end_stream(struct reading *r, const union ktau_record *record)
{
	int err = add(r, record);

	if (!err && r->to_before)
		err = ktau_snapshot_drop_reaped(r->p->before);
	if (!err && r->to_before)
		err = ktau_snapshot_drop_reaped(r->p->after);
	return err;
}

static int take(struct reading *r, const union ktau_record *record)
{
	struct period *p = r->p;

	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		r->inside = record->stream->content == KTAU_REC_PROFILE;
		if (r->inside)
			begin_stream(r, record->stream);
		break;
	case KTAU_REC_END:
		return r->inside ? end_stream(r, record) : 0;
	case KTAU_REC_TRACE:
		p->traces++;
		if (!r->over)
			p->lost_slots += record->trace->lost;
		return 0;
	}
	return r->inside ? add(r, record) : 0;
}

/*
 * One stream only: all that there is to show is what came before it, unless
 * that is older than what was asked for.
 */
static void begin_with_boot(struct reading *r)
{
	const struct moment *from = &r->select->from;

	if (from->given && r->boot_realtime_ns < moment_ns(from, r))
		return;
	ktau_snapshot_clear(r->p->before);
	r->p->first = 0;
}

int period_read(struct period *p, const struct period_select *select,
		struct ktau_reader *reader, const char *name)
{
	struct reading r = { .p = p, .select = select };
	struct progress progress = { 0 };
	union ktau_record record;
	uint64_t records = 0;
	int err, failed = 0;

	while ((err = ktau_reader_next(reader, &record)) > 0 && !failed) {
		failed = take(&r, &record);
		progress_step(&progress, name, ++records);
	}
	progress_end(&progress);
	if (p->first == p->last)
		begin_with_boot(&r);
	return failed ? failed : err;
}

static int live_snapshot(struct ktau_reader *reader, const struct ktau_query *query,
			 struct ktau_snapshot *snapshot, bool again)
{
	int err = again ? ktau_reader_restart(reader, query) :
			  ktau_reader_open_live(reader, query);

	return err ? err : ktau_snapshot_read(snapshot, reader);
}

int period_live(struct period *p, struct ktau_reader *reader, uint64_t interval_ns)
{
	struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_DEAD | KTAU_TARGET_REAPED |
			  KTAU_TARGET_CPU,
	};
	struct timespec left = {
		.tv_sec = (time_t)(interval_ns / 1000000000),
		.tv_nsec = (long)(interval_ns % 1000000000),
	};
	int err = 0;

	if (interval_ns) {
		err = live_snapshot(reader, &query, p->before, false);
		if (err < 0)
			return err;
		while (nanosleep(&left, &left) && errno == EINTR)
			;
		p->first = p->streams = 1;
	}
	err = live_snapshot(reader, &query, p->after, interval_ns != 0);
	if (err < 0)
		return err;
	p->last = ++p->streams;
	return 0;
}
