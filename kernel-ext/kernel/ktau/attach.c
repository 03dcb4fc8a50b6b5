// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: KTAU_IOC_REGIONS gives a thread an area (area.c), and a descriptor to map it.
 *
 * A forked child has the mapping of its parent, but no area of its own. Once the descriptor
 * is gone nobody can write the number any more, and it becomes 0.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "access.h"
#include "area.h"
#include "attach.h"
#include "core.h"
#include "divert.h"
#include "memory.h"
#include "region.h"
#include "stream.h"
#include "switch.h"

static int area_release(struct inode *inode, struct file *file)
{
	struct ktau_area *area = file->private_data;

	WRITE_ONCE(*area->region, 0);
	ktau_area_put(area);
	return 0;
}

/* Only the thread itself may map its page. */
static int area_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct ktau_state *state = current->ktau.state;
	struct ktau_area *area = file->private_data;

	if (!state || state->area != area)
		return -EPERM;
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	return vm_insert_page(vma, vma->vm_start, area->page);
}

static const struct file_operations area_fops = {
	.owner		= THIS_MODULE,
	.llseek		= noop_llseek,
	.release	= area_release,
	.mmap		= area_mmap,
};

/* Give the current task @area, of which it takes a reference. */
static int attach(struct ktau_state *state, struct ktau_area *area, u32 nr)
{
	struct ktau_region_set *set;
	unsigned long flags;

	if (!state->regions) {
		set = ktau_regions_create(state->user, nr);
		if (!set)
			return -ENOMEM;
		atomic_long_add(struct_size(set, table, nr), &state->bytes);
		/* Pairs with ktau_regions_copy() on another CPU. */
		smp_store_release(&state->regions, set);
	}
	ktau_reserve_fill_up();	/* regions come quickly at first */
	mutex_lock(&ktau_mutex);
	ktau_divert_to_regions();
	mutex_unlock(&ktau_mutex);
	refcount_inc(&area->ref);
	raw_local_irq_save(flags);
	state->region = 0;
	WRITE_ONCE(state->area, area);
	raw_local_irq_restore(flags);
	ktau_task_refresh();
	return 0;
}

static int read_args(struct ktau_regions *args, const void __user *arg)
{
	u32 size;
	int err;

	if (get_user(size, (const u32 __user *)arg))
		return -EFAULT;
	if (size < KTAU_REGIONS_SIZE_VER0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(args, sizeof(*args), arg, size);
	if (err)
		return err;
	if (args->flags || args->reserved)
		return -EINVAL;
	if (!args->nr_regions)
		args->nr_regions = KTAU_REGIONS_DEFAULT;
	return args->nr_regions > KTAU_REGIONS_MAX ? -E2BIG : 0;
}

/* Create the area of the current task, with a file that the caller installs. */
static int create(struct ktau_regions *args, struct file **file)
{
	struct ktau_state *state = current->ktau.state;
	struct ktau_area *area;
	int err;

	if (!state)
		return -ENODATA;
	if (state->area)
		return -EEXIST;
	area = ktau_area_create(state->user);
	if (!area)
		return -ENOMEM;
	*file = anon_inode_getfile("[ktau_regions]", &area_fops, area,
				   O_RDWR | O_CLOEXEC);
	if (IS_ERR(*file)) {
		ktau_area_put(area);
		return PTR_ERR(*file);
	}
	err = attach(state, area, args->nr_regions);
	if (err) {
		fput(*file);
		return err;
	}
	args->nr_regions = state->regions->nr;
	args->serial = state->serial;
	return 0;
}

/**
 * ktau_attach_ioctl() - KTAU_IOC_REGIONS
 * @stream: the descriptor
 * @arg: user address of the argument
 *
 * A region shows what each activation in the kernel took, so this needs exact access, of
 * the opener of the descriptor and of the caller.
 *
 * Context: May sleep.
 * Return: A descriptor, or -errno.
 */
long ktau_attach_ioctl(const struct ktau_stream *stream, void __user *arg)
{
	struct ktau_regions args;
	struct file *file;
	int fd, err = read_args(&args, arg);

	if (err)
		return err;
	if (!(ktau_stream_access(stream) & ktau_access() & KTAU_ACCESS_EXACT))
		return -EACCES;
	fd = get_unused_fd_flags(O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fd;
	err = create(&args, &file);
	if (err)
		goto out_fd;
	args.size = sizeof(args);
	if (copy_to_user(arg, &args, sizeof(args))) {
		ktau_area_drop(current->ktau.state);
		fput(file);
		err = -EFAULT;
		goto out_fd;
	}
	fd_install(fd, file);
	return fd;

out_fd:
	put_unused_fd(fd);
	return err;
}
