// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_files FOLDER: use files below FOLDER with every kind of call, and check the results.
 * It is not a test by itself: test_ciod.py runs it as a job, where each call is shipped, and
 * outside a job, where none is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

static int failed;
static const char *volatile nowhere;

#define CHECK(condition) do { \
	if (!(condition)) { \
		printf("line %d: %s: %s\n", __LINE__, #condition, strerror(errno)); \
		failed = 1; \
	} \
} while (0)

static void sizes(int fd)
{
	struct statvfs vfs;
	struct stat st;

	CHECK(!ftruncate(fd, 5000) && !fstat(fd, &st) && st.st_size == 5000);
	CHECK(!posix_fallocate(fd, 0, 20000) && !fstat(fd, &st) && st.st_size == 20000);
	CHECK(!fsync(fd) && !fdatasync(fd));
	CHECK(!fstatvfs(fd, &vfs) && vfs.f_bsize && vfs.f_blocks >= vfs.f_bavail);
}

static void by_path(const char *file, const char *link)
{
	const struct utimbuf when = { 1000, 2000 };
	const struct timeval then[2] = { { 3000, 5 }, { 4000, 6 } };
	struct statvfs vfs;
	struct stat st;
	char text[64];

	CHECK(!truncate(file, 1234) && !stat(file, &st) && st.st_size == 1234);
	CHECK(!chmod(file, 0640) && !stat(file, &st) && (st.st_mode & 0777) == 0640);
	CHECK(!chown(file, -1, -1) && !lchown(file, -1, -1));
	CHECK(!statvfs(file, &vfs) && vfs.f_namemax == 255);
	CHECK(!utime(file, &when) && !stat(file, &st) && st.st_mtime == 2000);
	CHECK(!utimes(file, then) && !stat(file, &st) && st.st_mtim.tv_nsec == 6000);
	CHECK(!symlink("file", link) && readlink(link, text, sizeof(text)) == 4);
	CHECK(!lstat(link, &st) && S_ISLNK(st.st_mode));
	CHECK(!access(link, R_OK | W_OK) && !unlink(link) && access(link, F_OK));
}

static void vectors(int fd)
{
	char a[4] = "abc", b[9] = "defghijk", big[300000];
	struct iovec both[2] = { { a, 3 }, { b, 8 } };
	size_t i;

	CHECK(lseek(fd, 0, SEEK_SET) == 0 && writev(fd, both, 2) == 11);
	CHECK(pwritev(fd, both, 2, 100) == 11 && lseek(fd, 0, SEEK_CUR) == 11);
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	CHECK(preadv(fd, both, 2, 100) == 11 && !strcmp(a, "abc") && !strcmp(b, "defghijk"));
	CHECK(lseek(fd, 1, SEEK_SET) == 1 && readv(fd, both, 2) >= 10 && a[0] == 'b');
	/* One read and one write of more bytes than a message can hold */
	for (i = 0; i < sizeof(big); i++)
		big[i] = i % 251;
	CHECK(pwrite(fd, big, sizeof(big), 0) == sizeof(big));
	memset(big, 0, sizeof(big));
	CHECK(pread(fd, big, sizeof(big), 0) == sizeof(big));
	for (i = 0; i < sizeof(big) && big[i] == (char)(i % 251); i++)
		;
	CHECK(i == sizeof(big));
	CHECK(write(fd, nowhere, 10) == -1 && errno == EFAULT);
}

static void streams(const char *file)
{
	char line[64] = "";
	FILE *f = fopen(file, "w+e");
	int n = 0;

	CHECK(f);
	if (!f)
		return;
	CHECK(fprintf(f, "%s %d\n", "hello", 42) == 9 && !fflush(f));
	rewind(f);
	CHECK(fgets(line, sizeof(line), f) && sscanf(line, "hello %d", &n) == 1 && n == 42);
	CHECK(!fclose(f));
}

static void folders(const char *path)
{
	char name[300], second[256] = "";
	struct dirent *entry;
	long place = -1;
	int i, n = 0;
	DIR *dir;

	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%s/entry-%d", path, i);
		CHECK(!mkdir(name, 0700));
	}
	dir = opendir(path);
	CHECK(dir);
	if (!dir)
		return;
	for (; (entry = readdir(dir)); n++) {
		if (n == 20)
			place = telldir(dir);
		if (n == 21)
			snprintf(second, sizeof(second), "%s", entry->d_name);
	}
	CHECK(n >= 42);
	seekdir(dir, place);
	entry = readdir(dir);
	CHECK(entry && !strcmp(entry->d_name, second));
	rewinddir(dir);
	for (i = 0; readdir(dir); i++)
		;
	CHECK(i == n && !closedir(dir));
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%s/entry-%d", path, i);
		CHECK(!rmdir(name));
	}
}

static void descriptors(int fd, const char *file)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN | POLLOUT };
	char text[4] = "";
	int copy;

	CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
	CHECK(poll(&ready, 1, 0) == 1 && ready.revents == (POLLIN | POLLOUT));
	copy = dup(fd);
	CHECK(copy > fd && pwrite(fd, "xyz", 3, 0) == 3 && !close(fd));
	CHECK(pread(copy, text, 3, 0) == 3 && !strcmp(text, "xyz"));
	CHECK(dup2(copy, 100) == 100 && !close(copy) && lseek(100, 2, SEEK_SET) == 2);
	CHECK(read(100, text, 1) == 1 && *text == 'z' && !close(100));
	CHECK(read(100, text, 1) == -1 && errno == EBADF);
	copy = open(file, O_RDONLY | O_CLOEXEC);
	CHECK(copy >= 0 && fcntl(copy, F_GETFD) == FD_CLOEXEC);
	CHECK(write(copy, "x", 1) == -1 && errno == EBADF && !close(copy));
}

int main(int argc, char **argv)
{
	char file[256], link[256];
	int fd;

	if (argc != 2)
		return 2;
	snprintf(file, sizeof(file), "%s/file", argv[1]);
	snprintf(link, sizeof(link), "%s/link", argv[1]);
	fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	sizes(fd);
	by_path(file, link);
	vectors(fd);
	streams(file);
	folders(argv[1]);
	descriptors(fd, file);
	CHECK(!unlink(file));
	return failed;
}
