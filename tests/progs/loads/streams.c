// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams [-p] [-1] FILE: copy /proc/ktau/trace to FILE, one stream after the other, with all
 * tasks and each exited task once. After SIGTERM it copies one more stream and ends. With -p
 * it does not consume; with -1 it reads one stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ktau.h>

static char buffer[1 << 20];
static volatile sig_atomic_t ending;

static void end(int sig)
{
	(void)sig;
	ending = 1;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "streams: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void begin(int from, unsigned int flags, unsigned long long exited_since)
{
	struct ktau_select select = {
		.size = sizeof(select),
		.target = KTAU_TARGET_ALL | KTAU_TARGET_EXITED,
		.flags = flags,
		.exited_since = exited_since,
	};

	if (ioctl(from, KTAU_IOC_SELECT, &select))
		die("KTAU_IOC_SELECT");
}

/* Keep the last bytes read: those of the END record, once the stream has ended. */
static void keep(struct ktau_rec_end *last, size_t n)
{
	char *bytes = (char *)last;

	if (n > sizeof(*last)) {
		memcpy(bytes, buffer + n - sizeof(*last), sizeof(*last));
	} else {
		memmove(bytes, bytes + n, sizeof(*last) - n);
		memcpy(bytes + sizeof(*last) - n, buffer, n);
	}
}

/* Copy one stream and return the END record's exited_next. */
static unsigned long long copy(int from, FILE *to)
{
	struct ktau_rec_end last = { .rec.type = 0 };
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("/proc/ktau/trace");
		if (fwrite(buffer, 1, (size_t)n, to) != (size_t)n)
			die("write");
		keep(&last, (size_t)n);
	}
	if (last.rec.type != KTAU_REC_END) {
		fputs("streams: a stream without END\n", stderr);
		exit(1);
	}
	return last.exited_next;
}

static _Noreturn void usage(void)
{
	fputs("usage: streams [-p] [-1] FILE\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned int flags = KTAU_SELECT_CONSUME;
	unsigned long long since = 0;
	FILE *to;
	int from, option;

	signal(SIGTERM, end);
	while ((option = getopt(argc, argv, "p1")) != -1) {
		if (option == 'p')
			flags = 0;
		else if (option == '1')
			ending = 1;
		else
			usage();
	}
	if (optind != argc - 1)
		usage();
	from = open("/proc/ktau/trace", O_RDONLY);
	if (from < 0)
		die("/proc/ktau/trace");
	to = fopen(argv[optind], "w");
	if (!to)
		die(argv[optind]);
	for (int last = 0; !last;) {
		last = ending;
		begin(from, flags, since);
		since = copy(from, to);
	}
	if (fclose(to))
		die(argv[optind]);
	return 0;
}
