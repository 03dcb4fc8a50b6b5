// SPDX-License-Identifier: GPL-2.0-only
/*
 * setuid: credentials that change during a read: descriptors opened before an exec of a
 * set-uid program, descriptors opened by another user, other pid namespaces; and the
 * kernel's addresses. Run as root with the path of a copy of this program that is set-uid
 * root.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "look.h"
#include "subject.h"
#include "tap.h"

#define PERF_PARANOID "/proc/sys/kernel/perf_event_paranoid"

#define OWNER 1000

static const char *set_uid_program;

/* As the set-uid program: 0 if the stream at its standard input does not show it. */
static int look_at_stdin(void)
{
	struct found found;

	if (geteuid() || look_on(0, getpid(), &found))
		return 2;
	return found.nr != 0;
}

static int read_stdin(void)
{
	char byte;

	if (geteuid())
		return 2;
	return read(0, &byte, 1) > 0;
}

static void become(uid_t id)
{
	const struct subject subject = { "a user", id, 0, false };

	subject_become(&subject);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int opened(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static int open_text(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ktau", pid);
	return opened(path);
}

static bool text_shows(int fd)
{
	char byte;

	return !lseek(fd, 0, SEEK_SET) && read(fd, &byte, 1) == 1;
}

static bool shows(int fd, uint32_t target, pid_t pid)
{
	struct found found;

	return !look_for(fd, target, pid, &found) && found.nr;
}

/* Whether the set-uid program is shown; a record from before its exec may have its pid. */
static bool shows_set_uid(int fd, uint32_t target, pid_t pid)
{
	struct found found;
	unsigned int i;

	if (look_for(fd, target, pid, &found))
		return true;
	for (i = 0; i < found.nr; i++)
		if (!strcmp(found.owner[i].comm, "set-uid"))
			return true;
	return false;
}

/* Start a process that waits for SIGCONT and then executes the set-uid program. */
static pid_t start_set_uid(void)
{
	pid_t pid = fork();

	if (!pid) {
		become(OWNER);
		raise(SIGSTOP);
		execl(set_uid_program, set_uid_program, "hold", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, WUNTRACED);
	return pid;
}

/* Wait until the task has the program's name. */
static void await_exec(pid_t pid)
{
	char path[32], link[64];
	ssize_t got;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	for (i = 0; i < 500; i++) {
		int fd = open(path, O_RDONLY);

		got = fd < 0 ? -1 : read(fd, link, sizeof(link) - 1);
		close(fd);
		link[got > 0 ? got : 0] = '\0';
		if (!strncmp(link, "set-uid", 7))
			return;
		usleep(10000);
	}
	tap_ok(false, "permissions: the set-uid program runs");
}

/* The reader: runs as the owner, with pipes to and from root. */
static int hold_descriptors(pid_t pid, int go, int ready)
{
	int list, all, half, trace, text;
	struct found found;
	unsigned int i;
	char byte;

	become(OWNER);
	list = opened("/proc/ktau/profile");
	all = opened("/proc/ktau/profile");
	half = opened("/proc/ktau/profile");
	trace = opened("/proc/ktau/trace");
	text = open_text(pid);
	tap_ok(shows(list, KTAU_TARGET_LIST, pid), "permissions: before the exec, shown by pid");
	tap_ok(shows(all, KTAU_TARGET_ALL, pid), "permissions: before the exec, shown among all");
	tap_ok(shows(trace, KTAU_TARGET_LIST, pid), "permissions: before the exec, trace shown");
	tap_ok(text_shows(text), "permissions: before the exec, text shown");
	if (look_select(half, KTAU_TARGET_LIST, pid) || read(half, &byte, 1) != 1)
		return 1;
	if (write(ready, "r", 1) != 1 || read(go, &byte, 1) != 1)
		return 1;
	tap_ok(!shows(list, KTAU_TARGET_LIST, pid), "permissions: set-uid, not shown by pid");
	tap_ok(!shows(all, KTAU_TARGET_ALL, pid), "permissions: set-uid, not shown among all");
	tap_ok(!shows(trace, KTAU_TARGET_LIST, pid), "permissions: set-uid, trace not shown");
	tap_ok(!text_shows(text), "permissions: set-uid, text not shown");
	/* The rest of the first record, then the rest of the stream. */
	for (i = 1; i < sizeof(struct ktau_rec_stream); i++)
		if (read(half, &byte, 1) != 1)
			return 1;
	tap_ok(!look_on(half, pid, &found) && !found.nr && found.end.denied == 1,
	       "permissions: set-uid, not shown in a stream that was begun before");
	if (write(ready, "r", 1) != 1 || read(go, &byte, 1) != 1)
		return 1;
	tap_ok(!shows_set_uid(all, KTAU_TARGET_EXITED, pid),
	       "permissions: set-uid, not shown after its exit");
	tap_ok(!shows_set_uid(trace, KTAU_TARGET_EXITED, pid),
	       "permissions: set-uid, trace not shown after its exit");
	return tap_failed();
}

static void ended_well(pid_t pid, const char *what)
{
	int status = -1;

	waitpid(pid, &status, 0);
	tap_ok(!status, "permissions: %s", what);
}

static void exec_under_reader(void)
{
	pid_t pid = start_set_uid(), reader;
	int go[2], ready[2];
	char byte;

	if (pipe(go) || pipe(ready))
		exit(1);
	reader = fork();
	if (!reader)
		exit(hold_descriptors(pid, go[0], ready[1]));
	if (read(ready[0], &byte, 1) == 1) {
		kill(pid, SIGCONT);
		await_exec(pid);
	}
	if (write(go[1], "g", 1) != 1 || read(ready[0], &byte, 1) != 1)
		exit(1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (write(go[1], "g", 1) != 1)
		exit(1);
	ended_well(reader, "a set-uid program starts during a read");
}

/* A set-uid program gets a descriptor that its caller has opened. */
static void given(const char *what, const char *mode, bool text)
{
	pid_t pid = fork();

	if (!pid) {
		become(OWNER);
		if (text) {
			dup2(open_text(1), 0);
		} else {
			dup2(opened("/proc/ktau/profile"), 0);
			if (look_select(0, KTAU_TARGET_SELF, 0))
				_exit(3);
		}
		execl(set_uid_program, set_uid_program, mode, NULL);
		_exit(4);
	}
	ended_well(pid, what);
}

/* The first process of a pid namespace sees itself, its child, its exited child. */
static int inside(void)
{
	int fd = opened("/proc/ktau/profile"), kill_it;
	struct found found;
	bool good;
	unsigned int i;
	pid_t exited = fork();

	if (!exited)
		_exit(0);
	waitpid(exited, NULL, 0);
	kill_it = fork();
	if (!kill_it) {
		pause();
		_exit(0);
	}
	good = !look_for(fd, KTAU_TARGET_ALL, 0, &found) && found.nr == 2;
	for (i = 0; good && i < found.nr; i++) {
		const struct ktau_rec_owner *owner = &found.owner[i];

		good = owner->tid == owner->tgid &&
		       (owner->tid == 1 ? !owner->ppid :
					  owner->tid == kill_it && owner->ppid == 1);
	}
	tap_ok(good, "permissions: a pid namespace shows its own tasks, by its own pids");
	tap_ok(shows(fd, KTAU_TARGET_LIST, kill_it),
	       "permissions: a pid namespace finds its tasks by those pids");
	good = !look_for(fd, KTAU_TARGET_EXITED, 0, &found) && found.nr == 1 &&
	       found.owner[0].tid == exited && found.owner[0].tgid == exited &&
	       found.owner[0].ppid == 1;
	tap_ok(good,
	       "permissions: a pid namespace shows its exited child: %u, pid %d of %d, parent %d",
	       found.nr, found.owner[0].tid, found.owner[0].tgid, found.owner[0].ppid);
	return tap_failed();
}

static void pid_namespace(void)
{
	pid_t pid = fork(), child;
	int status = 1;

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(1);
		child = fork();
		if (!child)
			exit(inside());
		waitpid(child, &status, 0);
		_exit(status != 0 ||
		      !shows(opened("/proc/ktau/profile"), KTAU_TARGET_EXITED, child));
	}
	ended_well(pid, "a reader outside sees it by its own pid");
}

/* Whether the @word-th word of a line of @path is an address other than 0. */
static char addresses(const char *path, int word)
{
	FILE *file = fopen(path, "re");
	char line[512], *at;
	int i;

	if (!file)
		return '?';
	while (fgets(line, sizeof(line), file)) {
		at = line;
		for (i = 0; i < word && at; i++)
			at = strchr(at + !!i, ' ');
		if (line[0] != '#' && at && strtoull(at, NULL, 16)) {
			fclose(file);
			return 'y';
		}
	}
	fclose(file);
	return 'n';
}

static void look_at_addresses(char *letters)
{
	int fd = opened("/proc/ktau/profile");
	struct found found;

	letters[0] = addresses("/proc/kallsyms", 0);
	letters[1] = addresses("/proc/ktau/events", 3);
	letters[2] = look_for(fd, KTAU_TARGET_SELF, 0, &found) ? '?' :
		     found.stream.stext			       ? 'y' :
								 'n';
	close(fd);
}

static bool set(const char *path, int value)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	fprintf(file, "%d\n", value);
	return !fclose(file);
}

/* Addresses are shown exactly if /proc/kallsyms shows them. */
static void try_addresses(int hide, int paranoid, bool seen[2])
{
	static const struct subject subjects[] = {
		{ "root", 0, ALL_CAPS, false },
		{ "uid 0 without capabilities", 0, 0, false },
		{ "a user", OWNER, 0, false },
		{ "with CAP_PERFMON", OWNER, CAP(PERFMON), false },
		{ "with CAP_SYSLOG", OWNER, CAP(SYSLOG), false },
		{ "root of its user namespace", OWNER, 0, true },
	};
	char letters[4] = "???";
	int ends[2];
	size_t i;

	for (i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
		if (pipe(ends))
			exit(1);
		if (!fork()) {
			subject_become(&subjects[i]);
			look_at_addresses(letters);
			_exit(write(ends[1], letters, 3) != 3);
		}
		close(ends[1]);
		if (read(ends[0], letters, 3) != 3)
			memcpy(letters, "???", 3);
		close(ends[0]);
		wait(NULL);
		tap_ok(letters[0] != '?' && letters[0] == letters[1] && letters[0] == letters[2],
		       "permissions: kptr_restrict %d, perf_event_paranoid %d, %s: addresses in "
		       "kallsyms, events, stream: %s",
		       hide, paranoid, subjects[i].name, letters);
		seen[letters[0] == 'y'] = true;
	}
}

int main(int argc, char **argv)
{
	static const int paranoid[] = { -1, 1, 2 };
	bool seen[2] = { false, false };
	size_t i;
	int hide;

	if (argc == 2 && !strcmp(argv[1], "hold"))
		return pause();
	if (argc == 2 && !strcmp(argv[1], "look"))
		return look_at_stdin();
	if (argc == 2 && !strcmp(argv[1], "read"))
		return read_stdin();
	if (argc != 2 || getuid())
		return 2;
	set_uid_program = argv[1];
	exec_under_reader();
	given("its caller's descriptor does not show a set-uid program", "look", false);
	given("its caller's descriptor shows no other task through a set-uid program", "read",
	      true);
	pid_namespace();
	for (hide = 0; hide <= 2; hide++)
		for (i = 0; i < 3; i++)
			if (set("/proc/sys/kernel/kptr_restrict", hide) &&
			    set(PERF_PARANOID, paranoid[i]))
				try_addresses(hide, paranoid[i], seen);
	if (access(PERF_PARANOID, F_OK))
		tap_skip("permissions: addresses shown and hidden", "a kernel without perf");
	else
		tap_ok(seen[0] && seen[1],
		       "permissions: addresses were shown in some cases and hidden in others");
	return tap_done();
}
