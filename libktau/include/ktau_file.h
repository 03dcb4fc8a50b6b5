/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The *.ktau file, which ktaud writes and libktau reads, byte for byte.
 *
 *	struct ktau_file_header, then blocks, each
 *	struct ktau_block + payload, padded with zeros to a multiple of 8 bytes
 *
 * The payload of a block, once decompressed and decoded, is a sequence of whole
 * records as in <linux/ktau.h>: the kernel's own (STREAM, EVENT, CGROUP, OWNER,
 * PROFILE, TRACE, GONE, END), and the ones below. Everything is in the byte order of the
 * machine that wrote the file, which the magic numbers reveal. Structures grow in the
 * same way as the kernel's.
 *
 * A file contains data of one boot. Streams are in the order in which they were taken. An
 * EVENT or CGROUP record may be left out if the file already has an equal one, and an OWNER
 * record if the owner has no other record in the stream. Block headers have the time span
 * of their payload, so a reader finds a time window by reading headers only. It begins to
 * decode at the last block with KTAU_BLOCK_KEY before the window.
 */
#ifndef KTAU_FILE_H
#define KTAU_FILE_H

#include <linux/ktau.h>

#define KTAU_FILE_MAGIC		0x4c49464bU	/* "KFIL" on little endian */
#define KTAU_FILE_VERSION	2
#define KTAU_BLOCK_MAGIC	0x4b42544bU	/* "KTBK" on little endian */

/* No block and no record is larger, stored or decoded. */
#define KTAU_BLOCK_MAX		(16U << 20)

/* @type of struct ktau_block */
#define KTAU_BLOCK_RECORDS	1

/* @compression of struct ktau_block */
#define KTAU_COMPRESS_NONE	0
#define KTAU_COMPRESS_ZLIB	1	/* a zlib stream */
#define KTAU_COMPRESS_ZSTD	2	/* a zstd frame; if libktau is built with it */

/* @encoding of struct ktau_block */
#define KTAU_ENCODE_PLAIN	0	/* records as they are */
#define KTAU_ENCODE_DELTA	1	/* ticks and ids delta-coded, see docs/dev/abi.md */

/* @flags of struct ktau_block */
#define KTAU_BLOCK_KEY		(1U << 0)	/* does not depend on earlier blocks */

/* Record types that only occur in files. */
#define KTAU_REC_INFO		(KTAU_REC_USER + 0)
#define KTAU_REC_DIFF		(KTAU_REC_USER + 1)
#define KTAU_REC_GAP		(KTAU_REC_USER + 2)

/* @origin of struct ktau_rec_stream: a recording of ftrace, by ktau import */
#define KTAU_ORIGIN_FTRACE	3

/*
 * Events of programs, which ktau import takes from the traces of others. No kernel has these
 * numbers. The name of such an event lists its fields: "mpi:work(rank:s64,host:text)", and a slot
 * has their values in this order, as described in docs/dev/abi.md.
 */
#define KTAU_GROUP_PROGRAM	(1U << 28)	/* @group of struct ktau_rec_event */
#define KTAU_SOURCE_PROGRAM	128
#define KTAU_KIND_FIELDS	128
#define KTAU_TRACE_FIELDS	128	/* an event, in the trace of its thread */
#define KTAU_TRACE_FIELDS_LOST	129	/* events of the thread that may have been lost */

/**
 * struct ktau_file_header - first bytes of the file
 * @magic: KTAU_FILE_MAGIC
 * @version: KTAU_FILE_VERSION; changes only when an old reader would misread the data
 * @size: bytes of this header; the first block follows
 * @created_ns: CLOCK_REALTIME when the file was created
 * @boot_id: /proc/sys/kernel/random/boot_id of the recorded boot as 16 bytes
 * @header_crc: CRC-32 (zlib's) of the @size bytes of the header with this field taken as zero
 * @reserved: 0
 */
struct ktau_file_header {
	__u32 magic;
	__u16 version;
	__u16 size;
	__aligned_u64 created_ns;
	__u8 boot_id[16];
	__u32 header_crc;
	__u32 reserved;
};

/**
 * struct ktau_block - header of a block
 * @magic: KTAU_BLOCK_MAGIC
 * @size: bytes of this header, a multiple of 8 and at most KTAU_BLOCK_HEADER_MAX;
 *	the payload follows
 * @type: KTAU_BLOCK_RECORDS; a reader skips a type that it does not know
 * @compression: KTAU_COMPRESS_*; a reader skips one that it does not know
 * @encoding: KTAU_ENCODE_*; a reader skips one that it does not know
 * @flags: KTAU_BLOCK_KEY
 * @stored_bytes: bytes of the payload in the file, padding excluded
 * @raw_bytes: bytes of the payload once decompressed; equal to @stored_bytes if it
 *	is not compressed; at most KTAU_BLOCK_MAX
 * @payload_crc: CRC-32 (zlib's) of the payload as stored, padding excluded
 * @sequence: 0 for the first block of the file, then incremented by one for each
 * @from_ns: CLOCK_REALTIME of the first stream that begins in it; 0 if there is none
 * @to_ns: CLOCK_REALTIME of the last stream that begins in it; 0 if there is none
 * @header_crc: CRC-32 of the header with this field taken as zero. It protects
 *	@stored_bytes, so the next block is found directly after a damaged payload, and
 *	by searching at every eighth byte after a damaged header
 */
struct ktau_block {
	__u32 magic;
	__u16 size;
	__u16 type;
	__u8 compression;
	__u8 encoding;
	__u16 flags;
	__u32 stored_bytes;
	__u32 raw_bytes;
	__u32 payload_crc;
	__u32 sequence;
	__u32 header_crc;
	__aligned_u64 from_ns;
	__aligned_u64 to_ns;
};

#define KTAU_BLOCK_HEADER_MAX	256

/**
 * struct ktau_rec_info - where and how the data was taken
 * @rec: type KTAU_REC_INFO
 * @created_ns: CLOCK_REALTIME when the record was made
 * @period_ns: time from one stream to the next; 0 if there is none
 * @stext: address of _stext in that boot, 0 if not known
 * @build_id: the kernel's GNU build-id
 * @build_id_bytes: number of valid bytes in it; 0 if not known
 * @command_bytes: bytes of the command line, its zero included
 * @symbols_bytes: bytes of the symbol source's path, its zero included
 * @job_bytes: bytes of the job id from the configuration, its zero included
 * @hostname: nodename of uname(2), zero-terminated
 * @release: release of uname(2), zero-terminated
 * @machine: machine of uname(2), zero-terminated
 * @command_serial: the task that executed the command when it was recorded; 0: the command is
 *	that of the collector itself
 *
 * The command line (arguments separated by blanks), the path of the
 * symbols that were used and the job id follow, each zero-terminated, then zeros to a
 * multiple of 8 bytes.
 */
struct ktau_rec_info {
	struct ktau_rec rec;
	__aligned_u64 created_ns;
	__aligned_u64 period_ns;
	__aligned_u64 stext;
	__u8 build_id[32];
	__u32 build_id_bytes;
	__u32 command_bytes;
	__u32 symbols_bytes;
	__u32 job_bytes;
	char hostname[72];
	char release[72];
	char machine[72];
	__aligned_u64 command_serial;
};

/*
 * A KTAU_REC_DIFF record has the layout of struct ktau_rec_profile. Its times and counts
 * are the increase since the previous record of the same serial in this file; the first
 * one in the file, or since a block with KTAU_BLOCK_KEY began, counts from zero. Only live
 * tasks and CPUs have such records. The longest activation, and the minimum and maximum of
 * counters, cover the owner's whole lifetime. @open_child_ticks can become smaller, so
 * its difference, like those of the account, is taken modulo 2^64; the identity still
 * holds. Owners to which nothing was added may be left out. OWNER records are absolute.
 */

/**
 * struct ktau_rec_gap - periods that were not recorded
 * @rec: type KTAU_REC_GAP
 * @from_ns: CLOCK_REALTIME of the first of them
 * @to_ns: CLOCK_REALTIME of the last of them
 * @periods: number of periods
 * @error: why the file could not be written: errno of the machine that wrote it
 * @reserved: 0
 *
 * The record follows the first streams after the gap. The profiles in these contain what the
 * periods would have contained; slots of traces may have been overwritten. At the end of a file,
 * after which nothing was written, it may follow a stream that lacks its end.
 */
struct ktau_rec_gap {
	struct ktau_rec rec;
	__aligned_u64 from_ns;
	__aligned_u64 to_ns;
	__aligned_u64 periods;
	__u32 error;
	__u32 reserved;
};

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct ktau_file_header) == 40, "ktau_file_header");
_Static_assert(sizeof(struct ktau_block) == 48, "ktau_block");
_Static_assert(sizeof(struct ktau_rec_info) == 304, "ktau_rec_info");
_Static_assert(sizeof(struct ktau_rec_gap) == 40, "ktau_rec_gap");
#endif

#endif /* KTAU_FILE_H */
