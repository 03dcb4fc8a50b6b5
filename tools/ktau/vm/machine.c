// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/records.h"
#include "lib/bisect.h"
#include "lib/cli.h"
#include "machine.h"

/* CPUs of a machine; larger numbers in files are left out. */
enum { MAX_CPUS = 8192 };

static void *grown(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room ? *room * 2 : 256;
	return cli_alloc(array, *room, size);
}

static struct vm_cpu *find_cpu(struct vm_machine *m, uint32_t cpu)
{
	size_t nr = cpu + 1U;

	if (cpu >= MAX_CPUS)
		return NULL;
	if (nr > m->nr_cpus) {
		m->cpus = cli_alloc(m->cpus, nr, sizeof(*m->cpus));
		for (; m->nr_cpus < nr; m->nr_cpus++)
			m->cpus[m->nr_cpus] = (struct vm_cpu){ .host = SIZE_MAX };
	}
	return &m->cpus[cpu];
}

static struct vm_track *find_track(struct vm_machine *m, const struct track *track)
{
	size_t nr = m->nr_tracks ? m->nr_tracks : 64;

	if (track->index < m->nr_tracks)
		return &m->tracks[track->index];
	while (nr <= track->index)
		nr *= 2;
	m->tracks = cli_alloc(m->tracks, nr, sizeof(*m->tracks));
	memset(m->tracks + m->nr_tracks, 0, (nr - m->nr_tracks) * sizeof(*m->tracks));
	m->nr_tracks = nr;
	return &m->tracks[track->index];
}

/* A task gets a CPU. */
static void begin_run(struct vm_machine *m, const struct timeline_event *e, uint64_t ticks)
{
	struct vm_track *track = find_track(m, e->track);
	struct vm_cpu *cpu = find_cpu(m, e->track->cpu);

	track->run = 0;
	if (!cpu)
		return;
	cpu->runs = grown(cpu->runs, cpu->nr_runs, &cpu->runs_room, sizeof(*cpu->runs));
	cpu->runs[cpu->nr_runs++] = (struct vm_run){ ticks, ticks, e->track->serial };
	track->cpu = e->track->cpu;
	track->run = cpu->nr_runs;
}

/* It no longer has it. */
static void end_run(struct vm_machine *m, const struct timeline_event *e, uint64_t ticks)
{
	struct vm_track *track = find_track(m, e->track);
	struct vm_run *run;

	if (!track->run)
		return;
	run = &m->cpus[track->cpu].runs[track->run - 1];
	if (ticks > run->to)
		run->to = ticks;
	track->run = 0;
}

/*
 * Switches are written later than they happened, a wakeup's even on another CPU. So their frames
 * do not show when a CPU wrote a slot, and neither does GROUPS, which any CPU writes.
 */
static void take_time(struct vm_machine *m, const struct timeline_event *e,
		      enum vcpu_frame frame)
{
	struct vm_cpu *cpu = find_cpu(m, e->slot->cpu);
	bool is_switch = frame == VCPU_PREEMPT || frame == VCPU_QUEUED || frame == VCPU_SLEEP;

	if (!cpu || is_switch || e->slot->type == KTAU_TRACE_GROUPS ||
	    e->slot->type > KTAU_TRACE_KVM_CLOCK)
		return;
	cpu->slots = grown(cpu->slots, cpu->nr_slots, &cpu->slots_room, sizeof(*cpu->slots));
	cpu->slots[cpu->nr_slots++] = e->slot->ticks;
}

static enum vcpu_frame frame_of(const struct vm_machine *m, const struct timeline_event *e)
{
	if (e->type != KTAU_TRACE_ENTER && e->type != KTAU_TRACE_EXIT)
		return VCPU_OTHER;
	return e->id < sizeof(m->frames) ? m->frames[e->id] : VCPU_OTHER;
}

static struct vcpu *vcpu_for(struct vm_machine *m, const struct timeline_event *e,
			     enum vcpu_frame frame)
{
	struct vcpu *v = vm_machine_vcpu(m, e->track->serial);

	if (v || (frame != VCPU_IN_GUEST && e->type != KTAU_TRACE_KVM_ENTER &&
		  e->type != KTAU_TRACE_KVM_EXIT && e->type != KTAU_TRACE_KVM_CLOCK))
		return v;
	m->vcpus = grown(m->vcpus, m->nr_vcpus, &m->vcpus_room, sizeof(struct vcpu *));
	m->vcpus[m->nr_vcpus++] = v = vcpu_create(e->track->serial);
	v->lost = find_track(m, e->track)->lost;
	hash_put(&m->by_serial, v->serial, m->nr_vcpus);
	return v;
}

static int take_event(void *arg, const struct timeline_event *e)
{
	struct vm_machine *m = arg;
	enum vcpu_frame frame = frame_of(m, e);
	uint64_t ticks = e->slot ? e->slot->ticks : find_track(m, e->track)->last;
	struct vcpu *v;

	if (e->type == TIMELINE_MARK || e->type == TIMELINE_MARKS_LOST)
		return 0;
	if (e->slot && ticks < m->first)
		m->first = ticks;
	if (e->slot && ticks > m->last)
		m->last = ticks;
	switch (e->type) {
	case TIMELINE_ON:
		begin_run(m, e, ticks);
		return 0;
	case TIMELINE_LOST:
		find_track(m, e->track)->lost += e->lost;
		break;
	case TIMELINE_OFF:
		end_run(m, e, e->off == OFF_BY_END ? m->last : ticks);
		return 0;
	}
	v = vcpu_for(m, e, frame);
	if (v)
		vcpu_event(v, e, ticks, frame);
	if (e->slot) {
		take_time(m, e, frame);
		find_track(m, e->track)->last = ticks;
	}
	return 0;
}

/*
 * The count is one since boot, so it says what was lost since the first stream ended. A recording
 * of a single stream does not show what was lost meanwhile.
 */
static void take_end(struct vm_machine *m, const struct ktau_rec_end *end)
{
	if (!m->has_end)
		m->evicted_before = end->lost_evicted;
	m->has_end = true;
	m->lost_evicted = 0;
	if (end->lost_evicted > m->evicted_before)
		m->lost_evicted = end->lost_evicted - m->evicted_before;
}

int vm_machine_take(struct vm_machine *m, const struct ktau_reader *reader,
		    const union ktau_record *record)
{
	int err = registry_put(m->registry, record);

	if (record->rec->type == KTAU_REC_STREAM) {
		m->own_clock = record->stream->origin != KTAU_ORIGIN_KERNEL;
		memcpy(m->boot.id, record->stream->boot_id, sizeof(m->boot.id));
	}
	if (record->rec->type == KTAU_REC_END)
		take_end(m, record->end);
	if (record->rec->type == KTAU_REC_EVENT)
		m->frames[record->event->id & 0xffff] =
			(uint8_t)vcpu_frame_of(ktau_event_name(record->event));
	return err ? err : timeline_put(m->timeline, reader, record);
}

static int take_record(void *arg, const struct ktau_reader *reader,
		       const union ktau_record *record)
{
	return vm_machine_take(arg, reader, record);
}

static char *name_of(const char *file)
{
	const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file;
	const char *dot = strrchr(start, '.');
	size_t length = dot && dot != start ? (size_t)(dot - start) : strlen(start);
	char *name = cli_alloc(NULL, length + 1, 1);

	memcpy(name, start, length);
	name[length] = 0;
	return name;
}

/* At the same time, the one that ends then comes first: the other one has the CPU from it. */
static int by_time_of_run(const void *a, const void *b)
{
	const struct vm_run *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * A CPU runs one task at a time: an end that was not seen is at the latest when the next one runs.
 * BPF programs do not see when an idle task does.
 */
static void end_runs(struct vm_cpu *cpu)
{
	size_t i;

	for (i = 1; i < cpu->nr_runs; i++)
		if (cpu->runs[i - 1].to > cpu->runs[i].from)
			cpu->runs[i - 1].to = cpu->runs[i].from;
}

/* The times of one CPU are nearly in order already. */
static void sort(struct vm_cpu *cpu)
{
	size_t i;

	for (i = 1; i < cpu->nr_slots && cpu->slots[i - 1] <= cpu->slots[i]; i++)
		;
	if (i < cpu->nr_slots)
		qsort(cpu->slots, cpu->nr_slots, sizeof(*cpu->slots), by_time);
	for (i = 1; i < cpu->nr_runs && by_time_of_run(&cpu->runs[i - 1], &cpu->runs[i]) <= 0; i++)
		;
	if (i < cpu->nr_runs)
		qsort(cpu->runs, cpu->nr_runs, sizeof(*cpu->runs), by_time_of_run);
	end_runs(cpu);
}

void vm_machine_init(struct vm_machine *m, const char *file)
{
	*m = (struct vm_machine){ .file = file, .name = name_of(file), .first = UINT64_MAX };
	m->registry = registry_create();
	m->sink = (struct timeline_sink){ NULL, take_event, m };
	m->timeline = timeline_create(NULL, &m->sink);
}

int vm_machine_finish(struct vm_machine *m)
{
	int status = timeline_finish(m->timeline) ? CLI_FAILED : CLI_DONE;
	size_t i;

	for (i = 0; i < m->nr_vcpus; i++)
		vcpu_finish(m->vcpus[i]);
	for (i = 0; i < m->nr_cpus; i++)
		sort(&m->cpus[i]);
	return status;
}

bool vm_machine_has_trace(const struct vm_machine *m)
{
	return m->first < m->last;
}

int vm_machine_read(struct vm_machine *m, const char *file)
{
	int status;

	vm_machine_init(m, file);
	status = records_read(file, false, take_record, m);
	status |= vm_machine_finish(m);
	if (status || vm_machine_has_trace(m))
		return status;
	complain("%s: has no trace: record one with  ktau record --system", file);
	return CLI_FAILED;
}

void vm_machine_deinit(struct vm_machine *m)
{
	size_t i;

	for (i = 0; i < m->nr_cpus; i++) {
		free(m->cpus[i].runs);
		free(m->cpus[i].slots);
	}
	for (i = 0; i < m->nr_vcpus; i++)
		vcpu_destroy(m->vcpus[i]);
	free(m->cpus);
	free(m->vcpus);
	free(m->name);
	hash_deinit(&m->by_serial);
	free(m->tracks);
	timeline_destroy(m->timeline);
	if (m->registry)
		registry_destroy(m->registry);
}

static bool has_begun(const void *runs, size_t i, const void *ticks)
{
	return ((const struct vm_run *)runs)[i].from <= *(const uint64_t *)ticks;
}

const struct vm_run *vm_machine_run_at(const struct vm_machine *m, uint32_t cpu, uint64_t ticks)
{
	const struct vm_cpu *c = cpu < m->nr_cpus ? &m->cpus[cpu] : NULL;
	size_t i = c ? bisect(c->runs, c->nr_runs, &ticks, has_begun) : 0;

	return i && ticks < c->runs[i - 1].to ? &c->runs[i - 1] : NULL;
}

static bool has_ended(const void *runs, size_t i, const void *ticks)
{
	return ((const struct vm_run *)runs)[i].to <= *(const uint64_t *)ticks;
}

size_t vm_cpu_run_after(const struct vm_cpu *c, uint64_t ticks)
{
	return bisect(c->runs, c->nr_runs, &ticks, has_ended);
}

struct vcpu *vm_machine_vcpu(const struct vm_machine *m, uint64_t serial)
{
	uintptr_t place = hash_get(&m->by_serial, serial);

	return place ? m->vcpus[place - 1] : NULL;
}

char *vm_machine_task(const struct vm_machine *m, uint64_t serial)
{
	const struct ktau_rec_owner *o = timeline_owner(m->timeline, serial);
	char *name;
	int length;

	if (o && o->rec.type)
		length = asprintf(&name, "%.16s/%" PRId32, o->comm, o->tid);
	else
		length = asprintf(&name, "serial %" PRIu64, serial);
	if (length < 0) {
		complain("out of memory");
		exit(CLI_FAILED);
	}
	return name;
}

bool vm_machine_is_idle(const struct vm_machine *m, uint64_t serial)
{
	const struct ktau_rec_owner *o = timeline_owner(m->timeline, serial);

	return o && o->flags & KTAU_OWNER_IDLE;
}

uint64_t vm_machine_realtime(const struct vm_machine *m, uint64_t ticks)
{
	return ktau_clock_realtime_ns(timeline_clock(m->timeline), ticks);
}

uint64_t vm_machine_ns(const struct vm_machine *m, uint64_t ticks)
{
	return ktau_clock_ns(timeline_clock(m->timeline), ticks);
}
