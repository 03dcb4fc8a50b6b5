/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The *.ktau file: what ktaud writes and libktau reads, byte for byte.
 *
 *	struct ktau_file_header, then blocks, each
 *	struct ktau_block + payload, padded with zeros to a multiple of 8 bytes
 *
 * A block's payload, once inflated, is a sequence of whole records as in
 * <linux/ktau.h>: the kernel's own (STREAM, PROFILE, TRACE, END), and the ones
 * below. Everything is in the byte order of the machine that wrote the file;
 * the magic numbers tell which one that is. Structures grow as the kernel's do.
 */
#ifndef KTAU_FILE_H
#define KTAU_FILE_H

#include <linux/ktau.h>

#define KTAU_FILE_MAGIC		0x4c49464bU	/* "KFIL" on little endian */
#define KTAU_FILE_VERSION	1
#define KTAU_BLOCK_MAGIC	0x4b42544bU	/* "KTBK" on little endian */

/* No block and no record is larger, stored or inflated. */
#define KTAU_BLOCK_MAX		(16U << 20)

/* @type of struct ktau_block */
#define KTAU_BLOCK_RECORDS	1

/* @flags of struct ktau_block */
#define KTAU_BLOCK_ZLIB		(1U << 0)	/* payload is a zlib stream */

/* Record types that only files have. */
#define KTAU_REC_INFO		(KTAU_REC_USER + 0)
#define KTAU_REC_EVENT		(KTAU_REC_USER + 1)
#define KTAU_REC_DIFF		(KTAU_REC_USER + 2)

/**
 * struct ktau_file_header - first bytes of the file
 * @magic: KTAU_FILE_MAGIC
 * @version: KTAU_FILE_VERSION; changes only when an old reader would go wrong
 * @size: bytes of this header; the first block follows
 * @created_ns: CLOCK_REALTIME when the file was created
 */
struct ktau_file_header {
	__u32 magic;
	__u16 version;
	__u16 size;
	__aligned_u64 created_ns;
};

/**
 * struct ktau_block - what stands before a block's payload
 * @magic: KTAU_BLOCK_MAGIC
 * @type: KTAU_BLOCK_RECORDS; a reader skips a type that it does not know
 * @flags: KTAU_BLOCK_ZLIB
 * @stored_bytes: bytes of the payload as it stands in the file, padding
 *	excluded
 * @raw_bytes: bytes of the payload once inflated; equal to @stored_bytes if it
 *	is not compressed; at most KTAU_BLOCK_MAX
 * @payload_crc: CRC-32 (zlib's) of the payload as it stands, padding excluded
 * @sequence: 0 for the first block of the file, then one more for each
 * @reserved: 0
 * @header_crc: CRC-32 of the bytes before this field. It makes @stored_bytes
 *	trustworthy: behind a damaged payload the next block is found at once,
 *	behind a damaged header by looking at every eighth byte
 */
struct ktau_block {
	__u32 magic;
	__u16 type;
	__u16 flags;
	__u32 stored_bytes;
	__u32 raw_bytes;
	__u32 payload_crc;
	__u32 sequence;
	__u32 reserved;
	__u32 header_crc;
};

/**
 * struct ktau_rec_info - where and how the data was taken
 * @rec: type KTAU_REC_INFO
 * @created_ns: CLOCK_REALTIME when the record was made
 * @period_ns: time from one stream to the next; 0 if there is none
 * @stext: address of _stext in that boot, 0 if not known
 * @build_id: the kernel's GNU build-id
 * @build_id_bytes: how many bytes of it count; 0 if not known
 * @command_bytes: bytes of the command line, its zero included
 * @symbols_bytes: bytes of the symbol source's path, its zero included
 * @reserved: 0
 * @hostname: as uname(2) gives it, zero-terminated
 * @release: the kernel's release, likewise
 * @machine: the machine, likewise
 *
 * The command line that collected (arguments with blanks between them) and
 * the path of the symbols that were used follow, each zero-terminated, then
 * zeros to a multiple of 8 bytes.
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
	__u32 reserved;
	char hostname[72];
	char release[72];
	char machine[72];
};

/**
 * struct ktau_rec_event - one line of the event table
 * @rec: type KTAU_REC_EVENT
 * @id: event id
 * @group: KTAU_GROUP_* bit; 0 if it is none that the writer knew
 * @kind: KTAU_KIND_*
 * @name_bytes: bytes of the name, its zero included
 * @address: address of the function, 0 if there is none or it was hidden
 *
 * The name follows, zero-terminated, then zeros to a multiple of 8 bytes. A
 * later record of the same id takes the place of an earlier one.
 */
struct ktau_rec_event {
	struct ktau_rec rec;
	__u32 id;
	__u32 group;
	__u32 kind;
	__u32 name_bytes;
	__aligned_u64 address;
};

/*
 * A KTAU_REC_DIFF record has the layout of struct ktau_rec_profile. Its times
 * and counts are what was added since the record of the same owner before it
 * in this file; a first one is counted from zero. Smallest and largest values
 * of counters are those of the whole life. @open_child_ticks may have become
 * smaller: the difference is taken modulo 2^64, and the identity still holds.
 */

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct ktau_file_header) == 16, "ktau_file_header");
_Static_assert(sizeof(struct ktau_block) == 32, "ktau_block");
_Static_assert(sizeof(struct ktau_rec_info) == 296, "ktau_rec_info");
_Static_assert(sizeof(struct ktau_rec_event) == 32, "ktau_rec_event");
#endif

#endif /* KTAU_FILE_H */
