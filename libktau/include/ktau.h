/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktau: profiles and traces of kernel routines, read from a running kernel
 * or from a file, on any machine from any machine.
 *
 * What holds for every function:
 *  - int functions return 0 (some 1 or a count, said there) or -errno.
 *  - Nothing prints, exits, changes a signal or keeps a global variable. A
 *    handle may be used by one thread at a time; different handles by
 *    different threads at once.
 *  - Handles are made by ktau_*_create() and freed by ktau_*_destroy(), which
 *    takes NULL. What a function returns through a const pointer belongs to
 *    the handle; the comment at the function says how long it is valid.
 *  - ktau_*_error() says in words what went wrong last on a handle (file,
 *    byte or line, reason); "" if nothing did.
 *  - Times are ticks of the recorded machine's cycle counter unless the name
 *    ends in _ns; struct ktau_clock converts.
 *
 * Records. All readers return records in normal form: the layout of
 * <linux/ktau.h> and <ktau_file.h> in this machine's byte order with this
 * library's structure sizes, whatever wrote them. Every count in them has been
 * checked against the record's size, and every text is zero-terminated. Texts and
 * names may contain any other byte: programs that print them escape what a
 * terminal would act on. A record is one piece of memory of rec->size bytes:
 * memcpy() copies it whole.
 *
 * What this library does not know is no error. Records and blocks of unknown
 * types are stepped over and counted; slot types, entry kinds, owner kinds,
 * sources and groups are returned as numbers that have no name.
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
