// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the file /proc/ktau/control, which completes /proc/ktau. Reading shows the configuration
 * (show.c); a write applies control words (control.c).
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "read/proc.h"
#include "references/descriptor.h"
#include "control.h"
#include "show.h"

#define CONTROL_BYTES	(64 * 1024)

static int control_show(struct seq_file *m, void *v)
{
	return ktau_control_show(m, file_ns_capable(m->file, &init_user_ns,
						    CAP_SYS_ADMIN));
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_show, NULL);
}

static ssize_t control_write(struct file *file, const char __user *from,
			     size_t count, loff_t *ppos)
{
	char *words;
	int err;

	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	if (count > CONTROL_BYTES)
		return -E2BIG;
	words = memdup_user_nul(from, count);
	if (IS_ERR(words))
		return PTR_ERR(words);
	err = strlen(words) == count ? ktau_control_apply(words) : -EINVAL;
	kfree(words);
	return err ?: count;
}

static const struct proc_ops control_ops = {
	.proc_open	= control_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_write	= control_write,
	.proc_release	= single_release,
};

static int __init ktau_proc_init(void)
{
	struct proc_dir_entry *dir = ktau_proc_create();

	if (dir &&
	    (!IS_ENABLED(CONFIG_KTAU_REFERENCES) || ktau_references_create(dir)) &&
	    proc_create("control", 0644, dir, &control_ops))
		return 0;
	remove_proc_subtree("ktau", NULL);
	pr_warn("ktau: cannot create /proc/ktau\n");
	return -ENOMEM;
}
late_initcall(ktau_proc_init);
