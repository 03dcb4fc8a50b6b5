// SPDX-License-Identifier: GPL-2.0-only
/* The meaning of ids within one boot. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli.h"
#include "lib/hash.h"
#include "registry.h"

struct cgroup {
	uint64_t id;
	unsigned int round;	/* the last registry_put_all() that had it */
	char *path;	/* empty: the group was removed */
	char *text;	/* replacement for an empty path, created on demand */
};

struct registry {
	struct ktau_events *events;
	struct hash by_id;	/* index into cgroups, plus 1 */
	struct cgroup *cgroups;
	size_t nr, room;
	unsigned int round;
};

static struct ktau_events *new_events(void)
{
	struct ktau_events *events;

	/* Exits if there is no memory, like cli_alloc(). */
	if (ktau_events_create(&events))
		cli_alloc(NULL, SIZE_MAX, 1);
	return events;
}

struct registry *registry_create(void)
{
	struct registry *r = cli_alloc(NULL, 1, sizeof(*r));

	*r = (struct registry){ .events = new_events() };
	return r;
}

static void free_cgroups(struct registry *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++) {
		free(r->cgroups[i].path);
		free(r->cgroups[i].text);
	}
	r->nr = 0;
	hash_clear(&r->by_id);
}

void registry_destroy(struct registry *r)
{
	if (!r)
		return;
	free_cgroups(r);
	free(r->cgroups);
	hash_deinit(&r->by_id);
	ktau_events_destroy(r->events);
	free(r);
}

void registry_clear(struct registry *r)
{
	free_cgroups(r);
	ktau_events_destroy(r->events);
	r->events = new_events();
}

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(cli_alloc(NULL, bytes, 1), text, bytes);
}

/* A group that was removed keeps its last path. */
static void put_cgroup(struct registry *r, uint64_t id, const char *path)
{
	size_t index = hash_get(&r->by_id, id);

	if (index) {
		r->cgroups[index - 1].round = r->round;
		if (*path && strcmp(r->cgroups[index - 1].path, path)) {
			free(r->cgroups[index - 1].path);
			r->cgroups[index - 1].path = copy(path);
		}
		return;
	}
	if (r->nr == r->room) {
		r->room = r->room ? r->room * 2 : 16;
		r->cgroups = cli_alloc(r->cgroups, r->room, sizeof(*r->cgroups));
	}
	r->cgroups[r->nr++] = (struct cgroup){
		.id = id, .round = r->round, .path = copy(path)
	};
	hash_put(&r->by_id, id, r->nr);
}

int registry_put(struct registry *r, const union ktau_record *record)
{
	switch (record->rec->type) {
	case KTAU_REC_EVENT:
		return ktau_events_put(r->events, record->event);
	case KTAU_REC_CGROUP:
		put_cgroup(r, record->cgroup->id, ktau_cgroup_path(record->cgroup));
	}
	return 0;
}

/* The tasks of the snapshot before may belong to groups of the round before. */
static void forget_cgroups(struct registry *r)
{
	size_t i, nr = r->nr;

	r->nr = 0;
	hash_clear(&r->by_id);
	for (i = 0; i < nr; i++) {
		if (r->round - r->cgroups[i].round > 1) {
			free(r->cgroups[i].path);
			free(r->cgroups[i].text);
		} else {
			r->cgroups[r->nr++] = r->cgroups[i];
			hash_put(&r->by_id, r->cgroups[r->nr - 1].id, r->nr);
		}
	}
}

int registry_put_all(struct registry *r, const struct ktau_reader *reader)
{
	const struct ktau_events *events = ktau_reader_events(reader);
	const struct ktau_rec_cgroup *cgroup = NULL;
	const struct ktau_rec_event *event = NULL;
	int err = 0;

	r->round++;
	while (!err && (event = ktau_events_next(events, event)))
		err = ktau_events_put(r->events, event);
	while ((cgroup = ktau_reader_next_cgroup(reader, cgroup)))
		put_cgroup(r, cgroup->id, ktau_cgroup_path(cgroup));
	forget_cgroups(r);
	return err;
}

const struct ktau_events *registry_events(const struct registry *r)
{
	return r->events;
}

const char *registry_cgroup(const struct registry *r, uint64_t id)
{
	size_t index = hash_get(&r->by_id, id);

	return index && *r->cgroups[index - 1].path ? r->cgroups[index - 1].path : NULL;
}

const char *registry_cgroup_text(struct registry *r, uint64_t id)
{
	const char *path = registry_cgroup(r, id);
	struct cgroup *cgroup;
	bool described;
	int n;

	if (path)
		return path;
	if (!id)
		return "(unknown cgroup)";
	described = hash_get(&r->by_id, id);
	if (!described)
		put_cgroup(r, id, "");
	cgroup = &r->cgroups[hash_get(&r->by_id, id) - 1];
	if (!cgroup->text) {
		n = asprintf(&cgroup->text, "(%scgroup %" PRIu64 ")",
			     described ? "removed " : "", id);
		if (n < 0)
			cli_alloc(NULL, SIZE_MAX, 1);
	}
	return cgroup->text;
}
