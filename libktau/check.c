// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Are records consistent with themselves and with each other? Streams have an END
 * that counts them, and what records refer to has been described.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

int ktau_check_create(struct ktau_check **check, ktau_finding_fn found, void *arg)
{
	*check = calloc(1, sizeof(**check));
	if (!*check)
		return -ENOMEM;
	(*check)->found = found;
	(*check)->arg = arg;
	return 0;
}

void ktau_check_destroy(struct ktau_check *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->nr_owners; i++)
		free(c->owners[i].stack);
	free(c->owners);
	ktau__map_free(&c->by_serial);
	ktau__map_free(&c->cgroups);
	ktau__registry_free(&c->described);
	free(c);
}

void ktau__finding(struct ktau_check *c, enum ktau_finding_code code, uint64_t serial,
		   uint64_t number, const char *format, ...)
{
	struct ktau_finding finding = {
		.code = code, .serial = serial, .number = number,
		.owner = serial ? ktau__check_owner(c, serial) : NULL,
	};
	char text[256];
	va_list args;

	c->counts.findings[code]++;
	if (!c->found)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	finding.text = text;
	c->found(c->arg, &finding);
}

const struct ktau_rec_owner *ktau__check_owner(const struct ktau_check *c, uint64_t serial)
{
	return ktau__registry_find(&c->described, serial);
}

static bool is_task(const struct ktau_rec_owner *owner)
{
	return owner && (owner->kind == KTAU_OWNER_TASK || owner->kind == KTAU_OWNER_EXITED);
}

static int get_owner(struct ktau_check *c, uint64_t serial, struct check_owner **state)
{
	size_t at = ktau__map_get(&c->by_serial, serial);
	size_t room = c->room ? c->room * 2 : 64;
	struct check_owner *owners;
	int err;

	if (at != KTAU__MAP_NONE) {
		*state = &c->owners[at];
		return 0;
	}
	if (c->nr_owners == c->room) {
		owners = reallocarray(c->owners, room, sizeof(*owners));
		if (!owners)
			return -ENOMEM;
		c->owners = owners;
		c->room = room;
	}
	err = ktau__map_put(&c->by_serial, serial, c->nr_owners);
	if (err)
		return err;
	*state = &c->owners[c->nr_owners++];
	memset(*state, 0, sizeof(**state));
	c->counts.tasks += is_task(ktau__check_owner(c, serial));
	return 0;
}

/* Each id is reported once. */
void ktau__check_event(struct ktau_check *c, uint64_t serial, uint32_t id)
{
	uint8_t bit = 1 << id % 8;

	if (c->blind || c->events[id / 8] & bit)
		return;
	c->events[id / 8] |= bit;
	ktau__finding(c, KTAU_FINDING_REFERENCE, serial, id,
		      "event %u: no EVENT record before its use", id);
}

static int check_described(struct ktau_check *c, const struct ktau_rec_owner *owner)
{
	int err = ktau__registry_put(&c->described, owner->serial, owner);

	c->counts.unknown += owner->kind > KTAU_OWNER_EVICTED;
	if (err || c->blind || !owner->cgroup ||
	    ktau__map_get(&c->cgroups, owner->cgroup) != KTAU__MAP_NONE)
		return err;
	ktau__finding(c, KTAU_FINDING_REFERENCE, owner->serial, 0,
		      "control group %llu: no CGROUP record before its use", owner->cgroup);
	return ktau__map_put(&c->cgroups, owner->cgroup, 0);
}

static int check_owned(struct ktau_check *c, const union ktau_record *record)
{
	bool is_trace = record->rec->type == KTAU_REC_TRACE;
	uint64_t serial = is_trace ? record->trace->serial : record->profile->serial;
	struct check_owner *state;
	int err;

	c->nr_records++;
	if (!c->gap && (!c->in_stream || is_trace != (c->stream.content == KTAU_REC_TRACE)))
		ktau__finding(c, KTAU_FINDING_STREAM, serial, 0,
			      "%s record in no stream of its kind",
			      is_trace ? "trace" : "profile");
	if (!c->gap && !ktau__check_owner(c, serial))
		ktau__finding(c, KTAU_FINDING_REFERENCE, serial, 0,
			      "%s of serial %llu: no OWNER record before it in the stream",
			      is_trace ? "trace" : "profile", (unsigned long long)serial);
	err = get_owner(c, serial, &state);
	if (err)
		return err;
	if (is_trace)
		return ktau__check_trace(c, state, record->trace);
	ktau__check_profile(c, state, record->profile);
	return 0;
}

/* Ids are of one boot, counters are since boot. */
static void begin_boot(struct ktau_check *c)
{
	memset(c->events, 0, sizeof(c->events));
	ktau__map_clear(&c->cgroups);
	c->has_end = false;
}

static void begin_stream(struct ktau_check *c, const struct ktau_rec_stream *stream)
{
	if (c->in_stream && !c->gap)
		ktau__finding(c, KTAU_FINDING_STREAM, 0, 0, "stream without END");
	if (c->counts.streams && !ktau_same_boot(&c->stream, stream))
		begin_boot(c);
	ktau__registry_clear(&c->described);
	c->counts.streams++;
	c->stream = *stream;
	c->in_stream = true;
	c->gap = false;
	c->nr_records = 0;
	c->lost_to_ticks = 0;
}

/* What the counters gained since the first END: what was lost before is not of this file. */
static void count_losses(struct ktau_check *c, const struct ktau_rec_end *end)
{
	uint64_t before, now;
	unsigned int i;

	for (i = 0; c->has_end && i < KTAU_NR_LOSSES; i++) {
		before = ktau_loss_value(&c->end, i);
		now = ktau_loss_value(end, i);
		c->counts.losses[i] += now > before ? now - before : 0;
	}
	c->end = *end;
	c->has_end = true;
	c->denied[c->stream.content == KTAU_REC_TRACE] = end->denied;
	c->counts.denied = c->denied[0] + c->denied[1];
}

static void end_stream(struct ktau_check *c, const struct ktau_rec_end *end)
{
	if (!c->gap && !c->in_stream)
		ktau__finding(c, KTAU_FINDING_STREAM, 0, 0, "END without stream");
	else if (!c->gap && end->nr_records != c->nr_records)
		ktau__finding(c, KTAU_FINDING_STREAM, 0, end->nr_records,
			      "stream of %llu records, its END says %llu",
			      c->nr_records, end->nr_records);
	if (!c->gap && c->in_stream && end->cut_ticks < c->lost_to_ticks)
		ktau__finding(c, KTAU_FINDING_LOSS, 0, end->cut_ticks,
			      "all rings complete from %llu, but slots lost up to %llu",
			      end->cut_ticks, c->lost_to_ticks);
	count_losses(c, end);
	c->in_stream = false;
	c->gap = false;
}

static int check_one(struct ktau_check *c, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		begin_stream(c, record->stream);
		return 0;
	case KTAU_REC_END:
		end_stream(c, record->end);
		return 0;
	case KTAU_REC_EVENT:
		c->events[record->event->id / 8] |= 1 << record->event->id % 8;
		return 0;
	case KTAU_REC_CGROUP:
		return ktau__map_put(&c->cgroups, record->cgroup->id, 0);
	case KTAU_REC_OWNER:
		return check_described(c, record->owner);
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
	case KTAU_REC_TRACE:
		return check_owned(c, record);
	default:
		return 0;
	}
}

int ktau_check_record(struct ktau_check *c, const union ktau_record *record)
{
	uint64_t before = 0, after = 0;
	int i, err;

	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		before += c->counts.findings[i];
	err = check_one(c, record);
	if (err)
		return err;
	for (i = 0; i < KTAU_NR_FINDINGS; i++)
		after += c->counts.findings[i];
	return ktau__min(after - before, INT32_MAX);
}

void ktau_check_gap(struct ktau_check *c)
{
	size_t i;

	c->gap = true;
	c->blind = true;
	for (i = 0; i < c->nr_owners; i++) {
		c->owners[i].has_trace = false;
		c->owners[i].has_exited = false;
		c->owners[i].depth = 0;
	}
}

const struct ktau_check_counts *ktau_check_counts(const struct ktau_check *c)
{
	return &c->counts;
}
