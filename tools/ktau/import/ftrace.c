// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a file of trace-cmd with libtracecmd, and passes on its events under the names that LTTng
 * has for them. What a record says is checked against its size, because libtraceevent does not.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cli.h"
#include "import.h"

#ifdef KTAU_HAVE_TRACECMD

#include <stdlib.h>
#include <trace-cmd.h>

enum { MOST_NAMES = 16,
       TEXT_BYTES = 512,
       TEXTS = 4,
       RECORD_BYTES = 8 };

/* Not in the header of all versions, or not in the library. */
extern const char *tracecmd_get_trace_clock(struct tracecmd_input *handle) __attribute__((weak));
extern const char *tracecmd_get_uname(struct tracecmd_input *handle) __attribute__((weak));

/* A field that has been asked for, or NULL if the event does not have it. */
struct known_field {
	const char *name;
	struct tep_format_field *field;
};

/* A kind of event. @calls: a system call is a kind of its own, by its number. */
struct event_class {
	struct import_class class;
	struct tep_event *event;
	struct tep_format_field *calls;
	struct known_field fields[MOST_NAMES];
	size_t nr;
};

/**
 * struct reader - reading of a trace
 * @im: what takes the events
 * @handle: the file
 * @tep: its formats
 * @classes: struct event_class by the number of the event, and of the system call
 * @class: kind of the current event
 * @record: the current event
 * @texts: the last texts that were asked for
 * @at: the next one of @texts
 */
struct reader {
	struct import *im;
	struct tracecmd_input *handle;
	struct tep_handle *tep;
	struct hash classes;
	struct event_class *class;
	struct tep_record *record;
	char texts[TEXTS][TEXT_BYTES];
	size_t at;
};

/* Fields */

/* What ftrace calls a field of LTTng; NULL: it does not have it. */
static const char *own_name(const char *name)
{
	static const struct {
		const char *lttng, *ftrace;
	} names[] = {
		{ "prev_tid", "prev_pid" },
		{ "next_tid", "next_pid" },
		{ "tid", "pid" },
		{ "parent_tid", "parent_pid" },
		{ "child_tid", "child_pid" },
		{ "child_pid", NULL },
		{ "pid", NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].lttng, name))
			return names[i].ftrace;
	return name;
}

/* Names are literals, so that their addresses tell them apart. */
static struct tep_format_field *find(struct event_class *class, const char *name)
{
	struct tep_format_field *field = NULL;
	const char *own;
	size_t i;

	for (i = 0; i < class->nr; i++)
		if (class->fields[i].name == name)
			return class->fields[i].field;
	own = own_name(name);
	if (own)
		field = tep_find_field(class->event, own);
	if (class->nr < MOST_NAMES)
		class->fields[class->nr++] = (struct known_field){ name, field };
	return field;
}

static bool is_inside(const struct tep_record *record, int64_t offset, int64_t bytes)
{
	return offset >= 0 && bytes >= 0 && offset + bytes <= record->size;
}

static int64_t value_of(const struct tep_format_field *field, const struct tep_record *record,
			int64_t none)
{
	const uint8_t *data = record->data;
	unsigned long long value;

	if (!field || field->flags & (TEP_FIELD_IS_STRING | TEP_FIELD_IS_DYNAMIC) ||
	    (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8) ||
	    !is_inside(record, field->offset, field->size))
		return none;
	value = tep_read_number(field->event->tep, data + field->offset, field->size);
	if (!(field->flags & TEP_FIELD_IS_SIGNED))
		return (int64_t)value;
	/* libtraceevent has removed the sign. */
	return (int64_t)(value << (64 - 8 * field->size)) >> (64 - 8 * field->size);
}

static int64_t number(const void *fields, const char *name, int64_t none)
{
	/* The functions of an event share what they remember. */
	struct reader *r = (struct reader *)(uintptr_t)fields;

	return value_of(find(r->class, name), r->record, none);
}

/* Where the text of a field is in the record. Return: false if it is not. */
static bool locate(const struct reader *r, const struct tep_format_field *field, int64_t *offset,
		   int64_t *bytes)
{
	const uint8_t *data = r->record->data;
	uint32_t place;

	*offset = field->offset;
	*bytes = field->size;
	if (field->flags & TEP_FIELD_IS_DYNAMIC) {
		if (field->size != 4 || !is_inside(r->record, field->offset, 4))
			return false;
		place = (uint32_t)tep_read_number(r->tep, data + field->offset, 4);
		*offset = place & 0xffff;
		*bytes = place >> 16;
		if (field->flags & TEP_FIELD_IS_RELATIVE)
			*offset += field->offset + field->size;
	}
	return is_inside(r->record, *offset, *bytes);
}

static const char *text(const void *fields, const char *name)
{
	struct reader *r = (struct reader *)(uintptr_t)fields;
	struct tep_format_field *field = find(r->class, name);
	const char *data = r->record->data, *function;
	char *to = r->texts[r->at++ % TEXTS];
	int64_t offset, bytes;

	/* Timers: the name of the function. */
	if (!field && !strcmp(name, "name")) {
		function = tep_find_function(
			r->tep, (unsigned long long)number(fields, "function", 0));
		return function ? function : "";
	}
	if (!field || !(field->flags & TEP_FIELD_IS_STRING) ||
	    !locate(r, field, &offset, &bytes))
		return "";
	bytes = (int64_t)strnlen(data + offset, (size_t)bytes);
	if (bytes >= TEXT_BYTES)
		bytes = TEXT_BYTES - 1;
	memcpy(to, data + offset, (size_t)bytes);
	to[bytes] = '\0';
	return to;
}

/* Events */

/* The name that LTTng has for an event; "" if KTAU has nothing for it. */
static void name_event(const struct tep_event *event, uint64_t call, char name[TEXT_BYTES])
{
	static const char *const same[] = { "sched", "irq", "timer", "cgroup", "kvm" };
	const char *system = event->system, *own = event->name;
	const bool exits = !strncmp(own, "sys_exit", 8);
	size_t i;

	*name = '\0';
	for (i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (!strcmp(system, same[i]))
			snprintf(name, TEXT_BYTES, "%s", own);
	if (!strcmp(system, "irq_vectors"))
		snprintf(name, TEXT_BYTES, "x86_irq_vectors_%s", own);
	else if (!strcmp(system, "raw_syscalls"))
		snprintf(name, TEXT_BYTES, "syscall_%s_%llu", exits ? "exit" : "entry",
			 (unsigned long long)call);
	else if (!strcmp(system, "syscalls") && !strncmp(own, "sys_enter_", 10))
		snprintf(name, TEXT_BYTES, "syscall_entry_%s", own + 10);
	else if (!strcmp(system, "syscalls") && !strncmp(own, "sys_exit_", 9))
		snprintf(name, TEXT_BYTES, "syscall_exit_%s", own + 9);
}

static struct event_class *add_class(struct reader *r, struct tep_event *event, uint64_t call,
				     uint64_t key)
{
	struct event_class *class = cli_alloc(NULL, 1, sizeof(*class));
	char name[TEXT_BYTES];

	*class = (struct event_class){ .event = event };
	if (event->name && event->system) {
		name_event(event, call, name);
		import_classify(r->im, name, &class->class);
		if (!call && !strcmp(event->system, "raw_syscalls"))
			class->calls = tep_find_field(event, "id");
	}
	hash_put(&r->classes, key, (uintptr_t) class);
	return class;
}

/* The kind of the current event; NULL: its format is not known. */
static struct event_class *class_of(struct reader *r)
{
	const int type = tep_data_type(r->tep, r->record);
	const uint64_t first = (uint64_t)(uint32_t)type << 32;
	struct event_class *class = (struct event_class *)hash_get(&r->classes, first + 1);
	struct tep_event *event;
	uint64_t call;

	if (!class) {
		event = tep_find_event(r->tep, type);
		if (!event)
			return NULL;
		class = add_class(r, event, 0, first + 1);
	}
	if (!class->calls)
		return class;
	call = (uint64_t)value_of(class->calls, r->record, -1) & 0xffff;
	event = class->event;
	class = (struct event_class *)hash_get(&r->classes, first + 2 + call);
	return class ? class : add_class(r, event, call, first + 2 + call);
}

static int take(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *arg)
{
	struct reader *r = arg;
	struct import_event e = { r, -1, number, text };

	(void)handle;
	if (cpu < 0 || cpu >= IMPORT_CPUS || record->size < RECORD_BYTES)
		return 0;
	import_time(r->im, import_ns(record->ts, r->im->hz), (uint32_t)cpu);
	r->record = record;
	if (record->missed_events)
		import_discarded(r->im, record->missed_events > 0 ?
						(uint64_t)record->missed_events :
						1);
	r->class = class_of(r);
	if (r->class) {
		e.tid = tep_data_pid(r->tep, record);
		import_event(r->im, &r->class->class, &e);
	}
	return r->im->err ? -1 : 0;
}

/* Tasks that no event names are in the list of names of the file. */
static void name_tasks(struct reader *r)
{
	struct import_task *task;
	const char *comm;
	size_t i;

	for (i = 0; i < r->im->nr_tasks; i++) {
		task = r->im->tasks[i];
		comm = *task->owner.comm ? NULL : tep_data_comm_from_pid(r->tep, task->owner.tid);
		if (comm && strcmp(comm, "<...>"))
			import_name(task, comm);
	}
}

/* The file */

/* "Linux name release ..." */
static void describe(struct reader *r)
{
	struct import_host *host = &r->im->host;
	const char *uname = tracecmd_get_uname ? tracecmd_get_uname(r->handle) : NULL;
	const unsigned long long id = tracecmd_get_traceid(r->handle);

	if (uname) {
		sscanf(uname, "%*s %71s %71s", host->nodename, host->release);
		r->im->x86_64 = strstr(uname, " x86_64") != NULL;
	}
	memcpy(host->boot_id, &id, sizeof(id));
}

/* Some clocks count cycles, or just events. Return: false with a message. */
static bool check_clock(const struct reader *r, const char *path)
{
	const char *clock = tracecmd_get_trace_clock ? tracecmd_get_trace_clock(r->handle) : NULL;

	if (!clock || (strcmp(clock, "x86-tsc") && strcmp(clock, "ppc-tb") &&
		       strcmp(clock, "counter")))
		return true;
	if (!strcmp(clock, "counter"))
		complain("%s: its clock is a counter of events, not of time", path);
	else if (!r->im->hz)
		complain("%s: its clock %s counts cycles: --hz=NUMBER says how many in a second",
			 path, clock);
	return r->im->hz && strcmp(clock, "counter");
}

static int read_file(struct reader *r, const char *path)
{
	int status;

	r->tep = tracecmd_get_tep(r->handle);
	describe(r);
	if (!r->tep || !check_clock(r, path))
		return CLI_FAILED;
	status = tracecmd_iterate_events(r->handle, NULL, 0, take, r);
	name_tasks(r);
	if (status < 0)
		complain("cannot read %s: damaged, or the recording cannot be written", path);
	return status < 0 ? CLI_FAILED : CLI_DONE;
}

int import_ftrace(struct import *im, const char *path)
{
	struct reader *r = cli_alloc(NULL, 1, sizeof(*r));
	int status = CLI_FAILED;
	size_t i;

	memset(r, 0, sizeof(*r));
	r->im = im;
	im->ftrace = im->kernel = true;
	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	r->handle = tracecmd_open_head(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (r->handle && !tracecmd_init_data(r->handle)) {
		status = read_file(r, path);
		tracecmd_close(r->handle);
	} else {
		/* Some versions of tracecmd_close() fail for a file without data. */
		complain("cannot read %s: damaged, or its version is not known", path);
	}
	for (i = 0; i < r->classes.room; i++)
		free((void *)r->classes.entries[i].value);
	hash_deinit(&r->classes);
	free(r);
	return status;
}

#else

int import_ftrace(struct import *im, const char *path)
{
	(void)im;
	complain("%s: not available: install libtracecmd-dev and rebuild ktau", path);
	return CLI_FAILED;
}

#endif
