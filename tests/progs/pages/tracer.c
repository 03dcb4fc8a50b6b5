// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer.h"

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void request(int fd, struct ktau_references *r, uint32_t op)
{
	r->size = sizeof(*r);
	r->op = op;
	if (ioctl(fd, KTAU_IOC_REFERENCES, r))
		die("KTAU_IOC_REFERENCES");
}

static void say(int fd)
{
	if (write(fd, "", 1) != 1)
		die("write");
}

static void hear(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		die("read");
}

static void be_child(struct tracer *t, int ready, int go)
{
	int how = (t->shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	size_t i;

	if (mmap(TRACER_BASE, t->pages * TRACER_PAGE, PROT_READ | PROT_WRITE, how, -1, 0) !=
	    TRACER_BASE)
		die("mmap");
	if (t->small)
		madvise(TRACER_BASE, t->pages * TRACER_PAGE, MADV_NOHUGEPAGE);
	if (t->touched)
		for (i = 0; i < t->pages; i++)
			store(i, 1);
	say(ready);
	hear(go);
	t->work(t);
	_exit(0);
}

static int64_t relative(uint64_t page)
{
	return (int64_t)(page - (uintptr_t)TRACER_BASE / TRACER_PAGE);
}

static void keep(struct tracer *t, const struct tracer_slot *slot)
{
	if (t->nr % 1024 == 0)
		t->slots = realloc(t->slots, (t->nr + 1024) * sizeof(*t->slots));
	if (!t->slots)
		die("realloc");
	t->slots[t->nr++] = *slot;
}

static void take_slot(struct tracer *t, const struct ktau_slot *slot)
{
	struct tracer_slot s = { .type = slot->type, .flags = slot->flags };
	const union {
		struct ktau_slot_reference reference;
		struct ktau_slot_unmap unmap;
		struct ktau_slot_move move;
		struct ktau_slot_map map;
		struct ktau_slot_space space;
	} *p = (const void *)(slot + 1);
	const int64_t end = t->pages * 2;

	switch (slot->type) {
	case KTAU_TRACE_REFERENCE:
	case KTAU_TRACE_COW:
	case KTAU_TRACE_EVICT:
		s.page = relative(p->reference.page);
		s.space = p->reference.space;
		s.thread = p->reference.thread;
		break;
	case KTAU_TRACE_UNMAP:
		s.page = relative(p->unmap.page);
		s.pages = p->unmap.pages;
		s.space = p->unmap.space;
		break;
	case KTAU_TRACE_MOVE:
		s.page = relative(p->move.page);
		s.to = relative(p->move.to);
		s.pages = p->move.pages;
		s.space = p->move.space;
		break;
	case KTAU_TRACE_SKIPPED:
		s.page = p->map.page ? relative(p->map.page) : 0;
		s.flags = p->map.vm_flags >> 8;
		s.pages = p->map.pages;
		s.space = p->map.space;
		break;
	case KTAU_TRACE_SPACE:
		s.space = p->space.space;
		s.flags = p->space.reason;
		break;
	default:
		return;
	}
	if (s.page >= 0 && s.page < end)
		keep(t, &s);
}

static void take_record(struct tracer *t, const struct ktau_rec *rec)
{
	const struct ktau_rec_trace *trace = (const void *)rec;
	const char *p = (const char *)rec + rec->head, *end = (const char *)rec + rec->size;

	if (rec->type != KTAU_REC_TRACE)
		return;
	t->lost += trace->lost;
	for (; p < end; p += 8 * ((const struct ktau_slot *)p)->words)
		take_slot(t, (const struct ktau_slot *)p);
}

static void read_all(struct tracer *t, int fd)
{
	static char buffer[1 << 20];
	size_t filled = 0, at;
	ssize_t n;

	while ((n = read(fd, buffer + filled, sizeof(buffer) - filled)) > 0) {
		filled += n;
		for (at = 0; at + sizeof(struct ktau_rec) <= filled;) {
			const struct ktau_rec *rec = (const void *)(buffer + at);

			if (rec->size > filled - at)
				break;
			take_record(t, rec);
			at += rec->size;
		}
		memmove(buffer, buffer + at, filled - at);
		filled -= at;
	}
	if (n || filled)
		die("read of the session");
}

void tracer_run(struct tracer *t)
{
	int fd = open("/proc/ktau/references", O_RDONLY | O_CLOEXEC), ready[2], go[2];
	int32_t pid;

	if (fd < 0 || pipe(ready) || pipe(go))
		die("/proc/ktau/references");
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		be_child(t, ready[1], go[0]);
	hear(ready[0]);
	t->request.nr_pids = 1;
	t->request.pids = (uintptr_t)&pid;
	request(fd, &t->request, KTAU_REFERENCES_START);
	request(fd, &t->request, KTAU_REFERENCES_ARM);
	say(go[1]);
	if (t->watch)
		t->watch(t, pid);
	if (waitpid(pid, &t->status, 0) != pid)
		die("waitpid");
	request(fd, &t->request, KTAU_REFERENCES_STOP);
	read_all(t, fd);
	close(fd);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

void tracer_free(struct tracer *t)
{
	free(t->slots);
	t->slots = NULL;
	t->nr = 0;
	t->lost = 0;
}
