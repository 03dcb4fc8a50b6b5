// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX areas in a perf.data file, in the layout of perf.data-file-format.txt in the kernel's
 * tools/perf/Documentation: a header with the place of the records, and records that begin with a
 * type, flags and their length. The data of an AUXTRACE record follows it and is not part of its
 * length.
 */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli.h"
#include "recording.h"

#define MAGIC		"PERFILE2"
#define MAGIC_SWAPPED	"2ELIFREP"

/* Lengths and offsets of the file's header. */
#define HEADER_BYTES		104
#define HEADER_DATA_OFFSET	40
#define HEADER_DATA_BYTES	48

enum { RECORD_MMAP = 1,
       RECORD_MMAP2 = 10,
       RECORD_AUX = 11,
       RECORD_COMPRESSED = 81,
       RECORD_AUXTRACE_INFO = 70,
       RECORD_AUXTRACE = 71 };

/* Flags of records. */
#define MISC_KERNEL	1
#define MISC_CPUMODE	7
#define MISC_MMAP_DATA	(1U << 13)
#define PROT_EXECUTE	4

/* PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW in the flags of an AUX record. */
#define AUX_RAW		(1U << 8)

/* Types in AUXTRACE_INFO. */
enum { AUXTRACE_INTEL_PT = 1, AUXTRACE_CS_ETM = 3 };

/* What precedes the registers of a CPU in the information of cs_etm. */
#define CS_ETMV3	0x3030303030303030ULL
#define CS_ETMV4	0x4040404040404040ULL
#define CS_ETE		0x5050505050505050ULL

struct perf_record {
	uint32_t type;
	uint16_t misc, size;
};

/**
 * struct perf_file - a file being read
 * @r: result
 * @data: the file
 * @bytes: its length
 * @type: AUXTRACE_*; 0: not known yet
 * @raw: the data of cs_etm is not in frames
 */
struct perf_file {
	struct recording *r;
	const uint8_t *data;
	uint64_t bytes;
	uint32_t type;
	bool raw;
};

bool perf_data_is(const uint8_t *data, uint64_t bytes)
{
	return bytes >= 8 && (!memcmp(data, MAGIC, 8) || !memcmp(data, MAGIC_SWAPPED, 8));
}

static uint64_t get_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t get_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static int damaged(const struct perf_file *f, uint64_t offset, const char *what)
{
	complain("%s: byte %" PRIu64 ": %s", f->r->path, offset, what);
	return -1;
}

/* The names of the registers of a CPU, in their order. */
static const char *const etmv3_names[] = { "ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR" };
static const char *const etmv4_names[] = { "TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1",
					   "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS" };
static const char *const ete_names[] = { "TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1",
					 "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS", "TRCDEVARCH" };

struct cpu_layout {
	uint64_t magic;
	enum trace_protocol protocol;
	const char *const *names;
	size_t nr_names;
};

static const struct cpu_layout layouts[] = {
	{ CS_ETMV3, TRACE_ETMV3, etmv3_names, sizeof(etmv3_names) / sizeof(*etmv3_names) },
	{ CS_ETMV4, TRACE_ETMV4, etmv4_names, sizeof(etmv4_names) / sizeof(*etmv4_names) },
	{ CS_ETE, TRACE_ETE, ete_names, sizeof(ete_names) / sizeof(*ete_names) },
};

/*
 * The information about a CPU: its magic, its number, from version 1 on the number of registers,
 * and the registers. Return: words used, 0 if it is damaged.
 */
static size_t add_cpu(struct perf_file *f, const uint8_t *words, size_t nr, uint64_t version)
{
	const struct cpu_layout *layout = NULL;
	size_t head = version ? 3 : 2, nr_registers, i;
	struct trace_source *source;

	for (i = 0; i < sizeof(layouts) / sizeof(*layouts) && nr >= head; i++)
		if (layouts[i].magic == get_u64(words))
			layout = &layouts[i];
	if (!layout)
		return 0;
	nr_registers = version ? get_u64(words + 16) :
				 layout->nr_names - (layout->protocol == TRACE_ETMV4);
	if (nr_registers > nr - head)
		return 0;
	source = recording_add_source(f->r);
	source->protocol = layout->protocol;
	snprintf(source->name, sizeof(source->name), "CPU %" PRIu64, get_u64(words + 8));
	snprintf(source->core, sizeof(source->core), "%s", source->name);
	for (i = 0; i < nr_registers && i < layout->nr_names; i++)
		trace_source_set(source, layout->names[i], get_u64(words + 8 * (head + i)));
	f->r->nr_cores++;
	return head + nr_registers;
}

/* Version, number of CPUs in the lower half of the second word, a flag, then the CPUs. */
static int take_cs_etm(struct perf_file *f, const uint8_t *words, size_t nr, uint64_t offset)
{
	uint64_t version, cpus;
	size_t used = 3, more;

	if (nr < 3)
		return damaged(f, offset, "incomplete description of CoreSight");
	version = get_u64(words);
	cpus = get_u64(words + 8) & UINT32_MAX;
	for (; cpus; cpus--) {
		more = add_cpu(f, words + 8 * used, nr - used, version);
		if (!more)
			return damaged(f, offset, "incomplete description of a trace macrocell");
		used += more;
	}
	return 0;
}

static int take_info(struct perf_file *f, const uint8_t *body, size_t bytes, uint64_t offset)
{
	if (bytes < 8)
		return damaged(f, offset, "incomplete record");
	f->type = get_u32(body);
	if (f->type == AUXTRACE_CS_ETM)
		return take_cs_etm(f, body + 8, (bytes - 8) / 8, offset);
	if (f->type != AUXTRACE_INTEL_PT) {
		complain("%s: the AUX data is neither of Intel PT nor of CoreSight", f->r->path);
		return -1;
	}
	return 0;
}

/* The buffer of an AUX area, which is that of a CPU or of a thread. */
static struct trace_buffer *find_buffer(struct perf_file *f, uint32_t index, uint32_t cpu)
{
	struct trace_buffer *buffer;
	struct trace_source *source;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "AUX area %" PRIu32, index);
	for (i = 0; i < f->r->nr_buffers; i++)
		if (!strcmp(f->r->buffers[i].name, name))
			return &f->r->buffers[i];
	buffer = recording_add_buffer(f->r);
	memcpy(buffer->name, name, sizeof(name));
	if (f->type == AUXTRACE_CS_ETM)
		return buffer;
	source = recording_add_source(f->r);
	source->protocol = TRACE_PT;
	source->buffer = (int)f->r->nr_buffers - 1;
	source->id = (uint8_t)index;
	if (cpu == UINT32_MAX)
		snprintf(source->name, sizeof(source->name), "%s", name);
	else
		snprintf(source->name, sizeof(source->name), "CPU %" PRIu32, cpu);
	memcpy(source->core, source->name, sizeof(source->core));
	f->r->nr_cores++;
	return buffer;
}

/* size u64, offset u64, reference u64, index u32, tid u32, cpu u32; the data follows the record. */
static int take_auxtrace(struct perf_file *f, const uint8_t *body, size_t bytes, uint64_t *end)
{
	struct trace_buffer *buffer;
	uint64_t size;

	if (bytes < 36)
		return damaged(f, *end, "incomplete record");
	size = get_u64(body);
	if (size > f->bytes - *end)
		return damaged(f, *end, "AUX data beyond the end of the file");
	if (!f->type)
		return damaged(f, *end, "AUX data without a description");
	buffer = find_buffer(f, get_u32(body + 24), get_u32(body + 32));
	trace_buffer_add(buffer, f->data + *end, size);
	*end += size;
	return 0;
}

/*
 * A mapping of a program: the code is in a file. MMAP has pid, tid, address, length and offset;
 * MMAP2 has 24 bytes more, then the protection and flags; the name of the file follows.
 */
static void take_mapping(struct perf_file *f, const struct perf_record *rec, const uint8_t *body,
			 size_t bytes)
{
	size_t name_at = rec->type == RECORD_MMAP ? 32 : 64;
	char path[PATH_MAX];

	if (bytes <= name_at || (rec->misc & MISC_CPUMODE) == MISC_KERNEL ||
	    rec->misc & MISC_MMAP_DATA ||
	    (rec->type == RECORD_MMAP2 && !(get_u32(body + 56) & PROT_EXECUTE)))
		return;
	bytes -= name_at;
	if (bytes >= sizeof(path))
		return;
	memcpy(path, body + name_at, bytes);
	path[bytes] = '\0';
	/* Names such as [vdso] and //anon are no files. What cannot be read will be unread. */
	if (*path != '/' || path[1] == '/' || access(path, R_OK))
		return;
	code_add_mapping(&f->r->code, path, get_u64(body + 24), get_u64(body + 16),
			 get_u64(body + 8));
}

static int take_record(struct perf_file *f, const struct perf_record *rec, uint64_t *offset)
{
	const uint8_t *body = f->data + *offset + sizeof(*rec);
	size_t bytes = rec->size - sizeof(*rec);
	uint64_t start = *offset;

	*offset += rec->size;
	switch (rec->type) {
	case RECORD_AUXTRACE_INFO:
		return take_info(f, body, bytes, start);
	case RECORD_AUXTRACE:
		return take_auxtrace(f, body, bytes, offset);
	case RECORD_AUX:
		if (bytes >= 24 && get_u64(body + 16) & AUX_RAW)
			f->raw = true;
		return 0;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		take_mapping(f, rec, body, bytes);
		return 0;
	case RECORD_COMPRESSED:
		return damaged(f, start, "compressed records: record without --compression-level");
	}
	return 0;
}

static int read_records(struct perf_file *f, uint64_t offset, uint64_t end)
{
	struct perf_record rec;

	while (offset < end) {
		if (end - offset < sizeof(rec))
			return damaged(f, offset, "incomplete record");
		memcpy(&rec, f->data + offset, sizeof(rec));
		if (rec.size < sizeof(rec) || rec.size > end - offset)
			return damaged(f, offset, "a record with an impossible length");
		if (take_record(f, &rec, &offset))
			return -1;
	}
	return 0;
}

/* A raw buffer has the source of its CPU; frames may be of any source. */
static void assign_sources(struct perf_file *f)
{
	size_t i;

	if (f->type != AUXTRACE_CS_ETM)
		return;
	for (i = 0; i < f->r->nr_buffers; i++)
		f->r->buffers[i].formatted = !f->raw;
	for (i = 0; i < f->r->nr_sources; i++)
		f->r->sources[i].buffer = f->raw ? (int)i : TRACE_ANY_BUFFER;
}

int perf_data_read(struct recording *r)
{
	struct perf_file f = { .r = r };
	uint64_t offset, bytes;

	f.data = code_map(&r->code, r->path, &f.bytes);
	if (!f.data)
		return -1;
	if (f.bytes < 16 || !memcmp(f.data, MAGIC_SWAPPED, 8)) {
		complain("%s: recorded on a machine of the other byte order", r->path);
		return -1;
	}
	if (get_u64(f.data + 8) < HEADER_BYTES || f.bytes < HEADER_BYTES) {
		complain("%s: recorded into a pipe: record with perf record -o FILE", r->path);
		return -1;
	}
	offset = get_u64(f.data + HEADER_DATA_OFFSET);
	bytes = get_u64(f.data + HEADER_DATA_BYTES);
	if (offset > f.bytes || bytes > f.bytes - offset)
		return damaged(&f, offset, "the records end beyond the end of the file");
	if (read_records(&f, offset, offset + bytes))
		return -1;
	if (!r->nr_buffers) {
		complain("%s: has no AUX data: record with perf record -e intel_pt/cyc/ or "
			 "-e cs_etm/cycacc/", r->path);
		return -1;
	}
	assign_sources(&f);
	return 0;
}
