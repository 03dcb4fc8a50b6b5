// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command. The command waits on a pipe until the first snapshot has been taken, so that
 * nothing is missed. While it runs, exited tasks are read often enough that children that live
 * for only a millisecond are not evicted before they are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "live.h"

#define READ_MS	200

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int command_init(struct command *c, char **argv, bool system_wide)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction action;
	size_t i;

	*c = (struct command){ .argv = argv, .system_wide = system_wide, .go_fd = -1 };
	sigemptyset(&c->mine);
	sigaddset(&c->mine, SIGCHLD);
	/* What is ignored, as under nohup(1), is left to be ignored. */
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&c->mine, signals[i]);
	sigprocmask(SIG_BLOCK, &c->mine, &c->theirs);
	if (ktau_reader_create(&c->reader) || ktau_snapshot_create(&c->before) ||
	    ktau_snapshot_create(&c->after)) {
		complain("out of memory");
		return CLI_FAILED;
	}
	return CLI_DONE;
}

void command_deinit(struct command *c)
{
	ktau_snapshot_destroy(c->after);
	ktau_snapshot_destroy(c->before);
	ktau_reader_destroy(c->reader);
}

/* The child waits, then executes the command. Everything before the execve() is not counted. */
static void __attribute__((noreturn))
become(const struct command *c, int go_fd, int error_fd)
{
	char go;
	int err;

	sigprocmask(SIG_SETMASK, &c->theirs, NULL);
	/* The pipe was closed without a byte: the command must not be run. */
	if (read(go_fd, &go, 1) != 1)
		_exit(125);
	execvp(c->argv[0], c->argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) != sizeof(err))
		_exit(125);
	_exit(err == ENOENT ? 127 : 126);
}

static int start(struct command *c, int *error_fd)
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (!c->pid) {
		close(go[1]);
		close(error[0]);
		become(c, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	c->go_fd = go[1];
	*error_fd = error[0];
	return 0;
}

static int read_snapshot(struct command *c, struct ktau_snapshot *snapshot, uint32_t target)
{
	struct ktau_query query = {
		.content = KTAU_REC_PROFILE,
		.target = target,
		.nr_tids = target & KTAU_TARGET_LIST ? 1 : 0,
		.tids = target & KTAU_TARGET_LIST ? &c->pid : NULL,
		.exited_since = c->exited_since,
		.since_ticks = c->since_ticks,
	};
	int err;

	err = c->open ? ktau_reader_restart(c->reader, &query) : live_open(c->reader, &query);
	c->open = c->open || !err;
	if (!err)
		err = ktau_snapshot_read(snapshot, c->reader);
	if (err > 0)
		return 0;
	return err ? err : -ENODATA;
}

/* Count exited tasks that the kernel evicted before they were read here. */
static void count_missed(struct command *c)
{
	const struct ktau_rec_end *end = ktau_snapshot_end(c->after);

	if (!end)
		return;
	c->missed += end->missed;
	/* If the list of removed tasks did not fit, read everything again. */
	c->exited_since = end->refused_gone ? 0 : end->exited_next;
}

static int read_exited(struct command *c, uint32_t target)
{
	int err = read_snapshot(c, c->after,
				target | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED);

	if (!err)
		count_missed(c);
	return err;
}

/* Is the child waiting on the pipe? It cannot sleep anywhere else. */
static bool is_asleep(pid_t pid)
{
	char path[32], stat[512];
	const char *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	stat[n] = '\0';
	/* The name before the state may contain parentheses and spaces, so search backwards. */
	state = strrchr(stat, ')');
	return state && !strncmp(state, ") S", 3);
}

static void wait_for_child(const struct command *c)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < 1000 && !is_asleep(c->pid); i++)
		nanosleep(&pause, NULL);
}

/* Tasks that exited before the start are in all sums, whether they are read again or not. */
static int carry_over(struct command *c)
{
	const struct ktau_owned *o = NULL;
	union ktau_record record;
	int err;

	record.stream = ktau_snapshot_stream(c->before);
	err = ktau_snapshot_add(c->after, &record);
	while (!err && (o = ktau_snapshot_next(c->before, o)))
		err = ktau_snapshot_put(c->after, o);
	return err;
}

/*
 * A signal that arrived before the command existed and would have terminated this process;
 * 0 if there is none.
 */
static int early_signal(const struct command *c)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction action;
	sigset_t pending;
	size_t i;

	sigpending(&pending);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (sigismember(&pending, signals[i]) && !sigismember(&c->theirs, signals[i]) &&
		    !sigaction(signals[i], NULL, &action) && action.sa_handler == SIG_DFL)
			return signals[i];
	return 0;
}

static int read_before(struct command *c)
{
	uint32_t target = KTAU_TARGET_LIST;
	int err;

	if (c->system_wide)
		target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED | KTAU_TARGET_EVICTED |
			 KTAU_TARGET_CPU;
	err = read_snapshot(c, c->before, target);
	if (!err && c->system_wide)
		err = carry_over(c);
	if (err)
		return err;
	c->since_ticks = ktau_snapshot_stream(c->before)->ticks;
	c->exited_since = c->system_wide ? ktau_snapshot_end(c->before)->exited_next :
					   ktau_snapshot_stream(c->before)->exited_next;
	return 0;
}

static int begin(struct command *c)
{
	int err = 0;

	wait_for_child(c);
	if (!c->hooks) {
		err = read_before(c);
	} else if (c->hooks->begin(c->hooks->arg)) {
		c->refused = true;
		err = -ECANCELED;
	}
	if (err)
		return err;
	c->start_ns = now_ns();
	c->status = early_signal(c);
	if (c->status) {
		c->end_ns = c->start_ns;
		return -EINTR;
	}
	/* EPIPE: the child was killed, which its status will show. */
	return write(c->go_fd, "", 1) == 1 || errno == EPIPE ? 0 : -errno;
}

/* Reap all exited children. Return: true if the command was among them. */
static bool reap(struct command *c)
{
	struct rusage usage;
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (pid != c->pid)
			continue;	/* an orphan that this process has adopted */
		c->end_ns = now_ns();
		c->status = status;
		c->usage = usage;
		ended = true;
	}
	return ended;
}

/* Forward SIGTERM and SIGHUP. The terminal sends SIGINT and SIGQUIT to the command itself. */
static void pass_on(const struct command *c, int signal_fd)
{
	struct signalfd_siginfo info;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP)
			kill(c->pid, (int)info.ssi_signo);
}

static void wait_for_end(struct command *c, int signal_fd)
{
	struct pollfd fd = { .fd = signal_fd, .events = POLLIN };
	int err = 0;

	for (;;) {
		if (poll(&fd, 1, err ? -1 : READ_MS) > 0)
			pass_on(c, signal_fd);
		if (reap(c))
			return;
		/* If reading fails now, it is retried at the end. */
		if (c->hooks)
			c->hooks->tick(c->hooks->arg);
		else if (!err)
			err = read_exited(c, 0);
	}
}

static int run(struct command *c, int signal_fd)
{
	int error_fd = -1, err;

	err = start(c, &error_fd);
	if (err) {
		complain("cannot start a process: %s", strerror(-err));
		return err;
	}
	err = begin(c);
	if (err) {
		if (!c->end_ns && !c->refused)
			live_failed(c->reader, err);
		close(c->go_fd);
		waitpid(c->pid, NULL, 0);
	} else {
		wait_for_end(c, signal_fd);
		close(c->go_fd);
		if (read(error_fd, &c->exec_errno, sizeof(c->exec_errno)) <= 0)
			c->exec_errno = 0;
		err = c->hooks ? 0 : read_exited(c, KTAU_TARGET_ALL | KTAU_TARGET_CPU);
		if (err)
			live_failed(c->reader, err);
	}
	close(error_fd);
	return err;
}

int command_run(struct command *c)
{
	int signal_fd, err;

	signal(SIGCHLD, SIG_DFL);
	/* Adopt orphans; see descendants.h. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal_fd = signalfd(-1, &c->mine, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0) {
		err = -errno;
		complain("cannot wait for signals: %s", strerror(-err));
		return err;
	}
	err = run(c, signal_fd);
	close(signal_fd);
	if (!err && c->exec_errno)
		complain("cannot run %s: %s", c->argv[0], strerror(c->exec_errno));
	return err;
}

int command_exit_status(const struct command *c)
{
	if (WIFSIGNALED(c->status))
		return 128 + WTERMSIG(c->status);
	return WEXITSTATUS(c->status);
}

int command_status(const struct command *c, int err, int failed)
{
	int status = c->end_ns ? command_exit_status(c) : failed;

	return err && !status ? failed : status;
}

error_t command_argument(int key, struct argp_state *state, char ***argv)
{
	switch (key) {
	case ARGP_KEY_ARGS:
		*argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		cli_usage(state, "a COMMAND is required");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}
