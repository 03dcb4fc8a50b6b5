// SPDX-License-Identifier: GPL-2.0-only
/* Sessions of the kernel that trace references to pages. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <ktau.h>

#include "lib/cli.h"
#include "session.h"

/* Sizes of the ring unless one is given. */
enum { RING_SLOTS = 1 << 20,
       RING_SLOTS_LEAST = 1 << 16 };

int session_open(void)
{
	int fd = open(SESSION_FILE, O_RDONLY | O_CLOEXEC), err = errno;

	if (fd < 0 && err == ENOENT)
		complain("this kernel was built without CONFIG_KTAU_REFERENCES");
	else if (fd < 0)
		no_ktau(SESSION_FILE, -err);
	return fd;
}

int session_request(int fd, struct ktau_references *r, uint32_t op)
{
	int ret;

	r->size = sizeof(*r);
	r->op = op;
	ret = ioctl(fd, KTAU_IOC_REFERENCES, r);
	return ret < 0 ? -errno : ret;
}

static void explain(int err)
{
	if (err == -EPERM)
		complain("these processes may not be traced by this user");
	else if (err == -EBUSY)
		complain("a process is being traced already, or runs a virtual machine");
	else if (err == -ESRCH)
		complain("a process does not exist");
	else if (err == -ENOMEM)
		complain("no memory for the trace; try a smaller --ring or --window");
	else
		complain("cannot trace references: %s", strerror(-err));
}

/* With a smaller ring than the default if memory is limited. */
static int start(int fd, struct ktau_references *r)
{
	bool given = r->ring_slots;
	uint32_t slots = RING_SLOTS;
	int ret;

	do {
		if (!given)
			r->ring_slots = slots;
		ret = session_request(fd, r, KTAU_REFERENCES_START);
		slots /= 2;
	} while (ret == -ENOMEM && !given && slots >= RING_SLOTS_LEAST);
	return ret;
}

int session_start(int fd, struct ktau_references *r)
{
	int ret = start(fd, r);

	if (ret < 0) {
		explain(ret);
		return -1;
	}
	if (ret)
		complain("%d processes are left out: they are being traced already, or run "
			 "virtual machines", ret);
	return 0;
}

uint64_t session_cgroup(const char *path)
{
	struct statfs fs;
	struct stat st;

	if (stat(path, &st) || statfs(path, &fs)) {
		complain("cannot read %s: %s", path, strerror(errno));
		return 0;
	}
	if (!S_ISDIR(st.st_mode) || fs.f_type != CGROUP2_SUPER_MAGIC) {
		complain("%s is not the folder of a control group (version 2)", path);
		return 0;
	}
	/* The id of a control group is the inode number of its folder. */
	return st.st_ino;
}
