// SPDX-License-Identifier: LGPL-2.1-or-later
#include <fcntl.h>
#include <ktau.h>

int ktau_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	return fd;
}
