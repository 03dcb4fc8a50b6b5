// SPDX-License-Identifier: GPL-2.0-only
/* Writes a *.ktau file for tests of programs: sample FILE */
#include <stdio.h>

#include "files.h"

int main(int argc, char **argv)
{
	if (argc != 2 || snprintf(path, sizeof(path), "%s", argv[1]) >= (int)sizeof(path))
		return 2;
	write_sample(KTAU_WRITER_ZLIB, 2);
	return 0;
}
