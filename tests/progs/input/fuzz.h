/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared code of the fuzzers: random numbers, and random arguments of the interface. */
#ifndef KTAU_TESTS_FUZZ_H
#define KTAU_TESTS_FUZZ_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

#define FUZZ_PIDS 20   /* usual room for a list of pids */
#define FUZZ_PAGE 4096 /* maximum length of an argument */

static _Thread_local uint64_t fuzz_state;

static inline void fuzz_seed(uint64_t seed)
{
	fuzz_state = seed ?: 1;
}

static inline uint32_t any(void)
{
	/* xorshift64* */
	fuzz_state ^= fuzz_state >> 12;
	fuzz_state ^= fuzz_state << 25;
	fuzz_state ^= fuzz_state >> 27;
	return (uint32_t)(fuzz_state * 0x2545f4914f6cdd1dULL >> 32);
}

static inline bool one_in(uint32_t n)
{
	return any() % n == 0;
}

/* Small, near a power of two, or anything. */
static inline uint64_t number(void)
{
	switch (any() % 4) {
	case 0:
		return any() % 8;
	case 1:
		return (1ULL << any() % 64) - 1 + any() % 3;
	case 2:
		return any();
	default:
		return (uint64_t)any() << 32 | any();
	}
}

/* At most @room tids, which exist, may exist or cannot exist. */
static inline uint32_t fuzz_pids(int32_t *pids, uint32_t room)
{
	uint32_t nr = any() % room + 1, i;

	for (i = 0; i < nr; i++) {
		pids[i] = one_in(4) ? (int32_t)number() : (int32_t)(any() % 300);
		if (one_in(8))
			pids[i] = getpid();
	}
	return nr;
}

/*
 * A selection that is usually valid. @pids has room for @room tids.
 */
static inline void fuzz_select(struct ktau_select *select, int32_t *pids, uint32_t room)
{
	static const uint32_t which[] = { 0, KTAU_TARGET_SELF, KTAU_TARGET_LIST, KTAU_TARGET_ALL,
					  KTAU_TARGET_CHANGED };

	*select = (struct ktau_select){
		.size = sizeof(*select),
		.target = which[any() % 5] |
			  (any() & (KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED | KTAU_TARGET_CPU)),
		.exited_since = one_in(2) ? 0 : number(),
		.since_ticks = one_in(2) ? 0 : number(),
	};
	if (one_in(2))
		select->flags = one_in(10) ? (uint32_t)number() : any() & KTAU_SELECT_VALID;
	if (select->flags & KTAU_SELECT_CGROUP)
		select->cgroup = one_in(2) ? 1 + any() % 64 : number();
	if (select->flags & KTAU_SELECT_UID)
		select->uid = one_in(4) ? (uint32_t)number() : one_in(2) ? 0 :
									   1000 + any() % 2;
	if (select->flags & KTAU_SELECT_TAG)
		select->tag = one_in(2) ? 7 : (uint32_t)number();
	if (select->target & KTAU_TARGET_LIST) {
		select->nr_pids = fuzz_pids(pids, room);
		select->pids = (uintptr_t)pids;
	}
}

/*
 * Resize an argument of @bytes at @arg as programs with older, newer and broken headers
 * would; there is room for FUZZ_PAGE. Its first field is set to the size.
 */
static inline void fuzz_size(char *arg, size_t bytes)
{
	uint32_t size = (uint32_t)bytes, field;

	memset(arg + bytes, 0, FUZZ_PAGE - bytes);
	switch (any() % 8) {
	case 0:
		size -= 1 + any() % 16;
		break;
	case 1:
		size += 8 * (1 + any() % 8);
		break;
	case 2:
		size += 8 * (1 + any() % 8);
		arg[bytes + any() % (size - bytes)] = 1;
		break;
	case 3:
		size = FUZZ_PAGE + any() % 2;
		break;
	case 4:
		size = (uint32_t)number();
		break;
	case 5:
		field = (uint32_t)number();
		memcpy(arg + any() % (bytes / 4) * 4, &field, sizeof(field));
		return;
	default:
		break;
	}
	memcpy(arg, &size, sizeof(size));
}

/* Some words for /proc/ktau/control. Sizes are small, because the guest's memory is. */
static inline void fuzz_words(char *line, size_t room)
{
	static const char *const words[] = {
		"+all",
		"-all",
		"+sched",
		"-syscall",
		"groups=tcp,irq",
		"trace=on",
		"trace=off",
		"profile=on",
		"profile=off",
		"filter=none",
		"filter=pid:",
		"inherit=on",
		"inherit=off",
		"filter+=pid:1",
		"filter=pid:1+uid:0",
		"filter-=pid:1+tag:7",
		"filter=uid:0,1000+tag:7",
		"filter+=cgroup:/",
		"filter+=cgroup:/no",
		"tag=1:7",
		"tag=none",
		"ring=16",
		"ring=100",
		"watermark=1",
		"watermark=999",
		"memory_limit=1",
		"memory_limit=32M",
		"exited_limit=0",
		"exited_limit=1M",
		"nonsense",
		"=",
		"+",
		"ring=",
		"filter=pid:99999",
		"\t",
		"filter+=",
		"tag=1",
		"restore",
		"restore tag=99999:1",
	};
	int i, nr = (int)(any() % 4);

	line[0] = '\0';
	for (i = 0; i < nr; i++) {
		strncat(line, words[any() % (sizeof(words) / sizeof(*words))],
			room - strlen(line) - 2);
		strcat(line, " ");
	}
}

/* Write @bytes of @line to /proc/ktau/control. */
static inline int fuzz_control(const char *line, size_t bytes)
{
	int fd = open("/proc/ktau/control", O_WRONLY | O_CLOEXEC);
	int ret = (int)write(fd, line, bytes);

	if (fd >= 0)
		close(fd);
	return ret;
}

#endif /* KTAU_TESTS_FUZZ_H */
