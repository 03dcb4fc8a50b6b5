// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The names of a thread's regions and events, in a file ktau-user.HOST.PID.TID in $KTAU_USER_DIR
 * or the current directory. A region is appended when it is first entered, by one write(), so
 * what the kernel has accounted has a name even if the process is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user.h"

void ktau__hide_controls(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ')
			*name = '?';
}

/* The program may have closed the descriptor, and its number may be that of another file now. */
static bool is_open(const struct ktau__user *u, struct stat *st)
{
	return u->names >= 0 && !fstat(u->names, st) && st->st_dev == u->names_dev &&
	       st->st_ino == u->names_ino;
}

static void put_blocked(const struct ktau__user *u, const char *text, int bytes)
{
	struct stat st;

	if (bytes <= 0 || !is_open(u, &st) || !ktau__may_write((uint64_t)st.st_size + bytes))
		return;
	if (write(u->names, text, bytes) != bytes && ftruncate(u->names, st.st_size))
		return;
}

/*
 * Write a whole line or nothing; what is not written has no name in the reports. The size is that
 * of the same file until the end, because no signal handler can fork.
 */
static void put(const struct ktau__user *u, const char *text, int bytes)
{
	sigset_t old;

	ktau__block_signals(&old);
	put_blocked(u, text, bytes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void ktau__read_boot_id(char id[37])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(id, 0, 37);
	if (fd < 0)
		return;
	if (read(fd, id, 36) != 36)
		id[0] = 0;
	close(fd);
}

static long thread_id(void)
{
	return syscall(SYS_gettid);
}

bool ktau__may_write(uint64_t bytes)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && bytes <= limit.rlim_cur;
}

int ktau__file_open(const char *prefix, int flags)
{
	const char *dir = secure_getenv("KTAU_USER_DIR");
	char path[PATH_MAX], host[HOST_NAME_MAX + 1] = "";
	int bytes;

	gethostname(host, sizeof(host) - 1);
	bytes = snprintf(path, sizeof(path), "%s/%s%s.%ld.%ld", dir ? dir : ".", prefix, host,
			 (long)getpid(), thread_id());
	if (bytes < 0 || bytes >= (int)sizeof(path))
		return -1;
	unlink(path);	/* of an earlier process with this pid, or its program before an exec */
	return open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

void ktau__names_open(struct ktau__user *u)
{
	char boot[37], line[128];
	struct stat st;
	int bytes;

	u->names = ktau__file_open("ktau-user.", O_WRONLY | O_APPEND);
	if (u->names < 0)
		return;
	if (fstat(u->names, &st)) {
		close(u->names);
		u->names = -1;
		return;
	}
	u->names_dev = st.st_dev;
	u->names_ino = st.st_ino;
	ktau__read_boot_id(boot);
	bytes = snprintf(line, sizeof(line),
			 "ktau-user 1\nboot %s\nserial %" PRIu64 "\npid %ld\ntid %ld\n", boot,
			 u->serial, (long)getpid(), thread_id());
	put(u, line, bytes);
}

void ktau__names_add(struct ktau__user *u, uint32_t region)
{
	const struct ktau__region *r = &u->region[region];
	char line[300];
	int bytes;

	if (u->names < 0)
		return;
	bytes = snprintf(line, sizeof(line), "region %" PRIu32 " %" PRIu32 " %.255s\n", region,
			 r->parent, r->name);
	put(u, line, bytes);
}

void ktau__names_event(struct ktau__user *u, uint32_t event, const char *name)
{
	char line[300];

	if (u->names >= 0)
		put(u, line,
		    snprintf(line, sizeof(line), "event %" PRIu32 " %.255s\n", event, name));
}

void ktau__names_close(struct ktau__user *u)
{
	struct stat st;

	if (is_open(u, &st))
		close(u->names);
	u->names = -1;
}
