// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ktaud-ship: sends the recordings that ktaud writes to a collector while they grow.
 *
 * ktaud-ship keeps no state: for each file it asks the collector how much it has, and sends the
 * rest. After a lost connection, or a crash or reboot of either side, shipping therefore resumes
 * where the collector's copy ends. The spool is the output directory of ktaud.
 *
 * It is separate from ktaud for security: ktaud has the capabilities to read every task but no
 * network access; ktaud-ship has network access but no capabilities.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <ktau.h>

#include "arguments.h"
#include "delay.h"
#include "log.h"
#include "spool.h"
#include "target.h"
#include "value.h"

#define NS 1000000000ULL
/* What may be in the server and not yet in the archive, of each file */
#define WINDOW_BYTES (16 << 20)
/* Scans between two questions for what has landed */
#define ASK_EVERY 5
/* Send again what has not landed for this time */
#define RESEND_NS (60 * NS)
#define NOT_FOUND 404

#define KEY_HOST 0x103
#define KEY_EVERY 0x104
#define KEY_LINGER 0x105
#define KEY_REMOVE 0x106
#define KEY_STAGGER 0x107

static const char doc[] =
	"Send the recordings in DIR to an archive over NATS while ktaud writes them.";

static const struct argp_option argp_options[] = {
	TARGET_SERVERS_OPTION("to", 't'),
	{ "host", KEY_HOST, "NAME", 0, "name of this host (default: that of uname -n)", 0 },
	TARGET_TLS_OPTIONS("this host", 1),
	{ "every", KEY_EVERY, "TIME", 0, "interval between scans for new data (default: 1 s)", 2 },
	{ "linger", KEY_LINGER, "TIME", 0, "keep trying after SIGTERM, or with --once without "
					   "progress (default: 10 s)",
	  2 },
	{ "stagger", KEY_STAGGER, "TIME", 0, "connect after a random time up to this", 2 },
	{ "remove", KEY_REMOVE, NULL, 0, "remove files that ktaud has closed and that have "
					 "landed",
	  2 },
	{ "once", '1', NULL, 0, "ship the existing files, then exit", 2 },
	{ 0 }
};

/**
 * struct ship - state of the program
 * @target: addresses of the servers
 * @host: name of this host
 * @dir: path of the spool
 * @every_ns: interval between two scans
 * @linger_ns: how long to keep trying after SIGTERM
 * @stagger_ns: how long to wait at most before the first connection
 * @remove: remove files that have landed
 * @once: exit when everything has landed or nothing has for @linger_ns
 * @spool: the files
 * @link: NULL if there is no connection
 * @signal_fd: descriptor for SIGTERM and SIGINT
 * @deadline_ns: CLOCK_MONOTONIC at which to give up; 0 until an exit is requested
 * @reason: reason of the last failure
 * @told: @reason was logged
 */
struct ship {
	struct link_target target;
	char host[HOST_NAME_MAX + 1];
	const char *dir;
	uint64_t every_ns;
	uint64_t linger_ns;
	uint64_t stagger_ns;
	bool remove;
	bool once;
	struct spool spool;
	struct link *link;
	int signal_fd;
	uint64_t deadline_ns;
	char reason[LINK_REASON];
	bool told;
};

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

static void set_time(struct argp_state *state, uint64_t *ns, const char *text)
{
	if (!value_duration(text, ns))
		argp_error(state, "'%s' is not a time", text);
}

static void check_arguments(struct ship *ship, struct argp_state *state)
{
	target_check(&ship->target, "to", state);
	if (!target_host(ship->host))
		argp_error(state, "'%s' is not a name of letters, digits, '-' and '_': --host=NAME",
			   ship->host);
	if (!ship->dir)
		argp_error(state, "a DIR is required");
	if (!ship->every_ns)
		argp_error(state, "--every must be more than 0");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct ship *ship = state->input;

	switch (key) {
	case 't':
		target_parse_servers(&ship->target, arg, state);
		return 0;
	case KEY_HOST:
		snprintf(ship->host, sizeof(ship->host), "%s", arg);
		return 0;
	case KEY_EVERY:
		set_time(state, &ship->every_ns, arg);
		return 0;
	case KEY_LINGER:
		set_time(state, &ship->linger_ns, arg);
		return 0;
	case KEY_STAGGER:
		set_time(state, &ship->stagger_ns, arg);
		return 0;
	case KEY_REMOVE:
		ship->remove = true;
		return 0;
	case '1':
		ship->once = true;
		return 0;
	case ARGP_KEY_ARG:
		if (ship->dir)
			return ARGP_ERR_UNKNOWN;
		ship->dir = arg;
		return 0;
	case ARGP_KEY_END:
		check_arguments(ship, state);
		return 0;
	default:
		return target_option(key, arg, &ship->target);
	}
}

/* If the archive has more bytes than the file, they cannot all have come from here. */
static bool is_too_much(const struct ship *ship, const struct spool_file *file, uint64_t bytes)
{
	struct stat st;

	return bytes > file->bytes && !fstatat(ship->spool.fd, file->name, &st, 0) &&
	       bytes > (uint64_t)st.st_size;
}

/* Whether the file begins with these bytes, given in hexadecimal. */
static bool begins(int fd, const char *text)
{
	char have[2 * TARGET_HEAD + 1] = "";
	unsigned char head[TARGET_HEAD];
	ssize_t got = pread(fd, head, sizeof(head), 0), i;

	for (i = 0; i < got; i++)
		sprintf(have + 2 * i, "%02x", head[i]);
	return !strncmp(have, text, strlen(text));
}

/*
 * Take the answer "BYTES HEAD" or "BYTES HEAD gap": what has landed, how the file begins there, and
 * whether a part before the end of what was sent is missing. Anything else counts as nothing.
 */
static void take_landed(struct ship *ship, struct spool_file *file, int fd, char *text)
{
	char *state, *size = strtok_r(text, " ", &state), *head = strtok_r(NULL, " ", &state);
	const char *gap = strtok_r(NULL, " ", &state);
	uint64_t bytes = 0, now = monotonic_ns();

	if (!size || !head || !value_size(size, &bytes))
		bytes = 0;
	/* A power failure can cut off what was not on the disk yet, but has landed. */
	if (bytes && file->closed && is_too_much(ship, file, bytes) && begins(fd, head)) {
		log_info("%s/%s: the archive has more of it", ship->dir, file->name);
		bytes = file->bytes;
	}
	if (bytes && (is_too_much(ship, file, bytes) || !begins(fd, head))) {
		log_error("%s/%s stays here: the archive has another recording of this name",
			  ship->dir, file->name);
		file->other = true;
		file->asked = false;
		return;
	}
	if (!file->asked || bytes > file->landed)
		file->moved_ns = now;
	/* What the server had may be lost: send it again. */
	if (!file->asked || bytes > file->sent || gap || now - file->moved_ns > RESEND_NS) {
		file->sent = bytes;
		file->moved_ns = now;
	}
	file->landed = bytes;
	file->asked = true;
	file->ask_ns = now + (ship->deadline_ns ? 0 : ASK_EVERY * ship->every_ns);
}

/* Ask how much of the file has landed. */
static bool ask(struct ship *ship, struct spool_file *file, int fd)
{
	struct link_message message = { .data = "" };
	char subject[LINK_SUBJECT];
	struct link_answer answer;

	snprintf(subject, sizeof(subject), "$JS.API.DIRECT.GET.KTAU_HAVE.have.%s.%s", ship->host,
		 file->name);
	message.subject = subject;
	if (!link_ask(ship->link, &message, &answer, ship->reason))
		return false;
	if (answer.status && answer.status != NOT_FOUND) {
		snprintf(ship->reason, sizeof(ship->reason), "the server answers %d",
			 answer.status);
		return false;
	}
	take_landed(ship, file, fd, answer.text);
	return true;
}

/* Publish the next part. The server has it once it has answered with a sequence number. */
static bool publish(struct ship *ship, struct spool_file *file, int fd)
{
	static char part[TARGET_PART];
	uint64_t left = spool_ready(file) - file->sent;
	struct link_message message = { .file = file->name, .data = part };
	char subject[LINK_SUBJECT], offset[24], *c;
	struct link_answer answer;
	ssize_t got = pread(fd, part, left < sizeof(part) ? left : sizeof(part), file->sent);

	/* The others must not wait for a file that cannot be read. */
	if (got <= 0) {
		log_error("%s/%s stays here: %s", ship->dir, file->name,
			  got ? strerror(errno) : "it has become shorter");
		file->other = true;
		return true;
	}
	snprintf(subject, sizeof(subject), "ktau.%s", ship->host);
	snprintf(offset, sizeof(offset), "%" PRIu64, file->sent);
	message.subject = subject;
	message.offset = offset;
	message.bytes = got;
	if (!link_ask(ship->link, &message, &answer, ship->reason))
		return false;
	if (answer.status || strstr(answer.text, "\"error\"") || !strstr(answer.text, "\"seq\"")) {
		c = strstr(answer.text, "\"description\"");
		snprintf(ship->reason, sizeof(ship->reason), "the server answers %d %.200s",
			 answer.status, c ? c : answer.text);
		return false;
	}
	file->sent += got;
	file->moved_ns = monotonic_ns();
	return true;
}

static bool ship_open_file(struct ship *ship, struct spool_file *file, int fd)
{
	if ((!file->asked || (file->landed < file->sent && monotonic_ns() >= file->ask_ns)) &&
	    !ask(ship, file, fd))
		return false;
	while (!file->other && file->sent < spool_ready(file) &&
	       file->sent - file->landed < WINDOW_BYTES)
		if (!publish(ship, file, fd))
			return false;
	return true;
}

static bool ship_file(struct ship *ship, struct spool_file *file)
{
	bool good;
	int fd;

	if (!spool_ready(file) || file->other || file->stump ||
	    (file->asked && file->landed >= spool_ready(file)))
		return true;
	fd = openat(ship->spool.fd, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* The file was removed; the next scan reports that. */
	if (fd < 0)
		return true;
	good = ship_open_file(ship, file, fd);
	close(fd);
	return good;
}

static void disconnect(struct ship *ship)
{
	link_close(ship->link);
	ship->link = NULL;
	spool_forget_landed(&ship->spool);
}

/* Ship everything that is waiting. Return: false if the connection failed. */
static bool ship_all(struct ship *ship)
{
	bool good = true;
	size_t i;

	if (ship->link && !link_alive(ship->link))
		disconnect(ship);
	if (!spool_waiting(&ship->spool, false))
		return true;
	if (!ship->link)
		ship->link = link_open(&ship->target, ship->reason);
	good = ship->link;
	for (i = 0; good && i < ship->spool.nr; i++)
		good = ship_file(ship, &ship->spool.files[i]);
	if (!good)
		disconnect(ship);
	return good;
}

/* Scan the spool and ship. Logs when the connection is lost and when it works again. */
static bool look(struct ship *ship)
{
	int err = spool_scan(&ship->spool);
	bool good;

	if (err) {
		snprintf(ship->reason, sizeof(ship->reason), "cannot read %s: %s", ship->dir,
			 strerror(-err));
		good = false;
	} else {
		good = ship_all(ship);
	}
	if (!good && !ship->told)
		log_error("cannot ship: %s; trying again", ship->reason);
	else if (good && ship->told)
		log_info("shipping again");
	ship->told = !good;
	if (good && ship->remove)
		spool_remove_landed(&ship->spool);
	return good;
}

/* Wait, but return early if a signal requests the exit. */
static void pause_for(struct ship *ship, uint64_t ns)
{
	struct pollfd polled = { .fd = ship->signal_fd, .events = POLLIN };
	struct signalfd_siginfo info;

	if (ship->deadline_ns && ns > NS / 10)
		ns = NS / 10;
	if (poll(&polled, 1, ship_delay_ms(ns)) > 0 &&
	    read(ship->signal_fd, &info, sizeof(info)) == sizeof(info) && !ship->deadline_ns)
		ship->deadline_ns = monotonic_ns() + ship->linger_ns;
}

/* Run until an exit is requested and everything has landed or the deadline has passed. */
static int run(struct ship *ship)
{
	uint64_t delay_ns = ship->every_ns, least = UINT64_MAX, waiting;
	bool good, ending;

	for (;;) {
		/* Data written before the signal is found by a scan after it. */
		ending = ship->once || ship->deadline_ns;
		good = look(ship);
		waiting = spool_waiting(&ship->spool, false);
		if (ship->once && waiting < least)
			ship->deadline_ns = monotonic_ns() + ship->linger_ns;
		least = waiting < least ? waiting : least;
		if (ending && ((good && !waiting) || monotonic_ns() >= ship->deadline_ns))
			break;
		delay_ns = ship_delay_ns(ship->every_ns, delay_ns, good);
		pause_for(ship, good ? delay_ns : ship_delay_jitter_ns(delay_ns, random()));
	}
	waiting = spool_waiting(&ship->spool, true);
	if (waiting)
		log_error("%" PRIu64 " bytes in %s have not landed", waiting, ship->dir);
	return good && !waiting && !ship->spool.lost_bytes && !ship->spool.nr_stumps ? 0 : 1;
}

/* A signal that was ignored at the start, as by nohup(1), is left to be ignored. */
static void add_unless_ignored(sigset_t *signals, int number)
{
	struct sigaction action;

	if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN)
		sigaddset(signals, number);
}

int main(int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse, "DIR", doc, NULL, NULL, NULL };
	struct ship ship = { .every_ns = NS, .linger_ns = 10 * NS };
	sigset_t signals;
	int status;

	/* Before anything that takes time: whoever stops it early still wants the files shipped. */
	sigemptyset(&signals);
	add_unless_ignored(&signals, SIGTERM);
	add_unless_ignored(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	log_program("ktaud-ship");
	if (gethostname(ship.host, sizeof(ship.host) - 1))
		ship.host[0] = '\0';
	ship.target.host = ship.host;
	srandom(monotonic_ns() ^ getpid());
	arguments_parse(&argp, "ktaud-ship", argc, argv, &ship);
	status = spool_open(&ship.spool, ship.dir);
	if (status) {
		log_error("cannot read %s: %s", ship.dir, strerror(-status));
		return 1;
	}
	ship.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (ship.signal_fd < 0) {
		log_error("cannot wait for signals: %s", strerror(errno));
		return 1;
	}
	if (ship.stagger_ns)
		pause_for(&ship, ship.stagger_ns * (random() & 0xffff) >> 16);
	status = run(&ship);
	disconnect(&ship);
	spool_close(&ship.spool);
	close(ship.signal_fd);
	free(ship.target.text);
	return status;
}
