// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAU: rings in reserve.
 *
 * A ring that fills up where memory cannot be allocated, such as in a softirq that calls many RCU
 * callbacks, is replaced by one that has been allocated before; see grow.c. While tasks are traced,
 * every CPU has a few. A work item of the CPU allocates them when tracing is enabled and when one
 * has been taken, and frees them when tracing is disabled. A fork allocates those that are missing,
 * as on a CPU that has come online. Like chunks in reserve, they are charged to the system until a
 * task takes them, and to no memory control group.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "base/core.h"
#include "base/defer.h"
#include "base/memory.h"
#include "base/user.h"
#include "spare.h"

/* Rings in the reserve of a CPU, and their size unless ring= is less. */
#define NR_SPARES	4
#define SPARE_SLOTS	1024

/* The fraction of the memory limit that the reserves of all CPUs together may have. */
#define SPARES_SHARE	8

/**
 * struct spares - rings of one CPU, accessed only by that CPU with interrupts disabled, or while it
 *	is offline
 * @first: the rings in reserve
 * @nr: number of them
 * @ask_at: no ring is allocated before this time, in jiffies
 * @retired: rings that have been replaced
 * @taken: drops the rings in @retired, and queues @fill
 * @fill: fills the reserve
 */
struct spares {
	struct ktau_ring *first;
	unsigned int nr;
	unsigned long ask_at;
	struct ktau_ring *retired;
	struct irq_work taken;
	struct work_struct fill;
};

static DEFINE_PER_CPU(struct spares, spares);

/* The size that a ring in reserve should have. 0 if no ring is of use. */
static u32 spare_slots(void)
{
	const u32 slots = min_t(u32, READ_ONCE(ktau_config.ring_slots), SPARE_SLOTS);

	return (READ_ONCE(ktau_config.modes) & KTAU_MODE_TRACE) && ktau_groups_enabled() &&
	       slots * sizeof(struct ktau_ring_slot) > KTAU_NEW_RING_BYTES ? slots : 0;
}

/**
 * ktau_spare_fits() - whether this CPU has a ring in reserve that may replace another one
 *
 * A CPU that is going down could not free @old.
 *
 * Context: Any but NMI, interrupts off.
 * Return: Whether it has a larger one.
 */
bool ktau_spare_fits(const struct ktau_ring *old)
{
	const struct ktau_ring *spare = this_cpu_ptr(&spares)->first;

	return spare && spare->size > old->size && spare->size <= spare_slots() &&
	       cpu_online(raw_smp_processor_id());
}

static struct ktau_ring *pop(struct spares *mine)
{
	struct ktau_ring *ring = mine->first;

	mine->first = ring->next;
	mine->nr--;
	return ring;
}

/**
 * ktau_spare_take() - take a ring from the reserve of this CPU, which has one
 * @user: the user to charge
 *
 * Context: Any but NMI, interrupts off.
 * Return: The ring. NULL if the user may not have more memory.
 */
struct ktau_ring *ktau_spare_take(struct ktau_user *user)
{
	struct spares *mine = this_cpu_ptr(&spares);
	struct ktau_ring *ring = mine->first;

	if (!ktau_charge_move(&ktau_system, user, ktau_ring_bytes(ring->size)))
		return NULL;
	pop(mine);
	ring->next = NULL;
	ring->user = ktau_user_get(user);
	ktau_user_put(&ktau_system);	/* not the last reference, so no lock is taken */
	return ring;
}

/**
 * ktau_spare_retire() - drop the state's reference to a ring that one in reserve has replaced
 *
 * Context: Any but NMI, interrupts off.
 */
void ktau_spare_retire(struct ktau_ring *old)
{
	struct spares *mine = this_cpu_ptr(&spares);

	old->next = mine->retired;
	mine->retired = old;
	ktau_irq_work(&mine->taken);
}

static void after_taken(struct irq_work *work)
{
	struct spares *mine = container_of(work, struct spares, taken);
	struct ktau_ring *ring;

	while ((ring = mine->retired)) {
		mine->retired = ring->next;
		ktau_ring_retire(ring);
	}
	queue_work_on(smp_processor_id(), system_highpri_wq, &mine->fill);
}

/* Add @ring to the reserve of this CPU. Return: whether there was room, and it is still wanted. */
static bool push(struct ktau_ring *ring)
{
	struct spares *mine;
	unsigned long flags;
	bool has_room;

	raw_local_irq_save(flags);
	mine = this_cpu_ptr(&spares);
	has_room = mine->nr < NR_SPARES && ring->size == spare_slots();
	if (has_room) {
		ring->next = mine->first;
		mine->first = ring;
		mine->nr++;
	}
	raw_local_irq_restore(flags);
	return has_room;
}

/* Free the rings in the reserve of this CPU that do not have @slots slots. */
static void drop_unsuitable(u32 slots)
{
	struct ktau_ring *ring;
	struct spares *mine;
	unsigned long flags;

	do {
		ring = NULL;
		raw_local_irq_save(flags);
		mine = this_cpu_ptr(&spares);
		if (mine->first && mine->first->size != slots)
			ring = pop(mine);
		raw_local_irq_restore(flags);
		ktau_ring_put(ring);
	} while (ring);
}

/* Whether there is memory for another ring of @bytes in the reserve of this CPU. */
static bool has_room(size_t bytes)
{
	const u64 all = (u64)bytes * NR_SPARES * num_possible_cpus();

	return all <= READ_ONCE(ktau_config.memory_limit_bytes) / SPARES_SHARE &&
	       ktau_has_room(2 * NR_SPARES * bytes);
}

/**
 * ktau_spare_fill() - fill the reserve of this CPU if tasks are traced, otherwise empty it
 *
 * Context: May sleep.
 */
void ktau_spare_fill(void)
{
	const u32 slots = spare_slots();
	struct ktau_ring *ring;

	drop_unsuitable(slots);
	while (slots && raw_cpu_read(spares.nr) < NR_SPARES &&
	       !ktau_is_soon(raw_cpu_read(spares.ask_at), jiffies)) {
		ring = has_room(ktau_ring_bytes(slots)) ?
		       ktau_ring_create(&ktau_system, slots, GFP_KERNEL) : NULL;
		if (!ring) {
			raw_cpu_write(spares.ask_at, jiffies + HZ / 10);
			return;
		}
		if (!push(ring)) {
			ktau_ring_put(ring);
			return;
		}
	}
}

static void fill_work(struct work_struct *work)
{
	ktau_spare_fill();
}

/**
 * ktau_spare_refill() - bring the reserves of all CPUs in line with the configuration
 *
 * This does not wait for CPUs that are busy.
 *
 * Context: May sleep.
 */
void ktau_spare_refill(void)
{
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		queue_work_on(cpu, system_highpri_wq, &per_cpu_ptr(&spares, cpu)->fill);
	cpus_read_unlock();
}

/* @cpu is offline. */
static int drop_all(unsigned int cpu)
{
	struct spares *its = per_cpu_ptr(&spares, cpu);

	while (its->first)
		ktau_ring_put(pop(its));
	return 0;
}

/**
 * ktau_spare_init() - set up the reserves, still empty
 *
 * Context: Boot.
 */
void __init ktau_spare_init(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu) {
		struct spares *mine = per_cpu_ptr(&spares, cpu);

		init_irq_work(&mine->taken, after_taken);
		INIT_WORK(&mine->fill, fill_work);
		mine->ask_at = jiffies;
	}
	err = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "ktau:spares", NULL, drop_all);
	if (err < 0)
		pr_warn("ktau: CPUs that go offline keep their rings in reserve: %d\n", err);
}
