// SPDX-License-Identifier: GPL-2.0-only
/* KTAU: KTAU_IOC_INFO, and the id of this boot. */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>

#include "base/access.h"
#include "base/core.h"
#include "base/event.h"
#include "base/memory.h"
#include "base/user.h"
#include "info.h"
#include "stream.h"

static u8 boot_id[16];
static bool boot_id_known;

static void parse_boot_id(struct file *file)
{
	char text[UUID_STRING_LEN + 1] = "";
	loff_t pos = 0;
	uuid_t id;

	if (kernel_read(file, text, UUID_STRING_LEN, &pos) == UUID_STRING_LEN &&
	    !uuid_parse(text, &id))
		export_uuid(boot_id, &id);
}

/* The kernel exports the id only as a file. */
static void find_boot_id(void)
{
	struct file_system_type *type = get_fs_type("proc");
	struct vfsmount *mount;
	struct file *file;

	if (!type)
		return;
	mount = kern_mount(type);
	put_filesystem(type);
	if (IS_ERR(mount))
		return;
	file = file_open_root_mnt(mount, "sys/kernel/random/boot_id", O_RDONLY, 0);
	if (!IS_ERR(file)) {
		parse_boot_id(file);
		filp_close(file, NULL);
	}
	kern_unmount(mount);
}

static void read_boot_id(struct work_struct *work)
{
	if (boot_id_known)
		return;
	find_boot_id();
	smp_store_release(&boot_id_known, true);	/* pairs with ktau_boot_id() */
}

static DECLARE_WORK(boot_id_work, read_boot_id);

/**
 * ktau_boot_id() - /proc/sys/kernel/random/boot_id
 * @id: receives the id; zeros if the kernel has no such file
 *
 * The id is generated when it is first read, so it is not read before user space runs. A
 * worker reads it, with the credentials and namespaces of the kernel. Readers hold no lock
 * meanwhile, because a reader may lose its CPU.
 *
 * Context: May sleep.
 */
void ktau_boot_id(u8 id[16])
{
	if (!smp_load_acquire(&boot_id_known)) {	/* pairs with read_boot_id() */
		schedule_work(&boot_id_work);
		flush_work(&boot_id_work);
	}
	memcpy(id, boot_id, sizeof(boot_id));
}

/* Fill in the ranges of ids, by source. Return: their number. */
static u32 put_ranges(struct ktau_id_range *range)
{
	unsigned int i;

	static_assert(ARRAY_SIZE(ktau_id_ranges) <= KTAU_INFO_RANGES);
	for (i = 0; i < ARRAY_SIZE(ktau_id_ranges); i++) {
		range[i] = ktau_id_ranges[i];
		range[i].used = ktau_ids_used(&range[i]);
	}
	return ARRAY_SIZE(ktau_id_ranges);
}

static void fill(struct ktau_info *info, const struct ktau_stream *stream)
{
	u32 access = ktau_stream_access(stream);

	*info = (struct ktau_info) {
		.size = sizeof(*info),
		.version = KTAU_ABI_VERSION,
		.features = KTAU_FEATURE_PARANOID |
			    KTAU_FEATURE_GROWING | KTAU_FEATURE_REGIONS |
			    (IS_ENABLED(CONFIG_CGROUPS) ? KTAU_FEATURE_CGROUP : 0) |
			    (IS_ENABLED(CONFIG_KTAU_REFERENCES) ? KTAU_FEATURE_REFERENCES : 0),
		.groups_built = ktau_groups_built,
		.groups = ktau_groups_enabled() | READ_ONCE(ktau_config.modes),
		.paranoid = READ_ONCE(ktau_paranoid),
		.access = access,
		.ring_slots = READ_ONCE(ktau_config.ring_slots),
	};
	info->nr_ranges = put_ranges(info->range);
	ktau_boot_id(info->boot_id);
	info->user_limit_bytes = ktau_user_limit(stream->user);
	info->user_bytes = atomic_long_read(&stream->user->bytes);
	if (access & KTAU_ACCESS_ALL) {
		info->memory_limit_bytes = READ_ONCE(ktau_config.memory_limit_bytes);
		info->memory_bytes = ktau_memory_bytes();
	}
}

/**
 * ktau_info_write() - answer KTAU_IOC_INFO
 * @arg: receives the answer
 *
 * Context: May sleep.
 * Return: 0, -EFAULT, -EINVAL if the structure is too short, or -E2BIG if it is larger than
 * a page.
 */
int ktau_info_write(const struct ktau_stream *stream, void __user *arg)
{
	struct ktau_info info;
	u32 size;

	if (get_user(size, (const u32 __user *)arg))
		return -EFAULT;
	if (size < KTAU_INFO_SIZE_VER0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	fill(&info, stream);
	if (copy_to_user(arg, &info, min_t(u32, size, sizeof(info))))
		return -EFAULT;
	if (size > sizeof(info) &&
	    clear_user(arg + sizeof(info), size - sizeof(info)))
		return -EFAULT;
	return 0;
}
