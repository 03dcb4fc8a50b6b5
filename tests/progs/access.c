// SPDX-License-Identifier: GPL-2.0-only
/*
 * permit: who may see and do what. The table below says it; each subject, a process of
 * its own, tries each object. To be run as root, with all groups and traces on.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "look.h"
#include "subject.h"
#include "tap.h"

#define OWNER 1000
#define OTHER 1001

/* One letter of each row's @want belongs to one of these. */
static const struct subject subjects[] = {
	{ "root", 0, ALL_CAPS, false },
	{ "uid 0 without capabilities", 0, 0, false },
	{ "the owner", OWNER, 0, false },
	{ "another user", OTHER, 0, false },
	{ "another with CAP_PERFMON", OTHER, CAP(PERFMON), false },
	{ "another with CAP_SYS_ADMIN", OTHER, CAP(SYS_ADMIN), false },
	{ "another with CAP_SYS_PTRACE", OTHER, CAP(SYS_PTRACE), false },
	{ "another with CAP_SYSLOG", OTHER, CAP(SYSLOG), false },
	{ "another, root of his own user namespace", OTHER, 0, true },
	{ "the owner, root of his own user namespace", OWNER, 0, true },
	{ "the owner with CAP_NET_RAW, dropped", OWNER, CAP(NET_RAW) | NOT_EFFECTIVE, false },
};

#define NR_SUBJECTS (sizeof(subjects) / sizeof(*subjects))

/* Tasks to be looked at. */
enum { OF_ROOT,
       OF_OWNER,
       CAPABLE,
       UNDUMPABLE,
       SET_UID,
       IN_NAMESPACE,
       NR_TASKS };

static const struct {
	struct subject is;
	bool undumpable;
	bool set_uid;
} tasks[NR_TASKS] = {
	[OF_ROOT] = { { "root's", 0, ALL_CAPS, false }, false, false },
	[OF_OWNER] = { { "the owner's", OWNER, 0, false }, false, false },
	[CAPABLE] = { { "the owner's, capable", OWNER, CAP(NET_RAW), false }, false, false },
	[UNDUMPABLE] = { { "the owner's, not dumpable", OWNER, 0, false }, true, false },
	[SET_UID] = { { "the owner's, set-uid root", OWNER, 0, false }, false, true },
	[IN_NAMESPACE] = { { "the owner's, root of a namespace", OWNER, 0, true }, false, false },
};

enum object { PROFILE_OF,
	      TRACE_OF,
	      TEXT_OF,
	      EXITED_OF,
	      EXITED_TRACE_OF,
	      OWN_PROFILE,
	      OWN_TRACE,
	      OWN_TEXT,
	      IDLE,
	      CPUS,
	      EVICTED,
	      READ_FILE,
	      WRITE_CONTROL,
	      OPENED_BY_ROOT,
	      CONTROL_OF_ROOT,
	      CONSUME,
	      SELECT_UID,
	      SELECT_OTHER,
	      INFO_ALL,
	      INFO_MEMORY,
	      INFO_TRACE };

/* y: yes; n: no, it is denied; anything else is a fault. */
struct row {
	const char *what;
	enum object object;
	int task;
	const char *file;
	const char *want;
};

#define TASK(nr, want)                                                                          \
	{ "profile of", PROFILE_OF, nr, NULL, want }, { "trace of", TRACE_OF, nr, NULL, want }, \
	{                                                                                       \
		"/proc/PID/ktau of", TEXT_OF, nr, NULL, want                                    \
	}

static const struct row of_live_tasks[] = {
	TASK(OF_ROOT, "ynnnyyynnnn"),
	TASK(OF_OWNER, "ynynyyynnny"),
	TASK(CAPABLE, "ynnnyyynnnn"),
	TASK(UNDUMPABLE, "ynnnyyynnnn"),
	TASK(SET_UID, "ynnnyyynnnn"),
	TASK(IN_NAMESPACE, "ynynyyynnny"),
	{ "profile of oneself", OWN_PROFILE, -1, NULL, "yyyyyyyyyyy" },
	{ "trace of oneself", OWN_TRACE, -1, NULL, "yyyyyyyyyyy" },
	{ "/proc/self/ktau", OWN_TEXT, -1, NULL, "yyyyyyyyyyy" },
	{ "idle tasks", IDLE, -1, NULL, "ynnnyynnnnn" },
	{ "the CPUs", CPUS, -1, NULL, "ynnnyynnnnn" },
	{ "the evicted", EVICTED, -1, NULL, "ynnnyynnnnn" },
	{ "read", READ_FILE, -1, "/proc/ktau/profile", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/trace", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/events", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/control", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/stats", "yyyyyyyyyyy" },
	{ "write", WRITE_CONTROL, -1, "/proc/ktau/control", "ynnnnnnnnnn" },
	{ "by a descriptor of root's, profile of", OPENED_BY_ROOT, OF_ROOT, NULL, "yyyyyyyyyyy" },
	{ "by a descriptor of root's, write control", CONTROL_OF_ROOT, -1, NULL, "yyyyyyyyyyy" },
	{ "consume", CONSUME, -1, NULL, "ynnnyynnnnn" },
	{ "among all of its uid, profile of", SELECT_UID, OF_OWNER, NULL, "ynynyyynnny" },
	{ "among all of another uid, not", SELECT_OTHER, OF_OWNER, NULL, "nnnnnnnnnnn" },
	{ "INFO: access to all", INFO_ALL, -1, NULL, "ynnnyynnnnn" },
	{ "INFO: memory of the machine", INFO_MEMORY, -1, NULL, "ynnnyynnnnn" },
};

#define EXITED(nr, want)                                             \
	{ "profile of, exited,", EXITED_OF, nr, NULL, want },        \
	{                                                            \
		"trace of, exited,", EXITED_TRACE_OF, nr, NULL, want \
	}

static const struct row of_exited_tasks[] = {
	EXITED(OF_ROOT, "ynnnyyynnnn"),
	EXITED(OF_OWNER, "ynynyyynnny"),
	EXITED(CAPABLE, "ynnnyyynnnn"),
	EXITED(UNDUMPABLE, "ynnnyyynnnn"),
	EXITED(SET_UID, "ynnnyyynnnn"),
	EXITED(IN_NAMESPACE, "ynynyyynnny"),
};

/* What depends on the level of kernel.ktau_paranoid; the rows above are of level 0. */
#define NR_OF_LEVEL 4

static const struct {
	int level;
	struct row rows[NR_OF_LEVEL];
} of_levels[] = {
	{ 3,
	  { { "profile of", PROFILE_OF, OF_OWNER, NULL, "ynnnyynnnnn" },
	    { "trace of", TRACE_OF, OF_OWNER, NULL, "ynnnyynnnnn" },
	    { "consume", CONSUME, -1, NULL, "ynnnyynnnnn" },
	    { "INFO: access to traces", INFO_TRACE, -1, NULL, "ynnnyynnnnn" } } },
	{ 2,
	  { { "profile of", PROFILE_OF, OF_OWNER, NULL, "ynynyyynnny" },
	    { "trace of", TRACE_OF, OF_OWNER, NULL, "ynnnyynnnnn" },
	    { "consume", CONSUME, -1, NULL, "ynnnyynnnnn" },
	    { "INFO: access to traces", INFO_TRACE, -1, NULL, "ynnnyynnnnn" } } },
	{ 1,
	  { { "profile of", PROFILE_OF, OF_OWNER, NULL, "ynynyyynnny" },
	    { "trace of", TRACE_OF, OF_OWNER, NULL, "ynnnyynnnnn" },
	    { "consume", CONSUME, -1, NULL, "ynnnyynnnnn" },
	    { "INFO: access to traces", INFO_TRACE, -1, NULL, "ynnnyynnnnn" } } },
	{ 0,
	  { { "profile of", PROFILE_OF, OF_OWNER, NULL, "ynynyyynnny" },
	    { "trace of", TRACE_OF, OF_OWNER, NULL, "ynynyyynnny" },
	    { "consume", CONSUME, -1, NULL, "ynnnyynnnnn" },
	    { "INFO: access to traces", INFO_TRACE, -1, NULL, "yyyyyyyyyyy" } } },
	{ -1,
	  { { "profile of", PROFILE_OF, OF_OWNER, NULL, "ynynyyynnny" },
	    { "trace of", TRACE_OF, OF_OWNER, NULL, "ynynyyynnny" },
	    { "consume", CONSUME, -1, NULL, "ynnnyynnnnn" },
	    { "INFO: access to traces", INFO_TRACE, -1, NULL, "yyyyyyyyyyy" } } },
};

static pid_t pids[NR_TASKS];
static int root_profile, root_control;

/* Whether there is a record of a program called @comm, or of any if that is NULL. */
static bool has(const struct found *found, const char *comm)
{
	unsigned int i;

	for (i = 0; i < found->nr; i++)
		if (!comm || !strcmp(found->owner[i].comm, comm))
			return true;
	return false;
}

static char one_task(const char *path, pid_t pid, uint32_t target, const char *comm)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct found found;
	char letter;

	if (fd < 0)
		return 'n';
	letter = look_for(fd, target, pid, &found) ? '!' : has(&found, comm) ? 'y' :
									       'n';
	/* The reader is not told what it may not see, but that there is something. */
	if (letter == 'n' && target == KTAU_TARGET_LIST && found.end.denied != 1)
		letter = '?';
	close(fd);
	return letter;
}

/*
 * Of the set-uid program only what it did as such: if its exec has ended the profile, there
 * is a record of what its user's program did before, with the same pid.
 */
static char of_task(const struct row *row, pid_t pid)
{
	const char *comm = row->task == SET_UID ? "set-uid" : NULL;

	switch (row->object) {
	case PROFILE_OF:
		return one_task("/proc/ktau/profile", pid, KTAU_TARGET_LIST, comm);
	case TRACE_OF:
		return one_task("/proc/ktau/trace", pid, KTAU_TARGET_LIST, comm);
	case EXITED_OF:
		return one_task("/proc/ktau/profile", pid, KTAU_TARGET_EXITED, comm);
	default:
		return one_task("/proc/ktau/trace", pid, KTAU_TARGET_EXITED, comm);
	}
}

static char consume(void)
{
	struct ktau_select select = { .size = sizeof(select),
				      .target = KTAU_TARGET_SELF,
				      .flags = KTAU_SELECT_CONSUME };
	int fd = open("/proc/ktau/trace", O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return errno == EACCES ? 'n' : '?';
	err = ioctl(fd, KTAU_IOC_SELECT, &select) ? errno : 0;
	close(fd);
	return !err ? 'y' : err == EPERM ? 'n' :
					   '?';
}

/* Is @pid among all tasks of @uid? */
static char among(pid_t pid, uid_t uid)
{
	struct ktau_select select = { .size = sizeof(select),
				      .target = KTAU_TARGET_ALL,
				      .flags = KTAU_SELECT_UID,
				      .uid = uid };
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	struct found found;
	char letter = 'n';

	/* It is not mapped in a namespace. */
	if (ioctl(fd, KTAU_IOC_SELECT, &select))
		letter = errno == EINVAL ? 'n' : '!';
	else if (look_on(fd, pid, &found))
		letter = '!';
	else if (found.nr)
		letter = 'y';
	close(fd);
	return letter;
}

/* A descriptor that cannot be opened has no access at all. */
static char info(enum object object)
{
	struct ktau_info info = { .size = sizeof(info) };
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	bool yes;

	if (fd < 0)
		return errno == EACCES ? 'n' : '?';
	if (ioctl(fd, KTAU_IOC_INFO, &info))
		return '!';
	close(fd);
	if (object == INFO_MEMORY)
		yes = info.memory_bytes && info.memory_limit_bytes;
	else
		yes = info.access & (object == INFO_ALL ? KTAU_ACCESS_ALL : KTAU_ACCESS_TRACE);
	return yes ? 'y' : 'n';
}

static char of_kind(uint32_t target, uint32_t kind, uint32_t flags)
{
	int fd = open("/proc/ktau/profile", O_RDONLY | O_CLOEXEC);
	struct found found;
	char letter = fd < 0 || look_for(fd, target, 0, &found) ? '!' : 'n';
	unsigned int i;

	for (i = 0; letter != '!' && i < found.nr; i++)
		if (found.owner[i].kind == kind && (found.owner[i].flags & flags) == flags)
			letter = 'y';
	close(fd);
	return letter;
}

static char text(const char *path)
{
	char bytes[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	char letter = got > 0 ? 'y' : got < 0 && (errno == EACCES || errno == EPERM) ? 'n' :
										       '?';

	close(fd);
	return letter;
}

static char write_control(int fd)
{
	ssize_t got = fd < 0 ? -1 : write(fd, "watermark=512", 13);

	return got > 0 ? 'y' : errno == EACCES || errno == EPERM ? 'n' :
								   '?';
}

static char text_of(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ktau", pid);
	return text(path);
}

static char try_object(const struct row *row)
{
	pid_t pid = row->task < 0 ? getpid() : pids[row->task];
	struct found found;
	int fd;
	char letter;

	switch (row->object) {
	case PROFILE_OF ... TRACE_OF:
	case EXITED_OF ... EXITED_TRACE_OF:
		return of_task(row, pid);
	case OWN_PROFILE:
		return one_task("/proc/ktau/profile", pid, KTAU_TARGET_SELF, NULL);
	case OWN_TRACE:
		return one_task("/proc/ktau/trace", pid, KTAU_TARGET_SELF, NULL);
	case CONSUME:
		return consume();
	case SELECT_UID:
		return among(pid, OWNER);
	case SELECT_OTHER:
		return among(pid, OTHER);
	case INFO_ALL ... INFO_TRACE:
		return info(row->object);
	case TEXT_OF:
	case OWN_TEXT:
		return text_of(pid);
	case IDLE:
		return of_kind(KTAU_TARGET_ALL, KTAU_OWNER_TASK, KTAU_OWNER_IDLE);
	case CPUS:
		return of_kind(KTAU_TARGET_CPU, KTAU_OWNER_CPU, 0);
	case EVICTED:
		return of_kind(KTAU_TARGET_EVICTED, KTAU_OWNER_EVICTED, 0);
	case READ_FILE:
		return text(row->file);
	case WRITE_CONTROL:
		fd = open(row->file, O_WRONLY | O_CLOEXEC);
		letter = write_control(fd);
		close(fd);
		return letter;
	case OPENED_BY_ROOT:
		return look_for(root_profile, KTAU_TARGET_LIST, pid, &found) ? '!' :
		       found.nr						     ? 'y' :
									       'n';
	default:
		return write_control(root_control);
	}
}

/* All rows as one subject; the letters come through a pipe. */
static void try_all(const struct subject *subject, const struct row *rows, size_t nr, char *letters)
{
	int ends[2];
	size_t i;
	pid_t pid;

	memset(letters, '#', nr);
	if (pipe(ends))
		exit(1);
	pid = fork();
	if (!pid) {
		subject_become(subject);
		prctl(PR_SET_DUMPABLE, 1);
		for (i = 0; i < nr; i++)
			letters[i] = try_object(&rows[i]);
		_exit(write(ends[1], letters, nr) != (ssize_t)nr);
	}
	close(ends[1]);
	if (read(ends[0], letters, nr) != (ssize_t)nr)
		printf("# %s: did not come to the end\n", subject->name);
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

static void try_rows(const char *when, const struct row *rows, size_t nr)
{
	char letters[NR_SUBJECTS][64];
	size_t s, i;

	for (s = 0; s < NR_SUBJECTS; s++)
		try_all(&subjects[s], rows, nr, letters[s]);
	for (i = 0; i < nr; i++) {
		char got[NR_SUBJECTS + 1] = "";
		const struct row *row = &rows[i];

		for (s = 0; s < NR_SUBJECTS; s++)
			got[s] = letters[s][i];
		tap_ok(!strcmp(got, row->want), "permissions: %s%s %s%s: %s", when, row->what,
		       row->file ? row->file : "",
		       row->task >= 0 ? tasks[row->task].is.name : "", got);
		for (s = 0; s < NR_SUBJECTS; s++)
			if (got[s] != row->want[s])
				printf("    %s: '%c', wanted '%c'\n", subjects[s].name, got[s],
				       row->want[s]);
	}
}

/* Begins the tasks; what each is shows when it is there. */
static void begin_tasks(const char *set_uid_program)
{
	int i;

	for (i = 0; i < NR_TASKS; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		subject_become(&tasks[i].is);
		prctl(PR_SET_DUMPABLE, !tasks[i].undumpable);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (tasks[i].set_uid)
			execl(set_uid_program, set_uid_program, "hold", NULL);
		pause();
		_exit(1);
	}
	usleep(500000);
}

static void end_tasks(void)
{
	int i;

	for (i = 0; i < NR_TASKS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static void set_level(int level)
{
	FILE *file = fopen("/proc/sys/kernel/ktau_paranoid", "we");

	if (!file || fprintf(file, "%d", level) < 0 || fclose(file))
		tap_ok(false, "permissions: level %d", level);
}

static void try_levels(void)
{
	char when[32];
	size_t i;

	for (i = 0; i < sizeof(of_levels) / sizeof(*of_levels); i++) {
		set_level(of_levels[i].level);
		snprintf(when, sizeof(when), "level %d: ", of_levels[i].level);
		try_rows(when, of_levels[i].rows, NR_OF_LEVEL);
	}
	set_level(0);
}

int main(int argc, char **argv)
{
	if (argc != 2 || getuid()) {
		fprintf(stderr, "usage: permit SET-UID-PROGRAM, as root\n");
		return 2;
	}
	root_profile = open("/proc/ktau/profile", O_RDONLY);
	root_control = open("/proc/ktau/control", O_WRONLY);
	begin_tasks(argv[1]);
	try_rows("", of_live_tasks, sizeof(of_live_tasks) / sizeof(*of_live_tasks));
	try_levels();
	end_tasks();
	try_rows("", of_exited_tasks, sizeof(of_exited_tasks) / sizeof(*of_exited_tasks));
	return tap_done();
}
