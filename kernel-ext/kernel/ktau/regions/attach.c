// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: KTAU_IOC_REGIONS gives a thread an area (area.c), and a descriptor to map it.
 *
 * Offset 0 of the descriptor is the page with the number. The figures, which the thread may
 * only read, begin at the next page. A forked child inherits its parent's mapping of the
 * first page, but has no area of its own.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "base/access.h"
#include "base/args.h"
#include "base/compat.h"
#include "base/core.h"
#include "base/memory.h"
#include "measure/area.h"
#include "measure/clock.h"
#include "tasks/switch.h"
#include "attach.h"
#include "region.h"
#include "region_frame.h"

/* The offset of the figures, in pages. */
#define FIGURES	1

static int area_release(struct inode *inode, struct file *file)
{
	ktau_area_close(file->private_data);
	return 0;
}

/* Map a page of the figures, unless the area does not have it yet. */
static vm_fault_t area_fault(struct vm_fault *vmf)
{
	struct ktau_area *area = vmf->vma->vm_file->private_data;

	vmf->page = ktau_area_page(area, vmf->pgoff - FIGURES);
	return vmf->page ? 0 : VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct figures_ops = {
	.fault		= area_fault,
};

/*
 * The figures can never be written, and a forked child does not inherit them. The caller
 * has checked that the area is that of the current task.
 */
static int map_figures(struct vm_area_struct *vma)
{
	const unsigned long bytes = vma->vm_end - vma->vm_start;

	if (bytes > PAGE_SIZE + KTAU_AREA_CELLS_BYTES)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;	/* like mmap() itself since Linux 7.3 */
	ktau_vma_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		       VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &figures_ops;
	return 0;
}

/* Only the thread itself may map its pages. */
static int area_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct ktau_state *state = current->ktau.state;
	struct ktau_area *area = file->private_data;

	if (!state || state->area != area)
		return -EPERM;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_pgoff == FIGURES)
		return map_figures(vma);
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	return vm_insert_page(vma, vma->vm_start, virt_to_page(area->region));
}

static const struct file_operations area_fops = {
	.owner		= THIS_MODULE,
	.llseek		= noop_llseek,
	.release	= area_release,
	.mmap		= area_mmap,
};

/* Regions can be used. */
static bool diverted;

/* Where all frames are diverted to once a program has regions. */
const struct ktau_region_targets ktau_region_targets = {
	.enter		= ktau_region_enter,
	.fault		= ktau_region_fault,
	.root		= ktau_region_root,
	.leave		= ktau_region_leave,
	.exit		= ktau_region_exit,
	.sched_switch	= ktau_region_switch,
	.account	= ktau_region_account,
	.value		= ktau_region_count,
	.user_exit	= ktau_region_user_exit,
	.user_enter	= ktau_region_user_enter,
};

static void divert(struct work_struct *work)
{
	mutex_lock(&ktau_mutex);
	ktau_divert_to_regions(&ktau_region_targets);
	mutex_unlock(&ktau_mutex);
	smp_store_release(&diverted, true);	/* pairs with attach() */
}

static DECLARE_WORK(divert_work, divert);

/*
 * Give @area to the current task; the state takes a reference. Any task may be the first, and
 * lose its CPU, so a worker takes the locks that changing code needs.
 */
static void attach(struct ktau_state *state, struct ktau_area *area)
{
	ktau_reserve_fill_up();	/* new regions soon need many chunks */
	if (!smp_load_acquire(&diverted)) {	/* pairs with divert() */
		schedule_work(&divert_work);
		flush_work(&divert_work);
	}
	ktau_area_attach(state, area);
	ktau_task_refresh();
}

static int read_args(struct ktau_regions *args, const void __user *arg)
{
	int err = ktau_args_read(args, sizeof(*args), KTAU_REGIONS_SIZE_VER0, arg);

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

	if (!state)
		return -ENODATA;
	if (state->area)
		return -EEXIST;
	area = ktau_area_create(state, args->nr_regions, ktau_clock_hz());
	if (!area)
		return -ENOMEM;
	*file = anon_inode_getfile("[ktau_regions]", &area_fops, area,
				   O_RDWR | O_CLOEXEC);
	if (IS_ERR(*file)) {
		ktau_area_close(area);
		return PTR_ERR(*file);
	}
	attach(state, area);
	args->serial = state->serial;
	return 0;
}

/**
 * ktau_attach_ioctl() - KTAU_IOC_REGIONS
 * @access: KTAU_ACCESS_* of the opener of the descriptor
 * @arg: user address of the argument
 *
 * Regions show how long each activation in the kernel took, so both the opener of the
 * descriptor and the caller need exact access.
 *
 * Context: May sleep.
 * Return: A descriptor, or -errno.
 */
long ktau_attach_ioctl(u32 access, void __user *arg)
{
	struct ktau_regions args;
	struct file *file;
	int fd, err = read_args(&args, arg);

	if (err)
		return err;
	if (!(access & ktau_access() & KTAU_ACCESS_EXACT))
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
		ktau_task_refresh();
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
