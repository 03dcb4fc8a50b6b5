/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory with a *.ktau file in it, for the tests of files. */
#ifndef KTAU_TESTS_FILES_H
#define KTAU_TESTS_FILES_H

#include <ktau.h>

/* The file. The group's fixtures create and remove its directory. */
extern char path[64];

int make_directory(void **state);
int remove_directory(void **state);

struct image {
	uint8_t *data;
	size_t size;
};

struct image load(void);
void store(const struct image *image, size_t size);

struct ktau_writer *create(unsigned int flags);

/* All records of @s. */
struct stream;
void put_records(struct ktau_writer *w, const struct stream *s);

/* One stream with two events, a control group and @nr tasks. */
void put_tasks(struct ktau_writer *w, unsigned int nr, uint64_t scale);

/*
 * Info, then @nr streams of three tasks, each a block. The first stream, and each
 * SAMPLE_KEY streams after it, begins with ktau_writer_key(); stream number i, from 1 on,
 * is of i * SAMPLE_NS.
 */
#define SAMPLE_KEY	4
#define SAMPLE_NS	1000000000ULL

void write_sample(unsigned int flags, unsigned int nr);

/* The starts of blocks, and the end, found without the library. Returns their number. */
unsigned int find_blocks(const struct image *image, size_t *starts);

struct read_back {
	int err;
	unsigned int records;
	unsigned int streams;
	unsigned int profiles;
	struct ktau_damage damage;
	struct ktau_unknown unknown;
	char error[512];
};

/* All records of a source, or the error of opening it. */
struct read_back finish(struct ktau_reader *r, int err);
struct read_back read_memory(const void *data, size_t size);
struct read_back read_path(void);

#endif /* KTAU_TESTS_FILES_H */
