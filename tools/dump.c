// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as text: one line a record, its entries or slots indented below it.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "dump.h"
#include "names.h"
#include "text.h"

struct dump {
	FILE *out;
	struct names *names;
	struct ktau_clock clock;
	uint64_t streams;
};

static void print_groups(FILE *out, uint32_t groups)
{
	const char *comma = "";
	uint32_t bit;

	fputs(" groups=", out);
	for (bit = 1; bit && bit <= KTAU_GROUP_ALL; bit <<= 1) {
		if (!(groups & bit))
			continue;
		fprintf(out, "%s%s", comma, ktau_group_name(bit));
		comma = ",";
	}
	fprintf(out, "%s profile=%s trace=%s", *comma ? "" : "none",
		groups & KTAU_MODE_PROFILE ? "on" : "off",
		groups & KTAU_MODE_TRACE ? "on" : "off");
}

static void print_time(FILE *out, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char text[40];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		strcpy(text, "?");
	fprintf(out, "%s.%09" PRIu64 "Z", text, realtime_ns % 1000000000);
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
	fprintf(d->out, " ticks=%llu hz=%" PRIu64 " %s cpus=%u bits=%u stext=%llx",
		s->ticks, d->clock.hz, d->clock.stable ? "stable" : "unstable",
		s->nr_cpus, s->word_bits, s->stext);
	print_groups(d->out, s->groups | s->modes);
	fprintf(d->out,
		" pair_mticks=%llu pair_trace_mticks=%llu dead_next=%llu\n",
		s->profile_pair_mticks, s->trace_pair_mticks, s->dead_next);
}

static void print_owner(struct dump *d, const struct ktau_owner *o)
{
	switch (o->kind) {
	case KTAU_OWNER_CPU:
		fprintf(d->out, " cpu %" PRIu32, o->cpu);
		return;
	case KTAU_OWNER_REAPED:
		fprintf(d->out, " reaped below=%llu", o->dead_seq);
		return;
	}
	fprintf(d->out, " %s %" PRId32 " ", o->kind == KTAU_OWNER_DEAD ? "dead" : "task",
		o->tid);
	print_escaped(o->comm, d->out);
	fprintf(d->out,
		" tgid=%" PRId32 " ppid=%" PRId32 " serial=%llu"
		" cpu=%" PRIu32 " uid=%" PRIu32 "%s%s utime_ns=%llu stime_ns=%llu",
		o->tgid, o->ppid, o->serial, o->cpu, o->uid,
		o->flags & KTAU_OWNER_IDLE ? " idle" : "",
		o->flags & KTAU_OWNER_KTHREAD ? " kthread" : "", o->utime_ns, o->stime_ns);
	if (o->kind == KTAU_OWNER_DEAD)
		fprintf(d->out, " exit=%" PRId32 " exit_ns=%llu dead_seq=%llu",
			o->exit_code, o->exit_ns, o->dead_seq);
}

static void dump_entry(struct dump *d, const struct ktau_entry *e)
{
	const char *name = names_event(d->names, e->id);

	if (e->kind == KTAU_KIND_COUNTER) {
		fprintf(d->out,
			"  counter %10llu values sum=%llu min=%llu"
			" max=%llu %s\n",
			e->count, e->sum, e->min, e->max, name);
		return;
	}
	fprintf(d->out, "  timer   %10llu incl=%llu excl=%llu", e->count,
		e->incl, e->excl);
	print_ms(d->out, d, e->incl);
	print_ms(d->out, d, e->excl);
	fprintf(d->out, " ms %s\n", name);
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
	fprintf(d->out, " ms %s\n", names_event(d->names, open->id));
}

static void dump_profile(struct dump *d, const struct ktau_rec_profile *p)
{
	uint32_t i;

	fputs(p->rec.type == KTAU_REC_DIFF ? "diff" : "profile", d->out);
	print_owner(d, &p->owner);
	fprintf(d->out,
		" ticks=%llu outer=%llu open_child=%llu refused=%llu"
		" refused_ticks=%llu clamped=%llu depth=%" PRIu32,
		p->ticks, p->outer_ticks, p->open_child_ticks, p->refused,
		p->refused_ticks, p->clamped, p->depth);
	print_groups(d->out, p->groups);
	fputc('\n', d->out);
	for (i = 0; i < p->nr_entries; i++)
		dump_entry(d, &ktau_profile_entries(p)[i]);
	for (i = 0; i < p->nr_open; i++)
		dump_open(d, p, i);
}

static void print_end_of_flow(struct dump *d, const struct ktau_slot_more *more)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (!more) {
		fputs(" ?", d->out);
		return;
	}
	memcpy(&address, more->data, sizeof(address));
	if (IN6_IS_ADDR_V4MAPPED(&address))
		inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, &address, text, sizeof(text));
	fprintf(d->out, " %s port %u", text, more->small);
}

static void print_exec(struct dump *d, const struct ktau_slot_more *more)
{
	char name[sizeof(more->data) + 1] = "?";

	if (more)
		memcpy(name, more->data, sizeof(more->data));
	fputs("exec ", d->out);
	print_escaped(name, d->out);
}

static void print_net(struct dump *d, const struct ktau_rec_trace *t,
		      const struct ktau_slot *s)
{
	fprintf(d->out, "%s seq=%" PRIu32 " bytes=%" PRIu32 " local",
		s->type == KTAU_TRACE_NET_SEND ? "net-send" : "net-recv", (uint32_t)s->arg,
		(uint32_t)(s->arg >> 32));
	print_end_of_flow(d, ktau_trace_more(t, s, 1));
	fputs(" remote", d->out);
	print_end_of_flow(d, ktau_trace_more(t, s, 2));
}

static void print_what(struct dump *d, const struct ktau_rec_trace *t,
		       const struct ktau_slot *s)
{
	uint32_t low = (uint32_t)s->arg, high = (uint32_t)(s->arg >> 32);

	switch (s->type) {
	case KTAU_TRACE_ENTER:
		fprintf(d->out, "in %s", names_event(d->names, s->id));
		if (s->arg)
			fprintf(d->out, " arg=%#llx", s->arg);
		return;
	case KTAU_TRACE_EXIT:
		fprintf(d->out, "out %s", names_event(d->names, s->id));
		return;
	case KTAU_TRACE_COUNT:
		fprintf(d->out, "count %s %llu", names_event(d->names, s->id),
			s->arg);
		return;
	case KTAU_TRACE_SWITCH:
		fprintf(d->out, "switch to=%" PRIu32 " state=%#" PRIx32, low, high);
		return;
	case KTAU_TRACE_WAKEUP:
		fprintf(d->out, "wakeup of=%" PRIu32 " cpu=%" PRIu32, low, high);
		return;
	case KTAU_TRACE_FORK:
		fprintf(d->out, "fork child=%" PRIu32 " tgid=%" PRIu32, low, high);
		return;
	case KTAU_TRACE_EXEC:
		print_exec(d, ktau_trace_more(t, s, 1));
		return;
	case KTAU_TRACE_TASK_EXIT:
		fprintf(d->out, "exit code=%" PRId64, (int64_t)s->arg);
		return;
	case KTAU_TRACE_NET_SEND:
	case KTAU_TRACE_NET_RECV:
		print_net(d, t, s);
		return;
	}
	fprintf(d->out, "type=%u id=%u arg=%#llx", s->type, s->id, s->arg);
}

static void dump_trace(struct dump *d, const struct ktau_rec_trace *t)
{
	const struct ktau_slot *s = NULL;
	const char *ctx;
	uint64_t ns;

	fputs("trace", d->out);
	print_owner(d, &t->owner);
	fprintf(d->out,
		" first=%llu slots=%" PRIu32 " written=%llu ring=%" PRIu32
		" lost=%llu",
		t->first, t->nr_slots, t->written, t->ring_slots, t->lost);
	print_groups(d->out, t->groups);
	fputc('\n', d->out);
	if (t->lost)
		fprintf(d->out, "  lost %llu from ticks %llu to %llu\n",
			t->lost, t->lost_from_ticks, t->lost_to_ticks);
	while ((s = ktau_trace_next(t, s))) {
		ctx = ktau_ctx_name(s->ctx);
		ns = ktau_clock_monotonic_ns(&d->clock, s->ticks);
		fprintf(d->out, "  %" PRIu64 ".%09" PRIu64 " cpu%u %s %" PRId32 " ",
			ns / 1000000000, ns % 1000000000, s->cpu, ctx ? ctx : "?",
			t->owner.tid);
		print_what(d, t, s);
		fputc('\n', d->out);
	}
}

static void dump_end(struct dump *d, const struct ktau_rec_end *e)
{
	fprintf(d->out,
		"end records=%llu refused=%llu vanished=%llu busy=%llu"
		" torn=%llu cut_ticks=%llu dead_next=%llu lost_reaped=%llu\n",
		e->nr_records, e->refused, e->vanished, e->busy, e->torn, e->cut_ticks,
		e->dead_next, e->lost_reaped);
}

static void print_field(struct dump *d, const char *name, const char *text)
{
	fprintf(d->out, " %s=", name);
	print_escaped(text, d->out);
}

static void dump_info(struct dump *d, const struct ktau_rec_info *info)
{
	uint32_t i;

	fputs("info ", d->out);
	print_time(d->out, info->created_ns);
	print_field(d, "host", info->hostname);
	print_field(d, "release", info->release);
	print_field(d, "machine", info->machine);
	fprintf(d->out, " stext=%llx period_ns=%llu build_id=", info->stext, info->period_ns);
	for (i = 0; i < info->build_id_bytes && i < sizeof(info->build_id); i++)
		fprintf(d->out, "%02x", info->build_id[i]);
	print_field(d, "symbols", ktau_info_symbols(info));
	print_field(d, "command", ktau_info_command(info));
	fputc('\n', d->out);
}

static void dump_event(struct dump *d, const struct ktau_rec_event *e)
{
	const char *kind = ktau_kind_name(e->kind);

	fprintf(d->out, "event %" PRIu32 " %s %s %llx %s\n", e->id,
		names_group(d->names, e->id), kind ? kind : "?", e->address,
		names_event(d->names, e->id));
}

static void dump_record(struct dump *d, const union ktau_record *r)
{
	switch (r->rec->type) {
	case KTAU_REC_STREAM:
		dump_stream(d, r->stream);
		return;
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		dump_profile(d, r->profile);
		return;
	case KTAU_REC_TRACE:
		dump_trace(d, r->trace);
		return;
	case KTAU_REC_END:
		dump_end(d, r->end);
		return;
	case KTAU_REC_INFO:
		dump_info(d, r->info);
		return;
	case KTAU_REC_EVENT:
		dump_event(d, r->event);
		return;
	}
}

/* Where the kernel ran is said; before a stream there is more to compare with. */
static bool places_kernel(const union ktau_record *r)
{
	return r->rec->type == KTAU_REC_INFO || r->rec->type == KTAU_REC_STREAM;
}

int dump_reader(struct ktau_reader *reader, const char *name,
		struct ktau_symtab *symtab, FILE *out)
{
	struct dump d = { .out = out };
	bool misfit = false;
	struct progress progress = { 0 };
	uint64_t records = 0;
	union ktau_record r;
	int err;

	d.names = names_create(ktau_reader_events(reader), symtab);
	while ((err = ktau_reader_next(reader, &r)) > 0 && !ferror(out)) {
		misfit = symtab && places_kernel(&r) &&
			 names_fit_map(symtab, name, reader);
		if (misfit)
			break;
		dump_record(&d, &r);
		progress_step(&progress, name, ++records);
	}
	progress_end(&progress);
	if (err < 0)
		cmd_reader_failed(reader, err);
	names_destroy(d.names);
	return err < 0 || misfit || cmd_finish(out) ? CMD_FAILED : CMD_DONE;
}

int dump_fd(int fd, const char *name, struct ktau_symtab *symtab, FILE *out)
{
	struct ktau_reader *reader;
	int err = ktau_reader_create(&reader);

	if (err) {
		complain("out of memory");
		return CMD_FAILED;
	}
	err = ktau_reader_open_fd(reader, fd, name);
	if (err)
		complain("%s", ktau_reader_error(reader));
	else
		err = dump_reader(reader, name, symtab, out);
	ktau_reader_destroy(reader);
	return err ? CMD_FAILED : CMD_DONE;
}
