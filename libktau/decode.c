// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Any writer's record to normal form: this machine's byte order and this library's
 * structure sizes. A shorter structure is extended with zeros, a longer one is cut. Nothing
 * is trusted: every count is checked against the size of the record, all of which the
 * caller has in memory.
 */
#include "decode.h"
#include "events.h"
#include "fields.h"
#include "slot.h"
#include "swap.h"

static const struct layout {
	uint16_t type;
	uint16_t size;
	const char *fields;
} layouts[] = {
#define KTAU_RECORD(type, structure, word) \
	{ KTAU_REC_##type, sizeof(struct structure), ktau__fields_##structure },
#include <ktau_fields.h>
};

struct ktau_rec ktau__decode_rec(const void *data, bool swap)
{
	struct ktau_rec rec;

	memcpy(&rec, data, sizeof(rec));
	rec.size = ktau__swap32(rec.size, swap);
	rec.type = ktau__swap16(rec.type, swap);
	rec.head = ktau__swap16(rec.head, swap);
	return rec;
}

const char *ktau__bad_rec(const struct ktau_rec *rec)
{
	if (rec->size < sizeof(*rec) || rec->size % 8)
		return "record with an impossible size";
	if (rec->size > KTAU_BLOCK_MAX)
		return "record larger than the maximum";
	if (rec->head < sizeof(*rec) || rec->head % 8 || rec->head > rec->size)
		return "record with an impossible fixed part";
	return NULL;
}

static const struct layout *find_layout(uint16_t type)
{
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].type == type)
			return &layouts[i];
	}
	return NULL;
}

/* The part of a record after the fixed part that is still to be decoded. */
struct rest {
	const uint8_t *data;
	uint64_t left;		/* bytes of the record from @data on */
	struct ktau__buffer *out;
	bool swap;
};

/* An array of @nr elements of @size bytes, which become @our_size bytes each. */
struct array {
	uint32_t nr;
	uint32_t size;
	uint32_t our_size;
	const char *fields;
};

static int take_array(struct rest *rest, const struct array *array)
{
	uint64_t bytes = (uint64_t)array->nr * array->size;
	uint64_t keep = ktau__min(array->size, array->our_size);
	uint8_t *to;
	uint32_t i;
	int err;

	if (!array->nr)
		return 0;
	if (array->size < 8 || array->size % 8 || bytes > rest->left)
		return -EBADMSG;
	err = ktau__buffer_reserve(rest->out,
				   rest->out->size + (size_t)array->nr * array->our_size);
	if (err)
		return err;
	to = rest->out->data + rest->out->size;
	for (i = 0; i < array->nr; i++, to += array->our_size) {
		memcpy(to, rest->data + (size_t)i * array->size, keep);
		memset(to + keep, 0, array->our_size - keep);
		if (rest->swap)
			ktau__swap_fields(to, array->our_size, array->fields);
	}
	rest->data += bytes;
	rest->left -= bytes;
	rest->out->size += (size_t)array->nr * array->our_size;
	return 0;
}

static int decode_profile(struct rest *rest, const char **why)
{
	struct ktau_rec_profile *p = (void *)rest->out->data;
	const struct array entries = {
		.nr = p->nr_entries, .size = p->entry_size,
		.our_size = sizeof(struct ktau_entry), .fields = ktau__fields_ktau_entry,
	};
	const struct array open = {
		.nr = p->nr_open, .size = p->open_size,
		.our_size = sizeof(struct ktau_open), .fields = ktau__fields_ktau_open,
	};
	int err;

	p->entry_size = sizeof(struct ktau_entry);
	p->open_size = sizeof(struct ktau_open);
	*why = "profile with more entries than its size allows";
	err = take_array(rest, &entries);
	if (err)
		return err;
	*why = "profile with more open frames than its size allows";
	return take_array(rest, &open);
}

static int decode_trace(struct rest *rest, const char **why)
{
	struct ktau_rec_trace *t = (void *)rest->out->data;
	uint32_t nr = t->nr_slots, bytes = t->slots_bytes;
	size_t at = rest->out->size;
	int err;

	*why = "trace with slots that do not fit";
	if (bytes > rest->left || !ktau__check_slots(rest->data, nr, bytes))
		return -EBADMSG;
	err = ktau__buffer_append(rest->out, rest->data, bytes);
	if (!err && rest->swap)
		ktau__swap_slots(rest->out->data + at, nr);
	return err;
}

static int decode_gone(struct rest *rest, const char **why)
{
	struct ktau_rec_gone *gone = (void *)rest->out->data;
	const struct array serials = {
		.nr = gone->nr_serials, .size = gone->serial_bytes,
		.our_size = sizeof(uint64_t), .fields = "8",
	};

	gone->serial_bytes = sizeof(uint64_t);
	*why = "list with more folded serials than serials";
	if (gone->nr_folded > gone->nr_serials)
		return -EBADMSG;
	*why = "list of serials that is longer than its size allows";
	return take_array(rest, &serials);
}

static int decode_region(struct rest *rest, const char **why)
{
	struct ktau_rec_region *region = (void *)rest->out->data;
	const struct array entries = {
		.nr = region->nr_entries, .size = region->entry_size,
		.our_size = sizeof(struct ktau_entry), .fields = ktau__fields_ktau_entry,
	};

	region->entry_size = sizeof(struct ktau_entry);
	*why = "region with more entries than its size allows";
	return take_array(rest, &entries);
}

static bool is_text(const uint8_t *text, uint64_t bytes)
{
	return !bytes || (!text[bytes - 1] && strlen((const char *)text) == bytes - 1);
}

static int take_text(struct rest *rest, uint64_t bytes)
{
	static const uint8_t zeros[8];
	int err;

	err = ktau__buffer_append(rest->out, rest->data, bytes);
	if (err)
		return err;
	return ktau__buffer_append(rest->out, zeros,
				   ktau__pad8(rest->out->size) - rest->out->size);
}

/* One text of @bytes bytes, and at least one if it is @required. */
static int take_one_text(struct rest *rest, uint32_t bytes, bool required)
{
	if (bytes > rest->left || bytes < required || !is_text(rest->data, bytes))
		return -EBADMSG;
	return take_text(rest, bytes);
}

static void end_text(char *text, size_t size)
{
	text[size - 1] = 0;
}

static int decode_owner(struct rest *rest, const char **why)
{
	struct ktau_rec_owner *owner = (void *)rest->out->data;

	*why = "owner record with an impossible path";
	end_text(owner->comm, sizeof(owner->comm));
	return take_one_text(rest, owner->path_bytes, false);
}

static int decode_cgroup(struct rest *rest, const char **why)
{
	struct ktau_rec_cgroup *cgroup = (void *)rest->out->data;

	*why = "cgroup record with an impossible path";
	return take_one_text(rest, cgroup->path_bytes, true);
}

static int decode_event(struct rest *rest, const char **why)
{
	struct ktau_rec_event *event = (void *)rest->out->data;
	int err;

	*why = "event record with an impossible name";
	err = take_one_text(rest, event->name_bytes, true);
	if (err)
		return err;
	*why = ktau__bad_event((void *)rest->out->data);
	return *why ? -EBADMSG : 0;
}

/* True if @nr texts of these sizes, one after the other, fit. */
static bool fit(const struct rest *rest, const uint32_t *sizes, size_t nr)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (at + sizes[i] > rest->left || !is_text(rest->data + at, sizes[i]))
			return false;
		at += sizes[i];
	}
	return true;
}

static int decode_info(struct rest *rest, const char **why)
{
	struct ktau_rec_info *info = (void *)rest->out->data;
	const uint32_t sizes[] = { info->command_bytes, info->symbols_bytes, info->job_bytes };

	*why = "info record with texts that do not fit";
	if (info->build_id_bytes > sizeof(info->build_id) ||
	    !fit(rest, sizes, sizeof(sizes) / sizeof(*sizes)))
		return -EBADMSG;
	end_text(info->hostname, sizeof(info->hostname));
	end_text(info->release, sizeof(info->release));
	end_text(info->machine, sizeof(info->machine));
	return take_text(rest, (uint64_t)sizes[0] + sizes[1] + sizes[2]);
}

static int decode_stream(struct rest *rest, const char **why)
{
	struct ktau_rec_stream *stream = (void *)rest->out->data;

	*why = "stream in another byte order or of another version";
	if (stream->magic != KTAU_MAGIC || stream->version != KTAU_ABI_VERSION)
		return -EBADMSG;
	end_text(stream->nodename, sizeof(stream->nodename));
	end_text(stream->release, sizeof(stream->release));
	end_text(stream->machine, sizeof(stream->machine));
	return 0;
}

static int decode_rest(struct rest *rest, uint16_t type, const char **why)
{
	switch (type) {
	case KTAU_REC_STREAM:
		return decode_stream(rest, why);
	case KTAU_REC_EVENT:
		return decode_event(rest, why);
	case KTAU_REC_CGROUP:
		return decode_cgroup(rest, why);
	case KTAU_REC_OWNER:
		return decode_owner(rest, why);
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		return decode_profile(rest, why);
	case KTAU_REC_TRACE:
		return decode_trace(rest, why);
	case KTAU_REC_GONE:
		return decode_gone(rest, why);
	case KTAU_REC_REGION:
		return decode_region(rest, why);
	case KTAU_REC_INFO:
		return decode_info(rest, why);
	default:
		return 0;
	}
}

int ktau__decode(const void *data, bool swap, struct ktau__buffer *out, const char **why)
{
	struct ktau_rec rec = ktau__decode_rec(data, swap);
	const struct layout *layout = find_layout(rec.type);
	struct rest rest = {
		.data = (const uint8_t *)data + rec.head,
		.left = rec.size - rec.head,
		.out = out,
		.swap = swap,
	};
	size_t keep;
	int err;

	if (!layout)
		return 0;
	err = ktau__buffer_reserve(out, layout->size);
	if (err)
		return err;
	keep = ktau__min(rec.head, layout->size);
	memcpy(out->data, data, keep);
	memset(out->data + keep, 0, layout->size - keep);
	if (swap)
		ktau__swap_fields(out->data, layout->size, layout->fields);
	out->size = layout->size;
	((struct ktau_rec *)out->data)->head = layout->size;
	err = decode_rest(&rest, rec.type, why);
	if (err)
		return err;
	((struct ktau_rec *)out->data)->size = out->size;
	return 1;
}

/*
 * Records in normal form
 */

static const char *bad_profile(const struct ktau_rec_profile *p, uint64_t left)
{
	uint64_t bytes = (uint64_t)p->nr_entries * sizeof(struct ktau_entry) +
			 (uint64_t)p->nr_open * sizeof(struct ktau_open);

	if (p->entry_size != sizeof(struct ktau_entry) || p->open_size != sizeof(struct ktau_open))
		return "profile with entries of another size";
	return bytes <= left ? NULL : "profile with more entries than its size allows";
}

static const char *bad_trace(const struct ktau_rec_trace *t, uint64_t left)
{
	if (t->slots_bytes > left ||
	    !ktau__check_slots(ktau_trace_slots(t), t->nr_slots, t->slots_bytes))
		return "trace with slots that do not fit";
	return NULL;
}

static const char *bad_gone(const struct ktau_rec_gone *gone, uint64_t left)
{
	if (gone->serial_bytes != sizeof(uint64_t) || gone->nr_folded > gone->nr_serials ||
	    (uint64_t)gone->nr_serials * sizeof(uint64_t) > left)
		return "list of serials that is longer than its size allows";
	return NULL;
}

static const char *bad_region(const struct ktau_rec_region *region, uint64_t left)
{
	if (region->entry_size != sizeof(struct ktau_entry) ||
	    (uint64_t)region->nr_entries * sizeof(struct ktau_entry) > left)
		return "region with more entries than its size allows";
	return NULL;
}

static const char *bad_info(const struct ktau_rec_info *info, const struct rest *rest)
{
	const uint32_t sizes[] = { info->command_bytes, info->symbols_bytes, info->job_bytes };

	if (info->build_id_bytes > sizeof(info->build_id) ||
	    !fit(rest, sizes, sizeof(sizes) / sizeof(*sizes)))
		return "info record with texts that do not fit";
	return NULL;
}

static const char *bad_stream(const struct ktau_rec_stream *stream)
{
	if (stream->magic != KTAU_MAGIC || stream->version != KTAU_ABI_VERSION)
		return "stream in another byte order or of another version";
	return NULL;
}

static const char *bad_event(const struct ktau_rec_event *event, const struct rest *rest)
{
	if (!event->name_bytes || !fit(rest, &event->name_bytes, 1))
		return "event record with an impossible name";
	return ktau__bad_event(event);
}

static const char *bad_cgroup(const struct ktau_rec_cgroup *cgroup, const struct rest *rest)
{
	if (!cgroup->path_bytes || !fit(rest, &cgroup->path_bytes, 1))
		return "cgroup record with an impossible path";
	return NULL;
}

static const char *bad_owner(const struct ktau_rec_owner *owner, const struct rest *rest)
{
	return fit(rest, &owner->path_bytes, 1) ? NULL : "owner record with an impossible path";
}

static const char *bad_rest(const union ktau_record *record, const struct rest *rest)
{
	switch (record->rec->type) {
	case KTAU_REC_STREAM:
		return bad_stream(record->stream);
	case KTAU_REC_EVENT:
		return bad_event(record->event, rest);
	case KTAU_REC_CGROUP:
		return bad_cgroup(record->cgroup, rest);
	case KTAU_REC_OWNER:
		return bad_owner(record->owner, rest);
	case KTAU_REC_PROFILE:
	case KTAU_REC_DIFF:
		return bad_profile(record->profile, rest->left);
	case KTAU_REC_TRACE:
		return bad_trace(record->trace, rest->left);
	case KTAU_REC_GONE:
		return bad_gone(record->gone, rest->left);
	case KTAU_REC_REGION:
		return bad_region(record->region, rest->left);
	case KTAU_REC_INFO:
		return bad_info(record->info, rest);
	default:
		return NULL;
	}
}

const char *ktau__bad_record(const union ktau_record *record)
{
	const struct ktau_rec *rec = record->rec;
	const char *why = ktau__bad_rec(rec);
	const struct layout *layout = why ? NULL : find_layout(rec->type);
	const struct rest rest = {
		.data = (const uint8_t *)rec + rec->head,
		.left = rec->size - rec->head,
	};

	if (why)
		return why;
	if (!layout)
		return "record of a type that files do not have";
	if (rec->head != layout->size)
		return "record that is not in normal form";
	return bad_rest(record, &rest);
}
