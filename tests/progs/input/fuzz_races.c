// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_races SET-UID-COPY SECONDS|CALLSx [SEED [PROCESSES]]: processes of root and of two
 * users make random calls on /proc/ktau/profile and trace while they and others fork, exec,
 * exit, run set-uid programs, enter namespaces, pass descriptors to each other and move
 * between control groups, and while root changes every setting. Run as root, with the path
 * of a copy of this program that is set-uid root.
 *
 * Each stream that is read from its beginning is checked: a user may only get records of its
 * own tasks. Once all processes have exited, their states and memory must be freed. The
 * caller checks the kernel's log.
 *
 * PROCESSES defaults to two per CPU and is at least three: every third one is root's. The
 * same seed gives the same actions, but not the same order between processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "fuzz.h"
#include "fuzz_judge.h"
#include "fuzz_races.h"
#include "subject.h"

#define NR_FDS 6
#define STREAM_BYTES (1 << 20)
#define DEEPEST 3

struct slot {
	int fd;
	struct opener opener;
};

/* State that a process keeps across an exec. */
static struct self {
	uint64_t seed;
	uint32_t left; /* actions left, unless it exits earlier */
	uint32_t depth;
	uid_t uid;	      /* in the initial user namespace */
	struct opener opener; /* credentials with which it opens */
	struct slot slots[NR_FDS];
} self;

static struct races_shared *shared;

static bool map_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
	return shared != MAP_FAILED;
}

static void count(enum races_count what)
{
	atomic_fetch_add(&shared->count[what], 1);
}

static void failed(const char *what, const char *why)
{
	if (!atomic_fetch_add(&shared->failures, 1))
		snprintf(shared->failure, sizeof(shared->failure), "%s: %s", what, why);
}

static bool all_happened(void)
{
	for (int i = 0; i < RACES_NR_COUNTS; i++)
		if (!atomic_load(&shared->count[i]))
			return false;
	return true;
}

/* A debug kernel on a busy host may make only a hundred calls in the time given. */
static bool is_over(void)
{
	time_t now = time(NULL);

	return now >= shared->latest || (now >= shared->until && all_happened()) ||
	       (shared->calls && atomic_load(&shared->count[RACES_CALLS]) >= shared->calls) ||
	       atomic_load(&shared->failures);
}

/* Descriptors */

static int open_any(void)
{
	int fd = open(one_in(2) ? "/proc/ktau/profile" : "/proc/ktau/trace", O_RDONLY);

	count(fd < 0 ? RACES_OPEN_REFUSED : RACES_OPENED);
	return fd;
}

static struct slot *any_slot(void)
{
	return &self.slots[any() % NR_FDS];
}

static void put_slot(int fd, const struct opener *opener)
{
	struct slot *slot = any_slot();

	if (slot->fd >= 0)
		close(slot->fd);
	*slot = (struct slot){ fd, *opener };
}

static void select_any(int fd)
{
	char arg[2 * FUZZ_PAGE] = "";
	int32_t pids[FUZZ_PIDS];
	struct ktau_select select;

	fuzz_select(&select, pids, FUZZ_PIDS);
	memcpy(arg, &select, sizeof(select));
	if (one_in(5))
		fuzz_size(arg, sizeof(select));
	count(ioctl(fd, KTAU_IOC_SELECT, arg) ? RACES_SELECT_REFUSED : RACES_SELECTED);
}

static void info_any(const struct slot *slot)
{
	char arg[2 * FUZZ_PAGE] = "";
	struct ktau_info info = { .size = sizeof(info) };

	if (one_in(2)) {
		fuzz_size(arg, sizeof(info));
		ioctl(slot->fd, KTAU_IOC_INFO, arg);
	}
	if (slot->fd < 0 || ioctl(slot->fd, KTAU_IOC_INFO, &info))
		return;
	if (!slot->opener.privileged &&
	    ((info.access & (KTAU_ACCESS_ALL | KTAU_ACCESS_CONSUME)) || info.memory_bytes))
		failed("KTAU_IOC_INFO", "a user gets figures of the whole machine");
}

/* Check that @opener may have the @bytes at @data. */
static void judge_bytes(const struct opener *opener, const char *data, ssize_t bytes,
			const char *how)
{
	struct judge *j;

	if (bytes <= 0)
		return;
	j = malloc(sizeof(*j));
	if (!j)
		return;
	count(RACES_JUDGED);
	if (!judge(j, opener, data, (size_t)bytes))
		failed(how, j->why);
	else if (!opener->privileged)
		atomic_fetch_add(&shared->count[RACES_OWN_RECORDS], j->nr_shown);
	free(j);
}

/* Read from the beginning in one call, because other processes may share the descriptor. */
static void judge_slot(const struct slot *slot)
{
	char *data = malloc(STREAM_BYTES);
	ssize_t got = data ? pread(slot->fd, data, STREAM_BYTES, 0) : -1;

	judge_bytes(&slot->opener, data, got, "shared");
	free(data);
}

/* Read a stream of an unshared descriptor in pieces. */
static void judge_own(void)
{
	char *data = malloc(STREAM_BYTES);
	ssize_t have = 0, got = 1;
	int fd = open_any();

	if (fd >= 0 && !one_in(4))
		select_any(fd);
	while (fd >= 0 && data && got > 0 && have < STREAM_BYTES && !is_over()) {
		size_t piece = 1 + any() % (one_in(4) ? 200 : 200000);

		if (piece > (size_t)(STREAM_BYTES - have))
			piece = (size_t)(STREAM_BYTES - have);
		got = read(fd, data + have, piece);
		have += got > 0 ? got : 0;
	}
	judge_bytes(&self.opener, data, have, "own");
	if (fd >= 0)
		close(fd);
	free(data);
}

/* Calls that need only a descriptor. Threads share descriptors, so none is closed. */
static void call_any(void)
{
	struct slot *slot = any_slot();
	struct pollfd pfd = { .fd = slot->fd, .events = (short)any() };
	char data[4096];

	count(RACES_CALLS);
	switch (any() % 8) {
	case 0:
		select_any(slot->fd);
		break;
	case 1:
		info_any(slot);
		break;
	case 2:
		lseek(slot->fd, one_in(2) ? 0 : (off_t)number(), one_in(2) ? 0 : (int)any());
		break;
	case 3:
		poll(&pfd, 1, one_in(20) ? 1 : 0);
		break;
	case 4:
		errno = pread(slot->fd, data, any() % sizeof(data), (off_t)number()) < 0;
		break;
	case 5:
		judge_slot(slot);
		break;
	case 6:
		judge_own();
		break;
	default:
		errno = read(slot->fd, data, any() % sizeof(data)) < 0;
		break;
	}
}

/* Pass a descriptor and its description through a socket. */
static void pass(void)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} u = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct slot *slot = any_slot();
	struct iovec iov = { &slot->opener, sizeof(slot->opener) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof(u)
	};

	if (slot->fd < 0)
		return;
	memcpy(CMSG_DATA(&u.head), &slot->fd, sizeof(int));
	if (sendmsg(BUS_FD, &msg, MSG_DONTWAIT) > 0)
		count(RACES_PASSED);
}

static void take(void)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} u;
	struct opener opener;
	struct iovec iov = { &opener, sizeof(opener) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof(u)
	};
	int fd;

	if (recvmsg(BUS_TAKE_FD, &msg, MSG_DONTWAIT) != sizeof(opener) ||
	    msg.msg_controllen < sizeof(u.head))
		return;
	memcpy(&fd, CMSG_DATA(&u.head), sizeof(fd));
	put_slot(fd, &opener);
}

/* Processes */

static void run(void);

static _Noreturn void exec_as(const char *program)
{
	char word[2 * sizeof(self) + 1];
	size_t i;

	self.seed = any();
	for (i = 0; i < sizeof(self); i++)
		sprintf(word + 2 * i, "%02x", ((unsigned char *)&self)[i]);
	execl(program, program, word, NULL);
	_exit(1);
}

static void resume(const char *word)
{
	unsigned int byte;
	size_t i;

	for (i = 0; i < sizeof(self) && sscanf(word + 2 * i, "%2x", &byte) == 1; i++)
		((unsigned char *)&self)[i] = (unsigned char)byte;
	fuzz_seed(self.seed);
}

/* Fork a child with a few actions of its own. Returns its pid in the parent. */
static pid_t child(void)
{
	uint32_t seed = any();
	pid_t pid = self.depth < DEEPEST ? fork() : -1;

	if (!pid) {
		fuzz_seed(seed);
		self.depth++;
		self.left = 1 + any() % 20;
	}
	return pid;
}

static void await(pid_t pid)
{
	if (pid > 0 && !one_in(4))
		waitpid(pid, NULL, 0);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void fork_any(void)
{
	pid_t pid = child();

	if (!pid) {
		run();
		if (one_in(10))
			raise(SIGKILL);
		_exit((int)any());
	}
	count(RACES_FORKED);
	if (pid > 0 && one_in(10))
		kill(pid, SIGKILL);
	await(pid);
}

static void set_uid_any(void)
{
	pid_t pid;

	if (self.opener.contained || !self.uid)
		return;
	pid = child();
	if (!pid)
		exec_as(shared->set_uid_program);
	await(pid);
}

/* As the set-uid program: with root's privileges and the user's descriptors. */
static void disguised(void)
{
	uint32_t i;

	count(RACES_SET_UID);
	for (i = any() % 20; i; i--) {
		syscall(SECRET, 0, 0);
		if (one_in(4))
			judge_slot(any_slot());
		if (one_in(8))
			select_any(any_slot()->fd);
		if (one_in(20))
			_exit(0);
	}
	if (setresuid(getuid(), getuid(), getuid()))
		_exit(1);
	if (one_in(3))
		_exit(0);
	exec_as(shared->program);
}

static bool write_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, line, strlen(line)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* In a user namespace the process has another uid than outside. */
static void enter_user_namespace(void)
{
	static const uint32_t as[] = { 0, 5, 1000, 1001 };
	uint32_t outside = self.opener.contained ? self.opener.uid : self.uid;
	char line[64];

	prctl(PR_SET_DUMPABLE, 1);
	self.opener = (struct opener){ as[any() % 4], false, true };
	snprintf(line, sizeof(line), "%u %u 1", self.opener.uid, outside);
	if (one_in(5) || !write_line("/proc/self/uid_map", line))
		self.opener.uid = 65534;
}

static void unshare_any(void)
{
	static const int flags[] = { CLONE_NEWPID, CLONE_NEWTIME, CLONE_NEWNET, CLONE_NEWNS };
	int chosen = 0, i;
	pid_t pid;

	for (i = 0; i < 4; i++)
		chosen |= one_in(2) ? flags[i] : 0;
	if (self.uid || one_in(2))
		chosen |= CLONE_NEWUSER;
	pid = child();
	if (pid) {
		await(pid);
		return;
	}
	if (unshare(chosen))
		_exit(1);
	count(RACES_UNSHARED);
	if (chosen & CLONE_NEWUSER)
		enter_user_namespace();
	if ((chosen & CLONE_NEWTIME) && one_in(2))
		write_line("/proc/self/timens_offsets", "monotonic 1000 0\nboottime 5000 7");
	if (one_in(2))
		run();
	/* Pid and time namespaces apply to children. */
	self.left = 1 + any() % 20;
	pid = fork();
	if (!pid)
		run();
	else
		waitpid(pid, NULL, 0);
	_exit(0);
}

static void *thread(void *seed)
{
	uint32_t i;

	fuzz_seed((uintptr_t)seed);
	for (i = any() % 10; i && !is_over(); i--)
		call_any();
	if (one_in(30))
		exec_as(shared->program);
	return NULL;
}

/* Threads race for the same descriptors, of which none is closed meanwhile. */
static void threads_any(void)
{
	pthread_t threads[4];
	uint32_t nr = 1 + any() % 4, i, begun = 0;

	for (i = 0; i < nr; i++)
		begun += !pthread_create(&threads[begun], NULL, thread,
					 (void *)(uintptr_t)(any() | 1));
	for (i = 0; i < begun; i++)
		pthread_join(threads[i], NULL);
	count(RACES_THREADED);
}

/* Actions of root only. */

static void settings_any(void)
{
	static const char *const levels[] = { "0", "0", "0", "1", "2", "3" };
	char line[256];

	if (one_in(3)) {
		write_line("/proc/sys/kernel/ktau_paranoid", levels[any() % 6]);
	} else if (one_in(3)) {
		fuzz_control("groups=all profile=on trace=on filter=none memory_limit=32M", 59);
	} else {
		fuzz_words(line, sizeof(line));
		fuzz_control(line, strlen(line));
	}
	count(RACES_SET);
}

static void cgroup_any(void)
{
	static const char *const groups[] = { CGROUPS "/cgroup.procs", CGROUPS "/a/cgroup.procs",
					      CGROUPS "/a/b/cgroup.procs" };
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", one_in(3) ? 0 : (int)(any() % 1000));
	if (write_line(groups[any() % 3], pid))
		count(RACES_MOVED);
}

static void act(void)
{
	int fd;

	if (!self.uid && !self.opener.contained && one_in(6)) {
		one_in(2) ? settings_any() : cgroup_any();
		return;
	}
	switch (any() % 40) {
	case 0 ... 4:
		fd = open_any();
		if (fd >= 0)
			put_slot(fd, &self.opener);
		break;
	case 5 ... 7:
		pass();
		break;
	case 8 ... 10:
		take();
		break;
	case 11 ... 13:
		fork_any();
		break;
	case 14:
		if (self.depth)
			exec_as(shared->program);
		break;
	case 15:
		set_uid_any();
		break;
	case 16:
		unshare_any();
		break;
	case 17:
		threads_any();
		break;
	default:
		call_any();
		break;
	}
}

static void run(void)
{
	while (self.left && !is_over()) {
		self.left--;
		act();
	}
}

/* The life of a first-generation process. */
static _Noreturn void worker(unsigned int nr, uint64_t seed)
{
	static const uid_t uids[] = { 0, 1000, 1001 };
	struct subject subject = { "a user", uids[nr % 3], 0, false };
	int i;

	map_shared();
	if (subject.id)
		subject_become(&subject);
	prctl(PR_SET_DUMPABLE, 1);
	self = (struct self){ .left = UINT32_MAX,
			      .uid = subject.id,
			      .opener = { subject.id, !subject.id, false } };
	for (i = 0; i < NR_FDS; i++)
		self.slots[i].fd = -1;
	fuzz_seed(seed + nr);
	run();
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 2 && map_shared()) {
		resume(argv[1]);
		if (geteuid() && !getuid())
			return 2;
		if (getuid() != geteuid())
			disguised();
		run();
		return 0;
	}
	return races_main(argc, argv, worker);
}
