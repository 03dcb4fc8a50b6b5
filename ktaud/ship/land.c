// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ktau-land: writes the recordings that hosts publish with ktaud-ship to an archive, DIR/HOST/FILE.
 *
 * A batch of parts is appended and synced. Then each file's size is published, and only after
 * that the parts are acknowledged, which removes them from the server. A part may therefore come
 * twice, but none is removed before it is on disk.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "append.h"
#include "arguments.h"
#include "land_stream.h"
#include "log.h"
#include "target.h"
#include "value.h"

#define KEY_PARTITION 0x103
#define KEY_REPLICAS 0x104
#define KEY_MAX_BYTES 0x105
#define MESSAGE_SECONDS 10
#define ROOM_BYTES (64 << 20)
#define RETRY_SECONDS 2

static const char doc[] =
	"Write the recordings that ktaud-ship publishes to NATS servers to DIR/HOST/FILE.";

static const struct argp_option argp_options[] = {
	TARGET_SERVERS_OPTION("from", 'f'),
	TARGET_TLS_OPTIONS("the archive", 1),
	{ "partition", KEY_PARTITION, "NUMBER", 0, "hosts to land, of those that ktau-nats-conf "
						   "--partitions has divided (default: 0)",
	  2 },
	{ "replicas", KEY_REPLICAS, "NUMBER", 0, "servers that keep each part (default: 1)", 2 },
	{ "max-bytes", KEY_MAX_BYTES, "SIZE", 0, "room for parts on a server (default: 80 % of "
						 "what its configuration allows)",
	  2 },
	{ 0 }
};

/**
 * struct land - state of the program
 * @target: addresses of the servers
 * @options: of the streams
 * @dir: path of the archive
 * @fd: descriptor of @dir
 * @told: when the last message about a part was logged
 * @untold: messages about parts since then
 */
struct land {
	struct link_target target;
	struct stream_options options;
	const char *dir;
	int fd;
	time_t told;
	unsigned int untold;
	char failure[LINK_REASON];	/* the last one, if nothing has landed since */
};

static volatile sig_atomic_t ending;

static void on_signal(int number)
{
	(void)number;
	ending = 1;
}

static void set_number(struct argp_state *state, int *number, const char *text, uint64_t most)
{
	uint64_t value;

	if (!value_size(text, &value) || value > most)
		argp_error(state, "'%s' is not a number up to %" PRIu64, text, most);
	*number = value;
}

static void check_arguments(const struct land *land, struct argp_state *state)
{
	target_check(&land->target, "from", state);
	if (!land->dir)
		argp_error(state, "a DIR is required");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct land *land = state->input;

	switch (key) {
	case 'f':
		target_parse_servers(&land->target, arg, state);
		return 0;
	case KEY_PARTITION:
		set_number(state, &land->options.partition, arg, 999);
		return 0;
	case KEY_REPLICAS:
		set_number(state, &land->options.replicas, arg, 5);
		return 0;
	case KEY_MAX_BYTES:
		if (!value_size(arg, &land->options.max_bytes))
			argp_error(state, "'%s' is not a size", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (land->dir)
			return ARGP_ERR_UNKNOWN;
		land->dir = arg;
		return 0;
	case ARGP_KEY_END:
		check_arguments(land, state);
		return 0;
	default:
		return target_option(key, arg, &land->target);
	}
}

/* A host may cause any number of messages: log one in MESSAGE_SECONDS. */
static void complain(struct land *land, const struct append_part *part, const char *reason)
{
	struct timespec ts;
	time_t now;

	clock_gettime(CLOCK_MONOTONIC, &ts);	/* A clock that is set back must not hide any. */
	now = ts.tv_sec;
	if (land->told && now - land->told < MESSAGE_SECONDS) {
		land->untold++;
		return;
	}
	log_error("%.64s/%.128s: %s (%u similar messages left out)", part->host,
		  part->file ? part->file : "", reason, land->untold);
	land->told = now;
	land->untold = 0;
}

/* The quota of a project on XFS is reported as a full disk, which has room for others. */
static bool has_room(const struct land *land)
{
	struct statvfs st;

	return !fstatvfs(land->fd, &st) && st.f_favail &&
	       (uint64_t)st.f_bavail * st.f_frsize >= ROOM_BYTES;
}

/*
 * Errors of the machine stop the archive until it can write again: the servers keep the parts. Any
 * other error, such as a host's quota, must not stop the other hosts: that host sends again.
 */
static bool is_general(const struct land *land, int err)
{
	if (err == ENOSPC)
		return !has_room(land);
	return err == EIO || err == EROFS || err == EMFILE || err == ENFILE || err == ENOMEM;
}

/* Called for each part of a batch. Return: false to get it and those after it again. */
static bool take_part(void *arg, const struct append_part *part, struct stream_have *have)
{
	struct append_state state;
	struct land *land = arg;
	size_t i;
	int err;

	have->set = true;
	have->gap = false;
	switch (append(land->fd, part, &state)) {
	case APPEND_LANDED:
		*land->failure = '\0';
		break;
	case APPEND_DUPLICATE:
		break;
	case APPEND_GAP:
		have->gap = true;
		break;
	case APPEND_OTHER:
		complain(land, part, "the archive has another recording of this name");
		break;
	case APPEND_REFUSED:
		complain(land, part, "refused: invalid name or part");
		have->set = false;
		return true;
	case APPEND_FULL:
		err = errno;
		have->set = false;
		complain(land, part, strerror(err));
		return !is_general(land, err);
	case APPEND_UNREADABLE:
		complain(land, part, strerror(errno));
		have->set = false;
		return true;
	}
	have->bytes = state.bytes;
	for (i = 0; i < state.head_bytes; i++)
		sprintf(have->head + 2 * i, "%02x", state.head[i]);
	have->head[2 * i] = '\0';
	return true;
}

static bool sync_parts(void *arg)
{
	struct land *land = arg;

	if (!syncfs(land->fd))
		return true;
	log_error("%s: %s", land->dir, strerror(errno));
	return false;
}

/* Two processes with the same partition would disturb each other. */
static bool open_archive(struct land *land)
{
	char name[32];
	int lock;

	umask(0);
	if (mkdir(land->dir, 0750) && errno != EEXIST)
		return false;
	land->fd = open(land->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (land->fd < 0)
		return false;
	snprintf(name, sizeof(name), ".land-%d", land->options.partition);
	lock = openat(land->fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	return lock >= 0 && !flock(lock, LOCK_EX | LOCK_NB);
}

/* Land parts until a signal arrives; connect again after an error. */
static void run(struct land *land)
{
	const struct stream_handler handler = {
		.arg = land,
		.take = take_part,
		.sync = sync_parts,
		.ending = &ending,
	};
	char reason[LINK_REASON];

	while (!ending) {
		/* The same reason is not told again and again. */
		if (!stream_run(&land->target, &land->options, &handler, reason) &&
		    strcmp(reason, land->failure)) {
			log_error("cannot land: %s; trying again", reason);
			strcpy(land->failure, reason);
		}
		if (!ending)
			sleep(RETRY_SECONDS);
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = { argp_options, parse, "DIR", doc, NULL, NULL, NULL };
	struct land land = { .options = { .replicas = 1 }, .target = { .host = "land" } };
	struct sigaction action = { .sa_handler = on_signal };
	bool opened;

	log_program("ktau-land");
	arguments_parse(&argp, "ktau-land", argc, argv, &land);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	opened = open_archive(&land);
	if (opened)
		run(&land);
	else
		log_error("cannot write to %s: %s", land.dir,
			  errno == EWOULDBLOCK ? "another ktau-land does" : strerror(errno));
	free(land.target.text);
	return opened ? 0 : 1;
}
