// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: memory.
 *
 * All memory is counted against one limit and charged to the account of a user (user.c).
 * Chunks of tables are needed in contexts that cannot allocate, such as under the lock of
 * a run queue. So every CPU has a reserve of chunks. It is filled before the CPU comes
 * up, and whenever a task forks or exits there. If it still runs low, an interrupt adds a
 * few chunks; if the interrupt cannot allocate them, a work item fills the reserve. A change
 * of the groups of all tasks, during which there are no interrupts, adds them itself.
 *
 * Memory allocated at fork, and for a ring that grows, is also charged to the memory
 * control group of the task (GFP_KERNEL_ACCOUNT). Chunks are not, nor are rings in reserve
 * (measure/spare.c), because they are allocated before their user is known, and chunks move
 * from task to task through the reserves; the user's share bounds them instead. Neither is
 * memory allocated by a write to /proc/ktau/control: the writer's group would pay for all tasks.
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
 * struct reserve - chunks of one CPU, accessed only by that CPU with interrupts disabled
 * @first: the chunks, linked through their first word
 * @nr: number of chunks
 * @asked: @want or @fill is pending
 * @ask_at: no chunks are requested before this time, in jiffies
 * @want: adds chunks on behalf of contexts that can neither allocate nor queue work
 * @fill: fills the reserve if @want could not
 */
struct reserve {
	struct ktau_chunk *first;
	unsigned int nr;
	bool asked;
	unsigned long ask_at;
	struct irq_work want;
	struct work_struct fill;
};

static DEFINE_PER_CPU(struct reserve, reserves);
static struct kmem_cache *state_cache, *slots_cache, *chunk_cache;
/* The reserves of all CPUs that are up have been filled. */
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
 * ktau_has_room() - whether an allocation would fit into the memory limit
 *
 * Context: Any.
 * Return: Whether it would fit now.
 */
bool ktau_has_room(size_t bytes)
{
	return atomic_long_read(&memory_bytes) + bytes <= memory_limit();
}

/**
 * ktau_charge() - charge memory to a user, within the limit and the user's share
 * @user: charged, unless a limit would be exceeded
 *
 * Context: Any.
 * Return: Whether it was charged; otherwise this is counted by reason.
 */
bool ktau_charge(struct ktau_user *user, size_t bytes)
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

/**
 * ktau_uncharge() - undo ktau_charge()
 * @user: the user that was charged
 *
 * Context: Any.
 */
void ktau_uncharge(struct ktau_user *user, size_t bytes)
{
	ktau_user_uncharge(user, bytes);
	atomic_long_sub(bytes, &memory_bytes);
}

/* Undo the charge of @bytes if the allocation of @p failed. */
static void *allocated(struct ktau_user *user, void *p, size_t bytes)
{
	if (!p) {
		ktau_uncharge(user, bytes);
		ktau_loss_of(user, KTAU_LOSS_NO_MEMORY, 1);
	}
	return p;
}

/* KTAU copes without memory, and must never invoke the OOM killer. */
#define GFP_MAYFAIL	(__GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * ktau_alloc() - allocate memory within the limit
 * @user: the user to charge
 * @bytes: how much; it may be large
 * @gfp: GFP_KERNEL_ACCOUNT on behalf of the current task, else GFP_KERNEL
 *
 * Context: May sleep.
 * Return: The memory, not zeroed. NULL if there is none; this is counted by reason.
 */
void *ktau_alloc(struct ktau_user *user, size_t bytes, gfp_t gfp)
{
	if (!ktau_charge(user, bytes))
		return NULL;
	return allocated(user, kvmalloc(bytes, gfp | GFP_MAYFAIL), bytes);
}

/**
 * ktau_free() - free memory from ktau_alloc()
 * @user: the user that was charged
 * @p: the memory, or NULL
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_free(struct ktau_user *user, void *p, size_t bytes)
{
	if (!p)
		return;
	kvfree(p);
	ktau_uncharge(user, bytes);
}

/**
 * ktau_page_alloc() - allocate a page on behalf of the current task
 * @user: the user to charge
 *
 * Context: May sleep.
 * Return: A zeroed page. NULL if there is no memory; this is counted by reason.
 */
void *ktau_page_alloc(struct ktau_user *user)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | GFP_MAYFAIL;

	if (!ktau_charge(user, PAGE_SIZE))
		return NULL;
	return allocated(user, (void *)__get_free_page(gfp), PAGE_SIZE);
}

/**
 * ktau_page_free() - free a page from ktau_page_alloc()
 * @user: the user that was charged
 * @p: the page, or NULL
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_page_free(struct ktau_user *user, void *p)
{
	if (!p)
		return;
	free_page((unsigned long)p);
	ktau_uncharge(user, PAGE_SIZE);
}

static void *alloc_from(struct kmem_cache *cache, struct ktau_user *user,
			size_t bytes, gfp_t gfp)
{
	if (!ktau_charge(user, bytes))
		return NULL;
	return allocated(user, kmem_cache_alloc(cache, gfp | GFP_MAYFAIL), bytes);
}

#define TABLE_OFFSET	offsetof(struct ktau_state, base)

/* Fields after the table would not be zeroed. */
static_assert(sizeof(struct ktau_state) - offsetofend(struct ktau_state, used) <
	      __alignof__(struct ktau_state));

/**
 * ktau_state_alloc() - allocate the memory of a state
 * @user: the user to charge
 * @gfp: GFP_KERNEL_ACCOUNT on behalf of the current task, else GFP_KERNEL
 *
 * Context: May sleep.
 * Return: A zeroed state. NULL if there is no memory; this is counted by reason.
 */
struct ktau_state *ktau_state_alloc(struct ktau_user *user, gfp_t gfp)
{
	struct ktau_state *state = alloc_from(state_cache, user, sizeof(*state),
					      gfp);

	if (state)
		memset(state, 0, TABLE_OFFSET);
	return state;
}

/**
 * ktau_state_free() - free the memory of a state, but nothing that it points to
 * @state: the state, with an empty table; see ktau_table_free()
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_state_free(struct ktau_state *state)
{
	struct ktau_user *user = state->user;

	kmem_cache_free(state_cache, state);
	ktau_uncharge(user, sizeof(*state));
}

/*
 * With a constructor, a kernel that zeroes what it allocates does not zero the slots each
 * time.
 */
static void construct_slots(void *slots)
{
	memset(slots, 0, KTAU_NEW_RING_BYTES);
}

/**
 * ktau_slots_alloc() - allocate the slots of a ring
 * @user: the user to charge
 * @gfp: as for ktau_alloc()
 *
 * Context: May sleep.
 * Return: The slots, with old contents. NULL if there is no memory; this is counted by
 * reason.
 */
void *ktau_slots_alloc(struct ktau_user *user, size_t bytes, gfp_t gfp)
{
	if (bytes == KTAU_NEW_RING_BYTES)
		return alloc_from(slots_cache, user, bytes, gfp);
	return ktau_alloc(user, bytes, gfp);
}

/**
 * ktau_slots_free() - free the slots of a ring
 * @user: the user that was charged
 * @slots: from ktau_slots_alloc()
 *
 * Context: Any but NMI and not under a run-queue lock.
 */
void ktau_slots_free(struct ktau_user *user, void *slots, size_t bytes)
{
	if (bytes == KTAU_NEW_RING_BYTES) {
		kmem_cache_free(slots_cache, slots);
		ktau_uncharge(user, bytes);
	} else {
		ktau_free(user, slots, bytes);
	}
}

/**
 * ktau_chunk_alloc() - allocate a chunk in a context that may sleep
 * @user: the user to charge
 *
 * Context: May sleep.
 * Return: A zeroed chunk. NULL if there is no memory; this is counted by reason.
 */
struct ktau_chunk *ktau_chunk_alloc(struct ktau_user *user)
{
	struct ktau_chunk *chunk = alloc_from(chunk_cache, user, sizeof(*chunk),
					      GFP_KERNEL);

	if (chunk)
		memset(chunk, 0, sizeof(*chunk));
	return chunk;
}

/**
 * ktau_charge_move() - move a charge from one account to another
 * @from: the user that was charged
 * @to: charged instead, unless its share would be exceeded
 *
 * What is in reserve is charged to the system.
 *
 * Context: Any.
 * Return: Whether it was moved.
 */
bool ktau_charge_move(struct ktau_user *from, struct ktau_user *to, size_t bytes)
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
 * ktau_chunk_free() - free a chunk, into the reserve of this CPU if there is room
 * @user: the user that was charged
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
		ktau_charge_move(user, &ktau_system, sizeof(*chunk));
		return;
	}
	kmem_cache_free(chunk_cache, chunk);
	ktau_uncharge(user, sizeof(*chunk));
}

/* Allocate RESERVE_BATCH chunks or none. */
static bool alloc_batch(void *batch[RESERVE_BATCH])
{
	const size_t bytes = RESERVE_BATCH * sizeof(struct ktau_chunk);

	if (!ktau_charge(&ktau_system, bytes))
		return false;
	return allocated(&ktau_system,
			 kmem_cache_alloc_bulk(chunk_cache,
					       GFP_KERNEL | GFP_MAYFAIL,
					       RESERVE_BATCH, batch) ?
			 batch : NULL, bytes);
}

/**
 * ktau_reserve_fill_up() - fill the reserve of this CPU
 *
 * Context: May sleep.
 */
void ktau_reserve_fill_up(void)
{
	void *batch[RESERVE_BATCH];
	unsigned long flags;
	unsigned int i;

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

/**
 * ktau_reserve_fill() - fill the reserve of this CPU if it is low
 *
 * Context: May sleep.
 */
void ktau_reserve_fill(void)
{
	if (raw_cpu_read(reserves.nr) <= RESERVE_LOW)
		ktau_reserve_fill_up();
}

/*
 * @cpu is about to come up, so no other CPU uses its reserve. Without memory it comes up
 * with an empty reserve, and refused chunks are counted.
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

static void asked_work(struct work_struct *work)
{
	struct reserve *reserve = container_of(work, struct reserve, fill);

	WRITE_ONCE(reserve->asked, false);
	ktau_reserve_fill();
}

/* Add a chunk to the reserve of this CPU. */
static bool add_at_once(void)
{
	const size_t bytes = sizeof(struct ktau_chunk);
	struct ktau_chunk *chunk;
	unsigned long flags;

	if (!ktau_charge(&ktau_system, bytes))
		return false;
	chunk = kmem_cache_alloc(chunk_cache, GFP_NOWAIT | __GFP_NOWARN);
	if (!chunk) {
		ktau_uncharge(&ktau_system, bytes);
		return false;
	}
	raw_local_irq_save(flags);
	push(this_cpu_ptr(&reserves), chunk);
	raw_local_irq_restore(flags);
	return true;
}

/**
 * ktau_reserve_add() - add chunks to the reserve of this CPU if it is low
 *
 * Context: Any but NMI and not under a run-queue lock.
 * Return: Whether it is not low any more.
 */
bool ktau_reserve_add(void)
{
	while (raw_cpu_read(reserves.nr) < RESERVE_LOW + RESERVE_BATCH)
		if (!add_at_once())
			return false;
	return true;
}

/*
 * Add chunks in the interrupt if possible. When many tasks wake up at once, a work item may
 * only run after all of them, each of which takes several chunks.
 */
static void want_fill(struct irq_work *want)
{
	struct reserve *reserve = container_of(want, struct reserve, want);

	if (ktau_reserve_add())
		WRITE_ONCE(reserve->asked, false);
	else
		queue_work_on(smp_processor_id(), system_highpri_wq, &reserve->fill);
}

/*
 * At most one request is pending, because the interrupt of a request is measured too. If it
 * got no chunk at its own end, it would make another request, and so on forever.
 */
static void ask(struct reserve *reserve)
{
	if (READ_ONCE(reserve->asked) || ktau_is_soon(reserve->ask_at, jiffies))
		return;
	WRITE_ONCE(reserve->asked, ktau_irq_work(&reserve->want));
}

/**
 * ktau_chunk_take() - take a chunk from the reserve of this CPU
 * @user: the user to charge
 *
 * Context: Any but NMI, interrupts off.
 * Return: A zeroed chunk. NULL if there is none; this is counted.
 */
struct ktau_chunk *ktau_chunk_take(struct ktau_user *user)
{
	struct reserve *reserve = this_cpu_ptr(&reserves);
	struct ktau_chunk *chunk = reserve->first;

	if (reserve->nr < RESERVE_LOW)
		ask(reserve);
	if (!chunk)
		goto refused;
	if (!ktau_charge_move(&ktau_system, user, sizeof(*chunk))) {
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
 * ktau_chunk_take_spare() - take a chunk that is not needed for a profile
 * @user: the user to charge
 *
 * Half of the reserve is left to profiles, so that no program can use it up.
 *
 * Context: Any but NMI, interrupts off.
 * Return: A zeroed chunk. NULL if there is none; this is counted.
 */
struct ktau_chunk *ktau_chunk_take_spare(struct ktau_user *user)
{
	struct reserve *reserve = this_cpu_ptr(&reserves);

	if (reserve->nr > RESERVE_LOW)
		return ktau_chunk_take(user);
	ask(reserve);
	ktau_loss_of(user, KTAU_LOSS_NO_CHUNK, 1);
	return NULL;
}

/**
 * ktau_reserve_start() - fill the reserves of all CPUs, including those that come up
 * later
 *
 * Context: May sleep.
 * Return: 0 or -errno.
 */
int ktau_reserve_start(void)
{
	WRITE_ONCE(started, true);	/* a CPU coming up now sees this, or is online below */
	return schedule_on_each_cpu(fill_work);
}

/**
 * ktau_memory_init() - set up the reserves, still empty
 * @construct_state: makes the table of a state empty
 *
 * The slab allocator constructs the memory that it obtains for states. A state is freed
 * with an empty table, so the next one gets that as it is.
 *
 * Context: Boot.
 */
void __init ktau_memory_init(void (*construct_state)(void *state))
{
	int cpu, err;

	state_cache = kmem_cache_create("ktau_state", sizeof(struct ktau_state),
					__alignof__(struct ktau_state), SLAB_PANIC,
					construct_state);
	slots_cache = kmem_cache_create("ktau_slots", KTAU_NEW_RING_BYTES,
					sizeof(u64), SLAB_PANIC, construct_slots);
	chunk_cache = KMEM_CACHE(ktau_chunk, SLAB_PANIC);
	for_each_possible_cpu(cpu) {
		struct reserve *reserve = per_cpu_ptr(&reserves, cpu);

		init_irq_work(&reserve->want, want_fill);
		INIT_WORK(&reserve->fill, asked_work);
		reserve->ask_at = jiffies;
	}
	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "ktau:prepare",
					fill_before, NULL);
	if (err < 0)
		pr_warn("ktau: CPUs that come up later begin without a reserve: %d\n",
			err);
}
