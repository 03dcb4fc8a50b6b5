// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: the accounts of users.
 *
 * Everything that KTAU keeps for a task is charged to the account of the task's
 * user: to the account that the task had when its state was created, and
 * uncharged from the same one. A user may take a share of the memory limit, so
 * that whatever one does, there is room for the others; and all users together
 * leave a share to root, which is not limited itself.
 *
 * Whose account that is depends on who is responsible for the credentials. A user
 * who creates a user namespace may have thousands of uids in it; they are all
 * charged to the creator. A namespace that root has created is a container with
 * users of its own; it is charged to the uid that its root is mapped to.
 *
 * An account exists while a state or an open descriptor refers to it. Its counts of
 * losses end with it: whoever compares two of them has a descriptor open.
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
 * A user may have this part of a limit. With a quarter, two users who take all they
 * can leave half of it, and all users together leave one to root (see below).
 */
#define USER_SHARE	4

/* Open streams of one user: enough for a reader on each CPU of a large machine. */
#define USER_STREAMS	64

static DEFINE_SPINLOCK(lock);		/* the hash, and the step of @ref to 0 */
static DEFINE_HASHTABLE(users, 6);
static atomic_long_t limited_bytes;	/* of all users that are limited */

static bool is_limited(const struct ktau_user *user)
{
	return user != &ktau_system;
}

/**
 * ktau_user_uid() - the uid whose account credentials are charged to
 * @cred: the credentials
 *
 * Context: Any.
 * Return: The uid.
 */
kuid_t ktau_user_uid(const struct cred *cred)
{
	struct user_namespace *ns = cred->user_ns;
	kuid_t root;

	if (ns == &init_user_ns)
		return cred->uid;
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

/* A reference to the account of @uid, if it is there. */
static struct ktau_user *find_get(kuid_t uid)
{
	struct ktau_user *user;
	unsigned long flags;

	if (uid_eq(uid, GLOBAL_ROOT_UID))
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
 * Return: The account with a reference, created if need be, or NULL: no memory.
 */
struct ktau_user *ktau_user_find(kuid_t uid)
{
	return find_get(uid) ?: create(uid);
}

/**
 * ktau_user_of() - the account of a task's user
 * @task: the task, held by the caller
 *
 * Nearly always it is that of the current task, as at a fork.
 *
 * Context: May sleep.
 * Return: The account with a reference, or NULL: no memory.
 */
struct ktau_user *ktau_user_of(struct task_struct *task)
{
	const struct ktau_task *own = current->ktau.state;
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
 * @user: the account
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
 * ktau_user_share() - what of a limit a user may have
 * @user: the user
 * @limit: the limit
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
 * @user: the user
 * @bytes: how much
 * @limit: that of all memory
 *
 * Context: Any.
 * Return: Whether it was charged: the user has not used up its share, nor have the
 * users used up all but root's.
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
 * ktau_user_uncharge() - take memory off a user's account
 * @user: the user
 * @bytes: how much
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
 * @user: the user
 *
 * Context: Any.
 * Return: Bytes.
 */
u64 ktau_user_limit(const struct ktau_user *user)
{
	return ktau_user_share(user, READ_ONCE(ktau_config.memory_limit_bytes));
}

/**
 * ktau_user_open() - charge a stream to the user who opens it
 * @bytes: memory of it
 *
 * The number of streams is bounded, not their memory: a user whose tasks have used
 * up its share must be able to see that. The memory is on the user's account all the
 * same, so its tasks get less. CAP_PERFMON is not bounded.
 *
 * Context: May sleep.
 * Return: The account to give to ktau_user_close(), -EMFILE if the user has too many
 * streams open (as for inotify_init(2)), -ENOMEM.
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
 * ktau_user_close() - the other end of ktau_user_open()
 * @user: the account that it returned
 * @bytes: as given to it
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
 * ktau_user_losses() - what a user was refused or lost
 * @uid: see ktau_user_uid()
 * @losses: where it goes, by reason; zero if the user has no account
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
