// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack_ids: a user calls every number of the 32-bit table. Events that run for the first
 * time afterwards must still get ids of their own. Run as root, on x86-64, before the groups
 * have ever been enabled.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"
#include "tap.h"

#define NR_NUMBERS 452
#define NR_SENDS 50

static struct seen seen;

/* Nearly all calls fail with such arguments. Some sleep, and a few do not return. */
static void call(unsigned int nr)
{
	unsigned long result = nr;

	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(-1L), "c"(-1L), "d"(-1L), "S"(-1L), "D"(-1L)
			 : "memory", "r8", "r9", "r10", "r11");
}

static void attack(void)
{
	const struct timespec patience = { .tv_nsec = 100000000 }, none = { 0 };
	sigset_t set;
	unsigned int nr;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (nr = 0; nr < NR_NUMBERS; nr++) {
		pid_t pid = fork();

		if (!pid) {
			call(nr);
			_exit(0);
		}
		sigtimedwait(&set, NULL, &patience);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		sigtimedwait(&set, NULL, &none); /* the signal of a kill */
	}
}

/* Both ends of a TCP connection over the loopback. */
static bool connection(int end[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	end[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(end[0], (struct sockaddr *)&address, len))
		return false;
	end[1] = accept(listener, NULL, NULL);
	close(listener);
	return end[1] >= 0;
}

static void use_tcp(void)
{
	char bytes[100] = "";
	int end[2] = { -1, -1 }, i;

	if (!tap_ok(connection(end), "attack ids: a connection is made"))
		return;
	for (i = 0; i < NR_SENDS; i++)
		if (send(end[0], bytes, sizeof(bytes), 0) != sizeof(bytes) ||
		    recv(end[1], bytes, sizeof(bytes), MSG_WAITALL) != sizeof(bytes))
			break;
	close(end[0]);
	close(end[1]);
}

int main(void)
{
	struct helper attacker;
	uint64_t sends;

	control("groups=syscall");
	attacker = helper_start(ATTACKER, attack);
	tap_ok(helper_step(&attacker), "attack ids: %d numbers called", NR_NUMBERS);
	helper_end(&attacker);

	control("groups=all");
	use_tcp();
	usleep(50000);
	seen_get(PROFILE, OF_SELF, 0, &seen);
	sends = seen_total(&seen, "tcp_sendmsg");
	tap_ok(sends == NR_SENDS, "attack ids: %llu of %d sends are counted",
	       (unsigned long long)sends, NR_SENDS);
	seen_get(PROFILE, OF_CPUS, 0, &seen);
	tap_ok(seen_has(&seen, SEEN_LINE), "attack ids: interrupt lines have events of their own");
	tap_ok(seen_has(&seen, SEEN_TIMER),
	       "attack ids: timers have events of their own");
	seen_get(PROFILE, OF_ALL, 0, &seen);
	tap_ok(seen_has(&seen, SEEN_WORK), "attack ids: work items have events of their own");
	control("groups=none");
	return tap_done();
}
