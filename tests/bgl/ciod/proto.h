/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol between a compute node and ciod on the I/O node: system calls shipped as messages
 * over TCP.
 *
 * All numbers are big-endian. A request is
 *
 *	u32	bytes of the whole message, including this field
 *	u32	number of the call, CIOD_NR_*
 *	...	its arguments, one after the other, according to its signature
 *
 * and an argument is one of
 *
 *	f	u32: a descriptor returned by openat, or CIOD_ROOT
 *	i	u32: a number that is an int in C: flags, a mode, whence, a user
 *	n	u64: a number; negative numbers are in two's complement
 *	p	u32 length, then a path of this length, which ends in its only zero byte
 *	d	u32 length, then data of this length
 *
 * Each request has one reply, in order:
 *
 *	u32	bytes of the whole message, including this field
 *	u32	0, or the error: Linux's generic errno
 *	u64	the result of the call
 *	...	data: what was read, struct ciod_stat, or directory entries
 *
 * A connection starts with hello, which has the protocol version, the peer's role and the job's
 * token; its result is the pid of the process that will execute the calls. A connection ends with
 * bye. A node whose connection ends without bye, or that breaks these rules, is a lost node. A job
 * has one connection of role CIOD_CONTROL: it starts with this connection, and ends with a request
 * "end" on it.
 *
 * Paths are relative to the job: / is its root, and so is CIOD_ROOT. Modes, AT_ flags, whence and
 * file types have the same numbers on all Linux systems and are sent unchanged. The flags of
 * openat differ between systems, so they have numbers of their own here. The compute node's umask
 * has already been applied to the mode of a file to be created.
 */
#ifndef CIOD_PROTO_H
#define CIOD_PROTO_H

#define CIOD_VERSION	1
#define CIOD_PORT	7200

enum ciod_role { CIOD_COMPUTE, CIOD_CONTROL };

/* Length of the job's token in hexadecimal digits. */
#define CIOD_TOKEN_BYTES 32

#define CIOD_ROOT	0xffffffffu

#define CIOD_MAX_DATA	(256 * 1024)	/* of one read, write or getdents64 */
#define CIOD_MAX_PATH	4096		/* including its zero byte */
#define CIOD_MAX_BODY	(CIOD_MAX_DATA + 64)
#define CIOD_HEAD_BYTES	8
#define CIOD_REPLY_BYTES 16

/*
 * Name, number, signature. From CIOD_NR_openat on, each is a Linux system call, with its arguments
 * in the same order. There are two differences: utimensat has the two times instead of the pointer
 * to them and an empty path instead of none, and the paths of truncate and statfs are relative to
 * the job's root.
 */
#define CIOD_CALLS(call) \
	call(hello,	0,	"nnd") \
	call(bye,	1,	"") \
	call(end,	2,	"") \
	call(openat,	3,	"fpii") \
	call(close,	4,	"f") \
	call(read,	5,	"fn") \
	call(write,	6,	"fd") \
	call(pread64,	7,	"fnn") \
	call(pwrite64,	8,	"fdn") \
	call(lseek,	9,	"fni") \
	call(statx,	10,	"fpi") \
	call(getdents64, 11,	"fi") \
	call(mkdirat,	12,	"fpi") \
	call(unlinkat,	13,	"fpi") \
	call(renameat2,	14,	"fpfpi") \
	call(linkat,	15,	"fpfpi") \
	call(symlinkat,	16,	"pfp") \
	call(readlinkat, 17,	"fpi") \
	call(faccessat,	18,	"fpi") \
	call(fchmodat,	19,	"fpi") \
	call(fchmod,	20,	"fi") \
	call(fchownat,	21,	"fpiii") \
	call(fchown,	22,	"fii") \
	call(utimensat,	23,	"fpninii") \
	call(ftruncate,	24,	"fn") \
	call(fsync,	25,	"f") \
	call(fdatasync,	26,	"f") \
	call(syncfs,	27,	"f") \
	call(fallocate,	28,	"finn") \
	call(truncate,	29,	"pn") \
	call(statfs,	30,	"p") \
	call(fstatfs,	31,	"f")

#define CIOD_ENUM(name, number, signature) CIOD_NR_##name = (number),
enum ciod_call { CIOD_CALLS(CIOD_ENUM) CIOD_NR_CALLS };

/* Flags of openat; the lowest two bits are O_RDONLY, O_WRONLY or O_RDWR. */
#define CIOD_O_ACCMODE		0x0003
#define CIOD_O_CREAT		0x0004
#define CIOD_O_EXCL		0x0008
#define CIOD_O_TRUNC		0x0010
#define CIOD_O_APPEND		0x0020
#define CIOD_O_DIRECTORY	0x0040
#define CIOD_O_NOFOLLOW		0x0080
#define CIOD_O_PATH		0x0100
#define CIOD_O_SYNC		0x0200
#define CIOD_O_NOATIME		0x0400
#define CIOD_O_ALL		0x07ff

/* The data in the reply to statx: u64 values in this order. */
enum ciod_stat {
	CIOD_ST_MODE,
	CIOD_ST_NLINK,
	CIOD_ST_UID,
	CIOD_ST_GID,
	CIOD_ST_DEV_MAJOR,
	CIOD_ST_DEV_MINOR,
	CIOD_ST_INO,
	CIOD_ST_RDEV_MAJOR,
	CIOD_ST_RDEV_MINOR,
	CIOD_ST_SIZE,
	CIOD_ST_BLOCKS,
	CIOD_ST_BLKSIZE,
	CIOD_ST_ATIME,
	CIOD_ST_ATIME_NS,
	CIOD_ST_MTIME,
	CIOD_ST_MTIME_NS,
	CIOD_ST_CTIME,
	CIOD_ST_CTIME_NS,
	CIOD_NR_STAT
};

/* The data in the reply to statfs and fstatfs: u64 values in this order. */
enum ciod_statfs {
	CIOD_FS_TYPE,
	CIOD_FS_BSIZE,
	CIOD_FS_BLOCKS,
	CIOD_FS_BFREE,
	CIOD_FS_BAVAIL,
	CIOD_FS_FILES,
	CIOD_FS_FFREE,
	CIOD_FS_NAMELEN,
	CIOD_FS_FRSIZE,
	CIOD_FS_FLAGS,
	CIOD_NR_STATFS
};

/*
 * The data in the reply to getdents64: entries of
 *
 *	u64	inode
 *	u64	position of the next entry, for lseek
 *	u8	file type, DT_*
 *	u16	length of the name, which follows without a zero byte
 *
 * The result is the total length of the entries.
 */
#define CIOD_ENTRY_BYTES 19

#endif
