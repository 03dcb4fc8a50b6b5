/* SPDX-License-Identifier: GPL-2.0-only */
/* A fake kernel for the unit tests of libktau-user, and other parts that they share. */
#ifndef KTAU_TESTS_USER_FAKE_H
#define KTAU_TESTS_USER_FAKE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <setjmp.h> /* cmocka.h needs it */

#include <cmocka.h>
#include <linux/ktau_area.h>

#define FAR	16	/* a block that is in another page */

/* Figures as the kernel maps them: three regions, of which the last has no cells. */
struct figures {
	union {
		struct ktau_area_header header;
		char page[4096];
	};
	struct ktau_area_cell block[FAR + 1][KTAU_AREA_BLOCK_CELLS];
};

extern bool secure;	/* this is a set-uid program */
extern int kernel_error;
extern bool disk_full;	/* write() writes half of the bytes */
extern uint32_t given;	/* number of regions, instead of the requested one */
extern bool with_figures;
extern uint32_t figures_version;
extern const char *stream_file, *events_file;	/* instead of those in /proc/ktau */
extern char folder[];	/* for the library's files, and for others */
extern char *shown;	/* where the library has mapped the last figures */
extern __thread volatile uint32_t *seen;	/* the thread's page */
extern __thread pid_t seen_by;	/* which process has asked for it */
extern __thread struct figures *figures;	/* the thread's */

/* Let the cells of @event in the region with @index be in @block. */
void set_block(uint32_t index, uint32_t event, uint32_t block);

/* The paths of the thread's files. */
void names_path(pid_t pid, pid_t tid, char path[300]);
void trace_path(pid_t pid, pid_t tid, char path[300]);

/* The lines of the thread's file from the first region on; the caller frees them. */
char *names(pid_t pid, pid_t tid);
void expect_names(const char *wanted);

/* Each test runs in a thread of its own, which begins without an area. */
void in_thread(void *(*fn)(void *arg));

/* Run tests with an empty @folder. Returns the status of the program. */
#define run_user_tests(tests)							\
	(make_folder() ? cmocka_run_group_tests(tests, NULL, remove_folder) : 1)
bool make_folder(void);
int remove_folder(void **state);

#endif
