// SPDX-License-Identifier: GPL-2.0-only
/*
 * libktau-user without a kernel: ioctl() returns a file of one page, in which the test sees the
 * number that the kernel would read.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/ktau.h>

#include "../../../libktau/user/trace_format.h"
#include "user_fake.h"

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
ssize_t __real_write(int fd, const void *bytes, size_t nr);
ssize_t __wrap_write(int fd, const void *bytes, size_t nr);
void *__real_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

bool secure;
int kernel_error;
bool disk_full;
uint32_t given;
__thread volatile uint32_t *seen;
__thread pid_t seen_by;
char folder[] = "/tmp/ktau-user-XXXXXX";
const char *stream_file = "/dev/null", *events_file = "/dev/null";
bool with_figures;
uint32_t figures_version = KTAU_AREA_VERSION;

__thread struct figures *figures;
char *shown;

/* NOLINTNEXTLINE(readability-function-size) */
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *p = __real_mmap64(at, bytes, prot, flags, fd, offset);

	if (prot == PROT_READ && bytes > KTAU_AREA_CELLS_BYTES) {
		shown = p;
		madvise(p, bytes, MADV_DONTFORK);	/* as the kernel does */
	}
	return p;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t nr)
{
	return __real_write(fd, bytes, disk_full ? nr / 2 : nr);
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

void set_block(uint32_t index, uint32_t event, uint32_t block)
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
		.version = figures_version,
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
	seen_by = getpid();
	if (with_figures)
		make_figures(area);
	return area;
}

static void file_path(const char *prefix, pid_t pid, pid_t tid, char path[300])
{
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(path, 300, "%s/%s%s.%d.%d", folder, prefix, host, pid, tid);
}

void names_path(pid_t pid, pid_t tid, char path[300])
{
	file_path("ktau-user.", pid, tid, path);
}

void trace_path(pid_t pid, pid_t tid, char path[300])
{
	file_path(KTAU__TRACE_PREFIX, pid, tid, path);
}

char *names(pid_t pid, pid_t tid)
{
	char path[300], *text = calloc(1, 65536), *from;
	FILE *file;

	names_path(pid, tid, path);
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

void expect_names(const char *wanted)
{
	char *text = names(getpid(), gettid());

	assert_string_equal(text, wanted);
	free(text);
}

void in_thread(void *(*fn)(void *arg))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fn, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

bool make_folder(void)
{
	return mkdtemp(folder) && !setenv("KTAU_USER_DIR", folder, 1);
}

int remove_folder(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? -1 : 0;
}
