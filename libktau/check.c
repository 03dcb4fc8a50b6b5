// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that records are consistent with themselves and with each other: the table of rules,
 * the owners, and the streams that contain them.
 */
#include <stdlib.h>

#include "check_state.h"
#include "profile.h"

/* By the code of its findings. */
_Static_assert(KTAU_NR_FINDINGS <= KTAU_CHECK_ROOM && KTAU_NR_LOSSES <= KTAU_CHECK_ROOM,
	       "KTAU_CHECK_ROOM");

static const struct check_rule rules[KTAU_NR_FINDINGS] = {
	[KTAU_FINDING_IDENTITY] = {
		"identity", "exclusive times add up to the durations of the outermost frames",
		ktau__check_identity, false,
	},
	[KTAU_FINDING_ENTRY] = {
		"entry", "ids ascend, minimum <= maximum, exclusive <= inclusive time",
		ktau__check_entries, false,
	},
	[KTAU_FINDING_OPEN] = {
		"open", "frames in flight agree with the depth, their times and each other",
		ktau__check_open, false,
	},
	[KTAU_FINDING_ACCOUNT] = {
		"account", "user + kernel + irq + runq + asleep + guest = life, and = period",
		ktau__check_account, true,
	},
	[KTAU_FINDING_LONGEST] = {
		"longest", "mean <= longest activation <= inclusive time, also of a period",
		ktau__check_longest, true,
	},
	[KTAU_FINDING_INSIDE] = {
		"inside", "asleep + runq + irq <= inclusive time <= life, also of a period",
		ktau__check_inside, true,
	},
	[KTAU_FINDING_BACKWARD] = {
		"backward", "no count, time, part of the account or longest activation falls",
		ktau__check_backward, true,
	},
	[KTAU_FINDING_BUSY] = {
		"busy", "in each period, all tasks ran for as long as all CPUs were busy",
		NULL, false,
	},
	[KTAU_FINDING_NESTING] = {
		"nesting", "in a trace, an exit closes the innermost frame",
		NULL, false,
	},
	[KTAU_FINDING_SLOT] = {
		"slot", "slots are valid and in the order of their times",
		NULL, false,
	},
	[KTAU_FINDING_LOSS] = {
		"loss", "positions of a ring continue, or the slots between them are lost",
		NULL, false,
	},
	[KTAU_FINDING_STREAM] = {
		"stream", "streams are complete and in order, their counters do not decrease",
		NULL, false,
	},
	[KTAU_FINDING_REFERENCE] = {
		"reference", "owners, events and control groups are described before their use",
		NULL, false,
	},
};

const char *ktau_finding_name(enum ktau_finding_code code)
{
	return code < KTAU_NR_FINDINGS ? rules[code].name : NULL;
}

const char *ktau_finding_meaning(enum ktau_finding_code code)
{
	return code < KTAU_NR_FINDINGS ? rules[code].meaning : NULL;
}

int ktau_check_create(struct ktau_check **check, ktau_finding_fn found, void *arg)
{
	*check = calloc(1, sizeof(**check));
	if (!*check)
		return -ENOMEM;
	(*check)->found = found;
	(*check)->arg = arg;
	return 0;
}

static void free_owner(struct check_owner *owner)
{
	free(owner->stack);
	ktau_record_free(owner->last);
}

static void clear_owners(struct ktau_check *c)
{
	while (c->nr_owners)
		free_owner(&c->owners[--c->nr_owners]);
	ktau__map_clear(&c->by_serial);
	c->machine = (struct check_machine){ 0 };
}

void ktau_check_destroy(struct ktau_check *c)
{
	if (!c)
		return;
	clear_owners(c);
	free(c->owners);
	ktau__map_free(&c->by_serial);
	ktau__map_free(&c->cgroups);
	ktau__registry_free(&c->described);
	free(c);
}

/*
 * Owners
 */

static void forget_trace(struct ktau_check *c, struct check_owner *owner)
{
	free(owner->stack);
	owner->stack = NULL;
	owner->depth = owner->room = 0;
	owner->trace_stream = 0;
	c->has_unknown = true;
	owner->has_trace = owner->has_consumed = owner->has_exited = false;
}

static bool is_exited(const struct check_owner *owner)
{
	return owner->described.kind == KTAU_OWNER_EXITED && owner->profile_stream;
}

/*
 * Forget what no later record can be about: the profile and the trace of an exited task that the
 * streams to come leave out. Its running time stays in the machine's sum until the task is part of
 * another record.
 */
static void forget_exited(struct ktau_check *c)
{
	const bool is_trace = c->stream.content == KTAU_REC_TRACE;
	const uint64_t since = c->stream.exited_since;
	struct check_owner *owner;

	if (!since || !c->nr_owners)
		return;
	for (owner = c->owners; owner < c->owners + c->nr_owners; owner++) {
		if (is_trace && owner->has_exited && owner->exited_seq < since)
			forget_trace(c, owner);
		if (is_trace || !owner->last || !is_exited(owner) ||
		    owner->described.exited_seq >= since)
			continue;
		ktau_record_free(owner->last);
		owner->last = NULL;
	}
}

/* Remove owners of which nothing is known any more. 0, -ENOMEM. */
static int sweep(struct ktau_check *c)
{
	size_t from, to = 0;
	int err = 0;

	if (!c->has_unknown)
		return 0;
	c->has_unknown = false;
	for (from = 0; from < c->nr_owners; from++) {
		if (c->owners[from].profile_stream || c->owners[from].trace_stream)
			c->owners[to++] = c->owners[from];
		else
			free_owner(&c->owners[from]);
	}
	if (to == c->nr_owners)
		return 0;
	c->nr_owners = to;
	ktau__map_clear(&c->by_serial);
	for (to = 0; !err && to < c->nr_owners; to++)
		err = ktau__map_put(&c->by_serial, c->owners[to].serial, to);
	return err;
}

static void check_gone(struct ktau_check *c, const struct ktau_rec_gone *gone)
{
	const uint64_t *serials = ktau_gone_serials(gone);
	uint32_t i;
	size_t at;

	for (i = 0; i < gone->nr_serials; i++) {
		at = ktau__map_get(&c->by_serial, serials[i]);
		if (at == KTAU__MAP_NONE)
			continue;
		ktau__check_machine_gone(c, &c->owners[at]);
		forget_trace(c, &c->owners[at]);
	}
}

/*
 * References
 */

static int check_described(struct ktau_check *c, const struct ktau_rec_owner *owner)
{
	int err = ktau__registry_put(&c->described, owner->serial, owner);

	c->counts.unknown += owner->kind > KTAU_OWNER_EVICTED;
	if (err || c->blind || !owner->cgroup ||
	    ktau__map_get(&c->cgroups, owner->cgroup) != KTAU__MAP_NONE)
		return err;
	ktau__check_report(c, KTAU_FINDING_REFERENCE, owner->serial, 0,
			   "control group %llu: no CGROUP record before its use", owner->cgroup);
	return ktau__map_put(&c->cgroups, owner->cgroup, 0);
}

/*
 * Profiles: the one so far
 */

/* A DIFF has the longest activation, minima and maxima as they are now. */
static void take_absolute(struct ktau_rec_profile *now, const struct ktau_rec_profile *record)
{
	const struct ktau_entry *from = ktau_profile_entries(record);
	struct ktau_entry *to;
	uint32_t i;

	for (i = 0; i < record->nr_entries; i++) {
		to = (struct ktau_entry *)ktau_profile_find(now, from[i].id);
		if (!to || to->kind != from[i].kind)
			continue;
		to->longest = from[i].longest;
		if (from[i].kind == KTAU_KIND_COUNTER)
			to->min = from[i].min;
	}
}

/* The whole profile after @record. 0 with *@now NULL if it is not known; -ENOMEM. */
static int whole(const struct ktau_check *c, const struct check_owner *owner,
		 const struct ktau_rec_profile *record, struct ktau_rec_profile **now)
{
	struct ktau_rec_profile *diff = NULL;
	int err;

	*now = NULL;
	if (record->rec.type == KTAU_REC_PROFILE || (!owner->is_base && !c->blind))
		return ktau__profile_copy(record, now);
	if (!owner->is_base || !owner->last)
		return 0;
	*now = ktau_record_dup(owner->last);
	err = *now ? 0 : -ENOMEM;
	if (!err && !ktau__profile_ordered(record)) {
		err = ktau__profile_copy(record, &diff);
		record = diff;
	}
	if (!err)
		err = ktau__profile_apply(now, record);
	if (!err)
		take_absolute(*now, record);
	ktau_record_free(diff);
	if (err) {
		ktau_record_free(*now);
		*now = NULL;
	}
	return err;
}

static void judge_all(const struct check_period *p)
{
	const bool is_whole = p->now->rec.type == KTAU_REC_PROFILE;
	const struct check_rule *rule;
	int i;

	for (i = 0; i < KTAU_NR_FINDINGS; i++) {
		rule = &rules[i];
		if (rule->judge && (is_whole || !rule->needs_whole))
			rule->judge(p);
	}
}

static uint64_t added(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static int check_profile(struct ktau_check *c, struct check_owner *owner,
			 const struct ktau_rec_profile *record)
{
	const struct ktau_rec_owner *described = ktau__check_described(c, owner->serial);
	struct check_period p = {
		.c = c,
		.owner = described,
		.described_before = &owner->described,
		.record = record,
		.before = owner->last,
		.slack = c->round_ticks,
	};
	struct ktau_rec_profile *now;
	int err = whole(c, owner, record, &now);

	if (err)
		return err;
	c->counts.profiles++;
	c->counts.periods += owner->last && now;
	p.now = now ? now : record;
	judge_all(&p);
	c->counts.refused += added(p.now->refused, owner->last ? owner->last->refused : 0);
	c->counts.clamped += added(p.now->clamped, owner->last ? owner->last->clamped : 0);
	if (now)
		ktau__check_machine_add(c, owner, described, now);
	ktau_record_free(owner->last);
	owner->last = now;
	owner->is_base = now;
	if (described)
		owner->described = *described;
	owner->profile_stream = c->counts.streams;
	return 0;
}

/*
 * Streams
 */

static int check_owned(struct ktau_check *c, const union ktau_record *record)
{
	bool is_trace = record->rec->type == KTAU_REC_TRACE;
	uint64_t serial = is_trace ? record->trace->serial : record->profile->serial;
	struct check_owner *state;
	int err;

	c->nr_records++;
	c->has_diff |= record->rec->type == KTAU_REC_DIFF;
	if (!c->gap && (!c->in_stream || is_trace != (c->stream.content == KTAU_REC_TRACE)))
		ktau__check_report(c, KTAU_FINDING_STREAM, serial, 0,
				   "%s record in no stream of its kind",
				   is_trace ? "trace" : "profile");
	if (!c->gap && !ktau__check_described(c, serial))
		ktau__check_report(c, KTAU_FINDING_REFERENCE, serial, 0,
				   "%s of serial %llu: no OWNER record before it in the stream",
				   is_trace ? "trace" : "profile", (unsigned long long)serial);
	err = ktau__check_owner(c, serial, &state);
	if (err)
		return err;
	return is_trace ? ktau__check_trace(c, state, record->trace) :
			  check_profile(c, state, record->profile);
}

/* Serials, ids and counters start anew with each boot. */
static void begin_boot(struct ktau_check *c)
{
	clear_owners(c);
	memset(c->events, 0, sizeof(c->events));
	ktau__map_clear(&c->cgroups);
	c->has_end = false;
}

/* Rounded and exact profiles are not compared with each other. */
static void forget_profiles(struct ktau_check *c)
{
	size_t i;

	for (i = 0; i < c->nr_owners; i++) {
		ktau_record_free(c->owners[i].last);
		c->owners[i].last = NULL;
	}
}

static void set_clock(struct ktau_check *c)
{
	uint64_t hz = ktau_clock_init(&c->clock, &c->stream) ? 0 : c->clock.hz;

	/* The limits only keep the product of invalid numbers in range. */
	hz = hz ? ktau__min(hz, 1000000000000) : 1000000000;
	/* Rounded twice: to nanoseconds, and to ticks. */
	c->round_ticks = 0;
	if (c->stream.round_ns)
		c->round_ticks = ktau__min(c->stream.round_ns, 1000000) * hz / 1000000000 + 2;
}

static void begin_stream(struct ktau_check *c, const struct ktau_rec_stream *stream)
{
	const struct ktau_rec_stream before = c->stream;
	const bool same_boot = c->counts.streams && ktau_same_boot(&before, stream);

	if (c->in_stream && !c->gap)
		ktau__check_report(c, KTAU_FINDING_STREAM, 0, 0, "stream without END");
	if (c->counts.streams && !same_boot)
		begin_boot(c);
	ktau__registry_clear(&c->described);
	c->counts.streams++;
	c->stream = *stream;
	set_clock(c);
	if (same_boot && before.round_ns != stream->round_ns)
		forget_profiles(c);
	if (same_boot && stream->clock_flags & KTAU_CLOCK_STABLE && stream->ticks < before.ticks)
		ktau__check_report(c, KTAU_FINDING_STREAM, 0, 0,
				   "begins %llu ns before the one before it",
				   ktau__check_ns(c, before.ticks - stream->ticks));
	forget_exited(c);
	ktau__check_machine_begin(c);
	c->in_stream = true;
	c->gap = c->has_diff = false;
	c->nr_records = 0;
	c->lost_to_ticks = 0;
}

/* Count from the first END on: losses before it are not losses of this file. */
static void count_losses(struct ktau_check *c, const struct ktau_rec_end *end)
{
	/* In a container the counters are those of the reader's user. */
	const bool same = c->has_end && !c->end.losses_own && !end->losses_own;
	uint64_t before, now;
	unsigned int i;

	for (i = 0; c->has_end && i < KTAU_NR_LOSSES; i++) {
		before = ktau_loss_value(&c->end, i);
		now = ktau_loss_value(end, i);
		c->counts.losses[i] += now > before ? now - before : 0;
		if (same && now < before)
			ktau__check_report(c, KTAU_FINDING_STREAM, 0, now,
					   "%s: %llu after %llu", ktau_loss_name(i),
					   (unsigned long long)now, (unsigned long long)before);
	}
	c->end = *end;
	c->has_end = true;
	c->denied[c->stream.content == KTAU_REC_TRACE] = end->denied;
	c->counts.denied = c->denied[0] + c->denied[1];
}

static void check_end(struct ktau_check *c, const struct ktau_rec_end *end)
{
	if (!c->in_stream) {
		ktau__check_report(c, KTAU_FINDING_STREAM, 0, 0, "END without stream");
		return;
	}
	if (end->nr_records != c->nr_records)
		ktau__check_report(c, KTAU_FINDING_STREAM, 0, end->nr_records,
				   "stream of %llu records, its END says %llu",
				   c->nr_records, end->nr_records);
	if (end->exited_first > end->exited_next)
		ktau__check_report(c, KTAU_FINDING_STREAM, 0, end->exited_first,
				   "the oldest exited task is %llu, the next one %llu",
				   end->exited_first, end->exited_next);
	if (c->has_end && end->exited_next < c->end.exited_next)
		ktau__check_report(c, KTAU_FINDING_STREAM, 0, end->exited_next,
				   "the next exited task is %llu after %llu",
				   end->exited_next, c->end.exited_next);
	if (end->cut_ticks < c->lost_to_ticks)
		ktau__check_report(c, KTAU_FINDING_LOSS, 0, end->cut_ticks,
				   "all rings complete from %llu, but slots lost up to %llu",
				   end->cut_ticks, c->lost_to_ticks);
}

static int end_stream(struct ktau_check *c, const struct ktau_rec_end *end)
{
	if (!c->gap)
		check_end(c, end);
	ktau__check_machine_end(c, end);
	count_losses(c, end);
	c->in_stream = false;
	c->gap = false;
	return sweep(c);
}

static int check_one(struct ktau_check *c, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		begin_stream(c, record->stream);
		return 0;
	case KTAU_REC_END:
		return end_stream(c, record->end);
	case KTAU_REC_EVENT:
		c->events[record->event->id / 8] |= 1 << record->event->id % 8;
		if (!strcmp(ktau_event_name(record->event), "kernel"))
			c->kernel_id = record->event->id;
		return 0;
	case KTAU_REC_CGROUP:
		return ktau__map_put(&c->cgroups, record->cgroup->id, 0);
	case KTAU_REC_OWNER:
		return check_described(c, record->owner);
	case KTAU_REC_GONE:
		check_gone(c, record->gone);
		return 0;
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
	forget_profiles(c);
	c->machine.complete = c->machine.has_before = false;
	for (i = 0; i < c->nr_owners; i++) {
		c->owners[i].has_trace = false;
		c->owners[i].has_consumed = false;
		c->owners[i].has_exited = false;
		c->owners[i].depth = 0;
	}
}

void ktau_check_file(struct ktau_check *c)
{
	size_t i;

	c->in_stream = c->gap = c->blind = false;
	memset(c->events, 0, sizeof(c->events));
	ktau__map_clear(&c->cgroups);
	for (i = 0; i < c->nr_owners; i++)
		c->owners[i].is_base = false;
}

const struct ktau_check_counts *ktau_check_counts(const struct ktau_check *c)
{
	return &c->counts;
}
