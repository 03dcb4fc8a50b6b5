// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records in normal form: texts, copies, frames in flight, look-up. */
#include <stdlib.h>

#include "util.h"

/* A text of @bytes bytes @offset after the fixed part. */
static const char *text(const void *record, uint64_t offset, uint32_t bytes)
{
	const struct ktau_rec *rec = record;

	return bytes ? (const char *)record + rec->head + offset : "";
}

const char *ktau_info_command(const struct ktau_rec_info *info)
{
	return text(info, 0, info->command_bytes);
}

const char *ktau_info_symbols(const struct ktau_rec_info *info)
{
	return text(info, info->command_bytes, info->symbols_bytes);
}

const char *ktau_info_job(const struct ktau_rec_info *info)
{
	return text(info, (uint64_t)info->command_bytes + info->symbols_bytes,
		    info->job_bytes);
}

const char *ktau_event_name(const struct ktau_rec_event *event)
{
	return text(event, 0, event->name_bytes);
}

const char *ktau_cgroup_path(const struct ktau_rec_cgroup *cgroup)
{
	return text(cgroup, 0, cgroup->path_bytes);
}

const char *ktau_owner_path(const struct ktau_rec_owner *owner)
{
	return text(owner, 0, owner->path_bytes);
}

bool ktau_same_boot(const struct ktau_rec_stream *a, const struct ktau_rec_stream *b)
{
	return !memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id));
}

void ktau_record_free(void *record)
{
	free(record);
}

void *ktau_record_dup(const void *record)
{
	const struct ktau_rec *rec = record;
	void *copy = malloc(rec->size);

	return copy ? memcpy(copy, record, rec->size) : NULL;
}

static uint64_t open_ticks(const struct ktau_rec_profile *p, const struct ktau_open *open)
{
	return p->ticks > open->start_ticks ? p->ticks - open->start_ticks : 0;
}

int ktau_profile_inflight(const struct ktau_rec_profile *p, uint32_t index,
			  uint64_t *incl_ticks, uint64_t *excl_ticks)
{
	const struct ktau_open *open = ktau_profile_open(p) + index;
	uint64_t incl, inside;

	if (index >= p->nr_open)
		return -ERANGE;
	incl = open_ticks(p, open);
	inside = open->child_ticks;
	if (index)
		inside += open_ticks(p, open - 1);
	if (incl_ticks)
		*incl_ticks = incl;
	if (excl_ticks)
		*excl_ticks = incl > inside ? incl - inside : 0;
	return 0;
}

const struct ktau_entry *ktau_profile_find(const struct ktau_rec_profile *p, uint32_t id)
{
	const struct ktau_entry *entries = ktau_profile_entries(p);
	uint32_t low = 0, high = p->nr_entries, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (entries[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->nr_entries && entries[low].id == id ? &entries[low] : NULL;
}
