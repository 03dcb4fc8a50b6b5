// SPDX-License-Identifier: GPL-2.0-only
/*
 * libktau-user without a kernel: ioctl() returns a file of one page, in which the test sees the
 * number that the kernel would read.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <ktau_user.h>
#include <linux/ktau.h>
#include <linux/ktau_area.h>

#include "../../../libktau/user/trace_format.h"

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__real_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

static bool secure;	/* this is a set-uid program */
static int kernel_error;
static uint32_t given;
static __thread volatile uint32_t *seen;	/* the thread's page */
static char folder[] = "/tmp/ktau-user-XXXXXX";
static const char *stream_file = "/dev/null", *events_file = "/dev/null";
static bool with_figures;

#define FAR	16	/* a block that is in another page */

/* Figures as the kernel maps them: three regions, of which the last has no cells. */
struct figures {
	union {
		struct ktau_area_header header;
		char page[4096];
	};
	struct ktau_area_cell block[FAR + 1][KTAU_AREA_BLOCK_CELLS];
};

static __thread struct figures *figures;	/* the thread's */
static char *shown;	/* where the library has mapped the last ones */

/* NOLINTNEXTLINE(readability-function-size) */
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *p = __real_mmap64(at, bytes, prot, flags, fd, offset);

	if (prot == PROT_READ && bytes > KTAU_AREA_CELLS_BYTES)
		shown = p;
	return p;
}

unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE ? secure : __real_getauxval(type);
}

int __wrap_open64(const char *path, int flags, ...)
{
	va_list more;
	int mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	if (!strcmp(path, "/proc/ktau/profile"))
		path = stream_file;
	else if (!strcmp(path, "/proc/ktau/events"))
		path = events_file;
	return __real_open64(path, flags, mode);
}

static void set_block(uint32_t index, uint32_t event, uint32_t block)
{
	struct ktau_area_index *at = (struct ktau_area_index *)figures->block[index];

	at->block[event / KTAU_AREA_BLOCK_CELLS] = block;
}

static void make_figures(int area)
{
	figures = mmap(NULL, sizeof(*figures), PROT_READ | PROT_WRITE, MAP_SHARED, area,
		       getpagesize());
	assert_ptr_not_equal(figures, MAP_FAILED);
	figures->header = (struct ktau_area_header){
		.magic = KTAU_AREA_MAGIC,
		.version = KTAU_AREA_VERSION,
		.nr_regions = 3,
		.cells_at = 4096,
		.ticks_per_second = 1234567,
		.region = { { .index = 1 }, { .index = 2 } },
	};
	set_block(1, 39, 3);
	set_block(2, 39, 4);
	set_block(2, 1023, 5);
	figures->block[3][39 % 8] = (struct ktau_area_cell){ 7, 70, 60, 11 };
	figures->block[4][39 % 8] = (struct ktau_area_cell){ 5, 50, 40, 12 };
	figures->block[5][7] = (struct ktau_area_cell){ 1, 2, 3, 4 };
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ktau_regions *args;
	va_list more;
	int area;

	(void)fd;
	va_start(more, request);
	args = va_arg(more, struct ktau_regions *);
	va_end(more);
	if (request == KTAU_IOC_SELECT)
		return 0;
	assert_int_equal(request, KTAU_IOC_REGIONS);
	assert_int_equal(args->size, sizeof(*args));
	if (kernel_error) {
		errno = kernel_error;
		return -1;
	}
	if (given)
		args->nr_regions = given;
	args->serial = 4711;
	area = memfd_create("area", MFD_CLOEXEC);
	assert_int_equal(ftruncate(area, 4L * getpagesize()), 0);
	seen = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, area, 0);
	assert_ptr_not_equal(seen, MAP_FAILED);
	if (with_figures)
		make_figures(area);
	return area;
}

/* The lines of the thread's file from the first region on; the caller frees them. */
static char *names(pid_t pid, pid_t tid)
{
	char path[300], host[65] = "", *text = calloc(1, 65536), *from;
	FILE *file;

	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/ktau-user.%s.%d.%d", folder, host, pid, tid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	assert_int_equal(strncmp(text, "ktau-user 1\nboot ", 17), 0);
	assert_non_null(strstr(text, "\nserial 4711\n"));
	from = strstr(text, "\nregion");
	memmove(text, from ? from + 1 : "", from ? strlen(from) : 1);
	return text;
}

static void expect_names(const char *wanted)
{
	char *text = names(getpid(), gettid());

	assert_string_equal(text, wanted);
	free(text);
}

static void inner(uint32_t region)
{
	KTAU_USER_SCOPE("inner");

	assert_int_equal(*seen, region);
}

/* Each test runs in a thread of its own, which begins without an area. */
static void in_thread(void *(*fn)(void *arg))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fn, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *tree_thread(void *arg)
{
	struct ktau_user_frame frame;
	static struct ktau_user_point other = { "other\nname", 0 };

	assert_int_equal(ktau_user_status(), -EAGAIN);
	{
		KTAU_USER_SCOPE("outer");

		assert_int_equal(ktau_user_status(), 0);
		assert_int_equal(*seen, 1);
		inner(2);
		assert_int_equal(*seen, 1);
		inner(2);
	}
	assert_int_equal(*seen, 0);
	inner(3);
	ktau_user_enter(&frame, &other);
	assert_int_equal(*seen, 4);
	inner(5);
	ktau_user_exit(&frame);
	assert_int_equal(*seen, 0);
	ktau_user_exit(&frame);	/* ignored */
	assert_int_equal(ktau_user_refused(), 0);
	expect_names("region 1 0 outer\nregion 2 1 inner\nregion 3 0 inner\n"
		     "region 4 0 other?name\nregion 5 4 inner\n");
	return arg;
}

static void tree(void **state)
{
	(void)state;
	in_thread(tree_thread);
}

static jmp_buf back;
static volatile int leaves = 1;

static __attribute__((noinline)) void jump(int deep)
{
	KTAU_USER_SCOPE("jump");

	if (deep)
		jump(deep - 1);
	else if (leaves)
		longjmp(back, 1);
}

/* Its frame is where that of jump() was. */
static __attribute__((noinline)) void called(uint32_t region)
{
	KTAU_USER_SCOPE("called");

	assert_int_equal(*seen, region);
}

static void *jumps_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	volatile int i;

	for (i = 0; i < 200; i++)
		if (!setjmp(back))
			jump(5);
	/* The next scope, or the end of this one, closes what was left. */
	assert_int_equal(*seen, 2);
	called(3);
	assert_int_equal(*seen, 1);
	if (!setjmp(back))
		jump(5);
	inner(4);
	assert_int_equal(*seen, 1);
	assert_int_equal(ktau_user_refused(), 0);
	expect_names("region 1 0 outer\nregion 2 1 jump\nregion 3 1 called\n"
		     "region 4 1 inner\n");
	return arg;
}

static void jumps(void **state)
{
	(void)state;
	in_thread(jumps_thread);
}

static void deeper(int deep)
{
	static struct ktau_user_point point[2] = { { "even", 0 }, { "odd", 0 } };
	struct ktau_user_frame frame;

	ktau_user_enter(&frame, &point[deep % 2]);
	if (deep)
		deeper(deep - 1);
	ktau_user_exit(&frame);
}

static void *limits_thread(void *arg)
{
	struct ktau_user_point point[20] = { 0 };
	struct ktau_user_frame frame;
	int i;

	for (i = 0; i < 20; i++) {
		point[i].name = "point";
		ktau_user_enter(&frame, &point[i]);
		assert_int_equal(*seen, i < 7 ? i + 1 : 0);
		ktau_user_exit(&frame);
		assert_int_equal(*seen, 0);
	}
	assert_int_equal(ktau_user_refused(), 13);
	deeper(100);
	assert_int_equal(*seen, 0);
	assert_true(ktau_user_refused() >= 13 + 100);
	return arg;
}

static void limits(void **state)
{
	(void)state;
	given = 8;
	in_thread(limits_thread);
	given = 0;
}

static void *fork_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	volatile uint32_t *parents = seen;
	int status;
	pid_t pid;

	inner(2);
	pid = fork();
	if (!pid) {
		char *text = names(getpid(), gettid());

		_exit(seen == parents || *seen != 1 ||
		      strcmp(text, "region 1 0 outer\nregion 2 1 inner\n"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(*seen, 1);
	return arg;
}

static void forks(void **state)
{
	(void)state;
	in_thread(fork_thread);
}

static void on_signal(int sig)
{
	(void)sig;
	inner(2);
}

/* A handler on a stack of its own, wherever that is, is inside the scope that it interrupts. */
static void *signal_thread(void *arg)
{
	static char below[65536];
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = below, .ss_size = sizeof(below) };
	KTAU_USER_SCOPE("outer");

	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	pthread_kill(pthread_self(), SIGUSR1);
	assert_int_equal(*seen, 1);
	inner(2);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return arg;
}

static void signals(void **state)
{
	(void)state;
	in_thread(signal_thread);
}

static void *refused_thread(void *arg)
{
	const int err = *(int *)arg;
	KTAU_USER_SCOPE("outer");

	assert_int_equal(ktau_user_status(), -err);
	return arg;
}

static void refused(void **state)
{
	static int errors[] = { EACCES, ENOTTY, ENODATA };
	pthread_t thread;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		kernel_error = errors[i];
		pthread_create(&thread, NULL, refused_thread, &errors[i]);
		pthread_join(thread, NULL);
	}
	kernel_error = 0;
}

static void *secure_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	int status;
	pid_t pid;

	assert_int_equal(ktau_user_status(), -EACCES);
	pid = fork();
	if (!pid) {
		KTAU_USER_SCOPE("child");

		_exit(seen || ktau_user_status() != -EACCES);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return arg;
}

/* A set-uid program, and the children that it forks, have no regions. */
static void secures(void **state)
{
	(void)state;
	secure = true;
	in_thread(secure_thread);
	secure = false;
}

static void expect_figures(int (*read)(uint32_t, uint64_t *, uint64_t *, uint64_t *),
			   uint32_t event, int wanted, const uint64_t *figure)
{
	uint64_t count = 99, incl = 99, excl = 99;

	assert_int_equal(read(event, &count, &incl, &excl), wanted);
	assert_int_equal(count, figure[0]);
	assert_int_equal(incl, figure[1]);
	assert_int_equal(excl, figure[2]);
}

#define FIGURES(...) ((const uint64_t[]){ __VA_ARGS__ })

/* The events of the kernel, in more than one read(). */
static void write_events(void)
{
	FILE *file = fopen(events_file, "w");
	int i;

	assert_non_null(file);
	fputs("# id group kind address name\n0 syscall timer 0 __x64_sys_read\n", file);
	fputs("7 syscall timer 0 __ia_compat_sys\n", file);
	for (i = 100; i < 300; i++)
		fprintf(file, "%d syscall timer ffffffff81a0b2c0 __x64_sys_call%d\n", i, i);
	fprintf(file, "400 syscall timer 0 %0600d\nx syscall timer 0 bad\n401 syscall\n", 0);
	fputs("640 tcp timer 0 an_event\n641 syscall counter 0 values\n1027 syscall timer 0 "
	      "__ia32_sys_read\n", file);
	fclose(file);
}

static void *mapped_thread(void *arg)
{
	struct ktau_user_frame frame;
	static struct ktau_user_point point[2] = { { "first", 0 }, { "second", 0 } };

	expect_figures(ktau_user_read, 39, 0, FIGURES(7, 70, 60));
	assert_true(ktau_user_is_mapped());
	assert_int_equal(ktau_user_hz(), 1234567);
	expect_figures(ktau_user_read_region, 39, -ENOENT, FIGURES(99, 99, 99));
	ktau_user_enter(&frame, &point[0]);
	expect_figures(ktau_user_read, 39, 0, FIGURES(12, 120, 100));
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(5, 50, 40));
	expect_figures(ktau_user_read_region, 1023, 0, FIGURES(1, 2, 3));
	expect_figures(ktau_user_read, 40, 0, FIGURES(0, 0, 0));
	figures->block[4][0].count = 3;
	expect_figures(ktau_user_read, 32, 0, FIGURES(3, 0, 0));
	expect_figures(ktau_user_read, 500, 0, FIGURES(0, 0, 0));
	expect_figures(ktau_user_read, 1024, -ENODATA, FIGURES(99, 99, 99));
	assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), 0);
	figures->header.region[0].refused = 1;
	expect_figures(ktau_user_read, 39, 1, FIGURES(12, 120, 100));
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(5, 50, 40));
	ktau_user_exit(&frame);
	ktau_user_enter(&frame, &point[1]);
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(0, 0, 0));
	ktau_user_exit(&frame);
	return arg;
}

static void mapped(void **state)
{
	(void)state;
	with_figures = true;
	in_thread(mapped_thread);
	with_figures = false;
}

/*
 * Like an interrupt between two reads: the second cell is in a page that cannot be read at first,
 * and the signal handler adds to both cells.
 */
static void on_fault(int sig)
{
	(void)sig;
	figures->block[3][39 % 8] = (struct ktau_area_cell){ 8, 80, 70, 11 };
	figures->block[FAR][39 % 8] = (struct ktau_area_cell){ 6, 60, 50, 12 };
	mprotect(shown + 2 * 4096, 4096, PROT_READ); /* NOLINT(bugprone-signal-handler) */
}

static void *changing_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");

	set_block(2, 39, FAR);
	figures->block[FAR][39 % 8] = (struct ktau_area_cell){ 5, 50, 40, 12 };
	expect_figures(ktau_user_read, 39, 0, FIGURES(12, 120, 100));
	signal(SIGSEGV, on_fault);
	assert_int_equal(mprotect(shown + 2 * 4096, 4096, PROT_NONE), 0);
	expect_figures(ktau_user_read, 39, 0, FIGURES(14, 140, 120));
	signal(SIGSEGV, SIG_DFL);
	return arg;
}

static void changing(void **state)
{
	(void)state;
	with_figures = true;
	in_thread(changing_thread);
	with_figures = false;
}

static void *unmapped_thread(void *arg)
{
	ktau_user_read(39, NULL, NULL, NULL);
	assert_false(ktau_user_is_mapped());
	return arg;
}

/* A stream of a newer kernel: structures are longer, and it has an unknown record. */
struct crafted {
	struct ktau_rec_stream stream;
	uint64_t more;
	struct ktau_rec_event event;
	struct ktau_rec unknown;
	struct ktau_rec_profile profile;
	struct {
		struct ktau_entry entry;
		uint64_t more;
	} entry[2];
	struct ktau_rec_region region;
	struct ktau_entry inside;
	struct ktau_rec_end end;
};

static void craft(struct crafted *c)
{
	const uint32_t entry = sizeof(c->entry[0]);

	memset(c, 0, sizeof(*c));
	c->stream.rec = (struct ktau_rec){ sizeof(c->stream) + 8, KTAU_REC_STREAM,
					   sizeof(c->stream) + 8 };
	c->stream.clock_hz = 1000;
	c->event.rec = (struct ktau_rec){ 40, KTAU_REC_EVENT, 40 };
	c->unknown = (struct ktau_rec){ 8, 999, 8 };
	c->profile.rec = (struct ktau_rec){ sizeof(c->profile) + 2 * entry, KTAU_REC_PROFILE,
					    sizeof(c->profile) };
	c->profile.nr_entries = 2;
	c->profile.entry_size = entry;
	c->entry[0].entry = (struct ktau_entry){ .id = 39, .count = 4, .incl = 30, .excl = 20 };
	c->entry[1].entry = (struct ktau_entry){ .id = 2000, .count = 5, .incl = 6, .excl = 7 };
	c->region.rec = (struct ktau_rec){ sizeof(c->region) + 64, KTAU_REC_REGION,
					   sizeof(c->region) };
	c->region.region = 1;
	c->region.nr_entries = 1;
	c->region.entry_size = 64;
	c->inside = (struct ktau_entry){ .id = 39, .count = 3, .incl = 9, .excl = 8 };
	c->end.rec = (struct ktau_rec){ sizeof(c->end), KTAU_REC_END, sizeof(c->end) };
}

static void write_stream(const struct crafted *c, size_t bytes)
{
	FILE *file = fopen(stream_file, "w");

	assert_non_null(file);
	if (bytes)
		assert_int_equal(fwrite(c, 1, bytes, file), bytes);
	fclose(file);
}

static void *stream_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	struct crafted c;
	size_t i;

	craft(&c);
	write_stream(&c, sizeof(c));
	assert_int_equal(ktau_user_hz(), 1000);
	expect_figures(ktau_user_read, 39, 0, FIGURES(4, 30, 20));
	expect_figures(ktau_user_read, 2000, 0, FIGURES(5, 6, 7));
	expect_figures(ktau_user_read, 40, 0, FIGURES(0, 0, 0));
	expect_figures(ktau_user_read_region, 39, 0, FIGURES(3, 9, 8));
	c.region.refused = 1;
	write_stream(&c, sizeof(c));
	expect_figures(ktau_user_read_region, 39, 1, FIGURES(3, 9, 8));
	for (i = 0; i < sizeof(c) - sizeof(c.end); i += 8) {
		write_stream(&c, i);
		assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), -ENODATA);
	}
	c.profile.entry_size = 1 << 30;
	write_stream(&c, sizeof(c));
	assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), -EPROTO);
	c.profile.rec.size = 4;
	write_stream(&c, sizeof(c));
	assert_int_equal(ktau_user_read(39, NULL, NULL, NULL), -EPROTO);
	return arg;
}

static void streams(void **state)
{
	static char path[100];

	(void)state;
	in_thread(unmapped_thread);
	snprintf(path, sizeof(path), "%s/stream", folder);
	stream_file = path;
	write_stream(NULL, 0);
	in_thread(stream_thread);
	stream_file = "/dev/null";
}

static void events(void **state)
{
	static char path[100];
	char name[20];
	int i;

	(void)state;
	assert_int_equal(ktau_user_event("an_event"), -ENOENT);
	snprintf(path, sizeof(path), "%s/events", folder);
	events_file = path;
	assert_int_equal(ktau_user_event("an_event"), -ENOENT);
	write_events();
	assert_int_equal(ktau_user_event("sys_read"), 0);
	assert_int_equal(ktau_user_event("__x64_sys_read"), 0);
	assert_int_equal(ktau_user_event("__ia32_sys_read"), 1027);
	for (i = 100; i < 300; i++) {
		snprintf(name, sizeof(name), "sys_call%d", i);
		assert_int_equal(ktau_user_event(name), i);
	}
	assert_int_equal(ktau_user_event("read"), -ENOENT);
	assert_int_equal(ktau_user_event("sys"), -ENOENT);
	assert_int_equal(ktau_user_event("an_event"), 640);
	assert_int_equal(ktau_user_event("event"), -ENOENT);
	assert_int_equal(ktau_user_event("bad"), -ENOENT);
	assert_int_equal(ktau_user_event("name"), -ENOENT);
	assert_int_equal(ktau_user_read_name("bad", NULL, NULL, NULL), -ENOENT);
	for (i = 100; i < 300; i++) {
		snprintf(name, sizeof(name), "__x64_sys_call%d", i);
		assert_int_equal(ktau_user_event(name), i);
	}
	events_file = folder;	/* which read() cannot read */
	assert_int_equal(ktau_user_event("other_event"), -EISDIR);
	assert_int_equal(ktau_user_event("an_event"), 640);	/* remembered */
	assert_int_equal(ktau_user_event("__x64_sys_call299"), -EISDIR);	/* too many */
	events_file = path;
}

/* Of a counter in several regions, the smallest minimum counts. */
static void *counters_thread(void *arg)
{
	KTAU_USER_SCOPE("outer");
	const char *path = events_file;

	events_file = "/dev/null";
	expect_figures(ktau_user_read, 641, 0, FIGURES(0, 0, 0));	/* has no id yet */
	events_file = folder;
	expect_figures(ktau_user_read, 641, -EISDIR, FIGURES(99, 99, 99));
	events_file = path;
	set_block(1, 641, 6);
	set_block(2, 641, 7);
	figures->block[7][1] = (struct ktau_area_cell){ 2, 1300, 600, 700 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(2, 1300, 600));
	events_file = folder;	/* what is known is not looked up */
	figures->block[6][1] = (struct ktau_area_cell){ 3, 900, 200, 400 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(5, 2200, 200));
	figures->block[6][1] = (struct ktau_area_cell){ 1, 900, 900, 900 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(3, 2200, 600));
	expect_figures(ktau_user_read_region, 641, 0, FIGURES(2, 1300, 600));
	figures->block[7][1] = (struct ktau_area_cell){ 0, 0, 0, 0 };
	expect_figures(ktau_user_read, 641, 0, FIGURES(1, 900, 900));
	figures->block[6][0] = (struct ktau_area_cell){ 1, 9, 8, 9 };
	figures->block[7][0] = (struct ktau_area_cell){ 1, 7, 6, 7 };
	expect_figures(ktau_user_read, 640, 0, FIGURES(2, 16, 14));
	events_file = path;
	return arg;
}

static void counters(void **state)
{
	(void)state;
	with_figures = true;
	in_thread(counters_thread);
	with_figures = false;
}

/* The trace of a thread. */
struct trace {
	struct ktau__trace_header header;
	struct ktau__trace_slot slot[KTAU__TRACE_MIN_SLOTS];
};

static void read_trace(pid_t pid, pid_t tid, struct trace *trace)
{
	char path[300], host[65] = "";
	FILE *file;

	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), "%s/" KTAU__TRACE_PREFIX "%s.%d.%d", folder, host, pid, tid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(trace, 1, sizeof(*trace), file), sizeof(*trace));
	fclose(file);
	assert_int_equal(trace->header.magic, KTAU__TRACE_MAGIC);
	assert_int_equal(trace->header.serial, 4711);
	assert_int_equal(trace->header.nr_slots, KTAU__TRACE_MIN_SLOTS);
}

/* The slots from number @from on, as text. */
static void expect_trace(const struct trace *trace, uint64_t from, const char *wanted)
{
	const struct ktau__trace_slot *s;
	char text[1000] = "";
	uint64_t ticks = 0;

	for (; from < trace->header.written; from++) {
		s = &trace->slot[from % KTAU__TRACE_MIN_SLOTS];
		assert_true(s->ticks >= ticks);
		ticks = s->ticks;
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c%d",
			 " rmvM"[s->type], s->number);
		if (s->type > KTAU__TRACE_MARK)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "=%d",
				 (int)s->value);
		if (s->type == KTAU__TRACE_MESSAGE)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%d",
				 s->peer);
		strcat(text, " ");
	}
	assert_string_equal(text, wanted);
}

/* 256 and more: the library itself, in a region. */
static void *traced_thread(void *arg)
{
	static struct ktau_user_point message = { "message", 0 };
	struct trace trace;
	pid_t child, me = gettid();
	int i, status;

	{
		KTAU_USER_SCOPE("outer");

		for (i = 0; i < 2; i++)
			inner(2);
		KTAU_USER_MARK("mark");
		KTAU_USER_VALUE("value", 5);
		ktau_user_message(&message, 3, 100);
		KTAU_USER_MARK("mark");
		child = fork();
		if (!child) {
			inner(2);
			_exit(*seen != 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	assert_int_equal(*seen, 0);
	read_trace(getpid(), me, &trace);
	expect_trace(&trace, 0, "r256 r1 r257 r2 r1 r2 r1 m0 r257 r1 v1=5 r257 r1 M2=100,3 r257 r1 "
		     "m3 r257 r1 r0 ");
	read_trace(child, child, &trace);
	expect_trace(&trace, 0, "r1 r2 r1 ");
	expect_names("region 1 0 outer\nregion 2 1 inner\nevent 0 mark\nevent 1 value\n"
		     "event 2 message\nevent 3 mark\n");
	for (i = 0; i < KTAU__TRACE_MIN_SLOTS; i++)
		inner(3);
	read_trace(getpid(), me, &trace);
	assert_int_equal(trace.header.written, 20 + 1 + 2 * KTAU__TRACE_MIN_SLOTS);
	expect_trace(&trace, trace.header.written - 3, "r0 r3 r0 ");
	assert_int_equal(ktau_user_refused(), 0);
	return arg;
}

static void *too_many_thread(void *arg)
{
	static struct ktau_user_point point[KTAU__TRACE_EVENTS + 2];
	struct trace trace;
	int i;

	for (i = 0; i < KTAU__TRACE_EVENTS + 2; i++) {
		point[i].name = "many";
		ktau_user_mark(&point[i]);
	}
	assert_int_equal(ktau_user_refused(), 2);
	read_trace(getpid(), gettid(), &trace);
	assert_int_equal(trace.header.written, 3 * KTAU__TRACE_EVENTS);
	return arg;
}

static void traced(void **state)
{
	(void)state;
	assert_int_equal(setenv("KTAU_USER_TRACE", "1", 1), 0);
	in_thread(traced_thread);
	in_thread(too_many_thread);
	in_thread(tree_thread);
	in_thread(jumps_thread);
	unsetenv("KTAU_USER_TRACE");
}

static int remove_files(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree),	   cmocka_unit_test(jumps),   cmocka_unit_test(limits),
		cmocka_unit_test(forks),   cmocka_unit_test(signals), cmocka_unit_test(refused),
		cmocka_unit_test(secures), cmocka_unit_test(mapped),  cmocka_unit_test(changing),
		cmocka_unit_test(streams), cmocka_unit_test(events),
		cmocka_unit_test(counters), cmocka_unit_test(traced),
	};

	if (!mkdtemp(folder) || setenv("KTAU_USER_DIR", folder, 1))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_files);
}
