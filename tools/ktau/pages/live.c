// SPDX-License-Identifier: GPL-2.0-only
/*
 * Working sets of processes that run. The kernel makes all their pages inaccessible and counts the
 * first access to each of them. After an interval the counts are printed, and it starts anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ktau.h>

#include "lib/cli.h"
#include "lib/hash.h"
#include "live.h"
#include "session.h"

/* What the first access to a page costs, roughly, for --budget. */
#define FAULT_NS	2000

/* Space for what the kernel has written in an interval. */
enum { BUFFER_BYTES = 1 << 18 };

/**
 * struct live - a session that counts
 * @o: the options
 * @fd: its descriptor
 * @buffer: records that are not complete yet
 * @filled: their size
 * @processes: pid by space
 * @begun_ns: when it began
 * @ended: the stream has ended
 * @nr: references in this interval
 */
struct live {
	const struct live_options *o;
	int fd;
	char buffer[BUFFER_BYTES];
	size_t filled;
	struct hash processes;
	uint64_t begun_ns;
	bool ended;
	uint64_t nr;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void name_of(uint64_t pid, char *name, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, (int)size, f))
		snprintf(name, size, "?");
	if (f)
		fclose(f);
	name[strcspn(name, "\n,\"")] = '\0';
}

static void print_counted(struct live *l, const struct ktau_slot_counted *c)
{
	uint64_t pid = hash_get(&l->processes, c->space);
	double seconds = (double)(now_ns() - l->begun_ns) / 1e9;
	const double mib = (double)sysconf(_SC_PAGESIZE) / (1 << 20);
	char name[32];

	l->nr += c->pages;
	if (!c->pages)
		return;
	name_of(pid, name, sizeof(name));
	if (l->o->csv)
		printf("%.3f,%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 "\n", seconds, pid, name,
		       (uint64_t)c->pages, (uint64_t)c->stores);
	else
		printf("%8.3f %8" PRIu64 " %-15s %9" PRIu64 " %9" PRIu64 " %9.1f\n", seconds, pid,
		       name, (uint64_t)c->pages, (uint64_t)c->stores, (double)c->pages * mib);
}

static void take_slot(struct live *l, const struct ktau_slot *slot)
{
	const union {
		struct ktau_slot_thread thread;
		struct ktau_slot_counted counted;
	} *p = (const void *)(slot + 1);

	if (slot->type == KTAU_TRACE_THREAD && p->thread.tgid)
		hash_put(&l->processes, p->thread.space, (uint32_t)p->thread.tgid);
	else if (slot->type == KTAU_TRACE_COUNTED)
		print_counted(l, &p->counted);
}

static void take_record(struct live *l, const struct ktau_rec *rec)
{
	const char *at = (const char *)rec + rec->head, *end = (const char *)rec + rec->size;

	if (rec->type == KTAU_REC_END)
		l->ended = true;
	if (rec->type != KTAU_REC_TRACE)
		return;
	for (; at < end; at += 8 * ((const struct ktau_slot *)at)->words)
		take_slot(l, (const struct ktau_slot *)at);
}

static void take_bytes(struct live *l, size_t bytes)
{
	const struct ktau_rec *rec;
	size_t at;

	l->filled += bytes;
	for (at = 0; at + sizeof(*rec) <= l->filled; at += rec->size) {
		rec = (const void *)(l->buffer + at);
		if (rec->size > l->filled - at)
			break;
		take_record(l, rec);
	}
	memmove(l->buffer, l->buffer + at, l->filled - at);
	l->filled -= at;
}

/* Take all records that the kernel has. Return: 0, or -1 with a message. */
static int take_records(struct live *l)
{
	ssize_t n = 1;

	while (!l->ended && n > 0) {
		n = read(l->fd, l->buffer + l->filled, sizeof(l->buffer) - l->filled);
		if (n > 0)
			take_bytes(l, (size_t)n);
	}
	if (n >= 0 || errno == EAGAIN || errno == EINTR)
		return 0;
	complain("cannot read " SESSION_FILE ": %s", strerror(errno));
	return -1;
}

/* Sleep, unless a signal arrives or no process is left. Return: whether to go on. */
static bool wait_for(struct live *l, uint64_t ns)
{
	struct pollfd p = { l->fd, 0, 0 };
	uint64_t until = now_ns() + ns, now;

	while (!interrupted && !p.revents && (now = now_ns()) < until)
		poll(&p, 1, until - now < 100000000 ? (int)((until - now) / 1000000 + 1) : 100);
	return !interrupted && !p.revents;
}

/* How long to leave the processes alone after this interval. */
static uint64_t pause_ns(const struct live *l)
{
	uint64_t cost = l->nr * FAULT_NS, least;

	if (!(l->o->budget > 0))
		return 0;
	least = (uint64_t)((double)cost * 100 / l->o->budget);
	return least > l->o->interval_ns ? least - l->o->interval_ns : 0;
}

/* Count for an interval. Return: whether to go on. */
static bool count(struct live *l)
{
	struct ktau_references r = { 0 };
	bool on;

	l->nr = 0;
	session_request(l->fd, &r, KTAU_REFERENCES_ARM);
	on = wait_for(l, l->o->interval_ns);
	session_request(l->fd, &r, KTAU_REFERENCES_DISARM);
	if (take_records(l))
		return false;
	fflush(stdout);
	on = on && wait_for(l, pause_ns(l));
	return on && !(l->o->record->seconds > 0 &&
		       (double)(now_ns() - l->begun_ns) >= l->o->record->seconds * 1e9);
}

static int open_session(const struct live_options *o)
{
	struct ktau_references r = o->record->request;
	int fd = session_open();

	if (fd < 0)
		return -1;
	r.flags |= KTAU_REFERENCES_COUNT;
	r.ring_slots = KTAU_REFERENCES_RING_MIN * 4;
	r.pids = (uintptr_t)o->record->pids;
	r.nr_pids = o->record->nr_pids;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) || session_start(fd, &r)) {
		close(fd);
		return -1;
	}
	return fd;
}

int live_run(const struct live_options *o)
{
	struct live *l = cli_alloc(NULL, 1, sizeof(*l));
	struct sigaction action = { .sa_handler = on_signal };
	bool failed;

	memset(l, 0, sizeof(*l));
	l->o = o;
	l->fd = open_session(o);
	failed = l->fd < 0;
	if (!failed) {
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
		l->begun_ns = now_ns();
		puts(o->csv ? "seconds,pid,command,pages,stores" :
			      "       s      pid command             pages    stores       MiB");
		while (count(l))
			;
		close(l->fd);
	}
	hash_deinit(&l->processes);
	free(l);
	return failed ? CLI_FAILED : CLI_DONE;
}
