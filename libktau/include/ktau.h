/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau: profiles and traces of kernel routines, read from a running kernel
 * or from a file, on any machine from any machine.
 *
 * Rules for every function:
 *  - int functions return 0 or -errno, unless their comment says otherwise.
 *  - Nothing prints, exits, changes a signal's disposition or keeps a global variable. A
 *    handle may be used by one thread at a time; different handles by different threads at
 *    once.
 *  - Handles are created by ktau_*_create() and freed by ktau_*_destroy(), which accepts NULL.
 *    Data returned through a const pointer belongs to the handle; the comment of the function
 *    says how long it is valid.
 *  - ktau_*_error() describes the last error on a handle (file, byte or line, reason); ""
 *    if there was none.
 *  - Times are ticks of the recorded machine's cycle counter unless the name ends in _ns;
 *    struct ktau_clock converts them.
 *
 * Records. All readers return records in normal form: the layout of <linux/ktau.h> and
 * <ktau_file.h> in this machine's byte order and with this library's structure sizes,
 * whatever machine wrote them. Every count in them has been checked against the record's
 * size, and every text is zero-terminated. Texts may contain any other byte, so programs
 * that print them must escape control characters. A record is one contiguous piece of memory
 * of rec->size bytes, which can be copied with memcpy().
 *
 * Unknown types are not errors. Records and blocks of unknown types are skipped and counted;
 * unknown slot types, entry kinds, owner kinds, sources and groups are returned as numbers,
 * which have no name.
 */
#ifndef KTAU_H
#define KTAU_H

#include <ktau_names.h>
#include <ktau_record.h>
#include <ktau_reader.h>
#include <ktau_snapshot.h>
#include <ktau_symtab.h>
#include <ktau_writer.h>
#include <ktau_check.h>
#include <ktau_control.h>

#endif /* KTAU_H */
