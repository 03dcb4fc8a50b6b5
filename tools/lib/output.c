// SPDX-License-Identifier: GPL-2.0-only
/* The file or directory that a command writes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"

/**
 * struct output - an output being written
 * @path: final name
 * @partial: name while it is being written; equal to @path if it is written in place, and NULL
 *	for standard output
 * @file: stream, unless the output is a directory
 * @lock_fd: descriptor locked while a directory is written; -1: none
 * @mode: permissions of a file once it is complete
 * @directory: the output is a directory
 * @failed: writing failed and a message has been printed
 */
struct output {
	const char *path;
	char *partial;
	FILE *file;
	int lock_fd;
	mode_t mode;
	bool directory;
	bool failed;
};

/*
 * The thread that waits for signals removes @unfinished. It takes @lock and keeps it, so that
 * no file is added afterwards. @stopping keeps the other thread from taking the lock again
 * while the signal thread waits for it.
 */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static atomic_bool stopping;
static const char *unfinished;
static sigset_t signals;

static int look_at(const char *path, int standard_fd, struct stat *st)
{
	return strcmp(path, "-") ? stat(path, st) : fstat(standard_fd, st);
}

/* Reading a terminal or a pipe and writing to it harms nothing. */
bool output_is_input(const char *path, const char *input)
{
	struct stat out, in;

	if (!input || look_at(path, STDOUT_FILENO, &out) || !S_ISREG(out.st_mode) ||
	    look_at(input, STDIN_FILENO, &in) || in.st_dev != out.st_dev ||
	    in.st_ino != out.st_ino)
		return false;
	complain("cannot write %s: it is also the input",
		 strcmp(path, "-") ? path : "standard output");
	return true;
}

void output_enter(void)
{
	while (atomic_load(&stopping))
		pause();
	pthread_mutex_lock(&lock);
}

void output_exit(void)
{
	pthread_mutex_unlock(&lock);
}

static int remove_tree(int parent, const char *name);

/* Closes @fd. */
static int remove_entries(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		close(fd);
		return -1;
	}
	while (!err && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = remove_tree(fd, entry->d_name);
	closedir(dir);
	return err;
}

/*
 * No path is followed: others may put a link in the place of a folder meanwhile. readdir() may
 * leave out entries of a folder that becomes smaller.
 */
static int remove_tree(int parent, const char *name)
{
	int fd, err, tries = 0;

	do {
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return unlinkat(parent, name, 0);
		err = remove_entries(fd);
		if (!err)
			err = unlinkat(parent, name, AT_REMOVEDIR);
	} while (err && errno == ENOTEMPTY && ++tries < 8);
	return err;
}

static void remove_unfinished(void)
{
	if (unfinished)
		remove_tree(AT_FDCWD, unfinished);
	unfinished = NULL;
}

/* Remove the unfinished output, then let the signal take its default action. */
static void *await_signal(void *arg)
{
	sigset_t one;
	int number;

	(void)arg;
	if (sigwait(&signals, &number))
		return NULL;
	atomic_store(&stopping, true);
	pthread_mutex_lock(&lock);
	remove_unfinished();
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(number);
	return NULL;
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;
	pthread_t thread;
	size_t i;

	sigemptyset(&signals);
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!sigaction(numbers[i], NULL, &action) && action.sa_handler == SIG_DFL)
			sigaddset(&signals, numbers[i]);
	if (pthread_sigmask(SIG_BLOCK, &signals, NULL))
		return;
	if (pthread_create(&thread, NULL, await_signal, NULL))
		pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	else
		pthread_detach(thread);
}

void output_forked(void)
{
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

static bool is_in_place(const struct output *o)
{
	return !o->partial || !strcmp(o->partial, o->path);
}

static void destroy(struct output *o)
{
	if (o->lock_fd >= 0)
		close(o->lock_fd);
	free(o->partial);
	free(o);
}

static struct output *refuse(struct output *o)
{
	if (errno == EBUSY)
		complain("cannot create %s: another command is writing it", o->path);
	else if (errno == ENOTEMPTY)
		complain("cannot create %s: %s was not made by ktau", o->path, o->partial);
	else
		complain("cannot create %s: %s", o->path, strerror(errno));
	destroy(o);
	return NULL;
}

/* A link is not replaced, but written through: /dev/stdout may lead to a regular file. */
static bool is_special(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/*
 * A directory that is being written contains this file, locked by its writer. If the file exists
 * but is not locked, the writer was killed.
 */
static const char mark[] = "/.ktau-output";

static int open_mark(const struct output *o, int flags)
{
	char *path = cli_alloc(NULL, strlen(o->partial) + sizeof(mark), 1);
	int fd;

	sprintf(path, "%s%s", o->partial, mark);
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0666);
	free(path);
	return fd;
}

static void remove_mark(const struct output *o)
{
	char *path = cli_alloc(NULL, strlen(o->partial) + sizeof(mark), 1);

	sprintf(path, "%s%s", o->partial, mark);
	unlink(path);
	free(path);
}

/* Any user can create such a mark in a directory of their own. */
static bool is_own(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid();
}

/* 0, or -1 with errno: EBUSY if another command is writing it, ENOTEMPTY if it has no mark. */
static int remove_stale(const struct output *o)
{
	int fd = open_mark(o, O_RDWR), err;

	if (fd < 0 || !is_own(fd)) {
		if (fd >= 0)
			close(fd);
		errno = ENOTEMPTY;
		return -1;
	}
	err = flock(fd, LOCK_EX | LOCK_NB);
	if (!err)
		err = remove_tree(AT_FDCWD, o->partial);
	else
		errno = EBUSY;
	close(fd);
	return err;
}

static int make_directory(struct output *o)
{
	int err = mkdir(o->partial, 0777);

	if (err && errno == EEXIST && !remove_stale(o))
		err = mkdir(o->partial, 0777);
	if (err)
		return -1;
	o->lock_fd = open_mark(o, O_RDWR | O_CREAT | O_EXCL);
	return o->lock_fd < 0 ? -1 : flock(o->lock_fd, LOCK_EX | LOCK_NB);
}

/* The permissions of a file that is replaced, or those of a new one. */
static mode_t final_mode(const char *path)
{
	struct stat st;
	mode_t mask;

	if (!lstat(path, &st))
		return st.st_mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* Write to the file itself. */
static int open_in_place(struct output *o)
{
	strcpy(o->partial, o->path);
	o->file = fopen(o->path, "we");
	return o->file ? 0 : -1;
}

/*
 * A file is written under a unique name, so it can neither be somebody else's nor be a link. If
 * the folder is not writable, the file itself may be.
 */
static int make_file(struct output *o)
{
	int fd = mkostemp(o->partial, O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS)) {
		int err = errno;

		if (!access(o->path, W_OK))
			return open_in_place(o);
		errno = err;
	}
	if (fd < 0)
		return -1;
	o->mode = final_mode(o->path);
	o->file = fdopen(fd, "w");
	if (o->file)
		return 0;
	close(fd);
	unlink(o->partial);
	return -1;
}

static int make(struct output *o)
{
	struct stat st;

	if (o->directory && !lstat(o->path, &st)) {
		errno = EEXIST;
		return -1;
	}
	if (o->directory)
		return make_directory(o);
	if (!stat(o->path, &st) && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	return is_special(o->path) ? open_in_place(o) : make_file(o);
}

struct output *output_create(const char *path, bool directory)
{
	struct output *o = cli_alloc(NULL, 1, sizeof(*o));
	int err;

	*o = (struct output){ .path = path, .lock_fd = -1, .directory = directory };
	if (!directory && !strcmp(path, "-")) {
		o->file = stdout;
		return o;
	}
	if (asprintf(&o->partial, "%s.%s", path, directory ? "partial" : "XXXXXX") < 0) {
		o->partial = NULL;
		errno = ENOMEM;
		return refuse(o);
	}
	catch_signals();
	pthread_mutex_lock(&lock);
	err = make(o);
	if (!err && !is_in_place(o))
		unfinished = o->partial;
	pthread_mutex_unlock(&lock);
	return err ? refuse(o) : o;
}

const char *output_name(const struct output *o)
{
	return o->path;
}

const char *output_path(const struct output *o)
{
	return o->partial ? o->partial : o->path;
}

FILE *output_file(const struct output *o)
{
	return o->file;
}

static FILE *open_in(struct output *o, const char *name, const char *mode)
{
	char *path = cli_alloc(NULL, strlen(o->partial) + strlen(name) + 2, 1), *slash;
	FILE *file;

	sprintf(path, "%s/%s", o->partial, name);
	pthread_mutex_lock(&lock);
	for (slash = path + strlen(o->partial); (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(path, 0777);
		*slash = '/';
	}
	file = fopen(path, mode);
	pthread_mutex_unlock(&lock);
	if (!file)
		complain("cannot create %s: %s", path, strerror(errno));
	free(path);
	return file;
}

int output_fail(struct output *o, int err)
{
	if (!o->failed)
		complain("cannot write %s: %s", o->partial ? o->path : "standard output",
			 err ? strerror(err) : "unknown error");
	o->failed = true;
	return -1;
}

int output_check(struct output *o, FILE *file)
{
	return ferror(file) ? output_fail(o, errno) : 0;
}

int output_close(struct output *o, FILE *file)
{
	bool failed = ferror(file) != 0;

	errno = 0;
	if (fclose(file) || failed)
		return output_fail(o, errno);
	return 0;
}

FILE *output_add(struct output *o, const char *name)
{
	return open_in(o, name, "wxe");
}

FILE *output_reopen(struct output *o, const char *name)
{
	return open_in(o, name, "ae");
}

int output_append(struct output *o, const char *name, const void *data, size_t bytes)
{
	FILE *file = open_in(o, name, "ae");

	if (!file)
		return -1;
	if (fwrite(data, 1, bytes, file) < bytes)
		output_check(o, file);
	return output_close(o, file);
}

/* Flush and close the output. */
static int finish(struct output *o)
{
	FILE *file = o->file;
	bool failed;

	if (!file)
		return 0;
	o->file = NULL;
	failed = ferror(file) != 0;
	errno = 0;
	if (fflush(file) || failed)
		failed = true;
	if (failed)
		output_fail(o, errno);
	/* Some file systems have fixed permissions. */
	if (!is_in_place(o))
		fchmod(fileno(file), o->mode);
	if (file != stdout && fclose(file) && !failed)
		output_fail(o, errno);
	return o->failed ? -1 : 0;
}

int output_commit(struct output *o)
{
	int err = finish(o);

	pthread_mutex_lock(&lock);
	if (o->directory)
		remove_mark(o);
	if (!err && !is_in_place(o) && rename(o->partial, o->path))
		err = output_fail(o, errno);
	if (err)
		remove_unfinished();
	unfinished = NULL;
	pthread_mutex_unlock(&lock);
	destroy(o);
	return err;
}

/* The output is being thrown away, so write errors do not matter. */
void output_discard(struct output *o)
{
	o->failed = true;
	finish(o);
	pthread_mutex_lock(&lock);
	remove_unfinished();
	pthread_mutex_unlock(&lock);
	destroy(o);
}
