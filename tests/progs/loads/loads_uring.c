// SPDX-License-Identifier: GPL-2.0-only
/* io_uring without a library: reads of a tmpfs file, a batch at a time. */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loads.h"

#define ENTRIES 32
#define READ_SIZE 65536
#define FILE_MIB 4

/**
 * struct uring - a mapped ring
 * @fd: its descriptor
 * @params: parameters returned by the kernel
 * @rings: both queues, which share a mapping
 * @sqes: submission queue entries
 */
struct uring {
	int fd;
	struct io_uring_params params;
	char *rings;
	struct io_uring_sqe *sqes;
};

static char buffer[READ_SIZE];

static void *map(int fd, size_t bytes, off_t offset)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);

	if (p == MAP_FAILED)
		load_die("mmap of a ring");
	return p;
}

static void setup(struct uring *ring, uint32_t flags)
{
	size_t bytes;

	memset(ring, 0, sizeof(*ring));
	ring->params.flags = flags;
	ring->params.sq_thread_idle = 20;
	ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->params);
	if (ring->fd < 0)
		load_die("io_uring_setup");
	bytes = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
	ring->rings = map(ring->fd, bytes, IORING_OFF_SQ_RING);
	ring->sqes = map(ring->fd, ENTRIES * sizeof(*ring->sqes), IORING_OFF_SQES);
}

static uint32_t *word(const struct uring *ring, uint32_t offset)
{
	return (uint32_t *)(ring->rings + offset);
}

/* Queue @count reads at different positions of the file. */
static void queue(struct uring *ring, uint32_t count, int file, unsigned int sqe_flags)
{
	uint32_t *tail = word(ring, ring->params.sq_off.tail), at = *tail;
	uint32_t *array = word(ring, ring->params.sq_off.array);

	for (uint32_t i = 0; i < count; i++, at++) {
		uint32_t index = at % ENTRIES;

		ring->sqes[index] = (struct io_uring_sqe){
			.opcode = IORING_OP_READ,
			.flags = (uint8_t)sqe_flags,
			.fd = file,
			.addr = (uintptr_t)buffer,
			.len = READ_SIZE,
			.off = (uint64_t)at * READ_SIZE % (FILE_MIB << 20),
		};
		array[index] = index;
	}
	__atomic_store_n(tail, at, __ATOMIC_SEQ_CST);
}

/* Consume @count completions, which must be present, and process some of the data. */
static void take(struct uring *ring, uint32_t count)
{
	const struct io_uring_cqe *cqes =
		(const void *)(ring->rings + ring->params.cq_off.cqes);
	uint32_t *head = word(ring, ring->params.cq_off.head), at = *head;

	for (uint32_t i = 0; i < count; i++, at++) {
		errno = EIO;
		if (cqes[at % ring->params.cq_entries].res != READ_SIZE)
			load_die("read");
	}
	__atomic_store_n(head, at, __ATOMIC_RELEASE);
	load_process(buffer, 1024);
}

static void enter(const struct uring *ring, uint32_t submit, uint32_t wait, uint32_t flags)
{
	long ret;

	do {
		ret = syscall(SYS_io_uring_enter, ring->fd, submit, wait, flags, NULL, 0);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		load_die("io_uring_enter");
}

void load_workers(void)
{
	int file = load_file(FILE_MIB);
	struct uring ring;

	setup(&ring, 0);
	for (int i = 0; i < 1000; i++) {
		queue(&ring, 8, file, IOSQE_ASYNC);
		enter(&ring, 8, 8, IORING_ENTER_GETEVENTS);
		take(&ring, 8);
	}
}

/* Pauses that exceed the polling time make the polling thread sleep and be woken. */
void load_sqpoll(void)
{
	int file = load_file(FILE_MIB);
	struct uring ring;
	uint32_t *flags;

	setup(&ring, IORING_SETUP_SQPOLL);
	flags = word(&ring, ring.params.sq_off.flags);
	for (int i = 0; i < 200; i++) {
		uint32_t how = IORING_ENTER_GETEVENTS;

		queue(&ring, 8, file, 0);
		if (__atomic_load_n(flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
			how |= IORING_ENTER_SQ_WAKEUP;
		enter(&ring, 8, 8, how);
		take(&ring, 8);
		if (i % 20 == 19)
			usleep(40000);
	}
}
