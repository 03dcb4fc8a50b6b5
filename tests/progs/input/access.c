// SPDX-License-Identifier: GPL-2.0-only
/*
 * access: permissions. Each subject, a process of its own, tries each object; the tables
 * below have the expected results. Run as root, with all groups and traces enabled.
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

/* Each has one letter in @want of each row. */
static const struct subject subjects[] = {
	{ "root", 0, ALL_CAPS, false },
	{ "uid 0 without capabilities", 0, 0, false },
	{ "the owner", OWNER, 0, false },
	{ "another user", OTHER, 0, false },
	{ "another with CAP_PERFMON", OTHER, CAP(PERFMON), false },
	{ "another with CAP_SYS_ADMIN", OTHER, CAP(SYS_ADMIN), false },
	{ "another with CAP_SYS_PTRACE", OTHER, CAP(SYS_PTRACE), false },
	{ "another with CAP_SYSLOG", OTHER, CAP(SYSLOG), false },
	{ "another, root of its own user namespace", OTHER, 0, true },
	{ "the owner, root of its own user namespace", OWNER, 0, true },
	{ "the owner with CAP_NET_RAW, dropped", OWNER, CAP(NET_RAW) | NOT_EFFECTIVE, false },
};

#define NR_SUBJECTS (sizeof(subjects) / sizeof(*subjects))

/* The tasks that are read. */
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
	[OF_ROOT] = { { "a task of root", 0, ALL_CAPS, false }, false, false },
	[OF_OWNER] = { { "a task of the owner", OWNER, 0, false }, false, false },
	[CAPABLE] = { { "a capable task of the owner", OWNER, CAP(NET_RAW), false }, false, false },
	[UNDUMPABLE] = { { "a task that is not dumpable", OWNER, 0, false }, true, false },
	[SET_UID] = { { "a set-uid root program", OWNER, 0, false }, false, true },
	[IN_NAMESPACE] = { { "the root of a namespace", OWNER, 0, true }, false, false },
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

/* y: permitted; n: denied; any other letter is an error. */
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
	{ "its own profile", OWN_PROFILE, -1, NULL, "yyyyyyyyyyy" },
	{ "its own trace", OWN_TRACE, -1, NULL, "yyyyyyyyyyy" },
	{ "/proc/self/ktau", OWN_TEXT, -1, NULL, "yyyyyyyyyyy" },
	{ "idle tasks", IDLE, -1, NULL, "ynnnyynnnnn" },
	{ "the CPUs", CPUS, -1, NULL, "ynnnyynnnnn" },
	{ "the evicted sum", EVICTED, -1, NULL, "ynnnyynnnnn" },
	{ "read", READ_FILE, -1, "/proc/ktau/profile", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/trace", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/events", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/control", "yyyyyyyyyyy" },
	{ "read", READ_FILE, -1, "/proc/ktau/stats", "yyyyyyyyyyy" },
	{ "write", WRITE_CONTROL, -1, "/proc/ktau/control", "ynnnnnnnnnn" },
	{ "through root's descriptor, profile of", OPENED_BY_ROOT, OF_ROOT, NULL, "yyyyyyyyyyy" },
	{ "through root's descriptor, write control", CONTROL_OF_ROOT, -1, NULL, "yyyyyyyyyyy" },
	{ "consume", CONSUME, -1, NULL, "ynnnyynnnnn" },
	{ "among all of its uid, profile of", SELECT_UID, OF_OWNER, NULL, "ynynyyynnny" },
	{ "among all of another uid, profile of", SELECT_OTHER, OF_OWNER, NULL, "nnnnnnnnnnn" },
	{ "INFO: access to all", INFO_ALL, -1, NULL, "ynnnyynnnnn" },
	{ "INFO: memory of the machine", INFO_MEMORY, -1, NULL, "ynnnyynnnnn" },
};

#define EXITED(nr, want)                                             \
	{ "profile, after exit, of", EXITED_OF, nr, NULL, want },        \
	{                                                            \
		"trace, after exit, of", EXITED_TRACE_OF, nr, NULL, want \
	}

static const struct row of_exited_tasks[] = {
	EXITED(OF_ROOT, "ynnnyyynnnn"),
	EXITED(OF_OWNER, "ynynyyynnny"),
	EXITED(CAPABLE, "ynnnyyynnnn"),
	EXITED(UNDUMPABLE, "ynnnyyynnnn"),
	EXITED(SET_UID, "ynnnyyynnnn"),
	EXITED(IN_NAMESPACE, "ynynyyynnny"),
};

/* Rows that depend on the level of kernel.ktau_paranoid; those above are for level 0. */
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
};

static pid_t pids[NR_TASKS];
static int root_profile, root_control;

/* Whether there is a record of a program called @comm, or of any program if @comm is NULL. */
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
	/* END counts the task that the reader may not see. */
	if (letter == 'n' && target == KTAU_TARGET_LIST && found.end.denied != 1)
		letter = '?';
	close(fd);
	return letter;
}

/*
 * For the set-uid program only its records under that name count: if its exec has ended the
 * profile, the calls that its user's program made before have a record with the same pid.
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

	/* The uid is not mapped in the namespace. */
	if (ioctl(fd, KTAU_IOC_SELECT, &select))
		letter = errno == EINVAL ? 'n' : '!';
	else if (look_on(fd, pid, &found))
		letter = '!';
	else if (found.nr)
		letter = 'y';
	close(fd);
	return letter;
}

/* A subject that cannot open a descriptor has no access. */
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

/* Try all rows as one subject; a child sends the letters through a pipe. */
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
		printf("# %s: ended early\n", subject->name);
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
				printf("    %s: '%c', expected '%c'\n", subjects[s].name, got[s],
				       row->want[s]);
	}
}

/* Start the tasks and wait until each has its credentials and its program. */
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

/*
 * The user namespace of an exited task is identified by its number and owner. An open file
 * keeps the namespace, so that no later one has its number: that of the subject with the same
 * owner would have access, and the owner has it anyway.
 */
static void end_tasks(void)
{
	char path[32];
	int i;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pids[IN_NAMESPACE]);
	if (open(path, O_RDONLY | O_CLOEXEC) < 0)
		tap_ok(false, "permissions: %s", path);
	for (i = 0; i < NR_TASKS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static void set_level(int level)
{
	FILE *file = fopen("/proc/sys/kernel/ktau_paranoid", "we");

	if (!file || fprintf(file, "%d", level) < 0 || fclose(file))
		tap_ok(false, "permissions: level %d is set", level);
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
		fprintf(stderr, "usage: access SET-UID-PROGRAM, as root\n");
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
