// SPDX-License-Identifier: GPL-2.0-only
/* Records as text: one line per record, with its entries or slots indented below it. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "dump.h"
#include "dump_fields.h"
#include "dump_slot.h"
#include "symbolize.h"
#include "text.h"

static void print_groups(struct dump *d, const char *key, uint32_t groups)
{
	fprintf(d->out, " %s=", key);
	dump_bits(d, groups & ~(KTAU_MODE_PROFILE | KTAU_MODE_TRACE), ktau_group_name);
}

static void print_modes(struct dump *d, uint32_t modes)
{
	fprintf(d->out, " profile=%s trace=%s", modes & KTAU_MODE_PROFILE ? "on" : "off",
		modes & KTAU_MODE_TRACE ? "on" : "off");
}

static void print_text(struct dump *d, const char *name, const char *text)
{
	fprintf(d->out, " %s=", name);
	print_escaped(text, d->out);
}

static void print_bytes(struct dump *d, const char *name, const uint8_t *bytes, size_t nr)
{
	size_t i;

	fprintf(d->out, " %s=", name);
	for (i = 0; i < nr; i++)
		fprintf(d->out, "%02x", bytes[i]);
}

static void print_ms(FILE *out, const struct dump *d, uint64_t ticks)
{
	uint64_t ns = ktau_clock_ns(&d->clock, ticks);

	fprintf(out, " %10" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
}

static void dump_stream(struct dump *d, const struct ktau_rec_stream *s)
{
	ktau_clock_init(&d->clock, s);
	fprintf(d->out, "stream %" PRIu64 " %s ", ++d->streams,
		s->content == KTAU_REC_TRACE ? "trace" : "profile");
	print_time(d->out, s->realtime_ns);
	print_text(d, "host", s->nodename);
	print_text(d, "release", s->release);
	print_text(d, "machine", s->machine);
	print_bytes(d, "boot_id", s->boot_id, sizeof(s->boot_id));
	fprintf(d->out, " ticks=%llu hz=%" PRIu64 " %s cpus=%u bits=%u stext=%llx",
		s->ticks, d->clock.hz, d->clock.stable ? "stable" : "unstable",
		s->nr_cpus, s->word_bits, s->stext);
	fprintf(d->out, " monotonic_ns=%llu boottime_ns=%llu tai_ns=%llu", s->monotonic_ns,
		s->boottime_ns, s->tai_ns);
	fprintf(d->out, " target=%#x flags=%#x since_ticks=%llu round_ns=%u access=", s->target,
		s->flags, s->since_ticks, s->round_ns);
	dump_bits(d, s->access, ktau_access_name);
	print_groups(d, "groups", s->groups);
	print_groups(d, "built", s->groups_built);
	print_modes(d, s->modes);
	dump_fields(d, SHOWN_ktau_rec_stream, s);
	fprintf(d->out, " exited_next=%llu\n", s->exited_next);
}

static void dump_cgroup(struct dump *d, const struct ktau_rec_cgroup *c)
{
	fprintf(d->out, "cgroup %llu ", c->id);
	print_escaped(ktau_cgroup_path(c), d->out);
	fputc('\n', d->out);
}

static void print_owner_name(struct dump *d, const struct ktau_rec_owner *o)
{
	switch (o->kind) {
	case KTAU_OWNER_CPU:
		fprintf(d->out, " cpu %" PRIu32, o->cpu);
		return;
	case KTAU_OWNER_EVICTED:
		fprintf(d->out, " evicted below=%llu", o->exited_seq);
		return;
	}
	fputc(' ', d->out);
	dump_word(d, ktau_owner_kind_name(o->kind), o->kind);
	fprintf(d->out, " %" PRId32 " ", o->tid);
	print_escaped(o->comm, d->out);
}

static void print_owner_flags(struct dump *d, uint32_t flags)
{
	static const char *const names[] = { "idle", "kthread", "folded", "named" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (flags & 1U << i)
			fprintf(d->out, " %s", names[i]);
	flags &= ~0U << (sizeof(names) / sizeof(*names));
	if (flags)
		fprintf(d->out, " flags=%#" PRIx32, flags);
}

static void dump_owner(struct dump *d, const struct ktau_rec_owner *o)
{
	fprintf(d->out, "owner %llu", o->serial);
	print_owner_name(d, o);
	fprintf(d->out, " tgid=%d ppid=%d parent=%llu leader=%llu", o->tgid, o->ppid,
		o->parent_serial, o->leader_serial);
	fprintf(d->out, " cpu=%u uid=%u gid=%u prio=%d policy=%u tag=%u", o->cpu, o->uid, o->gid,
		o->prio, o->policy, o->tag);
	print_owner_flags(d, o->flags);
	fprintf(d->out, " start_ns=%llu exec_ns=%llu tasks=%llu", o->start_ns, o->exec_ns,
		o->nr_tasks);
	if (o->kind == KTAU_OWNER_EXITED)
		fprintf(d->out, " exit=%" PRId32 " exit_ns=%llu exited_seq=%llu",
			o->exit_code, o->exit_ns, o->exited_seq);
	dump_fields(d, SHOWN_ktau_rec_owner, o);
	print_text(d, "path", ktau_owner_path(o));
	fputc('\n', d->out);
}

/* Print the owner that a record refers to. */
static void print_owner(struct dump *d, uint64_t serial)
{
	const struct ktau_rec_owner *o = ktau_reader_owner(d->reader, serial);

	fprintf(d->out, " %" PRIu64, serial);
	if (o)
		print_owner_name(d, o);
}

static void print_parts(struct dump *d, const struct ktau_entry *e)
{
	if (e->flags & KTAU_ENTRY_LONGEST)
		fprintf(d->out, " longest=%llu", e->longest);
	if (e->flags & KTAU_ENTRY_ASLEEP)
		fprintf(d->out, " asleep=%llu", e->asleep);
	if (e->flags & KTAU_ENTRY_RUNQ)
		fprintf(d->out, " runq=%llu", e->runq);
	if (e->flags & KTAU_ENTRY_IRQ)
		fprintf(d->out, " irq=%llu", e->irq);
}

static void dump_entry(struct dump *d, const struct ktau_entry *e)
{
	switch (e->kind) {
	case KTAU_KIND_TIMER:
		fprintf(d->out, "  timer   %10llu incl=%llu excl=%llu", e->count, e->incl,
			e->excl);
		print_parts(d, e);
		print_ms(d->out, d, e->incl);
		print_ms(d->out, d, e->excl);
		fputs(" ms ", d->out);
		break;
	case KTAU_KIND_COUNTER:
		fprintf(d->out, "  counter %10llu values sum=%llu min=%llu max=%llu ", e->count,
			e->sum, e->min, e->max);
		break;
	default:
		fprintf(d->out,
			"  kind %-2u %10llu flags=%#x values=%llu,%llu,%llu,%llu,%llu,%llu ",
			e->kind, e->count, e->flags, e->incl, e->excl, e->longest, e->asleep,
			e->runq, e->irq);
	}
	dump_event_name(d, e->id);
	fputc('\n', d->out);
}

static void dump_open(struct dump *d, const struct ktau_rec_profile *p, uint32_t index)
{
	const struct ktau_open *open = &ktau_profile_open(p)[index];
	uint64_t incl = 0, excl = 0;

	ktau_profile_inflight(p, index, &incl, &excl);
	fprintf(d->out, "  in flight since=%llu incl=%" PRIu64 " excl=%" PRIu64,
		open->start_ticks, incl, excl);
	print_ms(d->out, d, incl);
	print_ms(d->out, d, excl);
	fprintf(d->out, " ms asleep=%llu runq=%llu irq=%llu ", open->asleep_ticks,
		open->runq_ticks, open->irq_ticks);
	dump_event_name(d, open->id);
	fputc('\n', d->out);
}

static void dump_profile(struct dump *d, const struct ktau_rec_profile *p)
{
	uint32_t i;

	fputs(p->rec.type == KTAU_REC_DIFF ? "diff" : "profile", d->out);
	print_owner(d, p->serial);
	fprintf(d->out, " ticks=%llu start_ticks=%llu", p->ticks, p->start_ticks);
	dump_fields(d, SHOWN_ktau_rec_profile, p);
	print_groups(d, "groups", p->groups);
	print_groups(d, "throughout", p->groups_throughout);
	print_modes(d, p->groups);
	fputc('\n', d->out);
	for (i = 0; i < p->nr_entries; i++)
		dump_entry(d, &ktau_profile_entries(p)[i]);
	for (i = 0; i < p->nr_open; i++)
		dump_open(d, p, i);
}

static void dump_region(struct dump *d, const struct ktau_rec_region *r)
{
	uint32_t i;

	fputs("region", d->out);
	print_owner(d, r->serial);
	dump_fields(d, SHOWN_ktau_rec_region, r);
	fputc('\n', d->out);
	for (i = 0; i < r->nr_entries; i++)
		dump_entry(d, &ktau_region_entries(r)[i]);
}

static void dump_trace(struct dump *d, const struct ktau_rec_trace *t)
{
	const struct ktau_rec_owner *owner = ktau_reader_owner(d->reader, t->serial);
	const struct ktau_slot *s = NULL;
	uint64_t ns;

	fputs("trace", d->out);
	print_owner(d, t->serial);
	fprintf(d->out,
		" first=%llu next=%llu slots=%" PRIu32 " written=%llu ring=%" PRIu32 " lost=%llu",
		t->first, t->next, t->nr_slots, t->written, t->ring_slots, t->lost);
	print_groups(d, "groups", t->groups);
	print_modes(d, t->groups);
	fputc('\n', d->out);
	if (t->lost)
		fprintf(d->out, "  lost %llu from ticks %llu to %llu\n",
			t->lost, t->lost_from_ticks, t->lost_to_ticks);
	if (t->no_room)
		fprintf(d->out, "  no room for %llu so far\n", t->no_room);
	while ((s = ktau_trace_next(t, s))) {
		ns = ktau_clock_monotonic_ns(&d->clock, s->ticks);
		fprintf(d->out, "  %" PRIu64 ".%09" PRIu64 " cpu%u ", ns / 1000000000,
			ns % 1000000000, s->cpu);
		dump_word(d, ktau_ctx_name(s->ctx), s->ctx);
		fprintf(d->out, " %" PRId32 " ", owner ? owner->tid : 0);
		dump_slot(d, s);
		fputs(s->type == KTAU_TRACE_ENTER && s->flags & KTAU_SLOT_OFF_CPU ?
		      " without a CPU\n" : "\n", d->out);
	}
}

static void dump_end(struct dump *d, const struct ktau_rec_end *e)
{
	unsigned int i;

	dump_known(d, &e->rec);
	fprintf(d->out, " exited_first=%llu exited_next=%llu losses_own=%llu", e->exited_first,
		e->exited_next, e->losses_own);
	for (i = 0; i < KTAU_NR_LOSSES; i++)
		fprintf(d->out, " %s=%" PRIu64, ktau_loss_name(i), ktau_loss_value(e, i));
	fprintf(d->out, " missed=%llu refused_gone=%llu\n", e->missed, e->refused_gone);
}

static void dump_info(struct dump *d, const struct ktau_rec_info *info)
{
	uint32_t bytes = info->build_id_bytes;

	fputs("info ", d->out);
	print_time(d->out, info->created_ns);
	print_text(d, "host", info->hostname);
	print_text(d, "release", info->release);
	print_text(d, "machine", info->machine);
	fprintf(d->out, " stext=%llx period_ns=%llu", info->stext, info->period_ns);
	print_bytes(d, "build_id", info->build_id,
		    bytes < sizeof(info->build_id) ? bytes : sizeof(info->build_id));
	print_text(d, "symbols", ktau_info_symbols(info));
	print_text(d, "job", ktau_info_job(info));
	print_text(d, "command", ktau_info_command(info));
	if (info->command_serial)
		fprintf(d->out, " command_serial=%llu", info->command_serial);
	fputc('\n', d->out);
}

static void dump_gap(struct dump *d, const struct ktau_rec_gap *gap)
{
	fprintf(d->out, "gap %llu periods from ", gap->periods);
	print_time(d->out, gap->from_ns);
	fputs(" to ", d->out);
	print_time(d->out, gap->to_ns);
	fprintf(d->out, " error=%u\n", gap->error);
}

static void dump_event(struct dump *d, const struct ktau_rec_event *e)
{
	fprintf(d->out, "event %u %s ", e->id, symbolize_group_text(d->names, e->group));
	dump_word(d, ktau_kind_name(e->kind), e->kind);
	fputc(' ', d->out);
	dump_word(d, ktau_source_name(e->source), e->source);
	fprintf(d->out, " key=%#llx %llx ", e->key, e->address);
	if (e->kind == KTAU_KIND_FIELDS)
		print_escaped(ktau_event_name(e), d->out);
	else
		dump_event_name(d, e->id);
	fputc('\n', d->out);
}

static void dump_gone(struct dump *d, const struct ktau_rec_gone *gone)
{
	const uint64_t *serials = ktau_gone_serials(gone);
	uint32_t i;

	fputs("gone folded", d->out);
	for (i = 0; i < gone->nr_serials; i++)
		fprintf(d->out, "%s %" PRIu64, i == gone->nr_folded ? " evicted" : "", serials[i]);
	fputc('\n', d->out);
}

static void dump_record(struct dump *d, const union ktau_record *r)
{
	switch (r->rec->type) {
	case KTAU_REC_STREAM:
		dump_stream(d, r->stream);
		return;
	case KTAU_REC_EVENT:
		dump_event(d, r->event);
		return;
	case KTAU_REC_CGROUP:
		dump_cgroup(d, r->cgroup);
		return;
	case KTAU_REC_OWNER:
		dump_owner(d, r->owner);
		return;
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		dump_profile(d, r->profile);
		return;
	case KTAU_REC_TRACE:
		dump_trace(d, r->trace);
		return;
	case KTAU_REC_REGION:
		dump_region(d, r->region);
		return;
	case KTAU_REC_GONE:
		dump_gone(d, r->gone);
		return;
	case KTAU_REC_END:
		dump_end(d, r->end);
		return;
	case KTAU_REC_INFO:
		dump_info(d, r->info);
		return;
	case KTAU_REC_GAP:
		dump_gap(d, r->gap);
		return;
	}
	dump_known(d, r->rec);
	fputc('\n', d->out);
}

/* Report records and blocks of unknown types, which the reader has skipped. */
static void dump_unknown(struct dump *d)
{
	const struct ktau_unknown *u = ktau_reader_unknown(d->reader);

	if (u->records)
		fprintf(d->out, "unknown %" PRIu64 " records, the first of type %" PRIu32 "\n",
			u->records, u->record_type);
	if (u->blocks)
		fprintf(d->out,
			"unknown %" PRIu64 " blocks, the first of type %" PRIu32
			", compression %" PRIu32 ", encoding %" PRIu32 "\n",
			u->blocks, u->block_type, u->block_compression, u->block_encoding);
}

/*
 * Does this record say where the kernel ran? After an INFO there is also a build-id to compare.
 */
static bool places_kernel(const union ktau_record *r)
{
	return r->rec->type == KTAU_REC_INFO || r->rec->type == KTAU_REC_STREAM;
}

int dump_reader(struct ktau_reader *reader, const char *name,
		struct ktau_symtab *symtab, FILE *out)
{
	struct dump d = { .out = out, .reader = reader };
	bool misfit = false;
	struct progress progress = { 0 };
	uint64_t records = 0;
	union ktau_record r;
	int err;

	d.names = symbolize_create(ktau_reader_events(reader), symtab);
	while ((err = ktau_reader_next(reader, &r)) > 0 && !ferror(out)) {
		misfit = symtab && places_kernel(&r) &&
			 symbolize_fit_map(symtab, name, reader);
		if (misfit)
			break;
		dump_record(&d, &r);
		progress_step(&progress, name, ++records);
	}
	progress_end(&progress);
	dump_unknown(&d);
	if (err < 0)
		cli_reader_failed(reader, err);
	symbolize_destroy(d.names);
	return err < 0 || misfit || cli_finish(out) ? CLI_FAILED : CLI_DONE;
}

int dump_fd(int fd, const char *name, struct ktau_symtab *symtab, FILE *out)
{
	struct ktau_reader *reader;
	int err = ktau_reader_create(&reader);

	if (err) {
		complain("out of memory");
		return CLI_FAILED;
	}
	err = ktau_reader_open_fd(reader, fd, name);
	if (err)
		complain("%s", ktau_reader_error(reader));
	else
		err = dump_reader(reader, name, symtab, out);
	ktau_reader_destroy(reader);
	return err ? CLI_FAILED : CLI_DONE;
}
