// SPDX-License-Identifier: GPL-2.0-only
/* with_pid PID COMMAND [ARGUMENT...]: run a command as a process with this number. */
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t wanted = argc > 2 ? atoi(argv[1]) : 0;
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&wanted,
		.set_tid_size = 1,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	int status;

	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0) {
		perror("clone3");
		return 1;
	}
	waitpid((pid_t)pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
