// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_ktaud: write streams like a kernel's, and print the contents of a file.
 *
 *	test_stream write DIR TASKS STEP	write DIR/profile and DIR/trace;
 *							DIR has nothing else
 *	test_stream read FILE			print its contents, a "name value" per line
 *
 * In step S each task has 10 x S activations of each event and a new trace
 * slot; one task has exited, with serial and exited_seq S.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktau.h>

#define NR_ENTRIES	40
#define FIRST_SERIAL	1000000

static void fail_if(bool failed, const char *what)
{
	if (failed) {
		perror(what);
		exit(1);
	}
}

static FILE *create(const char *dir, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	fail_if(!file, path);
	return file;
}

static void finish(FILE *file)
{
	fail_if(fclose(file), "close");
}

/*
 * Exchange both streams at once. One after the other, a reader could get a new one and then an old
 * one, whose exited_next is lower.
 */
static void publish(const char *new, const char *dir)
{
	char path[512];

	fail_if(renameat2(AT_FDCWD, new, AT_FDCWD, dir, RENAME_EXCHANGE), dir);
	snprintf(path, sizeof(path), "%s/profile", new);
	fail_if(unlink(path) && errno != ENOENT, path);
	snprintf(path, sizeof(path), "%s/trace", new);
	fail_if(unlink(path) && errno != ENOENT, path);
	fail_if(rmdir(new), new);
}

static void put(FILE *file, const void *data, size_t size)
{
	fail_if(fwrite(data, size, 1, file) != 1, "write");
}

static void put_stream(FILE *file, uint32_t content, uint64_t step)
{
	struct ktau_rec_stream stream = {
		.rec = { sizeof(stream), KTAU_REC_STREAM, sizeof(stream) },
		.magic = KTAU_MAGIC,
		.version = KTAU_ABI_VERSION,
		.word_bits = 64,
		.content = content,
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED,
		.groups = KTAU_GROUP_SYSCALL,
		.groups_built = KTAU_GROUP_SYSCALL,
		.clock_hz = 1000000000,
		.nr_cpus = 1,
		.ticks = 1000000 * step,
		.realtime_ns = 1000000 * step,
		.monotonic_ns = 1000000 * step,
		.stext = 0xffffffff81000000,
	};

	ktau_boot_id(stream.boot_id);
	put(file, &stream, sizeof(stream));
}

static void put_end(FILE *file, uint64_t nr_records, uint64_t step)
{
	struct ktau_rec_end end = {
		.rec = { sizeof(end), KTAU_REC_END, sizeof(end) },
		.nr_records = nr_records,
		.exited_next = step + 1,
	};

	put(file, &end, sizeof(end));
}

static void put_events(FILE *file)
{
	struct {
		struct ktau_rec_event event;
		char name[16];
	} record = {
		.event = {
			.rec = { sizeof(record), KTAU_REC_EVENT, sizeof(record.event) },
			.group = KTAU_GROUP_SYSCALL,
		},
	};
	unsigned int id;

	for (id = 0; id < NR_ENTRIES; id++) {
		record.event.id = id;
		record.event.key = id;
		memset(record.name, 0, sizeof(record.name));
		record.event.name_bytes = snprintf(record.name, sizeof(record.name), "sys_%u",
						   id) + 1;
		put(file, &record, sizeof(record));
	}
}

static void put_owner(FILE *file, uint64_t nr, bool exited)
{
	struct ktau_rec_owner owner = {
		.rec = { sizeof(owner), KTAU_REC_OWNER, sizeof(owner) },
		.serial = nr,
		.kind = exited ? KTAU_OWNER_EXITED : KTAU_OWNER_TASK,
		.tid = nr % 30000 + 1,
		.tgid = nr % 30000 + 1,
		.exited_seq = exited ? nr : 0,
		.nr_tasks = 1,
	};

	snprintf(owner.comm, sizeof(owner.comm), "%s%" PRIu64, exited ? "exited" : "task",
		 nr % 10);
	put(file, &owner, sizeof(owner));
}

static void put_profile(FILE *file, uint64_t nr, uint64_t step, bool exited)
{
	struct ktau_rec_profile profile = {
		.rec.type = KTAU_REC_PROFILE,
		.rec.head = sizeof(profile),
		.rec.size = sizeof(profile) + NR_ENTRIES * sizeof(struct ktau_entry),
		.serial = nr,
		.ticks = 1000000 * step,
		.outer_ticks = NR_ENTRIES * 1000 * step,
		.groups = KTAU_GROUP_SYSCALL,
		.nr_entries = NR_ENTRIES,
		.entry_size = sizeof(struct ktau_entry),
		.open_size = sizeof(struct ktau_open),
	};
	struct ktau_entry entry = {
		.count = 10 * step, .incl = 1000 * step, .excl = 1000 * step,
	};

	put_owner(file, nr, exited);
	put(file, &profile, sizeof(profile));
	for (entry.id = 0; entry.id < NR_ENTRIES; entry.id++)
		put(file, &entry, sizeof(entry));
}

static void put_trace(FILE *file, uint64_t nr, uint64_t step)
{
	struct {
		struct ktau_rec_trace trace;
		struct ktau_slot slot;
	} record = {
		.trace = {
			.rec = { sizeof(record), KTAU_REC_TRACE, sizeof(record.trace) },
			.serial = nr,
			.first = step - 1,
			.next = step,
			.written = step,
			.ring_slots = 1024,
			.nr_slots = 1,
			.slots_bytes = sizeof(record.slot),
		},
		.slot = {
			.ticks = 1000000 * step,
			.id = KTAU_ID_NONE,
			.type = KTAU_TRACE_TASK_EXIT,
			.words = sizeof(record.slot) / 8,
		},
	};

	put_owner(file, nr, false);
	put(file, &record, sizeof(record));
}

static int write_streams(const char *dir, uint64_t nr_tasks, uint64_t step)
{
	char new[500];
	FILE *file;
	uint64_t i;

	snprintf(new, sizeof(new), "%s.new", dir);
	fail_if(mkdir(new, 0777), new);
	file = create(new, "profile");
	put_stream(file, KTAU_REC_PROFILE, step);
	put_events(file);
	for (i = 0; i < nr_tasks; i++)
		put_profile(file, FIRST_SERIAL + i, step, false);
	put_profile(file, step, step, true);
	put_end(file, nr_tasks + 1, step);
	finish(file);

	file = create(new, "trace");
	put_stream(file, KTAU_REC_TRACE, step);
	for (i = 0; i < nr_tasks; i++)
		put_trace(file, FIRST_SERIAL + i, step);
	put_end(file, nr_tasks, step);
	finish(file);
	publish(new, dir);
	return 0;
}

/* Counts of a file's contents. */
struct totals {
	uint64_t streams, profiles, diffs, exited, traces, infos, events, ends;
	char command[256], job[64];
};

static void count(struct totals *totals, union ktau_record record)
{
	switch (record.rec->type) {
	case KTAU_REC_STREAM:
		totals->streams++;
		break;
	case KTAU_REC_PROFILE:
		totals->profiles++;
		break;
	case KTAU_REC_OWNER:
		totals->exited += record.owner->kind == KTAU_OWNER_EXITED;
		break;
	case KTAU_REC_DIFF:
		totals->diffs++;
		break;
	case KTAU_REC_TRACE:
		totals->traces++;
		break;
	case KTAU_REC_END:
		totals->ends++;
		break;
	case KTAU_REC_INFO:
		totals->infos++;
		snprintf(totals->command, sizeof(totals->command), "%s",
			 ktau_info_command(record.info));
		snprintf(totals->job, sizeof(totals->job), "%s", ktau_info_job(record.info));
		break;
	case KTAU_REC_EVENT:
		totals->events++;
		break;
	}
}

static void print_finding(void *arg, const struct ktau_finding *finding)
{
	(void)arg;
	printf("finding %s: %s\n", ktau_finding_name(finding->code), finding->text);
}

static int read_file(const char *path)
{
	struct ktau_snapshot *snapshot;
	struct totals totals = { 0 };
	struct ktau_rec_profile *sum;
	struct ktau_reader *reader;
	union ktau_record record;
	struct ktau_check *check;
	int err;

	if (ktau_reader_create(&reader) || ktau_snapshot_create(&snapshot) ||
	    ktau_check_create(&check, print_finding, NULL))
		return 1;
	err = ktau_reader_open_file(reader, path);
	while (!err || err > 0) {
		err = ktau_reader_next(reader, &record);
		if (err <= 0)
			break;
		count(&totals, record);
		if (ktau_check_record(check, &record) < 0 ||
		    ktau_snapshot_add(snapshot, &record))
			return 1;
	}
	if (err)
		printf("damage %s\n", ktau_reader_error(reader));
	printf("streams %" PRIu64 "\nprofiles %" PRIu64 "\ndiffs %" PRIu64 "\nexited %" PRIu64
	       "\ntraces %" PRIu64 "\ninfos %" PRIu64 "\nevents %" PRIu64 "\nends %" PRIu64
	       "\ncommand %s\njob %s\n", totals.streams, totals.profiles, totals.diffs,
	       totals.exited, totals.traces, totals.infos, totals.events, totals.ends,
	       totals.command, totals.job);
	if (!ktau_snapshot_sum(snapshot, &sum, NULL)) {
		if (sum->nr_entries)
			printf("count %llu\n", ktau_profile_entries(sum)[0].count);
		ktau_record_free(sum);
	}
	ktau_check_destroy(check);
	ktau_snapshot_destroy(snapshot);
	ktau_reader_destroy(reader);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "write"))
		return write_streams(argv[2], strtoull(argv[3], NULL, 10),
				     strtoull(argv[4], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "read"))
		return read_file(argv[2]);
	fprintf(stderr, "usage: test_stream write DIR TASKS STEP | read FILE\n");
	return 2;
}
