// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "control.h"
#include "daemon.h"
#include "log.h"
#include "losses.h"
#include "origin.h"
#include "output.h"
#include "run.h"

/*
 * Reading rings that fill up all the time takes at most a quarter of a CPU, as long as no ring is
 * more than a quarter full: the next read is postponed for three times as long as this one took, in
 * which a ring fills to at most four times its level. Fuller rings are read at once.
 */
#define DRAIN_PART	4

/* How often a full disk is checked for space. Rings are not read in the meantime. */
#define RETRY_MS	1000

/* BPF programs wake no reader when a ring fills up, so their rings are read this often. */
#define BPF_DRAIN_MS 200

/* Bounds the cost of checking for losses when periods are short. */
#define LOSSES_EVERY_NS	(10 * NSEC_PER_SEC)

/* Traces can be drained a hundred times a second. */
#define LOOK_EVERY_NS	(NSEC_PER_SEC / 10)

/**
 * struct ktaud - the daemon
 * @options: the command line
 * @config: current configuration
 * @origin: where the streams come from
 * @control: what was changed in the kernel
 * @losses: the kernel's counters of losses
 * @losses_after_ns: CLOCK_MONOTONIC of the next check of @losses
 * @look_after_ns: CLOCK_MONOTONIC from which on a drain looks whether the file is gone
 * @out: the output files
 * @collect: the streams that are read
 * @pidfile: path of the pid file at the start
 * @pid_fd: its descriptor; -1 for none
 * @signal_fd: descriptor for signals
 * @timer_fd: descriptor for periods
 * @drain_after_ns: CLOCK_MONOTONIC from which filled rings are read again
 * @missed: periods that could not start before the next one was due
 * @stop: a signal requested the exit
 */
struct ktaud {
	const struct options *options;
	struct config *config;
	enum origin origin;
	struct control control;
	struct losses losses;
	uint64_t losses_after_ns;
	uint64_t look_after_ns;
	struct output *out;
	struct collect collect;
	char *pidfile;
	int pid_fd;
	int signal_fd;
	int timer_fd;
	uint64_t drain_after_ns;
	uint64_t missed;
	bool stop;
};

/*
 * Opening a FIFO waits for a writer, and ktaud could not handle signals while it waits. A missing
 * file is reported when it is read.
 */
static int check_saved(const char *root)
{
	static const char *const names[] = { "profile", "trace" };
	char path[PATH_MAX];
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		if (stat(path, &st) || S_ISREG(st.st_mode))
			continue;
		log_error("cannot read %s: not a regular file", path);
		return -EINVAL;
	}
	return 0;
}

static int check_source(struct ktaud *ktaud, struct ktau_bpf_options *options)
{
	int err = origin_choose(ktaud->options, ktaud->config, &ktaud->origin);

	if (!err && ktaud->origin == ORIGIN_SAVED)
		err = check_saved(ktaud->options->root);
	if (!err && ktaud->origin == ORIGIN_BPF)
		err = origin_check_bpf(ktaud->config, options);
	return err;
}

static void destroy_output(struct output *out, int *err)
{
	*err = output_deinit(out);
	free(out);
}

static struct output *create_output(const struct options *options, const struct config *config)
{
	struct output *out = calloc(1, sizeof(*out));
	int err;

	if (!out) {
		log_error("%s", strerror(ENOMEM));
		return NULL;
	}
	err = output_init(out, config->output_dir, options->command);
	if (!err)
		err = output_open(out, config);
	if (err) {
		destroy_output(out, &err);
		return NULL;
	}
	return out;
}

/* Deadlines are absolute, so the duration of a period does not shift the next one. */
static int arm_timer(struct ktaud *ktaud)
{
	uint64_t first_ns = now_ns(CLOCK_MONOTONIC) + ktaud->config->period_ns;
	struct itimerspec spec = {
		.it_value.tv_sec = first_ns / NSEC_PER_SEC,
		.it_value.tv_nsec = first_ns % NSEC_PER_SEC,
		.it_interval.tv_sec = ktaud->config->period_ns / NSEC_PER_SEC,
		.it_interval.tv_nsec = ktaud->config->period_ns % NSEC_PER_SEC,
	};

	return timerfd_settime(ktaud->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

/* A signal that was ignored at the start, as by nohup(1), is left to be ignored. */
static void add_unless_ignored(sigset_t *signals, int number)
{
	struct sigaction action;

	if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN)
		sigaddset(signals, number);
}

static bool reloads(const struct ktaud *ktaud)
{
	return ktaud->options->config_path || ktaud->options->background;
}

static int open_events(struct ktaud *ktaud)
{
	sigset_t signals;

	sigemptyset(&signals);
	add_unless_ignored(&signals, SIGTERM);
	add_unless_ignored(&signals, SIGINT);
	add_unless_ignored(&signals, SIGHUP);
	if (reloads(ktaud))
		sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* write(2) beyond the file size limit also fails, which is enough. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);

	ktaud->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	ktaud->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (ktaud->signal_fd < 0 || ktaud->timer_fd < 0) {
		log_error("cannot wait for signals and periods: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static void watch_losses(struct ktaud *ktaud)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (now < ktaud->losses_after_ns)
		return;
	ktaud->losses_after_ns = now + LOSSES_EVERY_NS;
	losses_warn(&ktaud->losses);
}

/* Begin a new file if one is due, or with @look if the file is gone. */
static void renew_file(struct ktaud *ktaud, bool look)
{
	/* While the output is blocked, a stream in the old file is incomplete. */
	if (output_blocked(ktaud->out))
		return;
	if (((look && output_is_gone(ktaud->out)) ||
	     output_is_due(ktaud->out, ktaud->config)) &&
	    !output_open(ktaud->out, ktaud->config))
		collect_new_file(&ktaud->collect, ktaud->config);
}

static int period(struct ktaud *ktaud)
{
	int err;

	renew_file(ktaud, true);
	err = collect_period(&ktaud->collect);
	watch_losses(ktaud);
	return err;
}

/* The programs of other groups would have to be loaded, and begin with empty profiles. */
static bool fits_bpf(const struct ktaud *ktaud, const struct config *config)
{
	const struct ktau_bpf_options *old = &ktaud->collect.bpf_options;
	struct ktau_bpf_options options;
	const char *key;

	if (origin_check_bpf(config, &options))
		return false;
	if (options.groups != old->groups)
		key = "groups";
	else if (!options.ring_slots != !old->ring_slots)
		key = "info";
	else if (options.ring_slots != old->ring_slots)
		key = "ring";
	else
		return true;
	log_error("%s: the BPF source cannot change this; restart ktaud", key);
	return false;
}

static bool switch_to(struct ktaud *ktaud, struct config *config)
{
	struct output *out;
	int err;

	if (ktaud->origin == ORIGIN_BPF && !fits_bpf(ktaud, config))
		return false;
	out = create_output(ktaud->options, config);
	if (!out)
		return false;
	/* Resizing empties the rings, so first read what belongs to the old file. */
	collect_period(&ktaud->collect);
	if (ktaud->origin == ORIGIN_KERNEL && control_apply(&ktaud->control, config)) {
		destroy_output(out, &err);
		return false;
	}
	destroy_output(ktaud->out, &err);
	ktaud->out = out;
	ktaud->collect.out = out;
	return true;
}

/* Apply the new configuration, either completely or not at all. */
static void reload(struct ktaud *ktaud)
{
	struct config config;

	if (options_load(ktaud->options, &config) || !switch_to(ktaud, &config)) {
		log_error("keeping the old configuration");
		config_deinit(&config);
		return;
	}
	config_deinit(ktaud->config);
	*ktaud->config = config;
	collect_new_file(&ktaud->collect, ktaud->config);
	ktaud->losses_after_ns = 0;
	arm_timer(ktaud);
	log_info("configuration reloaded, now writing %s", ktaud->out->path);
	period(ktaud);
}

static void handle_signals(struct ktaud *ktaud)
{
	struct signalfd_siginfo info;

	while (read(ktaud->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			period(ktaud);
		else if (info.ssi_signo == SIGHUP && reloads(ktaud))
			reload(ktaud);
		else
			ktaud->stop = true;
	}
}

static void handle_timer(struct ktaud *ktaud)
{
	uint64_t expirations;

	if (read(ktaud->timer_fd, &expirations, sizeof(expirations)) != sizeof(expirations))
		return;
	ktaud->missed += expirations - 1;
	period(ktaud);
}

static void drain(struct ktaud *ktaud)
{
	uint64_t began_ns = now_ns(CLOCK_MONOTONIC), ended_ns;
	bool look = began_ns >= ktaud->look_after_ns;

	if (look)
		ktaud->look_after_ns = began_ns + LOOK_EVERY_NS;
	renew_file(ktaud, look);
	collect_traces(&ktaud->collect);
	ended_ns = now_ns(CLOCK_MONOTONIC);
	ktaud->drain_after_ns = ended_ns;
	if (ktaud->collect.fullest * DRAIN_PART < 1)
		ktaud->drain_after_ns += (DRAIN_PART - 1) * (ended_ns - began_ns);
}

/* Filled rings are not polled while the output is blocked or before drain_after_ns. */
static void wait_and_handle(struct ktaud *ktaud)
{
	bool blocked = output_blocked(ktaud->out);
	int trace_fd = blocked ? -1 : collect_trace_fd(&ktaud->collect);
	uint64_t now = now_ns(CLOCK_MONOTONIC);
	bool early = now < ktaud->drain_after_ns;
	bool drains = !blocked && ktaud->collect.bpf && ktaud->config->info & CONFIG_TRACE;
	struct pollfd fds[] = {
		{ .fd = ktaud->signal_fd, .events = POLLIN },
		{ .fd = ktaud->timer_fd, .events = POLLIN },
		{ .fd = early ? -1 : trace_fd, .events = POLLIN },
	};
	int timeout = blocked ? RETRY_MS : -1;
	int ready;

	if (early && trace_fd >= 0)
		timeout = (int)((ktaud->drain_after_ns - now) / 1000000) + 1;
	if (drains)
		timeout = BPF_DRAIN_MS;
	ready = poll(fds, 3, timeout);
	if (!ready && blocked)
		collect_resume(&ktaud->collect);
	if (!ready && drains)
		drain(ktaud);
	if (ready <= 0)
		return;
	if (fds[0].revents)
		handle_signals(ktaud);
	if (fds[1].revents && !ktaud->stop)
		handle_timer(ktaud);
	if (fds[2].revents && !ktaud->stop)
		drain(ktaud);
}

static void summary(struct ktaud *ktaud)
{
	const struct collect *c = &ktaud->collect;

	if (output_has_content(ktaud->out))
		log_info("%" PRIu64 " periods, %" PRIu64 " bytes, the last file is %s", c->periods,
			 output_bytes(ktaud->out), ktaud->out->path);
	else
		log_info("%" PRIu64 " periods, %" PRIu64 " bytes, the last file is removed because "
			 "it is empty", c->periods, output_bytes(ktaud->out));
	if (ktaud->missed || c->lost_periods || c->failed_periods || c->lost_slots ||
	    c->evicted_slots)
		log_info("%" PRIu64 " periods missed, %" PRIu64
			 " lost because the disk was full, %" PRIu64 " not readable, %" PRIu64
			 " trace slots overwritten before they were read, %" PRIu64
			 " of tasks that the kernel evicted",
			 ktaud->missed, c->lost_periods, c->failed_periods, c->lost_slots,
			 c->evicted_slots);
	if (c->metrics.failed)
		log_info("the OpenMetrics file could not be written %" PRIu64 " times",
			 c->metrics.failed);
	losses_report(&ktaud->losses);
}

static int start(struct ktaud *ktaud)
{
	struct ktau_bpf_options options = { 0 };
	int err;

	err = check_source(ktaud, &options);
	if (!err && ktaud->pidfile) {
		ktaud->pid_fd = pidfile_lock(ktaud->pidfile);
		err = ktaud->pid_fd < 0 ? ktaud->pid_fd : 0;
	}
	if (!err)
		err = open_events(ktaud);
	if (!err && ktaud->origin == ORIGIN_KERNEL) {
		losses_init(&ktaud->losses);
		err = control_apply(&ktaud->control, ktaud->config);
		/* The slots that were in the rings belong to earlier traces. */
		losses_reset(&ktaud->losses, "lost_resized");
	}
	if (err)
		return err;
	ktaud->out = create_output(ktaud->options, ktaud->config);
	if (!ktaud->out)
		return -EIO;
	err = collect_init(&ktaud->collect, ktaud->config, ktaud->out, ktaud->options->root);
	ktaud->collect.bpf = ktaud->origin == ORIGIN_BPF;
	ktaud->collect.bpf_options = options;
	if (!err && ktaud->origin == ORIGIN_KERNEL && ktaud->config->info & CONFIG_TRACE)
		err = collect_catch_up(&ktaud->collect);
	if (!err)
		err = arm_timer(ktaud);
	return err ? err : period(ktaud);
}

static int finish(struct ktaud *ktaud)
{
	int err = 0, lost;

	if (ktaud->out) {
		lost = collect_give_up(&ktaud->collect);
		collect_note_gap(&ktaud->collect);
		summary(ktaud);
		destroy_output(ktaud->out, &err);
		err = err ? err : lost;
	}
	collect_deinit(&ktaud->collect);
	if (ktaud->origin == ORIGIN_KERNEL)
		control_restore(&ktaud->control);
	if (ktaud->pidfile)
		pidfile_unlock(ktaud->pidfile, ktaud->pid_fd);
	if (ktaud->signal_fd >= 0)
		close(ktaud->signal_fd);
	if (ktaud->timer_fd >= 0)
		close(ktaud->timer_fd);
	return err;
}

int run(const struct options *options, struct config *config)
{
	struct ktaud ktaud = {
		.options = options,
		.config = config,
		.pidfile = config->pidfile ? strdup(config->pidfile) : NULL,
		.pid_fd = -1,
		.signal_fd = -1,
		.timer_fd = -1,
	};
	int ready_fd = -1, err;

	if (options->background && !options->once) {
		ready_fd = daemon_fork();
		if (ready_fd < 0) {
			log_error("cannot go into the background: %s", strerror(-ready_fd));
			free(ktaud.pidfile);
			return 1;
		}
	}
	err = start(&ktaud);
	if (!err && !options->once) {
		daemon_ready(ready_fd);
		while (!ktaud.stop)
			wait_and_handle(&ktaud);
		err = period(&ktaud);
	}
	if (finish(&ktaud) || err)
		err = 1;
	free(ktaud.pidfile);
	return err;
}
