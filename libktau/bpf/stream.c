// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records that the streams of profiles and of traces have in common, and which tasks they have. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "stream.h"

struct ktau_rec ktau__header(uint16_t type, size_t head, size_t size)
{
	return (struct ktau_rec){ .size = ktau__pad8(size), .type = type, .head = head };
}

int ktau__put(struct ktau__stream *s, const void *data, size_t size)
{
	static const uint8_t zeros[8];
	int err = ktau__buffer_append(s->out, data, size);

	if (!err && size % 8)
		err = ktau__buffer_append(s->out, zeros, 8 - size % 8);
	return err;
}

int ktau__put_event(struct ktau__stream *s, uint32_t id, uint8_t kind)
{
	struct ktau_rec_event r = { .id = id, .kind = kind };
	struct ktau__event_facts facts;
	int err;

	if (s->named[id / 8] & 1 << id % 8)
		return 0;
	s->named[id / 8] |= 1 << id % 8;
	ktau__bpf_event(id, &facts);
	r.source = facts.source;
	r.group = facts.group;
	r.key = facts.key;
	r.name_bytes = strlen(facts.name) + 1;
	r.rec = ktau__header(KTAU_REC_EVENT, sizeof(r), sizeof(r) + r.name_bytes);
	err = ktau__put(s, &r, sizeof(r));
	return err ? err : ktau__put(s, facts.name, r.name_bytes);
}

/*
 * Owners
 */

/* The serial of a live process's leader, 0 if it is not in the stream. */
uint64_t ktau__leader_of(const struct ktau__stream *s, int32_t tgid)
{
	size_t at = ktau__map_get(&s->serials, (uint32_t)tgid);
	uint64_t serial;

	if (at == KTAU__MAP_NONE)
		return 0;
	memcpy(&serial, s->leaders.data + at * sizeof(serial), sizeof(serial));
	return serial;
}

int ktau__put_cgroup(struct ktau__stream *s, uint64_t *id)
{
	size_t is_known = ktau__map_get(&s->cgroups, *id);
	struct ktau_rec_cgroup r = { .id = *id };
	char path[4096];
	int err;

	if (!*id)
		return 0;
	if (is_known != KTAU__MAP_NONE) {
		*id = is_known ? *id : 0;
		return 0;
	}
	is_known = !ktau__cgroup_path(&s->cgroup_mount, *id, path, sizeof(path));
	err = ktau__map_put(&s->cgroups, *id, is_known);
	if (err || !is_known) {
		*id = 0;
		return err;
	}
	r.path_bytes = strlen(path) + 1;
	r.rec = ktau__header(KTAU_REC_CGROUP, sizeof(r), sizeof(r) + r.path_bytes);
	err = ktau__put(s, &r, sizeof(r));
	return err ? err : ktau__put(s, path, r.path_bytes);
}

int ktau__put_owner(struct ktau__stream *s, const struct kb_state *st, uint64_t seq, uint32_t flags)
{
	const struct kb_owner *o = &st->owner;
	struct ktau_rec_owner r = {
		.serial = st->serial,
		.parent_serial = ktau__leader_of(s, o->ppid),
		.leader_serial = ktau__leader_of(s, o->tgid),
		.kind = st->type == KB_RECORD_EXITED ? KTAU_OWNER_EXITED : KTAU_OWNER_TASK,
		.flags = flags | (o->kthread ? KTAU_OWNER_KTHREAD : 0),
		.tid = o->tid,
		.tgid = o->tgid,
		.ppid = o->ppid,
		.cpu = o->cpu,
		.uid = o->uid,
		.gid = o->gid,
		.prio = o->prio,
		.policy = o->policy,
		.start_ns = o->start_ns,
		.exec_ns = o->exec_ns,
		.exited_seq = seq,
		.nr_tasks = 1,
		.utime_ns = o->utime_ns,
		.stime_ns = o->stime_ns,
		.nvcsw = o->nvcsw,
		.nivcsw = o->nivcsw,
		.migrations = o->migrations,
		.pid_ns = o->pid_ns,
		.net_ns = o->net_ns,
	};
	uint64_t cgroup = o->cgroup;
	char link[64], path[4096];
	ssize_t bytes = -1;
	int err = ktau__put_cgroup(s, &cgroup);

	if (err)
		return err;
	r.cgroup = cgroup;
	if (st->parent_serial)
		r.parent_serial = st->parent_serial;
	if (st->leader_serial)
		r.leader_serial = st->leader_serial;
	memcpy(r.comm, o->comm, sizeof(r.comm) - 1);
	if (r.kind == KTAU_OWNER_EXITED) {
		r.exit_code = o->exit_code;
		r.exit_ns = o->exit_ns;
	} else if (!o->kthread) {
		snprintf(link, sizeof(link), "/proc/%d/exe", (int)o->tgid);
		bytes = readlink(link, path, sizeof(path) - 1);
	}
	if (bytes > 0) {
		path[bytes] = 0;
		r.path_bytes = bytes + 1;
	}
	r.rec = ktau__header(KTAU_REC_OWNER, sizeof(r), sizeof(r) + r.path_bytes);
	err = ktau__put(s, &r, sizeof(r));
	return err || !r.path_bytes ? err : ktau__put(s, path, r.path_bytes);
}

bool ktau__is_listed(const struct ktau__stream *s, const struct kb_owner *o)
{
	const struct ktau_query *q = s->query;
	bool threads = q->flags & KTAU_SELECT_THREADS;
	uint32_t i;

	if (q->target & KTAU_TARGET_SELF)
		return threads ? o->tgid == getpid() : o->tid == s->self;
	if (!(q->target & KTAU_TARGET_LIST))
		return true;
	for (i = 0; i < q->nr_tids; i++)
		if (q->tids[i] == o->tid || (threads && q->tids[i] == o->tgid))
			return true;
	return false;
}

bool ktau__passes(const struct ktau__stream *s, const struct kb_owner *o)
{
	const struct ktau_query *q = s->query;

	return (!(q->flags & KTAU_SELECT_UID) || o->uid == q->uid) &&
	       (!(q->flags & KTAU_SELECT_CGROUP) || o->cgroup == q->cgroup);
}
