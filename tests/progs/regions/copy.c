// SPDX-License-Identifier: GPL-2.0-only
/* The example of docs/user/programs.md and ktau-regions(1). */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <ktau_user.h>

static int ends[2], out;

static void produce(void)
{
	KTAU_USER_SCOPE("produce");

	for (int i = 0; i < 240; i++)
		if (write(ends[1], "hello", 5) < 0)
			return;
}

static void consume(void)
{
	KTAU_USER_SCOPE("consume");
	char text[5];

	for (int i = 0; i < 240; i++)
		if (read(ends[0], text, 5) == 5)
			dprintf(out, "%.5s\n", text);
}

int main(void)
{
	KTAU_USER_SCOPE("main");

	if (pipe(ends) || (out = open("/tmp/text", O_WRONLY | O_CREAT, 0600)) < 0)
		return 1;
	produce();
	consume();
	return 0;
}
