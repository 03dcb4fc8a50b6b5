// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "log.h"
#include "metrics.h"

/* Parts of the account; the times of the idle tasks are not part of it. */
enum { NR_PARTS = 6 };

static const char *const part_names[NR_PARTS] = {
	"user", "kernel", "irq", "runq", "asleep", "guest",
};

static const char *const state_names[METRICS_NR_STATES] = {
	[METRICS_EXCLUSIVE] = "exclusive",
	[METRICS_ASLEEP] = "asleep",
	[METRICS_RUNQ] = "runq",
	[METRICS_IRQ] = "irq",
};

/* The contents of one file. */
struct totals {
	struct metrics *metrics;
	const struct ktau_rec_stream *stream;
	struct ktau_clock clock;
	ktau_sum_t parts[NR_PARTS];
};

void metrics_clear(struct metrics *metrics)
{
	ktau_snapshot_destroy(metrics->snapshot);
	metrics->snapshot = NULL;
	while (metrics->nr)
		free(metrics->routines[--metrics->nr].name);
	free(metrics->routines);
	metrics->routines = NULL;
	while (metrics->nr_names)
		free(metrics->names[--metrics->nr_names]);
	free(metrics->names);
	metrics->names = NULL;
}

int metrics_add(struct metrics *metrics, const union ktau_record *record)
{
	int err = 0;

	if (!metrics->snapshot)
		err = ktau_snapshot_create(&metrics->snapshot);
	if (!err)
		err = ktau_snapshot_add(metrics->snapshot, record);
	/* Exited tasks take room only as part of the sum. */
	if (!err && record->rec->type == KTAU_REC_END)
		err = ktau_snapshot_drop_exited(metrics->snapshot);
	return err;
}

/* The index of the first series whose name is not less than @name. */
static size_t search(const struct metrics *metrics, const char *name)
{
	size_t low = 0, high = metrics->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (strcmp(metrics->routines[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The series of @name, which several ids may share; NULL without memory. */
static struct metrics_routine *routine_of(struct metrics *metrics, const char *name)
{
	struct metrics_routine *routines = metrics->routines;
	size_t at = search(metrics, name);
	char *copy;

	if (at < metrics->nr && !strcmp(routines[at].name, name))
		return &routines[at];
	if (metrics->nr >= METRICS_MAX_ROUTINES && strcmp(name, METRICS_OTHER))
		return routine_of(metrics, METRICS_OTHER);
	routines = reallocarray(routines, metrics->nr + 1, sizeof(*routines));
	if (!routines)
		return NULL;
	metrics->routines = routines;
	copy = strdup(name);
	if (!copy)
		return NULL;
	memmove(&routines[at + 1], &routines[at], (metrics->nr - at) * sizeof(*routines));
	metrics->nr++;
	routines[at] = (struct metrics_routine){ .name = copy };
	return &routines[at];
}

static int learn_name(struct metrics *metrics, const struct ktau_rec_event *event)
{
	const char *name = ktau_display_name(ktau_event_name(event));
	uint32_t nr = metrics->nr_names;
	char **names, *copy;

	if (event->id >= nr) {
		names = reallocarray(metrics->names, event->id + 1U, sizeof(*names));
		if (!names)
			return -ENOMEM;
		memset(names + nr, 0, (event->id + 1U - nr) * sizeof(*names));
		metrics->names = names;
		metrics->nr_names = event->id + 1U;
	}
	names = &metrics->names[event->id];
	if (*names && !strcmp(*names, name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(*names);
	*names = copy;
	return 0;
}

static int learn_names(struct metrics *metrics, const struct ktau_events *events)
{
	const struct ktau_rec_event *event = NULL;
	int err = 0;

	while (!err && (event = ktau_events_next(events, event)))
		err = learn_name(metrics, event);
	return err;
}

static struct metrics_routine *routine_by_id(struct metrics *metrics, uint32_t id)
{
	char unnamed[24];

	if (id < metrics->nr_names && metrics->names[id])
		return routine_of(metrics, metrics->names[id]);
	snprintf(unnamed, sizeof(unnamed), "event_%" PRIu32, id);
	return routine_of(metrics, unnamed);
}

static int add_entries(struct metrics *metrics, const struct ktau_rec_profile *p)
{
	const struct ktau_entry *e = ktau_profile_entries(p), *end = e + p->nr_entries;
	struct metrics_routine *r;

	for (; e < end; e++) {
		if (e->kind != KTAU_KIND_TIMER)
			continue;
		r = routine_by_id(metrics, e->id);
		if (!r)
			return -ENOMEM;
		r->count += e->count;
		r->ticks[METRICS_EXCLUSIVE] += e->excl;
		r->ticks[METRICS_ASLEEP] += e->asleep;
		r->ticks[METRICS_RUNQ] += e->runq;
		r->ticks[METRICS_IRQ] += e->irq;
	}
	return 0;
}

/* In a recursion, only the outermost frame has what happened inside. */
static bool outermost(const struct ktau_rec_profile *p, uint32_t index)
{
	const struct ktau_open *open = ktau_profile_open(p);
	uint32_t i;

	for (i = index + 1; i < p->nr_open; i++)
		if (open[i].id == open[index].id)
			return false;
	return true;
}

/* A frame in flight counts with its time so far; otherwise a long sleep would end in a jump. */
static int add_open(struct metrics *metrics, const struct ktau_rec_profile *p)
{
	const struct ktau_open *open = ktau_profile_open(p);
	struct metrics_routine *r;
	uint64_t excl;
	uint32_t i;

	for (i = 0; i < p->nr_open; i++) {
		if (ktau_profile_inflight(p, i, NULL, &excl))
			continue;
		r = routine_by_id(metrics, open[i].id);
		if (!r)
			return -ENOMEM;
		r->ticks[METRICS_EXCLUSIVE] += excl;
		if (!outermost(p, i))
			continue;
		r->ticks[METRICS_ASLEEP] += open[i].asleep_ticks;
		r->ticks[METRICS_RUNQ] += open[i].runq_ticks;
		r->ticks[METRICS_IRQ] += open[i].irq_ticks;
	}
	return 0;
}

static void get_parts(const struct ktau_rec_profile *p, uint64_t parts[NR_PARTS])
{
	parts[0] = p->user_ticks;
	parts[1] = p->kernel_ticks;
	parts[2] = p->irq_ticks;
	parts[3] = p->runq_ticks;
	parts[4] = p->asleep_ticks;
	parts[5] = p->guest_ticks;
}

static void subtract_idle(struct totals *t, const struct ktau_rec_profile *p)
{
	uint64_t parts[NR_PARTS];
	int i;

	get_parts(p, parts);
	for (i = 0; i < NR_PARTS; i++)
		t->parts[i] -= parts[i] < t->parts[i] ? parts[i] : t->parts[i];
}

static int add_profile(void *arg, const struct ktau_rec_profile *p)
{
	uint64_t parts[NR_PARTS];
	struct totals *t = arg;
	int i;

	get_parts(p, parts);
	for (i = 0; i < NR_PARTS; i++)
		t->parts[i] += parts[i];
	return add_entries(t->metrics, p);
}

static int add_up(struct metrics *metrics, struct totals *t)
{
	const struct ktau_owned *o = NULL;
	size_t i;
	int err;

	for (i = 0; i < metrics->nr; i++)
		metrics->routines[i] = (struct metrics_routine){
			.name = metrics->routines[i].name,
		};
	err = ktau_snapshot_each(metrics->snapshot, add_profile, t);
	while (!err && (o = ktau_snapshot_next(metrics->snapshot, o))) {
		if (o->owner->kind != KTAU_OWNER_TASK)
			continue;
		if (o->owner->flags & KTAU_OWNER_IDLE)
			subtract_idle(t, o->profile);
		err = add_open(metrics, o->profile);
	}
	return err;
}

/* The number of bytes of the UTF-8 character at @s; 0 if it is not valid. */
static int utf8_bytes(const unsigned char *s)
{
	int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	int i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and numbers beyond U+10FFFF. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* The format requires UTF-8; a byte that is not part of it becomes U+FFFD. */
static void put_label(FILE *out, const char *name, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int n;

	fprintf(out, "%s=\"", name);
	for (; *s; s += n ? n : 1) {
		n = utf8_bytes(s);
		if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (!n)
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(s, (size_t)n, 1, out);
	}
	putc('"', out);
}

static void put_seconds(FILE *out, const struct totals *t, ktau_sum_t ticks)
{
	ktau_sum_t ns = ktau_clock_sum_ns(&t->clock, ticks);
	uint64_t seconds = (uint64_t)(ns / NSEC_PER_SEC), rest = (uint64_t)(ns % NSEC_PER_SEC);

	fprintf(out, "} %" PRIu64 ".%09" PRIu64 "\n", seconds, rest);
}

static void put_sample(FILE *out, const char *metric, const struct totals *t,
		       const struct metrics_routine *r)
{
	fprintf(out, "%s{", metric);
	put_label(out, "host", t->stream->nodename);
	if (r) {
		putc(',', out);
		put_label(out, "routine", r->name);
	}
}

static void put_routine_states(FILE *out, const struct totals *t, const struct metrics_routine *r)
{
	int i;

	for (i = 0; i < METRICS_NR_STATES; i++) {
		if (i != METRICS_EXCLUSIVE && !r->ticks[i])
			continue;
		put_sample(out, "ktau_routine_seconds_total", t, r);
		fprintf(out, ",state=\"%s\"", state_names[i]);
		put_seconds(out, t, r->ticks[i]);
	}
}

static void put_all(FILE *out, const struct metrics *metrics, const struct totals *t)
{
	size_t i;

	fputs("# TYPE ktau_account_seconds counter\n"
	      "# UNIT ktau_account_seconds seconds\n"
	      "# HELP ktau_account_seconds Lifetime of all tasks except the idle ones, by part.\n",
	      out);
	for (i = 0; i < NR_PARTS; i++) {
		put_sample(out, "ktau_account_seconds_total", t, NULL);
		fprintf(out, ",state=\"%s\"", part_names[i]);
		put_seconds(out, t, t->parts[i]);
	}
	fputs("# TYPE ktau_routine_calls counter\n"
	      "# HELP ktau_routine_calls Activations of a kernel routine that have ended.\n", out);
	for (i = 0; i < metrics->nr; i++) {
		put_sample(out, "ktau_routine_calls_total", t, &metrics->routines[i]);
		fprintf(out, "} %" PRIu64 "\n", metrics->routines[i].count);
	}
	fputs("# TYPE ktau_routine_seconds counter\n"
	      "# UNIT ktau_routine_seconds seconds\n"
	      "# HELP ktau_routine_seconds Time in a kernel routine: exclusive, and inside it "
	      "asleep, runnable or interrupted.\n", out);
	for (i = 0; i < metrics->nr; i++)
		put_routine_states(out, t, &metrics->routines[i]);
	fputs("# EOF\n", out);
}

/* Return: 0 or -errno; the file is closed in either case. */
static int finish(FILE *out)
{
	int err = 0;

	if (fflush(out) || ferror(out))
		err = errno ? -errno : -EIO;
	/* Others, such as node_exporter's user, read it, whatever the umask is. */
	if (!err && (fchmod(fileno(out), 0644) || fsync(fileno(out))))
		err = -errno;
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

/*
 * @temporary: template. The name is of this process alone, because another ktaud may be writing
 * the same file.
 */
static int replace_file(const struct metrics *metrics, const struct totals *t, const char *path,
			char *temporary)
{
	FILE *out;
	int fd, err;

	fd = mkostemps(temporary, strlen(".tmp"), O_CLOEXEC);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		err = -errno;
		close(fd);
	} else {
		errno = 0;
		put_all(out, metrics, t);
		err = finish(out);
	}
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}

static int write_file(struct metrics *metrics, const struct ktau_events *events,
		      const char *path)
{
	struct totals t = {
		.metrics = metrics, .stream = ktau_snapshot_stream(metrics->snapshot),
	};
	char *temporary;
	int err;

	ktau_clock_init(&t.clock, t.stream);
	err = learn_names(metrics, events);
	if (!err)
		err = add_up(metrics, &t);
	if (err)
		return err;
	if (asprintf(&temporary, "%s.XXXXXX.tmp", path) < 0)
		return -ENOMEM;
	err = replace_file(metrics, &t, path, temporary);
	free(temporary);
	return err;
}

int metrics_write(struct metrics *metrics, const struct ktau_events *events, const char *path)
{
	int err = write_file(metrics, events, path);

	metrics->failed += err != 0;
	if (err && err != metrics->last_error)
		log_error("cannot write %s: %s; its figures stay as they are", path,
			  strerror(-err));
	else if (!err && metrics->last_error)
		log_info("%s is written again", path);
	metrics->last_error = err;
	return err;
}
