// SPDX-License-Identifier: GPL-2.0-only
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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <ktau.h>
#include <ktau_file.h>

#include "arguments.h"
#include "log.h"
#include "ship_delay.h"
#include "ship_link.h"
#include "ship_spool.h"
#include "value.h"

#define PART_BYTES	(256 << 10)
#define NS		1000000000ULL
#define TOKEN_CHARS	128

#define KEY_CA		0x100
#define KEY_CERT	0x101
#define KEY_KEY		0x102
#define KEY_TOKEN	0x103
#define KEY_EVERY	0x104
#define KEY_LINGER	0x105
#define KEY_REMOVE	0x106

static const char doc[] =
	"Send the recordings in DIR to a collector while ktaud writes them.";

static const struct argp_option argp_options[] = {
	{ "to", 't', "COLLECTOR", 0, "tcp:HOST:PORT, tls:HOST:PORT or unix:PATH", 0 },
	{ "token-file", KEY_TOKEN, "FILE", 0, "send the token in FILE to the collector", 0 },
	{ "ca", KEY_CA, "FILE", 0, "trust the certificates in FILE instead of the system's", 1 },
	{ "cert", KEY_CERT, "FILE", 0, "client certificate", 1 },
	{ "key", KEY_KEY, "FILE", 0, "key of the client certificate", 1 },
	{ "every", KEY_EVERY, "TIME", 0, "interval between scans for new data (default: 1 s)", 2 },
	{ "linger", KEY_LINGER, "TIME", 0, "keep trying after SIGTERM (default: 10 s)", 2 },
	{ "remove", KEY_REMOVE, NULL, 0, "remove files that ktaud has closed and that have "
	  "been shipped", 2 },
	{ "once", '1', NULL, 0, "ship the existing files, then exit", 2 },
	{ 0 }
};

/**
 * struct ship - state of the program
 * @target: address of the collector
 * @to: @target as given on the command line
 * @token: token for the collector; empty for none
 * @dir: path of the spool
 * @every_ns: interval between two scans
 * @linger_ns: how long to keep trying after SIGTERM
 * @remove: remove files that have been shipped
 * @once: exit when everything has been shipped or cannot be shipped
 * @spool: the files
 * @link: NULL if there is no connection
 * @signal_fd: descriptor for SIGTERM and SIGINT
 * @deadline_ns: CLOCK_MONOTONIC at which to give up; 0 until an exit is requested
 * @reason: reason of the last failure
 * @told: @reason was logged
 */
struct ship {
	struct link_target target;
	const char *to;
	char token[TOKEN_CHARS + 2];
	const char *dir;
	uint64_t every_ns;
	uint64_t linger_ns;
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

static void read_token(struct ship *ship, struct argp_state *state, const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		argp_failure(state, 1, errno, "%s", path);
	if (!fgets(ship->token, sizeof(ship->token), file))
		ship->token[0] = '\0';
	fclose(file);
	ship->token[strcspn(ship->token, "\r\n")] = '\0';
	if (!*ship->token || strlen(ship->token) > TOKEN_CHARS)
		argp_failure(state, 1, 0, "%s: the first line is not a token of 1 to %d characters",
			     path, TOKEN_CHARS);
}

static void set_time(struct argp_state *state, uint64_t *ns, const char *text)
{
	if (!value_duration(text, ns))
		argp_error(state, "'%s' is not a time", text);
}

static void check_arguments(const struct ship *ship, struct argp_state *state)
{
	if (!ship->to)
		argp_error(state, "a collector is required: --to=COLLECTOR");
	if (!ship->target.cert != !ship->target.key)
		argp_error(state, "--cert and --key must be given together");
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
		ship->to = arg;
		if (!link_parse(&ship->target, arg))
			argp_error(state, "'%s' is none of tcp:HOST:PORT, tls:HOST:PORT, unix:PATH",
				   arg);
		return 0;
	case KEY_CA:
		ship->target.ca = arg;
		return 0;
	case KEY_CERT:
		ship->target.cert = arg;
		return 0;
	case KEY_KEY:
		ship->target.key = arg;
		return 0;
	case KEY_TOKEN:
		read_token(ship, state, arg);
		return 0;
	case KEY_EVERY:
		set_time(state, &ship->every_ns, arg);
		return 0;
	case KEY_LINGER:
		set_time(state, &ship->linger_ns, arg);
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
		return ARGP_ERR_UNKNOWN;
	}
}

/* If the collector has more bytes than the file, they cannot all have been shipped from here. */
static bool is_too_much(const struct ship *ship, const struct spool_file *file, uint64_t bytes)
{
	struct stat st;

	return bytes > file->bytes && !fstatat(ship->spool.fd, file->name, &st, 0) &&
	       bytes > (uint64_t)st.st_size;
}

/* Neither ship nor remove the file. */
static void leave_alone(struct ship *ship, struct spool_file *file)
{
	log_error("%s/%s stays here: the collector at %s has another recording of this name",
		  ship->dir, file->name, ship->to);
	file->other = true;
	file->asked = false;
}

/* Receive the collector's answer: the number of bytes of the file that it has. */
static bool answer(struct ship *ship, struct spool_file *file)
{
	char line[LINK_LINE], *c;
	uint64_t bytes;
	bool is_size;

	if (!link_line(ship->link, line, ship->reason))
		return false;
	is_size = value_size(line, &bytes);
	if (!strcmp(line, "other") || (is_size && is_too_much(ship, file, bytes))) {
		leave_alone(ship, file);
		return true;
	}
	if (is_size) {
		file->shipped = bytes;
		file->asked = true;
		return true;
	}
	for (c = line; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	snprintf(ship->reason, sizeof(ship->reason), "the collector reports: %.200s", line);
	return false;
}

/* The request contains the start of the file, so that the collector can compare its copy. */
static bool ask(struct ship *ship, struct spool_file *file, int fd)
{
	unsigned char beginning[sizeof(struct ktau_file_header)];
	ssize_t got = pread(fd, beginning, sizeof(beginning), 0), i;
	char line[LINK_LINE];
	int length = snprintf(line, sizeof(line), "size %s%s", file->name, got > 0 ? " " : "");

	for (i = 0; i < got; i++)
		length += snprintf(line + length, sizeof(line) - length, "%02x", beginning[i]);
	length += snprintf(line + length, sizeof(line) - length, "\n");
	return link_send(ship->link, line, length, ship->reason) && answer(ship, file);
}

static bool send_part(struct ship *ship, struct spool_file *file, int fd)
{
	static char part[PART_BYTES];
	uint64_t left = spool_ready(file) - file->shipped;
	char line[LINK_LINE];
	ssize_t got;
	int length;

	got = pread(fd, part, left < sizeof(part) ? left : sizeof(part), file->shipped);
	if (got <= 0) {
		snprintf(ship->reason, sizeof(ship->reason), "%s: %s", file->name,
			 got ? strerror(errno) : "the file has become shorter");
		return false;
	}
	length = snprintf(line, sizeof(line), "part %s %" PRIu64 " %zd\n", file->name,
			  file->shipped, got);
	return link_send(ship->link, line, length, ship->reason) &&
	       link_send(ship->link, part, got, ship->reason) && answer(ship, file);
}

static bool ship_file(struct ship *ship, struct spool_file *file)
{
	uint64_t before;
	bool good = true;
	int fd;

	if (!spool_ready(file) || file->other ||
	    (file->asked && file->shipped >= spool_ready(file)))
		return true;
	fd = openat(ship->spool.fd, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* The file was removed; the next scan reports that. */
	if (fd < 0)
		return true;
	if (!file->asked)
		good = ask(ship, file, fd);
	while (good && !file->other && file->shipped < spool_ready(file)) {
		before = file->shipped;
		good = send_part(ship, file, fd);
		if (good && !file->other && file->shipped == before) {
			snprintf(ship->reason, sizeof(ship->reason),
				 "the collector accepts no more data for %s", file->name);
			good = false;
		}
	}
	close(fd);
	return good;
}

static void disconnect(struct ship *ship)
{
	link_close(ship->link);
	ship->link = NULL;
	spool_forget_shipped(&ship->spool);
}

static bool connected(struct ship *ship)
{
	char token[sizeof(ship->token) + 1];
	int length = snprintf(token, sizeof(token), "%s\n", ship->token);

	if (ship->link && link_alive(ship->link))
		return true;
	disconnect(ship);
	ship->link = link_open(&ship->target, ship->reason);
	return ship->link && link_send(ship->link, token, length, ship->reason);
}

/* Ship everything that is waiting. Return: false if the connection failed. */
static bool ship_all(struct ship *ship)
{
	bool good = true;
	size_t i;

	if (!spool_waiting(&ship->spool))
		return true;
	good = connected(ship);
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
		log_error("cannot ship to %s: %s; trying again", ship->to, ship->reason);
	else if (good && ship->told)
		log_info("shipping to %s again", ship->to);
	ship->told = !good;
	if (good && ship->remove)
		spool_remove_shipped(&ship->spool);
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

/* Run until an exit is requested and everything is shipped or the deadline has passed. */
static int run(struct ship *ship)
{
	uint64_t delay_ns = ship->every_ns, waiting;
	bool good, ending;

	for (;;) {
		/* Data written before the signal is found by a scan after it. */
		ending = ship->once || ship->deadline_ns;
		good = look(ship);
		if (ending && (good || monotonic_ns() >= ship->deadline_ns))
			break;
		delay_ns = ship_delay_ns(ship->every_ns, delay_ns, good);
		pause_for(ship, delay_ns);
	}
	waiting = spool_waiting(&ship->spool);
	if (waiting)
		log_error("%" PRIu64 " bytes in %s have not been shipped", waiting, ship->dir);
	return good && !waiting && !ship->spool.lost_bytes ? 0 : 1;
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

	log_program("ktaud-ship");
	arguments_parse(&argp, "ktaud-ship", argc, argv, &ship);
	status = spool_open(&ship.spool, ship.dir);
	if (status) {
		log_error("cannot read %s: %s", ship.dir, strerror(-status));
		return 1;
	}
	sigemptyset(&signals);
	add_unless_ignored(&signals, SIGTERM);
	add_unless_ignored(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	ship.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (ship.signal_fd < 0) {
		log_error("cannot wait for signals: %s", strerror(errno));
		return 1;
	}
	status = run(&ship);
	disconnect(&ship);
	spool_close(&ship.spool);
	close(ship.signal_fd);
	return status;
}
