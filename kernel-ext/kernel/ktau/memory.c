// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: memory.
 *
 * All of it is counted against one limit, and charged to the account of a user
 * (user.c). Chunks of tables are needed in places where nothing may be allocated,
 * under the lock of a run queue for one. So every CPU has a reserve of them, filled
 * before the CPU comes up, when a task forks or exits there, and by a work item when
 * it still runs low.
 *
 * What is allocated at a fork, and when a ring grows, is charged to the memory
 * control group of the task too (GFP_KERNEL_ACCOUNT). Chunks are not: they are
 * allocated before it is known who will need them, and they go from task to task
 * through the reserves. The user's share bounds them instead. Nor is what a write to
 * /proc/ktau/control allocates, or the writer's group would pay for all tasks.
 */
#include <linux/cpuhotplug.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core.h"
#include "defer.h"
#include "memory.h"
#include "user.h"

#define RESERVE_FULL	256
#define RESERVE_LOW	128
#define RESERVE_BATCH	16

/**
 * struct reserve - chunks of one CPU; only that CPU, interrupts off
 * @first: the chunks, linked through their first word
 * @nr: how many
 * @ask_at: jiffies before which no fill is asked for
 * @want: asks for one from where nothing may be queued
 * @fill: does it
 */
struct reserve {
	struct ktau_chunk *first;
	unsigned int nr;
	unsigned long ask_at;
	struct irq_work want;
	struct work_struct fill;
};

static DEFINE_PER_CPU(struct reserve, reserves);
static struct kmem_cache *task_cache, *chunk_cache;
/* The reserves of the CPUs that are up are full, or were. */
static bool started;
static atomic_long_t memory_bytes;

/**
 * ktau_memory_bytes() - memory in use
 *
 * Context: Any.
 * Return: Bytes.
 */
u64 ktau_memory_bytes(void)
{
	return atomic_long_read(&memory_bytes);
}

static unsigned long memory_limit(void)
{
	return min_t(u64, READ_ONCE(ktau_config.memory_limit_bytes), LONG_MAX);
}

/**
 * ktau_has_room() - whether so much can be had before the limit is reached
 * @bytes: how much
 *
 * Context: Any.
 * Return: Whether, at the moment.
 */
bool ktau_has_room(size_t bytes)
{
	return atomic_long_read(&memory_bytes) + bytes <= memory_limit();
}

static bool charge(struct ktau_user *user, size_t bytes)
{
	unsigned long limit = memory_limit();

	if (atomic_long_add_return(bytes, &memory_bytes) > limit) {
		ktau_loss_of(user, KTAU_LOSS_MEMORY_LIMIT, 1);
	} else {
		if (ktau_user_charge(user, bytes, limit))
			return true;
		ktau_loss_of(user, KTAU_LOSS_USER_LIMIT, 1);
	}
	atomic_long_sub(bytes, &memory_bytes);
	return false;
}

static void uncharge(struct ktau_user *user, size_t bytes)
{
	ktau_user_uncharge(user, bytes);
	atomic_long_sub(bytes, &memory_bytes);
}

/* @p was allocated for the @bytes charged to @user, or could not be. */
static void *allocated(struct ktau_user *user, void *p, size_t bytes)
{
	if (!p) {
		uncharge(user, bytes);
		ktau_loss_of(user, KTAU_LOSS_NO_MEMORY, 1);
	}
	return p;
}

/* What KTAU cannot get it does without: it must not make anything be killed. */
#define GFP_MAYFAIL	(__GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * ktau_alloc() - allocate memory under the limit
 * @user: whom to charge for it
 * @bytes: how much; it may be a lot
 * @gfp: GFP_KERNEL_ACCOUNT on behalf of the current task, else GFP_KERNEL
 *
 * Context: May sleep.
 * Return: The memory, not zeroed, or NULL: counted by reason.
 */
void *ktau_alloc(struct ktau_user *user, size_t bytes, gfp_t gfp)
{
	if (!charge(user, bytes))
		return NULL;
	return allocated(user, kvmalloc(bytes, gfp | GFP_MAYFAIL), bytes);
}

/**
 * ktau_free() - free what ktau_alloc() gave
 * @user: who was charged for it
 * @p: the memory, or NULL
 * @bytes: how much it was
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_free(struct ktau_user *user, void *p, size_t bytes)
{
	if (!p)
		return;
	kvfree(p);
	uncharge(user, bytes);
}

static void *alloc_from(struct kmem_cache *cache, struct ktau_user *user,
			size_t bytes, gfp_t gfp)
{
	if (!charge(user, bytes))
		return NULL;
	return allocated(user, kmem_cache_alloc(cache, gfp | GFP_MAYFAIL), bytes);
}

/**
 * ktau_state_alloc() - memory of a state
 * @user: whom to charge for it
 * @gfp: GFP_KERNEL_ACCOUNT on behalf of the current task, else GFP_KERNEL
 *
 * Context: May sleep.
 * Return: A zeroed state, or NULL: counted by reason.
 */
struct ktau_task *ktau_state_alloc(struct ktau_user *user, gfp_t gfp)
{
	struct ktau_task *state = alloc_from(task_cache, user, sizeof(*state),
					     gfp);

	if (state)
		memset(state, 0, sizeof(*state));
	return state;
}

/**
 * ktau_state_free() - free a state without anything that hangs from it
 * @state: the state
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_state_free(struct ktau_task *state)
{
	struct ktau_user *user = state->user;

	kmem_cache_free(task_cache, state);
	uncharge(user, sizeof(*state));
}

/**
 * ktau_chunk_alloc() - a chunk where one can be allocated
 * @user: whom to charge for it
 *
 * Context: May sleep.
 * Return: A zeroed chunk, or NULL: counted by reason.
 */
struct ktau_chunk *ktau_chunk_alloc(struct ktau_user *user)
{
	struct ktau_chunk *chunk = alloc_from(chunk_cache, user, sizeof(*chunk),
					      GFP_KERNEL);

	if (chunk)
		memset(chunk, 0, sizeof(*chunk));
	return chunk;
}

/* Memory changes hands: a chunk of the reserves is the system's, which takes it. */
static bool move_charge(struct ktau_user *from, struct ktau_user *to,
			size_t bytes)
{
	if (from == to)
		return true;
	if (!ktau_user_charge(to, bytes, memory_limit()))
		return false;
	ktau_user_uncharge(from, bytes);
	return true;
}

static void push(struct reserve *reserve, struct ktau_chunk *chunk)
{
	*(struct ktau_chunk **)chunk = reserve->first;
	reserve->first = chunk;
	reserve->nr++;
}

/**
 * ktau_chunk_free() - free a chunk: into the reserve of this CPU, if it has room
 * @user: who was charged for it
 * @chunk: the chunk
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_chunk_free(struct ktau_user *user, struct ktau_chunk *chunk)
{
	struct reserve *reserve;
	unsigned long flags;
	bool kept;

	raw_local_irq_save(flags);
	reserve = this_cpu_ptr(&reserves);
	kept = READ_ONCE(started) && reserve->nr < RESERVE_FULL;
	if (kept)
		push(reserve, chunk);
	raw_local_irq_restore(flags);
	if (kept) {
		move_charge(user, &ktau_system, sizeof(*chunk));
		return;
	}
	kmem_cache_free(chunk_cache, chunk);
	uncharge(user, sizeof(*chunk));
}

/* Chunks, all or none. */
static bool alloc_batch(void *batch[RESERVE_BATCH])
{
	const size_t bytes = RESERVE_BATCH * sizeof(struct ktau_chunk);

	if (!charge(&ktau_system, bytes))
		return false;
	return allocated(&ktau_system,
			 kmem_cache_alloc_bulk(chunk_cache,
					       GFP_KERNEL | GFP_MAYFAIL,
					       RESERVE_BATCH, batch) ?
			 batch : NULL, bytes);
}

/**
 * ktau_reserve_fill() - fill up the reserve of this CPU
 *
 * Context: May sleep.
 */
void ktau_reserve_fill(void)
{
	void *batch[RESERVE_BATCH];
	unsigned long flags;
	unsigned int i;

	if (raw_cpu_read(reserves.nr) >= RESERVE_LOW)
		return;
	while (raw_cpu_read(reserves.nr) < RESERVE_FULL) {
		if (!alloc_batch(batch)) {
			raw_cpu_write(reserves.ask_at, jiffies + HZ / 10);
			return;
		}
		raw_local_irq_save(flags);
		for (i = 0; i < RESERVE_BATCH; i++)
			push(this_cpu_ptr(&reserves), batch[i]);
		raw_local_irq_restore(flags);
	}
}

/*
 * @cpu is about to come up: nobody else is at its reserve. It comes up without
 * one too, and counts what it then has to refuse.
 */
static int fill_before(unsigned int cpu)
{
	struct reserve *reserve = per_cpu_ptr(&reserves, cpu);
	void *batch[RESERVE_BATCH];
	unsigned int i;

	while (READ_ONCE(started) && reserve->nr < RESERVE_FULL &&
	       alloc_batch(batch))
		for (i = 0; i < RESERVE_BATCH; i++)
			push(reserve, batch[i]);
	return 0;
}

static void fill_work(struct work_struct *work)
{
	ktau_reserve_fill();
}

static void want_fill(struct irq_work *want)
{
	struct reserve *reserve = container_of(want, struct reserve, want);

	queue_work_on(smp_processor_id(), system_highpri_wq, &reserve->fill);
}

/*
 * At most once a tick: the interrupt that asks has a table too, and would ask
 * again when it finds no chunk at its own end, for ever.
 */
static void ask(struct reserve *reserve)
{
	if (ktau_is_soon(reserve->ask_at, jiffies))
		return;
	reserve->ask_at = jiffies + 1;
	ktau_irq_work(&reserve->want);
}

/**
 * ktau_chunk_take() - take a chunk from the reserve of this CPU
 * @user: whom to charge for it
 *
 * Context: Any but NMI, interrupts off.
 * Return: A zeroed chunk, or NULL: counted.
 */
struct ktau_chunk *ktau_chunk_take(struct ktau_user *user)
{
	struct reserve *reserve = this_cpu_ptr(&reserves);
	struct ktau_chunk *chunk = reserve->first;

	if (reserve->nr < RESERVE_LOW)
		ask(reserve);
	if (!chunk)
		goto refused;
	if (!move_charge(&ktau_system, user, sizeof(*chunk))) {
		ktau_loss_of(user, KTAU_LOSS_USER_LIMIT, 1);
		goto refused;
	}
	reserve->first = *(struct ktau_chunk **)chunk;
	reserve->nr--;
	memset(chunk, 0, sizeof(*chunk));
	return chunk;
refused:
	ktau_loss_of(user, KTAU_LOSS_NO_CHUNK, 1);
	return NULL;
}

/**
 * ktau_reserve_start() - fill the reserves of all CPUs, and of those to come
 *
 * Context: May sleep.
 * Return: 0 or -errno.
 */
int ktau_reserve_start(void)
{
	WRITE_ONCE(started, true);	/* one that comes up now waits, or is met */
	return schedule_on_each_cpu(fill_work);
}

/**
 * ktau_memory_init() - make the reserves, empty
 *
 * Context: Boot.
 */
void __init ktau_memory_init(void)
{
	int cpu, err;

	task_cache = KMEM_CACHE(ktau_task, SLAB_PANIC);
	chunk_cache = KMEM_CACHE(ktau_chunk, SLAB_PANIC);
	for_each_possible_cpu(cpu) {
		struct reserve *reserve = per_cpu_ptr(&reserves, cpu);

		init_irq_work(&reserve->want, want_fill);
		INIT_WORK(&reserve->fill, fill_work);
		reserve->ask_at = jiffies;
	}
	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "ktau:prepare",
					fill_before, NULL);
	if (err < 0)
		pr_warn("ktau: CPUs that come up later begin without a reserve: %d\n",
			err);
}
