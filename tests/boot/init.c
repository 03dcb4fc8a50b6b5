// SPDX-License-Identifier: GPL-2.0-only
/*
 * First process of the boot tests' guest, the only file of its initramfs.
 *
 * The root is the host's root folder, read-only over 9p, under a tmpfs overlay: the
 * guest runs the host's programs, and its writes never reach the host. Only /share is
 * shared with the host in both directions. It contains:
 *
 *	command	the script that /bin/sh runs (from the host)
 *	fast	paths of files that are opened often, one per line (from the host)
 *	output	the command's output
 *	status	the token from the kernel command line, then the exit status:
 *		written last, so its presence shows the host that the run is complete
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "init: %s: %s\n", what, strerror(errno));
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void mount_on(const char *source, const char *target, const char *type,
		     unsigned long flags, const char *options)
{
	if (mkdir(target, 0755) && errno != EEXIST)
		die(target);
	if (mount(source, target, type, flags, options))
		die(target);
}

/*
 * cache=mmap, because with cache=loose the guest confuses the pages of files. The share is
 * not cached at all, because the host reads it while the guest writes.
 */
static void mount_root(void)
{
	mount_on("root", "/lower", "9p", MS_RDONLY,
		 "trans=virtio,version=9p2000.L,cache=mmap,msize=512000");
	mount_on("tmpfs", "/rw", "tmpfs", 0, "mode=0755,size=75%");
	if (mkdir("/rw/upper", 0755) || mkdir("/rw/work", 0755))
		die("/rw");
	/* On another architecture a layer of usable programs hides the host's. */
	mount_on("overlay", "/new", "overlay", 0,
		 access("/layer", F_OK) ?
		 "lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work" :
		 "lowerdir=/layer:/lower,upperdir=/rw/upper,workdir=/rw/work");
	mount_on("share", "/new/share", "9p", 0,
		 "trans=virtio,version=9p2000.L,cache=none,msize=512000");
	if (chdir("/new") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
		die("new root");
}

static void mount_rest(void)
{
	mount_on("proc", "/proc", "proc", 0, NULL);
	mount_on("sysfs", "/sys", "sysfs", 0, NULL);
	mount_on("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount_on("devpts", "/dev/pts", "devpts", 0, "mode=0620,ptmxmode=0666");
	mount_on("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
	mount_on("tmpfs", "/run", "tmpfs", 0, "mode=0755");
	/* Not all tested kernels have these */
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (symlink("/proc/self/fd", "/dev/fd") && errno != EEXIST)
		die("/dev/fd");
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		return;		/* a kernel without network */
	ifr.ifr_flags = IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		die("lo");
	close(fd);
}

/*
 * Starting a program over 9p takes ten times as long as from a tmpfs. Opening a file
 * of the overlay for writing, or setting the owner of a link, copies it into the tmpfs.
 */
static void copy_up(const char *list)
{
	char path[4096];
	FILE *f = fopen(list, "r");
	int fd;

	if (!f)
		return;
	while (fgets(path, sizeof(path), f)) {
		path[strcspn(path, "\n")] = '\0';
		fd = open(path, O_WRONLY | O_NOFOLLOW);
		if (fd >= 0)
			close(fd);
		else if (errno != ELOOP || lchown(path, 0, 0))
			fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
	}
	fclose(f);
}

static void exec_command(void)
{
	static char *const argv[] = { "sh", "/share/command", NULL };
	static char *const envp[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "TERM=dumb", "LC_ALL=C.UTF-8", NULL
	};
	int in = open("/dev/null", O_RDONLY);
	int out = open("/share/output", O_WRONLY | O_CREAT | O_APPEND, 0644);

	if (in < 0 || out < 0)
		die("/share/output");
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	if (out > 2)
		close(out);
	if (in > 2)
		close(in);
	setsid();
	execve("/bin/sh", argv, envp);
	_exit(127);
}

/* Reap orphans until the command itself ends. */
static int wait_for(pid_t command)
{
	int status;
	pid_t pid;

	do {
		pid = wait(&status);
	} while (pid != command && (pid > 0 || errno == EINTR));
	if (pid != command)
		return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void report(const char *token, int status)
{
	FILE *f = fopen("/share/status.new", "w");

	if (!f || fprintf(f, "%s %d\n", token, status) < 0 || fflush(f) ||
	    fsync(fileno(f)) || fclose(f))
		die("/share/status.new");
	if (rename("/share/status.new", "/share/status"))
		die("/share/status");
}

int main(void)
{
	/* The kernel passes words that it does not know to init */
	const char *token = getenv("boot_token");
	pid_t pid;

	if (!token)
		die("no boot_token on the kernel command line");
	mount_root();
	mount_rest();
	loopback_up();
	copy_up("/share/fast");
	sethostname("guest", 5);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		exec_command();
	report(token, wait_for(pid));
	sync();
	reboot(RB_AUTOBOOT);
	return 1;
}
