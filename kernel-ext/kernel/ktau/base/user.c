// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the accounts of users.
 *
 * All memory that KTAU keeps for a task is charged to the account of the task's user when
 * the state is created, and uncharged from that same account later. A user is limited to
 * a share of the memory limit, so no user can deprive the others. All users together
 * leave a share to the system, which is not limited itself.
 *
 * A task belongs to the system if it has CAP_SYS_RESOURCE in the initial user namespace, as
 * kernel threads and the tasks of root usually do. Without that, uid 0 is a user like any other:
 * it may be the root of a container.
 *
 * The account is that of the user responsible for the credentials. A user namespace may
 * contain thousands of uids; all are charged to the user that created it. A namespace
 * created by root is a container with users of its own; it is charged to the uid that its
 * root is mapped to.
 *
 * An account exists as long as a state or an open descriptor refers to it. Its loss
 * counters disappear with it, so a reader that compares two readings must keep a
 * descriptor open.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "core.h"
#include "user.h"

/*
 * The fraction of a limit that one user may have. With a quarter, two users that take all
 * they can still leave half, and all users together leave a quarter to the system.
 */
#define USER_SHARE	4

/* Limit on the open streams of a user without CAP_PERFMON. */
#define USER_STREAMS	64

static DEFINE_SPINLOCK(lock);		/* the hash, and dropping the last reference */
static DEFINE_HASHTABLE(users, 6);
static atomic_long_t limited_bytes;	/* of all users */

static bool is_limited(const struct ktau_user *user)
{
	return user != &ktau_system;
}

/**
 * ktau_user_uid() - the uid of the account that credentials are charged to
 *
 * Context: Any.
 * Return: The uid; INVALID_UID for the system.
 */
kuid_t ktau_user_uid(const struct cred *cred)
{
	struct user_namespace *ns = cred->user_ns;
	kuid_t root;

	if (ns == &init_user_ns)
		return cap_raised(cred->cap_permitted, CAP_SYS_RESOURCE) ?
		       INVALID_UID : cred->uid;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
		return ns->owner;
	root = make_kuid(ns, 0);
	return uid_valid(root) ? root : cred->uid;
}

static struct ktau_user *find(kuid_t uid)
{
	struct ktau_user *user;

	hash_for_each_possible(users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/* Take a reference to the account of @uid if it exists. */
static struct ktau_user *find_get(kuid_t uid)
{
	struct ktau_user *user;
	unsigned long flags;

	if (!uid_valid(uid))
		return ktau_user_get(&ktau_system);
	spin_lock_irqsave(&lock, flags);
	user = find(uid);
	if (user)
		ktau_user_get(user);
	spin_unlock_irqrestore(&lock, flags);
	return user;
}

static struct ktau_user *create(kuid_t uid)
{
	struct ktau_user *user, *other;
	unsigned long flags;

	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return NULL;
	user->uid = uid;
	refcount_set(&user->ref, 1);
	INIT_LIST_HEAD(&user->exited);
	INIT_LIST_HEAD(&user->foldable);
	INIT_LIST_HEAD(&user->exited_node);
	INIT_LIST_HEAD(&user->watches);
	spin_lock_irqsave(&lock, flags);
	other = find(uid);
	if (other)
		ktau_user_get(other);
	else
		hash_add(users, &user->node, __kuid_val(uid));
	spin_unlock_irqrestore(&lock, flags);
	if (!other)
		return user;
	kfree(user);
	return other;
}

/**
 * ktau_user_find() - the account of a user
 * @uid: see ktau_user_uid()
 *
 * Context: May sleep.
 * Return: The account with a reference, created if necessary, or NULL without memory.
 */
struct ktau_user *ktau_user_find(kuid_t uid)
{
	return find_get(uid) ?: create(uid);
}

/**
 * ktau_user_of() - the account of a task's user
 * @task: the task, held by the caller
 *
 * At a fork it is nearly always the account of the current task.
 *
 * Context: May sleep.
 * Return: The account with a reference, or NULL without memory.
 */
struct ktau_user *ktau_user_of(struct task_struct *task)
{
	const struct ktau_state *own = current->ktau.state;
	kuid_t uid;

	rcu_read_lock();
	uid = ktau_user_uid(__task_cred(task));
	rcu_read_unlock();
	if (own && uid_eq(own->user->uid, uid))
		return ktau_user_get(own->user);
	return ktau_user_find(uid);
}

/**
 * ktau_user_put() - drop a reference to an account
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_user_put(struct ktau_user *user)
{
	unsigned long flags;

	if (!refcount_dec_and_lock_irqsave(&user->ref, &lock, &flags))
		return;
	hash_del(&user->node);
	spin_unlock_irqrestore(&lock, flags);
	kfree(user);
}

/**
 * ktau_user_share() - the share of a limit that a user may have
 * @user: an account; that of the system may have the whole limit
 * @limit: of all users together, in the unit of the result
 *
 * Context: Any.
 * Return: The share.
 */
u64 ktau_user_share(const struct ktau_user *user, u64 limit)
{
	return is_limited(user) ? div_u64(limit, USER_SHARE) : limit;
}

/**
 * ktau_user_charge() - charge memory to a user
 * @user: charged unless it would exceed its share
 * @bytes: added to what the user has
 * @limit: the memory limit of all users together, in bytes
 *
 * Context: Any.
 * Return: Whether it was charged. It is not if the user would exceed its share, or all
 * users together would use up root's.
 */
bool ktau_user_charge(struct ktau_user *user, size_t bytes, unsigned long limit)
{
	unsigned long share = limit / USER_SHARE;
	bool within = atomic_long_add_return(bytes, &user->bytes) <= share;

	if (!is_limited(user))
		return true;
	if (atomic_long_add_return(bytes, &limited_bytes) > limit - share)
		within = false;
	if (!within)
		ktau_user_uncharge(user, bytes);
	return within;
}

/**
 * ktau_user_uncharge() - uncharge memory
 * @user: that was charged
 * @bytes: as charged
 *
 * Context: Any.
 */
void ktau_user_uncharge(struct ktau_user *user, size_t bytes)
{
	atomic_long_sub(bytes, &user->bytes);
	if (is_limited(user))
		atomic_long_sub(bytes, &limited_bytes);
}

/**
 * ktau_user_limit() - how much memory a user may take
 * @user: whose share of the memory limit is computed
 *
 * Context: Any.
 * Return: Bytes.
 */
u64 ktau_user_limit(const struct ktau_user *user)
{
	return ktau_user_share(user, READ_ONCE(ktau_config.memory_limit_bytes));
}

/**
 * ktau_user_open() - charge a stream to the user that opens it
 * @bytes: memory of the stream
 *
 * The number of streams is bounded, not their memory: a user whose tasks have used up its
 * share must still be able to see that. The memory is charged nevertheless, which leaves
 * less for the user's tasks. A reader with CAP_PERFMON may open any number.
 *
 * Context: May sleep.
 * Return: The account to pass to ktau_user_close(); -EMFILE if the user has too many open
 * streams, as with inotify_init(2); -ENOMEM.
 */
struct ktau_user *ktau_user_open(size_t bytes)
{
	struct ktau_user *user = ktau_user_find(ktau_user_uid(current_cred()));

	if (!user)
		return ERR_PTR(-ENOMEM);
	if (atomic_inc_return(&user->nr_streams) > USER_STREAMS &&
	    is_limited(user) && !perfmon_capable()) {
		atomic_dec(&user->nr_streams);
		ktau_loss_of(user, KTAU_LOSS_DESCRIPTORS, 1);
		ktau_user_put(user);
		return ERR_PTR(-EMFILE);
	}
	atomic_long_add(bytes, &user->bytes);
	return user;
}

/**
 * ktau_user_close() - undo ktau_user_open()
 * @user: the account that ktau_user_open() returned
 * @bytes: as passed to ktau_user_open()
 *
 * Context: Any but NMI.
 */
void ktau_user_close(struct ktau_user *user, size_t bytes)
{
	atomic_long_sub(bytes, &user->bytes);
	atomic_dec(&user->nr_streams);
	ktau_user_put(user);
}

/**
 * ktau_user_losses() - read a user's loss counters
 * @uid: see ktau_user_uid()
 * @losses: receives the counters; all zero if the user has no account
 *
 * Context: Task.
 */
void ktau_user_losses(kuid_t uid, u64 losses[KTAU_NR_LOSSES])
{
	struct ktau_user *user = find_get(uid);
	unsigned int i;

	for (i = 0; i < KTAU_NR_LOSSES; i++)
		losses[i] = user ? (u64)atomic_long_read(&user->losses[i]) : 0;
	if (user)
		ktau_user_put(user);
}
