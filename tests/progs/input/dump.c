// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print a stream of /proc/ktau/profile or /proc/ktau/trace and check the rules of the
 * interface, using only the header of the binary interface.
 *
 *	dump [-t TARGET] [-f FLAGS] [-u UID] [-g CGROUP] [-a TAG] [-s SINCE] [-i]
 *	     [-b BYTES] [-p] FILE [PID...]
 *
 * -i prints KTAU_IOC_INFO, -b reads BYTES at a time, -p reads with pread().
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

#define MAX_SERIALS 65536

static unsigned char events[65536], kinds[65536];
static uint64_t serials[MAX_SERIALS];
static unsigned int nr_serials;
static uint64_t cgroups[MAX_SERIALS];
static unsigned int nr_cgroups;
static unsigned int nr_bad;
static uint64_t nr_records;

static void complain(const char *what, uint64_t number)
{
	printf("BAD %s %" PRIu64 "\n", what, number);
	nr_bad++;
}

static int has(const uint64_t *list, unsigned int nr, uint64_t number)
{
	while (nr--)
		if (list[nr] == number)
			return 1;
	return 0;
}

static void need_event(unsigned int id)
{
	if (!events[id])
		complain("event not described", id);
}

static void need_owner(uint64_t serial)
{
	if (!has(serials, nr_serials, serial))
		complain("owner not described", serial);
}

static void show_stream(const struct ktau_rec_stream *r)
{
	unsigned int i;

	printf("STREAM version %u content %u target %#x flags %#x access %#x groups %#x "
	       "built %#x modes %#x round %u hz %" PRIu64 " cpus %u exited_next %" PRIu64
	       " stext %#" PRIx64 " node %s release %s machine %s\n",
	       r->version, r->content, r->target, r->flags, r->access, r->groups,
	       r->groups_built, r->modes, r->round_ns, (uint64_t)r->clock_hz, r->nr_cpus,
	       (uint64_t)r->exited_next, (uint64_t)r->stext, r->nodename, r->release,
	       r->machine);
	printf("CLOCKS ticks %" PRIu64 " realtime %" PRIu64 " monotonic %" PRIu64
	       " boottime %" PRIu64 " tai %" PRIu64 " boot_id ",
	       (uint64_t)r->ticks, (uint64_t)r->realtime_ns, (uint64_t)r->monotonic_ns,
	       (uint64_t)r->boottime_ns, (uint64_t)r->tai_ns);
	for (i = 0; i < 16; i++)
		printf("%02x", r->boot_id[i]);
	putchar('\n');
}

static void show_event(const struct ktau_rec_event *r)
{
	const char *name = (const char *)(r + 1);

	printf("EVENT id %u kind %u source %u group %#x address %#" PRIx64 " key %#" PRIx64
	       " name %s\n",
	       r->id, r->kind, r->source, r->group, (uint64_t)r->address, (uint64_t)r->key,
	       name);
	if (events[r->id])
		complain("event described twice", r->id);
	if (r->name_bytes != strlen(name) + 1)
		complain("length of a name", r->id);
	events[r->id] = 1;
	kinds[r->id] = r->kind;
}

static void show_cgroup(const struct ktau_rec_cgroup *r)
{
	printf("CGROUP id %" PRIu64 " path %s\n", (uint64_t)r->id, (const char *)(r + 1));
	if (has(cgroups, nr_cgroups, r->id))
		complain("control group described twice", r->id);
	cgroups[nr_cgroups++ % MAX_SERIALS] = r->id;
}

static void show_owner(const struct ktau_rec_owner *r)
{
	printf("OWNER serial %" PRIu64 " parent %" PRIu64 " leader %" PRIu64
	       " kind %u flags %#x tid %d tgid %d ppid %d cpu %u uid %u gid %u prio %d "
	       "policy %u code %d tag %u start %" PRIu64 " exec %" PRIu64 " exit %" PRIu64
	       " seq %" PRIu64 " tasks %" PRIu64 " utime %" PRIu64 " stime %" PRIu64
	       " nvcsw %" PRIu64 " nivcsw %" PRIu64 " migrations %" PRIu64
	       " cgroup %" PRIu64 " pid_ns %u net_ns %u comm %s path %s\n",
	       (uint64_t)r->serial, (uint64_t)r->parent_serial, (uint64_t)r->leader_serial,
	       r->kind, r->flags, r->tid, r->tgid, r->ppid, r->cpu, r->uid, r->gid, r->prio,
	       r->policy, r->exit_code, r->tag, (uint64_t)r->start_ns, (uint64_t)r->exec_ns,
	       (uint64_t)r->exit_ns, (uint64_t)r->exited_seq, (uint64_t)r->nr_tasks,
	       (uint64_t)r->utime_ns, (uint64_t)r->stime_ns, (uint64_t)r->nvcsw,
	       (uint64_t)r->nivcsw, (uint64_t)r->migrations, (uint64_t)r->cgroup, r->pid_ns,
	       r->net_ns, r->comm, r->path_bytes ? (const char *)(r + 1) : "-");
	if (r->cgroup && !has(cgroups, nr_cgroups, r->cgroup))
		complain("control group not described", r->cgroup);
	serials[nr_serials++ % MAX_SERIALS] = r->serial;
}

static void show_profile(const struct ktau_rec_profile *r)
{
	const struct ktau_entry *e = (const struct ktau_entry *)(r + 1);
	const struct ktau_open *open = (const struct ktau_open *)(e + r->nr_entries);
	uint64_t sum = r->refused_ticks;
	unsigned int i;

	printf("PROFILE serial %" PRIu64 " entries %u open %u depth %u outer %" PRIu64
	       " refused %" PRIu64 " groups %#x throughout %#x start %" PRIu64 "\n",
	       (uint64_t)r->serial, r->nr_entries, r->nr_open, r->depth,
	       (uint64_t)r->outer_ticks, (uint64_t)r->refused, r->groups,
	       r->groups_throughout, (uint64_t)r->start_ticks);
	need_owner(r->serial);
	for (i = 0; i < r->nr_entries; i++) {
		need_event(e[i].id);
		if (i && e[i].id <= e[i - 1].id)
			complain("order of entries", e[i].id);
		if (e[i].kind == KTAU_KIND_TIMER)
			sum += e[i].excl;
		printf(" ENTRY id %u kind %u count %" PRIu64 " incl %" PRIu64 " excl %" PRIu64
		       "\n",
		       e[i].id, e[i].kind, (uint64_t)e[i].count, (uint64_t)e[i].incl,
		       (uint64_t)e[i].excl);
	}
	for (i = 0; i < r->nr_open; i++) {
		need_event(open[i].id);
		printf(" OPEN id %u start %" PRIu64 " child %" PRIu64 "\n", open[i].id,
		       (uint64_t)open[i].start_ticks, (uint64_t)open[i].child_ticks);
	}
	if (sum != r->outer_ticks + r->open_child_ticks)
		complain("sum of the times of", r->serial);
	nr_records++;
}

static void show_slot(const struct ktau_slot *s)
{
	const uint64_t *word = (const uint64_t *)(s + 1);
	unsigned int i;

	printf(" SLOT type %u ticks %" PRIu64 " id %u cpu %u ctx %u words", s->type,
	       (uint64_t)s->ticks, s->id, s->cpu, s->ctx);
	for (i = 0; i + 2 < s->words; i++)
		printf(" %" PRIx64, word[i]);
	putchar('\n');
	if (s->id != KTAU_ID_NONE)
		need_event(s->id);
}

static void show_trace(const struct ktau_rec_trace *r)
{
	const struct ktau_slot *slot = (const struct ktau_slot *)(r + 1);
	uint64_t last = 0;
	unsigned int i;

	printf("TRACE serial %" PRIu64 " first %" PRIu64 " next %" PRIu64 " lost %" PRIu64
	       " written %" PRIu64 " size %u slots %u bytes %u\n",
	       (uint64_t)r->serial, (uint64_t)r->first, (uint64_t)r->next,
	       (uint64_t)r->lost, (uint64_t)r->written, r->ring_slots, r->nr_slots,
	       r->slots_bytes);
	need_owner(r->serial);
	for (i = 0; i < r->nr_slots; i++) {
		show_slot(slot);
		if (slot->words < 2)
			errx(1, "a slot without a length");
		if (slot->ticks < last)
			complain("order of slots of", r->serial);
		last = slot->ticks;
		slot = (const struct ktau_slot *)((const char *)slot + slot->words * 8);
	}
	if ((const char *)slot != (const char *)(r + 1) + r->slots_bytes)
		complain("length of the slots of", r->serial);
	nr_records++;
}

static void show_gone(const struct ktau_rec_gone *r)
{
	const __u64 *gone = (const __u64 *)(r + 1);
	unsigned int i;

	printf("GONE");
	for (i = 0; i < r->nr_serials; i++)
		printf(" %" PRIu64, (uint64_t)gone[i]);
	putchar('\n');
	if (r->serial_bytes != sizeof(*gone) ||
	    r->rec.size != sizeof(*r) + r->nr_serials * sizeof(*gone))
		complain("length of the list of", r->nr_serials);
}

static void show_region(const struct ktau_rec_region *r)
{
	printf("REGION serial %" PRIu64 " region %u entries %u refused %" PRIu64 "\n",
	       (uint64_t)r->serial, r->region, r->nr_entries, (uint64_t)r->refused);
	if (r->entry_size != sizeof(struct ktau_entry) ||
	    r->rec.size != sizeof(*r) + r->nr_entries * sizeof(struct ktau_entry))
		complain("length of a region of", r->serial);
}

static void show_end(const struct ktau_rec_end *r)
{
	printf("END records %" PRIu64 " denied %" PRIu64 " vanished %" PRIu64
	       " stateless %" PRIu64 " busy %" PRIu64 " torn %" PRIu64
	       " exited %" PRIu64 " to %" PRIu64 " own %" PRIu64 " no_state %" PRIu64
	       " no_ring %" PRIu64 " lost_evicted %" PRIu64 " evicted %" PRIu64
	       " missed %" PRIu64 " refused_gone %" PRIu64 "\n",
	       (uint64_t)r->nr_records, (uint64_t)r->denied, (uint64_t)r->vanished,
	       (uint64_t)r->stateless, (uint64_t)r->busy, (uint64_t)r->torn,
	       (uint64_t)r->exited_first, (uint64_t)r->exited_next,
	       (uint64_t)r->losses_own, (uint64_t)r->refused_no_state,
	       (uint64_t)r->lost_no_ring, (uint64_t)r->lost_evicted, (uint64_t)r->evicted,
	       (uint64_t)r->missed, (uint64_t)r->refused_gone);
	if (r->nr_records != nr_records)
		complain("number of records", nr_records);
}

static int show(const struct ktau_rec *rec)
{
	const void *r = rec;

	switch (rec->type) {
	case KTAU_REC_STREAM:
		show_stream(r);
		break;
	case KTAU_REC_EVENT:
		show_event(r);
		break;
	case KTAU_REC_CGROUP:
		show_cgroup(r);
		break;
	case KTAU_REC_OWNER:
		show_owner(r);
		break;
	case KTAU_REC_PROFILE:
		show_profile(r);
		break;
	case KTAU_REC_TRACE:
		show_trace(r);
		break;
	case KTAU_REC_REGION:
		show_region(r);
		break;
	case KTAU_REC_GONE:
		show_gone(r);
		break;
	case KTAU_REC_END:
		show_end(r);
		return 1;
	default:
		complain("record type", rec->type);
	}
	return 0;
}

static void show_info(int fd)
{
	struct ktau_info info = { .size = sizeof(info) };
	unsigned int i;

	if (ioctl(fd, KTAU_IOC_INFO, &info))
		err(1, "KTAU_IOC_INFO");
	printf("INFO size %u version %u features %#" PRIx64 " built %#x groups %#x "
	       "paranoid %d access %#x ring %u limit %" PRIu64 " used %" PRIu64 " boot_id ",
	       info.size, info.version, (uint64_t)info.features, info.groups_built,
	       info.groups, info.paranoid, info.access, info.ring_slots,
	       (uint64_t)info.memory_limit_bytes, (uint64_t)info.memory_bytes);
	for (i = 0; i < 16; i++)
		printf("%02x", info.boot_id[i]);
	putchar('\n');
	for (i = 0; i < info.nr_ranges; i++)
		printf(" RANGE source %u first %u count %u used %u\n", info.range[i].source,
		       info.range[i].first, info.range[i].count, info.range[i].used);
}

/* Read the whole stream into memory. */
static char *read_all(int fd, size_t chunk, int with_pread, size_t *len)
{
	size_t room = 1 << 26;
	char *all = malloc(room);
	ssize_t n;

	if (!all)
		err(1, "memory");
	for (*len = 0;; *len += n) {
		if (*len + chunk > room)
			errx(1, "a stream of more than %zu bytes", room);
		n = with_pread ? pread(fd, all + *len, chunk, *len) :
				 read(fd, all + *len, chunk);
		if (n < 0)
			err(1, "read after %zu bytes", *len);
		if (!n)
			return all;
	}
}

static void walk(const char *all, size_t len)
{
	const struct ktau_rec *rec;
	size_t at;
	int ended = 0;

	for (at = 0; at < len; at += rec->size) {
		rec = (const struct ktau_rec *)(all + at);
		if (len - at < sizeof(*rec) || rec->size < rec->head || rec->size % 8 ||
		    rec->size > len - at)
			errx(1, "record at %zu", at);
		if (ended)
			complain("record after END", at);
		ended = show(rec);
	}
	if (len && !ended)
		complain("no END after", len);
}

int main(int argc, char **argv)
{
	struct ktau_select select = { .size = sizeof(select) };
	int c, fd, asked = 0, info = 0, with_pread = 0;
	size_t chunk = 1 << 16, len;
	static int32_t pids[1024];
	const char *all;

	while ((c = getopt(argc, argv, "t:f:u:g:a:s:b:ip")) != -1) {
		asked |= !strchr("bip", c);
		if (c == 't')
			select.target = strtoul(optarg, NULL, 0);
		else if (c == 'f')
			select.flags |= strtoul(optarg, NULL, 0);
		else if (c == 'u')
			select.uid = strtoul(optarg, NULL, 0);
		else if (c == 'g')
			select.cgroup = strtoull(optarg, NULL, 0);
		else if (c == 'a')
			select.tag = strtoul(optarg, NULL, 0);
		else if (c == 's')
			select.since_ticks = strtoull(optarg, NULL, 0);
		else if (c == 'b')
			chunk = strtoul(optarg, NULL, 0);
		else if (c == 'i')
			info = 1;
		else if (c == 'p')
			with_pread = 1;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	fd = open(argv[optind], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[optind]);
	for (c = optind + 1; c < argc && select.nr_pids < 1024; c++)
		pids[select.nr_pids++] = atoi(argv[c]);
	select.pids = select.nr_pids ? (uintptr_t)pids : 0;
	if (asked && ioctl(fd, KTAU_IOC_SELECT, &select))
		err(1, "KTAU_IOC_SELECT");
	if (info)
		show_info(fd);
	all = read_all(fd, chunk, with_pread, &len);
	walk(all, len);
	return nr_bad != 0;
}
