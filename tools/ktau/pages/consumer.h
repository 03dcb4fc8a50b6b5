/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Consumers of references. The merger reconstructs spaces, mappings and the numbers of pages, and
 * calls a consumer for each record, in order. Each file merge_NAME.c defines
 * const struct consumer consumer_NAME; the build finds it.
 */
#ifndef KTAU_TOOLS_CONSUMER_H
#define KTAU_TOOLS_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/ktau_references.h>

/**
 * struct page_process - a process
 * @serial: serial of its first thread
 * @pid: process id
 * @index: number from 0 on, in the order of appearance
 */
struct page_process {
	uint64_t serial;
	int32_t pid;
	uint32_t index;
};

/**
 * struct page_thread - a thread
 * @serial: its serial
 * @tid: thread id
 * @process: its process
 */
struct page_thread {
	uint64_t serial;
	int32_t tid;
	struct page_process *process;
};

/**
 * struct page_mapping - what a range of pages maps
 * @first: first page
 * @last: last page
 * @pgoff: offset of @first in the file, in pages
 * @file: the file; NULL: anonymous memory
 * @vm_flags: KTAU_MAP_*
 * @skipped: the space whose references to it are not recorded; those of its forks are. 0: none
 */
struct page_mapping {
	uint64_t first, last, pgoff;
	struct page_file *file;
	uint32_t vm_flags, skipped;
};

/* What a record is. */
enum page_kind {
	PAGE_REFERENCE,	/* of memory */
	PAGE_FILE,	/* of a page of a file, by read(2) or write(2) */
	PAGE_LOST,	/* slots were lost here */
	PAGE_NR_KINDS
};

/**
 * struct page_record - a record
 * @kind: what it is
 * @ticks: when
 * @time: the same, in the unit that was requested
 * @number: the page: canonical numbers begin at 1. LOST: how many slots
 * @page: REFERENCE: number of the page in its space; FILE: in its file
 * @flags: KTAU_REFERENCE_*; FILE: KTAU_REFERENCE_WRITE
 * @input: number of the input, from 0 on
 * @space: REFERENCE: number of the space
 * @of_file: the page belongs to a file; it is anonymous memory otherwise
 * @maybe_of_file: the input does not say which; @of_file is not set
 * @thread: the thread; NULL if unknown
 * @mapping: REFERENCE: the mapping; NULL if unknown
 */
struct page_record {
	enum page_kind kind;
	uint64_t ticks, time;
	uint64_t number, page;
	uint32_t flags;
	uint32_t input, space;
	bool of_file, maybe_of_file;
	const struct page_thread *thread;
	const struct page_mapping *mapping;
};

struct output;

/**
 * struct consumer_setup - what a consumer is created for
 * @output: where its output goes; NULL: it prints to standard output. The caller commits it
 * @suffix: how the output is compressed: ".gz", ".zst", or ""
 * @binary: binary instead of text
 * @ticks: times are ticks instead of nanoseconds since the first record
 * @data: from the caller of the merger
 */
struct consumer_setup {
	struct output *output;
	const char *suffix;
	bool binary, ticks;
	void *data;
};

/**
 * struct consumer - a consumer; functions that it does not need are NULL
 * @name: for --type
 * @summary: one line for the help
 * @directory: its output is a directory
 * @needs_references: it has nothing to show if there are none
 * @begin: create it before the first record. Return: its state, or NULL with a message
 * @record: a reference, an access to a file, or a loss. Return: 0, or -1 with a message
 * @event: any other slot; @payload has its structure in full. Return: likewise
 * @end: finish its output and free its state. Return: likewise
 */
struct consumer {
	const char *name;
	const char *summary;
	bool directory, needs_references;
	void *(*begin)(const struct consumer_setup *setup);
	int (*record)(void *state, const struct page_record *record);
	int (*event)(void *state, uint8_t type, uint64_t ticks, const void *payload);
	int (*end)(void *state);
};

/* The consumer of a name, or NULL. consumer_at() returns NULL after the last one. */
const struct consumer *consumer_find(const char *name);
const struct consumer *consumer_at(unsigned int i);

#endif
