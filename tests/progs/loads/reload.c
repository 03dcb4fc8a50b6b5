// SPDX-License-Identifier: GPL-2.0-only
/*
 * reload TIMES FILE ARGUMENTS [MS]: load and unload a module TIMES, with these arguments, and leave
 * it loaded for MS ms. A module that is in use is unloaded as soon as it no longer is. Prints the
 * number of times; the first error ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "reload: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The name of the module in FILE, without its folder and ".ko". */
static const char *module_name(char *file)
{
	char *name = basename(file), *end = strrchr(name, '.');

	if (end)
		*end = '\0';
	return name;
}

static void unload(const char *name)
{
	while (syscall(SYS_delete_module, name, O_NONBLOCK)) {
		if (errno != EWOULDBLOCK)
			die("delete_module");
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	unsigned long nr, times, pause = 0;
	const char *name;
	int fd;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: reload TIMES FILE ARGUMENTS [MS]\n");
		return 2;
	}
	if (argc == 5)
		pause = strtoul(argv[4], NULL, 10);
	times = strtoul(argv[1], NULL, 10);
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(argv[2]);
	name = module_name(argv[2]);
	for (nr = 0; nr < times; nr++) {
		if (syscall(SYS_finit_module, fd, argv[3], 0))
			die("finit_module");
		usleep(pause * 1000);
		unload(name);
	}
	printf("%lu\n", nr);
	return 0;
}
