// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording references to pages. The main thread copies records from the kernel to the file and
 * does nothing else, because traced processes wait for it. Another thread takes orders and
 * signals, and waits for the command.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ktau.h>
#include <ktau_writer.h>

#include "lib/cli.h"
#include "orders.h"
#include "record.h"
#include "session.h"
#include "skipped.h"

/* A block of the file contains at most what was recorded in this time. */
#define FLUSH_SECONDS	1

static const char letters[] = { [RECORD_START] = 's', [RECORD_PAUSE] = 'p',
				[RECORD_STOP] = 'q', [RECORD_STATUS] = '?' };

/* Slots written, units lost, the size of the file, and mappings that were skipped. */
struct figures {
	unsigned long long slots, lost, bytes, skipped;
};

/**
 * struct recording - a recording
 * @o: its options
 * @fd: the session
 * @orders: where orders come from
 * @signals: where signals come from
 * @command: pid of the command, 0: none or it has ended
 * @status: its status
 * @go: writing to it starts the command
 * @theirs: signal mask of the command
 * @armed: references are recorded
 * @lock: of @figures, which two threads use
 * @figures: what has been written so far
 * @skipped: what was skipped; the thread that writes the file uses it
 * @page_shift: size of a page, as a power of two
 * @end: when to stop, by CLOCK_MONOTONIC; 0: never
 */
struct recording {
	struct record_options *o;
	int fd, orders, signals;
	pid_t command;
	int status, go;
	sigset_t theirs;
	bool armed;
	pthread_mutex_t lock;
	struct figures figures;
	struct skipped skipped;
	unsigned int page_shift;
	double end;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int request(struct recording *r, uint32_t op)
{
	return session_request(r->fd, &r->o->request, op);
}

static void arm(struct recording *r, bool armed)
{
	if (!request(r, armed ? KTAU_REFERENCES_ARM : KTAU_REFERENCES_DISARM))
		r->armed = armed;
}

static struct figures figures_of(struct recording *r)
{
	struct figures figures;

	pthread_mutex_lock(&r->lock);
	figures = r->figures;
	pthread_mutex_unlock(&r->lock);
	return figures;
}

/* Whether an order ends the recording. */
static bool obey(struct recording *r, char order, int peer)
{
	const struct figures figures = figures_of(r);
	char answer[ORDER_BYTES];
	int n;

	if (order == letters[RECORD_START] || order == letters[RECORD_PAUSE])
		arm(r, order == letters[RECORD_START]);
	n = snprintf(answer, sizeof(answer),
		     "%s, %llu slots, %llu lost, %llu bytes, %llu mappings skipped\n",
		     order == letters[RECORD_STOP] ? "stopped" : r->armed ? "recording" :
									    "paused",
		     figures.slots, figures.lost, figures.bytes, figures.skipped);
	if (write(peer, answer, (size_t)n) != n)
		complain("the answer to an order could not be sent");
	close(peer);
	return order == letters[RECORD_STOP];
}

/* Whether the recording is over. A signal ends it; the end of the command ends it, too. */
static bool take_signal(struct recording *r)
{
	struct signalfd_siginfo info;

	if (read(r->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo != SIGCHLD)
		return true;
	if (!r->command || waitpid(r->command, &r->status, WNOHANG) != r->command)
		return false;
	r->command = 0;
	return true;
}

/* Wait until the recording is over. Processes that were not started here end it, too. */
static void *supervise(void *arg)
{
	struct recording *r = arg;
	struct pollfd fds[] = { { r->signals, POLLIN, 0 }, { r->orders, POLLIN, 0 },
				{ r->fd, 0, 0 } };
	bool over = false;
	char order;
	int peer;

	while (!over) {
		poll(fds, 3, 100);
		if (fds[0].revents)
			over = take_signal(r);
		if (fds[1].revents && (peer = orders_take(r->orders, &order)) >= 0)
			over = obey(r, order, peer) || over;
		over = over || fds[2].revents & POLLHUP || (r->end && now() > r->end);
	}
	request(r, KTAU_REFERENCES_STOP);
	return NULL;
}

static void look_for_skipped(struct recording *r, const struct ktau_rec_trace *trace)
{
	const struct ktau_slot *slot = NULL;

	while ((slot = ktau_trace_next(trace, slot)))
		skipped_slot(&r->skipped, 0, slot, r->page_shift);
}

/* Add @trace, unless it is NULL, to the figures of the recording. */
static void count(struct recording *r, const struct ktau_rec_trace *trace,
		  const struct ktau_writer *writer)
{
	if (trace)
		look_for_skipped(r, trace);
	pthread_mutex_lock(&r->lock);
	if (trace) {
		r->figures.slots += trace->nr_slots;
		r->figures.lost += trace->lost;
	}
	r->figures.bytes = ktau_writer_bytes(writer);
	r->figures.skipped = skipped_mappings(&r->skipped);
	pthread_mutex_unlock(&r->lock);
}

/* Copy the session to the file. Return: the exit status, after a message. */
static int copy(struct recording *r, struct ktau_reader *reader, struct ktau_writer *writer)
{
	union ktau_record record;
	double flushed = now();
	int err;

	while ((err = ktau_reader_next(reader, &record)) > 0) {
		err = ktau_writer_put(writer, record.rec);
		if (!err && now() > flushed + FLUSH_SECONDS) {
			err = ktau_writer_flush(writer, false);
			flushed = now();
		}
		if (err) {
			complain("%s", ktau_writer_error(writer));
			return CLI_FAILED;
		}
		count(r, record.rec->type == KTAU_REC_TRACE ? record.trace : NULL, writer);
	}
	if (err) {
		cli_reader_failed(reader, err);
		return CLI_FAILED;
	}
	return CLI_DONE;
}

static int write_file(struct recording *r, struct ktau_reader *reader, struct ktau_writer *writer)
{
	uint8_t boot_id[16] = { 0 };
	int status, err;

	ktau_boot_id(boot_id);
	err = ktau_writer_open(writer, r->o->output, KTAU_WRITER_COMPACT, boot_id);
	if (err) {
		complain("%s", ktau_writer_error(writer));
		return CLI_FAILED;
	}
	status = CLI_FAILED;
	if (!ktau_reader_open_fd(reader, r->fd, SESSION_FILE))
		status = copy(r, reader, writer);
	/* close() reports what this may fail with. */
	ktau_writer_flush(writer, false);
	count(r, NULL, writer);
	if (ktau_writer_close(writer)) {
		complain("%s", ktau_writer_error(writer));
		status = CLI_FAILED;
	}
	return status;
}

/* Record until the session has been stopped. */
static int record(struct recording *r)
{
	struct ktau_reader *reader = NULL;
	struct ktau_writer *writer = NULL;
	int status = CLI_FAILED;
	pthread_t thread;

	if (ktau_reader_create(&reader) || ktau_writer_create(&writer) ||
	    pthread_create(&thread, NULL, supervise, r)) {
		complain("out of memory");
	} else {
		status = write_file(r, reader, writer);
		/* Without a file there is nothing to record. */
		kill(getpid(), SIGTERM);
		pthread_join(thread, NULL);
	}
	ktau_writer_destroy(writer);
	ktau_reader_destroy(reader);
	return status;
}

/* Start the command; it waits to be released. Return: 0 or -1, after a message. */
static int start_command(struct recording *r)
{
	int go[2];
	char c;

	if (pipe2(go, O_CLOEXEC) || (r->command = fork()) < 0) {
		complain("cannot start a process: %s", strerror(errno));
		return -1;
	}
	if (!r->command) {
		sigprocmask(SIG_SETMASK, &r->theirs, NULL);
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(125);
		execvp(r->o->command[0], r->o->command);
		complain("cannot execute %s: %s", r->o->command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(go[0]);
	r->go = go[1];
	return 0;
}

/* Begin to trace. Return: the exit status, after a message. */
static int begin(struct recording *r)
{
	int32_t pid;

	if (r->o->command) {
		if (start_command(r))
			return CLI_FAILED;
		pid = r->command;
		r->o->pids = &pid;
		r->o->nr_pids = 1;
		r->o->request.flags |= KTAU_REFERENCES_ON_EXEC;
	}
	r->o->request.pids = (uintptr_t)r->o->pids;
	r->o->request.nr_pids = r->o->nr_pids;
	if (session_start(r->fd, &r->o->request))
		return CLI_FAILED;
	if (!r->o->paused)
		arm(r, true);
	if (r->o->seconds > 0)
		r->end = now() + r->o->seconds;
	if (r->go >= 0 && write(r->go, "", 1) != 1) {
		complain("cannot start the command: %s", strerror(errno));
		return CLI_FAILED;
	}
	return CLI_DONE;
}

static int open_signals(struct recording *r)
{
	sigset_t mine;

	sigemptyset(&mine);
	sigaddset(&mine, SIGCHLD);
	sigaddset(&mine, SIGINT);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGHUP);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &mine, &r->theirs);
	return signalfd(-1, &mine, SFD_CLOEXEC);
}

/* The command goes on after the recording; its status is that of this program. */
static int end_command(struct recording *r, int status)
{
	if (!r->o->command)
		return status;
	if (r->go >= 0)
		close(r->go);
	if (r->command)
		waitpid(r->command, &r->status, 0);
	if (status)
		return status;
	return WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 128 + WTERMSIG(r->status);
}

static void summarize(struct recording *r)
{
	const struct figures figures = figures_of(r);

	fprintf(stderr, "%s: %llu slots, %llu bytes\n", r->o->output, figures.slots,
		figures.bytes);
	if (figures.lost)
		complain("%llu units of slots were lost", figures.lost);
	skipped_report(&r->skipped);
}

int record_run(struct record_options *o)
{
	struct recording r = {
		.o = o, .go = -1, .orders = -1, .lock = PTHREAD_MUTEX_INITIALIZER,
		.page_shift = __builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
	};
	int status = CLI_FAILED;

	r.fd = session_open();
	if (r.fd < 0)
		return CLI_FAILED;
	r.signals = open_signals(&r);
	r.orders = orders_open(o->output);
	if (r.signals >= 0 && r.orders >= 0)
		status = begin(&r);
	if (!status) {
		status = record(&r);
		summarize(&r);
	}
	skipped_deinit(&r.skipped);
	close(r.fd);
	orders_close(r.orders, o->output);
	close(r.signals);
	return end_command(&r, status);
}

int record_order(const char *path, enum record_order order)
{
	return orders_send(path, letters[order]);
}
