// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input for tests of programs: sample FILE writes a *.ktau file, sample --seeds
 * DIRECTORY the seeds of fuzz_reader, sample --streams DIRECTORY streams of writers with
 * larger and smaller structures, and of the other byte order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "encode.h"
#include "files.h"

static int save(const char *directory, const char *name, const void *data, size_t size)
{
	char file[512];
	FILE *out;

	snprintf(file, sizeof(file), "%s/%s", directory, name);
	out = fopen(file, "w");
	if (!out || fwrite(data, 1, size, out) != size || fclose(out)) {
		perror(file);
		return 1;
	}
	return 0;
}

/* Write @data after the byte that selects how the fuzzer reads it. */
static int save_seed(const char *directory, const char *name, uint8_t kind,
		     const struct stream *s)
{
	uint8_t *data = malloc(s->size + 1);
	int err;

	if (!data)
		return 1;
	data[0] = kind;
	memcpy(data + 1, s->data, s->size);
	err = save(directory, name, data, s->size + 1);
	free(data);
	return err;
}

/* Padded with a record of an unknown type to the size that fuzz_reader.c expects. */
static int save_packed(const char *directory, struct stream *s)
{
	const size_t raw = 8192;
	uLongf bytes = compressBound(raw);
	struct stream packed = { .data = malloc(bytes) };
	int err = 1;

	if (s->size + 8 > raw)
		abort();
	record_begin(s, 77);
	record_fixed(s);
	while (s->size < raw)
		put8(s, 0);
	record_end(s);
	if (packed.data && compress(packed.data, &bytes, s->data, s->size) == Z_OK) {
		packed.size = bytes;
		err = save_seed(directory, "block-zlib", 2, &packed);
	}
	free(packed.data);
	return err;
}

/* The delta-coded payload of a file's only block. */
static int save_delta(const char *directory)
{
	size_t starts[64];
	struct image image;
	struct stream payload;
	uint32_t stored;
	int err;

	snprintf(path, sizeof(path), "%.40s/file", directory);
	write_sample(KTAU_WRITER_DELTA, 1);
	image = load();
	find_blocks(&image, starts);
	memcpy(&stored, image.data + starts[0] + 12, sizeof(stored));
	payload = (struct stream){ .data = image.data + starts[0] + 48, .size = stored };
	err = save_seed(directory, "block-delta", 3, &payload);
	payload = (struct stream){ .data = image.data, .size = image.size };
	err |= save_seed(directory, "file", 0, &payload);
	free(image.data);
	return err;
}

static int seeds(const char *directory)
{
	struct stream s = { .word_bits = 64 };
	int err;

	put_everything(&s);
	err = save_seed(directory, "stream-little", 0, &s) |
	      save_seed(directory, "block", 1, &s) | save_packed(directory, &s) |
	      save_delta(directory);
	stream_free(&s);
	s = (struct stream){ .word_bits = 32, .big = true };
	put_everything(&s);
	err |= save_seed(directory, "stream-big", 0, &s);
	stream_free(&s);
	return err;
}

static int streams(const char *directory)
{
	static const struct {
		const char *name;
		struct stream s;
	} all[] = {
		{ "today", { .word_bits = 64 } },
		{ "larger", { .word_bits = 64, .grow_head = 24, .grow_element = 16 } },
		{ "smaller", { .word_bits = 64, .shrink = true } },
		{ "big", { .word_bits = 32, .big = true } },
	};
	struct stream s;
	size_t i;
	int err = 0;

	for (i = 0; i < NR(all); i++) {
		s = all[i].s;
		put_everything(&s);
		err |= save(directory, all[i].name, s.data, s.size);
		stream_free(&s);
	}
	return err;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return seeds(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--streams"))
		return streams(argv[2]);
	if (argc != 2 || snprintf(path, sizeof(path), "%s", argv[1]) >= (int)sizeof(path))
		return 2;
	write_sample(KTAU_WRITER_ZLIB, 2);
	return 0;
}
