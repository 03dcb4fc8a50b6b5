// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: what a stream is made of before its records: which tasks a reader may see, which it has
 * requested, and which have run since it saw them; its buffers, and KTAU_IOC_INFO.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>

#include "base/access.h"
#include "base/arch.h"
#include "base/args.h"
#include "base/cgroup.h"
#include "base/compat.h"
#include "base/core.h"
#include "base/event.h"
#include "base/memory.h"
#include "base/origin.h"
#include "base/rights.h"
#include "base/user.h"
#include "select.h"
#include "stream.h"

/**
 * ktau_buffer_need() - make sure that a buffer has some size
 * @buffer: the buffer; its contents are lost if it has to grow
 *
 * Context: May sleep.
 * Return: 0, or -ENOMEM with the buffer unchanged.
 */
int ktau_buffer_need(struct ktau_buffer *buffer, size_t bytes)
{
	void *p;

	if (bytes <= buffer->bytes)
		return 0;
	bytes = PAGE_ALIGN(bytes);
	p = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	kvfree(buffer->p);
	buffer->p = p;
	buffer->bytes = bytes;
	return 0;
}

/**
 * ktau_stream_access() - the access that a descriptor gives now
 *
 * Context: Any.
 * Return: KTAU_ACCESS_*: those of the opener, without those that the current level
 * forbids.
 */
u32 ktau_stream_access(const struct ktau_stream *stream)
{
	return stream->allowed &
	       (ktau_access_at(READ_ONCE(ktau_paranoid), stream->privileged) |
		KTAU_ACCESS_ADDRESSES);
}

/* The check of cap_capable(), in the namespace of a task that may have exited. */
static bool may_ptrace(const struct ktau_rights *rights)
{
	const struct cred *reader = current_cred();
	int level;

	if (rights->user_ns)
		return ns_capable_noaudit(rights->user_ns, CAP_SYS_PTRACE);
	level = ktau_origin_level(rights, reader->user_ns);
	if (level < 0)
		return false;
	/* The creator of a namespace has all capabilities in it. */
	if (level && uid_eq(rights->level[level - 1].owner, reader->euid))
		return true;
	return ns_capable_noaudit(reader->user_ns, CAP_SYS_PTRACE);
}

static bool in_same_user_ns(const struct ktau_rights *rights,
			    const struct user_namespace *ns)
{
	if (rights->user_ns)
		return rights->user_ns == ns;
	return !ktau_origin_level(rights, ns);
}

static bool ids_match(const struct ktau_rights *rights)
{
	const struct cred *reader = current_cred();

	return uid_eq(reader->fsuid, rights->uid) &&
	       uid_eq(reader->fsuid, rights->euid) &&
	       uid_eq(reader->fsuid, rights->suid) &&
	       gid_eq(reader->fsgid, rights->gid) &&
	       gid_eq(reader->fsgid, rights->egid) &&
	       gid_eq(reader->fsgid, rights->sgid) &&
	       in_same_user_ns(rights, reader->user_ns) &&
	       cap_issubset(rights->permitted, reader->cap_effective);
}

/*
 * Whether the current credentials may see a task: the rules of ptrace_may_access(), except its
 * check of the address space. LSM rules only cover live tasks. So where an LSM labels subjects, a
 * reader without capabilities sees only tasks with its own label.
 */
static bool may_read(const struct ktau_rights *rights)
{
	if (may_ptrace(rights))
		return true;
	return ids_match(rights) && ktau_secid(current_cred()) == rights->secid;
}

/*
 * Whether a reader without KTAU_ACCESS_ALL may see a live task, which the caller holds.
 *
 * ptrace_may_access() always lets a process access itself, without looking at
 * credentials. That is wrong here, because the current credentials are those of the
 * file's opener: a set-uid program may have been given the file as its standard input,
 * and its opener must not see the program's profile.
 */
static bool may_read_task(struct task_struct *task)
{
	struct ktau_rights rights;
	const struct cred *cred;
	bool may;

	if (!same_thread_group(task, current))
		return ptrace_may_access(task, PTRACE_MODE_READ_FSCREDS |
					 PTRACE_MODE_NOAUDIT);
	rcu_read_lock();
	cred = __task_cred(task);
	ktau_rights_of(&rights, cred);
	/* A task may see itself whatever capabilities are effective. */
	may = cred == current_cred() || may_read(&rights);
	rcu_read_unlock();
	return may;
}

/**
 * ktau_may_read_exited() - whether a reader without KTAU_ACCESS_ALL may see an exited
 * task
 *
 * Applies the same rules as to a live task. Landlock restricts a confined reader to tasks
 * of its own domain, but the domain of an exited task is unknown, so a confined reader
 * sees none.
 *
 * Context: Task.
 * Return: Whether they may.
 */
bool ktau_may_read_exited(const struct ktau_state *state)
{
	if (ktau_is_landlocked(current_cred()) ||
	    ktau_is_landlocked(current_real_cred()))
		return false;
	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE))
		return true;
	return state->dumpable && may_read(&state->rights);
}

/* Whether @task can be visible at all, checked before its lock is taken. */
static bool may_match(struct task_struct *task)
{
	struct ktau_rights rights;
	bool may;

	if (same_thread_group(task, current))
		return true;
	rcu_read_lock();
	ktau_rights_of(&rights, __task_cred(task));
	may = ids_match(&rights) ||
	      ns_capable_noaudit(rights.user_ns, CAP_SYS_PTRACE);
	rcu_read_unlock();
	return may;
}

/**
 * ktau_task_check() - check that a reader may see a live task
 * @task: the task, held by the caller
 * @access: KTAU_ACCESS_* of the reader
 *
 * An exec can change the credentials that access depends on, so it is blocked during the check.
 * The reader must not lose its CPU meanwhile. A reader without access never takes the lock, and
 * no reader waits for it.
 *
 * Context: Task.
 * Return: 0, -EACCES if the reader may not see the task, -EBUSY if the task is in an
 * exec.
 */
int ktau_task_check(struct task_struct *task, u32 access)
{
	int err = -EBUSY;

	if (access & KTAU_ACCESS_ALL)
		return 0;
	if (!may_match(task))
		return -EACCES;
	preempt_disable();
	if (down_read_trylock(&task->signal->exec_update_lock)) {
		err = may_read_task(task) ? 0 : -EACCES;
		up_read(&task->signal->exec_update_lock);
	}
	preempt_enable();
	return err;
}

/**
 * ktau_task_recheck() - check that a reader may see what it has copied of a live task
 * @task: the task, held by the caller
 * @state: its state when the copy began
 * @access: KTAU_ACCESS_* of the reader
 *
 * An exec during the copy may have given the task privileges. An exec that takes them away again
 * also gives the task a new state.
 *
 * Context: Task.
 * Return: As ktau_task_check(); -EBUSY if the task has a new state.
 */
int ktau_task_recheck(struct task_struct *task, const struct ktau_state *state, u32 access)
{
	const struct ktau_state *now;
	int err;

	if (access & KTAU_ACCESS_ALL)
		return 0;
	smp_mb();	/* the copy is complete before the check */
	err = ktau_task_check(task, access);
	if (err)
		return err;
	/* A task that exits has none, and keeps its serial. Pairs with __ktau_task_exec_begin(). */
	now = smp_load_acquire(&task->ktau.state);
	if (now == state || (!now && ktau_read(&task->ktau.serial) == state->serial))
		return 0;
	return -EBUSY;
}

/* The field of a filter must be 0 unless its flag is set. */
static bool has_stray_filter(const struct ktau_select *select)
{
	return (select->cgroup && !(select->flags & KTAU_SELECT_CGROUP)) ||
	       (select->uid && !(select->flags & KTAU_SELECT_UID)) ||
	       (select->tag && !(select->flags & KTAU_SELECT_TAG));
}

/**
 * ktau_select_check() - check a request
 * @content: KTAU_REC_PROFILE or KTAU_REC_TRACE
 *
 * Context: Any; the current credentials are those of the opener.
 * Return: 0, -EINVAL or -E2BIG.
 */
int ktau_select_check(const struct ktau_select *select, u32 content)
{
	u32 which = select->target & (KTAU_TARGETS_LISTED | KTAU_TARGETS_ALL);
	bool list = select->target & KTAU_TARGET_LIST;

	if (!select->target || (select->target & ~KTAU_TARGET_VALID) ||
	    (select->flags & ~KTAU_SELECT_VALID) || (which & (which - 1)))
		return -EINVAL;
	if ((select->flags & KTAU_SELECT_THREADS) &&
	    !(select->target & KTAU_TARGETS_LISTED))
		return -EINVAL;
	if ((select->flags & KTAU_SELECT_CONSUME) && content != KTAU_REC_TRACE)
		return -EINVAL;
	if (has_stray_filter(select))
		return -EINVAL;
	if ((select->flags & KTAU_SELECT_UID) &&
	    !uid_valid(make_kuid(current_user_ns(), select->uid)))
		return -EINVAL;
	if (select->nr_pids > KTAU_MAX_PIDS)
		return -E2BIG;
	if (list ? !select->nr_pids : select->nr_pids || select->pids)
		return -EINVAL;
	return 0;
}

static int compare(const void *a, const void *b)
{
	s32 x = *(const s32 *)a, y = *(const s32 *)b;

	return x < y ? -1 : x > y;
}

/* Sort @tids into @listed, without duplicates. Return: the number that is left. */
static u32 list_tids(struct ktau_listed *listed, s32 *tids, u32 nr)
{
	u32 from, to = 0;

	sort(tids, nr, sizeof(*tids), compare, NULL);
	for (from = 0; from < nr; from++)
		if (!to || listed[to - 1].tid != tids[from])
			listed[to++].tid = tids[from];
	return to;
}

/**
 * ktau_select_tids() - copy the requested list of tids
 * @select: the request; @nr_pids is reduced if there are duplicates
 * @listed: receives the list, NULL if there is none; for ktau_select_free()
 *
 * Context: May sleep.
 * Return: 0, -ENOMEM or -EFAULT.
 */
int ktau_select_tids(struct ktau_select *select, struct ktau_listed **listed)
{
	const u32 nr = select->nr_pids;
	s32 *tids;
	int err = -ENOMEM;

	*listed = NULL;
	if (!nr)
		return 0;
	tids = kvmalloc_array(nr, sizeof(*tids), GFP_KERNEL_ACCOUNT);
	*listed = kvcalloc(nr, sizeof(**listed), GFP_KERNEL_ACCOUNT);
	if (tids && *listed)
		err = copy_from_user(tids, u64_to_user_ptr(select->pids), nr * sizeof(*tids)) ?
		      -EFAULT : 0;
	if (err) {
		kvfree(*listed);
		*listed = NULL;
	} else {
		select->nr_pids = list_tids(*listed, tids, nr);
	}
	kvfree(tids);
	return err;
}

/* The task that @tid meant in the previous request, if it was in that. */
static struct pid *find_bound(const struct ktau_stream *stream, s32 tid)
{
	u32 low = 0, high = stream->listed ? stream->select.nr_pids : 0, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (stream->listed[i].tid == tid)
			return stream->listed[i].pid;
		if (stream->listed[i].tid < tid)
			low = i + 1;
		else
			high = i;
	}
	return NULL;
}

/**
 * ktau_select_bind() - find the tasks that a new request lists
 * @stream: the stream, locked, with its previous request
 * @listed: the list of the new request
 *
 * A tid may be reused at any time. So that a reader that repeats its request does not go on with
 * another task, a tid means the same task as in the previous request.
 *
 * Context: Task.
 */
void ktau_select_bind(const struct ktau_stream *stream, struct ktau_listed *listed, u32 nr)
{
	struct pid *pid;
	u32 i;

	for (i = 0; i < nr; i++) {
		pid = find_bound(stream, listed[i].tid);
		rcu_read_lock();
		listed[i].pid = get_pid(pid ?: find_pid_ns(listed[i].tid, stream->ns));
		rcu_read_unlock();
		cond_resched();
	}
}

/**
 * ktau_select_free() - free a list of tasks
 * @listed: the list, or NULL
 *
 * Context: May sleep.
 */
void ktau_select_free(struct ktau_listed *listed, u32 nr)
{
	u32 i;

	for (i = 0; listed && i < nr; i++)
		put_pid(listed[i].pid);
	kvfree(listed);
}

static bool matches(const struct ktau_select *select, kuid_t uid, u32 tag)
{
	if ((select->flags & KTAU_SELECT_UID) &&
	    !uid_eq(uid, make_kuid(current_user_ns(), select->uid)))
		return false;
	return !(select->flags & KTAU_SELECT_TAG) || tag == select->tag;
}

/**
 * ktau_select_task() - whether a live task passes the filters
 * @task: the task, held by the caller
 *
 * Context: Task; the current credentials are those of the opener.
 * Return: Whether it does.
 */
bool ktau_select_task(const struct ktau_select *select, struct task_struct *task)
{
	if (!matches(select, task_uid(task), READ_ONCE(task->ktau.tag)))
		return false;
	return !(select->flags & KTAU_SELECT_CGROUP) ||
	       ktau_cgroup_contains(select->cgroup, task);
}

/**
 * ktau_select_exited() - whether an exited task passes the filters
 *
 * The ancestors of a removed control group are unknown.
 *
 * Context: May sleep; the current credentials are those of the opener.
 * Return: Whether it does.
 */
bool ktau_select_exited(const struct ktau_select *select,
			const struct ktau_state *state)
{
	if (!matches(select, state->rights.uid, state->owner.tag))
		return false;
	return !(select->flags & KTAU_SELECT_CGROUP) ||
	       ktau_cgroup_below(state->owner.cgroup, select->cgroup);
}

#define AWAKE	U64_MAX

/**
 * ktau_look_number() - allocate the number of a stream
 *
 * Context: Any.
 * Return: The number, above 0.
 */
u64 ktau_look_number(void)
{
	static atomic64_t last;

	return atomic64_inc_return(&last);
}

/* How often @task has been switched out, or AWAKE if its profile may be changing. */
static u64 switches(struct task_struct *task)
{
	if (task_is_running(task) || ktau_on_cpu(task))
		return AWAKE;
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/**
 * ktau_look() - check whether a live task's profile may have changed
 * @task: the task, held by the caller
 * @number: number of the reader's stream
 * @since: number of its previous stream, 0 to see all
 *
 * Must be called before the profile is copied: a change in between is in the copy, and is
 * shown once more.
 *
 * Context: Task.
 * Return: Whether the profile may have changed since stream @since.
 */
bool ktau_look(struct ktau_state *state, struct task_struct *task, u64 number,
	       u64 since)
{
	struct ktau_look *look = &state->look;
	bool changed;
	u64 now;

	spin_lock(&state->mask_lock);
	now = switches(task);
	if (now == AWAKE || now != look->switches) {
		look->switches = now;
		look->changed = max(number, look->last + 1);
	}
	look->last = max(look->last, number);
	changed = look->changed > since;
	spin_unlock(&state->mask_lock);
	return changed;
}

/**
 * ktau_look_again() - take back a ktau_look() whose profile was not shown
 *
 * Context: Task.
 */
void ktau_look_again(struct ktau_state *state)
{
	spin_lock(&state->mask_lock);
	state->look.switches = AWAKE;
	spin_unlock(&state->mask_lock);
}

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
	int err = ktau_args_size(&size, KTAU_INFO_SIZE_VER0, arg);

	if (err)
		return err;
	fill(&info, stream);
	if (copy_to_user(arg, &info, min_t(u32, size, sizeof(info))))
		return -EFAULT;
	if (size > sizeof(info) &&
	    clear_user(arg + sizeof(info), size - sizeof(info)))
		return -EFAULT;
	return 0;
}
