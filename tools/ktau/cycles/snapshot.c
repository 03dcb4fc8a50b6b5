// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot: the directory that ARM's tools and OpenCSD write. snapshot.ini lists the files of the
 * devices and names trace.ini, which says what was written to which buffer.
 */
#include "recording.h"

#ifdef KTAU_HAVE_INIH
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/cli.h"

/* Limits of what is kept of the files: more is an error. */
enum { MAX_DEVICES = 512, MAX_PAIRS = 1024, NAME = 64 };

struct pair {
	char key[NAME], value[NAME];
};

/* A list of names and values, from a section. */
struct pairs {
	struct pair pair[MAX_PAIRS];
	size_t nr;
};

struct dump {
	char section[NAME];
	char file[PATH_MAX];
	uint64_t address, length, offset;
};

/* The device file that is being read. */
struct device {
	char name[NAME], class[NAME], type[NAME];
	struct trace_register registers[TRACE_MAX_REGISTERS];
	size_t nr_registers;
	struct dump *dumps;
	size_t nr_dumps;
};

/**
 * struct snapshot - what has been read
 * @r: result
 * @file: the file that is being read, for messages
 * @devices: files of the devices
 * @trace: file of the buffers; empty: there is none
 * @buffers: section and "file", "format" or "name" of each buffer
 * @cores: core and its trace source
 * @sources: trace source and its buffers
 * @device: the device that is being read
 * @problem: what is wrong with the current file; empty: nothing
 */
struct snapshot {
	struct recording *r;
	char file[PATH_MAX];
	char devices[MAX_DEVICES][NAME];
	size_t nr_devices;
	char trace[NAME];
	struct pairs buffers, cores, sources;
	struct pairs core_types;
	struct device device;
	char problem[200];
};

/* Copy at most @room bytes; false if @from is longer. */
static bool copy(char *to, size_t room, const char *from)
{
	size_t bytes = strlen(from) + 1;

	if (bytes > room)
		return false;
	memcpy(to, from, bytes);
	return true;
}

/* Remember the first problem of a file. Return: 0, which ends the reading of a file. */
static int fault(struct snapshot *s, const char *what, const char *value)
{
	if (!*s->problem)
		snprintf(s->problem, sizeof(s->problem), "%s: %.100s", what, value);
	return 0;
}

/* Whether a name leads out of the directory. */
static bool leads_out(const char *file)
{
	const char *part = file;

	for (; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/'))
			return true;
	}
	return *file == '/';
}

/* The path of a file in the directory. 0, or -1 with @problem. */
static int path_of(struct snapshot *s, const char *file, char *path)
{
	if (leads_out(file))
		fault(s, "the name of a file must be relative, without ..", file);
	else if (snprintf(path, PATH_MAX, "%s/%s", s->r->path, file) >= PATH_MAX)
		fault(s, "the name of a file is too long", file);
	else
		return 0;
	return -1;
}

static int add_pair(struct snapshot *s, struct pairs *pairs, const char *key, const char *value)
{
	struct pair *pair = &pairs->pair[pairs->nr];

	if (pairs->nr == MAX_PAIRS)
		return fault(s, "too many entries", key);
	if (!copy(pair->key, NAME, key) || !copy(pair->value, NAME, value))
		return fault(s, "too long", value);
	pairs->nr++;
	return 1;
}

static const char *find_pair(const struct pairs *pairs, const char *key)
{
	size_t i;

	for (i = 0; i < pairs->nr; i++)
		if (!strcmp(pairs->pair[i].key, key))
			return pairs->pair[i].value;
	return NULL;
}

/* snapshot.ini */
static int take_snapshot(void *arg, const char *section, const char *name, const char *value)
{
	struct snapshot *s = arg;

	if (!strcasecmp(section, "device_list")) {
		if (s->nr_devices == MAX_DEVICES)
			return fault(s, "more devices than supported", name);
		if (!copy(s->devices[s->nr_devices++], NAME, value))
			return fault(s, "too long", value);
	} else if (!strcasecmp(section, "trace") && !strcasecmp(name, "metadata")) {
		if (!copy(s->trace, NAME, value))
			return fault(s, "too long", value);
	}
	return 1;
}

/* A section of a buffer has its file, its format and the name by which sources refer to it. */
static int take_trace(void *arg, const char *section, const char *name, const char *value)
{
	struct snapshot *s = arg;
	char key[2 * NAME];

	if (!strcasecmp(section, "core_trace_sources"))
		return add_pair(s, &s->cores, name, value);
	if (!strcasecmp(section, "source_buffers"))
		return add_pair(s, &s->sources, name, value);
	if (snprintf(key, sizeof(key), "%s.%s", section, name) >= NAME)
		return fault(s, "too long", name);
	return add_pair(s, &s->buffers, key, value);
}

static int take_register(struct snapshot *s, const char *name, const char *value)
{
	struct device *d = &s->device;
	size_t bytes = strcspn(name, "( ");
	struct trace_register *reg = &d->registers[d->nr_registers];

	/* Registers of cores that are not needed here may have any form. */
	if (strcasecmp(d->class, "trace_source"))
		return 1;
	if (d->nr_registers == TRACE_MAX_REGISTERS)
		return fault(s, "too many registers", name);
	if (!bytes || bytes >= sizeof(reg->name))
		return 1;
	if (cli_number(value, UINT64_MAX, &reg->value))
		return fault(s, "not a number", value);
	memcpy(reg->name, name, bytes);
	reg->name[bytes] = '\0';
	d->nr_registers++;
	return 1;
}

/* Sections [dump], [dump1] and so on. */
static int take_dump(struct snapshot *s, const char *section, const char *name, const char *value)
{
	struct device *d = &s->device;
	struct dump *dump = d->nr_dumps ? &d->dumps[d->nr_dumps - 1] : NULL;
	uint64_t *number;

	/* A section may also be repeated: each "file" begins a dump. */
	if (!dump || strcmp(dump->section, section) ||
	    (!strcasecmp(name, "file") && *dump->file)) {
		d->dumps = cli_alloc(d->dumps, d->nr_dumps + 1, sizeof(*d->dumps));
		dump = &d->dumps[d->nr_dumps++];
		*dump = (struct dump){ 0 };
		if (!copy(dump->section, sizeof(dump->section), section))
			return fault(s, "too long", section);
	}
	if (!strcasecmp(name, "file"))
		return copy(dump->file, sizeof(dump->file), value) ? 1 :
								     fault(s, "too long", value);
	number = !strcasecmp(name, "address") ? &dump->address :
		 !strcasecmp(name, "length")  ? &dump->length :
		 !strcasecmp(name, "offset")  ? &dump->offset :
						NULL;
	if (number && cli_number(value, UINT64_MAX, number))
		return fault(s, "not a number", value);
	return 1;
}

static int take_device(void *arg, const char *section, const char *name, const char *value)
{
	struct snapshot *s = arg;
	struct device *d = &s->device;
	char *field = NULL;

	if (!strcasecmp(section, "regs"))
		return take_register(s, name, value);
	if (!strncasecmp(section, "dump", 4))
		return take_dump(s, section, name, value);
	if (!strcasecmp(section, "device"))
		field = !strcasecmp(name, "name")  ? d->name :
			!strcasecmp(name, "class") ? d->class :
			!strcasecmp(name, "type")  ? d->type :
						     NULL;
	if (field && !copy(field, NAME, value))
		return fault(s, "too long", value);
	return 1;
}

/* Read one file of the directory. 0, or -1 with a message. */
static int read_file(struct snapshot *s, const char *file, ini_handler take)
{
	FILE *f;
	int line;

	*s->problem = '\0';
	if (path_of(s, file, s->file)) {
		complain("%s: %s", s->r->path, s->problem);
		return -1;
	}
	f = fopen(s->file, "re");
	if (!f) {
		complain("cannot read %s: %s", s->file, strerror(errno));
		return -1;
	}
	recording_add_text(s->r, s->file);
	line = ini_parse_file(f, take, s);
	if (line < 0 || ferror(f))
		snprintf(s->problem, sizeof(s->problem), "%s", strerror(errno));
	fclose(f);
	if (!line)
		return 0;
	if (*s->problem)
		complain("%s:%d: %s", s->file, line, s->problem);
	else
		complain("%s:%d: neither a section nor a name and a value", s->file, line);
	return -1;
}

static int add_dumps(struct snapshot *s)
{
	struct device *d = &s->device;
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < d->nr_dumps; i++) {
		if (!*d->dumps[i].file) {
			complain("%s: a dump has no file", s->file);
			return -1;
		}
		if (path_of(s, d->dumps[i].file, path)) {
			complain("%s: %s", s->file, s->problem);
			return -1;
		}
		if (code_add_file(&s->r->code, path, d->dumps[i].offset, d->dumps[i].length,
				  d->dumps[i].address))
			return -1;
	}
	return 0;
}

static int add_device(struct snapshot *s)
{
	struct device *d = &s->device;
	struct trace_source *source;
	size_t i;

	if (!strcasecmp(d->class, "core")) {
		s->r->nr_cores++;
		if (!add_pair(s, &s->core_types, d->name, d->type)) {
			complain("%s: %s", s->file, s->problem);
			return -1;
		}
	} else if (!strcasecmp(d->class, "trace_source")) {
		source = recording_add_source(s->r);
		snprintf(source->name, sizeof(source->name), "%s", d->name);
		source->protocol = trace_protocol_of(d->type);
		for (i = 0; i < d->nr_registers; i++)
			trace_source_set(source, d->registers[i].name, d->registers[i].value);
	}
	return add_dumps(s);
}

static int read_devices(struct snapshot *s)
{
	size_t i;
	int err = 0;

	for (i = 0; i < s->nr_devices && !err; i++) {
		s->device = (struct device){ 0 };
		err = read_file(s, s->devices[i], take_device);
		if (!err)
			err = add_device(s);
		free(s->device.dumps);
	}
	return err;
}

/* Whether @word is in a list that is separated by commas. */
static bool in_list(const char *list, const char *word)
{
	size_t bytes = strlen(word), length;

	for (; *list; list += length + strspn(list + length, ", \t")) {
		length = strcspn(list, ", \t");
		if (length == bytes && !strncmp(list, word, bytes))
			return true;
	}
	return false;
}

/* The sources that write to the buffer of section @section. */
static int assign_sources(struct snapshot *s, const char *section, int buffer)
{
	const char *list, *name;
	char key[2 * NAME];
	size_t i;
	int nr = 0;

	snprintf(key, sizeof(key), "%s.name", section);
	name = find_pair(&s->buffers, key);
	for (i = 0; i < s->r->nr_sources; i++) {
		list = find_pair(&s->sources, s->r->sources[i].name);
		if (!list || !in_list(list, name ? name : section))
			continue;
		s->r->sources[i].buffer = buffer;
		nr++;
	}
	return nr;
}

static int add_buffer(struct snapshot *s, const char *section)
{
	struct trace_buffer *buffer;
	char key[2 * NAME], path[PATH_MAX];
	const char *file, *format;
	const uint8_t *data;
	uint64_t bytes;
	int nr;

	snprintf(key, sizeof(key), "%s.file", section);
	file = find_pair(&s->buffers, key);
	snprintf(key, sizeof(key), "%s.format", section);
	format = find_pair(&s->buffers, key);
	if (!file) {
		complain("%s: the buffer %s has no file", s->file, section);
		return -1;
	}
	if (path_of(s, file, path)) {
		complain("%s: %s", s->file, s->problem);
		return -1;
	}
	data = code_map(&s->r->code, path, &bytes);
	if (!data)
		return -1;
	buffer = recording_add_buffer(s->r);
	snprintf(buffer->name, sizeof(buffer->name), "%s", file);
	trace_buffer_add(buffer, data, bytes);
	buffer->formatted = !format || strcasecmp(format, "source_data");
	nr = assign_sources(s, section, (int)s->r->nr_buffers - 1);
	if (nr == 1 || buffer->formatted)
		return 0;
	complain("%s: %d sources write to the buffer %s, which is not formatted", s->file, nr,
		 section);
	return -1;
}

static int read_buffers(struct snapshot *s)
{
	const char *list = find_pair(&s->buffers, "trace_buffers.buffers");
	char section[NAME];
	size_t length;
	int err = 0;

	for (; list && *list && !err; list += length + strspn(list + length, ", \t")) {
		length = strcspn(list, ", \t");
		snprintf(section, sizeof(section), "%.*s", (int)length, list);
		err = add_buffer(s, section);
	}
	return err;
}

/* Which core each source belongs to. */
static void assign_cores(struct snapshot *s)
{
	const char *type;
	size_t i, j;

	for (i = 0; i < s->cores.nr; i++) {
		type = find_pair(&s->core_types, s->cores.pair[i].key);
		for (j = 0; type && j < s->r->nr_sources; j++)
			if (!strcmp(s->r->sources[j].name, s->cores.pair[i].value))
				snprintf(s->r->sources[j].core, sizeof(s->r->sources[j].core), "%s",
					 type);
	}
}

int snapshot_read(struct recording *r)
{
	struct snapshot *s = cli_alloc(NULL, 1, sizeof(*s));
	int err;

	memset(s, 0, sizeof(*s));
	s->r = r;
	err = read_file(s, "snapshot.ini", take_snapshot);
	if (!err)
		err = read_devices(s);
	if (!err && !*s->trace) {
		complain("%s: snapshot.ini names no trace", r->path);
		err = -1;
	}
	if (!err)
		err = read_file(s, s->trace, take_trace);
	if (!err) {
		assign_cores(s);
		err = read_buffers(s);
	}
	free(s);
	return err;
}
#else
#include "lib/cli.h"

int snapshot_read(struct recording *r)
{
	(void)r;
	complain("built without inih, which reads snapshots: install libinih-dev and build again");
	return -1;
}
#endif
