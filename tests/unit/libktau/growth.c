// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print a stream: growth FILE. test_growth.sh builds it against headers with smaller and
 * larger structures than the current ones; it uses only fields that all of them have.
 */
#define __SANE_USERSPACE_TYPES__	/* one printf() format on every machine */

#include <stdio.h>

#include <ktau.h>

static void print_profile(const struct ktau_rec_profile *p)
{
	const struct ktau_entry *e = ktau_profile_entries(p);
	const struct ktau_open *o = ktau_profile_open(p);
	uint32_t i;

	printf("profile %llu outer=%llu throughout=%x\n", p->serial, p->outer_ticks,
	       p->groups_throughout);
	for (i = 0; i < p->nr_entries; i++)
		printf(" entry %u kind=%u flags=%u count=%llu incl=%llu excl=%llu longest=%llu\n",
		       e[i].id, e[i].kind, e[i].flags, e[i].count, e[i].incl, e[i].excl,
		       e[i].longest);
	for (i = 0; i < p->nr_open; i++)
		printf(" open %u start=%llu child=%llu\n", o[i].id, o[i].start_ticks,
		       o[i].child_ticks);
}

static void print_trace(const struct ktau_rec_trace *t)
{
	const struct ktau_slot *slot = NULL;
	struct ktau_slot_net net;
	int64_t result;
	char comm[17];

	printf("trace %llu next=%llu\n", t->serial, t->next);
	while ((slot = ktau_trace_next(t, slot))) {
		printf(" slot %llu type=%u id=%u", slot->ticks, slot->type, slot->id);
		if (ktau_slot_result(slot, &result))
			printf(" result=%lld", (long long)result);
		if (ktau_slot_comm(slot, comm))
			printf(" comm=%s", comm);
		if (ktau_slot_net(slot, &net))
			printf(" ns=%x", net.net_ns);
		putchar('\n');
	}
}

static void print(const union ktau_record *r)
{
	switch (r->rec->type) {
	case KTAU_REC_STREAM:
		printf("stream hz=%llu exited_next=%llu release=%s\n", r->stream->clock_hz,
		       r->stream->exited_next, r->stream->release);
		break;
	case KTAU_REC_EVENT:
		printf("event %u %s\n", r->event->id, ktau_event_name(r->event));
		break;
	case KTAU_REC_CGROUP:
		printf("cgroup %llu %s\n", r->cgroup->id, ktau_cgroup_path(r->cgroup));
		break;
	case KTAU_REC_OWNER:
		printf("owner %llu kind=%u comm=%s path=%s cgroup=%llu\n", r->owner->serial,
		       r->owner->kind, r->owner->comm, ktau_owner_path(r->owner),
		       r->owner->cgroup);
		break;
	case KTAU_REC_PROFILE:
		print_profile(r->profile);
		break;
	case KTAU_REC_TRACE:
		print_trace(r->trace);
		break;
	case KTAU_REC_REGION:
		printf("region %llu %u refused=%llu entries=%u\n", r->region->serial,
		       r->region->region, r->region->refused, r->region->nr_entries);
		break;
	case KTAU_REC_GONE:
		printf("gone %u\n", r->gone->nr_serials);
		break;
	case KTAU_REC_END:
		printf("end records=%llu cut=%llu own=%llu\n", r->end->nr_records,
		       r->end->cut_ticks, r->end->losses_own);
		break;
	}
}

int main(int argc, char **argv)
{
	struct ktau_reader *reader;
	union ktau_record record;
	int err;

	if (argc != 2 || ktau_reader_create(&reader))
		return 2;
	err = ktau_reader_open_file(reader, argv[1]);
	while (!err && (err = ktau_reader_next(reader, &record)) > 0) {
		print(&record);
		err = 0;
	}
	if (err < 0)
		fprintf(stderr, "growth: %s\n", ktau_reader_error(reader));
	ktau_reader_destroy(reader);
	return err ? 1 : 0;
}
